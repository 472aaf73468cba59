// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Finish.h: Plan::Ahead. A round of the loop
//
//     for (t = ...) { stage tile t; barrier; use tile t; barrier; }
//
// becomes: wait for tile t; barrier; begin to copy tile t + 1 to the other half;
// use tile t. The barrier orders the uses of round t - 1 against the copies of t + 1,
// so the second one has nothing left to order.

#include "Affine/IslTools.h"
#include "Finish.h"
#include "Plan/Values.h"
#include "llvm/ADT/STLExtras.h"
#include <cstdlib>

using namespace rcache;

namespace {

/// Is \p V what a copy that fills with zeros leaves? Not -0.0.
bool isZero(const ValueRef &V) {
  if (V->K == Value::Affine) {
    const isl::pw_aff Is = V->Aff;
    return impliedBy(equalTo(Is, constantValue(Is.ctx(), 0)), always(Is.ctx()));
  }
  if (V->K != Value::Uniform)
    return false;
  // `0.0` of a float's.
  llvm::StringRef Text = V->Text;
  if ((Text.consume_front("(float)(") || Text.consume_front("(double)(")) &&
      !Text.consume_back(")"))
    return false;
  if (Text.empty() || !isdigit(static_cast<unsigned char>(Text.front())))
    return false;
  const std::string Number = Text.str();
  char *End = nullptr;
  const double X = std::strtod(Number.c_str(), &End);
  const llvm::StringRef Suffix = End;
  return X == 0 && (Suffix.empty() || Suffix == "f" || Suffix == "F");
}

class Finder {
public:
  Finder(const KernelModel &M, const Plan &P) : M(M), P(P) {}

  std::optional<Plan::TilesAhead> run() {
    if (P.Arrays.empty())
      return std::nullopt;
    const unsigned Staged = P.Arrays.front().Barrier;
    const Stmt *Loop = loopOf(Staged);
    if (!Loop)
      return std::nullopt;
    Iterator = static_cast<unsigned>(Loop->IterSymbol);
    const auto Used = otherBarrier(*Loop, Staged);
    if (!Used || !(Loop->Cond.is_null() ? wordsHold(*Loop)
                                        : knownAhead(involvedIds(Loop->Cond))))
      return std::nullopt;
    for (const ArrayPlan &A : P.Arrays)
      if (A.Barrier != Staged || !isCopied(A) ||
          !readsLieBetween(A, *Loop, *Used))
        return std::nullopt;
    return Plan::TilesAhead{Loop->Id, Staged, *Used, 2};
  }

private:
  const KernelModel &M;
  const Plan &P;
  unsigned Iterator = 0; ///< of the loop, index in Symbols

  /// The loop whose body is the block that \p Barrier stands in, if all that it
  /// does to memory is to read.
  const Stmt *loopOf(unsigned Barrier) const {
    const int Body = M.stmt(Barrier).Parent;
    if (Body <= 0 || M.stmt(unsigned(Body)).K != Stmt::Block)
      return nullptr;
    const Stmt &L = M.stmt(unsigned(M.stmt(unsigned(Body)).Parent));
    if (L.K != Stmt::For || L.IterVar < 0 || L.IterSymbol < 0 || !L.Step ||
        *L.Step == 0 || std::abs(*L.Step) > 4096 || L.Init.is_null() ||
        L.HasGlobalWrite || L.HasCall || !M.countsItself(L))
      return nullptr;
    return M.Symbols[static_cast<size_t>(L.IterSymbol)].Bits >= 32 ? &L : nullptr;
  }

  /// The only other barrier of the loop, a statement of its body as well.
  std::optional<unsigned> otherBarrier(const Stmt &Loop, unsigned Staged) const {
    std::optional<unsigned> Other;
    for (const Stmt &S : M.Stmts) {
      if (S.K != Stmt::Barrier || S.Id == Staged ||
          !Loop.Range.contains(S.Range))
        continue;
      if (Other || S.Parent != M.stmt(Staged).Parent ||
          S.Sync != Stmt::Syncthreads)
        return std::nullopt;
      Other = S.Id;
    }
    return Other;
  }

