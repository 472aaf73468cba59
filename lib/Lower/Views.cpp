// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What each output of a thread sees of the windows it shares with the others.

#include "Fill.h"
#include "llvm/ADT/StringRef.h"
#include <algorithm>

using namespace rcache;

/// Sums of one slot share no product with another's: each slot sees the window
/// through variables of its own.
bool Fill::hasViews(const ArrayPlan &A) const {
  return M.OwnViews && (A.window() || A.as<ReadEarly>());
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
