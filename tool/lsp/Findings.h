// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What an editor shows of a result of the library, as text and bytes only: no
// model, no isl object outlives the parse (they belong to one thread).
//
//     FileResult --findingsOf--> Findings --> diagnostics, hover, code actions

#ifndef RCACHE_LSP_FINDINGS_H
#define RCACHE_LSP_FINDINGS_H

#include "Positions.h"
#include "rcache/Pipeline.h"
#include "llvm/Support/JSON.h"
#include <memory>
#include <string>
#include <vector>

namespace rcache {

struct FileResult;

/// One message at one place of the document.
struct Finding {
  enum SeverityKind { Warning = 2, Information = 3, Hint = 4 };
  SeverityKind Severity = Hint;
  Span Where;
  std::string Code; ///< "rewritable", "parse-error" or a code of Declines.def
  std::string Text;
};

/// One kernel definition (all instantiations of a template together) that the
/// document defines or launches.
struct KernelFinding {
  std::string Name; ///< qualified, without template arguments
  bool Rewritable = false;
  /// What the plan has along x: asked for, it gives the same edits. 0: not the
  /// same in all instantiations.
  unsigned Coarsening = 0;
  std::vector<Span> Places;       ///< the definition and the launches
  std::vector<Span> Names;        ///< its name there
  std::string Title;              ///< of the hover
  std::vector<std::string> Lines; ///< of the hover
};

struct Findings {
  std::shared_ptr<const std::string> Text; ///< what was analysed
  /// False: the text has errors, or there was no parse. Messages says why;
  /// there are no kernels then.
  bool Good = false;
  std::vector<Finding> Messages;
  std::vector<KernelFinding>
      Kernels;             ///< those that stage data, in source order
  std::vector<Edit> Edits; ///< all kernels that can be rewritten
  std::vector<std::string> Dependencies; ///< absolute names of the files read
  std::string Failure; ///< there was no parse: the reason, for the user
};

/// \p Text is the document \p File that \p R was made from: the source itself
/// or a header that it includes. Kernels of a header are told and not edited.
Findings findingsOf(const FileResult &R, const std::string &File,
                    std::shared_ptr<const std::string> Text);

/// The findings when there was no parse at all.
Findings findingsOf(std::string Failure,
                    std::shared_ptr<const std::string> Text);

/// \p Messages of \p Good that still have a place in \p Text, which comes from
/// later edits of the same document.
std::vector<Finding> carriedOver(const Findings &Good, const std::string &Text);

/// The `diagnostics` of textDocument/publishDiagnostics. \p Docs: the URI of the
/// documentation, for links to the page of a code; "": none.
llvm::json::Array diagnosticsJson(const std::vector<Finding> &Messages,
                                  const std::string &Text,
                                  const std::string &Docs);

/// The kernel whose name stands at \p Offset of F.Text, or null.
const KernelFinding *kernelNamed(const Findings &F, unsigned Offset);

/// The result of textDocument/hover for \p K, its name standing at \p Where of
/// \p Text.
llvm::json::Value hoverJson(const KernelFinding &K, Span Where,
                            const std::string &Text, bool Markdown);

} // namespace rcache

#endif // RCACHE_LSP_FINDINGS_H
