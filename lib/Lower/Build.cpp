// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tree of a kernel whose statements have been divided. See Build.h.

#include "Build.h"
#include "AllSlotsIn.h"
#include "Cut.h"
#include "ValueText.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <map>

using namespace rcache;

bool rcache::opens(const Stmt &St, const KernelModel &M) {
  if (St.K != Stmt::Block || St.Parent < 0 ||
      M.stmt(static_cast<unsigned>(St.Parent)).K != Stmt::Block)
    return false;
  for (const Var &V : M.Vars)
    for (const Var &O : M.Vars)
      if (&V != &O && !V.IsParam && St.Range.contains(V.NameRange) &&
          V.Name == O.Name)
        return false;
  return true;
}

namespace {

void append(Sequence &To, Sequence From) {
  std::move(From.begin(), From.end(), std::back_inserter(To));
}

class TreeBuilder {
public:
  TreeBuilder(const BuildInputs &In)
      : M(In.M), P(In.P), N(In.N), F(In.F), D(In.D), Text(In.Text),
        Exchanges(In.Exchanges) {}

  Sequence run() {
    Sequence S;
    if (Code Own = F.ownedFromOutside(); !Own.empty())
      S.push_back(Statements{std::move(Own)});
    if (D.ActiveFlags)
      S.push_back(ActiveFlags{});
    append(S, block(0));
    return S;
  }

  std::string Error; ///< a fault of ours
  std::set<std::string> Helpers;

private:
  const KernelModel &M;
  const Plan &P;
  const Names &N;
  Fill &F;
  const Division &D;
  const StatementText &Text;
  const std::map<unsigned, Code> &Exchanges;
  const StreamedRows *Rows = nullptr; ///< inside the loop over streamed rows
  /// Barriers that stand behind the loop that loads what they order.
  std::map<unsigned, Sequence> BarriersBehind;

  static constexpr StatementText::Place Thread = {};
  static constexpr StatementText::Place Slots = {true, false};

  /// Comments in the text between two statements.
  void gap(unsigned Begin, unsigned End, Sequence &Out) const {
    std::string T = M.Text.substr(Begin, End > Begin ? End - Begin : 0);
    if (T.find("//") == std::string::npos && T.find("/*") == std::string::npos)
      return;
    T.erase(0, T.find_first_not_of(" \n"));
    Out.push_back(Statements{T + (T.empty() || T.back() == '\n' ? "" : "\n")});
  }

  //===--- Control flow of the thread ---===//

  Sequence block(unsigned Block) {
    const Stmt &B = M.stmt(Block);
    const bool IsBlock = B.K == Stmt::Block;
    Sequence Out;
    unsigned Pos = B.Range.Begin;
    if (IsBlock && Pos < M.Text.size() && M.Text[Pos] == '{')
      ++Pos;
    std::set<int> Done;
    for (unsigned C :
         IsBlock ? B.Children : std::vector<unsigned>{Block}) {
      const Stmt &St = M.stmt(C);
      if (D.structural(C)) {
        gap(Pos, St.Range.Begin, Out);
        Pos = St.Range.End;
        append(Out, St.K == Stmt::Barrier ? barrier(St) : structural(St));
        continue;
      }
      const int R = D.regionOf(C, M);
      if (R < 0) {
        Error = "a statement outside every region";
        return Out;
      }
      if (!Done.insert(R).second)
        continue;
      const Region &Rg = D.Regions[static_cast<size_t>(R)];
      gap(Pos, M.stmt(Rg.All.front()).Range.Begin, Out);
      append(Out, region(Rg, static_cast<size_t>(R)));
      Pos = M.stmt(Rg.All.back()).Range.End;
    }
    if (!IsBlock || B.Children.empty())
      return Out;
    unsigned End = B.Range.End;
    if (End > 0 && M.Text[End - 1] == '}')
      --End;
    gap(Pos, End, Out);
    return Out;
  }

