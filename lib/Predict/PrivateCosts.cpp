// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See PrivateCosts.h.

#include "PrivateCosts.h"
#include "Constants.h"
#include "LaunchShape.h"
#include "Plan/Counts.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include <algorithm>
#include <cmath>
#include <set>

using namespace rcache;

/// Words that the lanes of a warp choose from with one access: one holds four elements of a
/// byte.
static double choiceWords(const PrivateArray &A, const PrivateArray::Use &U) {
  return std::max(1.0, std::ceil(double(U.Apart) * std::min(4u, A.ElemBytes) / 4));
}
/// Lines of local memory that they touch: the same word lies side by side for all of them.
static double linesOf(const PrivateArray &A, const PrivateArray::Use &U) {
  const double Words = choiceWords(A, U);
  return Words * (1 - std::pow(1 - 1 / Words, 32));
}
/// Sectors that they touch, each of the same word of eight lanes.
static double sectorsOf(const PrivateArray &A, const PrivateArray::Use &U) {
  const double Words = choiceWords(A, U);
  return 4 * Words * (1 - std::pow(1 - 1 / Words, 8));
}

/// Is \p V counted up in one place and down in another: the depth of something? (The steps of
/// `for` walk through a list.)
static bool isDepth(const KernelModel &M, unsigned V) {
  const auto isStep = [&](TextRange R) {
    return llvm::any_of(M.Stmts, [&](const Stmt &S) {
      return S.K == Stmt::For && S.IncRange.contains(R);
    });
  };
  const auto Set = [&](llvm::StringRef By) {
    return llvm::any_of(M.Effects, [&](const Effect &E) {
      return E.K == Effect::SetsVariable && E.Var == int(V) && M.text(E.At) == By &&
             !isStep(E.At);
    });
  };
  return Set("++") && Set("--");
}

