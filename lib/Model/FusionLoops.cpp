// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which of two products a sum is fused with hangs on how often each is used
// (Fusion.cpp), and that on how far the compiler unrolls the loops around it:
//
//     for (j ...) for (i ...)
//       g = expf(-(i * i + j * j) * a - d * d * b);   // d: from memory
//
// Unrolled along i, rounds 1 and -1 have one product of `a` in common and fuse
// the other; round 0 fuses its own. Unrolled along j as well, as a window in
// registers asks for, all rounds share theirs. What the original's compiler
// does is not written anywhere, so such a sum is found here: one with two
// products, in a loop that may be unrolled, of which one may be the same in two
// rounds.

#include "FusionLoops.h"
#include "Affine/IslTools.h"
#include "DeclName.h"
#include "FoldedNumbers.h"
#include "Locals.h"
#include "SharedProducts.h"
#include "clang/AST/DynamicRecursiveASTVisitor.h"
#include "clang/AST/ExprCXX.h"
#include <set>

using namespace clang;

namespace rcache {
namespace {

bool isBarrierCall(const CallExpr *C) {
  auto *D = dyn_cast_or_null<NamedDecl>(C->getCalleeDecl());
  return identifierOf(D).starts_with("__sync") || identifierOf(D) == "sync";
}

class HasBarrier : public ConstDynamicRecursiveASTVisitor {
public:
  bool Found = false;
  bool VisitCallExpr(const CallExpr *C) override {
    Found |= isBarrierCall(C);
    return !Found;
  }
};

/// The rounds that `#pragma unroll` asks for: all of them without a number.
uint64_t unrolledRounds(const AttributedStmt *S, const ASTContext &AC) {
  for (const Attr *A : S->getAttrs())
    if (auto *L = dyn_cast<LoopHintAttr>(A)) {
      if (L->getOption() == LoopHintAttr::Unroll &&
          (L->getState() == LoopHintAttr::Enable ||
           L->getState() == LoopHintAttr::Full))
        return ~uint64_t(0);
      Expr::EvalResult R;
      if (L->getOption() == LoopHintAttr::UnrollCount && L->getValue() &&
          !L->getValue()->isValueDependent() &&
          L->getValue()->EvaluateAsInt(R, AC))
        return R.Val.getInt().getLimitedValue();
    }
  return 0;
}

/// The model's statement for the loop \p L of the kernel itself.
const Stmt *loopOf(const ForStmt *L, const KernelModel &M, FlatText &Flat) {
  const auto Header = Flat.outerRange({L->getForLoc(), L->getRParenLoc()});
  for (const Stmt &S : M.Stmts)
    if (Header && S.K == Stmt::For && S.HeaderRange == *Header)
      return &S;
  return nullptr;
}

using Loops = llvm::SmallVector<const clang::Stmt *, 4>;

/// A floating-point product, with what it reads from memory in a round of the
/// loops around it.
struct Product {
  const BinaryOperator *E;
  llvm::SmallVector<const Expr *, 8> Reads;
  Loops Around;
  /// A factor that each round takes over from the one before, and changes.
  bool Carried;
};

/// A sum of products in loops that may be unrolled, of which Outermost
/// holds all the others.
struct DoubtfulSum {
  const BinaryOperator *E;
  std::vector<Product> Sides;
  Loops Unsettled;
  bool OfTwo; ///< products
};

class LoopFinder : public ConstDynamicRecursiveASTVisitor {
public:
  struct Assignment {
    const VarDecl *To;
    llvm::StringRef Member; ///< that alone is set; "": the whole
    const Expr *Value;      ///< null: unknown
    Loops In;
    bool Carried; ///< the old value goes into the new one
  };

  LoopFinder(const ASTContext &AC, const KernelModel &M, FlatText &Flat)
      : AC(AC), M(M), Flat(Flat) {}

  /// What is known of a called function's parameters: the arguments, as the
  /// caller sees them.
  LoopFinder *Caller = nullptr;
  llvm::DenseMap<const VarDecl *, const Expr *> Arguments;
  Loops Around;    ///< all loops, outermost first, callers' included
  Loops Unsettled; ///< those among them that may be unrolled or not
  Loops InDoubt;   ///< those of these that loopsInDoubt names
  Loops Plain;     ///< all without barriers
  bool Checking = false;
  SmallVector<const FunctionDecl *, 4> Calls;
  std::vector<Product> Products; ///< in loops
  std::vector<DoubtfulSum> Sums;

