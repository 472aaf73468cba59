// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the families of generated kernels share: element types, parameters and
// launches, and the text that a family hands over.
//
// A family is a function from answers (Choices.h) to a kernel and its launches.
// Every launch is defined behaviour by construction: reads stay inside the
// allocations, every shared element that reaches a result was staged, barriers
// are met by all threads that live, blocks do not race.

#ifndef RCACHE_FUZZ_GRAMMAR_H
#define RCACHE_FUZZ_GRAMMAR_H

#include "Choices.h"
#include "llvm/ADT/ArrayRef.h"
#include <string>
#include <utility>
#include <vector>

namespace rcache::fuzz {

/// \p Text with every `$name` replaced; `$$` and unknown names stay.
std::string sub(const std::string &Text,
                const std::vector<std::pair<std::string, std::string>> &Names);

std::string num(long long V);

struct ElemType {
  const char *Name;
  enum KindType { Int, Float, Pair } Kind;
  unsigned Bytes;
  const char *Acc;        ///< what sums of it are computed in
  const char *Definition; ///< of a struct, else null; `$T` is its name
};

/// All element types; 0 is float.
const ElemType &elemType(unsigned I);
unsigned elemTypes();

/// A kernel parameter with what the host passes.
struct Param {
  enum KindType { In, Out, InOut, Scalar } Kind;
  std::string Type = {}; ///< element type of a pointer, type of a scalar
  std::string Name = {};
  std::string Count = {}; ///< pointers: elements, in the launch's variables
  std::string Value = {}; ///< scalars, in the same terms
  bool Const = false, Restrict = false;
  std::string decl() const;
};

/// One launch: values of its variables (n, bx, by, off, alias ...).
using Launch = std::vector<std::pair<std::string, long long>>;

struct KernelText {
  std::string Name;
  std::string Device;       ///< macros, constants, helpers and the kernel
  std::string Host;         ///< `static void run_<name>()`
  std::string TemplateArgs; ///< "<128>" or ""
  std::vector<Param> Params;
  std::vector<Launch> Launches; ///< all with the same variables
  /// What is passed, where that is not Params: declarations of `d_` and each of
  /// Passed, behind those of Params.
  std::string Pack;
  std::vector<std::string> Passed;
  /// Forms that the kernel has, of those that a family counts (Names.h, Views.h ...).
  std::vector<std::string> Forms;
  std::string GridX = "(n + bx - 1) / bx + extra", GridY = "1";
  std::string SharedBytes = "0";
  /// Parameters that share memory in launches with `alias` != 0: the second
  /// points into the first's memory, alias - 1 elements on. Empty: none.
  std::string AliasOf, Aliased;
  bool PlainData = false; ///< small whole numbers only
  bool Cxx20 = false;     ///< compiled as C++20
  bool OnNvcc = false;    ///< judged on the code that nvcc makes, where there is one
};

/// Staging of a line of elements and a window over it (1-D).
KernelText windowKernel(Choices &C, const std::string &Name);
/// Reads inside one block: reversed, strided, broadcast, tile loops ...
KernelText blockKernel(Choices &C, const std::string &Name);
/// Two-dimensional tiles.
KernelText planeKernel(Choices &C, const std::string &Name);
/// Tile loops, planes, staged filters, vectors as elements, helper functions.
KernelText tileKernel(Choices &C, const std::string &Name);
/// Simple kernels, in uncommon words.
KernelText textKernel(Choices &C, const std::string &Name);
/// Plain kernels, launched in uncommon ways. The host's text is in it.
KernelText hostKernel(Choices &C, const std::string &Name);
/// What a compiler may round together.
KernelText sumsKernel(Choices &C, const std::string &Name);
/// What threads hand to each other again and again: trees, scans, sorts.
KernelText ownedKernel(Choices &C, const std::string &Name);
/// Tiled products whose blocks may be joined.
KernelText joinedKernel(Choices &C, const std::string &Name);
/// Structs with pointers, and names of inner blocks around what is staged.
KernelText viewsKernel(Choices &C, const std::string &Name);
/// Rows and columns within a line of threads, arrays of one allocation.
KernelText rowsKernel(Choices &C, const std::string &Name);
/// Rows of an image or a batch, by a pitch of another type, and their borders.
KernelText batchKernel(Choices &C, const std::string &Name);
/// Arrays that each thread has for itself, with indices of run time.
KernelText privateKernel(Choices &C, const std::string &Name);
/// Blocks as large as their tile, whose rim only stages.
KernelText overlapKernel(Choices &C, const std::string &Name);
/// Loops over planes whose rounds blocks may share.
KernelText cutKernel(Choices &C, const std::string &Name);
/// A function that nobody calls, which launches \p K, whose scalars are sizes, with a
/// large grid of blocks of \p Bx * \p By threads: what is planned for.
std::string largeLaunch(const KernelText &K, unsigned Bx, unsigned By);
/// Kernels outside the class that is rewritten, near its border.
KernelText outsideKernel(Choices &C, const std::string &Name);

/// \p Use, perhaps under one of \p Conditions, which threads may differ in; what it
/// adds to is read behind it. Floats and integers alike.
std::string perhapsUnder(Choices &C, llvm::ArrayRef<std::string> Conditions,
                         const std::string &Use);

/// All families, by the number that choices have for them.
const std::vector<std::string> &families();
/// The answers of a seed. \p Family: one of families() whatever the seed says, or "".
Choices choicesOf(unsigned Seed, const std::string &Family);

/// Any of the families.
KernelText anyKernel(Choices &C, const std::string &Name);

/// How the extent of a shared array and the block size are known.
struct SizeForm {
  enum KindType { Literal, Macro, Constexpr, Template, Dynamic } Kind;
  unsigned Block = 64;
  std::string Const;  ///< the block size as a constant of the source
  std::string Bd;     ///< the block size as the index arithmetic has it
  bool Exact = false; ///< every launch must have blocks of Block threads
  std::string Before; ///< text in front of the kernel
  std::string Head;   ///< "template <int B> " or ""
  std::string Bounds; ///< "__launch_bounds__(64) " or ""
  std::string Args;   ///< "<64>" or ""
};
SizeForm sizeForm(Choices &C, const std::string &Name, bool AllowDynamic);

/// Launches of a 1-D kernel around the boundaries of n and of the block, grids
/// that are too small, too large or empty among them (`extra` blocks), and one
/// at least that has blocks of the kernel's own size. Blocks have at least
/// \p MinBlock threads. \p MayBig: one launch may pass an unsigned n of which
/// the upper half of the range is used (`big`).
std::vector<Launch> lineLaunches(Choices &C, const SizeForm &S,
                                 unsigned MinBlock, bool MayAlias,
                                 bool MayBig = false);

/// A whole program of \p Kernels.
std::string program(const std::vector<KernelText> &Kernels);

} // namespace rcache::fuzz

#endif // RCACHE_FUZZ_GRAMMAR_H
