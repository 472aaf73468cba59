// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See rcache/CarvedArrays.h. Where a pointer leads is read off its initialiser; which
// elements it is used for, off the accesses. What names the array in any other way
// leaves it as it is.

#include "rcache/CarvedArrays.h"
#include "Affine/IslTools.h"
#include "ArrayText.h"
#include "Assumptions.h"
#include "BodyText.h"
#include "Support/Words.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include <map>

using namespace rcache;
using llvm::StringRef;

namespace {

/// Bytes that a block may declare.
constexpr int64_t MostBytes = 48 << 10;

class Carver {
public:
  explicit Carver(const KernelModel &M)
      : M(M), A(makeAssumptions(M, M.Geo.ConstBlock, 1)) {}

  std::optional<OtherBody> run() {
    for (unsigned I = 0; I < M.Arrays.size(); ++I)
      if (M.Arrays[I].Extents.size() <= 2 && !M.Arrays[I].Volatile)
        if (auto Found = basesOf(I))
          if (!carve(I, *Found))
            return std::nullopt;
    return Bytes <= MostBytes ? Edits.body() : std::nullopt;
  }

private:
  const KernelModel &M;
  const Assumptions A;
  BodyText Edits{M};
  int64_t Bytes = 0;

  /// What elements are named by: a pointer (an index in M.Vars), or -1: the array.
  struct Base {
    int64_t From = INT64_MAX, To = INT64_MIN; ///< the elements it is used for
    size_t Part = 0;
    bool joins(const Base &O) const { return From <= O.To && O.From <= To; }
  };
  using Bases = std::map<int, Base>;

  /// How a pointer is set: to an element of the array, or of where another one leads.
  struct Origin {
    int From = -1;    ///< as the keys of Bases
    TextRange Name;   ///< of the array or that pointer
    std::string Rest; ///< how many elements behind it; "": none
  };

  /// The elements that \p S names, [symbols] -> { [element] }.
  isl::pw_aff element(const SharedAccess &S) const {
    const SharedArray &Arr = M.Arrays[S.Array];
    const isl::pw_aff I = A.fix(S.Index.back());
    if (S.Index.size() == 1)
      return I;
    const isl::val Row(I.ctx(), long(*Arr.Extents.back()));
    return A.fix(S.Index.front()).scale(Row).add(I);
  }

  int baseOf(const SharedAccess &S) const {
    for (const VarUse &U : M.VarUses)
      if (U.Range.Begin == S.Range.Begin)
        return int(U.Var);
    return -1;
  }

  /// nullopt: it is not known where all of \p Array is used, or all of it alike.
  std::optional<Bases> basesOf(unsigned Array) const {
    Bases Out;
    for (const SharedAccess &S : M.SharedAccesses) {
      if (S.Array != Array)
        continue;
      if ((S.K != SharedAccess::Read && S.K != SharedAccess::Write &&
           S.K != SharedAccess::ReadWrite) ||
          S.Range.empty() || !S.Affine || S.Lanes != 1 || S.AllMembers || S.Domain.is_null() ||
          S.Index.empty() ||
          (S.Index.size() == 2 && !M.Arrays[Array].Extents.back()))
        return std::nullopt;
      const isl::set Where = A.Context.intersect(A.fix(static_cast<const isl::set &>(S.Domain)));
      const auto Low = minConst(element(S), Where),
                 High = maxConst(element(S), Where);
      if (!Low || !High || *Low < 0)
        return std::nullopt;
      Base &B = Out[baseOf(S)];
      B.From = std::min(B.From, *Low);
      B.To = std::max(B.To, *High);
    }
    return Out.size() > 1 ? std::optional(Out) : std::nullopt;
  }

  /// Numbers the parts, in the order of their elements; where each begins and ends.
  static std::vector<Base> partsOf(Bases &Of) {
    std::vector<Base> Parts;
    for (bool Changed = true; Changed;) {
      Changed = false;
      for (auto &[Name, B] : Of)
        for (auto &[Other, C] : Of)
          if (B.joins(C) && (B.From != C.From || B.To != C.To)) {
            B.From = C.From = std::min(B.From, C.From);
            B.To = C.To = std::max(B.To, C.To);
            Changed = true;
          }
    }
    for (auto &[Name, B] : Of) {
      const auto It = llvm::find_if(Parts, [&](const Base &P) { return P.joins(B); });
      B.Part = size_t(It - Parts.begin());
      if (It == Parts.end())
        Parts.push_back(B);
    }
    return Parts;
  }

