// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An index form as text: `p[min(max(x, 0), w - 1) + ...]`. See IndexForm.h.

#include "Affine/IslTools.h"
#include "IndexText.h"
#include "Plan/Staging.h"
#include "Support/Words.h"
#include "llvm/ADT/STLExtras.h"

using namespace rcache;

namespace {

/// A term as `max(x, lo)`, `min(max(x, lo), hi)` and so on: the cases in that
/// order, innermost first.
struct Clamp {
  std::vector<size_t> Order;
  bool MaxFirst = true;
};

std::optional<Clamp> asClamp(const IndexTerm &T, const isl::set &Context) {
  if (T.Cases.size() < 2 || T.Cases.size() > 3)
    return std::nullopt;
  // Nothing orders products of symbols.
  for (const IndexTerm::Case &C : T.Cases)
    for (const std::string &Id : involvedIds(C.Value))
      if (!productFactors(Id).empty())
        return std::nullopt;
  isl::pw_aff Whole = T.Cases[0].Value.intersect_domain(T.Cases[0].Where);
  for (size_t C = 1; C < T.Cases.size(); ++C)
    Whole =
        Whole.union_add(T.Cases[C].Value.intersect_domain(T.Cases[C].Where));
  const isl::set All = Whole.domain().intersect(Context);
  Clamp R;
  for (size_t C = 0; C < T.Cases.size(); ++C)
    R.Order.push_back(C);
  // The coordinate comes first, where the cases allow it.
  llvm::stable_sort(R.Order, [&](size_t A, size_t B) {
    return dependsOn(T.Cases[A].Value, T.ElemId) >
           dependsOn(T.Cases[B].Value, T.ElemId);
  });
  const std::vector<size_t> First = R.Order;
  do {
    for (bool MaxFirst : {true, false}) {
      isl::pw_aff V = T.Cases[R.Order[0]].Value;
      for (size_t K = 1; K < R.Order.size(); ++K) {
        const isl::pw_aff &W = T.Cases[R.Order[K]].Value;
        V = (K == 1) == MaxFirst ? V.max(W) : V.min(W);
      }
      if (equalUnder(Whole, V, All)) {
        R.MaxFirst = MaxFirst;
        return R;
      }
    }
    std::rotate(R.Order.begin() + 1, R.Order.begin() + 2, R.Order.end());
  } while (R.Order != First);
  return std::nullopt;
}

/// A term as `x * Factor + Common`, where x has the term's cases.
struct FactoredTerm {
  IndexTerm X; ///< no products in its values
  std::string Factor; ///< "": 1
  isl::pw_aff Common;
};

using Terms = std::map<std::string, int64_t>; ///< "": the constant

/// The sum of \p T.
isl::pw_aff sumOf(const Terms &T, isl::ctx Ctx) {
  isl::pw_aff Sum = constantValue(Ctx, 0);
  for (const auto &[Id, Coef] : T)
    Sum = Sum.add((Id.empty() ? constantValue(Ctx, 1) : symbolValue(Ctx, Id))
                      .scale(isl::val(Ctx, static_cast<long>(Coef))));
  return Sum;
}

/// The terms of each case of \p T; nullopt: one has none.
std::optional<std::vector<Terms>> termsOf(const IndexTerm &T) {
  std::vector<Terms> All;
  for (const IndexTerm::Case &C : T.Cases) {
    auto L = linearForm(C.Value, always(C.Value.ctx()));
    if (!L)
      return std::nullopt;
    All.push_back(std::move(L->Terms));
    if (L->Const)
      All.back()[""] = L->Const;
  }
  return All;
}

/// \p T with \p Factor taken out: of each case what it is multiplied with, if that is
/// a symbol or a number; all else has to be the same in all cases.
///     [e0*w] + 8 [by*w] - w + [bz*w*h]  ->  (e0 + 8 by - 1) * w + [bz*w*h]
std::optional<FactoredTerm> dividedBy(const IndexTerm &T, const std::string &Factor,
                                      const Names &N) {
  const auto Forms = termsOf(T);
  if (!Forms)
    return std::nullopt;
  const isl::ctx Ctx = T.Cases[0].Value.ctx();
  FactoredTerm R{{T.ElemId, {}}, Factor, constantValue(Ctx, 0)};
  std::optional<Terms> Common;
  for (size_t K = 0; K < Forms->size(); ++K) {
    Terms X, Rest;
    for (const auto &[Id, Coef] : (*Forms)[K]) {
      std::vector<std::string> Others = N.factorsOf(Id);
      const auto At = llvm::find(Others, Factor);
      if (At == Others.end() || Others.size() > 2) {
        Rest[Id] = Coef;
        continue;
      }
      Others.erase(At);
      X[Others.empty() ? "" : Others[0]] += Coef;
    }
    if (Common && *Common != Rest)
      return std::nullopt;
    Common = std::move(Rest);
    R.X.Cases.push_back({T.Cases[K].Where, sumOf(X, Ctx)});
  }
  R.Common = sumOf(*Common, Ctx);
  return R;
}

/// \p T without the symbols that all cases have alike.
std::optional<FactoredTerm> withoutCommon(const IndexTerm &T) {
  const auto Forms = termsOf(T);
  if (!Forms)
    return std::nullopt;
  Terms Common = Forms->front();
  Common.erase("");
  for (const Terms &Of : *Forms)
    for (auto It = Common.begin(); It != Common.end();) {
      const auto Same = Of.find(It->first);
      It = Same != Of.end() && Same->second == It->second ? std::next(It) : Common.erase(It);
    }
  const isl::ctx Ctx = T.Cases[0].Value.ctx();
  FactoredTerm R{{T.ElemId, {}}, "", sumOf(Common, Ctx)};
  for (const IndexTerm::Case &C : T.Cases)
    R.X.Cases.push_back({C.Where, C.Value.sub(R.Common)});
  return R;
}

/// The symbols that may be taken out of \p T: they are in a product.
std::vector<std::string> factorsIn(const IndexTerm &T, const Names &N) {
  std::vector<std::string> All;
  for (const IndexTerm::Case &C : T.Cases)
    for (const std::string &Id : involvedIds(C.Value)) {
      const std::vector<std::string> F = N.factorsOf(Id);
      for (const std::string &Of : F)
        if (F.size() > 1 && Of != T.ElemId && !llvm::is_contained(All, Of))
          All.push_back(Of);
    }
  return All;
}

/// The terms of an index with what none of them chooses taken out, in the source's
/// form: a coordinate as it is counted, and where it is clamped to.
///     min(x - w, -1) + min(y - 4, h - 5) * w + 5 [w] + [z*w*h]
///         ->  min(x, w - 1) + min(y, h - 1) * w + [z*w*h] + ...
class Natural {
public:
  explicit Natural(const Names &N) : N(N) {}

