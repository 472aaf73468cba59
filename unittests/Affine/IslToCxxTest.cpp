// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Affine/IslToCxx.h"
#include "Notation.h"

using namespace rcache;

namespace {

class IslToCxxTest : public AffineTest {
protected:
  CxxNames Names = {{"x", "x"},   {"y", "y"}, {"e", "e"},
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
  EXPECT_EQ("min(y, x)", v("[x, y] -> { [(x)] : x <= y; [(y)] : x > y }"));
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
  EXPECT_EQ("3 * ((x + y) % 5) + 1", v("[x, y] -> { [(3*((x + y) mod 5) + 1)] }"));
}

TEST_F(IslToCxxTest, Conditions) {
  EXPECT_EQ("0 <= e && e < n", c("[e, n] -> { : 0 <= e < n }"));
  EXPECT_EQ("0 <= e && e < 20", c("[e] -> { : 0 <= e < 20 }"));
  EXPECT_EQ("3 <= rc_g && rc_g < n - 3", c("[g, n] -> { : 0 <= g - 3 and g + 3 < n }"));
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

} // namespace
