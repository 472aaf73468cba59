// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Hints about registers, for kernels that no other technique rewrites: the original
// is compiled; if its registers limit it, so is each candidate, and the predictor
// tells whether one of them is clearly better. What is compiled tells as well
// whether the arithmetic is the original's.

#include "Plan/RegisterHints.h"
#include "Predict/MachineCode.h"
#include "Predict/PtxArithmetic.h"
#include "Predict/RegisterPressure.h"
#include "Predict/Resources.h"
#include "Unit.h"
#include "llvm/Support/FormatVariadic.h"
#include <tuple>

using namespace rcache;

namespace {

/// A kernel in a text that was compiled.
struct Seen {
  PressureFigures Figures;
  std::map<std::string, unsigned> Arithmetic;
  std::optional<PtxArithmetic> Ptx;
};

llvm::Expected<Seen> see(const CompiledText &T, const FunctionReport &F,
                         const KernelModel &M, unsigned Threads,
                         const Arch &A) {
  auto Code = machineCode(T.Cubin, F.MangledName);
  if (!Code)
    return Code.takeError();
  const MachineFigures Figures = figuresOf(*Code, A);
  return Seen{pressureOf(F, Figures, Threads, M.Geo.MostBlocks, A),
              Figures.Arithmetic, arithmeticOf(T.Ptx, F.MangledName)};
}

/// The new kernel's entry: it is another function with its name in the mangled one.
const FunctionReport *newKernel(llvm::ArrayRef<FunctionReport> All,
                                const std::string &Name) {
  const std::string Mangled = std::to_string(Name.size()) + Name;
  for (const FunctionReport &F : All)
    if (F.MangledName == Name ||
        llvm::StringRef(F.MangledName).contains(Mangled))
      return &F;
  return nullptr;
}

/// Why the arithmetic of \p New may not be that of \p Old; "": it is.
std::string otherArithmetic(const Seen &Old, const Seen &New) {
  if (!Old.Ptx || !New.Ptx)
    return "nvcc's intermediate code is not there to compare";
  if (!sameArithmetic(*Old.Ptx, *New.Ptx))
    return Old.Ptx->Fusible ? "nvcc computes in another order, and ptxas may "
                              "fuse other products with sums"
                            : "nvcc computes in other steps";
  if (Old.Ptx->Fusible && Old.Arithmetic != New.Arithmetic)
    return "ptxas may fuse other products with sums";
  return "";
}

Candidate candidateOf(const KernelModel &M, const RegisterHints &H) {
  Candidate K;
  K.Arrays = "registers";
  K.Form = hintsText(H);
  K.Id = "registers " + K.Form;
  for (unsigned A = 0; A < 3; ++A)
    K.Block[A] = static_cast<unsigned>((*M.Geo.ConstBlock)[A]);
  return K;
}

/// Does the compiler make the same of both, as far as it tells?
bool sameCode(const Candidate &A, const Candidate &B) {
  auto Figures = [](const PressureFigures &P) {
    return std::tuple(P.Of.Registers, P.Of.StackFrame, P.Of.SpillStores,
                      P.Of.SpillLoads, P.Of.SharedBytes, P.Clocks);
  };
  return A.Failed.empty() && A.Pressure && B.Pressure &&
         Figures(*A.Pressure) == Figures(*B.Pressure);
}

unsigned threadsOf(const KernelModel &M) {
  const auto &[X, Y, Z] = *M.Geo.ConstBlock;
  return static_cast<unsigned>(X * Y * Z);
}

} // namespace

bool Unit::compileHints(Case &C, const std::vector<Case> &Group,
                        llvm::ArrayRef<RegisterHints> Hints, Choice &Found,
                        std::vector<Plan> &Plans) {
  const KernelModel &M = *C.M;
  const Arch &A = *findArch(O.Arch);
  std::vector<std::string> Texts;
  for (const RegisterHints &H : Hints) {
    auto Text = textWith(C, Group, hintedPlan(M, H));
    if (!Text) {
      C.R.TuneNotes.push_back("no hint about registers: " +
                              llvm::toString(Text.takeError()));
      return false;
    }
    Texts.push_back(std::move(*Text));
  }
  auto Answers = O.Compiler(Texts);
  for (size_t I = 0; I < Answers.size(); ++I) {
    Candidate K = candidateOf(M, Hints[I]);
    auto Told = [&]() -> llvm::Error {
      if (!Answers[I])
        return Answers[I].takeError();
      const FunctionReport
          *Old = reportOf(Answers[I]->Functions, M),
          *New = newKernel(Answers[I]->Functions, freshName(M, "_rc"));
      if (!Old || !New)
        return llvm::createStringError("the compiler does not tell of it");
      auto Before = see(*Answers[I], *Old, M, threadsOf(M), A);
      if (!Before)
        return Before.takeError();
      auto Now = see(*Answers[I], *New, M, threadsOf(M), A);
      if (!Now)
        return Now.takeError();
      Found.OriginalPressure = Before->Figures;
      Found.OriginalCost.Occ = Before->Figures.Occ;
      K.Pressure = Now->Figures;
      K.Cost.Occ = Now->Figures.Occ;
      K.Registers = New->Registers;
      K.SpillBytes = New->SpillStores;
      if (Now->Figures.Clocks > 0)
        K.Speedup = Before->Figures.Clocks / Now->Figures.Clocks;
      K.Rank = K.Speedup;
      if (const std::string Why = otherArithmetic(*Before, *Now); !Why.empty())
        return llvm::createStringError(Why);
      if (Now->Figures.Occ.BlocksPerSm < Before->Figures.Occ.BlocksPerSm &&
          mayWaitForBlocks(M))
        return llvm::createStringError("an SM holds fewer blocks, and blocks may "
                                       "wait for one another");
      return llvm::Error::success();
    };
    if (llvm::Error E = Told())
      K.Failed = K.Excluded = llvm::toString(std::move(E));
    for (size_t Old = 0; Old < Found.Candidates.size(); ++Old)
      if (K.Failed.empty() && sameCode(Found.Candidates[Old], K))
        K.Failed = K.Excluded = "as #" + std::to_string(Old);
    Found.Candidates.push_back(std::move(K));
    Plans.push_back(hintedPlan(M, Hints[I]));
  }
  return true;
}

