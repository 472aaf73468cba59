// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See KernelWriter.h.

#include "KernelWriter.h"
#include "Anchors.h"
#include "BuiltinVars.h"
#include "CalleeText.h"
#include "Conditions.h"
#include "DeclName.h"
#include "Effects.h"
#include "LaunchSites.h"
#include "Locals.h"
#include "ReachedCalls.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/Attr.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/AST/DynamicRecursiveASTVisitor.h"
#include "clang/AST/StmtCXX.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Lex/Lexer.h"
#include "clang/Lex/Preprocessor.h"
#include <map>
#include <set>

using namespace clang;

namespace rcache {
namespace {

const FunctionDecl *definitionOf(const FunctionDecl *F) {
  const FunctionDecl *D = nullptr;
  return F && F->hasBody(D) ? D : nullptr;
}

bool isSharedDecl(const ValueDecl *D) {
  return D->hasAttr<CUDASharedAttr>();
}

/// Looks at the thread, shares or waits, itself or in what it calls.
class BodyUses : public ConstDynamicRecursiveASTVisitor {
public:
  bool Found = false;
  void look(const FunctionDecl *F) {
    F = definitionOf(F);
    if (F && Seen.insert(F).second)
      TraverseStmt(F->getBody());
  }
  bool TraversePseudoObjectExpr(const PseudoObjectExpr *E) override {
    Found |= builtinVar(E).has_value();
    return true;
  }
  bool VisitDeclRefExpr(const DeclRefExpr *E) override {
    Found |= isSharedDecl(E->getDecl()) || builtinVar(E);
    return true;
  }
  bool VisitCallExpr(const CallExpr *C) override {
    const FunctionDecl *F = C->getDirectCallee();
    if (!F)
      return true;
    switch (classifyCall(F, C).Kind) {
    case CallKind::Barrier:
    case CallKind::BarrierReduce:
    case CallKind::GroupBarrier:
    case CallKind::WarpBarrier:
    case CallKind::BlockGroup:
      Found = true;
      break;
    default:
      if (!isSystemFunction(F))
        look(F);
    }
    return true;
  }

private:
  llvm::SmallPtrSet<const FunctionDecl *, 8> Seen;
};

class KernelWriter {
public:
  KernelWriter(const FunctionDecl *Def, const KernelModel &M, Preprocessor &PP,
               CallsToWrite Which)
      : Def(Def), M(M), PP(PP), Which(Which), SM(PP.getSourceManager()),
        AC(Def->getASTContext()), Reached(Def->getBody()) {
    Scope.Kernel = Def;
    for (const TemplateArg &A : M.TemplateArgs)
      Scope.TemplateNames[A.Value] = A.Name;
    struct Names : ConstDynamicRecursiveASTVisitor {
      llvm::StringSet<> *S;
      bool VisitVarDecl(const VarDecl *V) override {
        S->insert(V->getName());
        return true;
      }
      bool TraverseLambdaExpr(const LambdaExpr *) override { return true; }
    } N;
    N.S = &Scope.Names;
    for (const ParmVarDecl *P : Def->parameters())
      Scope.Names.insert(P->getName());
    N.TraverseStmt(Def->getBody());
  }

  std::vector<SourceEdit> run() {
    countUses(Def->getBody());
    block(Def->getBody());
    for (auto &[V, D] : Lambdas)
      if (Written[V] == References[V] && Written[V])
        remove(D);
    return std::move(Edits);
  }

private:
  const FunctionDecl *Def;
  const KernelModel &M;
  Preprocessor &PP;
  const CallsToWrite Which;
  const SourceManager &SM;
  ASTContext &AC;
  CallerScope Scope;
  std::vector<SourceEdit> Edits;
  /// Variables that hold a lambda, and how many of their uses are written out.
  std::map<const VarDecl *, const DeclStmt *> Lambdas;
  std::map<const VarDecl *, unsigned> References, Written;
  const ReachedCalls Reached;

