// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the text of a file tells of its launches: hints for which launches are
// worth trying. Nothing depends on their being complete or right.

#ifndef RCACHE_CHECK_SOURCEFACTS_H
#define RCACHE_CHECK_SOURCEFACTS_H

#include "Runtime.h"

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace clang {
class ASTConsumer;
}

namespace rcache::check {

struct SourceFacts {
  /// NAME_rc_launch of functions and function templates of that name, or with a number
  /// behind it; qualified, without template arguments.
  std::set<std::string> LaunchFunctions;
  /// A kernel whose name other functions have as well, or whose launch function has a number.
  struct Overload {
    std::string Params; ///< "(const float *, int)"
    std::string LaunchSuffix; ///< "_rc_launch2", what launches it; "": nothing
    std::string LaunchResult; ///< "void", what that returns
  };
  std::map<std::string, Overload> Overloads; ///< by mangled name
  /// Qualified names of `extern "C"` kernels, whose symbols say nothing of namespaces.
  std::map<std::string, std::string> NamesOfC; ///< by symbol
  /// A number or a pointer in a kernel's parameter that is a structure.
  struct Member {
    /// As in Param of the harness.
    enum KindType : int { Pointer, Signed, Unsigned, Float, Boolean, Other };
    struct Type {
      KindType Kind = Other;
      uint64_t Size = 1; ///< bytes
    };
    unsigned Param = 0;  ///< of which parameter
    uint64_t Offset = 0; ///< bytes into it
    std::string Name;    ///< ".width", ".view.data", ".at[2]"
    Type Own, Pointee;   ///< Pointee: of a pointer
    bool PointeeConst = false;
  };
  /// All of these, by the kernel's mangled name, where the structure has nothing
  /// else (unions, references, pointers to pointers or functions, bit-fields).
  std::map<std::string, std::vector<Member>> Members;
  /// A launch whose block is written down.
  struct LaunchSite {
    std::string Kernel; ///< qualified, without template arguments
    Dim3 Block;
    std::optional<Dim3> Grid;
  };
  std::vector<LaunchSite> Launches;
  /// Blocks that conditions of launch functions ask for, `block.x == 128`.
  std::vector<LaunchSite> Conditions;
  /// Values that these ask parameters for, `radius == 3`: by kernel, then by name.
  std::map<std::string, std::map<std::string, std::vector<int64_t>>> Arguments;
  /// The most that they may be, `n <= 512`: the same.
  std::map<std::string, std::map<std::string, int64_t>> AtMost;
  /// Integers in device code and in launch functions of the file itself.
  std::set<int64_t> Constants;
  /// Numbers in device code: what data may be compared with, `x == -9999.f`.
  std::set<double> Numbers;
  /// Those of them that the number of blocks is compared with, `grid.x <= 1500`.
  std::set<int64_t> GridLimits;

  /// Takes over what another text tells of launches of the same kernels.
  void addHints(const SourceFacts &Other);
};

/// A consumer that fills \p Facts, for a frontend action of either side.
std::unique_ptr<clang::ASTConsumer> collectFacts(SourceFacts &Facts);

} // namespace rcache::check

#endif
