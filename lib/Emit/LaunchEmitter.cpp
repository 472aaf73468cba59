// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The host function that stands between a launch and the two kernels, and the
// blocks of the device header that a file needs.

#include "Emitter.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include "rcache/ThreadsInLine.h"
#include <algorithm>
#include <map>

using namespace rcache;

static const char RewriteHeader[] =
#include "RewriteHeader.inc"
    ;

namespace {

struct Block {
  std::string Name;
  std::vector<std::string> Needs;
  bool OfHost = false;
  std::string Text;
};

/// The blocks between `// rcache-begin: name (needs: a, b)`, or `name (host)`,
/// and `// rcache-end: name`.
std::vector<Block> headerBlocks() {
  std::vector<Block> Out;
  llvm::StringRef Rest = RewriteHeader;
  while (true) {
    size_t B = Rest.find("// rcache-begin: ");
    if (B == llvm::StringRef::npos)
      return Out;
    Rest = Rest.drop_front(B + 17);
    auto [Line, Tail] = Rest.split('\n');
    auto [Name, Needs] = Line.split(" (");
    Block X;
    X.Name = Name.trim().str();
    X.OfHost = Needs == "host)";
    if (!Needs.consume_front("needs: "))
      Needs = "";
    llvm::SmallVector<llvm::StringRef, 4> Parts;
    Needs.rtrim(")").split(Parts, ',', -1, false);
    for (llvm::StringRef P : Parts)
      X.Needs.push_back(P.trim().str());
    size_t E = Tail.find("// rcache-end:");
    X.Text = Tail.take_front(E).str();
    Out.push_back(std::move(X));
    Rest = Tail.drop_front(std::min(E, Tail.size()));
  }
}

/// Type of a kernel parameter as the argument array of cudaLaunchKernel holds
/// it: without __restrict__ and const at the top.
std::string storedType(std::string T) {
  for (const char *W : {"__restrict__", "__restrict", "restrict"})
    for (size_t P = T.find(W); P != std::string::npos; P = T.find(W))
      T.erase(P, std::string(W).size());
  llvm::StringRef S = llvm::StringRef(T).trim();
  if (!S.contains('*'))
    S.consume_front("const ");
  return S.str();
}

/// A launch function, of one kernel or of the instantiations of one template.
class LaunchFunction {
public:
  LaunchFunction(const std::vector<LaunchCase> &Cases, bool ForAll,
                 const std::string &Name)
      : Cases(Cases), ForAll(ForAll), Name(Name), M(*Cases.front().M),
        Params(M.declaredParams()) {
    for (const LaunchCase &C : Cases)
      Scaled |= C.M->Form.scaled();
  }

  std::string write(bool WithVoidArgs, bool WithConfigured) const {
    std::string T = "// Launches the register-cache form of " + M.Name +
                    " where it applies, else " + M.Name + " itself.\n";
    // (rcache-check launches by it.)
    if (WithVoidArgs && M.TemplateHead.empty() && llvm::none_of(Cases, [](const LaunchCase &C) {
          return llvm::any_of(C.M->Launches, [](const LaunchSite &L) {
            return L.Editable && L.K == LaunchSite::Chevrons;
          });
        }))
      T += "__attribute__((unused)) ";
    T += head("void", Name) + N("grid") + ", dim3 " + block() + ", size_t " +
         N("shared") + ", cudaStream_t " + N("stream") +
         (Params.empty() ? "" : ", " + M.LaunchParamsText) + ") {\n";
    T += verification() + cases(/*Void=*/false);
    T += "\n" + originalName(M) + "<<<" + N("grid") + ", " + block() + ", " +
         N("shared") + ", " + N("stream") + ">>>(" + arguments() + ");\n}\n";
    if (WithConfigured)
      T += "\n// The same, the configuration evaluated in front of the "
           "arguments.\n" +
           configured();
    if (WithVoidArgs)
      T += "\n// The same for the argument array of cudaLaunchKernel.\n" +
           voidArgs();
    return T;
  }

private:
  const std::vector<LaunchCase> &Cases;
  const bool ForAll;
  const std::string &Name;
  const KernelModel &M;
  const std::vector<KernelParam> Params;
  bool Scaled = false;

