// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See UnitEdits.h.

#include "UnitEdits.h"
#include "Emit/Emitter.h"
#include "Emit/Reformat.h"
#include "InsertedText.h"
#include "TextWords.h"
#include "llvm/ADT/StringRef.h"
#include <algorithm>
#include <map>

using namespace rcache;

static const char RuntimeInclude[] = "#include \"rcache/device/rewrite.cuh\"\n";

std::string rcache::withRuntimeEmbedded(const std::string &NewText) {
  const size_t At = NewText.find(RuntimeInclude);
  std::string T = NewText;
  if (At != std::string::npos)
    T.replace(At, sizeof RuntimeInclude - 1, wholeRuntimeText());
  return T;
}

bool UnitEdits::endsLine(unsigned Offset) const {
  return llvm::StringRef(Text)
      .substr(Offset)
      .take_until([](char C) { return C == '\n'; })
      .trim()
      .empty();
}

void UnitEdits::declareLaunch(const KernelModel &M, const std::string &LaunchName) {
  std::string T = reformatted(launchDeclaration(M, LaunchName), File);
  while (T.back() == '\n')
    T.pop_back();
  const bool EndOfLine = endsLine(*M.DeclareOffset);
  T = "\n" + T + (EndOfLine ? "" : "\n");
  if (O.LineDirectives)
    T += (EndOfLine ? "\n" : "") + lineDirective(lineOf(*M.DeclareOffset) + EndOfLine) +
         (EndOfLine ? "" : "\n");
  Edits.push_back({*M.DeclareOffset, 0, std::move(T)});
}

unsigned UnitEdits::lineOf(unsigned Offset) const {
  return 1 + static_cast<unsigned>(
                 std::count(Text.begin(), Text.begin() + Offset, '\n'));
}

std::string UnitEdits::lineDirective(unsigned Line) const {
  std::string Name;
  for (char C : File) {
    if (C == '"' || C == '\\')
      Name += '\\';
    Name += C;
  }
  return "#line " + std::to_string(Line) + " \"" + Name + "\"";
}

/// Behind the end of the directive at \p Pos: its line, those that it continues
/// on, and those of a comment that begins on it.
static size_t directiveEnd(llvm::StringRef T, size_t Pos) {
  bool Angles = false; // `#include <a//b.h>`
  for (size_t I = Pos; I < T.size(); ++I) {
    const llvm::StringRef Rest = T.drop_front(I);
    if (T[I] == '\n')
      return I + 1;
    if (Rest.starts_with("\\\n"))
      I += 1;
    else if (Rest.starts_with("\\\r\n"))
      I += 2;
    else if (Rest.starts_with("include"))
      Angles = true;
    else if (Rest.starts_with("/*")) {
      const size_t End = T.find("*/", I + 2);
      if (End == llvm::StringRef::npos)
        return T.size();
      I = End + 1;
    } else if (T[I] == '"' || (Angles && T[I] == '<')) {
      const size_t Line = T.find('\n', I);
      const size_t End = T.find(T[I] == '"' ? '"' : '>', I + 1);
      if (End < Line)
        I = End;
    } else if (Rest.starts_with("//")) {
      for (; I < T.size() && T[I] != '\n'; ++I)
        if (T.drop_front(I).starts_with("\\\n"))
          I += 1;
        else if (T.drop_front(I).starts_with("\\\r\n"))
          I += 2;
      return std::min(I + 1, T.size());
    }
  }
  return T.size();
}

unsigned rcache::runtimeOffset(llvm::StringRef T) {
  // A byte order mark stays first.
  size_t Pos = T.starts_with("\xEF\xBB\xBF") ? 3 : 0, Best = Pos;
  int Depth = 0;
  while (true) {
    Pos = T.find_first_not_of(" \t\r\n\f\v", Pos);
    const llvm::StringRef Rest = T.drop_front(std::min(Pos, T.size()));
    if (Rest.starts_with("//")) {
      Pos = directiveEnd(T, Pos);
    } else if (Rest.starts_with("/*")) {
      Pos = T.find("*/", Pos + 2);
      if (Pos == llvm::StringRef::npos)
        break;
      Pos += 2;
    } else if (Rest.starts_with("#")) {
      const llvm::StringRef D = Rest.drop_front(1).ltrim(" \t");
      Pos = directiveEnd(T, Pos);
      if (D.starts_with("if"))
        ++Depth;
      else if (D.starts_with("endif"))
        --Depth;
      // Code may stand in front of an include of the user's; not in a #if.
      if (D.starts_with("include") || D.starts_with("endif"))
        if (Depth == 0)
          Best = Pos;
    } else
      break;
  }
  return static_cast<unsigned>(Best);
}