  //===--- What to write out ---===//

  void countUses(const clang::Stmt *S) {
    if (!S)
      return;
    if (auto *R = dyn_cast<DeclRefExpr>(S))
      if (auto *V = dyn_cast<VarDecl>(R->getDecl()))
        ++References[V];
    if (auto *D = dyn_cast<DeclStmt>(S); D && D->isSingleDecl())
      if (auto *V = dyn_cast<VarDecl>(D->getSingleDecl()))
        if (lambdaOf(V))
          Lambdas[V] = D;
    for (const clang::Stmt *C : S->children())
      countUses(C);
  }

  static const LambdaExpr *lambdaOf(const VarDecl *V) {
    const Expr *E = V->getInit();
    while (E) {
      E = E->IgnoreImplicit()->IgnoreParens();
      if (auto *C = dyn_cast<CXXConstructExpr>(E); C && C->getNumArgs() == 1)
        E = C->getArg(0);
      else
        break;
    }
    return dyn_cast_or_null<LambdaExpr>(E);
  }

  /// A pointer or array that leads to a shared array.
  bool refersShared(const Expr *E, unsigned Depth = 0) const {
    E = E->IgnoreParenCasts();
    if (auto *M = dyn_cast<MaterializeTemporaryExpr>(E))
      return refersShared(M->getSubExpr(), Depth);
    if (auto *U = dyn_cast<UnaryOperator>(E); U && U->getOpcode() == UO_AddrOf) {
      E = U->getSubExpr()->IgnoreParens();
      if (auto *A = dyn_cast<ArraySubscriptExpr>(E))
        E = A->getBase()->IgnoreParenCasts();
    }
    if (auto *B = dyn_cast<BinaryOperator>(E); B && B->isAdditiveOp())
      return refersShared(B->getLHS(), Depth) ||
             refersShared(B->getRHS(), Depth);
    if (auto *A = dyn_cast<ArraySubscriptExpr>(E))
      return A->getType()->isArrayType() && refersShared(A->getBase(), Depth);
    auto *R = dyn_cast<DeclRefExpr>(E);
    if (!R)
      return false;
    if (isSharedDecl(R->getDecl()))
      return true;
    auto *V = dyn_cast<VarDecl>(R->getDecl());
    return V && V->isLocalVarDecl() && V->getInit() && Depth < 4 &&
           (V->getType()->isPointerType() || V->getType()->isReferenceType()) &&
           refersShared(V->getInit(), Depth + 1);
  }

  std::optional<CallToWrite> wanted(const CallExpr *E) const {
    CallToWrite C;
    C.Call = E;
    const FunctionDecl *F = E->getDirectCallee();
    if (!F || isa<CUDAKernelCallExpr>(E))
      return std::nullopt;
    C.Callee = definitionOf(F);
    // Shared arrays of its own would be several arrays.
    if (!C.Callee || isSystemFunction(F) ||
        (ownsShared(C.Callee) && !Reached.isOnlyOne(C.Callee)))
      return std::nullopt;
    if (auto *Op = dyn_cast<CXXOperatorCallExpr>(E)) {
      auto *Method = dyn_cast<CXXMethodDecl>(F);
      if (Op->getOperator() != OO_Call || !Method ||
          !Method->getParent()->isLambda())
        return std::nullopt;
      auto *R = dyn_cast<DeclRefExpr>(Op->getArg(0)->IgnoreParenImpCasts());
      auto *V = R ? dyn_cast<VarDecl>(R->getDecl()) : nullptr;
      C.Lambda = V ? lambdaOf(V) : nullptr;
      if (!C.Lambda || !capturesFit(C.Lambda))
        return std::nullopt;
      return C;
    }
    if (isa<CXXMethodDecl>(F) || F->hasAttr<CUDAGlobalAttr>() ||
        sharedAccessor(F))
      return std::nullopt;
    BodyUses Uses;
    Uses.look(F);
    if (Uses.Found)
      return C;
    for (unsigned I = 0; I < E->getNumArgs() && I < F->getNumParams(); ++I) {
      QualType T = F->getParamDecl(I)->getType();
      // `element(m, row, col)`: what is read or set through the struct's pointer.
      if (holdsPointer(T) && namesVariable(E->getArg(I)))
        return C;
      if ((T->isPointerType() ||
           (T->isReferenceType() && (T->getPointeeType()->isArrayType() ||
                                     T->getPointeeType()->isPointerType()))) &&
          refersShared(E->getArg(I)))
        return C;
      // `load(a, g, n)`: what it reads becomes visible.
      if (T->isPointerType() && calleeAsExpression(C, Scope, PP))
        return C;
    }
    if (Which == CallsToWrite::Numeric && computesNumbers(F))
      return C;
    return std::nullopt;
  }

