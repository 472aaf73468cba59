// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a model says of itself.

#include "rcache/Model.h"
#include "rcache/ModelBuilder.h"

namespace rcache {

std::vector<KernelParam> KernelModel::declaredParams() const {
  std::vector<KernelParam> Declared;
  for (const KernelParam &P : Params)
    if (P.MemberOf < 0)
      Declared.push_back(P);
  return Declared;
}

std::string KernelModel::globalName() const {
  std::string T;
  for (const std::string &Ns : Namespaces)
    T += Ns.empty() ? "" : Ns + "::";
  return "::" + T + Name;
}

int KernelModel::symbolIndex(const std::string &Id) const {
  for (size_t I = 0; I < Symbols.size(); ++I)
    if (Symbols[I].Id == Id)
      return I;
  return -1;
}

int64_t PrivateArray::elements(const KernelModel &M) const {
  int64_t N = 1;
  for (int64_t E : M.Vars[Var].ArrayExtents)
    N *= E;
  return N;
}

std::string textKey(const KernelModel &M) {
  return M.Pos.File + ":" + std::to_string(M.Pos.Line) + ":" + M.QualifiedName;
}

std::string formKey(const KernelModel &M) {
  return textKey(M) + " " + M.Signature;
}

std::string unseenLaunches(const KernelModel &M) {
  if (M.UnseenLaunches.empty())
    return "";
  std::string Text = M.UnseenLaunches.size() == 1 ? "a launch" : "launches";
  Text += " in parts of the file that a device-side parse leaves out";
  const char *Before = ": line ";
  for (const SourcePos &P : M.UnseenLaunches) {
    Text += Before + std::to_string(P.Line);
    Before = ", ";
  }
  return Text;
}

std::string whereNamed(const KernelModel &M) {
  if (M.NamedAt.empty())
    return unseenLaunches(M);
  std::string Text =
      "no launch is known to lead to it from where its address is taken";
  const char *Before = ": line ";
  for (const SourcePos &P : M.NamedAt) {
    Text += Before + std::to_string(P.Line);
    Before = ", ";
  }
  return Text;
}

std::string KernelModel::launchCondition(const LaunchFact &F,
                                         const std::string &Grid,
                                         const std::string &Block) const {
  // In double: the product of three such values may not fit 64 bits, and near
  // Max it is exact.
  std::string Product, Signs;
  if (F.MultipleOf)
    return Symbols[symbolIndex(F.Factors[0])].Text + " % " +
           std::to_string(F.MultipleOf) + " == 0";
  for (const std::string &Id : F.Factors) {
    const Symbol &S = Symbols[symbolIndex(Id)];
    std::string T = S.Text;
    if (S.K == Symbol::BlockDim || S.K == Symbol::GridDim)
      T = (S.K == Symbol::BlockDim ? Block : Grid) + "." + "xyz"[S.Axis];
    else if (S.Signed || F.Min > 0)
      Signs += (Signs.empty() ? "" : " && ") + T +
               " >= " + std::to_string(F.Min);
    Product += (Product.empty() ? "(double)" : " * ") + T;
  }
  // A bound that the type keeps anyway.
  if (F.Factors.size() == 1) {
    const Symbol &S = Symbols[symbolIndex(F.Factors[0])];
    if (S.Bits < 64 &&
        F.Max >= (int64_t(1) << (S.Signed ? S.Bits - 1 : S.Bits)) - 1)
      return Signs.empty() ? "true" : Signs;
  }
  return (Signs.empty() ? "" : Signs + " && ") + Product +
         " <= " + std::to_string(F.Max) + ".0";
}

} // namespace rcache
