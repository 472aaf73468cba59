// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Device IR as clang makes it for NVPTX -> IR for the host that calls the CPU
// runtime:
//
//   prepare     host triple, everything inlined into the kernels
//   memory      __shared__ variables become offsets from the block's base,
//               other variables constant addresses in the arena, all address
//               spaces become one
//   operations  NVVM intrinsics and inline PTX become instructions or calls of
//               runtime functions (runtime/Abi.h)
//   locals      start as "never initialised" rather than as undef, so that the
//               optimiser cannot make use of it and the checks can see it
//   entries     one `void entry(void **args)` for each kernel

#ifndef RCACHE_CHECK_LOWER_H
#define RCACHE_CHECK_LOWER_H

#include "Runtime.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Module.h"

#include <optional>
#include <set>

namespace rcache::check {

/// What remains to be done once the module has been compiled.
struct Lowered {
  std::map<std::string, std::string> Entries; ///< kernel -> entry symbol
  /// Function addresses to be written into initialised device variables.
  std::vector<std::pair<char *, std::string>> FunctionFixups;
  /// Texts, see addSites; site N is Sites[N - FirstSite].
  std::vector<std::string> Sites;
  uint32_t FirstSite = 0;
  std::set<std::string> Unsupported; ///< instructions that end a launch
};

/// Marks of the lowering that the instrumentation looks for.
inline constexpr const char *UninitName = "rcc.uninit";
/// "rcc_rn_mulf": __fmul_rn until contractProducts has run.
inline constexpr llvm::StringLiteral RoundedOperation = "rcc_rn_";
/// What .ftz makes of a number, until expandFlushes has run.
inline constexpr llvm::StringLiteral FlushedNumber = "rcc_flush_f32";
/// On sums and products with .ftz: ptxas fuses them with their like.
inline constexpr llvm::StringLiteral FlushMark = "rcache-check.ftz";
/// On operations of PTX whose results are a number or the one value that is none.
inline constexpr llvm::StringLiteral OneNaNMark = "rcache-check.one-nan";
/// "rcc_field.i32": threadIdx and the like until expandStateFields has run.
inline constexpr llvm::StringLiteral StateField = "rcc_field.";
inline constexpr const char *EntryAttr = "rcc-entry";
inline constexpr const char *KernelAttr = "rcc-kernel";

/// "ns::f<2>" of "void ns::f<2>(int)".
std::string functionName(std::string Demangled);

/// Lowers \p M in place and describes its kernels and variables in \p P.
/// Allocates the variables. Returns false with \p Error set if the module needs
/// something that only another translation unit can give.
/// \p Contract: products and sums stay marked as ones that may be fused.
bool lower(llvm::Module &M, Program &P, Lowered &Out, bool Contract,
           std::string &Error);

/// Metadata of loads whose place in the constant bank is fixed.
constexpr llvm::StringLiteral BankMark = "rcache-check.bank";

/// Fuses what is marked (Contract.cpp) and removes the marks.
void contractProducts(llvm::Module &M);

/// What ptxas does with the products and sums of PTX that do not say how they
/// round (check/device/fusion.py shows it): a product that nothing takes but such
/// sums goes into all of them. They may stand in other blocks (square roots and
/// divisions end one) where one factor
/// is a number, a parameter or constant memory at a fixed place.
/// Returns how many sums of 32 and 64 bits take a product, for each function in which
/// one might.
std::map<std::string, unsigned> contractLikePtxas(llvm::Module &M);
/// Is \p V what .ftz makes of its operand?
bool isFlushed(const llvm::Value *V);
void expandFlushes(llvm::Module &M);

/// Marks \p V, if it is of 32 or 16 bits (OneNaNMark).
void markOneNaN(llvm::Value *V);
/// Makes all results of \p I that are no number one value.
void giveOneNaN(llvm::Instruction &I);
/// Sees to what is marked, before the optimiser takes x + -0.0 for x; for expressions,
/// \p Symbolic, it leaves such operations.
void settleNaNs(llvm::Module &M, bool Symbolic);

/// Makes loads of what reads the thread's and the block's state. To be called when
/// the optimiser has run, before checks are added, and again for those of the checks.
void expandStateFields(llvm::Module &M);

/// Ends a launch where the sum, difference or product of signed integers has no
/// value in its type. For modules of clang that have been lowered and not
/// optimised.
void checkOverflow(llvm::Module &M, Lowered &L);

/// "file:line:column".
std::string placeOf(const llvm::DILocation &L);

/// Places a source location is worth a number. Locations inside the toolkit's
/// headers are replaced by the place in the user's file that led there.
class SiteTable {
public:
  explicit SiteTable(Lowered &L) : L(L) {}
  uint32_t of(const llvm::Instruction &I);

private:
  Lowered &L;
  std::map<std::string, uint32_t> Known;
};

/// Calls of runtime functions, in one place.
class RuntimeCalls {
public:
  explicit RuntimeCalls(llvm::Module &M) : M(M) {}
  llvm::CallInst *call(llvm::IRBuilder<> &B, llvm::StringRef Name,
                       llvm::Type *Result,
                       llvm::ArrayRef<llvm::Value *> Args);
  /// The calling thread's state, computed once for each function.
  llvm::Value *context(llvm::Function &F);
  /// A value that nobody knows. Each call is a different one.
  llvm::Value *uninitialised(llvm::IRBuilder<> &B, llvm::Type *T);
  /// A field of the thread's or the block's state.
  llvm::Value *threadField(llvm::IRBuilder<> &B, llvm::Type *Ty,
                           unsigned Offset);
  llvm::Value *blockField(llvm::IRBuilder<> &B, unsigned Offset);
  /// prmt: bytes of \p X and \p Y by the digits of \p Selector; as shifts where
  /// these are known.
  llvm::Value *permuted(llvm::IRBuilder<> &B, llvm::Value *X, llvm::Value *Y,
                        llvm::Value *Selector);

private:
  llvm::Value *field(llvm::IRBuilder<> &B, llvm::Type *Ty, llvm::Value *Base,
                     unsigned Offset);

  llvm::Module &M;
  std::map<llvm::Function *, llvm::Value *> Contexts;
};

/// Intrinsics that compute: name without the "llvm.nvvm." in front. Null if it
/// is none of these.
llvm::Value *lowerArithmetic(RuntimeCalls &R, llvm::IRBuilder<> &B,
                             llvm::StringRef Name, llvm::CallInst &Call);

/// The sum, difference or product of two values, kept apart from operators until those
/// have been fused: an equal operator must not take its place, nor it an operator's.
llvm::Value *roundedOperation(RuntimeCalls &R, llvm::IRBuilder<> &B, llvm::StringRef Op,
                              llvm::Value *X, llvm::Value *Y);

/// \p V as an integer of type \p T, as the device converts: saturated, and what is
/// not a number gives 0 from float to 32 bits, else the sign bit alone.
llvm::Value *toInteger(llvm::IRBuilder<> &B, llvm::Value *V, llvm::Type *T,
                       bool Signed);

/// Inline PTX. Null if it is not understood; nothing has been emitted then, or
/// only dead code.
llvm::Value *lowerPtx(RuntimeCalls &R, llvm::IRBuilder<> &B,
                      llvm::CallInst &Call, uint32_t Site, bool &Done);

} // namespace rcache::check

#endif
