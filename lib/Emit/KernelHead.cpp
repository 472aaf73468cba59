// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What stands in front of the body of a rewritten kernel. See Printer.h.

#include "Plan/Counts.h"
#include "Printer.h"
#include "Support/Words.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include <algorithm>
#include <map>

using namespace rcache;

/// Where \p Id stands in \p T as a name of its own: no member `.f` or `->f`, no
/// end of a number `0.f`; npos: nowhere.
static size_t identifierAt(const std::string &T, const std::string &Id) {
  const auto IsId = isNameChar;
  for (size_t P = T.find(Id); P != std::string::npos; P = T.find(Id, P + 1))
    if ((P == 0 || !IsId(T[P - 1])) &&
        (P + Id.size() >= T.size() || !IsId(T[P + Id.size()])) &&
        !llvm::StringRef(T).take_front(P).rtrim().ends_with(".") &&
        !llvm::StringRef(T).take_front(P).rtrim().ends_with("->"))
      return P;
  return std::string::npos;
}

/// \p Params with `__restrict__` at pointers that are only read, where the
/// launch has made sure that nothing stored lies there: the compiler may load
/// before stores of an earlier round then.
static std::string promised(const KernelModel &M, const Plan &P) {
  std::string Params = M.ParamsText;
  for (unsigned X = 0; X < M.Params.size(); ++X) {
    const KernelParam &Read = M.Params[X];
    if (!Read.IsPointer || Read.IsRestrict || Read.Written ||
        Read.MemberOf >= 0 || P.Separate.empty())
      continue;
    const bool Apart = llvm::all_of(M.GlobalAccesses, [&](const auto &G) {
      if (G.K == GlobalAccess::Read)
        return true;
      if (G.Root < 0)
        return false;
      const std::pair<int, int> Pair = std::minmax(int(X), G.Root);
      return M.Params[G.Root].IsRestrict ||
             llvm::is_contained(P.Separate, Pair);
    });
    const size_t At = identifierAt(Params, Read.Name);
    if (!Apart || At == std::string::npos ||
        !llvm::StringRef(Params).take_front(At).rtrim().ends_with("*"))
      continue;
    Params.insert(At, "__restrict__ ");
  }
  return Params;
}

/// Launch bounds where a block could ask for more registers than there are
/// (65536); elsewhere, but for owners, they would only make ptxas spill for more blocks.
static std::string bounds(const Plan &P) {
  const unsigned Threads = P.Map.mostThreads();
  if (const unsigned Blocks = blocksOfOwners(P))
    return "__launch_bounds__(" + std::to_string(Threads) + ", " + std::to_string(Blocks) +
           ") ";
  if (Threads <= 256 || 2 * P.Counts.Registers * Threads <= 65536)
    return "";
  return "__launch_bounds__(" + std::to_string(Threads) + ") ";
}

/// Internal linkage: another file's kernel of this name has another plan. But callers
/// elsewhere find a kernel of C by its name.
std::string rcache::printHead(const LoweredKernel &K, const KernelModel &M,
                              const Plan &P, const std::string &Name) {
  const std::string GridX = M.NamePrefix + "grid_x",
                    BlockDimX = M.NamePrefix + "bdim_x";
  std::string H = M.TemplateHead;
  const bool ByName = M.Launches.empty() && M.MangledName == M.Name;
  H += std::string(H.empty() ? "" : "\n") + (ByName ? "extern \"C\"" : "static") +
       " __global__ void ";
  if (P.Hints)
    return H + "__launch_bounds__(" + std::to_string(P.Hints->MaxThreads) +
           (P.Hints->MinBlocks ? ", " + std::to_string(P.Hints->MinBlocks)
                               : "") +
           ") " + Name + "(" + M.ParamsText + ") ";
  if (K.IsCopy) {
    const std::string Own = (M.Params.empty() ? "" : ", ") + std::string("const unsigned int ") +
                            M.NamePrefix + "own";
    return H +
           (M.LaunchBounds.empty()
                ? ""
                : "__launch_bounds__(" + M.LaunchBounds + ") ") +
           Name + "(" + M.ParamsText + (P.besideOwn(M) ? Own : "") + ") ";
  }
  std::string Params = promised(M, P);
  if (!M.Params.empty())
    Params += ", ";
  Params += "const unsigned int " + GridX;
  if (P.Map.Blocks[1] > 1)
    Params += ", const unsigned int " + M.NamePrefix + "grid_y";
  if (!P.Map.Block)
    Params += ", const unsigned int " + BlockDimX;
  if (P.Cut)
    Params += ", const unsigned int " + M.NamePrefix + "rounds";
  return H + bounds(P) + Name + "(" + Params + ") ";
}

static std::string barrierComment(const KernelModel &M, const Plan &P) {
  std::map<SyncScope, unsigned> N;
  for (const Stmt &St : M.Stmts)
    if (St.K == Stmt::Barrier)
      ++N[P.scopeOf(St.Id)];
  std::string T;
  if (N[SyncScope::Block])
    T = "//   Barriers stay: " + P.BarrierReason + ".\n";
  else if (!N[SyncScope::Warp])
    return "//   No barrier is left: nothing is shared between warps.\n";
  if (!P.OfFirstWarp.empty())
    T += "//   The first warp has rounds for itself in which no other one does anything;\n"
         "//   the others wait behind the loop.\n";
  if (N[SyncScope::Warp])
    T += "//   __syncwarp() for __syncthreads() where no other warp writes or "
         "reads the\n//   same elements.\n";
  if (N[SyncScope::None])
    T += "//   Barriers that ordered nothing that is left are gone.\n";
  return T;
}

