// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The text form of a plan: stable, for tests, --print-after=plan and reports.

#include "rcache/Plan.h"
#include "llvm/Support/raw_ostream.h"
#include <sstream>

using namespace rcache;

namespace {

template <typename T> std::string islText(const T &V) {
  if (V.is_null())
    return "null";
  std::ostringstream S;
  S << V;
  return S.str();
}

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

const char *rcache::exchangeName(Exchange X) {
  switch (X) {
  case Exchange::Shuffle:
    return "shuffle";
  case Exchange::Reload:
    return "reload";
  case Exchange::Direct:
    return "direct";
  case Exchange::Shared:
    return "shared";
  }
  return "?";
}

void Plan::print(llvm::raw_ostream &OS, const KernelModel &M) const {
  OS << "plan " << M.Signature << "\n";
  OS << "  factor " << Factor[0] << " " << Factor[1] << " " << Factor[2]
     << " stride " << Stride[0] << " " << Stride[1] << " " << Stride[2] << "\n";
  if (Block)
    OS << "  block " << (*Block)[0] << " " << (*Block)[1] << " " << (*Block)[2]
       << "\n";
  else
    OS << "  block multiple of " << BlockMultiple << "\n";
  OS << "  merge " << (Merge ? "to " : "no ") << TargetThreads << " threads\n";
  OS << "  barriers " << (KeepBarriers ? "kept: " + BarrierReason : "dropped")
     << "\n";
  for (const auto &[Barrier, Scope] : Narrowed)
    OS << "  barrier of line " << M.stmt(Barrier).Pos.Line
       << (Scope == SyncScope::Warp ? " in the warp\n" : " left out\n");
  for (const ArrayPlan &A : Arrays) {
    OS << "  array " << M.Arrays[A.Array].Name << " " << exchangeName(A.X);
    if (A.X == Exchange::Shuffle)
      OS << (A.Cyclic ? " cyclic" : " chunk " + std::to_string(A.Chunk))
         << (A.Direction < 0 ? " reversed" : "");
    OS << "\n";
    if (A.X == Exchange::Shared)
      continue;
    for (const StagePiece &P : A.Stage.Pieces) {
      OS << "    on " << islText(P.Domain);
      if (!P.Guards.empty())
        OS << " and " << P.Guards.size() << " conditions on data";
      OS << "\n      ";
      printValue(OS, P.V);
      OS << "\n";
    }
    OS << "    coverage " << (A.Stage.CoverageProved ? "proved" : "not proved")
       << "\n";
    if (A.Early) {
      OS << "    early";
      for (int64_t E : A.Extent)
        OS << " " << E;
      OS << ":";
      for (const isl::pw_aff &F : A.First)
        OS << " " << islText(F);
      OS << "\n";
    } else if (!A.Extent.empty()) {
      OS << "    window";
      for (size_t D = 0; D < A.Extent.size(); ++D)
        OS << " " << A.Extent[D] << " from " << islText(A.First[D]);
      OS << "\n";
    }
    if (!A.Lines.empty()) {
      OS << "    lines";
      for (const auto &[Lo, Hi] : A.Lines)
        OS << " " << Lo << ".." << Hi;
      OS << "\n";
    }
    if (A.Stream)
      OS << "    rows streamed by the loop of line "
         << M.stmt(A.Stream->Loop).Pos.Line << ", row = round"
         << (A.Stream->Axis >= 0
                 ? std::string(" + s") + "xyz"[A.Stream->Axis]
                 : std::string())
         << " + " << A.Stream->Offset << "\n";
    for (const WindowRead &W : A.WindowReads) {
      OS << "    read " << M.text(M.SharedAccesses[W.Access].Range) << " at";
      for (const isl::pw_aff &R : W.Register)
        OS << " " << islText(R);
      OS << "\n";
    }
    if (A.InteriorPiece >= 0)
      OS << "    interior " << islText(A.Interior) << " vectors of "
         << A.VectorBytes << " bytes\n";
  }
  for (const VectorStore &V : VectorStores)
    OS << "  store " << M.text(M.GlobalAccesses[V.Access].Range) << " as "
       << V.Bytes << " bytes\n";
  for (const Precondition &P : Preconditions)
    OS << "  requires " << P.Text << " (" << P.Reason << ")\n";
}
