// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How one plan was chosen among the candidates of a kernel: their predicted
// (and, where the user asked, compiled or measured) figures, and why the chosen
// one won. --explain-choice and the report show it; bench/planner tests it.

#ifndef RCACHE_CHOICE_H
#define RCACHE_CHOICE_H

#include "rcache/Compiled.h"
#include "rcache/Plan.h"
#include "rcache/Prediction.h"
#include <string>
#include <vector>

namespace rcache {

/// What the compiler made of a kernel under a hint about registers.
struct PressureFigures {
  FunctionReport Of;
  Occupancy Occ;
  /// Of the predicted time, in clocks of a scheduler for a warp
  /// (lib/Predict/RegisterPressure.h).
  double Issue = 0, Wait = 0, Clocks = 0;
};

/// One candidate. Figures are per output (a logical thread) unless said
/// otherwise; see Prediction.h for the unit of clocks.
struct Candidate {
  std::array<unsigned, 3> Factor = {1, 1, 1}; ///< outputs a thread
  std::string Arrays; ///< exchange of each: "s: reload 6x6; t: shared"
  std::string Form;   ///< how it is emitted: "slot by slot", "taps outside"
  /// Threads of a physical block in a typical launch.
  std::array<unsigned, 3> Block = {1, 1, 1};
  KernelCounts Counts;
  Score Cost;
  double Speedup = 0; ///< predicted, over the original; 0: cannot run
  /// Rules by which less is claimed than the counts say (lib/Predict/Caps.h).
  std::vector<std::string> Caps;
  /// How the form did where it was measured, 1 for the best: Rank is Speedup
  /// times this.
  double FormFactor = 1;
  double Rank = 0;    ///< what is compared: the greatest wins
  /// Speedup and Rank where no run of elements starts where a vector may.
  double UnalignedSpeedup = 0, UnalignedRank = 0;
  /// From ptxas (--tune=ptxas): registers and spilled bytes a thread.
  std::optional<unsigned> Registers, SpillBytes;
  /// What names it whatever its number: outputs a thread, arrays, form, block.
  std::string Id;
  /// Measured (--tune=device), in milliseconds.
  std::optional<double> Milliseconds;
  /// Every element that is read has been staged: proved. Else results may differ
  /// where the original's are undefined.
  bool Covered = true;
  /// A hint about registers: what the compiler makes of it. Counts and Cost are
  /// empty then.
  std::optional<PressureFigures> Pressure;
  /// No launch has a grid that is large enough for it, and all are known.
  bool TooSmallGrids = false;
  /// Why it was not taken into account; "": it was.
  std::string Excluded;
  /// It could not be verified or written: why.
  std::string Failed;

  /// Load instructions, and warp-wide accesses of L1 for 32 outputs.
  double loads() const;
  double wavefronts() const { return Cost.of(Resource::L1); }
  double arithmetic() const {
    return Counts.FpOps + Counts.DoubleOps + Counts.IntOps + Counts.Selects +
           Counts.SpecialOps;
  }
};

struct Choice {
  std::string Arch; ///< "sm_90 (H200)": what the prediction is for
  /// The architecture whose measured constants are used; "": its own.
  std::string BorrowedFrom;
  /// Estimated registers from which a kernel is taken to spill.
  double MaxRegisters = 255;
  KernelCounts Original;
  Score OriginalCost;
  std::optional<double> OriginalMilliseconds;
  std::optional<PressureFigures> OriginalPressure;
  /// Where and with which launch the times were measured; "": nowhere.
  std::string MeasuredOn, MeasuredShape;
  std::vector<Candidate> Candidates; ///< in the planner's order, from 0
  int Chosen = -1;                   ///< index, -1: none can run
  /// Predicted for the form that is written for launches whose runs of elements
  /// do not start where vectors may; 0: there is none.
  double UnalignedSpeedup = 0;
  std::string Why;                   ///< one sentence
};

/// The rules by which less than the counts say is claimed of candidates: each that one
/// names, once, with its reason.
std::vector<std::pair<std::string, std::string>> capsOf(const Choice &C);

/// The table of --explain-choice: a line a candidate, then why.
void printChoice(llvm::raw_ostream &OS, const Choice &C);

} // namespace rcache

#endif // RCACHE_CHOICE_H
