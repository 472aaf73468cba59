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
#include "Rounds.h"
#include "clang/AST/DynamicRecursiveASTVisitor.h"
#include "clang/AST/StmtCXX.h"
#include <cmath>

using namespace clang;

namespace rcache {

bool hasBarrierCall(const clang::Stmt *S) {
  struct Finder : ConstDynamicRecursiveASTVisitor {
    bool Found = false;
    bool VisitCallExpr(const CallExpr *E) override {
      const FunctionDecl *F = E->getDirectCallee();
      Found |= F && F->getIdentifier() &&
               (F->getName() == "__syncthreads" || F->getName() == "sync");
      return !Found;
    }
  } V;
  V.TraverseStmt(S);
  return V.Found;
}

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

bool hasUnknown(const Value &V) {
  return V.K == Value::Unknown ||
         llvm::any_of(V.Operands,
                      [](const ValueRef &O) { return hasUnknown(*O); });
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

/// The product \p P without its factor \p Id; nullopt if no symbol is that.
std::optional<isl::pw_aff> Executor::withoutFactor(const Symbol &P,
                                                   const std::string &Id) {
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

/// k -> k + \p By in everything that is made from iterator \p Id; nullopt when
/// one of its products has no symbol for what the step adds.
std::optional<Substitution> Executor::shiftOf(const std::string &Id,
                                              const isl::pw_aff &By) {
  Substitution S;
  S.emplace(Id, Arith.symbol(Id).add(By));
  auto Step = Arith.constantValue(By);
  for (const Symbol &P : M.Symbols) {
    if (!llvm::is_contained(P.Factors, Id))
      continue;
    auto Other = withoutFactor(P, Id);
    if (!Other || !Step)
      return std::nullopt;
    S.emplace(P.Id,
              Arith.symbol(P.Id).add(Other->scale(isl::val(By.ctx(), *Step))));
  }
  return S;
}

/// Gives variables of \p Modified that a round takes over from the one before
/// their value as a function of the iterator, and takes them out of the set.
/// Called with the environment of the loop's entry: every variable in it opaque
/// but the iterator; \p Before is the environment in front of the loop, with
/// \p SymbolsBefore symbols.
void Executor::carriedVariables(
    const ForStmt *F, unsigned Id,
    const Environment &Before, size_t SymbolsBefore,
    llvm::SmallPtrSetImpl<const VarDecl *> &Modified) {
  const Stmt &Loop = M.Stmts[Id];
  if (Loop.IterSymbol < 0 || !Loop.Step || Loop.Cooperative ||
      Loop.Init.is_null() || !hasBarrierCall(F->getBody()))
    return;
  const std::string Iter = M.Symbols[Loop.IterSymbol].Id;
  const int64_t Step = *Loop.Step;
  const isl::pw_aff First = Loop.Init;
  // Who they are, the opaque value that stands for each at the entry, and what
  // it holds in front of the loop.
  struct Carried {
    Cell Name;
    ValueRef Mark, Init;
  };
  std::vector<Carried> Vars;
  const Environment Entry = Env;
  for (const VarDecl *V : Modified) {
    int I = L.varIndex(V);
    if (I < 0 || M.Vars[I].AddressTaken)
      continue;
    for (const Cell &C : cells(V)) {
      auto Now = Env.find(C);
      auto Init = Before.find(C);
      if (Now == Env.end() || Init == Before.end() ||
          Now->second.K != SVal::Data || Init->second.K != SVal::Data)
        continue;
      // An integer that counts has a symbol; one that is loaded is data.
      if (Now->second.Int) {
        if (!(M.Vars[I].Depends & DepGlobal))
          continue;
        Value U;
        U.Type = typeText(C.type());
        U.Text = C.name();
        U.Depends = M.Vars[I].Depends;
        Now->second = ofValue(std::make_shared<Value>(U), C.type());
      }
      ValueRef First = asValue(Init->second);
      if (!Now->second.V || hasUnknown(*First))
        continue;
      Vars.push_back({C, Now->second.V, First});
    }
  }
  auto Restore = [&] { Env = Entry; };
  if (Vars.empty())
    return Restore();
  llvm::sort(Vars, [&](const Carried &A, const Carried &B) {
    return std::pair(L.varIndex(A.Name.V), A.Name.Element) <
           std::pair(L.varIndex(B.Name.V), B.Name.Element);
  });

  // The trial. Only what it leaves in the environment is kept.
  const PathState SavedPath = Path;
  {
    Trial T(*this);
    exec(F->getBody(), static_cast<int>(Id));
  }
  const Environment Exit = Env;
  Restore();
  Path = SavedPath;

  auto Back = shiftOf(Iter, Arith.constant(-Step));
  if (!Back)
    return;
  // k = first in a formula; a product of it with a variable has no symbol
  // unless first is a constant.
  auto AtFirst = [&](const ValueRef &V) -> ValueRef {
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
  };
  // A condition that is the same in every round: of nothing that came with the
  // loop.
  std::function<bool(const std::string &)> IsOld = [&](const std::string &Id) {
    const int I = M.symbolIndex(Id);
    if (I < 0)
      return false;
    const Symbol &S = M.Symbols[static_cast<size_t>(I)];
    return S.K <= Symbol::Param || static_cast<size_t>(I) < SymbolsBefore ||
           (!S.Factors.empty() && llvm::all_of(S.Factors, IsOld));
  };
  auto Invariant = [&](const isl::set &Cond) {
    return llvm::all_of(involvedIds(Cond), IsOld);
  };
  // Where a variable is never set: it keeps what it held in front of the loop.
  std::map<const Value *, isl::set> Kept;
  std::function<isl::set(const ValueRef &, const Value *, const isl::set &)>
      KeptOn = [&](const ValueRef &X, const Value *Mark, const isl::set &D) {
        if (X.get() == Mark)
          return D;
        if (X->K != Value::Select || !Invariant(X->Cond))
          return D.subtract(D);
        return KeptOn(X->Operands[0], Mark, D.intersect(X->Cond))
            .unite(KeptOn(X->Operands[1], Mark, D.subtract(X->Cond)));
      };
  for (const Carried &C : Vars)
    if (auto Out = Exit.find(C.Name);
        Out != Exit.end() && Out->second.K == SVal::Data)
      Kept.emplace(C.Mark.get(), KeptOn(asValue(Out->second), C.Mark.get(),
                                        Arith.universe()));
  auto WithKept = [&](ValueRef V) {
    std::function<ValueRef(const ValueRef &, const isl::set &)> Put =
        [&](const ValueRef &X, const isl::set &D) -> ValueRef {
      for (const Carried &C : Vars)
        if (X == C.Mark) {
          auto It = Kept.find(C.Mark.get());
          return It != Kept.end() && D.is_subset(It->second) ? C.Init : X;
        }
      if (X->K != Value::Select || !Invariant(X->Cond))
        return X;
      auto N = std::make_shared<Value>(*X);
      N->Operands[0] = Put(X->Operands[0], D.intersect(X->Cond));
      N->Operands[1] = Put(X->Operands[1], D.subtract(X->Cond));
      return N;
    };
    return Put(V, Arith.universe());
  };
  std::map<const Value *, ValueRef> Closed; ///< marker -> its value at round k
  for (bool Changed = true; Changed;) {
    Changed = false;
    for (const auto &[Name, Mark, Init] : Vars) {
      if (Closed.count(Mark.get()))
        continue;
      auto Out = Exit.find(Name);
      if (Out == Exit.end() || Out->second.K != SVal::Data)
        continue;
      ValueRef X = asValue(Out->second);
      isl::set Where = Arith.universe();
      // `if (inside) v = ...;`, the same threads in every round: the others
      // keep what they had.
      if (X->K == Value::Select && Invariant(X->Cond) &&
          (X->Operands[0] == Mark || X->Operands[1] == Mark)) {
        const bool Else = X->Operands[1] == Mark;
        Where = X->Cond;
        if (!Else)
          Where = Arith.complement(X->Cond);
        auto N = std::make_shared<Value>(*X);
        N->Operands[Else ? 1 : 0] = Init;
        X = N;
      }
      X = rebuilt(WithKept(X), {}, Closed);
      if (hasUnknown(*X))
        continue;
      ValueRef G = rebuilt(X, *Back, {});
      ValueRef G0 = AtFirst(G);
      if (!G0)
        continue;
      if (!sameFormula(G0, Init, Where.intersect(where())))
        continue;
      Closed[Mark.get()] = G;
      Changed = true;
    }
  }
  for (const Carried &C : Vars) {
    auto It = Closed.find(C.Mark.get());
    if (It == Closed.end())
      continue;
    Env[C.Name] = ofValue(It->second, C.Name.type());
    if (C.Name.Element < 0)
      Modified.erase(C.Name.V);
  }
  clobberForLoop(F->getBody());
}

} // namespace rcache
