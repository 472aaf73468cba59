// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The condition for a rewritten kernel to be launched, and the statement that
// launches it. See LaunchText.h.

#include "LaunchText.h"
#include "Emitter.h"
#include "Plan/Cuts.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "rcache/ThreadsInLine.h"
#include <algorithm>
#include <map>

using namespace rcache;

std::vector<LaunchCondition> LaunchText::conditions() const {
  std::vector<LaunchCondition> All;
  auto Ask = [&](std::string Text, std::string Words) {
    All.push_back({std::move(Text), std::move(Words)});
  };
  if (M.Form.scaled()) {
    const std::string B = givenBlock();
    Ask(B + ".x <= 1024u && " + B + ".y <= 1024u && " + B + ".z <= 64u",
        "a block of at most 1024 x 1024 x 64 threads: larger ones fail, and their "
        "products may wrap");
    for (size_t A = 0; A < 3; ++A)
      if (M.Form.Scale[A] < 0) {
        const std::string By = std::to_string(-M.Form.Scale[A]);
        Ask(B + "." + "xyz"[A] + " % " + By + "u == 0u",
            std::string("a block whose extent along ") + "xyz"[A] +
                " is a multiple of " + By);
      }
  }
  if (P.LeastThreads)
    Ask("::rcache::device::fills(" + N("grid") + ", " + threadsOfBlock() +
            (P.Cut ? " * unsigned((" + allRounds() + ") / " +
                         std::to_string(P.Cut->UsualRounds) + " + 1)"
                   : "") +
            ", " + std::to_string(P.LeastThreads) + (P.GridHasOther ? ", true)" : ")"),
        "at least " + std::to_string(P.LeastThreads) +
            " threads in the grid: fewer leave most of the device idle, and the " +
            (P.GridHasOther ? "form for smaller grids" : "original") + " is faster");
  if (P.LeastRow)
    Ask("::rcache::device::fills(dim3(" + N("grid") + ".x), 1u, " +
            std::to_string(P.LeastRow) + ")",
        "at least " + std::to_string(P.LeastRow) +
            " blocks along x: in shorter rows the threads at their ends, which load "
            "element by element, take most of the time");
  for (const Precondition &C : P.Preconditions)
    Ask("(" + C.Text + ")", C.Text + (C.Reason.empty() ? "" : ": " + C.Reason));
  for (const std::string &C : noWrap())
    Ask("(" + C + ")", C + ": no sum of the arguments wraps");
  for (LaunchCondition &C : alignment())
    All.push_back(std::move(C));
  Ask("::rcache::device::launches<" + std::to_string(sureThreads()) + ">(" +
          originalAddress(M) + ", " + N("grid") + ", " + givenBlock() + ", " +
          N("shared") + ")",
      "a launch that the device would make of the original (grid, threads of a "
      "block, dynamic shared memory): what fails has to fail as it did");
  if (sharedBytes() != "0")
    Ask("::rcache::device::holds(" + Name + templateArgsOf(M) + ", " +
            sharedBytes() + ")",
        sharedBytes() +
            ": a block of the new kernel may have so many bytes of dynamic shared "
            "memory, more than is usual by cudaFuncSetAttribute");
  if (comparesWaves())
    Ask("::rcache::device::waves_pay(" + Name + templateArgsOf(M) + ", " +
            threadsOfBlock() + ", " + std::to_string(P.Map.mostThreads()) +
            "u, " + sharedBytes() + ", " + originalAddress(M) + ", " +
            N("grid") + ", " + N("block") + ", " + N("shared") + ", " +
            llvm::formatv("{0:F2}", P.WaveLife).str() + ")",
        "no more time in whole waves of blocks than the original's blocks take "
        "on the device at hand");
  return All;
}

