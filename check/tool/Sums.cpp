// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Are the sums and products of kernels rounded in other files as in the first one?
// Nothing is executed.

#include "Commands.h"
#include "RoundedAlike.h"
#include "Say.h"

#include "PtxModule.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <thread>

using namespace llvm;
using namespace llvm::json;

namespace rcache::check {

namespace {

struct File {
  std::string Name, Error;
  std::map<std::string, Roundings> Kernels;
};

/// How \p Kernel is rounded in \p Other: a word, and how far from it.
Object compared(const std::string &Kernel, const File &Original, const File &Other, bool &Alike,
                bool &Told) {
  Object O{{"file", Other.Name}};
  const auto A = Original.Kernels.find(plainName(Kernel)),
             B = Other.Kernels.find(plainName(Kernel));
  std::string Why = !Original.Error.empty() ? Original.Name + ": " + Original.Error
                    : !Other.Error.empty() ? Other.Name + ": " + Other.Error
                    : A == Original.Kernels.end() ? Original.Name + " has no such kernel"
                    : B == Other.Kernels.end()    ? Other.Name + " has no such kernel"
                                                  : "";
  if (!Why.empty()) {
    Told = false;
    O["verdict"] = "could-not-tell";
    O["message"] = StringRef(Why).trim().str();
    return O;
  }
  const unsigned Distance = distance(A->second, B->second);
  const bool Ambiguous = !Distance && (A->second.Ambiguous || B->second.Ambiguous);
  Alike &= !Distance;
  Told &= !Ambiguous;
  O["verdict"] = Distance ? "different" : Ambiguous ? "ambiguous" : "alike";
  O["distance"] = Distance;
  return O;
}

} // namespace

int sumsCommand(const CommandLine &L) {
  FrontendOptions FE = L.Jit.Frontend;
  std::string Error;
  if (!CompiledProgram::prepare(FE, Error) || !initialise(L.Runtime, Error)) {
    say("rcache-check: %s\n", Error.c_str());
    return ExitCouldNotRun;
  }
  // As many compilers at a time as there are processors.
  const size_t AtOnce = std::max(1u, std::thread::hardware_concurrency());
  std::vector<File> Files;
  for (size_t Asked = 0; const std::string &Name : L.Inputs) {
    for (; Asked < std::min(L.Inputs.size(), Files.size() + AtOnce); ++Asked)
      requestPtx(FE, L.Inputs[Asked]);
    File F{Name, "", {}};
    F.Kernels = roundingsIn(FE, Name, F.Error);
    Files.push_back(std::move(F));
  }
  std::vector<std::string> Kernels = L.Kernels;
  if (Kernels.empty())
    for (const auto &[Name, R] : Files.front().Kernels)
      Kernels.push_back(Name);
  bool Alike = true, Told = !Kernels.empty();
  Array All;
  for (const std::string &Kernel : Kernels) {
    Array Others;
    for (size_t I = 1; I < Files.size(); ++I) {
      Object O = compared(Kernel, Files[0], Files[I], Alike, Told);
      if (!L.Json)
        outs() << Kernel << ", " << Files[I].Name << ": " << *O.getString("verdict")
               << (O.get("message") ? ": " + O.getString("message")->str() : "")
               << (O.getInteger("distance").value_or(0)
                       ? ", " + std::to_string(*O.getInteger("distance")) +
                             " operations are only in one of both"
                       : "")
               << "\n";
      Others.push_back(std::move(O));
    }
    All.push_back(Object{{"symbol", Kernel}, {"candidates", std::move(Others)}});
  }
  if (L.Json)
    outs() << formatv("{0:2}\n", json::Value(Object{{"kernels", std::move(All)}}));
  if (!Files.front().Error.empty() && !L.Json)
    say("rcache-check: %s: %s\n", Files.front().Name.c_str(), Files.front().Error.c_str());
  return !Alike ? ExitDifferent : Told ? ExitSame : ExitCouldNotRun;
}

} // namespace rcache::check
