// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See TextWords.h.

#include "TextWords.h"
#include "clang/Lex/Lexer.h"

using namespace rcache;

static clang::LangOptions cxx17() {
  clang::LangOptions Opts;
  Opts.CPlusPlus = Opts.CPlusPlus11 = Opts.CPlusPlus14 = Opts.CPlusPlus17 =
      true;
  return Opts;
}

std::vector<TextMacro> rcache::macrosOf(const std::string &T) {
  const clang::LangOptions Opts = cxx17();
  clang::Lexer Raw(clang::SourceLocation(), Opts, T.data(), T.data(), T.data() + T.size());
  std::vector<TextMacro> Out;
  std::vector<std::string> Line; // the first words of a directive
  size_t Begin = 0;
  bool Conditional = false; // which lines are read is not known
  const auto EndLine = [&](size_t End) {
    Conditional |= !Line.empty() && (Line[0].starts_with("if") || Line[0].starts_with("el"));
    if (Line.size() < 2)
      return;
    for (TextMacro &M : Out)
      if (Line[0] == "undef" && M.Name == Line[1])
        M.End = std::min(M.End, End);
    if (Line[0] == "define")
      Out.push_back({Line[1], Begin});
  };
  bool In = false, End = false;
  while (!End) {
    clang::Token Token;
    End = Raw.LexFromRawLexer(Token);
    const size_t At = Raw.getBufferLocation() - T.data() - Token.getLength();
    if (Token.isAtStartOfLine() || End) {
      EndLine(At);
      Line.clear();
      In = Token.is(clang::tok::hash);
      Begin = At;
    } else if (In && Line.size() < 2 && Token.is(clang::tok::raw_identifier)) {
      Line.push_back(Token.getRawIdentifier().str());
    }
  }
  return Conditional ? std::vector<TextMacro>() : Out;
}

void rcache::eachName(const std::string &T,
                      llvm::function_ref<void(size_t, size_t)> Visit) {
  const clang::LangOptions Opts = cxx17();
  clang::Lexer Raw(clang::SourceLocation(), Opts, T.data(), T.data(),
                   T.data() + T.size());
  const char *const Begin = T.data();
  bool End = false, Directive = false; // `#pragma` is a word of no macro
  while (!End) {
    clang::Token Token;
    End = Raw.LexFromRawLexer(Token);
    const size_t At = Raw.getBufferLocation() - Begin;
    if (Token.is(clang::tok::raw_identifier) && !Directive)
      Visit(At - Token.getLength(), At);
    Directive = Token.is(clang::tok::hash) && Token.isAtStartOfLine();
  }
}

void rcache::addNames(const std::string &T, std::set<std::string> &Into) {
  eachName(T, [&](size_t Begin, size_t End) { Into.insert(T.substr(Begin, End - Begin)); });
}

static bool isComponent(llvm::StringRef T, size_t Begin, llvm::StringRef Word) {
  return Word.size() == 1 && llvm::StringRef("xyzw").contains(Word) && Begin > 0 &&
         T[Begin - 1] == '.';
}

std::string rcache::withWords(const std::string &T,
                              llvm::function_ref<std::string(const TextWord &)> Write) {
  std::string Out;
  size_t Written = 0;
  bool InChain = false; // the last name belongs to a chain that begins ::rcache
  eachName(T, [&](size_t Begin, size_t End) {
    const llvm::StringRef Between = llvm::StringRef(T).slice(Written, Begin),
                          Behind = llvm::StringRef(T).substr(End);
    const std::string Word = T.substr(Begin, End - Begin);
    const bool Global =
        Between.ends_with("::") && (Between.size() > 2 || Written == 0);
    // (What is the user's in a namespace of that name stands elsewhere in it.)
    InChain = (InChain && Between == "::") ||
              (Global && Word == "rcache" && Behind.starts_with("::device"));
    Out += Between;
    Out += Write({Word, InChain, isComponent(T, Begin, Word), Behind.ltrim().starts_with("("), Begin});
    Written = End;
  });
  return Out + T.substr(Written);
}

std::string rcache::withNames(const std::string &T,
                              const std::map<std::string, std::string> &Names,
                              bool OnlyScoped) {
  if (Names.empty())
    return T;
  return withWords(T, [&](const TextWord &W) {
    auto It = W.IsComponent || (OnlyScoped && !W.InChain) ? Names.end() : Names.find(W.Name);
    return It == Names.end() ? W.Name : It->second;
  });
}
