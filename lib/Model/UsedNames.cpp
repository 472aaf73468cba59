// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See UsedNames.h. The user's files are read as text: what the preprocessor left
// out in this parse may be there in the compiler's.

#include "UsedNames.h"
#include "rcache/Model.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Lex/Lexer.h"
#include "llvm/ADT/DenseSet.h"

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

std::vector<FileID> userFiles(const SourceManager &SM) {
  std::vector<FileID> Files = {SM.getMainFileID()};
  // Each file by the first place where it was entered. (To ask translateFile for
  // each one is to walk over all places for each.)
  llvm::DenseSet<const FileEntry *> Seen;
  const SourceLocation Main = SM.getLocForStartOfFile(SM.getMainFileID());
  for (unsigned I = 0; I < SM.local_sloc_entry_size(); ++I) {
    const SrcMgr::SLocEntry &Entry = SM.getLocalSLocEntry(I);
    if (!Entry.isFile())
      continue;
    const OptionalFileEntryRef File =
        Entry.getFile().getContentCache().OrigEntry;
    if (!File || !Seen.insert(&File->getFileEntry()).second)
      continue;
    const SourceLocation Begin = Main.getLocWithOffset(
        SourceLocation::IntTy(Entry.getOffset()) -
        SourceLocation::IntTy(Main.getRawEncoding()));
    const FileID Id = SM.getFileID(Begin);
    if (Id != SM.getMainFileID() && !SM.isInSystemHeader(Begin))
      Files.push_back(Id);
  }
  return Files;
}

/// The definitions that files of the user's, or the command line, ever gave \p Macro; none
/// where a header of the system gives it one as well (`__forceinline__`), and leaves it: what
/// is called so there is a macro for everybody. (clang's own header for CUDA defines `dim3`
/// for some lines.)
static std::vector<const MacroInfo *> usersDefinitions(const Preprocessor &PP,
                                                       const IdentifierInfo *Macro) {
  const SourceManager &SM = PP.getSourceManager();
  std::vector<const MacroInfo *> Out;
  bool Ended = false; // by the system's header itself
  for (const MacroDirective *D = PP.getLocalMacroDirectiveHistory(Macro); D;
       D = D->getPrevious()) {
    if (isa<UndefMacroDirective>(D))
      Ended = D->getLocation().isValid() && SM.isInSystemHeader(D->getLocation());
    const auto *Def = dyn_cast<DefMacroDirective>(D);
    if (!Def)
      continue;
    const SourceLocation At = Def->getInfo()->getDefinitionLoc();
    const bool OfSystem = At.isInvalid() || Def->getInfo()->isBuiltinMacro() ||
                          SM.isWrittenInBuiltinFile(At) || SM.isInSystemHeader(At);
    if (OfSystem && !Ended)
      return {};
    if (!OfSystem)
      Out.push_back(Def->getInfo());
    Ended = false;
  }
  return Out;
}

UsedNames::UsedNames(Preprocessor &PP) {
  for (const auto &Entry : PP.getIdentifierTable())
    if (Entry.getValue()->hadMacroDefinition()) {
      Macros.insert(Entry.getKey());
      for (const MacroInfo *Info : usersDefinitions(PP, Entry.getValue())) {
        UsersMacros.insert(Entry.getKey());
        for (const Token &T : Info->tokens())
          if (const IdentifierInfo *II = T.getIdentifierInfo())
            BehindMacros.insert(II->getName());
      }
    }
  for (const auto &Entry : PP.getIdentifierTable())
    if (const MacroInfo *Info = PP.getMacroInfo(Entry.getValue()))
      for (const Token &T : Info->tokens())
        if (const IdentifierInfo *II = T.getIdentifierInfo();
            II && UsersMacros.contains(II->getName()))
          Mentioned[Entry.getKey()].push_back(II->getName().str());
  const SourceManager &SM = PP.getSourceManager();
  for (const FileID File : userFiles(SM))
    collect(File, SM, PP.getLangOpts(), Identifiers);
}

bool UsedNames::contains(llvm::StringRef Name) const {
  return Macros.contains(Name) || Identifiers.contains(Name);
}

std::vector<std::string> UsedNames::usersMacrosOf(llvm::StringRef Word) const {
  std::vector<std::string> Out = Mentioned.lookup(Word);
  if (isUsersMacro(Word))
    Out.push_back(Word.str());
  return Out;
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

std::string KernelModel::freshName(std::string Base) const {
  while (Text.find(Base) != std::string::npos || OuterNames.count(Base) ||
         (Used && Used->mayComeOfMacro(Base)))
    Base += '_';
  return Base;
}

} // namespace rcache
