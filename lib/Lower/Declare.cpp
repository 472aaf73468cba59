// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What slot loops and the body have to declare so that everything that is named
// in them is there. See Declare.h.

#include "Declare.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace rcache;

std::string rcache::declareRepeated(Sequence &Body, const KernelModel &M,
                                    const Division &D, const StatementText &Text) {
  const StatementText::Place Slots = {true, false};
  std::string Met; // by two variables
  forEachSlotLoop(Body, [&](SlotLoop &L) {
    std::set<unsigned> Needed;
    std::vector<Code> Work;
    forEachCode(L.Body, [&](const Code &C) { Work.push_back(C); });
    while (!Work.empty()) {
      const Code C = std::move(Work.back());
      Work.pop_back();
      for (unsigned V : C.variables(M))
        if (D.VarHome[V] == Home::Repeated && Needed.insert(V).second)
          Work.push_back(Text.copy(M.Vars[V].InitRange, Slots));
    }
    std::vector<unsigned> Order(Needed.begin(), Needed.end());
    llvm::sort(Order, [&](unsigned A, unsigned B) {
      return M.Vars[A].NameRange.Begin < M.Vars[B].NameRange.Begin;
    });
    Code Declarations;
    std::set<std::string> Called;
    for (unsigned V : Order) {
      if (!Called.insert(M.Vars[V].Name).second)
        Met = M.Vars[V].Name;
      Declarations += Text.declaration(V, Slots) + "\n";
    }
    if (!Declarations.empty())
      L.Body.insert(L.Body.begin(), Statements{std::move(Declarations)});
  });
  return Met;
}

void rcache::declareCoordinates(LoweredKernel &K, const Names &N) {
  static const char *Thread[3] = {"thread_x", "thread_y", "thread_z"};
  static const char *First[3] = {"tx", "ty", "tz"};
  static const char *Block[3] = {"block_x", "block_y", "block_z"};
  static const char *Part[3] = {"part_x", "part_y", "part_z"};
  forEachSlotLoop(K.Body, [&](SlotLoop &L) {
    forEachCode(L.Body, [&](const Code &C) {
      for (unsigned A = 0; A < 3; ++A) {
        L.Threads[A] |= C.names(N.plain(Thread[A]));
        L.Blocks[A] |= N.joins(A) && C.names(N.plain(Block[A]));
        L.Parts[A] |= C.names(N.plain(Part[A]));
      }
    });
    for (unsigned A = 0; A < 3; ++A) {
      K.FirstSlot[A] |= L.Threads[A]; // which it is counted from
      L.Parts[A] |= L.Blocks[A];
      K.FirstPart[A] |= L.Parts[A];
    }
  });
  forEachCode(K.Body, [&](const Code &C) {
    for (unsigned A = 0; A < 3; ++A)
      K.FirstSlot[A] |= C.names(N.plain(First[A]));
    K.LogicalBlock |= !N.joins(0) && C.names(N.plain("block_x"));
    K.Lane |= C.names(N.plain("lane"));
  });
}
