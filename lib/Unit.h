// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One translation unit on its way through the stages. Pipeline.cpp is the list
// of them; UnitChoice.cpp finds the plan to write, UnitJoin.cpp makes edits of
// what was written.

#ifndef RCACHE_UNIT_H
#define RCACHE_UNIT_H

#include "Emit/Emitter.h"
#include "InsertedText.h"
#include "Model/UsedNames.h"
#include "Plan/Planner.h"
#include "Predict/Choose.h"
#include "UnitEdits.h"
#include "Verify/PlanVerifier.h"
#include "rcache/ModelBuilder.h"
#include "rcache/Pipeline.h"
#include "llvm/Support/raw_ostream.h"
#include <map>
#include <set>

namespace rcache {

using ModelPtr = std::shared_ptr<KernelModel>;

/// The same kernel, modelled in blocks of another shape; null: it cannot be.
using ModelInBlocks = std::function<ModelPtr(const KernelModel &M,
                                             const std::array<int64_t, 3> &)>;

/// One model with what the stages made of it.
struct Case {
  ModelPtr M;
  std::optional<Plan> ThePlan;
  std::optional<EmittedKernel> Emitted;
  /// By other plans, for launches that ThePlan cannot take; in the order in
  /// which the launch function asks.
  std::vector<EmittedKernel> Others;
  std::vector<Plan> OtherPlans; ///< theirs
  /// Plans that are no candidates, by index: their statements cannot be divided
  /// as the plan asks.
  std::map<size_t, Decline> Unwritable;
  KernelResult R;
};

/// What a plan does, in a line for people.
std::string planLine(const KernelModel &M, const Plan &P);

/// What the options ask of planning.
PlanRequest planRequest(const Options &O);

class UnitMemory;
struct UnitText;

/// A translation unit, the options and what its kernels share: names.
class Unit {
public:
  Unit(clang::ASTContext &AST, clang::Preprocessor &PP, const Options &O,
       ModelInBlocks InBlocks);

  /// \p Memory, if any: of other texts of the same file.
  Result run(std::vector<std::unique_ptr<KernelModel>> Models,
             UnitMemory *Memory);

private:
  const Options &O;
  const clang::SourceManager &SM;
  const UsedNames Used;
  const ModelInBlocks InBlocks;
  const std::string MainText;
  const InsertedText Inserted;
  std::string MainFile;
  /// Of earlier runs, by name: where they stand in the main file.
  std::map<std::string, std::vector<TextRange>> LaunchFunctions;
  bool NamespaceTaken = false; ///< `::rcache` is something of the user's
  /// Names of rewritten kernels, and where the original stands that has each.
  mutable std::map<std::string, SourcePos> Given;

