// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls in which more hangs on an argument than its value.

#ifndef RCACHE_LIB_MODEL_BINDINGDECIDES_H
#define RCACHE_LIB_MODEL_BINDINGDECIDES_H

#include "clang/AST/Decl.h"
#include "clang/AST/Stmt.h"

namespace rcache {

/// A call in \p S of a function of the user's where what is called, or what a template
/// makes of it, hangs on whether an argument is const, or a name of something:
///
///     int g(int &x);  int g(const int &x);  template <typename T> int h(T &x);
///
/// Written anew, elements and variables need not be const where the original names them by
/// a const reference. Null: there is none. \p Kernel: parameters keep their names.
const clang::FunctionDecl *decidedByBinding(const clang::Stmt *S, bool Kernel);

} // namespace rcache

#endif // RCACHE_LIB_MODEL_BINDINGDECIDES_H
