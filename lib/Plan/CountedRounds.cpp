// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See CountedRounds.h. Why the new counter, which has the type of the old one,
// fits where the old one did: the old one begins with a sum of products that
// are all 0 for the first thread of the first block, whose two counters are the
// same then.

#include "rcache/CountedRounds.h"
#include "rcache/ThreadsInLine.h"
#include "BodyText.h"
#include "Affine/IslToCxx.h"
#include "Affine/IslTools.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

using namespace rcache;
using llvm::StringRef;

namespace {

class Writer {
public:
  explicit Writer(const KernelModel &M) : M(M) {}

  std::optional<OtherBody> run() {
    for (const Stmt &S : M.Stmts)
      if (isTileLoop(S) && !(S.K == Stmt::While ? writeWhile(S) : writeFor(S)))
        return std::nullopt;
    if (Edits.empty())
      return std::nullopt;
    auto Text = Edits.written();
    if (!Text)
      return std::nullopt;
    OtherBody Out;
    Out.Text = std::move(*Text);
    Out.Form = M.Form;
    return Out;
  }

private:
  const KernelModel &M;
  BodyText Edits{M};

  /// A loop that stages, or `while (i < n)` over memory whose sums threads exchange.
  bool isOfInterest(const Stmt &S) const {
    return S.HasBarrier ? (S.K == Stmt::For || S.K == Stmt::While) && S.HasSharedWrite
                        : S.K == Stmt::While && S.HasGlobalRead && exchangesComputed(M);
  }

  /// ..., whose body is a block that is left at its end.
  bool isTileLoop(const Stmt &S) const {
    if (!isOfInterest(S) || S.HasReturn || S.Children.size() != 1 ||
        M.stmt(S.Children[0]).K != Stmt::Block || S.CondRange.empty())
      return false;
    return llvm::none_of(M.Stmts, [&](const Stmt &In) {
      return (In.K == Stmt::Break || In.K == Stmt::Continue) &&
             S.Range.contains(In.Range);
    });
  }

  unsigned writes(TextRange R, unsigned Var) const {
    return static_cast<unsigned>(
        llvm::count_if(M.VarUses, [&](const VarUse &U) {
          return U.Write && U.Var == Var && R.contains(U.Range);
        }));
  }

  /// Do words of \p Moved mean something else at the end of the body of \p
  /// Loop, or hang on what a round changes?
  bool meansTheSame(TextRange Moved, const Stmt &Loop) const {
    const TextRange Body = M.stmt(Loop.Children[0]).Range;
    for (const VarUse &U : M.VarUses) {
      if (!Moved.contains(U.Range))
        continue;
      if (!U.Write && M.Vars[U.Var].Assigned && writes(Loop.Range, U.Var) &&
          !writes(Moved, U.Var))
        return false;
      for (const Var &Inner : M.Vars)
        if (Body.contains(Inner.NameRange) && Inner.Name == M.Vars[U.Var].Name)
          return false;
    }
    auto Touches = [&](const auto &A) { return Moved.contains(A.Range); };
    return llvm::none_of(M.SharedAccesses, Touches) &&
           llvm::none_of(M.GlobalAccesses, Touches) && noCall(Moved);
  }

  bool noCall(TextRange R) const {
    return llvm::none_of(M.Effects, [&](const Effect &E) {
      return E.K == Effect::Call && R.contains(E.Range);
    });
  }

  //===--- while ---===//

  /// The only statement of the body of \p Loop that changes a variable of its
  /// condition, if nothing behind it uses that one.
  const Stmt *stepOf(const Stmt &Loop) const {
    const Stmt &Body = M.stmt(Loop.Children[0]);
    for (const VarUse &U : M.VarUses) {
      if (!Loop.CondRange.contains(U.Range) || writes(Body.Range, U.Var) != 1 ||
          M.Vars[U.Var].AddressTaken || M.Vars[U.Var].IsReference)
        continue;
      for (const unsigned C : Body.Children) {
        const Stmt &S = M.stmt(C);
        if (S.K != Stmt::Leaf || writes(S.Range, U.Var) != 1)
          continue;
        const bool UsedBehind = llvm::any_of(M.VarUses, [&](const VarUse &Of) {
          return Of.Var == U.Var && Of.Range.Begin >= S.Range.End &&
                 Body.Range.contains(Of.Range);
        });
        return !UsedBehind && meansTheSame(S.Range, Loop) ? &S : nullptr;
      }
    }
    return nullptr;
  }