  static bool samePlace(const KernelModel &A, const KernelModel &B);
  void decline(Case &C, DeclineCode Code, std::string Detail);
  /// For the report: launches that do not run the new kernel, and the arrays of a
  /// kernel that has none.
  static void sayWhatIsLeft(Case &C);
  bool dump(Case &C, const char *Stage,
            llvm::function_ref<void(llvm::raw_ostream &)> P);
  /// The user's files, in which \p Groups stand.
  std::shared_ptr<const UnitText>
  userText(const std::vector<std::vector<Case>> &Groups) const;
  /// \p G as \p Memory has it; false: it is to be planned.
  bool recall(std::vector<Case> &G, const UnitMemory &Memory,
              const UnitText &Text) const;
  std::vector<std::string> namesGiven(const KernelModel &M) const;
  /// The stages for one model, one of \p Group, technique by technique.
  void stages(Case &C, const std::vector<Case> &Group);
  /// model, plan, predict, emit: staging and private arrays.
  void moveData(Case &C, const std::vector<Case> &Group);
  /// As long as the time of the kernel lasts.
  void planAndWrite(Case &C, const std::vector<Case> &Group);
  /// `--print-after` of what is made of every candidate.
  void dumpCandidates(Case &C, const std::vector<Plan> &Candidates);
  /// Takes out plans for private arrays that a compiler keeps in registers.
  void leaveRegisters(Case &C, const std::vector<Case> &Group,
                      PlanOutcome &Out);
  /// Compiles the kernel under each of \p Hints and adds what is told of them
  /// to
  /// \p Found, and their plans to \p Plans; false: it cannot be written.
  bool compileHints(Case &C, const std::vector<Case> &Group,
                    llvm::ArrayRef<RegisterHints> Hints, Choice &Found,
                    std::vector<Plan> &Plans);
  void chooseHint(Choice &Found) const;
  /// The stages of the technique `registers`: the kernel as it is, under the
  /// hint of which most is expected. Why there is none.
  std::optional<Decline> hintRegisters(Case &C, const std::vector<Case> &Group);
  /// Writes the best plan, or the next best that can be written and gains, or
  /// says why there is none.
  void write(Case &C, const std::vector<Case> &Group, PlanOutcome &Out,
             Plan *Chosen);
  /// Leaves the original where no launch may take what was just written.
  void leaveSmallLaunches(Case &C);
  /// Why what is written never runs at \p L, whose grid host code tells; "": it may.
  static std::string whyNeverAt(const Case &C, const LaunchSite &L);
  /// Writes plans for launches that the one just written leaves.
  void emitOthers(Case &C, const std::vector<Case> &Group,
                  const std::vector<Plan> &Candidates,
                  const Plan *ForUnaligned, const Plan *ForSmallGrids);
  bool gains(const Plan &P) const;
  /// Verifies and writes one plan; the reason if that fails.
  std::optional<Decline> emit(Case &C, Plan &P);
  /// Tests of an exchange that the prediction seldom prefers.
  void keepExchange(std::vector<Plan> &Candidates) const;
  /// Where runs of vectors may start elsewhere than vectors may, \p P loses:
  /// the best plan with shorter runs is for such launches. Null: they run the
  /// original.
  const Plan *planForUnaligned(Case &C, Plan &P,
                               const std::vector<Plan> &Candidates) const;
  /// The best ranked of \p Candidates that gain, can be written and are what
  /// \p Serves says, but the chosen one; null: there is none.
  const Plan *
  bestBeside(const Case &C, const std::vector<Plan> &Candidates,
             llvm::function_ref<bool(const Plan &, const Candidate &)> Serves) const;
  /// The plan \p P has so many outputs a thread, or joins so many blocks, that only large
  /// grids fill the device: the best one with a quarter of them is for the others, and \p P
  /// asks for large ones where it has to. Null: there is none, or no launch needs it.
  const Plan *planForSmallGrids(const Case &C, Plan &P,
                                const std::vector<Plan> &Candidates) const;
  /// The best plan needs blocks of 128 or 256 threads and their multiples, and
  /// nothing says that the launches have them: the best plan for any multiple
  /// of a few threads is written as well.
  void emitForAnyBlock(Case &C, const std::vector<Plan> &Candidates);
  /// The chosen plan is for blocks of one size, and launches have, or may have,
  /// others: a kernel for each size that gains.
  void emitForBlocks(Case &C);
  /// Writes \p P of \p M for launches that the chosen plan leaves, unless it cannot
  /// be written: one plan is enough. \p Speedup is said if it is not 0.
  void emitOther(Case &C, const KernelModel &M, Plan P,
                 const std::string &Suffix, const std::string &When,
                 double Speedup = 0);
  /// Tests of what looks for errors: a wrong plan goes on to emission.
  void damage(const KernelModel &M, Plan &P) const;
  void damage(EmittedKernel &E) const;
  /// A net under every rewriting: cheap enough to be always on.
  static VerifyOptions quickly();
  static std::string text(const VerifyOutcome &V);
  /// The candidate with the best prediction; among equals the first. Empty,
  /// with a reason in \p C, when there is none.
  std::optional<Plan *> choose(Case &C, const std::vector<Case> &Group,
                               std::vector<Plan> &Candidates);
  /// Takes out the plans whose kernels cannot be lowered, unless no other is
  /// left: then the best of them tells why.
  void excludeUnwritable(const KernelModel &M,
                         const std::vector<Plan> &Candidates, Choice &Chosen,
                         std::map<size_t, Decline> &Unwritable) const;
  /// The plan of \p Candidates with the best prediction that can be written;
  /// nullopt: none.
  std::optional<Plan> bestOf(const KernelModel &M,
                             std::vector<Plan> &Candidates) const;
  /// Why a plan of which more is expected than of the chosen one is none.
  std::optional<Decline>
  betterUnwritable(const Case &C, const std::vector<Plan> &Candidates) const;
  double clocksOf(const KernelModel &M) const;
  /// The best of the others, when the chosen one failed for \p Why.
  std::optional<Plan *> next(Case &C, std::vector<Plan> &Candidates,
                             const Decline &Why) const;
  ChooseOptions how() const;
  /// What is predicted for.
  const Arch &arch() const;
  /// Was \p M rewritten by an earlier run, or made by one? Then all its launches
  /// stand in launch functions.
  bool isOfEarlierRun(const KernelModel &M) const;
  /// The main file with \p C alone rewritten, by \p P.
  llvm::Expected<std::string>
  textWith(const Case &C, const std::vector<Case> &Group, const Plan &P);
  /// A name that nothing in the file has, nor another kernel's new form: those
  /// of overloaded kernels are told apart.
  std::string freshName(const KernelModel &M, const std::string &Suffix) const;
  /// Overloads share it, as the originals share their name.
  std::string launchName(const KernelModel &M) const;
  /// The cases of one definition become edits, all or none.
  void join(std::vector<Case> &G, UnitEdits &Edits);
  /// Takes instantiations out that no launch function can call, or tell apart.
  void leaveUnreachable(std::vector<Case> &G, bool AllSame);
  /// Leaves the original where a macro would change what is inserted.
  void leaveMacros(std::vector<Case> &G);
  /// Takes back what was written.
  static void leave(Case &C);
  /// The launch function of \p G, and for people how it is called.
  std::string launchFunction(std::vector<Case> &G,
                             const std::vector<LaunchCase> &Cases, bool AllSame,
                             const std::string &Function);
  /// One body for every instantiation, or one for each, by its arguments? There
  /// may be more instantiations than this parse has seen if a launch stands in
  /// a template: what calls that may be for the host's compiler alone. And a
  /// specialisation is another kernel.
  static bool oneForAll(const std::vector<Case> &G);
  /// Whoever launches it is to call the launch function by hand.
  bool forCallersElsewhere(const Case &C) const;
  static void rename(EmittedKernel &E, const std::string &From,
                     const std::string &To);
};

} // namespace rcache

#endif // RCACHE_UNIT_H
