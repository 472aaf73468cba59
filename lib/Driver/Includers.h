// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a header to the sources that include it: what a header's kernels are is seen
// where they are launched.

#ifndef RCACHE_DRIVER_INCLUDERS_H
#define RCACHE_DRIVER_INCLUDERS_H

#include "Driver/CompileFlags.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace rcache {

/// Is \p File no source by its name ("k.cuh", "k.h", "k.inl")?
bool isHeader(llvm::StringRef File);

/// Those of \p Sources (absolute, in this order) that include \p Header, themselves or
/// through other headers, as far as their texts tell: names are looked for beside the
/// file and in the folders of -I and its like, conditions are not asked.
std::vector<std::string>
includersOf(llvm::StringRef Header, llvm::ArrayRef<std::string> Sources,
            llvm::function_ref<CompileFlags(llvm::StringRef Source)> FlagsOf);

/// The CUDA sources around \p File: in its folder and the two above, and in the
/// folders in these; nearest first. Not beyond a project's own folder, where one is to
/// be seen (.git, compile_commands.json).
std::vector<std::string> sourcesNear(llvm::StringRef File);

/// What to do with the kernels of \p Header: which source to name. \p Includers: as
/// they were found.
std::string headerHelp(llvm::StringRef Header, llvm::ArrayRef<std::string> Includers);

} // namespace rcache

#endif // RCACHE_DRIVER_INCLUDERS_H
