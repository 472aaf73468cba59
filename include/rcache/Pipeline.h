// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The whole library in one screen: options in; edits, report and picture data
// out. The command line, the language server and the CMake integration are
// front ends of this header. Nothing here prints or exits.
//
//     source --parse--> KernelModel --enumerate--> Plans --predict--> Plan
//            --emit--> Edits --> file | diff | fixes | report

#ifndef RCACHE_PIPELINE_H
#define RCACHE_PIPELINE_H

#include "rcache/Choice.h"
#include "rcache/Compiled.h"
#include "rcache/Decline.h"
#include "rcache/Picture.h"
#include "rcache/Plan.h"
#include "llvm/Support/Error.h"
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace clang {
class ASTContext;
class Preprocessor;
} // namespace clang

namespace rcache {

struct Edit;
class TokenRecorder; // lib/Model: the tokens of user code, recorded while parsing

/// A kernel whose candidates are ranked, for those who know more than a
/// prediction: a compiler, a device, an experiment.
struct TuneRequest {
  const KernelModel &Model;
  std::string KernelName; ///< of the new kernel in the text
  Choice &C;              ///< to be completed: Registers, SpillBytes, times;
                          ///< Failed of a candidate that must not be taken
  /// The main file with this kernel rewritten by candidate N and no other one.
  std::function<llvm::Expected<std::string>(unsigned N)> Text;
  std::optional<std::array<int64_t, 3>> AssumedBlock; ///< Options::AssumedBlock
  std::vector<std::string> Notes = {};    ///< for the user, about this kernel
  std::vector<std::string> Warnings = {}; ///< what must not be overlooked
};
/// Completes the figures in a request; then the choice is made again. An error
/// leaves the prediction's choice, with a note.
using TuneHook = std::function<llvm::Error(TuneRequest &)>;

struct Result;

/// Why a kernel that was rewritten is not handed out.
struct Refusal {
  DeclineCode Code = DeclineCode::SelfCheckFailed;
  std::string Why; ///< what was seen
};
/// By qualified names.
using Refusals = std::map<std::string, Refusal>;

/// What executing a rewritten file against its originals said.
struct SelfCheckAnswer {
  /// Kernels of which a rewritten form is wrong, or may be.
  Refusals Refused;
  /// Further forms of the others that no launch took (KernelResult::OtherForms), by name,
  /// where the first one was executed.
  std::set<std::string> LeftOut;
  /// What was executed of the others, or why nothing was, by mangled names: each
  /// instantiation has its own.
  std::map<std::string, std::string> Notes;
};
/// Executes the kernels that \p Made rewrote in \p Text, the new text of the main
/// file, before anybody sees it. Called in any thread.
using SelfCheckHook = std::function<SelfCheckAnswer(const std::string &Text,
                                                    const Result &Made)>;

/// Does a compiler round the sums of a kernel in one text as in another, and if not, how
/// far are they apart?
struct RoundedAlike {
  enum Kind { Alike, Different, Unknown } K = Unknown;
  unsigned Distance = 0; ///< Different: sums that only one of them has
};
/// Asks for kernels of the main file in \p Original and in each of \p Others: for each of
/// \p Symbols, as they are mangled, an answer for each of the others.
using RoundingHook = std::function<llvm::Expected<std::vector<std::vector<RoundedAlike>>>(
    const std::string &Original, llvm::ArrayRef<std::string> Others,
    llvm::ArrayRef<std::string> Symbols)>;

struct Options {
  /// Only these: by name, by qualified name, or by "::" and the qualified name
  /// (then not those of the same name in namespaces). nullopt: all.
  std::optional<std::vector<std::string>> Kernels;
  std::optional<unsigned> Coarsen;  ///< factor along x; nullopt: the planner's
  enum class DistributionKind { Auto, Cyclic, Chunked };
  DistributionKind Distribution = DistributionKind::Auto;
  /// Threads a block, x first, where the file does not tell; nullopt: 256 x 1 x 1.
  std::optional<std::array<int64_t, 3>> AssumedBlock;
  bool Force = false;               ///< rewrite even when no gain is predicted
  bool AssumeNoAlias = false;       ///< pointer parameters do not alias
  bool Staging = true; ///< rewrite what is staged in shared memory
  bool Private = true; ///< move private arrays out of local memory
  bool Registers = false; ///< hints about registers for kernels they limit
  /// Says what kernels take: whether private arrays are in local memory (empty:
  /// that is estimated), how many registers there are (empty: no hints).
  CompilerHook Compiler;
  enum class RuntimeKind { Embed, Include };
  RuntimeKind Runtime = RuntimeKind::Embed;
  std::string Arch = "sm_90";
  std::string Part;                 ///< to predict for (findPart), of Arch; "": typical
  std::string PrintAfter;           ///< "model", "plan", "predict", "emit" or ""
  /// Take this one of the planner's candidates (Choice.h), gain or no gain.
  std::optional<unsigned> Candidate;
  TuneHook Tune;                    ///< may be empty; called in any thread
  /// The user's file with edits of the text that is parsed, where that is
  /// another one (see Forms). Empty: the parsed text is the user's.
  std::function<llvm::Expected<std::string>(std::vector<Edit>)> UsersText;
  std::string Mutate;               ///< for tests: damage the plan (lib/Mutate)
  unsigned MutateSeed = 0;
  std::string Exchange;             ///< for tests: only plans with this exchange,
                                    ///< "shuffle", "reload", "direct" or "shared",
                                    ///< where there are any
  /// Forms of kernels whose text was written anew before the parse, by formKey.
  std::map<std::string, TextForm> Forms;
  /// Write kernels that nothing in the file launches as well, each with its launch
  /// function, which callers elsewhere may call then.
  bool WithoutLaunch = false;
  bool LineDirectives = false;      ///< #line, so that tools show the user's file
  /// The lanes of a warp run each statement together, also where nothing says so.
  bool AssumeLockstep = false;
  /// Empty: the new text is neither compiled nor executed before it is handed out.
  SelfCheckHook SelfCheck;
  /// Tells which products the user's compiler fuses with sums, where that hangs on what
  /// stands around them (ExplicitSums.h). Empty: such kernels are left as they are.
  RoundingHook Roundings;
  /// Kernels to leave alone.
  Refusals Refused;
  /// Further forms not to write, by name.
  std::set<std::string> LeftOut;
};

/// Replace [Offset, Offset + Length) of the main file by Text. Edits of a file
/// are sorted and do not overlap.
struct Edit {
  unsigned Offset = 0;
  unsigned Length = 0;
  std::string Text;
};

struct KernelResult {
  enum VerdictKind { Rewritten, Declined, NotShared };
  std::string Name;       ///< qualified, with template arguments
  VerdictKind Verdict = Declined;
  SourcePos Pos;
  std::vector<Decline> Declines;      ///< Declined: why
  std::vector<std::string> Arrays;    ///< names: those of the plan; without one, of
                                      ///< all that might have moved
  std::vector<std::string> Notes;     ///< not proved, assumptions, racy original
  std::vector<std::string> TuneNotes; ///< what a compiler or device could not tell
  std::vector<std::string> Warnings;  ///< something is wrong: not to be overlooked
  std::string PlanText;               ///< one line: "8 outputs a thread, ..."
  std::shared_ptr<const Plan> ThePlan;         ///< Rewritten
  std::vector<ArrayPicture> Pictures;          ///< Rewritten: one a window
  std::shared_ptr<const KernelModel> Model;    ///< always
  /// Rewritten: all that a launch is asked, in words, in the order of the question.
  std::vector<std::string> Conditions;
  std::shared_ptr<const Choice> Chosen; ///< null: there were no candidates
  /// What a thread of Model's text costs as it is, in the unit of Prediction.h;
  /// 0: not known.
  double OriginalClocks = 0;
  /// The original, as nvcc compiles it, where that was asked for.
  std::optional<KernelResources> Resources;
  std::string Dump;                   ///< --print-after
  unsigned LaunchesRewritten = 0, LaunchesLeft = 0;
  /// Rewritten: launches that stay as they are, and why.
  struct LeftLaunch {
    SourcePos Pos;
    std::string Why;
  };
  std::vector<LeftLaunch> LeftLaunches;
  /// Rewritten: how it is launched, for callers that do it by hand.
  std::string KernelName;     ///< of the new kernel
  /// Of others, for launches that its plan leaves: other blocks, unaligned pointers.
  std::vector<std::string> OtherForms;
  std::string LaunchFunction; ///< declaration of the function that asks and launches
  std::string LaunchText;     ///< what it does where its conditions hold, C++
};

struct Result {
  std::vector<KernelResult> Kernels;  ///< in source order
  std::vector<Edit> Edits;            ///< on the main file
  bool anyRewritten() const { return !Edits.empty(); }
};

/// Models, plans and emits every kernel of a parsed translation unit.
/// \p Recorder must have watched the parse. Declines are results; an
/// llvm::Error means a bug in the tool and leaves the file alone.
llvm::Expected<Result> rewriteUnit(clang::ASTContext &AST,
                                   clang::Preprocessor &PP,
                                   TokenRecorder &Recorder, const Options &Opts);

/// \p Source with \p Edits applied.
std::string applyEdits(const std::string &Source, const std::vector<Edit> &Edits);

} // namespace rcache

#endif // RCACHE_PIPELINE_H
