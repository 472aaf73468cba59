// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See WarpTails.h. A tail is a condition that differs from thread to thread,
// around several steps. Each statement between two barriers is put under the
// condition by itself; so the condition has to mean the same in front of each,
// and what is declared for several of them stands in front of them all.

#include "rcache/WarpTails.h"
#include "rcache/WithoutVolatile.h"
#include "WarpSteps.h"
#include "Support/Words.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include <algorithm>
#include <map>

using namespace rcache;

static bool isTail(const KernelModel &M, const Stmt &S, bool AssumeLockstep) {
  if (S.K != Stmt::If || S.Children.size() != 1 || !isOfOneWarp(M, S))
    return false;
  if (holdsSyncwarp(M, S) || holdsExchange(M, S.Range))
    return true;
  return AssumeLockstep && !S.HasBarrier &&
         lanesMeet(M, S.Range).value_or(false);
}

namespace {

class TailWriter {
public:
  TailWriter(const KernelModel &M, bool AssumeLockstep)
      : M(M), AssumeLockstep(AssumeLockstep) {}

  std::optional<OtherBody> run() {
    if (!isOneDim(M) || llvm::any_of(M.LaneExchanges, [](const auto &X) {
          return !X.Plain || X.OfTile;
        }))
      return std::nullopt;
    OtherBody R;
    unsigned At = M.BodyRange.Begin;
    for (const Stmt &S : M.Stmts) {
      if (S.Range.Begin < At || !isTail(M, S, AssumeLockstep))
        continue;
      if (!AssumeLockstep && stepIn(M, S))
        return std::nullopt;
      Out = "{ ";
      Tail = S.Range;
      if (!under(S, "") || Out.find("__sync") == std::string::npos)
        return std::nullopt;
      R.Text += M.text({At, S.Range.Begin}) + Out + "}";
      At = S.Range.End;
    }
    if (At == M.BodyRange.Begin || Exchanges < M.LaneExchanges.size())
      return std::nullopt;
    R.Text += M.text({At, M.BodyRange.End});
    for (const auto &[Type, Name] : Handed)
      R.Text.insert(1, " __shared__ " + Type + " " + Name + "[1024];");
    R.Form = M.Form;
    R.OnlyOwned = true;
    R.Note = "what one warp does at the end is planned with barriers of the "
             "block between its steps";
    // Barriers say now what `volatile` said.
    auto Text = dropVolatile(M, std::move(R.Text));
    if (!Text)
      return std::nullopt;
    R.Text = std::move(*Text);
    return R;
  }

private:
  const KernelModel &M;
  const bool AssumeLockstep;
  TextRange Tail;      ///< that is being written
  std::string Out;     ///< its text so far
  std::string Segment; ///< statements since, that need no barrier in between
  unsigned Names = 0;
  size_t Exchanges = 0; ///< that are written anew
  /// Arrays through which lanes hand on values: types and names.
  std::map<std::string, std::string> Handed;

  /// A statement's words; a pragma in front begins a line.
  std::string words(const Stmt &S) const {
    const std::string T = M.text(S.Range);
    return (llvm::StringRef(T).starts_with("#") ? "\n" : "") + T + " ";
  }

  void flush(const std::string &Guard) {
    if (!Segment.empty())
      Out += "if (" + Guard + ") { " + Segment + "} ";
    Segment.clear();
  }

  void barrier() {
    constexpr llvm::StringRef Text = "__syncthreads(); ";
    if (!llvm::StringRef(Out).ends_with(Text))
      Out += Text;
  }

  /// Does \p R say the same wherever in \p Within it is asked?
  bool isFixed(TextRange R, TextRange Within) const {
    return llvm::none_of(
               M.Effects,
               [&](const Effect &E) { return R.contains(E.Range); }) &&
           accessesIn(M, R).empty() &&
           llvm::none_of(
               M.GlobalAccesses,
               [&](const GlobalAccess &G) { return R.contains(G.Range); }) &&
           llvm::all_of(M.VarUses, [&](const VarUse &U) {
             return !R.contains(U.Range) ||
                    llvm::none_of(M.VarUses, [&](const VarUse &W) {
                      return W.Var == U.Var && W.Write &&
                             Within.contains(W.Range);
                    });
           });
  }

  /// The statements of \p If, whose condition joins \p Guard.
  bool under(const Stmt &If, const std::string &Guard) {
    if (!isFixed(If.CondRange, Tail) || If.CondRange.empty())
      return false;
    const std::string Cond = "(" + M.text(If.CondRange) + ")";
    return part(M.stmt(If.Children[0]),
                Guard.empty() ? M.text(If.CondRange) : Guard + " && " + Cond);
  }

  /// \p S, or, of a block, what stands in it.
  bool part(const Stmt &S, const std::string &Guard) {
    if (S.K != Stmt::Block) {
      if (!statement(S, Guard))
        return false;
      flush(Guard);
      return true;
    }
    for (unsigned C : S.Children)
      if (!statement(M.stmt(C), Guard))
        return false;
    flush(Guard);
    return true;
  }

