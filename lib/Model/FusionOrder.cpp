// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Of two products in a sum nvcc fuses the left one, and which one is left it
// decides by rank (LLVM's Reassociate, before loops are unrolled): what is read
// from memory, and what a loop or branch hands on, is numbered in the order of
// the text, arguments and indices come before; what is computed has the highest
// number that goes into it, plus one for each operation since. The lower
// operand is left; of equal ones the one that the source has there.
//
// In a rewritten kernel what a thread keeps for several outputs is an array,
// one element each, and so is read where the text uses it; shared memory is
// read where it was, through views that are arrays as well; indices hang on the
// number of the output. Where outputs begin is the shape's decision, so each
// place where they may is tried (Form). Ranks are not computed: an operand is
// below the other if everything that goes into it is numbered in front of
// something that goes into the other, which has as many operations to go. If
// the same operand is below in all forms, the sum keeps what it is fused with.

#include "FusionOrder.h"
#include "FusionLoops.h"
#include "rcache/Model.h"
#include "clang/AST/Attr.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/ParentMap.h"
#include "llvm/ADT/SmallPtrSet.h"
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

using namespace clang;

namespace rcache {
namespace {

using Node = clang::Stmt;
using Call = FusionOrder::Call;
using Outputs = FusionOrder::Outputs;
/// A place in the text: of calls, outermost first, and in the function.
using Place = std::vector<unsigned>;

const Expr *bare(const Expr *E) {
  for (;;) {
    E = E->IgnoreParens();
    if (auto *F = dyn_cast<FullExpr>(E))
      E = F->getSubExpr();
    else if (auto *O = dyn_cast<OpaqueValueExpr>(E); O && O->getSourceExpr())
      E = O->getSourceExpr();
    else if (auto *M = dyn_cast<MaterializeTemporaryExpr>(E))
      E = M->getSubExpr();
    else if (auto *C = dyn_cast<CXXConstructExpr>(E);
             C && C->getNumArgs() == 1 &&
             C->getConstructor()->isCopyOrMoveConstructor())
      E = C->getArg(0);
    else
      return E;
  }
}

/// What a place in memory is a part of, and the member of it that is meant.
struct Root {
  const VarDecl *Var = nullptr;
  const DeclRefExpr *Use = nullptr;
  bool Element = false; ///< through an index or a pointer
  int Member = -1;      ///< of a struct that is a variable or an element
  bool Deep = false;    ///< a member of a member
};
std::optional<Root> rootOf(const Expr *E) {
  Root R;
  for (;;) {
    E = bare(E);
    if (auto *C = dyn_cast<CastExpr>(E)) {
      E = C->getSubExpr();
    } else if (auto *M = dyn_cast<MemberExpr>(E)) {
      auto *F = dyn_cast<FieldDecl>(M->getMemberDecl());
      if (!F)
        return std::nullopt;
      R.Deep |= R.Member >= 0;
      R.Member = int(F->getFieldIndex());
      R.Element |= M->isArrow();
      E = M->getBase();
    } else if (auto *P = dyn_cast<MSPropertyRefExpr>(E)) { // threadIdx.x
      E = P->getBaseExpr();
    } else if (auto *A = dyn_cast<ArraySubscriptExpr>(E)) {
      R.Element = true;
      E = A->getBase();
    } else if (auto *U = dyn_cast<UnaryOperator>(E);
               U && U->getOpcode() == UO_Deref) {
      R.Element = true;
      E = U->getSubExpr();
    } else {
      break;
    }
  }
  auto *D = dyn_cast<DeclRefExpr>(E);
  auto *V = D ? dyn_cast<VarDecl>(D->getDecl()) : nullptr;
  if (!V)
    return std::nullopt;
  R.Use = D;
  R.Var = V->getCanonicalDecl();
  return R;
}

bool isIndexBuiltin(const Expr *E) {
  if (auto *P = dyn_cast<PseudoObjectExpr>(E))
    E = P->getSyntacticForm();
  const auto R = rootOf(E);
  if (!R)
    return false;
  for (StringRef N :
       {"threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize"})
    if (R->Var->getIdentifier() && R->Var->getName() == N)
      return true;
  return false;
}

/// Where things stand in one function.
class Facts {
public:
  struct Assignment {
    const Node *At;
    const Expr *Value; ///< null: not known
    bool Compound;
    int Member = -1; ///< that alone
  };
  explicit Facts(const FunctionDecl *F)
      : Body(F->getBody()), Parents(const_cast<Node *>(Body)) {
    walk(Body);
  }

  const Node *Body;
  ParentMap Parents;
  llvm::DenseMap<const Node *, unsigned> First, Last;
  std::map<const VarDecl *, std::vector<Assignment>> Sets; ///< text order
  std::map<const VarDecl *, std::vector<const DeclRefExpr *>> Uses;
  llvm::DenseMap<const VarDecl *, const Node *> Declared;
  llvm::SmallPtrSet<const VarDecl *, 8> Escaped;
  std::vector<const Expr *> SharedReads;
  std::vector<unsigned> Barriers, Branches, LoopEdges;
  std::vector<const Node *> Statements; ///< of blocks

