// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls by which the lanes of a warp hand on values
// (KernelModel::LaneExchanges), and the members of what shared arrays hold
// (KernelModel::Structs).

#include "Effects.h"
#include "Locals.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/AST/DynamicRecursiveASTVisitor.h"
#include "clang/AST/ExprCXX.h"
#include "llvm/ADT/StringSwitch.h"

using namespace clang;

namespace rcache {
namespace {

class ExchangeFinder : public ConstDynamicRecursiveASTVisitor {
public:
  ExchangeFinder(ASTContext &AC, FlatText &Flat, KernelModel &M)
      : AC(AC), Flat(Flat), M(M) {}

  bool VisitCallExpr(const CallExpr *E) override {
    const FunctionDecl *F = E->getDirectCallee();
    if (F && F->getIdentifier() && inNamespace(F, "cooperative_groups"))
      ofTile(E, F->getName());
    if (!F || !F->getIdentifier() || !isSystemFunction(F) ||
        E->getNumArgs() < 3 || !F->getName().starts_with("__shfl"))
      return true;
    LaneExchange X;
    X.Plain = true;
    X.K = llvm::StringSwitch<LaneExchange::Kind>(F->getName())
              .Case("__shfl_down_sync", LaneExchange::Down)
              .Case("__shfl_up_sync", LaneExchange::Up)
              .Case("__shfl_xor_sync", LaneExchange::Xor)
              .Default(LaneExchange::At);
    if (X.K == LaneExchange::At && F->getName() != "__shfl_sync")
      X.Plain = false;
    X.Range = place(E, X.Plain);
    X.Value = place(E->getArg(1), X.Plain);
    X.By = place(E->getArg(2), X.Plain);
    X.Plain &= is(E->getArg(0), 0xffffffffu);
    if (E->getNumArgs() > 3 && !isa<CXXDefaultArgExpr>(E->getArg(3)))
      X.Plain &= is(E->getArg(3), 32);
    ofType(E->getType(), X);
    M.LaneExchanges.push_back(std::move(X));
    return true;
  }
  bool VisitDeclStmt(const DeclStmt *S) override {
    for (const Decl *D : S->decls()) {
      auto *V = dyn_cast<VarDecl>(D);
      if (!V || !isTile(V->getType()))
        continue;
      LaneExchange X;
      X.K = LaneExchange::Tile;
      const auto R = Flat.withSemi(S->getSourceRange());
      X.Range = R.value_or(TextRange());
      X.OfTile = true;
      X.Plain = S->isSingleDecl() && R;
      M.LaneExchanges.push_back(std::move(X));
    }
    return true;
  }

private:
  ASTContext &AC;
  FlatText &Flat;
  KernelModel &M;

  void ofType(QualType T, LaneExchange &X) const {
    T = T.getNonReferenceType().getCanonicalType().getUnqualifiedType();
    X.Plain &= T->isArithmeticType();
    X.Type = T.getAsString(PrintingPolicy(AC.getLangOpts()));
  }

  /// `thread_block_tile<32>`
  static bool isTile(QualType T) {
    const auto *R = dyn_cast_or_null<ClassTemplateSpecializationDecl>(
        T.getNonReferenceType()->getAsCXXRecordDecl());
    if (!R || !R->getIdentifier() || R->getName() != "thread_block_tile" ||
        R->getTemplateArgs().size() == 0)
      return false;
    const TemplateArgument &Size = R->getTemplateArgs()[0];
    return Size.getKind() == TemplateArgument::Integral &&
           Size.getAsIntegral() == 32;
  }

  void ofTile(const CallExpr *E, StringRef Name) {
    // (A function that is static is called by a member of the tile as well.)
    const auto *Method =
        dyn_cast<MemberExpr>(E->getCallee()->IgnoreParenImpCasts());
    const Expr *Tile = Method                  ? Method->getBase()
                       : E->getNumArgs() == 1 ? E->getArg(0)
                                              : nullptr;
    if (!Tile || !isTile(Tile->IgnoreParenImpCasts()->getType()))
      return;
    const int Kind = llvm::StringSwitch<int>(Name)
                         .Case("shfl_down", LaneExchange::Down)
                         .Case("shfl_up", LaneExchange::Up)
                         .Case("shfl_xor", LaneExchange::Xor)
                         .Case("shfl", LaneExchange::At)
                         .Cases({"size", "num_threads"}, LaneExchange::Lanes)
                         .Case("thread_rank", LaneExchange::Lane)
                         .Case("sync", LaneExchange::Wait)
                         .Default(-1);
    LaneExchange X;
    X.OfTile = true;
    X.Plain = Kind >= 0;
    X.K = static_cast<LaneExchange::Kind>(std::max(Kind, 0));
    X.Range = place(E, X.Plain);
    if (Kind >= 0 && Kind <= LaneExchange::At) {
      X.Plain &= Method && E->getNumArgs() == 2;
      if (!X.Plain)
        return M.LaneExchanges.push_back(std::move(X));
      X.Value = place(E->getArg(0), X.Plain);
      X.By = place(E->getArg(1), X.Plain);
      ofType(E->getType(), X);
    }
    M.LaneExchanges.push_back(std::move(X));
  }

  TextRange place(const Expr *E, bool &Known) {
    const auto R = Flat.range(E->getSourceRange());
    Known &= R.has_value();
    return R.value_or(TextRange());
  }

  /// In 32 bits.
  bool is(const Expr *E, uint32_t N) const {
    Expr::EvalResult R;
    return !E->isValueDependent() && E->EvaluateAsInt(R, AC) &&
           R.Val.getInt().extOrTrunc(32).getZExtValue() == N;
  }
};

} // namespace

void findLaneExchanges(const FunctionDecl *FD, FlatText &Flat, KernelModel &M) {
  ExchangeFinder F(FD->getASTContext(), Flat, M);
  F.TraverseStmt(FD->getBody());
  llvm::sort(M.LaneExchanges, [](const LaneExchange &A, const LaneExchange &B) {
    return A.Range.Begin < B.Range.Begin;
  });
}

std::vector<StructMember> membersOf(ASTContext &AC, QualType T) {
  const CXXRecordDecl *R = T->getAsCXXRecordDecl();
  if (!R || !(R = R->getDefinition()) || R->isUnion() || R->getNumBases() ||
      !R->isTrivial() || R->isInvalidDecl())
    return {};
  PrintingPolicy P(AC.getLangOpts());
  std::vector<StructMember> All;
  for (const FieldDecl *F : R->fields()) {
    StructMember Is;
    Is.Name = F->getName();
    QualType E = F->getType();
    while (const auto *A = AC.getAsConstantArrayType(E)) {
      Is.Extents.push_back(A->getSize().getSExtValue());
      E = A->getElementType();
    }
    if (Is.Name.empty() || F->isBitField() || F->getAccess() != AS_public ||
        !E->isArithmeticType() || E.isVolatileQualified())
      return {};
    Is.Type = E.getCanonicalType().getUnqualifiedType().getAsString(P);
    All.push_back(std::move(Is));
  }
  // (Methods by name change nothing about what is copied.)
  for (const Decl *D : R->decls())
    if (const FunctionDecl *F = D->getAsFunction(); F && !F->isImplicit() && !F->getIdentifier())
      return {};
  return All;
}

} // namespace rcache
