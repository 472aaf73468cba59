// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See rcache/PointersInTurn.h. Every use of the pointers and the arrays is replaced, so
// that each names the element that it named; one that is not understood keeps the text.

#include "rcache/PointersInTurn.h"
#include "ArrayText.h"
#include "BodyText.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

using namespace rcache;
using llvm::StringRef;

namespace {

class Writer {
public:
  explicit Writer(const KernelModel &M) : M(M) {
    Both = M.freshName(Both);
    Side = M.freshName(Side);
  }

  std::optional<OtherBody> run() {
    for (const Stmt &S : M.Stmts)
      if (S.K == Stmt::Block)
        for (size_t I = 0; I + 3 <= S.Children.size(); ++I)
          if (const auto Of = exchange(&S.Children[I])) {
            if (!Swaps.empty() && std::pair(Of->first, Of->second) != std::pair(First, Second))
              return std::nullopt; // other pointers as well
            std::tie(First, Second) = *Of;
            Swaps.push_back(&S.Children[I]);
          }
    if (Swaps.empty() || !write())
      return std::nullopt;
    return Edits.body();
  }

private:
  const KernelModel &M;
  BodyText Edits{M};
  std::string Both = "in_turn", Side = "side";
  std::vector<const unsigned *> Swaps; ///< three statements each
  unsigned First = 0, Second = 0;      ///< indices in Vars

  StringRef text(TextRange R) const {
    return StringRef(M.Text).slice(R.Begin, R.End);
  }

  /// The variable of which \p R is the name; -1: of none.
  int variableAt(TextRange R) const {
    for (const VarUse &U : M.VarUses)
      if (U.Range == R)
        return static_cast<int>(U.Var);
    return -1;
  }
  /// `v` alone, in parts of a statement: where it begins and ends without blanks.
  int named(TextRange R) const {
    while (R.Begin < R.End && isspace(static_cast<unsigned char>(M.Text[R.Begin])))
      ++R.Begin;
    while (R.Begin < R.End && isspace(static_cast<unsigned char>(M.Text[R.End - 1])))
      --R.End;
    return variableAt(R);
  }

  /// `a = b;`
  std::optional<std::pair<unsigned, unsigned>> assignment(const Stmt &S) const {
    if (S.K != Stmt::Leaf || !text(S.Range).ends_with(";"))
      return std::nullopt;
    const size_t At = text(S.Range).find('=');
    if (At == StringRef::npos)
      return std::nullopt;
    const auto Middle = S.Range.Begin + static_cast<unsigned>(At);
    const int To = named({S.Range.Begin, Middle}), From = named({Middle + 1, S.Range.End - 1});
    if (To < 0 || From < 0)
      return std::nullopt;
    return std::pair(static_cast<unsigned>(To), static_cast<unsigned>(From));
  }

  /// `T *x = a;` alone, or `x = a;`
  std::optional<std::pair<unsigned, unsigned>> kept(const Stmt &S) const {
    if (S.K != Stmt::Decl)
      return assignment(S);
    for (unsigned V = 0; V < M.Vars.size(); ++V)
      if (M.Vars[V].DeclRange == S.Range && M.Vars[V].OnlyDeclarator && !M.Vars[V].IsReference)
        if (const int From = named(M.Vars[V].InitRange); From >= 0)
          return std::pair(V, static_cast<unsigned>(From));
    return std::nullopt;
  }

  /// `x = a; a = b; b = x;`: a and b.
  std::optional<std::pair<unsigned, unsigned>> exchange(const unsigned *At) const {
    const auto X = kept(M.stmt(At[0])), A = assignment(M.stmt(At[1])), B = assignment(M.stmt(At[2]));
    if (!X || !A || !B || X->second != A->first || A->second != B->first || B->second != X->first ||
        !isPointer(A->first) || !isPointer(B->first))
      return std::nullopt;
    return std::pair(A->first, B->first);
  }

  bool isPointer(unsigned V) const {
    const Var &P = M.Vars[V];
    const StringRef Type = StringRef(P.Type).rtrim();
    return Type.ends_with("*") && !Type.contains("volatile") && !Type.contains("const") &&
           !P.IsParam && !P.IsReference && !P.AddressTaken && !P.InitRange.empty() && P.Form == Var::Equals;
  }

  /// Is \p V used by exchanges alone, and declared there or without a value?
  bool isInSwapsAlone(unsigned V) const {
    const Var &X = M.Vars[V];
    return !X.AddressTaken && !X.IsParam && (X.InitRange.empty() || isInSwap(X.DeclRange)) &&
           llvm::all_of(M.VarUses, [&](const VarUse &U) {
             return U.Var != V || isInSwap(U.Range) || U.Range == X.NameRange;
           });
  }

  bool isInSwap(TextRange R) const {
    return llvm::any_of(Swaps, [&](const unsigned *S) {
      return TextRange{M.stmt(S[0]).Range.Begin, M.stmt(S[2]).Range.End}.contains(R);
    });
  }

  //===--- Text ---===//

  std::string row(bool Other) const {
    return Other ? "[1 - " + Side + "]" : "[" + Side + "]";
  }

  bool write() {
    const Var &P = M.Vars[First], &Q = M.Vars[Second];
    const StringRef A = text(P.InitRange).trim(), B = text(Q.InitRange).trim();
    if (!(twoArrays(A, B) || twoRows(A, B)) || !declareSide(P, Q))
      return false;
    for (const unsigned *S : Swaps) {
      const unsigned Between = kept(M.stmt(S[0]))->first;
      if (!isInSwapsAlone(Between))
        return false;
      for (unsigned I = 0; I < 3; ++I) {
        const TextRange R = M.stmt(S[I]).Range;
        if (!Edits.replace(R, (I ? "" : Side + " = 1 - " + Side + ";") + Edits.newLines(R)))
          return false;
      }
    }
    return llvm::all_of(M.VarUses, [&](const VarUse &U) {
      if ((U.Var != First && U.Var != Second) || isInSwap(U.Range) ||
          M.Vars[U.Var].NameRange == U.Range)
        return true;
      return !U.Write && text(U.Range) == M.Vars[U.Var].Name && isIndexed(U.Range.End) &&
             Edits.replace(U.Range, Both + row(U.Var == Second));
    });
  }

