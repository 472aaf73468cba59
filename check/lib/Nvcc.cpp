// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Device code as the user's compiler makes it: nvcc is run for its PTX.

#include "KeptPtx.h"
#include "PtxModule.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Object/ELF.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <csignal>
#include <map>
#include <mutex>
#include <set>
#include <sys/wait.h>
#include <thread>

using namespace llvm;

namespace rcache::check {

std::string findNvcc(const std::string &CudaPath) {
  std::string P = CudaPath + "/bin/nvcc";
  return !CudaPath.empty() && sys::fs::can_execute(P) ? P : "";
}

/// Flags of a user of either compiler, as far as device code hangs on them.
static std::vector<std::string>
deviceFlags(const std::vector<std::string> &Flags) {
  std::vector<std::string> Out;
  bool Fused = true;
  for (size_t I = 0; I < Flags.size(); ++I) {
    StringRef F = Flags[I];
    // What says where to compile for, and what to.
    if (F == "-arch" || F == "-gencode" || F == "-code" || F == "-o" ||
        F == "--generate-code" || F == "--gpu-architecture" || F == "-rdc" ||
        F == "-Xclang" || F == "-t") {
      ++I;
      continue;
    }
    if (F.starts_with("-arch=") || F.starts_with("-gencode=") ||
        F.starts_with("--generate-code=") || F.starts_with("--gpu-") ||
        F.starts_with("-code=") || F.starts_with("--cuda-") ||
        F.starts_with("-rdc=") || F.starts_with("--relocatable") || F == "-c" ||
        F == "-dc" || F == "-dlto" || F.starts_with("-l") ||
        F.starts_with("-L") || F == "-w" || F == "-lineinfo")
      continue;
    // What only clang knows.
    if (F == "-ffp-contract=off" || F == "-fmad=false" || F == "--fmad=false") {
      if (std::exchange(Fused, false)) // nvcc takes it once
        Out.push_back("-fmad=false");
      continue;
    }
    if (F.starts_with("-f") && !F.starts_with("-fmad") &&
        !F.starts_with("-ftz") && !F.starts_with("-forward-unknown"))
      continue;
    if (F.starts_with("-W") || F == "-pedantic")
      continue;
    Out.push_back(F.str());
  }
  return Out;
}

namespace {

/// A program of the toolkit, at work.
class Tool {
public:
  Tool(std::vector<std::string> Given) : Args(std::move(Given)) {
    // It starts others, which a signal to it alone leaves at work.
    if (auto Timeout = sys::findProgramByName("timeout"))
      Args.insert(Args.begin(), {*Timeout, "-k", "1",
                                 std::to_string(TimeLimit.count())});
    if (sys::fs::createTemporaryFile("rcache-check", "log", Log)) {
      Why = "cannot make a temporary file";
      return;
    }
    SmallVector<StringRef, 32> Views(Args.begin(), Args.end());
    std::optional<StringRef> Redirects[] = {StringRef(""), StringRef(Log),
                                            StringRef(Log)};
    Process = sys::ExecuteNoWait(Views[0], Views, std::nullopt, Redirects, 0,
                                 &Why);
  }
  ~Tool() {
    if (!Log.empty())
      sys::fs::remove(Log);
  }
  Tool(const Tool &) = delete;

