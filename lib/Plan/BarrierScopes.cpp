// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See BarrierScopes.h. Of two accesses the second one's thread, and all that
// may differ between two threads or two moments (iterators, loaded values),
// gets names of its own; rounds of loops are not related to each other. Then
//
//     [tx.., rc_b_tx.., ...] -> { : both execute, both name one element }
//
// is intersected with "in different warps" of a plan and asked whether it is
// empty. Everything unknown counts as a meeting.

#include "BarrierScopes.h"
#include "Affine/IslTools.h"
#include "Legality.h"
#include "Separate.h"
#include "Solve.h"
#include "Values.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <isl/set.h>
#include <map>
#include <set>
#include <tuple>

using namespace rcache;

namespace {

const char *const ThreadIds[3] = {"tx", "ty", "tz"};

/// The name in which the second access of a pair knows \p Id.
std::string other(const std::string &Id) { return "rc_b_" + Id; }

/// One access: where it stands, when it runs and what it names.
struct Place {
  TextRange Range;
  bool Write = false;
  int Root = -1;      ///< global memory
  unsigned Array = 0; ///< shared memory
  bool Known = false; ///< Coords name the element, on Domain
  std::vector<isl::pw_aff> Coords;
  std::vector<std::string> Pitches; ///< what Coords were divided by
  Nullable<isl::set> Domain;
};

} // namespace

struct BarrierScopes::Impl {
  const KernelModel &M;
  const Assumptions A;
  bool AssumeNoAlias;
  std::vector<Place> Shared, Global;
  /// By indices in Shared or Global: the pairs of threads that meet.
  std::map<std::pair<unsigned, unsigned>, isl::set> MeetShared, MeetGlobal;

  Impl(const KernelModel &M, const Assumptions &A, bool AssumeNoAlias)
      : M(M), A(A), AssumeNoAlias(AssumeNoAlias) {
    for (const SharedAccess &S : M.SharedAccesses)
      Shared.push_back(bare(placeOf(S)));
    for (const GlobalAccess &G : M.GlobalAccesses)
      Global.push_back(bare(placeOf(G)));
  }

  /// Conditions on what neither the thread nor the element is made of are not
  /// needed, and pairs of them are large.
  static Place bare(Place P) {
    std::set<std::string> Used(ThreadIds, ThreadIds + 3);
    for (const isl::pw_aff &C : P.Coords)
      for (const std::string &Id : involvedIds(C))
        Used.insert(Id);
    std::vector<std::string> Rest;
    for (const std::string &Id : involvedIds(P.Domain))
      if (!Used.count(Id))
        Rest.push_back(Id);
    P.Domain = projectOut(P.Domain, Rest).coalesce();
    return P;
  }

  //===--- Accesses ---===//

  /// What the counters that are halved or doubled are between at \p R.
  isl::set counters(TextRange R) const {
    isl::set D = A.Context;
    for (const Stmt &S : M.Stmts) {
      if (!S.Factor || S.FactorSymbol < 0 || S.Init.is_null() ||
          !S.Range.contains(R))
        continue;
      const isl::pw_aff V = symbolValue(
          M.Ctx->ctx(), M.Symbols[static_cast<size_t>(S.FactorSymbol)].Id);
      const isl::pw_aff First = A.fix(S.Init);
      D = D.intersect(*S.Factor < 0 ? V.le_set(First) : V.ge_set(First));
    }
    return D;
  }

  isl::set domainOf(const Nullable<isl::set> &D, TextRange R) const {
    return D.is_null() ? counters(R) : A.fix(D).intersect(counters(R));
  }

  Place placeOf(const SharedAccess &S) const {
    Place P;
    P.Range = S.Range;
    P.Write = S.K != SharedAccess::Read;
    P.Array = S.Array;
    P.Domain = domainOf(S.Domain, S.Range);
    const SharedArray &Arr = M.Arrays[S.Array];
    if (!S.Affine || S.K == SharedAccess::Atomic ||
        S.K == SharedAccess::Escape || S.Index.size() != Arr.Extents.size())
      return P;
    // As one number: an index may run over the end of its line.
    isl::pw_aff Linear = constantValue(M.Ctx->ctx(), 0);
    for (size_t D = 0; D < S.Index.size(); ++D) {
      if (D > 0) {
        if (!Arr.Extents[D])
          return P;
        Linear = Linear.scale(static_cast<long>(*Arr.Extents[D]));
      }
      Linear = Linear.add(A.fix(S.Index[D]));
    }
    P.Coords = {Linear};
    P.Known = true;
    return P;
  }

