// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See ArrayText.h.

#include "ArrayText.h"
#include "Support/Words.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

using namespace rcache;
using llvm::StringRef;

std::optional<std::vector<TextRange>>
rcache::indexTexts(const KernelModel &M, const SharedAccess &S) {
  const SharedArray &Arr = M.Arrays[S.Array];
  const StringRef Text = StringRef(M.Text).slice(S.Range.Begin, S.Range.End);
  if (!Text.starts_with(Arr.Name) || S.Range.empty())
    return std::nullopt;
  std::vector<TextRange> All;
  int Depth = 0;
  for (size_t I = Arr.Name.size(); I < Text.size(); ++I) {
    const auto At = S.Range.Begin + static_cast<unsigned>(I);
    if (Text[I] == '[' && Depth++ == 0)
      All.push_back({At + 1, At + 1});
    else if (Text[I] == ']' && --Depth == 0)
      All.back().End = At;
    else if (Depth == 0 && !isspace(static_cast<unsigned char>(Text[I])))
      return std::nullopt;
  }
  auto In = [&](const auto &Of) {
    return llvm::any_of(All, [&](TextRange R) { return R.contains(Of.Range); });
  };
  if (Depth != 0 || All.size() != Arr.Extents.size() ||
      llvm::any_of(M.Effects, In) || llvm::any_of(M.SharedAccesses, In) ||
      llvm::any_of(M.GlobalAccesses, In))
    return std::nullopt;
  return All;
}

std::vector<unsigned> rcache::placesOf(const KernelModel &M, const std::string &Name) {
  const StringRef Body =
      StringRef(M.Text).slice(M.BodyRange.Begin, M.BodyRange.End);
  std::vector<unsigned> All;
  for (size_t I = 1; I < Body.size();) {
    const StringRef Rest = Body.drop_front(I);
    if (Rest.starts_with("//") || Rest.starts_with("/*")) {
      I = endOfComment(Body, I);
      continue;
    }
    const StringRef Before = Body.take_front(I).rtrim();
    if (Rest.starts_with(Name) && !isNameChar(Body[I - 1]) &&
        !isNameChar(Body[I + Name.size()]) && !Before.ends_with(".") && !Before.ends_with("->"))
      All.push_back(M.BodyRange.Begin + static_cast<unsigned>(I));
    ++I;
  }
  return All;
}

size_t rcache::occurrences(const KernelModel &M, const std::string &Name) {
  return placesOf(M, Name).size();
}

bool rcache::isNamedByAccesses(const KernelModel &M, unsigned Array) {
  const auto Accesses = static_cast<size_t>(
      llvm::count_if(M.SharedAccesses, [Array](const SharedAccess &S) {
        return S.Array == Array;
      }));
  return occurrences(M, M.Arrays[Array].Name) == Accesses + 1;
}

bool rcache::namesCoordinatesAlone(const KernelModel &M) {
  for (const char *Word : {"threadIdx", "blockDim"})
    if (occurrences(M, Word) !=
        static_cast<size_t>(llvm::count_if(M.Builtins, [&](const BuiltinUse &U) {
          return M.text(U.Range).rfind(Word, 0) == 0;
        })))
      return false;
  return llvm::all_of(M.Builtins, [&](const BuiltinUse &U) {
    return U.Axis <= 2 && !U.Range.empty() && M.BodyRange.contains(U.Range);
  });
}
