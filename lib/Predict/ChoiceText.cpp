// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table of --explain-choice.

#include "Caps.h"
#include "rcache/Choice.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <cmath>

using namespace rcache;

namespace {

using Row = std::vector<std::string>;

std::string number(double D, unsigned Digits) {
  if (!std::isfinite(D))
    return "-";
  std::string T;
  llvm::raw_string_ostream(T) << llvm::format("%.*f", int(Digits), D);
  return T;
}

std::string times(const std::array<unsigned, 3> &N) {
  std::string T = std::to_string(N[0]);
  for (unsigned D = 1; D < 3; ++D)
    if (N[1] * N[2] > 1 && (D == 1 || N[2] > 1))
      T += "x" + std::to_string(N[D]);
  return T;
}

std::string registersText(const Candidate &K) {
  if (!K.Registers)
    return "~" + std::to_string(K.Counts.Registers);
  std::string T = std::to_string(*K.Registers);
  if (K.SpillBytes.value_or(0))
    T += "+" + std::to_string(*K.SpillBytes) + "B";
  return T;
}

/// The figures that the original and a candidate share, from `loads` on.
void addFigures(Row &R, const KernelCounts &K, const Score &S,
                const std::string &Registers) {
  double Loads = 0, Stores = 0;
  for (const MemoryAccesses &L : K.Loads)
    Loads += L.PerOutput;
  for (const MemoryAccesses &L : K.Stores)
    Stores += L.PerOutput;
  R.push_back(number(Loads, 2));
  R.push_back(number(Stores, 2));
  R.push_back(number(S.of(Resource::L1), 1));
  R.push_back(number(K.SharedLoads + K.SharedStores, 1));
  R.push_back(number(K.Shuffles, 2));
  R.push_back(
      number(K.FpOps + K.DoubleOps + K.IntOps + K.Selects + K.SpecialOps, 1));
  R.push_back(Registers);
  R.push_back(std::to_string(S.Occ.WarpsPerSm));
  if (S.Waves)
    R.back() +=
        ", " + std::to_string(S.Waves) + (S.Waves == 1 ? " wave" : " waves");
  R.push_back(number(S.Clocks, 1));
  R.push_back(resourceName(S.Bound));
}

/// All columns but the last to the right.
void printRows(llvm::raw_ostream &OS, const std::vector<Row> &Rows) {
  std::vector<size_t> Width(Rows.back().size() - 1);
  for (const Row &R : Rows)
    for (size_t I = 0; I < Width.size() && I < R.size(); ++I)
      Width[I] = std::max(Width[I], R[I].size());
  for (const Row &R : Rows) {
    for (size_t I = 0; I < R.size(); ++I) {
      if (I < Width.size())
        OS << llvm::right_justify(R[I], Width[I])
           << (I + 1 < R.size() ? "  " : "");
      else
        OS << R[I];
    }
    OS << "\n";
  }
}

Row pressureRow(const std::string &Name, const PressureFigures &F) {
  return {Name,
          std::to_string(F.Of.Registers),
          std::to_string(F.Of.StackFrame),
          std::to_string(F.Of.SpillStores),
          std::to_string(F.Of.SpillLoads),
          std::to_string(F.Of.SharedBytes),
          std::to_string(F.Occ.WarpsPerSm),
          number(F.Issue, 0),
          number(F.Wait, 0),
          number(F.Clocks, 0)};
}

/// Of hints about registers: what the compiler made of each.
void printPressure(llvm::raw_ostream &OS, const Choice &C) {
  std::vector<Row> Rows = {{"#", "regs", "stack", "stores", "loads", "shared",
                            "warps", "busy", "wait", "clocks", "predicted"}};
  Rows.push_back(pressureRow("-", *C.OriginalPressure));
  Rows.back().insert(Rows.back().end(), {"1.00x", "the original"});
  for (size_t I = 0; I < C.Candidates.size(); ++I) {
    const Candidate &K = C.Candidates[I];
    Rows.push_back(
        pressureRow(std::to_string(I), K.Pressure.value_or(PressureFigures())));
    Rows.back().push_back(number(K.Speedup, 2) + "x");
    Rows.back().push_back(
        K.Form + (K.Excluded.empty() ? "" : " [" + K.Excluded + "]") +
        (static_cast<int>(I) == C.Chosen ? " <- best" : ""));
  }
  printRows(OS, Rows);
  if (C.Chosen >= 0)
    OS << "#" << C.Chosen << ": " << C.Why << "\n";
  else
    OS << "none was chosen: " << C.Why << "\n";
}

} // namespace

std::vector<std::pair<std::string, std::string>> rcache::capsOf(const Choice &C) {
  std::vector<std::pair<std::string, std::string>> Caps;
  for (const Candidate &K : C.Candidates)
    for (const std::string &Cap : K.Caps)
      if (std::none_of(Caps.begin(), Caps.end(),
                       [&](auto &Known) { return Known.first == Cap; }))
        Caps.emplace_back(Cap, whyCapped(Cap));
  return Caps;
}

void rcache::printChoice(llvm::raw_ostream &OS, const Choice &C) {
  if (C.OriginalPressure)
    return printPressure(OS, C);
  const bool Measured =
      C.OriginalMilliseconds ||
      std::any_of(C.Candidates.begin(), C.Candidates.end(),
                  [](const Candidate &K) { return bool(K.Milliseconds); });
  Row Head = {"#",     "outputs", "block", "loads",     "stores",
              "L1",    "shared",  "shfl",  "arith",     "regs",
              "warps", "clocks",  "limit", "predicted", "rank"};
  if (Measured)
    Head.push_back("ms");
  std::vector<Row> Rows = {Head};
  Row Old = {"-", "1", std::to_string(C.Original.ThreadsPerBlock)};
  addFigures(Old, C.Original, C.OriginalCost,
             "~" + std::to_string(C.Original.Registers));
  Old.insert(Old.end(), {"1.00x", "-"});
  if (Measured)
    Old.push_back(C.OriginalMilliseconds ? number(*C.OriginalMilliseconds, 4)
                                         : "-");
  Old.push_back("the original");
  Rows.push_back(Old);
  for (size_t I = 0; I < C.Candidates.size(); ++I) {
    const Candidate &K = C.Candidates[I];
    Row R = {std::to_string(I), times(K.Factor), times(K.Block)};
    addFigures(R, K.Counts, K.Cost, registersText(K));
    R.push_back(number(K.Speedup, 2) + "x");
    R.push_back(number(K.Rank, 3));
    if (Measured)
      R.push_back(K.Milliseconds ? number(*K.Milliseconds, 4) : "-");
    std::string Text = K.Arrays + "; " + K.Form;
    for (const std::string &Cap : K.Caps)
      Text += " [capped: " + Cap + "]";
    if (!K.Excluded.empty())
      Text += " [" + K.Excluded + "]";
    if (static_cast<int>(I) == C.Chosen)
      Text += " <- chosen";
    R.push_back(Text);
    Rows.push_back(R);
  }
  printRows(OS, Rows);
  for (const auto &[Cap, Why] : capsOf(C))
    OS << "capped (" << Cap << "): " << Why << "\n";
  if (!C.BorrowedFrom.empty())
    OS << "constants: borrowed from " << C.BorrowedFrom
       << ", on which they were measured\n";
  if (!C.MeasuredOn.empty())
    OS << "ms: measured on " << C.MeasuredOn << ", " << C.MeasuredShape << "\n";
  if (C.Chosen >= 0)
    OS << "#" << C.Chosen << " was chosen: " << C.Why << "\n";
  else
    OS << "none was chosen: " << C.Why << "\n";
}
