// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See PlanCosts.h. Counts of an unrolled loop are multiplied by its trips; a
// trip count that is not constant counts as UnknownRounds on both sides.

#include "PlanCosts.h"
#include "Affine/IslTools.h"
#include "Plan/Counts.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

using namespace rcache;

namespace {

/// Part of a round of loads that each further slot adds where slots are not
/// overlapped. *Fitted* (see Score.cpp).
constexpr double SlotSerial = 1.2;
/// Elements summed up from which the form of the loop shows in the time.
constexpr double ManyTaps = 8;

/// Share of the block's threads that execute an access guarded by a condition
/// on the thread alone (`if (l < 2 * R)`): about a halo's width.
double share(const SharedAccess &A) {
  if (A.Domain.is_null() || A.K != SharedAccess::Write)
    return 1;
  isl::set S = A.Domain;
  for (const char *T : {"tx", "ty"})
    if (dependsOn(S, T) && maxConst(symbolValue(S.ctx(), T), S))
      return 0.15; // an upper bound by a constant: few threads
  return 1;
}

struct Arithmetic {
  double Fp = 0, Int = 0, Special = 0, Double = 0;
  double Index = 0; ///< integer operations in subscripts
};

bool isFloating(const std::string &T) {
  return T.find("float") != std::string::npos ||
         T.find("half") != std::string::npos ||
         T.find("bfloat") != std::string::npos;
}

/// Operators outside subscripts, per output, by the type of what is staged.
Arithmetic arithmetic(const KernelModel &M, const std::set<unsigned> &Without) {
  bool Fp = false, Dbl = false;
  for (const SharedArray &A : M.Arrays) {
    Fp |= isFloating(A.CanonicalType);
    Dbl |= A.CanonicalType.find("double") != std::string::npos;
  }
  Arithmetic R;
  for (const Stmt &S : M.Stmts) {
    if ((S.K != Stmt::Leaf && S.K != Stmt::Decl) || Without.count(S.Id))
      continue;
    double T = roundsOf(M, S.Id);
    std::string Text = M.text(S.Range);
    int Depth = 0;
    double Plain = 0, Products = 0, Index = 0, Div = 0, Calls = 0, Around = 0;
    for (size_t I = 0; I < Text.size(); ++I) {
      char C = Text[I];
      Depth += C == '[';
      Depth -= C == ']';
      if (C == '+' || C == '*' || C == '-' || C == '<' || C == '>')
        (Depth ? Index : C == '*' ? Products : Plain) += 1;
      if (C == '/' && I + 1 < Text.size() && Text[I + 1] != '/' &&
          Text[I + 1] != '*')
        Div += 1;
      if (C == '(' && I > 0 && Text[I - 1] == 'f') {
        size_t J = I;
        while (J > 0 && (isalnum(static_cast<unsigned char>(Text[J - 1])) ||
                         Text[J - 1] == '_'))
          --J;
        static const std::set<std::string> Cheap = {"if",    "fabsf", "fminf",
                                                    "fmaxf", "fmaf",  "__fmaf"};
        const llvm::StringRef Name(Text.data() + J, I - J);
        if (Cheap.count(Name.str()))
          continue;
        // Beside the special unit's approximation: scaling, or range reduction
        // and correction.
        Calls += 1;
        Around += Name.starts_with("__") || Name == "rsqrtf" ? 1 : 8;
      }
    }
    // Subscripts of unrolled loops are offsets in the instruction.
    R.Index += T * Index * (T > 1 ? 0.1 : 0.5);
    // A product and a sum are one instruction; the integer unit adds three at
    // a time.
    const double Fused = Plain + Products - std::min(Plain, Products);
    bool OfData = false;
    for (const SharedAccess &A : M.SharedAccesses)
      OfData |= S.Range.contains(A.Range);
    for (const GlobalAccess &A : M.GlobalAccesses)
      OfData |= S.Range.contains(A.Range);
    // What computes with floating-point variables does so in their unit.
    for (const VarUse &U : M.VarUses)
      if (!OfData && S.Range.contains(U.Range)) {
        const llvm::StringRef Type(M.Vars[U.Var].Type);
        OfData = !Type.contains('*') &&
                 (isFloating(Type.str()) || Type.contains("double"));
      }
    if (OfData && Dbl)
      R.Double += T * (Fused + 8 * Div);
    else if (OfData && Fp)
      R.Fp += T * (Fused + 8 * Div);
    else
      R.Int += T * (0.6 * Plain + Products + 4 * Div);
    R.Special += T * Calls;
    R.Fp += T * Around;
  }
  return R;
}

/// 32-bit registers of what a thread holds across a barrier: each slot has its
/// own.
double stateRegisters(const KernelModel &M) {
  double Words = 0;
  for (unsigned V = 0; V < M.Vars.size(); ++V) {
    const Var &X = M.Vars[V];
    if (X.IsParam || X.Repeatable || X.IsReference || !(X.Depends & DepThread))
      continue;
    bool Across = false;
    for (const Stmt &S : M.Stmts)
      if (S.K == Stmt::Barrier && X.DeclRange.End <= S.Range.Begin)
        for (const VarUse &U : M.VarUses)
          Across |= U.Var == V && U.Range.Begin >= S.Range.End;
    if (!Across)
      continue;
    double N = 1;
    for (int64_t E : X.ArrayExtents)
      N *= static_cast<double>(E);
    const llvm::StringRef T(X.Type);
    Words +=
        N *
        (T.contains("double") || T.contains("long") || T.contains("*") ? 2
                                                                       : 1) *
        (T.ends_with("4")   ? 4
         : T.ends_with("2") ? 2
                            : 1);
  }
  return Words;
}

/// Does \p P leave the arrays where they are, and does the original stage them
/// in an `if` or a loop of its own?
bool stagesUnderConditions(const KernelModel &M, const Plan &P) {
  for (const ArrayPlan &A : P.Arrays)
    if (A.X != Exchange::Shared)
      return false;
  for (const SharedAccess &A : M.SharedAccesses)
    if (A.K == SharedAccess::Write)
      for (int Q = M.stmt(A.Stmt).Parent; Q >= 0; Q = M.stmt(Q).Parent) {
        const Stmt &S = M.stmt(Q);
        if (S.HasBarrier)
          break;
        if (S.K == Stmt::If || S.K == Stmt::For || S.K == Stmt::While)
          return true;
      }
  return false;
}

double dramBytes(const KernelModel &M) {
  // Each array read or written by thread-dependent addresses, once an output.
  double Bytes = 0;
  std::set<int> Seen;
  for (const GlobalAccess &G : M.GlobalAccesses) {
    if (G.Root < 0 || !G.Index)
      continue;
    if (!(G.Index->Depends & DepThread))
      continue;
    int Key = G.Root * 2 + (G.K == GlobalAccess::Read ? 0 : 1);
    if (Seen.insert(Key).second)
      Bytes += G.ElemBytes;
  }
  return Bytes ? Bytes : 8;
}

std::set<unsigned> stagingStmts(const KernelModel &M) {
  std::set<unsigned> S;
  for (const SharedAccess &A : M.SharedAccesses)
    if (A.K == SharedAccess::Write)
      S.insert(A.Stmt);
  return S;
}

unsigned sharedBytes(const KernelModel &M, double Threads) {
  double B = 0;
  for (const SharedArray &A : M.Arrays) {
    double E = 1;
    for (auto &X : A.Extents)
      E *= static_cast<double>(X.value_or(0));
    if (A.Dynamic || E == 0)
      E = Threads * 1.1;
    B += E * A.ElemBytes;
  }
  return static_cast<unsigned>(B);
}

double words(const KernelModel &M, unsigned Array) {
  return std::max(1.0, M.Arrays[Array].ElemBytes / 4.0);
}

/// Registers of what the slots add up in loops without barriers: each has its
/// own.
double sumRegisters(const KernelModel &M) {
  double Words = 0;
  for (unsigned V = 0; V < M.Vars.size(); ++V) {
    const Var &X = M.Vars[V];
    if (X.IsParam || X.Repeatable || X.IsReference || !X.ArrayExtents.empty())
      continue;
    bool Sum = false;
    for (const Stmt &S : M.Stmts)
      if (S.K == Stmt::For && !S.HasBarrier && S.HasSharedAccess &&
          !S.HasSharedWrite && !S.Range.contains(X.NameRange) &&
          S.IterVar != static_cast<int>(V))
        for (const VarUse &U : M.VarUses)
          Sum |= U.Write && U.Var == V && S.Range.contains(U.Range);
    const llvm::StringRef T(X.Type);
    if (Sum)
      Words += (T.contains("double") || T.contains("long") ? 2 : 1) *
               (T.ends_with("4")   ? 4
                : T.ends_with("2") ? 2
                                   : 1);
  }
  return Words;
}

/// Does a loop with barriers store in every round, under a block of two
/// dimensions?
bool walksThroughPlanes(const KernelModel &M,
                        const std::array<int64_t, 3> &Block) {
  if (Block[1] < 2)
    return false;
  for (const Stmt &S : M.Stmts)
    if ((S.K == Stmt::For || S.K == Stmt::While || S.K == Stmt::Do) &&
        S.HasBarrier && S.HasGlobalWrite)
      return true;
  return false;
}

/// Warps an SM of a grid of 512 x 512 threads on 132 of them. *Assumed.*
constexpr double PlaneWarpsPerSm = 62;

void common(const KernelModel &M, KernelCounts &K) {
  K.DramBytes = dramBytes(M);
  for (const GlobalAccess &G : M.GlobalAccesses) {
    bool Staging = false;
    for (const SharedAccess &A : M.SharedAccesses)
      Staging |= A.K == SharedAccess::Write && A.StoredRange.contains(G.Range);
    if (Staging || G.K != GlobalAccess::Read)
      continue;
    MemoryAccesses L;
    L.PerOutput = roundsOf(M, G.Stmt);
    L.Bytes = std::max(1u, G.ElemBytes);
    L.LaneStride = G.Index && (G.Index->Depends & DepThreadX) ? L.Bytes : 0;
    K.Loads.push_back(L);
  }
}

} // namespace