/// Conditions for vectors to start where they may, each once.
std::vector<LaunchCondition> LaunchText::alignment() const {
  std::vector<LaunchCondition> All;
  auto Ask = [&](std::string Text, const std::string &What) {
    const char *Why = P.AlignedHasOther
                          ? ": else another form, or the original, is faster"
                          : ": element by element the original is faster";
    if (llvm::none_of(All, [&](const auto &C) { return C.Text == Text; }))
      All.push_back({std::move(Text), What + Why});
  };
  for (const AlignedRun &R : P.Aligned) {
    const std::string At =
        R.Offset.empty() ? R.Pointer : R.Pointer + " + (" + R.Offset + ")";
    const std::string Elements = std::to_string(R.Elements);
    const std::string What = "'" + R.Pointer + "'" +
                             (R.Offset.empty() ? "" : " + " + R.Offset) +
                             " aligned for vectors of " + Elements + " elements";
    if (!P.AlignedHasOther) {
      Ask("::rcache::device::aligned(" + At + ")", What);
      continue;
    }
    Ask("reinterpret_cast<size_t>(" + At + ") % 16 == 0", What);
    for (const std::string &T : R.Multiples)
      Ask((T.find(' ') == std::string::npos ? T : "(" + T + ")") + " % " +
              Elements + " == 0",
          "'" + T + "' a multiple of " + Elements);
  }
  return All;
}

/// The largest value of a symbol in this launch where none of \p Factors, parameters in
/// products that may be, is negative; "": nobody knows.
std::string LaunchText::largest(const std::string &Id,
                                std::vector<std::string> &Factors) const {
  const int I = M.symbolIndex(Id);
  if (I < 0)
    return "262144"; // an element of an array
  const Symbol &S = M.Symbols[static_cast<size_t>(I)];
  switch (S.K) {
  case Symbol::ThreadIdx:
  case Symbol::BlockDim:
    return N("block") + "." + "xyz"[S.Axis];
  case Symbol::BlockIdx:
  case Symbol::GridDim:
    return N("grid") + "." + "xyz"[S.Axis];
  default:
    break;
  }
  std::string T;
  for (const std::string &F : S.Factors) {
    const int J = M.symbolIndex(F);
    const Symbol *Of = J < 0 ? nullptr : &M.Symbols[static_cast<size_t>(J)];
    std::string Most;
    if (Of && Of->K == Symbol::Param) {
      Most = "(double)" + Of->Text;
      if (Of->Signed)
        Factors.push_back(Of->Text);
    } else if (Of) {
      Most = largest(F, Factors);
    }
    if (Most.empty())
      return "";
    T += (T.empty() ? "" : " * ") + Most;
  }
  return T;
}

/// Does \p S, a sum of what blocks, threads and elements are numbered by, fit int in
/// every launch?
bool LaunchText::isSureToFit(const PrintedSum &S) const {
  double Largest = std::abs(double(S.Constant));
  for (const auto &[Id, C] : S.Symbols) {
    const int I = M.symbolIndex(Id);
    double Most = 262144;
    if (I >= 0) {
      const Symbol &Of = M.Symbols[static_cast<size_t>(I)];
      const bool Block = Of.K == Symbol::BlockIdx || Of.K == Symbol::GridDim;
      Most = !Block ? 1024 : Of.Axis == 0 ? 2147483647.0 : 65535;
    }
    Largest += std::abs(double(C)) * Most;
  }
  return Largest <= 2147483647.0;
}

/// What a sum \p S of 64 bits has to be asked: sizes are far from it; doubles would not
/// tell exactly. (What has no sign is asked by the plan, MostOfSizes.)
void LaunchText::askWide(const PrintedSum &S, std::vector<std::string> &Out) const {
  for (const auto &[Id, C] : S.Symbols) {
    const int I = M.symbolIndex(Id);
    const Symbol *Of = I < 0 ? nullptr : &M.Symbols[static_cast<size_t>(I)];
    if (!Of || Of->K != Symbol::Param || Of->Bits != 64)
      continue;
    if (Of->Signed)
      Out.push_back(Of->Text + " >= -0x1000000000000000ll");
    if (std::abs(double(C)) > 1048576)
      Out.push_back(Of->Text + " <= " +
                    std::to_string((int64_t(1) << 60) / std::abs(C)));
  }
}

