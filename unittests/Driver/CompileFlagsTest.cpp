// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Driver/CompileFlags.h"
#include "Driver/Includers.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

using namespace rcache;

namespace {

class CompileFlagsTest : public testing::Test {
protected:
  llvm::SmallString<128> Folder;

  void SetUp() override {
    ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("rcache-db", Folder));
  }
  void TearDown() override { llvm::sys::fs::remove_directories(Folder); }

  std::string in(llvm::StringRef Name) {
    llvm::SmallString<128> Path(Folder);
    llvm::sys::path::append(Path, Name);
    return Path.str().str();
  }
  void write(llvm::StringRef Name, llvm::StringRef Text) {
    std::error_code EC = llvm::sys::fs::create_directories(
        llvm::sys::path::parent_path(in(Name)));
    ASSERT_FALSE(EC);
    llvm::raw_fd_ostream(in(Name), EC) << Text;
    ASSERT_FALSE(EC);
  }
};

TEST_F(CompileFlagsTest, NvccCommandBehindALauncher) {
  write(
      "compile_commands.json",
      R"([{"directory": ")" + Folder.str().str() +
          R"(", "file": "a.cu", "command": "ccache /opt/bin/nvcc -DX -arch=sm_80 -c a.cu -o a.o"},)" +
          R"({"directory": ")" + Folder.str().str() +
          R"(", "file": "b.cpp", "command": "g++ -c b.cpp"},)" +
          R"({"directory": ")" + Folder.str().str() +
          R"(", "file": "c.cpp", "arguments": ["nvcc", "-x", "cu", "c.cpp"]}])");
  auto Db = CompileDatabase::load(Folder);
  ASSERT_TRUE(bool(Db)) << llvm::toString(Db.takeError());
  std::optional<CompileFlags> Flags = Db->find(in("a.cu"));
  ASSERT_TRUE(Flags);
  EXPECT_TRUE(Flags->FromNvcc);
  EXPECT_EQ("-DX -arch=sm_80 -c -o a.o", llvm::join(Flags->Flags, " "));
  EXPECT_FALSE(Db->find(in("missing.cu")));
  EXPECT_EQ(in("a.cu") + " " + in("c.cpp"), llvm::join(Db->cudaFiles(), " "));
}

TEST_F(CompileFlagsTest, FoundInTheFoldersAbove) {
  llvm::sys::fs::create_directories(in("src/deep"));
  llvm::sys::fs::create_directories(in("build"));
  write(
      "build/compile_commands.json",
      R"([{"directory": ")" + Folder.str().str() +
          R"(/build", "file": "../src/deep/a.cu", "command": "clang++ -DY ../src/deep/a.cu"}])");
  auto Db = CompileDatabase::nearest(in("src/deep/a.cu"));
  ASSERT_TRUE(Db);
  EXPECT_EQ("-DY", llvm::join(Db->find(in("src/deep/a.cu"))->Flags, " "));
  // One that does not know the file tells how its like is compiled.
  auto Like = CompileDatabase::nearest(in("src/other.cu"));
  ASSERT_TRUE(Like);
  EXPECT_FALSE(Like->find(in("src/other.cu")));
  EXPECT_EQ(in("src/deep/a.cu"),
            Like->findOrInfer(in("src/other.cu"))->InferredFrom);
  EXPECT_EQ("", Like->findOrInfer(in("src/deep/a.cu"))->InferredFrom);
}

TEST_F(CompileFlagsTest, NoCudaNoGuess) {
  write("compile_commands.json",
        R"([{"directory": "/", "file": "a.cpp", "command": "c++ a.cpp"}])");
  EXPECT_FALSE(CompileDatabase::nearest(in("a.cu")));
}

TEST_F(CompileFlagsTest, ResultsStandForTheirSources) {
  write("compile_commands.json",
        R"([{"directory": ")" + Folder.str().str() +
            R"(", "file": "out/a.cu", "command": "nvcc -DZ -I inc -c out/a.cu"},)" +
            R"({"directory": ")" + Folder.str().str() +
            R"(", "file": "b.cu", "command": "nvcc -c b.cu"}])");
  write("rcache-sources.json",
        "{\"" + in("out/a.cu") + "\": \"" + in("a.cu") + "\"}");
  write("a.cu", "  # include <deep/k.cuh> \n");
  write("b.cu", "#include \"other.cuh\"\n");
  write("other.cuh", "#include \"k.cuh\"\n");
  write("k.cuh", ""); // of the same name
  write("inc/deep/k.cuh", "");
  auto Db = CompileDatabase::load(Folder);
  ASSERT_TRUE(bool(Db)) << llvm::toString(Db.takeError());
  EXPECT_EQ(in("a.cu") + " " + in("b.cu"), llvm::join(Db->cudaFiles(), " "));
  EXPECT_EQ("-DZ -I inc -c", llvm::join(Db->find(in("a.cu"))->Flags, " "));
  EXPECT_EQ(in("a.cu"), llvm::join(Db->includersOf(in("inc/deep/k.cuh")), " "));
  EXPECT_EQ(in("b.cu"), llvm::join(Db->includersOf(in("k.cuh")), " "));
  EXPECT_EQ(in("b.cu"), llvm::join(Db->includersOf(in("./inc/../other.cuh")), " "));
}

TEST_F(CompileFlagsTest, FoldersRelativeToTheFile) {
  write("build/compile_commands.json",
        R"([{"directory": ".", "file": "../a.cu", "command": "nvcc -DR -c ../a.cu"}])");
  auto Db = CompileDatabase::load(in("build"));
  ASSERT_TRUE(bool(Db)) << llvm::toString(Db.takeError());
  EXPECT_EQ(in("a.cu"), llvm::join(Db->cudaFiles(), " "));
  ASSERT_TRUE(Db->find(in("a.cu")));
  EXPECT_EQ(in("build"), Db->find(in("a.cu"))->Directory);
  EXPECT_EQ("-DR -c", llvm::join(Db->find(in("a.cu"))->Flags, " "));
}

TEST_F(CompileFlagsTest, SourcesNearAHeader) {
  write("p/.git/config", "");
  write("beyond.cu", "");
  write("p/src/b.cu", "");
  write("p/src/deep/far.cu", "");
  write("p/include/p/k.cuh", "");
  write("p/include/p/a.cu", "");
  EXPECT_EQ(in("p/include/p/a.cu") + " " + in("p/src/b.cu"),
            llvm::join(sourcesNear(in("p/include/p/k.cuh")), " "));
  EXPECT_TRUE(isHeader("k.cuh") && isHeader("k.h") && isHeader("k.inl"));
  EXPECT_FALSE(isHeader("k.cu") || isHeader("k.cpp") || isHeader("-"));
}

TEST_F(CompileFlagsTest, BrokenFilesAreErrors) {
  EXPECT_FALSE(bool(CompileDatabase::load(Folder)) &&
               "a folder without the file");
  write("compile_commands.json", "{ not json");
  auto Db = CompileDatabase::load(Folder);
  EXPECT_FALSE(bool(Db));
  llvm::consumeError(Db.takeError());
}

} // namespace
