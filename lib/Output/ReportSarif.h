// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The remarks as SARIF 2.1.0, which code hosts and editors show.

#ifndef RCACHE_OUTPUT_REPORTSARIF_H
#define RCACHE_OUTPUT_REPORTSARIF_H

#include "Output/ReportJson.h"

namespace rcache {

/// One run: a rule for each decline code that was met and for `rewritten`, a
/// result for each reason and each rewritten kernel.
std::string reportSarif(const std::vector<FileReport> &Files);

} // namespace rcache

#endif // RCACHE_OUTPUT_REPORTSARIF_H
