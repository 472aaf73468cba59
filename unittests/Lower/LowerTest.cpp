// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tree that is made of a plan, and which plans have none.

#include "Lower/Lower.h"
#include "../Plan/PlanTesting.h"
#include "Plan/Planner.h"

using namespace rcache;

namespace {

/// The kinds of the nodes, with those inside: "exchange slots(code) run".
std::string shown(const Sequence &S) {
  std::string T;
  for (const Node &N : S) {
    T += T.empty() ? "" : " ";
    if (N.is<Statements>())
      T += "code";
    else if (N.is<Exchange>())
      T += "exchange";
    else if (N.is<Sync>())
      T += "barrier";
    else if (N.is<Collected>())
      T += "collected";
    else if (N.is<StoreRun>())
      T += "run";
    else if (N.is<Leave>())
      T += "leave";
    else if (N.is<PerSlotVar>())
      T += "perslot";
    else if (const auto *L = N.is<SlotLoop>())
      T += "slots(" + shown(L->Body) + ")";
    else if (const auto *L = N.is<Loop>())
      T += "loop(" + shown(L->Body) + ")";
    else
      T += "other";
  }
  return T;
}

/// Plans of the kernel with this body.
struct Planned {
  Parsed P;
  std::vector<Plan> Plans;
  const KernelModel &M;
  explicit Planned(const std::string &Body,
                   const std::string &Block = "256")
      : P(kernel(Body, Block, "__restrict__")), M(P.only()) {
    PlanRequest R;
    R.Force = true;
    Plans = enumeratePlans(M, R).Candidates;
  }
  template <typename Placement> const Plan *plan(unsigned Slots) const {
    for (const Plan &Pl : Plans)
      if (Pl.slots() == Slots && !Pl.Arrays.empty() &&
          Pl.Arrays[0].as<Placement>())
        return &Pl;
    return nullptr;
  }
};

const char Stencil[] = "__shared__ float s[258];\n"
                       "int l = threadIdx.x, g = blockIdx.x * 256 + l;\n"
                       "s[l] = in[g];\n"
                       "if (l < 2) s[l + 256] = in[g + 256];\n"
                       "__syncthreads();\n"
                       "out[g] = s[l] + s[l + 1] + s[l + 2];";

TEST(LowerTest, AStencil) {
  const Planned K(Stencil);
  const Plan *P = K.plan<Reloaded>(4);
  ASSERT_TRUE(P);
  auto T = lower(K.M, *P);
  ASSERT_TRUE(bool(T)) << llvm::toString(T.takeError());
  const std::string Tree = shown(T->Body);
  // The staging is gone, its window stands at the barrier, the barrier is gone.
  EXPECT_EQ(0u, Tree.find("exchange collected slots(")) << Tree;
  EXPECT_NE(std::string::npos, Tree.find(" run")) << Tree;
  EXPECT_EQ(std::string::npos, Tree.find("barrier")) << Tree;
  EXPECT_TRUE(T->FirstSlot[0]);
  EXPECT_FALSE(T->FirstSlot[1]);
  EXPECT_FALSE(T->Lane);
  EXPECT_TRUE(T->PerSlot.empty());
}

TEST(LowerTest, LanesThatHandElementsOn) {
  const Planned K(Stencil);
  const Plan *P = K.plan<Shuffled>(4);
  ASSERT_TRUE(P);
  auto T = lower(K.M, *P);
  ASSERT_TRUE(bool(T)) << llvm::toString(T.takeError());
  EXPECT_TRUE(T->Lane);
  EXPECT_TRUE(T->Helpers.count("shuffle"));
}

TEST(LowerTest, AVariableAcrossABarrier) {
  const Planned K("__shared__ float s[256];\n"
                  "int l = threadIdx.x, g = blockIdx.x * 256 + l;\n"
                  "float v = in[g + n];\n"
                  "v *= v;\n"
                  "s[l] = in[g];\n"
                  "__syncthreads();\n"
                  "out[g] = s[l] + s[255 - l] + v;");
  for (const Plan &P : K.Plans) {
    if (P.slots() < 2)
      continue;
    auto T = lower(K.M, P);
    ASSERT_TRUE(bool(T)) << llvm::toString(T.takeError());
    ASSERT_EQ(1u, T->PerSlot.size());
    EXPECT_EQ("v", K.M.Vars[*T->PerSlot.begin()].Name);
    return;
  }
  FAIL() << "no plan with slots";
}

// Some threads leave where others that a thread stands for go on.
TEST(LowerTest, PlansThatAreNoCandidates) {
  const Planned K("__shared__ float s[256];\n"
                  "int l = threadIdx.x, g = blockIdx.x * 256 + l;\n"
                  "s[l] = in[g];\n"
                  "for (int j = 0; j < 3; ++j)\n"
                  "  if (in[g + j] < 0) return;\n"
                  "__syncthreads();\n"
                  "out[g] = s[l] + s[255 - l];");
  unsigned Several = 0;
  for (const Plan &P : K.Plans) {
    if (P.slots() < 2)
      continue;
    ++Several;
    auto Why = canLower(K.M, P);
    EXPECT_TRUE(Why.isA<CannotWrite>());
    llvm::consumeError(std::move(Why));
    auto T = lower(K.M, P);
    EXPECT_FALSE(bool(T));
    llvm::consumeError(T.takeError());
  }
  EXPECT_GT(Several, 0u);
}

} // namespace
