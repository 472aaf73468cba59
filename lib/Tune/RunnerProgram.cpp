// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See RunnerProgram.h.

#include "Tune/RunnerProgram.h"
#include "Affine/IslTools.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include "rcache/ThreadsInLine.h"
#include <cmath>
#include <set>

namespace rcache {
namespace {

const char RunnerHeader[] =
#include "Runner.inc"
    ;
const char RunScript[] =
#include "RunScript.inc"
    ;

/// Elements of a launch that nobody gave a size: data larger than the caches.
constexpr int64_t DefaultElements = int64_t(1) << 26;
/// The same where a parameter is also the length of a loop.
constexpr int64_t DefaultWithLoops1d = int64_t(1) << 16,
                  DefaultWithLoops = int64_t(1) << 22;

llvm::Error cannot(const llvm::Twine &Why) {
  return llvm::createStringError("cannot be run by itself: " + Why);
}

bool isFloat(const std::string &T) { return T == "float" || T == "double"; }

class Program {
public:
  Program(const KernelModel &M, const RunnerOptions &O)
      : M(M), O(O), Declared(M.declaredParams()) {}

  llvm::Expected<std::string> write(const std::string &Text) {
    if (llvm::Error E = checkParams())
      return std::move(E);
    Dimensions = dimensions();
    pickLaunch();
    if (!FromText)
      if (llvm::Error E = assumeLaunch())
        return std::move(E);
    std::string T = "#define main rcache_tune_user_main\n";
    T += Text + "\n#undef main\n#include \"../runner.cuh\"\n\n";
    T += "int main() {\n" + Shape;
    T += "  rcache_tune::Runner rcache_runner(rcache_launch, {\n";
    for (const std::string &P : ParameterTexts)
      T += "    {" + P + "},\n";
    T += "  }, " + std::to_string(indexDimensions()) +
         (O.Covered ? ", true);\n" : ", false);\n");
    const std::string Args = templateArgs();
    T += "  rcache_runner.run(&" + M.globalName() + Args + ",\n";
    T += form(M.globalName() + Args + "<<<g, b, s>>>(a...)") + ",\n";
    T += form(M.globalName() + "_rc_launch" + Args + "(g, b, s, 0, a...)") +
         ");\n  return 0;\n}\n";
    return T;
  }

private:
  const KernelModel &M;
  const RunnerOptions &O;
  const std::vector<KernelParam> Declared;
  unsigned Dimensions = 1;
  bool FromText = false;
  std::string Shape; ///< declarations of main, the last one rcache_launch
  std::vector<std::string> ParameterTexts;

  static std::string form(const std::string &Call) {
    return "    [](dim3 g, dim3 b, size_t s, auto... a) { " + Call + "; }";
  }

  std::string templateArgs() const {
    std::string T;
    for (const TemplateArg &A : M.TemplateArgs)
      T += (T.empty() ? "<" : ", ") + A.Value;
    return T.empty() ? "" : T + ">";
  }

  llvm::Error checkParams() const {
    for (const KernelParam &P : Declared) {
      const llvm::StringRef Type(P.CanonicalType);
      if (P.IsPointer) {
        if (llvm::StringRef(P.PointeeType).contains('*'))
          return cannot("'" + P.Name + "' points to pointers");
        if (llvm::StringRef(P.PointeeType).starts_with("struct ") ||
            P.PointeeBytes == 0)
          if (P.PointeeBytes == 0)
            return cannot("'" + P.Name + "' points to what has no size");
        continue;
      }
      if (llvm::StringRef(P.Type).contains("Texture") ||
          llvm::StringRef(P.Type).contains("Surface"))
        return cannot("'" + P.Name + "' is a texture or surface");
      if (!P.IsInteger && !isFloat(plain(P.CanonicalType)))
        return cannot("'" + P.Name + "' is a '" + Type.str() +
                      "', whose value is not known");
    }
    if (!M.DeviceVariables.empty())
      return cannot("the kernel changes the variable '" +
                    M.DeviceVariables.front() + "'");
    return llvm::Error::success();
  }

  static std::string plain(llvm::StringRef T) {
    T.consume_front("const ");
    return T.trim().str();
  }

  unsigned dimensions() const {
    unsigned D = 1;
    for (const BuiltinUse &B : M.Builtins)
      if ((B.K == Symbol::ThreadIdx || B.K == Symbol::BlockIdx) && B.Axis < 3)
        D = std::max(D, B.Axis + 1);
    return D;
  }

  //===-- Sizes -----------------------------------------------------------===//

  /// Does a loop run the longer, the larger an integer parameter or the grid?
  bool loopsOverParams() const {
    for (const Stmt &S : M.Stmts) {
      if ((S.K != Stmt::For && S.K != Stmt::While && S.K != Stmt::Do) ||
          S.ConstTripCount || S.Cooperative)
        continue;
      const std::string Condition = M.text(S.CondRange);
      for (const Symbol &X : M.Symbols)
        if ((X.K == Symbol::Param || X.K == Symbol::GridDim) &&
            (S.IterDomain.is_null() ? mentions(Condition, X.Text)
                                    : dependsOn(S.IterDomain, X.Id)))
          return true;
    }
    return false;
  }