  /// Is \p T, or what it refers to, a plain struct with a pointer in it?
  static bool holdsPointer(QualType T) {
    const CXXRecordDecl *R = T.getNonReferenceType()->getAsCXXRecordDecl();
    return R && R->hasDefinition() && R->isTrivial() && !R->isUnion() &&
           llvm::any_of(R->getDefinition()->fields(), [](const FieldDecl *F) {
             return F->getType()->isPointerType();
           });
  }

  /// A variable by name, or a copy of it that is passed.
  static bool namesVariable(const Expr *E) {
    E = E->IgnoreParenImpCasts();
    if (auto *Copy = dyn_cast<CXXConstructExpr>(E); Copy && Copy->getNumArgs() == 1)
      E = Copy->getArg(0)->IgnoreParenImpCasts();
    return isa<DeclRefExpr>(E);
  }

  static bool ownsShared(const FunctionDecl *F) {
    struct Finder : ConstDynamicRecursiveASTVisitor {
      bool Found = false;
      bool VisitVarDecl(const VarDecl *V) override {
        Found |= isSharedDecl(V);
        return !Found;
      }
    } X;
    X.TraverseStmt(F->getBody());
    return X.Found;
  }

  /// What a lambda copies must not change between its making and its call.
  bool capturesFit(const LambdaExpr *L) const {
    for (const LambdaCapture &Cap : L->captures()) {
      if (!Cap.capturesVariable() || L->isInitCapture(&Cap))
        return false;
      if (Cap.getCaptureKind() != LCK_ByCopy)
        continue;
      auto *V = dyn_cast<VarDecl>(Cap.getCapturedVar());
      if (!V)
        return false;
      if (V->getType().isConstQualified())
        continue;
      for (const Var &X : M.Vars)
        if (X.Name == V->getName() && (X.Assigned || X.AddressTaken))
          return false;
    }
    return !L->isMutable();
  }

  //===--- Ids of a block as the block's own variables ---===//

  /// Only threadIdx.x and blockDim.x are looked at, in 1-D blocks as far as the
  /// launches tell (others run the original: a plan asks for 1-D blocks).
  bool oneDim() const {
    for (const auto &B : M.Geo.SeenBlocks)
      if (B[1] != 1 || B[2] != 1)
        return false;
    struct Axes : ConstDynamicRecursiveASTVisitor {
      bool Other = false;
      bool TraversePseudoObjectExpr(const PseudoObjectExpr *E) override {
        auto B = builtinVar(E);
        Other |= B && B->Axis != 0 &&
                 (B->K == Symbol::ThreadIdx || B->K == Symbol::BlockDim);
        return true;
      }
      bool VisitMemberExpr(const MemberExpr *E) override {
        auto *C = dyn_cast<CallExpr>(E->getBase()->IgnoreParenImpCasts());
        if (C && C->getDirectCallee() && identifierOf(E->getMemberDecl()) != "x" &&
            classifyCall(C->getDirectCallee(), C).Name != "group_index")
          Other |= classifyCall(C->getDirectCallee(), C).Kind ==
                   CallKind::BlockGroup;
        return true;
      }
    } A;
    A.TraverseStmt(Def->getBody());
    return !A.Other;
  }

