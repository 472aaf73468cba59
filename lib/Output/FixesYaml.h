// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Edits in the form that clang-apply-replacements and editors' clang-tidy
// integrations read.

#ifndef RCACHE_OUTPUT_FIXESYAML_H
#define RCACHE_OUTPUT_FIXESYAML_H

#include "rcache/Pipeline.h"
#include <string>
#include <vector>

namespace rcache {

struct FileFixes {
  std::string File;      ///< absolute: the reader has another folder
  const Result *Rewrite; ///< not null
};

/// One YAML document (`--export-fixes`): a diagnostic a file, with all its
/// edits, since neither kernels nor launches alone would compile.
std::string fixesYaml(const std::vector<FileFixes> &Files);

} // namespace rcache

#endif // RCACHE_OUTPUT_FIXESYAML_H
