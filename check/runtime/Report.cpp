// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Findings: what went wrong, where in the source, in which thread. Each pair of
// kind and place is told once.

#include "Exec.h"

#include <mutex>
#include <set>
#include <sstream>

namespace rcache::check {

namespace {
struct State {
  std::mutex M;
  Options Opts;
  std::vector<Finding> All;
  std::set<std::pair<std::string, std::string>> Seen; ///< kinds and places
  std::function<void(const Finding &)> Callback;
  std::vector<std::string> Sites{""};
  unsigned Errors = 0, Undefined = 0;
  std::string LastError; ///< kind
};

/// Does the kind say that the program does something undefined, and not that
/// it could not be followed to its end?
bool isUndefined(const std::string &Kind) {
  return Kind != "timeout" && Kind != "unsupported";
}
State &state() {
  static State *S = new State;
  return *S;
}
} // namespace

bool initialise(const Options &Opts, std::string &Error) {
  state().Opts = Opts;
  return reserveArena(Error);
}
Options &options() { return state().Opts; }

void onFinding(std::function<void(const Finding &)> C) {
  state().Callback = std::move(C);
}
std::vector<Finding> findings() {
  std::lock_guard<std::mutex> Lock(state().M);
  return state().All;
}
void clearFindings() {
  std::lock_guard<std::mutex> Lock(state().M);
  state().All.clear();
  state().Seen.clear();
  state().Errors = state().Undefined = 0;
}
unsigned errorCount() {
  std::lock_guard<std::mutex> Lock(state().M);
  return state().Errors;
}

unsigned undefinedCount() {
  std::lock_guard<std::mutex> Lock(state().M);
  return state().Undefined;
}
std::string lastErrorKind() {
  std::lock_guard<std::mutex> Lock(state().M);
  return state().LastError;
}

uint32_t addSites(std::vector<std::string> New) {
  std::lock_guard<std::mutex> Lock(state().M);
  uint32_t First = state().Sites.size();
  for (std::string &S : New)
    state().Sites.push_back(std::move(S));
  return First;
}
std::string siteText(uint32_t Site) {
  std::lock_guard<std::mutex> Lock(state().M);
  if (Site >= state().Sites.size())
    return "";
  const std::string &S = state().Sites[Site];
  return S.substr(0, S.find('\n'));
}

/// The locations of the calls that led to a place.
static std::vector<std::string> callers(uint32_t Site) {
  std::vector<std::string> Out;
  if (Site < state().Sites.size()) {
    std::istringstream Lines(state().Sites[Site]);
    std::string Line;
    std::getline(Lines, Line);
    while (std::getline(Lines, Line))
      Out.push_back(Line);
  }
  return Out;
}

void report(Severity Sev, const char *Kind, const Launch *L, const Thread *T,
            uint32_t Site, const std::string &Text) {
  Finding F;
  F.Location = siteText(Site);
  std::lock_guard<std::mutex> Lock(state().M);
  if (Sev == Severity::Error) {
    ++state().Errors;
    state().Undefined += isUndefined(Kind);
    state().LastError = Kind;
  }
  if (!state().Seen.insert({Kind, F.Location}).second ||
      state().All.size() >= state().Opts.MaxFindings)
    return;
  F.Sev = Sev;
  F.Kind = Kind;
  F.Text = Text;
  F.Callers = callers(Site);
  if (L) {
    F.Kernel = L->Kernel->DisplayName;
    F.LaunchIndex = L->Index;
    if (L->HostSite && L->HostSite < state().Sites.size()) {
      const std::string &H = state().Sites[L->HostSite];
      F.Host = H.substr(0, H.find('\n'));
    }
    if (F.Location.empty())
      F.Location = L->Kernel->Location;
  }
  if (T) {
    F.HasThread = true;
    F.Block = {T->Block->Ctaid[0], T->Block->Ctaid[1], T->Block->Ctaid[2]};
    F.Thread = {T->Tid[0], T->Tid[1], T->Tid[2]};
  }
  state().All.push_back(F);
  if (state().Callback)
    state().Callback(F);
}

} // namespace rcache::check
