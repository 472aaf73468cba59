// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All-or-nothing output, and dependency files.

#include "Output/Files.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <optional>
#include <set>

using llvm::StringRef;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

namespace rcache {
namespace {

llvm::Error cannotWrite(StringRef Path, std::error_code EC) {
  return llvm::createStringError(EC, "cannot write '%s': %s",
                                 Path.str().c_str(), EC.message().c_str());
}

/// Writes to a pipe or a device: these cannot be renamed over.
llvm::Error writeThrough(StringRef Path, StringRef Text) {
  std::error_code EC;
  llvm::raw_fd_ostream OS(Path, EC, fs::CD_OpenExisting, fs::FA_Write,
                          fs::OF_None);
  if (EC)
    return cannotWrite(Path, EC);
  OS << Text;
  OS.flush();
  if (OS.has_error()) {
    EC = OS.error();
    OS.clear_error();
    return cannotWrite(Path, EC);
  }
  return llvm::Error::success();
}

/// A finished temporary file and where it belongs. Dropping it removes it.
class Pending {
  std::optional<fs::TempFile> File;
  std::string Target;

public:
  Pending(fs::TempFile File, std::string Target)
      : File(std::move(File)), Target(std::move(Target)) {}
  Pending(Pending &&Other)
      : File(std::move(Other.File)), Target(std::move(Other.Target)) {
    Other.File.reset();
  }
  ~Pending() {
    if (File)
      llvm::consumeError(File->discard());
  }

  std::error_code write(StringRef Text) {
    llvm::raw_fd_ostream OS(File->FD, /*shouldClose=*/false);
    OS << Text;
    OS.flush();
    std::error_code EC = OS.error();
    OS.clear_error();
    return EC;
  }

  llvm::Error finish() {
    fs::TempFile Temp = std::move(*File);
    File.reset();
    if (llvm::Error E = Temp.keep(Target))
      return cannotWrite(Target, llvm::errorToErrorCode(std::move(E)));
    return llvm::Error::success();
  }
};

/// Folders that were made for files; unless these were written, they go again.
class MadeFolders {
  std::vector<std::string> Made; ///< outer ones first

public:
  ~MadeFolders() {
    for (StringRef Folder : llvm::reverse(Made))
      fs::remove(Folder); // empty ones only
  }
  void keep() { Made.clear(); }

  std::error_code make(StringRef Folder) {
    if (Folder.empty() || fs::exists(Folder))
      return {};
    if (std::error_code EC = make(path::parent_path(Folder)))
      return EC;
    std::error_code EC = fs::create_directory(Folder, /*IgnoreExisting=*/true);
    if (!EC)
      Made.push_back(Folder.str());
    return EC;
  }
};

llvm::Expected<Pending> prepareFile(StringRef Path, StringRef Text) {
  llvm::SmallString<256> Target(Path);
  // Through a link to the file itself: renaming would replace the link.
  if (fs::exists(Path))
    if (std::error_code EC = fs::real_path(Path, Target))
      return cannotWrite(Path, EC);
  fs::perms Mode = fs::all_read | fs::all_write;
  if (auto Existing = fs::getPermissions(Target)) {
    Mode = *Existing;
    // A rename would get round the protection of the file.
    if (std::error_code EC = fs::access(Target, fs::AccessMode::Write))
      return cannotWrite(Path, EC);
  } else {
    const unsigned Mask = fs::getUmask();
    Mode = static_cast<fs::perms>(Mode & ~Mask);
  }
  auto Temp = fs::TempFile::create(Target + ".tmp-%%%%%%%%", Mode);
  if (!Temp)
    return cannotWrite(Path, llvm::errorToErrorCode(Temp.takeError()));
  Pending Result(std::move(*Temp), Target.str().str());
  if (std::error_code EC = Result.write(Text))
    return cannotWrite(Path, EC);
  return Result;
}

} // namespace

void OutputSet::add(std::string Path, std::string Text, bool MakeFolders) {
  Entries.push_back({std::move(Path), std::move(Text), MakeFolders});
}

llvm::Error OutputSet::commit() {
  std::set<std::string> Seen;
  MadeFolders Folders; // outlives the files in them
  std::vector<Pending> Files;
  std::vector<const Entry *> Direct;
  for (const Entry &E : Entries) {
    fs::file_status Status;
    fs::status(E.Path, Status);
    if (fs::exists(Status) && !fs::is_regular_file(Status) &&
        !fs::is_directory(Status)) {
      Direct.push_back(&E);
      continue;
    }
    if (fs::is_directory(Status))
      return cannotWrite(E.Path,
                         std::make_error_code(std::errc::is_a_directory));
    if (E.MakeFolders)
      if (std::error_code EC = Folders.make(path::parent_path(E.Path)))
        return cannotWrite(E.Path, EC);
    llvm::SmallString<256> Key(E.Path);
    fs::make_absolute(Key);
    path::remove_dots(Key, true);
    if (!Seen.insert(Key.str().str()).second)
      return llvm::createStringError("two outputs are to go to '" + E.Path +
                                     "'");
    auto Pend = prepareFile(E.Path, E.Text);
    if (!Pend)
      return Pend.takeError();
    Files.push_back(std::move(*Pend));
  }
  for (const Entry *E : Direct) {
    if (llvm::Error Err = writeThrough(E->Path, E->Text))
      return Err;
  }
  for (Pending &P : Files)
    if (llvm::Error E = P.finish())
      return E;
  Folders.keep();
  Entries.clear();
  return llvm::Error::success();
}

llvm::Error checkWritable(StringRef Path) {
  fs::file_status Status;
  if (!fs::status(Path, Status) && fs::is_directory(Status))
    return cannotWrite(Path, std::make_error_code(std::errc::is_a_directory));
  // A file is replaced by another one in its folder; a pipe or a device is not.
  if (fs::exists(Status) && !fs::is_regular_file(Status))
    return llvm::Error::success();
  if (fs::exists(Status))
    if (std::error_code EC = fs::access(Path, fs::AccessMode::Write))
      return cannotWrite(Path, EC);
  const StringRef Folder = path::parent_path(Path);
  if (std::error_code EC = fs::access(Folder.empty() ? "." : Folder, fs::AccessMode::Write))
    return cannotWrite(Path, EC);
  if (!Folder.empty() && !fs::is_directory(Folder))
    return cannotWrite(Path, std::make_error_code(std::errc::not_a_directory));
  return llvm::Error::success();
}

std::string makeRule(StringRef Target,
                     const std::vector<std::string> &Dependencies) {
  auto Escape = [](StringRef Name) {
    std::string Text;
    for (size_t I = 0; I < Name.size(); ++I) {
      char C = Name[I];
      if (C == ' ' || C == '#' || C == '\t') {
        // Backslashes before a blank count as escapes themselves.
        for (size_t J = I; J > 0 && Name[J - 1] == '\\'; --J)
          Text += '\\';
        Text += '\\';
      } else if (C == '$') {
        Text += '$';
      }
      Text += C;
    }
    return Text;
  };
  std::string Rule = Escape(Target) + ":";
  for (const std::string &D : Dependencies)
    Rule += " \\\n  " + Escape(D);
  return Rule + "\n";
}

} // namespace rcache
