// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a pipeline of LLVM's passes needs beside it.

#ifndef RCACHE_CHECK_LIB_ANALYSES_H
#define RCACHE_CHECK_LIB_ANALYSES_H

#include "llvm/Passes/PassBuilder.h"

namespace rcache::check {

/// The managers of analyses of all kinds, made known to a builder and to each other.
struct Analyses {
  explicit Analyses(llvm::PassBuilder &PB) {
    PB.registerModuleAnalyses(OfModules);
    PB.registerCGSCCAnalyses(OfCycles);
    PB.registerFunctionAnalyses(OfFunctions);
    PB.registerLoopAnalyses(OfLoops);
    PB.crossRegisterProxies(OfLoops, OfFunctions, OfCycles, OfModules);
  }

  llvm::LoopAnalysisManager OfLoops;
  llvm::FunctionAnalysisManager OfFunctions;
  llvm::CGSCCAnalysisManager OfCycles;
  llvm::ModuleAnalysisManager OfModules;
};

} // namespace rcache::check

#endif // RCACHE_CHECK_LIB_ANALYSES_H
