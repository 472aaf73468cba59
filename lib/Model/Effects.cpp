// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The names below are those of the CUDA toolkit's device interface; they count
// only for functions that come from system headers or are compiler builtins. A
// user's function of the same name is judged by its body.

#include "Effects.h"
#include "BuiltinVars.h"
#include "Locals.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/DynamicRecursiveASTVisitor.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/StmtCXX.h"
#include "clang/Basic/SourceManager.h"
#include "llvm/ADT/StringSwitch.h"

using namespace clang;

namespace rcache {

bool inNamespace(const Decl *D, StringRef Name) {
  for (const DeclContext *C = D->getDeclContext(); C; C = C->getParent())
    if (auto *N = dyn_cast<NamespaceDecl>(C))
      if (N->getIdentifier() && N->getName() == Name)
        return true;
  return false;
}

const FunctionDecl *bodyOf(const FunctionDecl *F) {
  const FunctionDecl *Def = nullptr;
  return F->hasBody(Def) ? Def : nullptr;
}

namespace {

StringRef nameOf(const FunctionDecl *F) {
  return F->getIdentifier() ? F->getName() : StringRef();
}

/// "thread_block", "grid_group", ... for a cooperative group type.
StringRef groupName(QualType T) {
  T = T.getNonReferenceType();
  const CXXRecordDecl *R = T->getAsCXXRecordDecl();
  if (!R || !R->getIdentifier() || !inNamespace(R, "cooperative_groups"))
    return StringRef();
  return R->getName();
}

CallKind classifyGroupCall(const FunctionDecl *F, const CallExpr *Call) {
  StringRef N = nameOf(F);
  StringRef Group;
  if (auto *M = dyn_cast<CXXMethodDecl>(F)) {
    if (M->getParent()->getIdentifier())
      Group = M->getParent()->getName();
    if (auto *Mc = dyn_cast_or_null<CXXMemberCallExpr>(Call))
      if (StringRef G = groupName(Mc->getImplicitObjectArgument()->getType());
          !G.empty())
        Group = G;
  } else if (F->getNumParams()) {
    Group = groupName(F->getParamDecl(0)->getType());
  }
  if (N == "this_thread_block")
    return CallKind::BlockGroup;
  if (N.contains("memcpy_async") || N == "wait" || N == "wait_prior")
    return CallKind::AsyncCopy;
  // Who and how many they are synchronises nobody.
  const bool OfGrid = Group == "grid_group" || Group == "multi_grid_group" ||
                      Group == "cluster_group";
  if (N == "this_grid" || N == "this_multi_grid" || N == "this_cluster" ||
      (OfGrid && isGroupId(N)))
    return CallKind::WarpExchange;
  if (OfGrid)
    return CallKind::GridBarrier;
  if (isa<CXXConstructorDecl>(F) || isa<CXXDestructorDecl>(F) ||
      isa<CXXConversionDecl>(F) || F->isOverloadedOperator())
    return CallKind::Harmless;
  if (Group == "thread_block") {
    if (N == "sync")
      return CallKind::GroupBarrier;
    if (N == "barrier_arrive" || N == "barrier_wait")
      return CallKind::AsyncCopy;
    if (N == "tiled_partition")
      return CallKind::WarpExchange;
    return CallKind::BlockGroup;
  }
  return CallKind::WarpExchange;
}

/// Threads wait for each other by objects of \p Class.
bool isWaitedFor(const CXXRecordDecl *Class) {
  const StringRef N = Class->getName();
  return N == "barrier" || N == "latch" || N.contains("semaphore");
}

/// Does \p F, a function of the toolkit, do or read what nothing in its call names? It gets
/// values alone and returns none (a barrier with a number of its own), or it gets nothing and
/// returns a value (a counter, a place in a cluster) that is no constant.
bool actsUnseen(const FunctionDecl *F) {
  if (isa<CXXMethodDecl>(F) || F->isConstexpr() || F->isOverloadedOperator())
    return false;
  if (!F->getReturnType()->isVoidType())
    return F->getNumParams() == 0 && !F->isVariadic() && !F->hasAttr<ConstAttr>();
  const StringRef N = nameOf(F);
  return llvm::none_of(F->parameters(),
                       [](const ParmVarDecl *P) {
                         return P->getType()->isPointerType() || P->getType()->isReferenceType();
                       }) &&
         !F->isVariadic() && N != "__builtin_assume" && N != "__builtin_unreachable" &&
         N != "__threadfence_block" && N != "__nvvm_membar_cta";
}

CallKind classifyToolkit(const FunctionDecl *F, const CallExpr *Call) {
  StringRef N = nameOf(F);
  if (inNamespace(F, "cooperative_groups"))
    return classifyGroupCall(F, Call);
  if (inNamespace(F, "cub") || inNamespace(F, "thrust"))
    return CallKind::Library;
  if (inNamespace(F, "wmma"))
    return CallKind::Tensor;
  if (N.empty())
    return CallKind::Harmless;
  if (N == "__syncthreads" || N == "__nvvm_bar_sync" ||
      (N.starts_with("__nvvm_barrier") && !N.starts_with("__nvvm_barrier_sync")) ||
      N == "__nvvm_bar0")
    return CallKind::Barrier;
  if (N.starts_with("__syncthreads_") || N.starts_with("__nvvm_bar0_"))
    return CallKind::BarrierReduce;
  if (N == "__syncwarp" || N == "__nvvm_bar_warp_sync")
    return CallKind::WarpBarrier;
  if (N.starts_with("__cluster_") || N.contains("barrier_cluster"))
    return CallKind::GridBarrier;
  if (N.starts_with("__shfl") || N.starts_with("__ballot") ||
      N.starts_with("__any") || N.starts_with("__all") || N == "__activemask" ||
      N.starts_with("__match_") || N.starts_with("__reduce_") ||
      N.starts_with("__nvvm_shfl") || N.starts_with("__nvvm_vote") ||
      N.starts_with("__nvvm_match") || N.starts_with("__nvvm_redux") ||
      N.contains("sreg_lane"))
    return CallKind::WarpExchange;
  if (N.starts_with("__pipeline_") || N.contains("cp_async") ||
      N.contains("memcpy_async") || N.contains("pipeline") ||
      inNamespace(F, "ptx"))
    return CallKind::AsyncCopy;
  // The CUDA atomics are overloaded free functions; so are their clang
  // builtins.
  if ((N.starts_with("atomic") && !isa<CXXMethodDecl>(F)) ||
      N.starts_with("__nvvm_atom") || N.starts_with("__iAtomic") ||
      N.starts_with("__uAtomic") || N.starts_with("__fAtomic") ||
      N.starts_with("__ullAtomic") || N.starts_with("__atomic_") ||
      N.starts_with("__sync_fetch"))
    return CallKind::Atomic;
  if (auto *M = dyn_cast<CXXMethodDecl>(F); M && M->getParent()->getIdentifier()) {
    if (isWaitedFor(M->getParent()))
      return CallKind::AsyncCopy;
    if (M->getParent()->getName().contains("atomic"))
      return CallKind::Atomic;
  }
  if (N.contains("read_ptx_sreg"))
    return CallKind::Effect;
  return llvm::StringSwitch<CallKind>(N)
      .Cases({"printf", "vprintf", "puts"}, CallKind::Effect)
      .Cases({"clock", "clock64", "__clock", "__clock64", "__globaltimer",
              "__nanosleep"},
             CallKind::Effect)
      .Cases({"malloc", "free", "alloca", "__builtin_alloca"}, CallKind::Effect)
      .Cases({"__threadfence", "__threadfence_system", "__trap", "__brkpt",
              "__prof_trigger"},
             CallKind::Effect)
      .Default(actsUnseen(F) ? CallKind::Effect : CallKind::Harmless);
}

} // namespace

bool isGroupId(StringRef Name) {
  return llvm::StringSwitch<bool>(Name)
      .Cases({"thread_rank", "size", "num_threads", "meta_group_rank", "meta_group_size"}, true)
      .Cases({"block_rank", "num_blocks", "block_index", "thread_index"}, true)
      .Cases({"group_dim", "dim_blocks", "dim_threads", "is_valid"}, true)
      .Cases({"this_grid", "this_multi_grid", "this_cluster", "tiled_partition"}, true)
      .Default(false);
}

static bool standsInSystem(const Decl *D) {
  const SourceManager &SM = D->getASTContext().getSourceManager();
  SourceLocation L = SM.getExpansionLoc(D->getLocation());
  return L.isInvalid() || SM.isInSystemHeader(L) ||
         SM.isWrittenInBuiltinFile(L);
}

static bool standsInToolkit(const FunctionDecl *F) {
  return F->getBuiltinID() || standsInSystem(F);
}

static bool namesUsers(llvm::ArrayRef<TemplateArgument> Args);

/// May what works on values of type \p T call functions of the user: constructors,
/// operators, functors?
static bool isUsers(QualType T) {
  while (!T->getPointeeType().isNull())
    T = T->getPointeeType();
  while (const auto *A = T->getAsArrayTypeUnsafe())
    T = A->getElementType();
  if (T->isFunctionType() || T->isMemberPointerType())
    return true;
  const TagDecl *Tag = T->getAsTagDecl();
  if (!Tag)
    return false;
  if (!standsInSystem(Tag))
    return true;
  const auto *Of = dyn_cast<ClassTemplateSpecializationDecl>(Tag);
  return Of && namesUsers(Of->getTemplateArgs().asArray());
}

static bool namesUsers(llvm::ArrayRef<TemplateArgument> Args) {
  return llvm::any_of(Args, [](const TemplateArgument &A) {
    switch (A.getKind()) {
    case TemplateArgument::Type:
      return isUsers(A.getAsType());
    case TemplateArgument::Declaration:
      return isa<FunctionDecl>(A.getAsDecl());
    case TemplateArgument::Pack:
      return namesUsers(A.getPackAsArray());
    case TemplateArgument::Integral:
    case TemplateArgument::NullPtr:
    case TemplateArgument::StructuralValue:
      return false;
    default:
      return true;
    }
  });
}

bool isSystemFunction(const FunctionDecl *F) {
  if (!standsInToolkit(F))
    return false;
  if (const TemplateArgumentList *Args = F->getTemplateSpecializationArgs();
      Args && namesUsers(Args->asArray()))
    return false;
  for (const DeclContext *C = F->getDeclContext(); C; C = C->getParent())
    if (const auto *Of = dyn_cast<ClassTemplateSpecializationDecl>(C);
        Of && namesUsers(Of->getTemplateArgs().asArray()))
      return false;
  return true;
}

const VarDecl *sharedAccessor(const FunctionDecl *F) {
  const FunctionDecl *Def = bodyOf(F);
  auto *Body = Def ? dyn_cast<CompoundStmt>(Def->getBody()) : nullptr;
  if (!Body || Body->size() == 0 || Def->getNumParams())
    return nullptr;
  const VarDecl *Array = nullptr;
  for (const clang::Stmt *S : Body->body()) {
    if (auto *D = dyn_cast<DeclStmt>(S)) {
      auto *V =
          D->isSingleDecl() ? dyn_cast<VarDecl>(D->getSingleDecl()) : nullptr;
      if (!V || !isSharedVar(V) || !V->hasExternalStorage())
        return nullptr;
      Array = V;
    } else if (auto *R = dyn_cast<ReturnStmt>(S)) {
      const Expr *E = R->getRetValue();
      while (E) {
        E = E->IgnoreParenImpCasts();
        auto *C = dyn_cast<CastExpr>(E);
        if (!C)
          break;
        E = C->getSubExpr();
      }
      auto *Ref = dyn_cast_or_null<DeclRefExpr>(E);
      return Ref && Array &&
                     Ref->getDecl()->getCanonicalDecl() ==
                         Array->getCanonicalDecl()
                 ? Array
                 : nullptr;
    } else {
      return nullptr;
    }
  }
  return nullptr;
}

CallInfo classifyCall(const FunctionDecl *F, const CallExpr *Call) {
  CallInfo I;
  I.Name = F->getNameAsString();
  if (F->isTrivial() || (F->isImplicit() && isa<CXXMethodDecl>(F)))
    return I;
  if (standsInToolkit(F))
    I.Kind = classifyToolkit(F, Call);
  else if (!bodyOf(F) && !F->isDefaulted())
    I.Kind = CallKind::NoBody;
  return I;
}

unsigned callDepends(const CallExpr *C) {
  const FunctionDecl *F = C->getDirectCallee();
  if (!F)
    return 255;
  switch (classifyCall(F, C).Kind) {
  case CallKind::Harmless:
    break;
  case CallKind::Barrier:
  case CallKind::GroupBarrier:
  case CallKind::WarpBarrier:
    return 0;
  case CallKind::BarrierReduce:
    return DepShared; // the same for all threads, but data
  case CallKind::BlockGroup:
    // The handle itself is the same for all threads.
    return nameOf(F) == "this_thread_block" ? 0u : DepThread | DepBlock;
  default:
    return DepThread | DepBlock | DepShared | DepGlobal;
  }
  if (isSystemFunction(F)) // __ldg and its like
    return llvm::any_of(F->parameters(),
                        [](const ParmVarDecl *P) {
                          const QualType T = P->getType()->getPointeeType();
                          return P->getType()->isPointerType() && T.isConstQualified();
                        })
               ? DepGlobal
               : DepNone;
  if (sharedAccessor(F))
    return 0; // a pointer, the same for all
  // A user's function: builtins and memory in its body.
  struct Body : ConstDynamicRecursiveASTVisitor {
    unsigned D = 0;
    llvm::SmallPtrSet<const FunctionDecl *, 8> Seen;
    bool TraversePseudoObjectExpr(const PseudoObjectExpr *E) override {
      if (auto B = builtinVar(E))
        D |= builtinDepends(*B);
      return true;
    }
    bool VisitDeclRefExpr(const DeclRefExpr *E) override {
      if (auto B = builtinVar(E))
        D |= builtinDepends(*B);
      auto *V = dyn_cast<VarDecl>(E->getDecl());
      if (V && isSharedVar(V))
        D |= DepShared;
      else if (V && V->hasGlobalStorage() && !V->getType().isConstQualified() &&
               !V->hasAttr<CUDAConstantAttr>())
        D |= DepGlobal;
      return true;
    }
    bool VisitUnaryOperator(const UnaryOperator *E) override {
      if (E->getOpcode() == UO_Deref)
        D |= DepGlobal;
      return true;
    }
    bool VisitArraySubscriptExpr(const ArraySubscriptExpr *E) override {
      if (!E->getBase()->IgnoreParenImpCasts()->getType()->isArrayType())
        D |= DepGlobal;
      return true;
    }
    bool VisitCallExpr(const CallExpr *E) override {
      const FunctionDecl *F = E->getDirectCallee();
      if (!F || classifyCall(F, E).Kind != CallKind::Harmless) {
        D |= 255;
        return true;
      }
      if (!isSystemFunction(F))
        if (const FunctionDecl *B = bodyOf(F); B && Seen.insert(B).second)
          TraverseStmt(B->getBody());
      return true;
    }
  } V;
  if (const FunctionDecl *B = bodyOf(F)) {
    V.Seen.insert(B);
    V.TraverseStmt(B->getBody());
  }
  return V.D;
}

bool isPure(const FunctionDecl *F) {
  for (const ParmVarDecl *P : F->parameters()) {
    QualType T = P->getType();
    if (T->isPointerType() ||
        (T->isReferenceType() && !T->getPointeeType().isConstQualified()))
      return false;
  }
  if (classifyCall(F, nullptr).Kind != CallKind::Harmless)
    return false;
  if (isSystemFunction(F) || F->isTrivial())
    return true;
  struct Body : ConstDynamicRecursiveASTVisitor {
    bool Pure = true;
    llvm::SmallPtrSet<const FunctionDecl *, 8> Seen;
    llvm::SmallPtrSet<const Expr *, 4> Named; ///< by `&`, not used
    bool fail() {
      Pure = false;
      return false;
    }
    bool VisitDeclRefExpr(const DeclRefExpr *E) override {
      auto *V = dyn_cast<VarDecl>(E->getDecl());
      if (V && V->hasGlobalStorage() && !V->getType().isConstQualified() &&
          !V->hasAttr<CUDAConstantAttr>() && !builtinVar(E))
        return fail();
      return true;
    }
    bool VisitUnaryOperator(const UnaryOperator *E) override {
      if (E->getOpcode() == UO_AddrOf)
        Named.insert(E->getSubExpr()->IgnoreParens());
      return E->getOpcode() == UO_Deref ? fail() : true;
    }
    // Memory that a pointer in a struct leads to, `v.data[i]`.
    bool VisitArraySubscriptExpr(const ArraySubscriptExpr *E) override {
      return E->getBase()->IgnoreParenCasts()->getType()->isArrayType() ||
                     Named.contains(E)
                 ? true
                 : fail();
    }
    bool VisitMemberExpr(const MemberExpr *E) override {
      return E->isArrow() && !Named.contains(E) ? fail() : true;
    }
    bool TraverseAsmStmt(const AsmStmt *) { return fail(); }
    bool VisitGCCAsmStmt(const GCCAsmStmt *) override { return fail(); }
    bool VisitCXXThisExpr(const CXXThisExpr *) override { return fail(); }
    bool VisitLambdaExpr(const LambdaExpr *) override { return fail(); }
    bool VisitCallExpr(const CallExpr *E) override {
      const FunctionDecl *F = E->getDirectCallee();
      if (!F)
        return fail();
      const FunctionDecl *B = bodyOf(F);
      if (B && !Seen.insert(B).second)
        return true;
      return isSystemFunction(F) ? (isPure(F) ? true : fail())
             : B                 ? TraverseStmt(B->getBody())
                                 : fail();
    }
  } V;
  const FunctionDecl *B = bodyOf(F);
  if (!B)
    return false;
  V.Seen.insert(B);
  V.TraverseStmt(B->getBody());
  return V.Pure;
}

bool statesOnly(const FunctionDecl *F) {
  if (!isSystemFunction(F) && !F->getBuiltinID())
    return false;
  if (nameOf(F).contains("assume") || F->isNoReturn())
    return true;
  return F->getReturnType()->isVoidType() &&
         classifyCall(F, nullptr).Kind == CallKind::Harmless &&
         llvm::none_of(F->parameters(), [](const ParmVarDecl *P) {
           return P->getType()->isPointerType() || P->getType()->isReferenceType();
         });
}

bool statesOnly(const AttributedStmt *S) {
  return hasSpecificAttr<CXXAssumeAttr>(S->getAttrs());
}

/// Does \p S end in a value being returned, whichever way it takes?
static bool endsInReturn(const clang::Stmt *S) {
  if (!S)
    return false;
  if (const auto *Block = dyn_cast<CompoundStmt>(S))
    return !Block->body_empty() && endsInReturn(Block->body_back());
  if (const auto *If = dyn_cast<IfStmt>(S))
    return endsInReturn(If->getThen()) && endsInReturn(If->getElse());
  if (const auto *A = dyn_cast<AttributedStmt>(S))
    return endsInReturn(A->getSubStmt());
  return isa<ReturnStmt>(S);
}

namespace {

/// What keeps a function from being called by threads that did not call it.
class HarmSeeker : public ConstDynamicRecursiveASTVisitor {
public:
  HarmSeeker(const FunctionDecl *F, const HarmSeeker *Caller)
      : F(F), Caller(Caller) {}

