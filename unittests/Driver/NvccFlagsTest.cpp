// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Driver/NvccFlags.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

using namespace rcache;

namespace {

/// "flags | archs | unknown", each separated by blanks.
std::string translate(std::vector<std::string> Flags, bool FromNvcc = true,
                      const std::string &Directory = "") {
  auto Result = translateFlags(Flags, FromNvcc, Directory);
  if (!Result)
    return "error: " + llvm::toString(Result.takeError());
  return llvm::join(Result->Flags, " ") + " | " +
         llvm::join(Result->Archs, " ") + " | " +
         llvm::join(Result->Unknown, " ");
}

TEST(NvccFlags, Architectures) {
  EXPECT_EQ(" | sm_90 | ", translate({"-arch=sm_90"}));
  EXPECT_EQ(" | sm_90 | ", translate({"-arch", "sm_90"}));
  EXPECT_EQ(" | sm_80 | ", translate({"--gpu-architecture=compute_80"}));
  EXPECT_EQ(
      " | sm_80 sm_90 | ",
      translate({"-gencode", "arch=compute_80,code=sm_86",
                 "--generate-code=arch=compute_90,code=[compute_90,sm_90]"}));
  EXPECT_EQ(" | sm_90a | ",
            translate({"-gencode=arch=compute_90a,code=sm_90a"}));
  EXPECT_EQ(" |  | ", translate({"-arch=native"}));
}

TEST(NvccFlags, ArchOfClang) {
  EXPECT_EQ(
      " | sm_86 sm_70 | ",
      translate({"--cuda-gpu-arch=sm_86", "--offload-arch=sm_70"}, false));
}

TEST(NvccFlags, ChoosesTheNewestKnown) {
  EXPECT_EQ("sm_90", chooseArch({"sm_75", "sm_90", "sm_80"}));
  EXPECT_EQ("sm_121", chooseArch({"sm_999"}));
  EXPECT_EQ("", chooseArch({}));
}

TEST(NvccFlags, WhatTheCodeSees) {
  EXPECT_EQ("-D A=1,2 -D B -I x -I y -isystem s -include p.h |  | ",
            translate({"-DA=1,2", "-D", "B", "-Ix,y", "-isystem=s",
                       "--pre-include", "p.h"}));
}

TEST(NvccFlags, ModesBecomeDefinitions) {
  EXPECT_EQ("-fgpu-rdc |  | ", translate({"-rdc=true"}));
  EXPECT_EQ(" |  | ", translate({"-rdc=false"}));
  EXPECT_EQ("-D __CUDACC_RELAXED_CONSTEXPR__ |  | ",
            translate({"--expt-relaxed-constexpr"}));
  EXPECT_EQ("-D CUDA_API_PER_THREAD_DEFAULT_STREAM=1 |  | ",
            translate({"--default-stream", "per-thread"}));
  EXPECT_EQ("-std=c++14 |  | ", translate({"--std", "c++14"}));
}

// To compile a text to the same code as the user's compiler would.
TEST(NvccFlags, ForNvcc) {
  auto ForNvcc = [](std::vector<std::string> Flags, bool FromNvcc) {
    auto Result = translateFlags(Flags, FromNvcc, "/d");
    return Result ? llvm::join(Result->ForNvcc, " ")
                  : llvm::toString(Result.takeError());
  };
  EXPECT_EQ("--use_fast_math --maxrregcount=40 --fmad=false --device-debug -D A=1 -I /d/x "
            "-isystem /s -std=c++17",
            ForNvcc({"-DA=1", "-use_fast_math", "-Ix", "-isystem=/s", "-c",
                     "-maxrregcount", "40", "-gencode",
                     "arch=compute_90,code=sm_90", "-Xptxas", "-v",
                     "--fmad=false", "-std=c++17", "-o", "x.o", "-G"},
                    true));
  EXPECT_EQ("-D K=8 -include /d.h --use_fast_math --fmad=false",
            ForNvcc({"-DK=8", "-Wall", "-include", "/d.h", "-O2", "-ffast-math",
                     "-ffp-contract=off", "--cuda-gpu-arch=sm_80"},
                    false));
  // Code that is linked with other code, but nothing about files.
  EXPECT_EQ("--relocatable-device-code=true", ForNvcc({"-rdc=true"}, true));
  EXPECT_EQ("--relocatable-device-code=true", ForNvcc({"-dc"}, true));
}

TEST(NvccFlags, HostCompilerOptions) {
  EXPECT_EQ("-fPIC -D X=\"a,b\" |  | ",
            translate({"-Xcompiler", "-fPIC,-Wall",
                       "--compiler-options=-DX=\"a,b\""}));
}

TEST(NvccFlags, OutputsAndToolsAreLeftOut) {
  EXPECT_EQ("-D __CUDACC_DEBUG__ |  | ", translate({"-c",
                                                    "-o",
                                                    "x.o",
                                                    "-MD",
                                                    "-MF",
                                                    "x.d",
                                                    "-MT",
                                                    "x.o",
                                                    "-ccbin",
                                                    "g++",
                                                    "-lineinfo",
                                                    "-Xptxas",
                                                    "-v",
                                                    "--threads",
                                                    "0",
                                                    "-t4",
                                                    "-G",
                                                    "-lcudart",
                                                    "-L/x",
                                                    "-Werror",
                                                    "all-warnings",
                                                    "-diag-suppress=1,2"}));
}

TEST(NvccFlags, BothCompilersFlagsWithoutACommand) {
  // -G, -t and -Werror take other forms in clang; long and unmistakable ones
  // are nvcc's.
  EXPECT_EQ("-D A -O3 -fgpu-rdc -D G | sm_80 | ",
            translate({"-DA", "-O3", "-rdc=true", "-arch=sm_80", "-lineinfo",
                       "-Wall", "-Werror", "-DG"},
                      false));
  // The operand of a clang flag is not taken for an nvcc flag.
  EXPECT_EQ("-D keep |  | ", translate({"-D", "keep"}, false));
}

TEST(NvccFlags, UnknownFlagsAreNamed) {
  EXPECT_EQ(" |  | -fno-such-flag", translate({"-fno-such-flag"}));
}

TEST(NvccFlags, OptionFiles) {
  llvm::SmallString<128> Path;
  int FD;
  ASSERT_FALSE(llvm::sys::fs::createTemporaryFile("rcache", "rsp", FD, Path));
  llvm::raw_fd_ostream(FD, true)
      << "-DFROM_FILE=1\n\"-I/with space\" -arch=sm_80";
  EXPECT_EQ("-D FROM_FILE=1 -I /with space | sm_80 | ",
            translate({"--options-file", Path.str().str()}));
  EXPECT_EQ("-D FROM_FILE=1 -I /with space | sm_80 | ",
            translate({"-optf=" + Path.str().str()}));
  llvm::sys::fs::remove(Path);
  EXPECT_EQ(0u, translate({"--options-file", Path.str().str()})
                    .find("error: cannot read the option file"));
}

TEST(NvccFlags, OptionFilesThatIncludeThemselvesEnd) {
  llvm::SmallString<128> Path;
  int FD;
  ASSERT_FALSE(llvm::sys::fs::createTemporaryFile("rcache", "rsp", FD, Path));
  llvm::raw_fd_ostream(FD, true) << "-optf=" << Path;
  EXPECT_EQ(0u, translate({"-optf=" + Path.str().str()})
                    .find("error: option files include each other"));
  llvm::sys::fs::remove(Path);
}

TEST(NvccFlags, CompilerNames) {
  EXPECT_TRUE(isNvcc("/usr/local/cuda/bin/nvcc"));
  EXPECT_TRUE(isNvcc("nvcc"));
  EXPECT_FALSE(isNvcc("/usr/bin/clang++"));
}

} // namespace
