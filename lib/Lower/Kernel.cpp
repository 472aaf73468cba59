// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Kernel.h.

#include "Kernel.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace rcache;

std::string rcache::collectedName(const KernelModel &M, const Plan &P,
                                  unsigned Store) {
  const GlobalAccess &G = M.GlobalAccesses[P.VectorStores[Store].Access];
  std::string Pointer = M.Params[static_cast<size_t>(G.Root)].Name;
  std::replace(Pointer.begin(), Pointer.end(), '.', '_'); // of a struct
  return M.NamePrefix + Pointer + "_v" +
         (P.VectorStores.size() > 1 ? std::to_string(Store) : "");
}

std::string rcache::readName(const KernelModel &M, const Plan &P,
                             unsigned Read) {
  const GlobalAccess &G = M.GlobalAccesses[P.VectorReads[Read].Access];
  std::string Pointer = M.Params[static_cast<size_t>(G.Root)].Name;
  std::replace(Pointer.begin(), Pointer.end(), '.', '_'); // of a struct
  return M.NamePrefix + Pointer + "_run" +
         (P.VectorReads.size() > 1 ? std::to_string(Read) : "");
}

void rcache::forEachCode(const Sequence &Body,
                         llvm::function_ref<void(const Code &)> Visit) {
  auto In = [&](const Sequence &S) { forEachCode(S, Visit); };
  for (const Node &N : Body)
    std::visit(llvm::makeVisitor(
                   [&](const Statements &X) { Visit(X.Text); },
                   [&](const PerSlotVar &) {}, [&](const ActiveFlags &) {},
                   [&](const Leave &X) { Visit(X.If); },
                   [&](const SlotLoop &X) {
                     if (X.Pair)
                       Visit(X.Pair->Runs);
                     In(X.Body);
                   },
                   [&](const Exchange &X) { Visit(X.Text); },
                   [&](const Sync &X) { Visit(X.Text); },
                   [&](const Braces &X) { In(X.Body); },
                   [&](const If &X) {
                     Visit(X.Cond);
                     In(X.Then);
                     In(X.Else);
                   },
                   [&](const Loop &X) {
                     Visit(X.Head);
                     In(X.Body);
                   },
                   [&](const RowLoop &X) {
                     for (const RowLoop::Form &F : X.Forms) {
                       Visit(F.If);
                       Visit(F.LoadRow);
                     }
                     Visit(X.RoundIsSet);
                     In(X.Body);
                   },
                   [&](const IfAnySlot &X) {
                     In(X.Test.Body);
                     In(X.Body);
                   },
                   [&](const Collected &) {},
                   [&](const StoreRun &X) {
                     Visit(X.Pointer);
                     Visit(X.Index);
                   }),
               N.Is);
}

void rcache::forEachSlotLoop(Sequence &Body,
                             llvm::function_ref<void(SlotLoop &)> Visit) {
  auto In = [&](Sequence &S) { forEachSlotLoop(S, Visit); };
  for (Node &N : Body)
    std::visit(llvm::makeVisitor([&](SlotLoop &X) { Visit(X); },
                                 [&](Braces &X) { In(X.Body); },
                                 [&](If &X) {
                                   In(X.Then);
                                   In(X.Else);
                                 },
                                 [&](Loop &X) { In(X.Body); },
                                 [&](RowLoop &X) { In(X.Body); },
                                 [&](IfAnySlot &X) {
                                   Visit(X.Test);
                                   In(X.Body);
                                 },
                                 [](Statements &) {}, [](PerSlotVar &) {},
                                 [](ActiveFlags &) {}, [](Leave &) {},
                                 [](Exchange &) {}, [](Sync &) {},
                                 [](Collected &) {}, [](StoreRun &) {}),
               N.Is);
}
