// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Life and budget of an isl_ctx. An isl operation that fails (also: exceeds the
// budget) returns null and leaves the error in the context; isl/cpp.h turns
// that into an exception, so the context itself must neither abort nor print.

#include "rcache/Affine.h"
#include <isl/ctx.h>
#include <isl/options.h>
#include <time.h>

namespace rcache {

namespace {
/// About a second; the analyses of an ordinary kernel need a
/// few thousand operations.
constexpr unsigned long MaxOperations = 5'000'000;
/// Of a stage of one kernel's analysis. Ordinary kernels need a tenth of a
/// second.
constexpr double MaxSeconds = 8;

double secondsOfThread() {
  timespec T{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &T);
  return static_cast<double>(T.tv_sec) + static_cast<double>(T.tv_nsec) * 1e-9;
}
} // namespace

AffineContext::AffineContext() : Raw(isl_ctx_alloc()) {
  isl_options_set_on_error(Raw, ISL_ON_ERROR_CONTINUE);
  isl_options_set_ast_build_prefer_pdiv(Raw, 1);
  isl_ctx_set_max_operations(Raw, MaxOperations);
  startClock();
}

AffineContext::~AffineContext() { isl_ctx_free(Raw); }

void AffineContext::resetBudget() {
  isl_ctx_reset_error(Raw);
  isl_ctx_reset_operations(Raw);
}

void AffineContext::startClock() { Started = secondsOfThread(); }

bool AffineContext::outOfTime() const {
  return secondsOfThread() - Started > MaxSeconds;
}

void AffineContext::checkTime() const {
  if (outOfTime())
    isl::exception::throw_error(isl_error_quota,
                                "the time for the analysis is over", __FILE__,
                                __LINE__);
}

} // namespace rcache
