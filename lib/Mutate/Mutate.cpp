// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Mutate.h.

#include "Mutate.h"
#include "Affine/IslTools.h"
#include "Plan/Staging.h"
#include "Plan/Values.h"

using namespace rcache;

std::optional<Mutation> rcache::parseMutation(const std::string &Text) {
  static const std::pair<const char *, Mutation> Names[] = {
      {"wrong-register", Mutation::WrongRegister},
      {"lane-off-by-one", Mutation::LaneOffByOne},
      {"missing-phase", Mutation::MissingPhase},
      {"missing-guard", Mutation::MissingGuard},
      {"dropped-barrier", Mutation::DroppedBarrier},
      {"narrowed-barrier", Mutation::NarrowedBarrier},
      {"wrong-source", Mutation::WrongSource},
      {"missing-tail", Mutation::MissingTail},
      {"wrong-row", Mutation::WrongRow},
      {"missing-precondition", Mutation::MissingPrecondition},
      {"wrong-block", Mutation::WrongBlock},
      {"missing-store-guard", Mutation::MissingStoreGuard},
      {"missing-refill", Mutation::MissingRefill},
      {"wrong-share", Mutation::WrongShare},
      {"early-rounds", Mutation::EarlyRounds}};
  for (auto &[Name, K] : Names)
    if (Text == Name)
      return K;
  return std::nullopt;
}

