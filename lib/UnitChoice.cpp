// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which plan is written: the best prediction, or what a compiler or device says
// of the candidates, or the next best where one cannot be written.

#include "Mutate/Mutate.h"
#include "Predict/Alignment.h"
#include "Unit.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>

using namespace rcache;

void Unit::keepExchange(std::vector<Plan> &Candidates) const {
  if (O.Exchange.empty())
    return;
  auto Lacks = [&](const Plan &P) {
    return std::none_of(
        P.Arrays.begin(), P.Arrays.end(),
        [&](const ArrayPlan &A) { return placementName(A) == O.Exchange; });
  };
  if (!std::all_of(Candidates.begin(), Candidates.end(), Lacks))
    Candidates.erase(
        std::remove_if(Candidates.begin(), Candidates.end(), Lacks),
        Candidates.end());
}

const Plan *Unit::planForUnaligned(Case &C, Plan &P,
                                   const std::vector<Plan> &Candidates) const {
  // A second kernel is worth its text where it is clearly better.
  constexpr double Worth = 1.15;
  // Launches of blocks that nobody knows need the other plan.
  const bool AnyBlock =
      !P.Map.Block && P.Map.BlockMultiple > 32 && !C.M->Geo.AllLaunchesConst;
  if (AnyBlock || !P.LeastThreads || P.SpeedupFrom == Plan::Measured)
    return nullptr;
  const std::vector<Candidate> &Figures = C.R.Chosen->Candidates;
  const auto Own = static_cast<size_t>(&P - Candidates.data());
  size_t Best = Own;
  for (size_t I = 0; I < Candidates.size(); ++I)
    if (Figures[I].Failed.empty() && Figures[I].Excluded.empty() &&
        Candidates[I].Map.Block == P.Map.Block &&
        Figures[I].UnalignedRank > Figures[Best].UnalignedRank)
      Best = I;
  if (Figures[Best].UnalignedRank < Worth * Figures[Own].UnalignedRank) {
    if (Figures[Own].UnalignedSpeedup >= MinimumGain)
      P.Aligned.clear(); // the plan itself is for all launches
    return nullptr;
  }
  if (P.Aligned.empty())
    P.Aligned = alignedRuns(*C.M, P);
  if (P.Aligned.empty() || Figures[Best].UnalignedSpeedup < MinimumGain)
    return nullptr;
  P.AlignedHasOther = true;
  auto Told = std::make_shared<Choice>(*C.R.Chosen);
  Told->UnalignedSpeedup = Figures[Best].UnalignedSpeedup;
  C.R.Chosen = std::move(Told);
  return &Candidates[Best];
}

std::optional<Plan *> Unit::choose(Case &C, const std::vector<Case> &Group,
                                   std::vector<Plan> &Candidates) {
  const Arch &A = arch();
  // Counting asks isl about every access, with a budget of its own.
  C.M->Ctx->startClock();
  C.M->Ctx->resetBudget();
  auto Ranked = guarded([&] { return rankPlans(*C.M, Candidates, A, how()); });
  if (!Ranked) {
    decline(C, DeclineCode::TooHard, llvm::toString(Ranked.takeError()));
    return std::nullopt;
  }
  auto Chosen = std::make_shared<Choice>(std::move(*Ranked));
  C.R.Chosen = Chosen;
  excludeUnwritable(*C.M, Candidates, *Chosen, C.Unwritable);
  if (O.Tune && !O.Candidate) {
    TuneRequest Request{
        *C.M, freshName(*C.M, "_rc"), *Chosen,
        [&](unsigned N) { return textWith(C, Group, Candidates[N]); },
        O.AssumedBlock};
    if (llvm::Error E = O.Tune(Request))
      Request.Notes.push_back("not tuned: " + llvm::toString(std::move(E)));
    C.R.TuneNotes = std::move(Request.Notes);
    C.R.Warnings = std::move(Request.Warnings);
    C.M->Ctx->resetBudget();
    chooseAgain(*Chosen, *C.M, Candidates, A, how());
  }
  dump(C, "predict", [&](llvm::raw_ostream &OS) { printChoice(OS, *Chosen); });
  if (O.Candidate && Chosen->Chosen < 0) {
    decline(C, DeclineCode::NoCandidate,
            llvm::formatv("--candidate={0} of {1}", *O.Candidate,
                          Candidates.size()));
    return std::nullopt;
  }
  // None can run: the first, so that what follows has figures to tell.
  return &Candidates[static_cast<size_t>(std::max(0, Chosen->Chosen))];
}

void Unit::excludeUnwritable(const KernelModel &M,
                             const std::vector<Plan> &Candidates,
                             Choice &Chosen,
                             std::map<size_t, Decline> &Unwritable) const {
  if (O.Candidate)
    return;
  for (size_t I = 0; I < Candidates.size() && !M.Ctx->outOfTime(); ++I) {
    M.Ctx->resetBudget();
    auto Asked = guarded([&] {
      llvm::handleAllErrors(
          canLower(M, Candidates[I]), [&](const CannotWrite &W) {
            Unwritable.insert_or_assign(I, Decline{W.Code, W.Detail, M.Pos});
          });
      return true;
    });
    if (!Asked) // nobody knows: it is tried when it is its turn
      llvm::consumeError(Asked.takeError());
  }
  M.Ctx->resetBudget();
  if (Unwritable.size() == Candidates.size())
    Unwritable.clear();
  if (Unwritable.empty())
    return;
  for (const auto &[I, Why] : Unwritable)
    Chosen.Candidates[I].Failed = spelling(Why.Code) + ": " + Why.Detail;
  rcache::choose(Chosen, how());
}