  static bool isLoop(const Node *S) {
    return isa<ForStmt, WhileStmt, DoStmt, CXXForRangeStmt>(S);
  }
  bool isIn(const Node *E, const Node *S) const {
    return First.lookup(S) <= First.lookup(E) &&
           Last.lookup(E) <= Last.lookup(S);
  }
  bool isSetOnce(const VarDecl *V) const {
    auto It = Sets.find(V);
    return !Escaped.count(V) && It != Sets.end() && It->second.size() == 1 &&
           It->second.front().Value && isa<DeclStmt>(It->second.front().At);
  }

private:
  void set(const Expr *To, const Node *At, const Expr *Value, bool Compound) {
    if (const auto R = rootOf(To); R && R->Var->hasLocalStorage())
      Sets[R->Var].push_back({At, Value, Compound, R->Member});
  }
  void escape(const Expr *E) {
    if (const auto R = rootOf(E))
      Escaped.insert(R->Var);
  }
  void walk(const Node *S) {
    if (!S || First.count(S))
      return;
    First[S] = unsigned(First.size()) + 1;
    if (auto *D = dyn_cast<DeclRefExpr>(S)) {
      if (auto *V = dyn_cast<VarDecl>(D->getDecl()))
        Uses[V->getCanonicalDecl()].push_back(D);
    } else if (auto *B = dyn_cast<BinaryOperator>(S)) {
      if (B->isAssignmentOp())
        set(B->getLHS(), B, B->getRHS(), B->isCompoundAssignmentOp());
    } else if (auto *U = dyn_cast<UnaryOperator>(S)) {
      if (U->isIncrementDecrementOp())
        set(U->getSubExpr(), U, nullptr, true);
      else if (U->getOpcode() == UO_AddrOf)
        escape(U->getSubExpr());
    } else if (auto *D = dyn_cast<DeclStmt>(S)) {
      for (const Decl *X : D->decls())
        if (auto *V = dyn_cast<VarDecl>(X)) {
          Declared[V->getCanonicalDecl()] = D;
          if (!V->getInit() || !V->hasLocalStorage())
            continue;
          // `float3 r;` has a constructor that does nothing.
          auto *C = dyn_cast<CXXConstructExpr>(V->getInit());
          if (!C || C->getNumArgs())
            Sets[V->getCanonicalDecl()].push_back({D, V->getInit(), false, -1});
          if (V->getType()->isReferenceType() || V->getType()->isPointerType())
            escape(V->getInit());
        }
    } else if (auto *C = dyn_cast<CallExpr>(S)) {
      const FunctionDecl *F = C->getDirectCallee();
      for (unsigned I = 0; I < C->getNumArgs(); ++I) {
        const unsigned Object =
            isa<CXXOperatorCallExpr>(C) && isa_and_nonnull<CXXMethodDecl>(F);
        const bool ByValue =
            F && I >= Object && I - Object < F->getNumParams() &&
            !F->getParamDecl(I - Object)->getType()->isReferenceType();
        if (!ByValue || C->getArg(I)->getType()->isPointerType())
          escape(C->getArg(I));
      }
      if (auto *M = dyn_cast<CXXMemberCallExpr>(C))
        escape(M->getImplicitObjectArgument());
      if (hasBarrier(C))
        Barriers.push_back(First[S]);
    } else if (auto *B = dyn_cast<CompoundStmt>(S)) {
      Statements.insert(Statements.end(), B->body_begin(), B->body_end());
    }
    if (auto *E = dyn_cast<Expr>(S); E && isSharedRead(E))
      SharedReads.push_back(E);
    for (const Node *C : S->children())
      walk(C);
    Last[S] = unsigned(First.size());
    if (auto *If = dyn_cast<IfStmt>(S)) {
      Branches.push_back(First[If->getThen()]);
      if (If->getElse())
        Branches.push_back(First[If->getElse()]);
      Branches.push_back(Last[S]);
    } else if (isLoop(S)) {
      LoopEdges.push_back(First[S]);
      LoopEdges.push_back(Last[S]);
    }
  }
  bool isSharedRead(const Expr *E) const {
    if (!isa<ArraySubscriptExpr, MemberExpr>(E))
      return false;
    const auto R = rootOf(E);
    return R && R->Var->hasAttr<CUDASharedAttr>();
  }
};

/// A rewritten kernel as far as it matters here.
struct Form {
  bool Rewritten = false;
  std::vector<unsigned> Edges; ///< where outputs may begin and end
};

/// Something numbered, and the operations from there to the operand.
struct Leaf {
  Place At;
  int Depth = 0;
  const VarDecl *Shared = nullptr; ///< an element of this array
  bool Own = false;                ///< whose index differs between threads
  bool Word = false;               ///< of which hiding is one operation
  const Expr *Whole = nullptr;     ///< read with all its members, of which this
  int Member = -1;
};
using Leaves = std::vector<Leaf>;

enum class Below { Unknown, Weak, Strict };
enum class Order { Unknown, Left, Right, Alike };

} // namespace

class FusionOrder::Impl {
public:
  Impl(const FunctionDecl *Kernel, Dependences DependsOn)
      : Kernel(Kernel), DependsOn(DependsOn) {}

  bool keeps(const BinaryOperator *Sum, Operand L, Operand R, const Call &In,
             Outputs Of) {
    std::optional<Order> All;
    const Call *C = &In;
    const Node *At = Sum;
    for (; C->Caller; C = C->Caller)
      At = C->At;
    Site = facts(Kernel).First.lookup(At);
    for (const Form &F : forms(Of)) {
      Now = &F;
      for (const Expr *A : L)
        for (const Expr *B : R) {
          const Order O = order(Sum, A, B, In);
          if (O == Order::Unknown || (All && *All != O))
            return false;
          All = O;
        }
    }
    return true;
  }

private:
  const FunctionDecl *Kernel;
  Dependences DependsOn;
  std::map<const FunctionDecl *, std::unique_ptr<Facts>> Known;
  const Form *Now = nullptr;
  unsigned Site = 0; ///< in the kernel, where a value is computed
  /// By upper(): the same leads to the same.
  std::set<std::tuple<const Expr *, const Call *, int, int, unsigned>> Seen;
  /// An operand is what it is added to, an element that is read last.
  bool ReadLast = false;

