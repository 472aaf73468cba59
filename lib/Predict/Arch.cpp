// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Looks up rows of Arch.def.

#include "rcache/Prediction.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <string>
#include <vector>

namespace rcache {

static constexpr Arch Table[] = {
#define RCACHE_ARCH(NAME, PART, MAJOR, MINOR, SMS, GHZ, GBS, FP32, INT, FP64,  \
                    SFU, THREADS, BLOCKS, SHARED)                              \
  {#NAME, PART, MAJOR, MINOR, SMS,     GHZ,    GBS,                            \
   FP32,  INT,  FP64,  SFU,   THREADS, BLOCKS, SHARED},
#include "Arch.def"
};

llvm::ArrayRef<Arch> allArchs() { return Table; }

const Arch *findArch(llvm::StringRef Name) {
  if (!Name.consume_front("sm_"))
    Name.consume_front("compute_");
  unsigned Number = 0;
  // What follows the number (`a`, `f`) names a variant of the same hardware.
  if (Name.consumeInteger(10, Number))
    return nullptr;
  const Arch *Best = nullptr;
  for (const Arch &A : Table)
    if (A.Major * 10 + A.Minor <= Number)
      Best = &A;
  return Best;
}

/// "A100-SXM4" -> {"a100", "sxm4"}
static std::vector<std::string> wordsOf(llvm::StringRef Name) {
  std::vector<std::string> Out(1);
  for (char C : Name)
    if (llvm::isAlnum(C))
      Out.back() += llvm::toLower(C);
    else if (!Out.back().empty())
      Out.emplace_back();
  if (Out.back().empty())
    Out.pop_back();
  return Out;
}

llvm::ArrayRef<Arch> allParts() {
  static const std::vector<Arch> All = [] {
    std::vector<Arch> Out(std::begin(Table), std::end(Table));
    const auto Add = [&](llvm::StringRef Of, const char *Part, unsigned Sms, double GHz,
                         double GBs) {
      Arch A = *findArch(Of);
      A.Part = Part;
      A.Sms = Sms;
      A.ClockGHz = GHz;
      A.DramGBs = GBs;
      Out.push_back(A);
    };
#define RCACHE_PART(NAME, PART, SMS, GHZ, GBS) Add(#NAME, PART, SMS, GHZ, GBS);
#include "Arch.def"
    return Out;
  }();
  return All;
}

const Arch *findPart(llvm::StringRef Name) {
  const std::vector<std::string> Given = wordsOf(Name);
  const Arch *Best = nullptr;
  size_t Most = 0;
  for (const Arch &A : allParts()) { // "NVIDIA H100 80GB HBM3" is the H100
    const std::vector<std::string> Known = wordsOf(A.Part);
    if (Known.size() > Most && llvm::all_of(Known, [&](const std::string &W) {
          return llvm::is_contained(Given, W);
        })) {
      Best = &A;
      Most = Known.size();
    }
  }
  const std::string Whole = llvm::join(Given, "");
  for (const Arch &A : allParts()) // "rtx4090", "A100"
    if (!Best && !Whole.empty() && llvm::StringRef(llvm::join(wordsOf(A.Part), "")).contains(Whole))
      Best = &A;
  return Best;
}

} // namespace rcache
