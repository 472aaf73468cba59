// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// isl's own generator turns a value or set into an expression tree: it finds
// min, max and selections, proves dividends non-negative on the context and
// turns existentials into remainders. This file prints the conditions of that
// tree; CxxArithmetic.cpp prints what they compare.

#include "IslToCxx.h"
#include "IslToCxxInternal.h"
#include "IslTools.h"
#include "llvm/ADT/StringExtras.h"
#include <algorithm>
#include <functional>
#include <isl/ast_build.h>

namespace rcache {

using namespace printing;

//===-- Conditions --------------------------------------------------------===//

/// S <= 0 as `P + c <= N` with all coefficients positive, the constant where it
/// is subtracted (signed) or added (unsigned).
Conjunct Printer::atMostZero(const Sum &S) {
  Sum P, N;
  for (const Term &T : S.Terms)
    (T.Coefficient > 0 ? P : N)
        .Terms.push_back(
            {T.Coefficient > 0 ? T.Coefficient : multiply(T.Coefficient, -1),
             T.Factor, T.Value, T.Q, T.Id});
  const int64_t C = S.Constant;
  auto Make = [&](const char *Op, bool IsLower) {
    const Piece L = text(P), R = text(N);
    const Sum &Subject = IsLower ? N : P;
    return Conjunct{
        {L.atLeast(PrecShift) + Op + R.atLeast(PrecShift), PrecCompare},
        Subject.Terms.front().Factor.Text,
        IsLower};
  };
  if (P.Terms.empty() && N.Terms.empty())
    return {{C <= 0 ? "true" : "false", PrecPrimary}, "", false};
  if (P.Terms.empty()) {
    if (isUnsigned() && C <= 0)
      return {{"true", PrecPrimary}, "", false};
    P.Constant = C;
    return Make(" <= ", /*IsLower=*/true);
  }
  if (N.Terms.empty()) {
    if (isUnsigned() && C > 0)
      return {{"false", PrecPrimary}, "", false};
    N.Constant = C == 0 ? 0 : plus(1, multiply(C, -1));
    return Make(C == 0 ? " <= " : " < ", /*IsLower=*/false);
  }
  if (isUnsigned()) {
    P.Constant = C > 1 ? C - 1 : 0;
    N.Constant = C < 0 ? plus(1, multiply(C, -1)) : 0;
  } else {
    P.Constant = C < 0 ? C : 0;
    N.Constant = C > 1 ? 1 - C : 0;
  }
  const bool NotStrict = C == 0 || (C < 0 && !isUnsigned());
  return Make(NotStrict ? " <= " : " < ", /*IsLower=*/false);
}

Conjunct Printer::equalsZero(const Sum &S) {
  Sum P, N;
  for (const Term &T : S.Terms)
    (T.Coefficient > 0 ? P : N)
        .Terms.push_back(
            {T.Coefficient > 0 ? T.Coefficient : multiply(T.Coefficient, -1),
             T.Factor, T.Value, T.Q, T.Id});
  if (P.Terms.empty() && N.Terms.empty())
    return {{S.Constant == 0 ? "true" : "false", PrecPrimary}, "", false};
  int64_t C = S.Constant; // P + C == N
  if (P.Terms.empty()) {
    std::swap(P, N);
    C = multiply(C, -1);
  }
  if (isUnsigned() && N.Terms.empty() && C > 0)
    return {{"false", PrecPrimary}, "", false};
  const bool ToTheRight = N.Terms.empty() || (C > 0) != isUnsigned();
  (ToTheRight ? N.Constant : P.Constant) = ToTheRight ? multiply(C, -1) : C;
  if (isUnsigned() && !N.Terms.empty() && N.Constant < 0)
    std::swap(P.Constant = C, N.Constant = 0);
  const Piece L = text(P), R = text(N);
  return {{L.atLeast(PrecShift) + " == " + R.atLeast(PrecShift), PrecCompare},
          P.Terms.front().Factor.Text,
          false};
}

/// The comparison \p E as S <= 0 (`==`: S == 0).
Sum Printer::normalised(const isl::ast_expr &E, isl_ast_expr_op_type Op) {
  Sum L = sum(arg(E, 0)), R = sum(arg(E, 1));
  if (Op == isl_ast_expr_op_ge || Op == isl_ast_expr_op_gt)
    std::swap(L, R);
  addScaled(L, R, -1);
  foldRemainders(L);
  if (Op == isl_ast_expr_op_lt || Op == isl_ast_expr_op_gt)
    L.Constant = plus(L.Constant, 1);
  return L;
}

Conjunct Printer::comparison(const isl::ast_expr &E, isl_ast_expr_op_type Op) {
  const Sum S = normalised(E, Op);
  return Op == isl_ast_expr_op_eq ? equalsZero(S) : atMostZero(S);
}

/// The conjuncts of a chain of `and`, in isl's order.
void Printer::conjuncts(const isl::ast_expr &E, std::vector<Conjunct> &Out) {
  if (isOp(E)) {
    switch (const auto Op = isl_ast_expr_op_get_type(E.get())) {
    case isl_ast_expr_op_and:
    case isl_ast_expr_op_and_then:
      conjuncts(arg(E, 0), Out);
      conjuncts(arg(E, 1), Out);
      return;
    case isl_ast_expr_op_eq:
    case isl_ast_expr_op_le:
    case isl_ast_expr_op_lt:
    case isl_ast_expr_op_ge:
    case isl_ast_expr_op_gt:
      Out.push_back(comparison(E, Op));
      return;
    default:
      break;
    }
  }
  Out.push_back({condition(E), "", false});
}

/// Brings the bounds of one term together, the lower ones first; else keeps the
/// order.
static void sortConjuncts(std::vector<Conjunct> &All) {
  std::vector<Conjunct> Sorted;
  for (const Conjunct &First : All) {
    auto SameSubject = [&](const Conjunct &C) {
      return C.Subject == First.Subject;
    };
    if (std::any_of(Sorted.begin(), Sorted.end(), SameSubject))
      continue;
    for (const bool Lower : {true, false})
      for (const Conjunct &C : All)
        if (SameSubject(C) && C.IsLower == Lower)
          Sorted.push_back(C);
  }
  All = std::move(Sorted);
}

static Piece conjunction(std::vector<Conjunct> All) {
  std::erase_if(All, [](const Conjunct &C) { return C.Text.Text == "true"; });
  if (All.empty())
    return {"true", PrecPrimary};
  sortConjuncts(All);
  if (All.size() == 1)
    return All.front().Text;
  std::vector<std::string> Texts;
  for (const Conjunct &C : All)
    Texts.push_back(C.Text.atLeast(PrecCompare));
  return {llvm::join(Texts, " && "), PrecAnd};
}

/// `a && (b || c)`: what all alternatives have in common comes first, once.
Piece Printer::disjunction(const isl::ast_expr &E) {
  std::vector<std::vector<Conjunct>> Sides;
  std::function<void(const isl::ast_expr &)> Add = [&](const isl::ast_expr &X) {
    if (isOp(X))
      if (const auto Op = isl_ast_expr_op_get_type(X.get());
          Op == isl_ast_expr_op_or || Op == isl_ast_expr_op_or_else) {
        Add(arg(X, 0));
        Add(arg(X, 1));
        return;
      }
    conjuncts(X, Sides.emplace_back());
  };
  Add(E);
  auto Says = [](const std::vector<Conjunct> &Side, const std::string &Text) {
    return std::any_of(Side.begin(), Side.end(), [&](const Conjunct &C) {
      return C.Text.Text == Text;
    });
  };
  std::vector<Conjunct> Common;
  for (const Conjunct &C : Sides.front())
    if (std::all_of(Sides.begin(), Sides.end(),
                    [&](const auto &S) { return Says(S, C.Text.Text); }))
      Common.push_back(C);
  // With parentheses around &&, as compilers ask for.
  std::vector<std::string> Texts;
  for (std::vector<Conjunct> &Side : Sides) {
    std::erase_if(Side, [&](const Conjunct &C) {
      return Says(Common, C.Text.Text);
    });
    const Piece P = conjunction(std::move(Side));
    if (P.Text == "true") // no more than what is common
      return conjunction(std::move(Common));
    Texts.push_back(P.Prec == PrecAnd ? "(" + P.Text + ")" : P.Text);
  }
  const Piece Rest = {llvm::join(Texts, " || "),
                      Texts.size() > 1 ? PrecOr : PrecCompare};
  if (Common.empty())
    return Rest;
  const Piece First = conjunction(std::move(Common));
  return {First.atLeast(PrecAnd) + " && " + Rest.atLeast(PrecCompare), PrecAnd};
}

Piece Printer::condition(const isl::ast_expr &E) {
  if (isl_ast_expr_get_type(E.get()) == isl_ast_expr_int)
    return {intValue(E) != 0 ? "true" : "false", PrecPrimary};
  if (!isOp(E))
    refuse("a symbol used as a condition");
  const auto Op = isl_ast_expr_op_get_type(E.get());
  switch (Op) {
  case isl_ast_expr_op_or:
  case isl_ast_expr_op_or_else:
    return disjunction(E);
  case isl_ast_expr_op_and:
  case isl_ast_expr_op_and_then:
  case isl_ast_expr_op_eq:
  case isl_ast_expr_op_le:
  case isl_ast_expr_op_lt:
  case isl_ast_expr_op_ge:
  case isl_ast_expr_op_gt: {
    std::vector<Conjunct> All;
    conjuncts(E, All);
    return conjunction(std::move(All));
  }
  case isl_ast_expr_op_cond:
  case isl_ast_expr_op_select: {
    const Piece C = condition(arg(E, 0)), A = condition(arg(E, 1)),
                B = condition(arg(E, 2));
    return {"(" + C.Text + " ? " + A.Text + " : " + B.Text + ")", PrecPrimary};
  }
  default:
    refuse("a condition of an unknown kind");
  }
}

//===-- Entry -------------------------------------------------------------===//

template <typename Fn> static llvm::Expected<CxxText> print(Fn &&Make) {
  // Of a text that is given up nobody computes the sums.
  SumLog Log;
  try {
    auto Result = guarded([&] {
      const Piece P = Make();
      return CxxText{P.Text, P.Prec == PrecPrimary};
    });
    if (Result)
      Log.handOn();
    return Result;
  } catch (const Refusal &R) {
    return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                   "cannot be written in C++: %s",
                                   R.Reason.c_str());
  }
}