  const Facts &facts(const FunctionDecl *F) {
    std::unique_ptr<Facts> &X = Known[F];
    if (!X)
      X = std::make_unique<Facts>(F);
    return *X;
  }
  const Facts &facts(const Call &C) { return facts(C.Of); }

  Place place(const Call &C, unsigned At) {
    Place P;
    if (C.Caller)
      P = place(*C.Caller, facts(*C.Caller).Last.lookup(C.At));
    P.push_back(At);
    return P;
  }
  Place place(const Call &C, const Node *N) {
    return place(C, facts(C).First.lookup(N));
  }

  /// Where outputs may begin for a sum at Site: nowhere (all of the kernel), at
  /// barriers, at branches that stores stand in, in front of what is done once
  /// for all of them, and in loops. What matters is the last such place in
  /// front of the sum; behind it are others or none.
  std::vector<Form> forms(Outputs Of) {
    const Facts &F = facts(Kernel);
    std::vector<Form> Out = {{false, {}}, {true, {}}};
    if (Of == Outputs::One)
      return Out;
    std::set<unsigned> May(F.Branches.begin(), F.Branches.end());
    if (Of == Outputs::InLoops)
      May.insert(F.LoopEdges.begin(), F.LoopEdges.end());
    for (const Node *S : F.Statements)
      if (mayBeDoneOnce(S))
        May.insert(F.First.lookup(S) - 1);
    auto Add = [&](unsigned Last) {
      Form X{true, F.Barriers};
      llvm::copy_if(May, std::back_inserter(X.Edges),
                    [&](unsigned E) { return E <= Last || E > Site; });
      // A loop with such a place has others around it.
      for (size_t L = 0; L < F.LoopEdges.size(); L += 2)
        if (llvm::any_of(X.Edges, [&](unsigned E) {
              return F.LoopEdges[L] < E && E < F.LoopEdges[L + 1];
            })) {
          X.Edges.push_back(F.LoopEdges[L]);
          X.Edges.push_back(F.LoopEdges[L + 1]);
        }
      Out.push_back(std::move(X));
    };
    Out.push_back({true, F.Barriers});
    Add(0);
    for (unsigned E : May)
      if (E <= Site)
        Add(E);
    return Out;
  }
  /// The same for all outputs, and reads memory, or sets something.
  bool mayBeDoneOnce(const Node *S) {
    struct Finder {
      Impl &I;
      bool Own = false, Matters = false;
      void look(const Node *N) {
        if (!N)
          return;
        if (auto *E = dyn_cast<Expr>(N)) {
          if (auto *B = dyn_cast<BinaryOperator>(E))
            Matters |= B->isAssignmentOp();
          if (auto *U = dyn_cast<UnaryOperator>(E))
            Matters |= U->isIncrementDecrementOp();
          if (const auto R = rootOf(E)) {
            Own |=
                (I.DependsOn(R->Var) & (DepThread | DepShared)) != 0 ||
                (R->Var->getIdentifier() && R->Var->getName() == "threadIdx");
            Matters |= R->Element || R->Var->hasGlobalStorage();
          }
        }
        Matters |= isa<ReturnStmt>(N);
        for (const Node *C : N->children())
          look(C);
      }
    } X{*this};
    X.look(S);
    return X.Matters && !X.Own;
  }

  Order order(const BinaryOperator *Sum, const Expr *A, const Expr *B,
              const Call &C) {
    ReadLast = Sum->isCompoundAssignmentOp() && A == Sum->getLHS();
    Leaves UpperA, LowerA, UpperB, LowerB;
    const bool KnownA = upper(A, C, 0, UpperA, -1, 0);
    lower(A, C, 0, LowerA, -1, 0);
    ReadLast = false;
    const bool KnownB = upper(B, C, 0, UpperB, -1, 0);
    lower(B, C, 0, LowerB, -1, 0);
    if (KnownA && KnownB && UpperA.empty() && UpperB.empty())
      return Order::Alike;
    // `x += b` where x is an element: it is read behind the last of b, of which
    // it is a factor, and so is not above the product.
    if (KnownA && isReadLast(Sum, A, B, C, UpperA))
      UpperA.erase(std::remove_if(UpperA.begin(), UpperA.end(),
                                  [&](const Leaf &U) {
                                    return U.At ==
                                           place(C, facts(C).Last.lookup(Sum));
                                  }),
                   UpperA.end());
    if (KnownA && below(UpperA, LowerB) != Below::Unknown)
      return Order::Left;
    if (KnownB && below(UpperB, LowerA) == Below::Strict)
      return Order::Right;
    return Order::Unknown;
  }
  bool isReadLast(const BinaryOperator *Sum, const Expr *A, const Expr *B,
                  const Call &C, const Leaves &Upper) {
    if (!Sum->isCompoundAssignmentOp() || A != Sum->getLHS() ||
        B->IgnoreParenImpCasts() != Sum->getRHS()->IgnoreParenImpCasts() ||
        !isSimple(B))
      return false;
    auto *P = dyn_cast<BinaryOperator>(B->IgnoreParenImpCasts());
    if (!P || P->getOpcode() != BO_Mul)
      return false;
    Leaves L;
    lower(B, C, 0, L, -1, 0);
    const Place Begin = place(C, B), End = place(C, facts(C).Last.lookup(Sum));
    return llvm::any_of(L, [&](const Leaf &X) { return Begin <= X.At; }) &&
           llvm::none_of(Upper, [&](const Leaf &X) {
             return X.At == End && X.Depth > 0;
           });
  }
  /// Arithmetic of what is read there, by indices that are not.
  static bool isSimple(const Node *N) {
    if (auto *C = dyn_cast<ImplicitCastExpr>(N))
      return isSimple(C->getSubExpr());
    if (auto *P = dyn_cast<ParenExpr>(N))
      return isSimple(P->getSubExpr());
    if (auto *M = dyn_cast<MemberExpr>(N))
      return !M->isArrow() && isSimple(M->getBase());
    if (auto *B = dyn_cast<BinaryOperator>(N))
      return (B->isAdditiveOp() || B->isMultiplicativeOp()) &&
             isSimple(B->getLHS()) && isSimple(B->getRHS());
    if (auto *A = dyn_cast<ArraySubscriptExpr>(N)) {
      struct Finder {
        static bool reads(const Node *X) {
          if (isa<ArraySubscriptExpr>(X) && !isa<PseudoObjectExpr>(X))
            return true;
          return llvm::any_of(X->children(),
                              [](const Node *Y) { return Y && reads(Y); });
        }
      };
      return isSimple(A->getBase()) && !Finder::reads(A->getIdx());
    }
    return isa<DeclRefExpr, FloatingLiteral, IntegerLiteral>(N);
  }

