// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See rcache/NearbyReads.h. The index is compared with each distance but the last,
// which is that of all others: which distances there are is found by isl, for all
// threads that read.

#include "rcache/NearbyReads.h"
#include "Affine/IslTools.h"
#include "ArrayText.h"
#include "Assumptions.h"
#include "BodyText.h"
#include "rcache/ThreadsInLine.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include <map>

using namespace rcache;

namespace {

/// Distances that one read may be at.
constexpr size_t MostDistances = 3;

class Writer {
public:
  explicit Writer(const KernelModel &M)
      : M(M), A(makeAssumptions(M, M.Geo.ConstBlock, 1)) {}

  std::optional<OtherBody> run() {
    for (const SharedAccess &S : M.SharedAccesses)
      if (S.K == SharedAccess::Read && !M.Arrays[S.Array].Volatile &&
          !write(S, distancesOf(S)))
        return std::nullopt;
    auto R = Edits.body();
    if (R)
      R->OnlyOwned = true;
    return R;
  }

private:
  const KernelModel &M;
  const Assumptions A;
  BodyText Edits{M};
  /// Conditions that are declared, by the loop that they stand in front of.
  std::map<std::pair<int, std::string>, std::string> Names;
  unsigned Numbered = 0;

  /// Has \p Id one value for the whole launch or block?
  bool isFixed(const std::string &Id) const {
    const int I = M.symbolIndex(Id);
    if (I < 0)
      return false;
    const Symbol &S = M.Symbols[static_cast<size_t>(I)];
    if (!S.Factors.empty())
      return llvm::all_of(S.Factors, [&](const std::string &F) {
        return F != Id && isFixed(F);
      });
    return S.K == Symbol::Param || S.K == Symbol::BlockIdx ||
           S.K == Symbol::GridDim;
  }

  /// Elements from the thread's own to what \p S reads, in all threads that do;
  /// empty: the same for all, or too many.
  std::vector<int64_t> distancesOf(const SharedAccess &S) const {
    const SharedArray &Arr = M.Arrays[S.Array];
    if (!S.Affine || S.Domain.is_null() || S.Index.size() != Arr.Extents.size())
      return {};
    const isl::ctx Ctx = M.Ctx->ctx();
    isl::pw_aff E = constantValue(Ctx, 0);
    for (size_t D = 0; D < S.Index.size(); ++D) {
      if (!Arr.Extents[D])
        return {};
      E = E.scale(static_cast<long>(*Arr.Extents[D])).add(A.fix(S.Index[D]));
    }
    if (!dependsOn(E, "tx") || llvm::any_of(involvedIds(E), [&](auto &Id) {
          return Id != "tx" && !isFixed(Id);
        }))
      return {};
    M.Ctx->resetBudget();
    isl::set Left = A.fix(S.Domain).intersect(A.Context);
    const isl::pw_aff Away = E.sub(symbolValue(Ctx, "tx"));
    std::vector<int64_t> All;
    while (!Left.is_empty()) {
      const auto Least = minConst(Away, Left);
      if (!Least || All.size() == MostDistances)
        return {};
      All.push_back(*Least);
      Left = Left.intersect(lessThan(constantValue(Ctx, *Least), Away));
    }
    return All.size() > 1 ? All : std::vector<int64_t>();
  }

