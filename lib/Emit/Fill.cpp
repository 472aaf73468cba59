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

using namespace rcache;

Fill::Fill(const KernelModel &M, const Plan &P, const Names &N)
    : M(M), P(P), N(N) {}

static std::string str(int64_t V) { return std::to_string(V); }

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
        (O.X == Exchange::Direct && !O.Early) || O.X == Exchange::Shared)
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
    if (W.Array == A.Array && W.Writes == A.Writes && !W.Reads.empty())
      Asked = W.Reach.is_null() ? always(M.Ctx->ctx()) : Asked.unite(W.Reach);
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

llvm::Expected<Fill::Run> Fill::run(const ArrayPlan &A, const std::string &Into,
                                    int64_t Count, int64_t Lo, int64_t Hi) {
  const std::string M1 = N("m");
  const bool Part = Hi >= 0 && (Lo > 0 || Hi < Count);
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
      if (A.SlotSpan)
        At += " + " + M1 + " / " + str(A.SlotSpan) + " * " + str(A.SlotStep) +
              " + " + M1 + " % " + str(A.SlotSpan);
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
  if (A.InteriorPiece < 0 || Count < 2)
    return Run{"", "", Scalar};
  const StagePiece &Piece =
      A.Stage.Pieces[static_cast<size_t>(A.InteriorPiece)];
  auto Cond = conditionText(A.Interior, N, O);
  if (!Cond)
    return Cond.takeError();
  std::string Fast;
  auto LoadRun = [&](const VectorLeaf &L,
                     const std::string &Into) -> llvm::Expected<std::string> {
    auto I = valueText(L.Load->Operands[0], N, O, /*AsIndex=*/true);
    if (!I)
      return I;
    Helpers.insert(Part ? "load_part" : "load_run");
    return (Part ? "rcache::device::load_part<" + str(A.VectorBytes) + ", " +
                       str(L.Head) + ", " + str(Lo) + ", " + str(Hi)
                 : "rcache::device::load_run<" + str(A.VectorBytes) + ", " +
                       str(L.Head)) +
           ">(" + Into + ", " + L.Load->Text + " + (" + *I + "));\n";
  };
  if (Piece.V->K == Value::Load && A.Leaves.size() == 1 &&
      A.Leaves[0].Load->Type == M.Arrays[A.Array].CanonicalType) {
    auto T = LoadRun(A.Leaves[0], Into);
    if (!T)
      return T.takeError();
    Fast = *T;
  } else {
    std::map<const Value *, std::string> Names;
    for (size_t K = 0; K < A.Leaves.size(); ++K) {
      std::string Name = N("l" + str(int64_t(K)));
      Fast += A.Leaves[K].Load->Type + " " + Name + "[" + str(Count) + "];\n";
      auto T = LoadRun(A.Leaves[K], Name);
      if (!T)
        return T.takeError();
      Fast += *T;
      Names[A.Leaves[K].Load.get()] = Name + "[" + M1 + "]";
    }
    ValueTextOptions Each = O;
    Each.Symbols[A.Stage.ElemIds.back()] =
        CxxAtom(N(A.Stage.ElemIds.back()) + " + " + M1, false, "int");
    addProductNames(Each.Symbols, A);
    Each.LoadText = [&](const Value *V) {
      auto It = Names.find(V);
      return It == Names.end() ? std::string() : It->second;
    };
    auto V = valueText(Piece.V, N, Each);
    if (!V)
      return V.takeError();
    Fast += Each1 + Into + "[" + M1 + "] = " + *V + ";\n";
  }
  return Run{*Cond, Fast, Scalar};
}

