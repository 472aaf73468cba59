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
#include <set>

using namespace rcache;
using llvm::StringRef;

namespace {

/// Most arrays of a group.
constexpr size_t MostPlaces = 4;

/// Statements after which each pointer of a cycle leads where the next one did:
/// `x = p; p = q; q = w; w = x;`
struct Turn {
  std::vector<unsigned> Cycle; ///< p, q, w: indices in Vars
  unsigned Between = 0;        ///< x
  std::vector<unsigned> Stmts;
};

class TurnWriter {
public:
  explicit TurnWriter(const KernelModel &M) : M(M) {}

  std::optional<OtherBody> run() {
    findTurns();
    if (!findPlaces() || !findPointers() || !declareRows() || !declarePointers() ||
        !writeTurns() || !writeUses())
      return std::nullopt;
    return Edits.body();
  }

private:
  const KernelModel &M;
  BodyText Edits{M};
  std::string Joined; ///< the array whose rows the places are
  std::string Side;   ///< the number that turns
  std::vector<Turn> Turns;
  std::vector<unsigned> Order;      ///< of the pointers that turn, as they begin
  size_t First = 0;                 ///< row of the first of them at first
  std::vector<std::string> Places;  ///< arrays, `a`, or rows of one, `s[1]`
  std::map<unsigned, std::string> Rows; ///< pointers, and the row that each leads to
  std::set<unsigned> Named;         ///< those of them that have a variable for it

  StringRef text(TextRange R) const {
    return StringRef(M.Text).slice(R.Begin, R.End);
  }

  TextRange trimmed(TextRange R) const {
    while (R.Begin < R.End && isspace(static_cast<unsigned char>(M.Text[R.Begin])))
      ++R.Begin;
    while (R.Begin < R.End && isspace(static_cast<unsigned char>(M.Text[R.End - 1])))
      --R.End;
    return R;
  }

  /// The variable of which \p R is the name; -1: of none.
  int named(TextRange R) const {
    R = trimmed(R);
    for (const VarUse &U : M.VarUses)
      if (U.Range == R)
        return static_cast<int>(U.Var);
    return -1;
  }

  //===--- What takes turns ---===//

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

  /// The turn that begins with \p All.
  std::optional<Turn> turnAt(llvm::ArrayRef<unsigned> All) const {
    const auto X = kept(M.stmt(All.front()));
    if (!X)
      return std::nullopt;
    Turn T{{}, X->first, {All.front()}};
    unsigned Next = X->second; // whose turn it is
    for (unsigned S : All.drop_front()) {
      const auto A = assignment(M.stmt(S));
      if (!A || A->first != Next || !isPointer(Next) || T.Cycle.size() == MostPlaces)
        return std::nullopt;
      T.Cycle.push_back(Next);
      T.Stmts.push_back(S);
      if (A->second == X->first)
        return T.Cycle.size() > 1 ? std::optional(T) : std::nullopt;
      Next = A->second;
    }
    return std::nullopt;
  }

  /// Those of one group of pointers; others have a body of their own behind this.
  void findTurns() {
    for (const Stmt &S : M.Stmts)
      if (S.K == Stmt::Block)
        for (size_t I = 0; I < S.Children.size(); ++I)
          if (auto T = turnAt(llvm::ArrayRef(S.Children).drop_front(I)))
            if (Turns.empty() || llvm::any_of(T->Cycle, [&](unsigned V) {
                  return llvm::is_contained(Order, V);
                })) {
              if (Turns.empty())
                Order = T->Cycle;
              Turns.push_back(std::move(*T));
            }
  }

  /// Does \p Cycle lead on as Order does?
  bool turnsAlike(std::vector<unsigned> Cycle) const {
    const auto At = llvm::find(Cycle, Order.front());
    std::rotate(Cycle.begin(), At, Cycle.end());
    return Cycle == Order;
  }