  bool knownAhead(const std::vector<std::string> &Ids) const {
    return llvm::all_of(Ids, [&](const std::string &Id) {
      if (const auto Factors = productFactors(Id); !Factors.empty())
        return knownAhead(Factors);
      const int I = M.symbolIndex(Id);
      if (I < 0)
        return true; // a coordinate of the element
      const Symbol &S = M.Symbols[static_cast<size_t>(I)];
      if (unsigned(I) == Iterator || S.K <= Symbol::Param || S.Anywhere)
        return S.K != Symbol::ThreadIdx;
      return !S.Factors.empty() && knownAhead(S.Factors);
    });
  }

  /// Can the condition of \p Loop be asked in its own words for another round,
  /// `t < ceil(n / 16.0f)`?
  bool wordsHold(const Stmt &Loop) const {
    auto Within = [&](const auto &A) { return Loop.CondRange.contains(A.Range); };
    const Symbol &Counter = M.Symbols[Iterator];
    return !Loop.CondRange.empty() && (Counter.Signed || Counter.Bits > 32) &&
           !(Loop.CondDepends & (DepThread | DepBlock | DepShared | DepGlobal)) &&
           llvm::all_of(M.VarUses,
                        [&](const VarUse &U) {
                          const Var &V = M.Vars[U.Var];
                          return !Within(U) || int(U.Var) == Loop.IterVar ||
                                 (!V.Assigned && !V.AddressTaken &&
                                  !V.IsReference);
                        }) &&
           llvm::none_of(M.Builtins, Within) &&
           llvm::none_of(M.SharedAccesses, Within) &&
           llvm::none_of(M.GlobalAccesses, Within);
  }

  /// Can \p V be computed for another round? Where it may wrap, in its own words.
  bool indexKnownAhead(const Value &V) const {
    switch (V.K) {
    case Value::Affine:
      return knownAhead(involvedIds(V.Aff));
    case Value::Uniform:
      return !V.Depends;
    case Value::Op: // names in it are of constants and pure functions
      return llvm::all_of(V.Operands, [&](const ValueRef &O) { return indexKnownAhead(*O); });
    default:
      return false;
    }
  }

  /// Nothing but elements of memory as they are, or zeros.
  bool isCopied(const ArrayPlan &A) const {
    const SharedArray &Of = M.Arrays[A.Array];
    if (!A.as<Restaged>() ||
        (Of.ElemBytes != 4 && Of.ElemBytes != 8 && Of.ElemBytes != 16))
      return false;
    return llvm::all_of(A.Stage.Pieces, [&](const StagePiece &S) {
      if (!S.Guards.empty() || !knownAhead(involvedIds(S.Domain)))
        return false;
      return S.V->K == Value::Load
                 ? S.V->Type == Of.CanonicalType && S.V->Root >= 0 &&
                       indexKnownAhead(*S.V->Operands[0])
                 : isNumber(Of.CanonicalType) && isZero(S.V);
    });
  }

  /// All reads are in the loop, behind the staging barrier, and end with the other
  /// one, or with the round if that stands in front of the writes.
  bool readsLieBetween(const ArrayPlan &A, const Stmt &Loop, unsigned Used) const {
    const TextRange Staged = M.stmt(A.Barrier).Range, End = M.stmt(Used).Range;
    const bool AtEnd = End.Begin > Staged.Begin;
    for (unsigned W : A.Writes)
      if (!AtEnd && M.SharedAccesses[W].Range.Begin < End.End)
        return false;
    return llvm::all_of(A.Reads, [&](unsigned R) {
      const TextRange Read = M.SharedAccesses[R].Range;
      return Loop.Range.contains(Read) && Read.Begin > Staged.End &&
             (!AtEnd || Read.End <= End.Begin);
    });
  }
};

} // namespace

void rcache::findTilesAhead(const KernelModel &M, Plan &P) {
  P.Ahead = Finder(M, P).run();
  if (!P.Ahead)
    return;
  // What is asked of the next round is a round's step beyond what the loop asked,
  // in sums of our own; its own words the loop asks about that round as well.
  if (M.stmt(P.Ahead->Loop).Cond.is_null())
    return;
  const bool Down = *M.stmt(P.Ahead->Loop).Step < 0;
  for (const std::string &Id : involvedIds(M.stmt(P.Ahead->Loop).Cond))
    if (const int I = M.symbolIndex(Id);
        I >= 0 && M.Symbols[static_cast<size_t>(I)].K == Symbol::Param)
      P.Preconditions.push_back(
          {"(double)" + M.Symbols[static_cast<size_t>(I)].Text +
               (Down ? " >= -2147352576.0" : " <= 2147352576.0"),
           "index arithmetic does not wrap"});
}
