// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Graphs from captured streams. Work runs in the order of the capture, which is
// one of those that the graph allows. Graphs that are built node by node are
// not offered.

#include "Streams.h"

#include <map>
#include <memory>

namespace rcache::check {

namespace {
struct Graph {
  std::vector<std::function<int()>> Work;
};
struct Executable {
  std::vector<std::function<int()>> Work;
};
std::map<void *, std::shared_ptr<Graph>> Captures; ///< by stream
std::map<void *, std::shared_ptr<Graph>> Recorded; ///< by event
std::map<void *, void *> Origin; ///< stream that began a capture -> itself
constexpr int InvalidValue = 1, IllegalState = 401, Unmatched = 903;

std::shared_ptr<Graph> captureOf(void *Stream) {
  auto It = Captures.find(Stream);
  return It == Captures.end() ? nullptr : It->second;
}
} // namespace

bool captured(void *Stream, std::function<int()> Work) {
  std::shared_ptr<Graph> G = captureOf(Stream);
  if (G)
    G->Work.push_back(std::move(Work));
  return G != nullptr;
}

void captureRecord(void *Event, void *Stream) {
  if (auto G = captureOf(Stream))
    Recorded[Event] = G;
  else
    Recorded.erase(Event);
}

bool captureWait(void *Stream, void *Event) {
  auto It = Recorded.find(Event);
  if (It == Recorded.end())
    return false;
  Captures[Stream] = It->second;
  return true;
}

void forgetStream(void *Stream) {
  Captures.erase(Stream);
  Origin.erase(Stream);
}

extern "C" {

int cudaStreamBeginCapture(void *Stream, int) {
  if (!Stream || captureOf(Stream))
    return IllegalState;
  Captures[Stream] = std::make_shared<Graph>();
  Origin[Stream] = Stream;
  return 0;
}
int cudaStreamEndCapture(void *Stream, void **Out) {
  std::shared_ptr<Graph> G = captureOf(Stream);
  if (!G || !Origin.count(Stream))
    return Unmatched;
  for (auto It = Captures.begin(); It != Captures.end();)
    It = It->second == G ? Captures.erase(It) : std::next(It);
  for (auto It = Recorded.begin(); It != Recorded.end();)
    It = It->second == G ? Recorded.erase(It) : std::next(It);
  Origin.erase(Stream);
  *Out = new Graph(*G);
  return 0;
}
int cudaStreamIsCapturing(void *Stream, int *Status) {
  *Status = captureOf(Stream) ? 1 : 0;
  return 0;
}
int cudaGraphInstantiate(void **Exec, Graph *G, unsigned long long) {
  if (!Exec || !G)
    return InvalidValue;
  *Exec = new Executable{G->Work};
  return 0;
}
int cudaGraphInstantiateWithFlags(void **Exec, Graph *G,
                                  unsigned long long F) {
  return cudaGraphInstantiate(Exec, G, F);
}
int cudaGraphLaunch(Executable *E, void *Stream) {
  if (!E)
    return InvalidValue;
  for (const std::function<int()> &W : E->Work)
    if (!captured(Stream, W))
      if (int Error = W())
        return Error;
  return 0;
}
int cudaGraphUpload(Executable *, void *) { return 0; }
int cudaGraphDestroy(Graph *G) {
  delete G;
  return 0;
}
int cudaGraphExecDestroy(Executable *E) {
  delete E;
  return 0;
}
int cudaGraphGetNodes(Graph *G, void **Nodes, size_t *N) {
  if (!G || Nodes)
    return InvalidValue; // nodes themselves are not offered
  *N = G->Work.size();
  return 0;
}
int cudaThreadExchangeStreamCaptureMode(int *) { return 0; }

} // extern "C"

#define API(NAME)                                                              \
  { #NAME, reinterpret_cast<void *>(&NAME) }
std::vector<std::pair<std::string, void *>> graphSymbols() {
  return {API(cudaStreamBeginCapture),        API(cudaStreamEndCapture),
          API(cudaStreamIsCapturing),         API(cudaGraphInstantiate),
          API(cudaGraphInstantiateWithFlags), API(cudaGraphLaunch),
          API(cudaGraphUpload),               API(cudaGraphDestroy),
          API(cudaGraphExecDestroy),          API(cudaGraphGetNodes),
          API(cudaThreadExchangeStreamCaptureMode)};
}
#undef API

} // namespace rcache::check
