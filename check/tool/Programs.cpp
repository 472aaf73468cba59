// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Programs.h"

#include "HostThreads.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <malloc.h>
#include <sstream>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

namespace rcache::check {

const char *const SeenBefore = "original, again";

namespace {

bool readAll(int Fd, void *P, size_t N) {
  auto *At = static_cast<char *>(P);
  while (N) {
    ssize_t R = read(Fd, At, N);
    if (R < 0 && errno == EINTR)
      continue;
    if (R <= 0)
      return false;
    At += R;
    N -= R;
  }
  return true;
}
bool writeAll(int Fd, const void *P, size_t N) {
  auto *At = static_cast<const char *>(P);
  while (N) {
    ssize_t R = write(Fd, At, N);
    if (R < 0 && errno == EINTR)
      continue;
    if (R <= 0)
      return false;
    At += R;
    N -= R;
  }
  return true;
}
template <size_t N> void copyName(char (&To)[N], const std::string &From) {
  snprintf(To, N, "%s", From.c_str());
}
/// The status of a process, as waitpid gives it.
int waited(pid_t Pid) {
  int Status = 0;
  while (waitpid(Pid, &Status, 0) < 0 && errno == EINTR)
    ;
  return Status;
}

} // namespace

//===----------------------------------------------------------------------===//
// Prepared
//===----------------------------------------------------------------------===//

Prepared::Prepared(const CommandLine &L, const std::string &Source,
                   const char *Label, bool Both, unsigned Runs)
    : Label(Label), Both(Both) {
  if (L.Json)
    Said = memfd_create("findings", MFD_CLOEXEC);
  if (pipe2(Command, O_CLOEXEC) || pipe2(Answer, O_CLOEXEC))
    return;
  for (unsigned I = 0; I < Runs; ++I) {
    Ends E;
    E.Printed = memfd_create("stdout", MFD_CLOEXEC);
    if (pipe2(E.Up, O_CLOEXEC) || pipe2(E.Down, O_CLOEXEC))
      return;
    void *Page = mmap(nullptr, sizeof(*E.Told), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (Page == MAP_FAILED)
      return;
    E.Told = new (Page) std::atomic<Ending>(Ending::Own);
    All.push_back(E);
  }
  fflush(nullptr);
  Pid = fork();
  const bool Inside = Pid == 0;
  shut(Command[Inside]);
  shut(Answer[!Inside]);
  for (Ends &E : All) {
    shut(E.Up[!Inside]);
    shut(E.Down[Inside]);
  }
  if (Inside)
    serve(L, Source);
}

Prepared::~Prepared() {
  for (int *Fd : {&Command[0], &Command[1], &Answer[0], &Answer[1], &Said})
    shut(*Fd);
  for (Ends &E : All) {
    for (int *Fd : {&E.Up[0], &E.Up[1], &E.Down[0], &E.Down[1], &E.Printed})
      shut(*Fd);
    munmap(E.Told, sizeof(*E.Told));
  }
  if (Pid > 0)
    waited(Pid);
}

char Prepared::compiler() {
  if (!Compiler && !readAll(Answer[0], &Compiler.emplace(0), 1))
    Compiler = 0;
  return *Compiler;
}

void Prepared::findings(llvm::json::Array &Out) const {
  std::istringstream Lines(contents(Said));
  for (std::string Line; std::getline(Lines, Line);)
    if (auto V = llvm::json::parse(Line)) {
      (*V->getAsObject())["program"] = Label;
      Out.push_back(std::move(*V));
    } else {
      llvm::consumeError(V.takeError());
    }
}

void Prepared::shut(int &Fd) {
  if (Fd >= 0)
    close(Fd);
  Fd = -1;
}

std::string Prepared::contents(int Fd) {
  if (Fd < 0)
    return "";
  std::string Out(std::max<off_t>(0, lseek(Fd, 0, SEEK_END)), '\0');
  ssize_t N = pread(Fd, Out.data(), Out.size(), 0);
  Out.resize(std::max<ssize_t>(0, N));
  return Out;
}

void Prepared::serve(const CommandLine &L, const std::string &Source) {
  CommandLine Mine = L;
  Mine.Inputs = {Source};
  Mine.Label = Label;
  Mine.FindingsTo = Said;
  // One program's output is enough; findings go to stderr.
  int Null = open("/dev/null", O_WRONLY);
  dup2(Null, 1);
  if (strcmp(Label, SeenBefore) == 0)
    dup2(Null, 2);
  Mine.Ends = [this](Ending E) {
    if (Telling)
      *Telling = E;
  };
  auto Whose = std::make_shared<char>('c');
  Mine.Jit.Whose = [Whose](char Of) { *Whose = Of; };
  Mine.Jit.BeforeUserCode = [this, Whose] {
    if (!writeAll(Answer[1], Whose.get(), 1))
      _exit(0);
    for (Ends &E : All) {
      char How;
      if (!readAll(Command[0], &How, 1))
        break;
      fflush(nullptr);
      const pid_t Run = fork();
      if (Run == 0)
        return begin(E, How);
      shut(E.Up[1]);
      shut(E.Down[0]);
      if (!writeAll(Answer[1], &Run, sizeof(Run)))
        break;
      const int Status = waited(Run);
      if (!writeAll(Answer[1], &Status, sizeof(Status)))
        break;
    }
    _exit(0);
  };
  exit(runCommand(Mine));
}

/// In the process of a run.
void Prepared::begin(const Ends &E, char How) {
  Telling = E.Told;
  serialiseHostThreads();
  // What the program never writes is the same in both: zero, in new memory.
  mallopt(M_PERTURB, 0xff);
  if (How != 'k')
    options().Schedule = How == 'r' ? Order::Reverse : Order::Forward;
  if (E.Printed >= 0)
    dup2(E.Printed, 1);
  auto Wait = [this, Out = E.Up[1], In = E.Down[0]](const Launch &X,
                                                    bool Before) {
    Stop S{};
    S.Before = Before;
    S.Launch = X.Index;
    S.Errors = errorCount();
    S.Waiting = waitingHostThreads();
    copyName(S.Kernel, X.Kernel->DisplayName);
    copyName(S.Thread, hostThread());
    std::vector<WireAllocation> W;
    for (const Allocation &A : allocations()) {
      WireAllocation Y{};
      Y.Base = reinterpret_cast<uint64_t>(A.Base);
      Y.Size = A.Size;
      Y.Serial = A.Serial;
      Y.Kind = A.K;
      copyName(Y.Name, A.Name);
      W.push_back(Y);
    }
    S.Allocations = W.size();
    char Go;
    if (!writeAll(Out, &S, sizeof(S)) ||
        !writeAll(Out, W.data(), W.size() * sizeof(W[0])) ||
        !readAll(In, &Go, 1)) {
      *Telling = Ending::CouldNotRun;
      _exit(ExitCouldNotRun);
    }
  };
  onLaunch([=](const Launch &X) { Wait(X, false); });
  if (Both)
    onLaunchStart([=](const Launch &X) { Wait(X, true); });
}

//===----------------------------------------------------------------------===//
// ProgramRun
//===----------------------------------------------------------------------===//

ProgramRun::ProgramRun(Prepared &P, char How) : P(P), Ends(P.All[P.Begun++]) {
  writeAll(P.Command[1], &How, 1);
}

bool ProgramRun::next() {
  if (!start() || !readAll(Ends.Up[0], &At, sizeof(At)))
    return false;
  Allocations.resize(At.Allocations);
  return readAll(Ends.Up[0], Allocations.data(),
                 At.Allocations * sizeof(WireAllocation));
}

void ProgramRun::go() { writeAll(Ends.Down[1], "g", 1); }

RunEnd ProgramRun::end() {
  RunEnd Out;
  int Status = 0;
  if (!start() || !readAll(P.Answer[0], &Status, sizeof(Status)))
    return Out;
  Pid = -1;
  Over = true;
  Out.How = *Ends.Told;
  if (WIFSIGNALED(Status))
    Out.Signal = WTERMSIG(Status);
  else
    Out.Status = WEXITSTATUS(Status);
  return Out;
}

void ProgramRun::stop() {
  if (start() && !Over) {
    kill(Pid, SIGKILL);
    end();
  }
}

bool ProgramRun::fetch(uint64_t Address, std::vector<uint8_t> &Out) const {
  size_t Done = 0;
  while (Done < Out.size()) {
    iovec Local{Out.data() + Done, Out.size() - Done};
    iovec Remote{reinterpret_cast<void *>(Address + Done), Out.size() - Done};
    ssize_t R = process_vm_readv(Pid, &Local, 1, &Remote, 1, 0);
    if (R <= 0)
      return false;
    Done += R;
  }
  return true;
}

bool ProgramRun::start() {
  if (Pid < 0 && !Over && !Failed)
    Failed = !P.compiler() || !readAll(P.Answer[0], &Pid, sizeof(Pid));
  return !Failed;
}

} // namespace rcache::check
