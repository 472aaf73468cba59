// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Values that a loop hands from one round to the next: the register queue of
// planes that a 3-D stencil walks through,
//
//     cur = in[i];  next = in[i + plane];
//     for (k = 1; k < n - 1; ++k) {
//       prev = cur;  cur = next;  next = in[i + (k + 1) * plane];
//       s[ty][tx] = cur;                       // in[i + k * plane]
//
// The body is executed once on trial, with the variables opaque. What a
// variable holds at its end, X(k), is what it holds at the start of the next
// round; if X(first - 1) is what it held before the loop, it is X(k - 1) in
// every round. A value that has been loaded stays what it was unless a store
// may have changed the memory behind it: then it is dropped, as everywhere
// (clobberLoads).

#include "Affine/IslTools.h"
#include "Executor.h"
#include "LoopSyntax.h"
#include <cmath>

using namespace clang;

namespace rcache {

namespace {

bool mentions(const Value &V, const std::string &Id) {
  if ((!V.Aff.is_null() && dependsOn(V.Aff, Id)) ||
      (!V.Cond.is_null() && dependsOn(V.Cond, Id)))
    return true;
  return llvm::any_of(V.Operands,
                      [&](const ValueRef &O) { return mentions(*O, Id); });
}

/// \p V with affine parts substituted and \p Old replaced by \p New.
ValueRef rebuilt(const ValueRef &V, const Substitution &By,
                 const std::map<const Value *, ValueRef> &Replace) {
  if (auto It = Replace.find(V.get()); It != Replace.end())
    return It->second;
  auto N = std::make_shared<Value>(*V);
  if (!N->Aff.is_null() && !By.empty())
    N->Aff = substitute(N->Aff, By);
  if (!N->Cond.is_null() && !By.empty())
    N->Cond = substitute(N->Cond, By);
  for (ValueRef &O : N->Operands)
    O = rebuilt(O, By, Replace);
  return N;
}

/// The number that a literal is, `0.f` as `0.0f`.
std::optional<double> literal(llvm::StringRef Text) {
  if (!Text.consume_back("f"))
    Text.consume_back("F");
  double D = 0;
  if (Text.empty() || Text.contains_insensitive("x") ||
      Text.getAsDouble(D, /*AllowInexact=*/false))
    return std::nullopt;
  return D;
}

/// The same computation with equal indices wherever \p D holds.
bool sameFormula(const ValueRef &A, const ValueRef &B, const isl::set &D) {
  if (A == B)
    return A->K != Value::Unknown;
  // Each part of D has the value that is chosen there.
  for (const ValueRef &S : {A, B})
    if (S->K == Value::Select) {
      for (const bool Holds : {true, false}) {
        const isl::set Part =
            Holds ? D.intersect(S->Cond) : D.subtract(S->Cond);
        const ValueRef &Chosen = S->Operands[Holds ? 0 : 1];
        if (!Part.is_empty() && !(S == A ? sameFormula(Chosen, B, Part)
                                         : sameFormula(A, Chosen, Part)))
          return false;
      }
      return true;
    }
  if (A->K == Value::Uniform && B->K == Value::Uniform && A->Type == B->Type)
    if (auto X = literal(A->Text), Y = literal(B->Text); X && Y)
      return *X == *Y && std::signbit(*X) == std::signbit(*Y);
  if (A->K != B->K || A->Type != B->Type || A->Text != B->Text ||
      A->Root != B->Root || A->Operands.size() != B->Operands.size() ||
      A->K == Value::Unknown)
    return false;
  if (A->K == Value::Load && A->Operands[0]->K == Value::Affine &&
      B->Operands[0]->K == Value::Affine)
    return A->Operands[0]
        ->Aff.ne_set(B->Operands[0]->Aff)
        .intersect(D)
        .is_empty();
  if (A->K == Value::Affine)
    return A->Aff.ne_set(B->Aff).intersect(D).is_empty();
  for (size_t I = 0; I < A->Operands.size(); ++I)
    if (!sameFormula(A->Operands[I], B->Operands[I], D))
      return false;
  return true;
}

} // namespace

class Executor::Carrying {
public:
  /// The loop is statement \p Id; \p SymbolsBefore symbols are older than it.
  Carrying(Executor &X, unsigned Id, size_t SymbolsBefore)
      : X(X), M(X.M), Arith(X.Arith), SymbolsBefore(SymbolsBefore),
        Iter(M.Symbols[M.Stmts[Id].IterSymbol].Id), First(M.Stmts[Id].Init),
        Step(*M.Stmts[Id].Step) {}

