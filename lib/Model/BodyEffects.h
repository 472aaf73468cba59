// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What each expression of a kernel's body does besides computing a value
// (KernelModel::Effects). Only kinds of syntax that are known here are
// understood: any other one keeps the kernel as it is.

#ifndef RCACHE_LIB_MODEL_BODYEFFECTS_H
#define RCACHE_LIB_MODEL_BODYEFFECTS_H

#include "Anchors.h"
#include "Effects.h"
#include "Locals.h"

namespace rcache {

/// Fills Effects and OuterNames of \p M for the body of \p FD. Returns what is
/// not understood, if anything.
std::optional<Obstacle> noteEffects(const clang::FunctionDecl *FD,
                                    KernelModel &M, FlatText &Flat,
                                    const Locals &L);

/// An element of a shared array, named in the body of \p FD, whose access is not
/// among those of \p M, if any.
std::optional<Obstacle> unseenElement(const clang::FunctionDecl *FD,
                                      const KernelModel &M, FlatText &Flat);

/// Tells stores to shared arrays from others, when the accesses are known.
void assignEffects(KernelModel &M);

/// Does evaluating \p E, without the expressions in \p Without, change anything
/// or name a local variable? Such text is no value to be computed elsewhere.
bool boundToItsPlace(const clang::Expr *E,
                     llvm::ArrayRef<const clang::Expr *> Without,
                     const Locals &L);

} // namespace rcache

#endif // RCACHE_LIB_MODEL_BODYEFFECTS_H
