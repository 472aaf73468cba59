// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See ExplicitSums.h: from choices to text.

#include "rcache/ExplicitSums.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <set>

namespace rcache {
namespace {

using Node = ExplicitSums::Node;

class Writer {
public:
  Writer(const ExplicitSums &S, const std::vector<ExplicitSums::ChoiceKind> &Chosen)
      : S(S), Chosen(Chosen) {
    for (const Node &X : S.Nodes)
      if (X.K == Node::Sum && chosen(X) != ExplicitSums::Unfused)
        if (const unsigned P = S.Nodes[chosen(X) == ExplicitSums::FuseLeft ? X.Left : X.Right].Held)
          Named.insert(P);
  }

  /// With the variables that hold the factors of a product in front of its own.
  std::string declared(const ExplicitSums::Place &P) const {
    const Node &X = S.Nodes[P.Node];
    if (!Named.count(P.Node))
      return P.Name + whole(P.Node);
    std::string T;
    for (const auto &[Name, Factor] : {std::pair(X.LeftName, X.Left), {X.RightName, X.Right}})
      if (!Name.empty())
        T += Name + " = " + factor(Factor) + ", ";
    return T + P.Name + (X.Double ? "__dmul_rn(" : "__fmul_rn(") + held(X.LeftName, X.Left) + ", " +
           held(X.RightName, X.Right) + ")";
  }

  /// Of a place: a statement, or the value of one.
  std::string whole(unsigned N) const {
    const Node &X = S.Nodes[N];
    if (X.Assigned.empty())
      return text(N);
    if (X.K == Node::Sum && chosen(X) == ExplicitSums::Unfused && !S.AllExplicit)
      return X.Assigned + X.Operator + text(X.Right);
    return X.Assigned + " = " + text(N);
  }

private:
  const ExplicitSums &S;
  const std::vector<ExplicitSums::ChoiceKind> &Chosen;
  std::set<unsigned> Named; ///< products that sums are fused with through a variable

  std::string held(const std::string &Name, unsigned Factor) const {
    return Name.empty() ? factor(Factor) : Name;
  }

  ExplicitSums::ChoiceKind chosen(const Node &X) const {
    return X.Choice ? Chosen[*X.Choice] : ExplicitSums::Unfused;
  }

  /// Is a sum written as a call?
  bool isCall(const Node &X) const {
    return S.AllExplicit || chosen(X) != ExplicitSums::Unfused;
  }

  std::string negated(unsigned N) const {
    const Node &X = S.Nodes[N];
    return X.Simple && (X.K != Node::Sum || isCall(X)) ? "-" + text(N) : "-(" + text(N) + ")";
  }

  const Node &productOf(unsigned N) const {
    const Node &X = S.Nodes[N];
    return X.Held ? S.Nodes[X.Held] : X;
  }

  std::string text(unsigned N) const {
    const Node &X = S.Nodes[N];
    switch (X.K) {
    case Node::Verbatim: {
      std::string T = X.Texts.front();
      for (size_t I = 0; I < X.Inner.size(); ++I)
        T += whole(X.Inner[I]) + X.Texts[I + 1];
      return T;
    }
    case Node::Product:
      return (X.Negated ? "-" : "") + std::string(X.Double ? "__dmul_rn(" : "__fmul_rn(") +
             factor(X.Left) + ", " + factor(X.Right) + ")";
    case Node::Sum:
      return sum(X);
    }
    return "";
  }

  /// Nothing is fused with a product that is multiplied.
  std::string factor(unsigned N) const {
    const Node &X = S.Nodes[N];
    if (X.K != Node::Product || X.Negated || !X.Assigned.empty())
      return whole(N);
    return operand(X.Left) + " * " + operand(X.Right);
  }
  /// \p N beside a `*`.
  std::string operand(unsigned N) const {
    const Node &X = S.Nodes[N];
    const bool Open = X.K == Node::Sum && X.Assigned.empty() && !isCall(X);
    return Open || !X.Assigned.empty() ? "(" + whole(N) + ")" : factor(N);
  }

  std::string sum(const Node &X) const {
    const auto Kind = chosen(X);
    if (isCall(X) && Kind == ExplicitSums::Unfused)
      return std::string(X.Double ? "__d" : "__f") + (X.Minus ? "sub_rn(" : "add_rn(") +
             text(X.Left) + ", " + text(X.Right) + ")";
    if (Kind == ExplicitSums::Unfused) {
      const Node &R = S.Nodes[X.Right];
      const std::string Right = text(X.Right);
      const bool Parens =
          (R.K == Node::Sum && !isCall(R)) || Right.front() == '-';
      return text(X.Left) + X.Operator + (Parens ? "(" + Right + ")" : Right);
    }
    const bool Left = Kind == ExplicitSums::FuseLeft;
    const Node &P = productOf(Left ? X.Left : X.Right);
    const unsigned Other = Left ? X.Right : X.Left;
    const bool MinusProduct = P.Negated != (!Left && X.Minus), MinusOther = Left && X.Minus;
    std::string First = held(P.LeftName, P.Left);
    if (MinusProduct) {
      const Node &F = S.Nodes[P.Left];
      First = !P.LeftName.empty() || (F.Simple && F.K == Node::Verbatim) ? "-" + First
                                                                        : "-(" + First + ")";
    }
    return std::string(X.Double ? "__fma_rn(" : "__fmaf_rn(") + First + ", " +
           held(P.RightName, P.Right) +
           ", " + (MinusOther ? negated(Other) : text(Other)) + ")";
  }
};

} // namespace

std::vector<ExplicitSums::ChoiceKind> ExplicitSums::guesses() const {
  std::vector<ChoiceKind> All;
  for (const Sum &S : Sums)
    All.push_back(S.Guess);
  return All;
}

std::vector<SourceEdit>
ExplicitSums::edits(const std::vector<ChoiceKind> &Chosen) const {
  std::vector<SourceEdit> All;
  const Writer W(*this, Chosen);
  for (const Place &P : Places) {
    std::string New = W.declared(P);
    const auto Lines = std::count(New.begin(), New.end(), '\n');
    if (Lines > P.Lines)
      return {};
    New.append(static_cast<size_t>(P.Lines - Lines), '\n');
    All.push_back({File, P.Offset, P.Length, std::move(New)});
  }
  return All;
}

} // namespace rcache