  void look(const FunctionDecl *F) {
    Doubtful = loopsInDoubt(F);
    if (!Caller)
      Kernel = F;
    TraverseStmt(F->getBody());
    Checking = true;
    TraverseStmt(F->getBody());
  }

  bool TraverseAttributedStmt(const AttributedStmt *S) override {
    const uint64_t N = unrolledRounds(S, AC);
    auto *For = dyn_cast<ForStmt>(S->getSubStmt());
    const Stmt *Loop = N && For && Calls.empty() ? loopOf(For, M, Flat) : nullptr;
    if (N == ~uint64_t(0) ||
        (Loop && Loop->ConstTripCount &&
         uint64_t(std::max<int64_t>(*Loop->ConstTripCount, 0)) <= N))
      Whole.insert(S->getSubStmt());
    return ConstDynamicRecursiveASTVisitor::TraverseAttributedStmt(S);
  }
  bool TraverseForStmt(const ForStmt *S) override {
    return inLoop(
        S, [&] { return ConstDynamicRecursiveASTVisitor::TraverseForStmt(S); });
  }
  bool TraverseWhileStmt(const WhileStmt *S) override {
    return inLoop(S, [&] {
      return ConstDynamicRecursiveASTVisitor::TraverseWhileStmt(S);
    });
  }
  bool TraverseDoStmt(const DoStmt *S) override {
    return inLoop(
        S, [&] { return ConstDynamicRecursiveASTVisitor::TraverseDoStmt(S); });
  }

  bool VisitVarDecl(const VarDecl *V) override {
    if (Checking || !V->hasLocalStorage())
      return true;
    DeclaredIn[V] = Around;
    // `float3 r;` has a constructor that does nothing.
    const auto *C = dyn_cast_or_null<CXXConstructExpr>(V->getInit());
    if (V->getInit() && !(C && C->getNumArgs() == 0))
      Assigned.push_back({V, "", V->getInit(), Around, false});
    return true;
  }
  bool VisitUnaryOperator(const UnaryOperator *U) override {
    if (U->isIncrementDecrementOp() || U->getOpcode() == UO_AddrOf)
      if (const VarDecl *V = rootVariable(U->getSubExpr()); V && !Checking)
        Assigned.push_back({V, memberIn(U->getSubExpr()), nullptr, Around,
                            U->isIncrementDecrementOp()});
    return true;
  }
  bool VisitBinaryOperator(const BinaryOperator *B) override {
    if (B->isAssignmentOp() && !Checking)
      if (const VarDecl *V = rootVariable(B->getLHS()))
        Assigned.push_back({V, memberIn(B->getLHS()), B->getRHS(), Around,
                            B->isCompoundAssignmentOp()});
    if (!Checking || Plain.empty() || !isReal(B->getType()))
      return true;
    if (B->getOpcode() == BO_Mul || B->getOpcode() == BO_MulAssign)
      Products.push_back(product(B));
    if (!isSum(B))
      return true;
    llvm::SmallVector<const BinaryOperator *, 2> L, R;
    OfParts = false;
    productsIn(B->getLHS(), 0, L);
    productsIn(B->getRHS(), 0, R);
    // A sum of one product knows what it is fused with, wherever all uses of that are: so
    // only where the loop may be unrolled in one text and not in the other.
    // A thread has an array of aggregates for its outputs, which compilers take apart at
    // another time: of two products that rounds share another one comes first by then.
    const bool OfTwo = !L.empty() && !R.empty();
    const Loops &May = !OfTwo ? InDoubt : OfParts ? Plain : Unsettled;
    if (May.empty() || (L.empty() && R.empty()))
      return true;
    DoubtfulSum S{B, {}, May, OfTwo};
    for (const auto &Side : {L, R})
      for (const BinaryOperator *P : Side)
        if (OfTwo || !isNamedIn(P)) // else fused whoever shares it
          S.Sides.push_back(product(P));
    Sums.push_back(std::move(S));
    return true;
  }
  bool VisitCallExpr(const CallExpr *C) override {
    const FunctionDecl *F = C->getDirectCallee();
    const FunctionDecl *Body = nullptr;
    for (unsigned I = 0;
         F && !Checking && I < F->getNumParams() && I < C->getNumArgs(); ++I)
      if (F->getParamDecl(I)->getType()->isReferenceType())
        if (const VarDecl *V = rootVariable(C->getArg(I)))
          Assigned.push_back({V, "", nullptr, Around, false});
    if (!F || !F->hasBody(Body) || F->getBuiltinID() || Plain.empty() ||
        !Checking || Calls.size() > 3 || llvm::is_contained(Calls, Body))
      return true;
    LoopFinder Inside(AC, M, Flat);
    Inside.Caller = this;
    Inside.Around = Around;
    Inside.Unsettled = Unsettled;
    Inside.InDoubt = InDoubt;
    Inside.Plain = Plain;
    Inside.Calls = Calls;
    Inside.Calls.push_back(Body);
    for (unsigned I = 0; I < Body->getNumParams() && I < C->getNumArgs(); ++I)
      Inside.Arguments[Body->getParamDecl(I)] = C->getArg(I);
    Inside.look(Body);
    llvm::append_range(Products, Inside.Products);
    llvm::append_range(Sums, Inside.Sums);
    return true;
  }

private:
  const ASTContext &AC;
  const KernelModel &M;
  FlatText &Flat;
  llvm::SmallPtrSet<const clang::Stmt *, 4> Whole;
  llvm::SmallPtrSet<const clang::Stmt *, 8> Doubtful; ///< of this function
  const FunctionDecl *Kernel = nullptr; ///< this function, if it is not called
  std::vector<Assignment> Assigned;
  llvm::DenseMap<const VarDecl *, Loops> DeclaredIn;
  std::set<std::pair<const VarDecl *, std::string>> Asking;
  bool OfParts = false; ///< productsIn came through elements or members of a variable

