// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See rcache/OutputThreads.h. The statements between two barriers (an interval) of which
// threads of the whole block write shared elements stage: a loop runs them for every
// thread that the launch would have. All else is run by the threads of a box, which holds
// every thread that does anything to be seen there; what it takes:
//   - a staging interval does nothing but write shared elements, reads none, and takes
//     over nothing from others but variables that can be declared again, and so can those
//     that it declares for others;
//   - barriers stand in blocks and loops that all threads run alike.

#include "rcache/OutputThreads.h"
#include "Affine/IslTools.h"
#include "ArrayText.h"
#include "Assumptions.h"
#include "BodyText.h"
#include "rcache/ThreadsInLine.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include <set>

using namespace rcache;
using llvm::StringRef;

namespace {

/// Statements of one block, between barriers.
struct Interval {
  TextRange Range;
  bool Stages = false;
};

class OutputsWriter {
public:
  explicit OutputsWriter(const KernelModel &M)
      : M(M), Block(*M.Geo.ConstBlock), Fixed(makeAssumptions(M, M.Geo.ConstBlock, 1)) {}

  std::optional<OtherBody> run() {
    if (!isPlain() || !collect(M.stmt(0)) || !findBox())
      return std::nullopt;
    for (const Interval &I : Intervals)
      if (I.Stages && (!mayBeLoop(I) || !writeLoop(I)))
        return std::nullopt;
    if (!writeOthers())
      return std::nullopt;
    auto R = Edits.body();
    if (!R)
      return R;
    int64_t Threads = 1, Outputs = 1;
    for (size_t A = 0; A < 3; ++A) {
      R->Form.Idle[A] = Block[A] - outputs(A);
      Threads *= Block[A];
      Outputs *= outputs(A);
    }
    R->Note = "of " + std::to_string(Threads) + " threads of a block " +
              std::to_string(Outputs) + " do more than stage, and are planned alone";
    return R;
  }

private:
  const KernelModel &M;
  const std::array<int64_t, 3> Block;
  const Assumptions Fixed;
  std::vector<Interval> Intervals;
  std::array<int64_t, 3> First = {}, Last = {}; ///< threads of the box, along each axis
  BodyText Edits{M};

  int64_t outputs(size_t Axis) const { return Last[Axis] - First[Axis] + 1; }

  //===--- What it has to be ---===//

  bool isPlain() const {
    for (const Stmt &S : M.Stmts)
      if ((S.K == Stmt::Barrier && S.Sync != Stmt::Syncthreads &&
           S.Sync != Stmt::CooperativeGroup) ||
          S.HasCall)
        return false;
    const auto IsKnown = [&](const Effect &E) {
      const auto At = [&](const auto &X) { return E.Range.contains(X.Range); };
      switch (E.K) {
      case Effect::SetsVariable:
        return true;
      case Effect::SetsShared:
        return llvm::any_of(M.SharedAccesses, At);
      case Effect::SetsMemory:
        return llvm::any_of(M.GlobalAccesses, At);
      case Effect::Call:
      case Effect::Volatile:
        return false;
      }
      return false;
    };
    return M.LaneExchanges.empty() && llvm::all_of(M.Effects, IsKnown) &&
           llvm::none_of(M.SharedAccesses, [](const SharedAccess &S) {
             return S.K == SharedAccess::Escape || S.K == SharedAccess::Atomic;
           });
  }

  /// The intervals in \p Of, which all threads run alike.
  bool collect(const Stmt &Of) {
    if (Of.K != Stmt::Block)
      return false;
    Interval I;
    const auto End = [&] {
      if (!I.Range.empty())
        Intervals.push_back(std::move(I));
      I = Interval();
    };
    for (unsigned C : Of.Children) {
      const Stmt &S = M.stmt(C);
      if (!S.HasBarrier && S.K != Stmt::Barrier) {
        if (I.Range.empty())
          I.Range = S.Range;
        I.Range.End = S.Range.End;
        continue;
      }
      End();
      if (S.K == Stmt::Barrier)
        continue;
      const Stmt *In = &S;
      if (S.isLoop()) {
        if ((S.CondDepends & (DepThread | DepShared | DepGlobal)) || S.Children.size() != 1)
          return false;
        In = &M.stmt(S.Children[0]);
      }
      if (!collect(*In))
        return false;
    }
    End();
    return true;
  }

