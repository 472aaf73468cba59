// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What went through shared memory was rounded there. In a register a product
// would meet the sum that reads it, and compilers contract both to one fused
// multiply-add with other bits:
//
//     s[t] = a[g] * w;  ... acc += s[t + j];     // mul, round, add
//     r = a[g] * w;     ... acc += r;            // fma
//
// So a staged value has to end in an operation that cannot be contracted. Few
// things are known to: loads, sums of which no side is a zero that folds away,
// conversions, selections and roundings of such. A product is written as
// __fmul_rn, which never is part of an fma; everything else gets
// __fadd_rn(x, -0.0f) around it, which is x: a quotient by a power of two is a
// product when the compiler has seen it, so is (float)(a * 0.5), and so may be
// the result of any function. docs/soundness.md has what compilers keep and
// what they see through (__fmul_rn(x, 1.0f), fmaxf(x, x), an empty asm).

#include "ValueMaker.h"
#include "Support/Words.h"
#include "llvm/ADT/StringExtras.h"

using llvm::StringRef;

namespace rcache {
namespace {

bool isInteger(StringRef Type) {
  static const char *const Integers[] = {
      "int",           "unsigned int",       "short", "unsigned short",
      "char",          "signed char",        "long",  "unsigned char",
      "unsigned long", "unsigned long long", "bool",  "long long"};
  for (const char *N : Integers)
    if (Type == N)
      return true;
  // uchar4, int2, ...
  const StringRef Base = Type.rtrim("1234");
  if (Base.size() < Type.size())
    for (const char *N : {"uchar", "char", "ushort", "short", "uint", "int",
                          "ulong", "long", "ulonglong", "longlong"})
      if (Base == N)
        return true;
  return false;
}

} // namespace

bool passesOn(StringRef Name) {
  for (StringRef N :
       {"fminf", "fmaxf", "fmin", "fmax", "min", "max", "fabsf", "fabs",
        "floorf", "ceilf", "truncf", "roundf", "rintf", "floor", "ceil",
        "trunc", "round", "rint", "float", "double", "int", "unsigned",
        "sizeof", "__fadd_rn", "__dadd_rn", "__fsub_rn", "__dsub_rn",
        "__fmaf_rn", "__fma_rn", "fmaf", "fma", "__half2float",
        "__bfloat162float", "__float2half", "__float2half_rn",
        "__float2bfloat16", "__float2bfloat16_rn", "__float2half2_rn",
        "__floats2half2_rn", "__float22half2_rn", "__half22float2",
        "__halves2half2", "__half2half2", "__low2half", "__high2half",
        "__low2half2", "__high2half2", "__low2float", "__high2float",
        "__lowhigh2highlow", "__lows2half2", "__highs2half2", "half", "half2",
        "__half", "__half2", "__int2half_rn", "__uint2half_rn",
        "__short2half_rn", "__ushort2half_rn", "__float2bfloat162_rn",
        "__floats2bfloat162_rn", "__float22bfloat162_rn", "__bfloat1622float2",
        "__halves2bfloat162", "__bfloat162bfloat162", "__nv_bfloat16",
        "__nv_bfloat162", "__hmin", "__hmax", "__hmin2", "__hmax2", "__habs",
        "__habs2", "__hneg", "__hneg2", "__int2float_rn", "__uint2float_rn", "__int2double_rn", "__uint2double_rn",
        "__int_as_float", "__uint_as_float", "__longlong_as_double", "__ldg",
        "__ldca", "__ldcg", "__ldcs", "__ldlu", "__ldcv"})
    if (Name == N)
      return true;
  return Name.starts_with("make_");
}

namespace {

/// These round by definition, whatever their arguments are.
bool rounds(StringRef Name) { return Name == "__fmul_rn" || Name == "__dmul_rn"; }

bool isWord(char C) { return isNameChar(C) || C == '$'; }

/// An expression text, taken apart at its outermost operator. What is not
/// understood is Other.
struct Parsed {
  enum Kind {
    Atom, ///< a name, a number, an element of an array
    Hole,
    Sum,
    Product,
    Conditional,
    Call,
    Cast,
    Minus, ///< or a member: of its one part
    Other
  };
  Kind K = Other;
  StringRef Callee;
  std::vector<StringRef> Parts; ///< operands, arms or arguments
};

size_t closing(StringRef S, size_t Open) {
  int Depth = 0;
  for (size_t I = Open; I < S.size(); ++I) {
    Depth += S[I] == '(' || S[I] == '[' || S[I] == '{';
    Depth -= S[I] == ')' || S[I] == ']' || S[I] == '}';
    if (Depth == 0)
      return I;
  }
  return StringRef::npos;
}

std::vector<StringRef> arguments(StringRef S) {
  std::vector<StringRef> A;
  int Depth = 0;
  size_t From = 0;
  for (size_t I = 0; I < S.size(); ++I) {
    Depth += S[I] == '(' || S[I] == '[' || S[I] == '{';
    Depth -= S[I] == ')' || S[I] == ']' || S[I] == '}';
    if (S[I] == ',' && Depth == 0) {
      A.push_back(S.slice(From, I).trim());
      From = I + 1;
    }
  }
  if (!S.substr(From).trim().empty())
    A.push_back(S.substr(From).trim());
  return A;
}

/// `(float)`, `(double)`: only these are casts for sure, as text.
bool isTypeName(StringRef S) {
  S = S.trim();
  return S == "float" || S == "double" || isInteger(S) || S == "unsigned";
}

/// Where the operators are that decide what an expression is.
struct Operators {
  size_t Sum = StringRef::npos, Product = StringRef::npos,
         Question = StringRef::npos, Colon = StringRef::npos;
  bool Strange = false; ///< comparisons, shifts, commas, ...
};

/// Behind a number with its exponent, a name, a member, a qualified name at
/// \p I; \p Operand: one stands in front.
size_t behindWord(StringRef S, size_t I, bool Operand) {
  const bool Number = llvm::isDigit(S[I]) || (S[I] == '.' && !Operand);
  const bool Hex = S.substr(I).starts_with_insensitive("0x");
  size_t E = I;
  while (E < S.size()) {
    if (isWord(S[E]) || S[E] == '.')
      ++E;
    else if (S.substr(E).starts_with("::") && !Number)
      E += 2;
    else if (Number && (S[E] == '+' || S[E] == '-') && E > I &&
             (Hex ? S[E - 1] == 'p' || S[E - 1] == 'P'
                  : S[E - 1] == 'e' || S[E - 1] == 'E'))
      ++E;
    else
      break;
  }
  return E;
}

/// The operators of \p S outside brackets, the last of each kind (of `?` the
/// first); nullopt: this is no expression that is understood.
std::optional<Operators> operatorsOf(StringRef S) {
  Operators O;
  bool Operand = false;
  for (size_t I = 0; I < S.size(); ++I) {
    const char C = S[I];
    if (C == ' ')
      continue;
    if (C == '(' || C == '[' || C == '{') {
      const size_t E = closing(S, I);
      if (E == StringRef::npos)
        return std::nullopt;
      // A cast leaves its operand to come.
      const bool Cast = C == '(' && !Operand && isTypeName(S.slice(I + 1, E));
      I = E;
      Operand = !Cast;
      continue;
    }
    if (isWord(C) || C == '.' || (C == ':' && S.substr(I).starts_with("::"))) {
      I = behindWord(S, I, Operand) - 1;
      Operand = true;
      continue;
    }
    if (C == '-' && S.substr(I).starts_with("->")) {
      ++I;
      continue;
    }
    const bool Sign = C == '+' || C == '-';
    if (Sign && !Operand)
      continue;
    if (Sign && I + 1 < S.size() && S[I + 1] == C)
      return std::nullopt; // ++, --
    if (C == '?')
      O.Question = std::min(O.Question, I);
    else if (C == ':')
      O.Colon = I; // the last one, for `a ? b : c ? d : e` looked at below
    else if (Sign)
      O.Sum = I;
    else if ((C == '*' || C == '/') && Operand)
      O.Product = I;
    else
      O.Strange = true;
    Operand = false;
  }
  return O;
}

/// An expression without operators outside brackets but a sign in front.
Parsed parseUnary(StringRef S) {
  Parsed P;
  if (S[0] == '-' || S[0] == '+') {
    P.K = Parsed::Minus;
    P.Parts = {S.drop_front().trim()};
    return P;
  }
  if (S[0] == '(') {
    const size_t E = closing(S, 0);
    if (!isTypeName(S.slice(1, E)))
      return P;
    P.K = Parsed::Cast;
    P.Parts = {S.substr(E + 1).trim()};
    return P;
  }
  size_t E = 0;
  while (E < S.size() && (isWord(S[E]) || S[E] == ':' || S[E] == '.'))
    ++E;
  if (E == S.size()) {
    const StringRef Number = S.drop_front().take_while(llvm::isDigit);
    P.K = S[0] != '$'                     ? Parsed::Atom
          : Number.size() + 1 == S.size() ? Parsed::Hole
                                          : Parsed::Minus; // a member
    P.Parts = {S[0] == '$' ? S.take_front(Number.size() + 1) : S};
    return P;
  }
  // name(...) or Type{...}; x[i] is an element: an atom.
  const size_t Close = closing(S, E);
  if (Close != S.size() - 1)
    return P;
  if (S[E] == '[') {
    P.K = Parsed::Atom;
    P.Parts = {S};
    return P;
  }
  P.K = Parsed::Call;
  P.Callee = S[E] == '{' ? StringRef("make_") : S.take_front(E).trim();
  P.Callee.consume_front("::");
  P.Parts = arguments(S.slice(E + 1, Close));
  return P;
}

Parsed parse(StringRef S) {
  S = S.trim();
  while (S.starts_with("(") && closing(S, 0) == S.size() - 1)
    S = S.drop_front().drop_back().trim();
  Parsed P;
  if (S.empty() || S.contains('"') || S.contains('\''))
    return P;
  const std::optional<Operators> O = operatorsOf(S);
  if (!O)
    return P;
  if (O->Question != StringRef::npos) {
    // One conditional at the top; a chain is not looked into.
    if (O->Colon == StringRef::npos || S.count('?') != 1)
      return P;
    P.K = Parsed::Conditional;
    P.Parts = {S.slice(O->Question + 1, O->Colon).trim(),
               S.substr(O->Colon + 1).trim()};
    return P;
  }
  if (O->Strange)
    return P;
  if (O->Sum != StringRef::npos) {
    P.K = Parsed::Sum;
    P.Parts = {S.take_front(O->Sum).trim(), S.substr(O->Sum + 1).trim()};
    return P;
  }
  if (O->Product != StringRef::npos) {
    if (S[O->Product] != '*')
      return P;
    P.K = Parsed::Product;
    P.Parts = {S.take_front(O->Product).trim(),
               S.substr(O->Product + 1).trim()};
    return P;
  }
  return parseUnary(S);
}

const Value *hole(const Parsed &P, const Value &V) {
  unsigned N = 0;
  if (P.K != Parsed::Hole || P.Parts[0].drop_front().getAsInteger(10, N) ||
      N >= V.Operands.size())
    return nullptr;
  return V.Operands[N].get();
}

/// Certainly no constant, or one that no sum or product with it folds away. A
/// parameter of a template may be any constant, and so may what is loaded out of
/// bounds.
bool staysInSum(StringRef Text, const Value &V) {
  const Parsed P = parse(Text);
  if (const Value *H = hole(P, V))
    return H->K == Value::Load && H->Root >= 0;
  double D;
  if (P.K == Parsed::Atom)
    return !P.Parts[0].rtrim("fF").getAsDouble(D) && D != 0 && D != 1;
  if (P.K == Parsed::Minus || P.K == Parsed::Cast)
    return staysInSum(P.Parts[0], V);
  // Of what is loaded.
  if (P.K == Parsed::Product || P.K == Parsed::Sum)
    return llvm::any_of(P.Parts, [&](StringRef A) {
      double Number;
      return staysInSum(A, V) && A.rtrim("fF").getAsDouble(Number);
    });
  return false;
}

/// A side of fminf or fmaxf that leaves the call in place: a number in the middle
/// of what the other side can be.
bool staysClamped(StringRef Text, const Value &V) {
  const Parsed P = parse(Text);
  double D;
  if (P.K == Parsed::Minus)
    return P.Parts[0][0] != '$' && staysClamped(P.Parts[0], V);
  return P.K == Parsed::Atom && !P.Parts[0].rtrim("fF").getAsDouble(D) &&
         std::abs(D) < 1e30;
}

bool isFree(const Value &V);

/// Does \p Text, of the operands of \p V, end in nothing that a compiler may
/// contract with a sum that follows?
bool isFree(StringRef Text, const Value &V) {
  const Parsed P = parse(Text);
  auto All = [&] {
    return llvm::all_of(P.Parts, [&](StringRef A) { return isFree(A, V); });
  };
  switch (P.K) {
  case Parsed::Atom:
    return true;
  case Parsed::Hole: {
    const Value *H = hole(P, V);
    return H && isFree(*H);
  }
  case Parsed::Sum:
    return All() || (staysInSum(P.Parts[0], V) && isFree(P.Parts[0], V)) ||
           (staysInSum(P.Parts[1], V) && isFree(P.Parts[1], V)) ||
           (staysInSum(P.Parts[0], V) && staysInSum(P.Parts[1], V));
  case Parsed::Conditional:
  case Parsed::Cast:
  case Parsed::Minus:
    return All();
  case Parsed::Call:
    if (rounds(P.Callee) || (passesOn(P.Callee) && All()))
      return true;
    // Clamped by a number, which no compiler sees through.
    return (P.Callee == "fminf" || P.Callee == "fmaxf") && P.Parts.size() == 2 &&
           (staysClamped(P.Parts[0], V) || staysClamped(P.Parts[1], V));
  case Parsed::Product:
  case Parsed::Other:
    return false;
  }
  return false;
}

bool isFree(const Value &V) {
  if (isInteger(V.Type))
    return true;
  switch (V.K) {
  case Value::Affine:
  case Value::Load:
  case Value::Undefined:
  case Value::Unknown:
    return true;
  case Value::Select:
    return isFree(*V.Operands[0]) && isFree(*V.Operands[1]);
  case Value::Op:
  case Value::Uniform:
    // Operators of classes are functions of somebody's.
    if (V.Type != "float" && V.Type != "double") {
      const Parsed P = parse(V.Text);
      if (P.K == Parsed::Sum || P.K == Parsed::Minus || P.K == Parsed::Cast)
        return false;
    }
    return isFree(V.Text, V);
  }
  return false;
}

/// Does \p Text end in arithmetic, whose results are a number or the one that is none?
/// Not what passes bits on: __int_as_float(x), a fetch, a choice.
bool isComputed(StringRef Text) {
  const Parsed P = parse(Text);
  if (P.K == Parsed::Sum || P.K == Parsed::Product)
    return true;
  Text = Text.trim();
  while (Text.starts_with("(") && closing(Text, 0) == Text.size() - 1)
    Text = Text.drop_front().drop_back().trim();
  if (P.K == Parsed::Other) { // a quotient
    const std::optional<Operators> O = operatorsOf(Text);
    return O && !O->Strange && O->Question == StringRef::npos &&
           O->Product != StringRef::npos && O->Sum == StringRef::npos &&
           Text[O->Product] == '/';
  }
  return P.K == Parsed::Call &&
         llvm::is_contained({"sqrtf", "sqrt", "rsqrtf", "rsqrt", "expf", "exp", "exp2f",
                             "exp2", "logf", "log", "log2f", "log2", "log10f", "log10",
                             "sinf", "sin", "cosf", "cos", "tanf", "tan", "tanhf", "tanh",
                             "powf", "pow", "cbrtf", "cbrt", "erff", "erf", "__expf",
                             "__logf", "__sinf", "__cosf", "__powf", "__fdividef"},
                            P.Callee);
}

} // namespace

ValueRef keepRounding(const ValueRef &V) {
  if (isFree(*V))
    return V;
  auto Mapped = [&](size_t From) {
    auto Copy = std::make_shared<Value>(*V);
    for (size_t I = From; I < Copy->Operands.size(); ++I)
      Copy->Operands[I] = keepRounding(Copy->Operands[I]);
    return ValueRef(Copy);
  };
  // Each arm rounds for itself: one that is a load costs nothing.
  if (V->K == Value::Select)
    return Mapped(0);
  const StringRef Text = StringRef(V->Text).trim();
  if (Text == "($0 ? $1 : $2)")
    return Mapped(1);
  const bool Float = V->Type == "float", Double = V->Type == "double";
  if (!Float && !Double) {
    // Half precision and structs: no way to say it for all members.
    Value U;
    U.Type = V->Type;
    U.Depends = V->Depends;
    U.Text = V->Text;
    return std::make_shared<Value>(U);
  }
  if (Text == "-$0" || Text == "($0)")
    return Mapped(0);
  auto Copy = std::make_shared<Value>(*V);
  Copy->Opcode = Value::Other;
  Copy->Rounded = isComputed(Text) ? Value::Arithmetic : Value::HandedOn;
  const Parsed P = parse(Text);
  // Of a product with 1, its other side would be left: it must not be one.
  if (P.K == Parsed::Product &&
      (isFree(P.Parts[0], *V) || staysInSum(P.Parts[1], *V)) &&
      (isFree(P.Parts[1], *V) || staysInSum(P.Parts[0], *V))) {
    Copy->Text = std::string(Float ? "__fmul_rn(" : "__dmul_rn(") +
                 P.Parts[0].str() + ", " + P.Parts[1].str() + ")";
    return Copy;
  }
  const std::string Sum = std::string(Float ? "__fadd_rn(" : "__dadd_rn(") + Text.str() +
                          (Float ? ", -0.0f)" : ", -0.0)");
  // A sum makes one number of all that are none: what may be such a one, of whatever
  // bits, is handed on.
  const std::string One = "(" + Text.str() + ")";
  Copy->Text = Copy->Rounded == Value::Arithmetic ? Sum : "(" + One + " != " + One + " ? " + One + " : " + Sum + ")";
  return Copy;
}

} // namespace rcache