namespace {

isl::pw_aff plus(const isl::pw_aff &A, int64_t N) {
  return A.add(constantValue(A.ctx(), N));
}

/// Register index \p D of a read, changed by \p N within the window.
void rotate(WindowRead &W, size_t D, int64_t Extent, int64_t N) {
  W.Register[D] = floorMod(plus(W.Register[D], N), Extent);
}

/// The reads that name a register, and how many there are.
std::vector<WindowRead *> registerReads(ArrayPlan &A) {
  std::vector<WindowRead *> All;
  if (Window *W = A.window())
    for (WindowRead &R : W->Reads)
      All.push_back(&R);
  if (auto *E = A.as<ReadEarly>())
    All.push_back(&E->Read);
  return All;
}

bool wrongRegister(ArrayPlan &A, unsigned Seed) {
  if (auto *O = A.as<Owned>()) { // a slot's own element for another thread's
    if (O->Fetches.empty())
      return false;
    const auto F = O->Fetches.begin() +
                   static_cast<long>(Seed % O->Fetches.size());
    for (unsigned Access : F->Accesses)
      O->PartOf.emplace(Access, constantValue(F->By.ctx(), 0));
    O->Fetches.erase(F);
    return true;
  }
  const auto Reads = registerReads(A);
  const auto Extent = A.extent();
  if (Reads.empty() || Extent.empty() || Extent.back() < 2)
    return false;
  WindowRead &W = *Reads[Seed % Reads.size()];
  if (W.Register.empty())
    return false;
  rotate(W, W.Register.size() - 1, Extent.back(), 1);
  return true;
}

bool wrongRow(ArrayPlan &A, unsigned Seed) {
  if (auto *R = A.as<Restaged>()) { // one copy for blocks that differ
    const unsigned Axis = R->PerBlock[Seed % 2] ? Seed % 2 : 1 - Seed % 2;
    if (!R->PerBlock[Axis])
      return false;
    R->PerBlock[Axis] = false;
    if (R->Beside == int(Axis))
      R->Beside = -1;
    return true;
  }
  const auto Reads = registerReads(A);
  const auto Extent = A.extent();
  if (Reads.empty() || Extent.size() < 2)
    return false;
  WindowRead &W = *Reads[Seed % Reads.size()];
  size_t D = Seed / Reads.size() % (Extent.size() - 1);
  if (W.Register.size() != Extent.size() || Extent[D] < 2)
    return false;
  rotate(W, D, Extent[D], 1);
  return true;
}

/// Of statements that owners of elements run: the owner beside does, or that of one
/// element where both elements change.
bool wrongRun(Plan &P, Mutation K, unsigned Seed) {
  std::vector<StridedRun *> Runs;
  for (PairedInterval &I : P.Paired)
    if (I.Strided && (K == Mutation::LaneOffByOne || I.Strided->Both))
      Runs.push_back(&*I.Strided);
  if (Runs.empty())
    return false;
  StridedRun &R = *Runs[Seed % Runs.size()];
  if (K == Mutation::WrongRegister)
    R.Both = false;
  else
    R.First = plus(R.First, Seed / Runs.size() % 2 ? -1 : 1);
  return true;
}

bool laneOffByOne(ArrayPlan &A, unsigned Seed) {
  if (auto *O = A.as<Owned>()) {
    if (O->Fetches.empty())
      return false;
    Owned::Fetch &F = O->Fetches[Seed % O->Fetches.size()];
    F.By = plus(F.By, Seed / O->Fetches.size() % 2 ? -1 : 1);
    return true;
  }
  auto *S = A.as<Shuffled>();
  if (!S || S->W.First.empty())
    return false;
  const bool Cyclic = S->D.K == Distribution::Cyclic;
  if (Seed % 2 && !Cyclic) { // the neighbour on the other side
    S->D.Direction = -S->D.Direction;
    return true;
  }
  int64_t Step = Cyclic ? 1 : int64_t(S->D.Chunk) * S->D.Direction;
  S->W.First.back() = plus(S->W.First.back(), Step);
  return true;
}

/// Registers from \p Begin of the last phase on are read one chunk lower.
bool missingPhase(ArrayPlan &A) {
  auto *S = A.as<Shuffled>();
  if (!S || !S->D.Chunk || S->W.Extent.empty())
    return false;
  int64_t Chunk = S->D.Chunk, Begin = (S->W.Extent.back() - 1) / Chunk * Chunk;
  bool Any = false;
  for (WindowRead &W : S->W.Reads) {
    if (W.Register.empty())
      continue;
    isl::pw_aff &R = W.Register.back();
    isl::pw_aff Lower = plus(R, -Chunk);
    isl::set Last = lessEqual(constantValue(R.ctx(), Begin), R);
    Any |= !Last.is_empty();
    R = Lower.intersect_domain(Last).union_add(
        R.intersect_domain(Last.complement()));
  }
  return Any;
}

bool missingGuard(ArrayPlan &A, unsigned Seed) {
  if (A.Stage.Pieces.empty())
    return false;
  StagePiece &S = A.Stage.Pieces[Seed % A.Stage.Pieces.size()];
  bool All = S.Guards.empty() && S.Domain.is_equal(always(S.Domain.ctx()));
  S.Guards.clear();
  S.Domain = always(S.Domain.ctx());
  if (Window *W = A.window(); W && W->InteriorPiece >= 0)
    W->Interior = always(W->Interior.ctx());
  return !All;
}

/// Only what a launch that is defined in the original, with some thousand
/// threads, can show: the others are about 2^31 of them, or about blocks in
/// which two threads stage one element of a line.
bool missingPrecondition(Plan &P, unsigned Seed) {
  std::vector<size_t> Shown;
  for (size_t I = 0; I < P.Preconditions.size(); ++I)
    if (P.Preconditions[I].Reason != "indices fit in 32 bits" &&
        P.Preconditions[I].Reason != "index arithmetic does not wrap" &&
        P.Preconditions[I].Reason != "indices count up from 0" &&
        P.Preconditions[I].Reason != "lines begin at whole elements" &&
        P.Preconditions[I].Reason != "one-dimensional blocks")
      Shown.push_back(I);
  if (Shown.empty())
    return false;
  P.Preconditions.erase(P.Preconditions.begin() +
                        static_cast<long>(Shown[Seed % Shown.size()]));
  return true;
}

bool replaceFirst(std::string &Text, const std::string &Old,
                  const std::string &New) {
  size_t At = Text.find(Old);
  if (At == std::string::npos)
    return false;
  Text.replace(At, Old.size(), New);
  return true;
}

bool wrongBlock(std::string &Kernel, std::string &Launch, unsigned Seed) {
  switch (Seed % 3) {
  case 0: // the last physical block, unless it is full
    return replaceFirst(Launch, "(rc_grid.x - 1u) / rc_merged + 1u",
                        "rc_grid.x / rc_merged");
  case 1: { // one logical block too many
    size_t Mark = Kernel.find("// logical block\n");
    size_t At = Kernel.find(" >= ", Mark);
    if (Mark == std::string::npos || At == std::string::npos)
      return false;
    Kernel.replace(At, 4, " > ");
    return true;
  }
  default:
    return replaceFirst(Kernel, "; // logical block\n",
                        " + 1; // logical block\n");
  }
}

/// Behind the parenthesis that \p Open opens.
size_t closing(const std::string &T, size_t Open, char L, char R) {
  int Depth = 0;
  for (size_t I = Open; I < T.size(); ++I) {
    Depth += T[I] == L ? 1 : T[I] == R ? -1 : 0;
    if (Depth == 0)
      return I + 1;
  }
  return std::string::npos;
}

/// Conditions of `if` and of `..._on[...] = `, outside the lambda functions
/// that give staged elements and the test for surplus logical blocks.
bool missingStoreGuard(std::string &Kernel, unsigned Seed) {
  struct Place {
    size_t Begin, End;
    const char *As;
  };
  std::vector<Place> Places;
  for (size_t I = 0; I < Kernel.size(); ++I) {
    if (Kernel.compare(I, 6, "= [=](") == 0) {
      size_t Body = Kernel.find('{', I);
      I = Body == std::string::npos ? Body : closing(Kernel, Body, '{', '}');
      if (I == std::string::npos)
        break;
      continue;
    }
    if (Kernel.compare(I, 4, "if (") == 0 &&
        (I == 0 || !isalnum(static_cast<unsigned char>(Kernel[I - 1])))) {
      size_t E = closing(Kernel, I + 3, '(', ')');
      if (E == std::string::npos)
        break;
      std::string Behind = Kernel.substr(E, 60);
      if (Behind.find("all threads of this logical block") != std::string::npos)
        continue;
      size_t First = Behind.find_first_not_of(" \n\t{");
      bool Leaves = First != std::string::npos &&
                    (Behind.compare(First, 8, "continue") == 0 ||
                     Behind.compare(First, 6, "return") == 0);
      Places.push_back({I + 4, E - 1, Leaves ? "false" : "true"});
    }
    size_t Line = Kernel.find('\n', I);
    if (Kernel.compare(I, 4, "_on[") == 0 && Line != std::string::npos) {
      size_t Is = Kernel.find(" = ", I), End = Kernel.find(';', I);
      if (Is < End && End < Line + 1)
        Places.push_back({Is + 3, End, "true"});
    }
  }
  if (Places.empty())
    return false;
  const Place &P = Places[Seed % Places.size()];
  if (Kernel.substr(P.Begin, P.End - P.Begin) == P.As)
    return false;
  Kernel.replace(P.Begin, P.End - P.Begin, P.As);
  return true;
}

bool wrongSource(ArrayPlan &A) {
  if (A.Stage.ElemIds.empty())
    return false;
  std::vector<isl::pw_aff> *First = nullptr;
  if (Window *W = A.window())
    First = &W->First;
  else if (auto *E = A.as<ReadEarly>())
    First = &E->First;
  if (First && !First->empty()) {
    First->back() = plus(First->back(), 1);
    return true;
  }
  bool Any = false;
  for (StagePiece &S : A.Stage.Pieces) {
    isl::pw_aff E = symbolValue(S.Domain.ctx(), A.Stage.ElemIds.back());
    ValueRef V = substituteValue(S.V, {{A.Stage.ElemIds.back(), plus(E, 1)}});
    Any |= V != S.V;
    S.V = V;
  }
  return Any;
}

/// The first piece that loads something: one that gives a constant may be what
/// an element in no piece gets anyway.
bool missingTail(ArrayPlan &A) {
  if (A.Stage.Pieces.size() < 2)
    return false;
  for (size_t I = 0; I < A.Stage.Pieces.size(); ++I) {
    if (!holdsLoad(*A.Stage.Pieces[I].V))
      continue;
    A.Stage.Pieces.erase(A.Stage.Pieces.begin() + static_cast<long>(I));
    if (Window *W = A.window()) {
      W->InteriorPiece = -1;
      W->Leaves.clear();
    }
    return true;
  }
  return false;
}

/// The \p Seed-th of the barriers that the block keeps.
bool narrowedBarrier(const KernelModel &M, Plan &P, unsigned Seed) {
  std::vector<unsigned> Kept;
  for (const Stmt &S : M.Stmts)
    if (S.K == Stmt::Barrier && P.scopeOf(S.Id) == SyncScope::Block)
      Kept.push_back(S.Id);
  if (Kept.empty())
    return false;
  P.Narrowed[Kept[Seed % Kept.size()]] = SyncScope::Warp;
  return true;
}

/// A round sooner, where the block has one more.
bool earlyRounds(const KernelModel &M, Plan &P) {
  for (WarpRounds &R : P.OfFirstWarp)
    if (R.Before > 1) {
      R.First *= -*M.stmt(R.Loop).Factor;
      ++R.Rounds, --R.Before;
      return true;
    }
  return false;
}

/// What a block begins with is left out for one variable.
bool missingRefill(Plan &P, unsigned Seed) {
  if (!P.Cut || P.Cut->Refills.empty())
    return false;
  auto &All = P.Cut->Refills;
  All.erase(All.begin() + static_cast<long>(Seed % All.size()));
  return true;
}

/// Blocks of a cut loop begin a round late, but for the first.
bool wrongShare(std::string &Kernel) {
  const size_t At = Kernel.find("(blockIdx.z * ");
  if (At == std::string::npos)
    return false;
  const size_t End = Kernel.find(')', At);
  Kernel.insert(End, " + (blockIdx.z != 0)");
  return true;
}

} // namespace

