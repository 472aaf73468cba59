// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Fill.h. Every shuffle stands at the level of the barrier it replaces,
// under no condition that differs inside a warp: all 32 lanes take part.

#include "Fill.h"
#include "Affine/IslTools.h"
#include "IndexForm.h"
#include "Plan/Staging.h"
#include "Plan/Windows.h"
#include "ValueText.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace rcache;

Fill::Fill(const KernelModel &M, const Plan &P, const Names &N)
    : M(M), P(P), N(N) {}

static std::string str(int64_t V) { return std::to_string(V); }

/// Does \p Text name the variable?
static bool names(llvm::StringRef Text, llvm::StringRef Variable) {
  auto Part = [](char C) { return llvm::isAlnum(C) || C == '_'; };
  for (size_t I = Text.find(Variable); I != llvm::StringRef::npos;
       I = Text.find(Variable, I + 1)) {
    const size_t E = I + Variable.size();
    if ((I == 0 || !Part(Text[I - 1])) && (E == Text.size() || !Part(Text[E])))
      return true;
  }
  return false;
}

std::string Fill::neededLines(const std::string &Head,
                              const std::string &Body) {
  llvm::SmallVector<llvm::StringRef> Lines;
  llvm::StringRef(Head).split(Lines, '\n', -1, /*KeepEmpty=*/false);
  std::string Kept;
  for (llvm::StringRef Line : llvm::reverse(Lines)) {
    llvm::StringRef Declared = Line;
    if (Declared.consume_front("const int ")) {
      const llvm::StringRef Name = Declared.take_until(llvm::isSpace);
      if (!names(Kept, Name) && !names(Body, Name))
        continue;
    }
    Kept = Line.str() + "\n" + Kept;
  }
  return Kept;
}

std::string Fill::groupName(const ArrayPlan &A) const {
  // Several groups of one array are told apart by number.
  std::set<unsigned> Firsts;
  for (const ArrayPlan &O : P.Arrays)
    if (O.Array == A.Array && !O.Writes.empty())
      Firsts.insert(O.Writes.front());
  std::string Name = N(M.Arrays[A.Array].Name);
  if (Firsts.size() < 2)
    return Name;
  unsigned K = 0;
  for (unsigned F : Firsts) {
    if (F == A.Writes.front())
      break;
    ++K;
  }
  return Name + str(K);
}

std::string Fill::base(size_t Index) const {
  const ArrayPlan &A = P.Arrays[Index];
  unsigned Same = 0, Before = 0;
  for (size_t I = 0; I < P.Arrays.size(); ++I) {
    const ArrayPlan &O = P.Arrays[I];
    if (O.Array != A.Array || O.Writes != A.Writes ||
        O.registerReads().empty())
      continue;
    ++Same;
    Before += I < Index;
  }
  std::string Name = groupName(A) + "_w";
  return Same > 1 ? Name + str(Before) : Name;
}

/// Sums of one slot share no product with another's: each slot sees the window
/// through variables of its own.
bool Fill::hasViews(const ArrayPlan &A) const {
  return M.OwnViews && (A.window() || A.as<ReadEarly>());
}

bool Fill::hasView(unsigned Access) const {
  for (const ArrayPlan &A : P.Arrays)
    for (const WindowRead &W : A.registerReads())
      if (W.Access == Access)
        return hasViews(A);
  return false;
}

