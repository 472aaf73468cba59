// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef RCACHE_EMIT_REFORMAT_H
#define RCACHE_EMIT_REFORMAT_H

#include <string>

namespace rcache {

/// \p Code laid out in the style that clang-format finds for \p FileName
/// (a .clang-format beside it, else LLVM's). Only generated text goes through
/// here: the user's own lines are never touched.
std::string reformatted(const std::string &Code, const std::string &FileName);

} // namespace rcache

#endif // RCACHE_EMIT_REFORMAT_H
