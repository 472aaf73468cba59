// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Branches and conditions between products and their sums: what decides which
// of them a compiler may round together.

#ifndef RCACHE_FUZZ_SUMSBRANCHES_H
#define RCACHE_FUZZ_SUMSBRANCHES_H

#include "Choices.h"
#include <functional>
#include <string>
#include <vector>

namespace rcache::fuzz {

/// Where the values of a statement come from.
struct SumsWords {
  Choices &C;
  std::string Kernel, T; ///< the kernel's name, the type of all values
  bool Half = false;
  using Word = std::function<std::string(const std::string &Where)>;
  Word Read;            ///< a staged element
  Word Leaf;            ///< anything without an operation
  Word Literal;         ///< a number
  std::string &Helpers; ///< functions in front of the kernel
};

/// Statements that declare \p X. \p Form names what they are.
std::string branchedSum(const SumsWords &W, const std::string &X,
                        std::string &Form);

} // namespace rcache::fuzz

#endif // RCACHE_FUZZ_SUMSBRANCHES_H
