// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The stages in their order, one line each, for every kernel of a file; then
// the file's edits. A kernel template is edited once: its instantiations are
// planned one by one and become cases of one launch function.

#include "Emit/Emitter.h"
#include "Emit/Reformat.h"
#include "Model/UsedNames.h"
#include "Mutate/Mutate.h"
#include "Plan/Pictures.h"
#include "Plan/Planner.h"
#include "Plan/RegisterHints.h"
#include "Predict/Alignment.h"
#include "Predict/Choose.h"
#include "Unit.h"
#include "UnitEdits.h"
#include "UnitMemory.h"
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

/// The same of a measurement, whose medians vary by a percent or two.
constexpr double MeasuredGain = 1.02;

} // namespace

PlanRequest rcache::planRequest(const Options &O) {
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
  R.Staging = O.Staging;
  R.Private = O.Private;
  return R;
}

namespace {

bool selected(const KernelModel &M, const Options &O) {
  return !O.Kernels || std::any_of(O.Kernels->begin(), O.Kernels->end(),
                                   [&](const std::string &K) {
                                     return K == M.Name ||
                                            K == M.QualifiedName ||
                                            K == "::" + M.QualifiedName;
                                   });
}

} // namespace

std::string rcache::planLine(const KernelModel &M, const Plan &P) {
  if (P.Hints)
    return hintsText(*P.Hints);
  if (!P.Interleaved.empty()) {
    std::string T;
    for (const InterleavedArray &I : P.Interleaved)
      T += (T.empty() ? "'" : "; '") + M.Vars[M.Privates[I.Array].Var].Name +
           (I.Once ? "' once for all threads"
                   : "' of each thread in shared memory, " + std::to_string(I.bytes(M)) +
                         (P.ByWarp ? " bytes a warp" : " bytes a block"));
    return T;
  }
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
  for (const WarpRounds &R : P.OfFirstWarp)
    T += "; the last " + std::to_string(R.Rounds) + " rounds of line " +
         std::to_string(M.stmt(R.Loop).Pos.Line) + " by the first warp alone";
  llvm::raw_string_ostream OS(T);
  const PlanCounts &C = P.Counts;
  OS << llvm::format("; per output %.2f shuffles, %.2f loads (original: %.2f "
                     "loads, %.2f shared reads)",
                     C.Shuffles, C.LoadInstructions, C.OriginalLoadInstructions,
                     C.OriginalSharedReads);
  return OS.str();
}

Unit::Unit(clang::ASTContext &AST, clang::Preprocessor &PP, const Options &O,
           ModelInBlocks InBlocks)
    : O(O), SM(AST.getSourceManager()), Used(PP), InBlocks(std::move(InBlocks)),
      MainText(SM.getBufferData(SM.getMainFileID())),
      Inserted(PP, Used, MainText, runtimeOffset(MainText)) {
  if (auto F = SM.getFileEntryRefForID(SM.getMainFileID()))
    MainFile = F->getName().str();
  struct : clang::DynamicRecursiveASTVisitor {
    std::map<std::string, std::vector<TextRange>> *Known;
    const clang::SourceManager *SM;
    bool VisitFunctionDecl(clang::FunctionDecl *F) override {
      // Numbered where the name was taken; a grid and a block come first.
      if (!F->getIdentifier())
        return true;
      const llvm::StringRef Name = F->getName().rtrim("0123456789");
      if (!Name.ends_with("_rc_launch") ||
          F->getNumParams() < 4 ||
          !llvm::all_of(F->parameters().take_front(2), [](const auto *P) {
            const auto *R = P->getType()->getAsCXXRecordDecl();
            return R && R->getIdentifier() && R->getName() == "dim3";
          }))
        return true;
      auto &At = (*Known)[Name.str()];
      auto [File, Begin] = SM->getDecomposedExpansionLoc(F->getBeginLoc());
      if (File == SM->getMainFileID())
        At.push_back(
            {Begin, SM->getFileOffset(SM->getExpansionLoc(F->getEndLoc()))});
      return true;
    }
  } Finder;
  Finder.Known = &LaunchFunctions;
  Finder.SM = &SM;
  Finder.TraverseDecl(AST.getTranslationUnitDecl());
  // A file with our own header in it has our namespace.
  NamespaceTaken =
      !Used.isMacro("RCACHE_DEVICE_WORD") &&
      !Used.isMacro("RCACHE_DEVICE_REWRITE_CUH") &&
      !Used.isMacro("RCACHE_DEVICE_LAUNCHES") &&
      !AST.getTranslationUnitDecl()->lookup(&AST.Idents.get("rcache")).empty();
}

