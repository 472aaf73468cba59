// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ranks the candidate plans of a kernel and takes the best.

#ifndef RCACHE_LIB_PREDICT_CHOOSE_H
#define RCACHE_LIB_PREDICT_CHOOSE_H

#include "rcache/Choice.h"

namespace rcache {

/// A prediction below this is no gain: predictions are some percent off.
constexpr double MinimumGain = 1.10;
/// The same of ends of trees alone: the text is the original's, and nothing was measured to be
/// slower.
constexpr double MinimumGainOfTrees = 1.04;

struct ChooseOptions {
  /// Threads a block where no launch tells; nullopt: 256.
  std::optional<std::array<int64_t, 3>> AssumedBlock;
  bool Force = false;             ///< take plans that are expected to spill
  std::optional<unsigned> Wanted; ///< --candidate: this one, whatever it costs
};

/// What an output of the original costs, in the unit of Prediction.h. May throw
/// isl::exception.
double originalClocks(const KernelModel &M, const Arch &A,
                      const ChooseOptions &O);

/// Figures and ranks of \p Plans, one Candidate each in the same order, and
/// the choice. Sets PredictedSpeedup of every plan.
Choice rankPlans(const KernelModel &M, std::vector<Plan> &Plans, const Arch &A,
                 const ChooseOptions &O);

/// Chooses by what the candidates hold. Sets Chosen and Why.
void choose(Choice &C, const ChooseOptions &O);

/// Chooses again by what the candidates hold now: registers and spills of the
/// compiler correct the estimates, times replace predictions. Sets Chosen and
/// Why, and PredictedSpeedup of the plans.
void chooseAgain(Choice &C, const KernelModel &M, std::vector<Plan> &Plans,
                 const Arch &A, const ChooseOptions &O);

/// Candidates worth asking a compiler or a device about: at most \p Most of
/// those that can run, the best ranked first.
std::vector<unsigned> shortList(const Choice &C, unsigned Most);

} // namespace rcache

#endif // RCACHE_LIB_PREDICT_CHOOSE_H
