// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See PtxArithmetic.h.
//
//     ld.global.f32 %f1, [%rd4];      value of %f1: "ld.global.f32"
//     mul.f32       %f2, %f1, %f1;    value of %f2: hash("mul.f32", %f1, %f1)
//     fma.rn.f32    %f3, %f2, %f1, 0f3F800000;
//
// What a register holds that is defined in several places (variables of loops) is
// told by its kind alone.

#include "PtxArithmetic.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/xxhash.h"

using namespace rcache;
using llvm::StringRef;

namespace {

struct Instruction {
  StringRef Operation;
  llvm::SmallVector<StringRef, 4> Operands; ///< the first is the result
};

/// The instruction of a line; no operation: it has none.
Instruction parse(StringRef Line) {
  Instruction I;
  Line = Line.split("//").first.trim();
  if (Line.starts_with("@"))
    Line = Line.drop_until(llvm::isSpace).ltrim();
  if (!Line.consume_back(";") || Line.starts_with("."))
    return I;
  I.Operation = Line.take_until(llvm::isSpace);
  StringRef Rest = Line.drop_front(I.Operation.size());
  while (!Rest.empty()) {
    auto [Operand, Behind] = Rest.split(',');
    I.Operands.push_back(Operand.trim());
    Rest = Behind;
  }
  return I;
}

/// Computes with rounding: `fma.rn.f32`, `cvt.rn.f32.f64`.
bool isArithmetic(StringRef Operation) {
  static constexpr StringRef Kinds[] = {
      "add.", "sub.", "mul.",   "fma.", "mad.", "div.",  "rcp.", "sqrt.",
      "cvt.", "ex2.", "rsqrt.", "lg2.", "sin.", "cos.", "tanh."};
  static constexpr StringRef Types[] = {".f16",  ".f16x2",  ".f32",  ".f64",
                                        ".bf16", ".bf16x2", ".f32x2"};
  return llvm::any_of(Kinds, [&](StringRef K) {
           return Operation.starts_with(K);
         }) &&
         llvm::any_of(Types, [&](StringRef T) {
           return Operation.contains((T + ".").str()) || Operation.ends_with(T);
         });
}

/// A floating-point operation of one of \p Kinds that says no rounding of its own:
/// ptxas may fuse it. (`mul.wide.s32`, `add.s64` are others.)
bool isOpen(StringRef Operation, llvm::ArrayRef<StringRef> Kinds) {
  return isArithmetic(Operation) &&
         llvm::any_of(Kinds,
                      [&](StringRef K) { return Operation.starts_with(K); }) &&
         llvm::none_of(
             llvm::ArrayRef<StringRef>{".rn.", ".rz.", ".rm.", ".rp."},
             [&](StringRef R) { return Operation.contains(R); });
}

uint64_t hashOf(StringRef Text) { return llvm::xxh3_64bits(Text); }

/// The values of registers as the text defines them.
class Values {
public:
  explicit Values(llvm::ArrayRef<Instruction> All) {
    for (const Instruction &I : All)
      if (!I.Operands.empty() && I.Operands.front().starts_with("%"))
        ++Definitions[I.Operands.front()];
  }

  uint64_t of(StringRef Operand) const {
    if (!Operand.starts_with("%"))
      return hashOf(Operand); // a constant
    if (auto It = Known.find(Operand); It != Known.end())
      return It->second;
    // %fd12, %f3, %r7: of several definitions, or defined further on.
    return hashOf(Operand.take_while([](char C) { return !llvm::isDigit(C); }));
  }

  uint64_t ofResult(const Instruction &I) const {
    uint64_t H = hashOf(I.Operation);
    if (isArithmetic(I.Operation) || I.Operation.starts_with("mov."))
      for (StringRef O : llvm::ArrayRef(I.Operands).drop_front())
        H = H * 0x9e3779b97f4a7c15u + of(O);
    return H;
  }

  void define(const Instruction &I) {
    if (!I.Operands.empty() && Definitions.lookup(I.Operands.front()) == 1)
      Known[I.Operands.front()] = ofResult(I);
  }

private:
  llvm::StringMap<unsigned> Definitions;
  llvm::StringMap<uint64_t> Known;
};

} // namespace

std::optional<PtxArithmetic> rcache::arithmeticOf(StringRef Ptx,
                                                  StringRef MangledName) {
  const size_t At = Ptx.find((".entry " + MangledName + "(").str());
  if (At == StringRef::npos)
    return std::nullopt;
  llvm::SmallVector<StringRef> Lines;
  Ptx.drop_front(At).split("\n}").first.split(Lines, '\n');
  std::vector<Instruction> All;
  for (StringRef Line : Lines)
    if (Instruction I = parse(Line); !I.Operation.empty())
      All.push_back(std::move(I));
  Values Of(All);
  llvm::StringSet<> Products; ///< registers that may hold one to be fused
  for (const Instruction &I : All)
    if (isOpen(I.Operation, {"mul."}) && !I.Operands.empty())
      Products.insert(I.Operands.front());
  PtxArithmetic Found;
  for (const Instruction &I : All) {
    if (isArithmetic(I.Operation))
      Found.Operations.push_back(Of.ofResult(I));
    Found.Fusible |=
        isOpen(I.Operation, {"add.", "sub."}) &&
        llvm::any_of(llvm::ArrayRef(I.Operands).drop_front(),
                     [&](StringRef O) { return Products.contains(O); });
    Of.define(I);
  }
  return Found;
}

bool rcache::sameArithmetic(PtxArithmetic A, PtxArithmetic B) {
  if (A.Fusible != B.Fusible)
    return false;
  if (!A.Fusible) {
    llvm::sort(A.Operations);
    llvm::sort(B.Operations);
  }
  return A.Operations == B.Operations;
}
