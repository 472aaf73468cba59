// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See SpreadText.h.

#include "SpreadText.h"
#include "Affine/IslTools.h"
#include "BodyText.h"
#include "Counts.h"
#include "SpreadLoops.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace rcache;

static std::vector<const Stmt *> wrapped(const KernelModel &M);

namespace {

class Writer {
public:
  Writer(const KernelModel &M, const Assumptions &Fixed, const SpreadLayout &L)
      : M(M), Fixed(Fixed), L(L),
        Thread(std::string("threadIdx.") + "xyz"[L.Axis]) {}

  std::optional<OtherBody> run() {
    if (!L.Loops.empty() && !writeThreads())
      return std::nullopt;
    if (!copyParams() || !unwrap() || Edits.empty())
      return std::nullopt;
    auto Text = Edits.written();
    if (!Text)
      return std::nullopt;
    OtherBody R;
    R.Text = std::move(*Text);
    R.Form = M.Form;
    if (L.Loops.empty())
      return R;
    R.Form.Scale[L.Axis] *= L.Rounds;
    for (const std::string &P : L.NonZero)
      if (std::find(R.Form.NonZero.begin(), R.Form.NonZero.end(), P) ==
          R.Form.NonZero.end())
        R.Form.NonZero.push_back(P);
    R.Note = "each of the " + std::to_string(L.Rounds) +
             " outputs of a thread along " + "xyz"[L.Axis] +
             " is planned as a thread of its own";
    return R;
  }

private:
  const KernelModel &M;
  const Assumptions &Fixed;
  const SpreadLayout &L;
  const std::string Thread; ///< the new thread's number
  std::vector<TextRange> Gone; ///< headers that have been written anew

  BodyText Edits{M};

  bool holdsBuiltin(TextRange R) const {
    return std::any_of(
        M.Builtins.begin(), M.Builtins.end(),
        [&](const BuiltinUse &U) { return R.contains(U.Range); });
  }

  int64_t threads() const { return (*M.Geo.ConstBlock)[L.Axis]; }

  //===--- Rounds as threads ---===//

  bool writeThreads() {
    for (const auto &[Loop, Falls] : L.Loops)
      if (!writeRounds(M.stmt(Loop), Falls))
        return false;
    for (unsigned Loop : L.SharedOut)
      if (!writeSharedOut(M.stmt(Loop)))
        return false;
    for (unsigned J : L.Jumps)
      if (M.stmt(J).K != Stmt::Return &&
          !Edits.insert(M.stmt(J).Range, Edits.newLines(M.stmt(J).Range) + "return;"))
        return false;
    return guardOtherStores() && replaceThreads();
  }

  /// The original's thread and round, of the new thread.
  std::string oldThread() const {
    return L.Cyclic ? Thread + " % " + oldThreads() : Thread + " / " + rounds();
  }
  std::string round() const {
    return L.Cyclic ? Thread + " / " + oldThreads() : Thread + " % " + rounds();
  }
  std::string oldThreads() const { return std::to_string(threads()) + "u"; }
  std::string rounds() const { return std::to_string(L.Rounds) + "u"; }

  /// A loop whose rounds are threads: its body, with the counter's value.
  bool writeRounds(const Stmt &St, bool Falls) {
    const Var &I = M.Vars[size_t(St.IterVar)];
    const TextRange Head = {St.Range.Begin, St.HeaderRange.End};
    std::string Value, Test;
    if (St.Cooperative) {
      const auto Values = sharedOutValues(M, Fixed, St);
      if (!Values || holdsBuiltin(St.CondRange))
        return false;
      // Rounds that the header's condition leaves out are left out.
      const bool All = Values->Count == threads() * L.Rounds &&
                       involvedIds(Fixed.fix(St.IterDomain)).size() == 1;
      Value = std::to_string(Values->First) + " + (int)" + Thread;
      Test = All ? "" : "if (" + M.text(St.CondRange) + ") ";
    } else {
      // Its own words, which instantiations share.
      const std::string First =
          !Falls && !I.InitRange.empty()
              ? "(" + M.text(I.InitRange) + ")"
              : std::to_string(*St.ConstFirst +
                               (Falls ? *St.Step * (L.Rounds - 1) : 0));
      Value = First + " + " + std::to_string(Falls ? -*St.Step : *St.Step) +
              " * (int)(" + round() + ")";
    }
    Gone.push_back(Head);
    return Edits.insert(Head, Edits.newLines(Head) + "{ const " + I.Type + " " + I.Name +
                          " = " + Value + "; " + Test) &&
           Edits.insert({St.Range.End, St.Range.End}, " }");
  }

  /// A loop that all the new threads share.
  bool writeSharedOut(const Stmt &St) {
    const Var &I = M.Vars[size_t(St.IterVar)];
    const auto Values = sharedOutValues(M, Fixed, St);
    if (!Values || holdsBuiltin(St.CondRange))
      return false;
    Gone.push_back(St.HeaderRange);
    return Edits.insert(St.HeaderRange,
                Edits.newLines(St.HeaderRange) + "for (" + I.Type + " " + I.Name +
                    " = " + std::to_string(Values->First) + " + (int)" +
                    Thread + "; " + M.text(St.CondRange) + "; " + I.Name +
                    " += " + std::to_string(threads() * L.Rounds) + ")");
  }

