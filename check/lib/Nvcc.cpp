// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Device code as the user's compiler makes it: nvcc is run for its PTX.

#include "PtxModule.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Object/ELF.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

#include <map>
#include <set>

using namespace llvm;

namespace rcache::check {

std::string findNvcc(const std::string &CudaPath) {
  std::string P = CudaPath + "/bin/nvcc";
  return !CudaPath.empty() && sys::fs::can_execute(P) ? P : "";
}

/// Flags of a user of either compiler, as far as device code hangs on them.
static std::vector<std::string>
deviceFlags(const std::vector<std::string> &Flags) {
  std::vector<std::string> Out;
  bool Fused = true;
  for (size_t I = 0; I < Flags.size(); ++I) {
    StringRef F = Flags[I];
    // What says where to compile for, and what to.
    if (F == "-arch" || F == "-gencode" || F == "-code" || F == "-o" ||
        F == "--generate-code" || F == "--gpu-architecture" || F == "-rdc" ||
        F == "-Xclang" || F == "-t") {
      ++I;
      continue;
    }
    if (F.starts_with("-arch=") || F.starts_with("-gencode=") ||
        F.starts_with("--generate-code=") || F.starts_with("--gpu-") ||
        F.starts_with("-code=") || F.starts_with("--cuda-") ||
        F.starts_with("-rdc=") || F.starts_with("--relocatable") || F == "-c" ||
        F == "-dc" || F == "-dlto" || F.starts_with("-l") ||
        F.starts_with("-L") || F == "-w" || F == "-lineinfo")
      continue;
    // What only clang knows.
    if (F == "-ffp-contract=off" || F == "-fmad=false" || F == "--fmad=false") {
      if (std::exchange(Fused, false)) // nvcc takes it once
        Out.push_back("-fmad=false");
      continue;
    }
    if (F.starts_with("-f") && !F.starts_with("-fmad") &&
        !F.starts_with("-ftz") && !F.starts_with("-forward-unknown"))
      continue;
    if (F.starts_with("-W") || F == "-pedantic")
      continue;
    Out.push_back(F.str());
  }
  return Out;
}

bool compileToPtx(const std::string &Nvcc, const std::string &Source,
                  const std::string &Arch,
                  const std::vector<std::string> &Flags, std::string &Text,
                  std::string &Error) {
  SmallString<128> To, Log;
  if (sys::fs::createTemporaryFile("rcache-check", "ptx", To) ||
      sys::fs::createTemporaryFile("rcache-check", "log", Log)) {
    Error = "cannot make a temporary file";
    return false;
  }
  FileRemover RemoveTo(To), RemoveLog(Log);
  std::vector<std::string> Args = {Nvcc, "-ptx", "-w", "-lineinfo",
                                   "-arch=" + Arch, "-DRCACHE_ANY_LAUNCH"};
  for (std::string &F : deviceFlags(Flags))
    Args.push_back(std::move(F));
  for (const char *A : {"-x", "cu"})
    Args.push_back(A);
  Args.push_back(Source);
  Args.push_back("-o");
  Args.push_back(To.str().str());
  SmallVector<StringRef, 32> Views(Args.begin(), Args.end());
  std::optional<StringRef> Redirects[] = {StringRef(""), StringRef(Log),
                                          StringRef(Log)};
  std::string Why;
  const int Status = sys::ExecuteAndWait(Nvcc, Views, std::nullopt, Redirects,
                                         /*SecondsToWait=*/120, 0, &Why);
  if (Status) {
    if (auto Said = MemoryBuffer::getFile(Log); Said && Why.empty())
      Why = (*Said)->getBuffer().trim().str();
    Error = "nvcc: " + (Why.empty() ? "status " + std::to_string(Status) : Why);
    return false;
  }
  auto Got = MemoryBuffer::getFile(To);
  if (!Got) {
    Error = "nvcc left nothing";
    return false;
  }
  Text = (*Got)->getBuffer().str();
  return true;
}

/// What both compilers' manglings of one entity have in common.
static std::string plainName(StringRef Name) {
  std::string N = demangle(Name.str());
  for (StringRef Anonymous : {"(anonymous namespace)::"})
    for (size_t At; (At = N.find(Anonymous)) != std::string::npos;)
      N.erase(At, Anonymous.size());
  for (StringRef Begin : {"_GLOBAL__N__", "_INTERNAL_"})
    for (size_t At; (At = N.find(Begin)) != std::string::npos;) {
      size_t End = N.find("::", At);
      if (End == std::string::npos)
        break;
      N.erase(At, End + 2 - At);
    }
  return N;
}

void useRegisteredNames(Module &Device, const Module &Host) {
  std::set<std::string> Registered;
  for (const Function &F : Host) {
    if (!F.getName().starts_with("__cudaRegister"))
      continue;
    for (const User *U : F.users())
      if (auto *Call = dyn_cast<CallInst>(U))
        for (const Use &A : Call->args())
          if (auto *G = dyn_cast<GlobalVariable>(A->stripPointerCasts());
              G && G->hasInitializer())
            if (auto *S = dyn_cast<ConstantDataArray>(G->getInitializer());
                S && S->isCString())
              Registered.insert(S->getAsCString().str());
  }
  std::map<std::string, std::string> ByPlain; ///< "": more than one
  for (const std::string &R : Registered) {
    auto [It, New] = ByPlain.try_emplace(plainName(R), R);
    if (!New)
      It->second.clear();
  }
  for (GlobalValue &G : Device.global_values()) {
    if (!G.hasName() || G.isDeclaration() ||
        Registered.count(G.getName().str()))
      continue;
    auto It = ByPlain.find(plainName(G.getName()));
    if (It != ByPlain.end() && !It->second.empty() &&
        !Device.getNamedValue(It->second))
      G.setName(It->second);
  }
}

//===----------------------------------------------------------------------===//
// Machine code
//===----------------------------------------------------------------------===//

/// Fused operations of 32 and 64 bits in each function of a cubin, whose
/// instructions have 128 bits and the operation in the lowest 9 of them.
static bool fusedOperations(StringRef Cubin,
                            std::map<std::string, unsigned> &Out) {
  auto File = object::ELFFile<object::ELF64LE>::create(Cubin);
  if (!File) {
    consumeError(File.takeError());
    return false;
  }
  auto Sections = File->sections();
  if (!Sections) {
    consumeError(Sections.takeError());
    return false;
  }
  for (const auto &S : *Sections) {
    auto Name = File->getSectionName(S);
    if (!Name) {
      consumeError(Name.takeError());
      return false;
    }
    if (!Name->consume_front(".text."))
      continue;
    auto Code = File->getSectionContents(S);
    if (!Code) { // not so where there is nothing in the file: .nv.shared
      consumeError(Code.takeError());
      return false;
    }
    unsigned &N = Out[Name->str()];
    for (size_t At = 0; At + 16 <= Code->size(); At += 16) {
      const unsigned Operation =
          support::endian::read16le(Code->data() + At) & 0x1ff;
      N += Operation == 0x023 || Operation == 0x02b; // FFMA, DFMA
    }
  }
  return true;
}

std::vector<std::string>
compareFusion(const std::string &CudaPath, const std::string &Arch,
              const std::string &Ptx,
              const std::map<std::string, unsigned> &Assumed) {
  const std::string Ptxas = CudaPath + "/bin/ptxas";
  const std::string Not = "what ptxas fuses was not looked at: ";
  if (!sys::fs::can_execute(Ptxas))
    return {Not + "the toolkit has no ptxas"};
  unsigned Number = 0;
  StringRef A = Arch;
  if (!A.consume_front("sm_") || A.consumeInteger(10, Number) || Number < 70 ||
      Number > 90)
    return {Not + "the machine code of " + Arch + " is not known"};
  SmallString<128> From, To, Log;
  if (sys::fs::createTemporaryFile("rcache-check", "ptx", From) ||
      sys::fs::createTemporaryFile("rcache-check", "cubin", To) ||
      sys::fs::createTemporaryFile("rcache-check", "log", Log))
    return {Not + "cannot make a temporary file"};
  FileRemover RemoveFrom(From), RemoveTo(To), RemoveLog(Log);
  std::error_code EC;
  raw_fd_ostream(From, EC) << Ptx;
  std::map<std::string, unsigned> With, Without;
  for (bool Fuse : {true, false}) {
    StringRef Args[] = {Ptxas, "-arch", Arch,
                        Fuse ? "-fmad=true" : "-fmad=false", From, "-o", To};
    std::optional<StringRef> Redirects[] = {StringRef(""), StringRef(Log),
                                            StringRef(Log)};
    std::string Why;
    const int Status = sys::ExecuteAndWait(Ptxas, Args, std::nullopt, Redirects,
                                           /*SecondsToWait=*/120, 0, &Why);
    auto Cubin = MemoryBuffer::getFile(To);
    if (Status || !Cubin ||
        !fusedOperations((*Cubin)->getBuffer(), Fuse ? With : Without))
      return {Not + "ptxas refuses the code"};
  }
  std::map<std::string, unsigned> Want; ///< by what the names have in common
  for (auto &[Name, N] : Assumed)
    Want[plainName(Name)] += N;
  std::vector<std::string> Out;
  for (auto &[Name, N] : With) {
    const unsigned Base = Without[Name], Got = N > Base ? N - Base : 0;
    const auto It = Want.find(plainName(Name));
    const unsigned Here = It == Want.end() ? 0 : It->second;
    const bool Agree =
        Got == Here || (Got && Here && (Got % Here == 0 || Here % Got == 0));
    if (!Agree)
      Out.push_back("'" + demangle(Name) + "': ptxas fuses " +
                    std::to_string(Got) +
                    " products that PTX leaves open, here it was " +
                    std::to_string(Here) + ": last bits may differ on a device");
  }
  return Out;
}

} // namespace rcache::check
