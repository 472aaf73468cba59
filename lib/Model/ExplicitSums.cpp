// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See ExplicitSums.h: from the syntax tree to texts with holes. What this does not
// know is no text: the kernel is left out.

#include "rcache/ExplicitSums.h"
#include "Anchors.h"
#include "Effects.h"
#include "KernelWriter.h"
#include "ValueMaker.h"
#include "rcache/ModelBuilder.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/DynamicRecursiveASTVisitor.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Lex/Lexer.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSwitch.h"
#include <algorithm>
#include <map>
#include <set>

using namespace clang;

namespace rcache {

bool computesNumbers(const FunctionDecl *F, unsigned Depth) {
  struct Finder : ConstDynamicRecursiveASTVisitor {
    unsigned Depth;
    bool Found = false;
    explicit Finder(unsigned D) : Depth(D) {}
    bool VisitBinaryOperator(const BinaryOperator *B) override {
      return !(Found |= B->getType()->isRealFloatingType() && !B->isAssignmentOp());
    }
    bool VisitCompoundAssignOperator(const CompoundAssignOperator *B) override {
      return !(Found |= B->getType()->isRealFloatingType());
    }
    bool VisitCallExpr(const CallExpr *C) override {
      const FunctionDecl *G = C->getDirectCallee();
      Found |= !G || C->getType()->isRealFloatingType() || computesNumbers(G, Depth + 1);
      return !Found;
    }
    bool VisitGCCAsmStmt(const GCCAsmStmt *) override { return !(Found = true); }
  } X(Depth);
  const FunctionDecl *Body = bodyOf(F);
  if (Body && Depth > 4)
    return true;
  if (Body)
    X.TraverseStmt(Body->getBody());
  return X.Found;
}

namespace {

using Node = ExplicitSums::Node;
using Syntax = clang::Stmt;

bool isFloatOrDouble(QualType T) {
  const auto *B = T->getAs<BuiltinType>();
  return B && (B->getKind() == BuiltinType::Float || B->getKind() == BuiltinType::Double);
}

/// A function of the toolkit whose value is no product that could be fused: of arguments
/// that are none.
bool givesNoProduct(StringRef Name) {
  return passesOn(Name) || Name.starts_with("__shfl_") || Name.starts_with("atomic") ||
         llvm::StringSwitch<bool>(Name)
             .Cases({"sqrtf", "sqrt", "__fsqrt_rn", "__dsqrt_rn"}, true)
             .Cases({"abs", "__fmul_rn", "__dmul_rn"}, true)
             .Default(false);
}

/// What a kernel holds that no text here speaks of.
class Unknown : public ConstDynamicRecursiveASTVisitor {
public:
  bool Found = false;
  bool Open = false; ///< functions of the toolkit that may end in a product (expf)
  std::map<const VarDecl *, unsigned> Changed; ///< assignments, addresses taken
  llvm::StringMap<unsigned> Names;             ///< variables of each name

  bool VisitCallExpr(const CallExpr *C) override {
    const FunctionDecl *F = C->getDirectCallee();
    const bool Known = F && F->getIdentifier() && givesNoProduct(F->getName());
    const bool Ours = F && !isSystemFunction(F);
    Found |= !F || (Ours && computesNumbers(F));
    Open |= !Known && !Ours && isRealNumber(C->getType());
    for (const Expr *A : C->arguments())
      if (F && A->isGLValue())
        change(A);
    return !Found;
  }
  bool VisitLambdaExpr(const LambdaExpr *) override { return !(Found = true); }
  bool VisitCXXConstructExpr(const CXXConstructExpr *C) override {
    return !(Found |= computesNumbers(C->getConstructor()));
  }
  bool VisitVarDecl(const VarDecl *V) override {
    ++Names[V->getName()];
    if (V->getType()->isReferenceType() && V->getInit())
      change(V->getInit());
    return true;
  }
  bool VisitGCCAsmStmt(const GCCAsmStmt *) override { return !(Found = true); }
  bool VisitBinaryOperator(const BinaryOperator *B) override {
    if (B->isAssignmentOp())
      change(B->getLHS());
    // Half precision and other classes have operators that are calls.
    Found |= B->getType()->isRealFloatingType() && !isFloatOrDouble(B->getType());
    return !Found;
  }
  bool VisitUnaryOperator(const UnaryOperator *U) override {
    if (U->isIncrementDecrementOp() || U->getOpcode() == UO_AddrOf)
      change(U->getSubExpr());
    return true;
  }

private:
  static bool isRealNumber(QualType T) { return T.getNonReferenceType()->isRealFloatingType(); }
  void change(const Expr *E) {
    if (const auto *R = dyn_cast<DeclRefExpr>(E->IgnoreParenImpCasts()))
      if (const auto *V = dyn_cast<VarDecl>(R->getDecl()))
        ++Changed[V->getCanonicalDecl()];
  }
};

class SumFinder {
public:
  SumFinder(const FunctionDecl *Def, const KernelModel &M)
      : Def(Def), SM(Def->getASTContext().getSourceManager()), AC(Def->getASTContext()) {
    Out.Key = textKey(M);
    Out.Symbol = M.MangledName;
    Out.Nodes.resize(1);
  }