std::string Fill::views(const ArrayPlan &A, size_t Index) const {
  if (!hasViews(A))
    return "";
  Helpers.insert("apart");
  const std::string W = base(Index);
  static const char *SlotNames[3] = {"s", "sy", "sz"};
  std::string Extents, Slots, Registers, Loops, Number;
  auto Each = [&](const std::string &I, int64_t Count, std::string &Index) {
    Extents += "[" + str(Count) + "]";
    Index += "[" + I + "]";
    Loops += "#pragma unroll\nfor (int " + I + " = 0; " + I + " < " +
             str(Count) + "; ++" + I + ")\n";
  };
  for (unsigned D = 3; D-- > 0;) {
    if (!P.hasSlots(D))
      continue;
    const std::string I = N(SlotNames[D]);
    Each(I, int64_t(P.Map.Factor[D]), Slots);
    Number = Number.empty() ? I
                            : (llvm::StringRef(Number).contains(' ')
                                   ? "(" + Number + ")"
                                   : Number) +
                                  " * " + str(int64_t(P.Map.Factor[D])) + " + " + I;
  }
  const size_t First = A.as<StreamedRows>() ? 1 : 0, Last = A.extent().size();
  // A single element would be a variable to compilers at once, read where it is
  // filled and not where the original read it: it gets a second one.
  const bool Single =
      P.slots() == 1 && First < Last &&
      std::all_of(A.extent().begin() + std::ptrdiff_t(First), A.extent().end(),
                  [](int64_t E) { return E == 1; });
  for (size_t D = First; D < Last; ++D)
    Each(N("m" + str(int64_t(D))),
         Single && D + 1 == Last ? 2 : A.extent()[D], Registers);
  if (A.extent().empty()) {
    Extents += "[1]";
    Registers = "[0]";
  }
  std::string Zeros;
  for (size_t D = First; D < Last; ++D)
    Zeros += "[0]";
  return "// What each output sees of it: no product is another output's.\n" +
         M.Arrays[A.Array].ElemType + " " + W + "_of" + Extents + ";\n" + Loops +
         W + "_of" + Slots + Registers + " = ::rcache::device::apart(" + W +
         (Single ? Zeros : Registers) + ", " + (Number.empty() ? "0" : Number) +
         ");\n";
}

/// Products of coordinates and symbols, written out: `rc_e0 * width`.
static void addProductNames(CxxNames &Symbols, const ArrayPlan &A) {
  std::set<std::string> Ids;
  for (const StagePiece &Piece : A.Stage.Pieces) {
    for (const std::string &Id : valueSymbols(Piece.V))
      Ids.insert(Id);
    for (const std::string &Id : involvedIds(Piece.Domain))
      Ids.insert(Id);
    for (const ValueRef &G : Piece.Guards)
      for (const std::string &Id : valueSymbols(G))
        Ids.insert(Id);
  }
  for (const std::string &Id : Ids) {
    const std::vector<std::string> Factors = productFactors(Id);
    if (Factors.empty())
      continue;
    bool Wide = isWideProduct(Id), All = true;
    for (const std::string &F : Factors) {
      const auto It = Symbols.find(F);
      All &= It != Symbols.end();
      Wide |= All && It->second.Type.find("long") != std::string::npos;
    }
    if (!All)
      continue; // the printer names what is missing
    const std::string Type = Wide ? "long long" : "int";
    std::string Text;
    for (const std::string &F : Factors) {
      const CxxAtom &Atom = Symbols[F];
      Text += Text.empty() ? "" : " * ";
      if (!Atom.Type.empty() && Atom.Type != Type)
        Text += "(" + Type + ")";
      Text += Atom.Primary ? Atom.Text : "(" + Atom.Text + ")";
    }
    Symbols[Id] = CxxAtom(Text, /*Primary=*/false, Type);
  }
}

static void addElementNames(CxxNames &Symbols, const ArrayPlan &A,
                            const Names &N) {
  for (const std::string &E : A.Stage.ElemIds)
    Symbols[E] = CxxAtom(N(E), true, "int");
  addProductNames(Symbols, A);
}

