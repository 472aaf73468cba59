// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A line a kernel.

#include "Output/ReportCsv.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using llvm::StringRef;

namespace rcache {
namespace {

/// In quotes where it has to be.
std::string field(StringRef Text) {
  if (Text.find_first_of(",\"\n\r") == StringRef::npos)
    return Text.str();
  std::string Quoted = "\"";
  for (char C : Text) {
    if (C == '"')
      Quoted += '"';
    Quoted += C;
  }
  return Quoted + '"';
}

std::vector<std::string> fields(const FileReport &F, const KernelResult &K) {
  std::string Outputs, Speedup, From;
  if (K.Verdict == KernelResult::Rewritten && K.ThePlan) {
    Outputs = std::to_string(K.ThePlan->Map.slots());
    if (K.ThePlan->PredictedSpeedup > 0)
      Speedup = llvm::formatv("{0:f2}", K.ThePlan->saidSpeedup()).str();
    From = K.ThePlan->SpeedupFrom == Plan::Measured   ? "device"
           : K.ThePlan->SpeedupFrom == Plan::Compiled ? "ptxas"
                                                      : "estimate";
  }
  const Decline *D = K.Declines.empty() ? nullptr : &K.Declines.front();
  return {F.File,
          K.Pos.File.empty() ? F.File : K.Pos.File,
          std::to_string(K.Pos.Line),
          K.Name,
          verdictName(K.Verdict),
          llvm::join(K.Arrays, "; "),
          Outputs,
          Speedup,
          From,
          std::to_string(K.LaunchesRewritten),
          std::to_string(K.LaunchesLeft),
          D ? spelling(D->Code) : "",
          D ? D->Detail : ""};
}

} // namespace

std::string reportCsv(const std::vector<FileReport> &Files) {
  std::string Text =
      "source,file,line,kernel,verdict,arrays,outputs_per_thread,"
      "speedup,speedup_from,launches_rewritten,launches_left,"
      "decline,detail\n";
  for (const FileReport &F : Files)
    for (const KernelResult &K :
         F.Rewrite ? F.Rewrite->Kernels : std::vector<KernelResult>()) {
      std::vector<std::string> Line = fields(F, K);
      for (std::string &Item : Line)
        Item = field(Item);
      Text += llvm::join(Line, ",") + "\n";
    }
  return Text;
}

} // namespace rcache
