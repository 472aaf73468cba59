// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Windows.h. An index is split into what all reads of a window share
// (thread, block and parameter terms: First) and what differs with slot and
// unrolled iterators (the register). Both are linear, but for quotients of iterators
// (`k / 3`, `k % 3`) in the latter; anything else is read directly.

#include "Windows.h"
#include "Affine/IslTools.h"
#include "Solve.h"
#include <algorithm>
#include <isl/set.h>
#include <set>

using namespace rcache;

namespace {

constexpr int64_t MaxUnroll =
    512;                       ///< rounds of the unrolled loops around a read
constexpr int64_t MaxGap = 16; ///< unused registers worth keeping one window

struct Term {
  std::string Id;
  int64_t Coef = 0;
  int64_t Lo = 0, Hi = 0; ///< range of the symbol
  int64_t Step = 1;
};

/// What quotients of unrolled iterators add: `{ [k] -> floor(k/3) }`, less what it is in
/// the first rounds.
struct Quotients {
  isl::pw_aff Value;
  std::vector<std::string> Ids; ///< iterators
  std::map<std::vector<int64_t>, int64_t> At; ///< by the values of these
};

/// One dimension of one read: Base + Terms + Rounds + Const.
struct SplitIndex {
  std::map<std::string, int64_t> Base;
  std::vector<Term> Terms;
  int64_t Const = 0;
  int64_t Min = 0, Max = 0;         ///< of Terms (slots left out) + Const
  int64_t SlotCoef = 0;             ///< of sx; sy and sz count as Terms
  int64_t SlotMin = 0, SlotMax = 0; ///< of SlotCoef * sx
  std::optional<Quotients> Rounds;
};

struct SplitRead {
  unsigned Access;
  std::vector<SplitIndex> Dims;
  std::set<unsigned> Loops;
};

/// An iterator that unrolling gives its values, if \p Id is one of a loop around \p Acc.
std::optional<std::pair<Term, unsigned>> unrolled(const KernelModel &M, const StagingGroup &G,
                                                  const SharedAccess &Acc,
                                                  const std::string &Id) {
  const int Sym = M.symbolIndex(Id);
  const Stmt *Loop = Sym >= 0 && M.Symbols[Sym].K == Symbol::Iterator
                         ? innerLoop(M, G, Acc, Sym)
                         : nullptr;
  if (!Loop || !Loop->ConstTripCount || !Loop->ConstFirst || !Loop->Step ||
      *Loop->ConstTripCount < 1)
    return std::nullopt;
  const int64_t First = *Loop->ConstFirst,
                Last = First + (*Loop->ConstTripCount - 1) * *Loop->Step;
  return std::pair(Term{Id, 0, std::min(First, Last), std::max(First, Last), *Loop->Step},
                   Loop->Id);
}

/// Takes out of \p Index, on \p Ctx, what quotients of unrolled iterators add to it;
/// nullopt: there are none, or quotients of something else.
std::optional<Quotients> takeQuotients(const KernelModel &M, const StagingGroup &G,
                                       const SharedAccess &Acc, const isl::set &Ctx,
                                       isl::pw_aff &Index, std::vector<Term> &Terms,
                                       std::set<unsigned> &Loops) {
  constexpr int64_t MaxRounds = 256;
  Quotients Q;
  Substitution First;
  int64_t Rounds = 1;
  for (const std::string &Id : involvedIds(Index))
    if (const auto It = unrolled(M, G, Acc, Id)) {
      const auto &[T, Loop] = *It;
      Terms.push_back(T);
      Loops.insert(Loop);
      Q.Ids.push_back(Id);
      First.insert({Id, constantValue(M.Ctx->ctx(), T.Lo)});
      Rounds *= (T.Hi - T.Lo) / std::max<int64_t>(1, std::abs(T.Step)) + 1;
    }
  if (First.empty() || Rounds > MaxRounds)
    return std::nullopt;
  const isl::pw_aff Base = substitute(Index, First).gist(Ctx).coalesce();
  Q.Value = Index.gist(Ctx).sub(Base).gist(Ctx).coalesce();
  for (const std::string &Id : involvedIds(Q.Value))
    if (!First.count(Id))
      return std::nullopt;
  for (int64_t R = 0; R < Rounds; ++R) {
    std::vector<int64_t> Values;
    Substitution Now;
    int64_t Rest = R;
    for (const Term &T : Terms) {
      const int64_t Step = std::max<int64_t>(1, std::abs(T.Step));
      const int64_t N = (T.Hi - T.Lo) / Step + 1;
      Values.push_back(T.Lo + Rest % N * Step);
      Now.insert({T.Id, constantValue(M.Ctx->ctx(), Values.back())});
      Rest /= N;
    }
    const auto V = constantUnder(substitute(Q.Value, Now), always(M.Ctx->ctx()));
    if (!V)
      return std::nullopt;
    Q.At[std::move(Values)] = *V;
  }
  Index = Base;
  return Q;
}

std::optional<SplitRead> split(const KernelModel &M, const StagingGroup &G,
                               const Assumptions &A, unsigned Read,
                               const Mapping &Map) {
  const SharedAccess &Acc = M.SharedAccesses[Read];
  if (!Acc.Affine)
    return std::nullopt;
  SplitRead R;
  R.Access = Read;
  isl::set Ctx = A.fix(Acc.Domain).intersect(A.Context);
  for (const isl::pw_aff &Raw : Acc.Index) {
    isl::pw_aff Index = A.fix(Raw);
    std::optional<Linear> L = linearForm(Index, Ctx);
    SplitIndex S;
    if (!L) {
      S.Rounds = takeQuotients(M, G, Acc, Ctx, Index, S.Terms, R.Loops);
      L = S.Rounds ? linearForm(Index, Ctx) : std::nullopt;
    }
    if (!L)
      return std::nullopt;
    S.Const = S.Min = S.Max = L->Const;
    if (S.Rounds) {
      const auto [Least, Most] = std::minmax_element(
          S.Rounds->At.begin(), S.Rounds->At.end(),
          [](const auto &X, const auto &Y) { return X.second < Y.second; });
      S.Min += Least->second;
      S.Max += Most->second;
    }
    const char *Threads[3] = {"tx", "ty", "tz"};
    const char *Slots[3] = {"sx", "sy", "sz"};
    auto AddTerm = [&](Term T) {
      int64_t X = T.Coef * T.Lo, Y = T.Coef * T.Hi;
      S.Min += std::min(X, Y);
      S.Max += std::max(X, Y);
      S.Terms.push_back(std::move(T));
    };
    for (auto &[Id, Coef] : L->Terms) {
      int Sym = M.symbolIndex(Id);
      if (Sym >= 0 && M.Symbols[Sym].K == Symbol::Iterator)
        if (innerLoop(M, G, Acc, Sym)) {
          auto It = unrolled(M, G, Acc, Id);
          if (!It)
            return std::nullopt;
          R.Loops.insert(It->second);
          It->first.Coef = Coef;
          AddTerm(std::move(It->first));
          continue;
        }
      if (Sym >= 0 && M.Symbols[Sym].K != Symbol::ThreadIdx &&
          (M.Symbols[Sym].Depends & (DepThread | DepShared)))
        return std::nullopt; // a value loaded by each thread
      S.Base[Id] = Coef;
      for (int Ax = 0; Ax < 3; ++Ax)
        if (Id == Threads[Ax] && Ax == 0 && Map.Factor[0] > 1) {
          S.SlotCoef = Coef * Map.Stride[0];
          int64_t End = S.SlotCoef * (int64_t(Map.Factor[0]) - 1);
          S.SlotMin = std::min<int64_t>(0, End);
          S.SlotMax = std::max<int64_t>(0, End);
        } else if (Id == Threads[Ax] && Map.Factor[Ax] > 1)
          AddTerm({Slots[Ax], Coef * Map.Stride[Ax], 0,
                   int64_t(Map.Factor[Ax]) - 1, 1});
    }
    R.Dims.push_back(std::move(S));
  }
  int64_t Rounds = 1;
  for (unsigned Loop : R.Loops)
    if ((Rounds *= *M.stmt(Loop).ConstTripCount) > MaxUnroll)
      return std::nullopt;
  return R;
}

isl::pw_aff linearPwAff(isl::ctx Ctx,
                        const std::map<std::string, int64_t> &Base,
                        int64_t Const) {
  isl::pw_aff R = constantValue(Ctx, Const);
  for (auto &[Id, C] : Base)
    R = R.add(symbolValue(Ctx, Id).scale(static_cast<long>(C)));
  return R;
}

/// ArrayPlan::Lines of a window: every read in every slot and round.
std::vector<std::pair<int64_t, int64_t>>
usedLines(const Window &P, const std::vector<SplitRead> &Reads,
          const std::vector<int64_t> &Lowest, unsigned SlotsX) {
  constexpr int64_t MaxRounds = 1 << 16;
  const size_t Rank = P.Extent.size();
  if (Rank < 2 || P.SlotSpan)
    return {};
  size_t Count = 1;
  for (size_t D = 0; D + 1 < Rank; ++D)
    Count *= static_cast<size_t>(P.Extent[D]);
  std::vector<std::pair<int64_t, int64_t>> Lines(Count, {P.Extent.back(), 0});
  for (size_t K = 0; K < Reads.size(); ++K) {
    // The symbols of the read and their values.
    std::map<std::string, Term> Symbols;
    for (const SplitIndex &S : Reads[K].Dims) {
      for (const Term &T : S.Terms)
        Symbols[T.Id] = T;
      if (S.SlotCoef)
        Symbols["sx"] = {"sx", 1, 0, int64_t(SlotsX) - 1, 1};
    }
    int64_t Rounds = 1;
    for (auto &[Id, T] : Symbols)
      Rounds *= (T.Hi - T.Lo) / std::max<int64_t>(1, std::abs(T.Step)) + 1;
    if (Rounds > MaxRounds)
      return {};
    for (int64_t R = 0; R < Rounds; ++R) {
      std::map<std::string, int64_t> At;
      int64_t Rest = R;
      for (auto &[Id, T] : Symbols) {
        const int64_t Step = std::max<int64_t>(1, std::abs(T.Step));
        const int64_t N = (T.Hi - T.Lo) / Step + 1;
        At[Id] = T.Lo + Rest % N * Step;
        Rest /= N;
      }
      size_t Line = 0;
      int64_t Last = 0;
      for (size_t D = 0; D < Rank; ++D) {
        const SplitIndex &S = Reads[K].Dims[D];
        int64_t Register = S.Const + S.SlotCoef * At["sx"] - Lowest[D];
        for (const Term &T : S.Terms)
          Register += T.Coef * At[T.Id];
        if (S.Rounds) {
          std::vector<int64_t> Values;
          for (const std::string &Id : S.Rounds->Ids)
            Values.push_back(At[Id]);
          Register += S.Rounds->At.at(Values);
        }
        if (D + 1 < Rank)
          Line = Line * static_cast<size_t>(P.Extent[D]) +
                 static_cast<size_t>(Register);
        else
          Last = Register;
      }
      Lines[Line].first = std::min(Lines[Line].first, Last);
      Lines[Line].second = std::max(Lines[Line].second, Last + 1);
    }
  }
  bool Full = true;
  for (const auto &[Lo, Hi] : Lines)
    Full &= Lo == 0 && Hi == P.Extent.back();
  return Full ? std::vector<std::pair<int64_t, int64_t>>() : Lines;
}

/// Reads with the same base, which are one window.
using Cluster = std::vector<SplitRead>;

bool sameBase(const SplitRead &X, const SplitRead &Y) {
  for (size_t D = 0; D < X.Dims.size(); ++D)
    if (X.Dims[D].Base != Y.Dims[D].Base)
      return false;
  return true;
}

/// Far-apart taps (a comb filter) are windows of their own: the sorted intervals
/// of the last dimension are cut at wide gaps.
void cutAtGaps(Cluster C, std::vector<Cluster> &Out) {
  if (C.front().Dims.empty())
    return Out.push_back(std::move(C));
  std::sort(C.begin(), C.end(), [](const SplitRead &X, const SplitRead &Y) {
    return X.Dims.back().Min < Y.Dims.back().Min;
  });
  Cluster Cur;
  int64_t End = 0;
  for (SplitRead &R : C) {
    if (!Cur.empty() && R.Dims.back().Min > End + MaxGap) {
      Out.push_back(std::move(Cur));
      Cur.clear();
    }
    End = Cur.empty() ? R.Dims.back().Max : std::max(End, R.Dims.back().Max);
    Cur.push_back(std::move(R));
  }
  Out.push_back(std::move(Cur));
}

/// The registers of the reads of \p C: element Lowest (of Terms and constant)
/// is register 0. nullopt: more than \p Most.
std::optional<Window> windowOf(isl::ctx Ctx, const Cluster &C, unsigned SlotsX,
                               int64_t Most) {
  Window W;
  int64_t Total = 1;
  const size_t Rank = C.front().Dims.size();
  std::vector<int64_t> Lowest(Rank);
  for (size_t D = 0; D < Rank; ++D) {
    const SplitIndex &First = C.front().Dims[D];
    int64_t Min = First.Min, Max = First.Max;
    for (const SplitRead &R : C) {
      Min = std::min(Min, R.Dims[D].Min);
      Max = std::max(Max, R.Dims[D].Max);
    }
    // The slots' windows overlap or touch: one run. Else one after another.
    const int64_t Span = Max - Min + 1;
    if (D + 1 == Rank && std::abs(First.SlotCoef) > Span) {
      W.SlotSpan = Span;
      W.SlotStep = First.SlotCoef;
      W.Extent.push_back(Span * SlotsX);
    } else {
      Min += First.SlotMin;
      Max += First.SlotMax;
      W.Extent.push_back(Max - Min + 1);
    }
    W.First.push_back(linearPwAff(Ctx, First.Base, Min));
    Lowest[D] = Min;
    if ((Total *= W.Extent.back()) > Most)
      return std::nullopt;
  }
  for (const SplitRead &R : C) {
    WindowRead Read;
    Read.Access = R.Access;
    for (size_t D = 0; D < Rank; ++D) {
      std::map<std::string, int64_t> Terms;
      for (const Term &T : R.Dims[D].Terms)
        Terms[T.Id] += T.Coef;
      if (R.Dims[D].SlotCoef)
        Terms["sx"] =
            D + 1 == Rank && W.SlotSpan ? W.SlotSpan : R.Dims[D].SlotCoef;
      const isl::pw_aff Linear = linearPwAff(Ctx, Terms, R.Dims[D].Const - Lowest[D]);
      Read.Register.push_back(R.Dims[D].Rounds ? Linear.add(R.Dims[D].Rounds->Value)
                                               : Linear);
    }
    W.Reads.push_back(std::move(Read));
  }
  W.Lines = usedLines(W, C, Lowest, SlotsX);
  return W;
}

ArrayPlan arrayOf(const StagingGroup &G, std::vector<unsigned> Reads,
                  Placement Where) {
  ArrayPlan P;
  P.Array = G.Array;
  P.Barrier = G.Barrier;
  P.Writes = G.Writes;
  P.Reads = std::move(Reads);
  P.Where = std::move(Where);
  return P;
}

} // namespace

