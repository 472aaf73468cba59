// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Exports edits through clang's own YAML mapping.

#include "Output/FixesYaml.h"
#include "clang/Tooling/Core/Diagnostic.h"
#include "clang/Tooling/DiagnosticsYaml.h"
#include "llvm/Support/YAMLTraits.h"
#include "llvm/Support/raw_ostream.h"

namespace tooling = clang::tooling;

namespace rcache {
namespace {

std::string messageFor(const Result &R) {
  std::string Names;
  for (const KernelResult &K : R.Kernels)
    if (K.Verdict == KernelResult::Rewritten)
      Names += (Names.empty() ? "" : ", ") + K.Name;
  return "kernels that can use the register cache: " + Names;
}

/// Edits that touch are joined: a set of replacements refuses two at one place
/// whose order would matter.
std::vector<Edit> joined(const std::vector<Edit> &Edits) {
  std::vector<Edit> Result;
  for (const Edit &E : Edits) {
    if (!Result.empty() &&
        Result.back().Offset + Result.back().Length == E.Offset) {
      Result.back().Length += E.Length;
      Result.back().Text += E.Text;
      continue;
    }
    Result.push_back(E);
  }
  return Result;
}

} // namespace

std::string fixesYaml(const std::vector<FileFixes> &Files) {
  tooling::TranslationUnitDiagnostics Unit;
  Unit.MainSourceFile = Files.empty() ? "" : Files.front().File;
  for (const FileFixes &F : Files) {
    if (F.Rewrite->Edits.empty())
      continue;
    tooling::DiagnosticMessage Message(messageFor(*F.Rewrite));
    Message.FilePath = F.File;
    Message.FileOffset = F.Rewrite->Edits.front().Offset;
    for (const Edit &E : joined(F.Rewrite->Edits))
      llvm::cantFail(Message.Fix[F.File].add(tooling::Replacement(
                         F.File, E.Offset, E.Length, E.Text)),
                     "edits overlap");
    Unit.Diagnostics.emplace_back(
        "rcache-rewrite", Message,
        llvm::SmallVector<tooling::DiagnosticMessage, 1>(),
        tooling::Diagnostic::Remark, /*BuildDirectory=*/"");
  }
  std::string Text;
  llvm::raw_string_ostream OS(Text);
  llvm::yaml::Output Yaml(OS);
  Yaml << Unit;
  return Text;
}

} // namespace rcache
