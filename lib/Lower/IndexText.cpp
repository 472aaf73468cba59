// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An index form as text: `p[min(max(x, 0), w - 1) + ...]`. See IndexForm.h.

#include "Affine/IslTools.h"
#include "IndexForm.h"
#include "Plan/Staging.h"
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

class Writer {
public:
  Writer(const IndexForm &Form, const Names &N, const ValueTextOptions &O)
      : Form(Form), N(N), Inside(O) {
    // A convex context keeps the tests of one coordinate free of the others.
    if (!O.Context.is_null())
      Inside.Context =
          isl::set(isl::manage(isl_set_simple_hull(O.Context.copy())));
  }

  llvm::Expected<std::string> run(const StagePiece &First) {
    std::map<const Value *, std::string> Index;
    for (const auto &[Load, Terms] : Form.Loads) {
      std::string Sum;
      for (const IndexTerm &T : Terms) {
        auto X = term(T);
        if (!X)
          return X;
        Sum += (Sum.empty() ? "" : " + ") + *X;
      }
      Index[Load] = Sum.empty() ? "0" : Sum;
    }
    Inside.LoadText = [&](const Value *V) {
      auto It = Index.find(V);
      return It == Index.end() ? std::string()
                               : V->Text + "[" + It->second + "]";
    };
    auto V = valueText(First.V, N, Inside);
    if (!V)
      return V;
    return Text + "  return " + *V + ";\n";
  }

private:
  const IndexForm &Form;
  const Names &N;
  ValueTextOptions Inside;
  std::string Text;                         ///< the variables
  std::map<std::string, std::string> Known; ///< their values

  /// \p T as a summand: a variable when there are cases.
  llvm::Expected<std::string> term(const IndexTerm &T) {
    bool Wide = false;
    for (const IndexTerm::Case &C : T.Cases)
      Wide |= N.typeFor(involvedIds(C.Value)) == CxxType::LongLong;
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

  /// The value of \p T, which has several cases.
  llvm::Expected<std::string> chosen(const IndexTerm &T,
                                     const std::string &Type) {
    std::vector<std::string> Values;
    for (const IndexTerm::Case &C : T.Cases) {
      auto V = affineText(C.Value, N, Inside);
      if (!V)
        return V;
      Values.push_back(Type == "int" ? *V : "(" + Type + ")(" + *V + ")");
    }
    if (auto C = asClamp(T, Inside.Context)) {
      std::string X = Values[C->Order[0]];
      for (size_t K = 1; K < C->Order.size(); ++K)
        X = std::string((K == 1) == C->MaxFirst ? "max(" : "min(") + X + ", " +
            Values[C->Order[K]] + ")";
      return X;
    }
    // The case that is hardest to tell comes last, where nothing is left to
    // tell.
    std::vector<size_t> Order;
    for (size_t C = 0; C < T.Cases.size(); ++C)
      Order.push_back(C);
    llvm::stable_sort(Order, [&](size_t A, size_t B) {
      return T.Cases[A].Where.n_basic_set() < T.Cases[B].Where.n_basic_set();
    });
    std::string X;
    for (size_t K = 0; K + 1 < Order.size(); ++K) {
      // Those tested before are out; all are in what the term is for.
      isl::set Left = T.Cases[Order[K]].Where;
      for (size_t L = K + 1; L < Order.size(); ++L)
        Left = Left.unite(T.Cases[Order[L]].Where);
      auto Is = conditionText(
          simplify(T.Cases[Order[K]].Where, Left.coalesce()), N, Inside);
      if (!Is)
        return Is;
      X += *Is + " ? " + Values[Order[K]] + " : ";
    }
    return X + Values[Order.back()];
  }
};

} // namespace

llvm::Expected<std::string> rcache::indexFormText(const IndexForm &Form,
                                                  const StagePiece &First,
                                                  const Names &N,
                                                  const ValueTextOptions &O) {
  return Writer(Form, N, O).run(First);
}
