// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Names.h.

#include "Names.h"
#include "Plan/Products.h"
#include "Plan/Staging.h"
#include "Affine/IslTools.h"
#include "Support/Words.h"
#include "llvm/ADT/STLExtras.h"
#include <functional>

using namespace rcache;

Names::Names(const KernelModel &M, const Plan &P)
    : M(M), P(P), Prefix(M.NamePrefix) {
  findKept();
}

/// Of owned arrays: which elements a statement uses is said by what the loop's
/// variables held when the round began (`from = 1 - from; s[from][t] = ...`).
void Names::findKept() {
  auto Ask = [&](unsigned Access, const std::vector<std::string> &Ids) {
    const TextRange At = M.SharedAccesses[Access].Range;
    for (const std::string &Id : Ids) {
      const int Sym = M.symbolIndex(Id);
      if (Sym < 0 || M.Symbols[static_cast<size_t>(Sym)].VarId < 0)
        continue;
      const auto Var =
          static_cast<unsigned>(M.Symbols[static_cast<size_t>(Sym)].VarId);
      for (const Stmt &L : M.Stmts) {
        if (L.Children.empty() || !L.Range.contains(At) ||
            llvm::none_of(L.Carried, [&](const Stmt::Recurrence &R) {
              return R.Symbol == Sym;
            }))
          continue;
        const TextRange Body = M.stmt(L.Children[0]).Range;
        if (llvm::any_of(M.VarUses, [&](const VarUse &U) {
              return U.Write && U.Var == Var && Body.contains(U.Range) &&
                     U.Range.Begin < At.Begin;
            }))
          Kept[static_cast<unsigned>(Sym)] = L.Id;
      }
    }
  };
  for (const PairedInterval &I : P.Paired)
    for (unsigned Access = 0; Access < M.SharedAccesses.size(); ++Access)
      if (I.Strided && I.Statements.contains(M.SharedAccesses[Access].Range))
        for (const Nullable<isl::pw_aff> &By :
             {I.Strided->Step, I.Strided->First, I.Strided->Away})
          if (!By.is_null())
            Ask(Access, involvedIds(By));
  for (const ArrayPlan &A : P.Arrays)
    if (const auto *O = A.as<Owned>()) {
      for (const auto &[Access, Part] : O->PartOf)
        Ask(Access, involvedIds(Part));
      for (const Owned::Fetch &F : O->Fetches)
        for (unsigned Access : F.Accesses) {
          Ask(Access, involvedIds(F.By));
          Ask(Access, involvedIds(F.Slots));
        }
    }
}

std::vector<unsigned> Names::keptIn(const Stmt &Loop) const {
  std::vector<unsigned> Vars;
  for (const auto &[Sym, In] : Kept)
    if (In == Loop.Id)
      Vars.push_back(static_cast<unsigned>(M.Symbols[Sym].VarId));
  return Vars;
}

bool Names::oneDim() const {
  return P.Map.isOneDim();
}

std::string Names::threadX() const {
  if (P.Map.Merge && !mergeAsRows())
    return "threadIdx.x % " + std::to_string(threadsX()) + "u";
  return "threadIdx.x";
}

std::string Names::builtin(Symbol::Kind K, unsigned Axis) const {
  static const char *Ax[3] = {"x", "y", "z"};
  std::string A = Ax[Axis];
  switch (K) {
  case Symbol::ThreadIdx:
    if (P.hasSlots(Axis))
      return (*this)("thread_" + A);
    if (Axis == 0 && P.Map.Merge && !mergeAsRows()) // side by side
      return "(" + threadX() + ")";
    // The merge axis counts logical blocks, not threads.
    if (P.Map.Merge && mergeAsRows() && Axis == 1)
      return "0u";
    return "threadIdx." + A;
  case Symbol::BlockIdx:
    return Axis == 0 || joins(Axis) ? (*this)("block_" + A) : "blockIdx." + A;
  case Symbol::BlockDim:
    if (P.Map.Block)
      return std::to_string((*P.Map.Block)[Axis]) + "u";
    return Axis == 0 ? (*this)("bdim_x") : "1u";
  case Symbol::GridDim:
    return Axis == 0 || joins(Axis) ? (*this)("grid_" + A) : "gridDim." + A;
  default:
    return "";
  }
}

