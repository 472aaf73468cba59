// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Listens to the preprocessor. The watcher is called for every token of every
// header, so the test for "user code" is one comparison in the usual case: the
// file of a token is that of the token before it.

#include "TokenRecorder.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Lex/PPCallbacks.h"
#include "clang/Lex/Preprocessor.h"

using namespace clang;

namespace rcache {
namespace {

class SkippedRegions : public PPCallbacks {
public:
  explicit SkippedRegions(std::weak_ptr<TokenRecorder::Impl *> P)
      : P(std::move(P)) {}
  void SourceRangeSkipped(SourceRange Range, SourceLocation) override {
    if (auto Locked = P.lock())
      (*Locked)->Skipped.push_back(Range);
  }

private:
  std::weak_ptr<TokenRecorder::Impl *> P;
};

} // namespace

TokenRecorder::TokenRecorder(Preprocessor &PP) : P(std::make_unique<Impl>()) {
  // The preprocessor may call back after the recorder has died: both callbacks
  // look through this shared pointer.
  auto Alive = std::make_shared<Impl *>(P.get());
  P->Alive = Alive;
  SourceManager &SM = PP.getSourceManager();
  PP.addPPCallbacks(std::make_unique<SkippedRegions>(Alive));
  listenForCompilerText(
      PP, P->Compilers,
      [Weak = std::weak_ptr<Impl *>(Alive)](const PPConditional &C) {
        if (auto Locked = Weak.lock())
          (*Locked)->Conditionals.push_back(C);
      });
  PP.setTokenWatcher([Weak = std::weak_ptr<Impl *>(Alive), &SM, Last = FileID(),
                      LastIsUser = false](const Token &T) mutable {
    if (T.isAnnotation())
      return;
    SourceLocation File = SM.getExpansionLoc(T.getLocation());
    // Most tokens come from the same file as the one before.
    if (!SM.isInFileID(File, Last)) {
      Last = SM.getFileID(File);
      LastIsUser = isInUserFile(SM, File);
    }
    if (!LastIsUser)
      return;
    auto Locked = Weak.lock();
    if (!Locked)
      return;
    Impl &R = **Locked;
    if (R.ByLocation
            .try_emplace(T.getLocation().getRawEncoding(), R.Tokens.size())
            .second)
      R.Tokens.push_back({T.getLocation(), T.getKind(), T.getLength(),
                          T.hasLeadingSpace() || T.isAtStartOfLine()});
  });
}

TokenRecorder::~TokenRecorder() = default;

} // namespace rcache