  /// \p From, and one term without cases at the end, if there is any.
  std::vector<IndexTerm> of(const std::vector<IndexTerm> &From) {
    if (From.empty())
      return From;
    const isl::ctx Ctx = From[0].Cases[0].Value.ctx();
    std::vector<IndexTerm> Out;
    for (const IndexTerm &T : From) {
      const auto Forms = termsOf(T);
      if (!Forms) {
        Out.push_back(T);
        continue;
      }
      if (Forms->size() == 1) {
        add(Common, Forms->front(), 1);
        continue;
      }
      Chosen.push_back({&T, *Forms, {}, false});
      takeCommon(Chosen.back());
      countFromCoordinate(Chosen.back());
    }
    giveBack();
    for (const Choice &C : Chosen) {
      IndexTerm T{C.Of->ElemId, {}};
      for (size_t K = 0; K < C.Cases.size(); ++K)
        T.Cases.push_back({C.Of->Cases[K].Where, sumOf(C.Cases[K], Ctx)});
      Out.push_back(std::move(T));
    }
    if (!Common.empty())
      Out.push_back({"", {{always(Ctx), sumOf(Common, Ctx)}}});
    return Out;
  }

private:
  using Factors = std::vector<std::string>;
  struct Choice {
    const IndexTerm *Of;
    std::vector<Terms> Cases;
    Factors By;     ///< what its coordinate is multiplied with
    bool Counted;   ///< has it a coordinate?
  };

  const Names &N;
  std::vector<Choice> Chosen;
  Terms Common;

  static void add(Terms &To, const Terms &T, int64_t Times) {
    for (const auto &[Id, Coef] : T)
      if (!(To[Id] += Times * Coef))
        To.erase(Id);
  }

  /// Out of all cases of \p C.
  void take(Choice &C, const Terms &T) {
    for (Terms &Case : C.Cases)
      add(Case, T, -1);
    add(Common, T, 1);
  }

  void takeCommon(Choice &C) {
    Terms Same;
    for (const auto &[Id, Coef] : C.Cases[0])
      if (llvm::all_of(C.Cases, [&](const Terms &Of) {
            const auto At = Of.find(Id);
            return At != Of.end() && At->second == Coef;
          }))
        Same[Id] = Coef;
    take(C, Same);
  }

  bool isIndex(const std::string &Id) const {
    return !Id.empty() && llvm::any_of(N.factorsOf(Id), [&](const std::string &F) {
      return N.isIndex(F);
    });
  }

