// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arrays whose elements belong to the threads of one warp: registers in place of
// the array, and what slots read of others. Every fetch stands at the level of
// the barriers, under no condition that differs inside a warp: all 32 lanes take
// part. See Fill.h.

#include "Fill.h"
#include "Affine/IslTools.h"
#include "llvm/ADT/STLExtras.h"

using namespace rcache;

static std::string str(int64_t V) { return std::to_string(V); }

std::string Fill::ownedElement(unsigned Access) const {
  const unsigned Array = M.SharedAccesses[Access].Array;
  const std::string Own = N(M.Arrays[Array].Name + "_own");
  for (const ArrayPlan &A : P.Arrays)
    if (const auto *Of = A.as<Owned>(); Of && A.Array == Array)
      if (const unsigned Part = Of->PartOf.at(Access))
        return Own + "[" + (P.slots() > 1 ? N("s") + " + " : "") +
               str(int64_t(Part) * P.slots()) + "]";
  return Own + Code::slot();
}

Code Fill::ownedRegisters(unsigned Array) const {
  for (const ArrayPlan &A : P.Arrays)
    if (const auto *Of = A.as<Owned>(); Of && A.Array == Array)
      return M.Arrays[Array].ElemType + " " +
             N(M.Arrays[Array].Name + "_own") + "[" + str(int64_t(Of->Parts) * P.slots()) +
             "] = {};\n";
  return "";
}

/// Reads are told apart by number, in the order of the text.
std::string Fill::fetchedName(unsigned Access) const {
  const unsigned Array = M.SharedAccesses[Access].Array;
  unsigned Fetched = 0, Before = 0;
  for (const ArrayPlan &A : P.Arrays)
    if (const auto *Of = A.as<Owned>(); Of && A.Array == Array)
      for (const Owned::Read &R : Of->Reads)
        if (R.K != Owned::Read::Own) {
          ++Fetched;
          Before += R.Access < Access;
        }
  return N(M.Arrays[Array].Name + "_from" +
           (Fetched > 1 ? str(int64_t(Before)) : ""));
}

llvm::Expected<Code> Fill::fetch(const ArrayPlan &A, const Owned::Read &R) {
  const SharedArray &Arr = M.Arrays[A.Array];
  const std::string Into = fetchedName(R.Access), S = N("s"),
                    Own = N(Arr.Name + "_own");
  ValueTextOptions O;
  O.Symbols = N.symbols();
  O.Symbols["sx"] = CxxAtom(S, true, "int");
  auto By = affineText(R.By, N, O);
  if (!By)
    return By.takeError();
  auto If = conditionText(R.Slots, N, O);
  if (!If)
    return If.takeError();
  const bool Cyclic = P.Map.Stride[0] == 32;
  const std::string Helper =
      R.K == Owned::Read::At ? (Cyclic ? "element_of_all" : "neighbour_of_all")
                             : (Cyclic ? "elements_ahead" : "neighbours_ahead");
  Helpers.insert(Helper);
  const Code All = "#pragma unroll\nfor (int " + S + " = 0; " + S + " < " +
                   str(P.slots()) + "; ++" + S + ")\n";
  Code T = Arr.ElemType + " " + Into + "[" + str(P.slots()) + "];\n";
  if (R.K == Owned::Read::At)
    return T + "{\nconst " + Arr.ElemType + " " + N("of_all") +
           " = ::rcache::device::" + Helper + "(" + Own + ", " + *By +
           ");\n" + All + Into + "[" + S + "] = " + N("of_all") + ";\n}\n";
  return T + All + (*If == "true" ? "" : "if (" + *If + ")\n") + Into + "[" +
         S + "] = ::rcache::device::" + Helper + "(" + Own + ", " + S + ", " +
         *By + ");\n";
}

llvm::Expected<Code> Fill::fetched(llvm::ArrayRef<TextRange> Ranges) {
  Code Out;
  for (const ArrayPlan &A : P.Arrays)
    if (const auto *Of = A.as<Owned>())
      for (const Owned::Read &R : Of->Reads)
        if (R.K != Owned::Read::Own &&
            llvm::any_of(Ranges, [&](TextRange In) {
              return In.contains(M.SharedAccesses[R.Access].Range);
            })) {
          auto T = fetch(A, R);
          if (!T)
            return T;
          Out += *T;
        }
  return Out;
}
