// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "CompilerReport.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include <optional>

namespace rcache {

//===-- Reading -----------------------------------------------------------===//

/// The number in front of \p Unit in a comma-separated list: in "Used 16
/// registers, 1056 bytes smem", 16 for "registers" and 1056 for "bytes smem".
static std::optional<unsigned> numberBefore(llvm::StringRef Line,
                                            llvm::StringRef Unit) {
  const size_t At = Line.find((" " + Unit).str());
  if (At == llvm::StringRef::npos)
    return std::nullopt;
  const llvm::StringRef Before = Line.take_front(At);
  const llvm::StringRef Digits = Before.take_back(
      Before.size() - (Before.find_last_not_of("0123456789") + 1));
  unsigned N = 0;
  if (Digits.empty() || Digits.getAsInteger(10, N))
    return std::nullopt;
  return N;
}

/// The text between the first and the second quote.
static llvm::StringRef quoted(llvm::StringRef Line) {
  return Line.split('\'').second.split('\'').first;
}

std::vector<FunctionReport> parseCompilerReport(llvm::StringRef Output) {
  std::vector<FunctionReport> Result;
  // ptxas reports a function's properties and its use of registers after its
  // name; "Function properties for" a device function interrupts an entry.
  bool InEntry = false;
  llvm::SmallVector<llvm::StringRef> Lines;
  Output.split(Lines, '\n');
  for (llvm::StringRef Line : Lines) {
    if (Line.contains("Compiling entry function")) {
      FunctionReport F;
      F.MangledName = quoted(Line).str();
      F.Arch = quoted(Line.split("' for ").second).str();
      Result.push_back(std::move(F));
      InEntry = true;
      continue;
    }
    if (Result.empty())
      continue;
    FunctionReport &F = Result.back();
    if (Line.contains("Function properties for")) {
      const llvm::StringRef Name = Line.split("properties for ").second.trim();
      InEntry = Name.trim('\'') == F.MangledName;
      continue;
    }
    if (InEntry && Line.contains("bytes stack frame")) {
      F.StackFrame = numberBefore(Line, "bytes stack frame").value_or(0);
      F.SpillStores = numberBefore(Line, "bytes spill stores").value_or(0);
      F.SpillLoads = numberBefore(Line, "bytes spill loads").value_or(0);
    } else if (Line.contains("Used ") && Line.contains(" registers")) {
      F.Registers = numberBefore(Line, "registers").value_or(0);
      F.Barriers = numberBefore(Line, "barriers").value_or(0);
      F.SharedBytes = numberBefore(Line, "bytes smem").value_or(0);
      InEntry = false;
    }
  }
  return Result;
}

//===-- Asking ------------------------------------------------------------===//

static llvm::Error failure(const llvm::Twine &What) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), What);
}

static std::vector<std::string> commandLine(const CompilerQuery &Q,
                                            llvm::StringRef Cubin) {
  const bool IsPtxas = llvm::sys::path::stem(Q.Program).starts_with("ptxas");
  std::vector<std::string> Args = {Q.Program};
  if (IsPtxas)
    Args.insert(Args.end(), {"-v", "-arch=" + Q.Arch});
  else
    Args.insert(Args.end(), {"-cubin", "-Xptxas", "-v", "-arch=" + Q.Arch});
  Args.insert(Args.end(), Q.Args.begin(), Q.Args.end());
  if (!IsPtxas && !Q.KeepFolder.empty())
    Args.insert(Args.end(), {"--keep", "--keep-dir", Q.KeepFolder});
  Args.insert(Args.end(), {"-o", Cubin.str(), Q.Source});
  return Args;
}

llvm::Expected<std::vector<FunctionReport>>
askCompiler(const CompilerQuery &Q) {
  if (!llvm::sys::fs::can_execute(Q.Program))
    return failure("cannot run '" + Q.Program + "'");
  llvm::SmallString<128> Cubin, Log;
  if (llvm::sys::fs::createTemporaryFile("rcache", "cubin", Cubin) ||
      llvm::sys::fs::createTemporaryFile("rcache", "log", Log))
    return failure("cannot create a temporary file");
  auto Clean = llvm::make_scope_exit([&] {
    llvm::sys::fs::remove(Cubin);
    llvm::sys::fs::remove(Log);
  });

  llvm::SmallString<128> Kept(Q.KeepFolder);
  llvm::sys::path::append(Kept, "kept.cubin");
  std::vector<std::string> Args =
      commandLine(Q, Q.KeepFolder.empty() ? Cubin : Kept);
  // nvcc starts others, which a signal to it alone leaves at work.
  if (auto Timeout = llvm::sys::findProgramByName("timeout"))
    Args.insert(Args.begin(),
                {*Timeout, "-k", "1", std::to_string(Q.TimeoutSeconds)});
  std::vector<llvm::StringRef> Refs(Args.begin(), Args.end());
  const std::optional<llvm::StringRef> Redirects[] = {
      llvm::StringRef(""), llvm::StringRef(Log), llvm::StringRef(Log)};
  std::string Message;
  const int Status =
      llvm::sys::ExecuteAndWait(Refs.front(), Refs, std::nullopt, Redirects,
                                Q.TimeoutSeconds + 5, 0, &Message);
  auto Buffer = llvm::MemoryBuffer::getFile(Log);
  const llvm::StringRef Output = Buffer ? (*Buffer)->getBuffer() : "";
  if (Status == 124 || Status == 137)
    return failure("'" + Q.Program + "' did not end within " +
                   std::to_string(Q.TimeoutSeconds) + " seconds");
  if (Status != 0)
    return failure("'" + Q.Program + "' failed: " +
                   (Message.empty() ? Output.take_front(500) : Message));
  return parseCompilerReport(Output);
}

} // namespace rcache