llvm::Expected<std::string> Fill::stageLambda(const ArrayPlan &A) {
  const SharedArray &Arr = M.Arrays[A.Array];
  ValueTextOptions O;
  O.Symbols = N.symbols();
  addElementNames(O.Symbols, A, N);
  // What the original does not stage is not asked for: within what is staged,
  // the last unguarded piece needs no test if the others are excluded.
  std::string Params, Shown;
  for (size_t D = 0; D < A.Stage.ElemIds.size(); ++D) {
    Params += (D ? ", const int " : "const int ") + N(A.Stage.ElemIds[D]);
    Shown += "[" + N(A.Stage.ElemIds[D]) + "]";
  }
  std::string T = "// " + Arr.Name + Shown + " as the original stages it.\n";
  T += "const auto " + groupName(A) + "_at = [=](" + Params + ") -> " +
       Arr.ElemType + " {\n";
  isl::set Staged = never(M.Ctx->ctx());
  for (const StagePiece &Piece : A.Stage.Pieces)
    Staged = Staged.unite(Piece.Domain);
  // What any window of this array can ask for.
  isl::set Asked = never(M.Ctx->ctx());
  for (const ArrayPlan &W : P.Arrays)
    if (W.Array == A.Array && W.Writes == A.Writes && !W.Reads.empty()) {
      const Window *Of = W.window();
      Asked = !Of || Of->Reach.is_null() ? always(M.Ctx->ctx())
                                         : Asked.unite(Of->Reach);
    }
  O.Context = Asked.intersect(P.Context).coalesce();
  bool Ended = false;
  isl::set Left = Staged.coalesce();
  const std::optional<IndexForm> Form = findIndexForm(A.Stage, O.Context);
  for (size_t K = 0; K < A.Stage.Pieces.size() && !Ended; ++K) {
    const StagePiece &Piece = A.Stage.Pieces[K];
    if (Form && K == Form->Begin) {
      auto C = conditionText(Form->Domain, N, O);
      if (!C)
        return C.takeError();
      auto V = indexFormText(*Form, Piece, N, O);
      if (!V)
        return V.takeError();
      Ended = *C == "true";
      T += Ended ? *V : "  if (" + *C + ") {\n" + *V + "  }\n";
      Left = Left.subtract(Form->Domain).coalesce();
      K = Form->End - 1;
      continue;
    }
    // A load, of the value or of a condition, is made only where the original
    // made it; a value without loads may stand for everything that is left.
    std::string Cond;
    bool Pure = true;
    std::function<void(const ValueRef &)> Look = [&](const ValueRef &V) {
      Pure &= V->K != Value::Load && V->K != Value::Op;
      for (const ValueRef &C : V->Operands)
        Look(C);
    };
    Look(Piece.V);
    for (const ValueRef &G : Piece.Guards)
      Look(G);
    isl::set Test = Piece.Domain;
    if (Pure)
      Test = simplify(Test, Left);
    auto C = conditionText(Test, N, O);
    if (!C)
      return C.takeError();
    Cond = *C;
    for (const ValueRef &G : Piece.Guards) {
      auto GT = valueText(G, N, O);
      if (!GT)
        return GT.takeError();
      Cond = (Cond == "true" ? "" : "(" + Cond + ") && ") + "(" + *GT + ")";
    }
    auto V = valueText(Piece.V, N, O);
    if (!V)
      return V.takeError();
    if (Cond == "true") {
      T += "  return " + *V + ";\n";
      Ended = true;
      continue;
    }
    T += "  if (" + Cond + ")\n    return " + *V + ";\n";
    if (Piece.Guards.empty())
      Left = Left.subtract(Piece.Domain).coalesce();
  }
  if (!Ended)
    T += "  return {}; // never used\n";
  return T + "};\n";
}

std::string Fill::Run::text() const {
  if (Condition.empty())
    return Scalar;
  if (Condition == "true")
    return Fast;
  return "if (" + Condition + ") {\n" + Fast + "} else {\n" + Scalar + "}\n";
}

/// The last coordinate is that of register \p Register of a run.
void Fill::nameElement(CxxNames &Symbols, const ArrayPlan &A,
                       const std::string &Register) const {
  const std::string &Last = A.Stage.ElemIds.back();
  Symbols[Last] = CxxAtom(N(Last) + " + " + Register, false, "int");
  addProductNames(Symbols, A);
}

