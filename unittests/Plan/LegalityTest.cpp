// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What must not change: order of global memory, convergence, control flow.

#include "Plan/Legality.h"
#include "PlanTesting.h"

using namespace rcache;

namespace {

const char *const LegalityHead = "__shared__ float s[300]; int t = threadIdx.x;\n"
                         "int g = blockIdx.x * 256 + t;\n";

std::string code(const std::optional<Decline> &D) {
  return D ? spelling(D->Code) : "";
}

TEST(Legality, Aliases) {
  Parsed P = parse("__global__ void k(const float *in, float *out,\n"
                   "    const int *at, const float *__restrict__ a,\n"
                   "    float *__restrict__ b) {\n"
                   "  out[at[0]] = in[0] + a[0]; b[0] = 1; }\n");
  const KernelModel &M = P.only();
  EXPECT_TRUE(mayAlias(M, 0, 1, false));
  EXPECT_FALSE(mayAlias(M, 0, 1, true)); // --assume-no-alias
  EXPECT_TRUE(mayAlias(M, 1, 1, true));
  EXPECT_TRUE(mayAlias(M, 1, 2, false)); // int and float: types tell nothing
  EXPECT_FALSE(mayAlias(M, 3, 4, false)); // __restrict__
  EXPECT_TRUE(mayAlias(M, -1, 1, false)); // unknown memory
}

TEST(Legality, GlobalOrder) {
  const std::string Body = std::string(LegalityHead) +
                           "s[t] = in[g]; __syncthreads();\n"
                           "out[g] = s[t + 1];";
  EXPECT_TRUE(globalOrder(kernel(Body, "256").only(), false));
  EXPECT_FALSE(globalOrder(kernel(Body, "256").only(), true));
  EXPECT_FALSE(
      globalOrder(kernel(Body, "256", "__restrict__").only(), false));
}

TEST(Legality, Convergence) {
  auto Of = [](const std::string &Body) {
    return code(convergence(kernel(LegalityHead + Body, "256").only()));
  };
  EXPECT_EQ("", Of("s[t] = in[g]; if (n > 3) { __syncthreads();\n"
                   "out[g] = s[t]; }"));
  EXPECT_EQ("divergent-barrier",
            Of("s[t] = in[g]; if (t > 3) { __syncthreads();\n"
               "out[g] = s[t]; }"));
}

TEST(Legality, Slots) {
  auto Of = [](const std::string &Body) {
    return code(slotability(kernel(LegalityHead + Body, "256").only()));
  };
  EXPECT_EQ("", Of("s[t] = in[g]; if (g >= n) return; __syncthreads();\n"
                   "out[g] = s[t];"));
  EXPECT_EQ("divergent-barrier",
            Of("for (int k = 0; k < n; ++k) { s[t] = in[g + k];\n"
               "__syncthreads(); if (g + k >= n) return; out[g] = s[t];\n"
               "__syncthreads(); }"));
  EXPECT_EQ("unsupported-statement",
            Of("for (int k = 0; k < n; ++k) { s[t] = in[g + k];\n"
               "__syncthreads(); if (k > 4) break; out[g] = s[t];\n"
               "__syncthreads(); }"));
}

/// Array 0 read from its source at each read.
std::optional<Decline> moved(const KernelModel &M, Plan &P, bool NoAlias) {
  ArrayPlan A;
  A.Where = FromSource();
  for (unsigned I = 0; I < M.SharedAccesses.size(); ++I)
    (M.SharedAccesses[I].K == SharedAccess::Write ? A.Writes : A.Reads)
        .push_back(I);
  for (const Stmt &S : M.Stmts)
    if (S.K == Stmt::Barrier)
      A.Barrier = S.Id;
  StagePiece Piece;
  Piece.Domain = always(M.Ctx->ctx());
  Piece.V = M.SharedAccesses[A.Writes[0]].Stored;
  A.Stage.Pieces = {Piece};
  return movedLoads(M, A, P, NoAlias);
}

TEST(Legality, MovedLoads) {
  const std::string Body = std::string(LegalityHead) +
                           "s[t] = in[g]; __syncthreads();\n"
                           "out[g] = s[t / 2];";
  Plan P;
  EXPECT_FALSE(moved(kernel(Body, "256", "__restrict__").only(), P, false));
  EXPECT_TRUE(P.Separate.empty());
  // The launch is asked whether `in` and `out` are different memory.
  EXPECT_FALSE(moved(kernel(Body, "256").only(), P, false));
  EXPECT_EQ((std::vector<std::pair<int, int>>{{0, 1}}), P.Separate);
  // In place nothing helps.
  Parsed InPlace =
      parse("__global__ void k(float *a, int n) {\n" + std::string(LegalityHead) +
            "s[t] = a[g]; __syncthreads(); a[g] = s[t / 2]; }\n"
            "void launch(float *a, int n) { k<<<n, 256>>>(a, n); }\n");
  Plan Q;
  EXPECT_EQ("may-alias", code(moved(InPlace.only(), Q, true)));
}

} // namespace
