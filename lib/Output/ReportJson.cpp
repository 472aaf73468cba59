// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the JSON report. A new field may be added at any time; a change of
// meaning or a removal raises SchemaVersion (see docs/report.md).

#include "Output/ReportJson.h"
#include "rcache/Config.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace json = llvm::json;

namespace rcache {
namespace {

constexpr int SchemaVersion = 1;

/// Source text may be in any encoding; JSON is UTF-8.
std::string utf8(llvm::StringRef Text) {
  return json::isUTF8(Text) ? Text.str() : json::fixUTF8(Text);
}

void writePos(json::OStream &J, const SourcePos &Pos) {
  J.attribute("file", utf8(Pos.File));
  J.attribute("line", Pos.Line);
  J.attribute("column", Pos.Column);
}

void writeStrings(json::OStream &J, llvm::StringRef Name,
                  const std::vector<std::string> &Items) {
  J.attributeArray(Name, [&] {
    for (const std::string &Item : Items)
      J.value(utf8(Item));
  });
}

void writeDecline(json::OStream &J, const Decline &D) {
  DeclineInfo Info = declineInfo(D.Code);
  J.object([&] {
    J.attribute("code", D.Code);
    if (Info.Group)
      J.attribute("group", Info.Group);
    if (Info.Text)
      J.attribute("text", Info.Text);
    J.attribute("detail", utf8(D.Detail));
    if (Info.Advice)
      J.attribute("advice", Info.Advice);
    writePos(J, D.Pos);
  });
}

void writeCounts(json::OStream &J, const PlanCounts &C) {
  J.attributeObject("perOutput", [&] {
    J.attribute("globalLoads", C.GlobalLoads);
    J.attribute("originalGlobalLoads", C.OriginalGlobalLoads);
    J.attribute("loadInstructions", C.LoadInstructions);
    J.attribute("originalLoadInstructions", C.OriginalLoadInstructions);
    J.attribute("shuffles", C.Shuffles);
    J.attribute("selects", C.Selects);
    J.attribute("sharedReads", C.SharedReads);
    J.attribute("originalSharedReads", C.OriginalSharedReads);
    J.attribute("sharedWrites", C.SharedWrites);
    J.attribute("barriers", C.Barriers);
    J.attribute("originalBarriers", C.OriginalBarriers);
    J.attribute("stores", C.Stores);
    J.attribute("storeInstructions", C.StoreInstructions);
    J.attribute("arithmetic", C.Arithmetic);
  });
  J.attribute("registers", C.Registers);
}

void writePlan(json::OStream &J, const Plan &P) {
  J.attributeObject("plan", [&] {
    J.attributeArray("coarsening", [&] {
      for (unsigned F : P.Factor)
        J.value(F);
    });
    J.attribute("targetThreads", P.TargetThreads);
    J.attribute("keepsBarriers", P.KeepBarriers);
    J.attributeArray("preconditions", [&] {
      for (const Precondition &C : P.Preconditions)
        J.object([&] {
          J.attribute("condition", utf8(C.Text));
          J.attribute("reason", utf8(C.Reason));
        });
    });
    writeCounts(J, P.Counts);
    if (P.PredictedSpeedup > 0)
      J.attribute("predictedSpeedup", P.PredictedSpeedup);
  });
}

void writeKernel(json::OStream &J, const KernelResult &K) {
  J.object([&] {
    J.attribute("name", utf8(K.Name));
    J.attribute("verdict", verdictName(K.Verdict));
    writePos(J, K.Pos);
    writeStrings(J, "arrays", K.Arrays);
    if (!K.PlanText.empty())
      J.attribute("summary", utf8(K.PlanText));
    J.attributeObject("launches", [&] {
      J.attribute("rewritten", K.LaunchesRewritten);
      J.attribute("left", K.LaunchesLeft);
    });
    J.attributeArray("declines", [&] {
      for (const Decline &D : K.Declines)
        writeDecline(J, D);
    });
    writeStrings(J, "notes", K.Notes);
    if (K.Verdict == KernelResult::Rewritten && K.ThePlan)
      writePlan(J, *K.ThePlan);
  });
}

void writeFile(json::OStream &J, const FileReport &F) {
  J.object([&] {
    J.attribute("file", utf8(F.File));
    if (!F.Arch.empty())
      J.attribute("arch", F.Arch);
    if (!F.Output.empty())
      J.attribute("output", utf8(F.Output));
    J.attributeArray("errors", [&] {
      for (const auto &[Pos, Text] : F.Errors)
        J.object([&] {
          J.attribute("text", utf8(Text));
          writePos(J, Pos);
        });
    });
    J.attributeArray("kernels", [&] {
      if (F.Rewrite)
        for (const KernelResult &K : F.Rewrite->Kernels)
          writeKernel(J, K);
    });
  });
}

} // namespace

const char *verdictName(KernelResult::VerdictKind Verdict) {
  switch (Verdict) {
  case KernelResult::Rewritten:
    return "rewritten";
  case KernelResult::Declined:
    return "declined";
  case KernelResult::NotShared:
    return "not-shared";
  }
  return "declined";
}

std::string reportJson(const std::vector<FileReport> &Files) {
  std::string Text;
  llvm::raw_string_ostream OS(Text);
  json::OStream J(OS, /*IndentSize=*/2);
  J.object([&] {
    J.attribute("schema", SchemaVersion);
    J.attribute("tool", "rcache-rewrite");
    J.attribute("version", RCACHE_VERSION);
    J.attributeArray("files", [&] {
      for (const FileReport &F : Files)
        writeFile(J, F);
    });
  });
  OS << '\n';
  return Text;
}

} // namespace rcache
