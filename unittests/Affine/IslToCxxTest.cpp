// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Affine/IslToCxx.h"
#include "Affine/Evaluate.h"
#include "Affine/IslTools.h"
#include "CExpression.h"
#include "Notation.h"
#include <random>

using namespace rcache;

namespace {

class IslToCxxTest : public AffineTest {
protected:
  CxxNames Names = {{"x", "x"},    {"y", "y"}, {"e", "e"},
                    {"g", "rc_g"}, {"n", "n"}, {"tx", "tx"}};
  CxxOptions Opts;

  std::string text(llvm::Expected<CxxText> T) {
    if (!T)
      return "error: " + llvm::toString(T.takeError());
    return T->Text;
  }
  std::string v(const std::string &S, const std::string &Context = "") {
    if (!Context.empty())
      Opts.Context = cond(Context);
    return text(toCxx(value(S), Names, Opts));
  }
  std::string c(const std::string &S, const std::string &Context = "") {
    if (!Context.empty())
      Opts.Context = cond(Context);
    return text(toCxx(cond(S), Names, Opts));
  }
};

TEST_F(IslToCxxTest, Sums) {
  EXPECT_EQ("rc_g + 3", v("[g] -> { [(g + 3)] }"));
  EXPECT_EQ("rc_g - 3", v("[g] -> { [(-3 + g)] }"));
  EXPECT_EQ("n - x - 1", v("[x, n] -> { [(n - x - 1)] }"));
  EXPECT_EQ("4 * x + 1", v("[x] -> { [(4x + 1)] }"));
  EXPECT_EQ("7 - x", v("[x] -> { [(7 - x)] }"));
  EXPECT_EQ("-x", v("[x] -> { [(-x)] }"));
  EXPECT_EQ("-x - 2", v("[x] -> { [(-x - 2)] }"));
  EXPECT_EQ("12", v("{ [(12)] }"));
  EXPECT_EQ("-1", v("{ [(-1)] }"));
  EXPECT_EQ("x", v("[x] -> { [(x)] }"));
}

// What only told the alternatives apart, or what the context says, is not asked.
TEST_F(IslToCxxTest, AsFewTestsAsTellApart) {
  EXPECT_EQ("e < n", c("[e, n] -> { : 2 <= e < 10 and e < n or "
                       "10 <= e < 12 and e < n }",
                       "[e, n] -> { : 2 <= e < 12 }"));
  // A tile without its corners: the halo is staged by other threads.
  EXPECT_EQ("x < n",
            c("[x, y, n] -> { : 1 <= x < 9 and 1 <= y < 9 and x < n or "
              "1 <= x < 9 and y = 0 and x < n or x = 0 and 1 <= y < 9 and x < n }",
              "[x, y, n] -> { : 0 <= x < 9 and 1 <= y < 9 or "
              "1 <= x < 9 and 0 <= y < 9 }"));
}

TEST_F(IslToCxxTest, WhatAlternativesHaveInCommon) {
  const std::string T = c("[e, x, n] -> { : 0 <= e < n and x < 3 or "
                          "0 <= e < n and x > 7 }");
  EXPECT_EQ("0 <= e && e < n && (x < 3 || 8 <= x)", T);
}

TEST_F(IslToCxxTest, AtomsThatAreNoNames) {
  Names["x"] = CxxAtom("a + b", /*Primary=*/false);
  EXPECT_EQ("2 * (a + b) + 1", v("[x] -> { [(2x + 1)] }"));
  Names["x"] = CxxAtom("threadIdx.x", true, "unsigned int");
  EXPECT_EQ("(int)threadIdx.x - 1", v("[x] -> { [(x - 1)] }"));
  Opts.Type = CxxType::LongLong;
  Names["n"] = CxxAtom("n", true, "int");
  EXPECT_EQ("4 * (long long)n", v("[n] -> { [(4n)] }"));
}

TEST_F(IslToCxxTest, MinMaxAndChoice) {
  EXPECT_EQ("(rc_g < n ? rc_g : n - 1)",
            v("[g, n] -> { [(g)] : g < n; [(n - 1)] : g >= n }"));
  EXPECT_EQ("(x < 0 ? 0 : x)", v("[x] -> { [(x)] : x >= 0; [(0)] : x < 0 }"));
  Opts.MinMaxCalls = true;
  EXPECT_EQ("min(x, y)", v("[x, y] -> { [(x)] : x <= y; [(y)] : x > y }"));
  EXPECT_EQ("max(0, x)", v("[x] -> { [(x)] : x >= 0; [(0)] : x < 0 }"));
  EXPECT_EQ("min(rc_g, n - 1)",
            v("[g, n] -> { [(g)] : g < n; [(n - 1)] : g >= n }"));
  EXPECT_EQ("(x < 0 ? 7 : x)", v("[x] -> { [(x)] : x >= 0; [(7)] : x < 0 }"));
}

TEST_F(IslToCxxTest, DivisionOfWhatMayBeNegative) {
  EXPECT_EQ("x >> 2", v("[x] -> { [(floor(x/4))] }"));
  EXPECT_EQ("(x & 3)", v("[x] -> { [(x mod 4)] }"));
  EXPECT_EQ("x / 3 - (x % 3 < 0)", v("[x] -> { [(floor(x/3))] }"));
}

TEST_F(IslToCxxTest, DivisionOfWhatIsNot) {
  const std::string Context = "[x, y] -> { : x >= 0 and y >= 0 }";
  EXPECT_EQ("x / 4", v("[x] -> { [(floor(x/4))] }", Context));
  EXPECT_EQ("(x + 1) / 3", v("[x] -> { [(floor((x + 1)/3))] }"));
  EXPECT_EQ("x % 4", v("[x] -> { [(x mod 4)] }"));
  EXPECT_EQ("(x + 16 * y) / 20", v("[x, y] -> { [(floor((x + 16y)/20))] }"));
  EXPECT_EQ("(x + 16 * y) % 20", v("[x, y] -> { [((x + 16y) mod 20)] }"));
  EXPECT_EQ("(x + 3) / 4 - 1", v("[x] -> { [(floor((x - 1)/4))] }"));
  EXPECT_EQ("3 * ((x + y) % 5) + 1",
            v("[x, y] -> { [(3*((x + y) mod 5) + 1)] }"));
}

TEST_F(IslToCxxTest, Conditions) {
  EXPECT_EQ("0 <= e && e < n", c("[e, n] -> { : 0 <= e < n }"));
  EXPECT_EQ("0 <= e && e < 20", c("[e] -> { : 0 <= e < 20 }"));
  EXPECT_EQ("3 <= rc_g && rc_g < n - 3",
            c("[g, n] -> { : 0 <= g - 3 and g + 3 < n }"));
  EXPECT_EQ("x <= y", c("[x, y] -> { : x <= y }"));
  EXPECT_EQ("y == x", c("[x, y] -> { : x = y }"));
  EXPECT_EQ("true", c("[x] -> { : }"));
  EXPECT_EQ("false", c("[x] -> { : false }"));
}

TEST_F(IslToCxxTest, ConditionsUnderContext) {
  EXPECT_EQ("e < n", c("[e, n] -> { : 0 <= e < n }", "[e] -> { : e >= 0 }"));
  EXPECT_EQ("true", c("[e] -> { : e >= -4 }"));
  EXPECT_EQ("false", c("[e] -> { : e < 0 }"));
}

TEST_F(IslToCxxTest, StridesBecomeRemainders) {
  EXPECT_EQ("x % 4 == 0", c("[x] -> { : x mod 4 = 0 }"));
  EXPECT_EQ("(x - 1) % 4 == 0", c("[x] -> { : x mod 4 = 1 }"));
}

TEST_F(IslToCxxTest, Disjunctions) {
  const std::string T = c("[x, n] -> { : x = 3 or (x > 10 and n > 2) }");
  EXPECT_NE(std::string::npos, T.find(" || ")) << T;
  EXPECT_NE(std::string::npos, T.find("x == 3")) << T;
  EXPECT_NE(std::string::npos, T.find("(")) << T;
}

TEST_F(IslToCxxTest, Unsigned) {
  Opts.Type = CxxType::Unsigned;
  EXPECT_EQ("x + 3 < n", c("[x, n] -> { : x + 3 < n }",
                           "[x, n] -> { : x >= 0 and n >= 0 }"));
  EXPECT_EQ("x < n + 4", c("[x, n] -> { : x - 3 <= n }"));
  EXPECT_EQ("x - 3", v("[x] -> { [(x - 3)] }"));
  EXPECT_EQ("x / 4", v("[x] -> { [(floor(x/4))] }"));
  Opts.Context = isl::set();
  EXPECT_EQ(0u, v("[x] -> { [(floor(x/4))] }").find("error: "));
  EXPECT_EQ(0u, v("{ [(-1)] }").find("error: "));
}

TEST_F(IslToCxxTest, Refusals) {
  EXPECT_EQ("error: cannot be written in C++: no text for the symbol 'zz'",
            v("[zz] -> { [(zz)] }"));
  EXPECT_EQ(0u, v("[x] -> { [(x + 5000000000)] }").find("error: "));
  EXPECT_EQ(0u, v("[x] -> { [(x)] : false }").find("error: "));
  Opts.Type = CxxType::LongLong;
  EXPECT_EQ("x + 5000000000LL", v("[x] -> { [(x + 5000000000)] }"));
}

//===-- Random expressions: the text against the isl object ---------------===//

class RandomText : public IslToCxxTest {
protected:
  std::mt19937 Rng{20240229};
  int number(int Lo, int Hi) {
    return std::uniform_int_distribution<int>(Lo, Hi)(Rng);
  }
  isl::pw_aff leaf() {
    static const char *Symbols[] = {"x", "y", "n"};
    isl::pw_aff V = constantValue(Ctx, number(-9, 9));
    for (const char *S : Symbols)
      if (number(0, 1))
        V = V.add(symbolValue(Ctx, S).mul(constantValue(Ctx, number(-3, 3))));
    return V;
  }
  isl::pw_aff expression(int Depth) {
    if (Depth == 0)
      return leaf();
    const isl::pw_aff A = expression(Depth - 1), B = expression(Depth - 1);
    switch (number(0, 6)) {
    case 0:
      return A.add(B);
    case 1:
      return A.sub(B);
    case 2:
      return floorDiv(A, number(2, 9));
    case 3:
      return floorMod(A, number(2, 9));
    case 4:
      return A.min(B);
    case 5:
      return A.max(B);
    default:
      return choose(lessThan(leaf(), leaf()), A, B);
    }
  }
  isl::pw_aff choose(const isl::set &C, const isl::pw_aff &A,
                     const isl::pw_aff &B) {
    return A.intersect_domain(C).union_add(B.subtract_domain(C));
  }
  isl::set condition(int Depth) {
    const isl::pw_aff A = expression(1), B = leaf();
    isl::set S = number(0, 3) ? lessThan(A, B) : equalTo(A, B);
    if (Depth == 0)
      return S;
    const isl::set T = condition(Depth - 1);
    return number(0, 1) ? S.intersect(T) : S.unite(T);
  }
  /// Visits points of the context; \p Check gets the values by name.
  template <typename Fn> void points(Fn Check) {
    for (int I = 0; I < 150; ++I) {
      Point P = {
          {"x", number(-40, 40)}, {"y", number(-9, 40)}, {"n", number(-5, 60)}};
      if (evaluate(Opts.Context, P))
        Check(P);
    }
  }
  void pickContext() {
    static const char *Contexts[] = {
        "{ : }", "[x, y, n] -> { : x >= 0 and 0 <= y < 32 }",
        "[x, y, n] -> { : 0 <= x < 32 and y >= 0 and n >= 1 }",
        // Numbers that exist, and are no quotients.
        ("[x, y, n] -> { : y >= 0 and exists e : e < 0 and 3e >= -1 - n and "
         "-1 - y <= 3e <= 2 - x }")};
    Opts.Context = cond(Contexts[number(0, 3)]);
  }
};

TEST_F(RandomText, Values) {
  int Printed = 0;
  for (int I = 0; I < 250; ++I) {
    Owner.resetBudget();
    pickContext();
    const isl::pw_aff V = expression(number(1, 3));
    llvm::Expected<CxxText> T = toCxx(V, Names, Opts);
    if (!T) {
      llvm::consumeError(T.takeError());
      continue;
    }
    ++Printed;
    points([&](const Point &P) {
      CExpression E(T->Text, P);
      const int64_t Got = E.evaluate();
      ASSERT_TRUE(E.ok()) << T->Text;
      ASSERT_EQ(evaluate(V, P), Got) << T->Text << "\n"
                                     << str(V) << "\nx " << P.at("x") << " y "
                                     << P.at("y") << " n " << P.at("n");
    });
  }
  EXPECT_GT(Printed, 200);
}

TEST_F(RandomText, Conditions) {
  int Printed = 0;
  for (int I = 0; I < 250; ++I) {
    Owner.resetBudget();
    pickContext();
    const isl::set S = condition(number(0, 2));
    llvm::Expected<CxxText> T = toCxx(S, Names, Opts);
    if (!T) {
      llvm::consumeError(T.takeError());
      continue;
    }
    ++Printed;
    points([&](const Point &P) {
      CExpression E(T->Text, P);
      const int64_t Got = E.evaluate();
      ASSERT_TRUE(E.ok()) << T->Text;
      ASSERT_EQ(evaluate(S, P), Got != 0)
          << T->Text << "\n"
          << str(S) << "\nx " << P.at("x") << " y " << P.at("y") << " n "
          << P.at("n");
    });
  }
  EXPECT_GT(Printed, 200);
}

} // namespace
