// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// isl's own generator turns a value or set into an expression tree: it finds
// min, max and selections, proves dividends non-negative on the context and
// turns existentials into remainders. This file prints that tree. Arithmetic is
// first flattened to sums of terms, so that each comparison can put its terms
// and its constant on the sides where a person expects them.

#include "IslToCxx.h"
#include "IslInternal.h"
#include "IslTools.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <isl/ast.h>
#include <isl/ast_build.h>
#include <limits>
#include <memory>
#include <vector>

namespace rcache {

namespace {

//===-- Pieces of text ----------------------------------------------------===//

/// C++ precedence, as far as it matters here; a larger one binds tighter.
enum Precedence { PrecOr, PrecAnd, PrecCompare, PrecShift, PrecAdd, PrecMul,
                  PrecUnary, PrecPrimary };

struct Piece {
  std::string Text;
  Precedence Prec = PrecPrimary;
  std::string atLeast(Precedence P) const {
    return Prec >= P ? Text : "(" + Text + ")";
  }
};

struct Term;

struct Sum {
  std::vector<Term> Terms;
  int64_t Constant = 0;
};

/// A floor division by a positive constant that a factor stands for.
struct Quotient {
  Sum Dividend;
  int64_t Divisor = 1;
  bool NonNegative = false; ///< the dividend, proved
};

/// Coefficient * Factor, the factor no sum.
struct Term {
  int64_t Coefficient = 1;
  Piece Factor;
  Nullable<isl::pw_aff> Value = {}; ///< of the factor; null: not known
  std::shared_ptr<Quotient> Q = nullptr;
};

/// One conjunct `lower <= x` or `x < upper`, or any other condition.
struct Conjunct {
  Piece Text;
  std::string Subject; ///< the term it bounds, for the order of conjuncts
  bool IsLower = false;
};

/// Why the printing was given up; left by exception within this file, since a
/// tree has one place in a hundred where that happens.
struct Refusal {
  std::string Reason;
};

[[noreturn]] void refuse(const std::string &Reason) { throw Refusal{Reason}; }

//===-- The printer -------------------------------------------------------===//

class Printer {
public:
  /// \p Context: as in \p Opts, with the domain of what is printed.
  Printer(const CxxNames &Names, const CxxOptions &Opts,
          const isl::set &Context)
      : Names(Names), Opts(Opts), Context(Context) {}

  Piece value(const isl::ast_expr &E) { return text(sum(E)); }
  Piece condition(const isl::ast_expr &E);

private:
  Sum sum(const isl::ast_expr &E);
  Sum operation(const isl::ast_expr &E);
  Sum division(const isl::ast_expr &E, isl_ast_expr_op_type Op);
  Sum floorQuotient(const Sum &Dividend, int64_t D);
  Sum quotient(const Sum &Dividend, int64_t D, bool NonNegative);
  Piece remainder(const Sum &Dividend, int64_t D);
  bool provedNonNegative(const Sum &S);
  void foldRemainders(Sum &S);
  Piece extremum(const isl::ast_expr &E, bool IsMin);
  Piece selection(const isl::ast_expr &E);
  Conjunct comparison(const isl::ast_expr &E, isl_ast_expr_op_type Op);
  Conjunct atMostZero(const Sum &S);
  Conjunct equalsZero(const Sum &S);
  void conjuncts(const isl::ast_expr &E, std::vector<Conjunct> &Out);

  Piece text(Sum S);
  Term symbol(const isl::ast_expr &E);
  std::string constant(int64_t C);
  bool isUnsigned() const { return Opts.Type == CxxType::Unsigned; }

