// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Turns results into what an editor shows.

#include "Findings.h"
#include "Connection.h"
#include "Frontend/Frontend.h"
#include "Support/Remarks.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

using llvm::StringRef;
namespace json = llvm::json;

namespace rcache {
namespace {

std::string absolute(StringRef File) {
  llvm::SmallString<256> Path(File);
  llvm::sys::fs::make_absolute(Path);
  llvm::sys::path::remove_dots(Path, /*remove_dot_dot=*/true);
  return Path.str().str();
}

bool isIdentifierChar(char C) { return llvm::isAlnum(C) || C == '_'; }

/// The identifier or the single character at \p Offset.
Span tokenAt(StringRef Text, unsigned Offset) {
  unsigned Begin = std::min<size_t>(Offset, Text.size()), End = Begin;
  while (End < Text.size() && isIdentifierChar(Text[End]))
    ++End;
  if (End == Begin && End < Text.size() && Text[End] != '\n')
    ++End;
  return {Begin, End};
}

/// \p Name as a whole identifier inside \p Where.
std::optional<Span> findIdentifier(StringRef Text, Span Where, StringRef Name) {
  const size_t Limit = std::min<size_t>(Where.End, Text.size());
  for (size_t I = Text.find(Name, Where.Begin); I != StringRef::npos;
       I = Text.find(Name, I + 1)) {
    const size_t End = I + Name.size();
    if (End > Limit)
      break;
    if ((I == 0 || !isIdentifierChar(Text[I - 1])) &&
        (End == Text.size() || !isIdentifierChar(Text[End])))
      return Span{unsigned(I), unsigned(End)};
  }
  return std::nullopt;
}

std::string number(double Value) {
  std::string Text = llvm::formatv("{0:f2}", Value).str();
  Text.erase(Text.find_last_not_of('0') + 1);
  if (Text.back() == '.')
    Text.pop_back();
  return Text;
}

/// "; about 40 registers a thread; predicted speed-up 1.8x".
std::string predicted(const Plan &P) {
  std::string Text;
  if (const unsigned N = P.saidRegisters())
    Text += "; about " + std::to_string(N) + " registers a thread";
  if (P.PredictedSpeedup > 0)
    Text += "; predicted speed-up " + number(P.saidSpeedup()) + "x";
  return Text;
}

/// A file that the tool has written is told once, not at each kernel.
const std::string OncePerFile = spelling(DeclineCode::AlreadyRewritten);

class Builder {
  const FileResult &R;
  const std::string MainFile; ///< the document
  const bool IsHeader;        ///< which R's source includes
  const std::string &Text;
  Findings F;

public:
  Builder(const FileResult &R, const std::string &File,
          std::shared_ptr<const std::string> Shared)
      : R(R), MainFile(absolute(File)),
        IsHeader(absolute(R.File) != MainFile), Text(*Shared) {
    F.Text = std::move(Shared);
  }

  Findings build() {
    for (const std::string &D : R.Parse.Dependencies)
      F.Dependencies.push_back(absolute(D));
    // What was parsed is the document, or no offset below would mean anything.
    F.Good = R.Usable && (IsHeader || R.Parse.MainText == Text);
    if (!F.Good) {
      addParseError();
      return std::move(F);
    }
    if (!IsHeader)
      F.Edits = R.Rewrite.Edits;
    for (const KernelResult &K : R.Rewrite.Kernels)
      if (K.Model && K.Verdict != KernelResult::NotShared)
        addKernel(K);
    return std::move(F);
  }

private:
  bool inDocument(const SourcePos &Pos) const {
    return !Pos.File.empty() && absolute(Pos.File) == MainFile;
  }

  /// One message for all errors: they are the compiler's to explain.
  void addParseError() {
    Finding M;
    M.Code = spelling(DeclineCode::ParseError);
    M.Text = "kernels are not analysed";
    const ParseError *First = nullptr;
    for (const ParseError &E : R.Parse.Errors)
      if (!First || (!inDocument(First->Pos) && inDocument(E.Pos)))
        First = &E;
    if (First) {
      M.Text += ": " + First->Text;
      if (inDocument(First->Pos))
        M.Where = tokenAt(Text, First->Pos.Offset);
      else if (!First->Pos.File.empty())
        M.Text += " (" + First->Pos.File + ":" +
                  std::to_string(First->Pos.Line) + ")";
    }
    F.Messages.push_back(std::move(M));
  }

