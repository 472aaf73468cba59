// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Integer arithmetic of C++: what an index is, wrap-around included.

#include "ModelTesting.h"
#include <gtest/gtest.h>

using namespace rcache;

namespace {

/// The model of a kernel whose body stages p[..] and reads s[EXPR] at the end.
Parsed reading(const std::string &Body) {
  return parse("__global__ void k(float *p, int n, int w, unsigned u) {\n"
               "  __shared__ float s[256];\n"
               "  s[threadIdx.x] = 1.f;\n" +
               Body + "\n}\n");
}

bool readIs(const std::string &Body, const std::string &Notation) {
  Parsed P = reading(Body);
  const KernelModel &M = P.only();
  for (const SharedAccess &A : M.SharedAccesses)
    if (A.K == SharedAccess::Read) {
      EXPECT_TRUE(A.Affine) << print(M);
      return A.Affine && same(M, A.Index.at(0), Notation);
    }
  ADD_FAILURE() << print(M);
  return false;
}

} // namespace

TEST(Index, Basic) {
  EXPECT_TRUE(readIs("*p = s[threadIdx.x + 3];", "[tx] -> { [(tx + 3)] }"));
  EXPECT_TRUE(readIs("int i = threadIdx.x; i += 2; i--; *p = s[2 * i];",
                     "[tx] -> { [(2tx + 2)] }"));
  EXPECT_TRUE(readIs("*p = s[blockDim.x - 1 - threadIdx.x];",
                     "[tx, bdx] -> { [(bdx - 1 - tx)] }"));
  EXPECT_TRUE(readIs("*p = *(s + threadIdx.x + 1);", "[tx] -> { [(tx + 1)] }"));
  EXPECT_TRUE(readIs("float *q = s + 4; q++; *p = q[threadIdx.x];",
                     "[tx] -> { [(tx + 5)] }"));
  EXPECT_TRUE(readIs("float *q = &s[threadIdx.x]; *p = q[-1];",
                     "[tx] -> { [(tx - 1)] }"));
}

TEST(Index, DivisionTruncates) {
  EXPECT_TRUE(readIs("int i = threadIdx.x; *p = s[(i - 4) / 2];",
                     "[tx] -> { [(floor((tx - 4)/2))] : tx >= 4; "
                     "[(-floor((4 - tx)/2))] : tx < 4 }"));
  EXPECT_TRUE(readIs("int i = threadIdx.x; *p = s[(i - 4) % 3 + 3];",
                     "[tx] -> { [(3 + (tx - 4) mod 3)] : tx >= 4; "
                     "[(3 - (4 - tx) mod 3)] : tx < 4 }"));
  EXPECT_TRUE(readIs("*p = s[threadIdx.x / 4 + threadIdx.x % 4];",
                     "[tx] -> { [(floor(tx/4) + tx mod 4)] }"));
}

TEST(Index, Bits) {
  EXPECT_TRUE(readIs("*p = s[threadIdx.x & 31];", "[tx] -> { [(tx mod 32)] }"));
  EXPECT_TRUE(
      readIs("*p = s[threadIdx.x >> 5];", "[tx] -> { [(floor(tx/32))] }"));
  EXPECT_TRUE(readIs("*p = s[threadIdx.x << 1];", "[tx] -> { [(2tx)] }"));
  EXPECT_TRUE(readIs("*p = s[threadIdx.x ^ 1];",
                     "[tx] -> { [(tx + 1 - 2*(tx mod 2))] }"));
  EXPECT_TRUE(
      readIs("*p = s[(threadIdx.x * 2) | 1];", "[tx] -> { [(2tx + 1)] }"));
  EXPECT_TRUE(readIs("int i = threadIdx.x; *p = s[(i - 1) & 255];",
                     "[tx] -> { [((tx - 1) mod 256)] }"));
}

TEST(Index, MinMaxAndSelect) {
  EXPECT_TRUE(readIs("int i = threadIdx.x; *p = s[max(i - 1, 0)];",
                     "[tx] -> { [(tx - 1)] : tx >= 1; [(0)] : tx = 0 }"));
  EXPECT_TRUE(readIs("*p = s[threadIdx.x > 3 ? threadIdx.x - 3 : 0];",
                     "[tx] -> { [(tx - 3)] : tx > 3; [(0)] : tx <= 3 }"));
  EXPECT_TRUE(readIs("int i = threadIdx.x; if (i > 7) i = 7; *p = s[i];",
                     "[tx] -> { [(7)] : tx > 7; [(tx)] : tx <= 7 }"));
  EXPECT_TRUE(readIs("int i = 3 - (int)threadIdx.x; *p = s[abs(i)];",
                     "[tx] -> { [(3 - tx)] : tx <= 3; [(tx - 3)] : tx > 3 }"));
}

TEST(Index, UnsignedComparisonWraps) {
  // threadIdx.x - 1 is 2^32 - 1 for the first thread.
  Parsed P = reading("if (threadIdx.x - 1 < 5) *p = s[threadIdx.x];");
  EXPECT_TRUE(same(P.only(), access(P.only(), "s[threadIdx.x]", 1).Domain,
                   "[tx] -> { : 1 <= tx <= 5 }"));
  // As an int it is -1.
  Parsed Q =
      reading("int i = threadIdx.x - 1; if (i < 5) *p = s[threadIdx.x];");
  EXPECT_TRUE(same(Q.only(), access(Q.only(), "s[threadIdx.x]", 1).Domain,
                   "[tx] -> { : tx <= 5 }"));
  // int against unsigned: converted.
  Parsed R =
      reading("int i = threadIdx.x; if (i - 4 < 8u) *p = s[threadIdx.x];");
  EXPECT_TRUE(same(R.only(), access(R.only(), "s[threadIdx.x]", 1).Domain,
                   "[tx] -> { : 4 <= tx <= 11 }"));
}