  std::optional<ExplicitSums> run() {
    for (const ParmVarDecl *P : Def->parameters())
      ++Bad.Names[P->getName()];
    Bad.TraverseStmt(Def->getBody());
    if (Bad.Found)
      return std::nullopt;
    statement(Def->getBody());
    Failed |= isLeft(Def->getBody());
    Out.AllExplicit = Bad.Open;
    constexpr size_t MostSums = 48;
    if (Failed || Out.Sums.empty() || Out.Sums.size() > MostSums)
      return std::nullopt;
    llvm::sort(Out.Places, [](const auto &A, const auto &B) { return A.Offset < B.Offset; });
    // (An argument that a macro has twice.)
    for (size_t I = 1; I < Out.Places.size(); ++I)
      if (Out.Places[I].Offset < Out.Places[I - 1].Offset + Out.Places[I - 1].Length)
        return std::nullopt;
    return std::move(Out);
  }

private:
  const FunctionDecl *Def;
  const SourceManager &SM;
  ASTContext &AC;
  Unknown Bad;
  ExplicitSums Out;
  bool Failed = false;
  std::set<const BinaryOperator *> Built; ///< operations that have a node
  /// Products that a variable is set to where it is declared, by variable.
  std::map<const VarDecl *, unsigned> Declared;

  /// Bytes of the main file; nullopt: a macro's.
  std::optional<std::pair<unsigned, unsigned>> range(SourceRange R) {
    const CharSourceRange C = Lexer::makeFileCharRange(
        CharSourceRange::getTokenRange(R), SM, AC.getLangOpts());
    if (C.isInvalid())
      return std::nullopt;
    const auto [File, Begin] = SM.getDecomposedLoc(C.getBegin());
    const auto [EndFile, End] = SM.getDecomposedLoc(C.getEnd());
    if (File != SM.getMainFileID() || EndFile != File || End < Begin)
      return std::nullopt;
    return std::pair(Begin, End);
  }
  std::string text(unsigned Begin, unsigned End) {
    return SM.getBufferData(SM.getMainFileID()).substr(Begin, End - Begin).str();
  }

  bool isNumber(const Expr *E) const {
    return !E->isValueDependent() && E->isEvaluatable(AC);
  }

  //===--- What is arithmetic ---===//

  /// A quotient by a power of two is a product for every compiler.
  bool dividesExactly(const BinaryOperator *B) const {
    Expr::EvalResult V;
    if (B->getOpcode() != BO_Div && B->getOpcode() != BO_DivAssign)
      return false;
    const Expr *By = B->getRHS();
    if (!isNumber(By) || !By->EvaluateAsRValue(V, AC) || !V.Val.isFloat())
      return false;
    return V.Val.getFloat().isNormal() && V.Val.getFloat().getExactLog2Abs() != INT_MIN;
  }

  const BinaryOperator *arithmetic(const Syntax *S) const {
    const auto *B = dyn_cast<BinaryOperator>(S);
    if (!B || !isFloatOrDouble(B->getType()) || isNumber(B))
      return nullptr;
    switch (B->getOpcode()) {
    case BO_Mul: case BO_MulAssign: case BO_Add: case BO_AddAssign: case BO_Sub:
    case BO_SubAssign:
      return B;
    default:
      return dividesExactly(B) ? B : nullptr;
    }
  }
  static bool isSum(const BinaryOperator *B) {
    return B->isAdditiveOp() || B->getOpcode() == BO_AddAssign || B->getOpcode() == BO_SubAssign;
  }

  /// \p E without what changes nothing around a value of its type.
  static const Expr *bare(const Expr *E) {
    while (true) {
      E = E->IgnoreParens();
      const auto *C = dyn_cast<CastExpr>(E);
      if (!C || (C->getCastKind() != CK_LValueToRValue && C->getCastKind() != CK_NoOp))
        return E;
      E = C->getSubExpr();
    }
  }

