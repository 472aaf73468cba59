// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Driver/ParseJob.h"
#include "Driver/CudaInstall.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/Decl.h"
#include "clang/Frontend/CompilerInstance.h"
#include "llvm/ADT/StringExtras.h"
#include "gtest/gtest.h"

using namespace rcache;

namespace {

/// Lists the functions of the main file and the errors seen so far.
class NameHandler : public ParseHandler {
public:
  bool Started = false;
  std::string Names;

  void starting(clang::CompilerInstance &) override { Started = true; }
  void parsed(clang::CompilerInstance &CI, const ParseOutcome &O) override {
    for (clang::Decl *D : CI.getASTContext().getTranslationUnitDecl()->decls())
      if (auto *F = llvm::dyn_cast<clang::FunctionDecl>(D))
        if (CI.getSourceManager().isInMainFile(
                CI.getSourceManager().getExpansionLoc(F->getLocation())))
          Names += F->getNameAsString() + " ";
    Names += "errors=" + std::to_string(O.Errors.size());
  }
};

/// A job that needs no toolkit.
ParseJob plainJob(std::string Text) {
  ParseJob Job;
  Job.File = "memory.cu";
  Job.Buffer = "#define __global__ __attribute__((global))\n"
               "#define __shared__ __attribute__((shared))\n" +
               Text;
  Job.Flags.Flags = {"-nocudainc", "-nocudalib"};
  return Job;
}

std::string names(const ParseJob &Job) {
  NameHandler Handler;
  auto Outcome = parseSource(Job, Handler);
  if (!Outcome)
    return "error: " + llvm::toString(Outcome.takeError());
  EXPECT_TRUE(Handler.Started);
  return Handler.Names;
}

TEST(ParseJob, BufferWithoutToolkit) {
  EXPECT_EQ("k errors=0",
            names(plainJob(
                "__global__ void k(float *p) { __shared__ float s[2]; }")));
}

TEST(ParseJob, ErrorsArePartOfTheOutcome) {
  ParseJob Job =
      plainJob("void f() { undeclared(1); }\nint g() { return also; }");
  NameHandler Handler;
  auto Outcome = parseSource(Job, Handler);
  ASSERT_TRUE(bool(Outcome));
  EXPECT_EQ("f g errors=2", Handler.Names);
  ASSERT_EQ(2u, Outcome->Errors.size());
  EXPECT_EQ("memory.cu", Outcome->Errors[0].Pos.File);
  EXPECT_EQ(3u, Outcome->Errors[0].Pos.Line);
  EXPECT_EQ(12u, Outcome->Errors[0].Pos.Column);
}

TEST(ParseJob, ErrorsBehindAMissingHeaderAreSeen) {
  EXPECT_EQ(
      "f errors=2",
      names(plainJob("#include \"missing.h\"\nvoid f() { undeclared(); }")));
}

TEST(ParseJob, MissingFile) {
  ParseJob Job;
  Job.File = "/no/such/file.cu";
  EXPECT_EQ("error: cannot read '/no/such/file.cu': No such file or directory",
            names(Job));
}

TEST(ParseJob, ArchitectureOfTheFlags) {
  ParseJob Job = plainJob("");
  Job.Flags.Flags.push_back("-arch=sm_80");
  auto Line = parseCommandLine(Job);
  ASSERT_TRUE(bool(Line));
  EXPECT_TRUE(llvm::is_contained(*Line, "--cuda-gpu-arch=sm_80"));
  Job.Arch = "sm_70";
  Line = parseCommandLine(Job);
  ASSERT_TRUE(bool(Line));
  EXPECT_TRUE(llvm::is_contained(*Line, "--cuda-gpu-arch=sm_70"));
  Job.Arch = "gfx906";
  Line = parseCommandLine(Job);
  EXPECT_FALSE(bool(Line));
  llvm::consumeError(Line.takeError());
}

TEST(ParseJob, ToolkitThatIsNone) {
  auto Cuda = findCudaInstall("/no/such/cuda");
  ASSERT_FALSE(bool(Cuda));
  EXPECT_EQ("no CUDA toolkit in '/no/such/cuda': include/cuda_runtime.h is not "
            "there",
            llvm::toString(Cuda.takeError()));
}

/// What nvcc accepts and clang alone does not.
TEST(ParseJob, AcceptsWhatNvccAccepts) {
  auto Cuda = findCudaInstall("");
  if (!Cuda) {
    llvm::consumeError(Cuda.takeError());
    GTEST_SKIP() << "no CUDA toolkit";
  }
  ParseJob Job;
  Job.File = "memory.cu";
  Job.Buffer = R"(
#include <algorithm>
#include <cooperative_groups.h>
#include <cuda_fp16.h>
namespace cg = cooperative_groups;
texture<float, 1, cudaReadModeElementType> tex;
__global__ void k(float *p, int n) {
  __shared__ float s[32];
  cg::thread_block block = cg::this_thread_block();
  s[threadIdx.x] = tex1Dfetch(tex, threadIdx.x) + max(n, 3) + fminf(p[0], 1.f);
  cg::sync(block);
  p[threadIdx.x] = s[31 - threadIdx.x];
}
int host(int n, unsigned u, size_t z, float *p) {
  register int r = max(n, 3) + min(u, 4u) + (int)min(z, (size_t)7);
  float f = max(1.0f, 2.0f) + std::min(1, n);
  { using namespace std; r += max(r, 1); }
  char c[] = {(char)300, char(n)};
  k<<<1, 32>>>(p, n);
  cudaBindTexture(0, tex, p, sizeof(float) * n);
  cudaThreadSynchronize();
  cudaUnbindTexture(tex);
  return r + (int)f + c[0];
}
)";
  NameHandler Handler;
  auto Outcome = parseSource(Job, Handler);
  ASSERT_TRUE(bool(Outcome)) << llvm::toString(Outcome.takeError());
  for (const ParseError &E : Outcome->Errors)
    ADD_FAILURE() << E.Pos.File << ":" << E.Pos.Line << ": " << E.Text;
  EXPECT_EQ("k host errors=0", Handler.Names);
  EXPECT_TRUE(llvm::any_of(Outcome->Dependencies, [](llvm::StringRef F) {
    return F.ends_with("cuda_fp16.h");
  }));
}

} // namespace