  /// Widens the box by threads that run something where \p Domain holds.
  bool widen(const Nullable<isl::set> &Domain) {
    if (Domain.is_null())
      return false;
    const isl::set On = Fixed.fix(Domain).intersect(Fixed.Context);
    if (On.is_empty())
      return true;
    static const char *const Thread[] = {"tx", "ty", "tz"};
    for (size_t A = 0; A < 3; ++A) {
      const isl::pw_aff T = symbolValue(M.Ctx->ctx(), Thread[A]);
      const auto Lo = minConst(T, On), Hi = maxConst(T, On);
      if (!Lo || !Hi)
        return false;
      First[A] = std::min(First[A], std::max<int64_t>(*Lo, 0));
      Last[A] = std::max(Last[A], std::min<int64_t>(*Hi, Block[A] - 1));
    }
    return true;
  }

  /// Threads that do something outside of intervals that stage.
  bool findBox() {
    for (size_t A = 0; A < 3; ++A) {
      First[A] = Block[A];
      Last[A] = -1;
    }
    for (const GlobalAccess &G : M.GlobalAccesses)
      if (G.K != GlobalAccess::Read && !widen(G.Domain))
        return false;
    for (Interval &I : Intervals)
      I.Stages = mayStage(I);
    for (const SharedAccess &S : M.SharedAccesses)
      if (S.K != SharedAccess::Read && !isStaging(S.Range) && !widen(S.Domain))
        return false;
    int64_t Threads = 1, Outputs = 1;
    for (size_t A = 0; A < 3; ++A) {
      if (outputs(A) < 1)
        return false;
      Threads *= Block[A];
      Outputs *= outputs(A);
    }
    // Fewer are those that end a reduction, or columns of sums.
    constexpr int64_t LeastPart = 4;
    return Outputs < Threads && Outputs * LeastPart >= Threads;
  }

  bool isStaging(TextRange R) const {
    return llvm::any_of(Intervals, [&](const Interval &I) {
      return I.Stages && I.Range.contains(R);
    });
  }

  /// Does it do nothing but write shared elements, and read none?
  bool mayStage(const Interval &I) const {
    bool Writes = false;
    for (const SharedAccess &S : M.SharedAccesses)
      if (I.Range.contains(S.Range)) {
        if (S.K != SharedAccess::Write)
          return false;
        Writes = true;
      }
    return Writes && llvm::none_of(M.Stmts, [&](const Stmt &S) { return mayBeGone(S, I.Range); }) &&
           llvm::none_of(M.GlobalAccesses,
                         [&](const GlobalAccess &G) {
                           return G.K != GlobalAccess::Read && I.Range.contains(G.Range);
                         }) &&
           llvm::none_of(M.Stmts, [&](const Stmt &S) {
             return I.Range.contains(S.Range) && leaves(S, I.Range);
           });
  }

  /// Do threads return at \p S that would come to \p R otherwise?
  bool mayBeGone(const Stmt &S, TextRange R) const {
    return S.K == Stmt::Return &&
           (S.Range.Begin < R.Begin || llvm::any_of(M.Stmts, [&](const Stmt &L) {
              return L.isLoop() && L.Range.contains(R) && L.Range.contains(S.Range);
            }));
  }

  /// Does \p S go on somewhere else than in \p R?
  bool leaves(const Stmt &S, TextRange R) const {
    if (S.K == Stmt::Return)
      return true;
    if (S.K != Stmt::Break && S.K != Stmt::Continue)
      return false;
    for (int P = S.Parent; P >= 0; P = M.stmt(unsigned(P)).Parent) {
      const Stmt &In = M.stmt(unsigned(P));
      if (In.isLoop() || (S.K == Stmt::Break && In.K == Stmt::Switch))
        return !R.contains(In.Range);
    }
    return true;
  }

  //===--- Variables of a staging interval ---===//

  bool isDeclaredIn(unsigned V, TextRange R) const {
    const Var &Of = M.Vars[V];
    return !Of.IsParam && R.contains(Of.NameRange);
  }

  /// Is the declaration of \p V a statement that can be said again?
  bool maySayAgain(const Var &V) const {
    const StringRef Text = StringRef(M.Text).slice(V.DeclRange.Begin, V.DeclRange.End);
    return !V.IsParam && !V.IsReference && !V.AddressTaken && Text.ends_with(";") &&
           !Text.contains("//") && !Text.contains('#') && !Text.contains("static") &&
           llvm::none_of(M.SharedAccesses, [&](const SharedAccess &S) {
             return V.DeclRange.contains(S.Range);
           });
  }

