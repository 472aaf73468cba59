// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The report as a table, for spreadsheets and scripts (docs/report.md).

#ifndef RCACHE_OUTPUT_REPORTCSV_H
#define RCACHE_OUTPUT_REPORTCSV_H

#include "Output/ReportJson.h"

namespace rcache {

/// A heading and a line for each kernel, as RFC 4180 has it but with plain line
/// ends.
std::string reportCsv(const std::vector<FileReport> &Files);

} // namespace rcache

#endif // RCACHE_OUTPUT_REPORTCSV_H