std::array<int64_t, 3> rcache::typicalBlock(const KernelModel &M, const Plan &P,
                                            unsigned Assumed) {
  if (P.Block)
    return *P.Block;
  if (!M.Geo.SeenBlocks.empty())
    return M.Geo.SeenBlocks.front();
  int64_t N = Assumed ? Assumed : M.Geo.MaxThreads.value_or(256);
  return {N, 1, 1};
}

std::string rcache::formName(const Plan &P) {
  return P.TapsOutside ? "taps outside" : "slot by slot";
}

/// Elements that an unrolled loop around reads of \p P's windows adds up; 0
/// when there is none, or when they are floats, whose order is fixed.
static double summedUp(const KernelModel &M, const Plan &P) {
  for (const ArrayPlan &A : P.Arrays)
    if (A.X != Exchange::Shared && isFloating(M.Arrays[A.Array].CanonicalType))
      return 0;
  double Most = 0;
  for (const ArrayPlan &A : P.Arrays)
    for (const WindowRead &R : A.WindowReads) {
      const unsigned S = M.SharedAccesses[R.Access].Stmt;
      if (llvm::StringRef(M.text(M.stmt(S).Range)).contains("+="))
        Most = std::max(Most, roundsOf(M, S));
    }
  return Most;
}

double rcache::formFactor(const KernelModel &M, const Plan &P) {
  bool Windows = false, Shuffled = false;
  for (const ArrayPlan &A : P.Arrays) {
    Windows |= A.X == Exchange::Reload || A.X == Exchange::Shuffle;
    Shuffled |= A.X == Exchange::Shuffle;
  }
  if (!Windows)
    return 1;
  // Elements of bytes are unpacked one by one: so much code is fetched slowly.
  if (P.slots() > 32)
    return 0.8;
  for (const ArrayPlan &A : P.Arrays)
    if (A.Stream && M.Arrays[A.Array].ElemBytes < 4)
      return 0.85; // and row by row there is nothing to do meanwhile
  // Shuffled elements arrive one by one: what comes first is used first only
  // when the taps are outside.
  if (Shuffled && !P.TapsOutside)
    return 0.89;
  // Integer sums are associative: with the taps outside the compiler adds two
  // elements in one instruction, and elements that arrive one by one do not
  // wait for a slot's turn (measured: 1.6x at 51 taps, nothing at 3, and
  // nothing for elements that are all there). Doubles gain where registers are
  // scarce. Floats have their order; one slot after the other leaves the
  // compiler the freedom to interleave them.
  const double Sums = summedUp(M, P);
  const bool Doubles = llvm::any_of(P.Arrays, [&](const ArrayPlan &A) {
    return llvm::StringRef(M.Arrays[A.Array].CanonicalType).contains("double");
  });
  if (P.TapsOutside) {
    if (Sums >= ManyTaps && (Shuffled || Doubles))
      return 1.1;
    return Shuffled || Sums >= ManyTaps ? 1.0 : 0.99;
  }
  return 1;
}