  /// Is there an operation in \p S without a node?
  bool isLeft(const Syntax *S) const {
    if (const BinaryOperator *B = S ? arithmetic(S) : nullptr; B && !Built.count(B))
      return true;
    return S && llvm::any_of(S->children(), [&](const Syntax *C) { return isLeft(C); });
  }

  //===--- Nodes ---===//

  unsigned add(Node N) {
    Out.Nodes.push_back(std::move(N));
    return static_cast<unsigned>(Out.Nodes.size() - 1);
  }

  /// A value where any expression may stand: an argument.
  unsigned value(const Expr *E) {
    const Expr *Inner = bare(E);
    if (const BinaryOperator *B = arithmetic(Inner))
      return operation(B);
    if (const auto *U = dyn_cast<UnaryOperator>(Inner); U && U->getOpcode() == UO_Minus)
      if (const auto *B = arithmetic(bare(U->getSubExpr())); B && !isSum(B)) {
        const unsigned N = operation(B);
        Out.Nodes[N].Negated = !Out.Nodes[N].Negated;
        return N;
      }
    return verbatim(E->IgnoreImpCasts());
  }

  unsigned verbatim(const Expr *E) {
    const auto R = range(E->getSourceRange());
    if (!R) {
      Failed = true;
      return 0;
    }
    Node N;
    N.Simple = isa<DeclRefExpr, ArraySubscriptExpr, FloatingLiteral, IntegerLiteral, CallExpr,
                   MemberExpr, ParenExpr>(E);
    std::vector<std::pair<const Expr *, unsigned>> Within;
    if (const BinaryOperator *B = arithmetic(E)) // in another type
      Within.push_back({B, operation(B)});
    else
      inside(E, Within);
    unsigned At = R->first;
    for (const auto &[Part, Number] : Within) {
      const auto P = range(Part->getSourceRange());
      if (!P || P->first < At || P->second > R->second) {
        Failed = true;
        return 0;
      }
      N.Texts.push_back(text(At, P->first));
      N.Inner.push_back(Number);
      At = P->second;
    }
    N.Texts.push_back(text(At, R->second));
    if (const auto *D = dyn_cast<DeclRefExpr>(bare(E)))
      if (const auto *V = dyn_cast<VarDecl>(D->getDecl()))
        if (const auto It = Declared.find(V->getCanonicalDecl()); It != Declared.end())
          N.Held = It->second;
    return add(std::move(N));
  }

  /// The arithmetic in \p S, which is none itself, in the order of the text.
  void inside(const Syntax *S, std::vector<std::pair<const Expr *, unsigned>> &Found) {
    for (const Syntax *C : S->children()) {
      if (!C || Failed)
        continue;
      if (const BinaryOperator *B = arithmetic(C))
        Found.push_back({B, operation(B)});
      else
        inside(C, Found);
    }
  }

  unsigned operation(const BinaryOperator *B) {
    Failed |= !Built.insert(B).second;
    Node N;
    N.Double = AC.hasSameUnqualifiedType(B->getType(), AC.DoubleTy);
    N.Minus = B->getOpcode() == BO_Sub || B->getOpcode() == BO_SubAssign;
    N.K = isSum(B) ? Node::Sum : Node::Product;
    const auto L = range(B->getLHS()->getSourceRange()), R = range(B->getRHS()->getSourceRange());
    if (!L || !R || !range(B->getSourceRange()) || !isBetween(B->getOperatorLoc(), *L, *R)) {
      Failed = true;
      return 0;
    }
    N.Operator = text(L->second, R->first);
    if (const auto *C = dyn_cast<CompoundAssignOperator>(B)) {
      // In the type of what is assigned to, and evaluating that twice is as good as once.
      Failed |= !AC.hasSameUnqualifiedType(C->getComputationLHSType(), B->getType()) ||
                !isPlain(B->getLHS());
      N.Assigned = text(L->first, L->second);
    }
    N.Left = value(B->getLHS());
    N.Right = B->getOpcode() == BO_Div || B->getOpcode() == BO_DivAssign ? inverse(B)
                                                                          : value(B->getRHS());
    if (Failed)
      return 0;
    N.Simple = true; // as a call
    if (N.K == Node::Sum)
      choices(B, N);
    return add(std::move(N));
  }