  /// False: nothing is known of any loop's text. A loop of another form stays.
  bool writeWhile(const Stmt &Loop) {
    const TextRange Head{Loop.Range.Begin, Loop.CondRange.Begin};
    StringRef Text = StringRef(M.Text).slice(Head.Begin, Head.End).trim();
    const Stmt *Step = stepOf(Loop);
    if (!Step || !Text.consume_front("while") || Text.trim() != "(")
      return true;
    StringRef Words =
        StringRef(M.Text).slice(Step->Range.Begin, Step->Range.End).trim();
    const bool Counts = Words.contains("++") || Words.contains("--") ||
                        Words.contains("+=") || Words.contains("-=");
    if (!Counts || !Words.consume_back(";") || Words.contains(';') ||
        Words.contains("//"))
      return true;
    return Edits.replace(Head, Edits.newLines(Head) + "for (; ") &&
           Edits.replace({Loop.CondRange.End, Loop.CondRange.End}, "; " + Words.str()) &&
           Edits.replace(Step->Range, Edits.newLines(Step->Range));
  }

  //===--- for ---===//

  /// Is \p Id the same for all threads of the launch?
  bool isCommon(const std::string &Id) const {
    const int I = M.symbolIndex(Id);
    return I >= 0 &&
           !(M.Symbols[static_cast<size_t>(I)].Depends &
             (DepThread | DepBlock | DepShared | DepGlobal)) &&
           M.Symbols[static_cast<size_t>(I)].K != Symbol::ThreadIdx &&
           M.Symbols[static_cast<size_t>(I)].K != Symbol::BlockIdx;
  }

  /// Is \p Id 0 for the first thread of the first block, whatever it is a
  /// product of?
  bool vanishes(const std::string &Id) const {
    const int I = M.symbolIndex(Id);
    if (I < 0)
      return false;
    const Symbol &S = M.Symbols[static_cast<size_t>(I)];
    return S.K == Symbol::ThreadIdx || S.K == Symbol::BlockIdx ||
           llvm::any_of(S.Factors,
                        [&](const std::string &F) { return vanishes(F); });
  }

  /// Does \p Loop count from an element of the block's own, in every launch?
  bool countsFromOwn(const Stmt &Loop) const {
    if (Loop.K != Stmt::For || Loop.IterVar < 0 || Loop.IterSymbol < 0 ||
        Loop.Cooperative || !Loop.Step || *Loop.Step <= 0 ||
        Loop.Init.is_null() || Loop.IterDomain.is_null() ||
        !M.countsItself(Loop) || !Loop.DomainExact ||
        (!Loop.Domain.is_null() &&
         !impliedBy(Loop.Domain, always(M.Ctx->ctx()))))
      return false;
    const auto First = linearForm(Loop.Init, always(M.Ctx->ctx()));
    return First && !First->isConst() && First->Const == 0 &&
           llvm::all_of(First->Terms,
                        [&](const auto &T) { return vanishes(T.first); });
  }

  /// The condition of \p Loop for a counter \p Name that begins with 0; "": it
  /// is not the same for all blocks, or no plain comparison.
  std::string conditionOf(const Stmt &Loop, const std::string &Name) const {
    const Symbol &I = M.Symbols[static_cast<size_t>(Loop.IterSymbol)];
    const isl::ctx Ctx = M.Ctx->ctx();
    const isl::pw_aff Moved = symbolValue(Ctx, I.Id),
                      Zero = constantValue(Ctx, 0);
    const isl::set Rounds =
        lessEqual(Zero, Moved)
            .intersect(equalTo(floorMod(Moved, *Loop.Step), Zero));
    const isl::set Cond = simplify(
        substitute(Loop.IterDomain, {{I.Id, Moved.add(Loop.Init)}}), Rounds);
    CxxOptions O;
    O.Context = Rounds;
    CxxNames Names;
    for (const std::string &Id : involvedIds(Cond)) {
      const int At = M.symbolIndex(Id);
      if (Id == I.Id) {
        Names[Id] = CxxAtom(Name, true, I.Type);
        continue;
      }
      const Symbol &S = M.Symbols[static_cast<size_t>(std::max(At, 0))];
      if (!isCommon(Id) || (S.K != Symbol::Param && S.K != Symbol::GridDim) ||
          I.Bits != 32 || S.Bits != 32 || S.Signed != I.Signed)
        return "";
      Names[Id] = CxxAtom(S.Text, true, S.Type);
    }
    O.Type = I.Signed ? CxxType::Int : CxxType::Unsigned;
    const SumLog Log;
    auto Text = toCxx(Cond, Names, O);
    if (!Text) {
      llvm::consumeError(Text.takeError());
      return "";
    }
    const bool Wraps = llvm::any_of(Log.Sums, [](const PrintedSum &S) {
      return S.Symbols.size() + (S.Constant != 0) > 1;
    });
    return Wraps ? "" : Text->Text;
  }