  /// A condition's name, declared in front of the loops with barriers around \p S
  /// where it has its value by then; else the condition.
  std::string named(const SharedAccess &S, llvm::ArrayRef<TextRange> Indices,
                    const std::string &Condition) {
    int Loop = -1;
    for (int Q = static_cast<int>(S.Stmt); Q >= 0; Q = M.stmt(unsigned(Q)).Parent)
      if (const Stmt &In = M.stmt(unsigned(Q));
          In.HasBarrier && (In.K == Stmt::For || In.K == Stmt::While))
        Loop = Q;
    if (Loop < 0)
      return Condition;
    const TextRange All = M.stmt(unsigned(Loop)).Range;
    const bool Known = llvm::none_of(M.VarUses, [&](const VarUse &U) {
      const Var &V = M.Vars[U.Var];
      return llvm::any_of(Indices,
                          [&](TextRange I) { return I.contains(U.Range); }) &&
             (V.IsReference || V.AddressTaken ||
              (!V.IsParam && V.DeclRange.End > All.Begin) ||
              llvm::any_of(M.VarUses, [&](const VarUse &W) {
                return W.Write && W.Var == U.Var && All.contains(W.Range);
              }));
    });
    const int Parent = M.stmt(unsigned(Loop)).Parent;
    if (!Known || Parent < 0 || M.stmt(unsigned(Parent)).K != Stmt::Block)
      return Condition;
    std::string &Name = Names[{Loop, Condition}];
    if (!Name.empty())
      return Name;
    Name = M.freshName("nearby" + std::to_string(++Numbered));
    // Behind what stands in front of the loop: a pragma begins its line.
    unsigned At = M.stmt(unsigned(Parent)).Range.Begin + 1;
    for (unsigned C : M.stmt(unsigned(Parent)).Children)
      if (M.stmt(C).Range.End <= All.Begin)
        At = std::max(At, M.stmt(C).Range.End);
    return Edits.insert({At, At}, " const bool " + Name + " = " + Condition + ";")
               ? Name
               : Condition;
  }

  /// The element \p Away from the thread's own, in rows as the array has them.
  std::string element(const SharedArray &Arr, int64_t Away) const {
    auto Plus = [](int64_t N) {
      return N == 0 ? "" : (N < 0 ? " - " : " + ") + std::to_string(std::abs(N));
    };
    if (Arr.Extents.size() == 1)
      return Arr.Name + "[(int)threadIdx.x" + Plus(Away) + "]";
    const int64_t Row = *Arr.Extents[1];
    // To the row whose column is nearest.
    int64_t Rows = Away / Row, Columns = Away % Row;
    if (2 * std::abs(Columns) > Row) {
      Rows += Columns > 0 ? 1 : -1;
      Columns += Columns > 0 ? -Row : Row;
    }
    const std::string Of = std::to_string(Row);
    return Arr.Name + "[(int)threadIdx.x / " + Of + Plus(Rows) +
           "][(int)threadIdx.x % " + Of + Plus(Columns) + "]";
  }

  bool write(const SharedAccess &S, const std::vector<int64_t> &Distances) {
    if (Distances.empty())
      return true;
    const SharedArray &Arr = M.Arrays[S.Array];
    const auto Indices = indexTexts(M, S);
    if (!Indices || Indices->size() > 2)
      return false;
    std::string Index;
    for (size_t D = 0; D < Indices->size(); ++D)
      Index += (D ? " * " + std::to_string(*Arr.Extents[D]) + " + (" : "(") +
               M.text((*Indices)[D]) + ")";
    std::string Text = Edits.newLines(S.Range) + "(";
    for (size_t I = 0; I + 1 < Distances.size(); ++I)
      Text += named(S, *Indices,
                    Index + " == (int)threadIdx.x + " +
                        std::to_string(Distances[I])) +
              " ? " + element(Arr, Distances[I]) + " : ";
    return Edits.replace(S.Range,
                         Text + element(Arr, Distances.back()) + ")");
  }
};

} // namespace

std::optional<OtherBody> rcache::nearbyReads(const KernelModel &M) {
  if (!M.Geo.ConstBlock || (*M.Geo.ConstBlock)[1] != 1 ||
      (*M.Geo.ConstBlock)[2] != 1 || !exchangesComputed(M))
    return std::nullopt;
  auto Result = guarded([&] { return Writer(M).run(); });
  if (Result)
    return std::move(*Result);
  llvm::consumeError(Result.takeError());
  return std::nullopt;
}