  /// Does \p Operator stand in the file between two operands, and in no macro?
  bool isBetween(SourceLocation Operator, std::pair<unsigned, unsigned> L,
                 std::pair<unsigned, unsigned> R) const {
    const auto [File, At] = SM.getDecomposedLoc(SM.getFileLoc(Operator));
    return File == SM.getMainFileID() && L.second <= At && At < R.first;
  }

  /// One divided by the number that \p B divides by.
  unsigned inverse(const BinaryOperator *B) {
    const auto R = range(B->getRHS()->getSourceRange());
    Node N;
    N.Texts = {std::string(AC.hasSameUnqualifiedType(B->getType(), AC.DoubleTy) ? "1.0" : "1.0f") +
               " / " + (R ? text(R->first, R->second) : "")};
    Failed |= !R || !isa<FloatingLiteral, IntegerLiteral, ParenExpr>(
                        B->getRHS()->IgnoreImpCasts());
    return add(std::move(N));
  }

  /// An lvalue that may be written twice.
  static bool isPlain(const Expr *E) {
    E = E->IgnoreParenImpCasts();
    if (const auto *A = dyn_cast<ArraySubscriptExpr>(E))
      return isPlain(A->getBase()) && isPlain(A->getIdx());
    if (const auto *B = dyn_cast<BinaryOperator>(E))
      return !B->isAssignmentOp() && isPlain(B->getLHS()) && isPlain(B->getRHS());
    if (const auto *M = dyn_cast<MemberExpr>(E))
      return isPlain(M->getBase());
    if (const auto *P = dyn_cast<PseudoObjectExpr>(E)) // threadIdx.x
      E = P->getSyntacticForm();
    if (const auto *Of = dyn_cast<MSPropertyRefExpr>(E))
      E = Of->getBaseExpr();
    if (const auto *Same = dyn_cast<OpaqueValueExpr>(E))
      return Same->getSourceExpr() && isPlain(Same->getSourceExpr());
    return isa<DeclRefExpr, IntegerLiteral>(E);
  }

  //===--- Sums ---===//

  bool isProduct(unsigned N) const {
    const Node &X = Out.Nodes[N];
    return X.K == Node::Product || X.Held;
  }

  void choices(const BinaryOperator *B, Node &N) {
    const bool L = isProduct(N.Left), R = isProduct(N.Right);
    if (!L && !R)
      return;
    ExplicitSums::Sum S;
    S.Choices = {ExplicitSums::Unfused};
    if (L)
      S.Choices.push_back(ExplicitSums::FuseLeft);
    if (R)
      S.Choices.push_back(ExplicitSums::FuseRight);
    const bool Left = L && (!R || N.Minus || order(B->getLHS()) <= order(B->getRHS()));
    S.Guess = Left ? ExplicitSums::FuseLeft : ExplicitSums::FuseRight;
    N.Choice = static_cast<unsigned>(Out.Sums.size());
    Out.Sums.push_back(std::move(S));
  }

  /// Where \p E comes in the order of operands (docs/soundness.md): arguments, then reads
  /// in the order of the text, and what is made of them.
  uint64_t order(const Expr *E, unsigned Depth = 0) const {
    E = E->IgnoreParenCasts();
    if (isNumber(E) || !E->getType()->isRealFloatingType() || Depth > 8)
      return 0;
    if (isa<ArraySubscriptExpr>(E) || isa<UnaryOperator>(E) || isa<MemberExpr>(E))
      return uint64_t(SM.getFileOffset(SM.getExpansionLoc(E->getBeginLoc()))) << 8;
    if (const auto *D = dyn_cast<DeclRefExpr>(E)) {
      const auto *V = dyn_cast<VarDecl>(D->getDecl());
      if (!V || isa<ParmVarDecl>(V))
        return 0;
      if (V->getInit() && !Bad.Changed.count(V->getCanonicalDecl()))
        return order(V->getInit(), Depth + 1);
      return uint64_t(SM.getFileOffset(SM.getExpansionLoc(V->getLocation()))) << 8;
    }
    uint64_t Most = 0;
    for (const Syntax *C : E->children())
      if (const auto *X = dyn_cast_or_null<Expr>(C))
        Most = std::max(Most, order(X, Depth + 1));
    return Most + 1;
  }

  //===--- Statements ---===//

