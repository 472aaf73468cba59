// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Arithmetic.h.

#include "Arithmetic.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include <algorithm>
#include <set>

using namespace rcache;

bool rcache::isFloating(const std::string &T) {
  return T.find("float") != std::string::npos ||
         T.find("half") != std::string::npos ||
         T.find("bfloat") != std::string::npos;
}

unsigned rcache::partBytes(const SharedArray &A) {
  const llvm::StringRef T(A.CanonicalType);
  if (T.contains("char") || T == "bool")
    return 1;
  if (T.contains("short") || T.contains("half") || T.contains("bfloat"))
    return 2;
  return T.contains("double") || T.contains("long") ? 8 : 4;
}

double rcache::components(const SharedArray &A) {
  return std::max(1u, A.ElemBytes / partBytes(A));
}

namespace {

/// Operators of a text, each once.
struct Operators {
  double Plain = 0;    ///< sums, comparisons, minima
  double Products = 0;
  double Div = 0;
  double Calls = 0;    ///< of the unit for special functions
  double Around = 0;   ///< what comes with them
  double Index = 0;    ///< in subscripts
};

/// Calls of calls that are looked into.
constexpr unsigned MaxCallDepth = 4;

Operators operators(const KernelModel &M, llvm::StringRef Text,
                    double Components, unsigned CallDepth) {
  Operators R;
  int Depth = 0;
  for (size_t I = 0; I < Text.size(); ++I) {
    const char C = Text[I];
    Depth += C == '[';
    Depth -= C == ']';
    // `<<`, `++` and `->` are one operator, or none.
    const char Before = I ? Text[I - 1] : ' ';
    if (C == '>' && Before == '-') {
      (Depth ? R.Index : R.Plain) -= 1;
      continue;
    }
    if (C == Before && (C == '<' || C == '>' || C == '+' || C == '-'))
      continue;
    if (C == '+' || C == '*' || C == '-' || C == '<' || C == '>')
      (Depth ? R.Index : C == '*' ? R.Products : R.Plain) += 1;
    if (C == '/' && I + 1 < Text.size() && Text[I + 1] != '/' &&
        Text[I + 1] != '*')
      R.Div += 1;
    if (C != '(' || I == 0)
      continue;
    size_t J = I;
    while (J > 0 && (llvm::isAlnum(Text[J - 1]) || Text[J - 1] == '_'))
      --J;
    const llvm::StringRef Name = Text.slice(J, I);
    static const std::set<llvm::StringRef> Free = {
        "",     "if",    "for",      "while",  "return", "sizeof",
        "int",  "float", "unsigned", "double", "char",   "bool",
        "dim3", "long",  "size_t",   "switch", "short"};
    if (Free.count(Name) || Name.starts_with("make_"))
      continue;
    // The user's own function: what its body computes, where that is more than
    // one operation.
    if (const auto Body = M.CalleeBodies.find(Name.str());
        Body != M.CalleeBodies.end() && CallDepth < MaxCallDepth && !Depth) {
      const Operators In =
          operators(M, Body->second, Components, CallDepth + 1);
      R.Plain += std::max(In.Plain, In.Products + In.Div > 0 ? 0.0 : 1.0);
      R.Products += In.Products;
      R.Div += In.Div;
      R.Calls += In.Calls;
      R.Around += In.Around;
      R.Index += In.Index;
      continue;
    }
    static const std::set<llvm::StringRef> Cheap = {"fabsf", "fminf", "fmaxf",
                                                    "fmaf"};
    // A function that adds, scales or compares: once a component.
    if (!Name.ends_with("f") || Cheap.count(Name)) {
      (Depth ? R.Index : R.Plain) += Depth ? 1 : Components;
      continue;
    }
    // Beside the special unit's approximation: scaling, or range reduction and
    // correction.
    R.Calls += 1;
    R.Around += Name.starts_with("__") || Name == "rsqrtf" ? 1 : 8;
  }
  return R;
}

} // namespace

/// Operators outside subscripts, by the type of what is staged.
Arithmetic rcache::arithmetic(const KernelModel &M,
                              llvm::function_ref<double(const Stmt &)> Rounds) {
  bool Fp = false, Dbl = false;
  for (const SharedArray &A : M.Arrays) {
    Fp |= isFloating(A.CanonicalType);
    Dbl |= A.CanonicalType.find("double") != std::string::npos;
  }
  double Components = 1;
  for (const SharedArray &A : M.Arrays)
    Components = std::max(Components, components(A));
  Arithmetic R;
  for (const Stmt &S : M.Stmts) {
    if (S.K != Stmt::Leaf && S.K != Stmt::Decl)
      continue;
    const double T = Rounds(S);
    if (T == 0)
      continue;
    const Operators Own = operators(M, M.text(S.Range), Components, 0);
    // Subscripts of unrolled loops are offsets in the instruction.
    R.Index += T * Own.Index * (T > 1 ? 0.1 : 0.5);
    // A product and a sum are one instruction; the integer unit adds three at
    // a time.
    const double Fused =
        Own.Plain + Own.Products - std::min(Own.Plain, Own.Products);
    bool OfData = false;
    for (const SharedAccess &A : M.SharedAccesses)
      OfData |= S.Range.contains(A.Range);
    for (const GlobalAccess &A : M.GlobalAccesses)
      OfData |= S.Range.contains(A.Range);
    // What computes with floating-point variables does so in their unit.
    for (const VarUse &U : M.VarUses)
      if (!OfData && S.Range.contains(U.Range)) {
        const llvm::StringRef Type(M.Vars[U.Var].Type);
        OfData = !Type.contains('*') &&
                 (isFloating(Type.str()) || Type.contains("double"));
      }
    if (OfData && Dbl)
      R.Double += T * (Fused + 8 * Own.Div);
    else if (OfData && Fp)
      R.Fp += T * (Fused + 8 * Own.Div);
    else
      R.Int += T * (0.6 * Own.Plain + Own.Products + 4 * Own.Div);
    R.Special += T * Own.Calls;
    R.Fp += T * Own.Around;
  }
  return R;
}