  /// The case whose value counts with a coordinate keeps that alone.
  void countFromCoordinate(Choice &C) {
    const Terms *Inside = nullptr;
    for (const bool Forwards : {true, false})
      for (const Terms &Of : C.Cases)
        for (const auto &[Id, Coef] : Of)
          if (!Inside && isIndex(Id) && (Coef > 0 || !Forwards)) {
            Inside = &Of;
            C.By = N.factorsOf(Id);
            llvm::erase_if(C.By, [&](const std::string &F) { return N.isIndex(F); });
          }
    if (!Inside)
      return;
    C.Counted = true;
    Terms Rest = *Inside;
    for (auto It = Rest.begin(); It != Rest.end();)
      It = isIndex(It->first) ? Rest.erase(It) : std::next(It);
    take(C, Rest);
  }

  /// `x - 4` is what is clamped, and no part of the sum is larger than the source's.
  void giveBack() {
    for (Choice &C : Chosen) {
      if (!C.Counted || llvm::count_if(Chosen, [&](const Choice &Other) {
                          return Other.Counted && Other.By == C.By;
                        }) > 1)
        continue;
      const auto Back = llvm::find_if(Common, [&](const Terms::value_type &T) {
        return T.first.empty() ? C.By.empty() : N.factorsOf(T.first) == C.By;
      });
      if (Back == Common.end())
        continue;
      for (Terms &Case : C.Cases)
        add(Case, {*Back}, 1);
      Common.erase(Back);
    }
  }
};

class Writer {
public:
  Writer(const Names &N, const ValueTextOptions &O) : N(N), Inside(O) {
    // A convex context keeps the tests of one coordinate free of the others.
    if (!O.Context.is_null())
      Inside.Context =
          isl::set(isl::manage(isl_set_simple_hull(O.Context.copy())));
  }

  llvm::Expected<std::string> value(const FormedValue &Of) {
    std::map<const Value *, std::string> Index;
    for (const auto &[Load, Terms] : Of.Form.Loads) {
      std::string Sum;
      for (const IndexTerm &T : Natural(N).of(Terms)) {
        auto X = term(T);
        if (!X)
          return X;
        if (Sum.empty())
          Sum = *X;
        else if (llvm::StringRef(*X).starts_with("-"))
          Sum += " - " + X->substr(1);
        else
          Sum += " + " + *X;
      }
      Index[Load] = Sum.empty() ? "0" : Sum;
    }
    Inside.LoadText = [&](const Value *V) {
      auto It = Index.find(V);
      return It == Index.end() ? std::string()
                               : V->Text + "[" + It->second + "]";
    };
    return valueText(Of.First, N, Inside);
  }

  std::string Text; ///< the variables

private:
  const Names &N;
  ValueTextOptions Inside;
  std::map<std::string, std::string> Known; ///< their values

  /// \p T as a summand: a variable when there are cases.
  llvm::Expected<std::string> term(const IndexTerm &T) {
    bool Wide = false;
    for (const IndexTerm::Case &C : T.Cases)
      Wide |= N.typeFor(C.Value) == CxxType::LongLong;
    auto X = T.Cases.size() == 1 ? affineText(T.Cases[0].Value, N, Inside)
                                 : chosen(T, Wide ? "long long" : "int");
    if (!X || T.Cases.size() == 1)
      return X;
    // Loads of several arrays often share a term.
    auto [It, New] = Known.try_emplace(*X);
    if (New) {
      It->second = N("at" + std::to_string(Known.size() - 1));
      Text += std::string("  const ") + (Wide ? "long long " : "int ") +
              It->second + " = " + *X + ";\n";
    }
    return It->second;
  }

  /// The values of the cases of \p T, computed in \p Type.
  llvm::Expected<std::vector<std::string>> valuesOf(const IndexTerm &T,
                                                    const std::string &Type) {
    const CxxType Least = Type == "int" ? CxxType::Int : CxxType::LongLong;
    std::vector<std::string> Values;
    for (const IndexTerm::Case &C : T.Cases) {
      auto V = affineText(C.Value, N, Inside, Least);
      if (!V)
        return V.takeError();
      const bool Has = llvm::StringRef(*V).contains("(long long)") &&
                       !llvm::StringRef(*V).contains('?');
      Values.push_back(Type == "int" || Has ? *V : "(" + Type + ")(" + *V + ")");
    }
    return Values;
  }

  static std::string clamped(const Clamp &C, llvm::ArrayRef<std::string> Values) {
    std::string X = Values[C.Order[0]];
    for (size_t K = 1; K < C.Order.size(); ++K)
      X = std::string((K == 1) == C.MaxFirst ? "max(" : "min(") + X + ", " +
          Values[C.Order[K]] + ")";
    return X;
  }

