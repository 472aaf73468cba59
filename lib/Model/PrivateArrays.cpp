// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private arrays of a thread. One whose address nobody has is as many variables
// as it has elements: each is a cell of the environment, and what holds for
// variables (joins, loops, values handed from round to round) holds for it.
//
//     float q[3];  q[0] = in[g];  s[t] = q[0];      the cell q[0] holds in[g]
//
// An index that is no constant reads one of the elements, and leaves nothing
// known when it is stored through.

#include "Affine/IslTools.h"
#include "Evaluator.h"

using namespace clang;

namespace rcache {

/// More elements than that are not registers either.
static constexpr int64_t MaxElements = 64;
/// As many may be told apart by an affine index.
static constexpr size_t MaxChoices = 16;

QualType Cell::type() const {
  QualType T = V->getType().getNonReferenceType();
  if (Element >= 0)
    T = QualType(T->getBaseElementTypeUnsafe(), 0);
  return T;
}

std::string Cell::name() const {
  std::string Name = V->getNameAsString();
  return Element < 0 ? Name : Name + "[" + std::to_string(Element) + "]";
}

static int64_t elements(const Var &X) {
  int64_t N = 1;
  for (int64_t E : X.ArrayExtents) {
    if (E <= 0 || E > MaxElements)
      return 0;
    N *= E;
    if (N > MaxElements)
      return 0;
  }
  return N;
}

/// Is \p V a private array with a cell for each element?
bool Evaluator::followed(const VarDecl *V) const {
  const int I = L.varIndex(V);
  if (I < 0 || !V->getType()->isConstantArrayType() || V->isStaticLocal() ||
      M.Vars[I].AddressTaken || M.Vars[I].ArrayExtents.empty() ||
      !elements(M.Vars[I]))
    return false;
  const QualType T = AC.getBaseElementType(V->getType());
  return !T->isPointerType() && !T->isReferenceType() &&
         !T.isVolatileQualified();
}

/// The cells of \p V: the variable itself, or the elements of an array; none
/// of an array that is not followed.
std::vector<Cell> Evaluator::cells(const VarDecl *V) const {
  if (!V->getType()->isArrayType())
    return {Cell(V)};
  std::vector<Cell> All;
  if (followed(V))
    for (int64_t E = 0; E < elements(M.Vars[L.varIndex(V)]); ++E)
      All.push_back(Cell(V, static_cast<int>(E)));
  return All;
}

void Evaluator::forget(const VarDecl *V) {
  for (const Cell &C : cells(V))
    Cur.Env.erase(C);
}

/// The elements that \p Place (of a private array) may be; none: not followed.
std::vector<Cell> Evaluator::cellsAt(const SVal &Place) const {
  const VarDecl *V = Place.Index >= 0 ? L.variable(Place.Index) : nullptr;
  if (!V || !followed(V))
    return {};
  const std::vector<int64_t> &Extents = M.Vars[Place.Index].ArrayExtents;
  std::vector<Cell> All = cells(V);
  if (Place.IdxInt.size() != Extents.size() || Place.Flattened)
    return All;
  int64_t Row = 0;
  for (size_t D = 0; D < Extents.size(); ++D) {
    auto C = Place.IdxInt[D] ? Arith.constantValue(Place.IdxInt[D]->Aff)
                             : std::nullopt;
    if (!C || *C < 0 || *C >= Extents[D])
      return All;
    Row = Row * Extents[D] + *C;
  }
  return {All[static_cast<size_t>(Row)]};
}

/// Notes an index that no unrolling of loops makes a constant, or that is
/// outside the array in some round of them.
void Evaluator::dynamicIndex(const SVal &Place) {
  Var &X = M.Vars[Place.Index];
  bool Static = Place.IdxInt.size() <= X.ArrayExtents.size();
  isl::set Rounds = Arith.universe();
  std::vector<std::string> Counters;
  for (int P = static_cast<int>(Cur.Stmt); P >= 0; P = M.Stmts[P].Parent) {
    const Stmt &S = M.Stmts[P];
    if (S.K != Stmt::For || S.IterSymbol < 0 || S.Cooperative ||
        S.IterDomain.is_null() || !S.Step)
      continue;
    Rounds = Rounds.intersect(S.IterDomain);
    Counters.push_back(M.Symbols[S.IterSymbol].Id);
  }
  for (size_t D = 0; Static && D < Place.IdxInt.size(); ++D) {
    if (!Place.IdxInt[D]) {
      Static = false;
      break;
    }
    const isl::pw_aff &A = Place.IdxInt[D]->Aff;
    if (Arith.constantValue(A))
      continue;
    for (const std::string &Id : involvedIds(A))
      Static &= llvm::is_contained(Counters, Id);
    Static = Static && Arith.proveInRange(A, 0, X.ArrayExtents[D] - 1, Rounds);
  }
  X.DynamicIndex |= !Static;
}

SVal Evaluator::loadElement(const SVal &Place, const Expr *E) {
  dynamicIndex(Place);
  SVal U = unknown(E, M.Vars[Place.Index].Depends | depends(Place));
  const std::vector<Cell> At = cellsAt(Place);
  if (At.size() == 1) {
    auto It = Cur.Env.find(At.front());
    return It == Cur.Env.end() ? U : It->second;
  }
  // One of several: chosen by the index.
  const std::vector<int64_t> &Extents = M.Vars[Place.Index].ArrayExtents;
  if (At.empty() || At.size() > MaxChoices || Place.Flattened ||
      Place.IdxInt.size() != Extents.size())
    return U;
  isl::pw_aff Row = Arith.constant(0);
  for (size_t D = 0; D < Extents.size(); ++D) {
    if (!Place.IdxInt[D] || !Place.IdxInt[D]->Exact)
      return U;
    Row = Row.scale(isl::val(Row.ctx(), Extents[D])).add(Place.IdxInt[D]->Aff);
  }
  ValueRef Chosen;
  std::optional<isl::pw_aff> Number; // all of them, integers
  for (size_t K = At.size(); K-- > 0;) {
    const isl::set Here = Row.eq_set(Arith.constant(static_cast<int64_t>(K)));
    if (Here.intersect(Cur.where()).is_empty())
      continue;
    auto It = Cur.Env.find(At[K]);
    if (It == Cur.Env.end() || It->second.K != SVal::Data)
      return U;
    const ValueRef V = asValue(It->second);
    if (V->K == Value::Unknown)
      return U;
    const bool Exact = V->K == Value::Affine;
    if (!Chosen) {
      Chosen = V;
      if (Exact)
        Number = V->Aff;
      continue;
    }
    if (Number)
      Number = Exact ? Arith.select(Here, V->Aff, *Number) : std::nullopt;
    Value S;
    S.K = Value::Select;
    S.Cond = Here;
    S.Type = typeText(At[K].type());
    S.Operands = {V, Chosen};
    S.Depends = Arith.depends(Row) | V->Depends | Chosen->Depends;
    Chosen = std::make_shared<Value>(S);
  }
  if (Number)
    return ofInt({Number->coalesce(), true}, At.front().type());
  return Chosen ? ofValue(Chosen, At.front().type()) : U;
}

void Evaluator::storeElement(const LVal &Lv, const SVal &V) {
  dynamicIndex(Lv.Place);
  const std::vector<Cell> At = cellsAt(Lv.Place);
  for (const Cell &C : At)
    if (At.size() == 1 && Lv.Member.empty() && V.K == SVal::Data)
      Cur.Env[C] = V;
    else
      havocVar(C);
}

/// `float w[3] = {0, 1};`: evaluates the initialiser.
void Evaluator::initElements(const VarDecl *V, const Expr *Init) {
  const std::vector<Cell> All = cells(V);
  auto *List = dyn_cast<InitListExpr>(Init->IgnoreImplicit());
  if (!List || All.empty()) {
    eval(Init);
    for (const Cell &C : All)
      havocVar(C);
    return;
  }
  size_t Next = 0;
  auto Zero = [&](QualType T) {
    if (isInt(T))
      return ofConst(0, T);
    const std::string Type = typeText(T);
    if (Type != "float" && Type != "double")
      return opaqueVar(All[Next]);
    Value U;
    U.K = Value::Uniform;
    U.Type = Type;
    U.Text = Type == "float" ? "0.0f" : "0.0";
    return ofValue(std::make_shared<Value>(U), T);
  };
  std::function<void(const Expr *, QualType)> Fill = [&](const Expr *E,
                                                         QualType T) {
    if (const ConstantArrayType *A = AC.getAsConstantArrayType(T)) {
      auto *Sub = E ? dyn_cast<InitListExpr>(E->IgnoreImplicit()) : nullptr;
      for (uint64_t I = 0; I < A->getSize().getZExtValue(); ++I)
        Fill(Sub && I < Sub->getNumInits() ? Sub->getInit(I) : nullptr,
             A->getElementType());
      return;
    }
    const Cell C = All[Next];
    if (!E || isa<ImplicitValueInitExpr>(E)) {
      Cur.Env[C] = Zero(C.type());
    } else {
      SVal S = eval(E);
      if (isa<InitListExpr>(E->IgnoreImplicit()) || S.K != SVal::Data)
        S = opaqueVar(C); // `{{1, 2}, {3, 4}}` of structs
      Cur.Env[C] = S;
    }
    ++Next;
  };
  Fill(List, V->getType());
}

} // namespace rcache