  Place placeOf(const GlobalAccess &G) const {
    Place P;
    P.Range = G.Range;
    P.Write = G.K != GlobalAccess::Read;
    P.Root = G.Root;
    P.Domain = domainOf(G.Domain, G.Range);
    if (G.Root < 0 || G.K == GlobalAccess::Atomic || !G.Index ||
        G.Index->K != Value::Affine || !G.ElemBytes ||
        G.ElemBytes != M.Params[static_cast<size_t>(G.Root)].PointeeBytes)
      return P;
    const isl::pw_aff Index = simplify(A.fix(G.Index->Aff), P.Domain);
    std::optional<isl::pw_aff> Last = Index;
    if (auto V = polynomial(Index)) {
      while (auto Split = byLines(*V, P.Domain)) {
        P.Pitches.push_back(Split->Pitch);
        P.Coords.push_back(Split->Rest);
        V = Split->Line;
      }
      Last = valueOf(*V);
    }
    P.Known = Last.has_value();
    if (Last)
      P.Coords.push_back(*Last);
    return P;
  }

  /// Coefficients of products; {}: of 1.
  using Polynomial = std::map<std::vector<std::string>, int64_t>;

  std::optional<Polynomial> polynomial(const isl::pw_aff &V) const {
    const auto L = linearForm(V, always(M.Ctx->ctx()));
    if (!L)
      return std::nullopt;
    Polynomial R;
    R[{}] = L->Const;
    for (const auto &[Id, C] : L->Terms)
      R[factors(Id)] += C;
    return R;
  }

  /// `line * (w + c) + rest` with a parameter w, a constant c (a padded line)
  /// and 0 <= rest < w + c on \p D: two such numbers are equal if lines and rests
  /// are.
  struct Lines {
    std::string Pitch;
    Polynomial Line;
    isl::pw_aff Rest;
  };
  std::optional<Lines> byLines(const Polynomial &V, const isl::set &D) const {
    const isl::ctx Ctx = M.Ctx->ctx();
    std::set<std::string> Pitches;
    for (const auto &[Factors, C] : V)
      for (const std::string &F : Factors)
        if (int I = M.symbolIndex(F);
            I >= 0 && M.Symbols[I].K == Symbol::Param && countsFewLines(V, F))
          Pitches.insert(F);
    for (const std::string &W : Pitches) {
      Polynomial Times, Plus; // V = Times * W + Plus
      for (const auto &[Factors, C] : V) {
        std::vector<std::string> F = Factors;
        const auto At = std::find(F.begin(), F.end(), W);
        if (At == F.end()) {
          Plus[F] += C;
          continue;
        }
        F.erase(At);
        Times[F] += C;
      }
      for (int64_t Padding : paddings(Times, Plus)) {
        // V = Times * (W + c) + (Plus - c * Times)
        Polynomial Left = Plus;
        for (const auto &[F, C] : Times)
          Left[F] -= Padding * C;
        const auto Least = valueOf(Left);
        if (!Least)
          continue;
        const isl::pw_aff Width =
            symbolValue(Ctx, W).add(constantValue(Ctx, Padding));
        // `w - 1 - x`, `x - w`: whole lines of the rest.
        for (int More : {0, 1, -1}) {
          const isl::pw_aff Rest = Least->add(Width.scale(long(More)));
          if (!impliedBy(inRange(Rest, constantValue(Ctx, 0), Width), D))
            continue;
          Times[{}] -= More;
          return Lines{W + (Padding ? " + " + std::to_string(Padding) : ""),
                       std::move(Times), Rest};
        }
      }
    }
    return std::nullopt;
  }