  /// What is stored besides is stored by the first of the threads.
  bool guardOtherStores() {
    const std::string IsFirst =
        L.Cyclic ? Thread + " < " + oldThreads() : round() + " == 0u";
    std::set<unsigned> Guarded;
    for (const SharedAccess &A : M.SharedAccesses) {
      if (A.K != SharedAccess::Write || isRunOnce(A.Range) ||
          !Guarded.insert(A.Stmt).second)
        continue;
      const Stmt &Leaf = M.stmt(A.Stmt);
      if (Leaf.K != Stmt::Leaf)
        return false;
      for (const VarUse &U : M.VarUses)
        if (U.Write && Leaf.Range.contains(U.Range))
          return false;
      if (!Edits.insert({Leaf.Range.Begin, Leaf.Range.Begin},
                "{ if (" + IsFirst + ") ") ||
          !Edits.insert({Leaf.Range.End, Leaf.Range.End}, " }"))
        return false;
    }
    return true;
  }

  /// Is it run once, by one of the new threads, without being asked to?
  bool isRunOnce(TextRange R) const {
    auto Contains = [&](unsigned Loop) {
      return M.stmt(Loop).Range.contains(R);
    };
    return llvm::any_of(L.Loops,
                        [&](const auto &Of) { return Contains(Of.first); }) ||
           llvm::any_of(L.SharedOut, Contains);
  }

  bool replaceThreads() {
    for (const BuiltinUse &U : M.Builtins) {
      if (U.Axis != L.Axis ||
          (U.K != Symbol::ThreadIdx && U.K != Symbol::BlockDim) ||
          llvm::any_of(Gone,
                       [&](TextRange R) { return R.contains(U.Range); }))
        continue;
      if (!M.BodyRange.contains(U.Range) ||
          !Edits.insert(U.Range, U.K == Symbol::ThreadIdx ? "(" + oldThread() + ")"
                                                  : oldThreads()))
        return false;
    }
    return true;
  }

  //===--- Loops of one round ---===//

  bool unwrap() {
    return llvm::all_of(wrapped(M), [&](const Stmt *St) {
      const TextRange Body = M.stmt(St->Children[0]).Range;
      const TextRange Head = {St->Range.Begin, Body.Begin},
                      Tail = {Body.End, St->Range.End};
      const bool Block = M.stmt(St->Children[0]).K == Stmt::Block;
      return Edits.insert(Head, Edits.newLines(Head) + (Block ? "" : "{ ")) &&
             Edits.insert(Tail, Edits.newLines(Tail) + (Block ? "" : "; }"));
    });
  }

  //===--- Parameters ---===//

  /// Slots of a thread need their own copy of a parameter that they modify.
  bool copyParams() {
    std::string Copies;
    for (unsigned V = 0; V < M.Vars.size(); ++V) {
      const Var &Vr = M.Vars[V];
      if (!Vr.IsParam || !Vr.Assigned)
        continue;
      if (Vr.AddressTaken || Vr.IsReference ||
          Vr.Type.find('(') != std::string::npos)
        return false;
      const std::string Name = M.freshName(Vr.Name + "_here");
      for (const VarUse &U : M.VarUses)
        if (U.Var == V && (!M.BodyRange.contains(U.Range) ||
                           M.text(U.Range) != Vr.Name || !Edits.insert(U.Range, Name)))
          return false;
      Copies += " " + Vr.Type + " " + Name + " = " + Vr.Name + ";";
    }
    return Copies.empty() ||
           Edits.insert({M.BodyRange.Begin + 1, M.BodyRange.Begin + 1}, Copies);
  }
};

} // namespace

/// `do { ... } while (0)` that nothing leaves: braces with other words, as macros
/// write them.
static std::vector<const Stmt *> wrapped(const KernelModel &M) {
  std::vector<const Stmt *> All;
  for (const Stmt &St : M.Stmts) {
    if (!runsOnce(St) || St.Children.size() != 1)
      continue;
    const bool Left = llvm::any_of(M.Stmts, [&](const Stmt &J) {
      return (J.K == Stmt::Break || J.K == Stmt::Continue) &&
             St.Range.contains(J.Range);
    });
    if (!Left)
      All.push_back(&St);
  }
  return All;
}

bool rcache::hasOtherWords(const KernelModel &M) {
  const bool Vectors = llvm::any_of(
      M.SharedAccesses, [](const SharedAccess &A) { return A.AllMembers; });
  return Vectors || movedPointer(M) || !wrapped(M).empty();
}

std::optional<OtherBody> rcache::writeOtherBody(const KernelModel &M,
                                                const Assumptions &Fixed,
                                                const SpreadLayout &L) {
  return Writer(M, Fixed, L).run();
}
