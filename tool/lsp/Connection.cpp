// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads, checks and writes JSON-RPC messages. LLVM's own read loop ends at the
// first message that is no object of version 2.0 and says nothing to the sender
// of broken JSON, so the loop is here; LLVM's reader of frames knows one way to
// write a header and reserves whatever length it says, so that is here too.

#include "Connection.h"
#include "llvm/Support/LSP/Logging.h"
#include "llvm/Support/raw_ostream.h"

using llvm::StringRef;
namespace json = llvm::json;
namespace lsp = llvm::lsp;

namespace rcache {
namespace {

/// The parser of json::Value is recursive: what nests deeper than any protocol
/// message would overflow its stack.
bool nestsTooDeep(StringRef Text) {
  constexpr unsigned Limit = 256;
  unsigned Depth = 0;
  bool InString = false;
  for (size_t I = 0; I < Text.size(); ++I) {
    const char C = Text[I];
    if (InString) {
      if (C == '\\')
        ++I;
      else if (C == '"')
        InString = false;
    } else if (C == '"') {
      InString = true;
    } else if (C == '[' || C == '{') {
      if (++Depth > Limit)
        return true;
    } else if ((C == ']' || C == '}') && Depth) {
      --Depth;
    }
  }
  return false;
}

bool isId(const json::Value &V) {
  return V.kind() == json::Value::String || V.kind() == json::Value::Number;
}

} // namespace

/// A line without its end; what is too long for a header is cut.
bool FrameInput::readLine(std::string &Line) {
  constexpr size_t Limit = 4096;
  Line.clear();
  for (int C; (C = std::getc(In)) != EOF;) {
    if (C == '\n') {
      if (!Line.empty() && Line.back() == '\r')
        Line.pop_back();
      return true;
    }
    if (Line.size() < Limit)
      Line += static_cast<char>(C);
  }
  return false;
}

llvm::LogicalResult FrameInput::readStandardMessage(std::string &Json) {
  std::optional<size_t> Length;
  std::string Line;
  while (true) {
    if (!readLine(Line))
      return llvm::failure();
    if (Line.empty())
      break;
    auto [Name, Value] = StringRef(Line).split(':');
    size_t Number = 0;
    if (Name.trim().equals_insensitive("Content-Length") &&
        !Value.trim().getAsInteger(10, Number))
      Length = Number;
  }
  if (!Length)
    return llvm::failure();
  constexpr size_t Step = 1u << 16;
  for (size_t Left = *Length; Left != 0;) {
    const size_t Old = Json.size(), Want = std::min(Left, Step);
    Json.resize(Old + Want);
    const size_t Got = std::fread(&Json[Old], 1, Want, In);
    if (Got != Want)
      return llvm::failure();
    Left -= Got;
  }
  return llvm::success();
}

Connection::Connection(std::FILE *In, llvm::raw_ostream &Out,
                       lsp::JSONStreamStyle Style, bool Pretty)
    : Input(In, Style), Output(In, Out, Style, Pretty), Style(Style) {}

std::optional<Message> Connection::read() {
  std::string Text;
  while (!Input.isEndOfInput() && !Input.hasError()) {
    Text.clear();
    if (failed(Input.readMessage(Text))) {
      if (!Input.isEndOfInput() && !Input.hasError())
        refuse(lsp::ErrorCode::ParseError,
               "a message needs a header Content-Length");
      continue;
    }
    // A file of delimited messages may end with a delimiter.
    if (Style == lsp::Delimited && StringRef(Text).trim().empty())
      continue;
    lsp::Logger::debug("<<< {0}", Text);
    if (std::optional<Message> M = parse(Text))
      return M;
  }
  return std::nullopt;
}

std::optional<Message> Connection::parse(StringRef Text) {
  if (nestsTooDeep(Text)) {
    refuse(lsp::ErrorCode::ParseError, "the message nests too deep");
    return std::nullopt;
  }
  llvm::Expected<json::Value> Parsed = json::parse(Text);
  if (!Parsed) {
    refuse(lsp::ErrorCode::ParseError,
           "the message is no JSON: " + llvm::toString(Parsed.takeError()));
    return std::nullopt;
  }
  json::Object *O = Parsed->getAsObject();
  if (!O) {
    refuse(lsp::ErrorCode::InvalidRequest, "a message is a JSON object");
    return std::nullopt;
  }

  Message M;
  const json::Value *Id = O->get("id");
  // Errors about a message without a usable id are sent with the id null.
  if (Id && isId(*Id))
    M.Id = *Id;
  if (O->getString("jsonrpc") != StringRef("2.0")) {
    refuse(lsp::ErrorCode::InvalidRequest, "'jsonrpc' has to be \"2.0\"", M.Id);
    return std::nullopt;
  }
  std::optional<StringRef> Method = O->getString("method");
  if (!Method && (O->get("result") || O->get("error"))) {
    M.Kind = Message::Response;
    M.Params = *O->get(O->get("error") ? "error" : "result");
    return M;
  }
  if (!Method) {
    refuse(lsp::ErrorCode::InvalidRequest, "'method' has to be a string", M.Id);
    return std::nullopt;
  }
  if (Id && !isId(*Id)) {
    refuse(lsp::ErrorCode::InvalidRequest,
           "'id' has to be a string or a number");
    return std::nullopt;
  }
  M.Kind = Id ? Message::Request : Message::Notification;
  M.Method = Method->str();
  if (const json::Value *Params = O->get("params"))
    M.Params = *Params;
  return M;
}

void Connection::refuse(lsp::ErrorCode Code, const std::string &Text,
                        json::Value Id) {
  lsp::Logger::error("refused a message: {0}", Text);
  reply(Id, lspError(Code, Text));
}

void Connection::reply(const json::Value &Id,
                       llvm::Expected<json::Value> Result) {
  std::lock_guard<std::mutex> Guard(OutputLock);
  Output.reply(Id, std::move(Result));
}

void Connection::notify(StringRef Method, json::Value Params) {
  std::lock_guard<std::mutex> Guard(OutputLock);
  Output.notify(Method, std::move(Params));
}

void Connection::call(StringRef Method, const std::string &Id,
                      json::Value Params) {
  std::lock_guard<std::mutex> Guard(OutputLock);
  Output.call(Method, std::move(Params), json::Value(Id));
}

llvm::Error lspError(lsp::ErrorCode Code, const std::string &Text) {
  return llvm::make_error<lsp::LSPError>(json::fixUTF8(Text), Code);
}

} // namespace rcache
