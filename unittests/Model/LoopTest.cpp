// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Loops: iterators, cooperative loops, what a loop changes; paths.

#include "ModelTesting.h"
#include <gtest/gtest.h>

using namespace rcache;

namespace {

const Stmt *loop(const KernelModel &M, unsigned Nth = 0) {
  for (const Stmt &S : M.Stmts)
    if (S.K == Stmt::For && Nth-- == 0)
      return &S;
  ADD_FAILURE() << print(M);
  return &M.Stmts[0];
}

Parsed loopBody(const std::string &Text, const std::string &Launch = "") {
  return parse(
      "__global__ void k(float *p, const float *q, int n) {\n"
      "  __shared__ float s[512];\n" +
      Text + "\n}\n" +
      (Launch.empty() ? "" : "void f(float *x) { " + Launch + "(x, x, 9); }"));
}

} // namespace

TEST(Loop, Forms) {
  struct {
    const char *Header, *Domain;
    int64_t Step, Trips, First;
  } Cases[] = {
      {"for (int i = 0; i < 7; ++i)", "[i] -> { : 0 <= i < 7 }", 1, 7, 0},
      {"for (int i = -3; i <= 3; i++)", "[i] -> { : -3 <= i <= 3 }", 1, 7, -3},
      {"for (int i = 9; i > 0; i -= 2)",
       "[i] -> { : 0 < i <= 9 and i mod 2 = 1 }", -2, 5, 9},
      {"for (int i = 9; i >= 0; --i)", "[i] -> { : 0 <= i <= 9 }", -1, 10, 9},
      {"for (int i = 0; i != 5; i = i + 1)", "[i] -> { : 0 <= i < 5 }", 1, 5,
       0},
      {"for (unsigned i = 1; 10 > i; i += 4)",
       "[i] -> { : 1 <= i < 10 and i mod 4 = 1 }", 4, 3, 1},
      {"for (int i = 0, j = 5; i < 4; ++i, --j)", "[i] -> { : 0 <= i < 4 }", 1,
       4, 0},
  };
  for (auto &C : Cases) {
    Parsed P = loopBody(std::string(C.Header) + " p[i] = s[i];");
    const KernelModel &M = P.only();
    const Stmt &L = *loop(M);
    ASSERT_GE(L.IterSymbol, 0) << C.Header << print(M);
    EXPECT_TRUE(same(M, L.IterDomain, C.Domain)) << C.Header;
    EXPECT_EQ(L.Step, C.Step) << C.Header;
    EXPECT_EQ(L.ConstTripCount, C.Trips) << C.Header;
    EXPECT_EQ(L.ConstFirst, C.First) << C.Header;
    EXPECT_EQ(M.text(L.HeaderRange), C.Header);
  }
}

TEST(Loop, NotCounted) {
  for (const char *Text :
       {"for (int i = 0; i < n; ++i) { if (s[i] > 0) ++i; }", // changed inside
        "for (int i = 0; i * i < n; ++i) p[i] = s[i];",
        "for (int i = 1; i < n; i = 2 * i + 1) p[i] = s[i];",
        "for (unsigned i = 9; i >= 0; --i) p[i] = s[i];", // never ends
        "for (int i = 0, m = n; i < m; ++i) { --m; p[i] = s[i]; }"}) {
    Parsed P = loopBody(Text);
    EXPECT_EQ(loop(P.only())->IterSymbol, -1) << Text;
  }
}

