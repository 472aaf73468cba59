// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See PrivateUses.h. An element is used as a value, assigned, counted up or
// down: these kinds of syntax are listed. Whatever else names the array may
// keep an address, ask for its size or hand all of it on, and the array stays.
//
//     ++bins[data[i] % 32];       an element
//     sort(bins, 32);             all of it

#include "PrivateUses.h"
#include "BuiltinVars.h"
#include "DeclName.h"
#include "Effects.h"
#include "KernelWriter.h"
#include "ReferenceUses.h"
#include "StoredProducts.h"
#include "Walkers.h"
#include "Support/Words.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/DynamicRecursiveASTVisitor.h"
#include "clang/AST/ExprCXX.h"
#include <set>

using namespace clang;

namespace rcache {
namespace {

/// What is stored to elements of one array.
struct Store {
  const VarDecl *Array;
  const Expr *Value; ///< null: the element times or by something
};

class UseFinder : public ConstDynamicRecursiveASTVisitor {
public:
  UseFinder(const FunctionDecl *FD, KernelModel &M, FlatText &Flat,
            const Locals &L)
      : FD(FD), AC(FD->getASTContext()), M(M), Flat(Flat), L(L), Walk(L, FD) {}

  std::vector<Store> Stores;
  std::set<unsigned> Constants;  ///< arrays that begin with numbers, all of their statement
  std::set<unsigned> OfLanguage; ///< constexpr
  std::set<unsigned> Unlisted;   ///< that begin with a string
  std::set<unsigned> UsedWhole;  ///< for no other reason an array stays

  bool TraversePseudoObjectExpr(const PseudoObjectExpr *) override {
    return true; // threadIdx and the like
  }
  bool TraverseLambdaExpr(const LambdaExpr *E) override {
    ++Lambdas;
    const bool Go = ConstDynamicRecursiveASTVisitor::TraverseLambdaExpr(E);
    --Lambdas;
    return Go;
  }

  bool VisitLabelStmt(const LabelStmt *S) override {
    Labelled.insert(S->getSubStmt());
    return true;
  }
  bool VisitDeclStmt(const DeclStmt *D) override {
    for (const Decl *X : D->decls())
      if (auto *V = dyn_cast<VarDecl>(X); V && isPrivateArray(V))
        add(V, D);
      else if (V && V->getType()->isLValueReferenceType() && V->getInit() && !Lambdas &&
               isOneVariable(V, FD->getBody()))
        if (const VarDecl *Of = element(withoutConst(V->getInit())))
          Named[V] = Of;
    return true;
  }
  bool VisitImplicitCastExpr(const ImplicitCastExpr *E) override {
    if (E->getCastKind() == CK_LValueToRValue)
      read(E->getSubExpr());
    return true;
  }
  bool VisitBinaryOperator(const BinaryOperator *E) override {
    if (!E->isAssignmentOp())
      return true;
    const VarDecl *V = elementOrName(E->getLHS());
    if (V) {
      if (E->getOpcode() == BO_Assign)
        Stores.push_back({V, E->getRHS()});
      else if (E->getOpcode() == BO_MulAssign || E->getOpcode() == BO_DivAssign)
        Stores.push_back({V, nullptr});
    }
    return true;
  }
  bool VisitUnaryOperator(const UnaryOperator *E) override {
    if (!E->isIncrementDecrementOp())
      return true;
    const VarDecl *V = elementOrName(E->getSubExpr());
    if (V && takenNotToWrap(E->getType()))
      stays(V, DeclineCode::PrivateUse, WrapsNot, E->getBeginLoc());
    return true;
  }
  bool VisitCallExpr(const CallExpr *E) override {
    const FunctionDecl *F = E->getDirectCallee();
    if (!F || !F->hasBody() || isSystemFunction(F))
      return true;
    for (const Expr *A : E->arguments())
      if (auto *R = dyn_cast<DeclRefExpr>(A->IgnoreParenImpCasts()))
        if (auto *V = dyn_cast<VarDecl>(R->getDecl()); V && Index.count(V))
          M.Privates[Index.lookup(V)].Handed = true;
    if (!isa<CXXMethodDecl>(F))
      byReference(E, F);
    return true;
  }
  bool VisitCXXConstructExpr(const CXXConstructExpr *E) override {
    if (E->getConstructor()->isCopyOrMoveConstructor() &&
        E->getConstructor()->isTrivial() && E->getNumArgs() == 1)
      element(E->getArg(0)->IgnoreImpCasts());
    return true;
  }
  bool VisitCXXOperatorCallExpr(const CXXOperatorCallExpr *E) override {
    const FunctionDecl *F = E->getDirectCallee();
    if (E->getOperator() != OO_Equal || !F || !F->isTrivial() ||
        E->getNumArgs() != 2)
      return true;
    element(E->getArg(1)->IgnoreImpCasts());
    const VarDecl *V = elementOrName(E->getArg(0)->IgnoreImpCasts());
    if (V)
      Stores.push_back({V, E->getArg(1)});
    return true;
  }
  bool VisitDeclRefExpr(const DeclRefExpr *E) override {
    if (auto *V = dyn_cast<VarDecl>(E->getDecl()); V && Index.count(V)) {
      Mentions.push_back(E);
      if (Lambdas)
        InLambdas.insert(E);
    }
    return true;
  }

