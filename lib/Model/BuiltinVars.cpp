// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "BuiltinVars.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/ExprCXX.h"

using namespace clang;

namespace rcache {
namespace {

std::optional<Symbol::Kind> kindOfVariable(const Expr *E) {
  E = E->IgnoreParenImpCasts();
  if (auto *O = dyn_cast<OpaqueValueExpr>(E))
    if (O->getSourceExpr())
      E = O->getSourceExpr()->IgnoreParenImpCasts();
  auto *Ref = dyn_cast<DeclRefExpr>(E);
  if (!Ref)
    return std::nullopt;
  // By type: a user's own variable `threadIdx` is none of these.
  const auto *R = Ref->getType()->getAsCXXRecordDecl();
  if (!R || !R->getIdentifier())
    return std::nullopt;
  StringRef N = R->getName();
  if (N == "__cuda_builtin_threadIdx_t")
    return Symbol::ThreadIdx;
  if (N == "__cuda_builtin_blockIdx_t")
    return Symbol::BlockIdx;
  if (N == "__cuda_builtin_blockDim_t")
    return Symbol::BlockDim;
  if (N == "__cuda_builtin_gridDim_t")
    return Symbol::GridDim;
  return std::nullopt;
}

const char *const Names[] = {"threadIdx", "blockIdx", "blockDim", "gridDim"};
const char *const Ids[] = {"t", "b", "bd", "gd"};

} // namespace

std::optional<BuiltinRef> builtinVar(const Expr *E) {
  if (auto *P = dyn_cast<PseudoObjectExpr>(E)) {
    auto *Prop =
        dyn_cast<MSPropertyRefExpr>(P->getSyntacticForm()->IgnoreParens());
    if (!Prop)
      return std::nullopt;
    std::optional<Symbol::Kind> K = kindOfVariable(Prop->getBaseExpr());
    StringRef Name = Prop->getPropertyDecl()->getName();
    if (!K || Name.size() != 1 || Name[0] < 'x' || Name[0] > 'z')
      return std::nullopt;
    return BuiltinRef{*K, static_cast<unsigned>(Name[0] - 'x')};
  }
  if (isa<DeclRefExpr>(E))
    if (std::optional<Symbol::Kind> K = kindOfVariable(E))
      return BuiltinRef{*K, 3};
  return std::nullopt;
}

std::string builtinId(Symbol::Kind K, unsigned Axis) {
  return std::string(Ids[K]) + "xyz"[Axis];
}

unsigned builtinDepends(BuiltinRef B) {
  if (B.K == Symbol::ThreadIdx)
    return B.Axis == 3 ? DepThread : DepThreadX << B.Axis;
  if (B.K == Symbol::BlockIdx)
    return B.Axis == 3 ? DepBlock : DepBlockX << B.Axis;
  return DepNone;
}

Symbol builtinSymbol(Symbol::Kind K, unsigned Axis) {
  Symbol S;
  S.K = K;
  S.Axis = Axis;
  S.Id = builtinId(K, Axis);
  S.Text = std::string(Names[K]) + "." + "xyz"[Axis];
  S.Type = "unsigned int";
  S.Bits = 32;
  S.Signed = false;
  S.Depends = builtinDepends({K, Axis});
  S.Anywhere = true;
  return S;
}

} // namespace rcache
