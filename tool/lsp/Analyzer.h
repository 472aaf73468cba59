// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs the library on a text of an editor: flags, parse, findings, and the
// edits of each variant of a rewrite. Thread-safe; nothing here waits for
// anything but the parse.

#ifndef RCACHE_LSP_ANALYZER_H
#define RCACHE_LSP_ANALYZER_H

#include "Driver/CompileFlags.h"
#include "Findings.h"
#include "SharedOptions.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace rcache {

struct ParseJob;

/// What the server was started with.
struct Settings : SharedOptions {
  Options Library;
  std::string ToolPath;
};

/// One way to rewrite a kernel.
struct Variant {
  std::string Title;
  bool Preferred = false; ///< what the command line would do
  /// Outputs a thread that were asked for and lead to these edits; 0: the planner's.
  std::vector<unsigned> Factors;
  std::vector<Edit> Edits;
};

/// The factors that are offered beside the planner's choice.
inline constexpr unsigned CoarseningFactors[] = {2, 4, 8};

/// How an action is called.
std::string variantTitle(const std::string &Kernel, unsigned Factor);

class Analyzer {
public:
  explicit Analyzer(Settings S) : S(std::move(S)) {}

  Findings analyze(const std::string &File,
                   std::shared_ptr<const std::string> Text);

  /// The planner's choice for \p Kernel (a KernelFinding::Name), then the other
  /// coarsening factors that can be had and give another text.
  std::vector<Variant> variants(const std::string &File,
                                const std::string &Text,
                                const std::string &Kernel);

  /// The page of --explain for this text, or why there is none.
  llvm::Expected<std::string> explain(const std::string &File,
                                      const std::string &Text);

  /// The compile commands may have changed: reads them again.
  void forgetFlags();

private:
  const Settings S;
  std::mutex Lock; ///< for Known
  /// How a document is parsed: by its own command or, a header, in a source.
  struct Way {
    CompileFlags Flags;
    std::string Source; ///< that includes the document; "": the document itself
  };
  llvm::StringMap<Way> Known;

  llvm::Expected<ParseJob> job(const std::string &File,
                               const std::string &Text);
  llvm::Expected<Way> wayFor(const std::string &File);
  static void throughSource(Way &W, const std::string &File,
                            const CompileFlags &Flags);
};

} // namespace rcache

#endif // RCACHE_LSP_ANALYZER_H
