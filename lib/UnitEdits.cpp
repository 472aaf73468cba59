// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See UnitEdits.h.

#include "UnitEdits.h"
#include "Emit/Emitter.h"
#include "Emit/Reformat.h"
#include "Lower/Lower.h"
#include "clang/Lex/Lexer.h"
#include "llvm/ADT/STLFunctionalExtras.h"
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

bool UnitEdits::canEdit(const LaunchSite &L, const KernelModel &M) const {
  if (!L.Editable || L.Begin >= *M.InsertOffset)
    return L.Editable;
  // One function is declared early, not those for other forms of a launch.
  return M.DeclareOffset && L.Begin >= *M.DeclareOffset &&
         L.K == LaunchSite::Chevrons && L.AnyOrder;
}

std::string rcache::launchTypes(const KernelModel &M) {
  std::string Types = "(dim3, dim3, size_t, cudaStream_t";
  for (const KernelParam &P : M.declaredParams())
    Types += ", " + P.CanonicalType;
  return Types + ")";
}

bool UnitEdits::endsLine(unsigned Offset) const {
  return llvm::StringRef(Text)
      .substr(Offset)
      .take_until([](char C) { return C == '\n'; })
      .trim()
      .empty();
}

void UnitEdits::declareLaunch(const KernelModel &M, const std::string &LaunchName) {
  std::string T = reformatted(
      "static inline void " + LaunchName + launchTypes(M) + ";\n", File);
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

/// Behind the leading comments and directives, outside every #if.
unsigned UnitEdits::runtimeOffset() const {
  llvm::StringRef T = Text;
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

/// A macro that tells the runtime's text what to do: the user's to define.
static bool isRuntimesOwn(llvm::StringRef Macro) { return Macro.starts_with("RCACHE_"); }

/// The words of \p T in which a declaration may be named: not those in
/// comments, strings and characters. \p Visit gets begin and end of each.
static void eachName(const std::string &T,
                     llvm::function_ref<void(size_t, size_t)> Visit) {
  clang::LangOptions Opts;
  Opts.CPlusPlus = Opts.CPlusPlus11 = Opts.CPlusPlus14 = Opts.CPlusPlus17 =
      true;
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

/// A component of a `dim3` or a vector, in \p T: CUDA's name, not ours. As a macro
/// with arguments it is none there.
static bool isComponent(llvm::StringRef T, size_t Begin, llvm::StringRef Word) {
  return Word.size() == 1 && llvm::StringRef("xyzw").contains(Word) && Begin > 0 &&
         T[Begin - 1] == '.';
}

/// Visits the words of \p T, each with whether it belongs to a chain
/// `::rcache::device::a`, and with what to write for it.
static std::string
withWords(const std::string &T,
          llvm::function_ref<std::string(const std::string &, bool)> Write) {
  std::string Out;
  size_t Written = 0;
  bool InChain = false; // the last name belongs to a chain that begins ::rcache
  eachName(T, [&](size_t Begin, size_t End) {
    const llvm::StringRef Between = llvm::StringRef(T).slice(Written, Begin);
    const std::string Word = T.substr(Begin, End - Begin);
    const bool Global =
        Between.ends_with("::") && (Between.size() > 2 || Written == 0);
    // (What is the user's in a namespace of that name stands elsewhere in it.)
    InChain = (InChain && Between == "::") ||
              (Global && Word == "rcache" &&
               llvm::StringRef(T).substr(End).starts_with("::device"));
    Out += Between;
    Out += isComponent(T, Begin, Word) ? Word : Write(Word, InChain);
    Written = End;
  });
  return Out + T.substr(Written);
}

llvm::Expected<EmittedKernel> rcache::emitInPlace(const KernelModel &M, const Plan &P,
                                          const std::string &Name) {
  auto E = emitKernel(M, P, Name);
  if (!E)
    return E;
  // Words that the kernel has itself mean there what they mean here.
  std::set<std::string> Own;
  for (const std::string *T : {&M.Text, &M.TemplateHead, &M.ParamsText, &M.LaunchParamsText})
    eachName(*T, [&](size_t Begin, size_t End) { Own.insert(T->substr(Begin, End - Begin)); });
  std::string Other;
  for (const std::string *T : {&E->Kernel, &E->Condition, &E->Launch})
    withWords(*T, [&](const std::string &Word, bool InChain) {
      const bool Ours = M.Used && !InChain && !Own.count(Word) &&
                        M.Used->isUsersMacro(Word) && !isRuntimesOwn(Word);
      if (Other.empty() && (M.ReadOtherwise.count(Word) || Ours))
        Other = Word;
      return Word;
    });
  // What launch functions say beside, whatever the kernel says: a macro of that name may
  // be in force where they stand.
  for (const char *Word : {"return", "if", "inline", "static", "dim3", "cudaStream_t", "save",
                           "original"})
    if (Other.empty() && M.Used && M.Used->isUsersMacro(Word))
      Other = Word;
  if (Other.empty())
    return E;
  return llvm::make_error<CannotWrite>(
      DeclineCode::NameChanges, "the macro '" + Other + "'");
}

/// The runtime's names that the kernels and launches use although a macro of the user's
/// is called so, with others for them.
std::map<std::string, std::string> UnitEdits::renamed() const {
  std::map<std::string, std::string> Out;
  if (NamespaceTaken)
    Out["rcache"] = Used.fresh("rcache_");
  for (const Edit &E : Edits)
    withWords(E.Text, [&](const std::string &Word, bool InChain) {
      if (InChain && Used.isUsersMacro(Word))
        Out.try_emplace(Word, Used.fresh(Word + "_"));
      return Word;
    });
  return Out;
}

/// \p Runtime where none of the user's macros is one: `#define maxThreadsPerBlock 256`
/// would name a member of CUDA's.
std::string UnitEdits::withoutMacros(std::string Runtime) const {
  const std::string Words = Runtime == RuntimeInclude ? wholeRuntimeText() : Runtime;
  std::set<std::string> Macros;
  eachName(Words, [&](size_t Begin, size_t End) {
    const std::string Word = Words.substr(Begin, End - Begin);
    for (const std::string &Macro : Used.usersMacrosOf(Word))
      if (!isRuntimesOwn(Macro))
        Macros.insert(Macro);
  });
  std::string Before, After;
  for (const std::string &Macro : Macros) {
    Before += "#pragma push_macro(\"" + Macro + "\")\n#undef " + Macro + "\n";
    After += "#pragma pop_macro(\"" + Macro + "\")\n";
  }
  return Before + Runtime + After;
}

/// \p T with names replaced; \p OnlyScoped: those of a chain `::rcache::a::b`.
static std::string withNames(const std::string &T,
                             const std::map<std::string, std::string> &Names,
                             bool OnlyScoped) {
  if (Names.empty())
    return T;
  return withWords(T, [&](const std::string &Word, bool InChain) {
    auto It = OnlyScoped && !InChain ? Names.end() : Names.find(Word);
    return It == Names.end() ? Word : It->second;
  });
}

void UnitEdits::insertKernel(const KernelModel &M, const std::string &Code,
                             const std::set<std::string> &H) {
  Helpers.insert(H.begin(), H.end());
  std::string New = Code;
  if (M.InLinkageSpec && M.InMainFile)
    New = "extern \"C++\" {\n" + New + "}\n";
  if (M.ReopensNamespaces) {
    // A kernel from a header, or one defined as `ns::k`.
    std::string Open, Close;
    for (const std::string &Ns : M.Namespaces) {
      Open += Ns.empty() ? "namespace {\n" : "namespace " + Ns + " {\n";
      Close += "}\n";
    }
    New = Open + New + Close;
  }
  New = reformatted(New, File);
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
  bool Void = L.K == LaunchSite::CudaLaunchKernel;
  // ns::k<float, 4>  ->  ns::k_rc_launch<float, 4>
  std::string Callee = L.Callee;
  Callee.replace(L.CalleeNameEnd - M.Name.size(), M.Name.size(),
                 Void ? LaunchName + "_args" : LaunchName);
  std::string T;
  if (Void) {
    T = Callee + "(" + L.Grid + ", " + L.Block + ", " +
        (L.Args.empty() ? "nullptr" : L.Args[0]) + ", " +
        (L.SharedBytes.empty() ? "0" : L.SharedBytes) + ", " +
        (L.Stream.empty() ? "0" : L.Stream) + ")";
  } else {
    const std::string Args = (L.HasArgs ? ", " : "") + L.ArgsText + ")";
    if (L.AnyOrder) {
      T = Callee + "(" + L.ConfigText;
      for (unsigned I = L.ConfigCount; I < 4; ++I)
        T += ", 0";
      T += Args;
    } else {
      // First the configuration, then the arguments.
      T = "(::rcache::device::configure(" + L.ConfigText + "), " + Callee +
          "(::rcache::device::configured()" + Args + ")";
      Helpers.insert("configure");
    }
  }
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
    unsigned At = runtimeOffset();
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