WindowsResult rcache::findWindows(const KernelModel &M, const StagingGroup &G,
                                  const Assumptions &A, const Mapping &Map,
                                  int64_t MaxWindow) {
  WindowsResult Out;
  std::vector<unsigned> Direct;
  std::vector<Cluster> Clusters, Cut;
  for (unsigned Rd : G.Reads) {
    auto S = split(M, G, A, Rd, Map);
    if (!S) {
      Direct.push_back(Rd);
      continue;
    }
    auto It = std::find_if(
        Clusters.begin(), Clusters.end(),
        [&](const Cluster &C) { return sameBase(*S, C.front()); });
    if (It == Clusters.end())
      Clusters.push_back({*S});
    else
      It->push_back(*S);
  }
  for (Cluster &C : Clusters)
    cutAtGaps(std::move(C), Cut);
  std::set<unsigned> Loops;
  for (const Cluster &C : Cut) {
    auto W = windowOf(M.Ctx->ctx(), C, Map.Factor[0], MaxWindow);
    std::vector<unsigned> Reads;
    for (const SplitRead &R : C)
      Reads.push_back(R.Access);
    if (!W) {
      Direct.insert(Direct.end(), Reads.begin(), Reads.end());
      continue;
    }
    for (const SplitRead &R : C)
      Loops.insert(R.Loops.begin(), R.Loops.end());
    Out.Windows.push_back(
        arrayOf(G, std::move(Reads), Reloaded{std::move(*W)}));
  }
  if (!Direct.empty()) {
    std::sort(Direct.begin(), Direct.end());
    Out.Windows.push_back(arrayOf(G, std::move(Direct), FromSource()));
  }
  Out.UnrolledLoops.assign(Loops.begin(), Loops.end());
  return Out;
}

