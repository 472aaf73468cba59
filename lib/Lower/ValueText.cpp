// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See ValueText.h.

#include "ValueText.h"
#include "Affine/IslTools.h"
#include "Affine/Powers.h"

using namespace rcache;

static const char *typeText(CxxType T) {
  return T == CxxType::Int ? "int" : "long long";
}

/// Prints in the type that \p N has for what \p V names; a constant that does not
/// fit int (the edge of where an index would wrap) takes the whole computation to
/// long long.
template <typename T>
static llvm::Expected<std::string> print(const T &V, const Names &N,
                                         const ValueTextOptions &O,
                                         CxxType Least = CxxType::Int) {
  CxxOptions CO;
  CO.Type = Least == CxxType::Int ? N.typeFor(V) : Least;
  CO.Context = O.Context;
  auto Text = toCxx(V, O.Symbols, CO);
  if (!Text && CO.Type == CxxType::Int) {
    llvm::consumeError(Text.takeError());
    CO.Type = CxxType::LongLong;
    Text = toCxx(V, O.Symbols, CO);
  }
  if (!Text)
    return Text.takeError();
  return Text->Text;
}

/// `(2 << level) - 1`
static std::string powerText(const PowerForm &F, const ValueTextOptions &O) {
  const auto Name = O.Symbols.find(F.Id);
  const CxxAtom Atom = Name == O.Symbols.end() ? CxxAtom(F.Id) : Name->second;
  const std::string Count = Atom.Primary ? Atom.Text : "(" + Atom.Text + ")";
  std::string Text = F.Factor < 0 || F.Factor >= int64_t(1) << 31
                         ? "(" + std::to_string(F.Factor) + " * (1 << " + Count + "))"
                         : "(" + std::to_string(F.Factor) + " << " + Count + ")";
  if (F.Rest != 0)
    Text = "(" + Text + (F.Rest < 0 ? " - " : " + ") + std::to_string(std::abs(F.Rest)) + ")";
  return Text;
}

llvm::Expected<std::string> rcache::affineText(const isl::pw_aff &A,
                                               const Names &N,
                                               const ValueTextOptions &O,
                                               CxxType Least) {
  if (const auto Form = powerForm(A))
    return powerText(*Form, O);
  return print(A, N, O, Least);
}

llvm::Expected<std::string> rcache::conditionText(const isl::set &S,
                                                  const Names &N,
                                                  const ValueTextOptions &O) {
  return print(S, N, O);
}

llvm::Expected<std::string> rcache::valueText(const ValueRef &V, const Names &N,
                                              const ValueTextOptions &O,
                                              bool AsIndex) {
  switch (V->K) {
  case Value::Affine: {
    auto T = affineText(V->Aff, N, O);
    if (!T || AsIndex)
      return T;
    CxxType Computed = N.typeFor(V->Aff);
    if (V->Type == typeText(Computed))
      return T;
    return "(" + V->Type + ")(" + *T + ")";
  }
  case Value::Load: {
    if (O.LoadText) {
      std::string T = O.LoadText(V.get());
      if (!T.empty())
        return T;
    }
    auto I = valueText(V->Operands[0], N, O, /*AsIndex=*/true);
    if (!I)
      return I;
    return V->Text + "[" + *I + "]";
  }
  case Value::Select: {
    auto C = conditionText(V->Cond, N, O);
    if (!C)
      return C;
    auto A = valueText(V->Operands[0], N, O);
    if (!A)
      return A;
    auto B = valueText(V->Operands[1], N, O);
    if (!B)
      return B;
    return "(" + *C + " ? (" + V->Type + ")(" + *A + ") : (" + V->Type + ")(" +
           *B + "))";
  }
  case Value::Uniform:
    return N.replaceBuiltins(V->Text);
  case Value::Op: {
    std::string Out;
    const std::string &T = V->Text;
    for (size_t I = 0; I < T.size(); ++I) {
      if (T[I] != '$' || I + 1 >= T.size() ||
          !isdigit(static_cast<unsigned char>(T[I + 1]))) {
        Out += T[I];
        continue;
      }
      size_t K = 0;
      while (I + 1 < T.size() && isdigit(static_cast<unsigned char>(T[I + 1])))
        K = K * 10 + static_cast<size_t>(T[++I] - '0');
      if (K >= V->Operands.size())
        return llvm::createStringError("operand missing in '" + T + "'");
      auto S = valueText(V->Operands[K], N, O);
      if (!S)
        return S;
      Out += "(" + *S + ")";
    }
    return N.replaceBuiltins(Out);
  }
  case Value::Undefined: // any value will do
    return V->Type.find(' ') == std::string::npos ? V->Type + "()"
                                                  : "(" + V->Type + ")0";
  case Value::Unknown:
    return llvm::createStringError("unknown value '" + V->Text + "'");
  }
  return llvm::createStringError("value of no kind");
}