/// What the launch has to be asked so that no sum of a parameter wraps that
/// the original may not have computed: `g < n + 16` is tested as `g < n - 7`
/// for a whole run.
std::vector<std::string> LaunchText::noWrap() const {
  std::map<std::string, int64_t> Least, Most; // of single parameters
  std::vector<std::string> Out;
  for (const PrintedSum &S : K.Sums) {
    if (S.Type == CxxType::Unsigned)
      continue;
    const bool Wide = S.Type == CxxType::LongLong;
    std::string Params, Up, Down;
    std::string Single;
    std::vector<std::string> NotNegative;
    unsigned Count = 0;
    auto Times = [](int64_t C, const std::string &T) {
      return C == 1 ? T : std::to_string(C) + ".0 * " + T;
    };
    for (const auto &[Id, C] : S.Symbols) {
      const int I = M.symbolIndex(Id);
      const Symbol *Sym = I < 0 ? nullptr : &M.Symbols[static_cast<size_t>(I)];
      if (Sym && Sym->K == Symbol::Param) {
        if (Sym->Bits < (Wide ? 64u : 32u))
          continue;
        ++Count;
        Single = C == 1 && Sym->Signed ? Sym->Text : "";
        Params += (Params.empty() ? "" : " + ") + Times(C, "(double)" + Sym->Text);
        continue;
      }
      std::vector<std::string> Of;
      const std::string Max = largest(Id, Of);
      if (Max.empty())
        continue;
      if (!Wide)
        llvm::append_range(NotNegative, Of);
      if (C > 0 || I < 0)
        Up += " + " + Times(std::abs(C), "(double)" + Max);
      if (C < 0 || I < 0)
        Down += " - " + Times(std::abs(C), "(double)" + Max);
    }
    // (Without an argument, the original computes the same in as many bits, or fewer.)
    if ((!Count && (!M.WideSums || Wide || isSureToFit(S))) ||
        (Count == 1 && S.Symbols.size() == 1 && S.Constant == 0 && !Single.empty()))
      continue;
    if (Wide) {
      askWide(S, Out);
      continue;
    }
    if (!Single.empty() && Count == 1 && Up.empty() && Down.empty()) {
      if (S.Constant < 0) {
        int64_t &L = Least.try_emplace(Single, INT32_MIN).first->second;
        L = std::max(L, INT32_MIN - S.Constant);
      } else if (S.Constant > 0) {
        int64_t &L = Most.try_emplace(Single, INT32_MAX).first->second;
        L = std::min(L, INT32_MAX - S.Constant);
      }
      continue;
    }
    const std::string C =
        S.Constant == 0 ? ""
                        : (S.Constant < 0 ? " - " : " + ") +
                              std::to_string(std::abs(S.Constant)) + ".0";
    for (const std::string &Text : NotNegative)
      if (!knownPositive(Text))
        Out.push_back(Text + " >= 0");
    // Threads and elements alone are few.
    const auto asks = [&](const std::string &Of) {
      return Count || llvm::StringRef(Of).contains(N("grid") + ".");
    };
    if (asks(Up))
      Out.push_back((Count ? Params + Up : Up.substr(3)) + C + " <= 2147483647.0");
    if (asks(Down))
      Out.push_back((Count ? Params : "0.0") + Down + C + " >= -2147483648.0");
  }
  for (const auto &[Text, Value] : Least)
    if (!knownPositive(Text))
      Out.push_back(Text + " >= " + std::to_string(Value));
  for (const auto &[Text, Value] : Most)
    Out.push_back(Text + " <= " + std::to_string(Value));
  std::sort(Out.begin(), Out.end());
  Out.erase(std::unique(Out.begin(), Out.end()), Out.end());
  return Out;
}

/// Does a precondition ask for it anyway?
bool LaunchText::knownPositive(const std::string &Text) const {
  const std::string Asked = Text + " >= 0";
  return llvm::any_of(P.Preconditions, [&](const Precondition &C) {
    return llvm::StringRef(C.Text).starts_with(Asked) ||
           llvm::StringRef(C.Text).contains("&& " + Asked);
  });
}

/// The block of the launch: `rc_block` is the block of the kernel's text.
std::string LaunchText::givenBlock() const {
  return N(M.Form.scaled() ? "given_block" : "block");
}

