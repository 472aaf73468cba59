// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One kernel in two versions, launched at shapes that nobody wrote.

#ifndef RCACHE_CHECK_TRIALS_H
#define RCACHE_CHECK_TRIALS_H

#include "Commands.h"
#include "Compare.h"
#include "Harness.h"
#include "Placements.h"

#include <array>
#include <functional>
#include <optional>
#include <set>

namespace rcache::check {

/// A kernel's entry points in a program.
struct Version {
  std::shared_ptr<CompiledProgram> Program;
  int (*Params)(Param *) = nullptr;
  void (*Launch)(const unsigned *, size_t, void **) = nullptr;
  bool Indirect = false; ///< Launch is the launch function
};

/// What is in memory after a launch.
struct Snapshot {
  std::vector<uint8_t> Bytes, Shadow;
};

enum class Verdict {
  Equivalent,
  Different,
  UndefinedRewritten,
  UndefinedOriginal, ///< no launch was found for which the original is defined
  OriginalRaces,     ///< ... since its threads race in global memory
  NothingCompared,   ///< the rewritten form never ran
  CouldNotRun,
  OtherSums, ///< every bit equal, but nvcc fuses other products of the rewritten form
};
/// "equivalent", "undefined-original".
const char *verdictName(Verdict V);
ExitCode exitCode(Verdict V);

std::string dim(const Dim3 &D);

class Trials {
public:
  Trials(const CommandLine &L, const KernelSignature &K,
         const SourceSummary &Summary, Version A, Version B);
  ~Trials();
  Trials(const Trials &) = delete;

  /// Tries a launch; nullopt: go on. Where its blocks race, one block of it.
  std::optional<Verdict> run(const Shape &S);
  /// Did the pointers of the last one lie apart, and at multiples of 256?
  bool plain() const { return Place.plain(); }
  /// The verdict where no launch has said anything, and why.
  std::optional<Verdict> nothingSaid(std::string &Why) const;
  /// For --prove.
  void setSymbolic(Version A, Version B);
  /// How the file itself launches the kernel: its main runs in a process of
  /// its own and is listened to. Nothing if there is no main, or it fails.
  std::vector<Shape> observe();
  /// Which parameters are integers, and of which type.
  std::vector<IntegerParam> integers() const;
  /// Loads the original as clang compiles it, with checks of signed integers: a
  /// launch at which one leaves its type, or that is undefined there, says
  /// nothing, whatever the two versions make of it. What it touches, both may touch.
  std::function<Version()> Overflowing;

  unsigned Compared = 0;    ///< launches that said something
  unsigned ByRewritten = 0; ///< of them: ran another kernel than the original
  unsigned Idle = 0;        ///< of them: touch no memory
  bool Stores = false;      ///< one of them changed what is in memory
  unsigned Undefined = 0;   ///< launches left out
  unsigned Raced = 0;       ///< of them: since threads race in global memory,
                            ///< and not because pointers lead to the same
  unsigned Proved = 0, NotProved = 0;
  unsigned LastWay = 0; ///< what scalarValue() chose for the last one by
  std::set<std::string> Forms; ///< rewritten kernels that ran, mangled
  std::string NotMade;       ///< "": arguments for the kernel can be made
  std::string LastUndefined; ///< why the last one was left out
  std::string LastRace, WhereRaced; ///< "blocks race"; which ones, and where
  std::string Text;          ///< what was said of a difference
  bool Quiet = false;        ///< keep the text, do not print it

private:
  std::optional<Verdict> runOnce(const Shape &S, unsigned Trial);
  RaceWatch raceWatch() const;
  std::string raceText(const RaceWatch &W) const;
  void say(const char *Format, ...) __attribute__((format(printf, 2, 3)));
  void prove(const Shape &S, unsigned Trial, bool Differs);
  std::vector<std::pair<uint32_t, uint64_t>>
  express(Version &V, const Shape &S, Order Threads);
  void fillBuffers(const Shape &S, unsigned Mode);
  void fillVariables();
  void takeParams();
  void fillData(std::vector<uint8_t> &Out, int Kind, size_t ElementSize,
                unsigned Mode, size_t First);
  void restore();
  void setArguments(const Shape &S, unsigned Way, unsigned Trial);
  bool launch(Version &S, const Shape &Sh, Order O);
  Snapshot snapshot(char *Base, size_t Low, size_t High);
  std::vector<Snapshot> takeBuffers();
  bool changesMemory(const std::vector<Snapshot> &Now,
                     const std::map<std::string, Snapshot> &Variables) const;
  Version *asWritten();
  bool widen(const Shape &S, std::vector<Snapshot> &Want);
  bool define(const Shape &S, unsigned Trial, std::vector<Snapshot> &Want,
              std::map<std::string, Snapshot> &WantVariables);
  bool launchSoon(const Shape &S);
  bool launchAnew(const Shape &S, Order O);
  std::optional<Verdict>
  compare(const Shape &S, unsigned Trial, Order O,
          const std::vector<Snapshot> &Want,
          const std::map<std::string, Snapshot> &WantVariables);
  std::optional<Verdict>
  compareVariables(const Shape &S, unsigned Trial,
                   const std::map<std::string, Snapshot> &Want);
  /// Of a parameter, for the user.
  std::string nameOf(size_t I) const;
  std::string describe(const Shape &S, unsigned Trial);
  bool undefinedInSource(const Shape &S, unsigned Trial);
  bool differsItself(const Shape &S, unsigned Trial, Order O,
                     const std::vector<Snapshot> &Want);
  void explainDifference(const Shape &S, unsigned Trial, size_t B,
                         const FirstDifference &D, const Snapshot &Want,
                         const Snapshot &Got);

