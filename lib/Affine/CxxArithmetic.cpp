// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums, divisions and choices of an expression tree as C++ text.

#include "IslToCxxInternal.h"
#include "IslTools.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <limits>

namespace rcache {

using namespace printing;

int64_t printing::intValue(const isl::ast_expr &E) {
  const isl::val V = detail::own(E.ctx(), isl_ast_expr_int_get_val(E.get()));
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

int64_t printing::multiply(int64_t A, int64_t B) {
  int64_t R;
  if (llvm::MulOverflow(A, B, R))
    refuse("a constant does not fit 64 bits");
  return R;
}

int64_t printing::plus(int64_t A, int64_t B) {
  int64_t R;
  if (llvm::AddOverflow(A, B, R))
    refuse("a constant does not fit 64 bits");
  return R;
}

void printing::addScaled(Sum &A, const Sum &B, int64_t Factor) {
  A.Constant = plus(A.Constant, multiply(B.Constant, Factor));
  for (const Term &T : B.Terms) {
    const int64_t C = multiply(T.Coefficient, Factor);
    auto It = std::find_if(A.Terms.begin(), A.Terms.end(), [&](const Term &O) {
      return O.Factor.Text == T.Factor.Text;
    });
    if (It == A.Terms.end()) {
      A.Terms.push_back(T);
      A.Terms.back().Coefficient = C;
    } else
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

thread_local SumLog *SumLog::Current = nullptr;

SumLog::SumLog() : Outer(Current) { Current = this; }
SumLog::~SumLog() { Current = Outer; }

void Printer::log(const Sum &S) const {
  if (!SumLog::Current)
    return;
  PrintedSum P;
  P.Constant = S.Constant;
  P.Type = Opts.Type;
  for (const Term &T : S.Terms)
    if (!T.Id.empty())
      P.Symbols[T.Id] = T.Coefficient;
  if (!P.Symbols.empty())
    SumLog::Current->Sums.insert(std::move(P));
}

/// Positive terms first, then the negative ones, then the constant.
Piece Printer::text(Sum S) {
  foldRemainders(S);
  log(S);
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
    return extremum(E, Op == isl_ast_expr_op_min);
  case isl_ast_expr_op_cond:
  case isl_ast_expr_op_select:
    return selection(E);
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
  return {1, Factor, symbolValue(E.ctx(), Id.name()), nullptr, Id.name()};
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
    T.Factor = {Left + " >> " + std::to_string(llvm::Log2_64(D)), PrecShift};
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
    const bool AllThere =
        std::all_of(T.Q->Dividend.Terms.begin(), T.Q->Dividend.Terms.end(),
                    [&](const Term &A) {
                      return std::any_of(
                          S.Terms.begin(), S.Terms.end(), [&](const Term &O) {
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

/// Takes the terms that all of \p Sums have out of them: `max(x + y, y)` is `max(x, 0) + y`,
/// and what is computed on the way is no larger than in the source, which wrote it so.
static Sum takeCommon(std::vector<Sum> &Sums) {
  Sum Common;
  for (const Term &T : Sums.front().Terms)
    if (std::all_of(Sums.begin() + 1, Sums.end(), [&](const Sum &S) {
          return std::any_of(S.Terms.begin(), S.Terms.end(), [&](const Term &O) {
            return O.Factor.Text == T.Factor.Text && O.Coefficient == T.Coefficient;
          });
        }))
      Common.Terms.push_back(T);
  for (Sum &S : Sums)
    addScaled(S, Common, -1);
  return Common;
}

Sum Printer::extremum(const isl::ast_expr &E, bool IsMin) {
  const unsigned N = argCount(E);
  if (N > 4 && !Opts.MinMaxCalls)
    refuse("a minimum or maximum of more than four values");
  std::vector<Sum> Of;
  for (unsigned I = 0; I < N; ++I)
    Of.push_back(sum(arg(E, I)));
  Sum Out = takeCommon(Of);
  Piece Best = text(Of.front());
  for (unsigned I = 1; I < N; ++I) {
    const Piece Next = text(Of[I]);
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
  Out.Terms.push_back({1, Best});
  return Out;
}

/// A == B as sums of the same terms.
static bool sameSum(const Sum &A, const Sum &B) {
  Sum Diff = A;
  addScaled(Diff, B, -1);
  return Diff.Terms.empty() && Diff.Constant == 0;
}

/// `min(A, B)`, `max(A, B)` for `C ? A : B` when C is A < B or B < A, strict or
/// not; an empty text when it is neither.
Piece Printer::extremumOf(const isl::ast_expr &C, const Sum &A, const Sum &B) {
  if (!isOp(C))
    return {""};
  const auto Op = isl_ast_expr_op_get_type(C.get());
  if (Op != isl_ast_expr_op_le && Op != isl_ast_expr_op_lt &&
      Op != isl_ast_expr_op_ge && Op != isl_ast_expr_op_gt)
    return {""};
  const Sum Bound = normalised(C, Op); // C is Bound <= 0
  for (const bool IsMin : {true, false})
    for (const int64_t Strict : {0, 1}) {
      Sum Diff = IsMin ? A : B;
      addScaled(Diff, IsMin ? B : A, -1);
      Diff.Constant = plus(Diff.Constant, Strict);
      if (sameSum(Bound, Diff))
        return {std::string(IsMin ? "min(" : "max(") + text(A).Text + ", " +
                text(B).Text + ")"};
    }
  return {""};
}

Sum Printer::selection(const isl::ast_expr &E) {
  std::vector<Sum> Of = {sum(arg(E, 1)), sum(arg(E, 2))};
  Sum Out = takeCommon(Of);
  Piece Chosen{""};
  if (Opts.MinMaxCalls)
    Chosen = extremumOf(arg(E, 0), Of[0], Of[1]);
  if (Chosen.Text.empty()) {
    const Piece C = condition(arg(E, 0));
    Chosen = {"(" + C.Text + " ? " + text(Of[0]).Text + " : " + text(Of[1]).Text + ")",
              PrecPrimary};
  }
  Out.Terms.push_back({1, Chosen});
  return Out;
}

} // namespace rcache
