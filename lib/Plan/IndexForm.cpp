// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See IndexForm.h. The symbols fall into groups: two belong together when a
// constraint of a domain has both. Then each domain is a union of products of
// sets, one a group; cut along each other, these are the group's classes (left
// of the image, inside, right of it). An index that is a sum over the groups of
// terms that depend on the group's class alone is the form looked for.

#include "IndexForm.h"
#include "Affine/IslTools.h"
#include "Solve.h"
#include "Staging.h"
#include "Values.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/STLExtras.h"
#include <isl/set.h>
#include <set>

using namespace rcache;

namespace {

/// The Load nodes of two values that are the same but for their indices, pair
/// by pair; false: they differ in more.
bool sameButIndices(const ValueRef &A, const ValueRef &B,
                    std::vector<std::pair<ValueRef, ValueRef>> &Loads) {
  if (A->K != B->K || A->Type != B->Type || A->Text != B->Text ||
      A->Root != B->Root || A->Operands.size() != B->Operands.size())
    return false;
  if (A->K == Value::Load && A->Operands[0]->K == Value::Affine &&
      B->Operands[0]->K == Value::Affine) {
    Loads.emplace_back(A, B);
    return true;
  }
  if (A->K == Value::Unknown || A->K == Value::Select)
    return false;
  if (A->K == Value::Affine)
    return A->Aff.plain_is_equal(B->Aff);
  for (size_t I = 0; I < A->Operands.size(); ++I)
    if (!sameButIndices(A->Operands[I], B->Operands[I], Loads))
      return false;
  return true;
}

/// The symbols of \p S, products taken apart.
std::vector<std::string> symbolsOf(const isl::set &S) {
  std::vector<std::string> Ids;
  for (const std::string &Id : involvedIds(S)) {
    const std::vector<std::string> Factors = productFactors(Id);
    Ids.push_back(Id);
    Ids.insert(Ids.end(), Factors.begin(), Factors.end());
  }
  return Ids;
}

/// The pieces of one run, taken apart by groups of symbols.
class Separation {
public:
  /// \p Known holds where \p Context does: what the domains are simplified by.
  Separation(const StagingFunction &F, const isl::set &Context,
             const isl::set &Known)
      : F(F), Context(Context), Known(Known) {}

  std::optional<IndexForm> of(size_t Begin, size_t End) {
    this->Begin = Begin;
    Groups.clear();
    Combos.clear();
    PieceOf.clear();
    Loads.clear();
    if (!collect(Begin, End))
      return std::nullopt;
    IndexForm Form;
    Form.Begin = Begin;
    Form.End = End;
    Form.Domain = never(Context.ctx());
    for (size_t K = Begin; K < End; ++K)
      Form.Domain = Form.Domain.unite(F.Pieces[K].Domain).coalesce();
    for (size_t L = 0; L < Loads[0].size(); ++L) {
      auto Terms = termsOf(L);
      if (!Terms)
        return std::nullopt;
      Form.Loads.emplace(Loads[0][L].first.get(), std::move(*Terms));
    }
    return Form;
  }

private:
  struct Group {
    std::string ElemId;
    std::set<std::string> Ids;
    std::vector<isl::set> Classes;
  };
  using Combo = std::vector<size_t>; ///< a class of each group
  static constexpr size_t MaxClasses = 12;

  const StagingFunction &F;
  const isl::set &Context, &Known;
  size_t Begin = 0;
  std::vector<Group> Groups;
  std::vector<Combo> Combos;   ///< those that lie in a piece
  std::vector<size_t> PieceOf; ///< of each combo, counted from Begin
  /// Of each piece of the run: its loads, paired with those of the first.
  std::vector<std::vector<std::pair<ValueRef, ValueRef>>> Loads;

  bool collect(size_t Begin, size_t End) {
    Constraints.clear();
    Symbols.clear();
    Index.clear();
    Together = {};
    GroupOf.clear();
    Products.clear();
    if (!readPieces(Begin, End) || Loads[0].empty())
      return false;
    groupSymbols();
    if (!makeProducts())
      return false;
    for (size_t G = 0; G < Groups.size(); ++G)
      for (const auto &[K, Parts] : Products)
        if (!refine(Groups[G].Classes, Parts[G]))
          return false;
    combine();
    return !Groups.empty();
  }

  // Of collect, in its order.
  std::vector<std::vector<std::vector<isl::set>>> Constraints; ///< by piece
  std::vector<std::string> Symbols; ///< in constraints, as they come
  std::map<std::string, unsigned> Index; ///< in Symbols
  llvm::EquivalenceClasses<unsigned> Together;
  std::map<unsigned, size_t> GroupOf; ///< by leader in Together
  /// One set a group, for each basic set of each piece.
  std::vector<std::pair<size_t, std::vector<isl::set>>> Products;

