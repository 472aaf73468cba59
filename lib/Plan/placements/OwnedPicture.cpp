// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Owned arrays for people: which lane has which element in which register, and what
// is copied from where between two barriers. The numbers are those of the device
// functions that do it (elements_ahead and the others in rewrite.cuh).

#include "../Assumptions.h"
#include "../Counters.h"
#include "Affine/IslTools.h"
#include "Placements.h"
#include "llvm/ADT/STLExtras.h"
#include <set>

using namespace rcache;

namespace {

constexpr int64_t Warp = 32;

int64_t remainder(int64_t N, int64_t By) { return (N % By + By) % By; }
std::string str(int64_t N) { return std::to_string(N); }

class OwnedPicture {
public:
  OwnedPicture(const Owned &O, const Placed &In)
      : O(O), M(In.M), Map(In.P.Map), In(In),
        Known(makeAssumptions(In.M, In.P.Map.Block, In.P.Map.BlockMultiple)),
        Count(In.M, Known) {}

  std::vector<PictureStep> steps() {
    for (const Owned::Fetch &F : O.Fetches)
      fetch(F);
    for (const PairedInterval &I : In.P.Paired)
      if (I.Strided && !I.Strided->Away.is_null())
        run(I);
    return std::move(Steps);
  }

private:
  const Owned &O;
  const KernelModel &M;
  const Mapping &Map;
  const Placed &In;
  const Assumptions Known;
  const Counters Count;
  std::vector<PictureStep> Steps;

  /// Registers of a lane for one part; elements of neighbours, or 32 apart.
  int64_t slots() const { return Map.slots(); }
  bool inChunks() const { return Map.Stride[0] == 1 && Map.Factor[0] > 1; }

  /// A step of \p Access where the counters are \p V.
  PictureStep step(unsigned Access, PictureStep::KindOf Kind, int64_t By,
                   const Counters::Values &V) const {
    const SharedAccess &S = M.SharedAccesses[Access];
    PictureStep R;
    R.Access = {S.Pos, M.text(S.Range)};
    R.Kind = Kind;
    R.By = By;
    for (const auto &[Id, Value] : V)
      if (const int I = M.symbolIndex(Id); I >= 0)
        R.Rounds += (R.Rounds.empty() ? "" : ", ") +
                    M.Symbols[static_cast<size_t>(I)].Text + " = " + str(Value);
    return R;
  }

  /// The values of \p Ids at access \p I, as they come; each once.
  std::vector<Counters::Values>
  visits(unsigned I, const std::vector<std::string> &Ids) const {
    std::vector<Counters::Values> All;
    for (const Counters::Values &Now : Count.at(M.SharedAccesses[I].Stmt)) {
      Counters::Values V;
      for (const std::string &Id : Ids)
        if (const auto It = Now.find(Id); It != Now.end())
          V.insert(*It);
      if (!llvm::is_contained(All, V))
        All.push_back(std::move(V));
    }
    return All;
  }

  /// Where what comes for register \p Register is.
  PictureStep::Move move(const PictureStep &S, int64_t Register) const {
    const int64_t Apart = inChunks() ? slots() : Warp;
    if (S.Kind == PictureStep::Flipped && inChunks() && S.By >= Warp * Apart)
      return {Register, 0, Register ^ (S.By / Warp)}; // of another part
    if (S.Kind == PictureStep::Flipped)
      return inChunks() ? PictureStep::Move{Register, S.By / Apart,
                                            Register ^ (S.By % Apart)}
                        : PictureStep::Move{Register, S.By % Apart,
                                            Register ^ (S.By / Apart)};
    // Chunks: element lane * Apart + register; else lane + Apart * register.
    const int64_t E = S.Kind == PictureStep::OfAll ? S.By
                      : inChunks()                 ? Register + S.By
                                                   : Apart * Register + S.By;
    const int64_t Low = remainder(E, Apart), High = (E - Low) / Apart;
    return inChunks() ? PictureStep::Move{Register, High, Low}
                      : PictureStep::Move{Register, Low, High};
  }

  void add(PictureStep S, const char *Behind = "", const std::string &Row = "",
           int64_t InRow = 0) {
    if (S.Moves.empty())
      return;
    const int64_t Away = Row.empty() ? S.By : InRow;
    S.Words = Row + what(S, Away) + ": " + from(S, Away) + Behind;
    if (S.Back)
      S.Words += ", and back";
    Steps.push_back(std::move(S));
  }

  void fetch(const Owned::Fetch &F) {
    const unsigned Access = F.Accesses.front();
    std::vector<std::string> Ids = involvedIds(F.By);
    for (const std::string &Id : involvedIds(F.Slots))
      if (Id != "sx")
        Ids.push_back(Id);
    for (const Counters::Values &V : visits(Access, Ids)) {
      const auto By = isConstant(atCounts(F.By, V));
      if (!By)
        continue;
      PictureStep S = step(Access,
                           F.K == Owned::Fetch::Ahead     ? PictureStep::Ahead
                           : F.K == Owned::Fetch::Flipped ? PictureStep::Flipped
                                                          : PictureStep::OfAll,
                           *By, V);
      S.Back = F.Written;
      const isl::set Slots = atCounts(F.Slots, V);
      for (int64_t R = 0; R < slots(); ++R)
        if (!bindConst(Slots, "sx", R).is_empty())
          S.Moves.push_back(move(S, R));
      const auto [Row, InRow] = rowOf(M.SharedAccesses[Access], S, V);
      add(std::move(S), "", Row, InRow);
    }
  }