llvm::Expected<Fill::Run> Fill::run(const ArrayPlan &A, const std::string &Into,
                                    int64_t Count, int64_t Lo, int64_t Hi) {
  const Window &Of = *A.window();
  const std::string M1 = N("m");
  if (Hi < 0)
    Hi = Count;
  const std::string Each1 = "#pragma unroll\nfor (int " + M1 + " = " + str(Lo) +
                            "; " + M1 + " < " + str(Hi) + "; ++" + M1 + ")\n  ";
  ValueTextOptions O;
  O.Symbols = N.symbols();
  O.Context = P.Context;
  addElementNames(O.Symbols, A, N);
  std::string At;
  for (size_t D = 0; D < A.Stage.ElemIds.size(); ++D) {
    At += (D ? ", " : "") + N(A.Stage.ElemIds[D]);
    if (D + 1 == A.Stage.ElemIds.size() && Count > 1) {
      if (Of.SlotSpan)
        At += " + " + M1 + " / " + str(Of.SlotSpan) + " * " +
              str(Of.SlotStep) + " + " + M1 + " % " + str(Of.SlotSpan);
      else
        At += " + " + M1;
    }
  }
  std::string Scalar;
  if (Count > 1)
    Scalar =
        Each1 + Into + "[" + M1 + "] = " + groupName(A) + "_at(" + At + ");\n";
  else
    Scalar = Into + "[0] = " + groupName(A) + "_at(" + At + ");\n";
  if (Of.InteriorPiece < 0 ||
      (A.as<Shuffled>() ? Count : Of.registers()) < 2)
    return Run{"", "", Scalar, "", ""};
  const StagePiece &Piece =
      A.Stage.Pieces[static_cast<size_t>(Of.InteriorPiece)];
  auto Cond = conditionText(Of.Interior, N, O);
  if (!Cond)
    return Cond.takeError();
  Run R{*Cond, "", Scalar, "", ""};
  auto Test = wordTest(A, Count, O);
  if (!Test)
    return Test.takeError();
  R.OnWord = *Test;
  // Where words have a form of their own, the other one has none: a test at
  // each row would leave as many predicated loads as the row has elements.
  const std::string Part =
      Hi - Lo < Count ? ", " + str(Lo) + ", " + str(Hi) : "";
  std::string Declarations, Fast, Words, Each;
  auto LoadRun = [&](const VectorLeaf &L,
                     const std::string &Into) -> llvm::Error {
    auto I = valueText(L.Load->Operands[0], N, O, /*AsIndex=*/true);
    if (!I)
      return I.takeError();
    const std::string To =
        Part + ">(" + Into + ", " + L.Load->Text + " + (" + *I + "));\n";
    auto Call = [&](const char *Helper, unsigned Bytes, unsigned Head) {
      Helpers.insert(Helper);
      return "::rcache::device::" + std::string(Helper) + "<" + str(Bytes) +
             ", " + str(Head) + To;
    };
    if (R.OnWord.empty()) {
      Fast += Call("load_run", Of.VectorBytes, L.Head);
    } else {
      Words += Call("load_words", Of.VectorBytes, L.Head);
      Fast += Call("load_words", L.ElemBytes, 0);
    }
    return llvm::Error::success();
  };
  if (Of.Leaves.empty() || Count < 2) {
    ValueTextOptions OfEach = O;
    if (Count > 1)
      nameElement(OfEach.Symbols, A, M1);
    auto V = valueText(Piece.V, N, OfEach);
    if (!V)
      return V.takeError();
    Each = Count > 1 ? Each1 + Into + "[" + M1 + "] = " + *V + ";\n"
                     : Into + "[0] = " + *V + ";\n";
  } else if (Piece.V->K == Value::Load && Of.Leaves.size() == 1 &&
             Of.Leaves[0].Load->Type == M.Arrays[A.Array].CanonicalType) {
    if (llvm::Error E = LoadRun(Of.Leaves[0], Into))
      return std::move(E);
  } else {
    std::map<const Value *, std::string> Names;
    for (size_t K = 0; K < Of.Leaves.size(); ++K) {
      std::string Name = N("l" + str(int64_t(K)));
      Declarations +=
          Of.Leaves[K].Load->Type + " " + Name + "[" + str(Count) + "];\n";
      if (llvm::Error E = LoadRun(Of.Leaves[K], Name))
        return std::move(E);
      Names[Of.Leaves[K].Load.get()] = Name + "[" + M1 + "]";
    }
    ValueTextOptions OfEach = O;
    nameElement(OfEach.Symbols, A, M1);
    OfEach.LoadText = [&](const Value *V) {
      auto It = Names.find(V);
      return It == Names.end() ? std::string() : It->second;
    };
    auto V = valueText(Piece.V, N, OfEach);
    if (!V)
      return V.takeError();
    Each = Each1 + Into + "[" + M1 + "] = " + *V + ";\n";
  }
  R.Fast = Declarations + Fast + Each;
  if (!R.OnWord.empty()) {
    R.Words = Declarations + Words + Each;
    Helpers.insert("on_word");
  }
  return R;
}

/// Is the address of each run in a window linear in the rows? Then the first
/// row and its neighbours tell whether all are aligned.
static bool rowsAreLinear(const ArrayPlan &A) {
  const std::set<std::string> Rows(A.Stage.ElemIds.begin(),
                                   std::prev(A.Stage.ElemIds.end()));
  for (const VectorLeaf &L : A.window()->Leaves) {
    const isl::pw_aff &Index = L.Load->Operands[0]->Aff;
    if (!Index.isa_aff() || Index.involves_locals())
      return false;
    for (const std::string &Id : involvedIds(Index)) {
      unsigned Coordinates = 0;
      for (const std::string &F : productFactors(Id))
        Coordinates += Rows.count(F);
      if (Coordinates > 1)
        return false;
    }
  }
  return true;
}

