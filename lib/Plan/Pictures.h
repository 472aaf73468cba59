// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef RCACHE_LIB_PLAN_PICTURES_H
#define RCACHE_LIB_PLAN_PICTURES_H

#include "rcache/Picture.h"
#include "rcache/Plan.h"
#include <vector>

namespace rcache {

/// One picture for each ArrayPlan of \p P, in order.
std::vector<ArrayPicture> picturesOf(const KernelModel &M, const Plan &P);

} // namespace rcache

#endif // RCACHE_LIB_PLAN_PICTURES_H
