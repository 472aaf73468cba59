// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Powers.h.

#include "Powers.h"

using namespace rcache;

std::optional<int64_t> PowerForm::at(int64_t Count) const {
  if (Count < 0 || Count > 30)
    return std::nullopt;
  return Factor * (int64_t(1) << Count) + Rest;
}

std::optional<PowerForm> rcache::powerForm(const std::string &Id,
                                           const std::map<int64_t, int64_t> &Numbers) {
  if (Numbers.size() < 2 || Numbers.begin()->first < 0 || Numbers.rbegin()->first > 30)
    return std::nullopt;
  const auto First = *Numbers.begin(), Second = *std::next(Numbers.begin());
  const int64_t Between = (int64_t(1) << Second.first) - (int64_t(1) << First.first),
                Up = Second.second - First.second;
  if (Up == 0 || Up % Between != 0)
    return std::nullopt;
  PowerForm F{Id, Up / Between, 0};
  F.Rest = First.second - *F.at(First.first);
  for (const auto &[Count, Number] : Numbers)
    if (F.at(Count) != Number)
      return std::nullopt;
  return F;
}

isl::pw_aff rcache::byCount(isl::ctx Ctx, const std::string &Id,
                            const std::map<int64_t, int64_t> &Numbers) {
  isl::pw_aff All = constantValue(Ctx, 0).intersect_domain(never(Ctx));
  for (const auto &[Count, Number] : Numbers) {
    const isl::set At = symbolValue(Ctx, Id).eq_set(constantValue(Ctx, Count));
    All = All.union_add(constantValue(Ctx, Number).intersect_domain(At));
  }
  return All;
}

std::optional<PowerForm> rcache::powerForm(const isl::pw_aff &F) {
  const std::vector<std::string> Ids = involvedIds(F);
  if (isl_pw_aff_n_piece(F.get()) < 2 || Ids.size() != 1)
    return std::nullopt;
  std::map<int64_t, int64_t> Numbers;
  bool Fits = true;
  const isl::pw_aff Count = symbolValue(F.ctx(), Ids[0]);
  isl::pw_multi_aff(F).foreach_piece([&](const isl::set &At, const isl::multi_aff &Is) {
    const auto By = isConstant(Count.intersect_domain(At)),
               Number = isConstant(isl::pw_aff(Is.at(0)));
    Fits &= By && Number && Numbers.emplace(*By, *Number).second;
  });
  return Fits ? powerForm(Ids[0], Numbers) : std::nullopt;
}
