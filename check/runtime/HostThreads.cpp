// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "HostThreads.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <map>
#include <memory>
#include <mutex>
#include <pthread.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

namespace rcache::check {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

/// A thread that has been asleep for so long waits for another one.
constexpr auto Asleep = milliseconds(40);
/// One that does not sleep may wait as well, with its eyes open.
constexpr auto Awake = milliseconds(5000);

struct HostThread {
  std::string Name = "main";
  unsigned Started = 0; ///< threads
  pid_t Id = -1;        ///< -1: not yet
  bool Over = false;
  unsigned Inside = 0;                   ///< of the runtime
  Clock::time_point Left = Clock::now(); ///< the runtime, last
};

struct State {
  std::atomic<bool> Serial = false;
  std::atomic<unsigned> Waiting = 0;
  std::mutex M; ///< for all that follows, and for the threads
  std::condition_variable Changed;
};
State &state() {
  static State *S = new State;
  return *S;
}

std::shared_ptr<HostThread> &self() {
  thread_local auto Self = std::make_shared<HostThread>();
  return Self;
}

/// Does a thread of this process sleep, other than for a time that it has
/// named?
bool sleeps(pid_t Id) {
  const std::string Folder = "/proc/self/task/" + std::to_string(Id);
  char Letter = 'R';
  if (FILE *F = fopen((Folder + "/stat").c_str(), "r")) {
    // "12 (name) S ...": the name may hold anything but ends with the last ')'.
    char Text[512];
    Text[fread(Text, 1, sizeof(Text) - 1, F)] = 0;
    fclose(F);
    if (const char *End =
            std::string_view(Text).rfind(')') == std::string_view::npos
                ? nullptr
                : Text + std::string_view(Text).rfind(')'))
      Letter = End[1] ? End[2] : 'R';
  }
  if (Letter != 'S')
    return false;
  long Call = -1;
  if (FILE *F = fopen((Folder + "/syscall").c_str(), "r")) {
    if (fscanf(F, "%ld", &Call) != 1)
      Call = -1;
    fclose(F);
  }
  return Call != SYS_clock_nanosleep && Call != SYS_nanosleep;
}

std::shared_ptr<HostThread> newThread() {
  auto T = std::make_shared<HostThread>();
  T->Name = self()->Name + "." + std::to_string(++self()->Started);
  return T;
}

void begin(const std::shared_ptr<HostThread> &T) {
  self() = T;
  std::lock_guard<std::mutex> Lock(state().M);
  T->Id = pid_t(syscall(SYS_gettid));
  T->Left = Clock::now();
}

void end(HostThread &T) {
  std::lock_guard<std::mutex> Lock(state().M);
  T.Over = true;
  state().Changed.notify_all();
}

/// Until it ends, or waits for somebody.
void await(HostThread &T) {
  if (!state().Serial)
    return;
  InRuntime Here; // who has started this one need not think that it sleeps
  std::unique_lock<std::mutex> Lock(state().M);
  auto Woke = Clock::now();
  while (!T.Over) {
    state().Changed.wait_for(Lock, milliseconds(2));
    const auto Now = Clock::now();
    if (T.Over || T.Id < 0 || T.Inside) {
      Woke = Now;
      continue;
    }
    if (!sleeps(T.Id))
      Woke = Now;
    if (Now - Woke < Asleep && Now - T.Left < Awake)
      continue;
    ++state().Waiting;
    return;
  }
}

using Body = std::thread::_State;
/// A thread's work between its beginning and its end.
class Watched : public Body {
public:
  Watched(std::shared_ptr<HostThread> T, std::unique_ptr<Body> Work)
      : T(std::move(T)), Work(std::move(Work)) {}
  void _M_run() override {
    begin(T);
    Work->_M_run();
    Work.reset();
    end(*T);
  }

private:
  std::shared_ptr<HostThread> T;
  std::unique_ptr<Body> Work;
};

struct PlainBody {
  std::shared_ptr<HostThread> T;
  void *(*Work)(void *);
  void *Argument;
};

/// Ends where pthread_exit unwinds, too.
struct AtEnd {
  HostThread &T;
  ~AtEnd() { end(T); }
};

void *runPlain(void *P) {
  std::unique_ptr<PlainBody> B(static_cast<PlainBody *>(P));
  begin(B->T);
  AtEnd Over{*B->T};
  return B->Work(B->Argument);
}

} // namespace

void serialiseHostThreads() { state().Serial = true; }
const std::string &hostThread() { return self()->Name; }
unsigned waitingHostThreads() { return state().Waiting; }

InRuntime::InRuntime() {
  if (!state().Serial)
    return;
  std::lock_guard<std::mutex> Lock(state().M);
  ++self()->Inside;
}
InRuntime::~InRuntime() {
  if (!state().Serial)
    return;
  std::lock_guard<std::mutex> Lock(state().M);
  --self()->Inside;
  self()->Left = Clock::now();
}

//===--- What the program calls -------------------------------------------===//

extern "C" {
/// std::thread::_M_start_thread, which is private.
void rcc_libstdcxx_start(
    std::thread *, std::unique_ptr<Body> *,
    void (*)()) __asm__("_ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_"
                        "StateESt14default_"
                        "deleteIS1_EEPFvvE");

static void startThread(std::thread *New, std::unique_ptr<Body> *Work,
                        void (*Depend)()) {
  auto T = newThread();
  std::unique_ptr<Body> Mine = std::make_unique<Watched>(T, std::move(*Work));
  rcc_libstdcxx_start(New, &Mine, Depend);
  await(*T);
}

static int createThread(pthread_t *New, const pthread_attr_t *How,
                        void *(*Work)(void *), void *Argument) {
  auto T = newThread();
  auto *B = new PlainBody{T, Work, Argument};
  const int Error = pthread_create(New, How, runPlain, B);
  if (Error)
    delete B;
  else
    await(*T);
  return Error;
}

/// This thread's copy of a variable that begins as \p Template.
static void *threadLocal(const void *Template, size_t Size, size_t Align) {
  thread_local std::map<const void *, std::unique_ptr<void, decltype(&free)>> Copies;
  auto [It, New] = Copies.try_emplace(Template, nullptr, &free);
  if (New) {
    Align = std::max(Align, sizeof(void *));
    It->second.reset(aligned_alloc(Align, (Size + Align - 1) / Align * Align));
    memcpy(It->second.get(), Template, Size);
  }
  return It->second.get();
}
/// This thread's variable \p Name of a library.
static void *libraryThreadLocal(const char *Name) { return dlsym(RTLD_DEFAULT, Name); }
} // extern "C"

std::vector<std::pair<std::string, void *>> threadSymbols() {
  return {
      {"_ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_"
       "deleteIS1_EEPFvvE",
       reinterpret_cast<void *>(&startThread)},
      {"pthread_create", reinterpret_cast<void *>(&createThread)},
      {"rcc_thread_local", reinterpret_cast<void *>(&threadLocal)},
      {"rcc_library_thread_local", reinterpret_cast<void *>(&libraryThreadLocal)}};
}

} // namespace rcache::check