  /// Does \p L stand in a later block than \p U, whatever is computed of that:
  /// in a loop behind it, or in outputs of their own?
  bool inLaterBlock(const Leaf &U, const Leaf &L) {
    const unsigned From = U.At.empty() ? 0 : U.At.front(),
                   To = L.At.empty() ? 0 : L.At.front();
    const Facts &F = facts(Kernel);
    if (!Now->Edges.empty() && llvm::any_of(F.Barriers, [&](unsigned E) {
          return From < E && E < To;
        }))
      return true;
    for (size_t I = 0; I < F.LoopEdges.size(); I += 2)
      if (From < F.LoopEdges[I] && F.LoopEdges[I] < To &&
          To <= F.LoopEdges[I + 1])
        return true;
    return false;
  }
  Below below(const Leaf &U, const Leaf &L, bool Rewritten) {
    if (U.At < L.At && inLaterBlock(U, L))
      return Below::Strict;
    if (U.Whole && U.Whole == L.Whole)
      return U.Member <= L.Member && U.Depth <= L.Depth ? Below::Weak
                                                        : Below::Unknown;
    // Hidden where it is read, and the other one not.
    const bool Alike = U.Shared == L.Shared && U.Own == L.Own;
    const int Hiding = Rewritten && U.Shared && !Alike ? (U.Word ? 1 : 4) : 0;
    const int More = U.Depth + Hiding - L.Depth;
    if (U.At < L.At)
      return More <= 0   ? Below::Strict
             : More <= 1 ? Below::Weak
                         : Below::Unknown;
    return U.At == L.At && More <= 0 ? Below::Weak : Below::Unknown;
  }
  Below below(const Leaves &U, const Leaves &L) {
    if (L.empty())
      return Below::Unknown;
    Below All = Below::Strict;
    for (const Leaf &X : U) {
      Below Best = Below::Unknown;
      for (const Leaf &Y : L)
        Best = std::max(Best, below(X, Y, Now->Rewritten));
      All = std::min(All, Best);
    }
    return All;
  }

  /// Is what \p V holds an element, one an output, in this form?
  bool isKept(const VarDecl *V, const Call &C) {
    if (C.Caller || !V->hasLocalStorage())
      return false;
    const Facts &F = facts(C);
    const Node *D = F.Declared.lookup(V);
    const unsigned From = D ? F.Last.lookup(D) : 0;
    auto It = F.Uses.find(V);
    if (It == F.Uses.end())
      return false;
    for (const DeclRefExpr *U : It->second) {
      const unsigned To = F.First.lookup(U);
      for (unsigned E : Now->Edges)
        if (From <= E && E < To)
          return true;
      // From one round to the next.
      for (const Node *S = F.Parents.getParent(U); S;
           S = F.Parents.getParent(S))
        if (Facts::isLoop(S) && !(D && F.isIn(D, S)) &&
            llvm::is_contained(Now->Edges, F.First.lookup(S)))
          return true;
    }
    return false;
  }

  const Expr *argument(const VarDecl *V, const Call &C) {
    for (unsigned I = 0; I < C.Of->getNumParams(); ++I)
      if (C.Of->getParamDecl(I)->getCanonicalDecl() == V) {
        const unsigned Object =
            isa<CXXOperatorCallExpr>(C.At) && isa<CXXMethodDecl>(C.Of);
        return I + Object < C.At->getNumArgs() ? C.At->getArg(I + Object)
                                               : nullptr;
      }
    return nullptr;
  }

  Leaf element(const Expr *E, const VarDecl *Array, const Place &At,
               int Depth) {
    Leaf L;
    L.At = At;
    L.Depth = Depth;
    L.Shared = Array;
    L.Own = differs(E);
    QualType T = Array->getType();
    while (const auto *A = T->getAsArrayTypeUnsafe())
      T = A->getElementType();
    L.Word = T->isRealFloatingType();
    return L;
  }
  /// Is \p E another element for another thread?
  bool differs(const Expr *E) {
    if (auto *D = dyn_cast<DeclRefExpr>(E))
      if (auto *V = dyn_cast<VarDecl>(D->getDecl()))
        return !V->hasAttr<CUDASharedAttr>() &&
               ((DependsOn(V->getCanonicalDecl()) &
                 (DepThread | DepShared | DepGlobal)) ||
                (V->getIdentifier() && V->getName() == "threadIdx"));
    if (auto *P = dyn_cast<PseudoObjectExpr>(E))
      return differs(P->getSyntacticForm());
    for (const Node *C : E->children())
      if (auto *X = dyn_cast_or_null<Expr>(C); X && differs(X))
        return true;
    return false;
  }

