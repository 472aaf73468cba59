// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See UnitEdits.h.

#include "UnitEdits.h"
#include "Emit/Emitter.h"
#include "Emit/Reformat.h"
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

bool UnitEdits::canEdit(const LaunchSite &L, unsigned InsertOffset) const {
  return L.Editable && L.Begin >= InsertOffset;
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

/// Behind the leading comments and directives, outside every #if.
unsigned UnitEdits::runtimeOffset() const {
  llvm::StringRef T = Text;
  // A byte order mark stays first.
  size_t Pos = T.starts_with("\xEF\xBB\xBF") ? 3 : 0, Best = Pos;
  int Depth = 0;
  bool InComment = false;
  while (Pos < T.size()) {
    size_t End = T.find('\n', Pos);
    End = End == llvm::StringRef::npos ? T.size() : End + 1;
    // A directive may be continued.
    llvm::StringRef Line = T.slice(Pos, End).trim();
    while (Line.ends_with("\\") && End < T.size()) {
      size_t Next = T.find('\n', End);
      Next = Next == llvm::StringRef::npos ? T.size() : Next + 1;
      Line = T.slice(Pos, Next).trim();
      End = Next;
    }
    if (InComment) {
      InComment = !Line.contains("*/");
      if (!InComment && !Line.ends_with("*/"))
        break;
    } else if (Line.starts_with("/*")) {
      InComment = !Line.drop_front(2).contains("*/");
      if (!InComment && !Line.ends_with("*/"))
        break;
    } else if (Line.starts_with("#")) {
      llvm::StringRef D = Line.drop_front(1).ltrim();
      if (D.starts_with("if"))
        ++Depth;
      else if (D.starts_with("endif"))
        --Depth;
      // Code may stand in front of an include of the user's; not in a #if.
      if (D.starts_with("include") || D.starts_with("endif"))
        if (Depth == 0)
          Best = End;
    } else if (!Line.empty() && !Line.starts_with("//"))
      break;
    Pos = End;
  }
  return static_cast<unsigned>(Best);
}

void UnitEdits::insertKernel(const KernelModel &M, const std::string &Code,
                             const std::set<std::string> &H) {
  Helpers.insert(H.begin(), H.end());
  std::string New = Code;
  if (!M.InMainFile) {
    // A kernel from a header: its namespaces are opened again.
    std::string Open, Close;
    for (const std::string &Ns : M.Namespaces) {
      Open += Ns.empty() ? "namespace {\n" : "namespace " + Ns + " {\n";
      Close += "}\n";
    }
    New = Open + New + Close;
  }
  New = reformatted(New, File);
  unsigned At = *M.InsertOffset;
  size_t LineEnd = Text.find('\n', At);
  bool EndOfLine =
      llvm::StringRef(Text).slice(At, LineEnd == std::string::npos ? Text.size()
                                                                   : LineEnd)
          .trim()
          .empty();
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

void UnitEdits::replaceLaunch(const LaunchSite &L, const KernelModel &M) {
  if (!Launches.insert(L.Begin).second)
    return;
  bool Void = L.K == LaunchSite::CudaLaunchKernel;
  // ns::k<float, 4>  ->  ns::k_rc_launch<float, 4>
  std::string Callee = L.Callee;
  size_t Angle = Callee.find('<');
  size_t At = Callee.rfind(M.Name, Angle);
  if (At == std::string::npos)
    At = Callee.find(M.Name);
  if (At != std::string::npos)
    Callee.insert(At + M.Name.size(), Void ? "_rc_launch_args" : "_rc_launch");
  std::string T = Callee + "(" + L.Grid + ", " + L.Block + ", ";
  if (Void)
    T += L.Args.empty() ? "nullptr, " : L.Args[0] + ", ";
  T += (L.SharedBytes.empty() ? "0" : L.SharedBytes) + ", " +
       (L.Stream.empty() ? "0" : L.Stream);
  if (!Void)
    for (const std::string &A : L.Args)
      T += ", " + A;
  // What follows keeps its line.
  auto Lines = [](llvm::StringRef S) { return S.count('\n'); };
  const size_t Old = Lines(llvm::StringRef(Text).slice(L.Begin, L.End));
  if (O.LineDirectives && Lines(T) < Old)
    T.append(Old - Lines(T), '\n');
  Edits.push_back(
      {L.Begin, L.End - L.Begin, L.Before + T + ")" + L.After});
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
    std::string T = O.Runtime == Options::RuntimeKind::Include
                        ? RuntimeInclude
                        : reformatted(runtimeText(Helpers), File);
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
