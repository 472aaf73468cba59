// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Printer.h.

#include "Printer.h"
#include "Lower/Names.h"
#include "Lower/Queries.h"
#include "llvm/ADT/STLExtras.h"

using namespace rcache;

namespace {

const char *const Slot[3] = {"s", "sy", "sz"};
const char *const First[3] = {"tx", "ty", "tz"};
const char *const Thread[3] = {"thread_x", "thread_y", "thread_z"};
// Joined blocks: the place of a slot's block among them, and of the first slot's.
const char *const Part[3] = {"part_x", "part_y", "part_z"};
const char *const FirstPart[3] = {"px", "py", "pz"};
const char *const Block[3] = {"block_x", "block_y", "block_z"};

class Printer {
public:
  Printer(const LoweredKernel &K, const KernelModel &M, const Plan &P)
      : K(K), M(M), P(P) {}

  std::string sequence(const Sequence &S) {
    std::string T;
    for (const Node &X : S)
      T += std::visit([&](const auto &N) { return print(N); }, X.Is);
    return T;
  }

private:
  const LoweredKernel &K;
  const KernelModel &M;
  const Plan &P;
  /// Which slot text stands in: that of a slot loop, the first one elsewhere.
  enum { FirstSlot, FirstOfRow, OfLoop } Current = FirstSlot;

  std::string N(const std::string &Base) const { return M.NamePrefix + Base; }

  std::string unrolled(const std::string &I, int64_t Count) const {
    return "#pragma unroll\nfor (int " + I + " = 0; " + I + " < " + str(Count) +
           "; ++" + I + ")";
  }

  std::string subscripts() const {
    std::string T;
    for (int A = 2; A >= 0; --A)
      if (P.hasSlots(unsigned(A)))
        T += Current == OfLoop || (Current == FirstOfRow && A > 0)
                 ? "[" + N(Slot[A]) + "]"
                 : "[0]";
    return T;
  }
  std::string extents() const { return slotExtents(P); }

  std::string code(const Code &C) const {
    return C.print(M, {[&](unsigned V) { return K.PerSlot.count(V) != 0; },
                       subscripts()});
  }

  std::string print(const Statements &X) { return code(X.Text); }
  std::string print(const Exchange &X) { return code(X.Text); }
  std::string print(const Leave &X) {
    return "if (" + code(X.If) + ")\ncontinue;\n";
  }
  std::string print(const Sync &X) {
    return X.Scope == SyncScope::Warp ? "__syncwarp();\n" : code(X.Text);
  }
  std::string print(const Braces &X) { return "{\n" + sequence(X.Body) + "}\n"; }

  std::string print(const PerSlotVar &X) {
    const Var &V = M.Vars[X.Var];
    std::string T = V.Type + " " + Code::expanded(X.Var) + V.Name + extents();
    for (int64_t E : V.ArrayExtents)
      T += "[" + str(E) + "]";
    return T + (X.Zeroed ? " = {};\n" : ";\n");
  }

  std::string print(const ActiveFlags &) {
    SlotLoop Set;
    Set.Body.push_back(Statements{N("active") + Code::slot() + " = true;\n"});
    return "bool " + N("active") + extents() +
           "; // slots that have not returned\n" + print(Set);
  }

  /// Where slot \p I along axis \p A of joined blocks is.
  std::string joined(const SlotLoop &X, unsigned A, const std::string &I) const {
    const int64_t G = P.Map.Group[A], Threads = (*P.Map.Block)[A];
    const std::string Run = str(G * P.Map.lanes(A));
    const std::string Runs =
        (G == 1 ? I : "(unsigned int)" + I + " / " + str(G)) + " * " + Run;
    const std::string In = G == 1 ? "" : " + " + I + " % " + str(G);
    std::string T;
    if (X.Threads[A])
      T += "const unsigned int " + N(Thread[A]) + " = " + N(First[A]) + " + " +
           Runs + " % " + str(Threads) + In + ";\n";
    if (X.Parts[A])
      T += "const unsigned int " + N(Part[A]) + " = " + N(FirstPart[A]) +
           " + " + Runs + " / " + str(Threads) + ";\n";
    if (X.Blocks[A])
      T += "const unsigned int " + N(Block[A]) + " = blockIdx." + "xyz"[A] +
           " * " + str(P.Map.Blocks[A]) + " + " + N(Part[A]) + ";\n";
    return T;
  }