  /// Loads first, then the barrier: the order of the original.
  Sequence barrier(const Stmt &St) {
    Sequence Out;
    if (auto It = Exchanges.find(St.Id); It != Exchanges.end())
      Out.push_back(Exchange{St.Id, It->second});
    const bool Ahead = P.Ahead && P.Ahead->Staged == St.Id;
    if (Ahead)
      Out.push_back(Statements{F.tilesArrive()});
    const SyncScope Scope = P.scopeOf(St.Id);
    if (Scope == SyncScope::None)
      return Out;
    Sync Left = {St.Id, Scope, ""};
    if (Scope == SyncScope::Block)
      Left.Text =
          Text.copy(St.Range, Thread) +
          (M.text(St.Range).find(';') == std::string::npos ? ";\n" : "\n");
    for (const ArrayPlan &A : P.Arrays)
      if (const auto *S = A.as<StreamedRows>(); S && A.Barrier == St.Id) {
        BarriersBehind[S->Loop].push_back(std::move(Left));
        return Out;
      }
    Out.push_back(std::move(Left));
    if (Ahead)
      Out.push_back(Statements{F.nextTiles()});
    return Out;
  }

  /// The body of a loop of the thread, behind copies of what its rounds begin with.
  Sequence loopBody(const Stmt &Loop) {
    Sequence Out;
    for (unsigned V : N.keptIn(Loop))
      Out.push_back(Statements{constantOf(M.Vars[V].Type) + N.keptName(V) +
                               " = " + Code::named(V) + M.Vars[V].Name +
                               ";\n"});
    append(Out, block(Loop.Children[0]));
    return Out;
  }

  Sequence structural(const Stmt &St) {
    Sequence Out;
    switch (St.K) {
    case Stmt::Block:
      if (opens(St, M))
        return block(St.Id);
      Out.push_back(Braces{block(St.Id)});
      return Out;
    case Stmt::For:
      return forLoop(St);
    case Stmt::While:
      if (P.isUnrolled(St.Id)) // compilers unroll what says `for`
        Out.push_back(Loop{Loop::For, St.Id,
                           "for (; " + Text.copy(St.CondRange, Thread) + ";)",
                           true, loopBody(St)});
      else
        Out.push_back(Loop{Loop::While, St.Id,
                           Text.copy(St.CondRange, Thread), false,
                           loopBody(St)});
      return Out;
    case Stmt::Do:
      Out.push_back(Loop{Loop::Do, St.Id, Text.copy(St.CondRange, Thread),
                         P.isUnrolled(St.Id), loopBody(St)});
      return Out;
    case Stmt::If:
      return conditional(St);
    default:
      Error = "a barrier inside a statement of this kind";
      return Out;
    }
  }

  Sequence conditional(const Stmt &St) {
    Sequence Out;
    if (D.GuardIfs.count(St.Id)) { // its condition stands in each slot loop
      Sequence Body = block(St.Children[0]);
      for (const Var &V : M.Vars)
        if (!V.IsParam && St.Range.contains(V.NameRange)) {
          Out.push_back(Braces{std::move(Body)}); // declarations keep their scope
          return Out;
        }
      return Body;
    }
    If X;
    X.Cond = Text.copy(St.CondRange, Thread);
    X.Then = block(St.Children[0]);
    X.HasElse = St.Children.size() > 1;
    if (X.HasElse)
      X.Else = block(St.Children[1]);
    Out.push_back(std::move(X));
    return Out;
  }

  Sequence forLoop(const Stmt &St) {
    if (P.Cut && P.Cut->Loop == St.Id)
      return cutLoop(St);
    for (const ArrayPlan &A : P.Arrays)
      if (const auto *S = A.as<StreamedRows>(); S && S->Loop == St.Id)
        Rows = S;
    if (Rows && Rows->Loop == St.Id)
      return streamed(St);
    Sequence Out;
    if (P.Ahead && P.Ahead->Loop == St.Id) {
      for (unsigned A = 0; A < M.Arrays.size(); ++A)
        if (declaredAhead(A))
          Out.push_back(Statements{F.restagedCopies(A)});
      auto First = F.firstTiles();
      if (First)
        Out.push_back(Statements{std::move(*First)});
      else
        Error = llvm::toString(First.takeError());
    }
    bool Unrolled = P.isUnrolled(St.Id);
    for (const auto &[I, Read] : D.ReadFirst)
      if (Read.Loop == static_cast<int>(St.Id)) {
        Out.push_back(declareRead(I));
        Unrolled = true; // its places are numbers then
      }
    Loop L{Loop::For, St.Id,
           Text.copy(Unrolled ? St.HeaderRange
                              : TextRange{St.Range.Begin, St.HeaderRange.End},
                     Thread),
           Unrolled, loopBody(St)};
    if (!D.IfAnySlot.count(St.Id)) {
      Out.push_back(std::move(L));
      return Out;
    }
    const Region *In = nullptr;
    for (const Region &R : D.Regions)
      if (!In && St.Range.contains(M.stmt(R.All.front()).Range))
        In = &R;
    IfAnySlot Any;
    Any.Test.Rows = Rows;
    Any.Test.Body.push_back(
        Statements{N("any") + " |= " + allIn(slotTests(*In, true)) + ";\n"});
    Any.Body.push_back(std::move(L));
    Out.push_back(std::move(Any));
    return Out;
  }

