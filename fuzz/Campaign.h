// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is done with a generated kernel: run the original, rewrite it, run the
// result, compare; compile the result with nvcc.

#ifndef RCACHE_FUZZ_CAMPAIGN_H
#define RCACHE_FUZZ_CAMPAIGN_H

#include "Grammar.h"
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace rcache::fuzz {

struct Tools {
  std::string Rewrite = "rcache-rewrite", Check = "rcache-check";
  std::string Nvcc;            ///< "" when the result is not compiled with it
  std::string Folder;          ///< for temporary files
  unsigned LaunchSeconds = 20; ///< a launch that takes longer hangs
};

enum class Verdict {
  Discarded,   ///< undefined behaviour in the original
  NotRun,      ///< the original could not be run, for another reason than the next
  NoOriginal,  ///< the original does not compile: an error of the generator
  Declined,    ///< left as it is
  Equal,       ///< rewritten, same bits
  Different,   ///< rewritten, other bits
  Undefined,   ///< rewritten, undefined behaviour or a hang when run
  NotCompiled, ///< rewritten to something that clang does not compile
  NvccFails,   ///< rewritten to something that nvcc does not compile
  Crashed      ///< the rewriter crashed, hung or failed
};
const char *verdictName(Verdict V);
/// Is this an error of the rewriter?
bool isFailure(Verdict V);
/// Is this decline one that should not happen (plan-not-verified ...)?
bool isSuspicious(const std::string &Code);

struct Outcome {
  Verdict V = Verdict::NotRun;
  std::string Code;    ///< Declined: the code
  std::string Detail;  ///< what was printed or differs
  std::string Emitted; ///< Rewritten: the text of the file it stands in
  /// Rewritten: the kernels that are new, with the launches that ran each.
  std::map<std::string, unsigned> Forms;
  unsigned Ran = 0;      ///< Rewritten: launches that ran one of them
  unsigned Launches = 0; ///< of how many
};

/// Tests \p Kernels together, each alone where something goes wrong. One
/// outcome a kernel, in order. \p Stem names the temporary files.
std::vector<Outcome> test(const std::vector<KernelText> &Kernels,
                          const std::vector<std::string> &RewriteOptions,
                          const Tools &T, const std::string &Stem);

struct CampaignOptions {
  unsigned First = 1, Last = 100;
  unsigned Jobs = 1;
  unsigned Seconds = 0; ///< stop handing out work after; 0: never
  /// Option sets of the rewriter; batch number b uses b modulo their number.
  std::vector<std::vector<std::string>> OptionSets;
  std::string Keep;      ///< folder for the programs that failed, or ""
  unsigned Variants = 1; ///< mutants of a kind for each plan
  unsigned Enough = 0;   ///< of a kind, then only the others; 0: never
  std::string Family;    ///< of all kernels, or "": as the seeds say
};

struct Failure {
  unsigned Seed = 0;
  std::vector<std::string> Options;
  Outcome O;
  /// What the same options come to with the self-check, which is on by default.
  Outcome Checked;
};

struct Counts {
  unsigned Generated = 0;
  std::map<Verdict, unsigned> ByVerdict;
  std::map<std::string, unsigned> ByCode;
  std::vector<Failure> Failures;
  std::vector<Failure> NoOriginals; ///< what the generator should not have made
  /// Declines that the rewriter itself calls an error of its own, and programs
  /// that were discarded: those are the generator's.
  std::vector<Failure> Suspicious;
  /// Launches of kernels that were rewritten, and how many of them ran the
  /// rewritten form: the others broke what the plan asks for.
  unsigned Launches = 0, Ran = 0;
  std::vector<unsigned> NeverRan; ///< seeds
  bool Complete = true;           ///< false: the time was over first
};

/// Kernels of one program; part of what a seed means, since it chooses the
/// option set.
constexpr unsigned BatchSize = 20;

/// The name of the kernel of a seed.
std::string kernelName(unsigned Seed);
const std::vector<std::string> &optionsOf(unsigned Seed,
                                          const CampaignOptions &O);

/// \p Tell, if given: of each failure at once, and with none after each batch, with the
/// number of programs so far. One thread at a time.
Counts runCampaign(const CampaignOptions &O, const Tools &T,
                   const std::function<void(unsigned, const Failure *)> &Tell = nullptr);

struct CorpusCounts {
  bool Written = false; ///< could the folder be made?
  unsigned Programs = 0, Kernels = 0;
  unsigned Failed = 0; ///< kernels left out: their rewrite is wrong
};
/// Writes programs of the kernels that are rewritten (to the same bits), what
/// they are rewritten to, and a script that compares both on a device.
CorpusCounts writeCorpus(const CampaignOptions &O, const Tools &T,
                         const std::string &Folder);

/// Calls \p Work(seeds of a batch, number of the thread) for all batches. False
/// when the time was over before.
bool forBatches(
    const CampaignOptions &O,
    const std::function<void(const std::vector<unsigned> &, unsigned)> &Work);
std::vector<KernelText> kernelsOf(const std::vector<unsigned> &Seeds,
                                  const std::string &Family);

/// A plan that was changed on purpose, where that changes the text.
struct Mutant {
  enum FateType { Killed, SameCode, Proved, Survived };
  unsigned Seed = 0;
  std::string Name; ///< of --mutate=
  std::vector<std::string> Options;
  FateType Fate = Survived;
  std::string Why;
};
struct MutantCounts {
  unsigned Tried = 0, Changed = 0;
  unsigned NeverRan = 0; ///< left out: no launch comes by what is new
  std::map<Mutant::FateType, unsigned> ByFate;
  std::vector<Mutant> Others; ///< not killed
};
/// For each kind, what became of the mutants of the seeds First ... Last.
std::map<std::string, MutantCounts>
runMutants(const CampaignOptions &O, Tools T,
           const std::vector<std::string> &Kinds);

/// The smallest answers found for which the seed's kernel still ends in
/// \p Wanted. \p Tests counts the trials.
Answers shrink(unsigned Seed, const std::string &Family, Verdict Wanted,
               const std::vector<std::string> &RewriteOptions, const Tools &T,
               unsigned &Tests);

} // namespace rcache::fuzz

#endif // RCACHE_FUZZ_CAMPAIGN_H
