// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls the library.

#include "Analyzer.h"
#include "Driver/Includers.h"
#include "Frontend/Frontend.h"
#include "Output/Explain.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/LSP/Logging.h"

namespace lsp = llvm::lsp;

namespace rcache {
namespace {

bool sameEdits(const std::vector<Edit> &A, const std::vector<Edit> &B) {
  return A.size() == B.size() && std::equal(A.begin(), A.end(), B.begin(),
                                            [](const Edit &X, const Edit &Y) {
                                              return X.Offset == Y.Offset &&
                                                     X.Length == Y.Length &&
                                                     X.Text == Y.Text;
                                            });
}

} // namespace

/// A header may lean on what its source includes in front of it, and is launched
/// there.
void Analyzer::throughSource(Way &W, const std::string &File,
                             const CompileFlags &Flags) {
  const std::vector<std::string> Found =
      includersOf(File, sourcesNear(File), [&](llvm::StringRef) { return Flags; });
  W.Flags = Flags;
  if (!Found.empty())
    W.Source = Found.front();
}

llvm::Expected<Analyzer::Way> Analyzer::wayFor(const std::string &File) {
  Way W;
  if (S.Flags) {
    W.Flags.Flags = *S.Flags;
    if (isHeader(File))
      throughSource(W, File, CompileFlags(W.Flags));
    return W;
  }
  std::optional<CompileDatabase> Database;
  if (S.DatabasePath.empty()) {
    std::string Damaged;
    Database = CompileDatabase::nearest(File, &Damaged);
    if (!Damaged.empty())
      lsp::Logger::error("{0}; they are passed over", Damaged);
  } else {
    auto Loaded = CompileDatabase::load(S.DatabasePath);
    if (!Loaded)
      return Loaded.takeError();
    Database = std::move(*Loaded);
  }
  if (Database) {
    if (auto Found = Database->find(File)) {
      W.Flags = *Found;
      return W;
    }
    for (const std::string &Source : Database->includersOf(File))
      if (auto Found = Database->find(Source)) {
        W.Flags = *Found;
        W.Source = Source;
        return W;
      }
    if (auto Found = Database->findOrInfer(File))
      W.Flags = *Found;
    else
      lsp::Logger::info("the compile commands name no CUDA source");
  }
  if (isHeader(File))
    throughSource(W, File, CompileFlags(W.Flags));
  return W;
}

llvm::Expected<ParseJob> Analyzer::job(const std::string &File,
                                       const std::string &Text) {
  Way W;
  bool IsKnown = false;
  {
    std::lock_guard<std::mutex> Guard(Lock);
    auto Found = Known.find(File);
    if ((IsKnown = Found != Known.end()))
      W = Found->second;
  }
  if (!IsKnown) {
    auto Found = wayFor(File);
    if (!Found)
      return Found.takeError();
    W = std::move(*Found);
    std::lock_guard<std::mutex> Guard(Lock);
    Known[File] = W;
  }
  ParseJob Job;
  Job.Flags = std::move(W.Flags);
  if (W.Source.empty()) {
    Job.File = File;
    Job.Buffer = Text;
  } else {
    Job.File = W.Source;
    Job.Overlay[File] = Text;
  }
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
  Findings F = findingsOf(*Result, File, std::move(Text));
  if (isHeader(File) && Job->File == File)
    for (Finding &M : F.Messages)
      if (M.Code == spelling(DeclineCode::NotInstantiated) ||
          M.Code == spelling(DeclineCode::NoLaunch) ||
          M.Code == spelling(DeclineCode::ParseError))
        M.Text += "\n" + headerHelp(File, {});
  return F;
}

llvm::Expected<std::string> Analyzer::explain(const std::string &File,
                                              const std::string &Text) {
  auto Job = job(File, Text);
  if (!Job)
    return Job.takeError();
  auto Result = rewriteFile(*Job, S.Library, S.AllowErrors);
  if (!Result)
    return Result.takeError();
  if (!Result->Usable)
    return llvm::createStringError("the source has errors: " +
                                   (Result->Parse.Errors.empty()
                                        ? std::string("unknown")
                                        : Result->Parse.Errors.front().Text));
  FileReport Report{Result->File, Result->Parse.Arch, "", &Result->Rewrite, {}};
  Report.Source = &Result->Parse.MainText;
  Report.NewText = &Result->NewText;
  return explainHtml({Report});
}

std::string variantTitle(const std::string &Kernel, unsigned Factor) {
  return "Rewrite " + Kernel + " with the register cache" +
         (Factor ? ", coarsening " + std::to_string(Factor) : "");
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
    const unsigned Factor = Each[I].Coarsen.value_or(0);
    auto Same = llvm::find_if(Found, [&](const Variant &Old) {
      return sameEdits(Old.Edits, R.Rewrite.Edits);
    });
    if (Same != Found.end()) {
      Same->Factors.push_back(Factor);
      continue;
    }
    Found.push_back({variantTitle(Kernel, Factor), Factor == 0, {Factor},
                     std::move(R.Rewrite.Edits)});
  }
  return Found;
}

} // namespace rcache