  /// The member of a variable that \p E is; "": none, or all of it.
  static llvm::StringRef memberIn(const Expr *E) {
    auto *M = dyn_cast<MemberExpr>(E->IgnoreParenImpCasts());
    if (!M || M->isArrow() ||
        !isa<DeclRefExpr>(M->getBase()->IgnoreParenImpCasts()))
      return "";
    return identifierOf(M->getMemberDecl());
  }

  static bool sets(const Assignment &A, const VarDecl *V,
                   llvm::StringRef Member) {
    return A.To == V &&
           (A.Member.empty() || Member.empty() || A.Member == Member);
  }

  bool inLoop(const clang::Stmt *S, llvm::function_ref<bool()> Traverse) {
    HasBarrier B;
    B.TraverseStmt(S);
    const bool MayUnroll = !B.Found && !Whole.count(S);
    Around.push_back(S);
    if (!B.Found)
      Plain.push_back(S);
    const bool MayDiffer = MayUnroll && Doubtful.contains(S);
    if (MayUnroll)
      Unsettled.push_back(S);
    if (MayDiffer)
      InDoubt.push_back(S);
    const bool Go = Traverse();
    Around.pop_back();
    if (!B.Found)
      Plain.pop_back();
    if (MayUnroll)
      Unsettled.pop_back();
    if (MayDiffer)
      InDoubt.pop_back();
    return Go;
  }

  static bool isReal(QualType T) {
    return T.getCanonicalType()->isFloatingType();
  }

  static bool isSum(const BinaryOperator *B) {
    return B->isAdditiveOp() || B->getOpcode() == BO_AddAssign || B->getOpcode() == BO_SubAssign;
  }

