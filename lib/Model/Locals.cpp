// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One walk collects names and their occurrences; a second one, repeated until
// nothing changes, lets dependences flow along assignments (Dependences.cpp).

#include "Locals.h"
#include "ForNumbers.h"
#include "DeclName.h"
#include "BuiltinVars.h"
#include "Effects.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/DynamicRecursiveASTVisitor.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/StmtCXX.h"
#include "clang/AST/TypeLoc.h"
#include "clang/Basic/SourceManager.h"
#include <map>
#include <set>

using namespace clang;

namespace rcache {

bool isSharedVar(const VarDecl *V) { return V && V->hasAttr<CUDASharedAttr>(); }

llvm::StringSet<> Locals::anchorNames(const FunctionDecl *FD) {
  struct Names : ConstDynamicRecursiveASTVisitor {
    llvm::StringSet<> Set;
    bool VisitVarDecl(const VarDecl *V) override {
      if (V->getIdentifier())
        Set.insert(V->getName());
      return true;
    }
    bool VisitDeclRefExpr(const DeclRefExpr *E) override {
      if (auto *V = dyn_cast<VarDecl>(E->getDecl()))
        if (isSharedVar(V) && V->getIdentifier())
          Set.insert(V->getName());
      if (auto *F = dyn_cast<FunctionDecl>(E->getDecl()))
        if (F->getIdentifier() &&
            classifyCall(F, nullptr).Kind != CallKind::Harmless)
          Set.insert(F->getName());
      return true;
    }
    bool VisitCXXMemberCallExpr(const CXXMemberCallExpr *E) override {
      if (auto *F = E->getMethodDecl(); F && F->getIdentifier())
        Set.insert(F->getName());
      return true;
    }
  } V;
  V.TraverseStmt(FD->getBody());
  for (const ParmVarDecl *P : FD->parameters())
    if (P->getIdentifier())
      V.Set.insert(P->getName());
  if (FD->getIdentifier())
    V.Set.insert(FD->getName());
  for (const char *N : {"threadIdx", "blockIdx", "blockDim", "gridDim"})
    V.Set.insert(N);
  return V.Set;
}

/// Collects occurrences in the kernel's own body.
class LocalsVisitor : public ConstDynamicRecursiveASTVisitor {
public:
  LocalsVisitor(Locals &L, const clang::Stmt *Body)
      : L(L), ForNumbers(namesForNumbers(Body, L.AC)) {}

  bool TraversePseudoObjectExpr(const PseudoObjectExpr *E) override {
    if (auto B = builtinVar(E))
      use(*B, E->getSourceRange());
    return true; // its parts are not in the text
  }
  bool TraverseLambdaExpr(const LambdaExpr *E) override {
    // An array that it refers to has more names than its own.
    for (const LambdaCapture &C : E->captures())
      if (C.capturesVariable() && C.getCaptureKind() == LCK_ByRef &&
          C.getCapturedVar()->getType()->isArrayType())
        if (auto *V = dyn_cast<VarDecl>(C.getCapturedVar()))
          if (int I = L.varIndex(V); I >= 0)
            L.M.Vars[I].AddressTaken = true;
    return true;
  }
  bool VisitCXXForRangeStmt(const CXXForRangeStmt *S) override {
    if (S->getLoopVariable()->getType()->isReferenceType())
      markAddress(S->getRangeInit());
    return true;
  }

  bool VisitDeclStmt(const DeclStmt *D) override {
    for (const Decl *X : D->decls())
      if (auto *V = dyn_cast<VarDecl>(X)) {
        if (isSharedVar(V))
          L.addArray(V, D);
        else
          L.addVar(V, D);
      }
    return true;
  }

  bool VisitDeclRefExpr(const DeclRefExpr *E) override {
    if (auto B = builtinVar(E)) {
      use(*B, E->getSourceRange());
      return true;
    }
    auto *V = dyn_cast<VarDecl>(E->getDecl());
    if (!V)
      return true;
    if (isSharedVar(V)) {
      L.addArray(V, nullptr);
      return true;
    }
    int I = L.varIndex(V);
    if (I < 0)
      return true;
    VarUse U;
    U.Var = I;
    U.Range = L.Flat.range(E->getSourceRange()).value_or(TextRange());
    U.Write = Writes.contains(E);
    U.ForNumbers = ForNumbers.contains(E);
    L.M.VarUses.push_back(U);
    return true;
  }

