// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The threads of a Workspace: which document comes next, and which request has
// waited too long.

#include "Connection.h"
#include "Workspace.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/LSP/Logging.h"

namespace json = llvm::json;
namespace lsp = llvm::lsp;

namespace rcache {

Workspace::Workspace(Settings S, WorkspaceOptions O, Hooks H)
    : TheAnalyzer(std::move(S)), O(O), H(std::move(H)) {
  Threads.emplace_back([this] { timeLoop(); });
  for (unsigned I = 0; I < std::max(1u, O.Threads); ++I)
    Threads.emplace_back([this] { workLoop(); });
}

Workspace::~Workspace() {
  stop();
  for (std::thread &T : Threads)
    T.join();
}

bool Workspace::stop() {
  Guard G(Lock);
  Stopping = true;
  for (auto &[Name, D] : Documents)
    refuseAll(*D, lsp::ErrorCode::RequestCancelled, "the server shuts down");
  Work.notify_all();
  Idle.notify_all();
  return Running == 0;
}

/// Is there something to do for \p D now?
bool Workspace::ready(const Document &D, Clock::time_point Now) const {
  if (D.Busy || D.Closed)
    return false;
  if (D.Dirty)
    return Now >= D.NotBefore || !D.Waiting.empty();
  return !D.VariantsDue.empty() || D.ExplainDue;
}

/// The document to work on, or null; then \p WakeAt is when to ask again.
Workspace::DocumentRef Workspace::nextDocument(Clock::time_point &WakeAt) {
  const Clock::time_point Now = Clock::now();
  DocumentRef Best;
  WakeAt = Clock::time_point::max();
  for (auto &[Name, D] : Documents) {
    if (ready(*D, Now)) {
      // Documents that somebody waits for first.
      if (!Best || (Best->Waiting.empty() && !D->Waiting.empty()))
        Best = D;
    } else if (D->Dirty && !D->Busy) {
      WakeAt = std::min(WakeAt, D->NotBefore);
    }
  }
  return Best;
}

/// One analysis, or the variants of one kernel, outside of the lock.
void Workspace::work(Document &D, Guard &G) {
  const uint64_t Stamp = D.Stamp;
  const std::shared_ptr<const std::string> Text = D.Text;
  if (D.Dirty) {
    G.unlock();
    lsp::Logger::info("analyse {0}", D.File);
    Findings F = TheAnalyzer.analyze(D.File, Text);
    G.lock();
    return analyzed(D, Stamp, std::move(F));
  }
  if (D.ExplainDue) {
    D.ExplainDue = false;
    G.unlock();
    auto Page = TheAnalyzer.explain(D.File, *Text);
    std::string Failure = Page ? "" : llvm::toString(Page.takeError());
    G.lock();
    if (Stamp != D.Stamp) // those who wait have been told
      return;
    llvm::erase_if(D.Waiting, [&](Request &R) {
      if (R.Kind != Request::Explain)
        return false;
      if (Failure.empty())
        R.Reply(json::Value(json::Object{{"html", json::fixUTF8(*Page)}}));
      else
        R.Reply(lspError(lsp::ErrorCode::RequestFailed, Failure));
      return true;
    });
    return;
  }
  const std::string Kernel = D.VariantsDue.front();
  G.unlock();
  lsp::Logger::info("variants of {0} in {1}", Kernel, D.File);
  std::vector<Variant> Found = TheAnalyzer.variants(D.File, *Text, Kernel);
  G.lock();
  if (Stamp != D.Stamp)
    return;
  llvm::erase(D.VariantsDue, Kernel);
  D.Variants[Kernel] = std::move(Found);
  answerAll(D);
}

void Workspace::workLoop() {
  Guard G(Lock);
  while (!Stopping) {
    Clock::time_point WakeAt;
    DocumentRef D = nextDocument(WakeAt);
    if (!D) {
      Idle.notify_all();
      if (WakeAt == Clock::time_point::max())
        Work.wait(G);
      else
        Work.wait_until(G, WakeAt);
      continue;
    }
    D->Busy = true;
    D->BusySince = Clock::now();
    ++Running;
    if (O.ProgressAfter.count() == 0)
      beginProgress(*D);
    else if (Client.Progress)
      Work.notify_all(); // the clock has a time to wait for
    work(*D, G);
    endProgress(*D);
    D->Busy = false;
    --Running;
    Work.notify_all();
  }
  Idle.notify_all();
}

void Workspace::timeLoop() {
  Guard G(Lock);
  while (!Stopping) {
    const Clock::time_point Now = Clock::now();
    Clock::time_point WakeAt = Clock::time_point::max();
    for (auto &[Name, D] : Documents) {
      if (D->Busy && !D->Progress && Client.Progress) {
        if (Now >= D->BusySince + O.ProgressAfter)
          beginProgress(*D);
        else
          WakeAt = std::min(WakeAt, D->BusySince + O.ProgressAfter);
      }
      llvm::erase_if(D->Waiting, [&](Request &R) {
        if (Now < R.Deadline) {
          WakeAt = std::min(WakeAt, R.Deadline);
          return false;
        }
        lsp::Logger::info("request {0} waited too long for {1}", R.Id, Name);
        R.Reply(R.Kind == Request::Hover ? json::Value(nullptr)
                                         : json::Value(json::Array()));
        return true;
      });
    }
    if (WakeAt == Clock::time_point::max())
      Work.wait(G);
    else
      Work.wait_until(G, WakeAt);
  }
}

void Workspace::waitUntilIdle() {
  Guard G(Lock);
  Idle.wait(G, [this] {
    return Stopping ||
           (Running == 0 && llvm::none_of(Documents, [](const auto &Entry) {
              const Document &D = *Entry.second;
              return !D.Closed &&
                     (D.Dirty || !D.VariantsDue.empty() || D.ExplainDue);
            }));
  });
}

} // namespace rcache
