// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The stages in their order, one line each, for every kernel of a file; then
// the file's edits. A kernel template is edited once: its instantiations are
// planned one by one and become cases of one launch function.

#include "rcache/Pipeline.h"
#include "Emit/Emitter.h"
#include "Model/UsedNames.h"
#include "Emit/Reformat.h"
#include "Mutate/Mutate.h"
#include "Plan/Pictures.h"
#include "Plan/Planner.h"
#include "Predict/Alignment.h"
#include "Predict/Choose.h"
#include "UnitEdits.h"
#include "Verify/PlanVerifier.h"
#include "rcache/ModelBuilder.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/DynamicRecursiveASTVisitor.h"
#include "clang/Basic/CharInfo.h"
#include "clang/Basic/SourceManager.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <cstring>
#include <map>
#include <set>

using namespace rcache;

namespace {

/// A prediction below this is no gain: predictions are some percent off.
constexpr double MinimumGain = 1.10;
/// The same of a measurement, whose medians vary by a percent or two.
constexpr double MeasuredGain = 1.02;

using ModelPtr = std::shared_ptr<KernelModel>;

/// One model with what the stages made of it.
struct Case {
  ModelPtr M;
  std::optional<Plan> ThePlan;
  std::optional<EmittedKernel> Emitted;
  /// By another plan, for launches that ThePlan cannot take.
  std::optional<EmittedKernel> Other;
  KernelResult R;
};

PlanRequest request(const Options &O) {
  PlanRequest R;
  R.Coarsen = O.Coarsen;
  R.Layout = O.Distribution == Options::DistributionKind::Cyclic
                 ? PlanRequest::OnlyCyclic
             : O.Distribution == Options::DistributionKind::Chunked
                 ? PlanRequest::OnlyChunked
                 : PlanRequest::AnyLayout;
  R.AssumedBlock = O.AssumedBlock;
  R.AssumeNoAlias = O.AssumeNoAlias;
  R.Force = O.Force;
  return R;
}

bool selected(const KernelModel &M, const Options &O) {
  return !O.Kernels || std::any_of(O.Kernels->begin(), O.Kernels->end(),
                                   [&](const std::string &K) {
                                     return K == M.Name ||
                                            K == M.QualifiedName ||
                                            K == "::" + M.QualifiedName;
                                   });
}

std::string planLine(const KernelModel &M, const Plan &P) {
  std::string T = std::to_string(P.slots()) + " output" +
                  (P.slots() == 1 ? "" : "s") + " a thread";
  for (const ArrayPlan &A : P.Arrays) {
    T += "; '" + M.Arrays[A.Array].Name + "' ";
    T += placementSummary(A);
    if (!A.extent().empty())
      T += ", " + std::to_string(registersHeld(A)) + " registers";
  }
  if (unsigned N = P.barriers(M, SyncScope::Warp))
    T += "; " + std::to_string(N) + " barrier" + (N == 1 ? "" : "s") +
         " as __syncwarp";
  llvm::raw_string_ostream OS(T);
  const PlanCounts &C = P.Counts;
  OS << llvm::format("; per output %.2f shuffles, %.2f loads (original: %.2f "
                     "loads, %.2f shared reads)",
                     C.Shuffles, C.LoadInstructions, C.OriginalLoadInstructions,
                     C.OriginalSharedReads);
  return OS.str();
}

class Unit {
public:
  Unit(clang::ASTContext &AST, clang::Preprocessor &PP, const Options &O)
      : O(O), Used(PP) {
    const clang::SourceManager &SM = AST.getSourceManager();
    MainText = SM.getBufferData(SM.getMainFileID()).str();
    if (auto F = SM.getFileEntryRefForID(SM.getMainFileID()))
      MainFile = F->getName().str();
    struct : clang::DynamicRecursiveASTVisitor {
      std::set<std::string> *Names;
      bool VisitFunctionDecl(clang::FunctionDecl *F) override {
        if (F->getIdentifier() && F->getName().ends_with("_rc_launch"))
          Names->insert(F->getName().str());
        return true;
      }
    } Finder;
    Finder.Names = &LaunchFunctions;
    Finder.TraverseDecl(AST.getTranslationUnitDecl());
    // A file with our own header in it has our namespace.
    NamespaceTaken =
        !Used.isMacro("RCACHE_DEVICE_WORD") &&
        !Used.isMacro("RCACHE_DEVICE_REWRITE_CUH") &&
        !Used.isMacro("RCACHE_DEVICE_LAUNCHES") &&
        !AST.getTranslationUnitDecl()
             ->lookup(&AST.Idents.get("rcache"))
             .empty();
  }

