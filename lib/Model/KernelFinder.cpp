// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// __global__ definitions. A template and its instantiations have the same
// source locations: each instantiation is a kernel of its own to analyse, the
// pattern is what gets edited.

#include "LaunchSites.h"
#include "clang/AST/Attr.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/Basic/SourceManager.h"
#include "llvm/Support/MathExtras.h"

using namespace clang;

namespace rcache {
namespace {

class KernelSearch {
public:
  KernelSearch(ASTContext &AC, const LaunchTable &Launches)
      : SM(AC.getSourceManager()), Launches(Launches) {}

  std::vector<KernelDecl> Found;

  void visit(const DeclContext *C) {
    for (const Decl *D : C->decls()) {
      if (isa<NamespaceDecl>(D) || isa<LinkageSpecDecl>(D) ||
          isa<ExportDecl>(D)) {
        // Namespaces of system headers are large and hold no user kernels.
        if (!isSystem(D->getLocation()))
          visit(cast<DeclContext>(D));
      } else if (auto *T = dyn_cast<FunctionTemplateDecl>(D)) {
        visitTemplate(T);
      } else if (auto *F = dyn_cast<FunctionDecl>(D)) {
        visitFunction(F);
      }
    }
  }

private:
  bool isSystem(SourceLocation L) const {
    SourceLocation E = SM.getExpansionLoc(L);
    return E.isInvalid() || SM.isInSystemHeader(E) ||
           SM.isWrittenInBuiltinFile(E) || SM.isWrittenInCommandLineFile(E);
  }
  bool isMain(const Decl *D) const {
    return SM.getFileID(SM.getExpansionLoc(D->getLocation())) ==
           SM.getMainFileID();
  }
  bool isKernel(const FunctionDecl *F) const {
    return F->hasAttr<CUDAGlobalAttr>() && !isSystem(F->getLocation());
  }
  bool launched(const FunctionDecl *F) const {
    return Launches.ByKernel.count(F->getCanonicalDecl());
  }

  void add(const FunctionDecl *F, const FunctionDecl *Pattern, bool Un) {
    KernelDecl K;
    K.Def = F;
    K.Pattern = Pattern;
    K.Uninstantiated = Un;
    K.InMainFile = isMain(Pattern ? Pattern : F);
    if (!K.InMainFile && !launched(F))
      return;
    Found.push_back(K);
  }

  void visitFunction(const FunctionDecl *F) {
    if (!isKernel(F) || !F->isThisDeclarationADefinition() || !F->getBody())
      return;
    // Explicit specialisations are ordinary definitions.
    if (F->isDependentContext())
      return;
    if (F->getTemplateSpecializationKind() == TSK_ImplicitInstantiation ||
        F->getTemplateSpecializationKind() ==
            TSK_ExplicitInstantiationDefinition)
      return;
    add(F, nullptr, false);
  }

  void visitTemplate(const FunctionTemplateDecl *T) {
    const FunctionDecl *P = T->getTemplatedDecl();
    if (!isKernel(P) || !P->isThisDeclarationADefinition() || !P->getBody())
      return;
    bool Any = false;
    for (const FunctionDecl *S : T->specializations()) {
      const FunctionDecl *Def = nullptr;
      if (S->getTemplateSpecializationKind() == TSK_ExplicitSpecialization ||
          S->isInvalidDecl() || !S->hasBody(Def) || Def->isDependentContext())
        continue;
      Any = true;
      add(Def, P, false);
    }
    if (!Any && isMain(P))
      add(P, P, true);
  }

