// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For each shape: fill buffers, run the original with every access allowed and
// noted, twice in different orders (a launch whose result depends on the order
// is not defined), then give the rewritten program exactly the bytes that the
// original touched and compare. Launches for which the original is undefined
// say nothing and are left out.

#include "Trials.h"

#include "Say.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace rcache::check {

std::string dim(const Dim3 &D) {
  return std::to_string(D.X) + "," + std::to_string(D.Y) + "," +
         std::to_string(D.Z);
}

const char *verdictName(Verdict V) {
  switch (V) {
  case Verdict::Equivalent:
    return "equivalent";
  case Verdict::Different:
    return "different";
  case Verdict::UndefinedRewritten:
    return "undefined-rewritten";
  case Verdict::UndefinedOriginal:
    return "undefined-original";
  case Verdict::OriginalRaces:
    return "original-races";
  case Verdict::NothingCompared:
    return "nothing-compared";
  case Verdict::CouldNotRun:
    return "could-not-run";
  case Verdict::OtherSums:
    return "other-sums";
  }
  return "";
}

ExitCode exitCode(Verdict V) {
  switch (V) {
  case Verdict::Equivalent:
    return ExitSame;
  case Verdict::Different:
  case Verdict::OtherSums:
    return ExitDifferent;
  case Verdict::UndefinedRewritten:
    return ExitUndefinedRewritten;
  case Verdict::UndefinedOriginal:
  case Verdict::OriginalRaces:
    return ExitUndefinedOriginal;
  case Verdict::NothingCompared:
  case Verdict::CouldNotRun:
    break;
  }
  return ExitCouldNotRun;
}

Trials::Trials(const CommandLine &L, const KernelSignature &K,
               const SourceSummary &Summary, Version First, Version Second)
    : L(L), K(K), Summary(Summary), Rng(L.Runtime.Seed), A(std::move(First)),
      B(std::move(Second)) {
  takeParams();
  Where.emplace(Params, this->K.ParamNoAlias, Summary.Facts.Constants);
  Buffers.resize(Params.size());
  for (size_t I = 0; I < Params.size(); ++I)
    if (Params[I].Kind == Param::Pointer)
      Buffers[I].Base = allocate(BufferSize, Allocation::Host);
  fillVariables();
}

void Trials::takeParams() {
  std::vector<Param> Own(size_t(A.Params(nullptr)));
  A.Params(Own.data());
  std::vector<std::string> Names = std::move(K.ParamNames);
  std::vector<bool> NoAlias = std::move(K.ParamNoAlias);
  Names.resize(Own.size());
  NoAlias.resize(Own.size());
  K.ParamNames.clear();
  K.ParamNoAlias.clear();
  const auto Known = Summary.Facts.Members.find(K.Mangled);
  for (size_t I = 0; I < Own.size(); ++I) {
    Whole.emplace_back(std::max<size_t>(Own[I].Size, 8));
    const size_t First = Params.size();
    if (Own[I].Kind == Param::Other && Known != Summary.Facts.Members.end())
      for (const SourceFacts::Member &M : Known->second)
        if (M.Param == I) {
          Params.push_back({M.Own.Kind, M.PointeeConst, M.Own.Size,
                            M.Pointee.Size, M.Pointee.Kind});
          Within.push_back({I, M.Offset});
          K.ParamNames.push_back(Names[I] + M.Name);
          K.ParamNoAlias.push_back(false);
        }
    if (Params.size() > First)
      continue;
    Params.push_back(Own[I]);
    Within.push_back({I, 0});
    K.ParamNames.push_back(Names[I]);
    K.ParamNoAlias.push_back(NoAlias[I]);
  }
}

Trials::~Trials() {
  onLaunch(nullptr);
  for (Buffer &X : Buffers)
    if (X.Base)
      release(X.Base);
}

