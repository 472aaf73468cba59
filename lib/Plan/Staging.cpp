// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Staging.h. Spaces: everything lives in the parameter space; to invert a
// write the unknowns (thread coordinates, iterators of the staging loops) are
// moved to the dimensions of a set,
//
//     [e0, n, ...] -> { [tx, i] : Domain and e0 = Index(tx, i) }
//
// whose lexicographic maximum gives thread and iteration as functions of the
// element. More than one solution is either the same value written twice or a
// race of the original; the last iteration of one thread wins.

#include "Staging.h"
#include "Affine/IslTools.h"
#include "Pieces.h"
#include "Products.h"
#include "Solve.h"
#include "SpreadLoops.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <algorithm>
#include <set>

using namespace rcache;

namespace {

const char *const ThreadIds[3] = {"tx", "ty", "tz"};

/// Stops the search for a staging function: why there is none.
struct NoFunction {
  Decline Why;
};

/// One staging write on its way from `{ Thread -> Elem }` to a function of the
/// element.
struct Write {
  const SharedAccess &Of;
  isl::set D;      ///< [unknowns, e, symbols] -> { : it writes e }
  ValueRef Stored; ///< in unknowns and symbols
  std::vector<ValueRef> Guards;
  std::set<std::string> Used; ///< symbols of the three
  /// Threads, then the iterators of the staging loops from the outside in.
  std::vector<std::string> Unknowns;
  /// Products with one unknown are functions of the element, too: they follow
  /// from the unknown.
  std::map<const Symbol *, std::string> Products;
  isl::set Known;                            ///< [e, symbols] -> { : written }
  std::map<std::string, isl::pw_aff> Inverse; ///< of unknowns and products
};

class Inversion {
public:
  Inversion(const KernelModel &M, const StagingGroup &G, const Assumptions &A)
      : M(M), G(G), A(A), Arr(M.Arrays[G.Array]), Ctx(M.Ctx->ctx()),
        Rank(M.SharedAccesses[G.Writes.front()].Index.size()),
        Seen(isl::set::empty(A.Context.space())),
        Undefined(isl::set::empty(A.Context.space())) {
    for (size_t D = 0; D < Rank; ++D)
      F.ElemIds.push_back("e" + std::to_string(D));
  }

  StagingFunction run() {
    // Last write first; what a later write covers is taken from the earlier.
    for (unsigned Access : llvm::reverse(G.Writes)) {
      auto W = read(M.SharedAccesses[Access]);
      if (!W)
        continue; // never executed
      findUnknowns(*W);
      findProducts(*W);
      solve(*W);
      compose(*W);
    }
    settle();
    cover();
    return std::move(F);
  }

private:
  const KernelModel &M;
  const StagingGroup &G;
  const Assumptions &A;
  const SharedArray &Arr;
  isl::ctx Ctx;
  const size_t Rank;
  StagingFunction F;

  isl::set Seen; ///< elements that have a value
  std::vector<RawPiece> Pieces;
  /// Products with an unknown that is a quotient of the element, which have to
  /// cancel; where they are written.
  std::map<std::string, SourcePos> MustCancel;
  struct Staged {
    const SharedAccess *W;
    isl::set D;
    ValueRef V;
  };
  std::vector<Staged> AllStaged;
  isl::set Undefined; ///< written, but with what the original's threads never set

  [[noreturn]] void fail(DeclineCode Code, std::string Detail,
                         const SourcePos &Pos) const {
    throw NoFunction{{Code, std::move(Detail), Pos}};
  }
  std::string name() const { return "'" + Arr.Name + "'"; }

  static bool hasUnknown(const Value &V) {
    return V.K == Value::Unknown ||
           llvm::any_of(V.Operands, [](const ValueRef &O) {
             return !O || hasUnknown(*O);
           });
  }

  /// What is not known in \p V, between \p Before and a quotation mark; "": it
  /// has no text.
  static std::string textOfUnknown(const ValueRef &V, const char *Before) {
    if (!V)
      return "";
    if (V->K == Value::Unknown && V->Text.empty())
      return "";
    if (V->K == Value::Unknown) {
      std::string Text = Before;
      for (size_t I = 0; I < V->Text.size(); ++I) {
        if (V->Text[I] != '$') {
          Text += V->Text[I];
          continue;
        }
        Text += "..."; // an operand
        while (I + 1 < V->Text.size() && llvm::isDigit(V->Text[I + 1]))
          ++I;
      }
      return Text + "'";
    }
    for (const ValueRef &O : V->Operands)
      if (std::string Text = textOfUnknown(O, Before); !Text.empty())
        return Text;
    return "";
  }