  Result run(std::vector<std::unique_ptr<KernelModel>> Models) {
    // Instantiations of one template share their place.
    std::vector<std::vector<Case>> Groups;
    for (auto &M : Models) {
      Case C;
      C.M = std::move(M);
      C.R.Name = C.M->Signature.empty() ? C.M->QualifiedName : C.M->Signature;
      C.R.Pos = C.M->Pos;
      C.R.Model = C.M;
      if (!Groups.empty() && samePlace(*Groups.back().front().M, *C.M))
        Groups.back().push_back(std::move(C));
      else {
        Groups.emplace_back();
        Groups.back().push_back(std::move(C));
      }
    }
    Result R;
    UnitEdits Edits(MainText, MainFile, O, Used, NamespaceTaken);
    for (auto &G : Groups) {
      for (Case &C : G)
        stages(C, G);
      join(G, Edits);
      for (Case &C : G)
        R.Kernels.push_back(std::move(C.R));
    }
    R.Edits = Edits.finish();
    return R;
  }

private:
  const Options &O;
  const UsedNames Used;
  std::string MainText, MainFile;
  std::set<std::string> LaunchFunctions; ///< of earlier runs
  bool NamespaceTaken = false; ///< `::rcache` is something of the user's
  /// Names of rewritten kernels, and where the original stands that has each.
  mutable std::map<std::string, SourcePos> Given;

  static bool samePlace(const KernelModel &A, const KernelModel &B) {
    return A.DefBegin == B.DefBegin && A.QualifiedName == B.QualifiedName &&
           A.IsTemplate && B.IsTemplate;
  }

  void decline(Case &C, const char *Code, std::string Detail) {
    C.R.Declines.push_back({Code, std::move(Detail), C.M->Pos});
  }

  bool dump(Case &C, const char *Stage,
            llvm::function_ref<void(llvm::raw_ostream &)> P) {
    if (O.PrintAfter != Stage)
      return false;
    llvm::raw_string_ostream OS(C.R.Dump);
    P(OS);
    return true;
  }

