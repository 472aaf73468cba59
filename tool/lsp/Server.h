// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The methods of the protocol: from messages to the workspace and back.

#ifndef RCACHE_LSP_SERVER_H
#define RCACHE_LSP_SERVER_H

#include "Connection.h"
#include "Workspace.h"
#include "llvm/ADT/StringMap.h"
#include <functional>

namespace rcache {

/// The part of CodeActionParams that matters here. The diagnostics in its
/// context may be of other servers and have any form.
struct CodeActionQuery {
  llvm::lsp::TextDocumentIdentifier textDocument;
  llvm::lsp::Range range;
  std::vector<std::string> only; ///< kinds; empty: all
};
bool fromJSON(const llvm::json::Value &V, CodeActionQuery &Result,
              llvm::json::Path P);

class Server {
public:
  /// \p Sequential: each message is dealt with to its end, analyses included,
  /// before the next is read; for tests.
  Server(Connection &C, Settings S, WorkspaceOptions O, bool Sequential);

  /// Until `exit` or the end of the input. The exit status: 0 after a
  /// `shutdown`, else 1.
  int run();

  /// True when no thread is at work any more, so that the object can die.
  bool quiet();

private:
  Connection &C;
  const bool Sequential;
  bool Initialized = false, ShutDown = false;
  bool MarkdownHover = false;
  ClientAbilities Client;

  using RequestHandler = std::function<void(const Message &, ReplyFn)>;
  using NotificationHandler = std::function<void(const llvm::json::Value &)>;
  llvm::StringMap<RequestHandler> Requests;
  llvm::StringMap<NotificationHandler> Notifications;
  Workspace W; // last: its threads use the others

  template <typename Params>
  void onRequest(llvm::StringRef Method,
                 void (Server::*Handle)(const Message &, const Params &,
                                        ReplyFn));
  template <typename Params>
  void onNotification(llvm::StringRef Method,
                      void (Server::*Handle)(const Params &));
  void request(const Message &M);

  llvm::json::Value initialize(const llvm::json::Value &Params);
  void didOpen(const llvm::lsp::DidOpenTextDocumentParams &P);
  void didChange(const llvm::lsp::DidChangeTextDocumentParams &P);
  void didClose(const llvm::lsp::DidCloseTextDocumentParams &P);
  void didSave(const llvm::lsp::DidCloseTextDocumentParams &P);
  void hover(const Message &M, const llvm::lsp::TextDocumentPositionParams &P,
             ReplyFn Reply);
  void codeAction(const Message &M, const CodeActionQuery &P, ReplyFn Reply);
  void explain(const Message &M, const llvm::lsp::DidCloseTextDocumentParams &P,
               ReplyFn Reply);
  void progress(unsigned Token, bool Begin, const std::string &What);
  void warn(const std::string &Text);
};

} // namespace rcache

#endif // RCACHE_LSP_SERVER_H
