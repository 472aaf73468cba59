// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See ReportChoice.h.

#include "Output/ReportChoice.h"
#include <cmath>

namespace json = llvm::json;

namespace rcache {

void writePoint(json::OStream &J, llvm::StringRef Name, llvm::ArrayRef<int64_t> Point) {
  J.attributeArray(Name, [&] {
    for (const int64_t X : Point)
      J.value(X);
  });
}

namespace {

/// What the compiler says of a kernel that it made.
void writeCompiled(json::OStream &J, const FunctionReport &Of) {
  J.attribute("registers", Of.Registers);
  J.attribute("stackBytes", Of.StackFrame);
  J.attribute("spillStoreBytes", Of.SpillStores);
  J.attribute("spillLoadBytes", Of.SpillLoads);
  J.attribute("staticSharedBytes", Of.SharedBytes);
}

/// JSON has no infinity: what cannot run has no such figure.
void writeFinite(json::OStream &J, llvm::StringRef Name, double D) {
  if (std::isfinite(D))
    J.attribute(Name, D);
}

void writeCandidate(json::OStream &J, const Candidate &K) {
  J.attributeArray("coarsening", [&] {
    for (unsigned F : K.Factor)
      J.value(F);
  });
  J.attribute("arrays", json::fixUTF8(K.Arrays));
  J.attribute("form", K.Form);
  J.attributeArray("block", [&] {
    for (unsigned B : K.Block)
      J.value(B);
  });
}

void writeMix(json::OStream &J, const std::vector<MemoryAccesses> &Accesses,
              llvm::StringRef Name) {
  J.attributeArray(Name, [&] {
    for (const MemoryAccesses &A : Accesses)
      J.object([&] {
        J.attribute("perOutput", A.PerOutput);
        J.attribute("bytes", A.Bytes);
        J.attribute("laneStride", A.LaneStride);
      });
  });
}

/// What the compiler made of a kernel under a hint about registers.
void writePressure(json::OStream &J, const PressureFigures &P) {
  J.attributeObject("pressure", [&] {
    writeCompiled(J, P.Of);
    J.attribute("warpsPerSm", P.Occ.WarpsPerSm);
    J.attribute("busyClocks", P.Issue);
    J.attribute("waitClocks", P.Wait);
    J.attribute("clocks", P.Clocks);
  });
}

/// What a version of the kernel executes, and what that costs.
void writeFigures(json::OStream &J, const KernelCounts &C, const Score &S) {
  J.attributeObject("counts", [&] {
    J.attribute("dramBytes", C.DramBytes);
    writeMix(J, C.Loads, "loads");
    writeMix(J, C.Stores, "stores");
    J.attribute("sharedLoads", C.SharedLoads);
    J.attribute("conflicts", C.Conflicts);
    J.attribute("sharedStores", C.SharedStores);
    J.attribute("shuffles", C.Shuffles);
    J.attribute("selects", C.Selects);
    J.attribute("fpOps", C.FpOps);
    J.attribute("doubleOps", C.DoubleOps);
    J.attribute("intOps", C.IntOps);
    J.attribute("specialOps", C.SpecialOps);
    J.attribute("otherOps", C.OtherOps);
    J.attribute("barriers", C.Barriers);
    J.attribute("steps", C.Steps);
    J.attribute("warpSteps", C.WarpSteps);
    J.attribute("loadRounds", C.LoadRounds);
    J.attribute("stagingRounds", C.StagingRounds);
    J.attribute("rowByRow", C.RowByRow);
    J.attribute("codeBytes", C.CodeBytes);
    J.attribute("gridWarps", C.GridWarps);
    J.attribute("launchWarps", C.LaunchWarps);
    J.attribute("gridKnown", C.GridKnown);
    J.attribute("outputsPerThread", C.OutputsPerThread);
    J.attribute("threadsPerBlock", C.ThreadsPerBlock);
    J.attribute("registers", C.Registers);
    J.attribute("spillBytes", C.SpillBytes);
    J.attribute("sharedBytes", C.SharedBytes);
  });
  J.attribute("warpsPerSm", S.Occ.WarpsPerSm);
  J.attribute("occupancyLimit", S.Occ.Limit);
  J.attribute("waves", S.Waves);
  writeFinite(J, "clocks", S.Clocks);
  J.attributeObject("resourceClocks", [&] {
    for (unsigned I = 0; I < NumResources; ++I)
      writeFinite(J, resourceName(static_cast<Resource>(I)), S.Each[I]);
  });
  J.attribute("limit", resourceName(S.Bound));
}

} // namespace

void writeResources(json::OStream &J, const KernelResources &R) {
  J.attributeObject("resources", [&] {
    J.attribute("arch", R.Arch);
    writeCompiled(J, R.Of);
    J.attribute("dynamicShared", R.DynamicShared);
    writePoint(J, "block", R.Block);
    J.attribute("blockAssumed", R.BlockAssumed);
    J.attribute("blocksPerSm", R.Occ.BlocksPerSm);
    J.attribute("warpsPerSm", R.Occ.WarpsPerSm);
    J.attribute("occupancy", R.occupancy());
    J.attribute("occupancyLimit", R.Occ.Limit);
  });
}

void writeByBlocks(json::OStream &J, const Plan &P) {
  if (P.SpeedupOfBlocks.empty())
    return;
  J.attributeArray("predictedByBlocks", [&] {
    for (const auto &[Blocks, Speedup] : P.SpeedupOfBlocks)
      J.object([&, &Blocks = Blocks, &Speedup = Speedup] {
        J.attribute("blocks", Blocks);
        J.attribute("speedup", Speedup);
      });
  });
}

void writeChoice(json::OStream &J, const Choice &C) {
  J.attributeObject("choice", [&] {
    J.attribute("arch", C.Arch);
    if (!C.BorrowedFrom.empty())
      J.attribute("constantsFrom", C.BorrowedFrom);
    if (C.Chosen >= 0)
      J.attribute("chosen", C.Chosen);
    J.attribute("why", json::fixUTF8(C.Why));
    if (!C.MeasuredOn.empty()) {
      J.attribute("measuredOn", json::fixUTF8(C.MeasuredOn));
      J.attribute("measuredShape", json::fixUTF8(C.MeasuredShape));
    }
    J.attributeObject("original", [&] {
      writeFigures(J, C.Original, C.OriginalCost);
      if (C.OriginalPressure)
        writePressure(J, *C.OriginalPressure);
      if (C.OriginalMilliseconds)
        J.attribute("milliseconds", *C.OriginalMilliseconds);
    });
    J.attribute("unalignedSpeedup", C.UnalignedSpeedup);
    if (const auto Caps = capsOf(C); !Caps.empty())
      J.attributeArray("capReasons", [&] {
        for (const auto &[Name, Why] : Caps)
          J.object([&, &Cap = Name, &Reason = Why] {
            J.attribute("cap", Cap);
            J.attribute("why", Reason);
          });
      });
    J.attributeArray("candidates", [&] {
      for (const Candidate &K : C.Candidates)
        J.object([&] {
          J.attribute("id", json::fixUTF8(K.Id));
          writeCandidate(J, K);
          writeFigures(J, K.Counts, K.Cost);
          J.attribute("predictedSpeedup", K.Speedup);
          J.attributeArray("caps", [&] {
            for (const std::string &Cap : K.Caps)
              J.value(Cap);
          });
          writeFinite(J, "rank", K.Rank);
          if (K.Registers)
            J.attribute("compiledRegisters", *K.Registers);
          if (K.SpillBytes)
            J.attribute("compiledSpillBytes", *K.SpillBytes);
          if (K.Pressure)
            writePressure(J, *K.Pressure);
          if (K.Milliseconds)
            J.attribute("milliseconds", *K.Milliseconds);
          if (!K.Excluded.empty())
            J.attribute("excluded", json::fixUTF8(K.Excluded));
        });
    });
  });
}

} // namespace rcache
