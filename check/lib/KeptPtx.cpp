// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See KeptPtx.h. A file is, compressed:
//
//     <hash of a file> <its name>       a line each
//                                       an empty line
//     <PTX>

#include "KeptPtx.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Chrono.h"
#include "llvm/Support/Compression.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/SHA1.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"

using namespace llvm;

namespace rcache::check {

namespace {

/// The largest that is read back: no damaged file may ask for more memory.
constexpr size_t Most = size_t(64) << 20;

std::string hashOf(const Twine &File) {
  auto Text = MemoryBuffer::getFile(File);
  return Text ? utohexstr(xxh3_64bits((*Text)->getBuffer())) : "";
}

/// When and how large, for programs: they are too large to be read.
std::string stampOf(StringRef Program) {
  sys::fs::file_status S;
  if (sys::fs::status(Program, S))
    return "";
  return utostr(S.getSize()) + " " +
         itostr(S.getLastModificationTime().time_since_epoch().count());
}

/// The names behind the colon of a rule of make's.
std::vector<std::string> namesOf(StringRef Rules) {
  std::vector<std::string> Names;
  std::string Name;
  for (size_t I = Rules.find(" : ") + 2; I < Rules.size(); ++I) {
    const char C = Rules[I], Next = I + 1 < Rules.size() ? Rules[I + 1] : '\0';
    if ((C == '\\' && (Next == ' ' || Next == '#' || Next == '\\')) ||
        (C == '$' && Next == '$')) {
      Name += Next;
      ++I;
    } else if (isSpace(C) || (C == '\\' && Next == '\n')) {
      if (!Name.empty())
        Names.push_back(std::move(Name));
      Name.clear();
    } else {
      Name += C;
    }
  }
  if (!Name.empty())
    Names.push_back(std::move(Name));
  return Names;
}

/// Leaves the half of the files in \p Folder that was asked for last, where they are
/// too many. Whoever else does that at the same time does no harm.
void forget(StringRef Folder) {
  constexpr size_t MostFiles = 2000;
  std::vector<std::pair<sys::TimePoint<>, std::string>> Files;
  std::error_code EC;
  for (sys::fs::directory_iterator I(Folder, EC), End; I != End && !EC; I.increment(EC))
    if (sys::path::filename(I->path()).starts_with("ptx-"))
      if (const auto Status = I->status())
        Files.emplace_back(Status->getLastModificationTime(), I->path());
  if (Files.size() <= MostFiles)
    return;
  llvm::sort(Files);
  for (size_t I = 0; I < Files.size() / 2; ++I)
    sys::fs::remove(Files[I].second);
}

} // namespace

std::optional<std::string> keptFolder() {
  auto Folder = sys::Process::GetEnv("RCACHE_CACHE");
  if (!Folder || Folder->empty() || sys::fs::create_directories(*Folder))
    return std::nullopt;
  return Folder;
}

std::string keptFile(StringRef Folder, StringRef Kind, StringRef Key, StringRef End) {
  SmallString<256> Path(Folder);
  sys::path::append(Path, Kind + toHex(SHA1::hash(arrayRefFromStringRef(Key))) + End);
  return Path.str().str();
}

KeptPtx::KeptPtx(const std::vector<std::string> &Command, StringRef Source) {
  const auto Folder = keptFolder();
  SmallString<256> Here;
  if (!Folder || sys::fs::current_path(Here) || !compression::zlib::isAvailable() ||
      any_of(Command, [](StringRef A) { return A.starts_with("-M"); }))
    return;
  std::string All = Here.str().str() + '\0' + stampOf(Command.front()) + '\0' +
                    stampOf(sys::path::parent_path(Command.front()).str() +
                            "/../nvvm/bin/cicc");
  for (const char *Name : {"PATH", "NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS",
                           "NVCC_CCBIN", "CPATH", "C_INCLUDE_PATH",
                           "CPLUS_INCLUDE_PATH"})
    All += '\0' + sys::Process::GetEnv(Name).value_or("");
  for (const std::string &A : Command)
    All += '\0' + A;
  All += '\0' + Source.str();
  Path = keptFile(*Folder, "ptx-", All, ".z");
}

std::optional<std::string> KeptPtx::find() const {
  auto File = MemoryBuffer::getFile(Path);
  if (!File)
    return std::nullopt;
  // The size first, in decimal.
  StringRef Packed = (*File)->getBuffer();
  size_t Size = 0;
  SmallVector<uint8_t, 0> Bytes;
  if (Packed.consumeInteger(10, Size) || Size > Most || !Packed.consume_front("\n"))
    return std::nullopt;
  if (Error E = compression::zlib::decompress(arrayRefFromStringRef(Packed), Bytes, Size)) {
    consumeError(std::move(E));
    return std::nullopt;
  }
  StringRef Text = toStringRef(Bytes);
  while (!Text.consume_front("\n")) {
    const auto [Line, Rest] = Text.split('\n');
    const auto [Hash, Name] = Line.split(' ');
    if (Name.empty() || Hash != hashOf(Name))
      return std::nullopt;
    Text = Rest;
  }
  int FD = -1;
  if (!sys::fs::openFileForReadWrite(Path, FD, sys::fs::CD_OpenExisting, sys::fs::OF_None)) {
    sys::fs::setLastAccessAndModificationTime(FD, std::chrono::system_clock::now());
    sys::Process::SafelyCloseFileDescriptor(FD);
  }
  return Text.str();
}

void KeptPtx::keep(StringRef Ptx, StringRef Rules) const {
  std::string Text;
  for (const std::string &Name : namesOf(Rules)) {
    const std::string Hash = hashOf(Name);
    if (Hash.empty() || StringRef(Name).contains('\n'))
      return;
    Text += Hash + " " + Name + "\n";
  }
  if (Text.empty() || Text.size() + Ptx.size() > Most)
    return;
  Text += "\n" + Ptx.str();
  SmallVector<uint8_t, 0> Bytes;
  compression::zlib::compress(arrayRefFromStringRef(Text), Bytes,
                              compression::zlib::BestSpeedCompression);
  // Nobody reads half of it. That it cannot be kept is no error.
  consumeError(writeToOutput(Path, [&](raw_ostream &Out) -> Error {
    Out << Text.size() << "\n" << toStringRef(Bytes);
    return Error::success();
  }));
  forget(sys::path::parent_path(Path));
}

} // namespace rcache::check