  /// The stages for one model, one of \p Group: model, plan, predict, emit.
  void stages(Case &C, const std::vector<Case> &Group) {
    const KernelModel &M = *C.M;
    dump(C, "model", [&](llvm::raw_ostream &OS) { M.print(OS); });
    if (!selected(M, O))
      return decline(C, "not-selected", "");
    if (hasLaunchFunction(M.Name))
      return decline(C, "already-rewritten", "");
    if (auto Why = O.Refused.find(M.QualifiedName); Why != O.Refused.end())
      return decline(C, "self-check-failed", Why->second);
    PlanOutcome Out = enumeratePlans(M, request(O));
    C.R.Notes = Out.Notes;
    const bool TooHard =
        std::any_of(Out.Declines.begin(), Out.Declines.end(),
                    [](const Decline &D) { return D.Code == "too-hard"; });
    if (M.Declines.empty() && !M.Arrays.empty() && !TooHard)
      C.R.OriginalClocks = clocksOf(M);
    if (Out.Candidates.empty()) {
      C.R.Declines = Out.Declines;
      if (Out.Declines.size() == 1 && Out.Declines[0].Code == "no-shared")
        C.R.Verdict = KernelResult::NotShared;
      return;
    }
    if (M.Launches.empty() && !(O.WithoutLaunch && M.InMainFile))
      return decline(C, "no-launch", whereNamed(M));
    if (!M.InsertOffset)
      return decline(C, "launch-not-editable",
                     "no place in front of the launches for a new kernel");
    dump(C, "verify", [&](llvm::raw_ostream &OS) {
      for (const Plan &P : Out.Candidates)
        OS << planLine(M, P) << ": " << text(verifyPlan(M, P)) << "\n";
    });
    keepExchange(Out.Candidates);
    std::optional<Plan *> Best = choose(C, Group, Out.Candidates);
    if (!Best)
      return;
    dump(C, "plan", [&](llvm::raw_ostream &OS) { (*Best)->print(OS, M); });
    // What cannot be written, or is not what it should be, gives way to the
    // next best.
    std::optional<Decline> First;
    while (Best && gains(**Best)) {
      const Plan *ForUnaligned = nullptr;
      if (Group.size() == 1 && !O.Candidate)
        ForUnaligned = planForUnaligned(C, **Best, Out.Candidates);
      auto Why = emit(C, **Best);
      if (!Why) {
        for (const Decline &D : Out.WhyShared)
          C.R.Notes.push_back("no array goes to registers [" + D.Code +
                              "]: " + D.Detail);
        if (First)
          C.R.Notes.push_back("a plan of which more was expected is not "
                              "written [" + First->Code + "]: " +
                              First->Detail);
        if (ForUnaligned)
          emitOther(C, *ForUnaligned, "_rc_unaligned",
                    "where vectors would not start at multiples of 16 bytes");
        else if (Group.size() == 1)
          emitForAnyBlock(C, Out.Candidates);
        return;
      }
      if (!First)
        First = Why;
      Best = O.Candidate ? std::nullopt : next(C, Out.Candidates, *Why);
    }
    if (First)
      return C.R.Declines.push_back(std::move(*First));
    decline(C, "no-gain",
            llvm::formatv("the best plan ({0}) {1} at {2:F2}x",
                          planLine(M, **Best),
                          (*Best)->SpeedupFrom == Plan::Measured
                              ? "was measured"
                              : "would run",
                          (*Best)->PredictedSpeedup));
    C.R.Declines.back().Advice = adviceOnWindows(M);
    // Why no array could be turned into registers says more.
    if (!Out.WhyShared.empty())
      C.R.Declines = Out.WhyShared;
  }

  bool gains(const Plan &P) const {
    return O.Force || O.Candidate ||
           P.PredictedSpeedup >=
               (P.SpeedupFrom == Plan::Measured ? MeasuredGain : MinimumGain);
  }

  /// Verifies and writes one plan; the reason if that fails.
  std::optional<Decline> emit(Case &C, Plan &P) {
    const KernelModel &M = *C.M;
    damage(M, P);
    const VerifyOutcome V = verifyPlan(M, P, quickly());
    if (V.K == VerifyOutcome::Wrong && O.Mutate.empty())
      return Decline{"plan-not-verified", V.Detail, M.Pos};
    auto E = emitKernel(M, P, freshName(M, "_rc"));
    if (!E) {
      Decline D{"emit-failed", "", M.Pos};
      llvm::handleAllErrors(
          E.takeError(),
          [&](const CannotWrite &Why) {
            D.Code = Why.Code;
            D.Detail = Why.Detail;
          },
          [&](const llvm::ErrorInfoBase &Why) { D.Detail = Why.message(); });
      D.Advice = adviceOnCounters(M, D);
      return D;
    }
    damage(*E);
    if (V.K == VerifyOutcome::Wrong)
      C.R.Notes.push_back("the plan verifier found: " + V.Detail);
    if (V.K == VerifyOutcome::NotVerified && !P.allShared())
      C.R.Notes.push_back("the plan was not executed: " + V.Detail);
    if (const std::string Unseen = unseenLaunches(M); !Unseen.empty())
      C.R.Notes.push_back(Unseen + (M.UnseenLaunches.size() == 1
                                       ? "; it keeps running the original"
                                       : "; they keep running the original"));
    C.Emitted = std::move(*E);
    C.ThePlan = std::move(P);
    dump(C, "emit", [&](llvm::raw_ostream &OS) { OS << C.Emitted->Kernel; });
    return std::nullopt;
  }