  /// Dimensions of what the kernel's pointers point to: a plane that walks
  /// through a volume, in a loop over one of its extents, has an index with a
  /// product of the two others. (A clamped row has one too: `(h - 1) * w`.)
  unsigned indexDimensions() const {
    unsigned Most = Dimensions;
    if (!loopsOverParams())
      return Most;
    for (const Symbol &X : M.Symbols) {
      unsigned Params = 0;
      for (const std::string &F : X.Factors) {
        const int I = M.symbolIndex(F);
        Params += I >= 0 && M.Symbols[I].K == Symbol::Param;
      }
      Most = std::max(Most, std::min(3u, Params + 1));
    }
    return Most;
  }

  int64_t extent() const {
    const unsigned D = indexDimensions();
    const int64_t N = O.Elements                             ? *O.Elements
                      : D > Dimensions || !loopsOverParams() ? DefaultElements
                      : Dimensions == 1 ? DefaultWithLoops1d
                                        : DefaultWithLoops;
    if (D == 1)
      return N;
    const auto Side = static_cast<int64_t>(std::pow(double(N), 1.0 / D) + 1e-6);
    return std::max<int64_t>(1, Side >= 64 ? Side / 32 * 32 : Side);
  }

  const int64_t *given(const KernelParam &P) const {
    auto It = O.Arguments.find(P.Name);
    return It == O.Arguments.end() ? nullptr : &It->second;
  }

  /// What a launch says, not the block of a text in another form.
  std::array<int64_t, 3> launched(std::array<int64_t, 3> Block) const {
    return blockOfLaunch(Block, M.Form);
  }

  std::array<int64_t, 3> assumedBlock() const {
    if (M.Geo.ConstBlock)
      return launched(*M.Geo.ConstBlock);
    if (!M.Geo.SeenBlocks.empty())
      return launched(M.Geo.SeenBlocks.front());
    if (O.AssumedBlock)
      return *O.AssumedBlock;
    const int64_t Most = M.Geo.MaxThreads.value_or(256);
    if (Dimensions == 1)
      return {std::min<int64_t>(Most, 256), 1, 1};
    if (Dimensions == 2)
      return {std::min<int64_t>(Most, 32),
              std::max<int64_t>(1, std::min<int64_t>(Most, 256) / 32), 1};
    return {8, 8, std::max<int64_t>(1, std::min<int64_t>(Most, 256) / 64)};
  }

  //===-- A launch as the file has it -------------------------------------===//

  /// The first launch whose shape can be had from its text.
  void pickLaunch() {
    for (const LaunchSite &L : M.Launches) {
      if (L.Grid.empty() || L.Block.empty() || L.InTemplate)
        continue;
      if (launchFromText(L)) {
        FromText = true;
        return;
      }
    }
  }

  bool launchFromText(const LaunchSite &L) {
    const bool ArgsKnown =
        L.K == LaunchSite::Chevrons && L.Args.size() == Declared.size();
    std::vector<std::string> Values(L.Locals.size());
    // Extents: what the grid is made from and the kernel gets.
    const std::set<unsigned> OfGrid = usedBy(L, L.Grid);
    for (unsigned I = 0; I < Declared.size(); ++I) {
      const KernelParam &P = Declared[I];
      const int Local = ArgsKnown && P.IsInteger ? local(L, L.Args[I]) : -1;
      if (Local < 0)
        continue;
      const HostLocal &H = L.Locals[Local];
      if (const int64_t *V = given(P))
        Values[Local] = std::to_string(*V);
      else if (H.Init.empty() || (O.Elements && OfGrid.count(Local)))
        Values[Local] = std::to_string(extent());
    }
    const int Block = local(L, L.Block);
    std::string T;
    for (unsigned I = 0; I < L.Locals.size(); ++I) {
      const HostLocal &H = L.Locals[I];
      if (Values[I].empty())
        Values[I] = H.Init;
      if (Values[I].empty() && static_cast<int>(I) == Block) {
        const auto B = assumedBlock();
        Values[I] =
            H.Type == "dim3"
                ? llvm::formatv("dim3({0}, {1}, {2})", B[0], B[1], B[2]).str()
                : std::to_string(B[0] * B[1] * B[2]);
      }
      if (H.Name.empty() || Values[I].empty())
        return false;
      T += "  " + H.Type + " " + H.Name + " = " + Values[I] + ";\n";
    }
    T += "  // The launch at line " + std::to_string(L.Pos.Line) + ".\n";
    T += "  const rcache_tune::Launch rcache_launch = {rcache_tune::dims(" +
         L.Grid + "), rcache_tune::dims(" + L.Block + "), size_t(" +
         (L.SharedBytes.empty() ? "0" : L.SharedBytes) + ")};\n";
    std::vector<std::string> Integers;
    for (unsigned I = 0; I < Declared.size(); ++I)
      Integers.push_back(!Declared[I].IsInteger ? ""
                         : given(Declared[I])
                             ? std::to_string(*given(Declared[I]))
                         : ArgsKnown ? "(long long)(" + L.Args[I] + ")"
                                     : std::to_string(extent()));
    Shape = T;
    parameters(Integers);
    return true;
  }

