// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Process.h.

#include "Process.h"
#include <algorithm>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <fstream>
#include <spawn.h>
#include <sstream>
#include <sys/wait.h>
#include <thread>

extern char **environ;

namespace rcache::fuzz {

std::string Ran::how() const {
  if (!Started)
    return "could not be started";
  if (TimedOut)
    return "timed out";
  if (Signal)
    return "signal " + std::to_string(Signal);
  return "exit status " + std::to_string(Exit);
}

std::string readFile(const std::string &Path) {
  std::ifstream In(Path, std::ios::binary);
  std::ostringstream Text;
  Text << In.rdbuf();
  return Text.str();
}

bool writeFile(const std::string &Path, const std::string &Text) {
  std::ofstream Out(Path, std::ios::binary);
  Out << Text;
  return static_cast<bool>(Out.flush());
}

static std::chrono::steady_clock::time_point LastMoment =
    std::chrono::steady_clock::time_point::max();

void endRunsAt(std::chrono::steady_clock::time_point When) {
  LastMoment = When;
}

Ran run(const std::vector<std::string> &Args, const std::string &Stem,
        unsigned Seconds) {
  Ran R;
  std::vector<char *> Argv;
  for (const std::string &A : Args)
    Argv.push_back(const_cast<char *>(A.c_str()));
  Argv.push_back(nullptr);
  const std::string OutFile = Stem + ".out", ErrFile = Stem + ".err";
  posix_spawn_file_actions_t Files;
  posix_spawn_file_actions_init(&Files);
  posix_spawn_file_actions_addopen(&Files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&Files, 1, OutFile.c_str(),
                                   O_WRONLY | O_CREAT | O_TRUNC, 0644);
  posix_spawn_file_actions_addopen(&Files, 2, ErrFile.c_str(),
                                   O_WRONLY | O_CREAT | O_TRUNC, 0644);
  pid_t Pid = 0;
  int Failed =
      posix_spawnp(&Pid, Argv[0], &Files, nullptr, Argv.data(), environ);
  posix_spawn_file_actions_destroy(&Files);
  if (Failed) {
    R.Started = false;
    return R;
  }
  using Clock = std::chrono::steady_clock;
  const auto End =
      std::min(LastMoment, Clock::now() + std::chrono::seconds(Seconds));
  int Status = 0;
  auto Nap = std::chrono::milliseconds(2);
  while (waitpid(Pid, &Status, WNOHANG) == 0) {
    if (Clock::now() > End) {
      kill(Pid, SIGKILL);
      waitpid(Pid, &Status, 0);
      R.TimedOut = true;
      break;
    }
    std::this_thread::sleep_for(Nap);
    if (Nap < std::chrono::milliseconds(20))
      Nap *= 2;
  }
  if (!R.TimedOut && WIFEXITED(Status))
    R.Exit = WEXITSTATUS(Status);
  else if (!R.TimedOut && WIFSIGNALED(Status))
    R.Signal = WTERMSIG(Status);
  R.Out = readFile(OutFile);
  R.Err = readFile(ErrFile);
  return R;
}

} // namespace rcache::fuzz
