// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See rcache/LeftTogether.h. The last round is the same but for the header's step,
// which runs once more: what it changes must be the loop's own.

#include "rcache/LeftTogether.h"
#include "Affine/IslTools.h"
#include "BodyText.h"
#include "llvm/ADT/STLExtras.h"
#include <limits>

using namespace rcache;

namespace {

class TogetherWriter {
public:
  explicit TogetherWriter(const KernelModel &M) : M(M) {
    Flag = M.freshName(Flag);
  }

  std::optional<OtherBody> run() {
    for (const Stmt &S : M.Stmts)
      if (S.K == Stmt::Break && leavesBarriers(S) && !write(S))
        return std::nullopt;
    auto R = Edits.body();
    if (R) {
      R->OnlyOwned = true;
      R->OtherRounds = Written >= 0;
    }
    return R;
  }

private:
  const KernelModel &M;
  BodyText Edits{M};
  std::string Flag = "go_on";
  int Written = -1; ///< the loop that has been written; one alone

  const Stmt &parent(const Stmt &S) const {
    return M.stmt(static_cast<unsigned>(S.Parent));
  }

  /// Is the loop or switch that \p Break leaves a loop with barriers?
  bool leavesBarriers(const Stmt &Break) const {
    for (int P = Break.Parent; P >= 0;
         P = M.stmt(static_cast<unsigned>(P)).Parent) {
      const Stmt &S = M.stmt(static_cast<unsigned>(P));
      if (S.K == Stmt::Switch)
        return false;
      if (S.isLoop())
        return S.HasBarrier;
    }
    return false;
  }

  /// `if (..) break;` straight in the loop's block, alike for all threads.
  bool write(const Stmt &Break) {
    if (Break.Parent < 0)
      return false;
    const Stmt *If = &parent(Break);
    if (If->K == Stmt::Block && If->Children.size() == 1 && If->Parent >= 0)
      If = &parent(*If);
    if (If->K != Stmt::If || If->Children.size() != 1 || If->HasBarrier ||
        (If->CondDepends & (DepThread | DepShared | DepGlobal)) ||
        If->Parent < 0 || parent(*If).K != Stmt::Block ||
        parent(*If).Parent < 0)
      return false;
    const Stmt &Block = parent(*If), &Loop = parent(Block);
    if (!Loop.isLoop() || !mayGoOn(Loop) || M.Text[Block.Range.End - 1] != '}')
      return false;
    if (isInLastRound(*If, Loop)) {
      const TextRange Leaves = M.stmt(If->Children.front()).Range;
      return Edits.insert({If->CondRange.Begin, If->CondRange.Begin}, "!(") &&
             Edits.insert({If->CondRange.End, If->CondRange.End}, ")") &&
             Edits.replace(Leaves, Edits.newLines(Leaves) + "{") &&
             Edits.insert({Block.Range.End - 1, Block.Range.End - 1}, "} ");
    }
    if (!begin(Loop))
      return false;
    return Edits.replace(Break.Range, Flag + " = false;") &&
           Edits.insert({If->Range.End, If->Range.End},
                        " if (" + Flag + ") {") &&
           Edits.insert({Block.Range.End - 1, Block.Range.End - 1}, "} ");
  }

  /// Does \p If, in the body of \p Loop, hold in no round but the last one that the
  /// header lets run? In signed numbers of 32 bits, where nothing wraps round.
  bool isInLastRound(const Stmt &If, const Stmt &Loop) const {
    if (Loop.IterSymbol < 0 || Loop.IterDomain.is_null() || !Loop.Step ||
        If.Cond.is_null())
      return false;
    const isl::ctx Ctx = M.Ctx->ctx();
    // { : the round runs, and is left }
    isl::set Left = Loop.IterDomain.intersect(If.Cond);
    for (const std::string &Id : involvedIds(Left)) {
      const int I = M.symbolIndex(Id);
      if (I < 0 || !M.Symbols[size_t(I)].Signed || M.Symbols[size_t(I)].Bits != 32)
        return false;
      Left = Left.intersect(
          inRange(symbolValue(Ctx, Id),
                  constantValue(Ctx, std::numeric_limits<int32_t>::min()),
                  constantValue(Ctx, int64_t(std::numeric_limits<int32_t>::max()) + 1)));
    }
    const std::string &Id = M.Symbols[size_t(Loop.IterSymbol)].Id;
    const isl::pw_aff Next =
        symbolValue(Ctx, Id).add(constantValue(Ctx, *Loop.Step));
    return impliedBy(inRange(Next, constantValue(Ctx, std::numeric_limits<int32_t>::min()),
                             constantValue(Ctx, int64_t(std::numeric_limits<int32_t>::max()) + 1)),
                     Left) &&
           Left.intersect(substitute(Loop.IterDomain, {{Id, Next}})).is_empty();
  }

  /// May the condition be asked once more, behind the step?
  bool mayGoOn(const Stmt &Loop) const {
    const bool Continues = llvm::any_of(M.Stmts, [&](const Stmt &S) {
      return S.K == Stmt::Continue && Loop.Range.contains(S.Range);
    });
    if (Continues || Loop.CondRange.empty() || Loop.HasReturn ||
        Loop.Parent < 0 || parent(Loop).K != Stmt::Block)
      return false;
    // What the header changes is declared there.
    return llvm::all_of(M.VarUses, [&](const VarUse &U) {
             return !U.Write || !Loop.HeaderRange.contains(U.Range) ||
                    Loop.HeaderRange.contains(M.Vars[U.Var].NameRange);
           }) &&
           llvm::none_of(M.Effects, [&](const Effect &E) {
             return Loop.HeaderRange.contains(E.Range) &&
                    E.K != Effect::SetsVariable;
           });
  }

  /// The flag of \p Loop, and its condition; once.
  bool begin(const Stmt &Loop) {
    if (Written >= 0)
      return Written == static_cast<int>(Loop.Id);
    Written = static_cast<int>(Loop.Id);
    const TextRange Cond = Loop.CondRange;
    const unsigned Open = parent(Loop).Range.Begin;
    return M.Text[Open] == '{' &&
           Edits.insert({Open + 1, Open + 1}, " bool " + Flag + " = true;") &&
           Edits.insert({Cond.Begin, Cond.Begin}, Flag + " && (") &&
           Edits.insert({Cond.End, Cond.End}, ")");
  }
};

} // namespace

std::optional<OtherBody> rcache::leftTogether(const KernelModel &M) {
  auto Result = guarded([&] { return TogetherWriter(M).run(); });
  if (Result)
    return std::move(*Result);
  llvm::consumeError(Result.takeError());
  return std::nullopt;
}