llvm::Expected<std::string> Fill::reload(const ArrayPlan &A, size_t Index) {
  const SharedArray &Arr = M.Arrays[A.Array];
  std::string W = base(Index);
  ValueTextOptions O;
  O.Symbols = N.symbols();
  std::string Extents;
  for (int64_t E : A.Extent)
    Extents += "[" + str(E) + "]";
  if (A.Extent.empty())
    Extents = "[1]";
  std::string T = "// Phase: the elements of " + Arr.Name +
                  " that this thread's outputs need.\n";
  T += Arr.ElemType + " " + W + Extents + ";\n";
  // The first element; in loops over the rows of a window, the row's.
  std::string First, Condition, Fast, Scalar, Both;
  const std::vector<WindowBox> Boxes = windowBoxes(A, A.Extent);
  for (const WindowBox &Box : Boxes) {
    std::string Rows, RowEnds, Reg = W;
    First.clear();
    for (size_t D = 0; D < A.First.size(); ++D) {
      auto F = affineText(A.First[D], N, O);
      if (!F)
        return F;
      const std::string E = N(A.Stage.ElemIds[D]);
      First += "const int " + E + " = " + *F + ";\n";
      if (D + 1 < A.First.size()) {
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
                         : run(A, Reg, A.Extent.back(), Box.back().first,
                               Box.back().second);
    if (!R)
      return R.takeError();
    Condition = R->Condition;
    Fast += Rows + R->Fast + RowEnds;
    Scalar += Rows + R->Scalar + RowEnds;
    Both += Rows + R->text() + RowEnds;
  }
  if (A.First.size() < 2 || Condition.empty() || Condition == "true")
    return T + "{\n" + Both + "}\n";
  // One test for the whole window, then two bodies.
  std::string In = W + "_inside";
  return T + "bool " + In + ";\n{\n" + First + In + " = " + Condition +
         ";\n}\nif (" + In + ") {\n" + Fast + "} else {\n" + Scalar + "}\n";
}

/// A read of each slot and round, one by one.
llvm::Expected<std::string> Fill::early(const ArrayPlan &A, size_t Index) {
  const SharedArray &Arr = M.Arrays[A.Array];
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
  for (int64_t E : A.Extent)
    Extents += "[" + str(E) + "]";
  static const char *Slots[3] = {"sx", "sy", "sz"};
  static const char *SlotNames[3] = {"s", "sy", "sz"};
  for (int D = 2; D >= 0; --D) {
    O.Symbols[Slots[D]] = CxxAtom(N(SlotNames[D]), true, "int");
    if (P.Factor[D] > 1)
      Each(N(SlotNames[D]), 0, int64_t(P.Factor[D]) - 1, 1);
  }
  for (size_t K = 0; K < A.EarlyLoops.size(); ++K) {
    const Stmt &L = M.stmt(A.EarlyLoops[K]);
    const std::string I = N("r" + str(int64_t(K)));
    O.Symbols[M.Symbols[static_cast<size_t>(L.IterSymbol)].Id] =
        CxxAtom(I, true, "int");
    Each(I, *L.ConstFirst, *L.ConstFirst + (*L.ConstTripCount - 1) * *L.Step,
         *L.Step);
  }
  for (const isl::pw_aff &R : A.WindowReads.front().Register) {
    auto T = affineText(R, N, O);
    if (!T)
      return T;
    Register += "[" + *T + "]";
  }
  for (const isl::pw_aff &F : A.First) {
    auto T = affineText(F, N, O);
    if (!T)
      return T;
    At += (At.empty() ? "" : ", ") + *T;
  }
  if (A.Extent.empty())
    Extents = Register = "[1]";
  return "// Phase: what this thread's outputs read of " + Arr.Name +
         ", before anything is stored.\n" + Arr.ElemType + " " + W + Extents +
         ";\n" + Loops + W + (A.Extent.empty() ? "[0]" : Register) + " = " +
         groupName(A) + "_at(" + At + ");\n";
}

/// The lambdas that load one row of a streamed window, and the test that
/// chooses between them.
llvm::Expected<std::string> Fill::rows(const ArrayPlan &A, size_t Index) {
  const SharedArray &Arr = M.Arrays[A.Array];
  const std::string W = base(Index), V = N("v"), Row = N("row");
  ValueTextOptions O;
  O.Symbols = N.symbols();
  std::string First, OfRow, Reg = V;
  for (size_t D = 0; D < A.First.size(); ++D) {
    auto F = affineText(A.First[D], N, O);
    if (!F)
      return F;
    const std::string E = "const int " + N(A.Stage.ElemIds[D]) + " = " + *F;
    First += E + ";\n";
    if (D == 0)
      OfRow += E + " + " + Row + ";\n";
    else if (D + 1 < A.First.size()) {
      const std::string R = N("r" + str(int64_t(D)));
      OfRow += "#pragma unroll\nfor (int " + R + " = 0; " + R + " < " +
               str(A.Extent[D]) + "; ++" + R + ") {\n" + E + " + " + R + ";\n";
      Reg += "[" + R + "]";
    } else
      OfRow += E + ";\n";
  }
  std::string Ends, Extents;
  for (size_t D = 1; D < A.Extent.size(); ++D) {
    Extents += "[" + str(A.Extent[D]) + "]";
    Ends += D + 1 < A.Extent.size() ? "}\n" : "";
  }
  auto R = run(A, Reg, A.Extent.back());
  if (!R)
    return R.takeError();
  RowLoad Load;
  Load.Scalar = R->Condition != "true";
  Load.Fast = !R->Condition.empty();
  if (Load.Fast && Load.Scalar)
    Load.Condition = W + "_inside";
  std::string T = "// Phase: the rows of " + Arr.Name +
                  " that this thread's outputs need, one at a time.\n";
  auto Lambda = [&](const char *Suffix, const std::string &Body) {
    T += "const auto " + W + Suffix + " = [=](" + Arr.ElemType + " (&" + V +
         ")" + Extents + ", const int " + Row + ") {\n" + OfRow + Body + Ends +
         "};\n";
  };
  if (Load.Fast)
    Lambda("_row", R->Fast);
  if (Load.Scalar)
    Lambda("_border_row", R->Scalar);
  if (!Load.Condition.empty())
    T += "bool " + Load.Condition + ";\n{\n" + First + Load.Condition + " = " +
         R->Condition + ";\n}\n";
  RowLoads[Index] = Load;
  return T;
}

std::string Fill::streamInside(unsigned Loop) const {
  std::string T;
  for (const auto &[Index, Load] : RowLoads)
    if (P.Arrays[Index].Stream->Loop == Loop && !Load.Condition.empty())
      T += (T.empty() ? "" : " && ") + Load.Condition;
  return T;
}

std::string Fill::streamedRow(unsigned Loop, const std::string &Row,
                              bool Inside) const {
  std::string T;
  for (const auto &[Index, Load] : RowLoads) {
    const ArrayPlan &A = P.Arrays[Index];
    if (A.Stream->Loop != Loop)
      continue;
    const std::string W = base(Index);
    T += M.Arrays[A.Array].ElemType + " " + W;
    for (size_t D = 1; D < A.Extent.size(); ++D)
      T += "[" + str(A.Extent[D]) + "]";
    const bool Fast = Load.Fast && (Inside || !Load.Scalar);
    T +=
        ";\n" + W + (Fast ? "_row(" : "_border_row(") + W + ", " + Row + ");\n";
  }
  return T;
}

llvm::Expected<std::string> Fill::chunked(const ArrayPlan &A, size_t Index) {
  const SharedArray &Arr = M.Arrays[A.Array];
  std::string W = base(Index), Lane = N("lane");
  int64_t B = A.Chunk, Len = A.Extent[0];
  int64_t Q = (Len - 1) / B; // chunks beyond the own one
  ValueTextOptions O;
  O.Symbols = N.symbols();
  auto F = affineText(A.First[0], N, O);
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
       (A.Direction > 0 ? " < " + str(Q) : " >= " + str(32 - Q)) +
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
       "] = rcache::device::shuffle(";
  if (A.Direction > 0)
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
  int64_t Span = A.SlotSpan, C = P.Factor[0];
  int64_t Regs = C + (Span - 1 + 31) / 32;
  ValueTextOptions O;
  O.Symbols = N.symbols();
  auto F = affineText(A.First[0], N, O);
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
       "] : rcache::device::shuffle(" + Lane + " < " + J + " % 32 ? " + W +
       "_own[" + S + " + " + J + " / 32 + (" + J + " % 32 != 0)] : " + W +
       "_own[" + S + " + " + J + " / 32], (" + Lane + " + " + J + ") % 32);\n";
  Helpers.insert("shuffle");
  return T;
}

llvm::Expected<std::string> Fill::atBarrier(unsigned Barrier) {
  // Array by array: the staging function, if something asks it, and the
  // windows.
  std::vector<std::pair<std::string, std::string>> Windows;
  std::map<std::string, const ArrayPlan *> Asked;
  for (size_t I = 0; I < P.Arrays.size(); ++I) {
    const ArrayPlan &A = P.Arrays[I];
    if (A.X == Exchange::Shared || A.Barrier != Barrier || A.Reads.empty())
      continue;
    const std::string Name = groupName(A);
    std::string T;
    if (A.X != Exchange::Direct || A.Early) {
      auto F = A.Early                   ? early(A, I)
               : A.Stream                ? rows(A, I)
               : A.X == Exchange::Reload ? reload(A, I)
               : A.Cyclic                ? cyclic(A, I)
                                         : chunked(A, I);
      if (!F)
        return F;
      T = std::move(*F);
    }
    if (A.X == Exchange::Direct || A.Stream ||
        T.find(Name + "_at(") != std::string::npos)
      Asked.emplace(Name, &A);
    Windows.emplace_back(Name, std::move(T));
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
    for (const WindowRead &W : A.WindowReads)
      if (W.Access == Access) {
        std::string T = base(I);
        for (size_t D = A.Stream ? 1 : 0; D < W.Register.size(); ++D) {
          auto X = affineText(W.Register[D], N, O);
          if (!X)
            return X;
          T += "[" + *X + "]";
        }
        if (W.Register.empty())
          T += "[0]";
        return T;
      }
    if (A.X != Exchange::Direct)
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