  /// The rounds of this block: what the ones before would have left, then each.
  Sequence cutLoop(const Stmt &St) {
    Region Front; // what stands where the loop does
    Front.All = {St.Id};
    SlotLoop Slots = slots();
    for (const SlotTest &T : slotTests(Front, true))
      Slots.Body.push_back(Leave{T.Out});
    auto T = cutText(M, P, N, D, Text, St);
    if (!T) {
      Error = llvm::toString(T.takeError());
      return {};
    }
    Sequence Out, Fill;
    Out.push_back(Statements{T->Share});
    const bool ForSlots = !T->OfSlot.empty();
    if (ForSlots || !T->OfThread.empty())
      Fill.push_back(Statements{T->FirstRound + T->OfThread});
    if (ForSlots) {
      Slots.Body.push_back(Statements{T->OfSlot});
      Fill.push_back(std::move(Slots));
    }
    if (!Fill.empty())
      Out.push_back(Braces{std::move(Fill)});
    Out.push_back(Loop{Loop::For, St.Id, T->Head, false, block(St.Children[0])});
    return Out;
  }

  Sequence streamed(const Stmt &St) {
    RowLoop L;
    L.Rows = Rows;
    const Var &V = M.Vars[static_cast<size_t>(St.IterVar)];
    L.RoundIsSet = "const " + V.Type + " " +
                   Text.declaredName(static_cast<unsigned>(St.IterVar)) +
                   " = " + N("round") + ";\n" + Text.counted(St);
    for (const Fill::StreamForm &X : F.streamForms(St.Id))
      L.Forms.push_back(
          {X.Condition, X.Form == Fill::RowForm::Border ? "at a border" : "",
           F.streamedRow(St.Id, N("row"), X.Form)});
    L.Body = block(St.Children[0]);
    Rows = nullptr;
    Sequence Out;
    Out.push_back(std::move(L));
    append(Out, std::move(BarriersBehind[St.Id]));
    return Out;
  }

  //===--- Conditions on slots ---===//

  /// A condition on a slot, in both directions.
  struct SlotTest {
    Code Out, In;
  };
  /// What keeps a slot of \p R from running: guards before it, conditions
  /// around it.
  std::vector<SlotTest> slotTests(const Region &R, bool Flags) const {
    std::vector<SlotTest> T;
    for (unsigned Axis = 0; Axis < 3; ++Axis)
      if (N.joins(Axis)) { // of a block that the grid has
        const std::string A(1, "xyz"[Axis]);
        const std::string B = N("block_" + A), G = N("grid_" + A);
        T.push_back({B + " >= " + G, B + " < " + G});
      }
    if (Flags && D.ActiveFlags) {
      const Code Active = N("active") + Code::slot();
      T.push_back({"!" + Active, Active});
    }
    for (unsigned G : D.RepeatedGuards)
      // Where it stands, and again in every region behind it.
      if (M.stmt(G).Range.Begin < M.stmt(R.All.back()).Range.End) {
        const Code C = Text.copy(M.stmt(G).CondRange, Slots);
        T.push_back({C, "!(" + C + ")"});
      }
    for (unsigned G : R.Guards) {
      const Code C = Text.copy(M.stmt(G).CondRange, Slots);
      T.push_back({"!(" + C + ")", C});
    }
    if (T.size() > 1)
      for (size_t I = T.size() - R.Guards.size(); I < T.size(); ++I)
        T[I].In = "(" + T[I].In + ")";
    return T;
  }
  static Code allIn(const std::vector<SlotTest> &Tests) {
    Code All;
    for (const SlotTest &T : Tests)
      All += (All.empty() ? "" : " && ") + T.In;
    return All.empty() ? "true" : All;
  }

