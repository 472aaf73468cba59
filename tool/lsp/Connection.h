// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// JSON-RPC over two streams: LLVM's framing and writing, with what it leaves
// out. Every message that is no message is answered with an error, and replies
// may come from any thread.

#ifndef RCACHE_LSP_CONNECTION_H
#define RCACHE_LSP_CONNECTION_H

#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/LSP/Protocol.h"
#include "llvm/Support/LSP/Transport.h"
#include <cstdio>
#include <mutex>
#include <optional>
#include <string>

namespace rcache {

/// A message from the client that has the form of one.
struct Message {
  enum KindTy { Request, Notification, Response } Kind = Notification;
  std::string Method;                 ///< "" for a response
  llvm::json::Value Id = nullptr;     ///< null for a notification
  llvm::json::Value Params = nullptr; ///< of a response: the error or result
};

/// Reads frames as the protocol has them: the names of headers in any case, any
/// headers in any order, and no more memory than bytes that came.
class FrameInput : public llvm::lsp::JSONTransportInput {
public:
  FrameInput(std::FILE *In, llvm::lsp::JSONStreamStyle Style)
      : JSONTransportInput(Style), In(In), Delimited(In, Style) {}

  bool hasError() const override { return std::ferror(In); }
  bool isEndOfInput() const override { return std::feof(In); }
  llvm::LogicalResult readDelimitedMessage(std::string &Json) override {
    return Delimited.readDelimitedMessage(Json);
  }
  /// Fails at the end of the input, and on headers without a length.
  llvm::LogicalResult readStandardMessage(std::string &Json) override;

private:
  std::FILE *In;
  llvm::lsp::JSONTransportInputOverFile Delimited;

  bool readLine(std::string &Line);
};

class Connection {
public:
  /// \p Pretty: indented messages, for tests.
  Connection(std::FILE *In, llvm::raw_ostream &Out,
             llvm::lsp::JSONStreamStyle Style, bool Pretty);

  /// Waits for the next message. What cannot be read as one is answered with an
  /// error here and passed over. Nothing at the end of the input.
  std::optional<Message> read();

  void reply(const llvm::json::Value &Id,
             llvm::Expected<llvm::json::Value> Result);
  void notify(llvm::StringRef Method, llvm::json::Value Params);
  /// A request to the client, whose answer nobody waits for.
  void call(llvm::StringRef Method, const std::string &Id,
            llvm::json::Value Params);

private:
  FrameInput Input;
  llvm::lsp::JSONTransport Output;
  const llvm::lsp::JSONStreamStyle Style;
  std::mutex OutputLock;

  std::optional<Message> parse(llvm::StringRef Text);
  void refuse(llvm::lsp::ErrorCode Code, const std::string &Text,
              llvm::json::Value Id = nullptr);
};

/// An error that the client sees with \p Code.
llvm::Error lspError(llvm::lsp::ErrorCode Code, const std::string &Text);

} // namespace rcache

#endif // RCACHE_LSP_CONNECTION_H
