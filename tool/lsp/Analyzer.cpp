// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls the library.

#include "Analyzer.h"
#include "Frontend/Frontend.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/LSP/Logging.h"

namespace lsp = llvm::lsp;

namespace rcache {
namespace {

/// The factors that are offered beside the planner's choice.
constexpr unsigned CoarseningFactors[] = {2, 4, 8};

bool sameEdits(const std::vector<Edit> &A, const std::vector<Edit> &B) {
  return A.size() == B.size() && std::equal(A.begin(), A.end(), B.begin(),
                                            [](const Edit &X, const Edit &Y) {
                                              return X.Offset == Y.Offset &&
                                                     X.Length == Y.Length &&
                                                     X.Text == Y.Text;
                                            });
}

} // namespace

llvm::Expected<CompileFlags> Analyzer::flagsFor(const std::string &File) {
  CompileFlags Flags;
  if (S.Flags) {
    Flags.Flags = *S.Flags;
    return Flags;
  }
  if (!S.DatabasePath.empty()) {
    auto Database = CompileDatabase::load(S.DatabasePath);
    if (!Database)
      return Database.takeError();
    if (auto Found = Database->findOrInfer(File))
      return *Found;
    lsp::Logger::info("the compile commands name no CUDA source");
    return Flags;
  }
  if (auto Nearest = CompileDatabase::nearest(File))
    if (auto Found = Nearest->findOrInfer(File))
      return *Found;
  return Flags;
}

llvm::Expected<ParseJob> Analyzer::job(const std::string &File,
                                       const std::string &Text) {
  ParseJob Job;
  bool IsKnown = false;
  {
    std::lock_guard<std::mutex> Guard(Lock);
    auto Found = Known.find(File);
    if ((IsKnown = Found != Known.end()))
      Job.Flags = Found->second;
  }
  if (!IsKnown) {
    auto Flags = flagsFor(File);
    if (!Flags)
      return Flags.takeError();
    Job.Flags = *Flags;
    std::lock_guard<std::mutex> Guard(Lock);
    Known[File] = std::move(*Flags);
  }
  Job.File = File;
  Job.Buffer = Text;
  llvm::append_range(Job.Flags.Flags, S.ExtraArgs);
  Job.CudaPath = S.CudaPath;
  Job.Arch = S.Arch;
  Job.ToolPath = S.ToolPath;
  return Job;
}

void Analyzer::forgetFlags() {
  std::lock_guard<std::mutex> Guard(Lock);
  Known.clear();
}

Findings Analyzer::analyze(const std::string &File,
                           std::shared_ptr<const std::string> Text) {
  auto Job = job(File, *Text);
  if (!Job)
    return findingsOf(llvm::toString(Job.takeError()), std::move(Text));
  auto Result = rewriteFile(*Job, S.Library, S.AllowErrors);
  if (!Result)
    return findingsOf(llvm::toString(Result.takeError()), std::move(Text));
  return findingsOf(*Result, std::move(Text));
}

std::vector<Variant> Analyzer::variants(const std::string &File,
                                        const std::string &Text,
                                        const std::string &Kernel) {
  std::vector<Variant> Found;
  auto Job = job(File, Text);
  if (!Job) {
    lsp::Logger::error("{0}: {1}", File, llvm::toString(Job.takeError()));
    return Found;
  }
  std::vector<Options> Each(1, S.Library);
  Each.front().Kernels = std::vector<std::string>{"::" + Kernel};
  for (unsigned Factor : CoarseningFactors) {
    Each.push_back(Each.front());
    Each.back().Coarsen = Factor;
  }
  auto Results = rewriteFile(*Job, Each, S.AllowErrors);
  if (!Results) {
    lsp::Logger::error("{0}: {1}", File, llvm::toString(Results.takeError()));
    return Found;
  }
  for (size_t I = 0; I < Each.size(); ++I) {
    FileResult &R = (*Results)[I];
    if (!R.Usable || R.Parse.MainText != Text || !R.Rewrite.anyRewritten())
      continue;
    Variant V;
    V.Title = "Rewrite " + Kernel + " with the register cache";
    V.Preferred = !Each[I].Coarsen;
    if (Each[I].Coarsen)
      V.Title += ", coarsening " + std::to_string(*Each[I].Coarsen);
    V.Edits = std::move(R.Rewrite.Edits);
    if (llvm::none_of(Found, [&](const Variant &Old) {
          return sameEdits(Old.Edits, V.Edits);
        }))
      Found.push_back(std::move(V));
  }
  return Found;
}

} // namespace rcache