  std::optional<std::string> groupId(const CallExpr *E) const {
    const FunctionDecl *F = E->getDirectCallee();
    // Some of them are static members, called through the object.
    if (!F || !isa<MemberExpr>(E->getCallee()->IgnoreParenImpCasts()) ||
        E->getNumArgs())
      return std::nullopt;
    CallInfo I = classifyCall(F, E);
    if (I.Kind != CallKind::BlockGroup || !F->getIdentifier())
      return std::nullopt;
    StringRef N = F->getName();
    if (N == "thread_index")
      return "threadIdx";
    if (N == "group_index")
      return "blockIdx";
    if (N == "group_dim" || N == "dim_threads")
      return "blockDim";
    const bool Rank = N == "thread_rank";
    if (!Rank && N != "size" && N != "num_threads")
      return std::nullopt;
    std::string T = oneDim() ? (Rank ? "threadIdx.x" : "blockDim.x")
                    : Rank ? "((threadIdx.z * blockDim.y + threadIdx.y) * "
                             "blockDim.x + threadIdx.x)"
                           : "(blockDim.x * blockDim.y * blockDim.z)";
    if (!AC.hasSameUnqualifiedType(E->getType(), AC.UnsignedIntTy))
      T = "((" + E->getType().getCanonicalType().getAsString() + ")" + T + ")";
    return T;
  }

  //===--- Places ---===//

  std::optional<CharSourceRange> inFile(SourceRange R) const {
    CharSourceRange C = Lexer::makeFileCharRange(
        CharSourceRange::getTokenRange(R), SM, PP.getLangOpts());
    if (C.isInvalid() || SM.getFileID(C.getBegin()) != SM.getFileID(C.getEnd()) ||
        SM.getFileID(C.getBegin()) !=
            SM.getFileID(SM.getExpansionLoc(Def->getLocation())))
      return std::nullopt;
    return C;
  }

  /// Replaces a piece of the file; its line breaks stay, behind the text.
  void put(CharSourceRange R, std::string Text) {
    SourceEdit E;
    auto [File, Begin] = SM.getDecomposedLoc(R.getBegin());
    if (auto F = SM.getFileEntryRefForID(File))
      E.File = F->getName().str();
    E.Offset = Begin;
    E.Length = SM.getFileOffset(R.getEnd()) - Begin;
    StringRef Old = SM.getBufferData(File).substr(E.Offset, E.Length);
    Text.append(Old.count('\n'), '\n');
    E.Text = std::move(Text);
    for (const SourceEdit &O : Edits) // one level of calls at a time
      if (O.File == E.File && E.Length && O.Length &&
          E.Offset < O.Offset + O.Length && O.Offset < E.Offset + E.Length)
        return;
    Edits.push_back(std::move(E));
  }

  void insert(SourceLocation L, std::string Text) {
    put(CharSourceRange::getCharRange(L, L), std::move(Text));
  }

  void remove(const DeclStmt *D) {
    if (auto R = inFile(D->getSourceRange()))
      put(*R, "");
  }

  //===--- The walk ---===//

  void block(const clang::Stmt *S) {
    if (auto *B = dyn_cast<CompoundStmt>(S)) {
      for (const clang::Stmt *C : B->body())
        statement(C, true);
      return;
    }
    statement(S, false);
  }

