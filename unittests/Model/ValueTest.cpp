// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Staged values as functions of the symbols, and dependences of variables.

#include "ModelTesting.h"
#include <gtest/gtest.h>

using namespace rcache;

namespace {
Parsed
valueBody(const std::string &Text,
     const std::string &Params = "const float *__restrict__ a, float *b, "
                                 "float w, int n") {
  return parse("__constant__ float c[9];\n__device__ float sq(float x) { "
               "return x * x; }\n"
               "__global__ void k(" +
               Params +
               ") {\n  __shared__ float s[512];\n  int t = threadIdx.x;\n" +
               Text + "\n}\n");
}
ValueRef stored(const KernelModel &M) {
  for (const SharedAccess &A : M.SharedAccesses)
    if (A.K == SharedAccess::Write)
      return A.Stored;
  ADD_FAILURE() << print(M);
  return std::make_shared<Value>();
}
const Var &var(const KernelModel &M, const std::string &Name) {
  for (const Var &V : M.Vars)
    if (V.Name == Name)
      return V;
  ADD_FAILURE() << Name;
  return M.Vars.at(0);
}
} // namespace

TEST(Value, Load) {
  Parsed P = valueBody("s[t] = a[t + 1];");
  ValueRef V = stored(P.only());
  ASSERT_EQ(V->K, Value::Load);
  EXPECT_EQ(V->Root, 0);
  EXPECT_EQ(V->Type, "float");
  EXPECT_TRUE(same(P.only(), V->Operands.at(0)->Aff, "[tx] -> { [(tx + 1)] }"));
  EXPECT_EQ(V->Depends, unsigned(DepThreadX | DepGlobal));
}

TEST(Value, LoadThroughPointers) {
  Parsed P =
      valueBody("const float *q = a + 2 * t; q += 3; float v = *(q - 1); s[t] = v;");
  ValueRef V = stored(P.only());
  ASSERT_EQ(V->K, Value::Load);
  EXPECT_TRUE(
      same(P.only(), V->Operands.at(0)->Aff, "[tx] -> { [(2tx + 2)] }"));
  Parsed Q = valueBody("s[t] = __ldg(&a[t]);");
  EXPECT_EQ(stored(Q.only())->K, Value::Load);
}

TEST(Value, Select) {
  Parsed P = valueBody("s[t] = t > 0 ? a[t - 1] : 0.f;");
  ValueRef V = stored(P.only());
  ASSERT_EQ(V->K, Value::Select);
  EXPECT_TRUE(same(P.only(), V->Cond, "[tx] -> { : tx > 0 }"));
  EXPECT_EQ(V->Operands.at(1)->K, Value::Uniform);
  EXPECT_EQ(V->Operands.at(1)->Text, "0.f");
  // The same by if.
  Parsed Q = valueBody("float v = 0.f; if (t > 0) v = a[t - 1]; s[t] = v;");
  EXPECT_EQ(stored(Q.only())->K, Value::Select);
}

TEST(Value, OperatorsBecomeTextWithHoles) {
  Parsed P = valueBody("float v = a[t]; s[t] = sq(v) * w + c[t & 7] /* tap */ - 1;");
  ValueRef V = stored(P.only());
  ASSERT_EQ(V->K, Value::Op);
  EXPECT_EQ(V->Text, "__fadd_rn(sq($0) * w + $1 - 1, -0.0f)");
  EXPECT_EQ(V->Operands.at(0)->K, Value::Load);
  EXPECT_EQ(V->Operands.at(1)->Text, "c[$0]");
}

TEST(Value, StagedProductsAreNotFusedWithLaterSums) {
  struct {
    const char *Code, *Text;
  } Cases[] = {
      {"s[t] = a[t] * w;", "__fmul_rn($0, w)"},
      {"float v = a[t] * w * 2.0f; s[t] = v;", "__fmul_rn($0 * w, 2.0f)"},
      // Fused within, as before; rounded, as it may end in a product.
      {"s[t] = a[t] * w + 1e-3f;", "__fadd_rn($0 * w + 1e-3f, -0.0f)"},
      {"s[t] = a[t] / w;", "__fadd_rn($0 / w, -0.0f)"},
      // What may hand on bits that are no number is not added to.
      {"s[t] = sq(a[t]);", "((sq($0)) != (sq($0)) ? (sq($0)) : __fadd_rn(sq($0), -0.0f))"},
      {"s[t] = -a[t];", "-$0"},
  };
  for (auto &C : Cases) {
    Parsed P = valueBody(C.Code);
    EXPECT_EQ(stored(P.only())->Text, C.Text);
  }
  Parsed P = valueBody("s[t] = t < n ? a[t] * w : 0.f;");
  EXPECT_EQ(stored(P.only())->Operands.at(0)->Text, "__fmul_rn($0, w)");
}

TEST(Value, ProductsOfQuotientsStayText) {
  // Split of a linear id; row * n is no linear function, but its holes are.
  Parsed P =
      valueBody("for (int i = t; i < 200; i += blockDim.x) {\n"
           "  int row = i / 20, col = i % 20; s[i] = a[row * n + col]; }");
  ValueRef V = stored(P.only());
  ASSERT_EQ(V->K, Value::Load);
  const ValueRef &Sum = V->Operands.at(0);
  ASSERT_EQ(Sum->K, Value::Op) << print(P.only());
  EXPECT_EQ(Sum->Text, "$0 + $1");
  EXPECT_TRUE(
      same(P.only(), Sum->Operands.at(1)->Aff, "[i] -> { [(i mod 20)] }"));
  ASSERT_EQ(Sum->Operands.at(0)->Text, "$0 * $1");
  EXPECT_TRUE(same(P.only(), Sum->Operands[0]->Operands.at(0)->Aff,
                   "[i] -> { [(floor(i/20))] }"));
}

