// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See KernelWriter.h.

#include "KernelWriter.h"
#include "Anchors.h"
#include "BuiltinVars.h"
#include "CallOrder.h"
#include "CalleeText.h"
#include "Conditions.h"
#include "DeclName.h"
#include "Effects.h"
#include "LaunchSites.h"
#include "Locals.h"
#include "WantedCalls.h"
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

class KernelWriter {
public:
  KernelWriter(const FunctionDecl *Def, const KernelModel &M, Preprocessor &PP,
               CallsToWrite Which)
      : Def(Def), M(M), PP(PP), SM(PP.getSourceManager()),
        AC(Def->getASTContext()), Wanted(Def, M, Scope, PP, Which) {
    Scope.Kernel = Def;
    for (const TemplateArg &A : M.TemplateArgs)
      Scope.TemplateNames[A.Value] = A.Name;
    struct Names : ConstDynamicRecursiveASTVisitor {
      llvm::StringSet<> *S, *Used, *Types;
      bool VisitVarDecl(const VarDecl *V) override {
        S->insert(V->getName());
        return true;
      }
      bool VisitDeclRefExpr(const DeclRefExpr *E) override {
        Used->insert(identifierOf(E->getDecl()));
        return true;
      }
      bool VisitNamedDecl(const NamedDecl *D) override {
        if (!isa<VarDecl, FieldDecl, LabelDecl>(D) && D->getIdentifier())
          Types->insert(D->getName());
        return true;
      }
      bool TraverseLambdaExpr(const LambdaExpr *) override { return true; }
    } N;
    N.S = &Scope.Names;
    N.Used = &Scope.Used;
    N.Types = &Scope.Types;
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
  const SourceManager &SM;
  ASTContext &AC;
  CallerScope Scope;
  const WantedCalls Wanted;
  std::vector<SourceEdit> Edits;
  /// Variables that hold a lambda, and how many of their uses are written out.
  std::map<const VarDecl *, const DeclStmt *> Lambdas;
  std::map<const VarDecl *, unsigned> References, Written;

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
      if (!R || !keepsOrder(E, C.Call, changesOf(C.Call, C.Callee)))
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
            !Wanted.of(X))
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
        if (auto C = Wanted.of(E))
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
