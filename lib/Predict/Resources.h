// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a kernel takes of an SM as the compiler made it, and how many warps of it
// the SM holds then.

#ifndef RCACHE_LIB_PREDICT_RESOURCES_H
#define RCACHE_LIB_PREDICT_RESOURCES_H

#include "rcache/Compiled.h"
#include "rcache/Model.h"
#include <optional>

namespace rcache {

/// The entry of \p M in a report; null: it is not there (a template that nothing
/// instantiates, say). Anonymous namespaces have other names in nvcc's code.
const FunctionReport *reportOf(llvm::ArrayRef<FunctionReport> All,
                               const KernelModel &M);

/// \p F in blocks of the launches of \p M: the largest of them, else those of its
/// launch bounds, else \p Assumed, else 256 threads.
KernelResources
resourcesOf(const KernelModel &M, const FunctionReport &F, const Arch &A,
            const std::optional<std::array<int64_t, 3>> &Assumed);

/// `80 registers, 16 bytes of stack, 8 spilled, 24 of 64 warps (38%; registers)`.
std::string resourcesText(const KernelResources &R);

} // namespace rcache

#endif // RCACHE_LIB_PREDICT_RESOURCES_H