bool rcache::mutatePlan(const KernelModel &M, Plan &P, Mutation K,
                        unsigned Seed) {
  if (K == Mutation::DroppedBarrier) {
    bool Had = P.KeepBarriers;
    P.KeepBarriers = false;
    return Had;
  }
  if (K == Mutation::NarrowedBarrier)
    return narrowedBarrier(M, P, Seed);
  if (K == Mutation::EarlyRounds)
    return earlyRounds(M, P);
  if (K == Mutation::MissingPrecondition)
    return missingPrecondition(P, Seed);
  if (K == Mutation::MissingRefill)
    return missingRefill(P, Seed);
  bool Any = false;
  if (K == Mutation::LaneOffByOne && P.Map.joins()) { // lanes overlap
    P.Map.Group[0] = 2 * P.Map.Factor[0];
    return true;
  }
  if ((K == Mutation::LaneOffByOne || K == Mutation::WrongRegister) &&
      wrongRun(P, K, Seed))
    return true;
  for (ArrayPlan &A : P.Arrays) {
    if (A.Reads.empty() || A.isShared())
      continue;
    switch (K) {
    case Mutation::WrongRegister:
      Any |= wrongRegister(A, Seed);
      break;
    case Mutation::LaneOffByOne:
      Any |= laneOffByOne(A, Seed);
      break;
    case Mutation::MissingPhase:
      Any |= missingPhase(A);
      break;
    case Mutation::MissingGuard:
      Any |= missingGuard(A, Seed);
      break;
    case Mutation::WrongSource:
      Any |= wrongSource(A);
      break;
    case Mutation::MissingTail:
      Any |= missingTail(A);
      break;
    case Mutation::WrongRow:
      Any |= wrongRow(A, Seed);
      break;
    case Mutation::DroppedBarrier:
    case Mutation::NarrowedBarrier:
    case Mutation::MissingPrecondition:
    case Mutation::WrongBlock:
    case Mutation::MissingStoreGuard:
    case Mutation::MissingRefill:
    case Mutation::WrongShare:
    case Mutation::EarlyRounds:
      break;
    }
  }
  return Any;
}

bool rcache::mutateText(std::string &Kernel, std::string &Launch, Mutation K,
                        unsigned Seed) {
  if (K == Mutation::WrongBlock)
    return wrongBlock(Kernel, Launch, Seed);
  if (K == Mutation::WrongShare)
    return wrongShare(Kernel);
  return K == Mutation::MissingStoreGuard && missingStoreGuard(Kernel, Seed);
}
