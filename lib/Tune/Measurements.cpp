// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Measurements.h.

#include "Tune/Measurements.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"

namespace json = llvm::json;

namespace rcache {
namespace {

json::Object toJson(const Measurement &M) {
  json::Object O = whatIsMeasured(M);
  O["device"] = json::fixUTF8(M.Device);
  O["arch"] = json::fixUTF8(M.Arch);
  O["shape"] = json::fixUTF8(M.Shape);
  if (M.OriginalMilliseconds)
    O["originalMilliseconds"] = *M.OriginalMilliseconds;
  if (M.Milliseconds)
    O["milliseconds"] = *M.Milliseconds;
  O["sameBits"] = M.SameBits;
  if (M.UndefinedWords)
    O["undefinedWords"] = M.UndefinedWords;
  if (!M.Failed.empty())
    O["failed"] = json::fixUTF8(M.Failed);
  return O;
}

bool fromJson(const json::Value &V, Measurement &M, json::Path P) {
  json::ObjectMapper O(V, P);
  return O && O.map("key", M.Key) && O.map("kernel", M.Kernel) &&
         O.map("candidate", M.Candidate) && O.map("tool", M.Tool) &&
         O.map("device", M.Device) && O.map("arch", M.Arch) &&
         O.mapOptional("shape", M.Shape) &&
         O.map("milliseconds", M.Milliseconds) &&
         O.map("originalMilliseconds", M.OriginalMilliseconds) &&
         O.mapOptional("sameBits", M.SameBits) &&
         O.mapOptional("undefinedWords", M.UndefinedWords) &&
         O.mapOptional("failed", M.Failed);
}

llvm::Error wrong(llvm::StringRef Path, const llvm::Twine &Why) {
  return llvm::createStringError("'" + Path +
                                 "' is no file of measurements: " + Why);
}

} // namespace

std::string measurementKey(const KernelModel &M, llvm::StringRef Options) {
  // Where in the file the kernel stands says nothing of it.
  KernelModel Copy = M;
  Copy.Pos = {};
  Copy.Declines.clear();
  for (LaunchSite &L : Copy.Launches)
    L.Pos = {};
  std::string Text = M.Text + '\0';
  llvm::raw_string_ostream OS(Text);
  Copy.print(OS);
  OS << '\0' << Options;
  const llvm::XXH128_hash_t Hash = llvm::xxh3_128bits(
      llvm::arrayRefFromStringRef<uint8_t>(llvm::StringRef(Text)));
  return llvm::utohexstr(Hash.high64, /*LowerCase=*/true, 16) +
         llvm::utohexstr(Hash.low64, /*LowerCase=*/true, 16);
}

json::Object whatIsMeasured(const Measurement &M) {
  return json::Object{{"key", M.Key},
                      {"kernel", json::fixUTF8(M.Kernel)},
                      {"candidate", json::fixUTF8(M.Candidate)},
                      {"tool", M.Tool}};
}

llvm::Expected<std::vector<Measurement>>
readMeasurements(llvm::StringRef Path) {
  std::vector<Measurement> All;
  auto Buffer = llvm::MemoryBuffer::getFile(Path, /*IsText=*/true);
  if (!Buffer) {
    if (Buffer.getError() == std::errc::no_such_file_or_directory)
      return All;
    return llvm::createStringError("cannot read '" + Path +
                                   "': " + Buffer.getError().message());
  }
  auto Root = json::parse((*Buffer)->getBuffer());
  if (!Root)
    return wrong(Path, llvm::toString(Root.takeError()));
  const json::Object *Top = Root->getAsObject();
  const json::Array *List = Top ? Top->getArray("measurements") : nullptr;
  if (!List)
    return wrong(Path, "it has no \"measurements\"");
  for (const json::Value &V : *List) {
    Measurement M;
    json::Path::Root Where("measurements");
    if (!fromJson(V, M, Where))
      return wrong(Path, llvm::toString(Where.getError()));
    All.push_back(std::move(M));
  }
  return All;
}

llvm::Error addMeasurements(llvm::StringRef Path,
                            const std::vector<Measurement> &New) {
  auto All = readMeasurements(Path);
  if (!All)
    return All.takeError();
  llvm::erase_if(*All, [&](const Measurement &Old) {
    return llvm::any_of(New,
                        [&](const Measurement &M) { return M.replaces(Old); });
  });
  All->insert(All->end(), New.begin(), New.end());
  if (std::error_code EC =
          llvm::sys::fs::create_directories(llvm::sys::path::parent_path(Path)))
    return llvm::createStringError("cannot make the folder of '" + Path +
                                   "': " + EC.message());
  // Written beside it and renamed: a reader sees the old file or the new one.
  return llvm::writeToOutput(Path, [&](llvm::raw_ostream &OS) {
    OS << "{\"measurements\": [";
    for (size_t I = 0; I < All->size(); ++I)
      OS << (I ? ",\n" : "\n") << json::Value(toJson((*All)[I]));
    OS << "\n]}\n";
    return llvm::Error::success();
  });
}

std::string defaultMeasurementsPath() {
  llvm::SmallString<128> Path;
  if (!llvm::sys::path::cache_directory(Path))
    return "";
  llvm::sys::path::append(Path, "rcache", "tune.json");
  return Path.str().str();
}

Applied applyMeasurements(const std::vector<Measurement> &All,
                          llvm::StringRef Key, llvm::StringRef Tool,
                          llvm::StringRef Device, llvm::StringRef Arch,
                          Choice &C) {
  Applied Done;
  std::string Name = Device.str();
  for (const Measurement &M : All) {
    if (M.Key != Key || M.Tool != Tool ||
        (Name.empty() ? M.Arch != Arch : M.Device != Name))
      continue;
    auto K = llvm::find_if(
        C.Candidates, [&](const Candidate &X) { return X.Id == M.Candidate; });
    if (K == C.Candidates.end())
      continue;
    Name = C.MeasuredOn = M.Device;
    ++Done.Entries;
    if (!M.SameBits) {
      K->Failed = "on " + M.Device + " its results differ from the original's";
      Done.Differ.push_back(static_cast<unsigned>(K - C.Candidates.begin()));
    } else if (M.Milliseconds && M.OriginalMilliseconds) {
      // Each candidate was timed beside the original: the ratio counts.
      if (!C.OriginalMilliseconds)
        C.OriginalMilliseconds = M.OriginalMilliseconds;
      K->Milliseconds =
          *M.Milliseconds * *C.OriginalMilliseconds / *M.OriginalMilliseconds;
      C.MeasuredShape = M.Shape;
      ++Done.Times;
      Done.UndefinedWords = std::max(Done.UndefinedWords, M.UndefinedWords);
    } else if (Done.Failure.empty())
      Done.Failure = M.Failed.empty() ? "no time" : M.Failed;
  }
  return Done;
}

} // namespace rcache