/// Threads that a block of the original may have whatever the compiler made of
/// it: with 255 registers a thread, or in its launch bounds. None where it may have been
/// told to run in clusters.
int64_t LaunchText::sureThreads() const {
  if (M.Geo.NamesClusters)
    return 0;
  int64_t Bounds = M.Geo.MaxThreads.value_or(256);
  if (M.Geo.MaxThreads)
    Bounds /= threadsOfText(M.Form);
  return std::clamp<int64_t>(Bounds, 1, 1024);
}

/// Is the launch to tell whether the waves of the planned kernel are over
/// before those of the original?
bool LaunchText::comparesWaves() const {
  return P.WaveLife > 0 && !P.Cut && P.Map.Block && !K.IsCopy && !M.Form.scaled();
}

/// How many rounds the loop takes that several blocks share.
std::string LaunchText::allRounds() const {
  auto T = roundsOfLaunch(M, *P.Cut);
  if (T)
    return *T;
  llvm::consumeError(T.takeError()); // the plan has it in a condition
  return "";
}

/// Sets \p Blocks to a grid along whose z blocks share the rounds.
std::string LaunchText::shares(const std::string &Kernel,
                               std::string &Blocks) const {
  const std::string Rounds = N("rounds"), All = N("all_rounds"),
                    Grid = N("shares"), Usual = Blocks;
  Blocks = Grid;
  return "// Several blocks share the rounds of the loop.\nconst long long " + All +
         " = " + allRounds() + ";\nunsigned int " + Rounds +
         " = ::rcache::device::rounds_of_block(" + Kernel + ", " +
         std::to_string(P.Map.mostThreads()) + "u, " + sharedBytes() +
         ", double(" + Usual + ".x) * " + Usual + ".y, " + All + ", " +
         std::to_string(P.Cut->LeastRounds) + "u, " +
         std::to_string(P.Cut->UsualRounds) + "u);\nconst dim3 " + Grid + "(" +
         Usual + ".x, " + Usual + ".y, unsigned((" + All + " - 1) / " + Rounds +
         " + 1));\n";
}

/// Dynamic shared memory of the kernel's own, in front of another part of it.
std::string LaunchText::ownBytes() const { return "(" + N("shared") + " + 15u) / 16u * 16u"; }

/// Dynamic shared memory of the planned kernel's blocks.
std::string LaunchText::sharedBytes() const {
  if (P.ByWarp)
    return (P.besideOwn(M) ? ownBytes() + " + " : "") + "size_t(" + threadsOfBlock() + " + 31u) / 32u * " +
           std::to_string(P.interleavedBytes(M, 32)) + "u";
  if (P.dynamicTiles(M))
    return std::to_string(P.restagedBytes(M)) + "u";
  // A copy may use what no array of the kernel's names.
  const bool Any = !P.Interleaved.empty() || P.Hints ||
                   llvm::any_of(P.Arrays, [](const ArrayPlan &A) {
                     return A.isShared();
                   });
  return Any ? N("shared") : "0";
}

/// Threads that stand for one logical block.
std::string LaunchText::threadsOfBlock() const {
  if (P.Map.Block)
    return std::to_string(P.Map.threads()) + "u";
  const std::string B = N("block");
  const std::string T = B + ".x * " + B + ".y * " + B + ".z";
  return P.slots() == 1 ? T : T + " / " + std::to_string(P.slots()) + "u";
}

