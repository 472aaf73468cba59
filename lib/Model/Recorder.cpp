// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Recorder.h.

#include "Recorder.h"
#include "Effects.h"
#include "Locals.h"
#include "clang/AST/DynamicRecursiveASTVisitor.h"
#include "clang/AST/StmtCXX.h"
#include "clang/Lex/Lexer.h"

using namespace clang;

namespace rcache {

TextRange Recorder::range(SourceRange R) const {
  if (Cur.Calls)
    return TextRange();
  return Flat.range(R).value_or(TextRange());
}

TextRange Recorder::range(const clang::Stmt *S) const {
  return S ? range(S->getSourceRange()) : TextRange();
}

std::string Recorder::text(const Expr *E) const { return M.text(range(E)); }

void Recorder::decline(DeclineCode Code, const std::string &Detail,
                       SourceLocation Loc) {
  Decline D{Code, Detail, sourcePos(AC.getSourceManager(), Loc)};
  if (llvm::find(M.Declines, D) == M.Declines.end())
    M.Declines.push_back(D);
}

void Recorder::noteBody(const FunctionDecl *F) {
  const FunctionDecl *Def = nullptr;
  if (!F->hasBody(Def) || isSystemFunction(Def) || !Def->getIdentifier() ||
      M.CalleeBodies.count(Def->getName().str()))
    return;
  M.CalleeBodies[Def->getName().str()] =
      Lexer::getSourceText(
          CharSourceRange::getTokenRange(Def->getBody()->getSourceRange()),
          AC.getSourceManager(), AC.getLangOpts())
          .str();
  struct Calls : ConstDynamicRecursiveASTVisitor {
    std::vector<const FunctionDecl *> Found;
    bool VisitCallExpr(const CallExpr *E) override {
      if (const FunctionDecl *Callee = E->getDirectCallee())
        Found.push_back(Callee);
      return true;
    }
  } V;
  V.TraverseStmt(Def->getBody());
  for (const FunctionDecl *Callee : V.Found)
    noteBody(Callee);
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

/// Is the statement's last token the brace of a block? (`if (c) p = {0, 1};`
/// ends with a brace, too.)
static bool endsInBlock(const clang::Stmt *S) {
  while (S) {
    if (isa<CompoundStmt>(S))
      return true;
    if (auto *I = dyn_cast<IfStmt>(S))
      S = I->getElse() ? I->getElse() : I->getThen();
    else if (auto *F = dyn_cast<ForStmt>(S))
      S = F->getBody();
    else if (auto *W = dyn_cast<WhileStmt>(S))
      S = W->getBody();
    else if (auto *R = dyn_cast<CXXForRangeStmt>(S))
      S = R->getBody();
    else if (auto *W = dyn_cast<SwitchStmt>(S))
      S = W->getBody();
    else if (auto *A = dyn_cast<AttributedStmt>(S))
      S = A->getSubStmt();
    else if (auto *L = dyn_cast<LabelStmt>(S))
      S = L->getSubStmt();
    else
      return false;
  }
  return false;
}

unsigned Recorder::newStmt(Stmt::Kind K, const clang::Stmt *Whole,
                           SourceRange R, int Parent) {
  Stmt S;
  S.K = K;
  S.Id = M.Stmts.size();
  S.Parent = Parent;
  bool Simple = K != Stmt::Block && K != Stmt::If && K != Stmt::For &&
                K != Stmt::While && K != Stmt::Switch;
  S.Range =
      (Simple ? Flat.withSemi(R) : Flat.outerRange(R)).value_or(TextRange());
  // `if (c) x = y;` ends with the semicolon of its last statement.
  if (!Simple && K != Stmt::Block && !S.Range.empty() && !endsInBlock(Whole))
    S.Range = Flat.withSemi(R).value_or(S.Range);
  S.Domain = Cur.Path.Dom;
  S.DomainExact = Cur.Path.Exact;
  S.Pos = sourcePos(AC.getSourceManager(), R.getBegin());
  M.Stmts.push_back(S);
  if (Parent >= 0)
    M.Stmts[Parent].Children.push_back(S.Id);
  return S.Id;
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

void Recorder::setIndex(SharedAccess &A, const SVal &P) const {
  const SharedArray &Arr = M.Arrays[P.Index];
  const size_t Rank = Arr.Extents.size();
  if (Rank == 0) { // a shared scalar, reached by name or as *&s
    A.IndexValues.clear();
    A.Affine =
        P.Idx.empty() || (P.Idx.size() == 1 && P.IdxInt[0] &&
                          Arith.constantValue(P.IdxInt[0]->Aff) == int64_t(0));
  } else {
    A.Affine = P.Idx.size() == Rank;
    for (auto &I : P.IdxInt)
      A.Affine &= I.has_value();
    if (A.Affine)
      for (auto &I : P.IdxInt)
        A.Index.push_back(I->Aff);
  }
  // Through a pointer an index may run over the end of its row.
  if (A.Affine && Rank > 1) {
    bool Inside = true;
    for (size_t D = 1; D < Rank; ++D)
      Inside &=
          Arr.Extents[D] &&
          Arith.proveInRange(A.Index[D], 0, *Arr.Extents[D] - 1, Cur.where());
    bool Direct = !P.Flattened;
    if (!Inside && !Direct) {
      isl::pw_aff Linear = A.Index[0];
      bool Ok = true;
      for (size_t D = 1; D < Rank && Ok; ++D) {
        Ok = Arr.Extents[D].has_value();
        if (Ok)
          Linear = Linear.scale(isl::val(Linear.ctx(), *Arr.Extents[D]))
                       .add(A.Index[D]);
      }
      for (size_t D = Rank; Ok && D-- > 1;) {
        isl::val Ext(Linear.ctx(), *Arr.Extents[D]);
        A.Index[D] = Linear.mod(Ext);
        Linear = Linear.scale_down(Ext).floor();
      }
      A.Index[0] = Linear;
      A.Affine = Ok;
      for (size_t D = 0; Ok && D < Rank; ++D)
        A.IndexValues[D] = affineValue(Arith, A.Index[D], "int");
    }
  }
  if (!A.Affine)
    A.Index.clear();
}

SharedAccess Recorder::here(SharedAccess::Kind K, const SVal &P,
                            const Expr *E) const {
  SharedAccess A;
  A.K = K;
  A.Array = P.Index;
  A.Stmt = Cur.Stmt;
  A.Range = range(E);
  A.Pos = sourcePos(AC.getSourceManager(), E->getBeginLoc());
  A.Domain = Cur.Path.Dom;
  A.DomainExact = Cur.Path.Exact;
  A.ExtraGuards = Cur.Path.Guards;
  return A;
}

SharedAccess Recorder::shared(SharedAccess::Kind K, const SVal &P,
                              const Expr *E) const {
  SharedAccess A = here(K, P, E);
  A.IndexValues = P.Idx;
  setIndex(A, P);
  return A;
}

void Recorder::add(SharedAccess A, const Expr *E) {
  const std::string Name = "'" + M.Arrays[A.Array].Name + "'";
  if (A.K == SharedAccess::Escape)
    decline(DeclineCode::EscapingArray, Name, E->getBeginLoc());
  if (A.K == SharedAccess::Atomic)
    decline(DeclineCode::SharedAtomics, "on " + Name, E->getBeginLoc());
  M.SharedAccesses.push_back(std::move(A));
}

void Recorder::escape(const SVal &P, const Expr *E, const std::string &How,
                      DeclineCode Code) {
  if (P.Base != SVal::Shared || !records())
    return;
  M.SharedAccesses.push_back(here(SharedAccess::Escape, P, E));
  const std::string What = "'" + M.Arrays[P.Index].Name + "' " + How;
  if (llvm::any_of(M.Declines, [&](const Decline &D) {
        return D.Code == DeclineCode::StructMember && D.Detail == What;
      }))
    return; // once is enough
  decline(Code, What, E->getBeginLoc());
}

void Recorder::global(GlobalAccess::Kind K, int Root, const SVal &P,
                      const Expr *E, const Expr *Rhs, const std::string &Type) {
  if (!records())
    return;
  GlobalAccess A;
  A.K = K;
  A.Root = Root;
  A.Stmt = Cur.Stmt;
  A.Range = range(E);
  if (Root >= 0 && !P.Idx.empty())
    A.Index = P.Idx.back();
  A.ElemType = Type;
  QualType T = E->getType();
  if (T->isPointerType())
    T = T->getPointeeType();
  if (!T->isIncompleteType() && !T->isFunctionType() && !T->isDependentType())
    A.ElemBytes = AC.getTypeSizeInChars(T).getQuantity();
  A.Volatile = T.isVolatileQualified();
  // (Else it could not wait in an array until all are stored.)
  const auto *R = T->getAsCXXRecordDecl();
  if (Rhs && (!R || isRemade(R, AC.getSourceManager())))
    A.StoredRange = range(Rhs);
  A.Domain = Cur.Path.Dom;
  A.DomainExact = Cur.Path.Exact;
  A.Pos = sourcePos(AC.getSourceManager(), E->getBeginLoc());
  M.GlobalAccesses.push_back(A);
}

void Recorder::selection(const ConditionalOperator *E, const isl::set &When) {
  const QualType T = E->getType(), Of = E->getTrueExpr()->IgnoreParenImpCasts()->getType();
  const bool Alike = AC.hasSameUnqualifiedType(T, Of);
  Selection C{range(E), range(E->getTrueExpr()), Alike ? "" : T.getAsString(AC.getPrintingPolicy()),
              When};
  const auto *B = dyn_cast<BinaryOperator>(E->getTrueExpr()->IgnoreImpCasts());
  if (!records() || Cur.OnTrial || C.First.empty() || !C.Range.contains(C.First) ||
      (B && (B->isAssignmentOp() || B->getOpcode() == BO_Comma)) ||
      !(Alike || (T->isArithmeticType() && Of->isArithmeticType())))
    return;
  const auto Known =
      llvm::find_if(M.Selections, [&](const Selection &K) { return K.Range == C.Range; });
  if (Known == M.Selections.end())
    M.Selections.push_back(std::move(C));
  else if (!Known->When.is_null() && !Known->When.is_equal(When))
    Known->When = {};
}

//===----------------------------------------------------------------------===//
// Trials
//===----------------------------------------------------------------------===//

Records Recorder::written() const {
  return {M.Stmts, M.SharedAccesses, M.GlobalAccesses, M.Declines,
          M.Vars,  M.Params,         M.Arrays};
}

void Recorder::restore(Records R) {
  M.Stmts = std::move(R.Stmts);
  M.SharedAccesses = std::move(R.Shared);
  M.GlobalAccesses = std::move(R.Global);
  M.Declines = std::move(R.Declines);
  M.Vars = std::move(R.Vars);
  M.Params = std::move(R.Params);
  M.Arrays = std::move(R.Arrays);
}

Trial::Trial(State &Cur, Recorder &Rec) : Cur(Cur), Rec(Rec), Before(Cur) {
  if (!Cur.OnTrial)
    Written = Rec.written();
  Cur.OnTrial = true;
}

Trial::~Trial() {
  Cur = std::move(Before);
  if (Written)
    Rec.restore(std::move(*Written));
}

} // namespace rcache