  /// Do lines of the pitch \p W never wrap? Of a 64-bit one those of a block's threads.
  bool countsFewLines(const Polynomial &V, const std::string &W) const {
    return M.Symbols[size_t(M.symbolIndex(W))].Bits <= 32 ||
           llvm::all_of(V, [&](const auto &Term) {
             const auto &[Factors, C] = Term;
             return !llvm::is_contained(Factors, W) ||
                    (std::abs(C) <= 1024 &&
                     llvm::all_of(Factors, [&](const std::string &F) {
                       return sameForAll(F) || llvm::is_contained(ThreadIds, F);
                     }));
           });
  }

  /// c of pitches `w + c` by which \p Times * w + \p Plus may be divided: what
  /// takes one more product out of the rest. 0 among them.
  static std::set<int64_t> paddings(const Polynomial &Times,
                                    const Polynomial &Plus) {
    constexpr int64_t Most = int64_t(1) << 20;
    std::set<int64_t> R = {0};
    for (const auto &[F, C] : Times)
      if (const auto It = Plus.find(F); !F.empty() && C != 0 &&
                                        It != Plus.end() &&
                                        It->second % C == 0 &&
                                        std::abs(It->second / C) <= Most)
        R.insert(It->second / C);
    return R;
  }

  std::optional<isl::pw_aff> valueOf(const Polynomial &P) const {
    isl::pw_aff R = constantValue(M.Ctx->ctx(), 0);
    for (const auto &[F, C] : P) {
      if (C == 0)
        continue;
      const auto Term = product(F);
      if (!Term)
        return std::nullopt;
      R = R.add(Term->scale(long(C)));
    }
    return R;
  }

  /// The factors of a product, or the symbol itself.
  std::vector<std::string> factors(const std::string &Id) const {
    const int I = M.symbolIndex(Id);
    if (I < 0 || M.Symbols[I].Factors.empty())
      return {Id};
    return M.Symbols[I].Factors;
  }

  std::optional<isl::pw_aff> product(const std::vector<std::string> &F) const {
    const isl::ctx Ctx = M.Ctx->ctx();
    if (F.empty())
      return constantValue(Ctx, 1);
    if (F.size() == 1)
      return A.fix(symbolValue(Ctx, F.front()));
    for (const Symbol &S : M.Symbols)
      if (S.Factors == F)
        return A.fix(symbolValue(Ctx, S.Id));
    return std::nullopt;
  }

  //===--- Pairs ---===//

  /// Has it one value in all threads of a block, from begin to end?
  bool sameForAll(const std::string &Id) const {
    const int I = M.symbolIndex(Id);
    if (I < 0)
      return false;
    const Symbol &S = M.Symbols[I];
    if (S.K != Symbol::Opaque)
      return S.K != Symbol::ThreadIdx && S.K != Symbol::Iterator;
    if (S.Depends & (DepThread | DepShared | DepGlobal))
      return false;
    return S.Anywhere ||
           (!S.Factors.empty() &&
            std::all_of(S.Factors.begin(), S.Factors.end(),
                        [&](const std::string &F) { return sameForAll(F); }));
  }

  void rename(const std::vector<std::string> &Ids, Substitution &By) const {
    for (const std::string &Id : Ids)
      if (!sameForAll(Id))
        By.emplace(Id, symbolValue(M.Ctx->ctx(), other(Id)));
  }

  /// The pairs of threads in which \p X and \p Y name one element.
  isl::set meeting(const Place &X, const Place &Y) const {
    Substitution By;
    rename(involvedIds(Y.Domain), By);
    for (const isl::pw_aff &C : Y.Coords)
      rename(involvedIds(C), By);
    for (const char *T : ThreadIds)
      By.emplace(T, symbolValue(M.Ctx->ctx(), other(T)));
    isl::set S = X.Domain.intersect(substitute(Y.Domain, By));
    if (!X.Known || !Y.Known || X.Pitches != Y.Pitches ||
        X.Coords.size() != Y.Coords.size())
      return S;
    for (size_t C = 0; C < X.Coords.size(); ++C)
      S = S.intersect(X.Coords[C].eq_set(substitute(Y.Coords[C], By)));
    return S;
  }

