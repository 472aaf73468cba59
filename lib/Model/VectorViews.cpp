// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Vectors of numbers (float4, uchar2, a struct of three floats): shared arrays that
// are named by vectors of their elements, and values that are known by member, as
// those of other small structs in variables are:
//
//     Matrix sub;  sub.elements = &a.elements[16 * by * a.stride];
//     sub.elements[i]                a.elements[16 * by * a.stride + i]
//
//     __shared__ float s[256];
//     float4 *v = (float4 *)s;       a view: each step is 4 elements
//     v[t].y                         s[4 * t + 1]
//     v[t] = in4[g];                 all of a vector at once, for which another text
//                                    is written (Plan/VectorMembers.cpp)
//
// An array that is declared with vectors and used by their members as well,
// `((float *)s4)[l]`, is the array of the members, and its name a view.

#include "Effects.h"
#include "Evaluator.h"
#include "clang/AST/DynamicRecursiveASTVisitor.h"

using namespace clang;

namespace rcache {

std::vector<StructMember> lanesOf(ASTContext &AC, QualType T) {
  T = T.getNonReferenceType().getCanonicalType().getUnqualifiedType();
  if (!T->isRecordType() || T->isIncompleteType() || T->isDependentType())
    return {};
  std::vector<StructMember> All = membersOf(AC, T);
  constexpr size_t MostLanes = 8;
  if (All.size() < 2 || All.size() > MostLanes)
    return {};
  for (const StructMember &X : All)
    if (!X.Extents.empty() || X.Type != All.front().Type)
      return {};
  // No room between them or behind.
  const auto *First = *T->getAsCXXRecordDecl()->getDefinition()->field_begin();
  if (AC.getTypeSize(T) != AC.getTypeSize(First->getType()) * All.size())
    return {};
  return All;
}

namespace {

/// The types that shared variables are cast to, and which are used without a cast.
struct Casts : ConstDynamicRecursiveASTVisitor {
  std::map<const VarDecl *, std::vector<QualType>> To;
  llvm::SmallPtrSet<const VarDecl *, 8> Plain;
  llvm::SmallPtrSet<const Expr *, 16> Seen;

  /// The shared variable that the pointer \p E leads into: `s`, `&s[i][j]`, `s + n`.
  static const DeclRefExpr *root(const Expr *E) {
    for (;;) {
      E = E->IgnoreParenImpCasts();
      if (auto *U = dyn_cast<UnaryOperator>(E);
          U && (U->getOpcode() == UO_AddrOf || U->getOpcode() == UO_Deref))
        E = U->getSubExpr();
      else if (auto *A = dyn_cast<ArraySubscriptExpr>(E))
        E = A->getBase();
      else if (auto *B = dyn_cast<BinaryOperator>(E);
               B && B->isAdditiveOp() && B->getType()->isPointerType())
        E = B->getLHS()->getType()->isPointerType() ? B->getLHS() : B->getRHS();
      else
        break;
    }
    auto *R = dyn_cast<DeclRefExpr>(E);
    auto *V = R ? dyn_cast<VarDecl>(R->getDecl()) : nullptr;
    return V && isSharedVar(V) ? R : nullptr;
  }