/// The condition that all rows of a window are aligned for vectors, where the
/// coordinates of its first element are in scope. "" when there are no vectors
/// or no rows, or when it cannot be told from a few of them. A test at each row
/// instead leaves as many predicated loads as the row has elements: they take
/// issue slots without loading anything (a 9 x 9 convolution took 12% longer on
/// an H200).
llvm::Expected<std::string> Fill::wordTest(const ArrayPlan &A, int64_t Count,
                                           const ValueTextOptions &O) const {
  const Window &Of = *A.window();
  int64_t Rows = 1;
  for (size_t D = 0; D + 1 < Of.Extent.size(); ++D)
    Rows *= Of.Extent[D];
  if (Rows < 2 || Of.SlotSpan || !rowsAreLinear(A))
    return "";
  std::string T;
  for (const VectorLeaf &L : Of.Leaves) {
    if (Of.VectorBytes <= L.ElemBytes ||
        int64_t(L.Head) + int64_t(Of.VectorBytes / L.ElemBytes) > Count)
      return "";
    // The first row; the next one in each direction.
    for (int D = -1; D + 1 < int(Of.Extent.size()); ++D) {
      if (D >= 0 && Of.Extent[D] < 2)
        continue;
      ValueTextOptions OfRow = O;
      if (D >= 0) {
        OfRow.Symbols[A.Stage.ElemIds[D]] =
            CxxAtom(N(A.Stage.ElemIds[D]) + " + 1", false, "int");
        addProductNames(OfRow.Symbols, A);
      }
      auto I = valueText(L.Load->Operands[0], N, OfRow, /*AsIndex=*/true);
      if (!I)
        return I;
      T += (T.empty() ? "" : " && ") +
           ("::rcache::device::on_word<" + str(Of.VectorBytes)) + ">(" +
           L.Load->Text + " + (" + *I + (L.Head ? " + " + str(L.Head) : "") +
           "))";
    }
  }
  return T;
}

/// The variables that say how the rows of a window are loaded: what is declared
/// and computed where the coordinates \p First of its first element are.
std::string Fill::formTests(const Run &R, const std::string &W,
                            const std::string &First, FormNames &Names) {
  if (!R.Condition.empty() && R.Condition != "true")
    Names.Inside = W + "_inside";
  if (!R.OnWord.empty())
    Names.Words = W + "_words";
  if (Names.Inside.empty() && Names.Words.empty())
    return "";
  std::string Declared = "bool " + Names.Inside, T;
  if (!Names.Words.empty())
    Declared += (Names.Inside.empty() ? "" : ", ") + Names.Words;
  if (!Names.Inside.empty())
    T += Names.Inside + " = " + R.Condition + ";\n";
  if (!Names.Words.empty())
    T += "// In words when all rows are aligned.\n" + Names.Words + " = " +
         (Names.Inside.empty() ? "" : Names.Inside + " && ") + R.OnWord + ";\n";
  return Declared + ";\n{\n" + neededLines(First, T) + T + "}\n";
}

