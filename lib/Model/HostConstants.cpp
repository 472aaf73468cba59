// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See HostConstants.h.

#include "HostConstants.h"
#include "Conditions.h"
#include "HostLocals.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/ExprCXX.h"
#include "clang/Basic/SourceManager.h"
#include "llvm/Support/MathExtras.h"
#include <functional>

using namespace clang;

namespace rcache {

namespace {

/// Bounds of the work: expressions in one another, expressions of one launch
/// and way of calling, calls from the launch outwards.
constexpr unsigned MostDepth = 32, MostSteps = 2000, MostCalls = 6;

std::optional<int64_t> calculated(BinaryOperatorKind K, int64_t X, int64_t Y) {
  int64_t Z = 0;
  switch (K) {
  case BO_Add:
    return llvm::AddOverflow(X, Y, Z) ? std::nullopt : std::optional(Z);
  case BO_Sub:
    return llvm::SubOverflow(X, Y, Z) ? std::nullopt : std::optional(Z);
  case BO_Mul:
    return llvm::MulOverflow(X, Y, Z) ? std::nullopt : std::optional(Z);
  case BO_Div:
    return Y == 0 || Y == -1 ? std::nullopt : std::optional(X / Y);
  case BO_Rem:
    return Y == 0 || Y == -1 ? std::nullopt : std::optional(X % Y);
  case BO_Shl:
    if (X < 0 || Y < 0 || Y > 62 || X > INT64_MAX >> Y)
      return std::nullopt;
    return X << Y;
  case BO_Shr:
    return X < 0 || Y < 0 || Y > 62 ? std::nullopt : std::optional(X >> Y);
  case BO_And:
    return X & Y;
  case BO_Or:
    return X | Y;
  case BO_Xor:
    return X ^ Y;
  case BO_LT:
    return X < Y;
  case BO_GT:
    return X > Y;
  case BO_LE:
    return X <= Y;
  case BO_GE:
    return X >= Y;
  case BO_EQ:
    return X == Y;
  case BO_NE:
    return X != Y;
  case BO_LAnd:
    return X && Y;
  case BO_LOr:
    return X || Y;
  default:
    return std::nullopt;
  }
}

} // namespace

static bool isDim3(QualType T) {
  auto *D = T->getAsCXXRecordDecl();
  return D && D->getIdentifier() && D->getName() == "dim3";
}

const Expr *peel(const Expr *E, bool Casts) {
  while (E) {
    E = E->IgnoreParenImpCasts();
    if (auto *M = dyn_cast<MaterializeTemporaryExpr>(E))
      E = M->getSubExpr();
    else if (auto *F = dyn_cast<FullExpr>(E))
      E = F->getSubExpr();
    else if (auto *B = dyn_cast<CXXBindTemporaryExpr>(E))
      E = B->getSubExpr();
    else if (auto *C = dyn_cast<CXXFunctionalCastExpr>(E); C && Casts)
      E = C->getSubExpr();
    else if (auto *D = dyn_cast<CXXDefaultArgExpr>(E))
      E = D->getExpr();
    else
      return E;
  }
  return E;
}

bool HostVisitor::TraverseDecl(const Decl *D) {
  const FunctionDecl *Saved = Function;
  if (auto *F = dyn_cast_or_null<FunctionDecl>(D))
    Function = F;
  const bool R = ConstDynamicRecursiveASTVisitor::TraverseDecl(D);
  Function = Saved;
  return R;
}

bool HostVisitor::TraverseLambdaExpr(const LambdaExpr *L) {
  const FunctionDecl *Saved = Function;
  Function = L->getCallOperator();
  bool R = ConstDynamicRecursiveASTVisitor::TraverseLambdaExpr(L);
  Function = Saved;
  // What was made of a generic one hangs on its class, which is no written text.
  if (const FunctionTemplateDecl *T = L->getDependentCallOperator())
    for (const FunctionDecl *F : T->specializations())
      R = R && TraverseDecl(F);
  return R;
}

HostConstants::HostConstants(ASTContext &AC) : AC(AC) {
  struct Collector : HostVisitor {
    decltype(Calls) *To;
    bool VisitCallExpr(const CallExpr *C) override {
      if (const FunctionDecl *F = C->getDirectCallee(); F && Function)
        (*To)[F->getCanonicalDecl()].push_back({C, Function});
      return true;
    }
    bool TraverseLambdaExpr(const LambdaExpr *L) override {
      if (const FunctionDecl *F = L->getCallOperator(); F && Function)
        (*To)[F->getCanonicalDecl()].push_back({nullptr, Function});
      return HostVisitor::TraverseLambdaExpr(L);
    }
  } Collect;
  Collect.To = &Calls;
  const SourceManager &SM = AC.getSourceManager();
  for (const Decl *D : AC.getTranslationUnitDecl()->decls())
    if (SM.getFileID(SM.getExpansionLoc(D->getLocation())) ==
        SM.getMainFileID())
      Collect.TraverseDecl(const_cast<Decl *>(D));
}

bool HostConstants::modified(const VarDecl *V) const {
  auto [It, New] = Modified.try_emplace(V, true);
  if (!New)
    return It->second;
  const bool Is = V->isFileVarDecl() && !V->getType().isConstQualified()
                      ? setInFile(V, AC)
                      : everModified(V);
  return Modified[V] = Is;
}

const Expr *HostConstants::argument(const VarDecl *V, const Frame *&In,
                                    bool AsPassed) const {
  auto *P = dyn_cast<ParmVarDecl>(V);
  auto *F = P ? dyn_cast<FunctionDecl>(P->getDeclContext()) : nullptr;
  if (!F || (!AsPassed && modified(V)))
    return nullptr;
  // What a lambda captures is a parameter of a function further out.
  const Frame *Of = In;
  while (Of && Of->Callee != F->getCanonicalDecl())
    Of = Of->Outer;
  if (!Of || !Of->E)
    return nullptr;
  const unsigned I = P->getFunctionScopeIndex() + objectArguments(Of->E);
  if (I >= Of->E->getNumArgs())
    return nullptr;
  In = Of->Outer;
  return Of->E->getArg(I);
}

const Expr *HostConstants::returned(const clang::Stmt *S, const Frame &In,
                                    unsigned Depth, bool &Lost) const {
  if (auto *C = dyn_cast_or_null<CompoundStmt>(S)) {
    for (const clang::Stmt *Part : C->body())
      if (const Expr *E = returned(Part, In, Depth + 1, Lost); E || Lost)
        return E;
    return nullptr;
  }
  if (auto *R = dyn_cast_or_null<ReturnStmt>(S)) {
    Lost = !R->getRetValue();
    return R->getRetValue();
  }
  if (auto *I = dyn_cast_or_null<IfStmt>(S); I && plainCondition(I)) {
    const auto Taken = integer(plainCondition(I), &In, Depth + 1);
    Lost = !Taken;
    const clang::Stmt *Next = Lost     ? nullptr
                              : *Taken ? I->getThen()
                                       : I->getElse();
    return Next ? returned(Next, In, Depth + 1, Lost) : nullptr;
  }
  // Variables are looked at where they are used.
  Lost = !S || !(isa<DeclStmt>(S) || isa<NullStmt>(S) || isa<Expr>(S));
  return nullptr;
}

template <typename T>
std::optional<T> HostConstants::called(
    const CallExpr *C, const Frame *In, unsigned Depth,
    llvm::function_ref<std::optional<T>(const Expr *, const Frame *)> Value)
    const {
  const FunctionDecl *F = C->getDirectCallee(), *Def = nullptr;
  if (!F || !F->hasBody(Def) || Depth > MostDepth)
    return std::nullopt;
  const Frame Inner{F->getCanonicalDecl(), C, In};
  bool Lost = false;
  const Expr *E = returned(Def->getBody(), Inner, Depth + 1, Lost);
  return E ? Value(E, &Inner) : std::nullopt;
}

std::optional<int64_t> HostConstants::libraryCall(const CallExpr *C,
                                                  const Frame *In,
                                                  unsigned Depth) const {
  const FunctionDecl *F = C->getDirectCallee();
  if (!F || !F->getIdentifier() || C->getNumArgs() != 2 ||
      !AC.getSourceManager().isInSystemHeader(F->getLocation()) ||
      (F->getName() != "min" && F->getName() != "max"))
    return std::nullopt;
  const auto X = integer(C->getArg(0), In, Depth + 1);
  const auto Y = integer(C->getArg(1), In, Depth + 1);
  if (!X || !Y)
    return std::nullopt;
  return F->getName() == "min" ? std::min(*X, *Y) : std::max(*X, *Y);
}

std::optional<int64_t> HostConstants::operation(const Expr *E, const Frame *In,
                                                unsigned Depth) const {
  if (auto *B = dyn_cast<BinaryOperator>(E)) {
    const auto X = integer(B->getLHS(), In, Depth + 1);
    if (X && B->getOpcode() == BO_LAnd && !*X)
      return 0;
    if (X && B->getOpcode() == BO_LOr && *X)
      return 1;
    const auto Y = integer(B->getRHS(), In, Depth + 1);
    return X && Y ? calculated(B->getOpcode(), *X, *Y) : std::nullopt;
  }
  if (auto *U = dyn_cast<UnaryOperator>(E)) {
    const auto X = integer(U->getSubExpr(), In, Depth + 1);
    if (!X || *X == INT64_MIN)
      return std::nullopt;
    switch (U->getOpcode()) {
    case UO_Plus:
      return X;
    case UO_Minus:
      return -*X;
    case UO_LNot:
      return !*X;
    default:
      return std::nullopt;
    }
  }
  if (auto *C = dyn_cast<ConditionalOperator>(E)) {
    if (const auto X = integer(C->getCond(), In, Depth + 1))
      return integer(*X ? C->getTrueExpr() : C->getFalseExpr(), In, Depth + 1);
    // `n > 1000 ? 3 : 3`
    const auto True = integer(C->getTrueExpr(), In, Depth + 1);
    return True && True == integer(C->getFalseExpr(), In, Depth + 1)
               ? True
               : std::nullopt;
  }
  if (auto *C = dyn_cast<ExplicitCastExpr>(E))
    return integer(C->getSubExpr(), In, Depth + 1);
  if (auto *C = dyn_cast<CallExpr>(E)) {
    const auto X = called<int64_t>(C, In, Depth + 1,
                                   [&](const Expr *Value, const Frame *Inner) {
                                     return integer(Value, Inner, Depth + 1);
                                   });
    return X ? X : libraryCall(C, In, Depth);
  }
  return std::nullopt;
}

bool HostConstants::fits(int64_t Value, QualType T) const {
  const unsigned Bits = AC.getIntWidth(T);
  if (T->isUnsignedIntegerOrEnumerationType())
    return Value >= 0 && (Bits > 62 || Value < int64_t(1) << Bits);
  return Bits > 63 || (Value >= -(int64_t(1) << (Bits - 1)) &&
                       Value < int64_t(1) << (Bits - 1));
}

std::optional<int64_t> HostConstants::lastSet(const Expr *Use, const VarDecl *V,
                                              int Field, const Frame *In,
                                              unsigned Depth) const {
  const clang::Stmt *At = Use;
  // `v *= 2` and the like, from the last one back.
  llvm::SmallVector<HostSet, 4> Changes;
  std::optional<int64_t> Value;
  auto Of = [&](const Expr *E, const Frame *Where) -> std::optional<int64_t> {
    if (Field < 0)
      return integer(E, Where, Depth + 1);
    const auto D = dims(E, Where, Depth + 1);
    return D ? std::optional((*D)[static_cast<size_t>(Field)]) : std::nullopt;
  };
  while (!Value) {
    if (Depth + Changes.size() > MostDepth || Steps == 0)
      return std::nullopt;
    --Steps;
    const HostSet S =
        Flow.at(At, V, Field, [&](const Expr *Cond) -> std::optional<bool> {
          const auto X = integer(Cond, In, Depth + 1);
          return X ? std::optional(*X != 0) : std::nullopt;
        });
    switch (S.K) {
    case HostSet::Unknown:
      return std::nullopt;
    case HostSet::Argument: {
      const Frame *Where = In;
      const Expr *A = argument(V, Where, /*AsPassed=*/true);
      Value = A ? Of(A, Where) : std::nullopt;
      break;
    }
    case HostSet::Whole:
      Value = S.E ? Of(S.E, In) : std::nullopt;
      break;
    case HostSet::Component:
      Value = integer(S.E, In, Depth + 1);
      break;
    case HostSet::Changed:
      Changes.push_back(S);
      At = S.Before;
      continue;
    }
    if (!Value)
      return std::nullopt;
  }
  for (const HostSet &C : llvm::reverse(Changes)) {
    const auto By = C.E ? integer(C.E, In, Depth + 1) : std::optional<int64_t>(1);
    Value = By ? calculated(C.Op, *Value, *By) : std::nullopt;
    if (!Value)
      return std::nullopt;
  }
  return Value;
}

/// The first parameter of main?
static bool isArgumentCount(const VarDecl *V) {
  auto *P = dyn_cast<ParmVarDecl>(V);
  auto *F = P ? dyn_cast<FunctionDecl>(P->getDeclContext()) : nullptr;
  return F && F->isMain() && P->getFunctionScopeIndex() == 0;
}

/// Values that do not fit an expression's type, whose bits would count, are not
/// known.
std::optional<int64_t> HostConstants::integer(const Expr *E, const Frame *In,
                                              unsigned Depth) const {
  if (!E || E->isValueDependent() || Depth > MostDepth || Steps == 0 ||
      !E->getType()->isIntegralOrEnumerationType())
    return std::nullopt;
  --Steps;
  Expr::EvalResult R;
  if (E->EvaluateAsInt(R, AC))
    return R.Val.getInt().tryExtValue();
  const Expr *P = peel(E, /*Casts=*/false);
  if (!P->getType()->isIntegralOrEnumerationType())
    return std::nullopt;
  std::optional<int64_t> Value;
  if (auto *D = dyn_cast<DeclRefExpr>(P)) {
    // `int threads = 256;` that stays so.
    if (auto *V = dyn_cast<VarDecl>(D->getDecl())) {
      // What a reference leads to may be set later.
      const Expr *Init = isa<ParmVarDecl>(V) ? nullptr : V->getInit();
      auto *Root = Init && V->getType()->isReferenceType()
                       ? dyn_cast<DeclRefExpr>(peel(Init))
                       : nullptr;
      auto *Named = Root ? dyn_cast<VarDecl>(Root->getDecl()) : nullptr;
      if (Named && modified(Named))
        return std::nullopt;
      if (Init && !modified(V))
        Value = integer(Init, In, Depth + 1);
      else if (const Expr *A = argument(V, In))
        Value = integer(A, In, Depth + 1);
      else if (WithoutArguments && isArgumentCount(V) && !modified(V))
        Value = 1;
      else
        Value = lastSet(P, V, -1, In, Depth);
    }
  } else if (auto *M = dyn_cast<MemberExpr>(P)) { // `block.x`
    const auto *Field = dyn_cast<FieldDecl>(M->getMemberDecl());
    auto *R = dyn_cast<DeclRefExpr>(M->getBase()->IgnoreParenImpCasts());
    auto *V = R ? dyn_cast<VarDecl>(R->getDecl()) : nullptr;
    if (Field && V && Field->getFieldIndex() < 3 && isDim3(V->getType()) &&
        !V->isFileVarDecl() && modified(V))
      Value = lastSet(P, V, static_cast<int>(Field->getFieldIndex()), In, Depth);
    const auto D = Value ? std::optional<Dims>() : Field && !M->isArrow() && Field->getFieldIndex() < 3
                       ? dims(M->getBase(), In, Depth + 1)
                       : std::nullopt;
    if (D)
      Value = (*D)[Field->getFieldIndex()];
  } else
    Value = operation(P, In, Depth);
  if (Value && E->getType()->isBooleanType())
    Value = *Value != 0;
  return Value && fits(*Value, P->getType()) && fits(*Value, E->getType())
             ? Value
             : std::nullopt;
}

std::optional<Dims> HostConstants::dims(const Expr *E, const Frame *In,
                                        unsigned Depth) const {
  if (!E || E->isValueDependent() || Depth > MostDepth)
    return std::nullopt;
  E = peel(E);
  if (E->getType()->isIntegralOrEnumerationType()) {
    if (auto X = integer(E, In, Depth + 1))
      return Dims{*X, 1, 1};
    return std::nullopt;
  }
  if (!isDim3(E->getType()))
    return std::nullopt;
  llvm::SmallVector<const Expr *, 3> Parts;
  if (auto *C = dyn_cast<CXXConstructExpr>(E)) {
    if (C->getNumArgs() == 1 &&
        !peel(C->getArg(0))->getType()->isIntegralOrEnumerationType())
      return dims(C->getArg(0), In, Depth + 1); // copy
    Parts.append(C->arg_begin(), C->arg_end());
  } else if (auto *L = dyn_cast<InitListExpr>(E)) {
    for (unsigned I = 0; I < L->getNumInits(); ++I)
      Parts.push_back(L->getInit(I));
  } else if (auto *C = dyn_cast<CallExpr>(E)) {
    return called<Dims>(C, In, Depth + 1,
                        [&](const Expr *Value, const Frame *Inner) {
                          return dims(Value, Inner, Depth + 1);
                        });
  } else {
    auto *R = dyn_cast<DeclRefExpr>(E);
    auto *V = R ? dyn_cast<VarDecl>(R->getDecl()) : nullptr;
    if (!V)
      return std::nullopt;
    if (V->getInit() && !isa<ParmVarDecl>(V) &&
        (V->getType().isConstQualified() || !modified(V)))
      return dims(V->getInit(), In, Depth + 1);
    if (const Expr *A = argument(V, In))
      return dims(A, In, Depth + 1);
    Dims Value{1, 1, 1};
    for (int I = 0; I < 3; ++I) {
      const auto X = lastSet(E, V, I, In, Depth);
      if (!X)
        return std::nullopt;
      Value[static_cast<size_t>(I)] = *X;
    }
    return Value;
  }
  Dims Value{1, 1, 1};
  for (unsigned I = 0; I < Parts.size() && I < 3; ++I) {
    auto X = integer(Parts[I], In, Depth + 1);
    if (!X)
      return std::nullopt;
    Value[I] = *X;
  }
  return Value;
}

std::vector<const Expr *> HostConstants::arguments(const FunctionDecl *F,
                                                   unsigned I) const {
  std::vector<const Expr *> All;
  auto It = F ? Calls.find(F->getCanonicalDecl()) : Calls.end();
  if (It != Calls.end())
    for (const Call &C : It->second)
      if (C.E && I + objectArguments(C.E) < C.E->getNumArgs() &&
          All.size() < 16)
        All.push_back(C.E->getArg(I + objectArguments(C.E)));
  return All;
}

std::optional<Dims> HostConstants::dims(const Expr *E) const {
  Steps = MostSteps;
  return dims(E, nullptr, 0);
}

std::vector<Dims>
HostConstants::possibleDims(const Expr *E, const FunctionDecl *Function) const {
  std::vector<Dims> Found;
  unsigned Left = 64; // calls to look at
  // From the launch outwards: the caller's frame is the outer one, so the chain
  // is made anew for each call.
  llvm::SmallVector<std::pair<const FunctionDecl *, const CallExpr *>, 4> Chain;
  std::function<void(const FunctionDecl *)> Look = [&](const FunctionDecl *F) {
    auto It = F ? Calls.find(F->getCanonicalDecl()) : Calls.end();
    if (It == Calls.end() || Chain.size() >= MostCalls)
      return;
    for (const Call &C : It->second) {
      if (Left == 0)
        return;
      --Left;
      Chain.push_back({F->getCanonicalDecl(), C.E});
      std::vector<Frame> Frames(Chain.size());
      for (size_t I = Chain.size(); I-- > 0;)
        Frames[I] = {Chain[I].first, Chain[I].second,
                     I + 1 < Chain.size() ? &Frames[I + 1] : nullptr};
      Steps = MostSteps;
      if (auto D = dims(E, &Frames[0], 0)) {
        if (std::find(Found.begin(), Found.end(), *D) == Found.end())
          Found.push_back(*D);
      } else {
        Look(C.Caller);
      }
      Chain.pop_back();
    }
  };
  Look(Function);
  return Found;
}

std::vector<Dims>
HostConstants::usualDims(const Expr *E, const FunctionDecl *Function) const {
  std::vector<Dims> Found = possibleDims(E, Function);
  if (!Found.empty())
    return Found;
  WithoutArguments = true;
  if (const auto D = dims(E))
    Found = {*D};
  else
    Found = possibleDims(E, Function);
  WithoutArguments = false;
  return Found;
}

std::vector<int64_t>
HostConstants::possibleIntegers(const Expr *E,
                                const FunctionDecl *Function) const {
  std::vector<int64_t> All;
  if (const auto D = dims(E))
    return {(*D)[0]};
  for (const Dims &D : possibleDims(E, Function))
    All.push_back(D[0]);
  return All;
}

} // namespace rcache