  bool VisitExplicitCastExpr(const ExplicitCastExpr *E) override {
    const QualType T = E->getType();
    if (!T->isPointerType() && !E->isGLValue())
      return true;
    if (const DeclRefExpr *R = root(E->getSubExpr())) {
      To[cast<VarDecl>(R->getDecl())].push_back(
          T->isPointerType() ? T->getPointeeType() : T);
      // Of the place alone: what is behind `&s[i]` has the array's own elements.
      if (E->getSubExpr()->IgnoreParenImpCasts() == R)
        Seen.insert(R);
    }
    return true;
  }
  bool VisitDeclRefExpr(const DeclRefExpr *E) override {
    if (auto *V = dyn_cast<VarDecl>(E->getDecl());
        V && isSharedVar(V) && !Seen.count(E))
      Plain.insert(V);
    return true;
  }
};

} // namespace

void Locals::findElements(const FunctionDecl *FD) {
  Casts Of;
  Of.TraverseStmt(FD->getBody());
  for (const auto &[V, Index] : ArrayIndex) {
    SharedArray &A = M.Arrays[Index];
    const QualType T = AC.getBaseElementType(V->getType());
    const auto It = Of.To.find(V);
    if (It == Of.To.end() || T->isDependentType())
      continue;
    const auto IsOf = [&](QualType To, const std::string &Type) {
      const auto Lanes = lanesOf(AC, To);
      return Lanes.empty() ? nameOf(To) == Type : Lanes.front().Type == Type;
    };
    for (QualType To : It->second)
      if (const auto Lanes = lanesOf(AC, To); !Lanes.empty())
        for (QualType Other : It->second)
          if (nameOf(Other) == Lanes.front().Type ||
              (Of.Plain.count(V) && A.CanonicalType == Lanes.front().Type))
            ElementTypes[Index] = Lanes.front().Type;
    const auto Own = lanesOf(AC, T);
    if (Own.empty() || A.Extents.empty() ||
        !llvm::any_of(It->second, [&](QualType To) {
          return nameOf(To) != A.CanonicalType && IsOf(To, Own.front().Type);
        }))
      continue;
    DeclaredAs[Index] = A.CanonicalType;
    A.ElemType = A.CanonicalType = Own.front().Type;
    A.ElemBytes /= unsigned(Own.size());
    if (A.Extents.back())
      A.Extents.back() = *A.Extents.back() * int64_t(Own.size());
  }
}

std::string Locals::nameOf(QualType T) const {
  PrintingPolicy P(AC.getLangOpts());
  return T.getCanonicalType().getUnqualifiedType().getAsString(P);
}

//===--- Places ---===//

/// The name of an array that is declared with vectors leads to these.
void Evaluator::asDeclared(SVal &Place) const {
  const std::string Type = L.declaredAs(Place.Index);
  if (Type.empty())
    return;
  Place.View = Type;
  Place.Lanes = int64_t(M.Structs.at(Type).size());
}

/// Do steps of \p P, into a shared array, lead from vector to vector? Those of its
/// outer dimensions lead from row to row.
bool Evaluator::isVectorView(const SVal &P) const {
  return P.Base == SVal::Shared && P.Lanes > 1 && !P.View.empty() &&
         P.Idx.size() == M.Arrays[P.Index].Extents.size();
}

/// Makes \p P, a pointer into a shared array, one to vectors of its elements. False:
/// \p Elem is something else.
bool Evaluator::viewAs(SVal &P, QualType Elem) {
  const SharedArray &A = M.Arrays[P.Index];
  auto Lanes = lanesOf(Elem);
  if (Lanes.empty() || Lanes.front().Type != A.CanonicalType ||
      A.Extents.empty() || P.Idx.empty() || A.Volatile ||
      Elem.isVolatileQualified())
    return false;
  while (P.Idx.size() < A.Extents.size()) { // `(float4 *)t`: the row's first element
    P.Idx.push_back(affineValue(Arith.constant(0), "int"));
    P.IdxInt.push_back(IntValue{Arith.constant(0), true});
  }
  P.View = typeText(Elem);
  P.Lanes = int64_t(Lanes.size());
  P.Flattened |= P.Idx.size() > 1;
  M.Structs.try_emplace(P.View, std::move(Lanes));
  return true;
}

/// \p Lv, the place of a vector in a view, is its member that \p Mem names: an
/// element of the array.
void Evaluator::toElement(LVal &Lv, const MemberExpr *Mem) {
  SVal &P = Lv.Place;
  auto *F = dyn_cast<FieldDecl>(Mem->getMemberDecl());
  if (Lv.K != LVal::Memory || !isVectorView(P) || !F ||
      Lv.Member != "." + F->getNameAsString())
    return;
  Lv.Member.clear();
  Lv.Base = Mem;
  const auto Number = static_cast<int64_t>(F->getFieldIndex());
  std::optional<IntValue> At;
  if (P.IdxInt.back())
    At = Arith.add(*P.IdxInt.back(), {Arith.constant(Number), true}, {64, true});
  P.Idx.back() = At ? affineValue(At->Aff, "long long")
                    : opValue("$0 + " + std::to_string(Number), {P.Idx.back()},
                              "long long");
  P.IdxInt.back() = At;
  P.Lanes = 1; // of View still, for the record
  P.Flattened |= P.Idx.size() > 1;
}

/// Is \p E, which names what is at \p Place, of the type that the array has in the
/// model? Declines if not: a cast may have given it another one.
bool Evaluator::hasElementsType(const SVal &Place, const Expr *E) {
  const SharedArray &A = M.Arrays[Place.Index];
  const QualType T = E->getType().getNonReferenceType();
  const std::string Type = Place.Lanes > 1 ? Place.View : A.CanonicalType;
  if (T->isArrayType() || T->isPointerType() || typeText(T) == Type)
    return true;
  Rec.decline(DeclineCode::TypePunned,
              "'" + A.Name + "' as " + typeText(T) + " and as " + Type,
              E->getBeginLoc());
  return false;
}

//===--- Values ---===//

std::vector<StructMember> Evaluator::lanesOf(QualType T) const {
  return rcache::lanesOf(AC, T);
}

/// The members of \p T where a variable of this type is as many variables: a plain
/// struct of a few numbers and pointers.
static std::vector<const FieldDecl *> plainFields(QualType T) {
  constexpr size_t Most = 8;
  const CXXRecordDecl *R = T.getNonReferenceType()->getAsCXXRecordDecl();
  if (!R || !(R = R->getDefinition()) || R->isUnion() || R->getNumBases() ||
      !R->isTrivial() || R->isInvalidDecl() || T.isVolatileQualified())
    return {};
  std::vector<const FieldDecl *> All;
  for (const FieldDecl *F : R->fields()) {
    const QualType M = F->getType();
    if (!F->getIdentifier() || F->isBitField() || F->getAccess() != AS_public ||
        M.isVolatileQualified() || (!M->isArithmeticType() && !M->isPointerType()) ||
        All.size() == Most)
      return {};
    All.push_back(F);
  }
  return All;
}

/// Which member of a vector \p Of the path \p Member (`.y`) is; nullopt: none, or of
/// something else.
std::optional<unsigned> Evaluator::memberNumber(StringRef Member,
                                                QualType Of) const {
  if (!Member.consume_front("."))
    return std::nullopt;
  for (const FieldDecl *F : plainFields(Of))
    if (F->getName() == Member)
      return F->getFieldIndex();
  return std::nullopt;
}

/// ... of a value of type \p Type. Of what is one of two vectors it is one of two
/// members.
static ValueRef memberOfValue(const ValueRef &V, const StructMember &Of,
                              unsigned Number, unsigned Lanes) {
  Value N;
  N.Type = Of.Type;
  N.Depends = V->Depends;
  if (V->K == Value::Select) {
    N.K = Value::Select;
    N.Cond = V->Cond;
    for (const ValueRef &O : V->Operands)
      N.Operands.push_back(memberOfValue(O, Of, Number, Lanes));
  } else {
    N.K = V->K == Value::Undefined ? Value::Undefined : Value::Op;
    N.Text = "$0." + Of.Name;
    N.Operands = {V};
    N.Member = static_cast<int>(Number);
    N.Lanes = Lanes;
  }
  return std::make_shared<Value>(std::move(N));
}

/// Member \p Number of \p Whole, a vector of type \p Of; \p E, if there is one, is
/// its expression.
SVal Evaluator::memberOf(const SVal &Whole, QualType Of, unsigned Number,
                         const Expr *E) {
  if (Number < Whole.Members.size()) {
    const SVal &Is = Whole.Members[Number];
    return Is.Int || !Is.V || Is.V->K != Value::Unknown ? Is
                                                        : unknown(E, depends(Is));
  }
  const auto Lanes = lanesOf(Of);
  const ValueRef V = asValue(Whole);
  const auto *R = Of.getNonReferenceType()->getAsCXXRecordDecl();
  QualType T;
  for (const FieldDecl *F : R->getDefinition()->fields())
    if (F->getFieldIndex() == Number)
      T = F->getType().getUnqualifiedType();
  if (V->K == Value::Unknown)
    return unknown(E, V->Depends);
  if (Lanes.empty())
    return ofValue(opValue("$0." + plainFields(Of)[Number]->getNameAsString(), {V},
                           typeText(T)),
                   T);
  return ofValue(memberOfValue(V, Lanes[Number], Number, unsigned(Lanes.size())),
                 T);
}

/// What the members of the vector are that \p E makes: `float4{a, b, c, d}`,
/// `make_float4(a, b, c, d)` of the toolkit. Nothing: it is no such vector.
std::vector<SVal> Evaluator::membersMade(const Expr *E) {
  const size_t Lanes = lanesOf(E->getType()).size();
  std::vector<const Expr *> Of;
  if (auto *List = dyn_cast<InitListExpr>(E)) {
    for (const Expr *X : List->inits())
      Of.push_back(X);
  } else if (auto *Call = dyn_cast<CallExpr>(E)) {
    const FunctionDecl *F = Call->getDirectCallee();
    if (!F || !isSystemFunction(F) || !F->getIdentifier() ||
        F->getName() != "make_" + typeText(E->getType()))
      return {};
    for (const Expr *X : Call->arguments())
      Of.push_back(X);
  }
  if (!Lanes || Of.size() != Lanes ||
      llvm::any_of(Of, [](const Expr *X) {
        return isa<ImplicitValueInitExpr>(X) || !X->getType()->isArithmeticType();
      }))
    return {};
  Quietly Q(Cur);
  std::vector<SVal> All;
  for (const Expr *X : Of) {
    SVal V = eval(X);
    if (!V.Int)
      V.V = asValue(V, X);
    All.push_back(std::move(V));
  }
  return All;
}

/// What the variable of \p Lv holds when its member is set to \p V.
SVal Evaluator::withMember(const LVal &Lv, const SVal &V) {
  SVal After = opaqueVar(Lv.Var);
  const QualType Of = Lv.Var->getType();
  const auto Number = memberNumber(Lv.Member, Of);
  const int I = L.varIndex(Lv.Var);
  // Where a pointer leads is known of those into memory that a parameter leads to.
  const bool Followed =
      V.K == SVal::Data || (V.Base == SVal::Global && V.Index >= 0);
  if (!Number || !Followed || (I >= 0 && M.Vars[I].AddressTaken))
    return After;
  const auto It = Cur.Env.find(Lv.Var);
  const auto Fields = plainFields(Of);
  for (unsigned K = 0; K < Fields.size(); ++K) {
    SVal Member = V;
    if (K != *Number && It != Cur.Env.end()) {
      Member = memberOf(It->second, Of, K);
    } else if (K != *Number) {
      Value None; // never set
      None.K = Value::Undefined;
      None.Type = typeText(Fields[K]->getType().getUnqualifiedType());
      Member = SVal();
      Member.TypeText = None.Type;
      Member.V = std::make_shared<Value>(std::move(None));
    }
    After.Members.push_back(std::move(Member));
  }
  return After;
}

} // namespace rcache