  /// The constraints of the pieces, and which symbols they tie together.
  bool readPieces(size_t Begin, size_t End) {
    auto NumberOf = [&](const std::string &Id) {
      auto [It, New] = Index.emplace(Id, Symbols.size());
      if (New) {
        Symbols.push_back(Id);
        Together.insert(It->second);
      }
      return It->second;
    };
    for (size_t K = Begin; K < End; ++K) {
      Loads.emplace_back();
      if (!sameButIndices(F.Pieces[Begin].V, F.Pieces[K].V, Loads.back()))
        return false;
      const isl::set Domain = simplify(F.Pieces[K].Domain, Known);
      if (involvesDivs(Domain))
        return false;
      Constraints.emplace_back();
      Domain.foreach_basic_set([&](const isl::basic_set &B) {
        Constraints.back().push_back(constraintsOf(B));
        for (const isl::set &C : Constraints.back().back()) {
          std::optional<unsigned> First;
          for (const std::string &Id : symbolsOf(C)) {
            const unsigned Number = NumberOf(Id);
            if (First)
              Together.unionSets(*First, Number);
            First = Number;
          }
        }
      });
    }
    return true;
  }

  /// Groups in the order of the coordinates, those without one at the end.
  void groupSymbols() {
    auto Place = [&](const std::string &Id) {
      auto It = Index.find(Id);
      if (It == Index.end())
        return;
      const unsigned Leader = Together.getLeaderValue(It->second);
      auto [G, New] = GroupOf.emplace(Leader, Groups.size());
      if (New)
        Groups.emplace_back();
      if (Groups[G->second].ElemId.empty() && llvm::is_contained(F.ElemIds, Id))
        Groups[G->second].ElemId = Id;
      Groups[G->second].Ids.insert(Id);
    };
    for (const std::string &E : F.ElemIds)
      Place(E);
    for (const std::string &Id : Symbols)
      Place(Id);
  }

  bool makeProducts() {
    for (size_t K = 0; K < Constraints.size(); ++K)
      for (const std::vector<isl::set> &Basic : Constraints[K]) {
        std::vector<isl::set> Parts(Groups.size(), always(Context.ctx()));
        for (const isl::set &C : Basic) {
          const std::vector<std::string> Ids = symbolsOf(C);
          if (Ids.empty())
            return false;
          const size_t G =
              GroupOf.at(Together.getLeaderValue(Index.at(Ids.front())));
          Parts[G] = Parts[G].intersect(C);
        }
        Products.push_back({K, std::move(Parts)});
      }
    return true;
  }

  /// The combinations of classes that lie in a piece; where pieces overlap the
  /// first one holds.
  void combine() {
    std::set<Combo> Known;
    for (const auto &[K, Parts] : Products) {
      std::vector<Combo> In = {{}};
      for (size_t G = 0; G < Groups.size(); ++G) {
        std::vector<Combo> Longer;
        for (size_t C = 0; C < Groups[G].Classes.size(); ++C)
          if (Groups[G].Classes[C].is_subset(Parts[G]))
            for (Combo Head : In) {
              Head.push_back(C);
              Longer.push_back(std::move(Head));
            }
        In = std::move(Longer);
      }
      for (Combo &C : In)
        if (isMet(C) && Known.insert(C).second) {
          Combos.push_back(std::move(C));
          PieceOf.push_back(K);
        }
    }
  }

  /// Whether an element in the context lies in all classes of \p C: where a
  /// star leaves out the corners, simplified domains overlap in them.
  bool isMet(const Combo &C) const {
    isl::set All = Context;
    for (size_t G = 0; G < Groups.size(); ++G)
      All = All.intersect(Groups[G].Classes[C[G]]);
    return !All.is_empty();
  }

  /// Splits the disjoint sets \p Classes along \p S and adds what of S lies
  /// outside all of them. False: too many.
  bool refine(std::vector<isl::set> &Classes, const isl::set &S) const {
    std::vector<isl::set> Finer;
    isl::set Rest = S;
    auto Keep = [&](const isl::set &Part) {
      if (!Part.intersect(Context).is_empty())
        Finer.push_back(Part.coalesce());
    };
    for (const isl::set &C : Classes) {
      Keep(C.intersect(S));
      Keep(C.subtract(S));
      Rest = Rest.subtract(C);
    }
    Keep(Rest);
    Classes = std::move(Finer);
    return Classes.size() <= MaxClasses;
  }