  bool isPointer(unsigned V) const {
    const Var &P = M.Vars[V];
    const StringRef Type = P.Type;
    return Type.contains('*') && !Type.contains("volatile") && !P.IsParam && !P.IsReference &&
           !P.AddressTaken && P.ArrayExtents.empty() && !P.InitRange.empty() &&
           P.Form == Var::Equals;
  }

  //===--- Where they lead ---===//

  /// `a`, a whole array of its own, or `s[1]`, a row.
  bool isPlace(StringRef Name) const {
    return llvm::any_of(M.Arrays, [&](const SharedArray &A) {
      if (Name == A.Name)
        return A.Extents.size() >= 1;
      unsigned Row = 0;
      StringRef Rest = Name;
      return Rest.consume_front(A.Name) && Rest.consume_front("[") &&
             !Rest.consumeInteger(10, Row) && Rest == "]" && A.Extents.size() >= 2 &&
             A.Extents[0] && Row < *A.Extents[0];
    });
  }

  /// The three parts of `c ? x : y`; nullopt: something else.
  std::optional<std::array<TextRange, 3>> choice(TextRange R) const {
    int Depth = 0, Marks = 0;
    std::optional<unsigned> Mark;
    for (unsigned I = R.Begin; I < R.End; ++I) {
      const char C = M.Text[I];
      if (C == '"' || C == '\'' || C == '/' || C == '\\' || C == '#')
        return std::nullopt; // (comments as well)
      Depth += (C == '(' || C == '[' || C == '{') - (C == ')' || C == ']' || C == '}');
      if (Depth != 0)
        continue;
      if (C == '?') {
        if (Marks++ == 0)
          Mark = I;
      } else if (C == ':') {
        if (I + 1 < R.End && M.Text[I + 1] == ':')
          ++I;
        else if (Mark && --Marks == 0)
          return std::array{TextRange{R.Begin, *Mark}, TextRange{*Mark + 1, I},
                            TextRange{I + 1, R.End}};
      }
    }
    return std::nullopt;
  }

  TextRange inner(TextRange R) const {
    for (R = trimmed(R); !R.empty() && M.Text[R.Begin] == '(';) {
      int Depth = 0;
      unsigned I = R.Begin;
      for (; I < R.End; ++I)
        if ((Depth += (M.Text[I] == '(') - (M.Text[I] == ')')) == 0)
          break;
      if (I + 1 != R.End)
        break;
      R = trimmed({R.Begin + 1, R.End - 1});
    }
    return R;
  }

  /// The places that \p R, an initialiser, may be. False: it is something else.
  bool collect(TextRange R, std::set<std::string> &All) const {
    R = inner(R);
    if (isPlace(text(R))) {
      All.insert(text(R).str());
      return true;
    }
    if (const int V = named(R); V >= 0) {
      const auto Of = static_cast<unsigned>(V);
      return isPointer(Of) && (M.Vars[Of].InitRange.End <= R.Begin) &&
             collect(M.Vars[Of].InitRange, All);
    }
    const auto Parts = choice(R);
    return Parts && collect((*Parts)[1], All) && collect((*Parts)[2], All);
  }

  bool chooses(unsigned V) const {
    return isPointer(V) && text(M.Vars[V].InitRange).contains('?');
  }

  bool findPlaces() {
    for (unsigned V : Order) { // in the order in which they turn
      const std::string Name = text(inner(M.Vars[V].InitRange)).str();
      if (!isPlace(Name) || llvm::is_contained(Places, Name))
        return false;
      Places.push_back(Name);
    }
    for (bool More = true; More;) {
      More = false;
      for (unsigned V = 0; V < M.Vars.size(); ++V) {
        std::set<std::string> Of;
        if (!chooses(V) || !collect(M.Vars[V].InitRange, Of) || Of.size() < 2)
          continue;
        if (!Places.empty() && llvm::none_of(Of, [&](const std::string &P) {
              return llvm::is_contained(Places, P);
            }))
          continue; // another group
        for (const std::string &P : Of)
          if (!llvm::is_contained(Places, P)) {
            Places.push_back(P);
            More = true;
          }
      }
    }
    return Places.size() > 1 && Places.size() <= MostPlaces;
  }