  std::string print(const SlotLoop &X) {
    std::string T, Decls, Closing;
    for (int A = 2; A >= 0; --A) {
      if (!P.hasSlots(unsigned(A)))
        continue;
      const std::string I = N(Slot[A]);
      T += unrolled(I, P.Map.Factor[A]) + "\n";
      if (X.Rows && X.Rows->Axis == A) {
        T += "{\n" + roundOfRow(*X.Rows, " - " + I) + "continue;\n" + RoundIsSet;
        Closing += "}\n";
      }
      if (P.Map.joins())
        Decls += joined(X, unsigned(A), I);
      else if (X.Threads[A] && !X.Pair)
        Decls += "const unsigned int " + N(Thread[A]) + " = " + N(First[A]) +
                 " + " + I +
                 (P.Map.Stride[A] == 1 ? "" : " * " + str(P.Map.Stride[A])) +
                 ";\n";
    }
    Current = OfLoop;
    std::string Body = sequence(X.Body);
    if (X.Pair)
      Body = "const auto " + N("run") + " = [&](const unsigned int" +
             (X.Threads[0] ? " " + N(Thread[0]) : "") +
             code(X.Pair->Parameters) + ") {\n" + Body + "};\n" +
             code(X.Pair->Runs);
    Current = FirstSlot;
    return Code::mark('S', 0) + T + "{\n" + Decls + Body + "}\n" + Closing +
           Code::mark('Z', 0);
  }

  std::string print(const If &X) {
    std::string T = "if (" + code(X.Cond) + ") {\n" + sequence(X.Then) + "}";
    if (X.Alternatives)
      return Code::mark('A', 0) + T + " else " + Code::mark('B', 0) + "{\n" +
             sequence(X.Else) + "}\n" + Code::mark('C', 0);
    if (X.HasElse)
      T += " else {\n" + sequence(X.Else) + "}";
    return T + "\n";
  }

  std::string print(const Loop &X) {
    const std::string Body = " {\n" + sequence(X.Body) + "}";
    switch (X.K) {
    case Loop::For:
      return (X.Unrolled ? "\n#pragma unroll\n" : "") + code(X.Head) + Body +
             "\n";
    case Loop::While:
      return "while (" + code(X.Head) + ")" + Body + "\n";
    case Loop::Do:
      return "do" + Body + " while (" + code(X.Head) + ");\n";
    }
    return "";
  }

  //===--- Rows that are used up as they are loaded ---===//

  std::string RoundIsSet; ///< in the loop over rows that is being printed

  /// The round that a slot is in when row `rc_row` is there; `if` it is none.
  std::string roundOfRow(const StreamedRows &Rows, const std::string &Slot) {
    const Stmt &L = M.stmt(Rows.Loop);
    const int64_t First = *L.ConstFirst, Last = First + *L.ConstTripCount - 1;
    const std::string J = N("round");
    std::string Shift;
    if (Rows.Offset)
      Shift = (Rows.Offset > 0 ? " - " : " + ") + str(std::abs(Rows.Offset));
    return "const int " + J + " = " + N("row") + Slot + Shift + ";\nif (" + J +
           " < " + str(First) + " || " + J + " > " + str(Last) + ")\n";
  }

  std::string print(const RowLoop &X) {
    const std::string Row = N("row");
    RoundIsSet = code(X.RoundIsSet);
    std::string T;
    for (const RowLoop::Form &F : X.Forms) {
      std::string Loop = unrolled(Row, X.Rows->W.Extent[0]) + " {\n" +
                         code(F.LoadRow);
      if (X.Rows->Axis < 0 || P.Map.Factor[X.Rows->Axis] == 1)
        Loop += roundOfRow(*X.Rows, "") + "continue;\n" + RoundIsSet;
      Loop += sequence(X.Body) + "}\n";
      T += Code::mark(T.empty() ? 'A' : 'B', 0);
      if (!F.If.empty())
        T += "if (" + code(F.If) + ") {\n" + Loop + "} else ";
      else if (X.Forms.size() == 1)
        T += Loop;
      else
        T += "{" + (F.Remark.empty() ? "" : " // " + F.Remark) + "\n" + Loop +
             "}\n";
    }
    RoundIsSet.clear();
    return T + Code::mark('C', 0);
  }

  std::string print(const IfAnySlot &X) {
    return "{\nbool " + N("any") + " = false; // is one of the slots left?\n" +
           print(X.Test) + "if (" + N("any") + ") {\n" + sequence(X.Body) +
           "}\n}\n";
  }

  //===--- Stores ---===//

  std::string print(const Collected &X) {
    const GlobalAccess &G = M.GlobalAccesses[P.VectorStores[X.Store].Access];
    const std::string B = collectedName(M, P, X.Store);
    std::string T = G.ElemType + " " + B + extents() + ";\n";
    if (X.Flags)
      T += "bool " + B + "_on" + extents() + " = {};\n";
    return T;
  }

