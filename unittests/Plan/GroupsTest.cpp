// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Staging groups: which reads see which writes.

#include "Plan/Groups.h"
#include "PlanTesting.h"

using namespace rcache;

namespace {

/// Accesses of each group as text: "s[t] s[t + 1] -> s[t] | ...".
std::string groups(const Parsed &P, unsigned Array = 0) {
  const KernelModel &M = P.only();
  const GroupsResult R = findGroups(M, Array);
  if (R.Reason)
    return spelling(R.Reason->Code);
  std::string T;
  for (const StagingGroup &G : R.Groups) {
    T += T.empty() ? "" : " | ";
    for (unsigned W : G.Writes)
      T += M.text(M.SharedAccesses[W].Range) + " ";
    T += G.MayHoldOlder ? "=>" : "->";
    for (unsigned Rd : G.Reads)
      T += " " + M.text(M.SharedAccesses[Rd].Range);
  }
  return T;
}

const char *const GroupsHead = "__shared__ float s[300]; int t = threadIdx.x;\n"
                         "int g = blockIdx.x * blockDim.x + t;\n";

TEST(Groups, TileAndHalo) {
  EXPECT_EQ("s[t] s[t + 256] -> s[t] s[t + 2]",
            groups(kernel(std::string(GroupsHead) +
                              "s[t] = in[g]; if (t < 2) s[t + 256] = in[g + "
                              "256];\n__syncthreads();\n"
                              "out[g] = s[t] + s[t + 2];",
                          "256")));
}

// Each staging is a group of its own; the second one may find older elements.
TEST(Groups, OneAfterTheOther) {
  EXPECT_EQ("s[t] -> s[t + 1] | s[t] => s[255 - t]",
            groups(kernel(std::string(GroupsHead) +
                              "s[t] = in[g]; __syncthreads();\n"
                              "float a = s[t + 1]; __syncthreads();\n"
                              "s[t] = in[g + n]; __syncthreads();\n"
                              "out[g] = a + s[255 - t];",
                          "256")));
}

TEST(Groups, TileLoop) {
  EXPECT_EQ("s[t] => s[i]",
            groups(kernel(std::string(GroupsHead) +
                              "float a = 0;\n"
                              "for (int k = 0; k < n; ++k) {\n"
                              "  s[t] = in[k * 256 + t]; __syncthreads();\n"
                              "  for (int i = 0; i < 256; ++i) a += s[i];\n"
                              "  __syncthreads();\n}\nout[g] = a;",
                          "256")));
}

TEST(Groups, WhatHasNone) {
  auto Of = [](const char *Body) {
    return groups(kernel(std::string(GroupsHead) + Body, "256"));
  };
  EXPECT_EQ("not-staged", Of("out[g] = s[t]; s[t] = in[g]; __syncthreads();"));
  EXPECT_EQ("computed-exchange",
            Of("s[t] = in[g]; out[g] = s[t]; __syncthreads();"));
  EXPECT_EQ("computed-exchange", Of("s[t] = in[g]; __syncthreads(); s[t] += 1;"
                                    "__syncthreads(); out[g] = s[t];"));
  // A read of the round before.
  EXPECT_EQ("barrier-in-loop",
            Of("s[t] = in[g]; __syncthreads();\n"
               "for (int k = 0; k < n; ++k) {\n"
               "  out[g] = s[t + 1]; __syncthreads();\n"
               "  s[t] = in[g + k]; __syncthreads();\n}"));
  EXPECT_EQ("shared-atomics",
            groups(kernel("__shared__ int c[4]; c[threadIdx.x % 4] = 0;\n"
                          "__syncthreads(); atomicAdd(&c[n % 4], 1);\n"
                          "__syncthreads(); out[threadIdx.x] = c[0];",
                          "256")));
}

// What races in the original is worth a word.
TEST(Groups, RaceOfTheOriginal) {
  Parsed P = kernel(std::string(GroupsHead) + "s[t] = in[g]; __syncthreads();\n"
                                        "float a = s[t + 1];\n"
                                        "s[t] = in[g + n]; __syncthreads();\n"
                                        "out[g] = a + s[t];",
                    "256");
  const GroupsResult R = findGroups(P.only(), 0);
  ASSERT_EQ(1u, R.Notes.size());
  EXPECT_NE(std::string::npos, R.Notes[0].find("race in the original"));
}

} // namespace
