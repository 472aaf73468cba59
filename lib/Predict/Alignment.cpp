// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Alignment.h. An address is a sum of terms, each a constant times symbols:
//
//     out + halo + by * 8 * pitch + ty * pitch + 4 * tx
//
// Terms of arguments alone shift all runs by the same (one question about the
// pointer); terms with a coordinate ask that what it is multiplied by be a
// multiple of the vector.

#include "Alignment.h"
#include "Affine/IslTools.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <map>

using namespace rcache;

std::vector<int64_t> rcache::valuesOf(const KernelModel &M, const Symbol &S) {
  std::vector<int64_t> All;
  const auto Of = llvm::find_if(M.Params, [&](const KernelParam &P) {
    return P.Name == S.Text;
  });
  const auto At = static_cast<size_t>(Of - M.Params.begin());
  for (const LaunchSite &L : M.Launches) {
    if (Of == M.Params.end() || At >= L.ArgValues.size() || L.ArgValues[At].empty())
      return {};
    llvm::append_range(All, L.ArgValues[At]);
  }
  return All;
}

namespace {

/// One run of vectors: elements of Bytes at Root[Index].
struct Run {
  int Root = -1;
  std::string Pointer; ///< as the kernel writes it
  isl::pw_aff Index;
  unsigned Bytes = 0, Vector = 0;
  /// A load's constant part is made up for by single elements in front.
  bool Load = false;
};

/// Is \p Id a parameter, so that host code knows it?
const Symbol *parameter(const KernelModel &M, const std::string &Id) {
  const int I = M.symbolIndex(Id);
  return I >= 0 && M.Symbols[I].K == Symbol::Param ? &M.Symbols[I] : nullptr;
}

/// By what \p Id moves at least from one run to the next. Along x, lanes hold
/// Factor elements each; along the others every slot is a run of its own.
int64_t step(const Plan &P, const std::string &Id) {
  if (P.Map.Block && Id.size() == 3 && Id[0] == 'b' && Id[1] == 'd' &&
      Id[2] >= 'x' && Id[2] <= 'z')
    return (*P.Map.Block)[static_cast<size_t>(Id[2] - 'x')];
  if (!P.Map.Block && Id == "bdx")
    return P.Map.BlockMultiple;
  return Id == "tx" ? P.Map.laneStep(0) : 1;
}

/// A sum of products of arguments, as text and, without arguments, as a number.
struct ArgumentSum {
  std::string Text;
  int64_t Constant = 0;
  /// Its values as far as host code tells those of the arguments; empty: not at all.
  std::vector<int64_t> Values = {0};

