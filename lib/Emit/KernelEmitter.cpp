// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rewritten kernel: a copy of the original's text with its statements in
// slot loops, its staging replaced by windows, its builtins by the logical
// coordinates. What is not touched is copied as it stands, comments included.
//
//   before                          after
//     s[l] = a[g];                    float rc_s_w[10]; ...
//     __syncthreads();                #pragma unroll
//     b[g] = s[l] + s[l + 1];         for (int rc_s = 0; rc_s < 8; ++rc_s) {
//                                       ... rc_s_w[rc_s] + rc_s_w[rc_s + 1]; }

#include "Affine/IslTools.h"
#include "EffectsLedger.h"
#include "Emitter.h"
#include "Fill.h"
#include "Names.h"
#include "Shape.h"
#include "ValueText.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>
#include <map>

using namespace rcache;

namespace {

struct TextEdit {
  TextRange Range;
  std::string Text;
};

class KernelEmitter {
public:
  KernelEmitter(const KernelModel &M, const Plan &P, const std::string &Name)
      : M(M), P(P), Name(Name), N(M, P), F(M, P, N), L(M, P) {}

  llvm::Expected<EmittedKernel> run() {
    if (isCopy()) {
      EmittedKernel E = finished(copiedBody());
      return E;
    }
    if (!windowsInScope())
      return llvm::make_error<CannotWrite>(
          "unsupported-statement",
          "an array is staged in a block and read behind it");
    ShapeResult R = shapeOf(M, P, mentioned());
    if (R.Error)
      return llvm::make_error<CannotWrite>("unsupported-statement", *R.Error);
    S = std::move(R.S);
    if (!M.UnsettledSum.empty() && !settlesSums())
      return llvm::make_error<CannotWrite>("fusion-unsettled", M.UnsettledSum);
    if (const SharedAccess *A = hiddenTwice())
      return llvm::make_error<CannotWrite>(
          "fusion-unsettled", "with '" + M.text(A->Range) +
                                  "', which stands in the text twice and is in no "
                                  "window");
    std::string Body = blockBody(0);
    if (!Error.empty())
      return llvm::createStringError(Error);
    if (!NotAnew.empty())
      return llvm::make_error<CannotWrite>("unsupported-statement", NotAnew);
    // Nothing of this is taken on trust: the text tells what became of it.
    if (auto Found = L.check(Body))
      return llvm::make_error<CannotWrite>(Found->Code, Found->Detail);
    Body = EffectsLedger::withoutMarks(Body);
    // The printer's words for types without a name.
    for (const char *Words : {"(unnamed ", "(anonymous ", "(lambda at"})
      if (llvm::StringRef(Body).contains(Words) &&
          !llvm::StringRef(M.Text).contains(Words))
        return llvm::make_error<CannotWrite>(
            "unsupported-statement", "a type without a name would be named");
    // What left shared memory must not be named any more.
    for (const SharedArray &A : M.Arrays)
      if (!keptShared(A) && mentions(withoutComments(Body), A.Name))
        return llvm::make_error<CannotWrite>("escaping-array",
                                             "'" + A.Name +
                                                 "' is used other than by its "
                                                 "elements");
    return finished(EffectsLedger::withoutMarks(prologue(Body)) + Body);
  }

private:
  EmittedKernel finished(const std::string &Body) {
    EmittedKernel E;
    E.KernelName = Name;
    E.Kernel = head() + "{\n" + planComment() + Body + "}\n";
    E.Helpers = F.helpers();
    E.Helpers.insert(Helpers.begin(), Helpers.end());
    if (!P.Separate.empty())
      E.Helpers.insert("separate");
    if (P.LeastThreads)
      E.Helpers.insert("fills");
    if (!P.Aligned.empty() && !P.AlignedHasOther)
      E.Helpers.insert("aligned");
    if (comparesWaves())
      E.Helpers.insert("waves");
    E.Helpers.insert("launches");
    if (M.Overloaded)
      E.Helpers.insert("value");
    if (sharedBytes() != "0")
      E.Helpers.insert("holds");
    E.Condition = condition();
    E.Launch = launch(/*Void=*/false);
    E.LaunchArgs = launch(/*Void=*/true);
    return E;
  }

  /// The original's text with other barriers will do: the physical threads are
  /// the logical ones, and none has left when lanes wait for each other.
  bool isCopy() const {
    if (!P.onlyBarriers() || P.Map.Merge)
      return false;
    for (const Stmt &R : M.Stmts)
      for (const Stmt &B : M.Stmts)
        if (R.K == Stmt::Return && B.K == Stmt::Barrier &&
            R.Range.Begin < B.Range.Begin)
          return false; // (no return stands in a loop with barriers)
    return true;
  }

  std::string copiedBody() const {
    const TextRange Body = {M.stmt(0).Range.Begin + 1, M.stmt(0).Range.End - 1};
    std::vector<TextEdit> E;
    for (const Stmt &B : M.Stmts) {
      if (B.K != Stmt::Barrier || P.scopeOf(B.Id) == SyncScope::Block)
        continue;
      if (P.scopeOf(B.Id) == SyncScope::Warp)
        E.push_back({B.Range, warpBarrier(B)});
      else if (parentIsBlock(B))
        E.push_back({deletion(B.Range), ""});
      else
        E.push_back({B.Range, ";"});
    }
    std::string T =
        EffectsLedger::withoutMarks(apply(Body, std::move(E)));
    T.erase(0, T.find_first_not_of("\n"));
    return T + "\n";
  }

  /// In place of the text of \p B, which may end with its semicolon.
  std::string warpBarrier(const Stmt &B) const {
    return M.text(B.Range).find(';') == std::string::npos ? "__syncwarp()"
                                                          : "__syncwarp();";
  }

  SumLog Log; ///< what the text computes; first, so that nothing is missed
  const KernelModel &M;
  const Plan &P;
  std::string Name;
  Names N;
  Fill F;
  EffectsLedger L; ///< what becomes of the original's effects and names
  Shape S;
  std::string NotAnew; ///< a declaration that cannot be written anew
  std::set<std::string> Helpers;
  std::string Error;
  bool InSlots = false;
  bool StoresLate = false;
  std::set<unsigned> Wrapping;       ///< hidden text that is being written
  const StreamedRows *Stream = nullptr; ///< inside the loop over streamed rows
  /// Barriers that stand behind the loop that loads what they order.
  std::map<unsigned, std::string> BarrierBehind;

  void fail(const std::string &T) {
    if (Error.empty())
      Error = T;
  }
  std::string take(llvm::Expected<std::string> T) {
    if (T)
      return *T;
    fail(llvm::toString(T.takeError()));
    return "";
  }

