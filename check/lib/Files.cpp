// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Device code of several files. Without separate compilation each file's is a program
// of its own, of which the host's side of the file registers kernels and variables by
// name; with it, what is static still is the file's. Here all of it becomes one
// module, so what has the name of another file's gets one of its own, in the
// registration as well.

#include "Jit.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace rcache::check {

bool compilesSeparately(const std::vector<std::string> &Flags) {
  for (size_t I = 0; I < Flags.size(); ++I)
    for (const char *Name : {"-rdc", "--relocatable-device-code"}) {
      StringRef F = Flags[I];
      if (F == Name && I + 1 < Flags.size())
        F = Flags[I + 1];
      else if (!F.consume_front(Name) || !F.consume_front("="))
        continue;
      if (F == "true")
        return true;
    }
  return any_of(Flags, [](StringRef F) {
    return F == "-dc" || F == "--device-c" || F == "-fgpu-rdc";
  });
}

namespace {

/// How the host's side of a file registers a kernel or variable.
struct Registration {
  CallInst *Call;
  unsigned NameArgument;
  GlobalValue *Symbol; ///< the host's, or null
};

/// By the name that the device's side has.
std::multimap<std::string, Registration> registrations(Module &Host) {
  constexpr unsigned Symbol = 1, Name = 3;
  std::multimap<std::string, Registration> All;
  for (const char *Function : {"__cudaRegisterFunction", "__cudaRegisterVar",
                               "__cudaRegisterManagedVar"}) {
    const llvm::Function *F = Host.getFunction(Function);
    if (!F)
      continue;
    for (const User *U : F->users()) {
      auto *Call = dyn_cast<CallInst>(const_cast<User *>(U));
      if (!Call || Call->arg_size() <= Name)
        continue;
      auto *G = dyn_cast<GlobalVariable>(Call->getArgOperand(Name)->stripPointerCasts());
      auto *S = G && G->hasInitializer() ? dyn_cast<ConstantDataArray>(G->getInitializer())
                                         : nullptr;
      auto *Of = dyn_cast<GlobalValue>(Call->getArgOperand(Symbol)->stripPointerCasts());
      if (S && S->isCString())
        All.insert({S->getAsCString().str(), {Call, Name, Of}});
    }
  }
  return All;
}

} // namespace

void keepApart(const Module &Others, Module &Device, Module &Host, unsigned File,
               bool Separately) {
  const auto Registered = registrations(Host);
  for (GlobalValue &G : Device.global_values()) {
    const GlobalValue *Other = G.hasName() ? Others.getNamedValue(G.getName()) : nullptr;
    if (G.isDeclaration() || !Other || Other->isDeclaration() ||
        G.getName().starts_with("llvm."))
      continue;
    const auto [First, Last] = Registered.equal_range(G.getName().str());
    const auto *F = dyn_cast<Function>(&G);
    const bool Kernel = F && F->getCallingConv() == CallingConv::PTX_Kernel;
    const bool Local = any_of(make_range(First, Last), [](const auto &R) {
      return R.second.Symbol && R.second.Symbol->hasLocalLinkage();
    });
    if (!Local && (Kernel || Separately))
      continue; // one for all files
    if (auto *O = dyn_cast<GlobalObject>(&G))
      O->setComdat(nullptr); // of the other's name
    if (!Kernel && First == Last) {
      G.setLinkage(GlobalValue::InternalLinkage);
      continue;
    }
    G.setName(G.getName() + ".file" + Twine(File));
    Constant *Name = ConstantDataArray::getString(Host.getContext(), G.getName());
    auto *Text = new GlobalVariable(Host, Name->getType(), /*isConstant=*/true,
                                    GlobalValue::PrivateLinkage, Name);
    for (const auto &[Was, R] : make_range(First, Last)) {
      R.Call->setArgOperand(R.NameArgument, Text);
      if (R.Symbol && !Kernel && R.Symbol->hasLocalLinkage())
        R.Symbol->setName(G.getName()); // as managed variables are found
    }
  }
}

} // namespace rcache::check
