// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Streams run everything at once, except while they are captured: then their
// work goes into a graph, in the order in which it was asked for.

#ifndef RCACHE_CHECK_RUNTIME_STREAMS_H
#define RCACHE_CHECK_RUNTIME_STREAMS_H

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace rcache::check {

/// True: \p Stream is captured, and \p Work has become part of its graph.
bool captured(void *Stream, std::function<int()> Work);
/// An event takes a capture from one stream to another.
void captureRecord(void *Event, void *Stream);
bool captureWait(void *Stream, void *Event);
void forgetStream(void *Stream);

std::vector<std::pair<std::string, void *>> graphSymbols();

} // namespace rcache::check

#endif