  /// Are the rows to which the pointers lead at first numbered in the order in which they
  /// turn, from First on?
  bool turnsInOrder() {
    for (size_t I = 0; I < Order.size(); ++I)
      if (I == 0)
        First = static_cast<size_t>(std::stoul(numberOf(Places[0])));
      else if (numberOf(Places[I]) != std::to_string((First + I) % Order.size()))
        return false;
    return Order.empty() || First < Order.size();
  }

  /// All pointers to these places.
  bool findPointers() {
    if (!turnsInOrder())
      return false;
    Side = M.freshName(Order.size() == 2 ? "side" : "turn");
    const std::string Count = std::to_string(Order.size());
    for (size_t I = 0; I < Order.size(); ++I)
      Rows[Order[I]] = Order.size() == 2 ? (I ? "1 - " : "") + Side
                       : I == 0          ? Side
                                         : "(" + Side + " + " + std::to_string(I) + ") % " + Count;
    for (unsigned V = 0; V < M.Vars.size(); ++V) {
      std::set<std::string> Of;
      if (Rows.count(V) || !isPointer(V) || isBetween(V) || !collect(M.Vars[V].InitRange, Of) ||
          llvm::none_of(Of, [&](const std::string &P) { return llvm::is_contained(Places, P); }))
        continue;
      if (M.Vars[V].Assigned || !llvm::all_of(Of, [&](const std::string &P) {
            return llvm::is_contained(Places, P);
          }))
        return false;
      if (Of.size() == 1 && named(inner(M.Vars[V].InitRange)) < 0) {
        Rows[V] = numberOf(*Of.begin());
        continue;
      }
      Rows[V] = M.freshName(M.Vars[V].Name + "_row");
      Named.insert(V);
    }
    return true;
  }

  std::string numberOf(StringRef Place) const {
    if (Place.ends_with("]"))
      return Place.drop_back().substr(Place.find('[') + 1).str();
    return std::to_string(llvm::find(Places, Place) - Places.begin());
  }

  bool isBetween(unsigned V) const {
    return llvm::any_of(Turns, [&](const Turn &T) { return T.Between == V; });
  }

  //===--- Text ---===//

  bool isInTurn(TextRange R) const {
    return llvm::any_of(Turns, [&](const Turn &T) {
      return TextRange{M.stmt(T.Stmts.front()).Range.Begin, M.stmt(T.Stmts.back()).Range.End}
          .contains(R);
    });
  }

  /// Is \p R in what declares one of the pointers?
  bool isInDeclaration(TextRange R) const {
    return llvm::any_of(Rows, [&](const auto &P) { return M.Vars[P.first].DeclRange.contains(R); });
  }

  /// Is \p V used by turns alone, and declared there or without a value?
  bool isInTurnsAlone(unsigned V) const {
    const Var &X = M.Vars[V];
    return !X.AddressTaken && !X.IsParam && (X.InitRange.empty() || isInTurn(X.DeclRange)) &&
           llvm::all_of(M.VarUses, [&](const VarUse &U) {
             return U.Var != V || isInTurn(U.Range) || U.Range == X.NameRange;
           });
  }

  /// The number of the row that \p R leads to, where it stands; "": not known.
  std::string rowOf(TextRange R) const {
    R = inner(R);
    if (const std::string Name = text(R).str(); llvm::is_contained(Places, Name))
      return numberOf(Name);
    if (const int V = named(R); V >= 0) {
      const auto Of = Rows.find(static_cast<unsigned>(V));
      return Of == Rows.end() ? "" : Of->second;
    }
    const auto Parts = choice(R);
    if (!Parts || namesPlace((*Parts)[0]))
      return "";
    const std::string X = rowOf((*Parts)[1]), Y = rowOf((*Parts)[2]);
    if (X.empty() || Y.empty())
      return "";
    return "(" + text((*Parts)[0]).trim().str() + " ? " + X + " : " + Y + ")";
  }