  const CxxNames &Names;
  const CxxOptions &Opts;
  Nullable<isl::set> Context;
};

} // namespace

static unsigned argCount(const isl::ast_expr &E) {
  return detail::size(E.ctx(), isl_ast_expr_op_get_n_arg(E.get()));
}

static isl::ast_expr arg(const isl::ast_expr &E, unsigned I) {
  return detail::own(E.ctx(), isl_ast_expr_op_get_arg(E.get(), I));
}

static bool isOp(const isl::ast_expr &E) {
  return isl_ast_expr_get_type(E.get()) == isl_ast_expr_op;
}

static int64_t intValue(const isl::ast_expr &E) {
  const isl::val V =
      detail::own(E.ctx(), isl_ast_expr_int_get_val(E.get()));
  const std::optional<int64_t> I = toInt64(V);
  if (!I)
    refuse("a constant does not fit 64 bits");
  return *I;
}

static const char *typeName(CxxType T) {
  switch (T) {
  case CxxType::Int:
    return "int";
  case CxxType::LongLong:
    return "long long";
  case CxxType::Unsigned:
    return "unsigned";
  }
  return "int";
}

//===-- Sums --------------------------------------------------------------===//

static int64_t multiply(int64_t A, int64_t B) {
  int64_t R;
  if (llvm::MulOverflow(A, B, R))
    refuse("a constant does not fit 64 bits");
  return R;
}

static int64_t plus(int64_t A, int64_t B) {
  int64_t R;
  if (llvm::AddOverflow(A, B, R))
    refuse("a constant does not fit 64 bits");
  return R;
}

/// A += Factor * B; equal terms are merged.
static void addScaled(Sum &A, const Sum &B, int64_t Factor) {
  A.Constant = plus(A.Constant, multiply(B.Constant, Factor));
  for (const Term &T : B.Terms) {
    const int64_t C = multiply(T.Coefficient, Factor);
    auto It = std::find_if(A.Terms.begin(), A.Terms.end(), [&](const Term &O) {
      return O.Factor.Text == T.Factor.Text;
    });
    if (It == A.Terms.end())
      A.Terms.push_back({C, T.Factor});
    else
      It->Coefficient = plus(It->Coefficient, C);
  }
  std::erase_if(A.Terms, [](const Term &T) { return T.Coefficient == 0; });
}

std::string Printer::constant(int64_t C) {
  const bool Small = llvm::isInt<32>(C);
  switch (Opts.Type) {
  case CxxType::Int:
    // -2147483648 is no int literal but a negated long.
    if (!Small || C == std::numeric_limits<int32_t>::min())
      refuse("the constant " + std::to_string(C) + " does not fit int");
    return std::to_string(C);
  case CxxType::Unsigned:
    if (C < 0 || !llvm::isUInt<32>(C))
      refuse("the constant " + std::to_string(C) + " does not fit unsigned");
    return std::to_string(C) + (Small ? "" : "u");
  case CxxType::LongLong:
    return std::to_string(C) + (Small ? "" : "LL");
  }
  return "";
}

/// Positive terms first, then the negative ones, then the constant.
Piece Printer::text(Sum S) {
  foldRemainders(S);
  std::string Out;
  auto Append = [&](const Term &T) {
    const int64_t Abs = T.Coefficient < 0 ? -T.Coefficient : T.Coefficient;
    const bool Negative = T.Coefficient < 0;
    if (!Out.empty())
      Out += Negative ? " - " : " + ";
    else if (Negative)
      Out += "-";
    if (Abs != 1)
      Out += constant(Abs) + " * " + T.Factor.atLeast(PrecUnary);
    else
      Out += T.Factor.atLeast(Negative ? PrecUnary : PrecMul);
  };
  for (const Term &T : S.Terms)
    if (T.Coefficient > 0)
      Append(T);
  const bool StartsNegative = Out.empty();
  for (const Term &T : S.Terms)
    if (T.Coefficient < 0) {
      // A leading minus: better `c - x` than `-x + c`.
      if (Out.empty() && S.Constant > 0)
        Out = constant(S.Constant);
      Append(T);
    }
  if (S.Terms.empty())
    return {constant(S.Constant), S.Constant < 0 ? PrecUnary : PrecPrimary};
  const bool ConstantDone = StartsNegative && S.Constant > 0;
  if (S.Constant > 0 && !ConstantDone)
    Out += " + " + constant(S.Constant);
  if (S.Constant < 0)
    Out += " - " + constant(multiply(S.Constant, -1));
  if (S.Terms.size() == 1 && S.Constant == 0) {
    const Term &T = S.Terms.front();
    if (T.Coefficient == 1)
      return T.Factor;
    return {Out, T.Coefficient == -1 ? PrecUnary : PrecMul};
  }
  return {Out, PrecAdd};
}

Sum Printer::sum(const isl::ast_expr &E) {
  switch (isl_ast_expr_get_type(E.get())) {
  case isl_ast_expr_int:
    return {{}, intValue(E)};
  case isl_ast_expr_id:
    return {{symbol(E)}, 0};
  case isl_ast_expr_op:
    return operation(E);
  default:
    refuse("an expression of an unknown kind");
  }
}

Sum Printer::operation(const isl::ast_expr &E) {
  const isl_ast_expr_op_type Op = isl_ast_expr_op_get_type(E.get());
  Sum S;
  switch (Op) {
  case isl_ast_expr_op_add:
  case isl_ast_expr_op_sub:
    addScaled(S, sum(arg(E, 0)), 1);
    addScaled(S, sum(arg(E, 1)), Op == isl_ast_expr_op_add ? 1 : -1);
    return S;
  case isl_ast_expr_op_minus:
    addScaled(S, sum(arg(E, 0)), -1);
    return S;
  case isl_ast_expr_op_mul: {
    Sum A = sum(arg(E, 0)), B = sum(arg(E, 1));
    if (!A.Terms.empty())
      std::swap(A, B);
    if (!A.Terms.empty())
      refuse("a product of two symbols");
    addScaled(S, B, A.Constant);
    return S;
  }
  case isl_ast_expr_op_div:
  case isl_ast_expr_op_fdiv_q:
  case isl_ast_expr_op_pdiv_q:
  case isl_ast_expr_op_pdiv_r:
  case isl_ast_expr_op_zdiv_r:
    return division(E, Op);
  case isl_ast_expr_op_min:
  case isl_ast_expr_op_max:
    return {{{1, extremum(E, Op == isl_ast_expr_op_min)}}, 0};
  case isl_ast_expr_op_cond:
  case isl_ast_expr_op_select:
    return {{{1, selection(E)}}, 0};
  default:
    refuse("an operation that is no arithmetic");
  }
}

Term Printer::symbol(const isl::ast_expr &E) {
  const isl::id Id = detail::own(E.ctx(), isl_ast_expr_id_get_id(E.get()));
  const auto It = Names.find(Id.name());
  if (It == Names.end())
    refuse("no text for the symbol '" + Id.name() + "'");
  const CxxAtom &A = It->second;
  // A text that is no name could be anything: in parentheses it is a factor.
  Piece Factor{A.Primary ? A.Text : "(" + A.Text + ")", PrecPrimary};
  const bool SameType = A.Type.empty() || A.Type == typeName(Opts.Type) ||
                        (isUnsigned() && A.Type == "unsigned int");
  if (!SameType)
    Factor = {"(" + std::string(typeName(Opts.Type)) + ")" + Factor.Text,
              PrecUnary};
  return {1, Factor, symbolValue(E.ctx(), Id.name())};
}

//===-- Divisions ---------------------------------------------------------===//

/// The value of \p S, or null when a factor's is not known.
static Nullable<isl::pw_aff> valueOf(const Sum &S, isl::ctx Ctx) {
  isl::pw_aff V = constantValue(Ctx, S.Constant);
  for (const Term &T : S.Terms) {
    if (T.Value.is_null())
      return isl::pw_aff();
    V = V.add(T.Value.mul(constantValue(Ctx, T.Coefficient)));
  }
  return V;
}

bool Printer::provedNonNegative(const Sum &S) {
  const Nullable<isl::pw_aff> V = valueOf(S, Context.ctx());
  if (V.is_null())
    return false;
  const isl::pw_aff Zero = constantValue(Context.ctx(), 0);
  return impliedBy(lessEqual(Zero, V), Context.intersect(V.domain()));
}

Sum Printer::division(const isl::ast_expr &E, isl_ast_expr_op_type Op) {
  const Sum Dividend = sum(arg(E, 0));
  const isl::ast_expr By = arg(E, 1);
  if (isl_ast_expr_get_type(By.get()) != isl_ast_expr_int)
    refuse("a division by a symbol");
  const int64_t D = intValue(By);
  if (D <= 0)
    refuse("a division by a number that is not positive");
  switch (Op) {
  case isl_ast_expr_op_pdiv_q:
    return quotient(Dividend, D, /*NonNegative=*/true);
  case isl_ast_expr_op_pdiv_r: {
    Nullable<isl::pw_aff> V = valueOf(Dividend, E.ctx());
    if (!V.is_null())
      V = floorMod(V, D);
    return {{{1, remainder(Dividend, D), V}}, 0};
  }
  case isl_ast_expr_op_zdiv_r: // compared with zero: the sign does not matter
    if (isUnsigned() && !llvm::isPowerOf2_64(D) && !provedNonNegative(Dividend))
      refuse("the dividend of an unsigned remainder may be negative");
    return {{{1, remainder(Dividend, D)}}, 0};
  default: // fdiv_q; div is exact, so that every division does
    return floorQuotient(Dividend, D);
  }
}

/// isl keeps the coefficients of a dividend between -D/2 and D/2, which hides
/// that it cannot be negative: y + floor((x - 4y)/20) is (x + 16y) / 20. So
/// first the negative coefficients, then also the constant, are made positive
/// by multiples of D, if that proves the dividend non-negative.
Sum Printer::floorQuotient(const Sum &Dividend, int64_t D) {
  auto Raise = [D](int64_t C) { return C >= 0 ? 0 : (D - 1 - C) / D; };
  Sum Raised = Dividend, Outside;
  for (Term &T : Raised.Terms) {
    const int64_t K = Raise(T.Coefficient);
    Term Less = T;
    Less.Coefficient = -K;
    addScaled(Outside, {{Less}, 0}, 1);
    T.Coefficient = plus(T.Coefficient, multiply(K, D));
  }
  std::erase_if(Raised.Terms, [](const Term &T) { return !T.Coefficient; });
  for (const bool WithConstant : {false, true}) {
    if (WithConstant) {
      const int64_t K = Raise(Raised.Constant);
      Raised.Constant = plus(Raised.Constant, multiply(K, D));
      Outside.Constant = -K;
    }
    if (!provedNonNegative(Raised))
      continue;
    Sum S = quotient(Raised, D, /*NonNegative=*/true);
    addScaled(S, Outside, 1);
    return S;
  }
  return quotient(Dividend, D, /*NonNegative=*/false);
}

Sum Printer::quotient(const Sum &Dividend, int64_t D, bool NonNegative) {
  if (!NonNegative && isUnsigned())
    refuse("the dividend of an unsigned division may be negative");
  const Piece Whole = text(Dividend);
  const std::string Left = Whole.atLeast(PrecMul), Right = constant(D);
  Term T;
  if (NonNegative)
    T.Factor = {Left + " / " + Right, PrecMul};
  else if (llvm::isPowerOf2_64(D))
    T.Factor = {Whole.atLeast(PrecAdd) + " >> " +
                    std::to_string(llvm::Log2_64(D)),
                PrecShift};
  else // towards minus infinity
    T.Factor = {Left + " / " + Right + " - (" + Left + " % " + Right + " < 0)",
                PrecAdd};
  T.Value = valueOf(Dividend, Context.ctx());
  if (!T.Value.is_null())
    T.Value = floorDiv(T.Value, D);
  T.Q = std::make_shared<Quotient>(Quotient{Dividend, D, NonNegative});
  return {{T}, 0};
}

Piece Printer::remainder(const Sum &Dividend, int64_t D) {
  return {text(Dividend).atLeast(PrecMul) + " % " + constant(D), PrecMul};
}

/// K * A - K * D * floor(A / D) is K * (A mod D).
void Printer::foldRemainders(Sum &S) {
  for (unsigned I = 0; I < S.Terms.size(); ++I) {
    const Term T = S.Terms[I];
    if (!T.Q || T.Coefficient % T.Q->Divisor != 0 ||
        !(T.Q->NonNegative || llvm::isPowerOf2_64(T.Q->Divisor)))
      continue;
    const int64_t K = -(T.Coefficient / T.Q->Divisor);
    // Every term of K * A must be there.
    const bool AllThere = std::all_of(
        T.Q->Dividend.Terms.begin(), T.Q->Dividend.Terms.end(),
        [&](const Term &A) {
          return std::any_of(S.Terms.begin(), S.Terms.end(), [&](const Term &O) {
            return O.Factor.Text == A.Factor.Text &&
                   O.Coefficient == K * A.Coefficient;
          });
        });
    if (!AllThere)
      continue;
    Sum Rest = S;
    Rest.Terms.erase(Rest.Terms.begin() + I);
    addScaled(Rest, T.Q->Dividend, -K);
    Term Mod;
    Mod.Coefficient = K;
    if (T.Q->NonNegative)
      Mod.Factor = remainder(T.Q->Dividend, T.Q->Divisor);
    else // two's complement: the low bits of a negative number, too
      Mod.Factor = {"(" + text(T.Q->Dividend).atLeast(PrecAdd) + " & " +
                        constant(T.Q->Divisor - 1) + ")",
                    PrecPrimary};
    if (!T.Value.is_null())
      Mod.Value = floorMod(valueOf(T.Q->Dividend, Context.ctx()), T.Q->Divisor);
    addScaled(Rest, {{Mod}, 0}, 1);
    S = Rest;
    I = -1; // again from the start
  }
}

//===-- Choices -----------------------------------------------------------===//

Piece Printer::extremum(const isl::ast_expr &E, bool IsMin) {
  Piece Best = value(arg(E, 0));
  const unsigned N = argCount(E);
  if (N > 4 && !Opts.MinMaxCalls)
    refuse("a minimum or maximum of more than four values");
  for (unsigned I = 1; I < N; ++I) {
    const Piece Next = value(arg(E, I));
    if (Opts.MinMaxCalls) {
      Best = {std::string(IsMin ? "min(" : "max(") + Best.Text + ", " +
                  Next.Text + ")",
              PrecPrimary};
      continue;
    }
    const std::string A = Best.atLeast(PrecShift), B = Next.atLeast(PrecShift);
    Best = {"(" + A + (IsMin ? " < " : " > ") + B + " ? " + A + " : " + B + ")",
            PrecPrimary};
  }
  return Best;
}

Piece Printer::selection(const isl::ast_expr &E) {
  const Piece C = condition(arg(E, 0));
  const Piece A = value(arg(E, 1)), B = value(arg(E, 2));
  return {"(" + C.Text + " ? " + A.Text + " : " + B.Text + ")", PrecPrimary};
}

//===-- Conditions --------------------------------------------------------===//

/// S <= 0 as `P + c <= N` with all coefficients positive, the constant where it
/// is subtracted (signed) or added (unsigned).
Conjunct Printer::atMostZero(const Sum &S) {
  Sum P, N;
  for (const Term &T : S.Terms)
    (T.Coefficient > 0 ? P : N)
        .Terms.push_back({T.Coefficient > 0 ? T.Coefficient
                                            : multiply(T.Coefficient, -1),
                          T.Factor, T.Value, T.Q});
  const int64_t C = S.Constant;
  auto Make = [&](const char *Op, bool IsLower) {
    const Piece L = text(P), R = text(N);
    const Sum &Subject = IsLower ? N : P;
    return Conjunct{{L.atLeast(PrecShift) + Op + R.atLeast(PrecShift),
                     PrecCompare},
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
        .Terms.push_back({T.Coefficient > 0 ? T.Coefficient
                                            : multiply(T.Coefficient, -1),
                          T.Factor, T.Value, T.Q});
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

Conjunct Printer::comparison(const isl::ast_expr &E, isl_ast_expr_op_type Op) {
  Sum L = sum(arg(E, 0)), R = sum(arg(E, 1));
  const bool Swap = Op == isl_ast_expr_op_ge || Op == isl_ast_expr_op_gt;
  if (Swap)
    std::swap(L, R);
  addScaled(L, R, -1);
  foldRemainders(L);
  if (Op == isl_ast_expr_op_eq)
    return equalsZero(L);
  if (Op == isl_ast_expr_op_lt || Op == isl_ast_expr_op_gt)
    L.Constant = plus(L.Constant, 1);
  return atMostZero(L);
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

Piece Printer::condition(const isl::ast_expr &E) {
  if (isl_ast_expr_get_type(E.get()) == isl_ast_expr_int)
    return {intValue(E) != 0 ? "true" : "false", PrecPrimary};
  if (!isOp(E))
    refuse("a symbol used as a condition");
  const auto Op = isl_ast_expr_op_get_type(E.get());
  switch (Op) {
  case isl_ast_expr_op_or:
  case isl_ast_expr_op_or_else: {
    const Piece A = condition(arg(E, 0)), B = condition(arg(E, 1));
    if (A.Text == "true" || B.Text == "true")
      return {"true", PrecPrimary};
    // With parentheses around &&, as compilers ask for.
    auto Side = [](const Piece &P) {
      return P.Prec == PrecAnd ? "(" + P.Text + ")" : P.Text;
    };
    return {Side(A) + " || " + Side(B), PrecOr};
  }
  case isl_ast_expr_op_and:
  case isl_ast_expr_op_and_then:
  case isl_ast_expr_op_eq:
  case isl_ast_expr_op_le:
  case isl_ast_expr_op_lt:
  case isl_ast_expr_op_ge:
  case isl_ast_expr_op_gt: {
    std::vector<Conjunct> All;
    conjuncts(E, All);
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
  try {
    auto Result = guarded([&] {
      const Piece P = Make();
      return CxxText{P.Text, P.Prec == PrecPrimary};
    });
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

llvm::Expected<CxxText> toCxx(const isl::pw_aff &V, const CxxNames &Names,
                              const CxxOptions &Opts) {
  return print([&] {
    detail::requireValue(V);
    const isl::set Context =
        contextOf(Opts, V.ctx()).intersect(V.domain()).coalesce();
    if (Context.is_empty())
      refuse("the value is defined nowhere");
    const isl::pw_aff Simple = simplify(V, Context);
    Printer P(Names, Opts, Context);
    return P.value(buildFor(Context, Simple.space()).expr_from(Simple));
  });
}

llvm::Expected<CxxText> toCxx(const isl::set &S, const CxxNames &Names,
                              const CxxOptions &Opts) {
  return print([&]() -> Piece {
    detail::requireValue(S);
    const isl::set Context = contextOf(Opts, S.ctx());
    const isl::set Simple = simplify(S, Context);
    if (Simple.is_empty())
      return {"false", PrecPrimary};
    if (impliedBy(Simple, Context))
      return {"true", PrecPrimary};
    Printer P(Names, Opts, Context);
    return P.condition(buildFor(Context, Simple.space()).expr_from(Simple));
  });
}

} // namespace rcache
