// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The blocks that a kernel is modelled in where launches have several or do not
// tell.

#include "BuiltinVars.h"
#include "LaunchSites.h"
#include "Locals.h"
#include "clang/AST/DynamicRecursiveASTVisitor.h"
#include "clang/AST/ExprCXX.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace clang;

namespace rcache {
namespace {

using Shape = std::array<int64_t, 3>;

/// What a kernel's text says of the block it is made for.
struct Hints : ConstDynamicRecursiveASTVisitor {
  bool Shares = false;
  unsigned Axes = 1;         ///< that its threads look at, from x on
  std::optional<Shape> Tile; ///< powers of two below the extents of a tile

  bool TraversePseudoObjectExpr(const PseudoObjectExpr *E) override {
    note(builtinVar(E));
    return true;
  }
  bool VisitDeclRefExpr(const DeclRefExpr *E) override {
    note(builtinVar(E));
    const auto *V = dyn_cast<VarDecl>(E->getDecl());
    if (!isSharedVar(V))
      return true;
    Shares = true;
    const ASTContext &AC = V->getASTContext();
    const auto *Rows = AC.getAsConstantArrayType(V->getType());
    const auto *Row =
        Rows ? AC.getAsConstantArrayType(Rows->getElementType()) : nullptr;
    if (!Row || AC.getAsConstantArrayType(Row->getElementType()) || Tile)
      return true;
    const auto X = int64_t(llvm::bit_floor(Row->getZExtSize())),
               Y = int64_t(llvm::bit_floor(Rows->getZExtSize()));
    if (X >= 8 && Y >= 2 && X <= 1024 && Y <= 1024 && X * Y >= 32 &&
        X * Y <= 1024)
      Tile = {X, Y, 1};
    return true;
  }

private:
  void note(const std::optional<BuiltinRef> &B) {
    if (B && (B->K == Symbol::ThreadIdx || B->K == Symbol::BlockDim))
      Axes = std::max(Axes, B->Axis + 1);
  }
};

} // namespace

void assumeBlock(const FunctionDecl *FD, const std::optional<Shape> &Asked,
                 Geometry &G) {
  auto Fits = [&](const Shape &B) {
    return B[0] * B[1] * B[2] <= G.MaxThreads.value_or(1024);
  };
  if (G.ConstBlock)
    for (const Shape &B : G.SeenBlocks)
      if (B != *G.ConstBlock && B[1] * B[2] > 1 && Fits(B))
        G.OtherBlocks.push_back(B);
  if (G.ConstBlock || !G.SeenBlocks.empty())
    return;
  Hints H;
  H.TraverseStmt(FD->getBody());
  if (!H.Shares || H.Axes < 2 || (H.Axes > 2 && !Asked))
    return;
  std::vector<Shape> All = {{16, 16, 1}, {32, 8, 1}, {32, 32, 1}};
  if (Asked)
    All = {*Asked};
  else if (H.Tile)
    All = {*H.Tile};
  llvm::erase_if(All, [&](const Shape &B) { return !Fits(B); });
  if (All.empty())
    return;
  G.ConstBlock = All.front();
  G.OtherBlocks.assign(All.begin() + 1, All.end());
}

} // namespace rcache