  /// The group in whose term \p Id is written when it is in all of them: that
  /// of the coordinate in it, else that of one of its factors; -1: none.
  int groupOf(const std::string &Id) const {
    std::vector<std::string> Ids = productFactors(Id);
    Ids.push_back(Id);
    int Of = -1;
    for (const std::string &I : Ids)
      for (size_t G = 0; G < Groups.size(); ++G) {
        if (Groups[G].ElemId == I)
          return static_cast<int>(G);
        if (Groups[G].Ids.count(I))
          Of = static_cast<int>(G);
      }
    return Of;
  }

  /// The parts of the coefficients \p M, one a combo, that belong to each group
  /// and class: M[combo] = sum of Parts[group][combo[group]].
  std::optional<std::vector<std::vector<int64_t>>>
  partsOf(const std::vector<int64_t> &M, int Of) const {
    std::vector<std::vector<int64_t>> Parts;
    for (const Group &G : Groups)
      Parts.emplace_back(G.Classes.size(), 0);
    // A combo beside which each class of each group is met alone.
    for (size_t Ref = 0; Ref < Combos.size(); ++Ref) {
      std::vector<std::vector<std::optional<int64_t>>> Change;
      for (const Group &G : Groups)
        Change.emplace_back(G.Classes.size());
      for (size_t K = 0; K < Combos.size(); ++K)
        for (size_t G = 0; G < Groups.size(); ++G) {
          bool Alone = true;
          for (size_t H = 0; H < Groups.size(); ++H)
            Alone &= H == G || Combos[K][H] == Combos[Ref][H];
          if (Alone)
            Change[G][Combos[K][G]] = M[K] - M[Ref];
        }
      bool All = true;
      std::vector<size_t> Varies;
      for (size_t G = 0; G < Groups.size(); ++G) {
        bool Any = false;
        for (size_t C = 0; C < Change[G].size(); ++C) {
          All &= Change[G][C].has_value() || !isMetBy(G, C);
          if (Change[G][C]) {
            Parts[G][C] = *Change[G][C];
            Any |= *Change[G][C] != 0;
          }
        }
        if (Any)
          Varies.push_back(G);
      }
      if (!All)
        continue;
      // What all share goes where it varies, or to its own group.
      const size_t Base = !Varies.empty() ? Varies.back()
                          : Of >= 0       ? static_cast<size_t>(Of)
                                          : lastCoordinate();
      for (int64_t &V : Parts[Base])
        V += M[Ref];
      for (size_t K = 0; K < Combos.size(); ++K) {
        int64_t Sum = 0;
        for (size_t G = 0; G < Groups.size(); ++G)
          Sum += Parts[G][Combos[K][G]];
        if (Sum != M[K])
          return std::nullopt;
      }
      return Parts;
    }
    return std::nullopt;
  }

  /// The rest of a set that was cut may be met by no piece.
  bool isMetBy(size_t G, size_t C) const {
    return llvm::any_of(Combos, [&](const Combo &Of) { return Of[G] == C; });
  }

  size_t lastCoordinate() const {
    size_t Last = 0;
    for (size_t G = 0; G < Groups.size(); ++G)
      if (!Groups[G].ElemId.empty())
        Last = G;
    return Last;
  }

