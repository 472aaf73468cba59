// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See HostConstants.h.

#include "HostConstants.h"
#include "HostLocals.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/DynamicRecursiveASTVisitor.h"
#include "clang/AST/ExprCXX.h"
#include "clang/Basic/SourceManager.h"
#include <functional>

using namespace clang;

namespace rcache {

const Expr *peel(const Expr *E) {
  while (E) {
    E = E->IgnoreParenImpCasts();
    if (auto *M = dyn_cast<MaterializeTemporaryExpr>(E))
      E = M->getSubExpr();
    else if (auto *F = dyn_cast<FullExpr>(E))
      E = F->getSubExpr();
    else if (auto *B = dyn_cast<CXXBindTemporaryExpr>(E))
      E = B->getSubExpr();
    else if (auto *C = dyn_cast<CXXFunctionalCastExpr>(E))
      E = C->getSubExpr();
    else if (auto *D = dyn_cast<CXXDefaultArgExpr>(E))
      E = D->getExpr();
    else
      return E;
  }
  return E;
}

HostConstants::HostConstants(ASTContext &AC) : AC(AC) {
  struct Collector : ConstDynamicRecursiveASTVisitor {
    decltype(Calls) *To;
    const FunctionDecl *Function = nullptr;
    Collector() { ShouldVisitTemplateInstantiations = true; }
    bool TraverseFunctionDecl(const FunctionDecl *F) override {
      const FunctionDecl *Saved = Function;
      Function = F;
      bool R = ConstDynamicRecursiveASTVisitor::TraverseFunctionDecl(F);
      Function = Saved;
      return R;
    }
    bool VisitCallExpr(const CallExpr *C) override {
      if (const FunctionDecl *F = C->getDirectCallee(); F && Function)
        (*To)[F->getCanonicalDecl()].push_back({C, Function});
      return true;
    }
  } Collect;
  Collect.To = &Calls;
  const SourceManager &SM = AC.getSourceManager();
  for (const Decl *D : AC.getTranslationUnitDecl()->decls())
    if (SM.getFileID(SM.getExpansionLoc(D->getLocation())) ==
        SM.getMainFileID())
      Collect.TraverseDecl(const_cast<Decl *>(D));
}

const Expr *HostConstants::argument(const VarDecl *V, const Frame *&In) const {
  auto *P = dyn_cast<ParmVarDecl>(V);
  if (!P || !In || everModified(V))
    return nullptr;
  auto *F = dyn_cast<FunctionDecl>(P->getDeclContext());
  const unsigned I = P->getFunctionScopeIndex();
  if (!F || F->getCanonicalDecl() != In->Callee || isa<CXXMethodDecl>(F) ||
      I >= In->E->getNumArgs())
    return nullptr;
  const Expr *A = In->E->getArg(I);
  In = In->Outer;
  return A;
}

std::optional<int64_t> HostConstants::integer(const Expr *E, const Frame *In,
                                              unsigned Depth) const {
  if (!E || E->isValueDependent() || Depth > 8)
    return std::nullopt;
  Expr::EvalResult R;
  if (E->getType()->isIntegralOrEnumerationType() && E->EvaluateAsInt(R, AC))
    return R.Val.getInt().getExtValue();
  // `int threads = 256;` that stays so.
  const Expr *P = peel(E);
  if (auto *D = dyn_cast<DeclRefExpr>(P))
    if (auto *V = dyn_cast<VarDecl>(D->getDecl());
        V &&
        V->getType().getNonReferenceType()->isIntegralOrEnumerationType()) {
      if (V->getInit() && V->isLocalVarDecl() &&
          V->getType()->isIntegralOrEnumerationType() && !everModified(V))
        return integer(V->getInit(), In, Depth + 1);
      if (const Expr *A = argument(V, In))
        return integer(A, In, Depth + 1);
    }
  // `block.x`
  if (auto *M = dyn_cast<MemberExpr>(P); M && !M->isArrow()) {
    const llvm::StringRef Name = M->getMemberDecl()->getName();
    if (Name == "x" || Name == "y" || Name == "z")
      if (auto D = dims(M->getBase(), In, Depth + 1))
        return (*D)[static_cast<size_t>(Name[0] - 'x')];
  }
  if (auto *B = dyn_cast<BinaryOperator>(P)) {
    auto X = integer(B->getLHS(), In, Depth + 1);
    auto Y = integer(B->getRHS(), In, Depth + 1);
    if (!X || !Y || std::abs(*X) > (1 << 30) || std::abs(*Y) > (1 << 30))
      return std::nullopt;
    switch (B->getOpcode()) {
    case BO_Add:
      return *X + *Y;
    case BO_Sub:
      return *X - *Y;
    case BO_Mul:
      return *X * *Y;
    case BO_Div:
      return *Y ? std::optional(*X / *Y) : std::nullopt;
    default:
      return std::nullopt;
    }
  }
  return std::nullopt;
}

std::optional<Dims> HostConstants::dims(const Expr *E, const Frame *In,
                                        unsigned Depth) const {
  if (!E || E->isValueDependent() || Depth > 8)
    return std::nullopt;
  E = peel(E);
  if (E->getType()->isIntegralOrEnumerationType()) {
    if (auto X = integer(E, In, Depth + 1))
      return Dims{*X, 1, 1};
    return std::nullopt;
  }
  auto *D = E->getType()->getAsCXXRecordDecl();
  if (!D || !D->getIdentifier() || D->getName() != "dim3")
    return std::nullopt;
  llvm::SmallVector<const Expr *, 3> Parts;
  if (auto *C = dyn_cast<CXXConstructExpr>(E)) {
    if (C->getNumArgs() == 1 &&
        !peel(C->getArg(0))->getType()->isIntegralOrEnumerationType())
      return dims(C->getArg(0), In, Depth + 1); // copy
    Parts.append(C->arg_begin(), C->arg_end());
  } else if (auto *L = dyn_cast<InitListExpr>(E)) {
    for (unsigned I = 0; I < L->getNumInits(); ++I)
      Parts.push_back(L->getInit(I));
  } else {
    auto *R = dyn_cast<DeclRefExpr>(E);
    auto *V = R ? dyn_cast<VarDecl>(R->getDecl()) : nullptr;
    if (!V)
      return std::nullopt;
    if (V->getInit() && !isa<ParmVarDecl>(V) &&
        (V->getType().isConstQualified() || !everModified(V)))
      return dims(V->getInit(), In, Depth + 1);
    if (const Expr *A = argument(V, In))
      return dims(A, In, Depth + 1);
    return std::nullopt;
  }
  Dims Value{1, 1, 1};
  for (unsigned I = 0; I < Parts.size() && I < 3; ++I) {
    auto X = integer(Parts[I], In, Depth + 1);
    if (!X)
      return std::nullopt;
    Value[I] = *X;
  }
  return Value;
}

std::optional<Dims> HostConstants::dims(const Expr *E) const {
  return dims(E, nullptr, 0);
}

std::vector<Dims>
HostConstants::possibleDims(const Expr *E, const FunctionDecl *Function) const {
  std::vector<Dims> Found;
  unsigned Left = 64; // calls to look at
  // From the launch outwards: the caller's frame is the outer one, so the chain
  // is made anew for each call.
  llvm::SmallVector<std::pair<const FunctionDecl *, const CallExpr *>, 4> Chain;
  std::function<void(const FunctionDecl *)> Look = [&](const FunctionDecl *F) {
    auto It = F ? Calls.find(F->getCanonicalDecl()) : Calls.end();
    if (It == Calls.end() || Chain.size() >= 3)
      return;
    for (const Call &C : It->second) {
      if (Left == 0)
        return;
      --Left;
      Chain.push_back({F->getCanonicalDecl(), C.E});
      std::vector<Frame> Frames(Chain.size());
      for (size_t I = Chain.size(); I-- > 0;)
        Frames[I] = {Chain[I].first, Chain[I].second,
                     I + 1 < Chain.size() ? &Frames[I + 1] : nullptr};
      if (auto D = dims(E, &Frames[0], 0)) {
        if (std::find(Found.begin(), Found.end(), *D) == Found.end())
          Found.push_back(*D);
      } else {
        Look(C.Caller);
      }
      Chain.pop_back();
    }
  };
  Look(Function);
  return Found;
}

} // namespace rcache