  /// Whatever names an array and is no element keeps it where it is.
  void finish() {
    for (const DeclRefExpr *E : Mentions)
      if (!Elements.contains(E) || InLambdas.contains(E)) {
        PrivateArray &A = M.Privates[Index.lookup(cast<VarDecl>(E->getDecl()))];
        if (!A.Stays && !InLambdas.contains(E))
          UsedWhole.insert(A.Var);
        else if (InLambdas.contains(E))
          UsedWhole.erase(A.Var);
        stays(cast<VarDecl>(E->getDecl()), DeclineCode::PrivateUse,
              InLambdas.contains(E) ? "a lambda uses '" + name(E) + "'"
                                    : "'" + name(E) +
                                          "' is used whole, by its "
                                          "address or by a reference",
              E->getBeginLoc());
      }
    for (PrivateArray &A : M.Privates) {
      llvm::sort(A.Uses, [](const auto &X, const auto &Y) {
        return X.Range.Begin < Y.Range.Begin;
      });
      // Text that this instantiation leaves out names it as well.
      if (M.IsTemplate && mentions(M.Vars[A.Var].Name) != A.Uses.size() + 1 &&
          !A.Stays)
        A.Stays = Decline{DeclineCode::PrivateUse,
                          "'" + M.Vars[A.Var].Name +
                              "' stands in text that this instantiation leaves "
                              "out, or another '" +
                              M.Vars[A.Var].Name + "' does",
                          A.Pos};
    }
  }

  /// A table of constants? One whose elements are const is a table whoever gets it.
  void judgeTable(PrivateArray &A) const {
    const Var &V = M.Vars[A.Var];
    const bool Whole = A.Stays && A.ConstElements && UsedWhole.count(A.Var);
    A.Table = A.HasInit && Constants.count(A.Var) && (!A.Stays || Whole) &&
              (A.ConstElements || (!V.Assigned && !V.AddressTaken));
    if (A.Table)
      A.Stays.reset();
    else if (!A.Stays && (OfLanguage.count(A.Var) || Unlisted.count(A.Var)))
      A.Stays = Decline{DeclineCode::PrivateUse,
                        "'" + V.Name + "' " +
                            (Unlisted.count(A.Var) ? Unlist : "is a constant of the language"),
                        A.Pos};
  }
  bool isTable(const VarDecl *V) const { return M.Privates[Index.lookup(V)].Table; }

  void stays(const VarDecl *V, DeclineCode Code, std::string Detail,
             SourceLocation At) {
    PrivateArray &A = M.Privates[Index.lookup(V)];
    if (!A.Stays)
      A.Stays = Decline{Code, std::move(Detail),
                        sourcePos(AC.getSourceManager(), At)};
  }

private:
  static constexpr const char *Unlist = "has an initialiser that gives no value for each element";

  static std::string name(const DeclRefExpr *E) {
    return E->getDecl()->getNameAsString();
  }

  bool isPrivateArray(const VarDecl *V) const {
    return V->hasLocalStorage() && !isSharedVar(V) &&
           V->getType()->isConstantArrayType() && L.varIndex(V) >= 0;
  }

