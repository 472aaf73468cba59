// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Life and budget of an isl_ctx. An isl operation that fails (also: exceeds the
// budget) returns null and leaves the error in the context; isl/cpp.h turns
// that into an exception, so the context itself must neither abort nor print.

#include "rcache/Affine.h"
#include <isl/ctx.h>
#include <isl/options.h>

namespace rcache {

namespace {
/// About a second; the analyses of an ordinary kernel need a
/// few thousand operations.
constexpr unsigned long MaxOperations = 5'000'000;
} // namespace

AffineContext::AffineContext() : Raw(isl_ctx_alloc()) {
  isl_options_set_on_error(Raw, ISL_ON_ERROR_CONTINUE);
  isl_options_set_ast_build_prefer_pdiv(Raw, 1);
  isl_ctx_set_max_operations(Raw, MaxOperations);
}

AffineContext::~AffineContext() { isl_ctx_free(Raw); }

void AffineContext::resetBudget() {
  isl_ctx_reset_error(Raw);
  isl_ctx_reset_operations(Raw);
}

} // namespace rcache