  //===--- Regions ---===//

  /// Does slot code remain when repeated declarations and guards are taken out?
  bool needsLoop(const Region &R) const {
    return llvm::any_of(R.Slot, [&](unsigned C) {
      bool Declares = false, Stays = false;
      if (M.stmt(C).K == Stmt::Decl || M.stmt(C).K == Stmt::Leaf)
        for (unsigned V = 0; V < M.Vars.size(); ++V)
          if (!M.Vars[V].IsParam && M.Vars[V].DeclStmt == C) {
            Declares = true;
            Stays |= D.VarHome[V] != Home::Repeated && !D.DeadVars.count(V) &&
                     !D.Hoisted.count(V) && (M.Vars[V].HasInit || D.VarHome[V] != Home::Expanded);
          }
      if (Declares && !Stays)
        return false;
      return !llvm::is_contained(D.RepeatedGuards, C);
    });
  }

  /// Are the copies of an array that a round declares filled a round ahead?
  bool declaredAhead(unsigned Array) const {
    return P.Ahead && !M.Arrays[Array].AtFileScope &&
           M.stmt(P.Ahead->Loop).Range.contains(M.Arrays[Array].DeclRange);
  }

  bool declaresKept(const Stmt &St) const {
    return llvm::any_of(P.Arrays, [&](const ArrayPlan &Pl) {
      const SharedArray &A = M.Arrays[Pl.Array];
      return Pl.isShared() && !A.AtFileScope && A.DeclRange == St.Range;
    });
  }

  /// Arrays that stay and what is the same for all slots, in the order of the
  /// text: an extent may be a constant of the kernel, a pointer the array. Then
  /// variables with one element a slot.
  void beforeSlots(const Region &R, Sequence &Out) const {
    for (unsigned C : R.All) {
      const bool Here =
          llvm::is_contained(R.Uniform, C) || declaresKept(M.stmt(C));
      if (Here)
        Out.push_back(Statements{Text.copy(M.stmt(C).Range, Thread) + "\n"});
      for (unsigned A = 0; A < M.Arrays.size(); ++A)
        if (!M.Arrays[A].AtFileScope &&
            M.Arrays[A].DeclRange == M.stmt(C).Range && !declaredAhead(A))
          for (Code Here : {F.ownedRegisters(A), F.restagedCopies(A)})
            if (!Here.empty())
              Out.push_back(Statements{std::move(Here)});
      // Of a declaration of several variables, those that all slots share.
      for (unsigned V : D.Hoisted)
        if (!Here && M.Vars[V].DeclStmt == C)
          Out.push_back(Statements{Text.declaration(V, Thread) + "\n"});
    }
    for (unsigned V = 0; V < M.Vars.size(); ++V)
      if (D.VarHome[V] == Home::Expanded && !M.Vars[V].IsParam &&
          llvm::is_contained(R.All, M.Vars[V].DeclStmt))
        Out.push_back(PerSlotVar{V, D.Zeroed.count(V) != 0});
  }

  /// What the slots of \p R use of arrays that the warp owns: \p Which is the way
  /// there or back.
  void fetch(const Region &R,
             llvm::Expected<Code> (Fill::*Which)(llvm::ArrayRef<TextRange>),
             Sequence &Out) {
    std::vector<TextRange> Ranges;
    for (unsigned C : R.Slot)
      Ranges.push_back(M.stmt(C).Range);
    auto T = (F.*Which)(Ranges);
    if (!T)
      Error = llvm::toString(T.takeError());
    else if (!T->empty())
      Out.push_back(Statements{std::move(*T)});
  }

  /// `float rc_a_read[4][8];`
  Statements declareRead(unsigned I) const {
    const Division::TileRead &Read = D.ReadFirst.at(I);
    return {M.Arrays[M.SharedAccesses[I].Array].ElemType + " " + F.readFirst(I) +
            (Read.Loop >= 0 ? "[" + std::to_string(Read.Rounds) + "]" : "") + slotExtents(P) +
            ";\n"};
  }