  static int local(const LaunchSite &L, llvm::StringRef Text) {
    for (unsigned I = 0; I < L.Locals.size(); ++I)
      if (!L.Locals[I].Name.empty() && Text.trim() == L.Locals[I].Name)
        return static_cast<int>(I);
    return -1;
  }

  /// Locals that occur in \p Text, and what they are made from.
  static std::set<unsigned> usedBy(const LaunchSite &L, llvm::StringRef Text) {
    std::set<unsigned> Used;
    for (unsigned I = 0; I < L.Locals.size(); ++I)
      if (mentions(Text, L.Locals[I].Name))
        Used.insert(I);
    for (unsigned I = L.Locals.size(); I-- > 0;)
      if (Used.count(I))
        Used.insert(L.Locals[I].Uses.begin(), L.Locals[I].Uses.end());
    return Used;
  }

  static bool mentions(llvm::StringRef Text, llvm::StringRef Name) {
    auto Word = [](char C) {
      return isalnum(static_cast<unsigned char>(C)) || C == '_';
    };
    for (size_t I = Name.empty() ? llvm::StringRef::npos : Text.find(Name);
         I != llvm::StringRef::npos; I = Text.find(Name, I + 1))
      if ((I == 0 || !Word(Text[I - 1])) &&
          (I + Name.size() == Text.size() || !Word(Text[I + Name.size()])))
        return true;
    return false;
  }

  //===-- A launch that is assumed ----------------------------------------===//

  llvm::Error assumeLaunch() {
    for (const SharedArray &A : M.Arrays)
      if (A.Dynamic)
        return cannot("the bytes of '" + A.Name +
                      "' at a launch do not follow from the file");
    const auto Block = assumedBlock();
    const int64_t Side = extent();
    std::array<int64_t, 3> Grid = {1, 1, 1};
    for (unsigned D = 0; D < Dimensions; ++D)
      Grid[D] = (Side + Block[D] - 1) / Block[D];
    for (unsigned D = 1; D < 3; ++D)
      if (Grid[D] > 65535)
        return cannot("the grid would be too large");
    Shape = llvm::formatv(
                "  // Assumed: no launch in the file tells.\n"
                "  const rcache_tune::Launch rcache_launch = {{dim3({0}, {1}, "
                "{2}), dim3({3}, {4}, {5}), 0};\n",
                Grid[0], Grid[1], Grid[2], Block[0], Block[1], Block[2])
                .str();
    std::vector<std::string> Integers;
    for (const KernelParam &P : Declared)
      Integers.push_back(!P.IsInteger ? ""
                         : given(P)   ? std::to_string(*given(P))
                                      : std::to_string(Side));
    parameters(Integers);
    return llvm::Error::success();
  }

  //===-- Parameters ------------------------------------------------------===//

  static const char *fill(llvm::StringRef T) {
    if (T.contains("double"))
      return "Doubles";
    if (T.contains("bfloat"))
      return "Bfloats";
    if (T.contains("half"))
      return "Halves";
    if (T.contains("char") || T.contains("int") || T.contains("long") ||
        T.contains("short") || T.contains("bool"))
      return "Integers";
    return "Floats";
  }

  /// Bytes of a component: `uchar4` has four of one.
  static unsigned unit(const KernelParam &P) {
    const llvm::StringRef T(P.PointeeType);
    return T.contains("char") || T.contains("bool") ? 1 : P.PointeeBytes;
  }

  void parameters(const std::vector<std::string> &Integers) {
    ParameterTexts.clear();
    for (unsigned I = 0; I < Declared.size(); ++I) {
      const KernelParam &P = Declared[I];
      if (P.IsPointer)
        ParameterTexts.push_back(
            std::string("true, rcache_tune::") + fill(P.PointeeType) + ", " +
            std::to_string(P.PointeeBytes) + ", " + std::to_string(unit(P)) +
            ", " + (P.Written ? "true" : "false") + ", 0");
      else
        ParameterTexts.push_back("false, rcache_tune::Integers, 0, 0, false, " +
                                 (Integers[I].empty() ? "0" : Integers[I]));
    }
  }
};

} // namespace

llvm::Expected<std::string> runnerProgram(const KernelModel &M,
                                          const std::string &Text,
                                          const RunnerOptions &O) {
  return Program(M, O).write(Text);
}

std::map<std::string, std::string> runnerFiles() {
  return {{"runner.cuh", RunnerHeader}, {"run.sh", RunScript}};
}

} // namespace rcache
