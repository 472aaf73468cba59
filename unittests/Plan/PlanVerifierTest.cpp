// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Right plans pass; plans with one planted mistake are found wrong. Models and
// plans are written by hand, so that the verifier is tested without the
// planner.

#include "Verify/PlanVerifier.h"
#include "Affine/IslTools.h"
#include "gtest/gtest.h"
#include <functional>

using namespace rcache;

namespace {

/// __global__ void stencil(const float *in, float *out, int n) {
///   s[l] = in[g];                             l < blockDim.x, g < n
///   if (l < 2 * K) s[l + bd] = in[g + bd];    g + bd < n
///   __syncthreads();
///   for (int j = 0; j <= 2 * K; ++j) sum += s[l + j];   g + 2 * K < n
/// }
enum class Exchange { Shuffle, Reload, Direct };

class PlanVerifierTest : public ::testing::Test {
protected:
  static constexpr int K = 3;
  static constexpr unsigned C = 4;
  AffineContextRef Owner = std::make_shared<AffineContext>();

  isl::pw_aff value(const std::string &S) {
    return isl::pw_aff(Owner->ctx(), S);
  }
  isl::set cond(const std::string &S) { return isl::set(Owner->ctx(), S); }

  ValueRef affine(const std::string &S) {
    auto V = std::make_shared<Value>();
    V->K = Value::Affine;
    V->Type = "int";
    V->Aff = value(S);
    return V;
  }
  ValueRef load(const std::string &Index) {
    auto V = std::make_shared<Value>();
    V->K = Value::Load;
    V->Type = "float";
    V->Text = "in";
    V->Root = 0;
    V->Operands = {affine(Index)};
    return V;
  }
  void symbol(KernelModel &M, Symbol::Kind Kind, const std::string &Id,
              unsigned Depends = 0, std::vector<std::string> Factors = {}) {
    Symbol S;
    S.K = Kind;
    S.Id = S.Text = Id;
    S.Type = "int";
    S.Depends = Depends;
    S.Factors = std::move(Factors);
    M.Symbols.push_back(std::move(S));
  }
  unsigned statement(KernelModel &M, Stmt::Kind Kind, int Parent) {
    Stmt S;
    S.K = Kind;
    S.Id = M.Stmts.size();
    S.Parent = Parent;
    S.Domain = cond("{ : }");
    M.Stmts.push_back(S);
    if (Parent >= 0)
      M.Stmts[Parent].Children.push_back(S.Id);
    return S.Id;
  }
  void access(KernelModel &M, SharedAccess::Kind Kind, unsigned Stmt,
              const std::string &Index, const std::string &Domain,
              ValueRef Stored = nullptr) {
    SharedAccess A;
    A.K = Kind;
    A.Stmt = Stmt;
    A.Affine = true;
    A.Index = {value(Index)};
    A.Domain = cond(Domain);
    A.Stored = std::move(Stored);
    M.SharedAccesses.push_back(std::move(A));
  }

  /// Statements: 0 body, 1 and 2 the writes, 3 the barrier, 4 the loop, 5 the
  /// read. Accesses: 0 and 1 the writes, 2 the read.
  KernelModel model() {
    KernelModel M;
    M.Ctx = Owner;
    M.Name = "stencil";
    symbol(M, Symbol::ThreadIdx, "tx", DepThreadX);
    symbol(M, Symbol::BlockIdx, "bx", DepBlockX);
    symbol(M, Symbol::BlockDim, "bdx");
    symbol(M, Symbol::Param, "n");
    symbol(M, Symbol::Opaque, "bb", DepBlockX, {"bx", "bdx"});
    symbol(M, Symbol::Iterator, "j");
    SharedArray S;
    S.Name = "s";
    S.ElemType = S.CanonicalType = "float";
    S.ElemBytes = 4;
    S.Dynamic = true;
    M.Arrays.push_back(S);
    statement(M, Stmt::Block, -1);
    statement(M, Stmt::Leaf, 0);
    statement(M, Stmt::Leaf, 0);
    statement(M, Stmt::Barrier, 0);
    const unsigned Loop = statement(M, Stmt::For, 0);
    statement(M, Stmt::Leaf, Loop);
    M.Stmts[Loop].IterSymbol = 5;
    M.Stmts[Loop].IterDomain = cond("[j] -> { : 0 <= j <= 6 }");
    access(M, SharedAccess::Write, 1, "[tx] -> { [(tx)] }",
           "[tx, bb, n] -> { : bb + tx < n }",
           load("[tx, bb] -> { [(bb + tx)] }"));
    access(M, SharedAccess::Write, 2, "[tx, bdx] -> { [(tx + bdx)] }",
           "[tx, bb, bdx, n] -> { : tx < 6 and bb + bdx + tx < n }",
           load("[tx, bb, bdx] -> { [(bb + bdx + tx)] }"));
    access(M, SharedAccess::Read, 5, "[tx, j] -> { [(tx + j)] }",
           "[tx, bb, n, j] -> { : bb + tx + 6 < n and 0 <= j <= 6 }");
    M.Context = cond("[tx, bdx, n] -> { : 0 <= tx < bdx <= 1024 and n >= 0 }");
    return M;
  }