  /// Everything numbered that \p E may be made of, as late and as deep as it
  /// may be; false: not known. \p Member: of a struct.
  bool upper(const Expr *E, const Call &C, int Depth, Leaves &Out, int Member,
             unsigned Nested) {
    if (Nested > 64 || Out.size() > 1024)
      return false;
    if (!Nested)
      Seen.clear();
    E = bare(E);
    if (!Seen.insert({E, &C, Depth, Member, Site}).second)
      return true;
    if (isa<FloatingLiteral, IntegerLiteral, CXXBoolLiteralExpr>(E))
      return true;
    if (isIndexBuiltin(E)) {
      // Made of the output's number, where outputs begin.
      if (Now->Rewritten) {
        Place Begin;
        for (unsigned X : Now->Edges)
          if (X <= Site)
            Begin = std::max(Begin, Place{X});
        Out.push_back({Begin, Depth});
      }
      return true;
    }
    if (auto *X = dyn_cast<CastExpr>(E)) {
      const bool Free =
          X->getCastKind() == CK_LValueToRValue || X->getCastKind() == CK_NoOp;
      return upper(X->getSubExpr(), C, Depth + !Free, Out, Member, Nested + 1);
    }
    if (auto *U = dyn_cast<UnaryOperator>(E);
        U && (U->getOpcode() == UO_Minus || U->getOpcode() == UO_Plus ||
              U->getOpcode() == UO_LNot))
      return upper(U->getSubExpr(), C, Depth + (U->getOpcode() == UO_LNot), Out,
                   Member, Nested + 1);
    if (auto *B = dyn_cast<BinaryOperator>(E)) {
      if (B->isCommaOp() ||
          (B->isAssignmentOp() && !B->isCompoundAssignmentOp()))
        return false;
      if (B->isLogicalOp()) // of two blocks
        Out.push_back({place(C, facts(C).Last.lookup(E)), Depth});
      return upper(B->getLHS(), C, Depth + 1, Out, -1, Nested + 1) &&
             upper(B->getRHS(), C, Depth + 1, Out, -1, Nested + 1);
    }
    if (auto *X = dyn_cast<ConditionalOperator>(E)) {
      Out.push_back({place(C, facts(C).Last.lookup(E)), Depth});
      return upper(X->getCond(), C, Depth + 1, Out, -1, Nested + 1) &&
             upper(X->getTrueExpr(), C, Depth + 1, Out, Member, Nested + 1) &&
             upper(X->getFalseExpr(), C, Depth + 1, Out, Member, Nested + 1);
    }
    if (auto *X = dyn_cast<CallExpr>(E)) {
      const FunctionDecl *F = X->getDirectCallee();
      if (!F || !F->getIdentifier())
        return false;
      for (StringRef N :
           {"fabsf", "fabs", "__fmul_rn", "__fadd_rn", "__fsub_rn", "__dmul_rn",
            "__dadd_rn", "__dsub_rn", "__ldg"})
        if (F->getName() == N) {
          if (N == "__ldg")
            return Out.push_back({place(C, facts(C).Last.lookup(E)), Depth}),
                   true;
          for (const Expr *A : X->arguments())
            if (!upper(A, C, Depth + 1, Out, -1, Nested + 1))
              return false;
          return true;
        }
      return false;
    }
    const auto R = rootOf(E);
    if (!R || R->Deep)
      return false;
    if (R->Member >= 0)
      Member = R->Member;
    const VarDecl *V = R->Var;
    const Facts &F = facts(C);
    const Place Here = place(C, ReadLast && isTarget(E, F)
                                    ? F.Last.lookup(F.Parents.getParent(E))
                                    : F.First.lookup(E));
    if (V->hasAttr<CUDASharedAttr>()) {
      Leaf L = element(E, V, Here, Depth);
      if (R->Member < 0 && Member >= 0)
        L.Whole = E, L.Member = Member;
      Out.push_back(L);
      return true;
    }
    if (V->hasGlobalStorage() ||
        (R->Element && V->getType()->isPointerType())) {
      Leaf L;
      L.At = Here;
      L.Depth = Depth;
      if (R->Member < 0 && Member >= 0)
        L.Whole = E, L.Member = Member;
      Out.push_back(L);
      return true;
    }
    if (F.Escaped.count(V))
      return false;
    if (V->getType()->isReferenceType()) {
      // What it stands for, read here.
      const Expr *Of = isa<ParmVarDecl>(V)
                           ? (C.Caller ? argument(V, C) : nullptr)
                           : V->getInit();
      if (!Of)
        return false;
      const Call &There = isa<ParmVarDecl>(V) ? *C.Caller : C;
      const auto X = rootOf(Of);
      if (!X || !X->Var->hasAttr<CUDASharedAttr>())
        return false;
      (void)There;
      Out.push_back(element(Of, X->Var, Here, Depth));
      return true;
    }
    auto Set = F.Sets.find(V);
    const bool IsSet = Set != F.Sets.end();
    if (isa<ParmVarDecl>(V) && !IsSet) {
      if (!C.Caller)
        return true;
      const Expr *A = argument(V, C);
      return A && upper(A, *C.Caller, Depth, Out, Member, Nested + 1);
    }
    if (isa<ParmVarDecl>(V) && C.Caller)
      return false;
    const bool Array = V->getType()->isArrayType();
    if (Array || isKept(V, C)) {
      Leaf L;
      L.At = Here;
      L.Depth = Depth;
      if (R->Member < 0 && Member >= 0)
        L.Whole = E, L.Member = Member;
      Out.push_back(L);
    }
    if (!IsSet)
      return isa<ParmVarDecl>(V) || Array || V->getType()->isRecordType();
    // Its values so far, and what loops and branches make of them.
    int Compounds = 0;
    for (const Facts::Assignment &S : Set->second)
      Compounds += S.Compound && F.Last.lookup(S.At) < F.First.lookup(E);
    for (const Facts::Assignment &S : Set->second) {
      if (S.Member >= 0 && Member >= 0 && S.Member != Member)
        continue;
      const bool Before = F.Last.lookup(S.At) < F.First.lookup(E);
      const Node *Outermost = nullptr;
      for (const Node *P = F.Parents.getParent(S.At); P && !F.isIn(E, P);
           P = F.Parents.getParent(P))
        if (Facts::isLoop(P) || isa<IfStmt, SwitchStmt, ConditionalOperator>(P))
          Outermost = P;
      for (const Node *P = F.Parents.getParent(S.At); P;
           P = F.Parents.getParent(P))
        if (Facts::isLoop(P) && F.isIn(E, P))
          Out.push_back({place(C, P), Depth + Compounds});
      if (!Before)
        continue;
      if (Outermost)
        Out.push_back({place(C, F.Last.lookup(Outermost)), Depth + Compounds});
      if (!S.Value)
        continue; // ++: of integers
      const unsigned Here = Site;
      if (!C.Caller)
        Site = F.First.lookup(S.At);
      const bool Ok = upper(S.Value, C, Depth + Compounds, Out,
                            S.Member < 0 ? Member : -1, Nested + 1);
      Site = Here;
      if (!Ok)
        return false;
    }
    return true;
  }
  /// What a compound assignment changes.
  static bool isTarget(const Expr *E, const Facts &F) {
    auto *B = dyn_cast_or_null<CompoundAssignOperator>(F.Parents.getParent(E));
    return B && B->getLHS() == E;
  }