  bool namesPlace(TextRange R) const {
    for (const VarUse &U : M.VarUses)
      if (R.contains(U.Range) && Rows.count(U.Var))
        return true;
    return llvm::any_of(Places, [&](const std::string &P) {
      const std::string Name = StringRef(P).take_until([](char C) { return C == '['; }).str();
      return llvm::any_of(placesOf(M, Name), [&](unsigned At) { return R.contains({At, At + 1}); });
    });
  }

  /// A row each in place of the arrays, or the rows that there are.
  bool declareRows() {
    const bool AreRows = StringRef(Places.front()).ends_with("]");
    if (AreRows) {
      Joined = Places.front().substr(0, Places.front().find('['));
      return llvm::all_of(Places, [&](StringRef P) {
               return P.consume_front(Joined) && P.starts_with("[");
             }) &&
             llvm::all_of(M.Arrays, [&](const SharedArray &A) {
               return A.Name != Joined || (!A.Volatile && isAlone(A));
             });
    }
    std::vector<const SharedArray *> All;
    for (const std::string &P : Places) {
      const auto A =
          llvm::find_if(M.Arrays, [&](const SharedArray &X) { return X.Name == P; });
      if (A == M.Arrays.end() || !isAlone(*A) || !alike(*A, All.empty() ? *A : *All.front()))
        return false;
      All.push_back(&*A);
    }
    Joined = M.freshName("in_turn");
    if (!declareJoined(All))
      return false;
    for (size_t I = 0; I < All.size(); ++I)
      if (!nameRow(*All[I], "[" + std::to_string(I) + "]"))
        return false;
    return true;
  }

  static bool alike(const SharedArray &X, const SharedArray &Y) {
    return !X.Dynamic && !X.AtFileScope && !X.Volatile && X.Extents == Y.Extents &&
           X.ElemType == Y.ElemType &&
           llvm::all_of(X.Extents, [](const auto &E) { return E.has_value(); });
  }

  /// The statement around declaration \p R; -1: nobody knows.
  int blockOf(TextRange R) const {
    const auto S = llvm::find_if(M.Stmts, [&](const Stmt &X) { return X.Range == R; });
    return S == M.Stmts.end() ? -1 : S->Parent;
  }

  /// `__shared__ T in_turn[2][N];` where the first of \p All is declared.
  bool declareJoined(const std::vector<const SharedArray *> &All) {
    std::map<unsigned, TextRange> Statements; // by where they begin
    for (const SharedArray *A : All)
      Statements.emplace(A->DeclRange.Begin, A->DeclRange);
    for (const SharedArray &A : M.Arrays)
      if (Statements.count(A.DeclRange.Begin) && !llvm::is_contained(All, &A))
        return false;
    std::string Text = "__shared__ " + All.front()->ElemType + " " + Joined + "[" +
                       std::to_string(All.size()) + "]";
    for (const auto &E : All.front()->Extents)
      Text += "[" + std::to_string(*E) + "]";
    Text += ";";
    for (const auto &[Begin, R] : Statements) {
      if (blockOf(R) != blockOf(Statements.begin()->second) || !text(R).ends_with(";") ||
          text(R).contains("align") ||
          !Edits.replace(R, (Begin == Statements.begin()->first ? Text : "") + Edits.newLines(R)))
        return false;
    }
    return true;
  }

  /// Does the name of \p A stand for nothing else in the body?
  bool isAlone(const SharedArray &A) const {
    return llvm::none_of(M.Vars, [&](const Var &V) { return V.Name == A.Name; }) &&
           llvm::count_if(M.Arrays, [&](const SharedArray &X) { return X.Name == A.Name; }) == 1;
  }

  bool isIndexed(unsigned Behind) const {
    return StringRef(M.Text).drop_front(Behind).ltrim().starts_with("[");
  }