  /// One run a row of slots.
  std::string print(const StoreRun &X) {
    const std::string B = collectedName(M, P, X.Store);
    std::string T, Row;
    for (int A = 2; A > 0; --A)
      if (P.Map.Factor[A] > 1) {
        T += unrolled(N(Slot[A]), P.Map.Factor[A]) + "\n";
        Row += "[" + N(Slot[A]) + "]";
      }
    Current = FirstOfRow;
    T += "::rcache::device::store_run<" + str(P.VectorStores[X.Store].Bytes) +
         ">(" + code(X.Pointer) + " + (" + code(X.Index) + "), " + B + Row +
         ", " + B + "_on" + Row + ");\n";
    Current = FirstSlot;
    return T;
  }
};

} // namespace

std::string rcache::printBody(const LoweredKernel &K, const KernelModel &M,
                              const Plan &P) {
  return Printer(K, M, P).sequence(K.Body);
}

/// Joined blocks: the physical thread in a rectangle of lanes, whose warps are
/// rectangles, and the thread and block that its first slot is.
static std::string joinedPrologue(const LoweredKernel &K, const KernelModel &M,
                                  const Plan &P) {
  const Names N(M, P);
  const Mapping &Map = P.Map;
  const int64_t X = Map.warpLanesX(), WarpsX = Map.lanes(0) / X, Y = 32 / X;
  const std::string T = "threadIdx.x";
  const std::string Lane[2] = {
      Map.lanes(1) == 1 ? T
                        : T + " % " + str(X) + (WarpsX == 1 ? "" : " + " + T + " / 32 % " + str(WarpsX) + " * " + str(X)),
      T + " / " + str(X) + " % " + str(Y) + " + " + T + " / " +
          str(32 * WarpsX) + " * " + str(Y)};
  std::string Out;
  for (unsigned A = 0; A < 2; ++A) {
    if (!K.FirstSlot[A] && !K.FirstPart[A])
      continue;
    if (Map.lanes(A) * Map.Factor[A] == 1)
      continue;
    const std::string L = N.plain(std::string("lane_") + "xy"[A]);
    const std::string V =
        Map.Group[A] == 1 ? L : L + " * " + str(Map.Group[A]);
    const std::string Threads = str((*Map.Block)[A]);
    Out += "const unsigned int " + L + " = " + Lane[A] + ";\n";
    if (K.FirstSlot[A])
      Out += "const unsigned int " + N.plain(First[A]) + " = " + V + " % " +
             Threads + "; // first logical thread\n";
    if (K.FirstPart[A])
      Out += "const unsigned int " + N.plain(FirstPart[A]) + " = " + V + " / " +
             Threads + "; // its block, of those joined\n";
  }
  return Out;
}

std::string rcache::printPrologue(const LoweredKernel &K, const KernelModel &M,
                                  const Plan &P) {
  const Names N(M, P);
  std::string T;
  const std::string Logical = N.plain("block_x"), Grid = N.plain("grid_x");
  if (P.Map.Merge) {
    const std::string X = str(N.mergeAsRows() ? 1 : N.threadsX()) + "u";
    T += "const unsigned int " + Logical +
         (N.mergeAsRows() ? " = blockIdx.x * blockDim.y + threadIdx.y"
                          : " = blockIdx.x * (blockDim.x / " + X +
                                ") + threadIdx.x / " + X) +
         "; // logical block\nif (" + Logical + " >= " + Grid +
         ")\nreturn; // all threads of this logical block\n";
  } else if (K.LogicalBlock)
    T += "const unsigned int " + Logical + " = blockIdx.x;\n";
  if (P.Map.joins())
    return T + joinedPrologue(K, M, P);
  for (unsigned A = 0; A < 3; ++A) {
    if (!K.FirstSlot[A])
      continue;
    std::string U =
        A == 0 ? N.threadX() : std::string("threadIdx.") + "xyz"[A];
    const unsigned C = P.Map.Factor[A];
    if (A == 0 && U != "threadIdx.x" && C > 1)
      U = "(int)(" + U + ")";
    T += "const int " + N.plain(First[A]) + " = " + U;
    if (C == 1)
      T += ";\n";
    else if (P.Map.Stride[A] == 1)
      T += " * " + str(C) + "; // first logical thread\n";
    else if (P.Map.Stride[A] == 32 && A == 0 && P.Map.Block &&
             P.Map.threads(0) == 32) // (the compiler is told how large it gets)
      T += " % 32; // first logical thread\n";
    else if (P.Map.Stride[A] == 32 && A == 0)
      T += " / 32 * " + str(32 * C) + " + " + U +
           " % 32; // first logical thread\n";
    else
      T += "; // first logical thread\n";
  }
  if (K.Lane)
    T += "const int " + N.plain("lane") + " = threadIdx.x % 32;\n";
  return T;
}