std::string Names::replaceBuiltins(const std::string &Text, Of Which) const {
  static const std::pair<const char *, Symbol::Kind> Kinds[] = {
      {"threadIdx.", Symbol::ThreadIdx},
      {"blockIdx.", Symbol::BlockIdx},
      {"blockDim.", Symbol::BlockDim},
      {"gridDim.", Symbol::GridDim}};
  std::string Out;
  for (size_t I = 0; I < Text.size();) {
    bool Done = false;
    if (I == 0 || !isNameChar(Text[I - 1]))
      for (auto &[Name, K] : Kinds) {
        std::string N = Name;
        if (Text.compare(I, N.size(), N) == 0 && I + N.size() < Text.size() &&
            Text[I + N.size()] >= 'x' && Text[I + N.size()] <= 'z') {
          const unsigned Axis = static_cast<unsigned>(Text[I + N.size()] - 'x');
          const bool IsOther = K == Symbol::ThreadIdx && P.hasSlots(Axis) && Which != Of::Slot;
          Out += !IsOther    ? builtin(K, Axis)
                 : Axis == 0 ? (*this)("tx")
                             : "(unsigned int)" + threadOf(Axis, Which);
          I += N.size() + 1;
          Done = true;
          break;
        }
      }
    if (!Done)
      Out += Text[I++];
  }
  return Out;
}

std::optional<std::string> Names::roundOf(const Symbol &S) const {
  for (unsigned L : P.UnrolledLoops)
    if (const Stmt &Loop = M.stmt(L);
        Loop.IterSymbol == &S - M.Symbols.data() && !M.countsItself(Loop))
      return (*this)(M.Vars[static_cast<size_t>(Loop.IterVar)].Name + "_round");
  return std::nullopt;
}

/// \p Text of \p S with a mark in front of each variable that it names.
static std::string marked(const Symbol &S, const std::string &Text,
                          const KernelModel &M) {
  std::set<unsigned> Vars;
  std::function<void(const Symbol &)> Add = [&](const Symbol &X) {
    Vars.insert(X.Vars.begin(), X.Vars.end());
    if (X.VarId >= 0)
      Vars.insert(static_cast<unsigned>(X.VarId));
    for (const std::string &F : X.Factors) // of a product
      if (int I = M.symbolIndex(F); I >= 0)
        Add(M.Symbols[static_cast<size_t>(I)]);
  };
  Add(S);
  std::string Out;
  for (size_t I = 0; I < Text.size();) {
    size_t E = I;
    while (E < Text.size() &&
           isNameChar(Text[E]))
      ++E;
    const std::string Word = Text.substr(I, std::max(E, I + 1) - I);
    const bool Member =
        I > 0 && (Text[I - 1] == '.' || (Text[I - 1] == '>' && I > 1 &&
                                         Text[I - 2] == '-'));
    if (E > I && !Member)
      for (unsigned V : Vars)
        if (!M.Vars[V].IsParam && M.Vars[V].Name == Word) {
          Out += Code::named(V);
          break;
        }
    Out += Word;
    I += Word.size();
  }
  return Out;
}

std::string Names::threadOf(unsigned Axis, Of Which) const {
  const std::string A(1, "xyz"[Axis]), First = (*this)("t" + A);
  if (Axis == 0 || Which != Of::SlotRow)
    return First;
  const unsigned Stride = P.Map.Stride[Axis];
  return "(" + First + " + " + (*this)("s" + A) +
         (Stride == 1 ? "" : " * " + std::to_string(Stride)) + ")";
}

bool Names::hasLargeUnsigned(const Symbol &S) const {
  return llvm::any_of(S.Factors, [&](const std::string &Id) {
    const int I = M.symbolIndex(Id);
    if (I < 0)
      return true;
    const Symbol &F = M.Symbols[static_cast<size_t>(I)];
    return F.Factors.empty() ? !F.Signed && F.Bits > 32 : hasLargeUnsigned(F);
  });
}

std::string Names::productText(const Symbol &S, const CxxNames &Of) {
  std::string T;
  for (const std::string &Id : S.Factors) { // they are listed before products of them
    const auto It = Of.find(Id);
    const CxxAtom Factor = It == Of.end() ? CxxAtom(Id) : It->second;
    T += (T.empty() ? "" : " * ") + (Factor.Primary ? Factor.Text : "(" + Factor.Text + ")");
  }
  return T;
}

