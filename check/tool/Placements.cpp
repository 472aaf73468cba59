// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Placements.h"

#include <algorithm>
#include <numeric>

namespace rcache::check {

/// Launches that a place gets before the next one has its turn anyway: where
/// the original is undefined, and where the rewritten form does not run, for
/// which the block may be the reason.
constexpr unsigned Patience = 24, OfUndefined = 8;
/// Launches of a sort that were all undefined: it is tried rarely from then on.
constexpr unsigned Hopeless = 8;
/// After so many launches all sorts have had their turns.
constexpr unsigned Period = 10;

ptrdiff_t Overlap::distance(const Shape &S) const {
  const uint64_t Data = uint64_t(S.W) * S.H * S.D;
  return Delta * (Adjacent ? ptrdiff_t(std::min<uint64_t>(Data, 1 << 20)) : 1);
}

bool Placement::plain() const {
  return !Shared && std::all_of(Offsets.begin(), Offsets.end(),
                                [](size_t X) { return X == 0; });
}

Placements::Placements(const std::vector<Param> &Params,
                       const std::vector<bool> &NoAlias,
                       const std::set<int64_t> &Near)
    : Params(Params), NoAlias(NoAlias) {
  for (size_t I = 0; I < Params.size(); ++I)
    if (Params[I].Kind == Param::Pointer)
      Pointers.push_back(I);
  pair({0});
  std::swap(AtOne, Others);
  pair({1, -1});
  std::swap(ByOne, Others);
  pair({2, -2});
  std::vector<ptrdiff_t> More{3, -3};
  for (int64_t N : Near)
    if (N > 3 && N <= 64)
      More.insert(More.end(), {ptrdiff_t(N), -ptrdiff_t(N)});
  for (int64_t N : Near)
    if (N > 0 && N < 256)
      Named.push_back(size_t(N));
  const size_t First = Others.size();
  pair({1, -1});
  for (size_t I = First; I < Others.size(); ++I)
    Others[I].Adjacent = true;
  pair(More);
}

/// Each of \p Deltas for all pairs, then the next one.
void Placements::pair(const std::vector<ptrdiff_t> &Deltas) {
  for (ptrdiff_t Delta : Deltas)
    for (size_t In : Pointers)
      for (size_t Of : Pointers)
        if (mayShare(Of, In))
          Others.push_back({Of, In, Delta});
}

/// Each pair once: an output lies in an input, else the later in the earlier.
bool Placements::mayShare(size_t Of, size_t In) const {
  const Param &X = Params[Of], &Y = Params[In];
  if (Of == In || X.ElementSize != Y.ElementSize ||
      X.ElementKind != Y.ElementKind)
    return false;
  if (X.PointeeConst == Y.PointeeConst ? Of < In : bool(X.PointeeConst))
    return false;
  auto Alone = [&](size_t I) { return I < NoAlias.size() && NoAlias[I]; };
  return (X.PointeeConst && Y.PointeeConst) || (!Alone(Of) && !Alone(In));
}

/// Bytes from a multiple of 256. Every place in 64 bytes comes once in a round;
/// from round to round the pointers move against each other.
size_t Placements::place(size_t Pointer, unsigned Step) const {
  static constexpr size_t Strides[] = {3, 5, 7, 11, 13};
  const size_t E = std::max<uint64_t>(1, Params[Pointer].ElementSize);
  // Every other step: all pairs of named places of two pointers come in turn.
  const bool AtNamed = !Named.empty() && Step % 2;
  if (!Named.empty())
    Step /= 2;
  if (AtNamed) {
    size_t N = Step;
    for (size_t I = 0; I < Pointer % 5; ++I)
      N = N / Named.size() + I;
    const size_t At = Named[N % Named.size()];
    if (At % E == 0)
      return At;
  }
  const size_t Places = 64 / std::gcd<size_t>(E, 64), Round = Step / Places;
  const size_t N = (Step * Strides[Pointer % 5] + Pointer * Round + 1) % Places;
  return E * N + Round % 4 * (E * Places);
}

Placements::Sort Placements::sortOf(unsigned Trial) const {
  static constexpr Sort Order[Period] = {Plain, One, Same, All,   Apart,
                                         Plain, One, All,  Apart, All};
  const Sort S = Order[Trial % Period];
  if (AtOne.empty() && (S == Same || S == Apart))
    return All;
  const Turn &T = Turns[S];
  return T.Failed >= Hopeless && !T.Worked && Trial / Period % 8 ? Plain : S;
}

Placement Placements::next(unsigned Trial) {
  Placement Out;
  Out.Offsets.resize(Params.size());
  Last = Pointers.empty() ? Plain : sortOf(Trial);
  const unsigned Step = Turns[Last].Step;
  const size_t N = Pointers.size();
  if (Last == One)
    Out.Offsets[Pointers[Step % N]] = place(Pointers[Step % N], Step / N);
  else if (Last == All || (Last != Plain && Trial / Period % 2))
    for (size_t I : Pointers)
      Out.Offsets[I] = place(I, Step);
  if (Last == Same)
    Out.Shared = AtOne[Step % AtOne.size()];
  if (Last == Apart)
    Out.Shared = Step % 2 ? Others[Step / 2 % Others.size()]
                          : ByOne[Step / 2 % ByOne.size()];
  return Out;
}

void Placements::tried(bool Compared, bool Told) {
  Turn &T = Turns[Last];
  ++(Compared ? T.Worked : T.Failed);
  T.InVain += Compared ? 1 : OfUndefined;
  if (!Told && T.InVain < Patience)
    return;
  T.InVain = 0;
  ++T.Step;
}

} // namespace rcache::check