std::vector<IntegerParam> Trials::integers() const {
  std::vector<IntegerParam> Out;
  for (size_t I = 0; I < Params.size(); ++I)
    if (Params[I].Kind == Param::Signed || Params[I].Kind == Param::Unsigned)
      Out.push_back(
          {I, unsigned(Params[I].Size), Params[I].Kind == Param::Signed});
  return Out;
}

/// Trials that are made again with other data.
constexpr unsigned MostTame = 40;

/// The original as clang compiles it, once it is asked for; null: there is none.
Version *Trials::asWritten() {
  if (!Overflow)
    Overflow = Overflowing ? Overflowing() : Version();
  return Overflow->Launch ? &*Overflow : nullptr;
}

/// Does the original read more than nvcc's code of it does (the last of a row of loads,
/// which nothing is made of)? Then that is what both may touch, with what \p A leaves there.
bool Trials::widen(const Shape &S, std::vector<Snapshot> &Want) {
  Version *Source = A.Program->fromNvcc() ? asWritten() : nullptr;
  if (!Source)
    return false;
  const auto Run = [&](Version &V, std::vector<Discovery> &Touched) {
    restore();
    discover(&Touched);
    const bool Ok = launch(V, S, Order::Forward);
    discover(nullptr);
    return Ok;
  };
  auto Touched = Found;
  if (!Run(*Source, Touched) ||
      std::equal(Touched.begin(), Touched.end(), Found.begin(),
                 [](const Discovery &X, const Discovery &Y) {
                   return X.Low == Y.Low && X.High == Y.High;
                 }))
    return false;
  auto Again = Touched;
  if (!Run(A, Again))
    return false;
  Found = std::move(Touched);
  Want = takeBuffers();
  return true;
}

/// Is the original undefined at this launch, though what was executed did not
/// show it? So it is if a signed integer leaves its type because of an argument
/// that was chosen for its size (sums of data that do so with ordinary arguments
/// as well hide nothing: kernels that count on wrapping), and if clang's code has
/// a fault that nvcc's has no more.
bool Trials::undefinedInSource(const Shape &S, unsigned Trial) {
  const bool Nvcc = A.Program->fromNvcc();
  if (!S.Exact && !Nvcc)
    return false;
  if (!asWritten())
    return false;
  // Faults of a launch by their places, with what is said of them.
  auto Faults = [&](const Shape &S, bool OfSigns) {
    if (OfSigns)
      setArguments(S, 0, Trial);
    restore();
    auto Regions = Found;
    discover(&Regions);
    launch(*Overflow, S, Order::Forward);
    discover(nullptr);
    std::map<std::string, std::string> Out;
    for (const Finding &F : findings())
      if ((F.Kind == "signed-overflow") == OfSigns && F.Kind != "timeout" &&
          F.Kind != "unsupported")
        Out.emplace(F.Location, F.Location + ": " + F.Text + " [" + F.Kind + "]");
    return Out;
  };
  if (Nvcc)
    for (const auto &[Where, Text] : Faults(S, false)) {
      LastUndefined = Text;
      return true;
    }
  if (!S.Exact)
    return false;
  Shape Ordinary = S;
  Ordinary.Scalars.clear();
  const auto Usual = Faults(Ordinary, true);
  for (const auto &[Where, Text] : Faults(S, true))
    if (!Usual.count(Where)) {
      LastUndefined = Text;
      return true;
    }
  return false;
}

/// Does the original leave something else than \p Want when its threads run in that order,
/// too? Then nothing says which of both is meant.
bool Trials::differsItself(const Shape &S, unsigned Trial, Order O,
                           const std::vector<Snapshot> &Want) {
  if (O == Order::Forward)
    return false;
  restore();
  auto Regions = Found;
  discover(&Regions);
  options().Seed = L.Runtime.Seed + Trial;
  const bool Ok = launch(A, S, O);
  discover(nullptr);
  const std::vector<Snapshot> Own = takeBuffers();
  for (size_t I = 0; Ok && I < Want.size(); ++I)
    if (Want[I].Bytes != Own[I].Bytes) {
      LastUndefined = "the result depends on the order of threads or blocks";
      return true;
    }
  return false;
}

