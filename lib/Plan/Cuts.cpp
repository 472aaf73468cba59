// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Cuts.h. A cut is sound because of three things:
//
//   - what the variables hold at the start of a round is a function of the round
//     (Stmt::AtStart), of memory that the launch does not write;
//   - what a round stores no other round of another block reads, or stores as
//     well: the elements that a block touches in a round lie less far apart than
//     two rounds, or the launch runs the original;
//   - nothing happens in front of the loop or behind it.

#include "Cuts.h"
#include "Affine/IslToCxx.h"
#include "Affine/IslTools.h"
#include "Legality.h"
#include "RoundsApart.h"
#include "Separate.h"
#include "Solve.h"
#include "Values.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <isl/set.h>

using namespace rcache;

/// How host code writes the kernel's parameters.
static CxxNames parameterNames(const KernelModel &M) {
  CxxNames N;
  for (const Symbol &S : M.Symbols)
    if (S.K == Symbol::Param)
      N[S.Id] = CxxAtom(S.Text, true, S.Type);
  return N;
}

llvm::Expected<std::string> rcache::roundsOfLaunch(const KernelModel &M,
                                                   const LoopCut &Cut) {
  CxxOptions O;
  O.Type = CxxType::LongLong;
  O.Context = isl::pw_aff(Cut.Rounds).domain();
  auto T = toCxx(Cut.Rounds, parameterNames(M), O);
  if (!T)
    return T.takeError();
  return T->Text;
}

namespace {

/// Thrown within this file: why the loop stays whole.
struct Whole {
  std::string Why;
};

class Cutter {
public:
  Cutter(const KernelModel &M, bool AssumeNoAlias, Plan &P, const Stmt &Loop)
      : M(M), AssumeNoAlias(AssumeNoAlias), P(P), Loop(Loop) {}

  void run() {
    onlyLoopHasEffects();
    axisIsFree();
    Cut.Loop = Loop.Id;
    countRounds();
    for (unsigned H = 0; H < Loop.AtStart->size(); ++H)
      refill(H);
    keepOrder();
    Cut.UsualRounds = std::max(16u, 2 * Cut.LeastRounds);
    P.Preconditions.insert(P.Preconditions.end(), Asked.begin(), Asked.end());
    for (const auto &[A, B] : Pairs)
      requireSeparate(P, A, B);
    P.Cut = std::move(Cut);
  }

private:
  const KernelModel &M;
  const bool AssumeNoAlias;
  Plan &P;
  const Stmt &Loop;
  LoopCut Cut;
  std::vector<Precondition> Asked;
  std::vector<std::pair<int, int>> Pairs;

  bool inLoop(TextRange R) const { return Loop.Range.contains(R); }

  //===--- What happens ---===//

  /// Nothing but stores, each in a round.
  void onlyLoopHasEffects() const {
    for (const Effect &E : M.Effects) {
      if (E.K == Effect::Call || E.K == Effect::Volatile)
        throw Whole{"'" + M.text(E.Range) + "' has to happen as often as it did"};
      if (E.K == Effect::SetsMemory &&
          llvm::none_of(M.GlobalAccesses, [&](const GlobalAccess &G) {
            return G.Range == E.Target && G.Root >= 0;
          }))
        throw Whole{"'" + M.text(E.Range) + "' stores nobody knows where"};
    }
    for (const GlobalAccess &G : M.GlobalAccesses)
      if (G.K == GlobalAccess::Atomic)
        throw Whole{"'" + M.text(G.Range) + "' is atomic"};
      else if (G.K != GlobalAccess::Read && !inLoop(G.Range))
        throw Whole{"'" + M.text(G.Range) + "' is stored outside of the loop"};
    for (const Var &V : M.Vars)
      if (!V.IsParam && V.AddressTaken)
        throw Whole{"the address of '" + V.Name + "' is taken"};
  }

  /// The grid's z tells the block which rounds it has.
  void axisIsFree() const {
    for (const BuiltinUse &B : M.Builtins)
      if ((B.K == Symbol::BlockIdx || B.K == Symbol::GridDim) && B.Axis >= 2)
        throw Whole{"'" + M.text(B.Range) + "' is used"};
    for (const auto &[Name, Body] : M.CalleeBodies)
      if (Body.find("blockIdx") != std::string::npos ||
          Body.find("gridDim") != std::string::npos)
        throw Whole{"'" + Name + "' asks for the block"};
  }