  /// The products that \p E may be.
  void productsIn(const Expr *E, unsigned Depth,
                  llvm::SmallVectorImpl<const BinaryOperator *> &Out) {
    E = E->IgnoreParenImpCasts();
    if (Depth > 8)
      return;
    if (isa<InitListExpr, CXXConstructExpr>(E)) { // any of its elements
      for (const clang::Stmt *C : E->children())
        if (auto *X = dyn_cast_or_null<Expr>(C))
          productsIn(X, Depth + 1, Out);
      return;
    }
    if (!isReal(E->getType()))
      return;
    if (auto *U = dyn_cast<UnaryOperator>(E);
        U && (U->getOpcode() == UO_Minus || U->getOpcode() == UO_Plus))
      return productsIn(U->getSubExpr(), Depth + 1, Out);
    if (auto *B = dyn_cast<BinaryOperator>(E)) {
      if (B->getOpcode() == BO_Mul)
        Out.push_back(B);
      return;
    }
    if (auto *C = dyn_cast<ConditionalOperator>(E)) {
      productsIn(C->getTrueExpr(), Depth + 1, Out);
      return productsIn(C->getFalseExpr(), Depth + 1, Out);
    }
    const VarDecl *V = rootVariable(E);
    if (!V)
      return;
    OfParts |= isa<ArraySubscriptExpr, MemberExpr>(E);
    if (auto It = Arguments.find(V); It != Arguments.end() && Caller)
      Caller->productsIn(It->second, Depth + 1, Out);
    for (const Assignment &A : Assigned)
      if (sets(A, V, memberIn(E)) && A.Value && !A.Carried)
        productsIn(A.Value, Depth + 1, Out);
  }

  Product product(const BinaryOperator *B) {
    Product P{B, {}, Around, isCarried(B->getLHS()) || isCarried(B->getRHS())};
    reads(B->getLHS(), P.Reads);
    reads(B->getRHS(), P.Reads);
    return P;
  }

  /// Does an instruction name a factor of \p P: a number, or an argument of the kernel?
  bool isNamedIn(const BinaryOperator *P) const {
    const auto IsArgument = [&](const Expr *E) {
      auto *D = dyn_cast<DeclRefExpr>(E->IgnoreParens());
      if (auto *C = dyn_cast<ImplicitCastExpr>(E->IgnoreParens());
          C && C->getCastKind() == CK_LValueToRValue)
        D = dyn_cast<DeclRefExpr>(C->getSubExpr()->IgnoreParens());
      auto *V = D ? dyn_cast<ParmVarDecl>(D->getDecl()) : nullptr;
      return V && V->getDeclContext() == Kernel && V->getType()->isRealFloatingType() &&
             llvm::none_of(Assigned, [&](const Assignment &A) { return A.To == V; });
    };
    return SharedProducts::hasFixedFactor(P) || IsArgument(P->getRHS()) ||
           (!P->isAssignmentOp() && IsArgument(P->getLHS()));
  }
  /// Is \p E a variable that every round sets to what is made of its old value?
  bool isCarried(const Expr *E) const {
    auto *D = dyn_cast<DeclRefExpr>(E->IgnoreParenImpCasts());
    auto *V = D ? dyn_cast<VarDecl>(D->getDecl()) : nullptr;
    const clang::Stmt *Outermost =
        (!InDoubt.empty() ? InDoubt : !Unsettled.empty() ? Unsettled : Plain).front();
    const auto Reads = [&](const clang::Stmt *S, auto &Again) -> bool {
      auto *R = dyn_cast_or_null<DeclRefExpr>(S);
      return (R && R->getDecl() == V) ||
             (S && llvm::any_of(S->children(), [&](const clang::Stmt *C) { return Again(C, Again); }));
    };
    bool Any = false;
    for (const Assignment &A : Assigned) {
      if (A.To != V || !llvm::is_contained(A.In, Outermost))
        continue;
      if (!A.Carried && !Reads(A.Value, Reads))
        return false;
      Any = true;
    }
    return V && Any;
  }

  /// What \p E is computed from in every round; not all of it, if in doubt.
  void reads(const clang::Stmt *E, llvm::SmallVectorImpl<const Expr *> &Out) {
    if (!E || Out.size() > 16)
      return;
    if (auto *D = dyn_cast<DeclRefExpr>(E)) {
      if (auto *V = dyn_cast<VarDecl>(D->getDecl()))
        readsOfVar(V, "", Out);
      return;
    }
    if (auto *M = dyn_cast<MemberExpr>(E); M && !memberIn(M).empty()) {
      if (const VarDecl *V = rootVariable(M))
        readsOfVar(V, memberIn(M), Out);
      return;
    }
    if (auto *U = dyn_cast<UnaryOperator>(E);
        isa<ArraySubscriptExpr>(E) || (U && U->getOpcode() == UO_Deref)) {
      const VarDecl *V = rootVariable(cast<Expr>(E));
      if (!V || !V->hasLocalStorage() || V->getType()->isPointerType() ||
          V->getType()->isReferenceType())
        Out.push_back(cast<Expr>(E));
      return;
    }
    // Of two values only one is there.
    if (isa<ConditionalOperator>(E))
      return;
    for (const clang::Stmt *C : E->children())
      reads(C, Out);
  }

