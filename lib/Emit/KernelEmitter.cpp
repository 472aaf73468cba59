// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rewritten kernel: a plan is lowered, printed, and what was printed is held
// against the original's effects and names.

#include "Affine/IslTools.h"
#include "EffectsLedger.h"
#include "Emitter.h"
#include "LaunchText.h"
#include "Printer.h"

using namespace rcache;

/// Blocks of rewrite.cuh that the launch function calls.
static void addLaunchHelpers(std::set<std::string> &Helpers,
                             const KernelModel &M, const Plan &P,
                             const LaunchText &Launch) {
  Helpers.insert("launches");
  if (M.Overloaded)
    Helpers.insert("value");
  if (!P.Separate.empty())
    Helpers.insert("separate");
  if (P.LeastThreads)
    Helpers.insert("fills");
  if (!P.Aligned.empty() && !P.AlignedHasOther)
    Helpers.insert("aligned");
  if (Launch.comparesWaves())
    Helpers.insert("waves");
  if (P.Cut)
    Helpers.insert("shares");
  if (Launch.sharedBytes() != "0")
    Helpers.insert("holds");
}

/// Are there types in the text that only clang's printer names so?
static bool namesUnnamedType(llvm::StringRef Body, llvm::StringRef Original) {
  return llvm::any_of(
      llvm::ArrayRef{"(unnamed ", "(anonymous ", "(lambda at"},
      [&](llvm::StringRef Words) {
        return Body.contains(Words) && !Original.contains(Words);
      });
}

static llvm::Expected<EmittedKernel>
emit(const KernelModel &M, const Plan &P, const std::string &Name) {
  auto K = lower(M, P);
  if (!K)
    return K.takeError();
  const std::string Marked = printBody(*K, M, P);
  // Nothing of this is taken on trust: the text tells what became of it. (A
  // copy has all of it, where it was.)
  if (!K->IsCopy)
    if (auto Found = EffectsLedger(M, P).check(Marked))
      return llvm::make_error<CannotWrite>(Found->Code, Found->Detail);
  std::string Body = Code::plain(Marked);
  if (!K->IsCopy && namesUnnamedType(Body, M.Text))
    return llvm::make_error<CannotWrite>(
        DeclineCode::UnsupportedStatement, "a type without a name would be named");
  if (K->IsCopy)
    Body = llvm::StringRef(Body).ltrim('\n').str() + "\n";
  else
    Body = printPrologue(*K, M, P) + Body;
  EmittedKernel E;
  E.KernelName = Name;
  E.Kernel = printHead(*K, M, P, Name) + "{\n" + printPlanComment(M, P) + Body +
             "}\n";
  const LaunchText Launch(*K, M, P, Name);
  for (const LaunchCondition &C : Launch.conditions()) {
    E.Condition += (E.Condition.empty() ? "" : " &&\n") + C.Text;
    E.Conditions.push_back(C.Words);
  }
  E.Launch = Launch.launch(/*Void=*/false);
  E.LaunchArgs = Launch.launch(/*Void=*/true);
  E.Helpers = K->Helpers;
  addLaunchHelpers(E.Helpers, M, P, Launch);
  return E;
}

llvm::Expected<EmittedKernel> rcache::emitKernel(const KernelModel &M,
                                                 const Plan &P,
                                                 const std::string &Name) {
  auto R = guarded([&] { return emit(M, P, Name); });
  if (!R)
    return R.takeError();
  return std::move(*R);
}