  StagingFunction staging() {
    StagingFunction F;
    F.ElemIds = {"e0"};
    StagePiece P;
    P.Domain =
        cond("[e0, bdx, bb, n] -> { : 0 <= e0 < bdx + 6 and bb + e0 < n }");
    P.V = load("[e0, bb] -> { [(bb + e0)] }");
    F.Pieces = {P};
    F.CoverageProved = true;
    return F;
  }

  Plan plan(Exchange X) {
    Plan P;
    P.Map.Factor = {C, 1, 1};
    P.Map.BlockMultiple = 32 * C;
    P.UnrolledLoops = {4};
    ArrayPlan A;
    A.Barrier = 3;
    A.Writes = {0, 1};
    A.Reads = {2};
    A.Stage = staging();
    Window W;
    W.First = {value("[tx] -> { [(tx)] }")};
    W.Extent = {C + 2 * K};
    WindowRead R;
    R.Access = 2;
    R.Register = {value("[sx, j] -> { [(sx + j)] }")};
    W.Reads = {R};
    const int Run = X == Exchange::Shuffle ? C : C + 2 * K;
    W.InteriorPiece = 0;
    W.Interior = cond("[e0, bdx, bb, n] -> { : 0 <= e0 and e0 + " +
                      std::to_string(Run - 1) + " < bdx + 6 and bb + e0 + " +
                      std::to_string(Run - 1) + " < n }");
    VectorLeaf L;
    L.Load = A.Stage.Pieces[0].V;
    L.ElemBytes = 4;
    W.Leaves = {L};
    switch (X) {
    case Exchange::Shuffle:
      A.Where = Shuffled{W, {Distribution::Chunked, C, 1}};
      break;
    case Exchange::Reload:
      A.Where = Reloaded{W};
      break;
    case Exchange::Direct:
      A.Where = FromSource();
      break;
    }
    P.Arrays = {A};
    return P;
  }

  /// The literature's round robin, C slots of stride 32.
  Plan cyclic() {
    Plan P = plan(Exchange::Shuffle);
    P.Map.Stride = {32, 1, 1};
    exchange(P) = {Distribution::Cyclic, 1, 1};
    Window &W = window(P);
    W.SlotSpan = 2 * K + 1;
    W.SlotStep = 32;
    W.Extent = {static_cast<int64_t>(C) * (2 * K + 1)};
    W.Reads[0].Register = {value("[sx, j] -> { [(7sx + j)] }")};
    W.InteriorPiece = -1;
    W.Leaves.clear();
    return P;
  }

  static Window &window(Plan &P) { return *P.Arrays[0].window(); }
  static Distribution &exchange(Plan &P) {
    return P.Arrays[0].as<Shuffled>()->D;
  }

