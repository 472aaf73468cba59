// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Dispatch of the protocol's methods.

#include "Server.h"
#include "rcache/Config.h"
#include "llvm/Support/LSP/Logging.h"
#include "llvm/Support/raw_ostream.h"

using llvm::StringRef;
namespace json = llvm::json;
namespace lsp = llvm::lsp;

namespace rcache {
namespace {

constexpr llvm::StringLiteral RewriteKind = "refactor.rewrite";

/// An id as text that tells 1 from "1".
std::string idText(const json::Value &Id) {
  std::string Text;
  llvm::raw_string_ostream(Text) << Id;
  return Text;
}

/// The member of \p V that \p Path leads to, or null.
const json::Value *member(const json::Value &V,
                          std::initializer_list<StringRef> Path) {
  const json::Value *Here = &V;
  for (StringRef Name : Path) {
    const json::Object *O = Here->getAsObject();
    Here = O ? O->get(Name) : nullptr;
    if (!Here)
      return nullptr;
  }
  return Here;
}

/// "refactor" asks for "refactor.rewrite" too; no kinds ask for all.
bool asksForRewrites(const std::vector<std::string> &Only) {
  if (Only.empty())
    return true;
  for (StringRef Kind : Only)
    if (Kind.empty() || Kind == RewriteKind ||
        RewriteKind.starts_with((Kind + ".").str()))
      return true;
  return false;
}

} // namespace

bool fromJSON(const json::Value &V, CodeActionQuery &Result, json::Path P) {
  json::ObjectMapper O(V, P);
  if (!O || !O.map("textDocument", Result.textDocument) ||
      !O.map("range", Result.range))
    return false;
  if (const json::Value *Only = member(V, {"context", "only"}))
    if (const json::Array *Kinds = Only->getAsArray())
      for (const json::Value &Kind : *Kinds)
        Result.only.push_back(Kind.getAsString().value_or("").str());
  return true;
}

Server::Server(Connection &C, Settings S, WorkspaceOptions O, bool Sequential)
    : C(C), Sequential(Sequential),
      W(std::move(S), O,
        {[&C](json::Value Params) {
           C.notify("textDocument/publishDiagnostics", std::move(Params));
         },
         [this](const std::string &Text) { warn(Text); },
         [this](unsigned Token, bool Begin, const std::string &What) {
           progress(Token, Begin, What);
         }}) {
  onRequest("textDocument/hover", &Server::hover);
  onRequest("textDocument/codeAction", &Server::codeAction);
  Requests["codeAction/resolve"] = [this](const Message &M, ReplyFn Reply) {
    const json::Object *Action = M.Params.getAsObject();
    if (!Action || !Action->getString("title"))
      return Reply(lspError(lsp::ErrorCode::InvalidParams,
                            "codeAction/resolve takes a code action"));
    W.resolve(idText(M.Id), *Action, std::move(Reply));
  };
  onRequest("rcache/explain", &Server::explain);
  Requests["shutdown"] = [this](const Message &, ReplyFn Reply) {
    ShutDown = true;
    W.stop();
    Reply(json::Value(nullptr));
  };

  onNotification("textDocument/didOpen", &Server::didOpen);
  onNotification("textDocument/didChange", &Server::didChange);
  onNotification("textDocument/didClose", &Server::didClose);
  onNotification("textDocument/didSave", &Server::didSave);
  Notifications["$/cancelRequest"] = [this](const json::Value &Params) {
    if (const json::Value *Id = member(Params, {"id"}))
      W.cancel(idText(*Id));
  };
  // Known, and nothing to do.
  for (StringRef Method :
       {"initialized", "$/setTrace", "workspace/didChangeConfiguration"})
    Notifications[Method] = [](const json::Value &) {};
}

template <typename Params>
void Server::onRequest(StringRef Method,
                       void (Server::*Handle)(const Message &, const Params &,
                                              ReplyFn)) {
  Requests[Method] = [this, Handle](const Message &M, ReplyFn Reply) {
    auto P = lsp::MessageHandler::parse<Params>(M.Params, M.Method, "request");
    if (!P)
      return Reply(P.takeError());
    (this->*Handle)(M, *P, std::move(Reply));
  };
}

template <typename Params>
void Server::onNotification(StringRef Method,
                            void (Server::*Handle)(const Params &)) {
  const std::string Name = Method.str();
  Notifications[Method] = [this, Handle, Name](const json::Value &Raw) {
    auto P = lsp::MessageHandler::parse<Params>(Raw, Name, "notification");
    if (!P) // there is nobody to answer
      return lsp::Logger::error("{0}", llvm::toString(P.takeError()));
    (this->*Handle)(*P);
  };
}

int Server::run() {
  while (std::optional<Message> M = C.read()) {
    if (M->Kind == Message::Response) {
      lsp::Logger::info("<-- a response to nothing");
      continue;
    }
    lsp::Logger::info("<-- {0}", M->Method);
    if (M->Kind == Message::Notification && M->Method == "exit")
      break;
    if (M->Kind == Message::Request) {
      request(*M);
    } else if (Initialized && !ShutDown) {
      auto Handler = Notifications.find(M->Method);
      if (Handler != Notifications.end())
        Handler->second(M->Params);
    }
    if (Sequential)
      W.waitUntilIdle();
  }
  return ShutDown ? 0 : 1;
}

bool Server::quiet() { return W.stop(); }

void Server::request(const Message &M) {
  ReplyFn Reply = [this, Id = M.Id](llvm::Expected<json::Value> Result) {
    C.reply(Id, std::move(Result));
  };
  if (M.Method == "initialize") {
    if (Initialized)
      return Reply(lspError(lsp::ErrorCode::InvalidRequest,
                            "'initialize' was called already"));
    Initialized = true;
    return Reply(initialize(M.Params));
  }
  if (!Initialized)
    return Reply(lspError(lsp::ErrorCode::ServerNotInitialized,
                          "'initialize' has to come first"));
  if (ShutDown)
    return Reply(
        lspError(lsp::ErrorCode::InvalidRequest, "the server is shut down"));
  auto Handler = Requests.find(M.Method);
  if (Handler == Requests.end())
    return Reply(lspError(lsp::ErrorCode::MethodNotFound,
                          "there is no method '" + M.Method + "'"));
  Handler->second(M, std::move(Reply));
}

json::Value Server::initialize(const json::Value &Params) {
  if (const json::Value *Formats = member(
          Params, {"capabilities", "textDocument", "hover", "contentFormat"}))
    if (const json::Array *A = Formats->getAsArray())
      for (const json::Value &Format : *A)
        MarkdownHover |= Format.getAsString() == StringRef("markdown");
  if (const json::Value *Can =
          member(Params, {"capabilities", "workspace", "workspaceEdit",
                          "documentChanges"}))
    Client.Versioned = Can->getAsBoolean().value_or(false);
  if (const json::Value *Can =
          member(Params, {"capabilities", "textDocument", "codeAction",
                          "resolveSupport", "properties"}))
    if (const json::Array *Properties = Can->getAsArray())
      for (const json::Value &Property : *Properties)
        Client.LazyActions |= Property.getAsString() == StringRef("edit");
  if (const json::Value *Can =
          member(Params, {"capabilities", "window", "workDoneProgress"}))
    Client.Progress = Can->getAsBoolean().value_or(false);
  W.setClient(Client);

  return json::Object{
      {"serverInfo",
       json::Object{{"name", "rcache-lsp"}, {"version", RCACHE_VERSION}}},
      {"capabilities",
       json::Object{
           {"positionEncoding", "utf-16"},
           {"textDocumentSync",
            json::Object{
                {"openClose", true},
                {"change", int(lsp::TextDocumentSyncKind::Incremental)},
                {"save", json::Object{{"includeText", false}}}}},
           {"hoverProvider", true},
           {"codeActionProvider",
            json::Object{{"codeActionKinds", json::Array{RewriteKind}},
                         {"resolveProvider", Client.LazyActions}}}}}};
}

void Server::didOpen(const lsp::DidOpenTextDocumentParams &P) {
  const lsp::TextDocumentItem &D = P.textDocument;
  W.open(D.uri.file().str(), D.uri.uri().str(), D.languageId, D.text,
         D.version);
}

void Server::didChange(const lsp::DidChangeTextDocumentParams &P) {
  if (!W.change(P.textDocument.uri.file().str(), P.contentChanges,
                P.textDocument.version))
    lsp::Logger::error("a change of '{0}' does not fit: the document has to be "
                       "sent whole, or opened again",
                       P.textDocument.uri.file());
}

void Server::didClose(const lsp::DidCloseTextDocumentParams &P) {
  W.close(P.textDocument.uri.file().str());
}

/// Its parameters are those of didClose and, optionally, a text.
void Server::didSave(const lsp::DidCloseTextDocumentParams &P) {
  W.saved(P.textDocument.uri.file().str());
}

void Server::hover(const Message &M, const lsp::TextDocumentPositionParams &P,
                   ReplyFn Reply) {
  W.hover(idText(M.Id), P.textDocument.uri.file().str(), P.position,
          MarkdownHover, std::move(Reply));
}

void Server::codeAction(const Message &M, const CodeActionQuery &P,
                        ReplyFn Reply) {
  if (!asksForRewrites(P.only))
    return Reply(json::Value(json::Array()));
  W.codeActions(idText(M.Id), P.textDocument.uri.file().str(), P.range,
                std::move(Reply));
}

/// Its parameters are those of didClose: the document.
void Server::explain(const Message &M, const lsp::DidCloseTextDocumentParams &P,
                     ReplyFn Reply) {
  W.explain(idText(M.Id), P.textDocument.uri.file().str(), std::move(Reply));
}

void Server::progress(unsigned Token, bool Begin, const std::string &What) {
  const std::string Name = "rcache-" + std::to_string(Token);
  if (Begin)
    C.call("window/workDoneProgress/create", Name,
           json::Object{{"token", Name}});
  C.notify("$/progress",
           json::Object{{"token", Name},
                        {"value", Begin ? json::Object{{"kind", "begin"},
                                                       {"title", "rcache"},
                                                       {"message", json::fixUTF8(What)}}
                                        : json::Object{{"kind", "end"}}}});
}

void Server::warn(const std::string &Text) {
  lsp::Logger::error("{0}", Text);
  C.notify("window/showMessage",
           json::Object{{"type", int(lsp::MessageType::Warning)},
                        {"message", json::fixUTF8("rcache: " + Text)}});
}

} // namespace rcache