  void add(const VarDecl *V, const DeclStmt *D) {
    if (!Index.try_emplace(V, M.Privates.size()).second)
      return;
    const QualType T = AC.getBaseElementType(V->getType());
    PrivateArray A;
    A.Var = static_cast<unsigned>(L.varIndex(V));
    PrintingPolicy P(AC.getLangOpts());
    A.CanonicalType = T.getCanonicalType().getUnqualifiedType().getAsString(P);
    A.Pos = sourcePos(AC.getSourceManager(), V->getLocation());
    A.HasInit = V->hasInit() && !isTrivialInit(V->getInit());
    A.ConstElements = T.isConstQualified();
    A.IsRecord = T->isRecordType();
    if (V->isConstexpr())
      OfLanguage.insert(A.Var);
    if (areConstants(D))
      Constants.insert(A.Var);
    if (!T->isIncompleteType() && !T->isDependentType())
      A.ElemBytes =
          static_cast<unsigned>(AC.getTypeSizeInChars(T).getQuantity());
    M.Privates.push_back(std::move(A));
    auto Keep = [&](const char *Why) {
      stays(V, DeclineCode::PrivateUse, "'" + V->getNameAsString() + "' " + Why,
            V->getLocation());
    };
    if (Labelled.contains(D)) // nvcc takes `__shared__` for the label's
      Keep("is declared behind a label");
    else if (!declarators(V, D))
      Keep("is declared together with others");
    else if (M.Vars[M.Privates.back().Var].DeclRange.empty() ||
             !standsInBlock(M.Vars[M.Privates.back().Var]))
      Keep("is declared where no statement can stand");
    else if (T.isVolatileQualified())
      Keep("is volatile");
    else if (V->hasAttrs())
      Keep("has attributes");
    else if (standsAround(T))
      Keep("has elements whose type stands around the name");
    else if (!T.isTriviallyCopyableType(AC) || hasNoName(T) ||
             (T->isRecordType() &&
              !T->getAsCXXRecordDecl()->hasTrivialDefaultConstructor()))
      Keep("has elements that functions make or copy, or whose type has no "
           "name");
    else if (D->isSingleDecl() && M.Privates.back().HasInit && !initial(V)) {
      if (Constants.count(M.Privates.back().Var)) // "ACGT"
        Unlisted.insert(M.Privates.back().Var);
      else
        Keep(Unlist);
    }
  }

  /// Fills Declarators. False: they cannot be told apart, or there are several
  /// and the array's values belong between theirs.
  bool declarators(const VarDecl *V, const DeclStmt *D) {
    PrivateArray &A = M.Privates[Index.lookup(V)];
    unsigned From = M.Vars[A.Var].DeclRange.Begin;
    for (const Decl *X : D->decls()) {
      auto Range =
          isa<VarDecl>(X) ? Flat.outerRange(X->getSourceRange()) : std::nullopt;
      if (!A.Declarators.empty()) { // the comma
        const size_t Comma = M.Text.find_first_not_of(" \t\n", From);
        if (Comma == std::string::npos || M.Text[Comma] != ',')
          return false;
        From =
            static_cast<unsigned>(M.Text.find_first_not_of(" \t\n", Comma + 1));
      }
      if (!Range || Range->End <= From)
        return false;
      if (X == V)
        A.Declarator = static_cast<unsigned>(A.Declarators.size());
      A.Declarators.push_back({From, Range->End});
      From = Range->End;
    }
    return D->isSingleDecl() || !A.HasInit || Constants.count(A.Var) ||
           (initial(V) && A.Init.empty());
  }

  /// `int (*a[2])[4]`, `int (*a[2])(int)`
  static bool standsAround(QualType T) {
    while (const auto *Of = T->getAs<PointerType>())
      T = Of->getPointeeType();
    return T->isArrayType() || T->isFunctionType() || T->isMemberPointerType();
  }

  static bool hasNoName(QualType T) {
    const TagDecl *D = T->getAsTagDecl();
    return D && isUnnamed(D);
  }

  /// Does nothing: elements of a class whose constructor is trivial.
  static bool isTrivialInit(const Expr *E) {
    auto *C = dyn_cast<CXXConstructExpr>(E);
    return C && C->getConstructor()->isTrivial() && !C->getNumArgs();
  }

  /// A declaration in braces may become several statements.
  bool standsInBlock(const Var &X) const {
    const int Parent = M.stmt(X.DeclStmt).Parent;
    return M.stmt(X.DeclStmt).K == Stmt::Decl && Parent >= 0 &&
           M.stmt(static_cast<unsigned>(Parent)).K == Stmt::Block;
  }

