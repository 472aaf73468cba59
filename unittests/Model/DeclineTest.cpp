// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// One kernel a reason; and sources on which nothing may crash.

#include "ModelTesting.h"
#include <gtest/gtest.h>

using namespace rcache;

namespace {

std::string declines(const std::string &Body, const std::string &Before = "") {
  Parsed P =
      parse(Before +
            "\n__global__ void k(const float *a, float *b, int *c, int n) {\n"
            "  __shared__ float s[64];\n  __shared__ int h[64];\n"
            "  int t = threadIdx.x;\n" +
            Body + "\n}\n");
  return P.declines();
}

} // namespace

TEST(Decline, None) {
  EXPECT_EQ(declines("s[t] = a[t]; __syncthreads(); b[t] = s[63 - t];"), "");
}

TEST(Decline, Source) {
  EXPECT_EQ(declines("asm volatile(\"bar.sync 0;\");"), "inline-asm");
  EXPECT_EQ(declines("again: s[t] = 1; if (n--) goto again;"), "goto goto");
  EXPECT_EQ(
      declines("switch (n) { case 1: s[t] = 1; break; default: s[t] = 2; }"),
      "goto");
  EXPECT_EQ(declines("b[t] = mystery(n);", "__device__ float mystery(int);"),
            "unknown-call");
  EXPECT_EQ(declines("b[t] = __shfl_down_sync(~0u, a[t], 1);"),
            "uses-shuffles");
  EXPECT_EQ(
      declines("b[t] = f(n);",
               "__device__ float f(int n) { return n ? f(n - 1) + 1 : 0; }"),
      "recursion");
  EXPECT_EQ(declines("auto f = [&](int i) { return s[i]; }; b[t] = f(0);"),
            "lambda");
  EXPECT_EQ(declines("for (float x : r.v) b[t] = x;",
                     "struct R { float v[3]; }; __constant__ R r;"),
            "unsupported-statement");
  EXPECT_EQ(
      declines("b[t] = f(a);",
               "__device__ float f(const float *p) { return p[threadIdx.x]; }"),
      "call-uses-thread");
  EXPECT_EQ(declines("f();", "__device__ void f() { __syncthreads(); }"),
            "call-uses-thread");
  EXPECT_EQ(
      declines("b[cooperative_groups::this_thread_block().thread_rank()] = 1;"),
      "group-ids");
  EXPECT_EQ(declines("if (t == 0) printf(\"x\");"), "side-effects");
  EXPECT_EQ(declines("k2<<<1, 1>>>();", "__global__ void k2();"),
            "dynamic-parallelism");
}

TEST(Decline, Access) {
  EXPECT_EQ(declines("atomicAdd(&h[c[t]], 1);"), "shared-atomics");
  EXPECT_EQ(declines("atomicAdd(&c[t], 1);"), "");
  EXPECT_EQ(
      declines("b[t] = f(s, t);",
               "__device__ float f(const float *p, int i) { return p[i]; }"),
      "array-to-function");
  // An element by another name.
  EXPECT_EQ(declines("float &r = s[t]; r = 1;"), "");
  EXPECT_EQ(declines("b[t] = ((int *)s)[t];"), "type-punned");
}

TEST(Decline, Order) {
  EXPECT_EQ(declines("if (t < n) __syncthreads();"), "divergent-barrier");
  EXPECT_EQ(declines("for (int i = t; i < n; i += 3) __syncthreads();"),
            "divergent-barrier");
  EXPECT_EQ(declines("for (int i = 0; i < n; ++i) { if (a[t] > i) break; "
                     "__syncthreads(); }"),
            "divergent-barrier");
  EXPECT_EQ(declines("if (n > 3) __syncthreads();"), "");
}

TEST(Decline, NotInstantiated) {
  Parsed P = parse(
      "template <typename T> __global__ void k(T *p) { __shared__ T s[4]; "
      "s[0] = *p; }");
  EXPECT_EQ(P.declines(), "not-instantiated");
}

TEST(Robust, BrokenAndOddSources) {
  for (const char *Code : {
           "__global__ void k(float *p) { __shared__ float s[4]; s[nope] = 1; "
           "}",
           "__global__ void k(Missing *p) { __shared__ Missing s[4]; s[0] = "
           "*p; }",
           "__global__ void k(float *p) { if (",
           "__global__ void k(); void f() { k<<<1, 1>>>(); k<<<>>>(); }",
           "template <class T> struct S { template <class U> __global__ void "
           "k(U *p); };",
           "__global__ void k(float *p) { struct L { int x; } l; l.x = 1; [] "
           "{}(); "
           "switch (l.x) case 3: p[0] = 1; do ; while (l.x--); }",
           "__global__ void k(float *p) try { p[0] = 1; } catch (...) {}",
           "__global__ void k(float *p) { __shared__ float s[2][0]; (void)s; ; "
           "{} }",
           "__global__ void k(float *p, ...) { int v[p ? 1 : 2]; p[v[0]] = "
           "sizeof v; }",
           "template <int... N> __global__ void k(float *p) { __shared__ float "
           "s[sizeof...(N)]; "
           "((s[N] = p[N]), ...); } void f(float *p) { k<0, 1, 2><<<1, "
           "1>>>(p); }",
           "__global__ void k(float *p) { auto q = p; for (;;) { if (q++ == p) "
           "continue; else "
           "break; } if constexpr (sizeof(int) == 4) *q = 1; else *q = 2; }",
           "enum E { A, B }; __global__ void k(E e, bool b, char c) { "
           "__shared__ E s[4]; "
           "s[e] = B; s[b] = A; s[c] = s[b ? e : A]; }",
       }) {
    Parsed P = parse(Code);
    for (auto &M : P.Models)
      EXPECT_FALSE(print(*M).empty());
  }
}