  const isl::set &meet(const std::vector<Place> &Places, unsigned X,
                       unsigned Y) {
    M.Ctx->checkTime();
    auto &Known = &Places == &Shared ? MeetShared : MeetGlobal;
    auto It = Known.find({X, Y});
    if (It == Known.end()) {
      // As of two others that stand elsewhere?
      for (const auto &[Pair, Set] : Known)
        if (same(Places[Pair.first], Places[X]) &&
            same(Places[Pair.second], Places[Y]))
          return Known.emplace(std::pair(X, Y), Set).first->second;
      It = Known.emplace(std::pair(X, Y), meeting(Places[X], Places[Y])).first;
    }
    return It->second;
  }

  /// Do they name the same elements under the same conditions?
  static bool same(const Place &X, const Place &Y) {
    if (X.Known != Y.Known || X.Coords.size() != Y.Coords.size() ||
        X.Pitches != Y.Pitches ||
        isl_set_plain_is_equal(X.Domain.get(), Y.Domain.get()) != isl_bool_true)
      return false;
    for (size_t C = 0; C < X.Coords.size(); ++C)
      if (!X.Coords[C].plain_is_equal(Y.Coords[C]))
        return false;
    return true;
  }

  //===--- Plans ---===//

  /// What a plan makes of two logical threads.
  struct ThreadPairs {
    /// Of two logical threads, [tx.., rc_b_tx..] -> { : }: their physical
    /// threads differ, along one axis each; they are in different warps.
    std::vector<isl::set> OtherThread;
    Nullable<isl::set> OtherWarp;
    bool WholeWarps = false; ///< every lane is there, in each logical block
    /// Of pairs that have been asked for.
    std::map<const std::vector<Place> *,
             std::map<std::pair<unsigned, unsigned>, SyncScope>>
        Scopes;
  };
  std::vector<std::pair<Mapping, std::shared_ptr<ThreadPairs>>> ByMapping;

  static bool sameThreads(const Mapping &X, const Mapping &Y) {
    auto Of = [](const Mapping &M) {
      return std::tie(M.Factor, M.Stride, M.Block, M.BlockMultiple,
                      M.TargetThreads, M.Merge, M.Blocks, M.Group);
    };
    return Of(X) == Of(Y);
  }

  /// Those of \p Map. Plans differ in much beside their mapping: what was asked of
  /// pairs for one of them is known for all.
  ThreadPairs &pairs(const Mapping &Map) {
    for (const auto &[Of, Pairs] : ByMapping)
      if (sameThreads(Of, Map))
        return *Pairs;
    ThreadPairs New = pairsOf(Map);
    auto Same = [&](const isl::set &X, const isl::set &Y) {
      return isl_set_plain_is_equal(X.get(), Y.get()) == isl_bool_true;
    };
    const auto It = llvm::find_if(ByMapping, [&](const auto &Old) {
      const ThreadPairs &P = *Old.second;
      return P.WholeWarps == New.WholeWarps &&
             Same(P.OtherWarp, New.OtherWarp) &&
             std::equal(P.OtherThread.begin(), P.OtherThread.end(),
                        New.OtherThread.begin(), New.OtherThread.end(), Same);
    });
    ByMapping.emplace_back(Map, It != ByMapping.end()
                                    ? It->second
                                    : std::make_shared<ThreadPairs>(
                                          std::move(New)));
    return *ByMapping.back().second;
  }

  ThreadPairs pairsOf(const Mapping &Map) const {
    const isl::ctx Ctx = M.Ctx->ctx();
    ThreadPairs R;
    std::vector<isl::pw_aff> Thread; // [tx] -> { [physical thread] } and so on
    for (unsigned D = 0; D < 3; ++D)
      Thread.push_back(Map.physicalThread(Ctx, D));
    isl::pw_aff Linear = Thread[0];
    if (Map.Block) {
      int64_t N = Map.threads(0);
      for (unsigned D = 1; D < 3; ++D) {
        Linear = Linear.add(Thread[D].scale(long(N)));
        N *= Map.threads(D);
      }
    }
    R.WholeWarps = Map.wholeWarps();
    Substitution Second;
    for (const char *T : ThreadIds)
      Second.emplace(T, symbolValue(Ctx, other(T)));
    auto Differ = [&](const isl::pw_aff &V) {
      return V.ne_set(substitute(V, Second));
    };
    for (const isl::pw_aff &T : Thread)
      R.OtherThread.push_back(Differ(T));
    R.OtherWarp = Differ(floorDiv(Linear, 32));
    return R;
  }