  std::vector<const Expr *> Divisors; ///< of integers, no constants

  bool VisitBinaryOperator(const BinaryOperator *E) override {
    if (E->isAssignmentOp())
      markWrite(E->getLHS());
    if ((E->isMultiplicativeOp() && E->getOpcode() != BO_Mul) ||
        E->getOpcode() == BO_DivAssign || E->getOpcode() == BO_RemAssign)
      if (E->getRHS()->getType()->isIntegerType() &&
          E->getType()->isIntegerType() &&
          !E->getRHS()->isIntegerConstantExpr(L.AC))
        Divisors.push_back(E->getRHS());
    return true;
  }
  bool VisitUnaryOperator(const UnaryOperator *E) override {
    if (E->isIncrementDecrementOp())
      markWrite(E->getSubExpr());
    else if (E->getOpcode() == UO_AddrOf)
      markAddress(E->getSubExpr());
    return true;
  }
  bool VisitCXXOperatorCallExpr(const CXXOperatorCallExpr *E) override {
    const FunctionDecl *F = E->getDirectCallee();
    if (!F || !E->getNumArgs())
      return true;
    auto *Method = dyn_cast<CXXMethodDecl>(F);
    const bool Member = Method && Method->isInstance();
    for (unsigned I = 0; I < F->getNumParams() && I + Member < E->getNumArgs();
         ++I)
      bindTo(F->getParamDecl(I)->getType(), E->getArg(I + Member));
    if (E->isAssignmentOp() || E->getOperator() == OO_PlusPlus ||
        E->getOperator() == OO_MinusMinus) {
      markWrite(E->getArg(0));
    } else if (Member && !Method->isConst()) {
      markWrite(E->getArg(0));
      markAddress(E->getArg(0));
    }
    return true;
  }
  bool VisitImplicitCastExpr(const ImplicitCastExpr *E) override {
    // An array that decays outside a subscript: its address goes somewhere.
    if (E->getCastKind() == CK_ArrayToPointerDecay && !Subscripted.contains(E))
      markAddress(E->getSubExpr());
    return true;
  }
  bool VisitArraySubscriptExpr(const ArraySubscriptExpr *E) override {
    Subscripted.insert(E->getBase()->IgnoreParens());
    return true;
  }
  bool VisitCallExpr(const CallExpr *E) override {
    const FunctionDecl *F = E->getDirectCallee();
    if (!F || isa<CXXOperatorCallExpr>(E))
      return true;
    if (const VarDecl *V = sharedAccessor(F))
      L.addArray(V, nullptr);
    for (unsigned I = 0; I < E->getNumArgs() && I < F->getNumParams(); ++I)
      bindTo(F->getParamDecl(I)->getType(), E->getArg(I));
    if (auto *C = dyn_cast<CXXMemberCallExpr>(E))
      if (C->getMethodDecl() && !C->getMethodDecl()->isConst())
        markWrite(C->getImplicitObjectArgument());
    return true;
  }
  bool VisitCXXConstructExpr(const CXXConstructExpr *E) override {
    for (unsigned I = 0;
         I < E->getNumArgs() && I < E->getConstructor()->getNumParams(); ++I)
      bindTo(E->getConstructor()->getParamDecl(I)->getType(), E->getArg(I));
    return true;
  }
  /// Visited as it is written: what is made of the words in braces (an array that
  /// decays, a constructor, a conversion) stands in the other form alone.
  bool VisitInitListExpr(const InitListExpr *E) override {
    const InitListExpr *Made = E->isSemanticForm() ? E : E->getSemanticForm();
    if (Made)
      for (const Expr *X : Made->inits())
        visitMade(X);
    return true;
  }
  bool VisitVarDecl(const VarDecl *V) override {
    if (V->getInit() && V->getType()->isReferenceType())
      markAddress(V->getInit());
    return true;
  }
  bool VisitGCCAsmStmt(const GCCAsmStmt *S) override {
    for (unsigned I = 0; I < S->getNumOutputs(); ++I)
      markWrite(S->getOutputExpr(I));
    return true;
  }

private:
  void visitMade(const Expr *X) {
    while (X) {
      if (auto *C = dyn_cast<ImplicitCastExpr>(X)) {
        VisitImplicitCastExpr(C);
        X = C->getSubExpr();
      } else if (auto *F = dyn_cast<FullExpr>(X)) {
        X = F->getSubExpr();
      } else if (auto *T = dyn_cast<MaterializeTemporaryExpr>(X)) {
        X = T->getSubExpr();
      } else if (auto *B = dyn_cast<CXXBindTemporaryExpr>(X)) {
        X = B->getSubExpr();
      } else if (auto *Call = dyn_cast<CXXMemberCallExpr>(X)) {
        VisitCallExpr(Call);
        X = Call->getImplicitObjectArgument();
      } else if (auto *New = dyn_cast<CXXConstructExpr>(X)) {
        VisitCXXConstructExpr(New);
        X = New->getNumArgs() == 1 ? New->getArg(0) : nullptr;
      } else {
        return;
      }
    }
  }
  void use(BuiltinRef B, SourceRange R) {
    BuiltinUse U;
    U.K = B.K;
    U.Axis = B.Axis;
    U.Range = L.Flat.range(R).value_or(TextRange());
    // `(threadIdx.x)` is one property for clang, parentheses and all.
    const auto Bare = [](char C) { return C != '(' && C != ')' && !isspace(C); };
    const std::string &T = L.M.Text;
    while (U.Range.Begin < U.Range.End && !Bare(T[U.Range.Begin]))
      ++U.Range.Begin;
    while (U.Range.Begin < U.Range.End && !Bare(T[U.Range.End - 1]))
      --U.Range.End;
    L.M.Builtins.push_back(U);
  }
  void bindTo(QualType Param, const Expr *Arg) {
    if (Param->isLValueReferenceType() &&
        !Param->getPointeeType().isConstQualified()) {
      markWrite(Arg);
      markAddress(Arg);
    }
  }
  /// The parents are visited before their children, so the mark is there when
  /// the reference is reached; a declaration's index is there as well.
  void markWrite(const Expr *E) {
    const Expr *X = E->IgnoreParenImpCasts();
    while (true) {
      if (auto *Mem = dyn_cast<MemberExpr>(X); Mem && !Mem->isArrow())
        X = Mem->getBase()->IgnoreParenImpCasts();
      else if (auto *A = dyn_cast<ArraySubscriptExpr>(X);
               A &&
               A->getBase()->IgnoreParenImpCasts()->getType()->isArrayType())
        X = A->getBase()->IgnoreParenImpCasts();
      else
        break;
    }
    if (isa<DeclRefExpr>(X))
      Writes.insert(X);
    if (int I = L.varIndex(rootVariable(E)); I >= 0) {
      L.M.Vars[I].Assigned = true;
      return;
    }
    // `(c ? x : y) = v`, `*&x = v`: under another name.
    for (const VarDecl *V : placesOf(E, false).Vars)
      if (int I = L.varIndex(V); I >= 0)
        L.M.Vars[I].Assigned = L.M.Vars[I].AddressTaken = true;
  }
  void markAddress(const Expr *E) {
    for (const VarDecl *V : placesOf(E, false).Vars)
      if (int I = L.varIndex(V); I >= 0)
        L.M.Vars[I].AddressTaken = true;
  }

