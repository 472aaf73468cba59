// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Affine/IslTools.h"
#include "Notation.h"

using namespace rcache;

namespace {

class IslToolsTest : public AffineTest {};

TEST_F(IslToolsTest, MakesValues) {
  EXPECT_VALUE("{ [(7)] }", constantValue(Ctx, 7));
  EXPECT_VALUE("{ [(-9223372036854775807)] }",
               constantValue(Ctx, -9223372036854775807));
  EXPECT_VALUE("[tx] -> { [(tx)] }", symbolValue(Ctx, "tx"));
  EXPECT_COND("[tx, n] -> { : 0 <= tx < n }",
              inRange(symbolValue(Ctx, "tx"), constantValue(Ctx, 0),
                      symbolValue(Ctx, "n")));
  EXPECT_VALUE("[x] -> { [(floor(x/4))] }", floorDiv(symbolValue(Ctx, "x"), 4));
  EXPECT_VALUE("[x] -> { [(x mod 4)] }", floorMod(symbolValue(Ctx, "x"), 4));
}

TEST_F(IslToolsTest, ConstraintsHoldTogether) {
  for (const char *Text :
       {"[x, n] -> { : 0 <= x < n }", "[x, n] -> { : x mod 3 = 1 and x < n }",
        "[x, n] -> { : exists e : 3e >= -1 - n and 3e <= 2 - x and e < 0 }"}) {
    const isl::set S = cond(Text);
    S.foreach_basic_set([&](const isl::basic_set &B) {
      isl::set All = isl::set::universe(S.space());
      for (const isl::set &C : constraintsOf(B))
        All = All.intersect(C);
      EXPECT_TRUE(All.is_equal(isl::set(B))) << Text;
    });
  }
}

TEST_F(IslToolsTest, DependsOnIsTextual) {
  const isl::pw_aff V = value("[tx, n] -> { [(tx + 1)] : tx < n }");
  EXPECT_TRUE(dependsOn(V, "tx"));
  EXPECT_TRUE(dependsOn(V, "n")); // through its domain
  EXPECT_FALSE(dependsOn(V, "m"));
  EXPECT_EQ((std::vector<std::string>{"tx"}),
            involvedIds(value("[tx, n] -> { [(tx + 1)] }")));
  EXPECT_EQ((std::vector<std::string>{"n"}),
            involvedIds(cond("[tx, n] -> { : n > 3 }")));
}

TEST_F(IslToolsTest, SubstitutesAllAtOnce) {
  const isl::pw_aff V = value("[tx, ty] -> { [(tx + 10 * ty)] }");
  EXPECT_VALUE("[tx, ty] -> { [(tx + 1 + 10 * ty)] }",
               substitute(V, {{"tx", value("[tx] -> { [(tx + 1)] }")}}));
  EXPECT_VALUE("[tx, ty] -> { [(ty + 10 * tx)] }",
               substitute(V, {{"tx", value("[ty] -> { [(ty)] }")},
                              {"ty", value("[tx] -> { [(tx)] }")}}));
  EXPECT_VALUE("[ty] -> { [(3 + 10 * ty)] }", bindConst(V, "tx", 3));
  // A symbol that does not occur changes nothing.
  EXPECT_VALUE("[tx, ty] -> { [(tx + 10 * ty)] }", bindConst(V, "z", 3));
}

TEST_F(IslToolsTest, SubstitutesInConditionsAndPieces) {
  EXPECT_COND("[tx, s, n] -> { : tx + 2s < n }",
              substitute(cond("[tx, n] -> { : tx < n }"),
                         {{"tx", value("[tx, s] -> { [(tx + 2s)] }")}}));
  EXPECT_COND("[n] -> { : 4 < n }",
              bindConst(cond("[tx, n] -> { : tx < n }"), "tx", 4));
  EXPECT_VALUE(
      "[u, n] -> { [(u)] : u < n; [(n)] : u >= n }",
      renameSymbol(value("[t, n] -> { [(t)] : t < n; [(n)] : t >= n }"), "t",
                   "u"));
  // A partial substitute makes the result partial.
  EXPECT_VALUE("[a] -> { [(a)] : a >= 0 }",
               substitute(value("[t] -> { [(t)] }"),
                          {{"t", value("[a] -> { [(a)] : a >= 0 }")}}));
}

TEST_F(IslToolsTest, ProjectsOut) {
  EXPECT_COND("[n] -> { : n > 0 }",
              projectOut(cond("[tx, n] -> { : 0 <= tx < n }"), {"tx", "ty"}));
}

TEST_F(IslToolsTest, SimplifiesUnderContext) {
  const isl::set Ctxt = cond("[tx] -> { : 0 <= tx < 32 }");
  EXPECT_EQ("[tx] -> { [(tx)] }",
            str(simplify(value("[tx] -> { [(tx mod 32)] }"), Ctxt)));
  EXPECT_EQ(
      "[tx] -> { [(tx)] }",
      str(simplify(value("[tx] -> { [(tx)] : tx >= 0; [(-tx)] : tx < 0 }"),
                   Ctxt)));
  EXPECT_TRUE(
      simplify(cond("[tx] -> { : tx < 40 }"), Ctxt).is_equal(always(Ctx)));
}

TEST_F(IslToolsTest, ConstantBounds) {
  const isl::set Ctxt = cond("[tx, n] -> { : 0 <= tx < 32 and n > tx }");
  EXPECT_EQ(1, minConst(value("[tx] -> { [(2tx + 1)] }"), Ctxt));
  EXPECT_EQ(63, maxConst(value("[tx] -> { [(2tx + 1)] }"), Ctxt));
  EXPECT_EQ(7, maxConst(value("[tx] -> { [(floor(tx/4))] }"), Ctxt));
  EXPECT_EQ(1, minConst(value("[n] -> { [(n)] }"), Ctxt));
  EXPECT_EQ(std::nullopt, maxConst(value("[n] -> { [(n)] }"), Ctxt));
  EXPECT_EQ(std::nullopt,
            minConst(value("[n] -> { [(n)] }"), cond("{ : false }")));
}

TEST_F(IslToolsTest, Constants) {
  EXPECT_EQ(5, isConstant(value("[n] -> { [(5)] : n > 2; [(5)] : n <= 2 }")));
  EXPECT_EQ(std::nullopt, isConstant(value("[n] -> { [(n)] }")));
  EXPECT_EQ(3, isConstant(value("[n] -> { [(n)] : n = 3 }")));
  EXPECT_EQ(0, constantUnder(value("[n] -> { [(floor(n/8))] }"),
                             cond("[n] -> { : 0 <= n < 8 }")));
  EXPECT_EQ(std::nullopt, isConstant(value("[n] -> { [(n)] : n < n }")));
}

TEST_F(IslToolsTest, EqualUnderContext) {
  const isl::pw_aff A = value("[x] -> { [(x mod 8)] }");
  const isl::pw_aff B = value("[x] -> { [(x)] }");
  EXPECT_TRUE(equalUnder(A, B, cond("[x] -> { : 0 <= x < 8 }")));
  EXPECT_FALSE(equalUnder(A, B, cond("[x] -> { : 0 <= x <= 8 }")));
  // Different domains are a difference.
  EXPECT_FALSE(equalUnder(B, value("[x] -> { [(x)] : x > 0 }"),
                          cond("[x] -> { : 0 <= x < 8 }")));
  EXPECT_TRUE(
      impliedBy(cond("[x] -> { : x >= 0 }"), cond("[x] -> { : x = 4 }")));
  EXPECT_FALSE(
      impliedBy(cond("[x] -> { : x >= 5 }"), cond("[x] -> { : x > 3 }")));
}

TEST_F(IslToolsTest, LinearSplit) {
  const isl::set Ctxt = cond("[tx, ty] -> { : 0 <= tx < 16 and 0 <= ty < 8 }");
  const auto S = splitLinear(value("[tx, ty, b] -> { [(b + 3 + 2tx - ty)] }"),
                             {"tx", "ty"}, Ctxt);
  ASSERT_TRUE(S);
  EXPECT_EQ(2, S->Coefficients.at("tx"));
  EXPECT_EQ(-1, S->Coefficients.at("ty"));
  EXPECT_VALUE("[b] -> { [(3 + b)] }", S->Rest);
  EXPECT_EQ((std::vector<std::string>{"b"}), involvedIds(S->Rest));
}

TEST_F(IslToolsTest, SplitsByProductsOfSymbols) {
  // Their names are no names of isl's notation.
  const isl::pw_aff V = symbolValue(Ctx, "64*e0*w")
                            .mul(constantValue(Ctx, 3))
                            .add(symbolValue(Ctx, "e1"));
  const auto S = splitLinear(
      V, {"64*e0*w"}, inRange(V, constantValue(Ctx, 0), constantValue(Ctx, 9)));
  ASSERT_TRUE(S);
  EXPECT_EQ(3, S->Coefficients.at("64*e0*w"));
  EXPECT_VALUE("[e1] -> { [(e1)] }", S->Rest);
}

TEST_F(IslToolsTest, LinearCoefficientSeesThroughSplits) {
  const isl::set Ctxt = cond("[tx, ty] -> { : 0 <= tx < 16 and 0 <= ty < 8 }");
  EXPECT_EQ(
      1, linearCoefficient(value("[tx] -> { [(4*floor(tx/4) + (tx mod 4))] }"),
                           "tx", Ctxt));
  // The row of a linear id is free of tx, because 0 <= tx < 16.
  EXPECT_EQ(
      0, linearCoefficient(value("[tx, ty] -> { [(floor((16ty + tx)/16))] }"),
                           "tx", Ctxt));
  EXPECT_EQ(
      1, linearCoefficient(value("[tx, ty] -> { [(floor((16ty + tx)/16))] }"),
                           "ty", Ctxt));
  EXPECT_EQ(std::nullopt,
            linearCoefficient(value("[tx] -> { [(tx mod 4)] }"), "tx", Ctxt));
  EXPECT_EQ(
      std::nullopt,
      linearCoefficient(value("[tx] -> { [(floor(tx/2))] }"), "tx", Ctxt));
  EXPECT_EQ(std::nullopt,
            linearCoefficient(
                value("[tx, n] -> { [(tx)] : tx < n; [(n)] : tx >= n }"), "tx",
                Ctxt));
}

TEST_F(IslToolsTest, ErrorsLeaveThroughGuarded) {
  auto E = guarded([&] { return isl::pw_aff(Ctx, "{ [("); });
  ASSERT_FALSE(bool(E));
  EXPECT_EQ(0u, llvm::toString(E.takeError()).find("isl: "));
  auto Null = guarded([&] { return isConstant(isl::pw_aff()); });
  ASSERT_FALSE(bool(Null));
  llvm::consumeError(Null.takeError());
}

TEST_F(IslToolsTest, BudgetEndsRunawayWorkAndCanBeRenewed) {
  isl_ctx_set_max_operations(Ctx.get(), 200);
  Owner.resetBudget();
  auto Work = [&] {
    isl::pw_aff V = symbolValue(Ctx, "x");
    for (int D = 2; D < 40; ++D)
      V = V.add(floorDiv(symbolValue(Ctx, "x"), D));
    return maxConst(V, cond("[x] -> { : 0 <= x < 100000 }"));
  };
  auto E = guarded(Work);
  ASSERT_FALSE(bool(E));
  llvm::consumeError(E.takeError());
  isl_ctx_set_max_operations(Ctx.get(), 5000000);
  Owner.resetBudget();
  EXPECT_EQ(7, isConstant(constantValue(Ctx, 7)));
}

} // namespace
