// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Say.h"

#include "Commands.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <utility>

namespace rcache::check {

namespace {
std::mutex M;
bool Keep = false;
std::string Kept;

llvm::json::Array triple(const Dim3 &D) {
  return llvm::json::Array({D.X, D.Y, D.Z});
}

/// "file:12:3" as members of \p O.
void place(llvm::json::Object &O, llvm::StringRef Where) {
  llvm::StringRef File = Where;
  unsigned Line, Column;
  auto [Rest, C] = Where.rsplit(':');
  auto [Name, L] = Rest.rsplit(':');
  if (!C.getAsInteger(10, Column) && !L.getAsInteger(10, Line)) {
    O["line"] = Line;
    O["column"] = Column;
    File = Name;
  }
  O["file"] = llvm::json::fixUTF8(File);
}
} // namespace

void keepWhatIsSaid() { Keep = true; }

void say(const char *Format, ...) {
  va_list Args;
  va_start(Args, Format);
  char *Text = nullptr;
  if (vasprintf(&Text, Format, Args) >= 0) {
    std::lock_guard<std::mutex> Lock(M);
    if (Keep)
      Kept += Text;
    else
      fputs(Text, stderr);
    free(Text);
  }
  va_end(Args);
}

std::string takeSaid() {
  std::lock_guard<std::mutex> Lock(M);
  return std::exchange(Kept, "");
}

const char *statusName(int Status) {
  switch (Status) {
  case ExitSame:
    return "equivalent";
  case ExitDifferent:
    return "different";
  case ExitUsage:
    return "usage";
  case ExitUndefinedOriginal:
    return "undefined-original";
  case ExitUndefinedRewritten:
    return "undefined-rewritten";
  default:
    return "could-not-run";
  }
}

llvm::json::Object findingObject(const Finding &F) {
  llvm::json::Object O{
      {"severity", F.Sev == Severity::Error ? "error" : "warning"},
      {"kind", F.Kind},
      {"message", llvm::json::fixUTF8(F.Text)}};
  if (!F.Location.empty())
    place(O, F.Location);
  if (!F.Kernel.empty()) {
    O["kernel"] = F.Kernel;
    O["launch"] = F.LaunchIndex;
  }
  if (F.HasThread) {
    O["block"] = triple(F.Block);
    O["thread"] = triple(F.Thread);
  }
  llvm::json::Array Callers;
  for (const std::string &C : F.Callers) {
    llvm::json::Object P;
    place(P, C);
    Callers.push_back(std::move(P));
  }
  if (!Callers.empty())
    O["callers"] = std::move(Callers);
  if (!F.Host.empty()) {
    llvm::json::Object P;
    place(P, F.Host);
    O["launched-from"] = std::move(P);
  }
  return O;
}

void printObject(llvm::json::Object O) {
  llvm::outs() << llvm::formatv("{0:2}", llvm::json::Value(std::move(O)))
               << "\n";
  llvm::outs().flush();
}

} // namespace rcache::check