  /// What is certainly numbered no earlier than that, and goes into \p E.
  void lower(const Expr *E, const Call &C, int Depth, Leaves &Out, int Member,
             unsigned Nested) {
    if (Nested > 64 || Out.size() > 256)
      return;
    E = bare(E);
    if (isIndexBuiltin(E))
      return;
    if (auto *X = dyn_cast<CastExpr>(E))
      return lower(X->getSubExpr(), C, Depth, Out, Member, Nested + 1);
    if (auto *U = dyn_cast<UnaryOperator>(E);
        U && (U->getOpcode() == UO_Minus || U->getOpcode() == UO_Plus))
      return lower(U->getSubExpr(), C, Depth, Out, Member, Nested + 1);
    if (auto *B = dyn_cast<BinaryOperator>(E)) {
      if ((B->isAdditiveOp() || B->isMultiplicativeOp()) &&
          B->getType()->isRealFloatingType()) {
        lower(B->getLHS(), C, Depth + isNoConstant(B->getRHS(), C, 0), Out, -1,
              Nested + 1);
        lower(B->getRHS(), C, Depth + isNoConstant(B->getLHS(), C, 0), Out, -1,
              Nested + 1);
      }
      return;
    }
    const auto R = rootOf(E);
    if (!R || R->Deep)
      return;
    if (R->Member >= 0)
      Member = R->Member;
    const VarDecl *V = R->Var;
    const Facts &F = facts(C);
    if (V->hasAttr<CUDASharedAttr>()) {
      const Expr *Same = firstEqual(E, V, C);
      Leaf L = element(E, V, place(C, Same), Depth);
      if (R->Member < 0 && Member >= 0)
        L.Whole = E, L.Member = Member;
      if (L.Whole && Same != E)
        return;
      Out.push_back(L);
      return;
    }
    if (V->hasGlobalStorage() ||
        (R->Element && V->getType()->isPointerType())) {
      Out.push_back({{0}, Depth});
      return;
    }
    if (F.Escaped.count(V) || V->getType()->isReferenceType() ||
        V->getType()->isArrayType())
      return;
    auto Set = F.Sets.find(V);
    if (isa<ParmVarDecl>(V)) {
      if (C.Caller && Set == F.Sets.end())
        if (const Expr *A = argument(V, C))
          lower(A, *C.Caller, Depth, Out, Member, Nested + 1);
      return;
    }
    if (isKept(V, C)) {
      if (!(DependsOn(V) & (DepThread | DepShared)))
        return;
      // From its first use; or the value itself is still at hand.
      Leaf L;
      L.Depth = Depth;
      if (R->Member < 0 && Member >= 0)
        L.Whole = E, L.Member = Member;
      const unsigned First = firstUse(E, R->Use, V, Member, F);
      if (L.Whole && First != F.First.lookup(E))
        return;
      L.At = place(C, First);
      if (!valueAtHand(E, V, F))
        Out.push_back(L);
      return;
    }
    if (Set != F.Sets.end())
      lowerOfSets(Set->second, E, C, Depth, Out, Member, Nested);
  }
  /// ... of a variable whose value at \p E is made by statements in a row.
  void lowerOfSets(const std::vector<Facts::Assignment> &Sets, const Expr *E,
                   const Call &C, int Depth, Leaves &Out, int Member,
                   unsigned Nested) {
    const Facts &F = facts(C);
    std::vector<const Facts::Assignment *> Row;
    for (const Facts::Assignment &S : Sets) {
      if (S.Member >= 0 && Member >= 0 && S.Member != Member)
        continue;
      if (!S.Value || F.Last.lookup(S.At) >= F.First.lookup(E)) {
        // Behind, or around: in the next round.
        for (const Node *P = F.Parents.getParent(S.At); P; P = F.Parents.getParent(P))
          if (Facts::isLoop(P) && F.isIn(E, P) &&
              (Row.empty() || !F.isIn(Row.front()->At, P)))
            return;
        continue;
      }
      for (const Node *P = F.Parents.getParent(S.At); P && !F.isIn(E, P);
           P = F.Parents.getParent(P))
        if (!isa<CompoundStmt, ExprWithCleanups>(P))
          return;
      if (!S.Compound)
        Row.clear();
      Row.push_back(&S);
    }
    if (Row.empty() || Row.front()->Compound)
      return;
    for (size_t I = 0; I < Row.size(); ++I) {
      auto *B = dyn_cast<CompoundAssignOperator>(Row[I]->At);
      if (Row[I]->Compound &&
          (!B || !isa<DeclRefExpr>(bare(B->getLHS())) ||
           (B->getOpcode() != BO_AddAssign && B->getOpcode() != BO_SubAssign)))
        return;
    }
    // Only the last value: what came before may be gone for a constant.
    lower(Row.back()->Value, C, Depth, Out, Row.back()->Member < 0 ? Member : -1,
          Nested + 1);
    if (!Row.back()->Compound)
      return;
    for (size_t I = 0; I + 1 < Row.size(); ++I)
      lower(Row[I]->Value, C, Depth, Out, Row[I]->Member < 0 ? Member : -1, Nested + 1);
  }