  /// Is \p V the counter of a loop around \p In, the same in each place of a round?
  bool counts(unsigned V, TextRange In) const {
    return llvm::any_of(M.Stmts, [&](const Stmt &S) {
      return S.K == Stmt::For && S.IterVar == int(V) && S.Range.contains(In);
    });
  }

  /// Does \p R read what may be something else by now?
  bool readsMemory(TextRange R) const {
    return llvm::any_of(M.GlobalAccesses,
                        [&](const GlobalAccess &G) { return R.contains(G.Range); });
  }

  /// Declarations (by where they begin) that \p In has to repeat, for what is used there
  /// and declared in front of it.
  bool neededIn(TextRange Use, TextRange In, std::map<unsigned, TextRange> &All) const {
    for (const VarUse &U : M.VarUses) {
      if (!Use.contains(U.Range) || isDeclaredIn(U.Var, In))
        continue;
      const Var &V = M.Vars[U.Var];
      if (U.Write)
        return false;
      if (!(V.Depends & DepThread)) {
        // (A declaration that is repeated may hide it, or was made of what it held before.)
        if (V.Assigned && !counts(U.Var, In) &&
            (!In.contains(Use) || (!V.IsParam && All.count(V.DeclRange.Begin))))
          return false;
        continue;
      }
      if (V.IsParam || V.Assigned || !V.HasInit || !maySayAgain(V) || readsMemory(V.DeclRange))
        return false;
      if (All.try_emplace(V.DeclRange.Begin, V.DeclRange).second &&
          !neededIn(V.DeclRange, In, All))
        return false;
    }
    return true;
  }

  /// Declarations in \p I of variables that are used behind it: nothing else there may
  /// have set them.
  bool leftBy(const Interval &I, std::map<unsigned, TextRange> &All) const {
    std::vector<TextRange> Pending;
    const auto Take = [&](const Var &V) {
      if (!maySayAgain(V) || !I.Range.contains(V.DeclRange))
        return false;
      if (All.try_emplace(V.DeclRange.Begin, V.DeclRange).second)
        Pending.push_back(V.DeclRange);
      return true;
    };
    for (const VarUse &U : M.VarUses)
      if (isDeclaredIn(U.Var, I.Range) && !I.Range.contains(U.Range) && !Take(M.Vars[U.Var]))
        return false;
    while (!Pending.empty()) {
      const TextRange R = Pending.back();
      Pending.pop_back();
      for (const VarUse &U : M.VarUses)
        if (R.contains(U.Range) && isDeclaredIn(U.Var, I.Range) && !Take(M.Vars[U.Var]))
          return false;
    }
    // They are what their declarations say.
    for (const auto &[Begin, R] : All)
      for (unsigned V = 0; V < M.Vars.size(); ++V)
        if (R.contains(M.Vars[V].NameRange))
          for (const VarUse &U : M.VarUses)
            if (U.Var == V && U.Write && I.Range.contains(U.Range) &&
                !M.Vars[V].NameRange.contains(U.Range))
              return false;
    return true;
  }

  /// Does it set nothing of others, and is no name of it meant behind it but those of
  /// variables, as far as their uses are known?
  bool mayBeLoop(const Interval &I) const {
    if (M.Text[I.Range.Begin] == '#')
      return false; // a line of its own
    for (const char *Word : {"struct", "class", "union", "enum", "typedef", "using"})
      if (llvm::any_of(placesOf(M, Word), [&](unsigned At) {
            return I.Range.Begin <= At && At < I.Range.End;
          }))
        return false;
    for (unsigned V = 0; V < M.Vars.size(); ++V)
      if (isDeclaredIn(V, I.Range) && !usesAreKnown(V, I.Range.End))
        return false;
    return llvm::all_of(M.VarUses, [&](const VarUse &U) {
      return !U.Write || !I.Range.contains(U.Range) || isDeclaredIn(U.Var, I.Range);
    });
  }

  /// Does the name of \p V, where it is still in sight behind \p End, stand for V there?
  bool usesAreKnown(unsigned V, unsigned End) const {
    const TextRange In = M.stmt(M.Vars[V].Scope).Range;
    if (In.End <= End)
      return true;
    const auto Behind = [&](unsigned At) { return End <= At && At < In.End; };
    return llvm::count_if(placesOf(M, M.Vars[V].Name), Behind) ==
           llvm::count_if(M.VarUses, [&](const VarUse &U) {
             return U.Var == V && Behind(U.Range.Begin) && text(U.Range) == M.Vars[V].Name;
           });
  }

