// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Macros of the command line that the toolkit's headers must not see.
//
// nvcc reads cuda_runtime.h in front of a source, clang's wrapper several headers more,
// and these use short names for parameters of functions and templates: -DN=1024, which
// nvcc takes, would be an error there.

#ifndef RCACHE_DRIVER_LATEMACROS_H
#define RCACHE_DRIVER_LATEMACROS_H

#include <string>
#include <vector>

namespace rcache {

/// The name under which they are included behind those headers.
extern const char *const LateMacrosPath;

struct LateMacros {
  /// Takes them out of \p Flags, clang's: short names, and such in small letters.
  /// Where a flag undefines one, all stay in their order.
  explicit LateMacros(const std::vector<std::string> &Flags);

  std::vector<std::string> Others;
  std::string Text; ///< a line `#define N 1024` each
};

} // namespace rcache

#endif // RCACHE_DRIVER_LATEMACROS_H