  /// Puts marks into the environment for the variables of \p Modified that
  /// have a value in front of the loop. False: there are none.
  bool mark(const Variables &Modified, const Environment &Before);
  /// The environment behind a round that began with the marks.
  void roundEnds(Environment Env) { Exit = std::move(Env); }
  /// Finds what the variables hold in round k. False: that cannot be said.
  bool close();
  /// What was found, into the environment; takes variables out of \p Modified.
  void keep(Variables &Modified) const;
  /// What \p C holds in all rounds but the first few, and how many these are.
  std::optional<std::pair<ValueRef, unsigned>> late(const Cell &C) const;

private:
  /// Who they are, the opaque value that stands for each at the entry, and what
  /// it holds in front of the loop (null: nobody knows).
  struct Carried {
    Cell Name;
    ValueRef Mark, Init;
  };

  std::optional<isl::pw_aff> withoutFactor(const Symbol &P,
                                           const std::string &Id);
  std::optional<Substitution> shiftOf(const isl::pw_aff &By);
  ValueRef atFirst(const ValueRef &V);
  bool isOld(const std::string &Id) const;
  bool invariant(const isl::set &Cond) const;
  isl::set keptOn(const ValueRef &V, const Value *Mark,
                  const isl::set &D) const;
  ValueRef withKept(const ValueRef &V, const isl::set &D) const;
  ValueRef exitValue(const Carried &C, isl::set &Where) const;
  bool closeOne(const Carried &C, const Substitution &Back);
  bool closeLate(const Carried &C, const Substitution &Back);
  unsigned lateRounds(const ValueRef &V) const;