  /// A pointer to rows, `float (*)[16]`.
  static bool isOfRows(const Var &P) { return StringRef(P.Type).contains("(*)["); }

  /// `s + n` of `(float (*)[16])(s + n)` and `reinterpret_cast<float (*)[16]>(s + n)`.
  static StringRef withoutCast(StringRef Text) {
    const StringRef All = Text;
    Text = Text.trim();
    size_t Open = 0;
    if (Text.consume_front("reinterpret_cast"))
      Open = Text.find(">(");
    else if (Text.starts_with("("))
      Open = Text.find("])") == StringRef::npos ? StringRef::npos : Text.find("])") + 1;
    else
      return All;
    if (Open == StringRef::npos)
      return All;
    Text = Text.drop_front(Open + 1).trim();
    return Text.starts_with("(") && Text.ends_with(")") ? Text.drop_front().drop_back() : Text;
  }

  /// `s`, `s + 2 * n`, `&s[n]`, such as rows; nullopt: anything else.
  std::optional<Origin> originOf(unsigned Array, unsigned V) const {
    const Var &P = M.Vars[V];
    if (P.IsParam || P.Assigned || P.AddressTaken || P.IsReference ||
        P.Form != Var::Equals || P.InitRange.empty() ||
        !(StringRef(P.Type).ends_with("*") || isOfRows(P)))
      return std::nullopt;
    const std::string Whole = M.text(P.InitRange);
    const StringRef Bare = isOfRows(P) ? withoutCast(Whole) : StringRef(Whole);
    const auto Before = unsigned(Bare.data() - Whole.data());
    if (isOfRows(P) && (Before == 0 || M.Arrays[Array].Extents.size() != 1))
      return std::nullopt;
    StringRef Text = Bare.rtrim();
    const bool Address = Text.ltrim().consume_front("&");
    const size_t At = Text.find_if(isNameChar);
    if (At == StringRef::npos ||
        !Text.take_front(At).drop_while([&](char C) { return C == ' ' || (Address && C == '&'); }).empty())
      return std::nullopt;
    const StringRef Name = Text.drop_front(At).take_while(isNameChar);
    StringRef Rest = Text.drop_front(At + Name.size()).ltrim();
    Origin O;
    O.Name.Begin = P.InitRange.Begin + Before + unsigned(At);
    O.Name.End = O.Name.Begin + unsigned(Name.size());
    if (Address ? !Rest.consume_front("[") || !Rest.consume_back("]")
                : !Rest.empty() && !Rest.consume_front("+"))
      return std::nullopt;
    // Sums and products alone: what is left of the array's name stays one operand.
    if (Rest.find_first_of("?<>=,&|^!~[]{};") != StringRef::npos)
      return std::nullopt;
    O.Rest = Rest.trim().str();
    const auto Use = llvm::find_if(
        M.VarUses, [&](const VarUse &U) { return U.Range.Begin == O.Name.Begin; });
    if (Use != M.VarUses.end() && isOfRows(M.Vars[Use->Var]))
      return std::nullopt; // it counts rows
    if (Use != M.VarUses.end())
      O.From = int(Use->Var);
    else if (Name != M.Arrays[Array].Name)
      return std::nullopt;
    return O;
  }

  /// The pointers that lead into \p Array, those that others are set from as well.
  std::optional<std::map<int, Origin>> origins(unsigned Array, const Bases &Of) const {
    std::map<int, Origin> Out;
    std::vector<int> Open;
    for (const auto &[V, B] : Of)
      Open.push_back(V);
    while (!Open.empty()) {
      const int V = Open.back();
      Open.pop_back();
      if (V < 0 || Out.count(V))
        continue;
      auto O = originOf(Array, unsigned(V));
      if (!O)
        return std::nullopt;
      Open.push_back(O->From);
      Out[V] = std::move(*O);
    }
    return Out;
  }