llvm::Expected<std::string> Fill::reload(const ArrayPlan &A, size_t Index) {
  const SharedArray &Arr = M.Arrays[A.Array];
  const Window &Of = *A.window();
  std::string W = base(Index);
  ValueTextOptions O;
  O.Symbols = N.symbols();
  std::string Extents;
  for (int64_t E : Of.Extent)
    Extents += "[" + str(E) + "]";
  if (Of.Extent.empty())
    Extents = "[1]";
  std::string T = "// Phase: the elements of " + Arr.Name +
                  " that this thread's outputs need.\n";
  T += Arr.ElemType + " " + W + Extents + ";\n";
  // The first element; in loops over the rows of a window, the row's.
  std::string First, Fast, Words, Scalar, Both;
  std::optional<Run> Any;
  const std::vector<WindowBox> Boxes = windowBoxes(Of, Of.Extent);
  for (const WindowBox &Box : Boxes) {
    std::string Rows, RowEnds, Reg = W;
    First.clear();
    for (size_t D = 0; D < Of.First.size(); ++D) {
      auto F = affineText(Of.First[D], N, O);
      if (!F)
        return F;
      const std::string E = N(A.Stage.ElemIds[D]);
      First += "const int " + E + " = " + *F + ";\n";
      if (D + 1 < Of.First.size()) {
        const std::string R = N("r" + str(int64_t(D)));
        const auto [Lo, Hi] = Box[D];
        if (Hi - Lo == 1) // one row: no loop
          Rows += "{\nconst int " + R + " = " + str(Lo) + ";\n";
        else
          Rows += "#pragma unroll\nfor (int " + R + " = " + str(Lo) + "; " + R +
                  " < " + str(Hi) + "; ++" + R + ") {\n";
        Rows += "const int " + E + " = " + *F + " + " + R + ";\n";
        RowEnds += "}\n";
        Reg += "[" + R + "]";
      } else
        Rows += "const int " + E + " = " + *F + ";\n";
    }
    auto R = Box.empty() ? run(A, Reg, 1)
                         : run(A, Reg, Of.Extent.back(), Box.back().first,
                               Box.back().second);
    if (!R)
      return R.takeError();
    auto AllRows = [&](const std::string &Body) {
      return neededLines(Rows, Body) + Body + RowEnds;
    };
    Fast += AllRows(R->Fast);
    Words += AllRows(R->Words);
    Scalar += AllRows(R->Scalar);
    Both += AllRows(R->text());
    Any = std::move(*R);
  }
  // One test for the whole window, then a body for each form.
  FormNames Form;
  if (Of.First.size() >= 2 && Any)
    T += formTests(*Any, W, First, Form);
  if (Form.Inside.empty() && Form.Words.empty())
    return T + "{\n" + Both + "}\n";
  if (!Form.Words.empty())
    T += "if (" + Form.Words + ") {\n" + Words + "} else ";
  if (!Form.Inside.empty())
    T += "if (" + Form.Inside + ") {\n" + Fast + "} else ";
  return T + "{\n" + (Form.Inside.empty() ? Fast : Scalar) + "}\n";
}

/// A read of each slot and round, one by one.
llvm::Expected<std::string> Fill::early(const ArrayPlan &A, size_t Index) {
  const SharedArray &Arr = M.Arrays[A.Array];
  const ReadEarly &Of = *A.as<ReadEarly>();
  const std::string W = base(Index);
  ValueTextOptions O;
  O.Symbols = N.symbols();
  O.Context = P.Context;
  std::string Loops, Register, Extents, At;
  auto Each = [&](const std::string &I, int64_t From, int64_t To,
                  int64_t Step) {
    Loops += "#pragma unroll\nfor (int " + I + " = " + str(From) + "; " + I +
             (Step > 0 ? " <= " : " >= ") + str(To) + "; " +
             (Step == 1    ? "++" + I
              : Step == -1 ? "--" + I
                           : I + " += " + str(Step)) +
             ")\n";
  };
  for (int64_t E : Of.Extent)
    Extents += "[" + str(E) + "]";
  static const char *Slots[3] = {"sx", "sy", "sz"};
  static const char *SlotNames[3] = {"s", "sy", "sz"};
  for (int D = 2; D >= 0; --D) {
    O.Symbols[Slots[D]] = CxxAtom(N(SlotNames[D]), true, "int");
    if (P.Map.Factor[D] > 1)
      Each(N(SlotNames[D]), 0, int64_t(P.Map.Factor[D]) - 1, 1);
  }
  for (size_t K = 0; K < Of.Loops.size(); ++K) {
    const Stmt &L = M.stmt(Of.Loops[K]);
    const std::string I = N("r" + str(int64_t(K)));
    O.Symbols[M.Symbols[static_cast<size_t>(L.IterSymbol)].Id] =
        CxxAtom(I, true, "int");
    Each(I, *L.ConstFirst, *L.ConstFirst + (*L.ConstTripCount - 1) * *L.Step,
         *L.Step);
  }
  for (const isl::pw_aff &R : Of.Read.Register) {
    auto T = affineText(R, N, O);
    if (!T)
      return T;
    Register += "[" + *T + "]";
  }
  for (const isl::pw_aff &F : Of.First) {
    auto T = affineText(F, N, O);
    if (!T)
      return T;
    At += (At.empty() ? "" : ", ") + *T;
  }
  if (Of.Extent.empty())
    Extents = Register = "[1]";
  return "// Phase: what this thread's outputs read of " + Arr.Name +
         ", before anything is stored.\n" + Arr.ElemType + " " + W + Extents +
         ";\n" + Loops + W + (Of.Extent.empty() ? "[0]" : Register) + " = " +
         groupName(A) + "_at(" + At + ");\n";
}