  /// What the slots of \p R read of tiles, side by side: in this round, or for the next few.
  void readFirst(const Region &R, Sequence &Out) {
    std::map<std::pair<int, unsigned>, SlotLoop> Loops; // by loop and rounds
    for (const auto &[I, Read] : D.ReadFirst) {
      const TextRange At = M.SharedAccesses[I].Range;
      if (llvm::none_of(R.Slot, [&](unsigned C) { return M.stmt(C).Range.contains(At); }))
        continue;
      Code For, To = F.readFirst(I);
      llvm::Expected<Code> From = "";
      if (Read.Loop < 0) {
        Out.push_back(declareRead(I));
        From = F.readText(I);
      } else {
        const std::string By = N("later");
        For = "#pragma unroll\nfor (int " + By + " = 0; " + By + " < " +
              std::to_string(Read.Rounds) + "; ++" + By + ")\n";
        To += "[" + By + "]";
        From = F.readLater(I, M.stmt(static_cast<unsigned>(Read.Loop)), By);
      }
      if (From)
        Loops[{Read.Loop, Read.Rounds}].Body.push_back(
            Statements{For + To + Code::slot() + " = " + *From + ";\n"});
      else
        Error = llvm::toString(From.takeError());
    }
    for (auto &[Of, Slots] : Loops) {
      if (Of.first < 0) {
        Out.push_back(std::move(Slots));
        continue;
      }
      If X;
      X.Cond = F.roundOf(M.stmt(static_cast<unsigned>(Of.first))) + " % " +
               std::to_string(Of.second) + " == 0";
      X.Then.push_back(std::move(Slots));
      Out.push_back(std::move(X));
    }
  }

  Sequence region(const Region &R, size_t Index) {
    Sequence Out;
    beforeSlots(R, Out);
    if (!needsLoop(R)) { // comments stay
      for (size_t I = 1; I < R.All.size(); ++I)
        gap(M.stmt(R.All[I - 1]).Range.End, M.stmt(R.All[I]).Range.Begin, Out);
      return Out;
    }
    const std::vector<SlotTest> Tests = slotTests(R, Index > 0 || R.StoresLate);
    for (unsigned K = 0; K < P.VectorReads.size(); ++K)
      if (llvm::any_of(R.Slot, [&](unsigned C) {
            return M.stmt(C).Range.contains(
                M.GlobalAccesses[P.VectorReads[K].Access].Range);
          }))
        Out.push_back(vectorRead(K));
    fetch(R, &Fill::fetched, Out);
    readFirst(R, Out);
    SlotLoop Main = slots();
    if (auto Pair = F.pairRuns(M.stmt(R.Slot.front()).Range))
      Main.Pair = std::move(*Pair);
    else
      Error = llvm::toString(Pair.takeError());
    if (!R.Speculative)
      for (const SlotTest &T : Tests)
        Main.Body.push_back(Leave{T.Out});
    std::set<unsigned> Skip(R.Uniform.begin(), R.Uniform.end());
    for (unsigned C : R.All)
      for (const SharedArray &A : M.Arrays)
        if (!A.AtFileScope && A.DeclRange == M.stmt(C).Range)
          Skip.insert(C);
    Skip.insert(D.RepeatedGuards.begin(), D.RepeatedGuards.end());
    if (Main.Pair && !Main.Pair->Known.empty())
      Main.Body.push_back(Statements{Main.Pair->Known});
    Main.Body.push_back(
        Statements{Text.copyRegion(R, {true, R.StoresLate}, Skip) + "\n"});
    Sequence Behind;
    SlotLoop Flags = slots();
    for (unsigned K = 0; K < P.VectorStores.size(); ++K) {
      const GlobalAccess &G = M.GlobalAccesses[P.VectorStores[K].Access];
      if (llvm::none_of(R.All, [&](unsigned C) {
            return M.stmt(C).Range.contains(G.Range);
          }))
        continue;
      const bool Vectors = P.VectorStores[K].Bytes > G.ElemBytes;
      Out.push_back(Collected{K, Vectors || !R.StoresLate});
      if (!Vectors) {
        Behind.push_back(singleStore(R, Tests, K));
        continue;
      }
      Flags.Body.push_back(
          Statements{Code::generated(collectedName(M, P, K)) + "_on" +
                     Code::slot() + " = " + allIn(Tests) + ";\n"});
      Behind.push_back(storeRun(K));
    }
    if (auto In = Main.Pair ? std::nullopt : allSlotsIn(Text, N, D, R)) {
      SlotLoop Fast = slots();
      for (const SlotTest &T : Tests)
        Fast.Body.push_back(Leave{T.Out});
      Fast.Body.push_back(Statements{Text.copyRegion(R, Slots, Skip, In->Without) + "\n"});
      If X{In->Test, {}, {}, true, true};
      X.Then.push_back(std::move(Fast));
      X.Else.push_back(std::move(Main));
      Out.push_back(std::move(X));
    } else
      Out.push_back(std::move(Main));
    fetch(R, &Fill::returned, Out);
    if (R.StoresLate && !Flags.Body.empty())
      Out.push_back(std::move(Flags));
    append(Out, std::move(Behind));
    return Out;
  }

