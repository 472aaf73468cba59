// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a kernel and a plan of it execute for one output (one logical thread):
// the counts that lib/Predict scores. Memory operations and exchanges are
// counted from the model; arithmetic is estimated from the text.

#ifndef RCACHE_PREDICT_PLANCOSTS_H
#define RCACHE_PREDICT_PLANCOSTS_H

#include "LaunchShape.h"
#include "StagingCosts.h"
#include "rcache/Plan.h"
#include "rcache/Prediction.h"

namespace rcache {

/// The original, launched on \p On with blocks of \p Block threads, which fill
/// shared memory as \p Fill says.
KernelCounts originalCounts(const KernelModel &M, const Staging &Fill,
                            const std::array<int64_t, 3> &Block,
                            const Arch &On);

/// How a plan's runs of elements are loaded and stored: as vectors, or, where they
/// start elsewhere than vectors may, one by one.
enum class Runs { Vectors, Singly };

/// The rewritten kernel.
KernelCounts planCounts(const KernelModel &M, const Plan &P,
                        const Staging &Fill,
                        const std::array<int64_t, 3> &Block, const Arch &On,
                        Runs How = Runs::Vectors, Borders Where = Borders::FarApart);

/// What the counts cannot tell: how well the compiler schedules a form, 1 for
/// one slot after the other, and what loses in a grid that \p K knows. A candidate's
/// rank is its speed-up times this.
double formFactor(const KernelModel &M, const Plan &P, const Arch &On,
                  const KernelCounts &K);

/// How the plan is emitted, in a few words: "slot by slot", "taps outside".
std::string formName(const Plan &P);

} // namespace rcache

#endif // RCACHE_PREDICT_PLANCOSTS_H