TEST(Value, BracesBecomeAnExpression) {
  Parsed P = valueBody("float4 z = {0, 0, 0, w}; b[t] = z.x;");
  EXPECT_EQ(var(P.only(), "z").Init->Text, "float4{0, 0, 0, w}");
}

TEST(Value, ConstantsKeepTheirType) {
  // 0 is a float here: as text in another expression it must stay one.
  Parsed P = valueBody("float z = 0; s[t] = z / 2;");
  ValueRef V = stored(P.only());
  EXPECT_EQ(V->K, Value::Uniform);
  EXPECT_EQ(V->Text, "__fadd_rn((0.0f) / 2, -0.0f)");
  Parsed Q = valueBody("int i = a[t]; float f = i; s[t] = f;");
  EXPECT_EQ(stored(Q.only())->Text, "(float)$0");
}

TEST(Value, WhatWasWrittenSinceIsUnknown) {
  Parsed P =
      valueBody("float v = a[t]; a[t + 1] = 2.f; s[t] = v;", "float *a, int n");
  EXPECT_EQ(stored(P.only())->K, Value::Unknown);
  // Another pointer may alias, unless restrict says that it does not: a launch
  // can tell, so the value notes what has been stored through.
  Parsed Q =
      valueBody("float v = a[t]; b[t] = 2.f; s[t] = v;", "float *a, float *b");
  ASSERT_EQ(stored(Q.only())->K, Value::Load);
  EXPECT_EQ(stored(Q.only())->Survived, std::vector<int>{1});
  Parsed R = valueBody("float v = a[t]; b[t] = 2.f; s[t] = v;");
  ASSERT_EQ(stored(R.only())->K, Value::Load);
  EXPECT_TRUE(stored(R.only())->Survived.empty());
  // An integer may be an index by now: it is not loaded again.
  Parsed I = valueBody("int v = a[t]; b[t] = 2; s[t] = v;", "int *a, int *b");
  EXPECT_NE(stored(I.only())->K, Value::Load);
  // A later statement of the loop's round before.
  Parsed S = valueBody("float v = a[t]; for (int i = 0; i < n; ++i) { s[t] = v; "
                  "__syncthreads();\n"
                  "  float *q = a; q[t] = s[t + 1]; }",
                  "float *a, int n");
  EXPECT_EQ(stored(S.only())->K, Value::Unknown);
  Parsed T = valueBody("float v = a[t]; for (int i = 0; i < n; ++i) { s[t] = v; "
                  "__syncthreads();\n"
                  "  b[t] += s[t + 1]; }");
  EXPECT_EQ(stored(T.only())->K, Value::Load);
}

TEST(Depends, FlowsThroughVariablesAndControl) {
  Parsed P = valueBody(
      "int u = n + 1, v = blockIdx.y, x = 0, y = 0, z = 0;\n"
      "if (t > 3) x = 1;\n"
      "for (int i = 0; i < n; ++i) { y += 2; if (a[i] > w) break; z += x; }\n"
      "float r = s[u]; b[v] = r + x + y + z;");
  const KernelModel &M = P.only();
  EXPECT_EQ(var(M, "u").Depends, 0u);
  EXPECT_EQ(var(M, "v").Depends, unsigned(DepBlockY));
  EXPECT_EQ(var(M, "x").Depends, unsigned(DepThreadX));
  EXPECT_EQ(var(M, "y").Depends, unsigned(DepGlobal)); // the break
  EXPECT_EQ(var(M, "z").Depends, unsigned(DepGlobal | DepThreadX));
  EXPECT_EQ(var(M, "r").Depends, unsigned(DepShared));
}

TEST(Depends, DeclaredInsideADivergentBranchIsUniformThere) {
  Parsed P = valueBody(
      "if (t < n) { float acc = 0; for (int i = 0; i < n; ++i) acc += c[i]; "
      "b[t] = acc; }");
  EXPECT_EQ(var(P.only(), "acc").Depends, 0u);
  EXPECT_EQ(var(P.only(), "i").Depends, 0u);
}

TEST(Vars, Repeatable) {
  Parsed P = valueBody("int g = blockIdx.x * 4 + t; int h = g; h++; float l = a[g]; "
                  "int i = g + n;");
  const KernelModel &M = P.only();
  EXPECT_TRUE(var(M, "g").Repeatable);
  EXPECT_FALSE(var(M, "h").Repeatable);
  EXPECT_FALSE(var(M, "l").Repeatable);
  EXPECT_TRUE(var(M, "i").Repeatable);
}

TEST(Vars, PrivateArrays) {
  Parsed P = valueBody("float r[4], q[3]; for (int i = 0; i < 4; ++i) r[i] = a[i];\n"
                  "q[1] = w; b[t] = r[n] + q[1];");
  const KernelModel &M = P.only();
  EXPECT_EQ(var(M, "r").ArrayExtents, std::vector<int64_t>{4});
  EXPECT_TRUE(var(M, "r").DynamicIndex);
  EXPECT_FALSE(var(M, "q").DynamicIndex);
}