  /// Has \p S to be taken apart?
  bool hasSteps(const Stmt &S) const {
    if (holdsSyncwarp(M, S) || holdsExchange(M, S.Range))
      return true;
    if (!S.HasSharedWrite)
      return false;
    const auto Meet = lanesMeet(M, S.Range);
    return AssumeLockstep ? Meet.value_or(true) : Meet.value_or(false);
  }

  bool statement(const Stmt &S, const std::string &Guard) {
    if (S.K == Stmt::Barrier) {
      if (S.Sync != Stmt::Syncwarp)
        return false;
      flush(Guard);
      barrier();
      return true;
    }
    if (S.K == Stmt::Decl)
      return declaration(S, Guard);
    if (!hasSteps(S)) {
      Segment += words(S);
      if (AssumeLockstep && S.HasSharedAccess) {
        flush(Guard);
        barrier();
      }
      return true;
    }
    flush(Guard);
    return steps(S, Guard);
  }

  bool steps(const Stmt &S, const std::string &Guard) {
    switch (S.K) {
    case Stmt::Leaf:
      return holdsExchange(M, S.Range) ? handsOn(S, S.Range.Begin, Guard)
                                       : readsFirst(S, Guard);
    case Stmt::Block:
      break;
    case Stmt::If:
      if (S.Children.size() != 1)
        return false;
      if (S.CondDepends & DepThread)
        return under(S, Guard);
      if (!isFixed(S.CondRange, Tail))
        return false;
      Out += M.text({S.Range.Begin, M.stmt(S.Children[0]).Range.Begin});
      break;
    case Stmt::For:
      // From round to round they have to wait as well.
      if (S.Children.size() != 1 || !countsAlone(S) ||
          (!AssumeLockstep && !holdsSyncwarp(M, S) &&
           lanesMeet(M, S.Range).value_or(true)))
        return false;
      Out += (M.text(S.Range).front() == '#' ? "\n" : "") +
             M.text({S.Range.Begin, M.stmt(S.Children[0]).Range.Begin});
      break;
    default:
      return false;
    }
    Out += "{ ";
    const Stmt &Inner = S.K == Stmt::Block ? S : M.stmt(S.Children[0]);
    if (!part(Inner, Guard))
      return false;
    Out += "} ";
    return true;
  }

  /// May threads outside of the tail run the header of \p Loop as well? It
  /// changes what it declares, and asks what is the same for all of them.
  bool countsAlone(const Stmt &Loop) const {
    for (const VarUse &U : M.VarUses)
      if (Loop.HeaderRange.contains(U.Range)) {
        const Var &V = M.Vars[U.Var];
        if (V.Depends & (DepThread | DepShared | DepGlobal) ||
            (U.Write && !Loop.HeaderRange.contains(V.NameRange)))
          return false;
      }
    return accessesIn(M, Loop.HeaderRange).empty() &&
           llvm::none_of(M.GlobalAccesses, [&](const GlobalAccess &G) {
             return Loop.HeaderRange.contains(G.Range);
           });
  }

  /// What several steps may use stands in front of all of them.
  bool declaration(const Stmt &S, const std::string &Guard) {
    if (S.IsCondition || holdsSyncwarp(M, S))
      return false;
    flush(Guard);
    if (isFixed(S.Range, Tail) &&
        !holdsExchange(M, S.Range)) { // pointers, numbers of threads
      Out += words(S);
      return true;
    }
    unsigned Found = 0;
    for (const Var &V : M.Vars) {
      if (!(V.DeclRange == S.Range))
        continue;
      ++Found;
      if (V.IsReference || V.IsConst || !V.ArrayExtents.empty() ||
          V.Type.empty() || (V.HasInit && V.InitRange.empty()))
        return false;
      Out += V.Type + " " + V.Name + "; ";
      if (V.InitRange.empty())
        continue;
      if (V.Form != Var::Equals)
        return false;
      if (holdsExchange(M, V.InitRange)) {
        if (!V.OnlyDeclarator || !handsOn(S, V.NameRange.Begin, Guard))
          return false;
        continue;
      }
      Segment += V.Name + " = " + M.text(V.InitRange) + "; ";
    }
    if (Found == 0)
      return false;
    if (AssumeLockstep && S.HasSharedAccess) {
      flush(Guard);
      barrier();
    }
    return !writesShared(S);
  }

  bool writesShared(const Stmt &S) const {
    return llvm::any_of(accessesIn(M, S.Range), [&](unsigned I) {
      return writes(M.SharedAccesses[I]);
    });
  }