  /// Of a staged value that cannot be had again.
  [[noreturn]] void failValue(const ValueRef &V, const SourcePos &Pos) const {
    if (V && (V->Depends & DepShared))
      fail(DeclineCode::ComputedExchange,
           name() + " takes values that are computed from shared data", Pos);
    fail(DeclineCode::StagedValue,
         "what is written to " + name() + textOfUnknown(V, " is made from '"),
         Pos);
  }

  [[noreturn]] void failAt(const Symbol &S, const SourcePos &Pos) const {
    if (S.Depends & (DepShared | DepGlobal))
      fail(DeclineCode::DataDependentIndex,
           "the staging of " + name() + " depends on '" + S.Text + "'", Pos);
    Decline Why = {DeclineCode::NonAffineIndex,
                   "'" + S.Text + "', by which " + name() +
                       " is staged, does not follow from the element",
                   Pos};
    for (const std::string &Factor : S.Factors)
      if (const int I = M.symbolIndex(Factor);
          I >= 0 && M.Symbols[size_t(I)].K == Symbol::Param)
        Why.Advice = "make '" + M.Symbols[size_t(I)].Text +
                     "' a constant or a template argument, so that rows of " +
                     name() + " have a known length";
    throw NoFunction{std::move(Why)};
  }

  /// The loops around \p Access, up to the block that holds writes and barrier.
  template <typename Fn> void forLoops(const SharedAccess &Access, Fn Each) {
    for (int P = static_cast<int>(Access.Stmt);
         P >= 0 && P != static_cast<int>(G.Block); P = M.stmt(P).Parent) {
      const Stmt &S = M.stmt(P);
      if (S.isLoop())
        Each(S);
    }
  }

  //===--- 1. Read the write ---===//

  std::optional<Write> read(const SharedAccess &W) {
    unsigned OnData = 0;
    for (const ValueRef &I : W.IndexValues)
      OnData |= I ? I->Depends & DepGlobal : 0u;
    if (!W.Affine || W.Index.size() != Rank)
      fail(OnData ? DeclineCode::DataDependentIndex
                  : DeclineCode::NonAffineIndex,
           "the staging write of " + name(), W.Pos);
    if (!W.Stored || hasUnknown(*W.Stored))
      failValue(W.Stored, W.Pos);
    isl::set D = A.fix(W.Domain).intersect(A.Context);
    for (size_t K = 0; K < Rank; ++K)
      D = D.intersect(A.fix(W.Index[K]).eq_set(symbolValue(Ctx, F.ElemIds[K])));
    if (D.is_empty())
      return std::nullopt;
    Write R{W, D, A.fix(W.Stored), {}, {}, {}, {}, D, {}};
    if (!R.Stored)
      failValue(W.Stored, W.Pos);
    auto Use = [&](const std::vector<std::string> &Ids) {
      R.Used.insert(Ids.begin(), Ids.end());
    };
    Use(involvedIds(D));
    Use(valueSymbols(R.Stored));
    for (const ValueRef &Gd : W.ExtraGuards) {
      R.Guards.push_back(A.fix(Gd));
      if (!R.Guards.back())
        fail(DeclineCode::StagedValue,
             "a condition around the write of " + name() +
                 textOfUnknown(Gd, ": '"),
             W.Pos);
      Use(valueSymbols(R.Guards.back()));
    }
    return R;
  }

  //===--- 2. Unknowns ---===//

  void findUnknowns(Write &W) {
    for (const char *T : {"tz", "ty", "tx"})
      if (W.Used.count(T))
        W.Unknowns.push_back(T);
    std::vector<std::string> Iterators;
    forLoops(W.Of, [&](const Stmt &Loop) {
      if (Loop.IterSymbol < 0)
        fail(DeclineCode::UnsupportedStatement,
             name() + " is staged in a loop that does not count in steps (of a "
                      "constant or blockDim) at its end",
             Loop.Pos);
      const std::string &Id = M.Symbols[Loop.IterSymbol].Id;
      if (W.Used.count(Id))
        Iterators.insert(Iterators.begin(), Id);
      if (Loop.Cooperative)
        checkCooperative(W, Loop);
      else if ((!Loop.Step || *Loop.Step <= 0) && W.Used.count(Id) &&
               !Loop.ConstTripCount)
        // The last round would be the smallest iterator.
        fail(DeclineCode::UnsupportedStatement,
             name() + " is staged in a loop that counts down", Loop.Pos);
    });
    for (const char *T : ThreadIds)
      if (!W.Used.count(T))
        W.D = W.D.project_out_param(T);
    W.Unknowns.insert(W.Unknowns.end(), Iterators.begin(), Iterators.end());
  }

