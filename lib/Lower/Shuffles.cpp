// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Windows whose elements the lanes of a warp load once and hand to each other.
// Every shuffle stands at the level of the barrier that it replaces, under no
// condition that differs inside a warp: all 32 lanes take part. See Fill.h.

#include "Fill.h"

using namespace rcache;

llvm::Expected<Code> Fill::chunked(const ArrayPlan &A, size_t Index) {
  const SharedArray &Arr = M.Arrays[A.Array];
  std::string W = base(Index), Lane = N("lane");
  const Shuffled &Of = *A.as<Shuffled>();
  int64_t B = Of.D.Chunk, Len = Of.W.Extent[0];
  int64_t Q = (Len - 1) / B; // chunks beyond the own one
  ValueTextOptions O;
  O.Symbols = N.symbols();
  auto F = affineText(Of.W.First[0], N, O);
  if (!F)
    return F.takeError();
  std::string E = N("e0");
  auto Low = run(A, W + "_own", B);
  if (!Low)
    return Low.takeError();
  Code T = "// Phase: each lane loads its own chunk of " + Arr.Name +
                  "; " + std::to_string(Q) + (Q == 1 ? " lane loads" : " lanes load") +
                  " what lies behind the warp's last chunk.\n";
  T += Arr.ElemType + " " + W + "_own[" + std::to_string(B) + "], " + W + "_next[" +
       std::to_string(B) + "] = {};\n";
  T += "{\nconst int " + E + " = " + *F + ";\n" + Low->text() + "}\n";
  auto High = run(A, W + "_next", B);
  if (!High)
    return High.takeError();
  T += "if (" + Lane +
       (Of.D.Direction > 0 ? " < " + std::to_string(Q) : " >= " + std::to_string(32 - Q)) +
       ") {\nconst int " + E + " = " + *F + " + " + std::to_string(32 * B) + ";\n" +
       High->text() + "}\n";
  std::string Mm = N("m");
  T += "// Phase: the rest of the window arrives from the lanes that own it.\n";
  T += Arr.ElemType + " " + W + "[" + std::to_string(Len) + "];\n";
  T += "#pragma unroll\nfor (int " + Mm + " = 0; " + Mm + " < " + std::to_string(B) +
       "; ++" + Mm + ")\n  " + W + "[" + Mm + "] = " + W + "_own[" + Mm +
       "];\n";
  std::string Away = Mm + " / " + std::to_string(B), Reg = "[" + Mm + " % " + std::to_string(B) + "]";
  T += "#pragma unroll\nfor (int " + Mm + " = " + std::to_string(B) + "; " + Mm + " < " +
       std::to_string(Len) + "; ++" + Mm + ")\n  " + W + "[" + Mm +
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

llvm::Expected<Code> Fill::cyclic(const ArrayPlan &A, size_t Index) {
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
    return F.takeError();
  Code T = "// Phase: element " + Arr.Name +
                  "[first + 32 * r + lane] of the warp goes to register r of "
                  "its lane (round robin).\n";
  T += Arr.ElemType + " " + W + "_own[" + std::to_string(Regs) + "] = {};\n";
  // The last registers are only partly needed: lanes beyond the halo load none.
  T += "#pragma unroll\nfor (int " + R + " = 0; " + R + " < " + std::to_string(Regs) +
       "; ++" + R + ")\n  if (" + R + " * 32 + " + Lane + " < " +
       std::to_string(32 * C + Span - 1) + ")\n    " + W + "_own[" + R +
       "] = " + groupName(A) + "_at(" + *F + " + " + R + " * 32);\n";
  T += "// Phase: slot s reads element lane + j from the lane that owns it.\n";
  T += Arr.ElemType + " " + W + "[" + std::to_string(C * Span) + "];\n";
  T += "#pragma unroll\nfor (int " + S + " = 0; " + S + " < " + std::to_string(C) +
       "; ++" + S + ")\n#pragma unroll\nfor (int " + J + " = 0; " + J + " < " +
       std::to_string(Span) + "; ++" + J + ")\n  " + W + "[" + S + " * " + std::to_string(Span) +
       " + " + J + "] = " + J + " == 0 ? " + W + "_own[" + S +
       "] : ::rcache::device::shuffle(" + Lane + " < " + J + " % 32 ? " + W +
       "_own[" + S + " + " + J + " / 32 + (" + J + " % 32 != 0)] : " + W +
       "_own[" + S + " + " + J + " / 32], (" + Lane + " + " + J + ") % 32);\n";
  Helpers.insert("shuffle");
  return T;
}