  void addKernel(const KernelResult &K) {
    KernelFinding Found = located(*K.Model);
    if (Found.Places.empty())
      return; // a header's kernel that this document does not launch
    std::vector<Finding> Messages;
    if (K.Verdict == KernelResult::Rewritten)
      describeRewrite(K, Found, Messages);
    else
      describeDeclines(K, Found, Messages);

    for (Finding &M : Messages)
      if (!llvm::any_of(F.Messages, [&](const Finding &O) {
            return (O.Where == M.Where && O.Text == M.Text) ||
                   (O.Code == M.Code && M.Code == OncePerFile);
          }))
        F.Messages.push_back(std::move(M));
    join(std::move(Found));
  }

  /// Instantiations of one template are one kernel to the user.
  void join(KernelFinding New) {
    for (KernelFinding &K : F.Kernels) {
      if (K.Name != New.Name)
        continue;
      K.Rewritable |= New.Rewritable;
      if (K.Coarsening != New.Coarsening)
        K.Coarsening = 0;
      for (Span S : New.Places)
        if (!llvm::is_contained(K.Places, S))
          K.Places.push_back(S);
      for (Span S : New.Names)
        if (!llvm::is_contained(K.Names, S))
          K.Names.push_back(S);
      K.Lines.push_back(New.Title);
      llvm::append_range(K.Lines, New.Lines);
      return;
    }
    F.Kernels.push_back(std::move(New));
  }

  KernelFinding located(const KernelModel &M) const {
    KernelFinding K;
    K.Name = M.QualifiedName;
    auto Add = [&](Span Place, std::optional<Span> Name) {
      K.Places.push_back(Place);
      if (Name)
        K.Names.push_back(*Name);
    };
    if (inDocument(M.DefBegin) && inDocument(M.DefEnd)) {
      const Span Definition{M.DefBegin.Offset, M.DefEnd.Offset};
      std::optional<Span> Name;
      if (inDocument(M.Pos))
        Name = tokenAt(Text, M.Pos.Offset);
      Add(Definition, Name);
    }
    for (const LaunchSite &L : M.Launches)
      if (inDocument(L.Pos))
        Add({L.Begin, L.End}, findIdentifier(Text, {L.Begin, L.End}, M.Name));
    return K;
  }

  /// The place of messages about the kernel as a whole.
  static Span anchorOf(const KernelFinding &K) {
    return K.Names.empty() ? K.Places.front() : K.Names.front();
  }

  void describeRewrite(const KernelResult &K, KernelFinding &Found,
                       std::vector<Finding> &Messages) const {
    Found.Rewritable = !IsHeader;
    if (K.ThePlan)
      Found.Coarsening = K.ThePlan->Map.Factor[0];
    Found.Title = "'" + K.Name + "' can be rewritten with the register cache";
    if (IsHeader)
      Found.Title +=
          ", in '" + llvm::sys::path::filename(R.File).str() + "', which launches it";
    const std::string Figures = K.ThePlan ? predicted(*K.ThePlan) : "";
    Messages.push_back({Finding::Information, anchorOf(Found), "rewritable",
                        Found.Title + ": " + K.PlanText + Figures});

    // The plan line is a list; a hover has room for one item a line.
    llvm::SmallVector<StringRef> Items;
    const std::string All = K.PlanText + Figures;
    StringRef(All).split(Items, "; ", -1, /*KeepEmpty=*/false);
    for (StringRef Item : Items)
      Found.Lines.push_back(Item.str());
    Found.Lines.push_back(
        "launches in this file: " + std::to_string(K.LaunchesRewritten) +
        " rewritten" +
        (K.LaunchesLeft
             ? ", " + std::to_string(K.LaunchesLeft) + " left as written"
             : ""));
    if (K.ThePlan)
      for (const Precondition &P : K.ThePlan->Preconditions)
        Found.Lines.push_back("the original runs unless: " + P.Text +
                              (P.Reason.empty() ? "" : " (" + P.Reason + ")"));
    llvm::append_range(Found.Lines, K.Notes);
  }