  //===--- Rounds ---===//

  void countRounds() {
    const std::string &Iter =
        M.Symbols[static_cast<size_t>(Loop.IterSymbol)].Id;
    const isl::pw_multi_aff Last = solveFor(Loop.IterDomain, {Iter});
    const isl::pw_aff Passed = Last.at(0).sub(Loop.Init);
    const isl::ctx Ctx = M.Ctx->ctx();
    isl::pw_aff Rounds =
        floorDiv(Passed, *Loop.Step).add(constantValue(Ctx, 1)).coalesce();
    const isl::set Some = Rounds.ge_set(constantValue(Ctx, 1)).coalesce();
    Rounds = simplify(Rounds, Some).intersect_domain(Some);
    for (const isl::pw_aff &V : {Rounds, isl::pw_aff(Loop.Init)})
      for (const std::string &Id : involvedIds(V)) {
        const int I = M.symbolIndex(Id);
        if (I < 0 || M.Symbols[static_cast<size_t>(I)].K != Symbol::Param)
          throw Whole{"a launch does not know how many rounds the loop takes"};
      }
    Cut.Rounds = Rounds;
    CxxOptions O;
    O.Type = CxxType::LongLong;
    auto Any = toCxx(Some, parameterNames(M), O);
    auto All = roundsOfLaunch(M, Cut);
    if (!Any || !All) {
      llvm::consumeError(Any.takeError());
      llvm::consumeError(All.takeError());
      throw Whole{"the number of rounds cannot be written"};
    }
    Asked.push_back({Any->Text, "the loop takes a round"});
    Asked.push_back({"(" + *All + ") <= " + std::to_string(MostRoundsOfCut),
                     "so many rounds do not wrap"});
    Asked.push_back({M.NamePrefix + "grid.z == 1",
                     "the grid's z tells blocks which rounds they have"});
  }

  //===--- What a round takes over ---===//

  /// May a block compute \p V in front of its first round?
  bool isFormula(const ValueRef &V) const {
    if (V->K == Value::Unknown || V->K == Value::Undefined)
      return false;
    // What a compiler may round together it may round otherwise elsewhere.
    if (V->K == Value::Op && isRounded(V->Type) &&
        V->Text.find_first_of("*+-") != std::string::npos)
      return false;
    for (const std::string &Id : valueSymbols(V))
      if (!isThere(Id))
        return false;
    return llvm::all_of(V->Operands,
                        [&](const ValueRef &O) { return isFormula(O); });
  }

  /// Has the symbol its value in front of the loop, the counter set?
  bool isThere(const std::string &Id) const {
    const int I = M.symbolIndex(Id);
    if (I < 0)
      return false;
    const Symbol &S = M.Symbols[static_cast<size_t>(I)];
    if (S.K < Symbol::Iterator || I == Loop.IterSymbol)
      return true;
    return S.K == Symbol::Opaque && !S.Factors.empty() &&
           llvm::all_of(S.Factors,
                        [&](const std::string &F) { return isThere(F); });
  }

  void refill(unsigned Index) {
    const Stmt::Held &H = (*Loop.AtStart)[Index];
    const Var &V = M.Vars[H.Var];
    if (setBeforeUse(H.Var))
      return;
    if (!H.V || !isFormula(H.V) || (H.Root >= 0 && !pointsAs(V, H.Root)))
      throw Whole{"what '" + V.Name + "' holds is made by the rounds before"};
    std::vector<ValueRef> Loads;
    collectLoads(H.V, Loads);
    for (const ValueRef &L : Loads)
      stays(L->Root, V.Name);
    Cut.RefillLoads += double(Loads.size());
    Cut.LeastRounds = std::max(Cut.LeastRounds, H.LateRounds);
    Cut.Refills.push_back({Index, H.LateRounds == 0});
  }

  /// Memory behind \p Root is not written by the launch.
  void stays(int Root, const std::string &Name) {
    for (const GlobalAccess &G : M.GlobalAccesses)
      if (G.K != GlobalAccess::Read && !apart(G.Root, Root))
        throw Whole{"'" + Name + "' is loaded from what the rounds write"};
  }