  /// Fills Init from the initialiser; false: it has another form.
  bool initial(const VarDecl *V) {
    auto *List = dyn_cast<InitListExpr>(V->getInit()->IgnoreImplicit());
    int64_t Next = 0;
    return List && given(V, List, V->getType(), Next);
  }

  bool given(const VarDecl *V, const Expr *E, QualType T, int64_t &Next) {
    PrivateArray &A = M.Privates[Index.lookup(V)];
    if (const ConstantArrayType *Of = AC.getAsConstantArrayType(T)) {
      const auto *List =
          E ? dyn_cast<InitListExpr>(E->IgnoreImplicit()) : nullptr;
      if (E && !List && !isa<ImplicitValueInitExpr>(E))
        return false; // a string
      const QualType Each = Of->getElementType();
      for (uint64_t I = 0; I < Of->getSize().getZExtValue(); ++I)
        if (!given(V,
                   List && I < List->getNumInits() ? List->getInit(I) : nullptr,
                   Each, Next))
          return false;
      return true;
    }
    const int64_t Element = Next++;
    if (!E || isa<ImplicitValueInitExpr>(E))
      return true;
    auto Text = Flat.range(E->getSourceRange());
    if (!Text)
      return false;
    const auto *Members = dyn_cast<InitListExpr>(E->IgnoreImplicit());
    // (An implicit list has places of braces, those of its first and last initialiser.)
    A.Init.push_back({Element, *Text, Members && !Members->getSyntacticForm()});
    Stores.push_back({V, E});
    return true;
  }

  static constexpr const char *WrapsNot =
      "nvcc takes '++' of a signed char or short never to wrap, as long as nobody else has it; "
      "'+= 1' may wrap";

  /// Does nvcc (13.0) take a \p T that is counted up for a number beyond its range? What it
  /// has in a register is compared as it stands; what comes back from memory has wrapped.
  static bool takenNotToWrap(QualType T) {
    const auto *B = T->getAs<BuiltinType>();
    return B && B->isSignedInteger() && B->getKind() < BuiltinType::Int;
  }
  static bool countsInPlace(const FunctionDecl *F) {
    struct Finder : ConstDynamicRecursiveASTVisitor {
      bool Found = false;
      bool VisitUnaryOperator(const UnaryOperator *E) override {
        return !(Found |= E->isIncrementDecrementOp() && takenNotToWrap(E->getType()));
      }
      bool VisitCallExpr(const CallExpr *E) override {
        return !(Found = true);
      }
    } X;
    if (const FunctionDecl *Def = bodyOf(F))
      X.TraverseStmt(Def->getBody());
    return X.Found;
  }

  /// What `const T &` is bound to.
  static const Expr *withoutConst(const Expr *E) {
    E = E->IgnoreParens();
    const auto *Cast = dyn_cast<ImplicitCastExpr>(E);
    return Cast && Cast->getCastKind() == CK_NoOp ? Cast->getSubExpr() : E;
  }

  /// Elements that \p F gets by reference, which it may set to whatever else it gets.
  void byReference(const CallExpr *E, const FunctionDecl *F) {
    for (unsigned I = 0; I < F->getNumParams() && I < E->getNumArgs(); ++I) {
      const QualType T = F->getParamDecl(I)->getType();
      if (!T->isLValueReferenceType() || !isOneVariable(F, I))
        continue;
      const VarDecl *V = elementOrName(withoutConst(E->getArg(I)));
      if (!V || T->getPointeeType().isConstQualified())
        continue;
      if (computesNumbers(F))
        Stores.push_back({V, nullptr});
      if (takenNotToWrap(T->getPointeeType()) && countsInPlace(F))
        stays(V, DeclineCode::PrivateUse, WrapsNot, E->getBeginLoc());
      for (const Expr *A : E->arguments())
        Stores.push_back({V, A});
    }
  }

  /// element(), also by a reference that is another name of one.
  const VarDecl *elementOrName(const Expr *E) {
    const VarDecl *V = element(E);
    return V ? V : Named.lookup(rootVariable(E));
  }

  /// One array that begins with numbers, or several that are const.
  bool areConstants(const DeclStmt *D) const {
    return llvm::all_of(D->decls(), [&](const Decl *X) {
      const auto *V = dyn_cast<VarDecl>(X);
      return V && V->getType()->isConstantArrayType() && V->getInit() &&
             (V->isConstexpr() || isConstantText(V->getInit())) &&
             (D->isSingleDecl() ||
              AC.getBaseElementType(V->getType()).isConstQualified());
    });
  }