TEST(Loop, Cooperative) {
  Parsed P =
      loopBody("for (int i = threadIdx.x; i < 300; i += blockDim.x) s[i] = q[i];");
  const Stmt &L = *loop(P.only());
  EXPECT_TRUE(L.Cooperative);
  EXPECT_EQ(L.CooperativeAxes, unsigned(DepThreadX));
  EXPECT_TRUE(same(P.only(), L.IterDomain, "[i] -> { : 0 <= i < 300 }"));
  // The whole block, two axes.
  Parsed Q =
      loopBody("int t = threadIdx.y * blockDim.x + threadIdx.x;\n"
           "for (int i = t; i < n; i += blockDim.x * blockDim.y) s[i] = q[i];");
  EXPECT_TRUE(loop(Q.only())->Cooperative) << print(Q.only());
  EXPECT_EQ(loop(Q.only())->CooperativeAxes, unsigned(DepThreadX | DepThreadY));
  // The step is the block's size, known from the launch.
  Parsed R =
      loopBody("for (int i = threadIdx.x + 2; i < 300; i += 128) s[i] = q[i];",
           "k<<<4, 128>>>");
  EXPECT_TRUE(loop(R.only())->Cooperative) << print(R.only());
  EXPECT_TRUE(
      same(R.only(), loop(R.only())->IterDomain, "[i] -> { : 2 <= i < 300 }"));
  // It is not when the launch uses other blocks.
  Parsed S = loopBody("for (int i = threadIdx.x; i < 300; i += 128) s[i] = q[i];",
                  "k<<<4, 64>>>");
  EXPECT_FALSE(loop(S.only())->Cooperative);
  EXPECT_GE(loop(S.only())->IterSymbol, 0);
  // Nor with a bound that threads differ in.
  Parsed T = loopBody(
      "for (int i = threadIdx.x; i < 300 + (int)threadIdx.x; i += blockDim.x)"
      " s[i] = q[i];");
  EXPECT_FALSE(loop(T.only())->Cooperative);
  // Nor when some threads have left, or do not enter.
  const char *Loop =
      "for (int i = threadIdx.x; i < 300; i += blockDim.x) s[i] = q[i];";
  for (const char *Before :
       {"if (threadIdx.x >= n) return;", "if (threadIdx.x < 32)",
        "if (q[threadIdx.x] > 0) return;"}) {
    Parsed U = loopBody(std::string(Before) + Loop);
    EXPECT_FALSE(loop(U.only())->Cooperative) << Before;
  }
}

TEST(Loop, GridStrideKeepsTheThreadApart) {
  Parsed P = loopBody("for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;\n"
                  "     i += blockDim.x * gridDim.x) p[i] = q[i];");
  const KernelModel &M = P.only();
  const Stmt &L = *loop(M);
  ASSERT_GE(L.IterSymbol, 0) << print(M);
  EXPECT_EQ(M.Symbols[L.IterSymbol].Depends & DepThread, 0u);
  EXPECT_EQ(M.Symbols[L.IterSymbol].Text, "(i - threadIdx.x)");
  EXPECT_TRUE(
      same(M, M.GlobalAccesses.at(0).Index->Aff, "[tx, i] -> { [(tx + i)] }"));
}

TEST(Loop, Halving) {
  Parsed P =
      loopBody("for (unsigned h = blockDim.x / 2; h > 0; h >>= 1) {\n"
           "  if (threadIdx.x < h) s[threadIdx.x] += s[threadIdx.x + h];\n"
           "  __syncthreads();\n}");
  const KernelModel &M = P.only();
  const Stmt &L = *loop(M);
  EXPECT_EQ(L.IterSymbol, -1);
  EXPECT_EQ(L.Factor, -2);
  EXPECT_EQ(M.Symbols[L.FactorSymbol].Text, "h");
  const SharedAccess &A = access(M, "s[threadIdx.x + h]");
  EXPECT_TRUE(same(M, A.Index.at(0), "[tx, h] -> { [(tx + h)] }"));
  EXPECT_TRUE(A.DomainExact);
  EXPECT_EQ(P.declines(), "");
}

