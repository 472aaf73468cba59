// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The only place that knows how clang represents `threadIdx.x`: a
// PseudoObjectExpr over a property of a variable of a builtin type.

#ifndef RCACHE_LIB_MODEL_BUILTINVARS_H
#define RCACHE_LIB_MODEL_BUILTINVARS_H

#include "rcache/Model.h"
#include "clang/AST/Expr.h"
#include <optional>

namespace rcache {

struct BuiltinRef {
  Symbol::Kind K = Symbol::ThreadIdx;
  unsigned Axis = 0; ///< 3: the variable as a whole
};

/// `threadIdx.x` and its kind; also the bare `threadIdx` (Axis 3).
std::optional<BuiltinRef> builtinVar(const clang::Expr *E);

/// "tx", "bdy", ...
std::string builtinId(Symbol::Kind K, unsigned Axis);

/// Dependence bits of a builtin; Axis 3 is all axes.
unsigned builtinDepends(BuiltinRef B);

/// The symbol of a builtin, with its text and type.
Symbol builtinSymbol(Symbol::Kind K, unsigned Axis);

} // namespace rcache

#endif // RCACHE_LIB_MODEL_BUILTINVARS_H