  /// What a barrier between \p X and \p Y has to order.
  SyncScope scopeOf(const std::vector<Place> &Places, unsigned X, unsigned Y,
                    ThreadPairs &Map) {
    auto &Known = Map.Scopes[&Places];
    if (const auto It = Known.find({X, Y}); It != Known.end())
      return It->second;
    for (const auto &[Pair, Scope] : Known)
      if (same(Places[Pair.first], Places[X]) &&
          same(Places[Pair.second], Places[Y]))
        return Known[{X, Y}] = Scope;
    const isl::set &Meeting = meet(Places, X, Y);
    auto Never = [&](const isl::set &Apart) {
      return Meeting.intersect(Apart).is_empty();
    };
    SyncScope R = SyncScope::Block;
    if (Never(Map.OtherWarp))
      R = std::all_of(Map.OtherThread.begin(), Map.OtherThread.end(), Never)
              ? SyncScope::None
          : Map.WholeWarps ? SyncScope::Warp
                           : SyncScope::Block;
    return Known[{X, Y}] = R;
  }

  /// Can control come from \p From to \p To?
  bool reaches(TextRange From, TextRange To) const {
    if (From.Begin < To.Begin)
      return true;
    return std::any_of(M.Stmts.begin(), M.Stmts.end(), [&](const Stmt &S) {
      return S.isLoop() &&
             S.Range.contains(From) && S.Range.contains(To);
    });
  }
  bool between(TextRange X, TextRange B, TextRange Y) const {
    return (reaches(X, B) && reaches(B, Y)) || (reaches(Y, B) && reaches(B, X));
  }

  /// Dynamic arrays all begin at the same address.
  bool overlaps(unsigned X, unsigned Y) const {
    return X == Y || (M.Arrays[X].Dynamic && M.Arrays[Y].Dynamic);
  }

  using Scopes = std::map<unsigned, SyncScope>;
  using Pairs = std::set<std::pair<int, int>>;

  /// The scopes of all barriers; \p Apart, if given, gets the pairs of pointers
  /// that have to lead to different memory.
  Scopes scopesOf(const Plan &P, ThreadPairs &Map, Pairs *Apart) {
    std::set<unsigned> Kept;
    for (const ArrayPlan &AP : P.Arrays)
      if (AP.isShared())
        Kept.insert(AP.Array);
    Scopes R;
    for (const Stmt &B : M.Stmts)
      if (B.K == Stmt::Barrier)
        R[B.Id] = SyncScope::None;
    auto Raise = [&](TextRange X, TextRange Y, auto Scope) {
      std::optional<SyncScope> Known;
      for (auto &[Id, S] : R) {
        if (S == SyncScope::Block || !between(X, M.stmt(Id).Range, Y))
          continue;
        if (!Known)
          Known = Scope();
        S = std::max(S, *Known);
      }
    };
    for (unsigned X = 0; X < Shared.size(); ++X)
      for (unsigned Y = X; Y < Shared.size(); ++Y) {
        const Place &L = Shared[X], &N = Shared[Y];
        if ((!L.Write && !N.Write) || !overlaps(L.Array, N.Array) ||
            !Kept.count(L.Array) || !Kept.count(N.Array))
          continue;
        Raise(L.Range, N.Range, [&] {
          return L.Array == N.Array ? scopeOf(Shared, X, Y, Map)
                                    : SyncScope::Block;
        });
      }
    for (unsigned X = 0; X < Global.size(); ++X)
      for (unsigned Y = X; Y < Global.size(); ++Y) {
        const Place &L = Global[X], &N = Global[Y];
        if ((!L.Write && !N.Write) ||
            !mayAlias(M, L.Root, N.Root, AssumeNoAlias))
          continue;
        Raise(L.Range, N.Range, [&] {
          if (L.Root >= 0 && L.Root == N.Root)
            return scopeOf(Global, X, Y, Map);
          if (!Apart || !canSeparate(M, L.Root, N.Root))
            return SyncScope::Block;
          Apart->insert(std::minmax(L.Root, N.Root));
          return SyncScope::None;
        });
      }
    return R;
  }