/// The runtime's names that the kernels and launches use although a macro of the user's
/// is called so, with others for them.
std::map<std::string, std::string> UnitEdits::renamed() const {
  std::map<std::string, std::string> Out;
  if (NamespaceTaken)
    Out["rcache"] = Used.fresh("rcache_");
  for (const Edit &E : Edits)
    withWords(E.Text, [&](const TextWord &W) {
      if (W.InChain && Used.isUsersMacro(W.Name))
        Out.try_emplace(W.Name, Used.fresh(W.Name + "_"));
      return W.Name;
    });
  return Out;
}

/// \p Runtime where none of the user's macros is one: `#define maxThreadsPerBlock 256`
/// would name a member of CUDA's.
std::string UnitEdits::withoutMacros(std::string Runtime) const {
  std::set<std::string> Words, Macros;
  addNames(Runtime == RuntimeInclude ? wholeRuntimeText() : Runtime, Words);
  for (const std::string &Word : Words)
    for (const std::string &Macro : Used.usersMacrosOf(Word))
      if (!isRuntimesOwn(Macro))
        Macros.insert(Macro);
  std::string Before, After;
  for (const std::string &Macro : Macros) {
    Before += "#pragma push_macro(\"" + Macro + "\")\n#undef " + Macro + "\n";
    After += "#pragma pop_macro(\"" + Macro + "\")\n";
  }
  return Before + Runtime + After;
}

void UnitEdits::insertKernel(const KernelModel &M, const std::string &Code,
                             const std::set<std::string> &H) {
  Helpers.insert(H.begin(), H.end());
  std::string New = reformatted(inNamespaces(M, Code), File);
  unsigned At = *M.InsertOffset;
  const bool EndOfLine = endsLine(At);
  bool StartOfLine = At == 0 || Text[At - 1] == '\n';
  while (!New.empty() && New.back() == '\n')
    New.pop_back();
  std::string T;
  if (StartOfLine)
    T = New + "\n\n";
  else
    T = "\n\n" + New + (EndOfLine ? "" : "\n");
  if (O.LineDirectives) {
    const bool Inside = StartOfLine || !EndOfLine;
    T = (StartOfLine ? "" : "\n\n") + New + "\n" +
        lineDirective(lineOf(At) + (Inside ? 0 : 1)) + (Inside ? "\n" : "");
  }
  Edits.push_back({At, 0, std::move(T)});
}

void UnitEdits::replaceLaunch(const LaunchSite &L, const KernelModel &M,
                              const std::string &LaunchName) {
  if (!Launches.insert(L.Begin).second)
    return;
  std::string T = replacementOf(L, M, LaunchName);
  if (L.K == LaunchSite::Chevrons && !L.AnyOrder)
    Helpers.insert("configure");
  // What follows keeps its line.
  auto Lines = [](llvm::StringRef S) { return S.count('\n'); };
  const size_t Old = Lines(llvm::StringRef(Text).slice(L.Begin, L.End));
  if (O.LineDirectives && Lines(T) < Old)
    T.append(Old - Lines(T), '\n');
  Edits.push_back({L.Begin, L.End - L.Begin, L.Before + T + L.After});
}

/// Line ends as the file has them.
static std::string withLineEnds(llvm::StringRef T, bool Crlf) {
  std::string Out;
  for (char C : T) {
    if (C == '\n' && Crlf)
      Out += '\r';
    if (C != '\r')
      Out += C;
  }
  return Out;
}

std::vector<Edit> UnitEdits::finish() {
  if (Edits.empty())
    return {};
  if (!Helpers.empty()) {
    unsigned At = runtimeOffset(Text);
    for (const Edit &E : Edits)
      At = std::min(At, E.Offset);
    const auto Names = renamed();
    for (Edit &E : Edits)
      E.Text = withNames(E.Text, Names, /*OnlyScoped=*/true);
    std::string T = withoutMacros(
        O.Runtime == Options::RuntimeKind::Include && Names.empty()
            ? std::string(RuntimeInclude)
            : reformatted(withNames(runtimeText(Helpers, O.WithoutLaunch), Names, false), File));
    if (At != 0 && Text[At - 1] != '\n')
      T = "\n" + T;
    if (O.LineDirectives)
      T += lineDirective(lineOf(At)) + "\n";
    Edits.insert(Edits.begin(), {At, 0, T});
  }
  const llvm::StringRef Source = Text;
  const bool Crlf = 2 * Source.count("\r\n") > Source.count('\n');
  for (Edit &E : Edits)
    E.Text = withLineEnds(E.Text, Crlf);
  // Insertions at one place become one edit: tools that merge edits refuse two.
  std::multimap<unsigned, Edit> Sorted;
  for (Edit &E : Edits)
    Sorted.emplace(E.Offset, std::move(E));
  std::vector<Edit> Out;
  for (auto &[Offset, E] : Sorted) {
    if (!Out.empty() && Out.back().Offset == Offset && Out.back().Length == 0 &&
        E.Length == 0)
      Out.back().Text += E.Text;
    else
      Out.push_back(std::move(E));
  }
  return Out;
}
