// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A product that went through shared memory was rounded there. In a register it
// would meet the sum that reads it, and compilers contract both to one fused
// multiply-add with other bits:
//
//     s[t] = a[g] * w;  ... acc += s[t + j];     // mul, round, add
//     r = a[g] * w;     ... acc += r;            // fma
//
// So a staged product is written as __fmul_rn, which is never contracted; a
// call whose body may end in a product gets __fadd_rn(x, -0.0f) around it,
// which is x. Sums, quotients, loads and conversions cannot be contracted with
// what follows and stay as they are.

#include "Executor.h"

using llvm::StringRef;

namespace rcache {
namespace {

/// What the last operation of an expression text is.
enum class Last { None, Sum, Product, Quotient, Call, Other };

struct TopLevel {
  Last Kind = Last::None;
  size_t At = 0; ///< of the operator, or of the call's parenthesis
  unsigned Products = 0;
};

/// Looks at the operators outside all parentheses.
TopLevel topLevel(StringRef S) {
  TopLevel R;
  int Depth = 0;
  size_t LastProduct = StringRef::npos, CallAt = StringRef::npos;
  bool Operand = false; // an operand stands to the left
  for (size_t I = 0; I < S.size(); ++I) {
    char C = S[I];
    if (C == ' ')
      continue;
    if (C == '(' || C == '[' || C == '{') {
      if (Depth == 0 && C == '(' && Operand)
        CallAt = I;
      ++Depth;
      continue;
    }
    if (C == ')' || C == ']' || C == '}') {
      --Depth;
      Operand = true;
      continue;
    }
    if (Depth)
      continue;
    if (C == '?' || C == '<' || C == '>' || C == '=' || C == '&' || C == '|' ||
        C == ',')
      return {Last::Other, I, 0};
    // `1e-3f` is one operand.
    bool Exponent = Operand && (C == '+' || C == '-') && I > 1 &&
                    (S[I - 1] == 'e' || S[I - 1] == 'E') &&
                    isdigit(static_cast<unsigned char>(S[I - 2]));
    if ((C == '+' || C == '-') && Operand && !Exponent)
      return {Last::Sum, I, 0};
    if ((C == '*' || C == '/' || C == '%') && Operand) {
      LastProduct = I;
      R.Products += C == '*';
      Operand = false;
      continue;
    }
    if (C != '+' && C != '-' && C != '!' && C != '~')
      Operand = true;
  }
  if (LastProduct != StringRef::npos) {
    R.Kind = S[LastProduct] == '*' ? Last::Product : Last::Quotient;
    R.At = LastProduct;
  } else if (CallAt != StringRef::npos) {
    R.Kind = Last::Call;
    R.At = CallAt;
  }
  return R;
}

/// Calls that end in no product: they select, convert or load.
bool endsInNoProduct(StringRef Name) {
  for (StringRef N : {"fminf", "fmaxf", "fmin", "fmax", "min", "max", "fabsf",
                      "fabs", "float", "double", "int", "sizeof", "floorf",
                      "ceilf", "truncf", "roundf", "rintf", "sqrtf"})
    if (Name == N)
      return true;
  // __half2float, __int2float_rn, __uint_as_float, __fadd_rn, __ldg, ...
  return Name.starts_with("__") &&
         (Name.contains("2float") || Name.contains("2double") ||
          Name.contains("2half") || Name.contains("2bfloat") ||
          Name.contains("_as_") || Name.ends_with("_rn") ||
          Name.starts_with("__ld"));
}

} // namespace

ValueRef Executor::keepRounding(const ValueRef &V) {
  auto Mapped = [&](size_t From) {
    auto Copy = std::make_shared<Value>(*V);
    for (size_t I = From; I < Copy->Operands.size(); ++I)
      Copy->Operands[I] = keepRounding(Copy->Operands[I]);
    return ValueRef(Copy);
  };
  if (V->K == Value::Select)
    return Mapped(0);
  if (V->K != Value::Op && V->K != Value::Uniform)
    return V;
  StringRef Text = StringRef(V->Text).trim();
  if (Text == "($0 ? $1 : $2)")
    return Mapped(1);
  if (Text == "-$0" || Text == "($0)")
    return Mapped(0);
  // A cast in front binds tighter than any operator: `(float)$0` converts.
  TopLevel Top = topLevel(Text);
  bool Float = V->Type == "float", Double = V->Type == "double";
  bool Braces = Text.ends_with("}") && Text.contains('*'); // P{a * b, c}
  if (!Braces && (Top.Kind == Last::None || Top.Kind == Last::Sum ||
                  Top.Kind == Last::Quotient))
    return V;
  if (Top.Kind == Last::Call) {
    StringRef Name = Text.substr(0, Top.At).rtrim();
    size_t Start = Name.find_last_not_of(
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    if (endsInNoProduct(Start == StringRef::npos ? Name
                                                 : Name.substr(Start + 1)))
      return V;
  }
  if (!Float && !Double) {
    static const char *const Integers[] = {"int",
                                           "unsigned int",
                                           "short",
                                           "unsigned short",
                                           "char",
                                           "signed char",
                                           "unsigned char",
                                           "long",
                                           "unsigned long",
                                           "long long",
                                           "unsigned long long",
                                           "bool"};
    for (const char *N : Integers)
      if (V->Type == N)
        return V;
    // uchar4, int2, ...
    StringRef Base = StringRef(V->Type).rtrim("1234");
    for (const char *N : {"uchar", "char", "ushort", "short", "uint", "int",
                          "ulong", "long", "ulonglong", "longlong"})
      if (Base == N)
        return V;
    // make_float4($0, ...) of values that are no products themselves.
    if (Top.Kind == Last::Call && Text.starts_with("make_")) {
      bool Plain = !Text.contains('*');
      for (const ValueRef &O : V->Operands)
        Plain &= O->K == Value::Load || O->K == Value::Affine ||
                 keepRounding(O) == O;
      if (Plain)
        return V;
    }
    // Half precision and structs: no way to say it for all members.
    Value U;
    U.Type = V->Type;
    U.Depends = V->Depends;
    U.Text = V->Text;
    return std::make_shared<Value>(U);
  }
  auto Copy = std::make_shared<Value>(*V);
  if (Top.Kind == Last::Product) {
    Copy->Text = std::string(Float ? "__fmul_rn(" : "__dmul_rn(") +
                 Text.substr(0, Top.At).rtrim().str() + ", " +
                 Text.substr(Top.At + 1).ltrim().str() + ")";
    return Copy;
  }
  Copy->Text = std::string(Float ? "__fadd_rn(" : "__dadd_rn(") + Text.str() +
               (Float ? ", -0.0f)" : ", -0.0)");
  return Copy;
}

} // namespace rcache