Result Unit::run(std::vector<std::unique_ptr<KernelModel>> Models,
                 UnitMemory *Memory) {
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
  const auto Text = Memory ? userText(Groups) : nullptr;
  for (auto &G : Groups) {
    if (!Memory || !recall(G, *Memory, *Text)) {
      for (Case &C : G)
        stages(C, G);
      if (Memory)
        Memory->remember(G, namesGiven(*G.front().M), Text);
    }
    join(G, Edits);
    for (Case &C : G) {
      sayWhatIsLeft(C);
      R.Kernels.push_back(std::move(C.R));
    }
  }
  R.Edits = Edits.finish();
  return R;
}

void Unit::sayWhatIsLeft(Case &C) {
  const KernelModel &M = *C.M;
  C.R.LaunchesLeft =
      static_cast<unsigned>(M.Launches.size()) - C.R.LaunchesRewritten;
  if (C.R.Verdict == KernelResult::Rewritten)
    return;
  for (const SharedArray &A : M.Arrays)
    C.R.Arrays.push_back(A.Name);
  if (C.R.Verdict == KernelResult::Declined)
    for (const PrivateArray &A : M.Privates)
      if (A.isInLocalMemory(M))
        C.R.Arrays.push_back(M.Vars[A.Var].Name);
}

bool Unit::samePlace(const KernelModel &A, const KernelModel &B) {
  return A.DefBegin == B.DefBegin && A.QualifiedName == B.QualifiedName &&
         A.IsTemplate && B.IsTemplate;
}

void Unit::decline(Case &C, DeclineCode Code, std::string Detail) {
  C.R.Declines.push_back({Code, std::move(Detail), C.M->Pos});
}

bool Unit::dump(Case &C, const char *Stage,
                llvm::function_ref<void(llvm::raw_ostream &)> P) {
  if (O.PrintAfter != Stage)
    return false;
  llvm::raw_string_ostream OS(C.R.Dump);
  P(OS);
  return true;
}

void Unit::stages(Case &C, const std::vector<Case> &Group) {
  const KernelModel &M = *C.M;
  dump(C, "model", [&](llvm::raw_ostream &OS) { M.print(OS); });
  if (!selected(M, O))
    return decline(C, DeclineCode::NotSelected, "");
  if (isOfEarlierRun(M))
    return decline(C, DeclineCode::AlreadyRewritten, "");
  if (auto Why = O.Refused.find(M.QualifiedName); Why != O.Refused.end())
    return decline(C, Why->second.Code, Why->second.Why);
  if (O.Staging || O.Private)
    moveData(C, Group);
  if (!O.Registers || C.Emitted)
    return;
  const std::optional<Decline> Why = hintRegisters(C, Group);
  if (!Why) {
    C.R.Declines.clear();
    C.R.Verdict = KernelResult::Declined; // until edits are made
  } else if (!O.Staging && !O.Private) {
    C.R.Declines = {*Why};
  } else {
    C.R.TuneNotes.push_back("no hint about registers [" + spelling(Why->Code) +
                            "]: " + Why->Detail);
  }
}

void Unit::moveData(Case &C, const std::vector<Case> &Group) {
  auto Done = guarded([&] {
    const AffineContext::Limit Within(*C.M->Ctx);
    planAndWrite(C, Group);
    return true;
  });
  if (Done)
    return;
  C.Emitted.reset();
  decline(C, DeclineCode::TooHard, llvm::toString(Done.takeError()));
}