  /// \p Known: values of the product of \p Arguments.
  void add(int64_t Steps, const std::string &Arguments,
           llvm::ArrayRef<int64_t> Known = {}) {
    static constexpr int64_t One[] = {1};
    std::vector<int64_t> Sums;
    for (int64_t V : Values)
      for (int64_t K : Arguments.empty() ? llvm::ArrayRef<int64_t>(One) : Known)
        Sums.push_back(V + Steps * K);
    Values = std::move(Sums);
    if (Arguments.empty())
      Constant += Steps;
    else
      Text += (Text.empty() ? "" : " + ") +
              (Steps == 1 ? Arguments : std::to_string(Steps) + " * " + Arguments);
  }
  std::string text() const {
    if (!Constant)
      return Text;
    return Text + (Constant < 0 ? " - " : " + ") +
           std::to_string(std::abs(Constant));
  }
};

/// What one term of an index multiplies: arguments, which host code knows, and
/// coordinates.
struct Term {
  std::string Arguments, Coordinates;
  std::vector<int64_t> Values; ///< of the arguments; empty: not known
  int64_t Steps = 1; ///< of the coordinates, at least
  bool Moves = false;
};

/// nullopt: it has a factor that host code does not know.
std::optional<Term> termOf(const KernelModel &M, const Plan &P,
                           const std::string &Id, const Symbol &S) {
  Term T;
  for (const std::string &F :
       S.Factors.empty() ? std::vector<std::string>{Id} : S.Factors) {
    if (const Symbol *Parameter = parameter(M, F)) {
      T.Values = T.Arguments.empty() ? valuesOf(M, *Parameter)
                                     : std::vector<int64_t>();
      T.Arguments += (T.Arguments.empty() ? "" : " * ") + Parameter->Text;
      continue;
    }
    const int I = M.symbolIndex(F);
    if (I < 0 || M.Symbols[static_cast<size_t>(I)].K == Symbol::Opaque)
      return std::nullopt;
    T.Steps *= step(P, F);
    T.Coordinates += F + " ";
    T.Moves |= M.Symbols[static_cast<size_t>(I)].K != Symbol::BlockDim;
  }
  return T;
}

/// The questions of one run; nullopt: host code cannot tell, or there is nothing
/// to ask, as most runs start elsewhere whatever the launch (Never).
struct Questions {
  std::optional<AlignedRun> Asked;
  bool Never = false;
};

Questions questions(const KernelModel &M, const Plan &P, const Run &R) {
  const auto Form = linearForm(R.Index, always(M.Ctx->ctx()));
  if (!Form)
    return {};
  const int64_t N = R.Vector / R.Bytes;
  AlignedRun Q;
  Q.Pointer = R.Pointer;
  Q.Elements = static_cast<unsigned>(N);
  ArgumentSum Offset;
  std::map<std::string, ArgumentSum> Along; // by coordinates
  for (const auto &[Id, Coefficient] : Form->Terms) {
    const int At = M.symbolIndex(Id);
    if (At < 0)
      continue;
    const auto T = termOf(M, P, Id, M.Symbols[static_cast<size_t>(At)]);
    if (!T)
      return {};
    const int64_t Steps = Coefficient * T->Steps;
    if (T->Moves)
      Along[T->Coordinates].add(Steps, Steps % N ? T->Arguments : "", T->Values);
    else if (Steps % N != 0 && T->Arguments.empty())
      return {};
    else if (Steps % N != 0)
      Offset.add(Coefficient, T->Arguments);
  }
  for (const auto &[Coordinates, Sum] : Along) {
    if (!Sum.Text.empty())
      Q.Multiples.push_back(Sum.Constant % N ? Sum.text() : Sum.Text);
    const bool Misses = llvm::all_of(Sum.Values, [&](int64_t V) { return V % N != 0; });
    if (!Sum.Values.empty() && Misses)
      return {std::nullopt, true};
  }
  if (!R.Load && Form->Const % N != 0)
    Offset.add(static_cast<int64_t>(Form->Const), "");
  Q.Offset = Offset.Text.empty() && Offset.Constant
                 ? std::to_string(Offset.Constant)
                 : Offset.text();
  return {std::move(Q), false};
}

std::vector<Run> runsOf(const KernelModel &M, const Plan &P) {
  std::vector<Run> Runs;
  for (const ArrayPlan &A : P.Arrays) {
    const Window *W = A.window();
    if (!W || W->InteriorPiece < 0)
      continue;
    Substitution AtFirst;
    for (size_t D = 0; D < W->First.size(); ++D)
      AtFirst.emplace(A.Stage.ElemIds[D], W->First[D]);
    for (const VectorLeaf &L : W->Leaves)
      if (L.Load->Root >= 0 && W->VectorBytes > L.ElemBytes && L.ElemBytes &&
          L.Load->Operands[0]->K == Value::Affine)
        Runs.push_back({L.Load->Root, L.Load->Text,
                        substitute(L.Load->Operands[0]->Aff, AtFirst),
                        L.ElemBytes, W->VectorBytes, true});
  }
  for (const Plan::VectorStore &V : P.VectorStores) {
    const GlobalAccess &G = M.GlobalAccesses[V.Access];
    if (G.Root >= 0 && G.ElemBytes && V.Bytes > G.ElemBytes && G.Index &&
        G.Index->K == Value::Affine)
      Runs.push_back({G.Root, M.Params[static_cast<size_t>(G.Root)].Name,
                      G.Index->Aff, G.ElemBytes, V.Bytes, false});
  }
  return Runs;
}

} // namespace

std::vector<AlignedRun> rcache::alignedRuns(const KernelModel &M,
                                            const Plan &P) {
  std::vector<AlignedRun> All;
  for (const Run &R : runsOf(M, P)) {
    // Host code names parameters only.
    if (R.Pointer != M.Params[static_cast<size_t>(R.Root)].Name)
      continue;
    if (auto Q = questions(M, P, R).Asked; Q && !llvm::is_contained(All, *Q))
      All.push_back(std::move(*Q));
  }
  return All;
}

bool rcache::neverAligned(const KernelModel &M, const Plan &P) {
  return llvm::any_of(runsOf(M, P), [&](const Run &R) {
    return !R.Load && questions(M, P, R).Never;
  });
}

bool rcache::losesUnaligned(const KernelModel &M, const Plan &P) {
  const bool Tile = llvm::any_of(P.Arrays, [](const ArrayPlan &A) {
    return A.Stage.ElemIds.size() > 1;
  });
  return llvm::any_of(runsOf(M, P), [&](const Run &R) {
    return Tile ? !R.Load && P.Map.Factor[0] >= 8
                : P.Map.Factor[0] * R.Bytes > 16 || P.Map.Factor[0] >= 8;
  });
}
