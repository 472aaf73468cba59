// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Life and budget of an isl_ctx. An isl operation that fails (also: exceeds the
// budget) returns null and leaves the error in the context; isl/cpp.h turns
// that into an exception, so the context itself must neither abort nor print.
//
// One operation, an integer program in many dimensions, may take minutes and
// little memory: isl counts what is allocated. A thread of the process looks at the
// clocks of those that compute, and tells isl to give up.

#include "rcache/Affine.h"
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <isl/ctx.h>
#include <isl/options.h>
#include <mutex>
#include <pthread.h>
#include <set>
#include <thread>
#include <time.h>

namespace rcache {

namespace {
/// About a second; the analyses of an ordinary kernel need a
/// few thousand operations.
constexpr unsigned long MaxOperations = 5'000'000;
/// Of a stage of one kernel's analysis. Ordinary kernels need a tenth of a
/// second.
constexpr double MaxSeconds = 8;
/// Of a budget of operations that begins when that time is over: to end in order.
constexpr double LastSeconds = 1;
/// Of all stages of one kernel that have a limit, planning to printing. What begins
/// later fails at once.
constexpr double MaxSecondsInAll = 30;

double secondsOf(clockid_t Clock) {
  timespec T{};
  if (clock_gettime(Clock, &T)) // its thread has ended
    return 0;
  return static_cast<double>(T.tv_sec) + static_cast<double>(T.tv_nsec) * 1e-9;
}

/// The clocks that are looked at: those of contexts with a limit. The thread that
/// does is started with the first, sleeps while there is none, and lives as long
/// as the process.
struct Watched;
struct Watchman {
  std::mutex Lock;
  std::condition_variable Anything; ///< All is no longer empty
  std::set<Watched *> All;
  bool Runs = false;
  void run();
};
Watchman &watchman() {
  static Watchman &W = *new Watchman; // its thread outlives static objects
  return W;
}

struct Watched {
  isl_ctx *Raw;
  clockid_t Thread{};
  double Started = 0, Until = 0; ///< seconds
};

void Watchman::run() {
  for (std::unique_lock<std::mutex> Held(Lock);;) {
    Anything.wait(Held, [&] { return !All.empty(); });
    Held.unlock();
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    Held.lock();
    for (Watched *W : All)
      if (secondsOf(W->Thread) > W->Until)
        isl_ctx_abort(W->Raw);
  }
}
} // namespace

/// The time of one context. The thread that sets it is the one that computes.
class AffineContext::Watch {
public:
  explicit Watch(isl_ctx *Raw) : Of{Raw} {}
  ~Watch() { unwatch(); }

  void start() { set(now()); }
  void extend() { set(Of.Started); }
  void limit(bool On) {
    if (On && !Limits)
      Since = now();
    spend();
    Limits += On ? 1 : -1;
    set(Of.Started);
  }
  bool isOver() const {
    return now() - Of.Started > MaxSeconds || (Limits && left() <= 0);
  }

private:
  Watched Of;
  int Limits = 0;               ///< scopes, one in another
  double Spent = 0, Since = 0;  ///< seconds under limits: until when, counted

  static double now() { return secondsOf(CLOCK_THREAD_CPUTIME_ID); }

  double left() const { return MaxSecondsInAll - Spent - (now() - Since); }

  void spend() {
    if (!Limits)
      return;
    Spent += now() - Since;
    Since = now();
  }

  void set(double Started) {
    Of.Started = Started;
    spend();
    if (!Limits)
      unwatch();
    else
      watch();
    // Nobody else aborts it before the new time is over.
    if (Limits && left() <= 0)
      isl_ctx_abort(Of.Raw);
    else
      isl_ctx_resume(Of.Raw);
  }

  void watch() {
    Watchman &W = watchman();
    const std::lock_guard<std::mutex> Guard(W.Lock);
    pthread_getcpuclockid(pthread_self(), &Of.Thread);
    Of.Until = std::min(std::max(Of.Started + MaxSeconds, now() + LastSeconds),
                        now() + left());
    W.All.insert(&Of);
    if (!W.Runs)
      std::thread(&Watchman::run, &W).detach();
    W.Runs = true;
    W.Anything.notify_one();
  }

  void unwatch() {
    Watchman &W = watchman();
    const std::lock_guard<std::mutex> Guard(W.Lock);
    W.All.erase(&Of);
  }
};

std::string textOf(const isl::exception &E) {
  if (dynamic_cast<const isl::exception_abort *>(&E))
    return "the time for the analysis is over";
  return std::string("isl: ") + E.what();
}

AffineContext::AffineContext()
    : Raw(isl_ctx_alloc()), Clock(std::make_unique<Watch>(Raw)) {
  isl_options_set_on_error(Raw, ISL_ON_ERROR_CONTINUE);
  isl_options_set_ast_build_prefer_pdiv(Raw, 1);
  isl_ctx_set_max_operations(Raw, MaxOperations);
  startClock();
}

AffineContext::~AffineContext() {
  Clock.reset(); // nobody asks it any more
  isl_ctx_free(Raw);
}

void AffineContext::resetBudget() {
  isl_ctx_reset_error(Raw);
  isl_ctx_reset_operations(Raw);
  Clock->extend();
}

void AffineContext::startClock() { Clock->start(); }

AffineContext::Limit::Limit(AffineContext &C) : Of(C) { Of.Clock->limit(true); }
AffineContext::Limit::~Limit() { Of.Clock->limit(false); }

bool AffineContext::outOfTime() const { return Clock->isOver(); }

void AffineContext::checkTime() const {
  if (outOfTime())
    isl::exception::throw_error(isl_error_quota,
                                "the time for the analysis is over", __FILE__,
                                __LINE__);
}

} // namespace rcache