CxxNames Names::symbols(Of Which) const {
  CxxNames N;
  for (const Symbol &S : M.Symbols) {
    switch (S.K) {
    case Symbol::ThreadIdx:
      if (Which == Of::Slot)
        N[S.Id] = CxxAtom(builtin(S.K, S.Axis), true, "unsigned int");
      else if (S.Axis == 0 || P.Map.Factor[S.Axis] > 1)
        N[S.Id] = CxxAtom(threadOf(S.Axis, Which), true, "int");
      else
        N[S.Id] = CxxAtom(builtin(S.K, S.Axis), true, "unsigned int");
      break;
    case Symbol::BlockIdx:
    case Symbol::BlockDim:
    case Symbol::GridDim:
      N[S.Id] = CxxAtom(builtin(S.K, S.Axis), true, "unsigned int");
      break;
    case Symbol::Param:
      N[S.Id] = CxxAtom(S.Text, true, S.Type);
      break;
    case Symbol::Iterator: {
      if (auto Round = roundOf(S)) {
        N[S.Id] = CxxAtom(*Round, true, "int");
        break;
      }
      N[S.Id] =
          CxxAtom(replaceBuiltins(marked(S, S.Text, M), Which), true, S.Type);
      break;
    }
    case Symbol::Opaque:
      if (!S.Factors.empty()) {
        const bool Wide = S.Bits > 32;
        const std::string T = productText(S, N);
        // A size_t makes a product that is compared as what it is: never negative.
        N[S.Id] = CxxAtom(Wide ? (hasLargeUnsigned(S) ? "(long long)((long long)" + T + ")"
                                                      : "(long long)" + T)
                               : T,
                          false, Wide ? "long long" : "unsigned int");
      } else if (const auto It =
                     Kept.find(static_cast<unsigned>(&S - M.Symbols.data()));
                 It != Kept.end())
        N[S.Id] =
            CxxAtom(keptName(static_cast<unsigned>(S.VarId)), true, S.Type);
      else if (!S.Text.empty()) // no name for it: no value has it
        N[S.Id] = CxxAtom(replaceBuiltins(marked(S, S.Text, M), Which),
                          S.Text.front() == '(' &&
                              S.Text.find(')') == S.Text.size() - 1,
                          S.Type);
      break;
    }
  }
  return N;
}

std::vector<std::string> Names::factorsOf(const std::string &Id) const {
  const int I = M.symbolIndex(Id);
  const Symbol *S = I < 0 ? nullptr : &M.Symbols[static_cast<size_t>(I)];
  const std::vector<std::string> Own =
      !S ? productFactors(Id)
      : isExactProduct(M, *S) ? S->Factors
                              : std::vector<std::string>();
  std::vector<std::string> All;
  for (const std::string &F : Own)
    llvm::append_range(All, factorsOf(F));
  return All.empty() ? std::vector<std::string>{Id} : All;
}

bool Names::isIndex(const std::string &Id) const {
  const int I = M.symbolIndex(Id);
  return I < 0 ? productFactors(Id).empty() && !isWideProduct(Id)
               : M.Symbols[static_cast<size_t>(I)].K < Symbol::Param;
}

CxxType Names::typeFor(const std::vector<std::string> &Ids) const {
  for (const std::string &Id : Ids) {
    int I = M.symbolIndex(Id);
    if (I >= 0 && M.Symbols[I].Bits > 32)
      return CxxType::LongLong;
    const std::vector<std::string> Factors = productFactors(Id);
    if (isWideProduct(Id) ||
        (!Factors.empty() && typeFor(Factors) == CxxType::LongLong))
      return CxxType::LongLong;
  }
  return CxxType::Int;
}

/// Sums of blocks and threads with coefficients up to that fit int in most launches; each
/// is asked (LaunchText::noWrap). What a loop counts cannot be: eight million rounds of a
/// thread fit with the other.
static constexpr int64_t MostOfInt = 8192, MostOfCounted = 256;

CxxType Names::typeFor(const isl::pw_aff &V) const {
  const std::vector<std::string> Ids = involvedIds(V);
  const int64_t Most = M.WideSums ? mostOf(Ids) : INT32_MAX;
  bool Small = true;
  isl::pw_multi_aff(V).foreach_piece([&](const isl::set &, const isl::multi_aff &Piece) {
    Small = Small && hasSmallNumbers(Piece.at(0), Most);
  });
  return Small ? typeFor(Ids) : CxxType::LongLong;
}

CxxType Names::typeFor(const isl::set &S) const {
  const std::vector<std::string> Ids = involvedIds(S);
  return !M.WideSums || hasSmallNumbers(S, mostOf(Ids)) ? typeFor(Ids) : CxxType::LongLong;
}

/// The largest number in a sum of \p Ids that may be an int.
int64_t Names::mostOf(const std::vector<std::string> &Ids) const {
  return llvm::all_of(Ids,
                      [&](const std::string &Id) {
                        const int I = M.symbolIndex(Id);
                        return I < 0 || M.Symbols[static_cast<size_t>(I)].K <= Symbol::Param;
                      })
             ? MostOfInt
             : MostOfCounted;
}
