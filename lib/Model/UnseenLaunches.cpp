// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Launches in the parts of a file that this parse leaves out.

#include "Anchors.h"
#include "LaunchSites.h"
#include "clang/Basic/CharInfo.h"
#include "clang/Basic/SourceManager.h"

using namespace clang;

namespace rcache {

/// The identifier that ends before \p End, white space and template arguments
/// passed over; "" when there is none.
static llvm::StringRef nameBefore(llvm::StringRef Text, size_t &End) {
  llvm::StringRef Front = Text.take_front(End).rtrim();
  if (Front.ends_with(">")) {
    unsigned Depth = 0;
    size_t I = Front.size();
    while (I > 0) {
      const char C = Front[--I];
      Depth += C == '>';
      Depth -= C == '<';
      if (Depth == 0 || C == ';' || C == '{')
        break;
    }
    Front = Front.take_front(I).rtrim();
  }
  size_t Begin = Front.size();
  while (Begin > 0 && isAsciiIdentifierContinue(Front[Begin - 1]))
    --Begin;
  End = Begin;
  return Front.drop_front(Begin);
}

void findUnseen(const SourceManager &SM, const TokenRecorder::Impl &Tokens,
                LaunchTable &T) {
  const llvm::StringRef Text = SM.getBufferData(SM.getMainFileID());
  for (SourceRange R : Tokens.Skipped) {
    if (SM.getFileID(R.getBegin()) != SM.getMainFileID())
      continue;
    const size_t From = SM.getFileOffset(R.getBegin());
    const size_t To =
        std::min<size_t>(SM.getFileOffset(R.getEnd()), Text.size());
    for (size_t I = Text.find("<<<", From); I < To;
         I = Text.find("<<<", I + 3)) {
      size_t At = I;
      const llvm::StringRef Name = nameBefore(Text, At);
      if (Name.empty())
        continue;
      SourcePos Pos = sourcePos(
          SM, SM.getLocForStartOfFile(SM.getMainFileID()).getLocWithOffset(At));
      T.Unseen.push_back({Name.str(), std::move(Pos)});
    }
  }
}

} // namespace rcache