  /// The value of \p T, which has several cases.
  llvm::Expected<std::string> chosen(const IndexTerm &T,
                                     const std::string &Type) {
    const std::vector<std::string> Factors = factorsIn(T, N);
    const auto F = withoutCommon(T);
    // The source adds to what it chooses, and so sums are no larger here: `w - 1 + y` need
    // not fit where `w - 1` does.
    if (Factors.empty() || asClamp(T, Inside.Context))
      return F && !llvm::all_of(involvedIds(F->Common),
                                [&](const std::string &Id) { return N.isIndex(Id); })
                 ? product(*F, Type)
                 : byCase(T, Type);
    for (const std::string &Factor : Factors)
      if (const auto By = dividedBy(T, Factor, N))
        return product(*By, Type);
    return F ? product(*F, Type) : byCase(T, Type);
  }

  /// A coordinate times what all cases are multiples of, as the original has it:
  /// `min(max(y, 0), h - 1) * w`.
  llvm::Expected<std::string> product(const FactoredTerm &F,
                                      const std::string &Type) {
    // What the original computes in 64 bits need not fit into 32 without the factor.
    bool Wide = Type != "int";
    if (Wide)
      Wide = !llvm::all_of(F.X.Cases, [&](const IndexTerm::Case &C) {
        const auto Lo = minConst(C.Value, Inside.Context),
                   Hi = maxConst(C.Value, Inside.Context);
        return N.typeFor(C.Value) == CxxType::Int && Lo && Hi &&
               *Lo >= INT32_MIN && *Hi <= INT32_MAX;
      });
    auto X = byCase(F.X, Wide ? Type : "int");
    if (!X)
      return X;
    if (F.Factor.empty()) {
      auto Rest = affineText(F.Common, N, Inside);
      if (!Rest || *Rest == "0")
        return !Rest ? std::move(Rest) : std::move(X);
      return (X->find(" ? ") != std::string::npos ? "(" + *X + ")" : *X) + " + " + *Rest;
    }
    auto By = affineText(symbolValue(F.Common.ctx(), F.Factor), N, Inside);
    if (!By)
      return By;
    auto Rest = affineText(F.Common, N, Inside);
    if (!Rest)
      return Rest;
    if (X->find(" ? ") != std::string::npos)
      *X = "(" + *X + ")";
    std::string Text = (Type != "int" && !Wide ? "(" + Type + ")" : "") + *X + " * " +
                       (llvm::all_of(*By, isNameChar) ? *By : "(" + *By + ")");
    return *Rest == "0" ? Text : Text + " + " + *Rest;
  }

  /// The value of \p T by its cases, in \p Type: a clamp, a choice in front of one,
  /// or choices.
  llvm::Expected<std::string> byCase(const IndexTerm &T, const std::string &Type) {
    auto Values = valuesOf(T, Type);
    if (!Values)
      return Values.takeError();
    if (auto C = asClamp(T, Inside.Context))
      return clamped(*C, *Values);
    // The case that is hardest to tell comes last, where nothing is left to
    // tell.
    std::vector<size_t> Order;
    for (size_t C = 0; C < T.Cases.size(); ++C)
      Order.push_back(C);
    llvm::stable_sort(Order, [&](size_t A, size_t B) {
      return T.Cases[A].Where.n_basic_set() < T.Cases[B].Where.n_basic_set();
    });
    if (Order.size() == 3)
      for (size_t K : Order) {
        IndexTerm Two{T.ElemId, T.Cases};
        std::vector<std::string> Left = *Values;
        Two.Cases.erase(Two.Cases.begin() + static_cast<long>(K));
        Left.erase(Left.begin() + static_cast<long>(K));
        const auto C = asClamp(Two, Inside.Context);
        if (!C)
          continue;
        auto Is = conditionOf(T, K, Order);
        return Is ? *Is + " ? " + (*Values)[K] + " : " + clamped(*C, Left) : std::move(Is);
      }
    std::string X;
    for (size_t K = 0; K + 1 < Order.size(); ++K) {
      auto Is = conditionOf(T, Order[K], llvm::ArrayRef(Order).drop_front(K));
      if (!Is)
        return Is;
      X += *Is + " ? " + (*Values)[Order[K]] + " : ";
    }
    return X + (*Values)[Order.back()];
  }

  /// What tells case \p K of \p T from the others of \p Among.
  llvm::Expected<std::string> conditionOf(const IndexTerm &T, size_t K,
                                          llvm::ArrayRef<size_t> Among) {
    isl::set Left = T.Cases[K].Where;
    for (size_t L : Among)
      Left = Left.unite(T.Cases[L].Where);
    return conditionText(simplify(T.Cases[K].Where, Left.coalesce()), N, Inside);
  }
};

} // namespace

llvm::Expected<std::vector<std::string>>
rcache::indexFormTexts(llvm::ArrayRef<FormedValue> Values, const Names &N,
                       const ValueTextOptions &O, std::string &Variables) {
  Writer W(N, O);
  std::vector<std::string> Texts;
  for (const FormedValue &V : Values) {
    auto T = W.value(V);
    if (!T)
      return T.takeError();
    Texts.push_back(std::move(*T));
  }
  Variables += W.Text;
  return Texts;
}
