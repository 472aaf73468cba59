// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Predict/RegisterPressure.h"
#include "Predict/PtxArithmetic.h"
#include "gtest/gtest.h"

using namespace rcache;

namespace {
const Arch &sm90() { return *findArch("sm_90"); }

/// An entry `k` with these lines.
PtxArithmetic of(const std::string &Lines) {
  auto A = arithmeticOf(".visible .entry k(\n.param .u64 k_0\n)\n{\n" + Lines +
                            "\n\tret;\n}\n.visible .entry k2()\n{\n\tadd.f32 "
                            "%f1, %f2, %f3;\n}\n",
                        "k");
  EXPECT_TRUE(A);
  return A.value_or(PtxArithmetic());
}

const char Sum[] = "ld.global.f32 %f1, [%rd1];\n"
                   "fma.rn.f32 %f2, %f1, %f1, 0f3F800000;\n"
                   "add.f32 %f3, %f1, %f2;\n";

TEST(PtxArithmeticTest, NumbersOfRegistersDoNotCount) {
  EXPECT_TRUE(sameArithmetic(of(Sum), of("ld.global.f32 %f9, [%rd7];\n"
                                         "fma.rn.f32 %f4, %f9, %f9, 0f3F800000;\n"
                                         "@%p1 add.f32 %f1, %f9, %f4;\n")));
}

TEST(PtxArithmeticTest, ConstantsOperandsAndRoundingCount) {
  auto With = [](llvm::StringRef From, llvm::StringRef To) {
    std::string T = Sum;
    T.replace(T.find(From.str()), From.size(), To.str());
    return of(T);
  };
  EXPECT_FALSE(sameArithmetic(of(Sum), With("0f3F800000", "0f40000000")));
  EXPECT_FALSE(sameArithmetic(of(Sum), With("fma.rn", "fma.rz")));
  EXPECT_FALSE(sameArithmetic(of(Sum), With("%f1, %f2;", "%f2, %f2;")));
  EXPECT_FALSE(sameArithmetic(of(Sum), of(std::string(Sum) + Sum)));
}

TEST(PtxArithmeticTest, OrderCountsWhereSomethingMayBeFused) {
  const std::string A = "add.f32 %f3, %f1, %f2;\n", B = "sub.f32 %f4, %f1, %f2;\n",
                    Product = "mul.f32 %f2, %f1, %f1;\n",
                    Rounded = "mul.rn.f32 %f2, %f1, %f1;\n";
  EXPECT_FALSE(of(A + B).Fusible);
  EXPECT_TRUE(sameArithmetic(of(A + B), of(B + A)));
  EXPECT_FALSE(of(Rounded + A).Fusible);
  EXPECT_TRUE(of(Product + A).Fusible);
  EXPECT_TRUE(sameArithmetic(of(Product + A + B), of(Product + A + B)));
  EXPECT_FALSE(sameArithmetic(of(Product + A + B), of(Product + B + A)));
  EXPECT_FALSE(sameArithmetic(of(Product + A), of(Rounded + A)));
  // Integers are not fused with rounding.
  EXPECT_FALSE(of("mul.wide.s32 %rd2, %r1, 4;\nadd.s64 %rd3, %rd1, %rd2;").Fusible);
  // A product of a loop's variable.
  EXPECT_TRUE(of("mul.f64 %fd2, %fd1, %fd1;\nmov.f64 %fd2, 0d0;\n"
                 "add.f64 %fd3, %fd3, %fd2;")
                  .Fusible);
}

TEST(PtxArithmeticTest, EntriesByTheirWholeName) {
  EXPECT_EQ(of("").Operations.size(), 0u);
  EXPECT_FALSE(arithmeticOf(".visible .entry kk()\n{\n}\n", "k"));
}

MachineInstruction load(unsigned Scoreboard) {
  MachineInstruction I;
  I.Opcode = 0x981;
  I.Stall = 1;
  I.Sets = Scoreboard;
  return I;
}
MachineInstruction fma(unsigned Waits = 0) {
  MachineInstruction I;
  I.Opcode = 0x223;
  I.Stall = 4;
  I.Waits = Waits;
  return I;
}
MachineInstruction control(unsigned Opcode, int64_t Target = -1,
                           bool Predicated = false) {
  MachineInstruction I;
  I.Opcode = Opcode;
  I.Stall = 5;
  I.Target = Target;
  I.Predicated = Predicated;
  return I;
}
constexpr unsigned Bra = 0x947, Call = 0x944, Exit = 0x94d;

TEST(MachineCodeTest, WaitsForLoads) {
  const PressureConstants Fit;
  // Two loads on their way at once wait once, one behind the other twice.
  const double Together =
      figuresOf({load(0), load(1), fma(1), fma(2), control(Exit)}, sm90()).Wait;
  const double Apart =
      figuresOf({load(0), fma(1), load(1), fma(2), control(Exit)}, sm90()).Wait;
  EXPECT_NEAR(Together, Fit.GlobalLatency, 20);
  EXPECT_NEAR(Apart, 2 * Fit.GlobalLatency, 20);
  EXPECT_EQ(figuresOf({load(0), fma(1), control(Exit)}, sm90())
                .Arithmetic.at("FFMA"),
            1u);
}

TEST(MachineCodeTest, LoopsCountForTheirRounds) {
  const PressureConstants Fit;
  const MachineFigures F =
      figuresOf({fma(), fma(), control(Bra, 1, true), control(Exit)}, sm90());
  const auto Fp32 = F.Pipes[static_cast<size_t>(Pipe::Fp32)];
  EXPECT_DOUBLE_EQ(Fp32, 1 + Fit.LoopRounds);
  // What is loaded at a loop's end is waited for at its beginning.
  EXPECT_GT(figuresOf({fma(1), load(0), control(Bra, 0, true), control(Exit)},
                      sm90())
                .Wait,
            (Fit.LoopRounds - 1) * (Fit.GlobalLatency - 20));
}

TEST(MachineCodeTest, RareWaysAndJumpsOverLoops) {
  // @P bra 4; fma; call; (4:) exit; fma
  EXPECT_DOUBLE_EQ(figuresOf({control(Bra, 4, true), fma(), fma(),
                              control(Call, 5), control(Exit), fma()},
                             sm90())
                       .Pipes[static_cast<size_t>(Pipe::Fp32)],
                   0);
  // bra over a loop: the loop is what counts.
  EXPECT_GT(figuresOf({control(Bra, 3), fma(), control(Bra, 1, true),
                       control(Exit)},
                      sm90())
                .Pipes[static_cast<size_t>(Pipe::Fp32)],
            10);
}

TEST(MachineCodeTest, NoCubin) {
  EXPECT_FALSE(bool(llvm::expectedToOptional(machineCode("no ELF", "k"))));
}

TEST(RegisterPressureTest, BoundsLeaveDifferentRegisters) {
  const auto All = boundsToTry(256, sm90());
  ASSERT_GE(All.size(), 4u);
  EXPECT_EQ(All[0], (RegisterHints{256, 0, false}));
  EXPECT_EQ(All[1], (RegisterHints{256, 1, false}));
  // 255 registers for one block, 128 for two, 80 for three.
  EXPECT_EQ(All[2].MinBlocks, 2u);
  EXPECT_EQ(All[3].MinBlocks, 3u);
  for (const RegisterHints &H : boundsToTry(1024, sm90()))
    EXPECT_LE(H.MinBlocks, 2u);
}

TEST(RegisterPressureTest, MoreWarpsHideWaits) {
  FunctionReport Many, Few;
  Many.Registers = 32;
  Few.Registers = 128;
  MachineFigures Waits, Computes;
  Waits.Wait = 1000;
  Waits.Pipes[0] = 10;
  Computes.Wait = 10;
  Computes.Pipes[0] = 1000;
  auto Clocks = [&](const FunctionReport &F, const MachineFigures &M,
                    std::optional<int64_t> Grid = std::nullopt) {
    return pressureOf(F, M, 256, Grid, sm90()).Clocks;
  };
  EXPECT_GT(Clocks(Few, Waits), 3 * Clocks(Many, Waits));
  EXPECT_NEAR(Clocks(Few, Computes), Clocks(Many, Computes), 10);
  // With one block for each SM there is nothing to gain.
  EXPECT_DOUBLE_EQ(Clocks(Few, Waits, 132), Clocks(Many, Waits, 132));
  // What no longer fits into L1 costs more.
  MachineFigures Spills = Computes;
  Spills.LocalAccesses = 200;
  FunctionReport Large = Many;
  Large.StackFrame = 256;
  EXPECT_GT(Clocks(Large, Spills), Clocks(Many, Spills));
  // Blocks that no SM holds.
  Few.Registers = 300;
  EXPECT_EQ(Clocks(Few, Waits), 0);
}

} // namespace
