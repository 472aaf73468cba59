// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Texts of declines and the clang-like print-out of remarks.

#include "Support/Remarks.h"
#include "llvm/Support/raw_ostream.h"

using llvm::raw_ostream;
using llvm::StringRef;

namespace rcache {
namespace {

StringRef levelName(RemarkLevel Level) {
  switch (Level) {
  case RemarkLevel::Remark:
    return "remark";
  case RemarkLevel::Note:
    return "note";
  case RemarkLevel::Warning:
    return "warning";
  case RemarkLevel::Error:
    return "error";
  }
  return "note";
}

raw_ostream::Colors levelColor(RemarkLevel Level) {
  switch (Level) {
  case RemarkLevel::Remark:
    return raw_ostream::BLUE;
  case RemarkLevel::Note:
    return raw_ostream::CYAN;
  case RemarkLevel::Warning:
    return raw_ostream::MAGENTA;
  case RemarkLevel::Error:
    return raw_ostream::RED;
  }
  return raw_ostream::WHITE;
}

/// Line \p Number (from 1) of \p Source without its end, or nothing.
StringRef lineOf(StringRef Source, unsigned Number) {
  for (unsigned Line = 1; Line < Number; ++Line) {
    size_t End = Source.find('\n');
    if (End == StringRef::npos)
      return {};
    Source = Source.drop_front(End + 1);
  }
  return Source.take_until([](char C) { return C == '\n'; }).rtrim('\r');
}

/// Sets a colour for one scope, when colours are wanted.
class ColorScope {
  raw_ostream &OS;
  bool On;

public:
  ColorScope(raw_ostream &OS, bool On, raw_ostream::Colors C) : OS(OS), On(On) {
    if (On)
      OS.changeColor(C, /*Bold=*/true);
  }
  ~ColorScope() {
    if (On)
      OS.resetColor();
  }
  ColorScope(const ColorScope &) = delete;
};

/// Whether a terminal would take \p C for more than a character.
bool isControl(char C) {
  return C != '\t' && (static_cast<unsigned char>(C) < 0x20 || C == 0x7f);
}

/// The line with a caret below. Of a long line (generated sources have some of
/// megabytes) what is around the caret.
void printSnippet(raw_ostream &OS, const Remark &R, StringRef Source,
                  bool Color) {
  constexpr size_t Before = 100, Width = 160;
  StringRef Line = lineOf(Source, R.Pos.Line);
  if (Line.empty() || R.Pos.Column == 0 || R.Pos.Column > Line.size() + 1)
    return;
  size_t Caret = R.Pos.Column - 1;
  StringRef Front, Back;
  auto InCharacter = [&](size_t At) { // of UTF-8, not at its first byte
    return At < Line.size() && (Line[At] & 0xC0) == 0x80;
  };
  if (Line.size() > Width && Caret > Before) {
    size_t Cut = Caret - Before;
    while (InCharacter(Cut) && Cut < Caret)
      ++Cut;
    Line = Line.drop_front(Cut);
    Caret -= Cut;
    Front = "...";
  }
  if (Line.size() > Width) {
    size_t Cut = std::max(Width, Caret);
    while (InCharacter(Cut))
      ++Cut;
    Line = Line.take_front(Cut);
    Back = "...";
  }
  std::string Number = std::to_string(R.Pos.Line);
  OS.indent(Number.size() < 5 ? 5 - Number.size() : 0)
      << Number << " | " << Front;
  for (char C : Line)
    OS << (isControl(C) ? '?' : C);
  OS << Back << '\n';
  OS.indent(std::max<size_t>(5, Number.size())) << " | ";
  OS.indent(Front.size());
  // Tabs stay tabs, so that the caret stands under its character; the bytes of
  // one UTF-8 character count once.
  for (char C : Line.take_front(Caret))
    if ((C & 0xC0) != 0x80)
      OS << (C == '\t' ? '\t' : ' ');
  ColorScope Green(OS, Color, raw_ostream::GREEN);
  OS << "^";
}

} // namespace

std::vector<Remark> declineRemarks(StringRef KernelName, const Decline &D) {
  DeclineInfo Info = declineInfo(D.Code);
  Remark Reason;
  Reason.Pos = D.Pos;
  Reason.Text = "'" + KernelName.str() + "' left as it is: ";
  if (Info.Text)
    Reason.Text += Info.Text;
  if (!D.Detail.empty())
    Reason.Text += (Info.Text ? " (" : "") + D.Detail + (Info.Text ? ")" : "");
  Reason.Text += " [" + D.Code + "]";
  std::vector<Remark> Result = {Reason};
  if (std::string Advice = adviceOf(D); !Advice.empty()) {
    Remark Note;
    Note.Level = RemarkLevel::Note;
    Note.Pos = D.Pos;
    Note.Text = std::move(Advice);
    Result.push_back(Note);
  }
  return Result;
}

void printRemark(raw_ostream &OS, const Remark &R, StringRef Source,
                 bool Color) {
  if (!R.Pos.File.empty()) {
    ColorScope Bold(OS, Color, raw_ostream::SAVEDCOLOR);
    OS << R.Pos.File << ':';
    if (R.Pos.Line != 0)
      OS << R.Pos.Line << ':' << R.Pos.Column << ':';
    OS << ' ';
  }
  {
    ColorScope Level(OS, Color, levelColor(R.Level));
    OS << levelName(R.Level) << ": ";
  }
  OS << R.Text << '\n';
  if (R.Level == RemarkLevel::Note || R.Pos.File.empty())
    return;
  size_t Before = OS.tell();
  printSnippet(OS, R, Source, Color);
  if (OS.tell() != Before)
    OS << '\n';
}

} // namespace rcache