  /// "in s[1], " and how far in that row, where counters alone say which row of the
  /// array it is, as of one that has two buffers; else nothing.
  std::pair<std::string, int64_t> rowOf(const SharedAccess &A, const PictureStep &S,
                                        const Counters::Values &V) const {
    const auto &Extents = In.array().Extents;
    if (S.Kind != PictureStep::Ahead || A.Index.size() != 2 || Extents.size() != 2 ||
        !Extents[1])
      return {};
    const auto Row = isConstant(atCounts(A.Index[0], V));
    if (!Row)
      return {};
    return {"in " + In.array().Name + "[" + str(*Row) + "], ",
            S.By - *Row * *Extents[1]};
  }

  /// Statements that the owner of an element runs, under another thread's number.
  void run(const PairedInterval &I) {
    const StridedRun &R = *I.Strided;
    for (const auto &[Access, Other] : O.OfRuns) {
      const SharedAccess &A = M.SharedAccesses[Access];
      if (!Other || !I.Statements.contains(A.Range))
        continue;
      for (const Counters::Values &V : visits(Access, involvedIds(R.Away))) {
        const auto By = isConstant(atCounts(R.Away, V));
        if (!By)
          continue;
        PictureStep S = step(
            Access, R.Flips ? PictureStep::Flipped : PictureStep::Ahead, *By, V);
        for (int64_t Register = 0; Register < R.Elements / Warp; ++Register)
          S.Moves.push_back(move(S, Register));
        add(std::move(S), R.Both ? ", both owners run the statements"
                                 : ", the owner runs the statements");
      }
      return;
    }
  }

  static std::string what(const PictureStep &S, int64_t Away) {
    switch (S.Kind) {
    case PictureStep::Ahead:
      return "the element " + str(std::abs(Away)) + (Away < 0 ? " behind" : " ahead");
    case PictureStep::Flipped:
      return "the element of thread t ^ " + str(S.By);
    case PictureStep::OfAll:
      break;
    }
    return "element " + str(S.By) + " for all";
  }

  static std::string from(const PictureStep &S, int64_t By) {
    const PictureStep::Move &First = S.Moves.front();
    if (S.Kind == PictureStep::OfAll)
      return "register " + str(First.FromRegister) + " of lane " +
             str(First.Lanes);
    std::set<int64_t> Lanes;
    for (const PictureStep::Move &Move : S.Moves)
      Lanes.insert(Move.Lanes);
    if (Lanes.size() > 1)
      return "from lanes up to " +
             str(std::max(std::abs(*Lanes.begin()), std::abs(*Lanes.rbegin()))) +
             " away";
    if (First.Lanes == 0)
      return "another register of the lane";
    if (S.Kind == PictureStep::Flipped)
      return "from lane l ^ " + str(First.Lanes);
    // Modulo 32 for both directions.
    const int64_t Away =
        By < 0 && First.Lanes > 0 ? First.Lanes - Warp : First.Lanes;
    return "from the lane " + str(std::abs(Away)) +
           (Away < 0 ? " behind" : " ahead");
  }
};

} // namespace

void rcache::draw(const Owned &O, const Placed &In, ArrayPicture &Picture) {
  Picture.Words = "registers of one warp, which stands for the block: each element "
                  "belongs to a lane, and what other lanes use of it is shuffled "
                  "between the barriers";
  const Mapping &Map = In.P.Map;
  const bool Chunks = Map.Stride[0] == 1 && Map.Factor[0] > 1;
  Picture.Detail = Chunks ? "chunks of " + str(Map.Factor[0]) : "round robin";
  int64_t Elements = 1;
  for (const auto &E : In.array().Extents)
    Elements = E ? Elements * *E : 0; // 0: not known
  if (In.array().Extents.empty())
    Elements = 0;
  const int64_t Slots = Map.slots();
  for (int64_t Lane = 0; Lane < Warp; ++Lane) {
    std::vector<int64_t> Row;
    for (int64_t Register = 0; Register < Slots * O.Parts; ++Register) {
      const int64_t Slot = Register % Slots;
      const int64_t E = Register / Slots * (*Map.Block)[0] +
                        (Chunks ? Lane * Slots + Slot : Lane + Warp * Slot);
      Row.push_back(Elements && E >= Elements ? -1 : E);
    }
    Picture.Held.push_back(std::move(Row));
  }
  In.M.Ctx->resetBudget();
  auto Steps = guarded([&] { return OwnedPicture(O, In).steps(); });
  if (Steps)
    Picture.Steps = std::move(*Steps);
  else
    llvm::consumeError(Steps.takeError()); // too long to say
}