  void expectRight(const KernelModel &M, const Plan &P) {
    const VerifyOutcome V = verifyPlan(M, P);
    EXPECT_EQ(VerifyOutcome::Verified, V.K) << V.Detail;
    EXPECT_GT(V.Checks, 1000u);
  }
  void expectWrong(const KernelModel &M, const Plan &P,
                   const std::string &Says) {
    const VerifyOutcome V = verifyPlan(M, P);
    EXPECT_EQ(VerifyOutcome::Wrong, V.K) << V.Detail;
    EXPECT_NE(std::string::npos, V.Detail.find(Says)) << V.Detail;
  }
};

//===-- Right plans -------------------------------------------------------===//

TEST_F(PlanVerifierTest, RightPlans) {
  expectRight(model(), plan(Exchange::Shuffle));
  expectRight(model(), plan(Exchange::Reload));
  expectRight(model(), plan(Exchange::Direct));
  expectRight(model(), cyclic());
}

TEST_F(PlanVerifierTest, KnownBlock) {
  Plan P = plan(Exchange::Shuffle);
  P.Map.Block = {256, 1, 1};
  expectRight(model(), P);
}

TEST_F(PlanVerifierTest, ReversedReads) {
  KernelModel M = model();
  // s[bd - 1 - l + j]: neighbouring threads read backwards.
  M.SharedAccesses[2].Index = {
      value("[tx, bdx, j] -> { [(bdx - 1 - tx + j)] }")};
  M.SharedAccesses[2].Domain = cond("[bb, n, bdx] -> { : bb + bdx + 6 <= n }");
  Plan P = plan(Exchange::Shuffle);
  window(P).First = {value("[tx, bdx] -> { [(bdx - 4 - tx)] }")};
  window(P).Reads[0].Register = {value("[sx, j] -> { [(3 - sx + j)] }")};
  exchange(P).Direction = -1;
  expectRight(M, P);
  exchange(P).Direction = 1;
  expectWrong(M, P, "register");
}

// for (i = tid; i < bd + 6; i += bd) s[i] = in[bb + i];
TEST_F(PlanVerifierTest, CooperativeStaging) {
  KernelModel M = model();
  symbol(M, Symbol::Iterator, "i");
  M.Stmts[1].K = Stmt::For;
  M.Stmts[1].IterSymbol = 6;
  M.Stmts[1].IterDomain = cond("[i, bdx] -> { : 0 <= i < bdx + 6 }");
  M.Stmts[1].Cooperative = true;
  M.Stmts[1].CooperativeAxes = DepThreadX;
  M.SharedAccesses[0].Index = {value("[i] -> { [(i)] }")};
  M.SharedAccesses[0].Domain =
      cond("[i, bb, n, bdx] -> { : 0 <= i < bdx + 6 and bb + i < n }");
  M.SharedAccesses[0].Stored = load("[i, bb] -> { [(bb + i)] }");
  M.SharedAccesses.erase(M.SharedAccesses.begin() + 1);
  for (const Exchange X :
       {Exchange::Shuffle, Exchange::Reload, Exchange::Direct}) {
    Plan P = plan(X);
    P.Arrays[0].Writes = {0};
    P.Arrays[0].Reads = {1};
    if (X != Exchange::Direct)
      window(P).Reads[0].Access = 1;
    expectRight(M, P);
  }
}

// for (int t = 0; t < 3; ++t) { s[l] = in[t * bd + l]; barrier; read s[l]; ...
// } and a product with the thread: s[l] = in[l * n].
TEST_F(PlanVerifierTest, TileLoopsAndProducts) {
  KernelModel M = model();
  symbol(M, Symbol::Iterator, "t");                          // 6
  symbol(M, Symbol::Opaque, "tbd", 0, {"t", "bdx"});         // 7
  symbol(M, Symbol::Opaque, "txn", DepThreadX, {"tx", "n"}); // 8
  symbol(M, Symbol::Opaque, "e0n", DepThreadX, {"e0", "n"}); // 9
  const unsigned Tiles = statement(M, Stmt::For, 0);
  M.Stmts[Tiles].IterSymbol = 6;
  M.Stmts[Tiles].IterDomain = cond("[t] -> { : 0 <= t < 3 }");
  for (unsigned S = 1; S <= 4; ++S)
    M.Stmts[S].Parent = static_cast<int>(Tiles);
  M.SharedAccesses[0].Domain = cond("{ : }");
  M.SharedAccesses[0].Stored = load("[tx, tbd, txn] -> { [(tbd + tx + txn)] }");
  M.SharedAccesses[1].Domain = cond("{ : false }");
  M.SharedAccesses[2].Index = {value("[tx] -> { [(tx)] }")};
  M.SharedAccesses[2].Domain = cond("[j] -> { : j = 0 }");
  Plan P = plan(Exchange::Direct);
  P.Arrays[0].Stage.Pieces[0].Domain = cond("[e0, bdx] -> { : 0 <= e0 < bdx }");
  P.Arrays[0].Stage.Pieces[0].V =
      load("[e0, tbd, e0n] -> { [(tbd + e0 + e0n)] }");
  expectRight(M, P);
  P.Arrays[0].Stage.Pieces[0].V = load("[e0, tbd] -> { [(tbd + e0)] }");
  expectWrong(M, P, "staging function");
}

//===-- Planted mistakes --------------------------------------------------===//

class Planted : public PlanVerifierTest {
protected:
  void plant(Exchange X, const char *Says,
             const std::function<void(Plan &)> &Change) {
    Plan P = plan(X);
    Change(P);
    expectWrong(model(), P, Says);
  }
};

TEST_F(Planted, WrongRegister) {
  for (const Exchange X : {Exchange::Shuffle, Exchange::Reload}) {
    plant(X, "register", [&](Plan &P) {
      window(P).Reads[0].Register = {
          value("[sx, j] -> { [(sx + j + 1)] }")};
    });
    plant(X, "register", [&](Plan &P) {
      window(P).Reads[0].Register = {value("[sx, j] -> { [(j)] }")};
    });
  }
}

TEST_F(Planted, WindowOffByOne) {
  for (const Exchange X : {Exchange::Shuffle, Exchange::Reload})
    plant(X, "register", [&](Plan &P) {
      window(P).First = {value("[tx] -> { [(tx + 1)] }")};
    });
}

TEST_F(Planted, LaneOffByOne) {
  // A chunk that does not fit the distance between lanes.
  for (const unsigned Chunk : {C - 1, C + 1, 2 * C})
    plant(Exchange::Shuffle, "register", [&](Plan &P) {
      exchange(P).Chunk = Chunk;
      window(P).InteriorPiece = -1;
    });
  plant(Exchange::Shuffle, "register",
        [&](Plan &P) { exchange(P).Direction = -1; });
}

TEST_F(Planted, MissingPhase) {
  for (const Exchange X : {Exchange::Shuffle, Exchange::Reload})
    plant(X, "register", [&](Plan &P) { window(P).Extent[0] -= 1; });
}

TEST_F(Planted, StagingFunctionShifted) {
  for (const Exchange X :
       {Exchange::Shuffle, Exchange::Reload, Exchange::Direct})
    plant(X, "staging function", [&](Plan &P) {
      P.Arrays[0].Stage.Pieces[0].V = load("[e0, bb] -> { [(bb + e0 + 1)] }");
    });
}

TEST_F(Planted, MissingGuardInStaging) {
  // Loads behind n: the original does not make them.
  for (const Exchange X : {Exchange::Shuffle, Exchange::Reload})
    plant(X, "stages nothing", [&](Plan &P) {
      P.Arrays[0].Stage.Pieces[0].Domain =
          cond("[e0, bdx] -> { : 0 <= e0 < bdx + 6 }");
    });
  // Loads behind the halo.
  plant(Exchange::Shuffle, "stages nothing", [&](Plan &P) {
    P.Arrays[0].Stage.Pieces[0].Domain =
        cond("[e0, bb, n] -> { : 0 <= e0 and bb + e0 < n }");
  });
}

TEST_F(Planted, StagingTooSmall) {
  for (const Exchange X :
       {Exchange::Shuffle, Exchange::Reload, Exchange::Direct})
    plant(X, "staging function says nothing", [&](Plan &P) {
      if (P.Arrays[0].window())
        window(P).InteriorPiece = -1;
      P.Arrays[0].Stage.Pieces[0].Domain =
          cond("[e0, bdx, bb, n] -> { : 0 <= e0 < bdx + 5 and bb + e0 < n }");
    });
}

TEST_F(Planted, MissingGuardOfVectors) {
  for (const Exchange X : {Exchange::Shuffle, Exchange::Reload}) {
    plant(X, "leaves the interior", [&](Plan &P) {
      window(P).Interior =
          cond("[e0, bdx, bb, n] -> { : 0 <= e0 and bb + e0 < n }");
    });
    plant(X, "leaves the interior",
          [&](Plan &P) { window(P).Interior = cond("{ : }"); });
  }
}

TEST_F(Planted, VectorOfWhatIsNoRun) {
  KernelModel M = model();
  for (unsigned W : {0u, 1u})
    M.SharedAccesses[W].Stored =
        load(W ? "[tx, bb, bdx] -> { [(2bb + 2bdx + 2tx)] }"
               : "[tx, bb] -> { [(2bb + 2tx)] }");
  Plan P = plan(Exchange::Reload);
  P.Arrays[0].Stage.Pieces[0].V = load("[e0, bb] -> { [(2bb + 2e0)] }");
  window(P).Leaves[0].Load = P.Arrays[0].Stage.Pieces[0].V;
  expectWrong(M, P, "not one run of memory");
  window(P).InteriorPiece = -1;
  expectRight(M, P);
}

TEST_F(Planted, CoverageThatDoesNotHold) {
  KernelModel M = model();
  M.SharedAccesses[1].Domain =
      cond("[tx, bb, bdx, n] -> { : tx < 5 and bb + bdx + tx < n }");
  Plan P = plan(Exchange::Direct);
  P.Arrays[0].Stage.Pieces[0].Domain =
      cond("[e0, bdx, bb, n] -> { : 0 <= e0 < bdx + 5 and bb + e0 < n }");
  expectWrong(M, P, "coverage");
  P.Arrays[0].Stage.CoverageProved = false; // nothing is promised then
  expectRight(M, P);
}

TEST_F(Planted, IncompleteWarps) {
  plant(Exchange::Shuffle, "warp", [&](Plan &P) { P.Map.BlockMultiple = 16 * C; });
  plant(Exchange::Shuffle, "slots", [&](Plan &P) { P.Map.Block = {130, 1, 1}; });
}

TEST_F(Planted, LostAccesses) {
  plant(Exchange::Shuffle, "is lost",
        [&](Plan &P) { P.Arrays[0].Writes = {0}; });
  plant(Exchange::Shuffle, "sources", [&](Plan &P) { P.Arrays[0].Reads = {}; });
  plant(Exchange::Shuffle, "no register",
        [&](Plan &P) { window(P).Reads = {}; });
}

TEST_F(Planted, RegisterIndexThatIsNotStatic) {
  plant(Exchange::Reload, "not static", [&](Plan &P) { P.UnrolledLoops = {}; });
}

TEST_F(Planted, Cyclic) {
  auto Change = [&](const std::function<void(Window &)> &F) {
    Plan P = cyclic();
    F(window(P));
    expectWrong(model(), P, "register");
  };
  Change([&](Window &W) {
    W.Reads[0].Register = {value("[sx, j] -> { [(7sx + j + 1)] }")};
  });
  Change([&](Window &W) { W.SlotSpan = 6; });
  Change([&](Window &W) { W.First = {value("[tx] -> { [(tx - 1)] }")}; });
  Plan P = cyclic();
  P.Map.Stride = {1, 1, 1};
  expectWrong(model(), P, "register");
}

//===-- What cannot be decided --------------------------------------------===//

TEST_F(PlanVerifierTest, NotVerified) {
  KernelModel M = model();
  symbol(M, Symbol::Opaque, "loaded", DepThreadX | DepGlobal);
  M.SharedAccesses[0].Domain = cond("[loaded] -> { : loaded > 0 }");
  VerifyOutcome V = verifyPlan(M, plan(Exchange::Direct));
  EXPECT_EQ(VerifyOutcome::NotVerified, V.K);
  EXPECT_EQ("the value of 'loaded' is not known", V.Detail);

  // A race of the original.
  M = model();
  M.SharedAccesses[0].Index = {value("{ [(0)] }")};
  V = verifyPlan(M, plan(Exchange::Direct));
  EXPECT_EQ(VerifyOutcome::NotVerified, V.K) << V.Detail;

  // A context that no launch meets.
  M = model();
  M.Context = cond("[n] -> { : n = 123456789 }");
  V = verifyPlan(M, plan(Exchange::Direct));
  EXPECT_EQ(VerifyOutcome::NotVerified, V.K) << V.Detail;
}

} // namespace
