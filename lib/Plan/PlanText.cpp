// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The text form of a plan: stable, for tests, --print-after=plan and reports.

#include "RegisterHints.h"
#include "placements/Placements.h"
#include "llvm/Support/raw_ostream.h"

using namespace rcache;

namespace {

void printValue(llvm::raw_ostream &OS, const ValueRef &V) {
  if (!V) {
    OS << "null";
    return;
  }
  switch (V->K) {
  case Value::Affine:
    OS << islText(V->Aff);
    return;
  case Value::Load:
    OS << V->Text << "[";
    printValue(OS, V->Operands[0]);
    OS << "]";
    return;
  case Value::Select:
    OS << "(" << islText(V->Cond) << " ? ";
    printValue(OS, V->Operands[0]);
    OS << " : ";
    printValue(OS, V->Operands[1]);
    OS << ")";
    return;
  case Value::Undefined:
    OS << "undefined";
    return;
  case Value::Op:
  case Value::Uniform:
  case Value::Unknown:
    OS << "`" << V->Text << "`";
    for (const ValueRef &O : V->Operands) {
      OS << " {";
      printValue(OS, O);
      OS << "}";
    }
    return;
  }
}

} // namespace

const char *rcache::placementName(const ArrayPlan &A) {
  return std::visit([](const auto &P) { return nameOf(P); }, A.Where);
}

std::string rcache::placementSummary(const ArrayPlan &A) {
  if (A.as<FromSource>() && A.Reads.empty())
    return "never read: gone";
  return std::visit([](const auto &P) { return summaryOf(P); }, A.Where);
}

int64_t rcache::registersHeld(const ArrayPlan &A) {
  return std::visit([](const auto &P) { return held(P); }, A.Where);
}

static void printStaging(llvm::raw_ostream &OS, const StagingFunction &F) {
  for (const StagePiece &P : F.Pieces) {
    OS << "    on " << islText(P.Domain);
    if (!P.Guards.empty())
      OS << " and " << P.Guards.size() << " conditions on data";
    OS << "\n      ";
    printValue(OS, P.V);
    OS << "\n";
  }
  OS << "    coverage " << (F.CoverageProved ? "proved" : "not proved") << "\n";
}

static void printRun(llvm::raw_ostream &OS, const StridedRun &R) {
  OS << "  runs for element "
     << (R.K == StridedRun::Steps ? "t by " : "t with a bit 0 at ")
     << islText(R.Step) << " from " << islText(R.First);
  if (!R.Away.is_null())
    OS << (R.Flips ? " and flipped by " : " and ahead by ") << islText(R.Away)
       << (R.Both ? ", both change" : "");
  OS << ", of " << R.Elements << "\n";
}

void Plan::print(llvm::raw_ostream &OS, const KernelModel &M) const {
  OS << "plan " << M.Signature << "\n";
  OS << "  factor " << Map.Factor[0] << " " << Map.Factor[1] << " "
     << Map.Factor[2] << " stride " << Map.Stride[0] << " " << Map.Stride[1]
     << " " << Map.Stride[2] << "\n";
  if (Map.Block)
    OS << "  block " << (*Map.Block)[0] << " " << (*Map.Block)[1] << " "
       << (*Map.Block)[2] << "\n";
  else
    OS << "  block multiple of " << Map.BlockMultiple << "\n";
  if (Map.joins())
    OS << "  joins blocks " << Map.Blocks[0] << " " << Map.Blocks[1] << " "
       << Map.Blocks[2] << " group " << Map.Group[0] << " " << Map.Group[1]
       << " " << Map.Group[2] << "\n";
  OS << "  merge " << (Map.Merge ? "to " : "no ") << Map.TargetThreads
     << " threads\n";
  if (Ahead)
    OS << "  tiles of the loop of line " << M.stmt(Ahead->Loop).Pos.Line
       << " copied ahead, " << Ahead->Tiles << " at a time\n";
  OS << "  barriers " << (KeepBarriers ? "kept: " + BarrierReason : "dropped")
     << "\n";
  for (const auto &[Barrier, Scope] : Narrowed)
    OS << "  barrier of line " << M.stmt(Barrier).Pos.Line
       << (Scope == SyncScope::Warp ? " in the warp\n" : " left out\n");
  for (const WarpRounds &R : OfFirstWarp)
    OS << "  rounds of the loop of line " << M.stmt(R.Loop).Pos.Line << ": " << R.Before
       << " of the block, from " << R.First << " on " << R.Rounds << " of the first warp"
       << (R.Open ? ", a barrier before\n" : "\n");
  for (const PairedInterval &I : Paired)
    if (I.Strided)
      printRun(OS, *I.Strided);
    else
      OS << "  pairs by bit " << islText(I.Bit)
       << (I.Upper ? ", those with it\n" : "\n");
  for (const ArrayPlan &A : Arrays) {
    OS << "  array " << M.Arrays[A.Array].Name << " " << placementName(A)
       << std::visit([](const auto &P) { return detailOf(P); }, A.Where)
       << "\n";
    if (A.isShared())
      continue;
    printStaging(OS, A.Stage);
    std::visit([&](const auto &P) { rcache::print(OS, P, {M, *this, A}); },
               A.Where);
  }
  if (Hints)
    OS << "  hints: " << hintsText(*Hints) << "\n";
  for (const InterleavedArray &I : Interleaved) {
    OS << "  private " << M.Vars[M.Privates[I.Array].Var].Name;
    if (I.Once)
      OS << " once\n";
    else
      OS << (ByWarp ? " by warp" : " by thread") << ", room for " << I.Threads << "\n";
  }
  if (Cut) {
    OS << "  rounds of line " << M.stmt(Cut->Loop).Pos.Line
       << " shared by blocks, at least " << Cut->LeastRounds << " each, of "
       << islText(Cut->Rounds) << "\n";
    for (const LoopCut::Refill &R : Cut->Refills) {
      const Stmt::Held &H = (*M.stmt(Cut->Loop).AtStart)[R.Held];
      OS << "    begin with " << M.Vars[H.Var].Name;
      if (H.Element >= 0)
        OS << "(" << H.Element << ")";
      OS << (R.First ? " in every block\n" : " but in the first block\n");
    }
  }
  for (const VectorStore &V : VectorStores)
    OS << "  store " << M.text(M.GlobalAccesses[V.Access].Range) << " as "
       << V.Bytes << " bytes\n";
  for (const Precondition &P : Preconditions)
    OS << "  requires " << P.Text << " (" << P.Reason << ")\n";
}