void Trials::setSymbolic(Version First, Version Second) {
  SymbolicA = std::move(First);
  SymbolicB = std::move(Second);
}

void Trials::say(const char *Format, ...) {
  va_list Args;
  va_start(Args, Format);
  char *Line = nullptr;
  if (vasprintf(&Line, Format, Args) >= 0) {
    Text += Line;
    free(Line);
  }
  va_end(Args);
}

bool Trials::launch(Version &S, const Shape &Sh, Order O) {
  options().Schedule = O;
  clearFindings();
  resetDeviceError();
  Launched.clear();
  unsigned D[] = {Sh.Grid.X,  Sh.Grid.Y,  Sh.Grid.Z,
                  Sh.Block.X, Sh.Block.Y, Sh.Block.Z};
  S.Launch(D, Dynamic, Args.data());
  return errorCount() == 0 && !Launched.empty();
}

Snapshot Trials::snapshot(char *Base, size_t Low, size_t High) {
  Snapshot S;
  if (Low >= High)
    return S;
  S.Bytes.assign(Base + Low, Base + High);
  S.Shadow.assign(shadowOf(Base) + Low, shadowOf(Base) + High);
  return S;
}

std::vector<Snapshot> Trials::takeBuffers() {
  std::vector<Snapshot> Out(Params.size());
  for (size_t I = 0, R = 0; I < Params.size(); ++I)
    if (Params[I].Kind == Param::Pointer) {
      Out[I] = snapshot(Buffers[I].Base, Found[R].Low, Found[R].High);
      ++R;
    }
  return Out;
}

/// All memory in which threads may meet.
RaceWatch Trials::raceWatch() const {
  auto Granule = [](uint64_t ElementSize) {
    return unsigned(ElementSize % 4 == 0 ? 4 : ElementSize % 2 == 0 ? 2 : 1);
  };
  RaceWatch W;
  for (size_t I = 0; I < Params.size(); ++I)
    if (Params[I].Kind == Param::Pointer)
      W.Regions.push_back({Buffers[I].Base, BufferSize,
                           Granule(std::max<uint64_t>(1, Params[I].ElementSize)),
                           false});
  const auto &Globals = A.Program->program().Globals;
  for (const VariableInfo &V : Summary.Variables)
    if (auto It = Globals.find(V.Mangled); !V.Constant && It != Globals.end())
      W.Regions.push_back(
          {It->second.Base, It->second.Size, Granule(V.ElementSize), true});
  return W;
}

/// The original, within a quarter of the time unless its integers are the user's: the
/// other form may need the rest, and longer on a busy machine.
bool Trials::launchSoon(const Shape &S) {
  const double Limit = options().TimeLimit;
  if (!S.Exact)
    options().TimeLimit = Limit / 4;
  const bool Ok = launch(A, S, Order::Forward);
  options().TimeLimit = Limit;
  return Ok;
}