void Unit::chooseHint(Choice &Found) const {
  for (size_t I = 0; I < Found.Candidates.size(); ++I)
    if (Found.Candidates[I].Failed.empty() &&
        (Found.Chosen < 0 ||
         Found.Candidates[I].Rank >
             Found.Candidates[static_cast<size_t>(Found.Chosen)].Rank))
      Found.Chosen = static_cast<int>(I);
  if (O.Candidate)
    Found.Chosen = *O.Candidate < Found.Candidates.size() &&
                           Found.Candidates[*O.Candidate].Failed.empty()
                       ? static_cast<int>(*O.Candidate)
                       : -1;
  Found.Why = Found.Chosen < 0 ? "none keeps the original's arithmetic"
              : O.Candidate    ? "asked for"
                               : "the least predicted time";
}

std::optional<Decline> Unit::hintRegisters(Case &C,
                                           const std::vector<Case> &Group) {
  const KernelModel &M = *C.M;
  const Arch *A = findArch(O.Arch);
  auto No = [&](std::string Why) {
    return Decline{DeclineCode::NoGain, std::move(Why), M.Pos};
  };
  if (auto Forbidden = hintsForbidden(M))
    return Forbidden;
  if (!O.Compiler || !A)
    return No("hints about registers need nvcc, which is not there to ask "
              "(or may not be run: --self-check=off)");
  auto Text = O.UsersText ? O.UsersText({}) : llvm::Expected<std::string>(MainText);
  if (!Text)
    return No(llvm::toString(Text.takeError()));
  auto Original = std::move(O.Compiler(*Text).front());
  if (!Original)
    return No(llvm::toString(Original.takeError()));
  const FunctionReport *F = reportOf(Original->Functions, M);
  if (!F)
    return No("nvcc does not tell of the kernel's registers");
  const KernelResources R = resourcesOf(M, *F, *A, O.AssumedBlock);
  if (!limitedByRegisters(R) && !O.Force && !O.Candidate)
    return No("registers do not limit it: " + resourcesText(R));
  auto Found = std::make_shared<Choice>();
  Found->Arch = std::string(A->Name) + " (" + A->Part + ")";
  std::vector<Plan> Plans;
  std::vector<RegisterHints> Bounds = boundsToTry(threadsOf(M), *A);
  // Candidates behind the one that is asked for need not be compiled.
  const bool OneOfBounds = O.Candidate && *O.Candidate < Bounds.size();
  if (OneOfBounds)
    Bounds.resize(*O.Candidate + 1);
  if (!compileHints(C, Group, Bounds, *Found, Plans))
    return No("the kernel cannot be written");
  std::vector<RegisterHints> Spilling;
  for (size_t I = 0; I < Plans.size(); ++I)
    if (Found->Candidates[I].SpillBytes.value_or(0) && !R.DynamicShared &&
        !OneOfBounds) {
      Spilling.push_back(*Plans[I].Hints);
      Spilling.back().SharedSpilling = true;
    }
  if (!Spilling.empty())
    compileHints(C, Group, Spilling, *Found, Plans);
  chooseHint(*Found);
  C.R.Chosen = Found;
  if (O.Tune && !O.Candidate) {
    TuneRequest Request{
        M, freshName(M, "_rc"), *Found,
        [&](unsigned N) { return textWith(C, Group, Plans[N]); },
        O.AssumedBlock};
    if (llvm::Error E = O.Tune(Request))
      C.R.TuneNotes.push_back("not tuned: " + llvm::toString(std::move(E)));
  }
  dump(C, "predict", [&](llvm::raw_ostream &OS) { printChoice(OS, *Found); });
  if (Found->Chosen < 0 && O.Candidate)
    return Decline{DeclineCode::NoCandidate,
                   llvm::formatv("--candidate={0} of {1}", *O.Candidate,
                                 Found->Candidates.size()),
                   M.Pos};
  if (Found->Chosen < 0)
    return No("registers limit it (" + resourcesText(R) + "), but " +
              Found->Why);
  const auto Best = static_cast<size_t>(Found->Chosen);
  Plan &P = Plans[Best];
  P.PredictedSpeedup = Found->Candidates[Best].Speedup;
  P.SpeedupFrom = Plan::Compiled;
  if (!O.Force && !O.Candidate &&
      P.PredictedSpeedup < PressureConstants().LeastGain)
    return No(llvm::formatv("registers limit it ({0}); the best hint ({1}) "
                            "would run at {2:F2}x",
                            resourcesText(R), hintsText(*P.Hints),
                            P.PredictedSpeedup));
  C.R.Notes.push_back("the original: " + resourcesText(R));
  dump(C, "plan", [&](llvm::raw_ostream &OS) { P.print(OS, M); });
  return emit(C, P);
}
