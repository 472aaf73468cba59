// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What plans say of registers: where each lies in its window, who loads it, and
// what it holds then.

#include "Verifier.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

namespace rcache::verify {

/// Where register \p Register of the last dimension lies, relative to First.
int64_t Verifier::offset(int64_t Register) const {
  if (Wd->SlotSpan == 0 || Ex)
    return Register;
  return Register / Wd->SlotSpan * Wd->SlotStep + Register % Wd->SlotSpan;
}

/// The registers [first, second) that are loaded in the line that holds
/// \p Register.
std::pair<int64_t, int64_t> Verifier::line(const Element &Register) const {
  if (Register.empty())
    return {0, 1};
  if (Wd->Lines.empty())
    return {0, Wd->Extent.back()};
  size_t L = 0;
  for (size_t D = 0; D + 1 < Register.size(); ++D)
    L = L * static_cast<size_t>(Wd->Extent[D]) + static_cast<size_t>(Register[D]);
  return L < Wd->Lines.size() ? Wd->Lines[L] : std::pair<int64_t, int64_t>(0, 0);
}

std::optional<Element> Verifier::inReload(const Element &First,
                                          const Element &Register) {
  Element E = First;
  const auto [Lo, Hi] = line(Register);
  if (!Register.empty() && (Register.back() < Lo || Register.back() >= Hi))
    return std::nullopt; // not loaded
  for (unsigned D = 0; D < Register.size(); ++D) {
    if (Register[D] < 0 || Register[D] >= Wd->Extent[D])
      return std::nullopt;
    E[D] += D + 1 == Register.size() ? offset(Register[D]) : Register[D];
  }
  return E;
}

/// One phase serves all registers of a chunk: a lane publishes its own chunk
/// or, to the lanes that reach round the warp's end, the chunk behind the last
/// one.
std::optional<int64_t> Verifier::inChunks(const std::vector<Element> &Firsts,
                                          unsigned Lane, int64_t Register) {
  const int64_t B = Ex->Chunk;
  if (B < 1 || Register < 0 || Register >= Wd->Extent[0])
    return std::nullopt;
  const int64_t Phase = Register / B, Last = (Wd->Extent[0] - 1) / B;
  if (Phase > 31)
    return std::nullopt;
  const int64_t Source =
      ((static_cast<int64_t>(Lane) + Ex->Direction * Phase) % 32 + 32) % 32;
  const bool High = Ex->Direction > 0 ? Source < Phase : Source >= 32 - Phase;
  const bool HasHigh = Ex->Direction > 0 ? Source < Last : Source >= 32 - Last;
  if (High && !HasHigh)
    return std::nullopt;
  return Firsts[Source][0] + Register % B + (High ? 32 * B : 0);
}

/// Round robin: element First + 32 * r is register r; slot s reads its element
/// j from the lane j further on, which publishes register s or a later one.
std::optional<int64_t> Verifier::inCyclic(const std::vector<Element> &Firsts,
                                          unsigned Lane, int64_t Register) {
  const int64_t Span = Wd->SlotSpan, C = P.Map.Factor[0];
  if (Span < 1 || Register < 0 || Register >= C * Span)
    return std::nullopt;
  const int64_t Slot = Register / Span, J = Register % Span;
  const int64_t Source = (Lane + J) % 32;
  const int64_t R = Slot + J / 32 + (J % 32 != 0 && Source < J % 32);
  if (R * 32 + Source >= 32 * C + Span - 1)
    return std::nullopt; // not loaded
  return Firsts[Source][0] + 32 * R;
}

/// The element that is in \p Register of \p Lane after the exchange.
std::optional<Element> Verifier::inWindow(const std::vector<Element> &Firsts,
                                          unsigned Lane,
                                          const Element &Register) {
  if (!Ex)
    return inReload(Firsts[Lane], Register);
  if (Register.size() != 1 || Firsts[Lane].size() != 1)
    return std::nullopt;
  const std::optional<int64_t> E = Ex->K == Distribution::Cyclic
                                       ? inCyclic(Firsts, Lane, Register[0])
                                       : inChunks(Firsts, Lane, Register[0]);
  if (!E)
    return std::nullopt;
  return Element{*E};
}

/// Asks for everything that the lane loads.
void Verifier::askForRegisters(const std::vector<Element> &Firsts,
                               unsigned Lane) {
  const Element &First = Firsts[Lane];
  auto AskRun = [&](Element Start, int64_t Count) {
    checkRun(Start, Count);
    for (int64_t R = 0; R < Count; ++R) {
      Element E = Start;
      if (!E.empty())
        E.back() += offset(R);
      askFor(E, /*Needed=*/false);
    }
  };
  if (!Ex) {
    if (First.empty()) {
      AskRun(First, 1);
      return;
    }
    // Every row of the window.
    Element Row(First.size(), 0);
    for (;;) {
      Element Start = First;
      for (unsigned D = 0; D + 1 < First.size(); ++D)
        Start[D] += Row[D];
      const auto [Lo, Hi] = line(Row);
      Start.back() += Lo;
      if (Lo < Hi)
        AskRun(Start, Hi - Lo);
      unsigned D = 0;
      while (D + 1 < First.size() && ++Row[D] == Wd->Extent[D])
        Row[D++] = 0;
      if (D + 1 >= First.size())
        return;
    }
  }
  if (Ex->K == Distribution::Cyclic) {
    const int64_t All = 32 * P.Map.Factor[0] + Wd->SlotSpan - 1;
    for (int64_t R = 0; 32 * R + Lane < All; ++R)
      askFor({First[0] + 32 * R}, /*Needed=*/false);
    return;
  }
  const int64_t Last = (Wd->Extent[0] - 1) / Ex->Chunk;
  AskRun(First, Ex->Chunk);
  if (Ex->Direction > 0 ? Lane < Last : Lane >= 32 - Last)
    AskRun({First[0] + 32 * static_cast<int64_t>(Ex->Chunk)}, Ex->Chunk);
}

} // namespace rcache::verify