/// Finds integers for which the original is defined, and what it leaves.
bool Trials::define(const Shape &S, unsigned Trial, std::vector<Snapshot> &Want,
                    std::map<std::string, Snapshot> &WantVariables) {
  bool Defined = false;
  // The likely meanings come first, even where odd ones have worked: a launch
  // with n = 1 is often defined and says little. What never works for a block
  // size is given up.
  auto &Ways = WayRecord[{S.Block.X, S.Block.Y, S.Block.Z}];
  const auto Fault = [&] {
    const auto F = findings();
    return F.empty() ? "the launch was refused"
           : !S.Exact && lastErrorKind() == "timeout"
               ? "the original takes so long that the time limit would decide"
               : F[0].Location + ": " + F[0].Text + " [" + F[0].Kind + "]";
  };
  for (unsigned Way = 0; Way < ScalarWays && !Defined; ++Way) {
    if (S.Exact && Way)
      break;
    if (Ways[Way].Failed >= 5 && !Ways[Way].Worked && S.Scalars.empty())
      continue;
    ++Ways[Way].Failed;
    setArguments(S, Way, Trial);
    std::vector<Discovery> Regions;
    for (size_t I = 0; I < Params.size(); ++I)
      if (Params[I].Kind == Param::Pointer) {
        Regions.push_back({});
        Regions.back().Base = Buffers[I].Base;
        Regions.back().Size = BufferSize;
      }
    // First with all the dynamic shared memory there is, to see how much of it
    // is needed; then with just that.
    Dynamic = L.DynamicShared;
    // Called by later launches too, when this block has been left.
    SharedHigh = 0;
    Last = nullptr;
    onLaunch([this](const Launch &X) {
      Launched.emplace(X.Kernel->DisplayName, X.Kernel->Name);
      SharedHigh = std::max(SharedHigh, X.SharedHigh);
      Last = X.Kernel;
    });
    if (K.DynamicShared && !Dynamic) {
      Dynamic = 48 << 10;
      auto It = A.Program->program().Kernels.find(K.Mangled);
      if (It != A.Program->program().Kernels.end())
        Dynamic -= std::min<size_t>(Dynamic, It->second.StaticShared);
      restore();
      auto Probe = Regions;
      discover(&Probe);
      bool Ok = launchSoon(S);
      discover(nullptr);
      Found = Probe;
      if (!Ok) {
        LastUndefined = Fault();
        continue;
      }
      Dynamic = Last && SharedHigh > Last->DynamicOffset
                    ? SharedHigh - Last->DynamicOffset
                    : 0;
      Dynamic = (Dynamic + 3) & ~size_t(3);
    }
    restore();
    discover(&Regions);
    RaceWatch Race = raceWatch();
    watchRaces(&Race);
    bool Ok = launchSoon(S);
    watchRaces(nullptr);
    discover(nullptr);
    Found = Regions;
    if (!Ok) {
      LastUndefined = Fault();
      continue;
    }
    // What threads make of each other's data hangs on which comes first: it is
    // no reason to find another form wrong. Other integers, for which next to
    // nothing is done, would say less than one block does.
    if (Race.Raced) {
      LastRace = (Race.betweenBlocks() ? "blocks race" : "threads race");
      LastUndefined = LastRace + ": " + raceText(Race);
      WhereRaced = raceText(Race);
      Races = true;
      if (!Race.betweenBlocks())
        continue;
      --Ways[Way].Failed;
      break;
    }
    Want = takeBuffers();
    for (auto &[Name, Data] : VariableValues)
      if (auto It = A.Program->program().Globals.find(Name);
          It != A.Program->program().Globals.end())
        WantVariables[Name] = snapshot(It->second.Base, 0, It->second.Size);
    // The other way round: does the result depend on the order?
    restore();
    Regions = Found;
    discover(&Regions);
    Ok = launch(A, S, Order::Reverse);
    discover(nullptr);
    const std::vector<Snapshot> Again = takeBuffers();
    for (size_t I = 0; Ok && I < Want.size(); ++I)
      if (Want[I].Bytes != Again[I].Bytes) {
        Ok = false;
        LastUndefined = "the result depends on the order of threads or blocks";
      }
    if (!Ok)
      continue;
    // A launch that touches nothing proves little: a few are enough.
    bool Touches = std::any_of(Found.begin(), Found.end(),
                               [](const Discovery &D) { return D.Low < D.High; });
    if (!Touches && Trial % 8 && !S.Exact)
      continue;
    Defined = true;
    LastWay = Way;
    ++Ways[Way].Worked;
  }
  return Defined;
}