  void describeDeclines(const KernelResult &K, KernelFinding &Found,
                        std::vector<Finding> &Messages) const {
    Found.Title = "'" + K.Name + "' stays as it is";
    for (const Decline &D : K.Declines) {
      const std::vector<Remark> Remarks = declineRemarks(K.Name, D);
      StringRef Reason = Remarks.front().Text;
      Reason.consume_back(" [" + spelling(D.Code) +
                          "]"); // has a field of its own
      std::string Text = Reason.str();
      for (const Remark &Note : llvm::drop_begin(Remarks))
        Text += "\nwhat would help: " + Note.Text;
      const Span Where = inDocument(D.Pos) ? tokenAt(this->Text, D.Pos.Offset)
                                           : anchorOf(Found);
      Messages.push_back({Finding::Hint, Where, spelling(D.Code), Text});
      llvm::SmallVector<StringRef> Lines;
      StringRef(Text).split(Lines, '\n');
      for (StringRef Line : Lines)
        Found.Lines.push_back(Line.str());
    }
  }
};

/// \p Text with the characters that Markdown gives a meaning escaped.
std::string escaped(StringRef Text) {
  std::string Result;
  for (char C : Text) {
    if (StringRef("\\`*_{}[]<>#|~&").contains(C))
      Result += '\\';
    Result += C;
  }
  return Result;
}

} // namespace

Findings findingsOf(const FileResult &R, const std::string &File,
                    std::shared_ptr<const std::string> Text) {
  return Builder(R, File, std::move(Text)).build();
}

Findings findingsOf(std::string Failure,
                    std::shared_ptr<const std::string> Text) {
  Findings F;
  F.Text = std::move(Text);
  F.Messages.push_back({Finding::Warning,
                        {0, 0},
                        "not-analysed",
                        "kernels are not analysed: " + Failure});
  F.Failure = std::move(Failure);
  return F;
}

std::vector<Finding> carriedOver(const Findings &Good,
                                 const std::string &Text) {
  std::vector<Finding> Result;
  for (const Finding &M : Good.Messages)
    if (std::optional<Span> Where = mapSpan(M.Where, *Good.Text, Text)) {
      Result.push_back(M);
      Result.back().Where = *Where;
    }
  return Result;
}

json::Array diagnosticsJson(const std::vector<Finding> &Messages,
                            const std::string &Text, const std::string &Docs) {
  const LineTable Lines(Text);
  json::Array Result;
  for (const Finding &M : Messages) {
    json::Object O{{"range", toJSON(Lines.range(M.Where))},
                   {"severity", int(M.Severity)},
                   {"source", "rcache"},
                   {"code", M.Code},
                   {"message", json::fixUTF8(M.Text)}};
    if (!Docs.empty() && declineCode(M.Code))
      O["codeDescription"] =
          json::Object{{"href", Docs + "/declines/" + M.Code + ".md"}};
    Result.push_back(std::move(O));
  }
  return Result;
}

const KernelFinding *kernelNamed(const Findings &F, unsigned Offset) {
  for (const KernelFinding &K : F.Kernels)
    for (Span Name : K.Names)
      if (Name.touches({Offset, Offset}))
        return &K;
  return nullptr;
}

json::Value hoverJson(const KernelFinding &K, Span Where,
                      const std::string &Text, bool Markdown) {
  std::string Value;
  if (Markdown) {
    Value = "**" + escaped(K.Title) + "**\n";
    for (const std::string &Line : K.Lines)
      Value += "\n- " + escaped(Line);
  } else {
    Value = K.Title;
    for (const std::string &Line : K.Lines)
      Value += "\n  " + Line;
  }
  return json::Object{
      {"contents", json::Object{{"kind", Markdown ? "markdown" : "plaintext"},
                                {"value", json::fixUTF8(Value)}}},
      {"range", toJSON(LineTable(Text).range(Where))}};
}

} // namespace rcache