/// Do uses of the array move their own index (`stack[top++]`), or hang on a depth, and all
/// that lanes pick apart are at such an index? Lanes push and pop together for the most part:
/// what they touch lies side by side and stays in L1, and costs what it costs in shared memory
/// (measured: 1.06x, 0.55x and 0.93x there). A list that is searched too, or counters with a
/// bin that moves, are none (7.1x, 5.0x and 1.6x).
static bool isStack(const KernelModel &M, const PrivateArray &A) {
  const auto varsIn = [&](const PrivateArray::Use &U) {
    return llvm::make_filter_range(M.VarUses, [&](const VarUse &V) {
      return V.Var != A.Var && U.Range.contains(V.Range);
    });
  };
  std::set<unsigned> Moved;
  for (const PrivateArray::Use &U : A.Uses)
    for (const VarUse &V : varsIn(U))
      if (V.Write || isDepth(M, V.Var))
        Moved.insert(V.Var);
  return !Moved.empty() && llvm::all_of(A.Uses, [&](const PrivateArray::Use &U) {
    return !U.ByThread ||
           llvm::any_of(varsIn(U), [&](const VarUse &V) { return Moved.count(V.Var); });
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

/// What is between the brackets of `a[i]`; "": there are several subscripts.
static std::string subscriptOf(const KernelModel &M, const PrivateArray::Use &U) {
  const std::string Text = M.text(U.Range);
  const auto [Name, Behind] = llvm::StringRef(Text).split('[');
  return Behind.contains('[') || !Behind.ends_with("]") ? ""
                                                        : Behind.drop_back().trim().str();
}

bool rcache::isWritten(const KernelModel &M, const PrivateArray &A,
                       const PrivateArray::Use &U) {
  return llvm::any_of(M.VarUses, [&](const VarUse &V) {
    return V.Var == A.Var && V.Write && U.Range.contains(V.Range);
  });
}

int rcache::bestSoFarIn(const KernelModel &M, const PrivateArray &A,
                        const PrivateArray::Use &U) {
  int Loop = int(U.Stmt);
  while (Loop >= 0 && !M.stmt(unsigned(Loop)).isLoop())
    Loop = M.stmt(unsigned(Loop)).Parent;
  const std::string Best = subscriptOf(M, U);
  if (Loop < 0 || Best.empty() || isWritten(M, A, U))
    return -1;
  const TextRange Body = M.stmt(unsigned(Loop)).Range;
  bool Set = false;
  for (const VarUse &V : M.VarUses) {
    if (!V.Write || !Body.contains(V.Range) || M.text(V.Range) != Best)
      continue;
    llvm::StringRef By = llvm::StringRef(M.Text).substr(V.Range.End).split(';').first.ltrim();
    if (!By.consume_front("=") || llvm::none_of(A.Uses, [&](const PrivateArray::Use &X) {
          return Body.contains(X.Range) && X.Range.Begin < V.Range.Begin &&
                 subscriptOf(M, X) == By.trim();
        }))
      return -1;
    Set = true;
  }
  return Set ? Loop : -1;
}

/// What a use of an element asks of memory.
struct UseAccesses {
  double Reads = 1, Writes = 0;
};

/// `a[i]` reads, `a[i] = x` writes, `++a[i]` and `a[i] += x` do both; of several reads of one
/// place in the same statements of a loop, the first.
static UseAccesses accessesOf(const KernelModel &M, const PrivateArray &A,
                           const PrivateArray::Use &U) {
  if (isWritten(M, A, U)) {
    const llvm::StringRef Behind = llvm::StringRef(M.Text).substr(U.Range.End).ltrim();
    const bool Plain = Behind.starts_with("=") || Behind.starts_with(".");
    return {Plain ? 0.0 : 1.0, 1.0};
  }
  for (const PrivateArray::Use &X : A.Uses) {
    if (X.Range.Begin >= U.Range.Begin)
      break;
    if (X.Stmt == U.Stmt && M.text(X.Range) == M.text(U.Range) && !isWritten(M, A, X))
      return {0.0, 0.0};
  }
  return {};
}

/// The part of what lanes ask of local memory that L1 does not hold: arrays of all threads
/// of an SM share it with the blocks' shared memory.
static double missed(const KernelModel &M, const Plan &P, const Arch &On,
                     const KernelCounts &K) {
  double Bytes = 0; // of a thread
  for (unsigned I = 0; I < M.Privates.size(); ++I) {
    const PrivateArray &A = M.Privates[I];
    if (A.isInLocalMemory(M) && !isStack(M, A) &&
        llvm::none_of(P.Interleaved, [&](const auto &X) { return X.Array == I; }))
      Bytes += double(A.elements(M)) * A.ElemBytes;
  }
  const double BlockWarps = std::ceil(std::max(1u, K.ThreadsPerBlock) / 32.0);
  double Warps =
      occupancy(On, K.Registers, K.ThreadsPerBlock, K.SharedBytes).WarpsPerSm;
  if (const auto Launched = expectedWarps(M, std::max(1u, K.ThreadsPerBlock), On))
    Warps = std::min(Warps, *Launched);
  const double Room =
      On.SharedKBPerSm * 1024.0 - Warps / BlockWarps * K.SharedBytes;
  const double Asked = 32 * Warps * Bytes;
  return Asked > 0 ? std::clamp(1 - Room / Asked, 0.0, 1.0) : 0;
}

/// A table of constants: in the original each thread stores all of it, through to L2, where
/// it takes the time that as many bytes of memory take. (Tables of 8 to 256 floats beside
/// 33 other words: 1.1x, 1.4x, 2.0x, 3.1x, 4.5x, 9.5x measured, as counted.) What is read
/// hits in L1, as does one copy for all threads.
static void addTable(const KernelModel &M, const PrivateArray &A, bool Once,
                     const Constants &Fit, double Missed, KernelCounts &K) {
  const unsigned Bytes = std::max(1u, A.ElemBytes);
  if (!Once)
    K.DramBytes += roundsOf(M, M.Vars[A.Var].DeclStmt) * double(A.elements(M)) * Bytes;
  for (const PrivateArray::Use &U : A.Uses) {
    const double Times = roundsOf(M, U.Stmt) * shareOf(M, U, Fit);
    K.Loads.push_back({Times, Bytes, double(Bytes)});
    if (!Once && Missed > 0)
      K.Stores.push_back({Times * linesOf(A, U) * Missed, Bytes, double(Bytes)});
  }
}

void rcache::addPrivate(const KernelModel &M, const Plan &P, const Arch &On,
                        KernelCounts &K) {
  const Constants &Fit = constantsOf(On);
  K.SharedBytes +=
      static_cast<unsigned>(P.interleavedBytes(M, K.ThreadsPerBlock));
  const double Missed = missed(M, P, On, K);
  for (unsigned I = 0; I < M.Privates.size(); ++I) {
    const PrivateArray &A = M.Privates[I];
    if (!A.isInLocalMemory(M))
      continue;
    const auto Moved = llvm::find_if(
        P.Interleaved, [&](const auto &X) { return X.Array == I; });
    if (A.Table) {
      addTable(M, A, Moved != P.Interleaved.end(), Fit, Missed, K);
      continue;
    }
    const bool Shared = Moved != P.Interleaved.end() || isStack(M, A);
    for (const PrivateArray::Use &U : A.Uses) {
      const UseAccesses Each = accessesOf(M, A, U);
      const int Best = Shared ? -1 : bestSoFarIn(M, A, U);
      const int In = Best < 0 ? int(U.Stmt) : M.stmt(unsigned(Best)).Parent;
      const double Rounds = In < 0 ? 1 : roundsOf(M, unsigned(In)) * shareOf(M, U, Fit),
                   Times = Rounds * (Each.Reads + Each.Writes);
      // Where the place is, in either memory.
      K.IntOps += Times * Fit.PrivatePlaceOps;
      if (Shared) {
        // Lanes that share a word's bank meet there with different elements.
        const bool Meet = A.ElemBytes < 4 && U.Apart > 1 && InterleavedArray{I}.inWord(M) == 1;
        K.SharedLoads += Times * (Meet ? 4.0 / std::max(1u, A.ElemBytes)
                                       : std::ceil(A.ElemBytes / 4.0));
        continue;
      }
      const unsigned Bytes = std::max(1u, A.ElemBytes);
      const double Lines = linesOf(A, U);
      const double Further = Fit.LocalSector * (sectorsOf(A, U) - 4);
      K.Loads.push_back({Rounds * Each.Reads, Bytes, double(Bytes), Fit.LocalRead + Further});
      K.Loads.push_back({Rounds * Each.Writes, Bytes, double(Bytes), Fit.LocalWrite + Further});
      // A line that comes from L2 drives another one there.
      if (Missed > 0)
        K.Stores.push_back({Times * Lines * Missed, Bytes, double(Bytes)});
    }
  }
}
