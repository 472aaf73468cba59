// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loops whose iterations the threads of the block share out.

#include "BuiltinVars.h"
#include "LoopFacts.h"

using namespace clang;

namespace rcache {

/// \p A with blockDim replaced by the block size of all launches, if known.
isl::pw_aff LoopFacts::withConstBlock(const isl::pw_aff &A) {
  std::optional<Linear> Lin = Arith.linear(A);
  if (!Lin || !M.Geo.ConstBlock)
    return A;
  Linear R;
  R.Const = Lin->Const;
  for (auto &[Id, C] : Lin->Terms) {
    int S = M.symbolIndex(Id);
    std::vector<std::string> Factors = M.Symbols[S].Factors;
    if (Factors.empty())
      Factors.push_back(Id);
    int64_t Coefficient = C;
    std::vector<std::string> Left;
    for (const std::string &F : Factors) {
      const Symbol &X = M.Symbols[M.symbolIndex(F)];
      if (X.K == Symbol::BlockDim)
        Coefficient *= (*M.Geo.ConstBlock)[X.Axis];
      else
        Left.push_back(F);
    }
    if (Left.empty())
      R.Const += Coefficient;
    else if (Left.size() == 1)
      R.Terms[Left[0]] += Coefficient;
    else
      R.Terms[Id] += C; // a product that stays one
  }
  std::erase_if(R.Terms, [](auto &T) { return T.second == 0; });
  return Arith.fromLinear(R);
}

/// Is the symbol \p Id the product of \p Want, whatever their order?
bool LoopFacts::factorsAre(const std::string &Id,
                           std::vector<std::string> Want) const {
  int N = M.symbolIndex(Id);
  std::vector<std::string> F = N >= 0 && !M.Symbols[N].Factors.empty()
                                   ? M.Symbols[N].Factors
                                   : std::vector<std::string>{Id};
  llvm::sort(F);
  llvm::sort(Want);
  return F == Want;
}

/// The axes, in \p Order, that \p Init lays out as a linear thread id, fastest
/// first, when \p Step is the number of their threads: what is left of \p Init.
std::optional<Linear>
LoopFacts::beside(const Linear &Init, const Linear &Step,
                  const std::vector<unsigned> &Order) const {
  Linear Rest = Init;
  std::vector<std::string> Names; // number of threads so far, as a product
  int64_t Count = 1;
  for (unsigned A : Order) {
    std::vector<std::string> Term = Names;
    Term.push_back(builtinId(Symbol::ThreadIdx, A));
    auto It = llvm::find_if(Rest.Terms, [&](auto &T) {
      return T.second == Count && factorsAre(T.first, Term);
    });
    if (It == Rest.Terms.end())
      return std::nullopt;
    Rest.Terms.erase(It);
    if (M.Geo.ConstBlock)
      Count *= (*M.Geo.ConstBlock)[A];
    else
      Names.push_back(builtinId(Symbol::BlockDim, A));
  }
  // Count * (product of Names), as it appears in a linear form.
  const bool Steps = Names.empty()
                         ? Step.isConst() && Step.Const == Count
                         : Step.Const == 0 && Step.Terms.size() == 1 &&
                               Step.Terms.begin()->second == Count &&
                               factorsAre(Step.Terms.begin()->first, Names);
  return Steps ? std::optional(Rest) : std::nullopt;
}

/// Init = linear thread id of some axes + uniform, Step = their number of
/// threads: then each value of the range is taken by exactly one of them.
bool LoopFacts::cooperative(Stmt &Loop, const IntValue &InitV,
                            const isl::pw_aff &Bound, bool Inclusive,
                            const isl::pw_aff &StepV,
                            const std::string &IterId) {
  // All threads have to be here: behind an early return or inside a condition
  // some values would be left out.
  unsigned Missing = Arith.depends(Cur.Path.Dom);
  for (const ValueRef &G : Cur.Path.Guards)
    Missing |= G->Depends;
  const std::optional<Linear> Init = Arith.linear(withConstBlock(InitV.Aff)),
                              Step = Arith.linear(withConstBlock(StepV));
  if (!Init || !Step)
    return false;
  // Orders in which the axes are laid out, fastest first.
  static const std::vector<std::vector<unsigned>> Orders = {
      {0}, {1}, {2}, {0, 1}, {1, 0}, {0, 2}, {1, 2}, {0, 1, 2}, {2, 1, 0}};
  for (const auto &Order : Orders) {
    const std::optional<Linear> Rest = beside(*Init, *Step, Order);
    if (!Rest)
      continue;
    // What is left must not tell these threads apart; nor may the bound.
    unsigned Axes = 0;
    for (unsigned A : Order)
      Axes |= DepThreadX << A;
    if (Missing & (Axes | DepShared | DepGlobal))
      continue;
    isl::pw_aff Lo = Arith.fromLinear(*Rest);
    if ((Arith.depends(Lo) | Arith.depends(Bound)) &
        (Axes | DepShared | DepGlobal))
      continue;
    isl::pw_aff It = Arith.symbol(IterId);
    Loop.IterDomain = It.ge_set(Lo).intersect(Inclusive ? It.le_set(Bound)
                                                        : It.lt_set(Bound));
    Loop.Cooperative = true;
    Loop.CooperativeAxes = Axes;
    return true;
  }
  return false;
}

} // namespace rcache
