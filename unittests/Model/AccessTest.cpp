// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Shared arrays and accesses: kinds, forms, roots.

#include "ModelTesting.h"
#include "llvm/ADT/STLExtras.h"
#include <gtest/gtest.h>

using namespace rcache;

namespace {
Parsed accessBody(const std::string &Text) {
  return parse(
      "__device__ float helper(const float *p, int i) { return p[i]; }\n"
      "struct P { float x, y; };\n"
      "extern __shared__ float outside[];\n"
      "__global__ void k(const float *a, float *b, int n) {\n"
      "  int t = threadIdx.x;\n" +
      Text + "\n}\n");
}
} // namespace

TEST(Access, Kinds) {
  Parsed P =
      accessBody("__shared__ float s[64];\n"
           "s[t] = a[t]; s[t] += 2.f; s[0]++; b[t] = s[1] = 3.f; b[0] = s[2];");
  const KernelModel &M = P.only();
  ASSERT_EQ(M.SharedAccesses.size(), 5u);
  EXPECT_EQ(M.SharedAccesses[0].K, SharedAccess::Write);
  EXPECT_EQ(M.text(M.SharedAccesses[0].StoredRange), "a[t]");
  EXPECT_EQ(M.SharedAccesses[1].K, SharedAccess::ReadWrite);
  EXPECT_EQ(M.SharedAccesses[2].K, SharedAccess::ReadWrite);
  EXPECT_EQ(M.SharedAccesses[3].K, SharedAccess::ReadWrite);
  EXPECT_EQ(M.SharedAccesses[4].K, SharedAccess::Read);
}

TEST(Access, StructElementsAndScalars) {
  Parsed P =
      accessBody("__shared__ float4 v[8]; __shared__ P q[8]; __shared__ int c;\n"
           "float4 f; f.x = a[t]; v[t] = f; if (t == 0) c = n;\n"
           "__syncthreads(); b[t] = v[t + 1].y + c; q[0].x = 1;");
  const KernelModel &M = P.only();
  EXPECT_EQ(M.Arrays.at(0).ElemBytes, 16u);
  EXPECT_EQ(access(M, "v[t]").K, SharedAccess::Write);
  EXPECT_EQ(access(M, "v[t + 1]").K, SharedAccess::Read);
  EXPECT_EQ(access(M, "c", 0).K, SharedAccess::Write);
  EXPECT_TRUE(access(M, "c", 1).Affine);
  EXPECT_EQ(access(M, "q[0]").K, SharedAccess::Escape);
}

TEST(Access, DynamicAndCarvedOut) {
  Parsed P = accessBody(
      "extern __shared__ unsigned char raw[];\n"
      "float *x = reinterpret_cast<float *>(raw); float *y = x + blockDim.x;\n"
      "x[t] = a[t]; y[t] = 1.f; __syncthreads(); b[t] = y[t + 1];");
  const KernelModel &M = P.only();
  ASSERT_EQ(M.Arrays.size(), 1u);
  EXPECT_TRUE(M.Arrays[0].Dynamic);
  EXPECT_EQ(M.Arrays[0].ElemType, "float");
  EXPECT_TRUE(same(M, access(M, "y[t + 1]").Index.at(0),
                   "[tx, bdx] -> { [(tx + bdx + 1)] }"));
  EXPECT_EQ(P.declines(), "");
}

TEST(Access, FileScope) {
  Parsed P = accessBody("outside[t] = a[t];");
  EXPECT_TRUE(P.only().Arrays.at(0).AtFileScope);
  EXPECT_TRUE(P.only().Arrays.at(0).DeclRange.empty());
}

TEST(Access, SharedMemoryStruct) {
  auto P = parse(R"(
template <typename T> struct Smem {
  __device__ operator T *() { extern __shared__ int raw[]; return (T *)raw; }
};
template <typename T> __global__ void k(T *g) {
  T *s = Smem<T>();
  s[threadIdx.x] = g[threadIdx.x];
}
void f(double *d) { k<double><<<1, 32>>>(d); }
)");
  const KernelModel &M = P.only();
  ASSERT_EQ(M.Arrays.size(), 1u) << print(M);
  EXPECT_EQ(M.Arrays[0].ElemType, "T");
  EXPECT_EQ(M.Arrays[0].CanonicalType, "double");
  EXPECT_EQ(access(M, "s[threadIdx.x]").K, SharedAccess::Write);
  EXPECT_EQ(P.declines(), "");
}