  /// Which thread takes a round is not known; nothing may depend on it.
  void checkCooperative(const Write &W, const Stmt &Loop) {
    for (unsigned Ax = 0; Ax < 3; ++Ax) {
      if (!(Loop.CooperativeAxes & (1u << Ax)))
        continue;
      const char *T = ThreadIds[Ax];
      bool Free = !dependsOn(A.fix(W.Of.Domain), T);
      for (const isl::pw_aff &X : W.Of.Index)
        Free &= !dependsOn(X, T);
      for (auto &S : valueSymbols(W.Stored))
        Free &= S != T;
      if (!Free)
        fail(DeclineCode::AmbiguousStaging,
             "inside a cooperative loop " + name() +
                 " depends on the thread besides the round",
             W.Of.Pos);
    }
  }

  //===--- 3. Products with unknowns ---===//

  void findProducts(Write &W) {
    std::set<std::string> Solved;
    for (const Symbol &S : M.Symbols) {
      if (S.Factors.size() < 2 || !W.Used.count(S.Id) || !isExactProduct(M, S))
        continue;
      std::vector<std::string> Unknown;
      for (const std::string &Factor : S.Factors)
        if (llvm::is_contained(W.Unknowns, Factor))
          Unknown.push_back(Factor);
      if (Unknown.size() != 1)
        continue;
      W.Products.emplace(&S, Unknown.front());
      Solved.insert(S.Id);
    }
    for (const std::string &Id : W.Used) {
      const int I = M.symbolIndex(Id);
      if (I < 0)
        continue;
      const Symbol &S = M.Symbols[I];
      if (S.K == Symbol::Opaque && (S.Depends & (DepThread | DepShared)) &&
          !Solved.count(Id)) {
        // (What a variable has at that time, not where it is put.)
        if ((S.Depends & DepShared) && !dependsOn(W.D, Id))
          failValue(W.Of.Stored, W.Of.Pos);
        failAt(S, W.Of.Pos);
      }
    }
  }

  //===--- 4. Solve for the unknowns ---===//

  /// [e, symbols] -> { [unknowns] : Domain and e = Index }
  void solve(Write &W) {
    const isl::pw_multi_aff Inverse = solveFor(W.D, W.Unknowns);
    for (size_t K = 0; K < W.Unknowns.size(); ++K)
      W.Inverse.emplace(W.Unknowns[K], Inverse.at(static_cast<int>(K)));
    W.Known = W.D;
    for (const std::string &U : W.Unknowns)
      W.Known = W.Known.project_out_param(U);
    W.Known = W.Known.coalesce();
    const std::map<std::string, isl::pw_aff> Products = solvedProducts(W);
    W.Inverse.insert(Products.begin(), Products.end());
    // A condition on a product: known from the element only if what it follows
    // from does not depend on that condition itself.
    for (const auto &[Id, V] : Products)
      if (dependsOn(W.Known, Id)) {
        for (const auto &[Other, _] : Products)
          if (const int I = M.symbolIndex(Id); I >= 0 && dependsOn(V, Other))
            failAt(M.Symbols[size_t(I)], W.Of.Pos);
          else if (dependsOn(V, Other))
            fail(DeclineCode::DataDependentIndex,
                 "a condition around the staging of " + name(), W.Of.Pos);
        for (auto &[U, Inv] : W.Inverse)
          if (U != Id)
            Inv = substitute(Inv, {{Id, V}});
        W.Known = substitute(W.Known, {{Id, V}}).coalesce();
      }
  }

  std::map<std::string, isl::pw_aff> solvedProducts(const Write &W) {
    std::map<std::string, isl::pw_aff> All;
    std::map<size_t, std::string> Taken; // index dimension -> unknown
    for (const auto &[S, Unknown] : W.Products) {
      std::vector<std::string> Others = S->Factors;
      Others.erase(std::find(Others.begin(), Others.end(), Unknown));
      auto V =
          timesSymbols(M, A, W.Inverse.at(Unknown), Others, S->Bits > 32);
      if (!V) // (e0 - 8 k) * w, where 8 k * w is added as well.
        if (auto One = byOneIndex(W.Of, Unknown, Taken))
          V = timesSymbols(M, A, simplify(*One, always(Ctx)), Others,
                           S->Bits > 32);
      if (V)
        All.insert_or_assign(S->Id, *V);
      else
        MustCancel.emplace(S->Id, W.Of.Pos);
    }
    return All;
  }