  /// All that names \p A beside its declaration and the pointers'.
  bool nameRow(const SharedArray &A, const std::string &Row) {
    return llvm::all_of(placesOf(M, A.Name), [&](unsigned At) {
      const TextRange R{At, At + static_cast<unsigned>(A.Name.size())};
      if (A.DeclRange.contains(R) || isInDeclaration(R))
        return true;
      return isIndexed(R.End) && Edits.replace(R, Joined + Row);
    });
  }

  /// Numbers where the pointers are declared: of those that turn, one, `int side = 0;`.
  bool declarePointers() {
    std::map<unsigned, TextRange> Statements; // by where they begin
    for (const auto &[V, Row] : Rows)
      Statements.emplace(M.Vars[V].DeclRange.Begin, M.Vars[V].DeclRange);
    bool Turning = false;
    for (const auto &[Begin, R] : Statements) {
      std::string Text;
      for (unsigned V = 0; V < M.Vars.size(); ++V) {
        const Var &P = M.Vars[V];
        if (P.IsParam || !R.contains(P.NameRange))
          continue;
        if (!Rows.count(V) || M.stmt(P.DeclStmt).K != Stmt::Decl)
          return false; // declares something else as well
        if (llvm::is_contained(Order, V)) {
          if (M.stmt(P.DeclStmt).Parent != M.stmt(M.Vars[Order.front()].DeclStmt).Parent)
            return false;
          Text += Turning ? "" : "int " + Side + " = " + std::to_string(First) + "; ";
          Turning = true;
        } else if (Named.count(V)) {
          const std::string Row = rowOf(P.InitRange);
          if (Row.empty())
            return false;
          Text += "const int " + Rows[V] + " = " + Row + "; ";
        }
      }
      if (!text(R).ends_with(";") || !Edits.replace(R, Text + Edits.newLines(R)))
        return false;
    }
    return true;
  }

  bool writeTurns() {
    const std::string Next =
        Order.size() == 2 ? "1 - " + Side
                          : "(" + Side + " + 1) % " + std::to_string(Order.size());
    for (const Turn &T : Turns) {
      if (!isInTurnsAlone(T.Between) || T.Cycle.size() != Order.size() || !turnsAlike(T.Cycle))
        return false;
      for (unsigned S : T.Stmts) {
        const TextRange R = M.stmt(S).Range;
        if (!Edits.replace(R, (S == T.Stmts.front() ? Side + " = " + Next + ";" : "") +
                                  Edits.newLines(R)))
          return false;
      }
    }
    return true;
  }

  /// Is each word that is a pointer's name a variable's that is known?
  bool areKnown() const {
    const auto IsKnown = [&](TextRange R) {
      return llvm::any_of(M.VarUses, [&](const VarUse &U) { return U.Range == R; }) ||
             llvm::any_of(M.Vars, [&](const Var &V) { return V.NameRange == R; });
    };
    return llvm::all_of(Rows, [&](const auto &P) {
      const std::string &Name = M.Vars[P.first].Name;
      return llvm::all_of(placesOf(M, Name), [&](unsigned At) {
        return IsKnown({At, At + static_cast<unsigned>(Name.size())});
      });
    });
  }

  bool writeUses() {
    return areKnown() && llvm::all_of(M.VarUses, [&](const VarUse &U) {
      const auto Of = Rows.find(U.Var);
      if (Of == Rows.end() || isInTurn(U.Range) || isInDeclaration(U.Range))
        return true;
      return !U.Write && text(U.Range) == M.Vars[U.Var].Name && isIndexed(U.Range.End) &&
             Edits.replace(U.Range, Joined + "[" + Of->second + "]");
    });
  }
};

} // namespace

std::optional<OtherBody> rcache::pointersInTurn(const KernelModel &M) {
  if (M.Arrays.empty() || M.Stmts.empty())
    return std::nullopt;
  return TurnWriter(M).run();
}
