// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Trials.h: the rewritten kernel's launch beside what the original's left.

#include "Trials.h"

#include "Say.h"

#include <algorithm>

namespace rcache::check {

/// Launches the rewritten kernel on what the original's launch found. On a busy machine a
/// launch may be late that comes to an end: it gets a second chance, and more time.
bool Trials::launchAnew(const Shape &S, Order O) {
  const auto Once = [&] {
    restore();
    for (size_t I = 0, R = 0; I < Params.size(); ++I)
      if (Params[I].Kind == Param::Pointer) {
        restrictTo(Buffers[I].Base, BufferSize, Found[R].Low, Found[R].High);
        ++R;
      }
    return launch(B, S, O);
  };
  if (Once())
    return true;
  if (lastErrorKind() != "timeout")
    return false;
  const double Limit = options().TimeLimit;
  options().TimeLimit = Limit + std::min(7 * Limit, 8.0);
  const bool Ended = Once();
  options().TimeLimit = Limit;
  return Ended;
}

std::optional<Verdict>
Trials::compare(const Shape &S, unsigned Trial, Order O,
                const std::vector<Snapshot> &Want,
                const std::map<std::string, Snapshot> &WantVariables) {
  RunsIn = O;
  options().Seed = L.Runtime.Seed + Trial;
  if (!launchAnew(S, O)) {
    for (const Finding &F : findings())
      say("%s", findingText(F).c_str());
    const bool Cut = !findings().empty() && !undefinedCount() &&
                     lastErrorKind() == "unsupported";
    say("rcache-check: %s the rewritten program: %s\n  launch: %s\n",
        Cut ? "cannot execute" : "undefined behaviour in",
        findings().empty() ? "no kernel was launched" : K.label().c_str(),
        describe(S, Trial).c_str());
    return Cut ? Verdict::CouldNotRun : Verdict::UndefinedRewritten;
  }
  const size_t Others = Launched.size() - Launched.count(K.Name);
  ByRewritten += O == Order::Forward && Others;
  for (const auto &[Name, Symbol] : Launched)
    if (Name != K.Name)
      Forms.insert(Symbol);
  for (size_t I = 0, R = 0; I < Params.size(); ++I) {
    if (Params[I].Kind != Param::Pointer)
      continue;
    Snapshot Got = snapshot(Buffers[I].Base, Found[R].Low, Found[R].High);
    ++R;
    FirstDifference D =
        compareMemory(Want[I].Bytes.data(), Want[I].Shadow.data(),
                      Got.Bytes.data(), Got.Shadow.data(), Got.Bytes.size());
    if (D.Kind != Difference::None) {
      explainDifference(S, Trial, I, D, Want[I], Got);
      if (L.Prove)
        prove(S, Trial, /*Differs=*/true);
      return Verdict::Different;
    }
  }
  return compareVariables(S, Trial, WantVariables);
}

std::optional<Verdict>
Trials::compareVariables(const Shape &S, unsigned Trial,
                         const std::map<std::string, Snapshot> &Want) {
  for (auto &[Name, W] : Want) {
    auto It = B.Program->program().Globals.find(Name);
    if (It == B.Program->program().Globals.end() ||
        It->second.Size != W.Bytes.size())
      continue;
    Snapshot Got = snapshot(It->second.Base, 0, It->second.Size);
    FirstDifference D =
        compareMemory(W.Bytes.data(), W.Shadow.data(), Got.Bytes.data(),
                      Got.Shadow.data(), Got.Bytes.size());
    if (D.Kind != Difference::None) {
      say("rcache-check: different: %s: variable '%s', byte %zu\n  "
              "launch: %s\n",
              K.label().c_str(), It->second.Name.c_str(), D.Offset,
              describe(S, Trial).c_str());
      return Verdict::Different;
    }
  }
  return std::nullopt;
}

} // namespace rcache::check