  bool isIndexed(unsigned Behind) const {
    return StringRef(M.Text).drop_front(Behind).ltrim().starts_with("[");
  }

  /// `int side = 0;` where the pointers are declared, next to each other.
  bool declareSide(const Var &P, const Var &Q) {
    const TextRange Ps = P.DeclRange, Qs = Q.DeclRange;
    size_t Declared = 0;
    for (const Var &V : M.Vars)
      Declared += !V.IsParam && (Ps.contains(V.NameRange) || Qs.contains(V.NameRange));
    if (Declared != 2 || M.stmt(P.DeclStmt).Parent != M.stmt(Q.DeclStmt).Parent ||
        !text(Ps).ends_with(";") || !text(Qs).ends_with(";"))
      return false;
    const std::string Text = "int " + Side + " = 0;";
    if (Ps == Qs)
      return Edits.replace(Ps, Text + Edits.newLines(Ps));
    const bool PFirst = Ps.Begin < Qs.Begin;
    return Edits.replace(Ps, (PFirst ? Text : "") + Edits.newLines(Ps)) &&
           Edits.replace(Qs, (PFirst ? "" : Text) + Edits.newLines(Qs));
  }

  /// `a` and `b`, two arrays.
  bool twoArrays(StringRef A, StringRef B) {
    const auto Find = [&](StringRef Name) {
      return llvm::find_if(M.Arrays, [&](const SharedArray &X) { return X.Name == Name; });
    };
    const auto X = Find(A), Y = Find(B);
    if (X == M.Arrays.end() || Y == M.Arrays.end() || X == Y || !alike(*X, *Y) ||
        !declareBoth(*X, *Y))
      return false;
    return nameRow(*X, "[0]") && nameRow(*Y, "[1]");
  }

  static bool alike(const SharedArray &X, const SharedArray &Y) {
    const auto Plain = [](const SharedArray &S) {
      return !S.Dynamic && !S.AtFileScope && !S.Volatile && S.Extents.size() == 1 && S.Extents[0];
    };
    return Plain(X) && Plain(Y) && X.Extents == Y.Extents && X.ElemType == Y.ElemType;
  }

  /// The statement around declaration \p R; -1: nobody knows.
  int blockOf(TextRange R) const {
    const auto S = llvm::find_if(M.Stmts, [&](const Stmt &X) { return X.Range == R; });
    return S == M.Stmts.end() ? -1 : S->Parent;
  }

  bool declareBoth(const SharedArray &X, const SharedArray &Y) {
    const bool Together = X.DeclRange == Y.DeclRange;
    const size_t There = static_cast<size_t>(llvm::count_if(M.Arrays, [&](const SharedArray &S) {
      return S.DeclRange == X.DeclRange || S.DeclRange == Y.DeclRange;
    }));
    if (There != 2 || blockOf(X.DeclRange) != blockOf(Y.DeclRange) || !text(X.DeclRange).ends_with(";") || !text(Y.DeclRange).ends_with(";"))
      return false;
    const SharedArray &Early = X.DeclRange.Begin < Y.DeclRange.Begin ? X : Y,
                      &Late = &Early == &X ? Y : X;
    const std::string Text = "__shared__ " + X.ElemType + " " + Both + "[2][" +
                             std::to_string(*X.Extents[0]) + "];";
    return Edits.replace(Early.DeclRange, Text + Edits.newLines(Early.DeclRange)) &&
           (Together || Edits.replace(Late.DeclRange, Edits.newLines(Late.DeclRange)));
  }

  /// Does the name of \p A stand for nothing else in the body?
  bool isAlone(const SharedArray &A) const {
    return llvm::none_of(M.Vars, [&](const Var &V) { return V.Name == A.Name; }) &&
           llvm::count_if(M.Arrays, [&](const SharedArray &X) { return X.Name == A.Name; }) == 1;
  }

  /// All that names \p A beside its declaration and the pointer's.
  bool nameRow(const SharedArray &A, const std::string &Row) {
    if (!isAlone(A))
      return false;
    return llvm::all_of(placesOf(M, A.Name), [&](unsigned At) {
      const TextRange R{At, At + static_cast<unsigned>(A.Name.size())};
      if (A.DeclRange.contains(R) || M.Vars[First].DeclRange.contains(R) ||
          M.Vars[Second].DeclRange.contains(R))
        return true;
      return isIndexed(R.End) && Edits.replace(R, Both + Row);
    });
  }

  /// `s[0]` and `s[1]`, the rows of an array.
  bool twoRows(StringRef A, StringRef B) {
    const auto X = llvm::find_if(M.Arrays, [&](const SharedArray &S) {
      return S.Extents.size() == 2 && S.Extents[0] == 2 && A == S.Name + "[0]" && B == S.Name + "[1]";
    });
    if (X == M.Arrays.end() || X->Volatile || !isAlone(*X))
      return false;
    Both = X->Name;
    return true;
  }
};

} // namespace

std::optional<OtherBody> rcache::pointersInTurn(const KernelModel &M) {
  if (M.Arrays.empty() || M.Stmts.empty())
    return std::nullopt;
  return Writer(M).run();
}