  /// Is it set in every round before somebody asks what it holds? By a statement
  /// of its own, under no condition.
  bool setBeforeUse(unsigned Var) const {
    const Stmt *Body = &M.stmt(Loop.Children[0]);
    const std::vector<unsigned> &All =
        Body->K == Stmt::Block ? Body->Children : Loop.Children;
    if (uses(Var, Loop.HeaderRange))
      return false;
    for (unsigned C : All) {
      const Stmt &S = M.stmt(C);
      const unsigned N = uses(Var, S.Range);
      if (!N)
        continue;
      return N == 1 && S.K == Stmt::Leaf &&
             llvm::any_of(M.Effects, [&](const Effect &E) {
               return E.K == Effect::SetsVariable &&
                      static_cast<unsigned>(E.Var) == Var &&
                      S.Range.contains(E.Range) &&
                      E.Target.Begin == S.Range.Begin &&
                      M.text(E.At) == "=" && M.text(E.Target) == M.Vars[Var].Name;
             });
    }
    return false;
  }

  unsigned uses(unsigned Var, TextRange In) const {
    return static_cast<unsigned>(llvm::count_if(
        M.VarUses, [&](const VarUse &U) {
          return U.Var == Var && In.contains(U.Range);
        }));
  }

  /// Can a pointer of type \p V be set to an element of parameter \p Root?
  bool pointsAs(const Var &V, int Root) const {
    const auto Bare = [](std::string T) {
      for (const char *Word : {"const", "__restrict__", "__restrict", " "})
        for (size_t At = T.find(Word); At != std::string::npos; At = T.find(Word))
          T.erase(At, std::string(Word).size());
      return T;
    };
    const KernelParam &Pm = M.Params[static_cast<size_t>(Root)];
    return Pm.MemberOf < 0 && Bare(V.Type) == Bare(Pm.Type);
  }

  //===--- Order ---===//

  /// Do parameters \p A and \p B lead to different memory? The launch may be asked.
  bool apart(int A, int B) {
    if (!mayAlias(M, A, B, AssumeNoAlias))
      return true;
    if (!canSeparate(M, A, B))
      return false;
    Pairs.push_back({A, B});
    return true;
  }

  /// Accesses to one element, one of them a store, stand in one round.
  void keepOrder() {
    for (const GlobalAccess &W : M.GlobalAccesses) {
      if (W.K == GlobalAccess::Read)
        continue;
      for (const GlobalAccess &A : M.GlobalAccesses) {
        if (A.Root != W.Root) {
          if (!apart(W.Root, A.Root))
            throw Whole{"'" + M.text(W.Range) + "' may be what '" +
                        M.text(A.Range) + "' names in another round"};
          continue;
        }
        if (A.K != GlobalAccess::Read && A.Range.Begin < W.Range.Begin)
          continue; // asked with the two in the other order
        const auto Test =
            inLoop(A.Range) ? roundsApart(M, P.Map, Loop, W, A) : std::nullopt;
        if (!Test)
          throw Whole{"'" + M.text(W.Range) + "' and '" + M.text(A.Range) +
                      "' may be one element in different rounds"};
        if (!Test->empty() && llvm::none_of(Asked, [&](const Precondition &Of) {
              return Of.Text == *Test;
            }))
          Asked.push_back({*Test, "no element is stored in two rounds"});
      }
    }
  }
};

/// Is \p S a loop at the kernel's top level that a cut could be made of?
bool isCandidate(const KernelModel &M, const Stmt &S) {
  if (S.K != Stmt::For || !S.AtStart || !S.HasGlobalWrite || S.HasReturn ||
      S.IterVar < 0 || S.IterSymbol < 0 || S.Cooperative || !S.Step ||
      *S.Step < 1 || S.IterDomain.is_null() || S.Init.is_null() ||
      !M.countsItself(S))
    return false;
  const Var &V = M.Vars[static_cast<size_t>(S.IterVar)];
  if (V.DeclStmt != S.Id || !V.OnlyDeclarator || V.AddressTaken)
    return false;
  for (int Q = S.Parent; Q >= 0; Q = M.stmt(static_cast<unsigned>(Q)).Parent)
    if (M.stmt(static_cast<unsigned>(Q)).K != Stmt::Block)
      return false;
  return true;
}

} // namespace

std::optional<std::string> rcache::cutLoop(const KernelModel &M,
                                           bool AssumeNoAlias, Plan &P) {
  if (!P.Interleaved.empty() || !P.Map.Block || M.Form.scaled())
    return std::nullopt;
  for (const Stmt &S : M.Stmts) {
    if (!isCandidate(M, S))
      continue;
    try {
      Cutter(M, AssumeNoAlias, P, S).run();
      return std::nullopt;
    } catch (const Whole &W) {
      return "line " + std::to_string(S.Pos.Line) + ": " + W.Why;
    }
  }
  return std::nullopt;
}