TEST(Index, NarrowTypesWrap) {
  EXPECT_TRUE(readIs("unsigned char c = threadIdx.x; *p = s[c];",
                     "[tx] -> { [(tx mod 256)] }"));
  EXPECT_TRUE(readIs("signed char c = threadIdx.x; *p = s[c + 128];",
                     "[tx] -> { [((tx + 128) mod 256)] }"));
  Parsed P =
      reading("unsigned char c = threadIdx.x & 127; c += 200; *p = s[c];");
  const SharedAccess *Read = nullptr;
  for (const SharedAccess &A : P.only().SharedAccesses)
    if (A.K == SharedAccess::Read)
      Read = &A;
  ASSERT_TRUE(Read && Read->Affine);
  EXPECT_TRUE(same(P.only(), Read->Index[0],
                   "[tx] -> { [((tx mod 128) + 200)] : tx mod 128 <= 55; "
                   "[((tx mod 128) - 56)] : tx mod 128 > 55 }"));
}

TEST(Index, ProductsAreSymbols) {
  for (const char *Text :
       {"blockIdx.x * blockDim.x + threadIdx.x",
        "threadIdx.x + blockDim.x * blockIdx.x",
        "(blockIdx.x + 1) * blockDim.x - blockDim.x + threadIdx.x",
        "(int)blockIdx.x * (int)blockDim.x + (int)threadIdx.x",
        "(long long)blockIdx.x * blockDim.x + threadIdx.x"}) {
    Parsed P = reading(std::string("long long g = ") + Text + "; p[g] = s[0];");
    const KernelModel &M = P.only();
    ASSERT_EQ(M.GlobalAccesses.size(), 1u);
    ASSERT_EQ(M.GlobalAccesses[0].Index->K, Value::Affine) << print(M);
    EXPECT_TRUE(same(M, M.GlobalAccesses[0].Index->Aff,
                     "[tx, bxbdx] -> { [(tx + bxbdx)] }"))
        << Text;
  }
}

TEST(Index, ProductsDistribute) {
  Parsed P = reading("int y = threadIdx.y + 1; p[y * w + n] = s[0];");
  const KernelModel &M = P.only();
  EXPECT_TRUE(same(M, M.GlobalAccesses.at(0).Index->Aff,
                   "[tyw, w, n] -> { [(tyw + w + n)] }"));
  int S = M.symbolIndex("tyw");
  ASSERT_GE(S, 0);
  EXPECT_EQ(M.Symbols[S].Factors, (std::vector<std::string>{"ty", "w"}));
  EXPECT_EQ(M.Symbols[S].Depends, unsigned(DepThreadY));
}

TEST(Index, LaunchFacts) {
  // unsigned, so that it wraps unless n is not negative.
  Parsed P = reading("if (blockIdx.x * 16 + threadIdx.x < n) *p = s[0];");
  const KernelModel &M = P.only();
  ASSERT_EQ(M.Assumes.size(), 2u);
  EXPECT_EQ(M.launchCondition(M.Assumes[0], "g", "b"),
            "(double)g.x <= 268304384.0");
  EXPECT_EQ(M.launchCondition(M.Assumes[1], "g", "b"), "n >= 0");
  EXPECT_TRUE(
      same(M, access(M, "s[0]").Domain, "[tx, bx, n] -> { : 16bx + tx < n }"));
}

TEST(Index, HelperFunctionsAreFollowed) {
  auto P = parse(R"(
__device__ int clampi(int x, int lo, int hi) {
  if (x < lo)
    return lo;
  return x > hi ? hi : x;
}
__global__ void k(float *p, int n) {
  __shared__ float s[64];
  s[threadIdx.x] = p[clampi((int)threadIdx.x - 2, 0, 31)];
})");
  const KernelModel &M = P.only();
  EXPECT_TRUE(same(M, M.GlobalAccesses.at(0).Index->Aff,
                   "[tx] -> { [(0)] : tx < 2; [(31)] : tx > 33; "
                   "[(tx - 2)] : 2 <= tx <= 33 }"));
}

TEST(Index, TwoDimensions) {
  auto P = parse(R"(
__global__ void k(float *p) {
  __shared__ float t[4][8];
  t[threadIdx.y][threadIdx.x] = 0;
  float *row = t[1];
  *p = row[9] + t[threadIdx.y ^ 1][7 - threadIdx.x] + (&t[0][0])[threadIdx.x + 12];
})");
  const KernelModel &M = P.only();
  const SharedAccess &A = access(M, "row[9]");
  EXPECT_TRUE(same(M, A.Index.at(0), "{ [(2)] }"));
  EXPECT_TRUE(same(M, A.Index.at(1), "{ [(1)] }"));
  const SharedAccess &B = access(M, "(&t[0][0])[threadIdx.x + 12]");
  EXPECT_TRUE(same(M, B.Index.at(0), "[tx] -> { [(floor((tx + 12)/8))] }"));
  EXPECT_TRUE(same(M, B.Index.at(1), "[tx] -> { [((tx + 12) mod 8)] }"));
}
