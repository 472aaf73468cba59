// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Inside of the arena, for the other files of the runtime.

#ifndef RCACHE_CHECK_RUNTIME_MEMORY_H
#define RCACHE_CHECK_RUNTIME_MEMORY_H

#include "Runtime.h"

namespace rcache::check {

bool reserveArena(std::string &Error);
/// \p Ptr must be a multiple of 16.
void setAccessible(const void *Ptr, size_t Size, bool On);
/// How many of the \p Size bytes at \p P may be touched, from the first on.
size_t accessibleBytes(uint64_t P, size_t Size);
/// Arena memory for stacks and shared memory; not listed as an allocation.
char *allocatePrivate(size_t Size);
/// Is this access part of a discovery? It is noted then.
bool noteAccess(uint64_t P, size_t Size);
/// The allocation closest to an address that lies in none.
bool nearestAllocation(const void *Ptr, Allocation &Out);

} // namespace rcache::check

#endif
