// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Words and links for the page of --explain; see Explain.h.

#include "Output/Explain.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>
#include <map>
#include <set>

using llvm::StringRef;

namespace rcache {

std::vector<Statement> checksOf(const KernelResult &K) {
  std::vector<Statement> S;
  if (K.Verdict == KernelResult::Rewritten && K.ThePlan) {
    // A note says where it was not; where all arrays stay, there may be nothing to
    // execute.
    if (!K.ThePlan->allShared() && llvm::none_of(K.Notes, [](StringRef Note) {
          return Note.starts_with("the plan was not executed");
        }))
      S.push_back(
          {"checked", "the plan was executed for made-up launches, all lanes, "
                      "slots and phases, and gave every thread the elements "
                      "that the original's barriers would have given it"});
    for (const ArrayPicture &P : K.Pictures) {
      if (P.Exchange == "shared")
        continue;
      // A note says where it is not.
      if (P.CoverageProved)
        S.push_back({"proved", "every element of '" + P.Array +
                                   "' that is read has been staged"});
    }
    if (!K.ThePlan->Separate.empty())
      S.push_back({"asked", "each launch is asked whether pointers lead to "
                            "different memory"});
    if (!K.ThePlan->Preconditions.empty())
      S.push_back({"asked", "each launch is asked for the conditions; where one "
                            "does not hold, the original runs"});
  }
  for (StringRef Note : K.Notes) {
    const char *Result = "note";
    if (Note.consume_front("not proved: "))
      Result = "not-proved";
    else if (Note.consume_front("not executed: ") ||
             Note.starts_with("the plan was not executed"))
      Result = "not-checked";
    else if (Note.starts_with("executed before it was written"))
      Result = "checked";
    S.push_back({Result, Note.str()});
  }
  // By --self-check=off, or in an editor, which does not wait for it.
  if (K.Verdict == KernelResult::Rewritten &&
      llvm::none_of(K.Notes, [](StringRef Note) {
        return Note.starts_with("executed before it was written") ||
               Note.starts_with("not executed: ");
      }))
    S.push_back({"not-checked", "what was written was not compiled and executed "
                                "against the original (--self-check)"});
  return S;
}

namespace {

struct Token {
  unsigned Line, Column; ///< from 1, UTF-16 units
  size_t Offset;
  StringRef Text;
  StringRef Before; ///< the character in front, blanks left out
};

unsigned utf16Length(StringRef Text) {
  unsigned Units = 0;
  for (unsigned char C : Text)
    Units += (C & 0xC0) == 0x80 ? 0 : C >= 0xF0 ? 2 : 1;
  return Units;
}

/// Identifiers of [Begin, End), those of comments and literals left out.
std::vector<Token> identifiers(StringRef Text, size_t Begin, size_t End) {
  std::vector<Token> Result;
  unsigned Line = 1 + static_cast<unsigned>(Text.take_front(Begin).count('\n'));
  size_t LineStart = Text.take_front(Begin).rfind('\n');
  LineStart = LineStart == StringRef::npos ? 0 : LineStart + 1;
  StringRef Before;
  for (size_t I = Begin; I < End && I < Text.size();) {
    const char C = Text[I];
    size_t Next = I + 1;
    if (C == '\n') {
      ++Line;
      LineStart = Next;
    } else if (Text.substr(I).starts_with("//")) {
      Next = std::min(Text.find('\n', I), Text.size());
    } else if (Text.substr(I).starts_with("/*")) {
      Next = Text.find("*/", I + 2);
      Next = Next == StringRef::npos ? Text.size() : Next + 2;
      const StringRef Comment = Text.slice(I, Next);
      if (const size_t Breaks = Comment.count('\n')) {
        Line += static_cast<unsigned>(Breaks);
        LineStart = I + Comment.rfind('\n') + 1;
      }
    } else if (C == '"' || C == '\'') {
      while (Next < Text.size() && Text[Next] != C && Text[Next] != '\n')
        Next += Text[Next] == '\\' ? 2 : 1;
      ++Next;
    } else if (llvm::isAlnum(C) || C == '_') {
      while (Next < Text.size() && (llvm::isAlnum(Text[Next]) || Text[Next] == '_'))
        ++Next;
      Result.push_back({Line, 1 + utf16Length(Text.slice(LineStart, I)), I,
                        Text.slice(I, Next), Before});
    }
    if (!llvm::isSpace(C))
      Before = Text.substr(std::min(Next, Text.size()) - 1, 1);
    I = Next;
  }
  return Result;
}

LineSpan spanOf(const Token &T) {
  return {T.Line, T.Column, utf16Length(T.Text)};
}

unsigned lineAt(StringRef Text, size_t Offset) {
  return 1 + static_cast<unsigned>(Text.take_front(Offset).count('\n'));
}

/// Where the text that was written for \p K stands in \p NewText: that of the
/// insertion with a kernel of its new name.
std::pair<size_t, size_t> writtenFor(const KernelModel &M, const Result &Rewrite) {
  size_t Shift = 0; // of what came before, modulo 2^64
  for (const Edit &E : Rewrite.Edits) {
    const StringRef Text = E.Text;
    const size_t Begin = E.Offset + Shift;
    if (Text.contains("__global__") && Text.contains(M.Name + "_rc"))
      return {Begin, Begin + Text.size()};
    Shift += E.Text.size() - E.Length;
  }
  return {0, 0};
}

class Linker {
  std::vector<Link> Links;

public:
  Link &of(const char *Kind, const std::string &Name) {
    for (Link &L : Links)
      if (StringRef(L.Kind) == Kind && L.Name == Name)
        return L;
    Links.push_back({Kind, Name, {}, {}});
    return Links.back();
  }
  std::vector<Link> take() {
    llvm::erase_if(Links, [](const Link &L) {
      return L.Source.empty() || L.Result.empty();
    });
    return std::move(Links);
  }
};

/// What a line says: its words, those of the rewriter by what they stand for.
std::vector<std::string> words(StringRef Text, const std::set<std::string> &Arrays) {
  std::vector<std::string> Result;
  for (const Token &T : identifiers(Text, 0, Text.size())) {
    StringRef Word = T.Text;
    if (Word.consume_front("rc_")) {
      const std::string Stem = Word.split('_').first.str();
      if (!Arrays.count(Stem))
        continue;
      Word = T.Text.drop_front(3).take_front(Stem.size());
    }
    Result.push_back(Word.str());
  }
  llvm::sort(Result);
  return Result;
}

/// 0 to 1: the share of words that two lines have in common.
double likeness(const std::vector<std::string> &A, const std::vector<std::string> &B) {
  if (A.empty() || B.empty())
    return 0;
  std::vector<std::string> Both;
  std::set_intersection(A.begin(), A.end(), B.begin(), B.end(),
                        std::back_inserter(Both));
  return 2.0 * double(Both.size()) / double(A.size() + B.size());
}

/// Lines of both texts that say the same, by the best alignment in order.
std::vector<std::pair<unsigned, unsigned>>
sameLines(StringRef Source, std::pair<unsigned, unsigned> SourceLines,
          StringRef NewText, std::pair<unsigned, unsigned> ResultLines,
          const std::set<std::string> &Arrays) {
  auto Lines = [&](StringRef Text, std::pair<unsigned, unsigned> Range) {
    llvm::SmallVector<StringRef> All;
    Text.split(All, '\n');
    std::vector<std::vector<std::string>> Result;
    for (unsigned L = Range.first; L <= Range.second && L <= All.size(); ++L)
      Result.push_back(words(All[L - 1], Arrays));
    return Result;
  };
  const auto A = Lines(Source, SourceLines), B = Lines(NewText, ResultLines);
  if (A.size() * B.size() > 4000000)
    return {};
  constexpr double Enough = 0.6;
  std::vector<std::vector<float>> Best(A.size() + 1,
                                       std::vector<float>(B.size() + 1));
  for (size_t I = A.size(); I-- > 0;)
    for (size_t J = B.size(); J-- > 0;) {
      const double L = likeness(A[I], B[J]);
      Best[I][J] = std::max({Best[I + 1][J], Best[I][J + 1],
                             L < Enough ? 0 : Best[I + 1][J + 1] + float(L)});
    }
  std::vector<std::pair<unsigned, unsigned>> Same;
  for (size_t I = 0, J = 0; I < A.size() && J < B.size();) {
    const double L = likeness(A[I], B[J]);
    if (L >= Enough && Best[I][J] == Best[I + 1][J + 1] + float(L))
      Same.push_back({SourceLines.first + unsigned(I++),
                      ResultLines.first + unsigned(J++)});
    else if (Best[I][J] == Best[I + 1][J])
      ++I;
    else
      ++J;
  }
  return Same;
}

} // namespace

KernelLinks linksOf(const KernelResult &K, const std::string &Source,
                    const std::string &NewText, const Result &Rewrite) {
  KernelLinks R;
  if (!K.Model)
    return R;
  const KernelModel &M = *K.Model;
  if (M.InMainFile && M.DefBegin.Offset < M.DefEnd.Offset &&
      M.DefEnd.Offset <= Source.size())
    R.Source = {lineAt(Source, M.DefBegin.Offset), lineAt(Source, M.DefEnd.Offset)};
  if (K.Verdict != KernelResult::Rewritten)
    return R;
  const auto [Begin, End] = writtenFor(M, Rewrite);
  if (Begin == End || End > NewText.size())
    return R;
  size_t First = Begin, Last = End;
  while (First < Last && NewText[First] == '\n')
    ++First;
  while (Last > First && NewText[Last - 1] == '\n')
    --Last;
  R.Result = {lineAt(NewText, First), lineAt(NewText, Last)};

  std::set<std::string> Arrays, Stored;
  for (const SharedArray &A : M.Arrays)
    Arrays.insert(A.Name);
  for (const GlobalAccess &A : M.GlobalAccesses)
    if (A.K == GlobalAccess::Write && A.Root >= 0 &&
        static_cast<size_t>(A.Root) < M.Params.size())
      Stored.insert(M.Params[static_cast<size_t>(A.Root)].Name);
  Linker L;
  auto Visit = [&](const Token &T, bool InSource) {
    auto Add = [&](const char *Kind, const std::string &Name) {
      Link &One = L.of(Kind, Name);
      (InSource ? One.Source : One.Result).push_back(spanOf(T));
    };
    if (T.Before == "." || T.Before == ">")
      return;
    const std::string Word = T.Text.str();
    if (Arrays.count(Word))
      return Add("array", Word);
    if (Stored.count(Word))
      return Add("store", Word);
    if (T.Text.starts_with("__sync") || Word == "sync")
      return Add("barrier", "barriers");
    if (!InSource && T.Text.starts_with("rc_"))
      for (const auto &[Names, Kind] :
           {std::pair(&Arrays, "array"), std::pair(&Stored, "store")})
        for (const std::string &Name : *Names)
          if (T.Text.drop_front(3).starts_with(Name + "_"))
            return Add(Kind, Name);
  };
  if (R.Source.first)
    for (const Token &T : identifiers(Source, M.DefBegin.Offset, M.DefEnd.Offset))
      Visit(T, true);
  for (const Token &T : identifiers(NewText, First, Last))
    Visit(T, false);
  // Launches: outside of the definition, and of what was written for it.
  for (const Token &T : identifiers(Source, 0, Source.size()))
    if (T.Text == M.Name &&
        (T.Offset < M.DefBegin.Offset || T.Offset >= M.DefEnd.Offset))
      L.of("launch", "launches").Source.push_back(spanOf(T));
  for (const Token &T : identifiers(NewText, 0, NewText.size()))
    if (T.Text.starts_with(M.Name + "_rc_launch"))
      L.of("launch", "launches").Result.push_back(spanOf(T));
  R.Links = L.take();
  if (R.Source.first)
    R.Same = sameLines(Source, R.Source, NewText, R.Result, Arrays);
  return R;
}

std::string explainHtml(const std::vector<FileReport> &Files) {
  static const char Page[] = {
#include "ExplainPage.inc"
  };
  // Nothing in the texts may end the script that holds them.
  std::string Data;
  for (const char C : reportJson(Files)) {
    if (C == '<')
      Data += "\\u003c";
    else
      Data += C;
  }
  const StringRef Whole(Page, sizeof(Page));
  const auto [Front, Back] = Whole.split("@REPORT@");
  return (Front + Data + Back).str();
}

} // namespace rcache
