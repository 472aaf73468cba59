// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One device-side parse of one CUDA source file.
//
//     ParseJob --parseSource--> ParseHandler::parsed(CompilerInstance)
//              \--> ParseOutcome: errors, files read
//
// The kernel's tree is the same on both sides of CUDA's two compilations; the
// device side is taken because code under `#ifdef __CUDA_ARCH__` is there.
// Everything a parse by clang alone needs is added here: the resource
// directory, the toolkit and its cccl headers, and a compatibility header for
// what nvcc accepts and clang does not (see CompatHeader.cpp).

#ifndef RCACHE_DRIVER_PARSEJOB_H
#define RCACHE_DRIVER_PARSEJOB_H

#include "Driver/CompileFlags.h"
#include "rcache/Decline.h"
#include "llvm/Support/Error.h"
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace clang {
class CompilerInstance;
}

namespace rcache {

struct ParseJob {
  std::string File; ///< as named by the user: messages show it so
  std::optional<std::string> Buffer; ///< parse this text instead of the file's
  /// Parse these texts instead of those of other files, by absolute path.
  std::map<std::string, std::string> Overlay;
  CompileFlags Flags;                ///< nvcc's or clang's
  std::string CudaPath;              ///< "": from Flags, else found
  std::string Arch;                  ///< "": from Flags, else sm_90
  std::string ToolPath;              ///< the running program, may be ""
};

struct ParseError {
  SourcePos Pos; ///< where the error is in a file (macros: the invocation)
  std::string Text;
};

struct ParseOutcome {
  std::string Arch;               ///< parsed for: "sm_90"
  std::string CudaPath;           ///< "" with -nocudainc
  std::string MainText;           ///< the text that was parsed
  std::vector<ParseError> Errors; ///< what clang reported, without Tolerated
  /// Errors of clang's alone: nvcc takes the text. Functions of the device in
  /// which they stand are marked as invalid.
  std::vector<ParseError> Tolerated;
  std::vector<std::string>
      Dependencies; ///< files read (absolute), the main file included
  std::vector<std::string> UnknownFlags; ///< left out of the command line
  /// On how the file was parsed: what the user named and did not get.
  std::vector<std::string> Notes;
};

/// Sees the parse while clang's objects are alive.
class ParseHandler {
public:
  virtual ~ParseHandler();
  /// Before the first token: the preprocessor can be listened to.
  virtual void starting(clang::CompilerInstance &CI) {}
  /// The tree is complete. \p Outcome has its errors, not yet its files.
  virtual void parsed(clang::CompilerInstance &CI,
                      const ParseOutcome &Outcome) = 0;
};

/// Parses. Errors in the source are part of the outcome; an llvm::Error is
/// returned when there was no parse: the file cannot be read, no toolkit or
/// resource directory, flags that clang's driver refuses. Thread-safe.
llvm::Expected<ParseOutcome> parseSource(const ParseJob &Job,
                                         ParseHandler &Handler);

/// The compiler command line that parseSource runs, for diagnosis and tests.
llvm::Expected<std::vector<std::string>> parseCommandLine(const ParseJob &Job);

} // namespace rcache

#endif // RCACHE_DRIVER_PARSEJOB_H
