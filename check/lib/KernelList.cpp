// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "KernelList.h"

#include "Lower.h"

#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/LLVMContext.h"

#include <set>

using namespace llvm;

namespace rcache::check {

namespace {

/// Everything that \p F may call or refer to.
void reach(const Function &F, std::set<const Function *> &Functions,
           std::set<const GlobalVariable *> &Variables) {
  if (!Functions.insert(&F).second)
    return;
  for (const Instruction &I : instructions(F)) {
    SmallVector<const Value *, 8> Work(I.operand_values());
    while (!Work.empty()) {
      const Value *V = Work.pop_back_val();
      if (auto *Callee = dyn_cast<Function>(V))
        reach(*Callee, Functions, Variables);
      else if (auto *G = dyn_cast<GlobalVariable>(V))
        Variables.insert(G);
      else if (auto *C = dyn_cast<ConstantExpr>(V))
        Work.append(C->value_op_begin(), C->value_op_end());
    }
  }
}

Type *element(Type *T) {
  for (;;) {
    if (auto *A = dyn_cast<ArrayType>(T))
      T = A->getElementType();
    else if (auto *V = dyn_cast<VectorType>(T))
      T = V->getElementType();
    else if (auto *S = dyn_cast<StructType>(T); S && S->getNumElements())
      T = S->getElementType(0);
    else
      return T;
  }
}

} // namespace

std::unique_ptr<Module> summarise(LLVMContext &Context,
                                  const std::string &Source,
                                  const FrontendOptions &Opts,
                                  SourceSummary &Out, std::string &Log) {
  std::unique_ptr<Module> M =
      compile(Context, Side::Device, Source, Opts, Log, &Out.Facts);
  if (!M)
    return nullptr;
  for (const Function &F : *M) {
    if (F.isDeclaration() || F.getCallingConv() != CallingConv::PTX_Kernel)
      continue;
    KernelSignature K;
    K.Mangled = F.getName().str();
    K.Name = functionName(demangle(K.Mangled));
    if (auto C = Out.Facts.NamesOfC.find(K.Mangled); C != Out.Facts.NamesOfC.end())
      K.Name = C->second;
    if (auto O = Out.Facts.Overloads.find(K.Mangled);
        O != Out.Facts.Overloads.end())
      K.Overload = O->second.Params;
    for (const Argument &A : F.args()) {
      K.ParamNames.push_back(A.getName().str());
      K.ParamNoAlias.push_back(A.hasNoAliasAttr());
    }
    std::set<const Function *> Functions;
    std::set<const GlobalVariable *> Variables;
    reach(F, Functions, Variables);
    for (const Function *G : Functions) {
      StringRef N = G->getName();
      if (N.contains("__cuda_builtin_threadIdx_t") ||
          N.contains("__cuda_builtin_blockIdx_t")) {
        if (N.contains("__fetch_builtin_y"))
          K.Dimensions = std::max(K.Dimensions, 2u);
        if (N.contains("__fetch_builtin_z"))
          K.Dimensions = 3;
      }
    }
    for (const GlobalVariable *G : Variables)
      K.DynamicShared |= G->getAddressSpace() == 3 && G->isDeclaration();
    Out.Kernels.push_back(std::move(K));
  }
  for (const GlobalVariable &G : M->globals()) {
    bool Constant = G.getAddressSpace() == 4;
    if ((!Constant && G.getAddressSpace() != 1) || G.isDeclaration() ||
        G.getName().starts_with("__") || G.getName().starts_with(".str"))
      continue;
    VariableInfo V;
    V.Mangled = G.getName().str();
    V.Constant = Constant;
    V.Initialised = !G.getInitializer()->isNullValue() &&
                    !isa<UndefValue>(G.getInitializer());
    Type *E = element(G.getValueType());
    V.Kind = E->isFloatingPointTy() ? ElementKind::Float
             : E->isIntegerTy()     ? ElementKind::Integer
                                    : ElementKind::Other;
    V.ElementSize = M->getDataLayout().getTypeAllocSize(E);
    Out.Variables.push_back(std::move(V));
  }
  return M;
}

} // namespace rcache::check