  bool harmless() {
    const FunctionDecl *Def = bodyOf(F);
    if (!Def || Def->isVariadic() || isa<CXXMethodDecl>(Def))
      return false;
    for (const HarmSeeker *C = Caller; C; C = C->Caller)
      if (bodyOf(C->F) == Def)
        return false; // calls itself
    for (const ParmVarDecl *P : Def->parameters()) {
      const QualType T = P->getType().getNonReferenceType();
      if (T->isPointerType() || T->isArrayType())
        return false;
      Marked &= T->isArithmeticType() && !P->getType()->isReferenceType();
    }
    if (!Def->getReturnType()->isVoidType() && !endsInReturn(Def->getBody()))
      return false; // without a value at its end it is undefined
    return TraverseStmt(Def->getBody()) && (!Products || Marked);
  }

  bool VisitAttributedStmt(const AttributedStmt *S) override { return !statesOnly(S); }

  bool VisitDeclRefExpr(const DeclRefExpr *E) override {
    if (builtinVar(E))
      return false;
    auto *V = dyn_cast<VarDecl>(E->getDecl());
    // Numbers that do not change.
    return !V || !V->hasGlobalStorage() ||
           (V->getType()->isArithmeticType() &&
            (V->getType().isConstQualified() ||
             V->hasAttr<CUDAConstantAttr>()));
  }
  bool TraversePseudoObjectExpr(const PseudoObjectExpr *) override {
    return false;
  }
  bool VisitArraySubscriptExpr(const ArraySubscriptExpr *E) override {
    // Of an array in here, at a constant place.
    const auto *Array = AC().getAsConstantArrayType(
        E->getBase()->IgnoreParenImpCasts()->getType());
    Expr::EvalResult Place;
    return Array && !E->getIdx()->isValueDependent() &&
           E->getIdx()->EvaluateAsInt(Place, AC()) &&
           Place.Val.getInt().isNonNegative() &&
           Place.Val.getInt().getZExtValue() < Array->getZExtSize();
  }
  bool VisitUnaryOperator(const UnaryOperator *E) override {
    return E->getOpcode() != UO_Deref && E->getOpcode() != UO_AddrOf;
  }
  bool VisitBinaryOperator(const BinaryOperator *E) override {
    const bool Real = E->getType()->isRealFloatingType() ||
                      E->getType()->isRecordType();
    Products |= Real && (E->getOpcode() == BO_Mul ||
                         E->getOpcode() == BO_MulAssign);
    const bool Divides = E->getOpcode() == BO_Div ||
                         E->getOpcode() == BO_Rem ||
                         E->getOpcode() == BO_DivAssign ||
                         E->getOpcode() == BO_RemAssign;
    if (!Divides || Real)
      return true;
    Expr::EvalResult By;
    return !E->getRHS()->isValueDependent() &&
           E->getRHS()->EvaluateAsInt(By, AC()) &&
           By.Val.getInt().isStrictlyPositive();
  }
  bool VisitMemberExpr(const MemberExpr *E) override { return !E->isArrow(); }
  bool VisitVarDecl(const VarDecl *V) override {
    return V->hasLocalStorage() && !V->getType()->isReferenceType();
  }
  bool VisitForStmt(const ForStmt *) override { return false; }
  bool VisitWhileStmt(const WhileStmt *) override { return false; }
  bool VisitDoStmt(const DoStmt *) override { return false; }
  bool VisitCXXForRangeStmt(const CXXForRangeStmt *) override { return false; }
  bool VisitGotoStmt(const GotoStmt *) override { return false; }
  bool VisitIndirectGotoStmt(const IndirectGotoStmt *) override {
    return false;
  }
  bool VisitGCCAsmStmt(const GCCAsmStmt *) override { return false; }
  bool VisitMSAsmStmt(const MSAsmStmt *) override { return false; }
  bool VisitCXXThisExpr(const CXXThisExpr *) override { return false; }
  bool VisitLambdaExpr(const LambdaExpr *) override { return false; }
  bool VisitCXXNewExpr(const CXXNewExpr *) override { return false; }
  bool VisitCXXDeleteExpr(const CXXDeleteExpr *) override { return false; }
  bool VisitCXXConstructExpr(const CXXConstructExpr *E) override {
    return E->getConstructor()->isTrivial() ||
           isSystemFunction(E->getConstructor());
  }
  bool VisitCallExpr(const CallExpr *E) override {
    const FunctionDecl *Callee = E->getDirectCallee();
    if (!Callee)
      return false;
    if (statesOnly(Callee))
      return false;
    if (isSystemFunction(Callee)) {
      // Of halves: operators and functions like __hmul2.
      const auto *Operator = dyn_cast<CXXOperatorCallExpr>(E);
      Products |= nameOf(Callee).contains("mul") ||
                  (Operator && (Operator->getOperator() == OO_Star ||
                                Operator->getOperator() == OO_StarEqual));
      return isPure(Callee);
    }
    return HarmSeeker(Callee, this).harmless();
  }

private:
  const FunctionDecl *F;
  const HarmSeeker *Caller;
  bool Products = false; ///< of floating-point numbers
  bool Marked = true;    ///< each parameter is a number by value

  const ASTContext &AC() const { return F->getASTContext(); }
};

} // namespace

bool isHarmlessAnywhere(const FunctionDecl *F) {
  return HarmSeeker(F, nullptr).harmless();
}


} // namespace rcache