TEST(Loop, InductionVariables) {
  Parsed P = loopBody(
      "int j = 5; const float *r = q;\n"
      "for (int i = 2; i < 9; ++i, r += n) { j += 3; s[i] = r[threadIdx.x];\n"
      "  p[i] = s[j]; }");
  const KernelModel &M = P.only();
  EXPECT_TRUE(same(M, access(M, "s[j]").Index.at(0),
                   "[i] -> { [(5 + 3*(i - 2) + 3)] }"));
  const SharedAccess &A = access(M, "s[i]");
  ASSERT_EQ(A.Stored->K, Value::Load);
  EXPECT_TRUE(same(M, A.Stored->Operands.at(0)->Aff,
                   "[i, tx, n, ni] -> { [(tx + ni - 2n)] }"))
      << print(M);
  // Step 4: the bytes moved are known when 4 divides what is added.
  Parsed Q = loopBody(
      "int j = 0;\nfor (int i = 0; i < 64; i += 4) { p[i] = s[j]; j += 8; }");
  EXPECT_TRUE(same(Q.only(), access(Q.only(), "s[j]").Index.at(0),
                   "[i] -> { [(2i)] }"));
}

TEST(Loop, WhatALoopChangesIsNewInIt) {
  Parsed P = loopBody(
      "int j = 0;\n"
      "for (int i = 0; i < n; ++i) { p[i] = s[j]; if (p[i] > 0) j += 3; }\n"
      "p[0] = s[j];");
  const KernelModel &M = P.only();
  const SharedAccess &In = access(M, "s[j]", 0), &After = access(M, "s[j]", 1);
  ASSERT_TRUE(In.Affine && After.Affine) << print(M);
  std::string A = index(M, "s[j]", 0), B = index(M, "s[j]", 1);
  EXPECT_NE(A, B);
  EXPECT_NE(A.find("j"), std::string::npos);
}

TEST(Loop, UninitialisedVariableCarriesItsOldValue) {
  // x of the round before reaches the read when i is odd.
  Parsed P = loopBody("int x;\n"
                  "for (int i = 0; i < n; ++i) {\n"
                  "  if (i % 2 == 0) x = i;\n"
                  "  p[i] = s[x];\n}");
  const KernelModel &M = P.only();
  const SharedAccess &A = access(M, "s[x]");
  ASSERT_TRUE(A.Affine) << print(M);
  EXPECT_NE(index(M, "s[x]").find("x"), std::string::npos) << index(M, "s[x]");
}

TEST(Path, EarlyReturn) {
  Parsed P = loopBody("int g = blockIdx.x * blockDim.x + threadIdx.x;\n"
                  "if (g >= n) return;\n"
                  "p[g] = s[threadIdx.x];\n"
                  "if (q[g] > 0) return;\n"
                  "p[g] = s[threadIdx.x + 1];");
  const KernelModel &M = P.only();
  const SharedAccess &A = access(M, "s[threadIdx.x]");
  EXPECT_TRUE(same(M, A.Domain, "[tx, bxbdx, n] -> { : tx + bxbdx < n }"));
  EXPECT_TRUE(A.DomainExact);
  const SharedAccess &B = access(M, "s[threadIdx.x + 1]");
  EXPECT_FALSE(B.DomainExact);
  ASSERT_EQ(B.ExtraGuards.size(), 1u);
}

TEST(Path, BranchesAndShortCircuit) {
  Parsed P = loopBody("int t = threadIdx.x;\n"
                  "if (t > 3 && s[t - 4] > 0) p[t] = 1;\n"
                  "else if (t == 0) p[t] = s[t + 9];\n"
                  "p[t] = t < 8 ? s[t + 1] : s[t + 2];");
  const KernelModel &M = P.only();
  EXPECT_TRUE(same(M, access(M, "s[t - 4]").Domain, "[tx] -> { : tx > 3 }"));
  EXPECT_TRUE(same(M, access(M, "s[t + 9]").Domain, "[tx] -> { : tx = 0 }"));
  EXPECT_TRUE(same(M, access(M, "s[t + 1]").Domain, "[tx] -> { : tx < 8 }"));
  EXPECT_TRUE(same(M, access(M, "s[t + 2]").Domain, "[tx] -> { : tx >= 8 }"));
}
