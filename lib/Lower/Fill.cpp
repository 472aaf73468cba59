// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Fill.h. Every shuffle stands at the level of the barrier it replaces,
// under no condition that differs inside a warp: all 32 lanes take part.

#include "Fill.h"
#include "Affine/IslTools.h"
#include "IndexText.h"
#include "Plan/Staging.h"
#include "Plan/Values.h"
#include "Plan/Windows.h"
#include "ValueText.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace rcache;

Fill::Fill(const KernelModel &M, const Plan &P, const Names &N)
    : M(M), P(P), N(N) {}


Code Preamble::before(const Code &Body) const {
  Code Kept;
  for (const Line &L : llvm::reverse(Lines))
    if (L.Number.empty() || Kept.names(L.Number) || Body.names(L.Number))
      Kept = L.Text + Kept;
  return Kept;
}

std::string Fill::groupName(const ArrayPlan &A) const {
  // Several groups of one array, or of arrays of one name, are told apart by number.
  std::set<unsigned> Firsts;
  for (const ArrayPlan &O : P.Arrays)
    if (M.Arrays[O.Array].Name == M.Arrays[A.Array].Name && !O.Writes.empty())
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

void rcache::addElementNames(CxxNames &Symbols, const ArrayPlan &A,
                             const Names &N) {
  for (const std::string &E : A.Stage.ElemIds)
    Symbols[E] = CxxAtom(N(E), true, "int");
  addProductNames(Symbols, A);
}

Code Fill::Run::text() const {
  if (Condition.empty())
    return Scalar;
  if (Condition.is("true"))
    return Fast;
  return "if (" + Condition + ") {\n" + Fast + "} else {\n" + Scalar + End + "}\n";
}

/// The last coordinate is that of register \p Register of a run.
void Fill::nameElement(CxxNames &Symbols, const ArrayPlan &A,
                       const std::string &Register) const {
  const std::string &Last = A.Stage.ElemIds.back();
  Symbols[Last] = CxxAtom(N(Last) + " + " + Register, false, "int");
  addProductNames(Symbols, A);
}

/// The arguments of the staging function for register `rc_m` of a run.
Code Fill::elementArguments(const ArrayPlan &A, int64_t Count) const {
  const Window &Of = *A.window();
  const std::string M1 = N("m");
  Code At;
  for (size_t D = 0; D < A.Stage.ElemIds.size(); ++D) {
    At += (D ? ", " : "") + N(A.Stage.ElemIds[D]);
    if (D + 1 < A.Stage.ElemIds.size() || Count < 2)
      continue;
    if (Of.SlotSpan)
      At += " + " + M1 + " / " + str(Of.SlotSpan) + " * " + str(Of.SlotStep) +
            " + " + M1 + " % " + str(Of.SlotSpan);
    else
      At += " + " + M1;
  }
  return At;
}

llvm::Expected<Fill::Run> Fill::run(const ArrayPlan &A, const std::string &Into,
                                    int64_t Count, int64_t Lo, int64_t Hi) {
  const Window &Of = *A.window();
  RunOf R = {A, Into, Count, Lo, Hi < 0 ? Count : Hi, {}, {}, {}};
  R.O.Symbols = N.symbols();
  R.O.Context = P.Context;
  addElementNames(R.O.Symbols, A, N);
  const std::string M1 = N("m");
  R.Each = "#pragma unroll\nfor (int " + M1 + " = " + str(R.Lo) + "; " + M1 +
           " < " + str(R.Hi) + "; ++" + M1 + ")\n  ";
  R.To = Into + (Count > 1 ? "[" + M1 + "] = " : "[0] = ");
  const Code Scalar = (Count > 1 ? R.Each : "") + R.To + groupName(A) + "_at(" +
                      elementArguments(A, Count) + ");\n";
  if (Of.InteriorPiece < 0 ||
      (A.as<Shuffled>() ? Count : Of.registers()) < 2)
    return Run{"", "", Scalar, "", "", ""};
  auto Cond = conditionText(Of.Interior, N, R.O);
  if (!Cond)
    return Cond.takeError();
  auto OnWord = wordTest(A, Count, R.O);
  if (!OnWord)
    return OnWord.takeError();
  Run Out{*Cond, "", Scalar, *OnWord, "", endOfBorders(A)};
  if (llvm::Error E = interior(R, Out))
    return std::move(E);
  return Out;
}

/// A load of a whole run: as vectors where words have a form of their own, else
/// by a helper that looks. Where they have, the other form has none: a test at
/// each row would leave as many predicated loads as the row has elements.
llvm::Error Fill::loadRun(const RunOf &R, const VectorLeaf &L,
                          const std::string &Into, Run &Out) {
  const Window &Of = *R.A.window();
  auto I = valueText(L.Load->Operands[0], N, R.O, /*AsIndex=*/true);
  if (!I)
    return I.takeError();
  const std::string Part =
      R.Hi - R.Lo < R.Count ? ", " + str(R.Lo) + ", " + str(R.Hi) : "";
  auto Call = [&](const char *Helper, unsigned Bytes, unsigned Head) {
    Helpers.insert(Helper);
    return "::rcache::device::" + std::string(Helper) + "<" + str(Bytes) +
           ", " + str(Head) + Part + ">(" + Into + ", " + L.Load->Text +
           " + (" + *I + "));\n";
  };
  if (Out.OnWord.empty()) {
    Out.Fast += Call("load_run", Of.VectorBytes, L.Head);
  } else {
    Out.Words += Call("load_words", Of.VectorBytes, L.Head);
    Out.Fast += Call("load_words", L.ElemBytes, 0);
  }
  return llvm::Error::success();
}

/// What fills a run that lies inside: loads, and what is computed of them.
llvm::Error Fill::interior(const RunOf &R, Run &Out) {
  const Window &Of = *R.A.window();
  const StagePiece &Piece =
      R.A.Stage.Pieces[static_cast<size_t>(Of.InteriorPiece)];
  ValueTextOptions OfEach = R.O;
  std::vector<std::pair<const Value *, std::string>> Loaded;
  if (!Of.Leaves.empty() && R.Count > 1) {
    if (Piece.V->K == Value::Load && Of.Leaves.size() == 1 &&
        Of.Leaves[0].Load->Type == M.Arrays[R.A.Array].CanonicalType) {
      if (!Out.OnWord.empty())
        Helpers.insert("on_word");
      return loadRun(R, Of.Leaves[0], R.Into, Out);
    }
    Code Declarations;
    for (size_t K = 0; K < Of.Leaves.size(); ++K) {
      const std::string Name = N("l" + str(int64_t(K)));
      Declarations +=
          Of.Leaves[K].Load->Type + " " + Name + "[" + str(R.Count) + "];\n";
      if (llvm::Error E = loadRun(R, Of.Leaves[K], Name, Out))
        return E;
      Loaded.emplace_back(Of.Leaves[K].Load.get(), Name + "[" + N("m") + "]");
    }
    Out.Fast = Declarations + Out.Fast;
    Out.Words = Declarations + Out.Words;
    OfEach.LoadText = [&](const Value *V) {
      const auto It = llvm::find_if(
          Loaded, [&](const auto &X) { return X.first == V || isSameLoad(*X.first, *V); });
      return It == Loaded.end() ? std::string() : It->second;
    };
  }
  if (R.Count > 1)
    nameElement(OfEach.Symbols, R.A, N("m"));
  auto V = valueText(Piece.V, N, OfEach);
  if (!V)
    return V.takeError();
  const Code Each = (R.Count > 1 ? R.Each : "") + R.To + *V + ";\n";
  Out.Fast += Each;
  if (Out.OnWord.empty()) {
    Out.Words = {};
  } else {
    Out.Words += Each;
    Helpers.insert("on_word");
  }
  return llvm::Error::success();
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
llvm::Expected<Code> Fill::wordTest(const ArrayPlan &A, int64_t Count,
                                           const ValueTextOptions &O) const {
  const Window &Of = *A.window();
  int64_t Rows = 1;
  for (size_t D = 0; D + 1 < Of.Extent.size(); ++D)
    Rows *= Of.Extent[D];
  if (Rows < 2 || Of.SlotSpan || !rowsAreLinear(A))
    return "";
  Code T;
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
        return I.takeError();
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
Code Fill::formTests(const Run &R, const std::string &W, const Preamble &First,
                     FormNames &Names) {
  if (!R.Condition.empty() && !R.Condition.is("true"))
    Names.Inside = W + "_inside";
  if (!R.OnWord.empty())
    Names.Words = W + "_words";
  if (Names.Inside.empty() && Names.Words.empty())
    return "";
  std::string Declared = "bool " + Names.Inside;
  Code T;
  if (!Names.Words.empty())
    Declared += (Names.Inside.empty() ? "" : ", ") + Names.Words;
  if (!Names.Inside.empty())
    T += Names.Inside + " = " + R.Condition + ";\n";
  if (!Names.Words.empty())
    T += "// In words when all rows are aligned.\n" + Names.Words + " = " +
         (Names.Inside.empty() ? "" : Names.Inside + " && ") + R.OnWord + ";\n";
  return Declared + ";\n{\n" + First.before(T) + T + "}\n";
}

/// \p Declared, and \p Loads of \p Of for threads that make something of it.
llvm::Expected<Code> Fill::ifNeeded(const Window &Of, const Code &Declared,
                                    const Code &Loads) const {
  if (Of.Needed.is_null())
    return Declared + Loads;
  ValueTextOptions O;
  O.Symbols = N.symbols();
  O.Context = P.Context;
  auto Needed = conditionText(Of.Needed, N, O);
  if (!Needed)
    return Needed.takeError();
  return Declared + "if (" + *Needed + ") { // else no output is made of it\n" +
         Loads + "}\n";
}

llvm::Expected<Code> Fill::reload(const ArrayPlan &A, size_t Index) {
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
  Code T = "// Phase: the elements of " + Arr.Name +
           " that this thread's outputs need.\n";
  T += Arr.ElemType + " " + W + Extents + unset(Of) + ";\n";
  // The first element; in loops over the rows of a window, the row's.
  Preamble First;
  Code Fast, Words, Scalar, Both;
  std::optional<Run> Any;
  const std::vector<WindowBox> Boxes = windowBoxes(Of, Of.Extent);
  for (const WindowBox &Box : Boxes) {
    Preamble Rows;
    std::string RowEnds, Reg = W;
    First = {};
    for (size_t D = 0; D < Of.First.size(); ++D) {
      auto F = affineText(Of.First[D], N, O);
      if (!F)
        return F.takeError();
      const std::string E = N(A.Stage.ElemIds[D]);
      First.number(E, *F);
      if (D + 1 < Of.First.size()) {
        const std::string R = N("r" + str(int64_t(D)));
        const auto [Lo, Hi] = Box[D];
        if (Hi - Lo == 1) { // one row: no loop
          Rows.add("{\n");
          Rows.number(R, str(Lo));
        } else
          Rows.add("#pragma unroll\nfor (int " + R + " = " + str(Lo) + "; " + R +
                   " < " + str(Hi) + "; ++" + R + ") {\n");
        Rows.number(E, *F + " + " + R);
        RowEnds += "}\n";
        Reg += "[" + R + "]";
      } else
        Rows.number(E, *F);
    }
    auto R = Box.empty() ? run(A, Reg, 1)
                         : run(A, Reg, Of.Extent.back(), Box.back().first,
                               Box.back().second);
    if (!R)
      return R.takeError();
    auto AllRows = [&](const Code &Body) {
      return Rows.before(Body) + Body + RowEnds;
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
    return ifNeeded(Of, T, "{\n" + Both + "}\n");
  Code Forms;
  if (!Form.Words.empty())
    Forms += "if (" + Form.Words + ") {\n" + Words + "} else ";
  if (!Form.Inside.empty())
    Forms += "if (" + Form.Inside + ") {\n" + Fast + "} else ";
  return ifNeeded(Of, T,
                  Forms + "{\n" + (Form.Inside.empty() ? Fast : Scalar + Any->End) + "}\n");
}

/// A read of each slot and round, one by one.
llvm::Expected<Code> Fill::early(const ArrayPlan &A, size_t Index) {
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
      return T.takeError();
    Register += "[" + *T + "]";
  }
  for (const isl::pw_aff &F : Of.First) {
    auto T = affineText(F, N, O);
    if (!T)
      return T.takeError();
    At += (At.empty() ? "" : ", ") + *T;
  }
  if (Of.Extent.empty())
    Extents = Register = "[1]";
  return "// Phase: what this thread's outputs read of " + Arr.Name +
         ", before anything is stored.\n" + Arr.ElemType + " " + W + Extents +
         ";\n" + Loops + W + (Of.Extent.empty() ? "[0]" : Register) + " = " +
         groupName(A) + "_at(" + At + ");\n";
}

/// What stands at the barrier for an array that does not stay; "" where reads
/// evaluate the staging function.
llvm::Expected<Code> Fill::fill(const ArrayPlan &A, size_t I) {
  using Text = llvm::Expected<Code>;
  return std::visit(
      llvm::makeVisitor([](const KeptShared &) -> Text { return ""; },
                        [](const FromSource &) -> Text { return ""; },
                        [&](const ReadEarly &) { return early(A, I); },
                        [&](const Reloaded &) { return reload(A, I); },
                        [&](const StreamedRows &) { return rows(A, I); },
                        [](const Owned &) -> Text { return ""; },
                        [&](const Restaged &R) { return restage(A, R); },
                        [&](const Shuffled &S) {
                          return S.D.K == Distribution::Cyclic ? cyclic(A, I)
                                                               : chunked(A, I);
                        }),
      A.Where);
}

llvm::Expected<Code> Fill::atBarrier(unsigned Barrier) {
  // Array by array: the staging function, if something asks it, and the
  // windows.
  std::vector<std::pair<std::string, Code>> Windows;
  std::map<std::string, const ArrayPlan *> Asked;
  for (size_t I = 0; I < P.Arrays.size(); ++I) {
    const ArrayPlan &A = P.Arrays[I];
    if (!A.isStaged() || A.Barrier != Barrier || A.Reads.empty())
      continue;
    const std::string Name = groupName(A);
    auto T = fill(A, I);
    if (!T)
      return T;
    if (!A.as<StreamedRows>())
      *T += views(A, I);
    if (A.as<FromSource>() || A.as<StreamedRows>() ||
        T->names(Code::plain(Name) + "_at"))
      Asked.emplace(Name, &A);
    Windows.emplace_back(Name, std::move(*T));
  }
  Code Out;
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

/// `[k] -> { : 0 <= k < 9 }` for the iterators in \p Of, where \p At is executed.
static isl::set rangesOf(const isl::pw_aff &Of, const SharedAccess &At,
                         const KernelModel &M) {
  const isl::ctx Ctx = M.Ctx->ctx();
  isl::set All = always(Ctx);
  for (const std::string &Id : involvedIds(Of)) {
    const int Sym = M.symbolIndex(Id);
    if (Sym < 0 || M.Symbols[Sym].K != Symbol::Iterator)
      continue;
    const isl::pw_aff I = symbolValue(Ctx, Id);
    if (const auto Low = minConst(I, At.Domain))
      All = All.intersect(lessEqual(constantValue(Ctx, *Low), I));
    if (const auto High = maxConst(I, At.Domain))
      All = All.intersect(lessEqual(I, constantValue(Ctx, *High)));
  }
  return All;
}

llvm::Expected<Code> Fill::readText(unsigned Access) const {
  if (P.owned(M.SharedAccesses[Access].Array))
    return ownedElement(Access);
  for (size_t I = 0; I < P.Arrays.size(); ++I) {
    const ArrayPlan &A = P.Arrays[I];
    if (A.as<Restaged>() && llvm::is_contained(A.Reads, Access))
      return restagedElement(A, Access, N.symbols(Names::Of::Slot));
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
          O.Context = rangesOf(W.Register[D], M.SharedAccesses[Access], M);
          auto X = affineText(W.Register[D], N, O);
          if (!X)
            return X.takeError();
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
            return X.takeError();
          T += (D ? ", " : "") + *X;
        }
        return T + ")";
      }
  }
  return llvm::createStringError("a read of '" +
                                 M.Arrays[M.SharedAccesses[Access].Array].Name +
                                 "' has no source");
}
