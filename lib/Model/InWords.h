// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Syntax in the words of those who write it.

#ifndef RCACHE_LIB_MODEL_INWORDS_H
#define RCACHE_LIB_MODEL_INWORDS_H

#include <string>

namespace clang {
class Stmt;
} // namespace clang

namespace rcache {

/// What \p S is: "a range-based for", "the operator ->*", "`auto [a, b] = f();`".
std::string inWords(const clang::Stmt *S);

} // namespace rcache

#endif // RCACHE_LIB_MODEL_INWORDS_H