/// Declarations in front of a launch that merges logical blocks; sets the
/// texts of the physical launch, from those of a logical block's threads.
std::string LaunchText::merged(std::string &Blocks, std::string &Threads,
                               const std::string &X, const std::string &Y,
                               const std::string &Z) const {
  const std::string Grid = N("grid"), All = N("threads"),
                    Merged = N("merged");
  std::string T;
  if (Mapped.mergeAsRows()) {
    const std::string Target = std::to_string(P.Map.TargetThreads) + "u";
    T += "// Merge logical blocks until a physical block has " +
         std::to_string(P.Map.TargetThreads) + " threads or more.\n";
    T += "const unsigned int " + All + " = " +
         (P.Map.Block ? threadsOfBlock() : X) + ";\n";
    T += "const unsigned int " + Merged + " = " + All + " < " + Target + " ? " +
         Target + " / " + All + " : 1u;\n";
  } else {
    T += "// Merge logical blocks side by side: rows of a warp or more.\n";
    T += "const unsigned int " + Merged + " = " +
         std::to_string(P.Map.mergedBlocks(*P.Map.Block)) + "u;\n";
  }
  Blocks = N("blocks");
  T += "const dim3 " + Blocks + "((" + Grid + ".x - 1u) / " + Merged +
       " + 1u, " + Grid + ".y, " + Grid + ".z);\n";
  Threads = N("threads_of_block");
  return T + "const dim3 " + Threads +
         (Mapped.mergeAsRows()
              ? "(" + X + ", " + Merged + ", 1);\n"
              : "(" + X + " * " + Merged + ", " + Y + ", " + Z + ");\n");
}

std::string LaunchText::launch(bool Void) const {
  const std::string Grid = N("grid"), Block = N("block");
  auto Div = [&](unsigned A) {
    const std::string B = Block + "." + "xyz"[A];
    if (P.Map.Block)
      return std::to_string(P.Map.threads(A)) + "u";
    return P.Map.Factor[A] == 1
               ? B
               : B + " / " + std::to_string(P.Map.Factor[A]) + "u";
  };
  const std::string X = Div(0), Y = Div(1), Z = Div(2);
  std::string T, Blocks = Grid,
                 Threads = "dim3(" + X + ", " + Y + ", " + Z + ")";
  if (P.Map.joins()) {
    auto Across = [&](unsigned A) { // the last ones may be joined with none
      const std::string All = Grid + "." + "xyz"[A],
                        Joined = std::to_string(P.Map.Blocks[A]) + "u";
      return P.Map.Blocks[A] == 1 ? All
                                  : "(" + All + " - 1u) / " + Joined + " + 1u";
    };
    Blocks = "dim3(" + Across(0) + ", " + Across(1) + ", " + Across(2) + ")";
    Threads = "dim3(" + std::to_string(P.Map.lanes()) + "u, 1u, 1u)";
  }
  if (P.Map.Merge)
    T = merged(Blocks, Threads, X, Y, Z);
  const std::string Kernel = Name + templateArgsOf(M);
  if (P.Cut)
    T += shares(Kernel, Blocks);
  std::vector<std::string> Args;
  for (const KernelParam &Pm : M.declaredParams())
    Args.push_back(Void ? N("args") + "[" + std::to_string(Args.size()) + "]"
                        : Pm.Name);
  // Behind the original's parameters, the grid's width and, where no launch
  // tells, the block's.
  std::vector<std::pair<std::string, std::string>> Added;
  if (!K.IsCopy) {
    Added.push_back({N("grid_x"), Grid + ".x"});
    if (P.Map.Blocks[1] > 1)
      Added.push_back({N("grid_y"), Grid + ".y"});
    if (!P.Map.Block)
      Added.push_back({N("bdim_x"), Block + ".x"});
  }
  if (P.besideOwn(M))
    Added.push_back({N("own"), "unsigned(" + ownBytes() + ")"});
  if (P.Cut) // a variable already
    Added.push_back({N("rounds"), N("rounds")});
  for (const auto &[Name, Value] : Added) {
    if (Void && Name != Value)
      T += "unsigned int " + Name + " = " + Value + ";\n";
    Args.push_back(Void ? "&" + Name : Value);
  }
  if (!Void)
    return T + Kernel + "<<<" + Blocks + ", " + Threads + ", " +
           sharedBytes() + ", " + N("stream") + ">>>(" +
           llvm::join(Args, ", ") + ");\n";
  T += "void *" + N("all_args") + "[] = {" +
       (Args.empty() ? "nullptr" : llvm::join(Args, ", ")) + "};\n";
  return T + N("result") + " = cudaLaunchKernel(" + Kernel + ", " + Blocks +
         ", " + Threads + ", " + N("all_args") + ", " + sharedBytes() + ", " +
         N("stream") + ");\n";
}
