// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Affine/Relations.h"
#include "Affine/IslTools.h"
#include "Notation.h"

using namespace rcache;

namespace {

class RelationsTest : public AffineTest {};

TEST_F(RelationsTest, AccessMap) {
  EXPECT_MAP("[n] -> { Thread[tx] -> Elem[tx + 1] : 0 <= tx < n }",
             accessMap({"tx"}, {value("[tx] -> { [(tx + 1)] }")},
                       cond("[tx, n] -> { : 0 <= tx < n }")));
  // Symbols that do not occur become free coordinates; the order is kept.
  EXPECT_MAP(
      "{ Thread[ty, tx] -> Elem[tx, 2ty] : tx >= 0 }",
      accessMap({"ty", "tx"},
                {value("[tx] -> { [(tx)] }"), value("[ty] -> { [(2ty)] }")},
                cond("[tx] -> { : tx >= 0 }")));
  EXPECT_MAP("{ [tx] -> Elem[] }", accessMap({"tx"}, {}, cond("{ : }"), ""));
  // A value's own domain counts.
  EXPECT_MAP("{ T[tx] -> E[tx] : tx > 5 }",
             accessMap({"tx"}, {value("[tx] -> { [(tx)] : tx > 5 }")},
                       cond("{ : }"), "T", "E"));
}

TEST_F(RelationsTest, SetsAndConditions) {
  EXPECT_TRUE(
      cond("[n] -> { Elem[e] : e < n }")
          .is_equal(toSet({"e"}, cond("[e, n] -> { : e < n }"), "Elem")));
  EXPECT_COND("[e, n] -> { : e < n }",
              toCondition(cond("[n] -> { Elem[i] : i < n }"), {"e"}));
  EXPECT_COND("[a, b, n] -> { : b = a + n }",
              toCondition(map("[n] -> { A[i] -> B[i + n] }"), {"a"}, {"b"}));
  EXPECT_TRUE(cond("[n] -> { Elem[e] : 2 <= e < n + 2 }")
                  .is_equal(imageSet({"tx"}, {value("[tx] -> { [(tx + 2)] }")},
                                     cond("[tx, n] -> { : 0 <= tx < n }"))));
}

TEST_F(RelationsTest, FunctionsAsValues) {
  const isl::pw_multi_aff F(
      Ctx, "[n] -> { Elem[a, b] -> Thread[b + n, 2a] : a > 0 }");
  const auto V = toValues(F, {"e0", "e1"});
  ASSERT_EQ(2u, V.size());
  EXPECT_VALUE("[e0, e1, n] -> { [(e1 + n)] : e0 > 0 }", V[0]);
  EXPECT_VALUE("[e0, e1, n] -> { [(2 e0)] : e0 > 0 }", V[1]);
}

// The k-stencil of the literature: every thread stages its own element, the
// first 2k also one of the tail; block size and block base are symbols.
TEST_F(RelationsTest, StencilStagingFunction) {
  const isl::map Writes =
      map("[bd, n, bb] -> { Thread[t] -> Elem[t] : 0 <= t < bd and bb + t < n; "
          "Thread[t] -> Elem[t + bd] : 0 <= t < 6 and bb + bd + t < n }");
  const isl::map Sources = map("[bd, n, bb] -> { Thread[t] -> Src[bb + t] : 0 "
                               "<= t < bd and bb + t < n }");
  const isl::map Tail = map("[bd, n, bb] -> { Thread[t] -> Src[bb + t + bd] : "
                            "0 <= t < 6 and bb + bd + t < n }");
  const isl::map Body =
      map("[bd, n, bb] -> { Thread[t] -> Elem[t] : 0 <= t < bd "
          "and bb + t < n }");
  const isl::map TailWrites =
      map("[bd, n, bb] -> { Thread[t] -> Elem[t + bd] : 0 <= t < 6 and bb + bd "
          "+ t < n }");
  const isl::map Staged = stagedSources(Body, Sources)
                              .unite(stagedSources(TailWrites, Tail))
                              .coalesce();
  const auto Fit = fitAffine(Staged, {"e"});
  ASSERT_TRUE(Fit);
  EXPECT_EQ(1u, Fit->size());
  EXPECT_VALUE("[e, bb] -> { [(bb + e)] }", Fit->front());

  const InverseResult Inverse = invertWrites(Writes, {"e"});
  EXPECT_TRUE(Inverse.Unique);
  EXPECT_COND(
      "[bd, n, bb, e] -> { : 0 <= e < n - bb and "
      "(e < bd or bd <= e < bd + 6) }",
      Inverse.Written.intersect(cond("[bd] -> { : bd >= 32 }"))
          .unite(cond("[bd, n, bb, e] -> { : 0 <= e < n - bb and bd < 32 "
                      "and (e < bd or bd <= e < bd + 6) }")));
  ASSERT_EQ(1u, Inverse.Writer.size());
}

TEST_F(RelationsTest, InverseOfRepeatedWrites) {
  const isl::map Writes =
      map("{ Thread[t] -> Elem[floor(t/2)] : 0 <= t < 64 }");
  const InverseResult Inverse = invertWrites(Writes, {"e"});
  EXPECT_FALSE(Inverse.Unique);
  EXPECT_VALUE("[e] -> { [(2e)] : 0 <= e < 32 }", Inverse.Writer[0]);
}

// A 20x20 tile filled by 256 threads through a linear id: the composed map
// keeps existentials, the fit sees the affine function behind them.
TEST_F(RelationsTest, FitSeesThroughLinearIds) {
  const isl::map Writes =
      map("{ Thread[l] -> Elem[floor(l/20), l mod 20] : 0 <= l < 400 }");
  const isl::map Sources =
      map("[y0, x0] -> { Thread[l] -> Src[y0 + floor(l/20) - 2, "
          "x0 + (l mod 20) - 2] : 0 <= l < 400 }");
  const isl::map Staged = stagedSources(Writes, Sources);
  const auto Fit = fitAffine(Staged, {"a", "b"});
  ASSERT_TRUE(Fit);
  EXPECT_VALUE("[a, y0] -> { [(y0 + a - 2)] }", (*Fit)[0]);
  EXPECT_VALUE("[b, x0] -> { [(x0 + b - 2)] }", (*Fit)[1]);
  // The writer itself, as a function of the element.
  const InverseResult Inverse = invertWrites(Writes, {"a", "b"});
  EXPECT_TRUE(Inverse.Unique);
  EXPECT_VALUE("[a, b] -> { [(20a + b)] : 0 <= a < 20 and 0 <= b < 20 }",
               Inverse.Writer[0]);
}

TEST_F(RelationsTest, FitRefusesWhatIsNotAffine) {
  EXPECT_FALSE(
      fitAffine(map("{ [e] -> [0] : e < 0; [e] -> [e] : e >= 0 }"), {"e"}));
  EXPECT_FALSE(fitAffine(map("{ [e] -> [floor(e/2)] }"), {"e"}));
  EXPECT_FALSE(fitAffine(map("{ [e] -> [x] : x >= e }"), {"e"}));
  EXPECT_FALSE(fitAffine(map("{ [e] -> [x] : false }"), {"e"}));
}

TEST_F(RelationsTest, AsFunction) {
  const auto Clamp =
      asFunction(map("[n] -> { [e] -> [0] : e < 0; [e] -> [e] : 0 <= e < n; "
                     "[e] -> [n - 1] : e >= n and n > 0 }"),
                 {"e"});
  ASSERT_TRUE(Clamp);
  EXPECT_VALUE("[e, n] -> { [(0)] : e < 0; [(e)] : 0 <= e < n; "
               "[(n - 1)] : e >= n and n > 0 }",
               Clamp->front());
  EXPECT_FALSE(asFunction(map("{ [e] -> [x] : 0 <= x <= 1 }"), {"e"}));
  const auto Shift = asFunction(map("{ [e] -> [e + 1] : e > 0 }"), {"e"});
  ASSERT_TRUE(Shift);
  EXPECT_VALUE("[e] -> { [(e + 1)] : e > 0 }", Shift->front());
}

} // namespace