  /// Waits for its end; "" or why it failed. Not by sys::Wait, whose clock is a
  /// signal of the whole process.
  std::string end() {
    const auto Until =
        std::chrono::steady_clock::now() + TimeLimit + std::chrono::seconds(5);
    while (Process.Pid) {
      int How = 0;
      if (const pid_t Ended = waitpid(Process.Pid, &How, WNOHANG)) {
        if (Ended > 0)
          Status = WIFEXITED(How) ? WEXITSTATUS(How) : -1;
        if (Status == 124 || Status == 137)
          return "does not come to an end";
        break;
      }
      if (std::chrono::steady_clock::now() > Until) {
        kill(Process.Pid, SIGKILL);
        waitpid(Process.Pid, nullptr, 0);
        return "does not come to an end";
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    if (!Status)
      return "";
    if (auto Said = MemoryBuffer::getFile(Log); Said && Why.empty())
      Why = (*Said)->getBuffer().trim().str();
    return Why.empty() ? "status " + std::to_string(Status) : Why;
  }

  /// Did it end by itself and say what is wrong with what it was given?
  bool refuses() const { return Status > 0 && Status < NotStarted; }

private:
  static constexpr int NotStarted = 124; ///< what timeout and shells end with from here on
  static constexpr std::chrono::seconds TimeLimit{60};
  std::vector<std::string> Args;
  SmallString<128> Log;
  std::string Why;
  sys::ProcessInfo Process;
  int Status = -1;
};

/// Links to files and folders whose names nvcc or ptxas cannot take: nvcc has a
/// shell read them, and ptxas reads no escapes in those of line information.
class Links {
public:
  Links() = default;
  Links(const Links &) = delete;
  ~Links() {
    if (!Folder.empty())
      sys::fs::remove_directories(Folder);
  }

  /// nvcc writes absolute names, so those count.
  static bool needed(StringRef Path) {
    SmallString<256> Whole(Path);
    return !sys::fs::make_absolute(Whole) && odd(Whole);
  }
  static bool odd(StringRef Name) {
    return Name.find_first_of("\"'\\`$") != StringRef::npos;
  }
  /// \p Path, or a link to it.
  std::string folder(StringRef Path) {
    return needed(Path) ? link(Path, "d" + std::to_string(Known.size()), "/")
                        : Path.str();
  }
  /// The same for a file; the name in its folder is kept where it can be.
  std::string file(StringRef Path) {
    if (!needed(Path))
      return Path.str();
    const StringRef Name = sys::path::filename(Path);
    if (odd(Name))
      return link(Path, "f" + std::to_string(Known.size()) + ".cu", "");
    return folder(parent(Path)) + "/" + Name.str();
  }
  static StringRef parent(StringRef Path) {
    const StringRef Parent = sys::path::parent_path(Path);
    return Parent.empty() ? "." : Parent;
  }

  /// Each link and what it stands for, as PtxText has them.
  std::vector<std::pair<std::string, std::string>> Known;

private:
  std::string link(StringRef Path, const std::string &Name,
                   const std::string &End) {
    SmallString<256> Whole(Path);
    if (sys::fs::make_absolute(Whole))
      return Path.str();
    sys::path::remove_dots(Whole);
    const std::string Target = Whole.str().str() + End;
    for (auto &[Link, To] : Known)
      if (To == Target)
        return Link.substr(0, Link.size() - End.size());
    if (Folder.empty() && sys::fs::createUniqueDirectory("rcache-check", Folder))
      return Path.str();
    const std::string Made = (Folder + "/" + Name).str();
    if (sys::fs::create_link(Whole, Made))
      return Path.str();
    Known.emplace_back(Made + End, Target);
    return Made;
  }

  SmallString<128> Folder;
};

/// \p Args, the last of which is the source, without names that cannot be said.
std::vector<std::string> sayable(std::vector<std::string> Args, Links &L) {
  const std::string Source = Args.back();
  Args.pop_back();
  for (size_t I = 1; I < Args.size(); ++I) {
    StringRef A = Args[I];
    const bool Folders = A.consume_front("-I") || A.consume_front("-isystem");
    if (Folders && !A.empty())
      Args[I].replace(Args[I].size() - A.size(), A.size(), L.folder(A));
    else if (Folders && I + 1 < Args.size())
      Args[I + 1] = L.folder(Args[I + 1]), ++I;
    else if (A == "-include" && I + 1 < Args.size())
      Args[I + 1] = L.file(Args[I + 1]), ++I;
  }
  // What a file includes lies beside it, not beside the link to it.
  if (Links::odd(sys::path::filename(Source)))
    Args.insert(Args.begin() + 1, "-I" + L.folder(Links::parent(Source)));
  Args.push_back(L.file(Source));
  return Args;
}

/// \p Source is the text of the file that \p Asked ends with.
PtxText compileToPtx(const std::vector<std::string> &Asked,
                     const std::string &Source) {
  PtxText Out;
  const KeptPtx Kept(Asked, Source);
  if (auto Text = Kept ? Kept.find() : std::nullopt) {
    Out.Text = std::move(*Text);
    return Out;
  }
  Links Names;
  std::vector<std::string> Args = sayable(Asked, Names);
  Out.Links = Names.Known;
  SmallString<128> To, Rules;
  if (sys::fs::createTemporaryFile("rcache-check", "ptx", To) ||
      sys::fs::createTemporaryFile("rcache-check", "d", Rules)) {
    Out.Error = "cannot make a temporary file";
    return Out;
  }
  FileRemover RemoveTo(To), RemoveRules(Rules);
  // Links are another name in each process.
  const bool Keep = Kept && Out.Links.empty();
  if (Keep)
    for (StringRef A : {"-MD", "-MF", Rules.c_str()})
      Args.push_back(A.str());
  Args.push_back("-o");
  Args.push_back(To.str().str());
  Tool Compiler(std::move(Args));
  if (std::string Why = Compiler.end(); !Why.empty()) {
    Out.Error = "nvcc: " + Why;
    Out.Refused = Compiler.refuses();
    return Out;
  }
  auto Got = MemoryBuffer::getFile(To);
  if (Got)
    Out.Text = (*Got)->getBuffer().str();
  else
    Out.Error = "nvcc left nothing";
  if (auto Made = MemoryBuffer::getFile(Rules); Made && Got && Keep)
    Kept.keep(Out.Text, (*Made)->getBuffer());
  return Out;
}

/// What nvcc was asked for in this process, by command line and text.
struct Requests {
  std::mutex M;
  std::map<std::vector<std::string>, std::shared_future<PtxText>> Known;
};
/// Never destroyed: a forked process has not the threads that work for it.
Requests &requests() {
  static Requests *R = new Requests;
  return *R;
}

} // namespace

std::shared_future<PtxText> requestPtx(const FrontendOptions &FE,
                                       const std::string &Source) {
  const std::string Nvcc = findNvcc(FE.CudaPath);
  std::vector<std::string> Flags = FE.Flags;
  if (!FE.Contract) // --fp-contract=off
    Flags.push_back("-ffp-contract=off");
  std::vector<std::string> Args = {Nvcc, "-ptx", "-w", "-lineinfo",
                                   "-arch=" + FE.Arch, "-DRCACHE_ANY_LAUNCH"};
  for (std::string &F : deviceFlags(Flags))
    Args.push_back(std::move(F));
  for (const char *A : {"-x", "cu"})
    Args.push_back(A);
  Args.push_back(Source);
  std::vector<std::string> Key = Args;
  auto Text = MemoryBuffer::getFile(Source);
  Key.push_back(Text ? (*Text)->getBuffer().str() : "");
  Requests &R = requests();
  std::lock_guard<std::mutex> Lock(R.M);
  std::shared_future<PtxText> &Answer = R.Known[Key];
  if (Answer.valid())
    return Answer;
  std::promise<PtxText> Promise;
  Answer = Promise.get_future().share();
  if (Nvcc.empty()) {
    PtxText None;
    None.Error = "the toolkit has no nvcc";
    Promise.set_value(std::move(None));
    return Answer;
  }
  std::thread([P = std::move(Promise), Args, Text = std::move(Key.back())]() mutable {
    P.set_value(compileToPtx(Args, Text));
  }).detach();
  return Answer;
}

void finishPtx() {
  std::vector<std::shared_future<PtxText>> All;
  {
    Requests &R = requests();
    std::lock_guard<std::mutex> Lock(R.M);
    for (auto &[Key, Answer] : R.Known)
      All.push_back(Answer);
  }
  for (auto &Answer : All)
    Answer.wait();
}

std::string plainName(StringRef Name) {
  std::string N = demangle(Name.str());
  for (StringRef Anonymous : {"(anonymous namespace)::"})
    for (size_t At; (At = N.find(Anonymous)) != std::string::npos;)
      N.erase(At, Anonymous.size());
  for (StringRef Begin : {"_GLOBAL__N__", "_INTERNAL_"})
    for (size_t At; (At = N.find(Begin)) != std::string::npos;) {
      size_t End = N.find("::", At);
      if (End == std::string::npos)
        break;
      N.erase(At, End + 2 - At);
    }
  return N;
}

std::string useRegisteredNames(Module &Device, const Module &Host) {
  std::set<std::string> Registered, Kernels;
  for (const Function &F : Host) {
    if (!F.getName().starts_with("__cudaRegister"))
      continue;
    for (const User *U : F.users())
      if (auto *Call = dyn_cast<CallInst>(U))
        for (const Use &A : Call->args())
          if (auto *G = dyn_cast<GlobalVariable>(A->stripPointerCasts());
              G && G->hasInitializer())
            if (auto *S = dyn_cast<ConstantDataArray>(G->getInitializer());
                S && S->isCString()) {
              Registered.insert(S->getAsCString().str());
              if (F.getName() == "__cudaRegisterFunction")
                Kernels.insert(S->getAsCString().str());
            }
  }
  std::map<std::string, std::string> ByPlain; ///< "": more than one
  for (const std::string &R : Registered) {
    auto [It, New] = ByPlain.try_emplace(plainName(R), R);
    if (!New)
      It->second.clear();
  }
  for (GlobalValue &G : Device.global_values()) {
    if (!G.hasName() || G.isDeclaration() ||
        Registered.count(G.getName().str()))
      continue;
    auto It = ByPlain.find(plainName(G.getName()));
    if (It != ByPlain.end() && !It->second.empty() &&
        !Device.getNamedValue(It->second))
      G.setName(It->second);
  }
  for (const std::string &K : Kernels)
    if (const Function *F = Device.getFunction(K); !F || F->isDeclaration())
      return demangle(K);
  return "";
}

//===----------------------------------------------------------------------===//
// Machine code
//===----------------------------------------------------------------------===//

/// Fused operations of 32 and 64 bits in each function of a cubin, whose
/// instructions have 128 bits and the operation in the lowest 9 of them.
static bool fusedOperations(StringRef Cubin,
                            std::map<std::string, unsigned> &Out) {
  auto File = object::ELFFile<object::ELF64LE>::create(Cubin);
  if (!File) {
    consumeError(File.takeError());
    return false;
  }
  auto Sections = File->sections();
  if (!Sections) {
    consumeError(Sections.takeError());
    return false;
  }
  for (const auto &S : *Sections) {
    auto Name = File->getSectionName(S);
    if (!Name) {
      consumeError(Name.takeError());
      return false;
    }
    if (!Name->consume_front(".text."))
      continue;
    auto Code = File->getSectionContents(S);
    if (!Code) { // not so where there is nothing in the file: .nv.shared
      consumeError(Code.takeError());
      return false;
    }
    unsigned &N = Out[Name->str()];
    for (size_t At = 0; At + 16 <= Code->size(); At += 16) {
      const unsigned Operation =
          support::endian::read16le(Code->data() + At) & 0x1ff;
      N += Operation == 0x023 || Operation == 0x02b; // FFMA, DFMA
    }
  }
  return true;
}

/// The place behind the block that opens at \p At of \p Ptx, or npos.
static size_t endOfBlock(StringRef Ptx, size_t At) {
  for (unsigned Depth = 0; At < Ptx.size(); ++At) {
    if (Ptx.substr(At).starts_with("//"))
      At = Ptx.find('\n', At);
    else if (Ptx[At] == '"')
      At = Ptx.find('"', At + 1);
    else if (Ptx[At] == '{')
      ++Depth;
    else if (Ptx[At] == '}' && --Depth == 0)
      return At + 1;
    if (At == StringRef::npos)
      break;
  }
  return StringRef::npos;
}

/// \p Ptx without the code of kernels other than \p Names (without what compilers
/// mangle in different ways): ptxas takes most of a check's time where it gets all.
static std::string onlyKernels(StringRef Ptx, const StringSet<> &Names) {
  constexpr StringLiteral Head = ".entry ";
  std::string Out;
  while (true) {
    const size_t At = Ptx.find(Head);
    const size_t Body = At == StringRef::npos ? At : Ptx.find('{', At);
    const size_t End = Body == StringRef::npos ? Body : endOfBlock(Ptx, Body);
    if (End == StringRef::npos)
      return Out + Ptx.str();
    const StringRef Name = Ptx.substr(At + Head.size()).take_until([](char C) {
      return C == '(' || C == ' ' || C == '\n';
    });
    const bool Kept = Names.contains(plainName(Name));
    Out += Ptx.take_front(Kept ? End : Body);
    if (!Kept)
      Out += "{ ret; }";
    Ptx = Ptx.drop_front(End);
  }
}

std::vector<std::string>
compareFusion(const std::string &CudaPath, const std::string &Arch,
              const std::string &Ptx,
              const std::map<std::string, unsigned> &Assumed) {
  const std::string Ptxas = CudaPath + "/bin/ptxas";
  const std::string Not = "what ptxas fuses was not looked at: ";
  if (!sys::fs::can_execute(Ptxas))
    return {Not + "the toolkit has no ptxas"};
  unsigned Number = 0;
  StringRef A = Arch;
  if (!A.consume_front("sm_") || A.consumeInteger(10, Number) || Number < 70 ||
      Number > 90)
    return {Not + "the machine code of " + Arch + " is not known"};
  SmallString<128> From, To[2];
  if (sys::fs::createTemporaryFile("rcache-check", "ptx", From) ||
      sys::fs::createTemporaryFile("rcache-check", "cubin", To[0]) ||
      sys::fs::createTemporaryFile("rcache-check", "cubin", To[1]))
    return {Not + "cannot make a temporary file"};
  FileRemover RemoveFrom(From), RemoveFirst(To[0]), RemoveSecond(To[1]);
  std::error_code EC;
  std::map<std::string, unsigned> Want; ///< by what the names have in common
  StringSet<> Names;
  for (auto &[Name, N] : Assumed) {
    Want[plainName(Name)] += N;
    Names.insert(plainName(Name));
  }
  raw_fd_ostream(From, EC) << onlyKernels(Ptx, Names);
  std::map<std::string, unsigned> With, Without;
  auto Assemble = [&](const char *Fuse, StringRef To) {
    return std::make_unique<Tool>(std::vector<std::string>{
        Ptxas, "-arch", Arch, Fuse, From.str().str(), "-o", To.str()});
  };
  auto First = Assemble("-fmad=true", To[0]),
       Second = Assemble("-fmad=false", To[1]);
  const std::string Why[] = {First->end(), Second->end()};
  const bool Refused = !Why[0].empty() || !Why[1].empty();
  for (bool Fuse : {true, false}) {
    auto Cubin = MemoryBuffer::getFile(To[Fuse ? 0 : 1]);
    if (Refused || !Cubin ||
        !fusedOperations((*Cubin)->getBuffer(), Fuse ? With : Without))
      return {Not + "ptxas refuses the code"};
  }
  std::vector<std::string> Out;
  for (auto &[Name, N] : With) {
    const unsigned Base = Without[Name], Got = N > Base ? N - Base : 0;
    const auto It = Want.find(plainName(Name));
    const unsigned Here = It == Want.end() ? 0 : It->second;
    const bool Agree =
        Got == Here || (Got && Here && (Got % Here == 0 || Here % Got == 0));
    if (!Agree)
      Out.push_back("'" + demangle(Name) + "': ptxas fuses " +
                    std::to_string(Got) +
                    " products that PTX leaves open, here it was " +
                    std::to_string(Here) + ": last bits may differ on a device");
  }
  return Out;
}

} // namespace rcache::check
