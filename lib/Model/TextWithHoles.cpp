// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Expressions that stay text, with a hole for each operand whose value is
// known.

#include "BodyEffects.h"
#include "Effects.h"
#include "Evaluator.h"
#include "Support/Words.h"

using namespace clang;

namespace rcache {

/// Leaves of an expression whose structure stays text.
void Evaluator::collectOperands(const Expr *E,
                                std::vector<std::pair<const Expr *, SVal>> &Ops,
                                bool Root) {
  E = strip(E);
  if (auto *C = dyn_cast<CastExpr>(E)) {
    switch (C->getCastKind()) {
    case CK_LValueToRValue:
    case CK_ArrayToPointerDecay:
    case CK_BitCast:
      break;
    case CK_FunctionToPointerDecay:
    case CK_BuiltinFnToFnPtr:
      return;
    default:
      return collectOperands(C->getSubExpr(), Ops, false);
    }
  }
  bool Through = Root;
  if (auto *U = dyn_cast<UnaryOperator>(E))
    Through |= U->getOpcode() == UO_Minus || U->getOpcode() == UO_Plus ||
               U->getOpcode() == UO_Not;
  else if (auto *B = dyn_cast<BinaryOperator>(E))
    Through |= (B->isMultiplicativeOp() || B->isAdditiveOp() ||
                B->isShiftOp() || B->isBitwiseOp() || B->isComparisonOp()) &&
               !B->getType()->isPointerType() &&
               !B->getLHS()->getType()->isPointerType();
  else if (isa<InitListExpr>(E) || isa<CXXConstructExpr>(E) ||
           isa<CXXUnresolvedConstructExpr>(E))
    Through = true;
  else if (auto *Mem = dyn_cast<MemberExpr>(E))
    Through |= !Mem->isArrow() && Mem->isPRValue();
  else if (auto *Call = dyn_cast<CallExpr>(E))
    if (const FunctionDecl *F = Call->getDirectCallee(); F && isPure(F)) {
      // Reference parameters read their arguments here.
      for (const Expr *A : Call->arguments()) {
        const Expr *S = strip(A);
        while (auto *I = dyn_cast<ImplicitCastExpr>(S)) {
          if (I->getCastKind() != CK_NoOp)
            break;
          S = strip(I->getSubExpr());
        }
        if (S->isGLValue() && !isa<CallExpr>(S))
          Ops.push_back({S, load(lvalue(S), S)});
        else
          collectOperands(S, Ops, false);
      }
      return;
    }
  if (!Through) {
    // Leaves: constants stay text.
    if (isa<FloatingLiteral>(E) || isa<IntegerLiteral>(E) ||
        isa<CXXBoolLiteralExpr>(E) || isa<StringLiteral>(E) ||
        isa<CharacterLiteral>(E) || isa<CXXNullPtrLiteralExpr>(E) ||
        isa<ImplicitValueInitExpr>(E) || isa<UnaryExprOrTypeTraitExpr>(E))
      return;
    if (E->isGLValue() && !isa<CallExpr>(E)) {
      if (auto *D = dyn_cast<DeclRefExpr>(E); D && !isa<VarDecl>(D->getDecl()))
        return;
      Ops.push_back({E, load(lvalue(E), E)});
      return;
    }
    Ops.push_back({E, eval(E)});
    return;
  }
  for (const clang::Stmt *C : E->children())
    if (auto *X = dyn_cast_or_null<Expr>(C))
      collectOperands(X, Ops, false);
}

SVal Evaluator::generic(const Expr *E) {
  std::vector<std::pair<const Expr *, SVal>> Ops;
  bool Text = true;
  if (auto *C = dyn_cast<CallExpr>(E))
    Text = C->getDirectCallee() && isPure(C->getDirectCallee());
  else if (isa<LambdaExpr>(E) || isa<CXXNewExpr>(E) || isa<CXXThrowExpr>(E) ||
           isa<StmtExpr>(E) || isa<AtomicExpr>(E))
    Text = false;
  collectOperands(E, Ops, !isa<CallExpr>(E));
  for (const auto &[X, S] : Ops)
    if (S.K == SVal::Pointer &&
        (isa<CallExpr>(E) || !E->getType()->isPointerType()))
      Rec.escape(S, X ? X : E, "becomes part of a value",
                 isa<CallExpr>(E) ? DeclineCode::ArrayToFunction
                                  : DeclineCode::EscapingArray);
  if (!Text)
    return unknown(E, L.depends(E));
  // A leaf that is E itself would be a hole and nothing else.
  if (Ops.size() == 1 && Ops[0].first == E)
    return Ops[0].second;
  unsigned Extra = 0;
  if (auto *C = dyn_cast<CallExpr>(E))
    Extra = callDepends(C);
  ValueRef V = textOp(E, Ops, Extra);
  if (isa<InitListExpr>(E) && V->Text.starts_with("{")) {
    // `{0, 0}` has its type from where it stands.
    Value Typed = *V;
    Typed.Text = typedBraces(Typed.Text, E->getType());
    V = std::make_shared<Value>(std::move(Typed));
  }
  SVal R = ofValue(V, E->getType());
  if (V->K != Value::Unknown)
    R.Members = membersMade(E);
  return R;
}

/// Without comments, line ends and runs of space.
static std::string onOneLine(StringRef S) {
  std::string R;
  for (size_t I = 0; I < S.size(); ++I) {
    if (S.substr(I).starts_with("//") || S.substr(I).starts_with("/*")) {
      I = endOfComment(S, I) - 1;
      continue;
    }
    bool Space = isspace(static_cast<unsigned char>(S[I]));
    if (!Space)
      R += S[I];
    else if (!R.empty() && R.back() != ' ')
      R += ' ';
  }
  return R;
}

/// What \p E computes, if \p Holes are its operands.
static Value::Operator operatorOn(const Expr *E,
                                  llvm::ArrayRef<TextRange> Holes,
                                  llvm::function_ref<TextRange(const Expr *)> At) {
  E = strip(E);
  if (auto *B = dyn_cast<BinaryOperator>(E);
      B && Holes.size() == 2 && Holes[0] == At(strip(B->getLHS())) &&
      Holes[1] == At(strip(B->getRHS())))
    return operatorOf(B->getOpcode());
  if (auto *C = dyn_cast<ExplicitCastExpr>(E);
      C && Holes.size() == 1 && Holes[0] == At(strip(C->getSubExpr())))
    return Value::Cast;
  return Value::Other;
}

ValueRef
Evaluator::textOp(const Expr *E,
                  const std::vector<std::pair<const Expr *, SVal>> &Ops,
                  unsigned ExtraDepends) {
  Value V;
  V.K = Value::Op;
  V.Type = typeText(E->getType());
  V.Depends = ExtraDepends;
  llvm::SmallVector<const Expr *, 8> Holed;
  for (auto &[X, S] : Ops)
    if (X)
      Holed.append({X, strip(X)});
  if (boundToItsPlace(E, Holed, L)) {
    for (auto &[X, S] : Ops)
      V.Depends |= depends(S);
    V.Depends |= L.depends(E);
    V.K = Value::Unknown;
    V.Text = Cur.Calls ? "" : M.text(Rec.range(E));
    return std::make_shared<Value>(V);
  }
  if (Cur.Calls)
    return printedOp(E, Ops, ExtraDepends);
  TextRange All = Rec.range(E);
  std::vector<std::pair<TextRange, ValueRef>> Holes;
  bool Uniform = true;
  for (auto &[X, S] : Ops) {
    if (!X)
      continue;
    ValueRef O = asValue(S, X);
    V.Depends |= O->Depends;
    TextRange R = Rec.range(strip(X));
    if (O->K == Value::Uniform && O->Text == M.text(R))
      continue;
    Uniform &= O->K == Value::Uniform;
    if (R.empty() || !All.contains(R)) {
      V.K = Value::Unknown;
      continue;
    }
    Holes.push_back({R, O});
  }
  if (V.K == Value::Unknown || All.empty()) {
    V.K = Value::Unknown;
    V.Text = M.text(All);
    return std::make_shared<Value>(V);
  }
  llvm::sort(Holes,
             [](auto &A, auto &B) { return A.first.Begin < B.first.Begin; });
  unsigned At = All.Begin;
  std::vector<TextRange> Filled;
  for (auto &[R, O] : Holes) {
    if (R.Begin < At)
      continue; // nested: the outer hole holds it
    // A dollar sign in the source is no hole.
    V.Text += M.text({At, R.Begin});
    if (O->K == Value::Uniform)
      V.Text += "(" + O->Text + ")";
    else {
      V.Text += "$" + std::to_string(V.Operands.size());
      V.Operands.push_back(O);
      Filled.push_back(R);
    }
    At = R.End;
  }
  V.Opcode =
      operatorOn(E, Filled, [&](const Expr *X) { return Rec.range(X); });
  V.Text += M.text({At, All.End});
  V.Text = onOneLine(V.Text);
  // Braces alone are no expression.
  if (isa<InitListExpr>(E) && StringRef(V.Text).starts_with("{"))
    V.Text = typedBraces(V.Text, E->getType());
  if (Uniform && V.Operands.empty() && !V.Depends)
    V.K = Value::Uniform;
  return std::make_shared<Value>(V);
}

ValueRef Evaluator::asValue(const SVal &S, const Expr *E) {
  ValueRef V = ValueMaker::asValue(S);
  if (V->K != Value::Unknown || !S.Int || !E || Cur.Calls)
    return V;
  // Its text computes it modulo 2^Bits just as well.
  std::vector<std::pair<const Expr *, SVal>> Ops;
  {
    Quietly Q(Cur);
    collectOperands(E, Ops, true);
  }
  if (Ops.size() == 1 &&
      Ops[0].first->IgnoreParens() == E->IgnoreParenImpCasts())
    return V;
  return textOp(E->IgnoreParenImpCasts(), Ops);
}

} // namespace rcache
