// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See RegisterPressure.h.

#include "RegisterPressure.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <cmath>

using namespace rcache;

std::vector<RegisterHints> rcache::boundsToTry(unsigned Threads,
                                               const Arch &A) {
  // Registers are given out in units of 8 a thread; with fewer than 24 a kernel
  // is all spilling.
  constexpr unsigned RegistersOfSm = 65536, Unit = 8, Least = 24, Most = 255;
  const unsigned Warps = (Threads + 31) / 32;
  std::vector<RegisterHints> All = {{Threads, 0, false}};
  unsigned Before = 0;
  const unsigned MostBlocks =
      std::min(A.MaxThreadsPerSm / 32 / Warps, A.MaxBlocksPerSm);
  for (unsigned Blocks = 1; Blocks <= MostBlocks; ++Blocks) {
    const unsigned Registers =
        std::min(Most, RegistersOfSm / (Blocks * Warps * 32) / Unit * Unit);
    if (Registers < Least || Registers == Before)
      continue;
    Before = Registers;
    All.push_back({Threads, Blocks, false});
  }
  return All;
}

bool rcache::limitedByRegisters(const KernelResources &R) {
  return R.Of.SpillStores || R.Of.SpillLoads ||
         (llvm::StringRef(R.Occ.Limit) == "registers" &&
          R.Occ.WarpsPerSm < R.MostWarps);
}

PressureFigures rcache::pressureOf(const FunctionReport &Of,
                                   const MachineFigures &Code,
                                   unsigned Threads,
                                   std::optional<int64_t> GridBlocks,
                                   const Arch &A) {
  const PressureConstants Fit;
  constexpr double Schedulers = 4;
  PressureFigures F;
  F.Of = Of;
  F.Occ = occupancy(A, Of.Registers, Threads, Of.SharedBytes);
  if (!F.Occ.BlocksPerSm)
    return F;
  const double WarpsOfBlock = (Threads + 31) / 32;
  double Blocks = F.Occ.BlocksPerSm;
  if (GridBlocks)
    Blocks = std::min(Blocks, std::ceil(double(*GridBlocks) / A.Sms));
  const double Warps = Blocks * WarpsOfBlock;
  std::array<double, NumPipes> Pipes = Code.Pipes;
  const double Local =
      Warps * 32 * std::max(Of.StackFrame, Of.SpillStores);
  if (Local > Fit.LocalInL1)
    Pipes[static_cast<size_t>(Pipe::Memory)] +=
        Code.LocalAccesses * Fit.LocalMissClocks;
  F.Issue = *llvm::max_element(Pipes);
  F.Wait = Code.Wait / std::max(1.0, Warps / Schedulers);
  F.Clocks = std::pow(std::pow(F.Issue, Fit.Sharpness) +
                          std::pow(F.Wait, Fit.Sharpness),
                      1 / Fit.Sharpness);
  // The last of few waves takes as long as the others.
  constexpr double FewWaves = 4;
  if (GridBlocks) {
    const double Waves = *GridBlocks / (Blocks * A.Sms);
    if (Waves < FewWaves)
      F.Clocks *= std::ceil(Waves) / Waves;
  }
  return F;
}