  /// \p InBlock: text may stand in front of it.
  void statement(const clang::Stmt *S, bool InBlock) {
    if (!S)
      return;
    if (auto *A = dyn_cast<AttributedStmt>(S))
      return statement(A->getSubStmt(), false);
    if (isa<CompoundStmt>(S))
      return block(S);
    if (auto *I = dyn_cast<IfStmt>(S)) {
      if (const Expr *C = conditionOf(I))
        expression(C, InBlock ? S : nullptr, nullptr);
      block(I->getThen());
      if (I->getElse())
        block(I->getElse());
      return;
    }
    if (auto *F = dyn_cast<ForStmt>(S)) {
      if (auto *E = dyn_cast_or_null<Expr>(F->getInit()))
        expression(E, nullptr, nullptr);
      else if (F->getInit())
        statement(F->getInit(), false);
      for (const Expr *E : {F->getCond(), F->getInc()})
        if (E)
          expression(E, nullptr, nullptr);
      return block(F->getBody());
    }
    if (auto *W = dyn_cast<WhileStmt>(S)) {
      expression(W->getCond(), nullptr, nullptr);
      return block(W->getBody());
    }
    if (auto *W = dyn_cast<DoStmt>(S)) {
      block(W->getBody());
      return expression(W->getCond(), nullptr, nullptr);
    }
    if (auto *D = dyn_cast<DeclStmt>(S)) {
      bool FirstOne = true;
      for (const Decl *X : D->decls()) {
        auto *V = dyn_cast<VarDecl>(X);
        if (V && V->getInit() && !lambdaOf(V))
          expression(V->getInit(), InBlock && FirstOne ? S : nullptr, nullptr);
        FirstOne = false;
      }
      return;
    }
    if (auto *E = dyn_cast<Expr>(S))
      return expression(E, S, E, /*Braces=*/!InBlock);
    for (const clang::Stmt *C : S->children()) // switch, case, labels
      if (C) {
        if (auto *E = dyn_cast<Expr>(C))
          expression(E, nullptr, nullptr);
        else
          block(C);
      }
  }

  /// \p Front: the statement in front of which a block may stand, or null.
  /// \p Whole: the expression that is a whole statement, or null. \p Braces: the
  /// statement is no block's own, braces make it one.
  void expression(const Expr *E, const clang::Stmt *Front, const Expr *Whole,
                  bool Braces = false) {
    std::vector<std::pair<CallToWrite, bool>> Found; // call, always evaluated
    calls(E, true, Found);
    std::string Before;
    for (auto &[C, Always] : Found) {
      auto R = inFile(C.Call->getSourceRange());
      if (!R)
        continue;
      std::string Text;
      if (auto T = calleeAsExpression(C, Scope, PP)) {
        Text = *T;
        // `int g = (...);` needs no parentheses around all of it.
        if (C.Call == E->IgnoreImplicit() && Text.size() > 1 &&
            Text.starts_with("(") && wraps(Text))
          Text = Text.substr(1, Text.size() - 2);
      } else {
        const bool IsWhole = Whole && Whole->IgnoreImplicit() == C.Call;
        if (!Always || (!Front && !IsWhole) || (!IsWhole && disturbs(E, C.Call)))
          continue;
        auto B = calleeAsBlock(C, Scope, PP);
        if (!B)
          continue;
        if (IsWhole) {
          // The `;` behind the call becomes an empty statement.
          Text = "{ " + B->Text + " }";
          dropSemicolon(*R);
        } else if (B->Value.empty()) {
          continue;
        } else {
          Before += B->Text + " ";
          Text = B->Value;
        }
      }
      put(*R, Text);
      if (auto *Op = dyn_cast<CXXOperatorCallExpr>(C.Call))
        if (auto *D = dyn_cast<DeclRefExpr>(Op->getArg(0)->IgnoreParenImpCasts()))
          ++Written[cast<VarDecl>(D->getDecl())];
    }
    if (!Before.empty()) {
      auto R = inFile(SourceRange(Front->getBeginLoc(), Front->getBeginLoc()));
      if (!R) { // cannot be: the calls are in the file
        Edits.clear();
        return;
      }
      insert(R->getBegin(), (Braces ? "{ " : "") + Before);
      if (Braces) {
        auto End = inFile(E->getSourceRange());
        auto Semi = End ? Lexer::findLocationAfterToken(
                              End->getEnd().getLocWithOffset(-1), tok::semi, SM,
                              PP.getLangOpts(), false)
                        : SourceLocation();
        if (Semi.isInvalid())
          Edits.clear();
        else
          insert(Semi, " }");
      }
    }
  }

