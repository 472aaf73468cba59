// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The host function that stands between a launch and the two kernels, and the
// blocks of the device header that a file needs.

#include "Emitter.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
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
  std::string Text;
};

/// The blocks between `// rcache-begin: name (needs: a, b)` and
/// `// rcache-end: name`.
std::vector<Block> headerBlocks() {
  std::vector<Block> Out;
  llvm::StringRef Rest = RewriteHeader;
  while (true) {
    size_t B = Rest.find("// rcache-begin: ");
    if (B == llvm::StringRef::npos)
      return Out;
    Rest = Rest.drop_front(B + 17);
    auto [Line, Tail] = Rest.split('\n');
    auto [Name, Needs] = Line.split(" (needs: ");
    Block X;
    X.Name = Name.trim().str();
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

/// `rcache::device::verification rc_verification("k", "a, b", ..., a, b);`
std::string verificationText(const KernelModel &M, const std::string &Block) {
  std::string Names, Values;
  for (const KernelParam &P : M.declaredParams()) {
    Names += (Names.empty() ? "" : ", ") + P.Name;
    Values += ", " + P.Name;
  }
  for (const std::string &V : M.DeviceVariables) {
    Names +=
        (Names.empty() ? "" : ", ") + llvm::StringRef(V).drop_front(2).str();
    Values += ", rcache::device::verify_variable(" + V + ")";
  }
  return "#ifdef RCACHE_VERIFY\nrcache::device::verification "
         "rc_verification(\"" +
         M.Name + "\", \"" + Names + "\", rc_grid, " + Block +
         ", rc_shared, rc_stream" + Values + ");\n#endif\n";
}

/// `const dim3 rc_block(...)`: the block that the kernel's text is planned in.
std::string scaledBlock(const KernelModel &M) {
  std::string T;
  if (M.Form.scaled())
    T += "// A thread for each output of the original's threads.\n";
  T += "const dim3 rc_block(";
  for (size_t A = 0; A < 3; ++A)
    T += std::string(A ? ", " : "") + "rc_given_block." + "xyz"[A] +
         (M.Form.Scale[A] > 1 ? " * " + std::to_string(M.Form.Scale[A]) + "u"
                              : "");
  return T + ");\n";
}

/// `if (it applies) { launch; return; }`
std::string launchIf(const KernelModel &M, const EmittedKernel &K) {
  // Larger blocks fail, and their products may wrap.
  const std::string NoWrap =
      M.Form.scaled() ? "rc_given_block.x <= 1024u && rc_given_block.y <= "
                        "1024u && rc_given_block.z <= 64u &&\n"
                      : "";
  return "if (" + NoWrap + K.Condition +
         "\n#ifdef RCACHE_VERIFY\n&& rc_verification.save()\n#endif\n) {\n" +
         K.Launch +
         "\n#ifdef RCACHE_VERIFY\nrc_verification.original();\n#else\nreturn;\n"
         "#endif\n}\n";
}

} // namespace

std::string rcache::runtimeText(const std::set<std::string> &Helpers) {
  std::vector<Block> Blocks = headerBlocks();
  std::set<std::string> Need = Helpers;
  for (size_t Round = 0; Round < Blocks.size(); ++Round)
    for (const Block &B : Blocks)
      if (Need.count(B.Name))
        Need.insert(B.Needs.begin(), B.Needs.end());
  std::string Out;
  for (const Block &B : Blocks)
    if (Need.count(B.Name))
      Out += B.Text;
  return Out;
}

std::string rcache::wholeRuntimeText() {
  std::set<std::string> All;
  for (const Block &B : headerBlocks())
    All.insert(B.Name);
  return runtimeText(All);
}

std::string rcache::emitLaunchFunction(const std::vector<LaunchCase> &Cases,
                                       bool ForAll, bool WithVoidArgs) {
  const KernelModel &M = *Cases.front().M;
  std::string Args, Targs;
  const std::vector<KernelParam> Params = M.declaredParams();
  for (const KernelParam &P : Params)
    Args += (Args.empty() ? "" : ", ") + P.Name;
  if (M.IsTemplate) {
    for (const TemplateArg &A : M.TemplateArgs)
      Targs += (Targs.empty() ? "<" : ", ") + A.Name;
    Targs += Targs.empty() ? "" : ">";
  }
  std::string Head = M.TemplateHead.empty() ? "" : M.TemplateHead + "\n";
  std::string T = "// Launches the register-cache form of " + M.Name +
                  " where it applies, else " + M.Name + " itself.\n";
  const bool Scaled =
      std::any_of(Cases.begin(), Cases.end(),
                  [](const LaunchCase &C) { return C.M->Form.scaled(); });
  const std::string Block = Scaled ? "rc_given_block" : "rc_block";
  T += Head + "static inline void " + M.Name +
       "_rc_launch(dim3 rc_grid, dim3 " + Block +
       ", size_t rc_shared, cudaStream_t rc_stream" +
       (Params.empty() ? "" : ", " + M.LaunchParamsText) + ") {\n";
  T += verificationText(M, Block);
  // Instantiations with different plans are different kernels.
  std::string Else;
  for (size_t I = 0; I < Cases.size(); ++I) {
    const LaunchCase &C = Cases[I];
    // When verifying, the original follows: its result stays.
    std::string Body = Scaled ? scaledBlock(*C.M) : "";
    Body += launchIf(*C.M, *C.K);
    if (C.Other)
      Body += "else " + launchIf(*C.M, *C.Other);
    if (ForAll) {
      T += Body;
      break;
    }
    std::string Is;
    for (const TemplateArg &A : C.M->TemplateArgs)
      Is += (Is.empty() ? "" : " && ") +
            (A.IsType ? "rcache::device::same<" + A.Name + ", " + A.Value +
                            ">::value"
                      : "(" + A.Name + " == " + A.Value + ")");
    T += Else + "if constexpr (" + Is + ") {\n" + Body + "}";
    Else = " else ";
  }
  T += "\n" + M.Name + Targs + "<<<rc_grid, " + Block +
       ", rc_shared, rc_stream>>>(" + Args + ");\n}\n";
  if (!WithVoidArgs)
    return T;
  std::string Unpacked;
  for (size_t I = 0; I < Params.size(); ++I)
    Unpacked += ", *static_cast<" + storedType(Params[I].Type) +
                " *>(rc_args[" + std::to_string(I) + "])";
  T += "\n// The same for the argument array of cudaLaunchKernel.\n" + Head +
       "static inline cudaError_t " + M.Name +
       "_rc_launch_args(dim3 rc_grid, dim3 rc_block, void **rc_args, size_t "
       "rc_shared, cudaStream_t rc_stream) {\n" +
       M.Name + "_rc_launch" + Targs +
       "(rc_grid, rc_block, rc_shared, rc_stream" + Unpacked +
       ");\nreturn cudaPeekAtLastError();\n}\n";
  return T;
}