namespace {

/// Index of \p S in elements of a row-major array, as what a thread coordinate
/// adds; nullopt: not affine, or not a constant factor.
std::optional<int64_t> laneStep(const KernelModel &M, const SharedAccess &S,
                                const char *Id) {
  const SharedArray &A = M.Arrays[S.Array];
  if (!S.Affine)
    return std::nullopt;
  int64_t Step = 0, Pitch = 1;
  for (size_t D = S.Index.size(); D-- > 0;) {
    auto C = linearCoefficient(S.Index[D], Id,
                               isl::set::universe(S.Index[D].domain().space()));
    if (!C)
      return std::nullopt;
    Step += *C * Pitch;
    Pitch *= D < A.Extents.size() ? A.Extents[D].value_or(1) : 1;
  }
  return Step;
}

/// Wavefronts of one warp-wide access: lanes that ask one bank for different
/// words wait for each other. \p Row: physical threads along x; \p DX, \p DY:
/// what a step of a physical thread adds to the element.
double wavefronts(int64_t Row, int64_t DX, int64_t DY, unsigned Bytes) {
  std::map<int64_t, std::set<int64_t>> Banks;
  for (int64_t L = 0; L < 32; ++L)
    for (int64_t W = 0; W < std::max<int64_t>(1, Bytes / 4); ++W) {
      const int64_t Word = (L % Row * DX + L / Row * DY) * Bytes / 4 + W;
      Banks[((Word % 32) + 32) % 32].insert(Word);
    }
  size_t Most = 1;
  for (const auto &[Bank, Words] : Banks)
    Most = std::max(Most, Words.size());
  return double(Most);
}

/// Does an unrolled loop around \p S read one element after the other?
bool readsNeighbours(const KernelModel &M, const SharedAccess &S) {
  if (!S.Affine || S.Index.empty())
    return false;
  for (int Q = static_cast<int>(S.Stmt); Q >= 0; Q = M.stmt(Q).Parent) {
    const Stmt &L = M.stmt(static_cast<unsigned>(Q));
    if (L.HasBarrier)
      return false;
    if (L.K != Stmt::For || L.IterSymbol < 0)
      continue;
    const std::string &Id = M.Symbols[static_cast<size_t>(L.IterSymbol)].Id;
    const isl::pw_aff &Last = S.Index.back();
    auto C =
        linearCoefficient(Last, Id, isl::set::universe(Last.domain().space()));
    if (C && std::abs(*C) == 1)
      return L.ConstTripCount && *L.ConstTripCount % 4 == 0;
  }
  return false;
}

/// Wavefronts that a shared read costs a logical thread, when a physical one
/// stands for Factor logical ones: slots that read the same element share it.
double sharedReadCost(const KernelModel &M, const SharedAccess &S,
                      const std::array<int64_t, 3> &Block,
                      const std::array<unsigned, 3> &Factor,
                      const std::array<int64_t, 3> &Stride, bool TapsOutside) {
  static const char *const Ids[2] = {"tx", "ty"};
  static const unsigned Bits[2] = {DepThreadX, DepThreadY};
  const SharedArray &A = M.Arrays[S.Array];
  unsigned Depends = 0;
  for (const ValueRef &V : S.IndexValues)
    Depends |= V ? V->Depends : ~0u;
  if (S.IndexValues.empty())
    Depends = ~0u;
  int64_t Step[2] = {1, 0};
  for (int Ax = 0; Ax < 2; ++Ax) {
    auto C = laneStep(M, S, Ids[Ax]);
    Step[Ax] = C ? *C * (Stride[Ax] == 1 ? int64_t(Factor[Ax]) : 1)
                 : (Depends & Bits[Ax] ? 1 : 0);
  }
  const int64_t Row = std::max<int64_t>(1, Block[0] / Factor[0]);
  double Cost = wavefronts(std::min<int64_t>(32, Row), Step[0], Step[1],
                           std::max(1u, A.ElemBytes));
  // Four neighbours along an unrolled loop are one load of 16 bytes; two rows
  // of a warp then cost what one does (measured on an H200).
  if (A.ElemBytes == 4 && Step[0] % 4 == 0 && Step[1] % 4 == 0 &&
      readsNeighbours(M, S))
    Cost = (Cost <= 2 ? 1 : Cost) / 4;
  return Cost / sharingSlots(M, S, Factor, TapsOutside);
}

} // namespace