  std::optional<std::vector<IndexTerm>> termsOf(size_t Load) {
    std::vector<Linear> Index;
    std::set<std::string> Ids;
    for (size_t K = 0; K < Combos.size(); ++K) {
      const isl::pw_aff &Aff = Loads[PieceOf[K]][Load].second->Operands[0]->Aff;
      auto L = linearForm(Aff, F.Pieces[Begin + PieceOf[K]].Domain);
      if (!L)
        return std::nullopt;
      for (const auto &[Id, Coef] : L->Terms)
        Ids.insert(Id);
      Index.push_back(std::move(*L));
    }
    const isl::pw_aff Zero = constantValue(Context.ctx(), 0);
    std::vector<std::vector<isl::pw_aff>> Values;
    for (const Group &G : Groups)
      Values.emplace_back(G.Classes.size(), Zero);
    auto Add = [&](const std::vector<int64_t> &M, int Of,
                   const isl::pw_aff &Unit) {
      auto Parts = partsOf(M, Of);
      if (!Parts)
        return false;
      for (size_t G = 0; G < Groups.size(); ++G)
        for (size_t C = 0; C < Groups[G].Classes.size(); ++C)
          if (int64_t V = (*Parts)[G][C])
            Values[G][C] =
                Values[G][C].add(Unit.mul(constantValue(Context.ctx(), V)));
      return true;
    };
    for (const std::string &Id : Ids) {
      std::vector<int64_t> M;
      for (const Linear &L : Index)
        M.push_back(L.Terms.count(Id) ? L.Terms.at(Id) : 0);
      if (!Add(M, groupOf(Id), symbolValue(Context.ctx(), Id)))
        return std::nullopt;
    }
    std::vector<int64_t> M;
    for (const Linear &L : Index)
      M.push_back(L.Const);
    if (!Add(M, -1, constantValue(Context.ctx(), 1)))
      return std::nullopt;
    std::vector<IndexTerm> Terms;
    for (size_t G = 0; G < Groups.size(); ++G) {
      IndexTerm T;
      T.ElemId = Groups[G].ElemId;
      for (size_t C = 0; C < Groups[G].Classes.size(); ++C) {
        if (!isMetBy(G, C))
          continue;
        auto Same = llvm::find_if(T.Cases, [&](const IndexTerm::Case &Known) {
          return Known.Value.plain_is_equal(Values[G][C]);
        });
        if (Same == T.Cases.end())
          T.Cases.push_back({Groups[G].Classes[C], Values[G][C]});
        else
          Same->Where = Same->Where.unite(Groups[G].Classes[C]).coalesce();
      }
      if (T.Cases.size() > 1 || !T.Cases[0].Value.plain_is_equal(Zero))
        Terms.push_back(std::move(T));
    }
    return Terms;
  }
};

} // namespace

/// The bounds of \p Context alone: what windows ask for (a cross whose arms begin at
/// every fourth row) ties coordinates together that the source does not.
static isl::set boundsOf(const isl::set &Context) {
  isl::set Free = Context;
  if (Free.involves_locals())
    Free = isl::manage(isl_set_remove_divs(Free.release()));
  return isl::set(isl::manage(isl_set_simple_hull(Free.release())));
}

std::optional<IndexForm> rcache::findIndexForm(const StagingFunction &F,
                                               const isl::set &Context) {
  const isl::set Bounds = boundsOf(Context);
  std::optional<IndexForm> Best;
  for (size_t B = 0; B < F.Pieces.size();) {
    size_t E = B;
    std::vector<std::pair<ValueRef, ValueRef>> Loads;
    while (E < F.Pieces.size() && F.Pieces[E].Guards.empty() &&
           sameButIndices(F.Pieces[B].V, F.Pieces[E].V, Loads))
      ++E;
    if (E > B + 1 && !Loads.empty() &&
        (!Best || E - B > Best->End - Best->Begin))
      for (const isl::set &Known : {Context, Bounds})
        if (auto Form = Separation(F, Context, Known).of(B, E)) {
          Best = std::move(Form);
          break;
        }
    B = std::max(E, B + 1);
  }
  return Best;
}

std::optional<FormedValue> rcache::formedLoad(const ValueRef &V,
                                              const isl::set &Context) {
  if (V->K != Value::Load || V->Operands[0]->K != Value::Affine)
    return std::nullopt;
  StagingFunction F;
  isl::set Covered = never(Context.ctx());
  V->Operands[0]->Aff.coalesce().foreach_piece(
      [&](const isl::set &Where, const isl::multi_aff &Index) {
        if (Where.intersect(Context).is_empty())
          return;
        auto Of = std::make_shared<Value>(*V);
        auto At = std::make_shared<Value>(*V->Operands[0]);
        At->Aff = isl::pw_aff(Index.at(0));
        Of->Operands[0] = std::move(At);
        F.Pieces.push_back({Where, std::move(Of), {}});
        Covered = Covered.unite(Where);
      });
  if (F.Pieces.size() < 2 || !Context.is_subset(Covered))
    return std::nullopt;
  auto Form = findIndexForm(F, Context);
  if (!Form || Form->Begin != 0 || Form->End != F.Pieces.size())
    return std::nullopt;
  return FormedValue{std::move(*Form), F.Pieces[0].V};
}

bool rcache::isOneForm(const StagingFunction &F, const isl::set &Context) {
  const auto loads = [&](const StagePiece &Piece) {
    return holdsLoad(*Piece.V) && !isl::set(Piece.Domain).intersect(Context).is_empty();
  };
  const auto Form = findIndexForm(F, Context);
  if (!Form)
    return false;
  for (size_t K = 0; K < F.Pieces.size(); ++K)
    if ((K < Form->Begin || K >= Form->End) && loads(F.Pieces[K]))
      return false;
  return true;
}