llvm::Expected<std::string> Fill::chunked(const ArrayPlan &A, size_t Index) {
  const SharedArray &Arr = M.Arrays[A.Array];
  std::string W = base(Index), Lane = N("lane");
  const Shuffled &Of = *A.as<Shuffled>();
  int64_t B = Of.D.Chunk, Len = Of.W.Extent[0];
  int64_t Q = (Len - 1) / B; // chunks beyond the own one
  ValueTextOptions O;
  O.Symbols = N.symbols();
  auto F = affineText(Of.W.First[0], N, O);
  if (!F)
    return F;
  std::string E = N("e0");
  auto Low = run(A, W + "_own", B);
  if (!Low)
    return Low.takeError();
  std::string T = "// Phase: each lane loads its own chunk of " + Arr.Name +
                  "; " + str(Q) + (Q == 1 ? " lane loads" : " lanes load") +
                  " what lies behind the warp's last chunk.\n";
  T += Arr.ElemType + " " + W + "_own[" + str(B) + "], " + W + "_next[" +
       str(B) + "] = {};\n";
  T += "{\nconst int " + E + " = " + *F + ";\n" + Low->text() + "}\n";
  auto High = run(A, W + "_next", B);
  if (!High)
    return High.takeError();
  T += "if (" + Lane +
       (Of.D.Direction > 0 ? " < " + str(Q) : " >= " + str(32 - Q)) +
       ") {\nconst int " + E + " = " + *F + " + " + str(32 * B) + ";\n" +
       High->text() + "}\n";
  std::string Mm = N("m");
  T += "// Phase: the rest of the window arrives from the lanes that own it.\n";
  T += Arr.ElemType + " " + W + "[" + str(Len) + "];\n";
  T += "#pragma unroll\nfor (int " + Mm + " = 0; " + Mm + " < " + str(B) +
       "; ++" + Mm + ")\n  " + W + "[" + Mm + "] = " + W + "_own[" + Mm +
       "];\n";
  std::string Away = Mm + " / " + str(B), Reg = "[" + Mm + " % " + str(B) + "]";
  T += "#pragma unroll\nfor (int " + Mm + " = " + str(B) + "; " + Mm + " < " +
       str(Len) + "; ++" + Mm + ")\n  " + W + "[" + Mm +
       "] = ::rcache::device::shuffle(";
  if (Of.D.Direction > 0)
    T += Lane + " < " + Away + " ? " + W + "_next" + Reg + " : " + W + "_own" +
         Reg + ", (" + Lane + " + " + Away + ") % 32);\n";
  else
    T += Lane + " >= 32 - " + Away + " ? " + W + "_next" + Reg + " : " + W +
         "_own" + Reg + ", (" + Lane + " - " + Away + " + 32) % 32);\n";
  Helpers.insert("shuffle");
  return T;
}

llvm::Expected<std::string> Fill::cyclic(const ArrayPlan &A, size_t Index) {
  const SharedArray &Arr = M.Arrays[A.Array];
  std::string W = base(Index), Lane = N("lane"), R = N("r"), S = N("s"),
              J = N("j");
  const Shuffled &Of = *A.as<Shuffled>();
  int64_t Span = Of.W.SlotSpan, C = P.Map.Factor[0];
  int64_t Regs = C + (Span - 1 + 31) / 32;
  ValueTextOptions O;
  O.Symbols = N.symbols();
  auto F = affineText(Of.W.First[0], N, O);
  if (!F)
    return F;
  std::string T = "// Phase: element " + Arr.Name +
                  "[first + 32 * r + lane] of the warp goes to register r of "
                  "its lane (round robin).\n";
  T += Arr.ElemType + " " + W + "_own[" + str(Regs) + "] = {};\n";
  // The last registers are only partly needed: lanes beyond the halo load none.
  T += "#pragma unroll\nfor (int " + R + " = 0; " + R + " < " + str(Regs) +
       "; ++" + R + ")\n  if (" + R + " * 32 + " + Lane + " < " +
       str(32 * C + Span - 1) + ")\n    " + W + "_own[" + R +
       "] = " + groupName(A) + "_at(" + *F + " + " + R + " * 32);\n";
  T += "// Phase: slot s reads element lane + j from the lane that owns it.\n";
  T += Arr.ElemType + " " + W + "[" + str(C * Span) + "];\n";
  T += "#pragma unroll\nfor (int " + S + " = 0; " + S + " < " + str(C) +
       "; ++" + S + ")\n#pragma unroll\nfor (int " + J + " = 0; " + J + " < " +
       str(Span) + "; ++" + J + ")\n  " + W + "[" + S + " * " + str(Span) +
       " + " + J + "] = " + J + " == 0 ? " + W + "_own[" + S +
       "] : ::rcache::device::shuffle(" + Lane + " < " + J + " % 32 ? " + W +
       "_own[" + S + " + " + J + " / 32 + (" + J + " % 32 != 0)] : " + W +
       "_own[" + S + " + " + J + " / 32], (" + Lane + " + " + J + ") % 32);\n";
  Helpers.insert("shuffle");
  return T;
}

