// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the programs were built from.

#ifndef RCACHE_TOOL_VERSION_H
#define RCACHE_TOOL_VERSION_H

namespace rcache {

/// "commit 0123456789ab", with a "+" where files had changed since; "no commit"
/// outside of a repository.
const char *commitName();

} // namespace rcache

#endif // RCACHE_TOOL_VERSION_H