  void statement(const Syntax *S) {
    if (!S || Failed)
      return;
    if (const auto *D = dyn_cast<DeclStmt>(S)) {
      for (const Decl *X : D->decls())
        if (const auto *V = dyn_cast<VarDecl>(X); V && V->getInit())
          declaration(V);
      return;
    }
    if (const auto *E = dyn_cast<Expr>(S); E && arithmetic(E))
      return place(E, operation(arithmetic(E)));
    for (const Syntax *C : S->children())
      statement(C);
  }

  void place(const Expr *E, unsigned Number) {
    const auto R = range(E->getSourceRange());
    Failed |= !R;
    if (Failed)
      return;
    const std::string Old = text(R->first, R->second);
    Out.Places.push_back({Number, R->first, R->second - R->first, "",
                          std::count(Old.begin(), Old.end(), '\n')});
  }

  /// A variable that is a product for ever may be one where it is used.
  void declaration(const VarDecl *V) {
    const Expr *Init = V->getInit();
    const BinaryOperator *B = arithmetic(bare(Init));
    if (!B)
      return statement(Init);
    const unsigned N = operation(B);
    place(bare(Init), N);
    if (Failed || isSum(B) || V->getInitStyle() != VarDecl::CInit ||
        Bad.Changed.count(V->getCanonicalDecl()) ||
        !AC.hasSameUnqualifiedType(V->getType(), B->getType()))
      return;
    Node &P = Out.Nodes[N];
    const std::string Name = V->getName().str();
    P.LeftName = isSettled(B->getLHS()) ? "" : Name + "_left";
    P.RightName = isSettled(B->getRHS()) ? "" : Name + "_right";
    if (!P.LeftName.empty() || !P.RightName.empty()) {
      ExplicitSums::Place &At = Out.Places.back();
      const auto Begin = range(V->getLocation());
      if (Bad.Names.lookup(Name) != 1 || isTaken(P.LeftName) || isTaken(P.RightName) || !Begin ||
          Begin->second > At.Offset || V->getType()->getContainedAutoType())
        return;
      const std::string Between = text(Begin->second, At.Offset);
      if (StringRef(Between).trim() != "=")
        return;
      At.Name = text(Begin->first, At.Offset);
      At.Length += At.Offset - Begin->first;
      At.Offset = Begin->first;
      At.Lines += std::count(Between.begin(), Between.end(), '\n');
    }
    Declared[V->getCanonicalDecl()] = N;
  }

  /// Does something have that name, in whatever file?
  bool isTaken(const std::string &Name) const {
    return !Name.empty() && AC.Idents.find(Name) != AC.Idents.end();
  }

  /// Does \p E have its value as long as it can be named?
  bool isSettled(const Expr *E) const {
    E = E->IgnoreParenImpCasts();
    if (isNumber(E))
      return true;
    const auto *D = dyn_cast<DeclRefExpr>(E);
    const auto *V = D ? dyn_cast<VarDecl>(D->getDecl()) : nullptr;
    return V && V->hasLocalStorage() && V->getType()->isArithmeticType() &&
           !Bad.Changed.count(V->getCanonicalDecl()) && Bad.Names.lookup(V->getName()) == 1 &&
           (V->getInit() || isa<ParmVarDecl>(V));
  }
};

} // namespace

std::vector<ExplicitSums>
explicitSums(ASTContext &AST, const std::vector<const KernelModel *> &Kernels) {
  // Instantiations of a template: one place, one answer.
  std::map<std::string, std::optional<ExplicitSums>> ByKey;
  const SourceManager &SM = AST.getSourceManager();
  const auto Main = SM.getFileEntryRefForID(SM.getMainFileID());
  for (const FunctionDecl *F : kernelsOf(AST)) {
    const SourcePos Pos = sourcePos(SM, F->getLocation());
    const auto M = llvm::find_if(Kernels, [&](const KernelModel *K) {
      return K->Pos == Pos && isOf(*K, F, AST);
    });
    // (Of a template on types, not all instantiations need be seen here.)
    if (M == Kernels.end() || !Main || !(*M)->InMainFile ||
        llvm::any_of((*M)->TemplateArgs, [](const TemplateArg &A) { return A.IsType; }))
      continue;
    auto [It, New] = ByKey.try_emplace(textKey(**M));
    if (!New) { // (their types may differ)
      It->second.reset();
      continue;
    }
    It->second = SumFinder(F, **M).run();
    if (It->second)
      It->second->File = Main->getName().str();
  }
  std::vector<ExplicitSums> All;
  for (auto &[Key, S] : ByKey)
    if (S)
      All.push_back(std::move(*S));
  return All;
}

} // namespace rcache