  /// `s[t] += v;`: all lanes compute what the statement stores, then all store
  /// it.
  bool readsFirst(const Stmt &S, const std::string &Guard) {
    const SharedAccess *To = nullptr;
    for (unsigned I : accessesIn(M, S.Range))
      if (const SharedAccess &A = M.SharedAccesses[I]; writes(A)) {
        if (To || A.Range.Begin != S.Range.Begin)
          return false;
        To = &A;
      }
    if (!To || changes(S.Range, To->Range))
      return false;
    const auto Sets = llvm::find_if(M.Effects, [&](const Effect &E) {
      return E.K == Effect::SetsShared && E.Target == To->Range;
    });
    if (Sets == M.Effects.end())
      return false;
    std::string Operator = M.text(Sets->At);
    llvm::StringRef Value =
        llvm::StringRef(M.Text).slice(Sets->At.End, S.Range.End).trim();
    if (Operator.empty() || Operator.back() != '=' ||
        Sets->At.Begin < To->Range.End || !Value.consume_back(";"))
      return false;
    Operator.pop_back();
    const SharedArray &Arr = M.Arrays[To->Array];
    const std::string Next = fresh(Arr.Name + "_next"),
                      Element = M.text(To->Range);
    Out += Arr.ElemType + " " + Next + "; if (" + Guard + ") " + Next + " = " +
           (Operator.empty()
                ? Value.trim().str()
                : Element + " " + Operator + " (" + Value.trim().str() + ")") +
           "; ";
    barrier();
    Out += "if (" + Guard + ") " + Element + " = " + Next + "; ";
    barrier();
    return true;
  }

  /// `v += __shfl_down_sync(0xffffffff, v, d);`: what a lane hands on stands in
  /// an array. Of a declaration, what stands from \p Begin on.
  bool handsOn(const Stmt &S, unsigned Begin, const std::string &Guard) {
    std::string Text;
    unsigned At = Begin;
    for (const LaneExchange &X : M.LaneExchanges) {
      if (!S.Range.contains(X.Range))
        continue;
      const std::string Before = M.text({Begin, X.Range.Begin});
      if (X.Range.Begin < At || !isPlain(X.Value) || !isFixed(X.By, S.Range) ||
          Before.find('?') != std::string::npos ||
          Before.find("&&") != std::string::npos ||
          Before.find("||") != std::string::npos)
        return false;
      auto [It, New] = Handed.try_emplace(X.Type, "");
      if (New)
        It->second = fresh("lanes");
      else if (Text.find(It->second + "[") != std::string::npos)
        return false; // two at a time
      ++Exchanges;
      Out += "if (" + Guard + ") " + It->second +
             "[threadIdx.x] = " + M.text(X.Value) + "; ";
      Text += M.text({At, X.Range.Begin}) +
              received(X.K, It->second, "(" + M.text(X.By) + ")");
      At = X.Range.End;
    }
    barrier();
    Out += "if (" + Guard + ") { " + Text + M.text({At, S.Range.End}) + " } ";
    barrier();
    return true;
  }

  /// May \p R be computed where its statement does not stand: does it nothing
  /// else?
  bool isPlain(TextRange R) const {
    return llvm::none_of(
               M.Effects,
               [&](const Effect &E) { return R.contains(E.Range); }) &&
           llvm::none_of(M.GlobalAccesses, [&](const GlobalAccess &G) {
             return R.contains(G.Range);
           });
  }

  /// What a lane gets of those that have put something into \p Array.
  static std::string received(LaneExchange::Kind K, const std::string &Array,
                              const std::string &By) {
    const std::string Own = " : " + Array + "[threadIdx.x])";
    switch (K) {
    case LaneExchange::Down:
      return "(threadIdx.x % 32 + " + By + " < 32 ? " + Array +
             "[threadIdx.x + " + By + "]" + Own;
    case LaneExchange::Up:
      return "(threadIdx.x % 32 >= " + By + " ? " + Array + "[threadIdx.x - " +
             By + "]" + Own;
    case LaneExchange::Xor:
      return "(" + By + " < 32 ? " + Array + "[threadIdx.x ^ " + By + "]" + Own;
    default:
      break;
    }
    return Array + "[threadIdx.x / 32 * 32 + " + By + " % 32]";
  }

  /// Is something set in \p In that the element \p At hangs on?
  bool changes(TextRange In, TextRange At) const {
    return llvm::any_of(
               M.Effects,
               [&](const Effect &E) { return At.contains(E.Range); }) ||
           llvm::any_of(M.VarUses, [&](const VarUse &U) {
             return At.contains(U.Range) &&
                    llvm::any_of(M.VarUses, [&](const VarUse &W) {
                      return W.Var == U.Var && W.Write && In.contains(W.Range);
                    });
           });
  }

  std::string fresh(const std::string &Base) {
    ++Names;
    return M.freshName(Base + (Names > 1 ? std::to_string(Names) : ""));
  }
};

} // namespace

std::optional<OtherBody> rcache::warpTails(const KernelModel &M,
                                           bool AssumeLockstep) {
  M.Ctx->resetBudget();
  auto Result = guarded([&] { return TailWriter(M, AssumeLockstep).run(); });
  if (Result)
    return std::move(*Result);
  llvm::consumeError(Result.takeError());
  return std::nullopt;
}
