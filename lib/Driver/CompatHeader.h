// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A header that exists in memory only and is included before every file.

#ifndef RCACHE_DRIVER_COMPATHEADER_H
#define RCACHE_DRIVER_COMPATHEADER_H

namespace rcache {

/// The name under which the header is included.
extern const char *const CompatHeaderPath;

/// Declarations that make clang accept what nvcc accepts. Declares nothing that
/// changes the meaning of code that clang accepts anyway.
extern const char *const CompatHeaderText;

/// Headers that are taken where no other folder has them; the two above stand
/// in it.
extern const char *const CompatFolder;
/// omp.h: the functions that host code calls.
extern const char *const CompatOmpText;

} // namespace rcache

#endif // RCACHE_DRIVER_COMPATHEADER_H