  /// \p Words, of range \p In, with \p Name for each use of variable \p Of.
  std::string renamed(TextRange In, unsigned Of,
                      const std::string &Name) const {
    std::string Out;
    unsigned Done = In.Begin;
    for (const VarUse &U : M.VarUses)
      if (U.Var == Of && In.contains(U.Range) && U.Range.Begin >= Done) {
        Out += M.text({Done, U.Range.Begin}) + Name;
        Done = U.Range.End;
      }
    return Out + M.text({Done, In.End});
  }

  /// What stands between the commas of the header's last part.
  std::vector<TextRange> stepsOf(const Stmt &Loop) const {
    std::vector<TextRange> Out;
    unsigned Begin = Loop.IncRange.Begin, Depth = 0;
    for (unsigned I = Begin; I < Loop.IncRange.End; ++I) {
      const char C = M.Text[I];
      Depth += C == '(' || C == '[' || C == '{';
      Depth -= C == ')' || C == ']' || C == '}';
      if (C == ',' && Depth == 0) {
        Out.push_back({Begin, I});
        Begin = I + 1;
      }
    }
    Out.push_back({Begin, Loop.IncRange.End});
    return Out;
  }

  std::string freshName(const std::string &Like) const {
    return M.freshName(Like + "_moved");
  }

  /// What the header of a loop does between rounds, in pieces.
  struct Steps {
    std::string All, Others; ///< as statements; Others: but the counter's
    TextRange Counter;       ///< empty: the counter has none of its own
    bool Differ = false;     ///< what others step differs from block to block
  };

  std::optional<Steps> piecesOf(const Stmt &Loop) const {
    const unsigned Counter = static_cast<unsigned>(Loop.IterVar);
    Steps Out;
    for (const TextRange S : stepsOf(Loop)) {
      if (!meansTheSame(S, Loop))
        return std::nullopt;
      const std::string Words = StringRef(M.text(S)).trim().str() + "; ";
      Out.All += Words;
      if (writes(S, Counter)) {
        Out.Counter = S;
        continue;
      }
      Out.Others += Words;
      for (const VarUse &U : M.VarUses)
        if (S.contains(U.Range)) {
          const Var &V = M.Vars[U.Var];
          if (U.Var == Counter) // stepped before it, or behind it?
            return std::nullopt;
          Out.Differ |= U.Write && (V.IsParam || (V.Depends & DepBlock));
        }
    }
    return Out;
  }

  /// Pieces of the header that are no matter of the counter go to the body's
  /// end.
  bool writeOthersBehind(const Stmt &Loop, const Steps &Of) {
    if (!Of.Differ)
      return true;
    const unsigned End = M.stmt(Loop.Children[0]).Range.End;
    return Edits.replace(Loop.IncRange, StringRef(M.text(Of.Counter)).trim().str() +
                                   Edits.newLines(Loop.IncRange)) &&
           Edits.replace({End - 1, End}, Of.Others + "}");
  }

  bool writeFor(const Stmt &Loop) {
    const TextRange Body = M.stmt(Loop.Children[0]).Range,
                    Header{Loop.Range.Begin, Body.Begin};
    StringRef Head = StringRef(M.Text).slice(Header.Begin, Header.End);
    if (Loop.IterVar < 0 || Loop.IncRange.empty() ||
        M.Text[Body.End - 1] != '}' || Head.contains('#') ||
        Head.contains("//"))
      return true;
    const unsigned Counter = static_cast<unsigned>(Loop.IterVar);
    const std::string Name = freshName(M.Vars[Counter].Name);
    const auto Of = piecesOf(Loop);
    if (!Of || Of->Counter.empty())
      return true;
    const std::string Cond = countsFromOwn(Loop) ? conditionOf(Loop, Name) : "";
    if (Cond.empty())
      return writeOthersBehind(Loop, *Of);
    // The range of a declaration may end with its semicolon.
    StringRef Init = StringRef(M.Text)
                         .slice(Loop.InitRange.Begin, Loop.InitRange.End)
                         .rtrim("; \t\n");
    return Edits.replace(
               Header,
               Edits.newLines(Header) + "{ " + (Init.empty() ? "" : Init.str() + "; ") +
                   "for (" + M.Vars[Counter].Type + " " + Name + " = 0; " +
                   Cond + "; " +
                   StringRef(renamed(Of->Counter, Counter, Name)).trim().str() +
                   ") ") &&
           Edits.replace({Body.End - 1, Body.End}, Of->All + "} }");
  }
};

} // namespace

std::optional<OtherBody> rcache::countedRounds(const KernelModel &M) {
  M.Ctx->resetBudget();
  auto Result = guarded([&] { return Writer(M).run(); });
  if (Result)
    return std::move(*Result);
  llvm::consumeError(Result.takeError());
  return std::nullopt;
}
