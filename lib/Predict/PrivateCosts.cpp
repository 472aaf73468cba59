// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See PrivateCosts.h.

#include "PrivateCosts.h"
#include "Plan/Counts.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include <algorithm>
#include <cmath>

using namespace rcache;

/// Lines of local memory that the lanes of a warp touch with one access: the
/// same element lies side by side for all of them.
static double linesOf(const PrivateArray::Use &U) {
  const double Elements = double(U.Apart);
  return Elements * (1 - std::pow(1 - 1 / Elements, 32));
}

/// Is \p V counted up in one place and down in another: the depth of something?
static bool isDepth(const KernelModel &M, unsigned V) {
  const auto Set = [&](llvm::StringRef By) {
    return llvm::any_of(M.Effects, [&](const Effect &E) {
      return E.K == Effect::SetsVariable && E.Var == int(V) && M.text(E.At) == By;
    });
  };
  return Set("++") && Set("--");
}

/// Do uses of the array move their own index (`stack[top++]`), or hang on a depth? Lanes push
/// and pop together for the most part: what they touch lies side by side and stays in L1,
/// and costs what it costs in shared memory (measured: 1.06x, 0.55x and 0.93x there).
static bool isStack(const KernelModel &M, const PrivateArray &A) {
  return llvm::any_of(A.Uses, [&](const PrivateArray::Use &U) {
    return llvm::any_of(M.VarUses, [&](const VarUse &V) {
      return V.Var != A.Var && U.Range.contains(V.Range) && (V.Write || isDepth(M, V.Var));
    });
  });
}

/// Does \p If compare with an element of a private array, and leave its loop's round?
static bool passesOver(const KernelModel &M, const Stmt &If) {
  if (If.K != Stmt::If || !(If.CondDepends & (DepShared | DepGlobal)))
    return false;
  const bool Compares = llvm::any_of(M.Privates, [&](const PrivateArray &A) {
    return llvm::any_of(A.Uses, [&](const PrivateArray::Use &U) {
      return If.CondRange.contains(U.Range);
    });
  });
  return Compares && llvm::any_of(M.Stmts, [&](const Stmt &S) {
           return S.K == Stmt::Continue && If.Range.contains(S.Range);
         });
}

/// The part of the rounds in which \p U is executed where data decides: a list of the
/// nearest takes few of those that are looked at.
static double shareOf(const KernelModel &M, const PrivateArray::Use &U,
                      const Constants &Fit) {
  bool Decided = false;
  for (int S = int(U.Stmt); S >= 0; S = M.stmt(unsigned(S)).Parent) {
    const Stmt &In = M.stmt(unsigned(S));
    Decided |= In.K == Stmt::If && In.Cond.is_null() &&
               (In.CondDepends & (DepShared | DepGlobal));
    if (In.Parent >= 0)
      for (const unsigned Before : M.stmt(unsigned(In.Parent)).Children)
        Decided |= Before < In.Id && passesOver(M, M.stmt(Before));
    if (Decided && In.isLoop())
      return Fit.DecidedByData;
  }
  return 1;
}

void rcache::addPrivate(const KernelModel &M, const Plan &P,
                        const Constants &Fit, KernelCounts &K) {
  K.SharedBytes +=
      static_cast<unsigned>(P.interleavedBytes(M, K.ThreadsPerBlock));
  for (unsigned I = 0; I < M.Privates.size(); ++I) {
    const PrivateArray &A = M.Privates[I];
    if (!M.Vars[A.Var].DynamicIndex)
      continue;
    const auto Moved = llvm::find_if(
        P.Interleaved, [&](const auto &X) { return X.Array == I; });
    const bool Shared = Moved != P.Interleaved.end() || isStack(M, A);
    for (const PrivateArray::Use &U : A.Uses) {
      const double Times = roundsOf(M, U.Stmt) * shareOf(M, U, Fit);
      if (Shared)
        // Lanes that share a word's bank meet there with different elements.
        K.SharedLoads += Times * (A.ElemBytes < 4 && U.Apart > 1
                                      ? 4.0 / std::max(1u, A.ElemBytes)
                                      : std::ceil(A.ElemBytes / 4.0));
      else
        K.Loads.push_back(
            {Times * Fit.LocalAccess * linesOf(U),
             std::max(1u, A.ElemBytes), double(A.ElemBytes)});
    }
  }
}