  //===--- Text ---===//

  StringRef text(TextRange R) const {
    return StringRef(M.Text).slice(R.Begin, R.End);
  }

  std::string counter(size_t Axis) const {
    return M.freshName(std::string("stage_") + "xyz"[Axis]);
  }

  /// `threadIdx.x` or `blockDim.x` as the new text says it.
  std::string said(const BuiltinUse &U, bool Staging) const {
    const std::string T = std::string("threadIdx.") + "xyz"[U.Axis];
    if (U.K == Symbol::BlockDim)
      return std::to_string(Block[U.Axis]) + "u";
    if (Staging)
      return outputs(U.Axis) < Block[U.Axis] ? counter(U.Axis) : T;
    return First[U.Axis] ? "(" + T + " + " + std::to_string(First[U.Axis]) + "u)" : T;
  }

  static bool isThreads(const BuiltinUse &U) {
    return U.K == Symbol::ThreadIdx || U.K == Symbol::BlockDim;
  }

  /// Declarations, in one line.
  std::string saidAgain(const std::map<unsigned, TextRange> &All, bool Staging) const {
    std::string Text;
    for (const auto &[Begin, R] : All) {
      unsigned At = R.Begin;
      for (const BuiltinUse &U : M.Builtins)
        if (isThreads(U) && R.contains(U.Range)) {
          Text += M.text({At, U.Range.Begin}) + said(U, Staging);
          At = U.Range.End;
        }
      Text += M.text({At, R.End}) + " ";
    }
    std::replace(Text.begin(), Text.end(), '\n', ' ');
    return Text;
  }

  bool writeLoop(const Interval &I) {
    std::map<unsigned, TextRange> Before, Behind;
    // (Once more, for what the declarations found by then would hide.)
    if (!neededIn(I.Range, I.Range, Before) || !neededIn(I.Range, I.Range, Before) ||
        !leftBy(I, Behind))
      return false;
    // Shared arrays are declared in front.
    std::string Head;
    std::set<unsigned> Moved;
    for (const SharedArray &A : M.Arrays) {
      if (A.AtFileScope || !I.Range.contains(A.DeclRange) || !Moved.insert(A.DeclRange.Begin).second)
        continue;
      std::string Text = M.text(A.DeclRange);
      if (!StringRef(Text).ends_with(";") || StringRef(Text).contains("//"))
        return false;
      std::replace(Text.begin(), Text.end(), '\n', ' ');
      Head += Text + " ";
    }
    for (size_t A = 3; A-- > 0;)
      if (outputs(A) < Block[A]) {
        const std::string T = counter(A);
        Head += "for (unsigned int " + T + " = threadIdx." + "xyz"[A] + "; " + T + " < " +
                std::to_string(Block[A]) + "u; " + T + " += " + std::to_string(outputs(A)) +
                "u) ";
      }
    Head += "{ " + saidAgain(Before, true);
    if (!Edits.insert({I.Range.Begin, I.Range.Begin}, Head))
      return false;
    for (const SharedArray &A : M.Arrays)
      if (Moved.erase(A.DeclRange.Begin) &&
          !Edits.insert(A.DeclRange, Edits.newLines(A.DeclRange)))
        return false;
    for (const BuiltinUse &U : M.Builtins)
      if (isThreads(U) && I.Range.contains(U.Range) && !Edits.insert(U.Range, said(U, true)))
        return false;
    return Edits.insert({I.Range.End, I.Range.End}, " } " + saidAgain(Behind, false));
  }

  bool writeOthers() {
    return llvm::all_of(M.Builtins, [&](const BuiltinUse &U) {
      return !isThreads(U) || isStaging(U.Range) || Edits.insert(U.Range, said(U, false));
    });
  }
};

} // namespace

std::optional<OtherBody> rcache::outputThreads(const KernelModel &M) {
  if (!M.Declines.empty() || !M.Geo.ConstBlock || M.Form.scaled() || M.SharedAccesses.empty() ||
      exchangesComputed(M) || !namesCoordinatesAlone(M))
    return std::nullopt;
  M.Ctx->resetBudget();
  auto Result = guarded([&] { return OutputsWriter(M).run(); });
  if (Result)
    return std::move(*Result);
  llvm::consumeError(Result.takeError());
  return std::nullopt;
}