  /// A variable of a round's own that is set once, and may then be added to.
  void readsOfVar(const VarDecl *V, llvm::StringRef Member,
                  llvm::SmallVectorImpl<const Expr *> &Out) {
    if (auto It = Arguments.find(V); It != Arguments.end()) {
      for (const Assignment &A : Assigned)
        if (sets(A, V, Member) && !A.Carried)
          return;
      if (Caller)
        Caller->reads(It->second, Out);
      return;
    }
    auto Declared = DeclaredIn.find(V);
    if (Declared == DeclaredIn.end() || Plain.empty() ||
        !llvm::is_contained(Declared->second, Plain.front()))
      return;
    const Expr *Set = nullptr;
    for (const Assignment &A : Assigned) {
      if (!sets(A, V, Member) || A.Carried)
        continue;
      if (Set || !A.Value)
        return;
      Set = A.Value;
    }
    if (!Set || !Asking.insert({V, Member.str()}).second)
      return;
    reads(Set, Out);
    Asking.erase({V, Member.str()});
  }
};

/// Answers with the model's indices whether products can be the same.
class Rounds {
public:
  Rounds(const KernelModel &M, FlatText &Flat) : M(M), Flat(Flat) {
    isl::ctx Ctx = M.Ctx->ctx();
    for (const Symbol &S : M.Symbols)
      if (S.K == Symbol::Iterator || (S.K == Symbol::Opaque && !S.Anywhere))
        Other.emplace(S.Id, symbolValue(Ctx, S.Id + "_other"));
    Within = M.Context;
    for (const Stmt &S : M.Stmts)
      if (S.IterSymbol >= 0 && !S.IterDomain.is_null())
        Within = Within.intersect(S.IterDomain)
                     .intersect(substitute(S.IterDomain, Other));
  }

  /// May \p P in one round be \p Q in another one of \p Unsettled?
  bool maySame(const Product &P, const Product &Q, const Loops &Unsettled) {
    if (P.E == Q.E && P.Carried)
      return false;
    isl::set Both = Within;
    if (P.Around == Q.Around) {
      isl::set Differ = never(M.Ctx->ctx());
      for (const clang::Stmt *L : Unsettled) {
        const Symbol *I = iterator(L);
        if (!I)
          return true;
        Differ = Differ.unite(
            symbolValue(M.Ctx->ctx(), I->Id).ne_set(Other.at(I->Id)));
      }
      Both = Both.intersect(Differ);
    }
    for (const Expr *R : P.Reads) {
      const auto A = place(R);
      if (!A)
        continue;
      isl::set Meets = never(M.Ctx->ctx());
      for (const Expr *T : Q.Reads) {
        if (areApart(R, T))
          continue;
        const auto B = place(T);
        if (!B)
          return true;
        if (A->Of == B->Of && A->Index.size() == B->Index.size()) {
          isl::set Equal = always(M.Ctx->ctx());
          for (size_t D = 0; D < A->Index.size(); ++D)
            Equal = Equal.intersect(sameTo(A->Index[D], B->Index[D]));
          Meets = Meets.unite(Equal);
        }
      }
      Both = Both.intersect(Meets);
      if (Both.is_empty())
        return false;
    }
    return true;
  }

private:
  const KernelModel &M;
  FlatText &Flat;
  Substitution Other; ///< what another round has there
  isl::set Within;

  /// In which rounds \p A and, of the other one, \p B are the same to a compiler, which
  /// knows nothing of arguments and threads: `j * w + i` in round (0, 8) is no element of
  /// round (1, 0), though w may be 8.
  isl::set sameTo(const isl::pw_aff &A, const isl::pw_aff &B) {
    std::map<std::vector<std::string>, isl::pw_aff> Sums; // differences, by what is unknown
    if (!takeTerms(A, false, Sums) || !takeTerms(B, true, Sums))
      return equalTo(A, substitute(B, Other));
    isl::set Equal = always(M.Ctx->ctx());
    for (const auto &[Unknown, Sum] : Sums)
      Equal = Equal.intersect(equalTo(Sum, number(0)));
    return Equal;
  }