void Unit::planAndWrite(Case &C, const std::vector<Case> &Group) {
  const KernelModel &M = *C.M;
  PlanOutcome Out = enumeratePlans(M, planRequest(O));
  C.R.Notes = Out.Notes;
  const bool TooHard = std::any_of(
      Out.Declines.begin(), Out.Declines.end(),
      [](const Decline &D) { return D.Code == DeclineCode::TooHard; });
  if (M.Declines.empty() && !M.Arrays.empty() && !TooHard)
    C.R.OriginalClocks = clocksOf(M);
  if (Out.Candidates.empty()) {
    C.R.Declines = Out.Declines;
    if (Out.Declines.size() == 1 &&
        Out.Declines[0].Code == DeclineCode::NoShared)
      C.R.Verdict = KernelResult::NotShared;
    return;
  }
  if (M.Launches.empty() && !(O.WithoutLaunch && M.InMainFile && !M.isOfOneFile()))
    return void(C.R.Declines.push_back(withoutLaunch(M)));
  if (!M.InsertOffset)
    return decline(C, DeclineCode::LaunchNotEditable,
                   "no place in front of the launches for a new kernel");
  if (const std::string Macro = Inserted.macroIn(M); !Macro.empty())
    return decline(C, DeclineCode::NameChanges, "the macro '" + Macro + "'");
  dumpCandidates(C, Out.Candidates);
  leaveRegisters(C, Group, Out);
  if (Out.Candidates.empty())
    return;
  keepExchange(Out.Candidates);
  if (std::optional<Plan *> Best = choose(C, Group, Out.Candidates)) {
    dump(C, "plan", [&](llvm::raw_ostream &OS) { (*Best)->print(OS, M); });
    write(C, Group, Out, *Best);
  }
}

void Unit::dumpCandidates(Case &C, const std::vector<Plan> &Candidates) {
  const KernelModel &M = *C.M;
  dump(C, "verify", [&](llvm::raw_ostream &OS) {
    for (const Plan &P : Candidates)
      OS << planLine(M, P) << ": " << text(verifyPlan(M, P)) << "\n";
  });
  dump(C, "lower", [&](llvm::raw_ostream &OS) {
    for (const Plan &P : Candidates) {
      M.Ctx->resetBudget();
      OS << planLine(M, P) << "\n";
      auto Tree = guarded([&] { return lower(M, P); });
      if (!Tree)
        OS << "  " << llvm::toString(Tree.takeError()) << "\n";
      else if (!*Tree)
        OS << "  " << llvm::toString(Tree->takeError()) << "\n";
      else
        printTree(OS, **Tree, M, P);
    }
  });
}

void Unit::write(Case &C, const std::vector<Case> &Group, PlanOutcome &Out,
                 Plan *Chosen) {
  const KernelModel &M = *C.M;
  std::optional<Plan *> Best = Chosen;
  // What cannot be written, or is not what it should be, gives way to the
  // next best.
  std::optional<Decline> First = betterUnwritable(C, Out.Candidates);
  M.Ctx->startClock();
  while (Best && gains(**Best)) {
    const Plan *ForUnaligned = nullptr, *ForSmallGrids = nullptr;
    if (Group.size() == 1 && !O.Candidate) {
      ForUnaligned = planForUnaligned(C, **Best, Out.Candidates);
      ForSmallGrids = planForSmallGrids(C, **Best, Out.Candidates);
    }
    auto Why = emit(C, **Best);
    if (!Why) {
      for (const Decline &D : Out.WhyShared)
        C.R.Notes.push_back("no array goes to registers [" + spelling(D.Code) +
                            "]: " + D.Detail);
      if (First)
        C.R.Notes.push_back("a plan of which more was expected is not "
                            "written [" +
                            spelling(First->Code) + "]: " + First->Detail);
      emitOthers(C, Group, Out.Candidates, ForUnaligned, ForSmallGrids);
      return leaveSmallLaunches(C);
    }
    if (M.Ctx->outOfTime())
      return decline(C, DeclineCode::TooHard,
                     "the time for the analysis is over");
    if (!First)
      First = Why;
    Best = O.Candidate ? std::nullopt : next(C, Out.Candidates, *Why);
  }
  if (First)
    return C.R.Declines.push_back(std::move(*First));
  decline(C, DeclineCode::NoGain,
          llvm::formatv("the best plan ({0}) {1} at {2:F2}x",
                        planLine(M, **Best),
                        (*Best)->SpeedupFrom == Plan::Measured ? "was measured"
                                                               : "would run",
                        (*Best)->PredictedSpeedup));
  C.R.Declines.back().Advice = adviceOnWindows(M);
  // Why no array could be turned into registers says more.
  if (!Out.WhyShared.empty())
    C.R.Declines = Out.WhyShared;
}

