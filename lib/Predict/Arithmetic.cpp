// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Arithmetic.h.

#include "Arithmetic.h"
#include "Plan/Counts.h"
#include "Plan/placements/Restaged.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include <algorithm>

using namespace rcache;

bool rcache::isFloating(const std::string &T) {
  return T.find("float") != std::string::npos ||
         T.find("half") != std::string::npos ||
         T.find("bfloat") != std::string::npos;
}

unsigned rcache::partBytes(const SharedArray &A) {
  const llvm::StringRef T(A.CanonicalType);
  if (T.contains("char") || T == "bool")
    return 1;
  if (T.contains("short") || T.contains("half") || T.contains("bfloat"))
    return 2;
  return T.contains("double") || T.contains("long") ? 8 : 4;
}

double rcache::components(const SharedArray &A) {
  return std::max(1u, A.ElemBytes / partBytes(A));
}

/// Different elements to one that \p S reads of its array in plan \p P.
static double elementsOf(const KernelModel &M, const Plan &P, const SharedAccess &S) {
  for (const ArrayPlan &A : P.Arrays) {
    if (A.Array != S.Array || !llvm::is_contained(A.Reads, &S - M.SharedAccesses.data()))
      continue;
    if (A.isShared() || A.as<Restaged>())
      return 1 / sharingSlots(M, S, P.Map.Factor, P.TapsOutside);
    const Window *W = A.window();
    if (!W)
      return 1;
    double Reads = 0;
    for (unsigned R : A.Reads)
      Reads += roundsOf(M, M.SharedAccesses[R].Stmt);
    Reads *= P.slots() / roundsOf(M, A.Barrier);
    return std::min(1.0, double(W->registers()) / std::max(1.0, Reads));
  }
  return 1;
}

double rcache::elementsRead(const KernelModel &M, const Plan &P, const Stmt &S) {
  double Sum = 0, N = 0;
  for (const SharedAccess &A : M.SharedAccesses)
    if (A.Stmt == S.Id && A.K == SharedAccess::Read) {
      Sum += elementsOf(M, P, A);
      N += 1;
    }
  return N > 0 ? Sum / N : 1;
}

/// Does \p S set a variable that outlives the rounds of a loop with barriers? Each slot has
/// its own, whatever it hangs on.
static bool setsForLater(const KernelModel &M, const Stmt &S) {
  int Q = S.Parent;
  while (Q >= 0 && !(M.stmt(static_cast<unsigned>(Q)).isLoop() &&
                     M.stmt(static_cast<unsigned>(Q)).HasBarrier))
    Q = M.stmt(static_cast<unsigned>(Q)).Parent;
  return Q >= 0 && llvm::any_of(M.VarUses, [&](const VarUse &U) {
           return U.Write && S.Range.contains(U.Range) &&
                  !M.stmt(static_cast<unsigned>(Q)).Range.contains(M.Vars[U.Var].DeclRange);
         });
}

/// Does \p S compute something of elements of memory, or of variables made of them, or
/// more than a place takes (a power of a polynomial by a function)?
static bool isOfData(const KernelModel &M, const Stmt &S) {
  constexpr double Much = 16;
  if (S.isLoop())
    return false;
  if (S.Computes.Int > Much && setsForLater(M, S))
    return true;
  const TextRange Own = S.K == Stmt::If ? S.CondRange : S.Range; // not what it chooses
  return llvm::any_of(M.SharedAccesses, [&](const SharedAccess &A) { return A.Stmt == S.Id; }) ||
         llvm::any_of(M.VarUses, [&](const VarUse &U) {
           return Own.contains(U.Range) &&
                  (M.Vars[U.Var].Depends & (DepShared | DepGlobal)) != 0;
         });
}

/// Does declaration \p S, which stands in loop \p L, have one value in all of its rounds?
static bool isSteady(const KernelModel &M, const Stmt &S, const Stmt &L) {
  if (S.K != Stmt::Decl || S.HasSharedAccess || S.HasGlobalRead ||
      llvm::any_of(M.Effects, [&](const Effect &E) { return S.Range.contains(E.Range); }))
    return false;
  return llvm::all_of(M.VarUses, [&](const VarUse &U) {
    if (!S.Range.contains(U.Range))
      return true;
    const Var &V = M.Vars[U.Var];
    if (V.AddressTaken)
      return false;
    if (V.IsParam || !L.Range.contains(V.DeclRange))
      return llvm::none_of(M.VarUses, [&](const VarUse &W) {
        return W.Write && W.Var == U.Var && L.Range.contains(W.Range);
      });
    return !V.Assigned && V.DeclRange.End <= S.Range.Begin &&
           isSteady(M, M.stmt(V.DeclStmt), L);
  });
}

/// Rounds of the innermost loop around \p S, if compilers move it in front of that.
static double roundsAtOnce(const KernelModel &M, const Stmt &S) {
  const int Q = loopAround(M, S.Id);
  if (Q < 0)
    return 1;
  const Stmt &L = M.stmt(static_cast<unsigned>(Q));
  const double Outside = L.Parent < 0 ? 1 : roundsOf(M, static_cast<unsigned>(L.Parent));
  return isSteady(M, S, L) ? roundsOf(M, S.Id) / Outside : 1;
}

Arithmetic rcache::arithmetic(const KernelModel &M,
                              llvm::function_ref<double(const Stmt &)> Rounds,
                              llvm::function_ref<double(const Stmt &)> Elements,
                              bool WrittenOut) {
  Arithmetic R;
  for (const Stmt &S : M.Stmts) {
    const double T = Rounds(S) / roundsAtOnce(M, S);
    if (T == 0)
      continue;
    auto Add = [&](const Work &W, double N) {
      R.Fp += N * W.Fp;
      R.Double += N * W.Double;
      R.Int += N * (W.Int - W.Divided - (WrittenOut ? W.DividedByStep : 0));
      R.Special += N * W.Special;
    };
    const double Before = R.Int;
    Add(S.Computes, T);
    Add(S.OfElements, T * Elements(S));
    if (R.Int > Before && isOfData(M, S))
      R.Data += R.Int - Before;
    // Subscripts of unrolled loops are offsets in the instruction.
    R.Index += T * S.Computes.Index * (T > 1 ? 0.1 : 0.5);
  }
  return R;
}

double rcache::selectsOf(const Owned &O) {
  double All = O.RunShuffles;
  for (const Owned::Fetch &F : O.Fetches)
    All += F.Selects;
  return All;
}

bool rcache::gathers(const Plan &P) {
  return llvm::any_of(P.Arrays, [](const ArrayPlan &A) {
    const auto *O = A.as<Owned>();
    return O && llvm::any_of(O->Fetches, [](const Owned::Fetch &F) { return F.isGather(); });
  });
}

bool rcache::placesAreRegisters(const Plan &P, double Shuffles) {
  constexpr double Few = 12; // an output: trees and scans have less
  return P.Paired.empty() && !P.Arrays.empty() && Shuffles <= Few &&
         llvm::all_of(P.Arrays,
                      [](const ArrayPlan &A) { return A.as<Owned>() != nullptr; });
}

Arithmetic rcache::arithmetic(const KernelModel &M,
                              llvm::function_ref<double(const Stmt &)> Rounds) {
  return arithmetic(M, Rounds, [](const Stmt &) { return 1.0; }, false);
}
