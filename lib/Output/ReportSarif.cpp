// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Through clang's writer, which wants places of a source manager: the files are
// read again for it (the text of standard input is what was parsed).

#include "Output/ReportSarif.h"
#include "Support/Remarks.h"
#include "rcache/Config.h"
#include "clang/Basic/Diagnostic.h"
#include "clang/Basic/DiagnosticIDs.h"
#include "clang/Basic/DiagnosticOptions.h"
#include "clang/Basic/FileManager.h"
#include "clang/Basic/Sarif.h"
#include "clang/Basic/SourceManager.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <map>

using namespace clang;
using llvm::StringRef;

namespace rcache {
namespace {

class Writer {
  FileManager Files{FileSystemOptions()};
  DiagnosticOptions Options;
  DiagnosticsEngine Diags{DiagnosticIDs::create(), Options,
                          new IgnoringDiagConsumer};
  SourceManager SM{Diags, Files};
  SarifDocumentWriter Document{SM};
  std::map<std::string, size_t> Rules;
  std::map<std::string, FileID> Ids;

public:
  Writer() {
    Document.createRun("rcache-rewrite", "rcache-rewrite", RCACHE_VERSION);
  }

  /// Text that is not on disk, or no more.
  void know(StringRef File, const std::string &Text) {
    if (Ids.count(File.str()) || Files.getOptionalFileRef(File))
      return;
    // clang's writer wants a file, and not a buffer alone.
    const FileEntryRef Entry = Files.getVirtualFileRef(
        File, static_cast<off_t>(Text.size()), /*ModificationTime=*/0);
    SM.overrideFileContents(Entry,
                            llvm::MemoryBuffer::getMemBufferCopy(Text, File));
    Ids[File.str()] = SM.createFileID(Entry, SourceLocation(), SrcMgr::C_User);
  }

  void add(const std::string &Rule, StringRef Description, const SourcePos &Pos,
           StringRef DefaultFile, StringRef Message, SarifResultLevel Level) {
    auto [It, New] = Rules.emplace(Rule, 0);
    if (New)
      It->second = Document.createRule(
          SarifRule::create()
              .setRuleId(Rule)
              .setName(Rule)
              .setDescription(Description)
              .setDefaultConfiguration(
                  SarifReportingConfiguration::create().setLevel(Level)));
    SarifResult R = SarifResult::create(static_cast<uint32_t>(It->second))
                        .setRuleId(Rule)
                        .setDiagnosticMessage(Message)
                        .setDiagnosticLevel(Level);
    if (const FileID Id = idOf(Pos.File.empty() ? DefaultFile : Pos.File);
        Id.isValid() && Pos.Line) {
      const SourceLocation At = SM.translateLineCol(Id, Pos.Line, Pos.Column);
      R.addLocations({CharSourceRange::getCharRange(At, wordEnd(At))});
    }
    Document.appendResult(R);
  }

  std::string finish() {
    std::string Text;
    llvm::raw_string_ostream(Text)
        << llvm::formatv("{0:2}", llvm::json::Value(Document.createDocument()))
        << '\n';
    return Text;
  }

private:
  FileID idOf(StringRef File) {
    auto [It, New] = Ids.emplace(File.str(), FileID());
    if (New)
      if (auto Entry = Files.getOptionalFileRef(File))
        It->second = SM.createFileID(*Entry, SourceLocation(), SrcMgr::C_User);
    return It->second;
  }

  /// Behind the identifier at \p At, at least one character on.
  SourceLocation wordEnd(SourceLocation At) {
    bool Invalid = false;
    const char *Begin = SM.getCharacterData(At, &Invalid);
    if (Invalid)
      return At;
    int Length = 0;
    while (llvm::isAlnum(Begin[Length]) || Begin[Length] == '_')
      ++Length;
    return At.getLocWithOffset(std::max(1, Length));
  }
};

} // namespace

std::string reportSarif(const std::vector<FileReport> &Files) {
  Writer W;
  for (const FileReport &F : Files) {
    if (!F.Rewrite)
      continue;
    if (F.Source)
      W.know(F.File, *F.Source);
    for (const KernelResult &K : F.Rewrite->Kernels) {
      if (K.Verdict == KernelResult::Rewritten)
        W.add("rewritten", "The kernel can keep its shared data in registers.",
              K.Pos, F.File, "'" + K.Name + "' is rewritten: " + K.PlanText,
              SarifResultLevel::Note);
      for (const Decline &D : K.Declines) {
        const std::vector<Remark> Remarks = declineRemarks(K.Name, D);
        std::string Text = Remarks.front().Text;
        for (size_t I = 1; I < Remarks.size(); ++I)
          Text += "\nWhat would help: " + Remarks[I].Text;
        const DeclineInfo &Info = declineInfo(D.Code);
        W.add(Info.Code, Info.Text, D.Pos.File.empty() ? K.Pos : D.Pos, F.File,
              Text, SarifResultLevel::Note);
      }
    }
  }
  return W.finish();
}

} // namespace rcache
