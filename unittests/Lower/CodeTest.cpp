// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Code knows what it names, and is written by where it stands.

#include "Lower/Code.h"
#include "../Plan/PlanTesting.h"

using namespace rcache;

namespace {

TEST(CodeTest, NamesInFull) {
  const Code C = "x = " + Code(Code::generated("rc_s") + "_at(" +
                               Code::generated("rc_e0") + " + 1);");
  EXPECT_TRUE(C.names("rc_s_at"));
  EXPECT_FALSE(C.names("rc_s")); // only the beginning of one
  EXPECT_TRUE(C.names("rc_e0"));
  EXPECT_FALSE(C.names("rc_e"));
  EXPECT_TRUE(C.is("x = rc_s_at(rc_e0 + 1);"));
  EXPECT_FALSE(Code("rc_e0 of text that is ours").names("rc_e0"));
}

class SourceTest : public ::testing::Test {
protected:
  Parsed P = kernel("__shared__ float s[256];\n"
                    "int g = blockIdx.x * 256 + threadIdx.x;\n"
                    "float v = in[g];\n"
                    "v += 1.0f;\n"
                    "s[threadIdx.x] = v;\n"
                    "__syncthreads();\n"
                    "out[g] = s[threadIdx.x] + v;",
                    "256");
  const KernelModel &M = P.only();

  unsigned var(const std::string &Name) const {
    for (unsigned V = 0; V < M.Vars.size(); ++V)
      if (M.Vars[V].Name == Name)
        return V;
    ADD_FAILURE() << "no variable " << Name;
    return 0;
  }
  Code statement(const std::string &Text) const {
    for (const Stmt &S : M.Stmts)
      if (M.text(S.Range) == Text)
        return SourceCode(M).copy(S.Range);
    ADD_FAILURE() << "no statement " << Text;
    return {};
  }
};

TEST_F(SourceTest, VariablesOfACopy) {
  EXPECT_TRUE(statement("float v = in[g];").variables(M).count(var("g")));
  EXPECT_FALSE(statement("float v = in[g];").variables(M).count(var("v")));
  EXPECT_TRUE(statement("v += 1.0f;").variables(M).count(var("v")));
}

TEST_F(SourceTest, SubscriptsOfTheSlot) {
  const unsigned V = var("v");
  const Code C = statement("v += 1.0f;");
  auto Printed = [&](bool PerSlot, const char *Subscripts) {
    return Code::plain(C.print(
        M, {[&](unsigned X) { return PerSlot && X == V; }, Subscripts}));
  };
  EXPECT_EQ("v += 1.0f;", Printed(false, "[rc_s]"));
  EXPECT_EQ("v[rc_s] += 1.0f;", Printed(true, "[rc_s]"));
  EXPECT_EQ("v[0] += 1.0f;", Printed(true, "[0]"));
}

TEST_F(SourceTest, EffectsStayInTheText) {
  // What is printed says that the effect happens there.
  const Code C = statement("v += 1.0f;");
  const std::string T = C.print(M, {[](unsigned) { return false; }, ""});
  EXPECT_NE(std::string::npos, T.find("\1E")) << T;
}

} // namespace
