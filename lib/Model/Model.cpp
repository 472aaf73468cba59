// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a model says of itself.

#include "rcache/Model.h"
#include "rcache/ModelBuilder.h"
#include "llvm/ADT/STLExtras.h"

namespace rcache {

std::vector<KernelParam> KernelModel::declaredParams() const {
  std::vector<KernelParam> Declared;
  for (const KernelParam &P : Params)
    if (P.MemberOf < 0)
      Declared.push_back(P);
  return Declared;
}

std::string KernelModel::scope() const {
  std::string T;
  for (const std::string &Ns : Namespaces)
    T += Ns.empty() ? "" : Ns + "::";
  return T;
}

std::string KernelModel::globalName() const { return "::" + scope() + Name; }

bool KernelModel::isOfOneFile() const { return llvm::is_contained(Namespaces, ""); }

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

bool PrivateArray::isInLocalMemory(const KernelModel &M) const {
  return M.Vars[Var].DynamicIndex && !(ElemBytes == 4 && elements(M) <= 4);
}

std::string textKey(const KernelModel &M) {
  return M.Pos.File + ":" + std::to_string(M.Pos.Line) + ":" + M.QualifiedName;
}

std::string formKey(const KernelModel &M) {
  return textKey(M) + " " + M.Signature;
}

/// ": line 3, 7".
static std::string linesOf(const std::vector<SourcePos> &Places) {
  std::string Text;
  for (const SourcePos &P : Places)
    Text += (Text.empty() ? ": line " : ", ") + std::to_string(P.Line);
  return Text;
}

std::string unseenLaunches(const KernelModel &M) {
  if (M.UnseenLaunches.empty())
    return "";
  return (M.UnseenLaunches.size() == 1 ? "a launch" : "launches") +
         (" in parts of the file that a device-side parse leaves out" +
          linesOf(M.UnseenLaunches));
}

Decline withoutLaunch(const KernelModel &M) {
  Decline D{DeclineCode::NoLaunch, unseenLaunches(M), M.Pos};
  if (!M.LaunchedEx.empty()) {
    D.Detail = "launches by cudaLaunchKernelEx are not rewritten" +
               linesOf(M.LaunchedEx);
    D.Advice = "launch it with <<<...>>> or cudaLaunchKernel where it needs no "
               "attribute of cudaLaunchKernelEx, or pass --without-launch, which "
               "writes a function to launch it with (docs/callers.md)";
  } else if (!M.NamedAt.empty()) {
    D.Detail = "no launch is known to lead to it from where its address is taken" +
               linesOf(M.NamedAt);
  } else if (D.Detail.empty() && M.isOfOneFile()) {
    D.Detail = "it is in a namespace without a name, where no other file launches it";
  }
  return D;
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
