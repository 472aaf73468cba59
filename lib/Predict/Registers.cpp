// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Registers.h.

#include "Registers.h"
#include "Arithmetic.h"
#include <algorithm>

using namespace rcache;

namespace {

/// 32-bit words of a variable, of one element of an array.
double registerWords(const Var &X) {
  const llvm::StringRef T(X.Type);
  return (T.contains("double") || T.contains("long") || T.contains("*") ? 2
                                                                        : 1) *
         (T.ends_with("4")   ? 4
          : T.ends_with("2") ? 2
                             : 1);
}

/// Is it set before a barrier and used behind it?
bool crossesBarrier(const KernelModel &M, unsigned V) {
  for (const Stmt &S : M.Stmts)
    if (S.K == Stmt::Barrier && M.Vars[V].DeclRange.End <= S.Range.Begin)
      for (const VarUse &U : M.VarUses)
        if (U.Var == V && U.Range.Begin >= S.Range.End)
          return true;
  return false;
}

} // namespace

static double registerElements(const Var &X) {
  double N = 1;
  for (int64_t E : X.ArrayExtents)
    N *= static_cast<double>(E);
  return N;
}

double rcache::stateRegisters(const KernelModel &M) {
  double Words = 0;
  for (unsigned V = 0; V < M.Vars.size(); ++V) {
    const Var &X = M.Vars[V];
    if (X.IsParam || X.Repeatable || X.IsReference ||
        !(X.Depends & DepThread) || !crossesBarrier(M, V))
      continue;
    Words += registerElements(X) * registerWords(X);
  }
  return Words;
}

double rcache::privateRegisters(const KernelModel &M) {
  constexpr double Most = 64; // larger ones are in memory
  double Words = 0;
  for (unsigned V = 0; V < M.Vars.size(); ++V)
    if (const Var &X = M.Vars[V]; !X.ArrayExtents.empty() && !crossesBarrier(M, V) &&
                                  registerElements(X) <= Most)
      Words += registerElements(X) * registerWords(X);
  return Words;
}

double rcache::words(const KernelModel &M, unsigned Array) {
  return std::max(1.0, M.Arrays[Array].ElemBytes / 4.0);
}

double rcache::elementRegisters(const KernelModel &M, unsigned Array) {
  const SharedArray &A = M.Arrays[Array];
  return partBytes(A) < 4 ? 0.75 * components(A) : words(M, Array);
}

double rcache::ownedRegisters(const KernelModel &M, const Plan &P) {
  double Registers = 0;
  for (const ArrayPlan &A : P.Arrays)
    if (const auto *O = A.as<Owned>())
      Registers += P.slots() * double(O->Parts) * elementRegisters(M, A.Array);
  return Registers;
}

double rcache::sumRegisters(const KernelModel &M) {
  double Words = 0;
  for (unsigned V = 0; V < M.Vars.size(); ++V) {
    const Var &X = M.Vars[V];
    if (X.IsParam || X.Repeatable || X.IsReference || !X.ArrayExtents.empty() ||
        crossesBarrier(M, V))
      continue;
    bool Kept = false;
    for (const Stmt &S : M.Stmts)
      if (S.K == Stmt::For && !S.HasBarrier && S.HasSharedAccess &&
          !S.HasSharedWrite && !S.Range.contains(X.NameRange) &&
          S.IterVar != static_cast<int>(V))
        for (const VarUse &U : M.VarUses)
          Kept |= U.Var == V && S.Range.contains(U.Range) &&
                  (U.Write || (X.Depends & DepThread));
    if (Kept)
      Words += registerWords(X);
  }
  return Words;
}