/// What stands at the barrier for an array that does not stay; "" where reads
/// evaluate the staging function.
llvm::Expected<std::string> Fill::fill(const ArrayPlan &A, size_t I) {
  using Text = llvm::Expected<std::string>;
  return std::visit(
      llvm::makeVisitor([](const KeptShared &) -> Text { return ""; },
                        [](const FromSource &) -> Text { return ""; },
                        [&](const ReadEarly &) { return early(A, I); },
                        [&](const Reloaded &) { return reload(A, I); },
                        [&](const StreamedRows &) { return rows(A, I); },
                        [&](const Shuffled &S) {
                          return S.D.K == Distribution::Cyclic ? cyclic(A, I)
                                                               : chunked(A, I);
                        }),
      A.Where);
}

llvm::Expected<std::string> Fill::atBarrier(unsigned Barrier) {
  // Array by array: the staging function, if something asks it, and the
  // windows.
  std::vector<std::pair<std::string, std::string>> Windows;
  std::map<std::string, const ArrayPlan *> Asked;
  for (size_t I = 0; I < P.Arrays.size(); ++I) {
    const ArrayPlan &A = P.Arrays[I];
    if (A.isShared() || A.Barrier != Barrier || A.Reads.empty())
      continue;
    const std::string Name = groupName(A);
    auto T = fill(A, I);
    if (!T)
      return T;
    if (!A.as<StreamedRows>())
      *T += views(A, I);
    if (A.as<FromSource>() || A.as<StreamedRows>() ||
        T->find(Name + "_at(") != std::string::npos)
      Asked.emplace(Name, &A);
    Windows.emplace_back(Name, std::move(*T));
  }
  std::string Out;
  for (auto &[Name, Text] : Windows) {
    if (auto It = Asked.find(Name); It != Asked.end() && It->second) {
      auto L = stageLambda(*It->second);
      if (!L)
        return L;
      Out += *L;
      It->second = nullptr; // once
    }
    Out += Text;
  }
  return Out;
}

llvm::Expected<std::string> Fill::readText(unsigned Access) const {
  for (size_t I = 0; I < P.Arrays.size(); ++I) {
    const ArrayPlan &A = P.Arrays[I];
    ValueTextOptions O;
    O.Symbols = N.symbols();
    static const char *Slots[3] = {"sx", "sy", "sz"};
    static const char *SlotNames[3] = {"s", "sy", "sz"};
    for (int D = 0; D < 3; ++D)
      O.Symbols[Slots[D]] = CxxAtom(N(SlotNames[D]), true, "int");
    for (const WindowRead &W : A.registerReads())
      if (W.Access == Access) {
        std::string T = base(I);
        if (hasViews(A)) {
          T += "_of";
          for (unsigned D = 3; D-- > 0;)
            if (P.hasSlots(D))
              T += "[" + N(SlotNames[D]) + "]";
        }
        for (size_t D = A.as<StreamedRows>() ? 1 : 0; D < W.Register.size();
             ++D) {
          auto X = affineText(W.Register[D], N, O);
          if (!X)
            return X;
          T += "[" + *X + "]";
        }
        if (W.Register.empty())
          T += "[0]";
        return T;
      }
    if (!A.as<FromSource>())
      continue;
    for (unsigned Rd : A.Reads)
      if (Rd == Access) {
        const SharedAccess &S = M.SharedAccesses[Access];
        // In slot code the thread is the slot's, not the first one's.
        O.Symbols = N.symbols(Names::Of::Slot);
        std::string T = groupName(A) + "_at(";
        for (size_t D = 0; D < S.IndexValues.size(); ++D) {
          auto X = valueText(S.IndexValues[D], N, O, /*AsIndex=*/true);
          if (!X)
            return X;
          T += (D ? ", " : "") + *X;
        }
        return T + ")";
      }
  }
  return llvm::createStringError("a read of '" +
                                 M.Arrays[M.SharedAccesses[Access].Array].Name +
                                 "' has no source");
}