  Locals &L;
  llvm::SmallPtrSet<const Expr *, 32> Writes;
  const NamesForNumbers ForNumbers;
  llvm::SmallPtrSet<const Expr *, 32> Subscripted;
};

Locals::Locals(ASTContext &AC, KernelModel &M, FlatText &Flat,
               const FunctionDecl *FD)
    : AC(AC), M(M), Flat(Flat) {
  addParams(FD);
  LocalsVisitor V(*this, FD->getBody());
  V.TraverseStmt(FD->getBody());
  findElements(FD);
  findLaneExchanges(FD, Flat, M);
  M.Multiplies = multipliesNumbers(FD->getBody(), AC);
  for (const Expr *E : V.Divisors)
    if (auto R = Flat.range(E->getSourceRange()))
      M.Divisors.push_back(*R);
    else
      M.Divisors.push_back({0, ~0u}); // anywhere
  llvm::sort(M.VarUses, [](const VarUse &A, const VarUse &B) {
    return std::tie(A.Range.Begin, A.Var) < std::tie(B.Range.Begin, B.Var);
  });
  llvm::sort(M.Builtins, [](const BuiltinUse &A, const BuiltinUse &B) {
    return std::tie(A.Range.Begin, A.K) < std::tie(B.Range.Begin, B.K);
  });
  bool Changed = true;
  for (unsigned Round = 0; Changed && Round < 64; ++Round) {
    Changed = false;
    flowDepends(FD->getBody(), Changed);
  }
  if (Changed) // no fixed point in time: anything may depend on anything
    for (Var &X : M.Vars)
      X.Depends = ~0u & 255;
  keepProductsApart(FD, Flat, M);
  findRepeatable(FD);
  findHolders(FD);
}

//===----------------------------------------------------------------------===//
// Declarations
//===----------------------------------------------------------------------===//

static std::string canonical(ASTContext &AC, QualType T) {
  PrintingPolicy P(AC.getLangOpts());
  return T.getCanonicalType().getUnqualifiedType().getAsString(P);
}

/// The type of a declarator without its arrays, in words of the source where
/// these may name a template parameter.
std::string Locals::typeAsWritten(TypeLoc TL, QualType T) const {
  PrintingPolicy P(AC.getLangOpts());
  if (!TL)
    return T.getUnqualifiedType().getAsString(P);
  if (auto Q = TL.getAs<QualifiedTypeLoc>())
    return typeAsWritten(Q.getUnqualifiedLoc(), T.getUnqualifiedType());
  if (auto A = TL.getAs<ArrayTypeLoc>()) {
    if (T->isPointerType()) // a parameter `float a[]`
      return typeAsWritten(A.getElementLoc(), T->getPointeeType()) + " *";
    return typeAsWritten(A.getElementLoc(),
                         AC.getAsArrayType(T)->getElementType());
  }
  if (T->isPointerType() && T->getPointeeType()->isArrayType())
    return T.getUnqualifiedType().getAsString(P);
  if (auto Ptr = TL.getAs<PointerTypeLoc>()) {
    QualType Pointee = T->getPointeeType();
    std::string Cv = Pointee.getLocalQualifiers().getAsString(P);
    return (Cv.empty() ? "" : Cv + " ") +
           typeAsWritten(Ptr.getPointeeLoc(), Pointee) + " *";
  }
  if (TL.getAs<BuiltinTypeLoc>() || T->isReferenceType() ||
      T->isFunctionPointerType())
    return T.getUnqualifiedType().getAsString(P);
  if (TL.getAs<AutoTypeLoc>() || TL.getAs<DecltypeTypeLoc>() ||
      TL.getAs<TypeOfExprTypeLoc>())
    return canonical(AC, T);
  if (std::optional<TextRange> R = Flat.outerRange(TL.getSourceRange()))
    return M.text(*R);
  return T.getUnqualifiedType().getAsString(P);
}

std::string paramName(const ParmVarDecl *P, const std::string &Prefix) {
  return !P->getName().empty()
             ? P->getName().str()
             : Prefix + "unnamed_" + std::to_string(P->getFunctionScopeIndex());
}

void Locals::addParams(const FunctionDecl *FD) {
  PrintingPolicy P(AC.getLangOpts());
  for (const ParmVarDecl *D : FD->parameters()) {
    QualType T = D->getType();
    KernelParam K;
    K.Name = paramName(D, M.NamePrefix);
    K.CanonicalType = T.getCanonicalType().getUnqualifiedType().getAsString(P);
    K.Type = K.CanonicalType;
    std::optional<TextRange> All = Flat.outerRange(D->getSourceRange());
    std::optional<TextRange> Name = Flat.outerRange(D->getLocation());
    if (All && Name && All->contains(*Name) && !D->hasDefaultArg() &&
        !D->getOriginalType()->isArrayType() && !D->getName().empty() &&
        Name->End == All->End) {
      K.Type = M.text({All->Begin, Name->Begin});
      while (!K.Type.empty() &&
             isspace(static_cast<unsigned char>(K.Type.back())))
        K.Type.pop_back();
    }
    if (T->isPointerType()) {
      QualType Pointee = T->getPointeeType();
      K.IsPointer = true;
      K.IsRestrict = T.isRestrictQualified();
      K.PointeeConst = Pointee.isConstQualified();
      K.PointeeType = canonical(AC, Pointee);
      if (!Pointee->isIncompleteType() && !Pointee->isFunctionType() &&
          !Pointee->isDependentType())
        K.PointeeBytes = AC.getTypeSizeInChars(Pointee).getQuantity();
    }
    if (T->isIntegralOrEnumerationType() && !T->isDependentType()) {
      K.IsInteger = true;
      K.Bits = T->isBooleanType() ? 1 : AC.getIntWidth(T);
      K.Signed = T->isSignedIntegerOrEnumerationType();
    }
    ParamIndex[D] = M.Params.size();
    K.VarId = M.Vars.size();
    M.Params.push_back(K);

    Var V;
    V.Name = K.Name;
    V.Type = typeAsWritten(D->getTypeSourceInfo()
                               ? D->getTypeSourceInfo()->getTypeLoc()
                               : TypeLoc(),
                           T);
    V.IsParam = true;
    V.IsConst = T.isConstQualified();
    V.NameRange = Name.value_or(TextRange());
    V.DeclRange = All.value_or(TextRange());
    V.IsReference = T->isReferenceType();
    VarIndex[D] = M.Vars.size();
    M.Vars.push_back(V);
  }
}

/// Is \p T, or what it is an array of, an array by its name (`typedef int Row[8];`)?
static bool isNamedArray(const ASTContext &AC, QualType T) {
  while (const auto *A = dyn_cast<ArrayType>(T.getTypePtr()))
    T = A->getElementType();
  return AC.getAsArrayType(T) != nullptr;
}

void Locals::addVar(const VarDecl *D, const DeclStmt *S) {
  if (VarIndex.count(D))
    return;
  Var V;
  V.Name = D->getName();
  QualType T = D->getType();
  V.Type = typeAsWritten(
      D->getTypeSourceInfo() ? D->getTypeSourceInfo()->getTypeLoc() : TypeLoc(),
      T);
  // Verbatim, an unnamed type would be one more type, or no type at all, and the
  // name of an array's type would be an array of arrays.
  if (auto *Tag = AC.getBaseElementType(T)->getAsTagDecl();
      (Tag && isUnnamed(Tag)) || isNamedArray(AC, T) ||
      (D->getTypeSourceInfo() && isNamedArray(AC, D->getTypeSourceInfo()->getType())))
    V.Type = canonical(AC, AC.getBaseElementType(T));
  V.IsConst = T.isConstQualified() || D->isConstexpr();
  while (const ConstantArrayType *A = AC.getAsConstantArrayType(T)) {
    V.ArrayExtents.push_back(A->getSize().getSExtValue());
    T = A->getElementType();
  }
  V.NameRange = Flat.outerRange(D->getLocation()).value_or(TextRange());
  initForm(D, V);
  V.DeclRange = Flat.withSemi(S->getSourceRange()).value_or(TextRange());
  V.OnlyDeclarator = S->isSingleDecl();
  V.IsReference = D->getType()->isReferenceType();
  VarIndex[D] = M.Vars.size();
  M.Vars.push_back(V);
}

std::vector<unsigned> Locals::named(const clang::Stmt *S) const {
  std::vector<unsigned> Found;
  if (auto *R = dyn_cast_or_null<DeclRefExpr>(S))
    if (auto *V = dyn_cast<VarDecl>(R->getDecl()))
      if (int I = varIndex(V); I >= 0)
        Found.push_back(static_cast<unsigned>(I));
  if (S)
    for (const clang::Stmt *C : S->children())
      for (unsigned V : named(C))
        Found.push_back(V);
  return Found;
}

/// How \p D gets its value, and what another declaration of it takes.
void Locals::initForm(const VarDecl *D, Var &V) {
  QualType T = AC.getBaseElementType(D->getType());
  if (const CXXRecordDecl *R = T->getAsCXXRecordDecl()) {
    V.Expandable = isRemade(R, AC.getSourceManager());
    V.Expandable &= !R->isLocalClass() || R->getIdentifier();
  }
  // `float (*row)[64]`: the name stands inside its type.
  if (const QualType To = T.getNonReferenceType()->getPointeeType();
      !To.isNull())
    V.Expandable &= !To->isArrayType() && !To->isFunctionType();
  V.Expandable &= !isa<DecompositionDecl>(D) && !D->getName().empty() &&
                  !D->isStaticLocal();
  const Expr *I = D->getInit();
  if (!I)
    return;
  V.HasInit = true;
  if (D->isCXXForRangeDecl())
    return;
  auto Inside = [&](SourceRange Ends, bool WithEnds) {
    auto Open = Flat.range(SourceRange(Ends.getBegin()));
    auto Close = Flat.range(SourceRange(Ends.getEnd()));
    if (Open && Close && Open->End <= Close->Begin)
      V.InitRange = WithEnds ? TextRange{Open->Begin, Close->End}
                             : TextRange{Open->End, Close->Begin};
  };
  const Expr *Bare = I;
  while (auto *F = dyn_cast<FullExpr>(Bare))
    Bare = F->getSubExpr();
  auto *C = dyn_cast<CXXConstructExpr>(Bare);
  if (C && C->isListInitialization() && D->getInitStyle() != VarDecl::CInit) {
    V.Form = Var::Braces;
    return Inside(C->getParenOrBraceRange(), true);
  }
  if (C && D->getInitStyle() == VarDecl::CallInit) {
    const SourceRange Ends = C->getParenOrBraceRange();
    if (Ends.isInvalid()) { // `T v;`
      V.HasInit = C->getNumArgs() && !isa<CXXDefaultArgExpr>(C->getArg(0));
      return;
    }
    V.Form = Var::Parens;
    return Inside(Ends, false);
  }
  // `T v(f());` may convert where `T v = f();` does not.
  const Expr *Conversion = Bare->IgnoreImpCasts();
  if (auto *Mc = dyn_cast<CXXMemberCallExpr>(Conversion);
      Mc && D->getInitStyle() != VarDecl::CInit)
    if (auto *To = dyn_cast_or_null<CXXConversionDecl>(Mc->getMethodDecl());
        To && To->isExplicit())
      return;
  V.InitRange = Flat.range(I->getSourceRange()).value_or(TextRange());
}

/// The variable with that index in KernelModel::Vars.
const VarDecl *Locals::variable(int Index) const {
  for (const auto &[V, I] : VarIndex)
    if (static_cast<int>(I) == Index)
      return V;
  return nullptr;
}

void Locals::addArray(const VarDecl *D, const DeclStmt *S) {
  if (ArrayIndex.count(D))
    return;
  SharedArray A;
  A.Name = D->getName();
  QualType T = D->getType();
  A.Dynamic = D->hasExternalStorage() || T->isIncompleteArrayType();
  A.ElemType = typeAsWritten(
      D->getTypeSourceInfo() ? D->getTypeSourceInfo()->getTypeLoc() : TypeLoc(),
      T);
  A.Volatile = T.isVolatileQualified();
  if (A.Dynamic && T->isIncompleteArrayType()) {
    T = AC.getAsArrayType(T)->getElementType();
    A.Extents.push_back(std::nullopt);
  }
  while (const ArrayType *Arr = AC.getAsArrayType(T)) {
    if (auto *C = dyn_cast<ConstantArrayType>(Arr))
      A.Extents.push_back(C->getSize().getSExtValue());
    else
      A.Extents.push_back(std::nullopt);
    T = Arr->getElementType();
  }
  A.Volatile |= T.isVolatileQualified();
  A.CanonicalType = canonical(AC, T);
  if (isNamedArray(AC, D->getType())) // the name of an array, not of its elements
    A.ElemType = A.CanonicalType;
  if (!T->isIncompleteType() && !T->isDependentType())
    A.ElemBytes = AC.getTypeSizeInChars(T).getQuantity();
  if (!T->isDependentType())
    if (auto Members = membersOf(AC, T); !Members.empty())
      M.Structs[A.CanonicalType] = std::move(Members);
  A.Pos = sourcePos(AC.getSourceManager(), D->getLocation());
  A.AtFileScope = !S;
  if (S) {
    A.DeclRange = Flat.withSemi(S->getSourceRange()).value_or(TextRange());
    A.Alone = S->isSingleDecl();
    TextRange Name = Flat.outerRange(D->getLocation()).value_or(TextRange());
    TextRange All = Flat.outerRange(D->getSourceRange()).value_or(Name);
    A.DeclaratorRange = {Name.Begin, All.End};
  }
  ArrayIndex[D] = M.Arrays.size();
  M.Arrays.push_back(A);
}

} // namespace rcache