  /// Accesses whose place in the text is not known: of an array whose address
  /// is used, or anything without a place.
  bool hasHiddenAccesses(const Plan &P) const {
    auto Kept = [&](unsigned Array) {
      return std::any_of(P.Arrays.begin(), P.Arrays.end(),
                         [&](const ArrayPlan &AP) {
                           return AP.Array == Array && AP.isShared();
                         });
    };
    return std::any_of(M.SharedAccesses.begin(), M.SharedAccesses.end(),
                       [&](const SharedAccess &S) {
                         return Kept(S.Array) && (S.K == SharedAccess::Escape ||
                                                  S.Range.empty());
                       }) ||
           std::any_of(M.GlobalAccesses.begin(), M.GlobalAccesses.end(),
                       [](const GlobalAccess &G) { return G.Range.empty(); });
  }

  /// Windows are loaded by other threads, and elsewhere, than the original's
  /// elements were: nothing that a store may change may be among them. To have
  /// the launch tell is not worth a barrier: memory of a pool is one allocation.
  bool movesWhatIsStored(const Plan &P) const {
    if (P.movesNoLoads())
      return false;
    for (const GlobalAccess &W : M.GlobalAccesses)
      for (const GlobalAccess &L : M.GlobalAccesses)
        if (W.K != GlobalAccess::Read && L.K != GlobalAccess::Write &&
            mayAlias(M, W.Root, L.Root, AssumeNoAlias) &&
            !llvm::is_contained(P.Separate,
                                Pairs::value_type(std::minmax(W.Root, L.Root))))
          return true;
    return false;
  }
};

BarrierScopes::BarrierScopes(const KernelModel &M, const Assumptions &A,
                             bool AssumeNoAlias)
    : I(std::make_unique<Impl>(M, A, AssumeNoAlias)) {}
BarrierScopes::~BarrierScopes() = default;
BarrierScopes::BarrierScopes(BarrierScopes &&) noexcept = default;

/// A barrier also parts what a thread stores from what it reads back, and what it
/// computes in front from what it does behind: without any, compilers hand products
/// on unrounded, and make one of two branches. Does that matter to \p M's sums?
static bool partsProducts(const KernelModel &M, const Plan &P) {
  if (M.OwnViews || !M.Apart.empty() ||
      M.UnsettledSum.In != KernelModel::SumInDoubt::None)
    return true;
  return llvm::any_of(M.SharedAccesses, [&](const SharedAccess &W) {
    return W.K == SharedAccess::Write && !P.owned(W.Array) &&
           (losesRounding(W, M) ||
            !isNumber(M.Arrays[W.Array].CanonicalType));
  });
}

void BarrierScopes::narrow(Plan &P) {
  P.Narrowed.clear();
  for (const Stmt &B : I->M.Stmts)
    if (B.K == Stmt::Barrier && B.Sync != Stmt::Syncthreads &&
        B.Sync != Stmt::CooperativeGroup)
      return; // it does more than to wait
  if (I->movesWhatIsStored(P) || I->hasHiddenAccesses(P))
    return;
  Impl::ThreadPairs &Map = I->pairs(P.Map);
  Impl::Pairs Apart;
  const Impl::Scopes Separated = I->scopesOf(P, Map, &Apart);
  if (!Apart.empty() && Separated != I->scopesOf(P, Map, nullptr))
    for (const auto &[X, Y] : Apart)
      requireSeparate(P, X, Y);
  const bool Keeps = llvm::any_of(
      P.Arrays, [](const ArrayPlan &A) { return A.isShared(); });
  const SyncScope Least = !Keeps || !partsProducts(I->M, P) ? SyncScope::None
                          : Map.WholeWarps                  ? SyncScope::Warp
                                                            : SyncScope::Block;
  bool Any = Separated.empty();
  for (const auto &[Id, Needed] : Separated) {
    const SyncScope S = std::max(Needed, Least);
    Any |= S != SyncScope::None;
    if (S != SyncScope::Block)
      P.Narrowed.emplace(Id, S);
  }
  P.KeepBarriers = Any;
}