  std::string N(const char *Base) const { return M.NamePrefix + Base; }
  /// The block of the launch; `rc_block` is that of the kernel's text.
  std::string block() const { return N(Scaled ? "given_block" : "block"); }

  std::string head(const char *Type, const std::string &Function) const {
    return (M.TemplateHead.empty() ? "" : M.TemplateHead + "\n") +
           "static inline " + Type + " " + Function + "(dim3 ";
  }
  std::string arguments() const {
    std::string T;
    for (const KernelParam &P : Params)
      T += (T.empty() ? "" : ", ") + P.Name;
    return T;
  }

  std::string configured() const {
    const std::string C = N("launch");
    std::string T = (M.TemplateHead.empty() ? "" : M.TemplateHead + "\n") +
                    "static inline void " + Name +
                    "(const ::rcache::device::configuration &" + C +
                    (Params.empty() ? "" : ", " + M.LaunchParamsText) + ") {\n";
    return T + Name + templateArgsOf(M) + "(" + C + ".grid, " + C + ".block, " +
           C + ".shared, " + C + ".stream" +
           (Params.empty() ? "" : ", " + arguments()) + ");\n}\n";
  }

  std::string voidArgs() const {
    std::string T = head("cudaError_t", Name + "_args") + N("grid") +
                    ", dim3 " + block() + ", void **" + N("args") +
                    ", size_t " + N("shared") + ", cudaStream_t " +
                    N("stream") + ") {\n";
    for (size_t I = 0; I < Params.size(); ++I) {
      const std::string Type = storedType(Params[I].Type);
      T += Type + " &" + Params[I].Name + " = *static_cast<" + Type + " *>(" +
           N("args") + "[" + std::to_string(I) + "]);\n";
      T += "(void)" + Params[I].Name + ";\n";
    }
    T += "cudaError_t " + N("result") + " = cudaSuccess;\n" + verification() +
         cases(/*Void=*/true);
    return T + "\n" + N("result") + " = cudaLaunchKernel(" +
           originalAddress(M) + ", " + N("grid") + ", " + block() + ", " +
           N("args") + ", " + N("shared") + ", " + N("stream") + ");\nreturn " +
           N("result") + ";\n}\n";
  }

  /// Instantiations with different plans are different kernels.
  std::string cases(bool Void) const {
    std::string T, Else;
    for (const LaunchCase &C : Cases) {
      // When verifying, the original follows: its result stays.
      std::string Body = Scaled ? scaledBlock(*C.M) : "";
      Body += launchIf(*C.K, Void);
      for (const EmittedKernel &E : C.Others)
        Body += "else " + launchIf(E, Void);
      if (ForAll)
        return Body;
      std::string Is;
      for (const TemplateArg &A : C.M->TemplateArgs)
        Is += (Is.empty() ? "" : " && ") +
              (A.IsType ? "::rcache::device::same<" + A.Name + ", " + A.Value +
                              ">::value"
                        : "(" + A.Name + " == " + A.Value + ")");
      T += Else + "if constexpr (" + Is + ") {\n" + Body + "}";
      Else = " else ";
    }
    return T;
  }

  /// `rcache::device::verification rc_verification("k", "a, b", ..., a, b);`
  std::string verification() const {
    std::string Names, Values;
    for (const KernelParam &P : Params) {
      Names += (Names.empty() ? "" : ", ") + P.Name;
      Values += ", " + P.Name;
    }
    for (const std::string &V : M.DeviceVariables) {
      Names +=
          (Names.empty() ? "" : ", ") + llvm::StringRef(V).drop_front(2).str();
      Values += ", ::rcache::device::verify_variable(" + V + ")";
    }
    return "#ifdef RCACHE_VERIFY\n::rcache::device::verification " +
           N("verification") + "(\"" + M.Name + "\", \"" + Names + "\", " +
           N("grid") + ", " + block() + ", " + N("shared") + ", " +
           N("stream") + Values + ");\n#endif\n";
  }