  Executor &X;
  const KernelModel &M;
  AffineArith &Arith;
  const size_t SymbolsBefore;
  const std::string Iter;
  const isl::pw_aff First;
  const int64_t Step;
  std::vector<Carried> Vars;
  Environment Exit;
  /// Where a variable is never set: it keeps what it held in front of the loop.
  std::map<const Value *, isl::set> Kept;
  std::map<const Value *, ValueRef> Closed; ///< marker -> its value at round k
  /// Those that are not closed, for they hold something else in the first rounds:
  /// so many.
  std::map<const Value *, unsigned> Late;
  std::map<const Value *, ValueRef> LateValue;
};

bool Executor::Carrying::mark(const Variables &Modified,
                              const Environment &Before) {
  Environment &Env = X.Cur.Env;
  for (const VarDecl *V : Modified) {
    int I = X.L.varIndex(V);
    if (I < 0 || M.Vars[I].AddressTaken)
      continue;
    for (const Cell &C : X.Ev.cells(V)) {
      auto Now = Env.find(C);
      auto Init = Before.find(C);
      const bool Set = Init != Before.end();
      if (Now == Env.end() || Now->second.K != SVal::Data ||
          (Set && Init->second.K != SVal::Data))
        continue;
      // An integer that counts has a symbol; one that is loaded is data.
      if (Now->second.Int) {
        if (!(M.Vars[I].Depends & DepGlobal))
          continue;
        Value U;
        U.Type = X.Ev.typeText(C.type());
        U.Text = C.name();
        U.Depends = M.Vars[I].Depends;
        Now->second = X.Ev.ofValue(std::make_shared<Value>(U), C.type());
      }
      ValueRef First = Set ? X.Ev.asValue(Init->second) : nullptr;
      if (!Now->second.V)
        continue;
      if (First && hasUnknown(*First))
        First = nullptr;
      Vars.push_back({C, Now->second.V, First});
    }
  }
  llvm::sort(Vars, [&](const Carried &A, const Carried &B) {
    return std::pair(X.L.varIndex(A.Name.V), A.Name.Element) <
           std::pair(X.L.varIndex(B.Name.V), B.Name.Element);
  });
  return !Vars.empty();
}

/// The product \p P without its factor \p Id; nullopt if no symbol is that.
std::optional<isl::pw_aff>
Executor::Carrying::withoutFactor(const Symbol &P, const std::string &Id) {
  std::vector<std::string> Rest = P.Factors;
  Rest.erase(llvm::find(Rest, Id));
  if (llvm::is_contained(Rest, Id))
    return std::nullopt;
  if (Rest.size() == 1)
    return Arith.symbol(Rest[0]);
  for (const Symbol &S : M.Symbols)
    if (S.Factors == Rest)
      return Arith.symbol(S.Id);
  return std::nullopt;
}

/// k -> k + \p By in everything that is made from the iterator; nullopt when
/// one of its products has no symbol for what the step adds.
std::optional<Substitution> Executor::Carrying::shiftOf(const isl::pw_aff &By) {
  Substitution S;
  S.emplace(Iter, Arith.symbol(Iter).add(By));
  auto Step = Arith.constantValue(By);
  for (const Symbol &P : M.Symbols) {
    if (!llvm::is_contained(P.Factors, Iter))
      continue;
    auto Other = withoutFactor(P, Iter);
    if (!Other || !Step)
      return std::nullopt;
    S.emplace(P.Id,
              Arith.symbol(P.Id).add(Other->scale(isl::val(By.ctx(), *Step))));
  }
  return S;
}

/// k = first in \p V; null: a product of k with a variable has no symbol unless
/// first is a constant.
ValueRef Executor::Carrying::atFirst(const ValueRef &V) {
  auto C = Arith.constantValue(First);
  Substitution S;
  S.emplace(Iter, First);
  for (const Symbol &P : M.Symbols)
    if (llvm::is_contained(P.Factors, Iter)) {
      if (!C) {
        if (mentions(*V, P.Id))
          return nullptr;
        continue;
      }
      auto Other = withoutFactor(P, Iter);
      if (!Other)
        return nullptr;
      S.emplace(P.Id, Other->scale(isl::val(First.ctx(), *C)));
    }
  return rebuilt(V, S, {});
}

/// Of nothing that came with the loop.
bool Executor::Carrying::isOld(const std::string &Id) const {
  const int I = M.symbolIndex(Id);
  if (I < 0)
    return false;
  const Symbol &S = M.Symbols[static_cast<size_t>(I)];
  return S.K <= Symbol::Param || static_cast<size_t>(I) < SymbolsBefore ||
         (!S.Factors.empty() &&
          llvm::all_of(
              S.Factors, [&](const std::string &F) { return isOld(F); }));
}

/// A condition that is the same in every round.
bool Executor::Carrying::invariant(const isl::set &Cond) const {
  return llvm::all_of(involvedIds(Cond),
                      [&](const std::string &Id) { return isOld(Id); });
}

/// The part of \p D where \p V is \p Mark.
isl::set Executor::Carrying::keptOn(const ValueRef &V, const Value *Mark,
                                    const isl::set &D) const {
  if (V.get() == Mark)
    return D;
  if (V->K != Value::Select || !invariant(V->Cond))
    return D.subtract(D);
  return keptOn(V->Operands[0], Mark, D.intersect(V->Cond))
      .unite(keptOn(V->Operands[1], Mark, D.subtract(V->Cond)));
}

/// \p V on \p D, with what is kept in place of the marks.
ValueRef Executor::Carrying::withKept(const ValueRef &V,
                                      const isl::set &D) const {
  for (const Carried &C : Vars)
    if (V == C.Mark) {
      auto It = Kept.find(C.Mark.get());
      return C.Init && It != Kept.end() && D.is_subset(It->second) ? C.Init : V;
    }
  if (V->K != Value::Select || !invariant(V->Cond))
    return V;
  auto N = std::make_shared<Value>(*V);
  N->Operands[0] = withKept(V->Operands[0], D.intersect(V->Cond));
  N->Operands[1] = withKept(V->Operands[1], D.subtract(V->Cond));
  return N;
}

/// What \p C holds at the end of a round, in terms of marks. \p Where: what
/// other threads hold is no matter of the round.
ValueRef Executor::Carrying::exitValue(const Carried &C, isl::set &Where) const {
  auto Out = Exit.find(C.Name);
  if (Out == Exit.end() || Out->second.K != SVal::Data)
    return nullptr;
  ValueRef V = X.Ev.asValue(Out->second);
  // `if (inside) v = ...;`, the same threads in every round: the others keep
  // what they had.
  if (C.Init && V->K == Value::Select && invariant(V->Cond) &&
      (V->Operands[0] == C.Mark || V->Operands[1] == C.Mark)) {
    const bool Else = V->Operands[1] == C.Mark;
    Where = V->Cond;
    if (!Else)
      Where = Arith.complement(V->Cond);
    auto N = std::make_shared<Value>(*V);
    N->Operands[Else ? 1 : 0] = C.Init;
    V = N;
  }
  return withKept(V, Arith.universe());
}

/// The value of \p C in round k, if the values that it takes over are known.
bool Executor::Carrying::closeOne(const Carried &C, const Substitution &Back) {
  isl::set Where = Arith.universe();
  ValueRef V = C.Init ? exitValue(C, Where) : nullptr;
  if (!V)
    return false;
  V = rebuilt(V, {}, Closed);
  if (hasUnknown(*V))
    return false;
  ValueRef G = rebuilt(V, Back, {});
  ValueRef G0 = atFirst(G);
  if (!G0 || !sameFormula(G0, C.Init, Where.intersect(X.Cur.where())))
    return false;
  Closed[C.Mark.get()] = G;
  return true;
}

/// In how many rounds from the first one \p V, made of marks, is not what their
/// values make it.
unsigned Executor::Carrying::lateRounds(const ValueRef &V) const {
  auto It = Late.find(V.get());
  unsigned N = It == Late.end() ? 0 : It->second;
  for (const ValueRef &O : V->Operands)
    N = std::max(N, lateRounds(O));
  return N;
}

/// The same where the value in front of the loop does not fit: it is gone one
/// round after those that it is made of are known.
bool Executor::Carrying::closeLate(const Carried &C, const Substitution &Back) {
  isl::set Where = Arith.universe();
  const ValueRef V = exitValue(C, Where);
  if (!V)
    return false;
  std::map<const Value *, ValueRef> Known = LateValue;
  Known.insert(Closed.begin(), Closed.end());
  const ValueRef G = rebuilt(rebuilt(V, {}, Known), Back, {});
  if (hasUnknown(*G))
    return false;
  Late[C.Mark.get()] = lateRounds(V) + 1;
  LateValue[C.Mark.get()] = G;
  return true;
}

std::optional<std::pair<ValueRef, unsigned>>
Executor::Carrying::late(const Cell &C) const {
  for (const Carried &V : Vars)
    if (auto It = LateValue.find(V.Mark.get());
        V.Name == C && It != LateValue.end())
      return std::pair(It->second, Late.at(V.Mark.get()));
  return std::nullopt;
}

bool Executor::Carrying::close() {
  auto Back = shiftOf(Arith.constant(-Step));
  if (!Back)
    return false;
  for (const Carried &C : Vars)
    if (auto Out = Exit.find(C.Name);
        Out != Exit.end() && Out->second.K == SVal::Data)
      Kept.emplace(C.Mark.get(), keptOn(X.Ev.asValue(Out->second), C.Mark.get(),
                                        Arith.universe()));
  for (bool Changed = true; Changed;) {
    Changed = false;
    for (const Carried &C : Vars)
      if (!Closed.count(C.Mark.get()))
        Changed |= closeOne(C, *Back);
  }
  for (bool Changed = true; Changed;) {
    Changed = false;
    for (const Carried &C : Vars)
      if (!Closed.count(C.Mark.get()) && !Late.count(C.Mark.get()))
        Changed |= closeLate(C, *Back);
  }
  return true;
}

void Executor::Carrying::keep(Variables &Modified) const {
  for (const Carried &C : Vars) {
    auto It = Closed.find(C.Mark.get());
    if (It == Closed.end())
      continue;
    X.Cur.Env[C.Name] = X.Ev.ofValue(It->second, C.Name.type());
    if (C.Name.Element < 0)
      Modified.erase(C.Name.V);
  }
}

/// What the variables \p Changed of in front of loop \p Id hold at the start of a
/// round, as the environment has it or \p C found it.
void Executor::recordHeld(unsigned Id, const Variables &Changed,
                          const Carrying &C) {
  std::vector<Stmt::Held> All;
  for (const VarDecl *V : Changed) {
    if (!Cur.Declared.count(V) || L.varIndex(V) == M.Stmts[Id].IterVar)
      continue;
    for (const Cell &Of : Ev.cells(V)) {
      Stmt::Held H;
      H.Var = static_cast<unsigned>(L.varIndex(V));
      H.Element = Of.Element;
      auto Now = Cur.Env.find(Of);
      if (auto Late = C.late(Of)) {
        H.V = Late->first;
        H.LateRounds = Late->second;
      } else if (Now == Cur.Env.end()) {
        // nobody knows
      } else if (const SVal &S = Now->second; S.K == SVal::Data) {
        H.V = Ev.asValue(S);
      } else if (S.Base == SVal::Global && S.Index >= 0 && S.Idx.size() == 1 &&
                 S.PtrText == M.Params[static_cast<size_t>(S.Index)].Name) {
        H.V = S.Idx.back();
        H.Root = S.Index;
      }
      if (H.V && hasUnknown(*H.V))
        H.V = nullptr;
      All.push_back(std::move(H));
    }
  }
  llvm::sort(All, [](const Stmt::Held &A, const Stmt::Held &B) {
    return std::pair(A.Var, A.Element) < std::pair(B.Var, B.Element);
  });
  M.Stmts[Id].AtStart = std::move(All);
}

/// Gives variables of \p Modified that a round takes over from the one before
/// their value as a function of the iterator, and takes them out of the set.
/// Called with the environment of the loop's entry: every variable in it opaque
/// but the iterator and what moves along with it; \p Changed are the variables of
/// both kinds. \p Before is the environment in front of the loop, with \p
/// SymbolsBefore symbols.
void Executor::carriedVariables(const ForStmt *F, unsigned Id,
                                const Environment &Before, size_t SymbolsBefore,
                                Variables &Modified, const Variables &Changed) {
  const Stmt &Loop = M.Stmts[Id];
  if (Loop.IterSymbol < 0 || !Loop.Step || Loop.Cooperative ||
      Loop.Init.is_null() || !hasBarrierCall(F->getBody()))
    return;
  Carrying C(*this, Id, SymbolsBefore);
  bool Any = false;
  {
    // Only what the round leaves in the environment is kept.
    Trial T(Cur, Rec);
    Any = C.mark(Modified, Before);
    if (Any) {
      exec(F->getBody(), static_cast<int>(Id));
      C.roundEnds(Cur.Env);
    }
  }
  if (Any && C.close()) {
    C.keep(Modified);
    Ev.clobberForLoop(F->getBody());
  }
  recordHeld(Id, Changed, C);
}

} // namespace rcache