KernelCounts rcache::originalCounts(const KernelModel &M,
                                    const std::array<int64_t, 3> &Block) {
  KernelCounts K;
  common(M, K);
  double Threads = static_cast<double>(Block[0] * Block[1] * Block[2]);
  for (const SharedAccess &A : M.SharedAccesses) {
    double T = roundsOf(M, A.Stmt) * share(A);
    if (A.K == SharedAccess::Write) {
      K.SharedStores += T * words(M, A.Array);
      MemoryAccesses L;
      L.PerOutput = T;
      L.Bytes = M.Arrays[A.Array].ElemBytes;
      L.LaneStride = L.Bytes;
      K.Loads.push_back(L);
      K.IntOps += 2;
      K.OtherOps += 1;
    } else
      K.SharedLoads +=
          T * sharedReadCost(M, A, Block, {1, 1, 1}, {1, 1, 1}, false);
  }
  for (const GlobalAccess &G : M.GlobalAccesses)
    if (G.K != GlobalAccess::Read)
      K.Stores.push_back({roundsOf(M, G.Stmt), std::max(1u, G.ElemBytes),
                          double(G.ElemBytes)});
  Arithmetic A = arithmetic(M, stagingStmts(M));
  K.FpOps = A.Fp;
  K.IntOps += A.Int + A.Index + 8;
  K.SpecialOps = A.Special;
  K.DoubleOps = A.Double;
  double Rounds = 1;
  for (const Stmt &S : M.Stmts)
    if (S.K == Stmt::Barrier) {
      K.Barriers += roundsOf(M, S.Id);
      Rounds = std::max(Rounds, roundsOf(M, S.Id));
    }
  K.LoadRounds = Rounds;
  K.OutputsPerThread = 1;
  if (walksThroughPlanes(M, Block))
    K.GridWarpsPerSm = PlaneWarpsPerSm;
  K.ThreadsPerBlock = static_cast<unsigned>(Threads);
  K.Registers = M.RegistersHint ? M.RegistersHint : 32;
  K.SharedBytes = sharedBytes(M, Threads);
  return K;
}

