// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The command line of rcache-rewrite as one struct.

#ifndef RCACHE_TOOL_OPTIONS_H
#define RCACHE_TOOL_OPTIONS_H

#include "SharedOptions.h"
#include "rcache/Pipeline.h"
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace rcache {

struct ToolOptions : SharedOptions {
  std::vector<std::string> Sources;
  Options Library; ///< what the library needs to know

  // Where the result goes.
  std::string Output; ///< -o, "" when not given
  bool InPlace = false;
  bool Diff = false;
  bool List = false;
  std::string ReportFile, PictureFile, FixesFile, DepFile, CsvFile,
      ExplainFile, SarifFile;
  bool KernelsElsewhere = false; ///< --kernel may name kernels of other files

  // Whole projects.
  bool All = false;
  std::string OutRoot;
  std::string SourceRoot; ///< "": the current folder
  unsigned Jobs = 0;      ///< 0: one a core
  bool KeepGoing = false;

  // Messages.
  bool Quiet = false;
  bool Verbose = false;
  bool ExplainChoice = false;
  std::string CandidatesFolder; ///< --emit-candidates
  /// Is what was written compiled and executed before it is handed out?
  enum class SelfCheckKind { Off, Sums, Quick, Full } SelfCheck = SelfCheckKind::Quick;
  enum class TuneKind { None, Ptxas, Device } Tune = TuneKind::None;
  std::string TuneCache;  ///< --tune-cache, "" when not given
  std::string TuneFolder; ///< --tune-emit
  std::optional<int64_t> TuneElements;
  std::map<std::string, int64_t> TuneArguments;
  enum class ColorKind { Auto, Always, Never } Color = ColorKind::Auto;
};

/// Reads the command line. Nothing is returned when it is wrong; the reason is
/// on stderr then. `--help` and `--version` print and exit with 0.
std::optional<ToolOptions> parseCommandLine(int Argc, const char *const *Argv);

} // namespace rcache

#endif // RCACHE_TOOL_OPTIONS_H