  /// Tests of an exchange that the prediction seldom prefers.
  void keepExchange(std::vector<Plan> &Candidates) const {
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

  /// Where runs of vectors may start elsewhere than vectors may, \p P loses: the
  /// best plan with shorter runs is for such launches. Null: they run the original.
  const Plan *planForUnaligned(const Case &C, Plan &P,
                               const std::vector<Plan> &Candidates) const {
    // Launches of blocks that nobody knows need the other plan.
    const bool AnyBlock = !P.Map.Block && P.Map.BlockMultiple > 32 &&
                          !C.M->Geo.AllLaunchesConst;
    const Plan *Best = nullptr;
    double Rank = 0;
    for (size_t I = 0;
         I < Candidates.size() && !P.Aligned.empty() && !AnyBlock; ++I) {
      const Candidate &Figures = C.R.Chosen->Candidates[I];
      if (!Figures.Failed.empty() || !Figures.Excluded.empty() ||
          Candidates[I].Map.Block != P.Map.Block || !gains(Candidates[I]) ||
          Figures.Rank <= Rank || losesUnaligned(*C.M, Candidates[I]))
        continue;
      Best = &Candidates[I];
      Rank = Figures.Rank;
    }
    P.AlignedHasOther = Best != nullptr;
    return Best;
  }

  /// The best plan needs blocks of 128 or 256 threads and their multiples, and
  /// nothing says that the launches have them: the best plan for any multiple
  /// of a few threads is written as well.
  void emitForAnyBlock(Case &C, const std::vector<Plan> &Candidates) {
    const KernelModel &M = *C.M;
    const unsigned Multiple = C.ThePlan->Map.BlockMultiple;
    if (C.ThePlan->Map.Block || Multiple <= 32 || O.Candidate)
      return;
    if (M.Geo.AllLaunchesConst &&
        std::all_of(M.Geo.SeenBlocks.begin(), M.Geo.SeenBlocks.end(),
                    [&](const auto &B) { return B[0] % Multiple == 0; }))
      return;
    const Plan *Best = nullptr;
    double Rank = 0;
    for (size_t I = 0; I < Candidates.size(); ++I) {
      const Plan &P = Candidates[I];
      const Candidate &Figures = C.R.Chosen->Candidates[I];
      if (static_cast<int>(I) == C.R.Chosen->Chosen || P.Map.Block ||
          P.Map.BlockMultiple > 8 || !gains(P) || !Figures.Failed.empty() ||
          Figures.Rank <= Rank)
        continue;
      Best = &P;
      Rank = Figures.Rank;
    }
    if (!Best)
      return;
    emitOther(C, *Best, "_rc_any_block",
              "blocks that are no multiple of " + std::to_string(Multiple) +
                  " threads");
  }

  /// Writes \p P for launches that the chosen plan leaves, unless it cannot be
  /// written: one plan is enough.
  void emitOther(Case &C, Plan P, const std::string &Suffix,
                 const std::string &When) {
    const KernelModel &M = *C.M;
    damage(M, P);
    if (verifyPlan(M, P, quickly()).K == VerifyOutcome::Wrong &&
        O.Mutate.empty())
      return;
    auto E = emitKernel(M, P, freshName(M, Suffix));
    if (!E)
      return llvm::consumeError(E.takeError());
    damage(*E);
    C.Other = std::move(*E);
    C.R.Notes.push_back(When + ": " + planLine(M, P));
  }

  /// Tests of what looks for errors: a wrong plan goes on to emission.
  void damage(const KernelModel &M, Plan &P) const {
    auto K = parseMutation(O.Mutate);
    if (!K)
      return;
    Plan Damaged = P;
    auto Done =
        guarded([&] { return mutatePlan(M, Damaged, *K, O.MutateSeed); });
    if (Done && *Done)
      P = std::move(Damaged);
    else if (!Done)
      llvm::consumeError(Done.takeError());
  }

  void damage(EmittedKernel &E) const {
    if (auto K = parseMutation(O.Mutate))
      mutateText(E.Kernel, E.Launch, *K, O.MutateSeed);
  }

  /// A net under every rewriting: cheap enough to be always on.
  static VerifyOptions quickly() {
    VerifyOptions V;
    V.Launches = 2;
    V.MaxChecks = 5'000;
    return V;
  }

  static std::string text(const VerifyOutcome &V) {
    switch (V.K) {
    case VerifyOutcome::Verified:
      return "verified, " + std::to_string(V.Checks) + " checks";
    case VerifyOutcome::Wrong:
      return "WRONG: " + V.Detail;
    case VerifyOutcome::NotVerified:
      return "not verified: " + V.Detail;
    }
    return "";
  }

  /// The candidate with the best prediction; among equals the first. Empty,
  /// with a reason in \p C, when there is none.
  std::optional<Plan *> choose(Case &C, const std::vector<Case> &Group,
                               std::vector<Plan> &Candidates) {
    const Arch *A = findArch(O.Arch);
    if (!A)
      A = findArch("sm_90");
    // Counting asks isl about every access, with a budget of its own.
    C.M->Ctx->resetBudget();
    auto Ranked =
        guarded([&] { return rankPlans(*C.M, Candidates, *A, how()); });
    if (!Ranked) {
      decline(C, "too-hard", llvm::toString(Ranked.takeError()));
      return std::nullopt;
    }
    auto Chosen = std::make_shared<Choice>(std::move(*Ranked));
    C.R.Chosen = Chosen;
    if (O.Tune && !O.Candidate) {
      TuneRequest Request{*C.M, freshName(*C.M, "_rc"), *Chosen,
                          [&](unsigned N) {
                            return textWith(C, Group, Candidates[N]);
                          },
                          O.AssumedBlock};
      if (llvm::Error E = O.Tune(Request))
        Request.Notes.push_back("not tuned: " + llvm::toString(std::move(E)));
      C.R.TuneNotes = std::move(Request.Notes);
      C.R.Warnings = std::move(Request.Warnings);
      C.M->Ctx->resetBudget();
      chooseAgain(*Chosen, *C.M, Candidates, *A, how());
    }
    dump(C, "predict",
         [&](llvm::raw_ostream &OS) { printChoice(OS, *Chosen); });
    if (O.Candidate && Chosen->Chosen < 0) {
      decline(C, "no-candidate",
              llvm::formatv("--candidate={0} of {1}", *O.Candidate,
                            Candidates.size()));
      return std::nullopt;
    }
    // None can run: the first, so that what follows has figures to tell.
    return &Candidates[static_cast<size_t>(std::max(0, Chosen->Chosen))];
  }

  double clocksOf(const KernelModel &M) const {
    const Arch *A = findArch(O.Arch);
    M.Ctx->resetBudget();
    auto Clocks = guarded(
        [&] { return originalClocks(M, A ? *A : *findArch("sm_90"), how()); });
    if (Clocks)
      return *Clocks;
    llvm::consumeError(Clocks.takeError());
    return 0;
  }

  /// The best of the others, when the chosen one failed for \p Why.
  std::optional<Plan *> next(Case &C, std::vector<Plan> &Candidates,
                             const Decline &Why) const {
    auto Again = std::make_shared<Choice>(*C.R.Chosen);
    if (Again->Chosen < 0)
      return std::nullopt;
    Again->Candidates[static_cast<size_t>(Again->Chosen)].Failed =
        Why.Code + ": " + Why.Detail;
    rcache::choose(*Again, how());
    C.R.Chosen = Again;
    if (Again->Chosen < 0)
      return std::nullopt;
    return &Candidates[static_cast<size_t>(Again->Chosen)];
  }

  ChooseOptions how() const {
    ChooseOptions How;
    How.AssumedBlock = O.AssumedBlock;
    How.Force = O.Force;
    How.Wanted = O.Candidate;
    return How;
  }

  /// Is there a launch function of kernel \p Name, from an earlier run?
  bool hasLaunchFunction(const std::string &Name) const {
    return LaunchFunctions.count(Name + "_rc_launch");
  }

  /// The main file with \p C alone rewritten, by \p P.
  llvm::Expected<std::string> textWith(const Case &C,
                                       const std::vector<Case> &Group,
                                       const Plan &P) {
    const VerifyOutcome V = verifyPlan(*C.M, P, quickly());
    if (V.K == VerifyOutcome::Wrong)
      return llvm::createStringError("the plan is wrong: " + V.Detail);
    auto E = emitKernel(*C.M, P, freshName(*C.M, "_rc"));
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

  /// A name that nothing in the file has, nor another kernel's new form: those
  /// of overloaded kernels are told apart.
  std::string freshName(const KernelModel &M,
                        const std::string &Suffix) const {
    std::string N = M.Name + Suffix;
    for (unsigned I = 2;; ++I) {
      if (!Used.contains(N) &&
          Given.try_emplace(N, M.DefBegin).first->second == M.DefBegin)
        return N;
      N = M.Name + Suffix + std::to_string(I);
    }
  }

  /// Overloads share it, as the originals share their name.
  std::string launchName(const KernelModel &M) const {
    return Used.fresh(M.Name + "_rc_launch");
  }

  /// The cases of one definition become edits, all or none.
  void join(std::vector<Case> &G, UnitEdits &Edits) {
    const KernelModel &M = *G.front().M;
    if (!M.InsertOffset)
      return; // declined
    const bool AllSame = oneForAll(G, Edits);
    if (!AllSame)
      for (Case &C : G)
        for (const TemplateArg &A : C.M->TemplateArgs)
          if (C.Emitted && A.Nameless) {
            decline(C, "template-form",
                    "no name tells the instantiation with '" + A.Value +
                        "' from others");
            C.Emitted.reset();
          }
    std::vector<LaunchCase> Cases;
    std::vector<std::string> Texts;
    std::set<std::string> Helpers = {"verify"};
    for (Case &C : G) {
      if (!C.Emitted)
        continue;
      if (!forCallersElsewhere(C) &&
          llvm::none_of(C.M->Launches, [&](const LaunchSite &L) {
            return Edits.canEdit(L, *M.InsertOffset);
          })) {
        for (const LaunchSite &L : C.M->Launches)
          C.R.Declines.push_back({"launch-not-editable", L.WhyNot, L.Pos});
        C.Emitted.reset();
        continue;
      }
      // Equal code for several instantiations is written once.
      std::string Stem = C.Emitted->KernelName;
      bool Known = false;
      for (const LaunchCase &K : Cases)
        Known |= K.K->Kernel == C.Emitted->Kernel;
      if (!Known && !Cases.empty()) {
        std::string Name = Stem + "_" + std::to_string(Cases.size() + 1);
        rename(*C.Emitted, Stem, Name);
      }
      if (!Known)
        Texts.push_back(C.Emitted->Kernel);
      Cases.push_back({C.M.get(), &*C.Emitted,
                       C.Other ? &*C.Other : nullptr});
      Helpers.insert(C.Emitted->Helpers.begin(), C.Emitted->Helpers.end());
      if (C.Other) {
        Texts.push_back(C.Other->Kernel);
        Helpers.insert(C.Other->Helpers.begin(), C.Other->Helpers.end());
      }
      C.R.Verdict = KernelResult::Rewritten;
      C.R.ThePlan = std::make_shared<Plan>(*C.ThePlan);
      C.R.Pictures = picturesOf(*C.M, *C.ThePlan);
      C.R.PlanText = planLine(*C.M, *C.ThePlan);
      for (const ArrayPlan &A : C.ThePlan->Arrays)
        C.R.Arrays.push_back(C.M->Arrays[A.Array].Name);
    }
    if (Cases.empty())
      return;
    if (AllSame)
      Cases.resize(1);
    else
      Helpers.insert("same");
    bool VoidArgs = false, Configured = false;
    for (const Case &C : G)
      for (const LaunchSite &L : C.M->Launches) {
        if (!Edits.canEdit(L, *M.InsertOffset))
          continue;
        VoidArgs |= L.K == LaunchSite::CudaLaunchKernel;
        Configured |= L.K == LaunchSite::Chevrons && !L.AnyOrder;
      }
    const std::string Function = launchName(M);
    std::string Code;
    for (const std::string &T : Texts)
      Code += T + "\n";
    std::string Launch =
        emitLaunchFunction(Cases, AllSame, Function, VoidArgs, Configured);
    const std::string Local = "static inline void " + Function + "(";
    const size_t At = Launch.find(Local);
    if (At != std::string::npos) {
      // Callers elsewhere need a name that the linker knows.
      if (forCallersElsewhere(G.front()) && !M.IsTemplate)
        Launch.erase(At, std::strlen("static inline "));
      for (Case &C : G)
        if (C.Emitted) {
          const size_t Begin = Launch.find("void " + Function + "(");
          C.R.KernelName = C.Emitted->KernelName;
          C.R.LaunchFunction =
              Launch.substr(Begin, Launch.find(" {\n", Begin) - Begin);
          C.R.LaunchText = C.Emitted->Launch;
        }
    }
    Code += Launch;
    Edits.insertKernel(M, Code, Helpers);
    for (Case &C : G)
      for (const LaunchSite &L : C.M->Launches) {
        if (Edits.canEdit(L, *M.InsertOffset)) {
          Edits.replaceLaunch(L, M, Function);
          ++C.R.LaunchesRewritten;
        } else
          ++C.R.LaunchesLeft;
      }
  }

  /// One body for every instantiation, or one for each, by its arguments? There
  /// may be more instantiations than this parse has seen if a launch stands in a
  /// template: what calls that may be for the host's compiler alone. And a
  /// specialisation is another kernel.
  static bool oneForAll(const std::vector<Case> &G, const UnitEdits &Edits) {
    const Case &First = G.front();
    if (!First.M->IsTemplate)
      return true;
    if (First.M->HasSpecialisations)
      return false;
    for (const Case &C : G) {
      if (!C.Emitted || C.Emitted->Kernel != First.Emitted->Kernel ||
          C.Emitted->Condition != First.Emitted->Condition ||
          C.Emitted->Launch != First.Emitted->Launch ||
          C.M->Form != First.M->Form)
        return false;
      for (const LaunchSite &L : C.M->Launches)
        if (L.InTemplate && Edits.canEdit(L, *First.M->InsertOffset))
          return false;
    }
    return true;
  }

  /// Whoever launches it is to call the launch function by hand.
  bool forCallersElsewhere(const Case &C) const {
    return O.WithoutLaunch && C.M->Launches.empty();
  }

  static void rename(EmittedKernel &E, const std::string &From,
                     const std::string &To) {
    auto Continues = [](const std::string &T, size_t I) {
      return I < T.size() && clang::isAsciiIdentifierContinue(T[I]);
    };
    for (std::string *T : {&E.Kernel, &E.Launch, &E.LaunchArgs, &E.Condition})
      for (size_t P = T->find(From); P != std::string::npos;
           P = T->find(From, P + 1)) {
        if ((P > 0 && Continues(*T, P - 1)) || Continues(*T, P + From.size()))
          continue;
        T->replace(P, From.size(), To);
        P += To.size() - 1;
      }
    E.KernelName = To;
  }
};

} // namespace

llvm::Expected<Result> rcache::rewriteUnit(clang::ASTContext &AST,
                                           clang::Preprocessor &PP,
                                           TokenRecorder &Recorder,
                                           const Options &Opts) {
  ModelOptions Modelling;
  Modelling.Forms = Opts.Forms;
  return Unit(AST, PP, Opts).run(buildModels(AST, PP, Recorder, Modelling));
}

std::string rcache::applyEdits(const std::string &Source,
                               const std::vector<Edit> &Edits) {
  std::string Out;
  unsigned Pos = 0;
  for (const Edit &E : Edits) {
    Out += Source.substr(Pos, E.Offset - Pos) + E.Text;
    Pos = E.Offset + E.Length;
  }
  return Out + Source.substr(Pos);
}
