// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The programs of diff: each is compiled in a process of its own and runs in
// others, which stop at each launch until they are told to go on.
//
//   child --Stop (allocations)--> parent --Go--> child

#ifndef RCACHE_CHECK_PROGRAMS_H
#define RCACHE_CHECK_PROGRAMS_H

#include "Commands.h"

#include "llvm/Support/JSON.h"

#include <atomic>
#include <sys/types.h>

namespace rcache::check {

struct Stop {
  uint64_t Launch;
  uint32_t Before; ///< the launch is about to begin
  uint32_t Errors;
  uint32_t Allocations;
  uint32_t Waiting; ///< threads of the host that were seen to wait for others
  char Kernel[200];
  char Thread[60]; ///< of the host, which launches
};
struct WireAllocation {
  uint64_t Base, Size, Serial;
  uint32_t Kind;
  char Name[100];
};

/// How a run came to its end.
struct RunEnd {
  Ending How = Ending::CouldNotRun;
  int Signal = 0; ///< that killed it; or 0
  int Status = 0; ///< the program's own
};

/// The label of a run that has been seen before and prints nothing.
extern const char *const SeenBefore;

/// A program that is compiled once, in a process of its own, and then run in
/// others: each run begins as a copy of the process that has compiled.
///
///   this process --order--> compiled --fork--> a run --Stop--> this process
class Prepared {
public:
  /// \p Both: stop in front of each launch as well as behind it. \p Runs: at
  /// most so many, one after the other.
  Prepared(const CommandLine &L, const std::string &Source, const char *Label,
           bool Both, unsigned Runs = 1);
  ~Prepared();
  Prepared(const Prepared &) = delete;

  /// Waits until it is compiled: 'n' if device code is nvcc's, 'c' if it is
  /// clang's, 0 if there is none.
  char compiler();
  /// --report=json: what was found in the program.
  void findings(llvm::json::Array &Out) const;

private:
  friend class ProgramRun;
  struct Ends {
    int Up[2] = {-1, -1}, Down[2] = {-1, -1}; ///< reading, writing end
    int Printed = -1;
    /// Memory of both processes: what the run says of itself, apart from the
    /// status of the program in it, which may be any.
    std::atomic<Ending> *Told = nullptr;
  };

  static void shut(int &Fd);
  static std::string contents(int Fd);
  [[noreturn]] void serve(const CommandLine &L, const std::string &Source);
  void begin(const Ends &E, char How);

  const char *Label;
  bool Both;
  pid_t Pid = -1;
  int Command[2] = {-1, -1}, Answer[2] = {-1, -1}, Said = -1;
  std::vector<Ends> All;
  size_t Begun = 0;
  std::optional<char> Compiler;
  std::atomic<Ending> *Telling = nullptr; ///< in the process of a run
};

/// One run of a program.
class ProgramRun {
public:
  /// \p How: 'f', 'r': lanes, warps and blocks forward or in reverse order,
  /// 'k': as the options say.
  ProgramRun(Prepared &P, char How);
  ProgramRun(const ProgramRun &) = delete;

  /// What the program has printed on standard output.
  std::string output() const { return Prepared::contents(Ends.Printed); }
  /// Waits for the next launch. False: the program has ended.
  bool next();
  void go();
  RunEnd end();
  void stop();
  bool fetch(uint64_t Address, std::vector<uint8_t> &Out) const;

  Stop At{};
  std::vector<WireAllocation> Allocations;

private:
  /// Waits until it has been compiled and begins. False: it never does.
  bool start();

  Prepared &P;
  Prepared::Ends &Ends;
  pid_t Pid = -1;
  bool Over = false, Failed = false;
};

} // namespace rcache::check

#endif
