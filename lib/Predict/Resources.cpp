// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Resources.h.

#include "Resources.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <cmath>

using namespace rcache;

/// Takes `__nv_static_24_` and the 24 letters and `_` behind it away: with -rdc=true,
/// that is in front of what is static.
static llvm::StringRef withoutFile(llvm::StringRef Nvcc) {
  llvm::StringRef Rest = Nvcc;
  size_t Length = 0;
  if (!Rest.consume_front("__nv_static_") || Rest.consumeInteger(10, Length) ||
      Rest.size() < Length + 2)
    return Nvcc;
  return Rest.drop_front(Length + 2);
}

/// \p Clang as nvcc has it, up to anonymous namespaces: a static function has no
/// `L` in front of its name.
static std::string withoutLinkage(llvm::StringRef Clang,
                                  const std::string &Name) {
  const std::string Plain = std::to_string(Name.size()) + Name;
  const size_t At = Clang.find("L" + Plain);
  std::string T = Clang.str();
  if (At != llvm::StringRef::npos)
    T.erase(At, 1);
  return T;
}

/// clang mangles an anonymous namespace as "12_GLOBAL__N_1", nvcc as the length
/// and "_GLOBAL__N__" with the file's name and a number.
static bool sameName(llvm::StringRef Nvcc, llvm::StringRef Clang) {
  constexpr llvm::StringLiteral Anonymous("12_GLOBAL__N_1");
  const size_t At = Clang.find(Anonymous);
  if (At == llvm::StringRef::npos)
    return Nvcc == Clang;
  size_t Length = 0;
  if (!Nvcc.consume_front(Clang.take_front(At)) ||
      Nvcc.consumeInteger(10, Length) || Length > Nvcc.size() ||
      !Nvcc.starts_with("_GLOBAL__N__"))
    return false;
  return sameName(Nvcc.drop_front(Length),
                  Clang.drop_front(At + Anonymous.size()));
}

const FunctionReport *rcache::reportOf(llvm::ArrayRef<FunctionReport> All,
                                       const KernelModel &M) {
  const std::string Name = withoutLinkage(M.MangledName, M.Name);
  const auto It = llvm::find_if(All, [&](const FunctionReport &F) {
    return sameName(withoutFile(F.MangledName), Name);
  });
  return It == All.end() ? nullptr : &*It;
}

KernelResources
rcache::resourcesOf(const KernelModel &M, const FunctionReport &F,
                    const Arch &A,
                    const std::optional<std::array<int64_t, 3>> &Assumed) {
  KernelResources R;
  R.Of = F;
  R.Arch = A.Name;
  auto Threads = [](const std::array<int64_t, 3> &B) {
    return B[0] * B[1] * B[2];
  };
  if (!M.Geo.SeenBlocks.empty())
    R.Block = *llvm::max_element(M.Geo.SeenBlocks,
                                 [&](const auto &X, const auto &Y) {
                                   return Threads(X) < Threads(Y);
                                 });
  else {
    R.BlockAssumed = true;
    R.Block = Assumed.value_or(std::array<int64_t, 3>{
        std::clamp<int64_t>(M.Geo.MaxThreads.value_or(256), 1, 1024), 1, 1});
  }
  R.DynamicShared =
      llvm::any_of(M.Arrays, [](const SharedArray &S) { return S.Dynamic; }) ||
      llvm::any_of(M.Launches, [](const LaunchSite &L) {
        return !L.SharedBytes.empty() && L.SharedBytes != "0";
      });
  R.Occ = occupancy(A, F.Registers, static_cast<unsigned>(Threads(R.Block)),
                    F.SharedBytes);
  R.MostWarps = A.MaxThreadsPerSm / 32;
  return R;
}

std::string rcache::resourcesText(const KernelResources &R) {
  std::string T = std::to_string(R.Of.Registers) + " registers, " +
                  std::to_string(R.Of.StackFrame) + " bytes of stack, " +
                  std::to_string(R.Of.SpillStores) + " bytes spilled, " +
                  std::to_string(R.Occ.WarpsPerSm) + " of " +
                  std::to_string(R.MostWarps) + " warps (" +
                  std::to_string(std::lround(100 * R.occupancy())) + "%; " +
                  R.Occ.Limit;
  if (R.DynamicShared)
    T += "; without dynamic shared memory";
  if (R.BlockAssumed)
    T += "; in blocks of " +
         std::to_string(R.Block[0] * R.Block[1] * R.Block[2]) + " threads";
  return T + ")";
}
