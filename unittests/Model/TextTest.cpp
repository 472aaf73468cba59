// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Flattened text: macros that hide something are expanded, the rest stays.

#include "ModelTesting.h"
#include <gtest/gtest.h>

using namespace rcache;

TEST(Text, MacrosWithoutNamesStay) {
  auto P = parse(R"(
#define N 64
#define BIG (N * 4)
__global__ void k(float *p) {
  __shared__ float s[N]; // room for N
  s[threadIdx.x] = p[threadIdx.x + BIG];
})");
  const KernelModel &M = P.only();
  EXPECT_NE(M.Text.find("float s[N]; // room for N"), std::string::npos)
      << M.Text;
  EXPECT_NE(M.Text.find("p[threadIdx.x + BIG]"), std::string::npos) << M.Text;
}

TEST(Text, AccessorMacrosAreExpanded) {
  auto P = parse(R"(
#define TID threadIdx.x
#define AT(i) s[TID + (i)]
#define SYNC() __syncthreads()
__global__ void k(float *p) {
  __shared__ float s[64];
  s[TID] = p[TID];
  SYNC();
  p[TID] = AT(1) + AT(2);
})");
  const KernelModel &M = P.only();
  EXPECT_EQ(access(M, "s[threadIdx.x + (1)]").K, SharedAccess::Read);
  EXPECT_EQ(access(M, "s[threadIdx.x + (2)]").K, SharedAccess::Read);
  EXPECT_EQ(M.text(M.Stmts[3].Range), "__syncthreads();");
  EXPECT_EQ(M.Stmts[3].K, Stmt::Barrier);
}

TEST(Text, KernelOutOfAMacroKeepsToolkitNames) {
  auto P = parse(R"(
#define DEF(name, T) __global__ void name(T *p) { __shared__ T q[64]; q[threadIdx.x] = p[0]; }
DEF(gen, double)
)");
  const KernelModel &M = P.only();
  EXPECT_EQ(M.Text.find("__attribute__"), std::string::npos) << M.Text;
  EXPECT_NE(M.Text.find("__shared__ double q[64];"), std::string::npos)
      << M.Text;
  EXPECT_EQ(M.text(M.NameRange), "gen");
  EXPECT_EQ(M.Arrays.at(0).ElemType, "double");
}

TEST(Text, OnlyTheActiveBranchIsKept) {
  auto P = parse(R"(
#define FAST 1
__global__ void k(float *p) {
  __shared__ float s[64];
#if FAST
  s[threadIdx.x] = p[0]; // fast
#else
  s[threadIdx.x] = p[1]; // slow
#endif
#pragma unroll
  for (int i = 0; i < 4; ++i)
    p[i] = s[i];
})");
  const KernelModel &M = P.only();
  EXPECT_EQ(M.Text.find("slow"), std::string::npos) << M.Text;
  EXPECT_EQ(M.Text.find("#if"), std::string::npos) << M.Text;
  EXPECT_NE(M.Text.find("// fast"), std::string::npos);
  EXPECT_NE(M.Text.find("#pragma unroll\n"), std::string::npos);
  EXPECT_TRUE(M.Stmts[3].HasUnrollPragma) << print(M);
  EXPECT_EQ(M.text(M.Stmts[3].Range).substr(0, 14), "#pragma unroll");
}

TEST(Text, RangesOfTheHead) {
  auto P = parse(R"(
struct Before {};
/// about k
template <typename T, int R>
static __global__ void __launch_bounds__(128) k(const T *a, T *b) {
  __shared__ T s[R + 128];
  s[threadIdx.x] = a[threadIdx.x];
}
void f(float *x) { k<float, 3><<<1, 128>>>(x, x); }
)");
  const KernelModel &M = P.only();
  EXPECT_EQ(M.Text.substr(0, 8), "template");
  EXPECT_EQ(M.TemplateHead, "template <typename T, int R>");
  EXPECT_EQ(M.ParamsText, "const T *a, T *b");
  EXPECT_EQ(M.text(M.BodyRange).front(), '{');
  EXPECT_EQ(M.text(M.BodyRange).back(), '}');
  EXPECT_EQ(M.Signature, "k<float, 3>");
  EXPECT_EQ(M.Arrays.at(0).ElemType, "T");
  EXPECT_EQ(M.Arrays.at(0).CanonicalType, "float");
  EXPECT_EQ(M.Arrays.at(0).Extents.at(0), 131);
  EXPECT_EQ(M.Geo.MaxThreads, 128);
  EXPECT_EQ(M.Params.at(0).Type, "const T *");
}

TEST(Text, EveryUseIsItsOwnName) {
  auto P = parse(R"(
#define IN(i) ((i) < n && (i) >= lo)
#define FOR(v, e) for (int v = 0; v < (e); ++v)
__global__ void k(float *p, int n, int lo) {
  __shared__ float s[64];
  int t = threadIdx.x;
  s[t] = IN(t) ? p[t] : 0.f;
  FOR(j, 3) if (IN(j + t)) { p[j] += s[j]; }
})");
  const KernelModel &M = P.only();
  ASSERT_FALSE(M.VarUses.empty());
  for (const VarUse &U : M.VarUses)
    EXPECT_EQ(M.text(U.Range), M.Vars[U.Var].Name);
  for (const BuiltinUse &U : M.Builtins)
    EXPECT_EQ(M.text(U.Range), "threadIdx.x");
}

TEST(Text, SharedDeclarators) {
  auto P = parse(R"(
__global__ void k(float *p) {
  __shared__ float a[8], b[4][2];
  __shared__ alignas(16) float c[64];
  a[0] = b[0][0] = c[0] = *p;
})");
  const KernelModel &M = P.only();
  ASSERT_EQ(M.Arrays.size(), 3u);
  EXPECT_FALSE(M.Arrays[0].Alone);
  EXPECT_EQ(M.text(M.Arrays[1].DeclaratorRange), "b[4][2]");
  EXPECT_TRUE(M.Arrays[2].Alone);
  EXPECT_EQ(M.text(M.Arrays[2].DeclRange),
            "__shared__ alignas(16) float c[64];");
}