  /// Numbers, and what is computed of them where any compiler does: what a static variable
  /// may begin with.
  bool isConstantText(const Expr *E) const {
    E = E->IgnoreParens();
    if (const auto *Full = dyn_cast<ConstantExpr>(E))
      return isConstantText(Full->getSubExpr());
    if (const auto *Named = dyn_cast<SubstNonTypeTemplateParmExpr>(E))
      return isConstantText(Named->getReplacement());
    if (isa<IntegerLiteral, FloatingLiteral, CharacterLiteral, CXXBoolLiteralExpr,
            StringLiteral, ImplicitValueInitExpr>(E))
      return true;
    if (const auto *Cast = dyn_cast<CastExpr>(E))
      return Cast->getType()->isArithmeticType() && isConstantText(Cast->getSubExpr());
    if (const auto *U = dyn_cast<UnaryOperator>(E))
      return (U->getOpcode() == UO_Minus || U->getOpcode() == UO_Plus ||
              U->getOpcode() == UO_Not) &&
             isConstantText(U->getSubExpr());
    if (const auto *B = dyn_cast<BinaryOperator>(E))
      return !B->isAssignmentOp() && B->getOpcode() != BO_Comma && isNormal(B) &&
             isConstantText(B->getLHS()) && isConstantText(B->getRHS());
    if (const auto *List = dyn_cast<InitListExpr>(E))
      return llvm::all_of(List->inits(), [&](const Expr *X) { return isConstantText(X); });
    return isa<DeclRefExpr>(E) && E->getType()->isIntegralOrEnumerationType() &&
           E->isIntegerConstantExpr(AC);
  }

  /// Integers, and numbers that no way of rounding or flushing makes others.
  bool isNormal(const Expr *E) const {
    Expr::EvalResult R;
    if (!E->EvaluateAsRValue(R, AC) || R.HasSideEffects)
      return false;
    return R.Val.isInt() || (R.Val.isFloat() && R.Val.getFloat().isNormal());
  }

  /// \p E is read, or one of the places that it may be.
  void read(const Expr *E) {
    E = E->IgnoreParens();
    if (auto *C = dyn_cast<ConditionalOperator>(E)) {
      read(C->getTrueExpr());
      read(C->getFalseExpr());
    } else if (auto *B = dyn_cast<BinaryOperator>(E);
               B && B->getOpcode() == BO_Comma) {
      read(B->getRHS());
    } else {
      element(E);
    }
  }

  /// Is an element of a private array in \p E, or in what a variable there is set to for good?
  bool namesElement(const clang::Stmt *E) const {
    if (const auto *Ref = dyn_cast_or_null<DeclRefExpr>(E)) {
      const auto *V = dyn_cast<VarDecl>(Ref->getDecl());
      const int I = V ? L.varIndex(V) : -1;
      return I >= 0 && V->getInit() && !M.Vars[static_cast<unsigned>(I)].Assigned &&
             !Index.count(V) && !namesItself(V) && namesElement(V->getInit());
    }
    if (const auto *S = dyn_cast_or_null<ArraySubscriptExpr>(E))
      if (const auto *Ref = dyn_cast<DeclRefExpr>(S->getBase()->IgnoreParenImpCasts()))
        if (const auto *V = dyn_cast<VarDecl>(Ref->getDecl()); V && Index.count(V))
          return true;
    return E && llvm::any_of(E->children(),
                             [&](const clang::Stmt *C) { return namesElement(C); });
  }

  /// `int i = i + 1;`: is \p V in its own initialiser?
  static bool namesItself(const VarDecl *V) {
    llvm::SmallVector<const clang::Stmt *, 8> Left = {V->getInit()};
    while (!Left.empty()) {
      const clang::Stmt *E = Left.pop_back_val();
      if (const auto *Ref = dyn_cast_or_null<DeclRefExpr>(E); Ref && Ref->getDecl() == V)
        return true;
      if (E)
        Left.append(E->child_begin(), E->child_end());
    }
    return false;
  }