  /// \p Unknown by an index in which it stands once: with e0 = ty + 8 k, ty is
  /// e0 - 8 k. In element and other unknowns; nullopt: no such index, or it was
  /// used for another unknown (\p Taken).
  std::optional<isl::pw_aff> byOneIndex(const SharedAccess &W,
                                        const std::string &Unknown,
                                        std::map<size_t, std::string> &Taken) {
    for (size_t K = 0; K < W.Index.size(); ++K) {
      const isl::pw_aff Index = A.fix(W.Index[K]);
      const auto L = linearForm(Index, always(Ctx));
      if (!L)
        continue;
      const auto It = L->Terms.find(Unknown);
      if (It == L->Terms.end() || std::abs(It->second) != 1 ||
          Taken.try_emplace(K, Unknown).first->second != Unknown)
        continue;
      const isl::pw_aff Self = symbolValue(Ctx, Unknown),
                        Rest = symbolValue(Ctx, F.ElemIds[K]).sub(Index);
      return It->second > 0 ? Rest.add(Self) : Self.sub(Rest);
    }
    return std::nullopt;
  }

  //===--- 5. Compose the value with the inverse ---===//

  void compose(const Write &W) {
    auto ByElement = [&](const ValueRef &V) {
      return W.Inverse.empty() ? V : substituteValue(V, W.Inverse);
    };
    RawPiece P;
    P.V = ByElement(W.Stored);
    for (const ValueRef &Gd : W.Guards)
      P.Guards.push_back(ByElement(Gd));
    // Rounds that a thread runs one after the other.
    for (const Staged &Later : AllStaged)
      for (int L = static_cast<int>(W.Of.Stmt);
           L >= 0 && L != static_cast<int>(G.Block); L = M.stmt(L).Parent)
        if (M.stmt(L).IterSymbol >= 0 &&
            M.stmt(L).Range.contains(Later.W->Range) &&
            meetInRounds(M, A, W.Of, *Later.W, M.stmt(L)) &&
            !equalOn(M, A, P.V, Later.V, W.Known.intersect(Later.D)))
          fail(DeclineCode::AmbiguousStaging,
               "two statements of a loop write to " + name() +
                   ", and a round may write where another one did",
               W.Of.Pos);
    AllStaged.push_back({&W.Of, W.Known, P.V});
    P.D = W.Known.subtract(Seen).coalesce();
    if (W.Guards.empty())
      Seen = Seen.unite(W.Known).coalesce();
    if (!splitPieces(M, A, std::move(P), Pieces))
      fail(DeclineCode::TooHard, "the staging of " + name(), W.Of.Pos);
  }

  //===--- 6. Settle the pieces ---===//

  /// What has no value goes, what depends on more than the element fails, what
  /// is one function is joined.
  void settle() {
    // Elements without a value: the original's threads have not set what they
    // write there. They hold nothing older either.
    llvm::erase_if(Pieces, [&](const RawPiece &P) {
      if (!isUndefined(P.V))
        return false;
      if (P.Guards.empty())
        Undefined = Undefined.unite(P.D);
      return true;
    });
    for (const RawPiece &P : Pieces)
      checkPiece(P);
    dropWhatHolds();
    joinPieces(M, A, Pieces);
    for (RawPiece &P : Pieces)
      F.Pieces.push_back({P.D, P.V, P.Guards});
    if (F.Pieces.empty())
      fail(DeclineCode::NotStaged,
           "no write of " + name() + " is ever executed", Arr.Pos);
  }

  /// Is each return in front of the barrier all that its statement does, under conditions that
  /// all threads of a block share? Where it does more (`if (skip[blockIdx.x]) { if (t == 0) ..;
  /// return; }`), slots return one by one, and elements are asked for by those that have.
  bool returnsAtOnce() const {
    const auto isAlone = [&](const Stmt &Return) {
      int Q = Return.Parent;
      const Stmt *Whole = &Return;
      for (; Q > 0; Q = M.stmt(unsigned(Q)).Parent) {
        Whole = &M.stmt(unsigned(Q));
        if (Whole->K != Stmt::If && Whole->K != Stmt::Block)
          return false;
        if (Whole->K == Stmt::If && (Whole->CondDepends & (DepThread | DepShared)))
          return false;
      }
      return llvm::none_of(M.Stmts, [&](const Stmt &S) {
        return (S.K == Stmt::Leaf || S.K == Stmt::Decl || S.isLoop()) && Whole->Range.contains(S.Range);
      });
    };
    const unsigned End = M.stmt(G.Barrier).Range.Begin;
    return llvm::all_of(M.Stmts, [&](const Stmt &S) {
      return S.K != Stmt::Return || S.Range.Begin > End || isAlone(S);
    });
  }

