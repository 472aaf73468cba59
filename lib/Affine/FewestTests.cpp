// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conditions with as few comparisons as tell what is to be told. isl's gist
// takes away what a convex context implies, one disjunct after the other; here
// each disjunct grows as far as the whole condition and the context allow, so
// that what only told it apart from the others goes as well:
//
//     [e, n] -> { : 2 <= e < 10 and e < n } or { : 10 <= e < 12 and e < n }
//     where 0 <= e < 12, and nobody asks below 2       ->    e < n

#include "IslTools.h"
#include <algorithm>
#include <isl/set.h>

namespace rcache {

namespace {

/// Beyond this, what is decided about each comparison takes too long.
constexpr size_t MostParts = 8, MostTests = 48;

isl::set all(const std::vector<isl::set> &Tests, isl::ctx Ctx, size_t Without) {
  isl::set S = always(Ctx);
  for (size_t I = 0; I < Tests.size(); ++I)
    if (I != Without)
      S = S.intersect(Tests[I]);
  return S;
}

using Part = std::vector<isl::set>;

/// In how many of \p Parts the test occurs.
size_t timesIn(const std::vector<Part> &Parts, const isl::set &Test) {
  return static_cast<size_t>(
      std::count_if(Parts.begin(), Parts.end(), [&](const Part &P) {
        return std::any_of(P.begin(), P.end(), [&](const isl::set &T) {
          return isl_set_plain_is_equal(T.get(), Test.get()) == isl_bool_true;
        });
      }));
}

} // namespace

isl::set fewestTests(const isl::set &S, const isl::set &Context) {
  const isl::set Simple = simplify(S, Context);
  const isl::ctx Ctx = S.ctx();
  std::vector<Part> Parts;
  size_t Tests = 0;
  Simple.foreach_basic_set([&](const isl::basic_set &B) {
    Parts.push_back(constraintsOf(B));
    Tests += Parts.back().size();
  });
  if ((Parts.size() < 2 && Context.n_basic_set() < 2) ||
      Parts.size() > MostParts || Tests > MostTests)
    return Simple;
  auto Holds = [&](const isl::set &T) {
    return T.intersect(Context).is_subset(Simple);
  };
  const std::vector<Part> AsTheyWere = Parts;
  for (Part &P : Parts) {
    // What all have in common is said once, so it goes last.
    std::stable_sort(P.begin(), P.end(),
                     [&](const isl::set &A, const isl::set &B) {
                       return timesIn(AsTheyWere, A) < timesIn(AsTheyWere, B);
                     });
    for (size_t I = 0; I < P.size();)
      if (Holds(all(P, Ctx, I)))
        P.erase(P.begin() + static_cast<ptrdiff_t>(I));
      else
        ++I;
  }
  std::vector<isl::set> Left;
  for (const Part &P : Parts)
    Left.push_back(all(P, Ctx, P.size()));
  // What the others cover.
  for (size_t I = Left.size(); I-- > 0 && Left.size() > 1;) {
    isl::set Others = never(Ctx);
    for (size_t J = 0; J < Left.size(); ++J)
      if (J != I)
        Others = Others.unite(Left[J]);
    if (Left[I].intersect(Context).is_subset(Others))
      Left.erase(Left.begin() + static_cast<ptrdiff_t>(I));
  }
  isl::set Out = never(Ctx);
  for (const isl::set &T : Left)
    Out = Out.unite(T);
  return Out;
}

} // namespace rcache
