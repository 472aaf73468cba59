// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Predict/CompilerReport.h"
#include "gtest/gtest.h"

using namespace rcache;

namespace {

TEST(CompilerReport, ReadsEntries) {
  const auto R = parseCompilerReport(
      "ptxas info    : 0 bytes gmem, 64 bytes cmem[3]\n"
      "ptxas info    : Compiling entry function '_Z1aPf' for 'sm_90'\n"
      "ptxas info    : Function properties for _Z1aPf\n"
      "    8 bytes stack frame, 12 bytes spill stores, 16 bytes spill loads\n"
      "ptxas info    : Used 37 registers, used 1 barriers, 1056 bytes smem, "
      "372 "
      "bytes cmem[0]\n"
      "ptxas info    : Compile time = 3.1 ms\n"
      "ptxas info    : Compiling entry function '_Z1bPf' for 'sm_80'\n"
      "ptxas info    : Function properties for _Z1bPf\n"
      "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used 255 registers, used 0 barriers\n");
  ASSERT_EQ(2u, R.size());
  EXPECT_EQ((FunctionReport{"_Z1aPf", "sm_90", 37, 1, 8, 12, 16, 1056}), R[0]);
  EXPECT_EQ((FunctionReport{"_Z1bPf", "sm_80", 255, 0, 0, 0, 0, 0}), R[1]);
}

TEST(CompilerReport, DeviceFunctionsDoNotCount) {
  const auto R = parseCompilerReport(
      "ptxas info    : Compiling entry function '_Z1aPf' for 'sm_90'\n"
      "ptxas info    : Function properties for _Z6helperf\n"
      "    64 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads\n"
      "ptxas info    : Function properties for _Z1aPf\n"
      "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used 10 registers\n");
  ASSERT_EQ(1u, R.size());
  EXPECT_EQ((FunctionReport{"_Z1aPf", "sm_90", 10, 0, 0, 0, 0, 0}), R[0]);
}

TEST(CompilerReport, Noise) {
  EXPECT_TRUE(parseCompilerReport("").empty());
  EXPECT_TRUE(parseCompilerReport("warning: x\nUsed 3 registers\n").empty());
}

TEST(CompilerReport, MissingProgramIsAnError) {
  CompilerQuery Q;
  Q.Program = "/nonexistent/ptxas";
  Q.Source = "a.ptx";
  Q.Arch = "sm_90";
  auto R = askCompiler(Q);
  ASSERT_FALSE(bool(R));
  EXPECT_EQ("cannot run '/nonexistent/ptxas'", llvm::toString(R.takeError()));
}

} // namespace
