// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The open documents, the threads that analyse them, and the requests that wait
// for an analysis.
//
//     edit -> pause -> analysis of the newest text -> diagnostics
//     request -> the analysis of this text is there: answer now
//             -> else: answer when it is, when the text changes
//             (ContentModified),
//                when it is cancelled, or when the wait gets too long (empty)
//
// At most one thread works on a document. An analysis cannot be stopped; when
// the text has changed meanwhile its result is no longer shown and the newest
// text comes next, those in between never.

#ifndef RCACHE_LSP_WORKSPACE_H
#define RCACHE_LSP_WORKSPACE_H

#include "Analyzer.h"
#include "llvm/ADT/FunctionExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/LSP/Protocol.h"
#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace rcache {

using Clock = std::chrono::steady_clock;
using ReplyFn = llvm::unique_function<void(llvm::Expected<llvm::json::Value>)>;

struct WorkspaceOptions {
  unsigned Threads = 2;
  /// From the last change of a text to its analysis, unless a request waits.
  std::chrono::milliseconds Pause{200};
  /// A request that has waited so long is answered with nothing.
  std::chrono::milliseconds Patience{5000};
  /// An analysis that takes longer is shown as work in progress.
  std::chrono::milliseconds ProgressAfter{500};
  std::string Docs; ///< URI of the documentation, "": none
};

/// What the client can do, from `initialize`.
struct ClientAbilities {
  bool Versioned = false;   ///< takes `documentChanges`
  bool LazyActions = false; ///< asks for an action's edit when it is chosen
  bool Progress = false;    ///< shows work in progress: requests may take long
};

class Workspace {
public:
  struct Hooks {
    std::function<void(llvm::json::Value Params)> PublishDiagnostics;
    /// A message about the set-up; each text once.
    std::function<void(const std::string &Text)> Warn;
    /// Work in progress: \p Begin, what; else the end of it.
    std::function<void(unsigned Token, bool Begin, const std::string &What)>
        Progress;
  };
  void setClient(const ClientAbilities &A);

  Workspace(Settings S, WorkspaceOptions O, Hooks H);
  /// Waits for analyses that run; waiting requests stay unanswered, see stop().
  ~Workspace();

  // Documents. The key is the file's name; the URI is that of the client.
  void open(const std::string &File, const std::string &Uri,
            const std::string &Language, std::string Text, int64_t Version);
  /// False: not open, or a range that makes no sense; the document then waits
  /// for a whole text.
  bool
  change(const std::string &File,
         const std::vector<llvm::lsp::TextDocumentContentChangeEvent> &Changes,
         int64_t Version);
  void close(const std::string &File);
  /// \p File has a new content on disk: what includes it is analysed again, and
  /// compile commands are read again.
  void saved(const std::string &File);

  // Requests; \p Id is the text of the client's id.
  void hover(const std::string &Id, const std::string &File,
             llvm::lsp::Position At, bool Markdown, ReplyFn Reply);
  void codeActions(const std::string &Id, const std::string &File,
                   llvm::lsp::Range At, ReplyFn Reply);
  /// Completes \p Action, made by codeActions for a client of LazyActions.
  void resolve(const std::string &Id, llvm::json::Object Action, ReplyFn Reply);
  /// The page of --explain.
  void explain(const std::string &Id, const std::string &File, ReplyFn Reply);
  /// Answers a waiting request with RequestCancelled; none: does nothing.
  void cancel(const std::string &Id);

  /// Until nothing is left to do.
  void waitUntilIdle();
  /// Answers all waiting requests with RequestCancelled and starts no further
  /// analysis. True when none runs any more.
  bool stop();

private:
  struct Request {
    std::string Id;
    enum KindTy { Hover, CodeActions, Resolve, Explain } Kind = Hover;
    llvm::lsp::Range At;
    bool Markdown = false;
    llvm::json::Object Action; ///< to be completed
    Clock::time_point Deadline;
    ReplyFn Reply;
  };
  struct Document {
    std::string File, Uri;
    int64_t Version = 0;
    std::shared_ptr<const std::string> Text;
    bool Wanted = false; ///< is it CUDA at all
    bool Lost = false;   ///< a change could not be applied
    bool Closed = false;
    uint64_t Stamp = 0; ///< of the analysis that is due
    bool Dirty = false; ///< ... and has not been made
    bool Busy = false;  ///< a thread works on it
    Clock::time_point NotBefore;
    std::shared_ptr<const Findings> Current;  ///< of Text, null while dirty
    std::shared_ptr<const Findings> LastGood; ///< of some earlier text
    std::map<std::string, std::vector<Variant>>
        Variants; ///< of Text, by kernel
    std::vector<std::string> VariantsDue;
    bool ExplainDue = false;
    Clock::time_point BusySince;
    unsigned Progress = 0; ///< token of what is shown, 0: nothing
    std::vector<Request> Waiting;
  };
  using DocumentRef = std::shared_ptr<Document>;

  Analyzer TheAnalyzer;
  const WorkspaceOptions O;
  const Hooks H;
  std::mutex Lock; ///< for all that follows
  std::condition_variable Work, Idle;
  std::map<std::string, DocumentRef> Documents;
  std::vector<std::string> Warned;
  ClientAbilities Client;
  unsigned LastToken = 0;
  unsigned Running = 0;
  bool Stopping = false;
  std::vector<std::thread> Threads; ///< the first keeps time, the others work

  using Guard = std::unique_lock<std::mutex>;
  DocumentRef find(const std::string &File);
  void touch(Document &D, bool TextChanged);
  void enter(const std::string &File, Request R);
  bool answer(Document &D, Request &R);
  bool answerHover(Document &D, Request &R);
  bool answerCodeActions(Document &D, Request &R);
  bool answerResolve(Document &D, Request &R);
  llvm::json::Value editJson(const Document &D,
                             const std::vector<Edit> &Edits) const;
  llvm::json::Object actionJson(const Document &D, const std::string &Title,
                                bool Preferred) const;
  void beginProgress(Document &D);
  void endProgress(Document &D);
  void answerAll(Document &D);
  static void refuseAll(Document &D, llvm::lsp::ErrorCode Code,
                        const char *Text);
  void publish(const Document &D, const std::vector<Finding> &Messages);
  void analyzed(Document &D, uint64_t Stamp, Findings F);

  bool ready(const Document &D, Clock::time_point Now) const;
  DocumentRef nextDocument(Clock::time_point &WakeAt);
  void work(Document &D, Guard &G);
  void workLoop();
  void timeLoop();
};

} // namespace rcache

#endif // RCACHE_LSP_WORKSPACE_H