  /// Is \p E certainly no constant that an operation could go away with?
  bool isNoConstant(const Expr *E, const Call &C, unsigned Nested) {
    if (Nested > 16)
      return false;
    E = bare(E);
    if (auto *F = dyn_cast<FloatingLiteral>(E)) {
      const double X = std::abs(F->getValueAsApproximateDouble());
      return X != 0 && X != 1;
    }
    if (isIndexBuiltin(E))
      return true;
    if (auto *X = dyn_cast<CastExpr>(E))
      return isNoConstant(X->getSubExpr(), C, Nested + 1);
    if (auto *U = dyn_cast<UnaryOperator>(E))
      return isNoConstant(U->getSubExpr(), C, Nested + 1);
    if (auto *B = dyn_cast<BinaryOperator>(E))
      return (B->isAdditiveOp() || B->isMultiplicativeOp()) &&
             (isNoConstant(B->getLHS(), C, Nested + 1) ||
              isNoConstant(B->getRHS(), C, Nested + 1)) &&
             !isa<FloatingLiteral>(bare(B->getLHS())) &&
             !isa<FloatingLiteral>(bare(B->getRHS()));
    const auto R = rootOf(E);
    if (!R)
      return false;
    const VarDecl *V = R->Var;
    if (V->hasAttr<CUDASharedAttr>())
      return true;
    if (V->hasGlobalStorage())
      return !V->getType().isConstQualified() && !V->getInit();
    if (R->Element && V->getType()->isPointerType())
      return true;
    const Facts &F = facts(C);
    if (isa<ParmVarDecl>(V)) {
      if (F.Sets.count(V))
        return false;
      if (!C.Caller)
        return true;
      const Expr *A = argument(V, C);
      return A && isNoConstant(A, *C.Caller, Nested + 1);
    }
    if (F.isSetOnce(V))
      return isNoConstant(F.Sets.find(V)->second.front().Value, C, Nested + 1);
    return false;
  }