  SlotLoop slots() const { SlotLoop L; L.Rows = Rows; return L; }

  /// The collected values stored one by one, behind what all slots compute.
  SlotLoop singleStore(const Region &R, const std::vector<SlotTest> &Tests,
                       unsigned K) const {
    const GlobalAccess &G = M.GlobalAccesses[P.VectorStores[K].Access];
    const std::string B = Code::generated(collectedName(M, P, K));
    const Code If = R.StoresLate ? allIn(Tests) : B + "_on" + Code::slot();
    const Code Store =
        Text.copy(G.Range, Slots) + " = " + B + Code::slot() + ";\n";
    SlotLoop L = slots();
    L.Body.push_back(Statements{If.is("true") ? Store : "if (" + If + ")\n" + Store});
    return L;
  }

  /// All slots' elements at once, if all of them read.
  Statements vectorRead(unsigned K) {
    const Plan::VectorRead &Read = P.VectorReads[K];
    const GlobalAccess &G = M.GlobalAccesses[Read.Access];
    ValueTextOptions O;
    O.Symbols = N.symbols();
    O.Context = P.Context;
    auto At = valueText(G.Index, N, O, true);
    auto If = conditionText(Read.AllRead, N, O);
    if (!At || !If) {
      Error = llvm::toString(llvm::joinErrors(At.takeError(), If.takeError()));
      return {};
    }
    Helpers.insert({"load_words", "on_word"});
    const std::string Run = Code::generated(readName(M, P, K)),
                      Bytes = std::to_string(Read.Bytes);
    const Code From = M.Params[static_cast<size_t>(G.Root)].Name + " + (" + *At + ")";
    return {G.ElemType + " " + Run + "[" + std::to_string(P.slots()) +
            "] = {};\nconst bool " + Run + "_all = " +
            (*If == "true" ? Code() : "(" + *If + ") && ") +
            "::rcache::device::on_word<" + Bytes + ">(" + From + ");\nif (" + Run +
            "_all)\n::rcache::device::load_words<" + Bytes + ", 0>(" + Run + ", " +
            From + ");\n"};
  }

  StoreRun storeRun(unsigned K) {
    const GlobalAccess &G = M.GlobalAccesses[P.VectorStores[K].Access];
    const KernelParam &Pm = M.Params[static_cast<size_t>(G.Root)];
    ValueTextOptions O;
    O.Symbols = N.symbols(Names::Of::SlotRow);
    Helpers.insert("store_run");
    auto At = valueText(G.Index, N, O, true);
    if (!At) {
      Error = llvm::toString(At.takeError());
      return {};
    }
    return {K,
            G.ElemType == Pm.PointeeType && !Pm.PointeeConst
                ? Pm.Name
                : "(" + G.ElemType + " *)" + Pm.Name,
            *At};
  }
};

} // namespace

llvm::Error rcache::buildTree(const BuildInputs &In, LoweredKernel &K) {
  TreeBuilder B(In);
  K.Body = B.run();
  K.Helpers.insert(B.Helpers.begin(), B.Helpers.end());
  return B.Error.empty() ? llvm::Error::success() : llvm::createStringError(B.Error);
}