TEST(Access, Volatile) {
  Parsed P =
      accessBody("__shared__ float s[64]; volatile float *v = s; v[t] = v[t + 32];");
  EXPECT_TRUE(P.only().Arrays.at(0).Volatile);
  Parsed Q = accessBody("volatile __shared__ float s[64]; s[t] = 1.f;");
  EXPECT_TRUE(Q.only().Arrays.at(0).Volatile);
}

TEST(Global, RootsAndWrites) {
  Parsed P = accessBody("float *q = b; q += n; q[t] = a[t] + helper(a, t);\n"
                  "reinterpret_cast<float4 *>(b)[t].x = 1;");
  const KernelModel &M = P.only();
  EXPECT_TRUE(M.Params.at(1).Written);
  EXPECT_FALSE(M.Params.at(0).Written);
  for (const GlobalAccess &A : M.GlobalAccesses)
    EXPECT_GE(A.Root, 0) << M.text(A.Range);
}

TEST(Global, StoredRange) {
  Parsed P = accessBody("b[t] = a[t] * 2; b[t] += 1;");
  const KernelModel &M = P.only();
  ASSERT_EQ(M.GlobalAccesses.size(), 3u);
  EXPECT_EQ(M.text(M.GlobalAccesses[0].StoredRange), "a[t] * 2");
  EXPECT_EQ(M.GlobalAccesses[2].K, GlobalAccess::ReadWrite);
}

TEST(Barrier, Kinds) {
  Parsed P = accessBody("__syncthreads(); cooperative_groups::thread_block g = "
                  "cooperative_groups::this_thread_block(); g.sync(); "
                  "cooperative_groups::sync(g); __syncwarp();");
  std::vector<Stmt::BarrierKind> Kinds;
  for (const Stmt &S : P.only().Stmts)
    if (S.K == Stmt::Barrier)
      Kinds.push_back(S.Sync);
  EXPECT_EQ(Kinds, (std::vector<Stmt::BarrierKind>{
                       Stmt::Syncthreads, Stmt::CooperativeGroup,
                       Stmt::CooperativeGroup, Stmt::Syncwarp}));
}

TEST(Barrier, ValidSymbols) {
  Parsed P = accessBody("__shared__ float s[64]; int j = 0;\n"
                  "while (j < n) { s[t] = a[j]; __syncthreads(); j += 3; "
                  "__syncthreads(); }");
  const KernelModel &M = P.only();
  auto Valid = [&](unsigned Nth, const std::string &Text) {
    for (const Stmt &S : M.Stmts)
      if (S.K == Stmt::Barrier && Nth-- == 0)
        for (unsigned I : S.ValidSymbols)
          if (M.Symbols[I].Text == Text && M.Symbols[I].K == Symbol::Opaque)
            return true;
    return false;
  };
  EXPECT_TRUE(Valid(0, "j"));
  EXPECT_FALSE(Valid(1, "j"));
  // An iterator and products of it, inside its loop only.
  Parsed Q = accessBody(
      "__shared__ float s[64];\n"
      "for (int i = 0; i < n; ++i) { s[t] = a[i * n + t]; __syncthreads(); }\n"
      "__syncthreads();");
  const KernelModel &N = Q.only();
  std::vector<bool> Found;
  for (const Stmt &S : N.Stmts)
    if (S.K == Stmt::Barrier)
      for (const char *Id : {"i", "in"})
        Found.push_back(llvm::is_contained(
            S.ValidSymbols, static_cast<unsigned>(N.symbolIndex(Id))));
  EXPECT_EQ(Found, (std::vector<bool>{true, true, false, false})) << print(N);
}
