// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Making and comparing values; symbols for integers that are not affine.

#include "BuiltinVars.h"
#include "DeclName.h"
#include "ValueMaker.h"
#include "clang/AST/ExprCXX.h"
#include "llvm/Support/raw_ostream.h"
#include <sstream>

using namespace clang;

namespace rcache {

/// Of a value. Those of the programs in bench/ have some hundred at most.
static constexpr unsigned MostNodes = 4096;

std::string ValueMaker::typeText(QualType T) const {
  return spelledType(T.getNonReferenceType())
      .getCanonicalType()
      .getUnqualifiedType()
      .getAsString(Policy);
}

/// An expression of type \p T from the list \p Text in braces.
std::string ValueMaker::typedBraces(StringRef Text, QualType T) const {
  if (!T->isScalarType())
    return typeText(T) + Text.str();
  // `unsigned int{v}` is none: two words need parentheses.
  StringRef Inner = Text.drop_front().drop_back().trim();
  Inner.consume_back(",");
  return "(" + typeText(T) + ")(" + (Inner.empty() ? "0" : Inner.str()) + ")";
}

bool isInt(QualType T) {
  return !T.isNull() && !T->isDependentType() &&
         (T->isIntegralOrUnscopedEnumerationType());
}

IntType ValueMaker::intType(QualType T) const {
  if (T->isBooleanType())
    return {1, false};
  return {static_cast<unsigned>(AC.getIntWidth(T)),
          T->isSignedIntegerOrEnumerationType()};
}

SVal ValueMaker::ofInt(IntValue V, QualType T) const {
  SVal S;
  S.Int = std::move(V);
  S.Type = intType(T);
  S.TypeText = typeText(T);
  return S;
}

SVal ValueMaker::ofConst(int64_t V, QualType T) {
  return ofInt({Arith.constant(V), true}, T);
}

/// Has \p V no more than \p Left nodes, those that stand in it twice counted twice?
static bool isShort(const Value &V, unsigned &Left) {
  if (!Left)
    return false;
  --Left;
  return llvm::all_of(V.Operands,
                      [&](const ValueRef &O) { return isShort(*O, Left); });
}

SVal ValueMaker::ofValue(ValueRef V, QualType T) const {
  // Who looks at a value walks through all of it, and each conditional change may
  // double it.
  if (unsigned Left = MostNodes; !isShort(*V, Left)) {
    Value U;
    U.Type = V->Type;
    U.Depends = V->Depends;
    U.Text = "a formula of more than " + std::to_string(MostNodes) + " parts";
    V = std::make_shared<Value>(U);
  }
  SVal S;
  S.TypeText = typeText(T);
  if (isInt(T))
    S.Type = intType(T);
  if (V->K == Value::Affine && isInt(T))
    S.Int = IntValue{V->Aff, true};
  else
    S.V = std::move(V);
  return S;
}

SVal ValueMaker::unknown(const Expr *E, unsigned Depends) {
  Value V;
  V.Type = E && !E->getType().isNull() ? typeText(E->getType()) : "";
  V.Depends = Depends;
  V.Text = E ? Rec.text(E) : "";
  SVal S;
  S.V = std::make_shared<Value>(V);
  S.TypeText = V.Type;
  if (E && isInt(E->getType()))
    S.Type = intType(E->getType());
  return S;
}

unsigned ValueMaker::depends(const SVal &V) const {
  unsigned D = 0;
  if (V.Int)
    D |= Arith.depends(V.Int->Aff);
  else if (V.V)
    D |= V.V->Depends;
  for (const ValueRef &I : V.Idx)
    if (I)
      D |= I->Depends;
  if (V.Base == SVal::Shared)
    D |= DepShared;
  return D;
}

ValueRef affineValue(const AffineArith &Arith, const isl::pw_aff &A,
                     const std::string &Type) {
  Value V;
  V.K = Value::Affine;
  V.Aff = A;
  V.Type = Type;
  V.Depends = Arith.depends(A);
  return std::make_shared<Value>(V);
}

bool hasUnknown(const Value &V) {
  return V.K == Value::Unknown ||
         llvm::any_of(V.Operands,
                      [](const ValueRef &O) { return !O || hasUnknown(*O); });
}

Value::Operator operatorOf(BinaryOperatorKind Op) {
  switch (Op) {
  case BO_Add:
    return Value::Add;
  case BO_Sub:
    return Value::Sub;
  case BO_Mul:
    return Value::Mul;
  case BO_Div:
    return Value::Div;
  case BO_Rem:
    return Value::Rem;
  case BO_Shl:
    return Value::Shl;
  case BO_Shr:
    return Value::Shr;
  case BO_And:
    return Value::And;
  case BO_Or:
    return Value::Or;
  case BO_Xor:
    return Value::Xor;
  case BO_LT:
    return Value::Less;
  case BO_LE:
    return Value::LessEqual;
  case BO_GT:
    return Value::Greater;
  case BO_GE:
    return Value::GreaterEqual;
  case BO_EQ:
    return Value::Equal;
  case BO_NE:
    return Value::NotEqual;
  case BO_LAnd:
    return Value::LogicalAnd;
  case BO_LOr:
    return Value::LogicalOr;
  default:
    return Value::Other;
  }
}

ValueRef ValueMaker::opValue(BinaryOperatorKind Op, ValueRef A, ValueRef B,
                             std::string Type) {
  return opValue("$0 " + BinaryOperator::getOpcodeStr(Op).str() + " $1",
                 {std::move(A), std::move(B)}, std::move(Type), operatorOf(Op));
}

ValueRef ValueMaker::castValue(ValueRef V, std::string Type) {
  const std::string Text = "(" + Type + ")$0";
  return opValue(Text, {std::move(V)}, std::move(Type), Value::Cast);
}

ValueRef ValueMaker::opValue(std::string Text, std::vector<ValueRef> Operands,
                             std::string Type, Value::Operator Op) {
  Value V;
  V.K = Value::Op;
  V.Opcode = Op;
  V.Text = std::move(Text);
  V.Type = std::move(Type);
  for (const ValueRef &O : Operands)
    V.Depends |= O->Depends;
  V.Operands = std::move(Operands);
  return std::make_shared<Value>(V);
}

ValueRef ValueMaker::asValue(const SVal &S) {
  if (S.Int) {
    // A negative number as an unsigned one: written as that, not as 2^64 less.
    const IntType Long{64, true};
    if (!S.Int->Exact && S.Type == IntType{64, false} &&
        !Arith.proveInRange(S.Int->Aff, 0, S.Type.max(), Cur.where()) &&
        Arith.proveInRange(S.Int->Aff, Long.min(), Long.max(), Cur.where()))
      return castValue(affineValue(S.Int->Aff, "long long"), S.TypeText);
    if (auto A = Arith.exact(*S.Int, S.Type, Cur.where()))
      return affineValue(*A, S.TypeText);
    // Products with arguments stay in the source's own words, which a stage can ask
    // about other threads.
    const bool Plain = llvm::all_of(involvedIds(S.Int->Aff), [&](const std::string &Id) {
      const int I = M.symbolIndex(Id);
      return I >= 0 && llvm::all_of(M.Symbols[size_t(I)].Factors, [&](const std::string &F) {
               const int Of = M.symbolIndex(F);
               const Symbol *X = Of < 0 ? nullptr : &M.Symbols[size_t(Of)];
               return !X || !X->Anywhere || X->K == Symbol::ThreadIdx;
             });
    });
    if (Plain && !S.Int->Exact && S.Type == IntType{32, false} &&
        Arith.proveInRange(S.Int->Aff, Long.min(), Long.max(), Cur.where()))
      return castValue(affineValue(S.Int->Aff, "long long"), S.TypeText);
    Value V;
    V.Type = S.TypeText;
    V.Text = "an integer that may wrap around";
    V.Depends = depends(S);
    return std::make_shared<Value>(V);
  }
  if (S.V)
    return S.V;
  Value V;
  V.Type = S.TypeText;
  V.Text = S.K == SVal::Pointer ? "a pointer" : "no value";
  V.Depends = depends(S);
  return std::make_shared<Value>(V);
}

/// A text that is the same for the same value; empty when loads or unknowns
/// are in it, whose value may differ from one place to the next.
std::string ValueMaker::valueKey(const Value &V) const {
  std::string Key;
  switch (V.K) {
  case Value::Affine: {
    std::ostringstream OS;
    OS << V.Aff;
    return "{" + OS.str() + "}";
  }
  case Value::Uniform:
    return "u:" + V.Text;
  case Value::Op:
    Key = "(" + V.Text;
    break;
  case Value::Select: {
    std::ostringstream OS;
    OS << V.Cond;
    Key = "(" + OS.str();
    break;
  }
  case Value::Load:
  case Value::Undefined:
  case Value::Unknown:
    return "";
  }
  for (const ValueRef &O : V.Operands) {
    std::string K = valueKey(*O);
    if (K.empty())
      return "";
    Key += ";" + K;
  }
  return Key + ")" + V.Type;
}

bool ValueMaker::sameValue(const SVal &A, const SVal &B) const {
  if (A.K != B.K || A.Base != B.Base || A.Index != B.Index ||
      A.Idx.size() != B.Idx.size() || A.ElemText != B.ElemText ||
      A.View != B.View || A.Members.size() != B.Members.size() ||
      A.PtrText != B.PtrText || A.Int.has_value() != B.Int.has_value())
    return false;
  for (unsigned I = 0; I < A.Idx.size(); ++I) {
    if (A.IdxInt[I].has_value() != B.IdxInt[I].has_value())
      return false;
    if (A.IdxInt[I] ? !A.IdxInt[I]
                           ->Aff.sub(B.IdxInt[I]->Aff)
                           .eq_set(Arith.constant(0))
                           .is_equal(Arith.universe())
                    : A.Idx[I] != B.Idx[I])
      return false;
  }
  for (size_t I = 0; I < A.Members.size(); ++I)
    if (!sameValue(A.Members[I], B.Members[I]))
      return false;
  if (A.K == SVal::Pointer)
    return A.Base != SVal::UnknownBase;
  if (A.Int)
    return A.Int->Exact == B.Int->Exact && A.Type == B.Type &&
           A.Int->Aff.eq_set(B.Int->Aff).is_equal(Arith.universe());
  if (A.V == B.V)
    return true;
  if (!A.V || !B.V)
    return false;
  std::string K = valueKey(*A.V);
  return !K.empty() && K == valueKey(*B.V);
}

//===----------------------------------------------------------------------===//
// Symbols
//===----------------------------------------------------------------------===//

std::string ValueMaker::freshId(const std::string &Hint) const {
  std::string Id;
  for (char C : Hint)
    if (isalnum(static_cast<unsigned char>(C)) || C == '_')
      Id += C;
    else if (!Id.empty() && Id.back() != '_')
      Id += '_';
  while (!Id.empty() && Id.back() == '_')
    Id.pop_back();
  if (Id.empty() || isdigit(static_cast<unsigned char>(Id[0])) ||
      Id.size() > 24)
    Id = "v";
  // Words of isl's notation, and the names that plans use.
  static const char *const Reserved[] = {
      "and",   "or",  "not", "exists", "mod",  "floor", "ceil",   "floord",
      "ceild", "min", "max", "rat",    "true", "false", "infty",  "NaN",
      "nan",   "sx",  "sy",  "sz",     "m",    "lane",  "implies"};
  bool Taken = Id[0] == 'e' && Id.size() <= 3 && Id.size() > 1 &&
               isdigit(static_cast<unsigned char>(Id[1]));
  for (const char *R : Reserved)
    Taken |= Id == R;
  return Taken ? Id + "_v" : Id;
}

/// Only parameters that never change, builtins, literals and constants.
bool ValueMaker::isAnywhere(const clang::Stmt *S) const {
  if (!S)
    return true;
  if (auto *E = dyn_cast<Expr>(S))
    if (builtinVar(E))
      return true;
  if (auto *R = dyn_cast<DeclRefExpr>(S)) {
    auto *V = dyn_cast<VarDecl>(R->getDecl());
    if (!V)
      return true;
    if (int I = L.varIndex(V); I >= 0)
      return M.Vars[I].IsParam && !M.Vars[I].Assigned &&
             !M.Vars[I].AddressTaken;
    return !V->isLocalVarDecl();
  }
  if (isa<CallExpr>(S) || isa<LambdaExpr>(S) || isa<StmtExpr>(S))
    return false;
  if (auto *U = dyn_cast<UnaryOperator>(S);
      U && (U->isIncrementDecrementOp() || U->getOpcode() == UO_Deref))
    return false;
  if (auto *B = dyn_cast<BinaryOperator>(S); B && B->isAssignmentOp())
    return false;
  if (auto *A = dyn_cast<ArraySubscriptExpr>(S);
      A && !A->getBase()->IgnoreParenImpCasts()->getType()->isArrayType())
    return false;
  for (const clang::Stmt *C : S->children())
    if (!isAnywhere(C))
      return false;
  return true;
}

/// The parameter of which \p V is a member, by name alone; -1: none.
int ValueMaker::objectOf(const Value &V) const {
  if (V.K != Value::Op || !StringRef(V.Text).starts_with("$0.") ||
      V.Operands.size() != 1 || V.Operands[0]->K != Value::Uniform ||
      V.Text.find_first_of("$[( ", 1) != std::string::npos)
    return -1;
  for (size_t I = 0; I < M.Vars.size(); ++I)
    if (M.Vars[I].Name == V.Operands[0]->Text && L.unchangedParam(int(I)))
      return static_cast<int>(I);
  return -1;
}

IntValue ValueMaker::asInt(SVal &S, const Expr *E) {
  if (S.Int)
    return *S.Int;
  std::string Id;
  std::string Key = S.V ? valueKey(*S.V) : "";
  if (!Key.empty() && OpaqueByKey.count(Key)) {
    Id = OpaqueByKey[Key];
  } else if (S.V && OpaqueByValue.count(S.V.get())) {
    Id = OpaqueByValue[S.V.get()].second;
  } else {
    Symbol Sym;
    Sym.K = Symbol::Opaque;
    Sym.Text = E && !Cur.Calls ? Rec.text(E) : "";
    // `v.nx` of a parameter that stays as it was passed is a parameter itself.
    const int Object = S.V ? objectOf(*S.V) : -1;
    if (Object >= 0) {
      Sym.K = Symbol::Param;
      Sym.Text = S.V->Operands[0]->Text + S.V->Text.substr(2);
    }
    Sym.Id = freshId(Sym.Text);
    Sym.Type = S.TypeText;
    Sym.Bits = S.Type.Bits;
    Sym.Signed = S.Type.Signed;
    Sym.Depends = depends(S);
    Sym.Is = S.V;
    Sym.Anywhere = Object >= 0 || (E && !Cur.Calls && isAnywhere(E));
    if (Object >= 0)
      Sym.Vars = {static_cast<unsigned>(Object)};
    else if (E && !Cur.Calls)
      Sym.Vars = L.named(E);
    if (E && Object < 0)
      if (auto *R = dyn_cast<DeclRefExpr>(E->IgnoreParenImpCasts()))
        if (auto *V = dyn_cast<VarDecl>(R->getDecl()))
          Sym.VarId = L.varIndex(V);
    Id = M.Symbols[Arith.addSymbol(Sym)].Id;
    if (!Key.empty())
      OpaqueByKey[Key] = Id;
    if (S.V)
      OpaqueByValue[S.V.get()] = {S.V, Id};
  }
  S.Int = IntValue{Arith.symbol(Id), true};
  return *S.Int;
}

std::string ValueMaker::symbolOf(const ValueRef &V) const {
  auto It = OpaqueByValue.find(V.get());
  return It == OpaqueByValue.end() ? "" : It->second.second;
}

/// The value of an integer for a comparison; none for data that differs from
/// thread to thread: such a condition says nothing about indices.
std::optional<isl::pw_aff> ValueMaker::asExact(SVal &S, const Expr *E) {
  if (S.K == SVal::Pointer)
    return std::nullopt;
  if (!S.Int) {
    unsigned D = depends(S);
    if ((D & (DepShared | DepGlobal)) && (D & DepThread))
      return std::nullopt;
    if (!S.V || S.Type.Bits == 0)
      return std::nullopt;
    asInt(S, E);
  }
  return Arith.exact(*S.Int, S.Type, Cur.where());
}

SVal ValueMaker::opaqueVar(const Cell &C) {
  const VarDecl *V = C.V;
  int I = L.varIndex(V);
  QualType T = C.type();
  unsigned D = I >= 0 ? M.Vars[I].Depends : 255;
  if (isInt(T) && C.Element < 0) {
    Symbol S;
    S.K = Symbol::Opaque;
    S.Text = V->getNameAsString();
    S.Id = freshId(S.Text);
    S.Type = typeText(T);
    S.Bits = intType(T).Bits;
    S.Signed = intType(T).Signed;
    S.Depends = D;
    S.VarId = I;
    if (I >= 0)
      S.Vars = {static_cast<unsigned>(I)};
    unsigned N = Arith.addSymbol(S);
    return ofInt({Arith.symbol(M.Symbols[N].Id), true}, T);
  }
  if (T->isPointerType()) {
    SVal P;
    P.K = SVal::Pointer;
    P.Base = SVal::UnknownBase;
    P.TypeText = typeText(T);
    Value U;
    U.Type = P.TypeText;
    U.Text = V->getNameAsString();
    U.Depends = D;
    P.V = std::make_shared<Value>(U);
    // What it may point into is known still, when all it ever held does.
    auto It = Cur.Env.find(V);
    if (It != Cur.Env.end() && It->second.K == SVal::Pointer) {
      const SVal &Old = It->second;
      if (Old.Base == SVal::Shared || Old.Base == SVal::Global) {
        P = Old;
        P.V = nullptr;
        P.Flattened = true;
        P.Idx.back() = std::make_shared<Value>(U);
        P.IdxInt.back().reset();
      }
    }
    return P;
  }
  Value U;
  U.Type = typeText(T);
  U.Text = C.name();
  U.Depends = D;
  return ofValue(std::make_shared<Value>(U), T);
}

} // namespace rcache