std::optional<Plan> Unit::bestOf(const KernelModel &M,
                                 std::vector<Plan> &Candidates) const {
  if (Candidates.empty())
    return std::nullopt;
  M.Ctx->startClock();
  M.Ctx->resetBudget();
  auto Ranked =
      guarded([&] { return rankPlans(M, Candidates, arch(), how()); });
  if (!Ranked) {
    llvm::consumeError(Ranked.takeError());
    return std::nullopt;
  }
  std::map<size_t, Decline> Unwritable;
  excludeUnwritable(M, Candidates, *Ranked, Unwritable);
  if (Ranked->Chosen < 0)
    return std::nullopt;
  return Candidates[static_cast<size_t>(Ranked->Chosen)];
}

std::optional<Decline>
Unit::betterUnwritable(const Case &C,
                       const std::vector<Plan> &Candidates) const {
  if (C.R.Chosen->Chosen < 0)
    return std::nullopt;
  double Rank =
      C.R.Chosen->Candidates[static_cast<size_t>(C.R.Chosen->Chosen)].Rank;
  std::optional<Decline> Best;
  for (const auto &[I, Why] : C.Unwritable)
    if (C.R.Chosen->Candidates[I].Rank > Rank && gains(Candidates[I])) {
      Rank = C.R.Chosen->Candidates[I].Rank;
      Best = Why;
    }
  return Best;
}

double Unit::clocksOf(const KernelModel &M) const {
  M.Ctx->resetBudget();
  auto Clocks = guarded([&] { return originalClocks(M, arch(), how()); });
  if (Clocks)
    return *Clocks;
  llvm::consumeError(Clocks.takeError());
  return 0;
}

std::optional<Plan *> Unit::next(Case &C, std::vector<Plan> &Candidates,
                                 const Decline &Why) const {
  auto Again = std::make_shared<Choice>(*C.R.Chosen);
  if (Again->Chosen < 0)
    return std::nullopt;
  Again->Candidates[static_cast<size_t>(Again->Chosen)].Failed =
      spelling(Why.Code) + ": " + Why.Detail;
  rcache::choose(*Again, how());
  C.R.Chosen = Again;
  if (Again->Chosen < 0)
    return std::nullopt;
  return &Candidates[static_cast<size_t>(Again->Chosen)];
}

const Arch &Unit::arch() const {
  const Arch *A = findArch(O.Arch);
  if (const Arch *Part = O.Part.empty() ? nullptr : findPart(O.Part);
      Part && (!A || llvm::StringRef(A->Name) == Part->Name))
    return *Part;
  return A ? *A : *findArch("sm_90");
}

ChooseOptions Unit::how() const {
  ChooseOptions How;
  How.AssumedBlock = O.AssumedBlock;
  How.Force = O.Force;
  How.Wanted = O.Candidate;
  return How;
}

llvm::Expected<std::string>
Unit::textWith(const Case &C, const std::vector<Case> &Group, const Plan &P) {
  const VerifyOutcome V = verifyPlan(*C.M, P, quickly());
  if (V.K == VerifyOutcome::Wrong)
    return llvm::createStringError("the plan is wrong: " + V.Detail);
  auto E = Inserted.emit(*C.M, P, freshName(*C.M, "_rc"));
  if (!E)
    return E.takeError();
  std::vector<Case> Alone = Group;
  for (size_t I = 0; I < Group.size(); ++I) {
    Alone[I].Emitted.reset();
    if (&Group[I] != &C)
      continue;
    Alone[I].Emitted = std::move(*E);
    Alone[I].ThePlan = P;
  }
  UnitEdits Edits(MainText, MainFile, O, Used, NamespaceTaken);
  join(Alone, Edits);
  return O.UsersText ? O.UsersText(Edits.finish())
                     : applyEdits(MainText, Edits.finish());
}

/// The most local memory of the functions called \p Name.
static std::optional<unsigned> frameOf(const std::vector<FunctionReport> &All,
                                       const std::string &Name) {
  const std::string Mangled = std::to_string(Name.size()) + Name;
  std::optional<unsigned> Most;
  for (const FunctionReport &F : All)
    if (F.MangledName == Name || // extern "C"
        llvm::StringRef(F.MangledName).contains(Mangled))
      Most = std::max(Most.value_or(0), F.StackFrame);
  return Most;
}

void Unit::leaveRegisters(Case &C, const std::vector<Case> &Group,
                          PlanOutcome &Out) {
  if (!O.Compiler)
    return;
  std::string Says;
  llvm::erase_if(Out.Candidates, [&](const Plan &P) {
    if (P.Interleaved.empty())
      return false;
    auto Text = textWith(C, Group, P);
    if (!Text) { // it is said when it is to be written
      llvm::consumeError(Text.takeError());
      return false;
    }
    auto Compiled = std::move(O.Compiler(*Text).front());
    if (!Compiled) {
      C.R.Notes.push_back("that private arrays are in local memory is an "
                          "estimate: " +
                          llvm::toString(Compiled.takeError()));
      return false;
    }
    const auto Old = frameOf(Compiled->Functions, C.M->Name),
               New = frameOf(Compiled->Functions, freshName(*C.M, "_rc"));
    if (!Old || !New || *New < *Old) {
      if (Old && New)
        C.R.Notes.push_back(
            "local memory of a thread: " + std::to_string(*Old) +
            " bytes in the original, " + std::to_string(*New) + " now (ptxas)");
      return false;
    }
    Says = *Old ? "ptxas needs as much local memory without the private arrays"
                : "ptxas keeps the private arrays in registers";
    return true;
  });
  if (!Out.Candidates.empty() || Says.empty())
    return;
  if (Out.WhyShared.empty()) {
    C.R.Verdict = KernelResult::NotShared;
    Out.WhyShared.push_back({DeclineCode::NoShared, Says, C.M->Pos});
  }
  C.R.Declines = Out.WhyShared;
}