  /// A block that is a statement of another block and gives no name a second
  /// meaning: its braces go, so that windows filled in it live on behind it.
  bool opens(const Stmt &St) const {
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

  /// Each window is declared where its barrier stands: do its reads see it?
  bool windowsInScope() const {
    for (const ArrayPlan &A : P.Arrays) {
      if (A.isShared() || A.Reads.empty())
        continue;
      int Scope = M.stmt(A.Barrier).Parent;
      while (Scope >= 0 && opens(M.stmt(static_cast<unsigned>(Scope))))
        Scope = M.stmt(static_cast<unsigned>(Scope)).Parent;
      for (unsigned Rd : A.Reads)
        if (Scope >= 0 && !M.stmt(static_cast<unsigned>(Scope))
                               .Range.contains(M.SharedAccesses[Rd].Range))
          return false;
    }
    return true;
  }

  /// Identifiers in the text made for reads, windows and vector stores. What
  /// cannot be written fails later, where it is needed.
  std::set<std::string> mentioned() {
    std::string T;
    auto Add = [&](llvm::Expected<std::string> X) {
      if (X)
        T += *X + "\n";
      else
        llvm::consumeError(X.takeError());
    };
    for (unsigned I = 0; I < M.SharedAccesses.size(); ++I)
      if (M.SharedAccesses[I].K == SharedAccess::Read &&
          isRegister(M.SharedAccesses[I]))
        Add(F.readText(I));
    for (const Stmt &St : M.Stmts)
      if (St.K == Stmt::Barrier)
        Add(F.atBarrier(St.Id));
    ValueTextOptions O;
    O.Symbols = N.symbols(Names::Of::SlotRow);
    for (const Plan::VectorStore &V : P.VectorStores)
      if (isVector(V))
        Add(valueText(M.GlobalAccesses[V.Access].Index, N, O, true));
    T = withoutComments(EffectsLedger::withoutMarks(T));
    std::set<std::string> Words;
    auto IsId = [](char C) {
      return isalnum(static_cast<unsigned char>(C)) || C == '_';
    };
    for (size_t I = 0; I < T.size(); ++I) {
      size_t E = I;
      while (E < T.size() && IsId(T[E]))
        ++E;
      if (E > I)
        Words.insert(T.substr(I, E - I));
      I = E;
    }
    return Words;
  }

  //===--- Slots ---===//

  std::string slotIndex() const {
    std::string T;
    static const char *Slot[3] = {"s", "sy", "sz"};
    for (int A = 2; A >= 0; --A)
      if (P.hasSlots(unsigned(A)))
        T += "[" + N(Slot[A]) + "]";
    return T;
  }
  /// The slots counted through, as an expression.
  std::string slotNumber() const {
    static const char *Slot[3] = {"s", "sy", "sz"};
    std::string T;
    for (unsigned A = 3; A-- > 0;) {
      if (!P.hasSlots(A))
        continue;
      if (!T.empty())
        T = (T.find(' ') == std::string::npos ? T : "(" + T + ")") + " * " +
            std::to_string(P.Map.Factor[A]) + " + ";
      T += N(Slot[A]);
    }
    return T;
  }
  std::string firstSlotIndex() const {
    std::string T;
    for (int A = 2; A >= 0; --A)
      if (P.hasSlots(unsigned(A)))
        T += "[0]";
    return T;
  }
  std::string slotExtents() const {
    std::string T;
    for (int A = 2; A >= 0; --A)
      if (P.hasSlots(unsigned(A)))
        T += "[" + std::to_string(P.Map.Factor[A]) + "]";
    return T;
  }
  std::string slotLoops(const std::string &Body) const {
    static const char *Slot[3] = {"s", "sy", "sz"};
    static const char *First[3] = {"tx", "ty", "tz"};
    static const char *Thread[3] = {"thread_x", "thread_y", "thread_z"};
    std::string T, Decls, Closing;
    for (int A = 2; A >= 0; --A) {
      if (!P.hasSlots(unsigned(A)))
        continue;
      std::string I = N(Slot[A]);
      T += "#pragma unroll\nfor (int " + I + " = 0; " + I + " < " +
           std::to_string(P.Map.Factor[A]) + "; ++" + I + ")\n";
      if (Stream && Stream->Axis == A) {
        T += "{\n" + roundOfRow(" - " + I) + "continue;\n" + iteratorDecl();
        Closing += "}\n";
      }
      if (Body.find(N(Thread[A])) != std::string::npos) {
        std::string Stride =
            P.Map.Stride[A] == 1 ? I : I + " * " + std::to_string(P.Map.Stride[A]);
        Decls += "const unsigned int " + N(Thread[A]) + " = " + N(First[A]) +
                 " + " + Stride + ";\n";
      }
    }
    return EffectsLedger::slots(T + "{\n" + Decls + Body + "}\n" + Closing);
  }

  //===--- Rows that are used up as they are loaded ---===//

  /// The round that a slot is in when row `rc_row` is there; `if` it is none.
  std::string roundOfRow(const std::string &Slot) const {
    const Stmt &L = M.stmt(Stream->Loop);
    const int64_t First = *L.ConstFirst, Last = First + *L.ConstTripCount - 1;
    const std::string J = N("round");
    std::string Shift;
    if (Stream->Offset)
      Shift = (Stream->Offset > 0 ? " - " : " + ") +
              std::to_string(std::abs(Stream->Offset));
    return "const int " + J + " = " + N("row") + Slot + Shift + ";\nif (" + J +
           " < " + std::to_string(First) + " || " + J + " > " +
           std::to_string(Last) + ")\n";
  }
  std::string iteratorDecl() const {
    // In place of the header, which no more counts.
    const Stmt &Loop = M.stmt(Stream->Loop);
    const unsigned I = static_cast<unsigned>(Loop.IterVar);
    const Var &V = M.Vars[I];
    return "const " + V.Type + " " + written(I) + " = " + N("round") + ";\n" +
           counted(Loop);
  }
  /// A declaration's name, with its value.
  std::string written(unsigned V) const {
    return (M.Vars[V].HasInit ? EffectsLedger::given(V) : "") +
           EffectsLedger::declared(V) + M.Vars[V].Name;
  }
  /// The variable of a loop counts, in other words than those of its header.
  std::string counted(const Stmt &Loop) const {
    std::string T;
    for (size_t I = 0; I < M.Effects.size(); ++I)
      if (M.Effects[I].K == Effect::SetsVariable &&
          M.Effects[I].Var == Loop.IterVar &&
          Loop.HeaderRange.contains(M.Effects[I].At))
        T += EffectsLedger::mark('E', I);
    return T;
  }

  std::string streamed(const Stmt &St) {
    int64_t Rows = 0;
    for (const ArrayPlan &A : P.Arrays)
      if (const auto *S = A.as<StreamedRows>(); S && S->Loop == St.Id) {
        Stream = S;
        Rows = S->W.Extent[0];
      }
    const std::string Row = N("row");
    auto Loop = [&](Fill::RowForm Form) {
      std::string T = "#pragma unroll\nfor (int " + Row + " = 0; " + Row +
                      " < " + std::to_string(Rows) + "; ++" + Row + ") {\n" +
                      F.streamedRow(St.Id, Row, Form);
      if (Stream->Axis < 0 || P.Map.Factor[Stream->Axis] == 1)
        T += roundOfRow("") + "continue;\n" + iteratorDecl();
      return T + body(St.Children[0]) + "}\n";
    };
    std::vector<std::string> Forms;
    for (const Fill::StreamForm &X : F.streamForms(St.Id))
      if (!X.Condition.empty())
        Forms.push_back("if (" + X.Condition + ") {\n" + Loop(X.Form) +
                        "} else ");
      else
        Forms.push_back(Forms.empty()
                            ? Loop(X.Form)
                            : "{" +
                                  std::string(X.Form == Fill::RowForm::Border
                                                  ? " // at a border"
                                                  : "") +
                                  "\n" + Loop(X.Form) + "}\n");
    Stream = nullptr;
    return EffectsLedger::alternatives(Forms) + BarrierBehind[St.Id];
  }

  bool isStreamed(const Stmt &St) const {
    for (const ArrayPlan &A : P.Arrays)
      if (const auto *S = A.as<StreamedRows>(); S && S->Loop == St.Id)
        return true;
    return false;
  }

  //===--- Text with edits ---===//

  bool isRegister(const SharedAccess &A) const {
    for (const ArrayPlan &Pl : P.Arrays)
      if (Pl.Array == A.Array && !Pl.isShared())
        return true;
    return false;
  }

  void addEdit(std::vector<TextEdit> &E, TextRange R, std::string T) {
    E.push_back({R, std::move(T)});
  }

  /// Deletes a statement, with the rest of its line if that is empty.
  TextRange deletion(TextRange R) const {
    unsigned E = R.End;
    while (E < M.Text.size() && (M.Text[E] == ' ' || M.Text[E] == '\t'))
      ++E;
    if (E < M.Text.size() && M.Text[E] == '\n')
      R.End = E;
    unsigned B = R.Begin;
    while (B > 0 && (M.Text[B - 1] == ' ' || M.Text[B - 1] == '\t'))
      --B;
    if (B > 0 && M.Text[B - 1] == '\n' && R.End == E)
      R.Begin = B - 1;
    return R;
  }

  bool parentIsBlock(const Stmt &St) const {
    return St.Parent >= 0 &&
           M.stmt(static_cast<unsigned>(St.Parent)).K == Stmt::Block;
  }

  /// The text of \p R with all edits of the current mode. \p Skip: statements
  /// left out.
  std::string render(TextRange R, const std::set<unsigned> &Skip = {},
                     bool Whole = false) {
    std::vector<TextEdit> E;
    auto Inside = [&](TextRange X) {
      return R.contains(X) && (Whole || !(X == R));
    };
    for (const Stmt &St : M.Stmts) {
      if (!Inside(St.Range) && !(R == St.Range))
        continue;
      if (Skip.count(St.Id) || (S.Dead.count(St.Id) && St.Id != 0)) {
        if (parentIsBlock(St))
          addEdit(E, deletion(St.Range), "");
        else
          addEdit(E, St.Range, ";");
        continue;
      }
      if (St.K == Stmt::Return && InSlots)
        addEdit(E, St.Range,
                S.ActiveFlags ? "{\n" + N("active") + slotIndex() +
                                    " = false;\ncontinue;\n}"
                              : "continue;");
      if (St.K == Stmt::For &&
          std::find(P.UnrolledLoops.begin(), P.UnrolledLoops.end(), St.Id) !=
              P.UnrolledLoops.end())
        loopEdits(St, E);
      if (St.K == Stmt::Decl || St.K == Stmt::Leaf)
        declEdits(St, E);
      if (St.K == Stmt::Leaf)
        storeEdit(St, E);
    }
    if (InSlots)
      for (TextRange F : M.Apart)
        if (R.contains(F) && Wrapping.insert(F.Begin).second) {
          // In front of the edits of the same range.
          E.insert(E.begin(), {F, apart(render(F, {}, true))});
          Wrapping.erase(F.Begin);
        }
    if (InSlots)
      for (unsigned I = 0; I < M.SharedAccesses.size(); ++I)
        if (const SharedAccess &A = M.SharedAccesses[I];
            R.contains(A.Range) && hiddenAlone(I) && !isRegister(A) &&
            Wrapping.insert(A.Range.Begin).second) {
          E.insert(E.begin(), {A.Range, apart(render(A.Range, {}, true))});
          Wrapping.erase(A.Range.Begin);
        }
    for (unsigned I = 0; I < M.SharedAccesses.size(); ++I) {
      const SharedAccess &A = M.SharedAccesses[I];
      if (R.contains(A.Range) && isRegister(A) && A.K == SharedAccess::Read &&
          !inDead(A.Range))
        addEdit(E, A.Range,
                InSlots && hiddenAlone(I) ? apart(inSlot(take(F.readText(I))))
                                          : inSlot(take(F.readText(I))));
    }
    for (const BuiltinUse &B : M.Builtins)
      if (R.contains(B.Range))
        addEdit(E, B.Range, N.builtin(B.K, B.Axis));
    for (const VarUse &U : M.VarUses)
      if (R.contains(U.Range) && S.VarHome[U.Var] == Home::Expanded)
        addEdit(E, U.Range,
                EffectsLedger::use(size_t(&U - M.VarUses.data())) +
                    M.Vars[U.Var].Name +
                    (InSlots ? slotIndex() : firstSlotIndex()));
    return apply(R, std::move(E));
  }

  /// Generated text that names variables: those with one element a slot mean
  /// the current slot's.
  std::string inSlot(const std::string &T) const {
    std::string Out;
    for (size_t I = 0; I < T.size();) {
      const int V = L.markedAtEnd(Out);
      if (V < 0 || S.VarHome[size_t(V)] != Home::Expanded) {
        Out += T[I++];
        continue;
      }
      const size_t Length = M.Vars[size_t(V)].Name.size();
      Out += T.substr(I, Length) + (InSlots ? slotIndex() : firstSlotIndex());
      I += Length;
    }
    return Out;
  }

  /// \p T, hidden from the compiler, for this slot alone.
  std::string apart(const std::string &T) {
    Helpers.insert("apart");
    return "::rcache::device::apart(" + T + ", " +
           (P.slots() > 1 ? slotNumber() : "0") + ")";
  }

  /// What is read outside a window is hidden where it is read, if slots could
  /// have products in common.
  bool hiddenAlone(unsigned Access) const {
    const SharedAccess &A = M.SharedAccesses[Access];
    return M.OwnViews && A.K == SharedAccess::Read && !F.hasView(Access) &&
           (isRegister(A) || (P.slots() > 1 && !sameForSlots(A))) &&
           !inDead(A.Range) && M.Arrays[A.Array].ElemBytes > 0;
  }
  /// The same element for all slots: what is made of it and of nothing that
  /// differs has the same uses in each, and what is made of something else as well
  /// is a slot's own.
  bool sameForSlots(const SharedAccess &A) const {
    return A.Affine &&
           llvm::none_of(M.VarUses,
                         [&](const VarUse &U) {
                           return A.Range.contains(U.Range) &&
                                  (M.Vars[U.Var].Depends &
                                   (DepThread | DepShared | DepGlobal));
                         }) &&
           llvm::none_of(M.Builtins, [&](const BuiltinUse &B) {
             return A.Range.contains(B.Range) && B.K == Symbol::ThreadIdx;
           });
  }

  /// Is M.UnsettledSum fused as in the original?
  bool settlesSums() const {
    const llvm::StringRef Sum = M.UnsettledSum; // ModelBuilder wrote it
    if (Sum.ends_with("with several outputs in a loop"))
      return P.slots() == 1 || !P.TapsOutside;
    if (Sum.ends_with("with several outputs a thread"))
      return P.slots() == 1;
    // The original, statement by statement, but for its barriers.
    return P.slots() == 1 && P.UnrolledLoops.empty() &&
           llvm::all_of(P.Arrays,
                        [](const ArrayPlan &A) { return A.isShared(); });
  }

  /// Read twice between two barriers, it would be hidden twice: two products
  /// where the original has one.
  const SharedAccess *hiddenTwice() const {
    std::map<std::pair<unsigned, std::string>, TextRange> Before;
    for (unsigned I = 0; I < M.SharedAccesses.size(); ++I) {
      const SharedAccess &A = M.SharedAccesses[I];
      if (!hiddenAlone(I))
        continue;
      TextRange &Last = Before[{A.Array, M.text(A.Range)}];
      if (!Last.empty() && llvm::none_of(M.Stmts, [&](const Stmt &X) {
            return X.K == Stmt::Barrier && X.Range.Begin >= Last.End &&
                   X.Range.End <= A.Range.Begin;
          }))
        return &A;
      Last = A.Range;
    }
    return nullptr;
  }

  bool inDead(TextRange R) const {
    for (unsigned D : S.Dead)
      if (M.stmt(D).Range.contains(R))
        return true;
    return false;
  }

  std::string apply(TextRange R, std::vector<TextEdit> E) const {
    for (TextEdit &X : E) { // a deletion may reach into the white space around
      X.Range.Begin = std::max(X.Range.Begin, R.Begin);
      X.Range.End = std::min(X.Range.End, R.End);
    }
    // Outer edits hide inner ones.
    std::stable_sort(E.begin(), E.end(), [](auto &A, auto &B) {
      if (A.Range.Begin != B.Range.Begin)
        return A.Range.Begin < B.Range.Begin;
      if (A.Range.empty() != B.Range.empty()) // what ends here comes first
        return A.Range.empty();
      return A.Range.End > B.Range.End;
    });
    std::string Out;
    unsigned Pos = R.Begin;
    for (const TextEdit &X : E) {
      if (X.Range.Begin < Pos)
        continue;
      Out += L.copied({Pos, X.Range.Begin}) + X.Text;
      Pos = std::max(Pos, X.Range.End);
    }
    if (Pos < R.End)
      Out += L.copied({Pos, R.End});
    return Out;
  }

  /// A declaration of which some variables live elsewhere is written anew.
  void declEdits(const Stmt &St, std::vector<TextEdit> &E) {
    std::vector<unsigned> Vars;
    bool Anew = false;
    for (unsigned V = 0; V < M.Vars.size(); ++V)
      if (!M.Vars[V].IsParam && M.Vars[V].DeclStmt == St.Id &&
          M.Vars[V].DeclRange == St.Range) {
        Vars.push_back(V);
        Anew |= S.VarHome[V] == Home::Expanded ||
                (InSlots && S.VarHome[V] == Home::Repeated) ||
                (InSlots && S.Hoisted.count(V)) ||
                (S.DeadVars.count(V) && !hasEffects(M.Vars[V].InitRange));
      }
    if (!Anew)
      return;
    std::string T;
    for (unsigned V : Vars) {
      const Var &Vr = M.Vars[V];
      if (S.VarHome[V] == Home::Expanded)
        T += expandedInit(V);
      else if (InSlots && S.VarHome[V] == Home::Repeated)
        ; // declared at the top of the slot loop
      else if (InSlots && S.Hoisted.count(V))
        ; // declared in front of it
      else if (S.DeadVars.count(V) && !hasEffects(Vr.InitRange))
        ;
      else
        T += declaration(V);
    }
    if (!T.empty() && T.back() == '\n')
      T.pop_back();
    if (T.empty() && parentIsBlock(St))
      addEdit(E, deletion(St.Range), "");
    else
      addEdit(E, St.Range, T.empty() ? ";" : T);
  }

  /// What \p V is initialised with, to stand behind its name or its type.
  std::string initText(const Var &V) {
    if (V.HasInit && V.InitRange.empty())
      cannotDeclare(V);
    const std::string T = render(V.InitRange, {}, true);
    return V.Form == Var::Parens ? "(" + T + ")" : T;
  }
  void cannotDeclare(const Var &V) {
    if (NotAnew.empty())
      NotAnew = "'" + V.Name + "' would have to be declared in other words";
  }

  /// The value of a variable with one element a slot, where it was declared.
  std::string expandedInit(unsigned V) {
    const Var &Vr = M.Vars[V];
    if (!Vr.Expandable)
      cannotDeclare(Vr);
    if (!Vr.HasInit)
      return "";
    if (!Vr.ArrayExtents.empty())
      return EffectsLedger::given(V) + arrayInit(Vr);
    return EffectsLedger::given(V) + Vr.Name + slotIndex() + " = " +
           (Vr.Form == Var::Equals ? "" : Vr.Type) + initText(Vr) + ";\n";
  }

  /// An array with one a slot gets the initialiser's elements one by one.
  std::string arrayInit(const Var &Vr) {
    const std::string From = N(Vr.Name + "_init");
    std::string Extents, Index, Loops;
    for (size_t D = 0; D < Vr.ArrayExtents.size(); ++D) {
      const std::string Number = std::to_string(Vr.ArrayExtents[D]);
      const std::string I = N("i" + std::to_string(D));
      Extents += "[" + Number + "]";
      Index += "[" + I + "]";
      Loops += "#pragma unroll\nfor (int " + I + " = 0; " + I + " < " + Number +
               "; ++" + I + ")\n";
    }
    return "{\nconst " + Vr.Type + " " + From + Extents + " = " +
           initText(Vr) + ";\n" + Loops +
           EffectsLedger::named(size_t(&Vr - M.Vars.data())) + Vr.Name +
           slotIndex() + Index + " = " + From + Index + ";\n}\n";
  }

  /// An unrolled loop: the pragma and, where registers need it, a counter that
  /// is a constant in each round.
  void loopEdits(const Stmt &St, std::vector<TextEdit> &E) {
    addEdit(E, {St.Range.Begin, St.HeaderRange.Begin}, "\n#pragma unroll\n");
    auto Round = N.roundOf(M.Symbols[static_cast<size_t>(St.IterSymbol)]);
    if (!Round)
      return;
    const Var &V = M.Vars[static_cast<size_t>(St.IterVar)];
    const int64_t Step = *St.Step,
                  Last = *St.ConstFirst + (*St.ConstTripCount - 1) * Step;
    // Does anything but register indices name the variable?
    bool Named = false;
    for (const VarUse &U : M.VarUses) {
      if (static_cast<int>(U.Var) != St.IterVar ||
          St.HeaderRange.contains(U.Range) || !St.Range.contains(U.Range))
        continue;
      bool Index = false;
      for (const SharedAccess &A : M.SharedAccesses)
        Index |= A.Range.contains(U.Range) && isRegister(A);
      Named |= !Index;
    }
    addEdit(E, St.HeaderRange,
            "for (int " + *Round + " = " + std::to_string(*St.ConstFirst) +
                "; " + *Round + (Step > 0 ? " <= " : " >= ") +
                std::to_string(Last) + "; " +
                (Step == 1 ? "++" + *Round
                           : *Round + " += " + std::to_string(Step)) +
                ") {\n" +
                (Named ? "const " + V.Type + " " +
                             written(static_cast<unsigned>(St.IterVar)) +
                             " = (" + render(V.InitRange, {}, true) + ") + " +
                             *Round + ";\n"
                       : EffectsLedger::given(
                             static_cast<unsigned>(St.IterVar)) +
                             EffectsLedger::declared(
                                 static_cast<unsigned>(St.IterVar))) +
                counted(St));
    addEdit(E, {St.Range.End, St.Range.End}, "\n}");
  }

  bool hasEffects(TextRange R) const {
    for (const VarUse &U : M.VarUses)
      if (U.Write && R.contains(U.Range))
        return true;
    for (const GlobalAccess &G : M.GlobalAccesses)
      if (G.K != GlobalAccess::Read && R.contains(G.Range))
        return true;
    return false;
  }

  std::string declaration(unsigned V) {
    const Var &Vr = M.Vars[V];
    std::string Name = written(V);
    std::string T =
        (Vr.IsConst || S.VarHome[V] == Home::Repeated ? "const " : "") +
        Vr.Type + " " + Name;
    // `const float *` is a pointer to const: a const pointer has it behind.
    if (!Vr.Type.empty() && Vr.Type.back() == '*')
      T = Vr.Type + (Vr.IsConst ? "const " : "") + Name;
    for (int64_t E : Vr.ArrayExtents)
      T += "[" + std::to_string(E) + "]";
    if (Vr.HasInit)
      T += (Vr.Form == Var::Equals ? " = " : "") + initText(Vr);
    return T + ";\n";
  }

  /// `out[g] = v;` whose slots are stored together.
  void storeEdit(const Stmt &St, std::vector<TextEdit> &E) {
    for (size_t K = 0; K < P.VectorStores.size(); ++K) {
      const GlobalAccess *Stored = nullptr;
      for (unsigned I = 0; I < M.GlobalAccesses.size(); ++I)
        if (P.VectorStores[K].holds(I) && M.GlobalAccesses[I].Stmt == St.Id)
          Stored = &M.GlobalAccesses[I];
      if (!Stored)
        continue;
      std::string B = storeName(K);
      std::string V = render(Stored->StoredRange, {}, true);
      addEdit(
          E, St.Range,
          (parentIsBlock(St) ? "" : "{\n") + B + slotIndex() + " = " + V + ";" +
              L.set(Stored->Range) +
              (StoresLate ? "" : "\n" + B + "_on" + slotIndex() + " = true;") +
              (parentIsBlock(St) ? "" : "\n}"));
    }
  }

  bool isVector(const Plan::VectorStore &V) const {
    return V.Bytes > M.GlobalAccesses[V.Access].ElemBytes;
  }

  std::string storeName(size_t K) const {
    const GlobalAccess &G = M.GlobalAccesses[P.VectorStores[K].Access];
    std::string Pointer = M.Params[static_cast<size_t>(G.Root)].Name;
    std::replace(Pointer.begin(), Pointer.end(), '.', '_'); // of a struct
    std::string T = N(Pointer + "_v");
    return P.VectorStores.size() > 1 ? T + std::to_string(K) : T;
  }

  //===--- Body ---===//

  /// Comments in the text between two statements.
  std::string gap(unsigned Begin, unsigned End) const {
    std::string T = M.Text.substr(Begin, End > Begin ? End - Begin : 0);
    if (T.find("//") == std::string::npos && T.find("/*") == std::string::npos)
      return "";
    while (!T.empty() && (T.front() == ' ' || T.front() == '\n'))
      T.erase(T.begin());
    return T + (T.empty() || T.back() == '\n' ? "" : "\n");
  }

  std::string blockBody(unsigned Block) {
    const Stmt &B = M.stmt(Block);
    bool Braces = B.K == Stmt::Block;
    const std::vector<unsigned> Children =
        Braces ? B.Children : std::vector<unsigned>{Block};
    std::string Out;
    unsigned Pos = B.Range.Begin;
    if (Braces && Pos < M.Text.size() && M.Text[Pos] == '{')
      ++Pos;
    std::set<int> Done;
    for (size_t I = 0; I < Children.size(); ++I) {
      unsigned C = Children[I];
      const Stmt &St = M.stmt(C);
      if (!S.Structural.count(C)) {
        int R = S.regionOf(C, M);
        if (R < 0) {
          fail("a statement outside every region");
          return "";
        }
        if (!Done.insert(R).second)
          continue;
        const Region &Rg = S.Regions[static_cast<size_t>(R)];
        Out += gap(Pos, M.stmt(Rg.All.front()).Range.Begin);
        Out += region(Rg, static_cast<size_t>(R));
        Pos = M.stmt(Rg.All.back()).Range.End;
        continue;
      }
      Out += gap(Pos, St.Range.Begin);
      Pos = St.Range.End;
      if (St.K == Stmt::Barrier) {
        // Loads first, then the barrier: the order of the original.
        Out += inSlot(take(F.atBarrier(C)));
        if (const SyncScope Scope = P.scopeOf(C); Scope != SyncScope::None) {
          std::string Text =
              Scope == SyncScope::Warp
                  ? "__syncwarp();\n"
                  : render(St.Range, {}, true) +
                        (M.text(St.Range).find(';') == std::string::npos
                             ? ";\n"
                             : "\n");
          std::string *Where = &Out;
          for (const ArrayPlan &A : P.Arrays)
            if (const auto *S = A.as<StreamedRows>(); S && A.Barrier == C)
              Where = &BarrierBehind[S->Loop];
          *Where += Text;
        }
        continue;
      }
      Out += structural(St);
    }
    if (!Braces)
      return Out;
    unsigned End = B.Range.End;
    if (End > 0 && M.Text[End - 1] == '}')
      --End;
    if (B.Children.empty())
      return Out;
    return Out + gap(Pos, End);
  }

  std::string loop(const Stmt &St) {
    if (std::find(P.UnrolledLoops.begin(), P.UnrolledLoops.end(), St.Id) !=
        P.UnrolledLoops.end())
      return "\n#pragma unroll\n" + render(St.HeaderRange, {}, true) + " {\n" +
             body(St.Children[0]) + "}\n";
    return render({St.Range.Begin, St.HeaderRange.End}, {}, true) + " {\n" +
           body(St.Children[0]) + "}\n";
  }

  /// A condition on a slot, in both directions.
  struct SlotTest {
    std::string Out, In;
  };
  /// What keeps a slot of \p R from running: guards before it, conditions
  /// around it.
  std::vector<SlotTest> slotTests(const Region &R, bool Flags) {
    std::vector<SlotTest> T;
    if (Flags && S.ActiveFlags) {
      const std::string Active = N("active") + slotIndex();
      T.push_back({"!" + Active, Active});
    }
    for (unsigned G : S.RepeatedGuards)
      // Where it stands, and again in every region behind it.
      if (M.stmt(G).Range.Begin < M.stmt(R.All.back()).Range.End) {
        const std::string C = render(M.stmt(G).CondRange, {}, true);
        T.push_back({C, "!(" + C + ")"});
      }
    for (unsigned G : R.Guards) {
      const std::string C = render(M.stmt(G).CondRange, {}, true);
      T.push_back({"!(" + C + ")", C});
    }
    if (T.size() > 1)
      for (size_t I = T.size() - R.Guards.size(); I < T.size(); ++I)
        T[I].In = "(" + T[I].In + ")";
    return T;
  }
  static std::string allIn(const std::vector<SlotTest> &Tests) {
    std::string All;
    for (const SlotTest &T : Tests)
      All += (All.empty() ? "" : " && ") + T.In;
    return All.empty() ? "true" : All;
  }

  /// The slots of \p L run together if one of them has to.
  std::string ifAnySlot(const Stmt &L, const std::string &Text) {
    const Region *In = nullptr;
    for (const Region &R : S.Regions)
      if (!In && L.Range.contains(M.stmt(R.All.front()).Range))
        In = &R;
    InSlots = true;
    const std::string Any = N("any"),
                      Test = Any + " |= " + allIn(slotTests(*In, true)) + ";\n";
    const std::string Decls = repeatedDecls(Test);
    InSlots = false;
    return "{\nbool " + Any + " = false; // is one of the slots left?\n" +
           slotLoops(Decls + Test) + "if (" + Any + ") {\n" + Text + "}\n}\n";
  }

  std::string structural(const Stmt &St) {
    InSlots = false;
    switch (St.K) {
    case Stmt::Block:
      return opens(St) ? blockBody(St.Id) : "{\n" + blockBody(St.Id) + "}\n";
    case Stmt::For:
      if (isStreamed(St))
        return streamed(St);
      if (S.IfAnySlot.count(St.Id))
        return ifAnySlot(St, loop(St));
      return loop(St);
    case Stmt::While:
      return "while (" + render(St.CondRange, {}, true) + ") {\n" +
             body(St.Children[0]) + "}\n";
    case Stmt::Do:
      return "do {\n" + body(St.Children[0]) + "} while (" +
             render(St.CondRange, {}, true) + ");\n";
    case Stmt::If: {
      if (S.GuardIfs.count(St.Id)) { // its condition stands in each slot loop
        std::string T = body(St.Children[0]);
        for (const Var &V : M.Vars)
          if (!V.IsParam && St.Range.contains(V.NameRange))
            return "{\n" + T + "}\n"; // declarations keep their scope
        return T;
      }
      std::string T = "if (" + render(St.CondRange, {}, true) + ") {\n" +
                      body(St.Children[0]) + "}";
      if (St.Children.size() > 1)
        T += " else {\n" + body(St.Children[1]) + "}";
      return T + "\n";
    }
    default:
      fail("a barrier inside a statement of this kind");
      return "";
    }
  }

  std::string body(unsigned Id) { return blockBody(Id); }

  /// Does slot code remain when repeated declarations and guards are taken out?
  bool needsLoop(const Region &R) const {
    for (unsigned C : R.Slot) {
      const Stmt &St = M.stmt(C);
      bool OnlyRepeated = false;
      if (St.K == Stmt::Decl || St.K == Stmt::Leaf) {
        bool Any = false, All = true;
        for (unsigned V = 0; V < M.Vars.size(); ++V)
          if (!M.Vars[V].IsParam && M.Vars[V].DeclStmt == C) {
            Any = true;
            All &= S.VarHome[V] == Home::Repeated || S.DeadVars.count(V) ||
                   S.Hoisted.count(V);
          }
        OnlyRepeated = Any && All;
      }
      if (OnlyRepeated)
        continue;
      if (std::find(S.RepeatedGuards.begin(), S.RepeatedGuards.end(), C) !=
          S.RepeatedGuards.end())
        continue;
      return true;
    }
    return false;
  }

  std::string region(const Region &R, size_t Index) {
    std::string Out;
    InSlots = false;
    // Arrays that stay and what is the same for all slots, in the order of the
    // text: an extent may be a constant of the kernel, a pointer the array.
    for (unsigned C : R.All) {
      bool Here =
          std::find(R.Uniform.begin(), R.Uniform.end(), C) != R.Uniform.end();
      for (const SharedArray &A : M.Arrays)
        Here |=
            !A.AtFileScope && A.DeclRange == M.stmt(C).Range && keptShared(A);
      if (Here)
        Out += render(M.stmt(C).Range, {}, true) + "\n";
      // Of a declaration of several variables, those that all slots share.
      for (unsigned V : S.Hoisted)
        if (!Here && M.Vars[V].DeclStmt == C)
          Out += declaration(V);
    }
    // Variables with one element a slot are declared in front.
    for (unsigned V = 0; V < M.Vars.size(); ++V) {
      const Var &Vr = M.Vars[V];
      if (S.VarHome[V] != Home::Expanded || Vr.IsParam ||
          std::find(R.All.begin(), R.All.end(), Vr.DeclStmt) == R.All.end())
        continue;
      Out += Vr.Type + " " + EffectsLedger::expanded(V) + Vr.Name + slotExtents();
      for (int64_t E : Vr.ArrayExtents)
        Out += "[" + std::to_string(E) + "]";
      Out += S.Zeroed.count(V) ? " = {};\n" : ";\n";
    }
    if (!needsLoop(R))
      return Out + comments(R);
    InSlots = true;
    std::set<unsigned> Skip(R.Uniform.begin(), R.Uniform.end());
    for (unsigned C : R.All)
      for (const SharedArray &A : M.Arrays)
        if (!A.AtFileScope && A.DeclRange == M.stmt(C).Range)
          Skip.insert(C);
    for (unsigned G : S.RepeatedGuards)
      Skip.insert(G);
    StoresLate = R.StoresLate;
    std::string Text = render(
        {M.stmt(R.All.front()).Range.Begin, M.stmt(R.All.back()).Range.End},
        Skip, true);
    const std::vector<SlotTest> Tests = slotTests(R, Index > 0 || R.StoresLate);
    std::string Guards;
    if (!R.Speculative)
      for (const SlotTest &T : Tests)
        Guards += "if (" + T.Out + ")\ncontinue;\n";
    std::string Decls = repeatedDecls(Text + Guards);
    std::string Before, After, Set;
    for (size_t K = 0; K < P.VectorStores.size(); ++K) {
      const GlobalAccess &G = M.GlobalAccesses[P.VectorStores[K].Access];
      bool Here = false;
      for (unsigned C : R.All)
        Here |= M.stmt(C).Range.contains(G.Range);
      if (!Here)
        continue;
      const std::string B = storeName(K);
      const KernelParam &Pm = M.Params[static_cast<size_t>(G.Root)];
      const std::string To = G.ElemType == Pm.PointeeType
                                 ? Pm.Name
                                 : "(" + G.ElemType + " *)" + Pm.Name;
      const bool Vectors = isVector(P.VectorStores[K]);
      Before += G.ElemType + " " + B + slotExtents() + ";\n";
      if (Vectors || !R.StoresLate)
        Before += "bool " + B + "_on" + slotExtents() + " = {};\n";
      if (!Vectors) {
        // Each by itself, behind what all slots compute.
        const std::string If =
            R.StoresLate ? allIn(Tests) : B + "_on" + slotIndex();
        const std::string Store =
            render(G.Range, {}, true) + " = " + B + slotIndex() + ";\n";
        const std::string One =
            If == "true" ? Store : "if (" + If + ")\n" + Store;
        After += slotLoops(repeatedDecls(One) + One);
        continue;
      }
      ValueTextOptions O;
      O.Symbols = N.symbols(Names::Of::SlotRow);
      const std::string At = inSlot(take(valueText(G.Index, N, O, true)));
      Set += B + "_on" + slotIndex() + " = " + allIn(Tests) + ";\n";
      // One run a row of slots.
      std::string Row;
      for (int A = 2; A > 0; --A)
        if (P.Map.Factor[A] > 1) {
          std::string I = N(A == 1 ? "sy" : "sz");
          After += "#pragma unroll\nfor (int " + I + " = 0; " + I + " < " +
                   std::to_string(P.Map.Factor[A]) + "; ++" + I + ")\n";
          Row += "[" + I + "]";
        }
      After += "::rcache::device::store_run<" +
               std::to_string(P.VectorStores[K].Bytes) + ">(" + To + " + (" +
               At + "), " + B + Row + ", " + B + "_on" + Row + ");\n";
      Helpers.insert("store_run");
    }
    Out += Before + slotLoops(Decls + Guards + unwrapped(Text) + "\n");
    if (R.StoresLate && !Set.empty())
      Out += slotLoops(repeatedDecls(Set) + Set);
    Out += After;
    StoresLate = false;
    InSlots = false;
    return Out;
  }

  /// \p T without the braces around all of it.
  static std::string unwrapped(const std::string &T) {
    size_t B = T.find_first_not_of(" \t\n"), E = T.find_last_not_of(" \t\n");
    if (B == std::string::npos || T[B] != '{' || T[E] != '}' || B == E)
      return T;
    int Depth = 0;
    for (size_t I = B; I <= E; ++I) {
      if (T[I] == '"' || T[I] == '\'' || T.compare(I, 2, "//") == 0 ||
          T.compare(I, 2, "/*") == 0)
        return T; // braces may be text
      Depth += T[I] == '{';
      Depth -= T[I] == '}';
      if (Depth == 0 && I < E)
        return T;
    }
    return T.substr(B + 1, E - B - 1);
  }

  /// Comments inside a region that needs no code.
  std::string comments(const Region &R) const {
    std::string Out;
    for (size_t I = 1; I < R.All.size(); ++I)
      Out += gap(M.stmt(R.All[I - 1]).Range.End, M.stmt(R.All[I]).Range.Begin);
    return Out;
  }

  bool keptShared(const SharedArray &A) const {
    for (const ArrayPlan &Pl : P.Arrays)
      if (&M.Arrays[Pl.Array] == &A && Pl.isShared())
        return true;
    return false;
  }

  static std::string withoutComments(const std::string &T) {
    std::string Out;
    for (size_t I = 0; I < T.size(); ++I) {
      if (T.compare(I, 2, "//") == 0)
        while (I < T.size() && T[I] != '\n')
          ++I;
      else if (T.compare(I, 2, "/*") == 0) {
        size_t E = T.find("*/", I + 2);
        I = E == std::string::npos ? T.size() : E + 1;
        continue;
      }
      if (I < T.size())
        Out += T[I];
    }
    return Out;
  }

  /// Where \p Id stands in \p T as a name of its own: no member `.f` or `->f`, no
  /// end of a number `0.f`; npos: nowhere.
  static size_t identifierAt(const std::string &T, const std::string &Id) {
    auto IsId = [](char C) {
      return isalnum(static_cast<unsigned char>(C)) || C == '_';
    };
    for (size_t P = T.find(Id); P != std::string::npos; P = T.find(Id, P + 1))
      if ((P == 0 || !IsId(T[P - 1])) &&
          (P + Id.size() >= T.size() || !IsId(T[P + Id.size()])) &&
          !llvm::StringRef(T).take_front(P).rtrim().ends_with(".") &&
          !llvm::StringRef(T).take_front(P).rtrim().ends_with("->"))
        return P;
    return std::string::npos;
  }
  static bool mentions(const std::string &T, const std::string &Id) {
    return identifierAt(T, Id) != std::string::npos;
  }

  /// The repeated declarations of what \p Text uses: by its marks, not by how
  /// it is spelt.
  std::string repeatedDecls(const std::string &Text) {
    std::set<unsigned> Needed;
    std::vector<std::string> Work = {Text};
    while (!Work.empty()) {
      const std::string T = std::move(Work.back());
      Work.pop_back();
      for (unsigned V : L.used(T))
        if (S.VarHome[V] == Home::Repeated && Needed.insert(V).second)
          Work.push_back(render(M.Vars[V].InitRange, {}, true));
    }
    std::string Out;
    for (unsigned V : inTextOrder(Needed))
      Out += declaration(V);
    return Out;
  }
  std::vector<unsigned> inTextOrder(const std::set<unsigned> &Vars) const {
    std::vector<unsigned> Order(Vars.begin(), Vars.end());
    std::sort(Order.begin(), Order.end(), [&](unsigned A, unsigned B) {
      return M.Vars[A].NameRange.Begin < M.Vars[B].NameRange.Begin;
    });
    return Order;
  }

  //===--- Head, prologue, launch ---===//

  /// Internal linkage: another file's kernel of this name has another plan.
  std::string head() const {
    std::string H = M.TemplateHead;
    H += (H.empty() ? "" : "\n") + std::string("static __global__ void ");
    if (isCopy())
      return H +
             (M.LaunchBounds.empty()
                  ? ""
                  : "__launch_bounds__(" + M.LaunchBounds + ") ") +
             Name + "(" + M.ParamsText + ") ";
    std::string Params = promised(M.ParamsText);
    if (!M.Params.empty())
      Params += ", ";
    Params += "const unsigned int " + N("grid_x");
    if (!P.Map.Block)
      Params += ", const unsigned int " + N("bdim_x");
    return H + bounds() + Name + "(" + Params + ") ";
  }

  /// \p Params with `__restrict__` at pointers that are only read, where the
  /// launch has made sure that nothing stored lies there: the compiler may load
  /// before stores of an earlier round then.
  std::string promised(std::string Params) const {
    for (unsigned X = 0; X < M.Params.size(); ++X) {
      const KernelParam &Read = M.Params[X];
      if (!Read.IsPointer || Read.IsRestrict || Read.Written ||
          Read.MemberOf >= 0 || P.Separate.empty())
        continue;
      const bool Apart = llvm::all_of(M.GlobalAccesses, [&](const auto &G) {
        if (G.K == GlobalAccess::Read)
          return true;
        if (G.Root < 0)
          return false;
        const std::pair<int, int> Pair = std::minmax(int(X), G.Root);
        return M.Params[G.Root].IsRestrict ||
               llvm::is_contained(P.Separate, Pair);
      });
      const size_t At = identifierAt(Params, Read.Name);
      if (!Apart || At == std::string::npos ||
          !llvm::StringRef(Params).take_front(At).rtrim().ends_with("*"))
        continue;
      Params.insert(At, "__restrict__ ");
    }
    return Params;
  }

  /// Launch bounds where a block could ask for more registers than there are
  /// (65536); elsewhere they would only make ptxas spill for more blocks.
  std::string bounds() const {
    const unsigned Threads = P.Map.mostThreads();
    if (Threads <= 256 || 2 * P.Counts.Registers * Threads <= 65536)
      return "";
    return "__launch_bounds__(" + std::to_string(Threads) + ") ";
  }

  std::string planComment() const {
    std::string T = "// Register cache: a thread stands for " +
                    std::to_string(P.slots()) + " thread" +
                    (P.slots() == 1 ? "" : "s") + " of " + M.Name;
    if (P.Map.Stride[0] == 1 && P.Map.Factor[0] > 1)
      T += ", neighbours in x";
    else if (P.Map.Stride[0] == 32)
      T += ", 32 apart";
    T += ".\n";
    for (const ArrayPlan &A : P.Arrays) {
      const std::string &Nm = M.Arrays[A.Array].Name;
      std::string Len = "1";
      for (int64_t E : A.extent())
        Len = Len == "1" ? std::to_string(E) : Len + " x " + std::to_string(E);
      const std::string Says = std::visit(
          llvm::makeVisitor(
              [](const KeptShared &) -> std::string {
                return "stays in shared memory";
              },
              [&](const FromSource &) -> std::string {
                return A.Reads.empty() ? ""
                                       : "read from its source where it is used";
              },
              [&](const ReadEarly &) {
                return "read at the barrier into " + Len + " registers";
              },
              [&](const Reloaded &) {
                return "window of " + Len + " registers, loaded by each thread";
              },
              [&](const StreamedRows &) {
                return "window of " + Len +
                       " registers, loaded by each thread, one row at a time";
              },
              [&](const Shuffled &S) {
                return "window of " + Len + " registers, " +
                       (S.D.K == Distribution::Cyclic
                            ? "round robin over the lanes"
                            : "chunks of " + std::to_string(S.D.Chunk) +
                                  " a lane") +
                       ", exchanged by shuffles";
              }),
          A.Where);
      if (!Says.empty())
        T += "//   " + Nm + ": " + Says + ".\n";
    }
    return T + barrierComment();
  }

  std::string barrierComment() const {
    std::map<SyncScope, unsigned> N;
    for (const Stmt &St : M.Stmts)
      if (St.K == Stmt::Barrier)
        ++N[P.scopeOf(St.Id)];
    std::string T;
    if (N[SyncScope::Block])
      T = "//   Barriers stay: " + P.BarrierReason + ".\n";
    else if (!N[SyncScope::Warp])
      return "//   No barrier is left: nothing is shared between warps.\n";
    if (N[SyncScope::Warp])
      T += "//   __syncwarp() for __syncthreads() where no other warp writes or "
           "reads the\n//   same elements.\n";
    if (N[SyncScope::None])
      T += "//   Barriers that ordered nothing that is left are gone.\n";
    return T;
  }

  std::string prologue(const std::string &Body) const {
    std::string T;
    static const char *Ax[3] = {"x", "y", "z"};
    std::string Block = N("block_x"), Grid = N("grid_x");
    if (P.Map.Merge) {
      std::string X = std::to_string(N.mergeAsRows() ? 1 : N.threadsX()) + "u";
      T += "const unsigned int " + Block +
           (N.mergeAsRows() ? " = blockIdx.x * blockDim.y + threadIdx.y"
                            : " = blockIdx.x * (blockDim.x / " + X +
                                  ") + threadIdx.x / " + X) +
           "; // logical block\nif (" + Block + " >= " + Grid +
           ")\nreturn; // all threads of this logical block\n";
    } else if (mentions(Body, Block))
      T += "const unsigned int " + Block + " = blockIdx.x;\n";
    // The first of the thread's slots.
    static const char *First[3] = {"tx", "ty", "tz"};
    for (int A = 0; A < 3; ++A) {
      std::string Nm = N(First[A]);
      if (!mentions(Body, Nm))
        continue;
      std::string U = A == 0 ? N.threadX() : std::string("threadIdx.") + Ax[A];
      if (A == 0 && U != "threadIdx.x" && P.Map.Factor[A] > 1)
        U = "(int)(" + U + ")";
      std::string C = std::to_string(P.Map.Factor[A]);
      if (P.Map.Factor[A] == 1)
        T += "const int " + Nm + " = " + U + ";\n";
      else if (P.Map.Stride[A] == 1)
        T += "const int " + Nm + " = " + U + " * " + C +
             "; // first logical thread\n";
      else if (P.Map.Stride[A] == 32 && A == 0)
        T += "const int " + Nm + " = " + U + " / 32 * " +
             std::to_string(32 * P.Map.Factor[A]) + " + " + U +
             " % 32; // first logical thread\n";
      else
        T += "const int " + Nm + " = " + U + "; // first logical thread\n";
    }
    if (mentions(Body, N("lane")))
      T += "const int " + N("lane") + " = threadIdx.x % 32;\n";
    if (S.ActiveFlags) {
      T += "bool " + N("active") + slotExtents() +
           "; // slots that have not returned\n";
      std::string Init = N("active") + slotIndex() + " = true;\n";
      T += slotLoops(Init);
    }
    return T;
  }

  std::string condition() const {
    std::string T;
    auto And = [&](const std::string &C) {
      T += (T.empty() ? "" : " &&\n") + C;
    };
    // First what is cheap to ask.
    if (P.LeastThreads)
      And("::rcache::device::fills(" + N("grid") + ", " + threadsOfBlock() +
          ", " + std::to_string(P.LeastThreads) + ")");
    for (const Precondition &C : P.Preconditions)
      And("(" + C.Text + ")");
    for (const std::string &C : noWrap())
      And("(" + C + ")");
    for (const std::string &C : alignment())
      And(C);
    // What fails is left to fail as it did.
    And("::rcache::device::launches<" + std::to_string(sureThreads()) + ">(" +
        originalAddress(M) + ", " + N("grid") + ", " + givenBlock() + ", " +
        N("shared") + ")");
    if (sharedBytes() != "0")
      And("::rcache::device::holds(" + Name + templateArgs() + ", " +
          sharedBytes() + ")");
    if (comparesWaves()) {
      const std::string Life = llvm::formatv("{0:F2}", P.WaveLife);
      And("::rcache::device::waves_pay(" + Name + templateArgs() + ", " +
          threadsOfBlock() + ", " + std::to_string(P.Map.mostThreads()) + "u, " +
          sharedBytes() + ", " + originalAddress(M) + ", " + N("grid") + ", " +
          N("block") + ", " + N("shared") + ", " + Life + ")");
    }
    return T.empty() ? "true" : T;
  }

  /// Conditions for vectors to start where they may, each once.
  std::vector<std::string> alignment() const {
    std::vector<std::string> All;
    auto Add = [&](std::string C) {
      if (!llvm::is_contained(All, C))
        All.push_back(std::move(C));
    };
    for (const AlignedRun &R : P.Aligned) {
      const std::string At =
          R.Offset.empty() ? R.Pointer : R.Pointer + " + (" + R.Offset + ")";
      if (!P.AlignedHasOther) {
        Add("::rcache::device::aligned(" + At + ")");
        continue;
      }
      Add("reinterpret_cast<size_t>(" + At + ") % 16 == 0");
      for (const std::string &T : R.Multiples)
        Add((T.find('*') == std::string::npos ? T : "(" + T + ")") + " % " +
            std::to_string(R.Elements) + " == 0");
    }
    return All;
  }

  /// The largest value of a symbol in this launch; "": nobody knows.
  std::string largest(const std::string &Id) const {
    const int I = M.symbolIndex(Id);
    if (I < 0)
      return "262144"; // an element of an array
    const Symbol &S = M.Symbols[static_cast<size_t>(I)];
    switch (S.K) {
    case Symbol::ThreadIdx:
    case Symbol::BlockDim:
      return N("block") + "." + "xyz"[S.Axis];
    case Symbol::BlockIdx:
    case Symbol::GridDim:
      return N("grid") + "." + "xyz"[S.Axis];
    default:
      break;
    }
    std::string T;
    for (const std::string &F : S.Factors) {
      const int J = M.symbolIndex(F);
      if (J < 0 || M.Symbols[static_cast<size_t>(J)].K >= Symbol::Param)
        return "";
      T += (T.empty() ? "" : " * ") + largest(F);
    }
    return T;
  }

  /// What the launch has to be asked so that no sum of a parameter wraps that
  /// the original may not have computed: `g < n + 16` is tested as `g < n - 7`
  /// for a whole run.
  std::vector<std::string> noWrap() const {
    std::map<std::string, int64_t> Least, Most; // of single parameters
    std::vector<std::string> Out;
    for (const PrintedSum &S : Log.Sums) {
      if (S.Type == CxxType::Unsigned)
        continue;
      const bool Wide = S.Type == CxxType::LongLong;
      std::string Params, Up, Down;
      std::string Single;
      unsigned Count = 0;
      auto Times = [](int64_t C, const std::string &T) {
        return C == 1 ? T : std::to_string(C) + ".0 * " + T;
      };
      for (const auto &[Id, C] : S.Symbols) {
        const int I = M.symbolIndex(Id);
        const Symbol *Sym = I < 0 ? nullptr : &M.Symbols[static_cast<size_t>(I)];
        if (Sym && Sym->K == Symbol::Param) {
          if (Sym->Bits < (Wide ? 64u : 32u))
            continue;
          ++Count;
          Single = C == 1 && Sym->Signed ? Sym->Text : "";
          Params += (Params.empty() ? "" : " + ") + Times(C, "(double)" + Sym->Text);
          continue;
        }
        const std::string Max = largest(Id);
        if (Max.empty())
          continue;
        if (C > 0 || I < 0)
          Up += " + " + Times(std::abs(C), "(double)" + Max);
        if (C < 0 || I < 0)
          Down += " - " + Times(std::abs(C), "(double)" + Max);
      }
      if (!Count || (Count == 1 && S.Symbols.size() == 1 && S.Constant == 0 &&
                     !Single.empty()))
        continue;
      if (Wide) {
        // Sizes are far from this; doubles would not tell exactly.
        for (const auto &[Id, C] : S.Symbols)
          if (const int I = M.symbolIndex(Id);
              I >= 0 && M.Symbols[static_cast<size_t>(I)].K == Symbol::Param &&
              M.Symbols[static_cast<size_t>(I)].Signed &&
              M.Symbols[static_cast<size_t>(I)].Bits == 64)
            Out.push_back(M.Symbols[static_cast<size_t>(I)].Text +
                          " >= -0x1000000000000000ll");
        continue;
      }
      if (!Single.empty() && Count == 1 && Up.empty() && Down.empty()) {
        if (S.Constant < 0) {
          int64_t &L = Least.try_emplace(Single, INT32_MIN).first->second;
          L = std::max(L, INT32_MIN - S.Constant);
        } else if (S.Constant > 0) {
          int64_t &L = Most.try_emplace(Single, INT32_MAX).first->second;
          L = std::min(L, INT32_MAX - S.Constant);
        }
        continue;
      }
      const std::string C =
          S.Constant == 0 ? ""
                          : (S.Constant < 0 ? " - " : " + ") +
                                std::to_string(std::abs(S.Constant)) + ".0";
      Out.push_back(Params + Up + C + " <= 2147483647.0");
      Out.push_back(Params + Down + C + " >= -2147483648.0");
    }
    for (const auto &[Text, Value] : Least)
      if (!knownPositive(Text))
        Out.push_back(Text + " >= " + std::to_string(Value));
    for (const auto &[Text, Value] : Most)
      Out.push_back(Text + " <= " + std::to_string(Value));
    std::sort(Out.begin(), Out.end());
    Out.erase(std::unique(Out.begin(), Out.end()), Out.end());
    return Out;
  }

  /// Does a precondition ask for it anyway?
  bool knownPositive(const std::string &Text) const {
    const std::string Asked = Text + " >= 0";
    return llvm::any_of(P.Preconditions, [&](const Precondition &C) {
      return llvm::StringRef(C.Text).starts_with(Asked) ||
             llvm::StringRef(C.Text).contains("&& " + Asked);
    });
  }

  /// The block of the launch: `rc_block` is the block of the kernel's text.
  std::string givenBlock() const {
    return N(M.Form.scaled() ? "given_block" : "block");
  }

  /// Threads that a block of the original may have whatever the compiler made of
  /// it: with 255 registers a thread, or in its launch bounds.
  int64_t sureThreads() const {
    int64_t Bounds = M.Geo.MaxThreads.value_or(256);
    if (M.Geo.MaxThreads)
      for (int64_t S : M.Form.Scale)
        Bounds /= S;
    return std::clamp<int64_t>(Bounds, 1, 1024);
  }

  /// Is the launch to tell whether the waves of the planned kernel are over
  /// before those of the original?
  bool comparesWaves() const {
    return P.WaveLife > 0 && P.Map.Block && !isCopy() && !M.Form.scaled();
  }

  /// Dynamic shared memory of the planned kernel's blocks.
  std::string sharedBytes() const {
    return llvm::any_of(
               P.Arrays,
               [](const ArrayPlan &A) { return A.isShared(); })
               ? N("shared")
               : "0";
  }

  std::string templateArgs() const { return templateArgsOf(M); }

  /// Threads that stand for one logical block.
  std::string threadsOfBlock() const {
    if (P.Map.Block) {
      return std::to_string(P.Map.threads()) + "u";
    }
    const std::string B = N("block");
    std::string T = B + ".x * " + B + ".y * " + B + ".z";
    return P.slots() == 1 ? T : T + " / " + std::to_string(P.slots()) + "u";
  }

  /// The statements that launch the kernel. \p Void: with the arguments of
  /// cudaLaunchKernel, whose result is kept.
  std::string launch(bool Void) const {
    std::string T;
    const std::string Grid = N("grid"), Block = N("block");
    auto Div = [&](int A, const std::string &B) {
      if (P.Map.Block)
        return std::to_string(P.Map.threads(unsigned(A))) + "u";
      return P.Map.Factor[A] == 1
                 ? B
                 : B + " / " + std::to_string(P.Map.Factor[A]) + "u";
    };
    const std::string X = Div(0, Block + ".x"), Y = Div(1, Block + ".y"),
                      Z = Div(2, Block + ".z");
    std::string Blocks = Grid, Threads = "dim3(" + X + ", " + Y + ", " + Z + ")";
    if (P.Map.Merge) {
      const std::string Th = P.Map.Block ? threadsOfBlock() : X;
      const std::string Target = std::to_string(P.Map.TargetThreads) + "u";
      const std::string All = N("threads"), Merged = N("merged");
      if (N.mergeAsRows()) {
        T += "// Merge logical blocks until a physical block has " +
             std::to_string(P.Map.TargetThreads) + " threads or more.\n";
        T += "const unsigned int " + All + " = " + Th + ";\n";
        T += "const unsigned int " + Merged + " = " + All + " < " + Target +
             " ? " + Target + " / " + All + " : 1u;\n";
      } else {
        T += "// Merge logical blocks side by side: rows of a warp or more.\n";
        T += "const unsigned int " + Merged + " = " +
             std::to_string(P.Map.mergedBlocks(*P.Map.Block)) + "u;\n";
      }
      Blocks = N("blocks");
      T += "const dim3 " + Blocks + "((" + Grid + ".x - 1u) / " + Merged +
           " + 1u, " + Grid + ".y, " + Grid + ".z);\n";
      const std::string Dims =
          N.mergeAsRows() ? "(" + X + ", " + Merged + ", 1);\n"
                          : "(" + X + " * " + Merged + ", " + Y + ", " + Z +
                                ");\n";
      Threads = N("threads_of_block");
      T += "const dim3 " + Threads + Dims;
    }
    const std::string Kernel = Name + templateArgs();
    std::string Args;
    auto Add = [&](const std::string &A) {
      Args += (Args.empty() ? "" : ", ") + A;
    };
    for (const KernelParam &Pm : M.declaredParams())
      Add(Void ? N("args") + "[" + std::to_string(ArgNumber(Args)) + "]"
               : Pm.Name);
    if (!isCopy() && !Void) {
      Add(Grid + ".x");
      if (!P.Map.Block)
        Add(Block + ".x");
    }
    if (!Void)
      return T + Kernel + "<<<" + Blocks + ", " + Threads + ", " +
             sharedBytes() + ", " + N("stream") + ">>>(" + Args + ");\n";
    if (!isCopy()) {
      T += "unsigned int " + N("grid_x") + " = " + Grid + ".x;\n";
      Add("&" + N("grid_x"));
      if (!P.Map.Block) {
        T += "unsigned int " + N("bdim_x") + " = " + Block + ".x;\n";
        Add("&" + N("bdim_x"));
      }
    }
    T += "void *" + N("all_args") + "[] = {" + (Args.empty() ? "nullptr" : Args) +
         "};\n";
    return T + N("result") + " = cudaLaunchKernel(" + Kernel + ", " + Blocks +
           ", " + Threads + ", " + N("all_args") + ", " + sharedBytes() + ", " +
           N("stream") + ");\n";
  }

  static size_t ArgNumber(const std::string &Args) {
    return Args.empty() ? 0 : static_cast<size_t>(std::count(Args.begin(), Args.end(), ',')) + 1;
  }
};

} // namespace

char CannotWrite::ID = 0;

llvm::Expected<EmittedKernel> rcache::emitKernel(const KernelModel &M,
                                                 const Plan &P,
                                                 const std::string &Name) {
  auto R = guarded([&] { return KernelEmitter(M, P, Name).run(); });
  if (!R)
    return R.takeError();
  return std::move(*R);
}