  /// Is each mention of the array and its pointers an access or where a pointer is set?
  bool namesNothingElse(unsigned Array, const std::map<int, Origin> &From) const {
    size_t Named = M.Arrays[Array].AtFileScope ? 0 : 1;
    for (const auto &[V, O] : From)
      Named += O.From < 0;
    for (const SharedAccess &S : M.SharedAccesses)
      Named += S.Array == Array && baseOf(S) < 0;
    if (Named != occurrences(M, M.Arrays[Array].Name))
      return false;
    return llvm::all_of(M.VarUses, [&](const VarUse &U) {
      return !From.count(int(U.Var)) ||
             llvm::any_of(M.SharedAccesses,
                          [&](const SharedAccess &S) {
                            return S.Array == Array && S.Range.Begin == U.Range.Begin;
                          }) ||
             llvm::any_of(From, [&](const auto &F) {
               return F.second.Name.Begin == U.Range.Begin;
             });
    });
  }

  /// Elements from the array's first one to where \p V leads.
  static std::string distance(int V, const std::map<int, Origin> &From) {
    std::string Sum;
    for (; V >= 0; V = From.at(V).From)
      if (const std::string &Rest = From.at(V).Rest; !Rest.empty())
        Sum = "(" + Rest + ")" + (Sum.empty() ? "" : " + " + Sum);
    return Sum;
  }

  /// False: the array is of several parts, and cannot be written as such.
  bool carve(unsigned Array, Bases &Of) {
    const SharedArray &Arr = M.Arrays[Array];
    const std::vector<Base> Parts = partsOf(Of);
    if (Parts.size() < 2)
      return true;
    const auto From = origins(Array, Of);
    if (!From || (!Arr.AtFileScope && !Arr.Alone) || !namesNothingElse(Array, *From))
      return false;
    std::vector<std::string> Names;
    std::string Declared;
    for (const Base &P : Parts) {
      Names.push_back(Arr.Name + "_" + std::to_string(Names.size()));
      if (occurrences(M, Names.back()))
        return false;
      const int64_t N = P.To - P.From + 1;
      Bytes += N * Arr.ElemBytes;
      Declared += "__shared__ " + Arr.ElemType + " " + Names.back() + "[" +
                  std::to_string(N) + "]; ";
    }
    const unsigned First = M.BodyRange.Begin + 1;
    const TextRange At = Arr.AtFileScope ? TextRange{First, First} : Arr.DeclRange;
    if (!Edits.insert(At, Declared + (Arr.AtFileScope ? "" : Edits.newLines(At))))
      return false;
    for (const auto &[V, O] : *From) {
      const auto Used = Of.find(V);
      // One that others are set from may be used for nothing else.
      const Base B = Used == Of.end() ? Of.begin()->second : Used->second;
      std::string Text = Names[B.Part];
      if (Used == Of.end())
        Text = "nullptr";
      else if (const std::string D = distance(V, *From); !D.empty())
        Text += " + (" + D + " - " + std::to_string(Parts[B.Part].From) + ")";
      else if (Parts[B.Part].From != 0)
        return false;
      if (isOfRows(M.Vars[unsigned(V)]))
        Text = "(" + M.Vars[unsigned(V)].Type + ")(" + Text + ")";
      if (!Edits.replace(M.Vars[unsigned(V)].InitRange, Text))
        return false;
    }
    const auto Own = Of.find(-1);
    return Own == Of.end() ||
           llvm::all_of(M.SharedAccesses, [&](const SharedAccess &S) {
             const unsigned B = S.Range.Begin;
             return S.Array != Array || baseOf(S) >= 0 ||
                    (Parts[Own->second.Part].From == 0 &&
                     Edits.replace({B, B + unsigned(Arr.Name.size())},
                                   Names[Own->second.Part]));
           });
  }
};

} // namespace

std::optional<OtherBody> rcache::carvedArrays(const KernelModel &M) {
  // (The text is for blocks of all shapes that it is planned for.) Of use where tiles are
  // staged round by round.
  if (!M.Geo.ConstBlock || !M.Geo.AllLaunchesConst || M.Geo.SeenBlocks.size() != 1 ||
      M.Geo.SeenBlocks.front() != *M.Geo.ConstBlock || llvm::none_of(M.Stmts, [](const Stmt &S) {
        return S.K == Stmt::For && S.HasBarrier && S.HasSharedWrite;
      }))
    return std::nullopt;
  M.Ctx->resetBudget();
  auto Result = guarded([&] { return Carver(M).run(); });
  if (Result)
    return std::move(*Result);
  llvm::consumeError(Result.takeError());
  return std::nullopt;
}