  /// Notes \p E if it is an element of an array or a member of one; the array.
  const VarDecl *element(const Expr *E) {
    llvm::SmallVector<const ArraySubscriptExpr *, 4> Subs; // outermost first
    for (E = E->IgnoreParens();;) {
      if (auto *Member = dyn_cast<MemberExpr>(E);
          Member && !Member->isArrow()) {
        Subs.clear();
        E = Member->getBase()->IgnoreParens();
      } else if (auto *S = dyn_cast<ArraySubscriptExpr>(E);
                 S && S->getBase()
                          ->IgnoreParenImpCasts()
                          ->getType()
                          ->isArrayType()) {
        Subs.push_back(S);
        E = S->getBase()->IgnoreParenImpCasts();
      } else {
        break;
      }
    }
    auto *Ref = dyn_cast<DeclRefExpr>(E);
    auto *V = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
    if (!V || !Index.count(V))
      return nullptr;
    PrivateArray &A = M.Privates[Index.lookup(V)];
    if (Subs.size() != M.Vars[A.Var].ArrayExtents.size())
      return nullptr; // a row
    if (!Elements.insert(Ref).second)
      return V;
    PrivateArray::Use U;
    const std::vector<int64_t> &Extents = M.Vars[A.Var].ArrayExtents;
    for (size_t D = 0; D < Subs.size(); ++D) {
      const Expr *At = Subs[Subs.size() - 1 - D]->getIdx();
      if (!(L.depends(At) & (DepThread | DepShared)))
        continue;
      U.ByThread = true;
      // (What a list of the thread's own says, `a[pivot[i]]`, is the same place in most: 2.1x
      // was measured where 13x was predicted.)
      if (!Walk.alike(At))
        U.Apart *= namesElement(At) ? std::min<int64_t>(2, Extents[D]) : Extents[D];
    }
    if (auto Range = Flat.range(Subs.front()->getSourceRange())) {
      U.Range = *Range;
      U.Stmt = statementAround(*Range);
      A.Uses.push_back(U);
    } else {
      stays(V, DeclineCode::PrivateUse,
            "a macro names '" + V->getNameAsString() + "'", Ref->getBeginLoc());
    }
    return V;
  }

  unsigned statementAround(TextRange R) const {
    unsigned Best = 0;
    for (const Stmt &S : M.Stmts)
      if (S.Range.contains(R) && M.stmt(Best).Range.contains(S.Range))
        Best = S.Id;
    return Best;
  }

  /// How often the body names \p Name.
  size_t mentions(const std::string &Name) const {
    size_t N = 0;
    auto IsWord = [&](size_t At) {
      return At < M.Text.size() &&
             isNameChar(M.Text[At]);
    };
    for (size_t At = M.Text.find(Name, M.BodyRange.Begin); At < M.BodyRange.End;
         At = M.Text.find(Name, At + 1))
      N += !IsWord(At - 1) && !IsWord(At + Name.size());
    return N;
  }

  const FunctionDecl *FD;
  ASTContext &AC;
  KernelModel &M;
  FlatText &Flat;
  const Locals &L;
  const Walkers Walk;
  llvm::DenseMap<const VarDecl *, const VarDecl *> Named; ///< references: their arrays
  llvm::DenseMap<const VarDecl *, unsigned> Index; ///< in M.Privates
  std::vector<const DeclRefExpr *> Mentions;
  llvm::SmallPtrSet<const DeclRefExpr *, 16> Elements, InLambdas;
  llvm::SmallPtrSet<const clang::Stmt *, 4> Labelled;
  unsigned Lambdas = 0;
};

} // namespace

void findPrivateArrays(const FunctionDecl *FD, KernelModel &M, FlatText &Flat,
                       const Locals &L) {
  UseFinder F(FD, M, Flat, L);
  F.TraverseStmt(FD->getBody());
  F.finish();
  if (M.Privates.empty())
    return;
  for (PrivateArray &A : M.Privates)
    F.judgeTable(A);
  const StoredProducts Products(FD, M, L);
  for (const Store &S : F.Stores) {
    const QualType T =
        FD->getASTContext().getBaseElementType(S.Array->getType());
    if (!F.isTable(S.Array) && holdsFloats(T) && (!S.Value || Products.mayBe(S.Value)))
      F.stays(S.Array, DeclineCode::PrivateProducts,
              "'" + S.Array->getNameAsString() + "'",
              S.Value ? S.Value->getBeginLoc() : S.Array->getLocation());
  }
}

} // namespace rcache
