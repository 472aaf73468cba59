// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Output/Files.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

using namespace rcache;
namespace fs = llvm::sys::fs;

namespace {

class FilesTest : public testing::Test {
protected:
  llvm::SmallString<128> Folder;

  void SetUp() override {
    ASSERT_FALSE(fs::createUniqueDirectory("rcache-out", Folder));
  }
  void TearDown() override { fs::remove_directories(Folder); }

  std::string in(llvm::StringRef Name) {
    llvm::SmallString<128> Path(Folder);
    llvm::sys::path::append(Path, Name);
    return Path.str().str();
  }
  void write(llvm::StringRef Name, llvm::StringRef Text) {
    std::error_code EC;
    llvm::raw_fd_ostream(in(Name), EC) << Text;
    ASSERT_FALSE(EC);
  }
  std::string read(llvm::StringRef Name) {
    auto Buffer = llvm::MemoryBuffer::getFile(in(Name));
    return Buffer ? (*Buffer)->getBuffer().str() : "<none>";
  }
  /// Names in the folder: no temporary file may stay behind.
  size_t count() {
    std::error_code EC;
    size_t N = 0;
    for (fs::directory_iterator It(Folder, EC), End; It != End && !EC;
         It.increment(EC))
      ++N;
    return N;
  }
};

TEST_F(FilesTest, WritesAll) {
  OutputSet Set;
  Set.add(in("a"), "A");
  Set.add(in("deep/er/b"), "B", /*MakeFolders=*/true);
  EXPECT_FALSE(bool(Set.commit()));
  EXPECT_EQ("A", read("a"));
  EXPECT_EQ("B", read("deep/er/b"));
  EXPECT_EQ(2u, count());
}

TEST_F(FilesTest, FailureOfOneLeavesAllAlone) {
  write("a", "old");
  OutputSet Set;
  Set.add(in("a"), "new");
  Set.add(in("no/such/folder/b"), "B");
  llvm::Error E = Set.commit();
  ASSERT_TRUE(bool(E));
  EXPECT_NE(std::string::npos,
            llvm::toString(std::move(E)).find("no/such/folder/b"));
  EXPECT_EQ("old", read("a"));
  EXPECT_EQ(1u, count());
}

TEST_F(FilesTest, TheSameTargetTwice) {
  OutputSet Set;
  Set.add(in("a"), "1");
  Set.add(in("./a"), "2");
  EXPECT_TRUE(llvm::StringRef(llvm::toString(Set.commit()))
                  .starts_with("two outputs are to go to"));
  EXPECT_EQ("<none>", read("a"));
  EXPECT_EQ(0u, count());
}

TEST_F(FilesTest, LinksStayLinksAndPermissionsStay) {
  write("real", "old");
  ASSERT_FALSE(fs::setPermissions(in("real"), fs::owner_all));
  ASSERT_FALSE(fs::create_link(in("real"), in("link")));
  OutputSet Set;
  Set.add(in("link"), "new");
  EXPECT_FALSE(bool(Set.commit()));
  bool IsLink = false;
  fs::is_symlink_file(in("link"), IsLink);
  EXPECT_TRUE(IsLink);
  EXPECT_EQ("new", read("real"));
  auto Mode = fs::getPermissions(in("real"));
  ASSERT_TRUE(bool(Mode));
  EXPECT_EQ(fs::owner_all, *Mode);
}

TEST_F(FilesTest, FolderIsNoTarget) {
  OutputSet Set;
  Set.add(Folder.str().str(), "x");
  EXPECT_TRUE(
      llvm::StringRef(llvm::toString(Set.commit())).contains("irectory"));
}

TEST(MakeRule, EscapesNames) {
  EXPECT_EQ("out\\ put.cu: \\\n  a\\ b.cu \\\n  c$$d.h \\\n  e\\#f.h\n",
            makeRule("out put.cu", {"a b.cu", "c$d.h", "e#f.h"}));
}

} // namespace