bool Unit::gains(const Plan &P) const {
  return O.Force || O.Candidate ||
         P.PredictedSpeedup >=
             (P.SpeedupFrom == Plan::Measured ? MeasuredGain
              : P.OfFirstWarp.empty()         ? MinimumGain
                                              : MinimumGainOfTrees);
}

std::optional<Decline> Unit::emit(Case &C, Plan &P) {
  const KernelModel &M = *C.M;
  damage(M, P);
  const VerifyOutcome V = verifyPlan(M, P, quickly());
  if (V.K == VerifyOutcome::Wrong && O.Mutate.empty())
    return Decline{DeclineCode::PlanNotVerified, V.Detail, M.Pos};
  auto E = Inserted.emit(M, P, freshName(M, "_rc"));
  if (!E) {
    Decline D{DeclineCode::EmitFailed, "", M.Pos};
    llvm::handleAllErrors(
        E.takeError(),
        [&](const CannotWrite &Why) {
          D.Code = Why.Code;
          D.Detail = Why.Detail;
        },
        [&](const llvm::ErrorInfoBase &Why) { D.Detail = Why.message(); });
    D.Advice = adviceOnCounters(M, D);
    if (D.Code == DeclineCode::FusionUnsettled &&
        llvm::none_of(M.Stmts, [](const Stmt &S) { return S.isLoop(); }))
      D.Advice = "say what is rounded with fmaf or __fmul_rn";
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

void Unit::damage(const KernelModel &M, Plan &P) const {
  auto K = parseMutation(O.Mutate);
  if (!K)
    return;
  Plan Damaged = P;
  auto Done = guarded([&] { return mutatePlan(M, Damaged, *K, O.MutateSeed); });
  if (Done && *Done)
    P = std::move(Damaged);
  else if (!Done)
    llvm::consumeError(Done.takeError());
}

void Unit::damage(EmittedKernel &E) const {
  if (auto K = parseMutation(O.Mutate))
    mutateText(E.Kernel, E.Launch, *K, O.MutateSeed);
}

VerifyOptions Unit::quickly() {
  VerifyOptions V;
  V.Launches = 2;
  V.MaxChecks = 5'000;
  return V;
}

std::string Unit::text(const VerifyOutcome &V) {
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

bool Unit::isOfEarlierRun(const KernelModel &M) const {
  if (LaunchFunctions.count(M.Name + "_rc_launch"))
    return true;
  return !M.Launches.empty() &&
         llvm::all_of(M.Launches, [&](const LaunchSite &L) {
           return llvm::any_of(LaunchFunctions, [&](const auto &F) {
             return llvm::any_of(F.second, [&](const TextRange &R) {
               return R.Begin <= L.Pos.Offset && L.Pos.Offset < R.End;
             });
           });
         });
}

llvm::Expected<Result> rcache::rewriteUnit(clang::ASTContext &AST,
                                           clang::Preprocessor &PP,
                                           TokenRecorder &Recorder,
                                           const Options &Opts) {
  return rewriteUnit(AST, PP, Recorder, Opts, nullptr);
}

llvm::Expected<Result> rcache::rewriteUnit(clang::ASTContext &AST,
                                           clang::Preprocessor &PP,
                                           TokenRecorder &Recorder,
                                           const Options &Opts,
                                           UnitMemory *Memory) {
  ModelOptions Modelling;
  Modelling.Forms = Opts.Forms;
  Modelling.AssumedBlock = Opts.AssumedBlock;
  auto InBlocks = [&](const KernelModel &M,
                      const std::array<int64_t, 3> &Block) -> ModelPtr {
    ModelOptions Again = Modelling;
    Again.Only = {formKey(M), Block};
    auto Models = buildModels(AST, PP, Recorder, Again);
    return Models.size() == 1 ? ModelPtr(std::move(Models.front())) : nullptr;
  };
  return Unit(AST, PP, Opts, InBlocks)
      .run(buildModels(AST, PP, Recorder, Modelling), Memory);
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