  /// Do the first and the last parenthesis belong together? No comma may be at
  /// the top inside: it would separate declarators.
  static bool wraps(StringRef T) {
    int Depth = 0;
    for (size_t I = 0; I < T.size(); ++I) {
      if (T[I] == '"' || T[I] == '\'')
        return false;
      Depth += T[I] == '(';
      Depth -= T[I] == ')';
      if ((Depth == 0 && I + 1 < T.size()) || (Depth == 1 && T[I] == ','))
        return false;
    }
    return Depth == 0;
  }

  void dropSemicolon(CharSourceRange &R) const {
    auto Next = Lexer::findLocationAfterToken(R.getEnd().getLocWithOffset(-1),
                                              tok::semi, SM, PP.getLangOpts(),
                                              false);
    if (Next.isValid())
      R.setEnd(Next);
  }

  /// Does evaluating \p Call ahead of the rest of \p E change anything?
  bool disturbs(const Expr *E, const CallExpr *Call) const {
    bool Bad = false;
    std::function<void(const clang::Stmt *, bool)> Walk = [&](const clang::Stmt *S, bool Top) {
      if (!S || S == Call || Bad)
        return;
      if (auto *B = dyn_cast<BinaryOperator>(S); B && B->isAssignmentOp()) {
        if (!Top)
          Bad = true;
        Walk(B->getLHS(), false);
        Walk(B->getRHS(), false);
        return;
      }
      if (auto *U = dyn_cast<UnaryOperator>(S); U && U->isIncrementDecrementOp())
        Bad = true;
      if (auto *X = dyn_cast<CallExpr>(S)) {
        const FunctionDecl *F = X->getDirectCallee();
        auto *Op = dyn_cast<CXXOperatorCallExpr>(X);
        if (!(Op && Op->isAssignmentOp() && Top) && (!F || !isPure(F)) &&
            !wanted(X))
          Bad = true;
      }
      for (const clang::Stmt *C : S->children())
        Walk(C, false);
    };
    Walk(E->IgnoreImplicit(), true);
    return Bad;
  }

  void calls(const clang::Stmt *S, bool Always,
             std::vector<std::pair<CallToWrite, bool>> &Found) {
    if (!S || isa<LambdaExpr>(S))
      return;
    if (auto *P = dyn_cast<PseudoObjectExpr>(S); P && builtinVar(P))
      return;
    if (auto *B = dyn_cast<BinaryOperator>(S); B && B->isLogicalOp()) {
      calls(B->getLHS(), Always, Found);
      calls(B->getRHS(), false, Found);
      return;
    }
    if (auto *T = dyn_cast<AbstractConditionalOperator>(S)) {
      calls(T->getCond(), Always, Found);
      calls(T->getTrueExpr(), false, Found);
      calls(T->getFalseExpr(), false, Found);
      return;
    }
    if (auto *E = dyn_cast<CallExpr>(S)) {
      if (auto T = groupId(E)) {
        if (auto R = inFile(E->getSourceRange()))
          put(*R, *T);
        return;
      }
      size_t Before = Found.size(), EditsBefore = Edits.size();
      for (const clang::Stmt *C : S->children())
        calls(C, Always, Found);
      // Arguments first: this call in the next round.
      if (Found.size() == Before && Edits.size() == EditsBefore)
        if (auto C = wanted(E))
          Found.push_back({*C, Always});
      return;
    }
    for (const clang::Stmt *C : S->children())
      calls(C, Always, Found);
  }
};

} // namespace

std::vector<SourceEdit> writeOutIn(const FunctionDecl *Def, const KernelModel &M,
                                   Preprocessor &PP, CallsToWrite Which) {
  return KernelWriter(Def, M, PP, Which).run();
}

} // namespace rcache