/// What becomes of an array, to stand behind its name; "": nothing to tell.
static std::string placementComment(const ArrayPlan &A) {
  std::string Len = "1";
  for (int64_t E : A.extent())
    Len = Len == "1" ? std::to_string(E) : Len + " x " + std::to_string(E);
  return std::visit(
      llvm::makeVisitor(
          [](const KeptShared &) -> std::string {
            return "stays in shared memory";
          },
          [&](const FromSource &) -> std::string {
            return A.Reads.empty() ? ""
                                   : "read from its source where it is used";
          },
          [&](const ReadEarly &) {
            return "read at the barrier into " + Len + " registers";
          },
          [&](const Reloaded &) {
            return "window of " + Len + " registers, loaded by each thread";
          },
          [&](const StreamedRows &) {
            return "window of " + Len +
                   " registers, loaded by each thread, one row at a time";
          },
          [](const Restaged &) -> std::string {
            return "in shared memory, filled once for the joined blocks";
          },
          [](const Owned &) -> std::string {
            return "in registers of the warp that is the block: element e in "
                   "the slot\n//   of thread e; others' elements arrive by "
                   "shuffles";
          },
          [&](const Shuffled &S) {
            return "window of " + Len + " registers, " +
                   (S.D.K == Distribution::Cyclic
                        ? "round robin over the lanes"
                        : "chunks of " + std::to_string(S.D.Chunk) +
                              " a lane") +
                   ", exchanged by shuffles";
          }),
      A.Where);
}

static std::string interleavedComment(const KernelModel &M, const Plan &P) {
  std::string Tables, Moved;
  for (const InterleavedArray &I : P.Interleaved) {
    const std::string &Name = M.Vars[M.Privates[I.Array].Var].Name;
    if (I.Once)
      Tables += (Tables.empty() ? "" : ", ") + Name;
    else
      Moved += "//   " + Name + ": " +
               (P.ByWarp ? "a warp has "
                         : "room for " + std::to_string(I.Threads) + " threads, ") +
               std::to_string(I.bytes(M)) + " bytes.\n";
  }
  std::string T;
  if (!Tables.empty())
    T += "// Tables of constants, one copy for all threads: " + Tables + ".\n";
  if (!Moved.empty())
    T += "// Private arrays in shared memory, element i of a thread at "
         "[i][thread]: whatever\n// elements the lanes of a warp use, "
         "they are in different banks.\n" +
         Moved;
  if (P.besideOwn(M))
    T += "//   Behind the kernel's own dynamic shared memory.\n";
  return T;
}

static std::string hintsComment(const KernelModel &M, const RegisterHints &H) {
  std::string T = "// " + M.Name + " as it is, in blocks of " +
                  std::to_string(H.MaxThreads) + " threads";
  if (H.MinBlocks)
    T += ", " + std::to_string(H.MinBlocks) + " of them on an SM:\n// the "
         "compiler gives a thread the registers that leaves";
  T += ".\n";
  if (H.SharedSpilling)
    T += "// Those that are too few are spilled to shared memory.\n"
         "asm volatile(\".pragma \\\"enable_smem_spilling\\\";\");\n";
  return T;
}

/// "1 thread", "8 threads", "8 x 4 threads".
static std::string outputsComment(const Plan &P) {
  std::string Shape;
  for (unsigned Factor : P.Map.Factor)
    if (Factor > 1)
      Shape += (Shape.empty() ? "" : " x ") + std::to_string(Factor);
  return Shape.empty() ? "1 thread" : Shape + " threads";
}

/// How these lie to each other.
static std::string placesComment(const Plan &P) {
  if (P.Map.joins())
    return ", of several blocks";
  if (P.Map.Stride[0] == 32)
    return ", 32 apart";
  std::string Axes;
  for (unsigned A = 0; A < 3; ++A)
    if (P.Map.Factor[A] > 1 && P.Map.Stride[A] == 1)
      Axes += (Axes.empty() ? ", neighbours in " : " and ") + std::string(1, "xyz"[A]);
  return Axes;
}

std::string rcache::printPlanComment(const KernelModel &M, const Plan &P) {
  if (!P.Interleaved.empty())
    return interleavedComment(M, P);
  if (P.Hints)
    return hintsComment(M, *P.Hints);
  std::string T = "// Register cache: a thread stands for " + outputsComment(P) + " of " +
                  M.Name + placesComment(P) + ".\n";
  for (const ArrayPlan &A : P.Arrays)
    if (const std::string Says = placementComment(A); !Says.empty())
      T += "//   " + M.Arrays[A.Array].Name + ": " + Says + ".\n";
  if (P.Cut)
    T += "//   Several blocks share the rounds of the loop: each begins with what "
         "the rounds\n//   before would have loaded.\n";
  return T + barrierComment(M, P);
}