  /// The first read since a barrier of what may be the same element: of a view,
  /// or of shared memory, compilers may have one for both.
  const Expr *firstEqual(const Expr *E, const VarDecl *Array, const Call &C) {
    const Facts &F = facts(C);
    const unsigned At = F.First.lookup(E);
    for (const Expr *X : F.SharedReads) {
      const auto R = rootOf(X);
      const unsigned Of = F.First.lookup(X);
      if (Of >= At)
        break;
      if (R->Var == Array && !areDifferent(X, E, F) && !F.isIn(E, X) &&
          llvm::none_of(F.Barriers,
                        [&](unsigned B) { return Of < B && B < At; }))
        return X;
    }
    return E;
  }
  /// Are these two elements, or members, certainly not the same?
  static bool areDifferent(const Expr *X, const Expr *Y, const Facts &F) {
    for (;;) {
      X = X->IgnoreParenImpCasts();
      Y = Y->IgnoreParenImpCasts();
      auto *MX = dyn_cast<MemberExpr>(X), *MY = dyn_cast<MemberExpr>(Y);
      if (MX && MY) {
        if (MX->getMemberDecl() != MY->getMemberDecl())
          return true;
      } else if (MX || MY) {
        // The whole and a part.
        (MX ? X : Y) = (MX ? MX : MY)->getBase();
        continue;
      }
      auto *AX = dyn_cast<ArraySubscriptExpr>(X),
           *AY = dyn_cast<ArraySubscriptExpr>(Y);
      if (AX && AY) {
        Linear L, R;
        linear(AX->getIdx(), F, 1, 0, L);
        linear(AY->getIdx(), F, 1, 0, R);
        if (L.Terms == R.Terms ? L.Constant != R.Constant : L.Plain && R.Plain)
          return true;
      } else if (!MX || !MY) {
        return false;
      }
      X = MX ? MX->getBase() : AX->getBase();
      Y = MY ? MY->getBase() : AY->getBase();
    }
  }
  struct Linear {
    std::map<std::string, int64_t> Terms;
    int64_t Constant = 0;
    bool Plain = true; ///< of arguments, indices and loops: equal if they look equal
  };
  static bool isPlain(const Expr *E, const Facts &F) {
    E = bare(E->IgnoreParenImpCasts());
    if (isIndexBuiltin(E))
      return true;
    auto *D = dyn_cast<DeclRefExpr>(E);
    auto *V = D ? dyn_cast<VarDecl>(D->getDecl()) : nullptr;
    if (!V || F.Escaped.count(V->getCanonicalDecl()))
      return false;
    auto Set = F.Sets.find(V->getCanonicalDecl());
    if (isa<ParmVarDecl>(V))
      return Set == F.Sets.end();
    auto *For = dyn_cast_or_null<ForStmt>(
        F.Parents.getParent(F.Declared.lookup(V->getCanonicalDecl())));
    return For && Set != F.Sets.end() && Set->second.size() == 2 &&
           For->getInc() && F.isIn(Set->second.back().At, For->getInc());
  }
  static void linear(const Expr *E, const Facts &F, int64_t Times,
                     unsigned Nested, Linear &Out) {
    E = E->IgnoreParenImpCasts();
    if (auto *I = dyn_cast<IntegerLiteral>(E)) {
      Out.Constant += Times * I->getValue().getSExtValue();
      return;
    }
    if (auto *B = dyn_cast<BinaryOperator>(E); B && B->isAdditiveOp()) {
      linear(B->getLHS(), F, Times, Nested + 1, Out);
      return linear(B->getRHS(), F, B->getOpcode() == BO_Sub ? -Times : Times,
                    Nested + 1, Out);
    }
    if (auto *D = dyn_cast<DeclRefExpr>(E); D && Nested < 8)
      if (auto *V = dyn_cast<VarDecl>(D->getDecl());
          V && V->hasLocalStorage() && F.isSetOnce(V->getCanonicalDecl()))
        return linear(V->getInit(), F, Times, Nested + 1, Out);
    Out.Plain &= isPlain(E, F);
    int64_t &N = Out.Terms[canonical(E, F, Nested)];
    N += Times;
    if (N == 0)
      Out.Terms.erase(canonical(E, F, Nested));
  }
  static std::string canonical(const Expr *E, const Facts &F, unsigned Depth) {
    E = E->IgnoreParenImpCasts();
    if (auto *B = dyn_cast<BinaryOperator>(E)) {
      std::string L = canonical(B->getLHS(), F, Depth),
                  R = canonical(B->getRHS(), F, Depth);
      if ((B->getOpcode() == BO_Add || B->getOpcode() == BO_Mul) && R < L)
        std::swap(L, R);
      return "(" + L + BinaryOperator::getOpcodeStr(B->getOpcode()).str() + R +
             ")";
    }
    if (auto *A = dyn_cast<ArraySubscriptExpr>(E))
      return canonical(A->getBase(), F, Depth) + "[" +
             canonical(A->getIdx(), F, Depth) + "]";
    if (auto *M = dyn_cast<MemberExpr>(E))
      return canonical(M->getBase(), F, Depth) + "." +
             M->getMemberDecl()->getNameAsString();
    if (auto *D = dyn_cast<DeclRefExpr>(E))
      if (auto *V = dyn_cast<VarDecl>(D->getDecl());
          V && Depth < 8 && V->hasLocalStorage() &&
          F.isSetOnce(V->getCanonicalDecl()))
        return canonical(V->getInit(), F, Depth + 1);
    std::string T;
    llvm::raw_string_ostream OS(T);
    E->printPretty(OS, nullptr, PrintingPolicy(LangOptions()));
    return T;
  }
  /// The first use of \p V, or of its member, where outputs begin last.
  unsigned firstUse(const Expr *E, const DeclRefExpr *Use, const VarDecl *V,
                    int Member, const Facts &F) {
    const unsigned At = F.First.lookup(E);
    unsigned From = 0;
    for (unsigned X : Now->Edges)
      if (X < At)
        From = std::max(From, X);
    for (const DeclRefExpr *D : F.Uses.find(V)->second) {
      const unsigned Of = F.First.lookup(D);
      if (D == Use || Of <= From || Of >= At)
        continue;
      auto *M = dyn_cast_or_null<MemberExpr>(F.Parents.getParent(D));
      auto *X = M ? dyn_cast<FieldDecl>(M->getMemberDecl()) : nullptr;
      if (!X || int(X->getFieldIndex()) == Member)
        return std::min(Of, At);
    }
    return At;
  }
  /// Is \p V set where this output's statements are, so that nothing is read?
  bool valueAtHand(const Expr *E, const VarDecl *V, const Facts &F) {
    const unsigned At = F.First.lookup(E);
    unsigned From = 0;
    for (unsigned X : Now->Edges)
      if (X < At)
        From = std::max(From, X);
    auto It = F.Sets.find(V);
    if (It == F.Sets.end())
      return false;
    for (const Facts::Assignment &S : It->second)
      if (F.Last.lookup(S.At) > From)
        return true; // or later, in a loop
    return false;
  }
};

FusionOrder::FusionOrder(const FunctionDecl *Kernel, Dependences DependsOn)
    : I(std::make_unique<Impl>(Kernel, DependsOn)) {}
FusionOrder::~FusionOrder() = default;

bool FusionOrder::keeps(const BinaryOperator *Sum, Operand L, Operand R,
                        const Call &In, Outputs Of) {
  return I->keeps(Sum, L, R, In, Of);
}

} // namespace rcache