std::vector<WindowBox> rcache::windowBoxes(const Window &W,
                                           const std::vector<int64_t> &Extent) {
  const size_t Rank = Extent.size();
  WindowBox Whole;
  for (int64_t E : Extent)
    Whole.push_back({0, E});
  if (W.Lines.empty())
    return {Whole};
  std::vector<WindowBox> Boxes;
  for (size_t L = 0; L < W.Lines.size(); ++L) {
    if (W.Lines[L].first >= W.Lines[L].second)
      continue;
    WindowBox B(Rank);
    size_t Rest = L;
    for (size_t D = Rank - 1; D-- > 0;) {
      const int64_t At = static_cast<int64_t>(Rest % size_t(Extent[D]));
      B[D] = {At, At + 1};
      Rest /= static_cast<size_t>(Extent[D]);
    }
    B[Rank - 1] = W.Lines[L];
    // Lines below each other with the same ends are one box.
    if (!Boxes.empty()) {
      WindowBox &O = Boxes.back();
      bool Same = O[Rank - 2].second == B[Rank - 2].first;
      for (size_t D = 0; D < Rank; ++D)
        Same &= D == Rank - 2 || O[D] == B[D];
      if (Same) {
        O[Rank - 2].second = B[Rank - 2].second;
        continue;
      }
    }
    Boxes.push_back(std::move(B));
  }
  return Boxes;
}