/// Where some slot of a thread is in \p Domain: [tx.. of its first slot, symbols].
static isl::set ofSomeSlot(const isl::set &Domain, const Mapping &Map) {
  static const char *Threads[3] = {"tx", "ty", "tz"};
  isl::set Out = isl::set::empty(Domain.space());
  for (unsigned Z = 0; Z < Map.Factor[2]; ++Z)
    for (unsigned Y = 0; Y < Map.Factor[1]; ++Y)
      for (unsigned X = 0; X < Map.Factor[0]; ++X) {
        Substitution By;
        const unsigned S[3] = {X, Y, Z};
        for (unsigned Ax = 0; Ax < 3; ++Ax)
          if (Map.Factor[Ax] > 1)
            By.emplace(Threads[Ax],
                       symbolValue(Domain.ctx(), Threads[Ax])
                           .add(constantValue(Domain.ctx(),
                                              int64_t(S[Ax]) * Map.Stride[Ax])));
        Out = Out.unite(By.empty() ? Domain : substitute(Domain, By));
      }
  return Out.coalesce();
}

/// What nobody stores may be computed of anything, as long as it is no more than
/// computed: it must not decide what is executed, say which element is met, or be passed
/// to a function or lambda, in which it could.
static bool onlyComputes(const KernelModel &M) {
  const auto called = [&] {
    const llvm::StringRef Text = M.Text;
    for (size_t At = Text.find(']'); At != llvm::StringRef::npos; At = Text.find(']', At + 1))
      if (const llvm::StringRef Next = Text.substr(At + 1).ltrim();
          Next.starts_with("(") || Next.starts_with("{"))
        return true;
    return !M.CalleeBodies.empty();
  };
  return llvm::none_of(M.Stmts, [](const Stmt &S) { return S.CondDepends & DepShared; }) &&
         llvm::all_of(M.GlobalAccesses, [](const GlobalAccess &G) {
           return G.Index && !(G.Index->Depends & DepShared);
         }) &&
         llvm::none_of(M.Vars, [](const Var &V) { return V.DynamicIndex; }) && !called();
}

Nullable<isl::set> rcache::neededThreads(const KernelModel &M, const Plan &P,
                                         const std::vector<unsigned> &Reads,
                                         const isl::set &Context) {
  isl::set Read = never(M.Ctx->ctx()), Stored = Read;
  // What a round may change, `z` and `z & every`, is not asked for.
  std::vector<std::string> Counters;
  for (const Symbol &S : M.Symbols)
    if (S.K == Symbol::Iterator ||
        (S.K == Symbol::Opaque &&
         (S.Factors.empty() || !llvm::all_of(S.Factors, [&](const std::string &F) {
            const int I = M.symbolIndex(F);
            return I >= 0 && M.Symbols[size_t(I)].K <= Symbol::Param;
          }))))
      Counters.push_back(S.Id);
  const auto Add = [&](isl::set &To, const Nullable<isl::set> &D) {
    To = D.is_null() ? always(M.Ctx->ctx())
                     : To.unite(projectOut(D, Counters)).coalesce();
  };
  for (unsigned R : Reads)
    Add(Read, M.SharedAccesses[R].Domain);
  if (P.Cut && onlyComputes(M)) {
    for (const GlobalAccess &G : M.GlobalAccesses)
      if (G.K != GlobalAccess::Read)
        Add(Stored, G.Domain);
    Read = Read.intersect(Stored);
  }
  isl::set Needed = ofSomeSlot(Read, P.Map);
  Needed = isl::manage(isl_set_simple_hull(Needed.copy())).to_set();
  Needed = simplify(Needed, Context);
  if (Context.is_subset(Needed))
    return {};
  return Needed;
}

isl::set rcache::inRounds(const KernelModel &M, unsigned Of) {
  isl::set In = always(M.Ctx->ctx());
  for (int Q = M.stmt(Of).Parent; Q >= 0;
       Q = M.stmt(static_cast<unsigned>(Q)).Parent)
    if (const auto &L = M.stmt(static_cast<unsigned>(Q));
        L.K == Stmt::For && L.AtStart && !L.IterDomain.is_null())
      In = In.intersect(L.IterDomain);
  return In;
}
