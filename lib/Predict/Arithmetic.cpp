// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Arithmetic.h.

#include "Arithmetic.h"
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
    std::string Text = M.text(S.Range);
    int Depth = 0;
    double Plain = 0, Products = 0, Index = 0, Div = 0, Calls = 0, Around = 0;
    for (size_t I = 0; I < Text.size(); ++I) {
      char C = Text[I];
      Depth += C == '[';
      Depth -= C == ']';
      if (C == '+' || C == '*' || C == '-' || C == '<' || C == '>')
        (Depth ? Index : C == '*' ? Products : Plain) += 1;
      if (C == '/' && I + 1 < Text.size() && Text[I + 1] != '/' &&
          Text[I + 1] != '*')
        Div += 1;
      if (C == '(' && I > 0) {
        size_t J = I;
        while (J > 0 && (isalnum(static_cast<unsigned char>(Text[J - 1])) ||
                         Text[J - 1] == '_'))
          --J;
        const llvm::StringRef Name(Text.data() + J, I - J);
        static const std::set<llvm::StringRef> Free = {
            "",     "if",    "for",      "while",  "return", "sizeof",
            "int",  "float", "unsigned", "double", "char",   "bool",
            "dim3", "long",  "size_t",   "switch", "short"};
        if (Free.count(Name) || Name.starts_with("make_"))
          continue;
        static const std::set<llvm::StringRef> Cheap = {"fabsf", "fminf",
                                                        "fmaxf", "fmaf"};
        // A function that adds, scales or compares: once a component.
        if (!Name.ends_with("f") || Cheap.count(Name)) {
          (Depth ? Index : Plain) += Depth ? 1 : Components;
          continue;
        }
        // Beside the special unit's approximation: scaling, or range reduction
        // and correction.
        Calls += 1;
        Around += Name.starts_with("__") || Name == "rsqrtf" ? 1 : 8;
      }
    }
    // Subscripts of unrolled loops are offsets in the instruction.
    R.Index += T * Index * (T > 1 ? 0.1 : 0.5);
    // A product and a sum are one instruction; the integer unit adds three at
    // a time.
    const double Fused = Plain + Products - std::min(Plain, Products);
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
      R.Double += T * (Fused + 8 * Div);
    else if (OfData && Fp)
      R.Fp += T * (Fused + 8 * Div);
    else
      R.Int += T * (0.6 * Plain + Products + 4 * Div);
    R.Special += T * Calls;
    R.Fp += T * Around;
  }
  return R;
}