std::optional<Verdict> Trials::run(const Shape &S) {
  for (const Param &P : Params)
    if (P.Kind == Param::Pointer && P.ElementKind == Param::Pointer) {
      NotMade = "an argument leads to pointers, and these are not made up";
      return std::nullopt;
    }
  // Shapes repeat with a period; what else varies must not follow it.
  const unsigned Trial = Number + Number / 5 + Number / 7 + Number / 77;
  ++Number;
  const unsigned Said = Compared, Rewritten = ByRewritten;
  Place = Where->next(Trial);
  auto V = runOnce(S, Trial);
  const bool Whole = Compared > Said; // all blocks of it
  if (!V && Races && S.Grid.count() != 1 && !S.Exact && !L.Grid.X) {
    Shape One = S;
    One.Grid = {1, 1, 1};
    One.W = std::min(S.W, S.Block.X);
    One.H = std::min(S.H, S.Block.Y);
    One.D = std::min(S.D, S.Block.Z);
    V = runOnce(One, Trial);
  }
  const bool Any = Compared > Said;
  Where->tried(Any, Any && (ByRewritten > Rewritten || !ByRewritten));
  if (V || Whole || !S.Rare || Place.plain())
    return V;
  // Pointers that lead to the same must not cost what only this shape shows.
  Place = Placement{std::vector<size_t>(Params.size()), std::nullopt};
  return runOnce(S, Trial);
}

std::optional<Verdict> Trials::nothingSaid(std::string &Why) const {
  if (!NotMade.empty()) {
    Why = NotMade;
    return Verdict::NothingCompared;
  }
  if (Compared != Idle && !Stores) {
    Why = "nothing was stored in any of " + std::to_string(Compared) + " launches";
    return Verdict::NothingCompared;
  }
  // What does nothing says nothing, if all else is left out.
  if (Compared && (Compared != Idle || !Undefined))
    return std::nullopt;
  if (Raced) {
    Why = LastRace + " in " + std::to_string(Raced) + " of " +
          std::to_string(Compared + Undefined) +
          " launches, and no other one was found for which the original is "
          "defined: " +
          WhereRaced;
    return Verdict::OriginalRaces;
  }
  Why = "no launch was found for which the original is defined" +
        std::string(Compared ? " and touches memory" : "") +
        " (" + std::to_string(Undefined) + " tried" +
        (LastUndefined.empty() ? "" : "; last: " + LastUndefined) + ")";
  return Undefined ? Verdict::UndefinedOriginal : Verdict::NothingCompared;
}

std::optional<Verdict> Trials::runOnce(const Shape &S, unsigned Trial) {
  fillBuffers(S, Trial % 3);
  RunsIn = Order::Forward;
  std::vector<Snapshot> Want;
  std::map<std::string, Snapshot> WantVariables;
  Races = false;
  bool Defined = define(S, Trial, Want, WantVariables);
  // What indices are made of should be small, and not below zero.
  if (!Defined && !Races && !S.Exact && Tame < MostTame) {
    ++Tame;
    fillBuffers(S, 3);
    WantVariables.clear();
    Defined = define(S, Trial, Want, WantVariables);
  }
  if (!Defined) {
    ++Undefined;
    Raced += Races && !Place.Shared; // which is not the kernel's doing
    return std::nullopt;
  }
  ++Compared;
  Idle += std::all_of(Found.begin(), Found.end(),
                      [](const Discovery &D) { return D.Low >= D.High; });
  Stores = Stores || changesMemory(Want, WantVariables);
  // Opposite orders of lanes, warps and blocks: what is not ordered by a
  // barrier happens both ways.
  std::vector<Order> Orders{Order::Forward, Order::Reverse};
  if (Trial % 3 == 2)
    Orders.push_back(Order::Random);
  for (Order O : Orders)
    if (auto V = compare(S, Trial, O, Want, WantVariables)) {
      if (V == Verdict::UndefinedRewritten && widen(S, Want)) {
        Text.clear();
        V = compare(S, Trial, O, Want, WantVariables);
        if (!V)
          continue;
      }
      if (*V != Verdict::CouldNotRun &&
          (undefinedInSource(S, Trial) || differsItself(S, Trial, O, Want))) {
        Text.clear();
        --Compared;
        ++Undefined;
        return std::nullopt;
      }
      if (!Quiet)
        check::say("%s", Text.c_str());
      return V;
    }
  if (L.Prove)
    prove(S, Trial, /*Differs=*/false);
  return std::nullopt;
}

} // namespace rcache::check
