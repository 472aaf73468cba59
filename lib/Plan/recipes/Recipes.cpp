// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Recipes.h.

#include "Recipes.h"

using namespace rcache;

static bool hasRegisterArrays(const KernelFacts &K) {
  return K.RegisterArrays > 0;
}
static bool mayKeep(const KernelFacts &K) { return K.mayKeep(); }
static bool mayOwn(const KernelFacts &K) { return K.mayOwn(); }

llvm::ArrayRef<Recipe> rcache::allRecipes() {
  static constexpr Recipe All[] = {
      {"windows", hasRegisterArrays, windowPlans},
      {"barriers only", mayKeep, barrierPlans},
      {"merged slots", mayKeep, mergedSlotPlans},
      {"owned arrays", mayOwn, ownedPlans},
      {"joined blocks", mayKeep, joinedPlans},
  };
  return All;
}