  /// Conditions on values that have no formula, and that all threads have passed
  /// which arrive at the barrier (`if (skip[blockIdx.x]) return;`): they hold
  /// wherever an element is asked for, and their text may be another value there.
  void dropWhatHolds() {
    if (!returnsAtOnce())
      return;
    isl::set Holds = A.fix(M.stmt(G.Barrier).Domain);
    bool OnOpaque = false;
    for (const std::string &Id : involvedIds(Holds)) {
      const int I = M.symbolIndex(Id);
      const bool Same = I >= 0 && M.Symbols[I].K == Symbol::Opaque &&
                        !(M.Symbols[I].Depends & (DepThread | DepShared));
      OnOpaque |= Same;
      if (!Same)
        Holds = Holds.project_out_param(Id);
    }
    if (OnOpaque)
      for (RawPiece &P : Pieces)
        P.D = P.D.gist_params(Holds.params()).coalesce();
  }

  void checkPiece(const RawPiece &P) const {
    std::vector<std::string> Ids = involvedIds(P.D);
    for (const ValueRef &Gd : P.Guards)
      for (auto &Id : valueSymbols(Gd))
        Ids.push_back(Id);
    const std::vector<std::string> OfValue = valueSymbols(P.V);
    Ids.insert(Ids.end(), OfValue.begin(), OfValue.end());
    for (const std::string &Id : Ids)
      if (auto It = MustCancel.find(Id); It != MustCancel.end())
        failAt(M.Symbols[static_cast<size_t>(M.symbolIndex(Id))], It->second);
    for (const std::string &Id : OfValue) {
      const int I = M.symbolIndex(Id);
      if (I >= 0 && (M.Symbols[I].Depends & DepThread))
        fail(M.Symbols[I].K == Symbol::ThreadIdx ? DeclineCode::AmbiguousStaging
                                                 : DeclineCode::StagedValue,
             "the value of " + name() + " depends on '" + M.Symbols[I].Text +
                 "' of the thread that stages it",
             Arr.Pos);
    }
  }

  //===--- 7. Cover the reads ---===//

  /// reads <= writes, for all reads of the group.
  void cover() {
    F.CoverageProved = llvm::all_of(
        G.Reads, [&](unsigned Rd) { return covers(M.SharedAccesses[Rd]); });
    if (G.MayHoldOlder && !F.CoverageProved)
      fail(
          DeclineCode::NotStaged,
          name() + " has been filled before, and it could not be proved that "
                   "every element that is read is staged anew",
          M.SharedAccesses[G.Reads.empty() ? G.Writes.front() : G.Reads.front()]
              .Pos);
  }

  bool covers(const SharedAccess &Read) {
    if (!Read.Affine)
      return false;
    isl::set D = A.fix(Read.Domain).intersect(A.Context);
    for (size_t K = 0; K < Rank; ++K)
      D = D.intersect(
          A.fix(Read.Index[K]).eq_set(symbolValue(Ctx, F.ElemIds[K])));
    std::vector<std::string> Project;
    for (const std::string &Id : involvedIds(D)) {
      const int I = M.symbolIndex(Id);
      if (I < 0)
        continue;
      bool Below = false; // iterator of a loop inside the group's block
      if (M.Symbols[I].K == Symbol::Iterator)
        for (int P = static_cast<int>(Read.Stmt);
             P >= 0 && P != static_cast<int>(G.Block); P = M.stmt(P).Parent)
          Below |= M.stmt(P).IterSymbol == I;
      if (M.Symbols[I].K == Symbol::ThreadIdx || Below)
        Project.push_back(Id);
    }
    for (const std::string &Id : Project)
      D = D.project_out_param(Id);
    isl::set Written = Undefined;
    for (const StagePiece &P : F.Pieces)
      if (P.Guards.empty())
        Written = Written.unite(P.Domain);
    return D.is_subset(Written);
  }
};

} // namespace

StagingResult rcache::stagingFunction(const KernelModel &M,
                                      const StagingGroup &G,
                                      const Assumptions &A) {
  StagingResult R;
  try {
    R.F = Inversion(M, G, A).run();
  } catch (const NoFunction &No) {
    R.Reason = No.Why;
  }
  return R;
}