static isl::set contextOf(const CxxOptions &Opts, isl::ctx Ctx) {
  if (Opts.Context.is_null())
    return always(Ctx);
  return Opts.Context;
}

/// \p Context with the parameters of \p Space, so that the generator knows
/// every symbol.
static isl::ast_build buildFor(const isl::set &Context,
                               const isl::space &Space) {
  isl::set Aligned = detail::own(
      Context.ctx(),
      isl_set_align_params(Context.copy(), isl_space_params(Space.copy())));
  return isl::ast_build::from_context(Aligned);
}

namespace {

/// A value with a power of two, a piece for each: `x + Times * (1 << Id)`, or
/// `x + Times * (1 >> Id)` with an integer product.
struct Shifted {
  isl::pw_aff Rest;
  std::string Id;
  int64_t Times = 0;
  bool Left = true;
};

std::optional<Shifted> asShifted(const isl::pw_aff &V, const std::string &Id) {
  std::map<int64_t, int64_t> Constants; // Id -> constant of the piece
  Nullable<isl::pw_aff> Rest;
  bool Fits = true;
  V.foreach_piece([&](const isl::set &Where, const isl::multi_aff &Value) {
    const auto At = constantUnder(symbolValue(V.ctx(), Id), Where);
    const isl::pw_aff A(Value.at(0));
    const isl::val Constant = Value.at(0).constant_val();
    Fits &= At && *At >= 0 && *At <= 30 && Constant.is_int();
    if (!Fits)
      return;
    const isl::pw_aff Linear =
        A.sub(constantValue(V.ctx(), Constant.num_si()));
    Fits &= Rest.is_null() || equalUnder(Rest, Linear, always(V.ctx()));
    Fits &= Constants.emplace(*At, Constant.num_si()).second;
    Rest = Linear;
  });
  if (!Fits || Constants.size() < 3)
    return std::nullopt;
  const auto [First, C] = *Constants.begin();
  if (C % (int64_t(1) << First) == 0 &&
      llvm::all_of(Constants, [F = C >> First](const auto &P) {
        return P.second == F * (int64_t(1) << P.first);
      }))
    return Shifted{Rest, Id, C >> First, true};
  if (llvm::all_of(Constants, [F = C * (int64_t(1) << First)](const auto &P) {
        return P.second * (int64_t(1) << P.first) == F;
      }))
    return Shifted{Rest, Id, C * (int64_t(1) << First), false};
  return std::nullopt;
}

} // namespace