  /// `const dim3 rc_block(...)`: the block that the kernel's text is planned
  /// in.
  std::string scaledBlock(const KernelModel &M) const {
    std::string T;
    if (isInLine(M.Form))
      T += "// The block's threads in a line.\n";
    else if (isInRows(M.Form))
      T += "// The block's threads in rows.\n";
    else if (M.Form.isNarrowed())
      T += "// Without the threads that only stage.\n";
    else if (M.Form.scaled())
      T += "// A thread for each output of the original's threads.\n";
    T += "const dim3 " + N("block") + "(";
    for (size_t A = 0; A < 3; ++A)
      T += std::string(A ? ", " : "") + block() + "." + "xyz"[A] +
           (M.Form.Scale[A] > 1 ? " * " + std::to_string(M.Form.Scale[A]) + "u"
            : M.Form.Scale[A] < 0
                ? " / " + std::to_string(-M.Form.Scale[A]) + "u"
                : "") +
           (M.Form.Idle[A] ? " - " + std::to_string(M.Form.Idle[A]) + "u" : "");
    return T + ");\n";
  }

  /// `if (it applies) { launch; return; }`
  std::string launchIf(const EmittedKernel &K, bool Void) const {
    return "if (" + K.Condition + "\n#ifdef RCACHE_VERIFY\n&& " +
           N("verification") + ".save()\n#endif\n) {\n" +
           (Void ? K.LaunchArgs : K.Launch) + "\n#ifdef RCACHE_VERIFY\n" +
           N("verification") + ".original();\n#else\nreturn" +
           (Void ? " " + N("result") : "") + ";\n#endif\n}\n";
  }
};

} // namespace

std::string rcache::withoutRtc(const std::string &HostText) {
  return "#ifndef __CUDACC_RTC__\n" + HostText + "#endif // __CUDACC_RTC__\n";
}

std::string rcache::runtimeText(const std::set<std::string> &Helpers,
                                bool ForRtc) {
  std::vector<Block> Blocks = headerBlocks();
  std::set<std::string> Need = Helpers;
  for (size_t Round = 0; Round < Blocks.size(); ++Round)
    for (const Block &B : Blocks)
      if (Need.count(B.Name))
        Need.insert(B.Needs.begin(), B.Needs.end());
  std::string Out;
  for (const Block &B : Blocks)
    if (Need.count(B.Name))
      Out += ForRtc && B.OfHost ? withoutRtc(B.Text) : B.Text;
  return Out;
}

std::string rcache::wholeRuntimeText() {
  std::set<std::string> All;
  for (const Block &B : headerBlocks())
    All.insert(B.Name);
  return runtimeText(All);
}

std::string rcache::templateArgsOf(const KernelModel &M) {
  std::string T;
  if (M.IsTemplate)
    for (const TemplateArg &A : M.TemplateArgs)
      T += (T.empty() ? "<" : ", ") + A.Name;
  return T.empty() ? T : T + ">";
}

std::string rcache::originalName(const KernelModel &M) {
  return (M.NeedsQualifiedName ? M.globalName() : M.Name) + templateArgsOf(M);
}

std::string rcache::originalAddress(const KernelModel &M) {
  const std::string T = originalName(M);
  if (!M.Overloaded)
    return T;
  std::string Types;
  for (const KernelParam &P : M.declaredParams())
    Types += std::string(Types.empty() ? "" : ", ") +
             "typename ::rcache::device::value<decltype(" + P.Name + ")>::type";
  return "static_cast<void (*)(" + Types + ")>(" + T + ")";
}

std::string rcache::emitLaunchFunction(const std::vector<LaunchCase> &Cases,
                                       bool ForAll, const std::string &Name,
                                       bool WithVoidArgs, bool WithConfigured) {
  return LaunchFunction(Cases, ForAll, Name)
      .write(WithVoidArgs, WithConfigured);
}
