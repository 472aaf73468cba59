// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Staging functions with products of a coordinate and a parameter:
//
//     s[ty][tx] = in[(8 * by + ty) * W + 8 * bx + tx]

#include "Affine/IslTools.h"
#include "Verify/PlanVerifier.h"
#include "Plan/Staging.h"
#include "gtest/gtest.h"

using namespace rcache;

namespace {

class ProductsTest : public ::testing::Test {
protected:
  AffineContextRef Owner = std::make_shared<AffineContext>();
  KernelModel M;

  isl::pw_aff value(const std::string &S) {
    return isl::pw_aff(Owner->ctx(), S);
  }
  isl::set cond(const std::string &S) { return isl::set(Owner->ctx(), S); }

  void symbol(Symbol::Kind Kind, const std::string &Id, unsigned Depends = 0,
              std::vector<std::string> Factors = {}) {
    Symbol S;
    S.K = Kind;
    S.Id = S.Text = Id;
    S.Type = "int";
    S.Depends = Depends;
    S.Factors = std::move(Factors);
    M.Symbols.push_back(std::move(S));
  }

  ProductsTest() {
    M.Ctx = Owner;
    symbol(Symbol::ThreadIdx, "tx", DepThreadX);
    symbol(Symbol::ThreadIdx, "ty", DepThreadY);
    symbol(Symbol::BlockIdx, "bx", DepBlockX);
    symbol(Symbol::BlockIdx, "by", DepBlockY);
    symbol(Symbol::Param, "W");
    symbol(Symbol::Opaque, "byW", DepBlockY, {"W", "by"});
    symbol(Symbol::Opaque, "tyW", DepThreadY, {"W", "ty"});
    SharedArray S;
    S.Name = "s";
    S.ElemType = S.CanonicalType = "float";
    S.ElemBytes = 4;
    S.Extents = {8, 8};
    M.Arrays.push_back(S);
    for (int I = 0; I < 4; ++I) { // body, write, barrier, read
      Stmt St;
      St.Id = I;
      St.K = I == 0 ? Stmt::Block : I == 2 ? Stmt::Barrier : Stmt::Leaf;
      St.Parent = I == 0 ? -1 : 0;
      St.Domain = cond("{ : }");
      M.Stmts.push_back(St);
    }
    auto Index = std::make_shared<Value>();
    Index->K = Value::Affine;
    Index->Type = "int";
    Index->Aff = value("[tx, bx, byW, tyW] -> { [(8byW + tyW + 8bx + tx)] }");
    auto Load = std::make_shared<Value>();
    Load->K = Value::Load;
    Load->Type = "float";
    Load->Text = "in";
    Load->Root = 0;
    Load->Operands = {Index};
    SharedAccess W;
    W.K = SharedAccess::Write;
    W.Stmt = 1;
    W.Affine = true;
    W.Index = {value("[ty] -> { [(ty)] }"), value("[tx] -> { [(tx)] }")};
    W.Domain = cond("{ : }");
    W.Stored = Load;
    SharedAccess R = W;
    R.K = SharedAccess::Read;
    R.Stmt = 3;
    R.Stored = nullptr;
    R.Index = {value("[tx] -> { [(tx)] }"), value("[ty] -> { [(ty)] }")};
    M.SharedAccesses = {W, R};
    M.Context = cond("[tx, ty] -> { : 0 <= tx < 8 and 0 <= ty < 8 }");
  }

  StagingGroup group() {
    StagingGroup G;
    G.Barrier = 2;
    G.Writes = {0};
    G.Reads = {1};
    return G;
  }
};

TEST_F(ProductsTest, Factors) {
  EXPECT_EQ((std::vector<std::string>{"W", "e0"}), productFactors("W*e0"));
  EXPECT_EQ((std::vector<std::string>{"W", "e0"}), productFactors("64*W*e0"));
  EXPECT_TRUE(productFactors("e0").empty());
  EXPECT_TRUE(isWideProduct("64*W*e0"));
  EXPECT_FALSE(isWideProduct("W*e0"));
}

TEST_F(ProductsTest, RowTimesPitch) {
  const Assumptions A = makeAssumptions(M, {{8, 8, 1}}, 1);
  const StagingResult R = stagingFunction(M, group(), A);
  ASSERT_FALSE(R.Reason) << spelling(R.Reason->Code) << ": " << R.Reason->Detail;
  ASSERT_EQ(1u, R.F.Pieces.size());
  const ValueRef &V = R.F.Pieces[0].V;
  ASSERT_EQ(Value::Load, V->K);
  const isl::pw_aff Want =
      symbolValue(Owner->ctx(), "W*e0")
          .add(value("[e1, bx, byW] -> { [(8byW + 8bx + e1)] }"));
  EXPECT_TRUE(
      equalUnder(V->Operands[0]->Aff.intersect_domain(R.F.Pieces[0].Domain),
                 Want.intersect_domain(R.F.Pieces[0].Domain), cond("{ : }")));
  EXPECT_TRUE(R.F.CoverageProved);

  // The transposed read is right, and found wrong with another pitch.
  Plan P;
  P.Map.Block = {{8, 8, 1}};
  ArrayPlan AP;
  AP.Barrier = 2;
  AP.Writes = {0};
  AP.Reads = {1};
  AP.Where = FromSource();
  AP.Stage = R.F;
  P.Arrays = {AP};
  EXPECT_EQ(VerifyOutcome::Verified, verifyPlan(M, P).K)
      << verifyPlan(M, P).Detail;
  auto Wrong = std::make_shared<Value>(*V);
  auto Index = std::make_shared<Value>(*V->Operands[0]);
  Index->Aff = symbolValue(Owner->ctx(), "W*e1")
                   .add(value("[e0, bx, byW] -> { [(8byW + 8bx + e0)] }"));
  Wrong->Operands = {Index};
  P.Arrays[0].Stage.Pieces[0].V = Wrong;
  EXPECT_EQ(VerifyOutcome::Wrong, verifyPlan(M, P).K);
}

// What a wider or wrapping product needs is kept apart.
TEST_F(ProductsTest, WidthAndWrap) {
  const Assumptions A = makeAssumptions(M, {{8, 8, 1}}, 1);
  M.Symbols.back().Bits = 64;
  StagingResult R = stagingFunction(M, group(), A);
  ASSERT_FALSE(R.Reason) << R.Reason->Detail;
  EXPECT_TRUE(dependsOn(R.F.Pieces[0].V->Operands[0]->Aff, "64*W*e0"));

  // An unsigned product with a loop variable may have wrapped.
  M.Symbols.back().Bits = 32;
  M.Symbols.back().Signed = false;
  M.Symbols[4].K = Symbol::Opaque; // W: no parameter that a launch could check
  R = stagingFunction(M, group(), A);
  ASSERT_TRUE(R.Reason);
  EXPECT_EQ("non-affine-index", spelling(R.Reason->Code));
}

} // namespace
