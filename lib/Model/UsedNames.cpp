// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See UsedNames.h. The user's files are read as text: what the preprocessor left
// out in this parse may be there in the compiler's.

#include "UsedNames.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Lex/Lexer.h"

using namespace clang;

namespace rcache {

/// The identifiers of a file, comments and strings left out.
static void collect(FileID File, const SourceManager &SM,
                    const LangOptions &Opts, llvm::StringSet<> &Into) {
  const auto Buffer = SM.getBufferOrNone(File);
  if (!Buffer)
    return;
  Lexer Raw(File, *Buffer, SM, Opts);
  for (Token T; !Raw.LexFromRawLexer(T);)
    if (T.is(tok::raw_identifier))
      Into.insert(T.getRawIdentifier());
}

UsedNames::UsedNames(Preprocessor &PP) {
  for (const auto &Entry : PP.getIdentifierTable())
    if (Entry.getValue()->hadMacroDefinition())
      Macros.insert(Entry.getKey());
  SourceManager &SM = PP.getSourceManager();
  collect(SM.getMainFileID(), SM, PP.getLangOpts(), Identifiers);
  for (auto It = SM.fileinfo_begin(); It != SM.fileinfo_end(); ++It) {
    const FileID File = SM.translateFile(It->first);
    if (File.isValid() && File != SM.getMainFileID() &&
        !SM.isInSystemHeader(SM.getLocForStartOfFile(File)))
      collect(File, SM, PP.getLangOpts(), Identifiers);
  }
}

bool UsedNames::contains(llvm::StringRef Name) const {
  return Macros.contains(Name) || Identifiers.contains(Name);
}

std::string UsedNames::fresh(const std::string &Base) const {
  std::string Name = Base;
  for (unsigned I = 2; contains(Name); ++I)
    Name = Base + std::to_string(I);
  return Name;
}

std::string UsedNames::freshPrefix() const {
  auto Taken = [&](llvm::StringRef Prefix) {
    for (const llvm::StringSet<> *Names : {&Macros, &Identifiers})
      for (const auto &Name : *Names)
        if (Name.getKey().starts_with(Prefix))
          return true;
    return false;
  };
  for (const char *Try : {"rc_", "rcq_", "rcx_", "rcache_", "rcacheq_"})
    if (!Taken(Try))
      return Try;
  for (unsigned I = 0;; ++I)
    if (std::string Try = "rc" + std::to_string(I) + "_"; !Taken(Try))
      return Try;
}

} // namespace rcache
