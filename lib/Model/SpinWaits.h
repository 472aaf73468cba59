// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loops in which a thread waits for what others write.

#ifndef RCACHE_LIB_MODEL_SPINWAITS_H
#define RCACHE_LIB_MODEL_SPINWAITS_H

#include "Effects.h"
#include "Locals.h"
#include <optional>

namespace rcache {

/// A loop in the body of kernel \p FD, or in what it calls (placed at the call), whose
/// rounds may depend on memory that it looks at in each of them, as others leave it.
std::optional<Obstacle> spinWait(const clang::FunctionDecl *FD, const Locals &L);

} // namespace rcache

#endif // RCACHE_LIB_MODEL_SPINWAITS_H
