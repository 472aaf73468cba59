// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// cl::opt objects for both programs, read once.

#include "SharedOptions.h"
#include "Driver/Usage.h"
#include "rcache/Prediction.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Support/raw_ostream.h"

namespace cl = llvm::cl;
using llvm::StringRef;

namespace rcache {

cl::OptionCategory &parseCategory() {
  static cl::OptionCategory Category("How sources are parsed");
  return Category;
}

cl::OptionCategory &rewriteCategory() {
  static cl::OptionCategory Category("How kernels are rewritten");
  return Category;
}

namespace {

void removeForeignOptions() {
  llvm::SmallPtrSet<cl::Option *, 32> Foreign;
  for (auto &Entry : cl::getRegisteredOptions())
    if (!llvm::is_contained({"help", "help-hidden", "help-list", "version"},
                            Entry.first))
      Foreign.insert(Entry.second);
  for (cl::Option *O : Foreign)
    O->removeArgument();
}

struct SharedLine {
  cl::opt<std::string> DatabasePath{"p", cl::value_desc("path"),
                                    cl::cat(parseCategory()),
                                    cl::desc("Folder of compile_commands.json, "
                                             "or the file")};
  cl::opt<std::string> CudaPath{"cuda-path", cl::value_desc("dir"),
                                cl::cat(parseCategory()),
                                cl::desc("CUDA toolkit (default: CUDA_PATH, CUDA_HOME, "
                                         "that of nvcc, /usr/local/cuda)")};
  cl::opt<std::string> ArchName{"arch", cl::value_desc("sm_NN"),
                                cl::cat(parseCategory()),
                                cl::desc("Architecture to parse and plan for (default: "
                                         "that of the flags, else sm_90)")};
  cl::opt<std::string> Gpu{"gpu", cl::value_desc("part"), cl::cat(parseCategory()),
                           cl::desc("Part to predict for, as H100 (default: the typical one "
                                    "of the architecture); --arch is its")};
  cl::list<std::string> ExtraArgs{
      "extra-arg", cl::value_desc("flag"), cl::cat(parseCategory()),
      cl::desc("Further compiler flag (repeatable)")};
  cl::opt<bool> AllowErrors{"allow-errors", cl::cat(parseCategory()),
                            cl::desc("Go on although the source has errors, as "
                                     "long as kernels and launches have none")};

  cl::opt<std::string> Block{
      "block", cl::value_desc("N|NxN"), cl::cat(rewriteCategory()),
      cl::desc("Block size to assume where the file does "
               "not tell")};
  cl::opt<bool> AssumeNoAlias{"assume-no-alias", cl::cat(rewriteCategory()),
                              cl::desc("Pointer parameters of kernels do not "
                                       "overlap")};
  cl::opt<bool> AssumeLockstep{
      "assume-lockstep", cl::cat(rewriteCategory()),
      cl::desc("The lanes of a warp run each statement together, also where no "
               "__syncwarp() says so")};
  WordOption<Options::RuntimeKind> Runtime{
      "runtime", cl::cat(rewriteCategory()),
      cl::init(Options::RuntimeKind::Embed),
      cl::desc("Where the device functions that the result uses come from"),
      cl::values(clEnumValN(Options::RuntimeKind::Embed, "embed",
                            "copied into the result"),
                 clEnumValN(Options::RuntimeKind::Include, "include",
                            "#include <rcache/device/rewrite.cuh>"))};
};

/// Null until declareSharedOptions.
SharedLine *Shared = nullptr;

} // namespace

void declareSharedOptions() {
  static SharedLine &Line = []() -> SharedLine & {
    removeForeignOptions();
    static SharedLine L;
    return L;
  }();
  Shared = &Line;
}

std::optional<std::vector<std::string>>
takeFlags(llvm::SmallVectorImpl<const char *> &Args) {
  auto *Dashes = llvm::find_if(
      Args, [](const char *A) { return A && StringRef(A) == "--"; });
  if (Dashes == Args.end())
    return std::nullopt;
  std::vector<std::string> Flags(Dashes + 1, Args.end());
  Args.erase(Dashes, Args.end());
  return Flags;
}

llvm::Expected<unsigned> readNumber(StringRef Text, StringRef Name,
                                    unsigned Max) {
  unsigned Value = 0;
  if (Text.getAsInteger(10, Value) || Value == 0 || Value > Max)
    return llvm::createStringError((Name.size() == 1 ? "-" : "--") + Name +
                                   " takes a number from 1 to " +
                                   llvm::Twine(Max) + ", not '" + Text + "'");
  return Value;
}

/// `256`, `16x16`, `32x4x2`: threads along x, y and z.
static llvm::Expected<std::array<int64_t, 3>> readBlock(StringRef Text) {
  std::array<int64_t, 3> Shape = {1, 1, 1};
  llvm::SmallVector<StringRef, 3> Parts;
  Text.split(Parts, 'x');
  bool Fine = Parts.size() <= Shape.size();
  int64_t Threads = 1;
  for (size_t I = 0; Fine && I < Parts.size(); ++I) {
    Fine = !Parts[I].getAsInteger(10, Shape[I]) && Shape[I] > 0 &&
           Shape[I] <= (I == 2 ? 64 : 1024);
    Threads *= Shape[I];
  }
  if (!Fine || Threads > 1024)
    return llvm::createStringError("--block takes a number from 1 to 1024 or "
                                   "up to three of them, as 32x8, not '" +
                                   Text + "'");
  return Shape;
}

llvm::Error readSharedOptions(SharedOptions &O, Options &Library) {
  O.DatabasePath = Shared->DatabasePath;
  O.CudaPath = Shared->CudaPath;
  O.Arch = Shared->ArchName;
  O.ExtraArgs.assign(Shared->ExtraArgs.begin(), Shared->ExtraArgs.end());
  O.AllowErrors = Shared->AllowErrors;
  Library.AssumeNoAlias = Shared->AssumeNoAlias;
  Library.AssumeLockstep = Shared->AssumeLockstep;
  Library.Runtime = Shared->Runtime;
  if (!Shared->Block.empty()) {
    auto Shape = readBlock(Shared->Block);
    if (!Shape)
      return Shape.takeError();
    Library.AssumedBlock = *Shape;
  }
  if (!O.Arch.empty() && !StringRef(O.Arch).starts_with("sm_"))
    return llvm::createStringError("--arch takes sm_NN, not '" + O.Arch + "'");
  Library.Part = Shared->Gpu;
  if (!Library.Part.empty()) {
    const Arch *Part = findPart(Library.Part);
    if (!Part) {
      std::string Known;
      for (const Arch &A : allParts())
        Known += (Known.empty() ? "" : ", ") + std::string(A.Part);
      return llvm::createStringError("--gpu: '" + Library.Part +
                                     "' is not known; known are " + Known);
    }
    if (O.Arch.empty())
      O.Arch = Part->Name;
    else if (const Arch *Given = findArch(O.Arch);
             !Given || StringRef(Given->Name) != Part->Name)
      return llvm::createStringError("--gpu=" + Library.Part + " is an " + Part->Name +
                                     ", --arch says " + O.Arch);
  }
  if (!O.DatabasePath.empty() && O.Flags)
    return llvm::createStringError(
        "-p excludes flags after '--' and --flags-file");
  return llvm::Error::success();
}

} // namespace rcache