/// \p V in fewer words, with a name for `(1 << k)` added to \p Names.
static isl::pw_aff withPowers(const isl::pw_aff &V, CxxNames &Names) {
  if (V.n_piece() < 3)
    return V;
  for (const std::string &Id : involvedIds(V.domain())) {
    const auto Name = Names.find(Id);
    const auto S = Name == Names.end() ? std::nullopt : asShifted(V, Id);
    if (!S)
      continue;
    const std::string Power = "power of " + Id;
    const int64_t Of = S->Left ? 1 : std::abs(S->Times),
                  Times = S->Left ? S->Times : S->Times < 0 ? -1 : 1;
    const std::string &By = Name->second.Text;
    Names[Power] = CxxAtom(std::to_string(Of) + (S->Left ? " << " : " >> ") +
                           (Name->second.Primary ? By : "(" + By + ")"),
                           /*Primary=*/false);
    return S->Rest.add(symbolValue(V.ctx(), Power).scale(static_cast<long>(Times)));
  }
  return V;
}

llvm::Expected<CxxText> toCxx(const isl::pw_aff &V, const CxxNames &Given,
                              const CxxOptions &Opts) {
  CxxNames Names = Given;
  return print([&] {
    detail::requireValue(V);
    const isl::set Context =
        contextOf(Opts, V.ctx()).intersect(V.domain()).coalesce();
    if (Context.is_empty())
      refuse("the value is defined nowhere");
    const isl::pw_aff Simple = withPowers(simplify(V, Context), Names);
    Printer P(Names, Opts, Context);
    return P.value(buildFor(Context, Simple.space()).expr_from(Simple));
  });
}

llvm::Expected<CxxText> toCxx(const isl::set &S, const CxxNames &Names,
                              const CxxOptions &Opts) {
  return print([&]() -> Piece {
    detail::requireValue(S);
    const isl::set Context = contextOf(Opts, S.ctx());
    const isl::set Simple = fewestTests(S, Context);
    if (Simple.is_empty())
      return {"false", PrecPrimary};
    if (impliedBy(Simple, Context))
      return {"true", PrecPrimary};
    Printer P(Names, Opts, Context);
    return P.condition(buildFor(Context, Simple.space()).expr_from(Simple));
  });
}

} // namespace rcache