  isl::pw_aff number(int64_t N) const {
    return always(M.Ctx->ctx()).pw_aff_on_domain(isl::val(M.Ctx->ctx(), std::to_string(N)));
  }

  /// Adds \p A to \p Sums, or takes it off as the other round's; false: it is no sum of
  /// unknown values, each times at most one counter.
  bool takeTerms(const isl::pw_aff &A, bool IsOther,
                 std::map<std::vector<std::string>, isl::pw_aff> &Sums) {
    const auto L = linearForm(A, Within);
    if (!L)
      return false;
    const auto Add = [&](const std::vector<std::string> &Unknown, isl::pw_aff V, int64_t C) {
      V = V.scale(isl::val(M.Ctx->ctx(), std::to_string(IsOther ? -C : C)));
      const auto [At, New] = Sums.try_emplace(Unknown, V);
      if (!New)
        At->second = At->second.add(V);
    };
    const auto Counter = [&](const std::string &Id) {
      return IsOther ? Other.at(Id) : symbolValue(M.Ctx->ctx(), Id);
    };
    Add({}, number(L->Const), 1);
    for (const auto &[Id, C] : L->Terms) {
      const int I = M.symbolIndex(Id);
      std::vector<std::string> Unknown, Counters;
      if (I >= 0 && !M.Symbols[size_t(I)].Factors.empty())
        for (const std::string &F : M.Symbols[size_t(I)].Factors)
          (Other.count(F) ? Counters : Unknown).push_back(F);
      else
        (Other.count(Id) ? Counters : Unknown).push_back(Id);
      if (Counters.size() > 1)
        return false;
      llvm::sort(Unknown);
      Add(Unknown, Counters.empty() ? number(1) : Counter(Counters.front()), C);
    }
    return true;
  }

  /// Elements of two arrays that are declared, one of them shared or constant.
  static bool areApart(const Expr *R, const Expr *T) {
    const VarDecl *V = rootVariable(R), *W = rootVariable(T);
    return V && W && V->getCanonicalDecl() != W->getCanonicalDecl() &&
           V->getType()->isArrayType() && W->getType()->isArrayType();
  }

  struct Place {
    std::pair<bool, int> Of; ///< shared array, or parameter
    std::vector<isl::pw_aff> Index;
  };
  std::optional<Place> place(const Expr *E) {
    const auto R = Flat.range(E->getSourceRange());
    if (!R)
      return std::nullopt;
    for (const SharedAccess &A : M.SharedAccesses)
      if (A.Range == *R && A.Affine)
        return Place{{true, static_cast<int>(A.Array)}, A.Index};
    for (const GlobalAccess &A : M.GlobalAccesses)
      if (A.Range == *R && A.Root >= 0 && A.Index &&
          A.Index->K == Value::Affine)
        return Place{{false, A.Root}, {A.Index->Aff}};
    return std::nullopt;
  }

  const Symbol *iterator(const clang::Stmt *L) {
    auto *F = dyn_cast<ForStmt>(L);
    const Stmt *S = F ? loopOf(F, M, Flat) : nullptr;
    return S && S->IterSymbol >= 0 ? &M.Symbols[size_t(S->IterSymbol)]
                                   : nullptr;
  }
};

} // namespace

SumsInLoops fusedByUnrolling(const FunctionDecl *FD, const KernelModel &M, FlatText &Flat) {
  LoopFinder F(FD->getASTContext(), M, Flat);
  F.look(FD);
  SumsInLoops Out;
  if (F.Sums.empty())
    return Out;
  Rounds R(M, Flat);
  const auto hasTwin = [&](const DoubtfulSum &S, const Product &P) {
    return R.maySame(P, P, S.Unsettled) || llvm::any_of(F.Products, [&](const Product &Q) {
             return Q.E != P.E && llvm::is_contained(Q.Around, S.Unsettled.front()) &&
                    R.maySame(P, Q, S.Unsettled);
           });
  };
  for (const DoubtfulSum &S : F.Sums) {
    const BinaryOperator *&Found = S.OfTwo ? Out.OfTwo : Out.OfOne;
    if (!Found && llvm::any_of(S.Sides, [&](const Product &P) { return hasTwin(S, P); }))
      Found = S.E;
  }
  return Out;
}

} // namespace rcache