  struct Buffer {
    char *Base = nullptr;
    size_t Offset = 0; ///< of the pointer that the kernel gets
    std::vector<uint8_t> Initial;
  };
  static constexpr size_t BufferSize = 32 << 20; ///< bytes of each pointer
  static constexpr size_t Slack = 64 << 10; ///< what lies before the pointer

  const CommandLine &L;
  KernelSignature K; ///< with a name for each of Params
  const SourceSummary &Summary;
  std::mt19937_64 Rng;
  Version A, B;
  Version SymbolicA, SymbolicB;
  std::optional<Version> Overflow; ///< once it was asked for
  std::string Problem; ///< of the last symbolic run, why it proves nothing
  /// What a launch is to be given: parameters, and in place of structures the numbers
  /// and pointers that these hold.
  std::vector<Param> Params;
  /// Where each of them lies: in which of the kernel's parameters, at which byte.
  std::vector<std::pair<size_t, size_t>> Within;
  std::vector<std::vector<uint8_t>> Whole; ///< the kernel's parameters
  std::vector<Buffer> Buffers; ///< one for each parameter, unused if no pointer
  std::vector<std::vector<uint8_t>> Values;
  std::vector<void *> Args;
  std::map<std::string, std::vector<uint8_t>> VariableValues;
  std::vector<Discovery> Found;
  size_t Dynamic = 0;
  struct Record {
    unsigned Failed = 0, Worked = 0;
  };
  std::map<std::array<uint32_t, 3>, std::array<Record, ScalarWays>> WayRecord;
  /// Kernels that the last launch ran: names as printed, and mangled.
  std::map<std::string, std::string> Launched;
  uint32_t SharedHigh = 0; ///< of the launches of this trial
  const KernelInfo *Last = nullptr;
  unsigned Number = 0; ///< of the next trial
  std::optional<Placements> Where;
  Placement Place; ///< of this one
  bool Races = false;  ///< threads raced in this one
  unsigned Tame = 0;   ///< trials in which data of mode 3 were tried
  Order RunsIn = Order::Forward;
};

/// The options with which the program that drives the kernels of \p File is
/// compiled.
FrontendOptions driverOptions(FrontendOptions FE, const std::string &File);
/// Entry points of all \p Kernels in one program made of \p File; null Launch
/// where a kernel cannot be called. \p Indirect: launch functions, by kernel.
/// Empty with \p Error set if nothing compiles.
std::vector<Version> loadVersions(const std::string &File,
                                  const std::vector<KernelSignature> &Kernels,
                                  const std::vector<bool> &Indirect,
                                  const SourceFacts &Facts,
                                  const JitOptions &Jit, std::string &Error);
/// The original of \p K with checks of signed integers; null Launch if that
/// cannot be had.
Version loadOverflowing(const std::string &File, const KernelSignature &K,
                        JitOptions Jit);

} // namespace rcache::check

#endif