  const SourceManager &SM;
  const LaunchTable &Launches;
};

} // namespace

std::vector<KernelDecl> findKernels(ASTContext &AC,
                                    const LaunchTable &Launches) {
  KernelSearch F(AC, Launches);
  F.visit(AC.getTranslationUnitDecl());
  const SourceManager &SM = AC.getSourceManager();
  llvm::stable_sort(F.Found, [&](const KernelDecl &A, const KernelDecl &B) {
    return SM.isBeforeInTranslationUnit(A.Def->getLocation(),
                                        B.Def->getLocation());
  });
  return F.Found;
}

/// Does the file itself use what a kernel is told its cluster's size by at run time?
static bool namesClusters(ASTContext &AC) {
  static constexpr const char *Names[] = {
      "cudaFuncAttributeClusterDimMustBeSet",      "cudaFuncAttributeRequiredClusterWidth",
      "cudaFuncAttributeRequiredClusterHeight",    "cudaFuncAttributeRequiredClusterDepth",
      "CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET", "CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH",
      "CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT", "CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH"};
  return llvm::any_of(Names, [&](const char *Name) {
    return llvm::any_of(AC.getTranslationUnitDecl()->lookup(&AC.Idents.get(Name)),
                        [](const NamedDecl *D) { return D->isReferenced(); });
  });
}

Geometry findGeometry(const FunctionDecl *FD,
                      const std::vector<LaunchSite> &Launches) {
  Geometry G;
  ASTContext &AC = FD->getASTContext();
  if (auto *B = FD->getAttr<CUDALaunchBoundsAttr>()) {
    Expr::EvalResult R;
    const Expr *Max = B->getMaxThreads();
    if (Max && !Max->isValueDependent() && Max->EvaluateAsInt(R, AC))
      G.MaxThreads = R.Val.getInt().getExtValue();
  }
  G.NamesClusters = namesClusters(AC);
  G.AllLaunchesConst = !Launches.empty();
  // A launch of a block that no device has fails, and programs test that.
  auto Seen = [&](const std::array<int64_t, 3> &B) {
    const bool Possible = B[0] > 0 && B[1] > 0 && B[2] > 0 && B[0] <= 1024 &&
                          B[1] <= 1024 && B[2] <= 64 &&
                          B[0] * B[1] * B[2] <= 1024;
    if (Possible && !llvm::is_contained(G.SeenBlocks, B))
      G.SeenBlocks.push_back(B);
  };
  for (const LaunchSite &L : Launches)
    if (L.ConstBlock)
      Seen(*L.ConstBlock);
    else
      G.AllLaunchesConst = false;
  for (const LaunchSite &L : Launches)
    for (const auto &B : L.PossibleBlocks)
      Seen(B);
  auto Most = [](std::optional<int64_t> &Blocks, const std::array<int64_t, 3> &Grid) {
    const auto [X, Y, Z] = Grid;
    if (int64_t XY, N; X > 0 && Y > 0 && Z > 0 && !llvm::MulOverflow(X, Y, XY) &&
                       !llvm::MulOverflow(XY, Z, N))
      Blocks = std::max(N, Blocks.value_or(0));
  };
  for (const LaunchSite &L : Launches) {
    if (L.ConstGrid)
      Most(G.MostBlocks, *L.ConstGrid);
    for (const auto &Grid : L.PossibleGrids)
      Most(G.MostBlocks, Grid);
    for (const auto &Grid : L.UsualGrids)
      Most(G.UsualBlocks, Grid);
  }
  // A plan in two dimensions or more is for one block, which each launch is
  // asked for; of several, the first that a warp divides.
  auto Fits = [&](const std::array<int64_t, 3> &B) {
    const int64_t Threads = B[0] * B[1] * B[2];
    return Threads > 0 && Threads <= G.MaxThreads.value_or(1024);
  };
  if (G.SeenBlocks.size() == 1 && G.AllLaunchesConst) {
    if (Fits(G.SeenBlocks[0]))
      G.ConstBlock = G.SeenBlocks[0];
  } else {
    for (const auto &B : G.SeenBlocks)
      if (B[1] * B[2] > 1 && Fits(B) && B[0] * B[1] * B[2] % 32 == 0) {
        G.ConstBlock = B;
        break;
      }
  }
  return G;
}

} // namespace rcache