KernelCounts rcache::planCounts(const KernelModel &M, const Plan &P,
                                const std::array<int64_t, 3> &Block) {
  KernelCounts K;
  common(M, K);
  double Slots = P.slots();
  double Threads = static_cast<double>(Block[0] * Block[1] * Block[2]) / Slots;
  // One sum a slot is counted with the windows.
  double Registers = 20 + stateRegisters(M) * Slots +
                     std::max(0.0, sumRegisters(M) - 1) * Slots;
  for (const ArrayPlan &A : P.Arrays) {
    const SharedArray &Arr = M.Arrays[A.Array];
    double W = words(M, A.Array), Window = 1, Rounds = 1;
    for (int64_t E : A.Extent)
      Window *= static_cast<double>(E);
    if (A.X != Exchange::Shared)
      Rounds = roundsOf(M, A.Barrier);
    // A window loaded in the interior by vectors, LaneStride apart.
    auto Load = [&](double Elements, double Share) {
      double Sources = std::max<double>(1, double(A.Leaves.size()));
      double Width = A.InteriorPiece >= 0 && A.VectorBytes
                         ? std::max(1.0, double(A.VectorBytes) / Arr.ElemBytes)
                         : 1;
      // Runs that are no multiple of the vector have scalar ends.
      double Full = std::floor(Elements / Width),
             Rest = Elements - Full * Width;
      double Stride = double(Arr.ElemBytes) * P.Factor[0];
      if (Full > 0 && Width > 1)
        K.Loads.push_back({Sources * Full * Share * Rounds / Slots,
                           static_cast<unsigned>(Width * Arr.ElemBytes),
                           Stride});
      double Single = Width > 1 ? Rest : Elements;
      if (Single > 0)
        K.Loads.push_back({Sources * Single * Share * Rounds / Slots,
                           std::max(1u, Arr.ElemBytes),
                           P.Stride[0] == 1 ? Stride : double(Arr.ElemBytes)});
    };
    switch (A.X) {
    case Exchange::Shuffle: {
      double Chunk = A.Cyclic ? Slots : double(A.Chunk);
      Load(Chunk, 1.0);
      Load(Chunk, 0.15);
      double Moved = std::max(0.0, Window - Chunk);
      K.Shuffles += Moved * W * Rounds / Slots;
      K.Selects += Moved * W * Rounds / Slots;
      K.OtherOps += 4 / Slots;
      Registers += (Window + Chunk) * W;
      break;
    }
    case Exchange::Reload: {
      // Lines that are read in part only are loaded in part only.
      double Rows = 1, Elements = Window;
      for (size_t D = 0; D + 1 < A.Extent.size(); ++D)
        Rows *= static_cast<double>(A.Extent[D]);
      if (!A.Lines.empty()) {
        Rows = Elements = 0;
        for (const auto &[Lo, Hi] : A.Lines) {
          Rows += Lo < Hi;
          Elements += double(std::max<int64_t>(0, Hi - Lo));
        }
        Window = Elements;
      }
      Load(Elements / std::max(1.0, Rows), Rows);
      // A streamed window holds one row, and the sums of all slots.
      Registers += A.Stream && A.Extent[0]
                       ? Window * W / double(A.Extent[0]) + Slots
                       : Window * W;
      break;
    }
    case Exchange::Direct:
      for (unsigned Rd : A.Reads) {
        double T = roundsOf(M, M.SharedAccesses[Rd].Stmt);
        K.Loads.push_back({T, Arr.ElemBytes, double(Arr.ElemBytes)});
        K.IntOps += 4 * T;
      }
      Registers += A.Early ? Window * W : 0;
      break;
    case Exchange::Shared:
      for (const SharedAccess &S : M.SharedAccesses)
        if (S.Array == A.Array) {
          double T = roundsOf(M, S.Stmt) * share(S);
          if (S.K == SharedAccess::Write) {
            K.SharedStores += T * W;
            K.Loads.push_back({T, Arr.ElemBytes, double(Arr.ElemBytes)});
          } else
            K.SharedLoads += T * sharedReadCost(M, S, Block, P.Factor, P.Stride,
                                                P.TapsOutside);
        }
      K.SharedBytes = sharedBytes(M, Threads * Slots);
      Registers += 2 * Slots; // a sum and an element a slot
      break;
    }
  }
  for (unsigned I = 0; I < M.GlobalAccesses.size(); ++I) {
    const GlobalAccess &G = M.GlobalAccesses[I];
    if (G.K == GlobalAccess::Read)
      continue;
    unsigned Bytes = std::max(1u, G.ElemBytes);
    double N = roundsOf(M, G.Stmt), Stride = double(Bytes) * P.Factor[0];
    for (const Plan::VectorStore &V : P.VectorStores)
      if (V.holds(I)) { // of those in several branches one is done
        N *= double(Bytes) / V.Bytes / double(1 + V.Also.size());
        Bytes = V.Bytes;
        Registers += P.Factor[0] * std::max(1.0, G.ElemBytes / 4.0);
      }
    K.Stores.push_back({N, Bytes, P.Stride[0] == 1 ? Stride : double(Bytes)});
  }
  Arithmetic A = arithmetic(M, stagingStmts(M));
  K.FpOps = A.Fp;
  K.DoubleOps = A.Double;
  K.SpecialOps = A.Special;
  // Half of the integer arithmetic is about where, not what: slots share it.
  K.IntOps += A.Int * 0.5 + A.Index * 0.5 + 2 + 10 / Slots;
  if (P.KeepBarriers)
    for (const Stmt &S : M.Stmts)
      if (S.K == Stmt::Barrier)
        K.Barriers += roundsOf(M, S.Id);
  double Rounds = 1;
  for (const Stmt &S : M.Stmts)
    if (S.K == Stmt::Barrier)
      Rounds = std::max(Rounds, roundsOf(M, S.Id));
  // Staging under a condition or in a loop is not overlapped between slots.
  K.LoadRounds =
      Rounds * (stagesUnderConditions(M, P) ? 1 + SlotSerial * (Slots - 1) : 1);
  for (const ArrayPlan &A : P.Arrays)
    K.RowByRow |= A.Stream.has_value();
  K.OutputsPerThread = static_cast<unsigned>(Slots);
  if (walksThroughPlanes(M, Block))
    K.GridWarpsPerSm = PlaneWarpsPerSm / Slots;
  K.ThreadsPerBlock = static_cast<unsigned>(
      P.Merge && Threads < P.TargetThreads ? double(P.TargetThreads) : Threads);
  K.Registers = static_cast<unsigned>(std::min(255.0, Registers));
  return K;
}
