// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For each shape: fill buffers, run the original with every access allowed and
// noted, twice in different orders (a launch whose result depends on the order
// is not defined), then give the rewritten program exactly the bytes that the
// original touched and compare. Launches for which the original is undefined
// say nothing and are left out.

#include "Harness.h"

#include "Commands.h"
#include "Compare.h"
#include "Expr.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <set>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace rcache::check {

namespace {

constexpr size_t BufferSize = 32 << 20; ///< address space of each pointer
constexpr size_t Slack = 64 << 10;      ///< what lies before the pointer

struct Buffer {
  char *Base = nullptr;
  size_t Offset = 0; ///< of the pointer that the kernel gets
  std::vector<uint8_t> Initial;
};

/// A program with its entry points.
struct Version {
  std::unique_ptr<CompiledProgram> Program;
  int (*Params)(Param *) = nullptr;
  void (*Launch)(const unsigned *, size_t, void **) = nullptr;
};

/// What is in memory after a launch.
struct Snapshot {
  std::vector<uint8_t> Bytes, Shadow;
};

std::string dim(const Dim3 &D) {
  return std::to_string(D.X) + "," + std::to_string(D.Y) + "," +
         std::to_string(D.Z);
}

class Harness {
public:
  Harness(const CommandLine &L, const KernelSignature &K,
          const SourceSummary &Summary, const std::string &Original,
          const std::string &Rewritten)
      : L(L), K(K), Summary(Summary), Original(Original), Rewritten(Rewritten),
        Rng(L.Runtime.Seed) {}
  int run();

private:
  bool load(Version &S, const std::string &File, bool Indirect, bool Symbolic,
            std::string &Error);
  void prove(const Shape &S, unsigned Trial, bool Differs);
  std::vector<std::pair<uint32_t, uint64_t>> express(Version &V,
                                                     const Shape &S, Order Threads);
  void fillBuffers(const Shape &S, unsigned Trial);
  void fillVariables();
  void fillData(std::vector<uint8_t> &Out, int Kind, size_t ElementSize,
                unsigned Mode);
  void restore();
  void setArguments(const Shape &S, unsigned Way, unsigned Trial);
  bool launch(Version &S, const Shape &Sh, Order O);
  Snapshot snapshot(char *Base, size_t Low, size_t High);
  std::vector<Shape> observe();
  int trial(const Shape &S, unsigned Trial);
  int compareVariables(const Shape &S, unsigned Trial,
                       const std::map<std::string, Snapshot> &Want);
  std::string describe(const Shape &S, unsigned Trial);
  std::optional<std::pair<size_t, size_t>> inPlace(unsigned Trial);
  void explainDifference(const Shape &S, unsigned Trial, size_t B,
                         const FirstDifference &D, const Snapshot &Want,
                         const Snapshot &Got);

  const CommandLine &L;
  const KernelSignature &K;
  const SourceSummary &Summary;
  std::string Original, Rewritten;
  std::mt19937_64 Rng;
  Version A, B;
  Version SymbolicA, SymbolicB; ///< for --prove
  unsigned Proved = 0, NotProved = 0;
  std::string Problem; ///< of the last symbolic run, why it proves nothing
  std::vector<Param> Params;
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
  unsigned Compared = 0, Undefined = 0, ByRewritten = 0, Idle = 0;
  std::string LastUndefined;
  std::set<std::string> Launched; ///< kernels that the last launch ran
  uint32_t SharedHigh = 0; ///< of the launches of this trial
  const KernelInfo *Last = nullptr;
};

bool Harness::load(Version &S, const std::string &File, bool Indirect,
                   bool Symbolic, std::string &Error) {
  JitOptions Jit = L.Jit;
  Jit.Symbolic = Symbolic;
  std::string Driver = "/rcache-check/driver.cu";
  Jit.Frontend.VirtualFiles[Driver] = driverText(File, K.Name, Indirect);
  Jit.Frontend.Flags.push_back(
      "-I" + std::filesystem::path(File).parent_path().string());
  S.Program = CompiledProgram::create({Driver}, Jit, Error);
  if (!S.Program)
    return false;
  S.Params = reinterpret_cast<int (*)(Param *)>(
      S.Program->lookup("rcache_check_params"));
  S.Launch = reinterpret_cast<void (*)(const unsigned *, size_t, void **)>(
      S.Program->lookup("rcache_check_launch"));
  return S.Params && S.Launch;
}

/// Mode 0: small plain numbers; 1: the whole range; 2: with the values that
/// break careless arithmetic.
void Harness::fillData(std::vector<uint8_t> &Out, int Kind, size_t ElementSize,
                       unsigned Mode) {
  size_t N = Out.size();
  bool Floats = Kind == Param::Float ||
                (Kind == Param::Other && ElementSize % 4 == 0);
  if (Floats && (Kind == Param::Other || ElementSize == 4)) {
    static const uint32_t Special[] = {
        0x7fffffff, 0x7fc00001, 0xffc12345, 0x7f800000, 0xff800000, 0x80000000,
        0x00000001, 0x807fffff, 0x7f7fffff, 0x00800000, 0x3f800000, 0x00000000};
    for (size_t I = 0; I + 4 <= N; I += 4) {
      uint64_t R = Rng();
      uint32_t Bits;
      float F = float(int(R % 16384) - 8192) / 1024.0f;
      memcpy(&Bits, &F, 4);
      if (Mode == 2 && (R >> 40) % 16 == 0)
        Bits = Special[(R >> 48) % 12];
      else if (Mode == 1) {
        F = F * 1.0009765625f + float(R >> 40) * 1e-7f;
        memcpy(&Bits, &F, 4);
      }
      memcpy(&Out[I], &Bits, 4);
    }
    return;
  }
  if (Floats && ElementSize == 8) {
    for (size_t I = 0; I + 8 <= N; I += 8) {
      uint64_t R = Rng();
      double D = double(int64_t(R % 2000001) - 1000000) / 977.0;
      if (Mode == 2 && (R >> 40) % 16 == 0) {
        static const double Special[] = {0.0, -0.0, 5e-324, 1e308, 1e-310};
        D = (R >> 48) % 8 == 5   ? __builtin_inf()
            : (R >> 48) % 8 == 6 ? -__builtin_inf()
            : (R >> 48) % 8 == 7 ? __builtin_nan("")
                                 : Special[(R >> 48) % 5];
      }
      memcpy(&Out[I], &D, 8);
    }
    return;
  }
  if (Kind == Param::Other && ElementSize == 2) { // half precision
    for (size_t I = 0; I + 2 <= N; I += 2) {
      uint64_t R = Rng();
      uint16_t H = 0x3000 + R % 0x1400;
      if (R & 0x100000)
        H |= 0x8000;
      if (Mode == 2 && (R >> 40) % 16 == 0)
        H = R >> 48;
      memcpy(&Out[I], &H, 2);
    }
    return;
  }
  for (size_t I = 0; I < N; I += ElementSize) {
    uint64_t R = Rng();
    uint64_t V = Mode == 1 ? R : R % (Mode == 2 ? 256 : 16);
    memcpy(&Out[I], &V, std::min<size_t>({8, ElementSize, N - I}));
  }
}

void Harness::fillVariables() {
  for (const VariableInfo &V : Summary.Variables) {
    if (V.Initialised)
      continue;
    auto It = A.Program->program().Globals.find(V.Mangled);
    if (It == A.Program->program().Globals.end())
      continue;
    std::vector<uint8_t> Data(It->second.Size);
    fillData(Data,
             V.Kind == ElementKind::Float ? Param::Float
             : V.Kind == ElementKind::Integer ? Param::Signed
                                              : Param::Other,
             V.ElementSize, 0);
    VariableValues[V.Mangled] = std::move(Data);
  }
}

void Harness::fillBuffers(const Shape &S, unsigned Trial) {
  uint64_t Threads = S.Grid.count() * S.Block.count();
  uint64_t Elements = std::min<uint64_t>(
      4 * Threads + 2ull * S.W * S.H * S.D + 4096, 1 << 18);
  for (size_t I = 0; I < Params.size(); ++I) {
    if (Params[I].Kind != Param::Pointer)
      continue;
    Buffer &X = Buffers[I];
    size_t E = std::max<uint64_t>(1, Params[I].ElementSize);
    // Now and then a pointer that is aligned for one element only.
    X.Offset = Slack + (Trial % 3 == 2 ? E * (1 + I % 3) : 0);
    X.Initial.assign(
        std::min<size_t>(X.Offset + Elements * E, BufferSize / 2), 0);
    fillData(X.Initial, Params[I].ElementKind, E, Trial % 3);
  }
}

/// All memory as it was before the launch.
void Harness::restore() {
  for (size_t I = 0, R = 0; I < Params.size(); ++I) {
    if (Params[I].Kind != Param::Pointer)
      continue;
    Buffer &X = Buffers[I];
    memcpy(X.Base, X.Initial.data(), X.Initial.size());
    if (R < Found.size() && Found[R].High > X.Initial.size())
      memset(X.Base + X.Initial.size(), 0, Found[R].High - X.Initial.size());
    markDefined(X.Base, std::max(X.Initial.size(),
                                 R < Found.size() ? Found[R].High : size_t(0)),
                true);
    ++R;
  }
  for (Version *S : {&A, &B, &SymbolicA, &SymbolicB}) {
    if (!S->Program)
      continue;
    for (auto &[Name, Data] : VariableValues)
      if (auto It = S->Program->program().Globals.find(Name);
          It != S->Program->program().Globals.end() &&
          It->second.Size == Data.size()) {
        memcpy(It->second.Base, Data.data(), Data.size());
        markDefined(It->second.Base, Data.size(), true);
      }
  }
}

/// In place: an output that is an input, where nothing forbids it. Parameter
/// numbers of input and output, or none.
std::optional<std::pair<size_t, size_t>> Harness::inPlace(unsigned Trial) {
  if (Trial % 5 != 4)
    return std::nullopt;
  auto May = [&](size_t I, bool Const) {
    return Params[I].Kind == Param::Pointer && Params[I].PointeeConst == Const &&
           !(I < K.ParamNoAlias.size() && K.ParamNoAlias[I]);
  };
  for (size_t In = 0; In < Params.size(); ++In)
    for (size_t Out = 0; Out < Params.size(); ++Out)
      if (May(In, true) && May(Out, false) &&
          Params[In].ElementSize == Params[Out].ElementSize &&
          Params[In].ElementKind == Params[Out].ElementKind)
        return std::make_pair(In, Out);
  return std::nullopt;
}

void Harness::setArguments(const Shape &S, unsigned Way, unsigned Trial) {
  Values.assign(Params.size(), {});
  Args.clear();
  for (size_t I = 0; I < Params.size(); ++I) {
    const Param &P = Params[I];
    std::string Name = I < K.ParamNames.size() ? K.ParamNames[I] : "";
    std::vector<uint8_t> &V = Values[I];
    V.assign(std::max<size_t>(P.Size, 8), 0);
    auto Given = L.ArgValues.find(Name);
    switch (P.Kind) {
    case Param::Pointer: {
      auto Alias = inPlace(Trial);
      const Buffer &X = Buffers[Alias && Alias->second == I ? Alias->first : I];
      char *Ptr = X.Base + X.Offset;
      memcpy(V.data(), &Ptr, sizeof(Ptr));
      break;
    }
    case Param::Float: {
      double D = Given != L.ArgValues.end() ? strtod(Given->second.c_str(), nullptr)
                                            : double(int(Trial * 37 % 64) - 32) / 16 + double(I) / 64;
      float F = D;
      if (P.Size == 4)
        memcpy(V.data(), &F, 4);
      else
        memcpy(V.data(), &D, 8);
      break;
    }
    case Param::Boolean:
      V[0] = Trial & 1;
      break;
    case Param::Signed:
    case Param::Unsigned: {
      uint64_t N = Given != L.ArgValues.end()
                       ? strtoull(Given->second.c_str(), nullptr, 0)
                   : I < S.Scalars.size() && Way == 0
                       ? S.Scalars[I]
                       : scalarValue(Name, S, K.Dimensions, Way);
      memcpy(V.data(), &N, std::min<size_t>(8, P.Size));
      break;
    }
    default: {
      // A structure: numbers that are small in any reading.
      for (size_t B = 0; B + 4 <= P.Size; B += 4) {
        uint32_t N = scalarValue("", S, K.Dimensions, Way);
        memcpy(&V[B], &N, 4);
      }
    }
    }
  }
  for (auto &V : Values)
    Args.push_back(V.data());
}

bool Harness::launch(Version &S, const Shape &Sh, Order O) {
  options().Schedule = O;
  clearFindings();
  resetDeviceError();
  Launched.clear();
  unsigned D[] = {Sh.Grid.X,  Sh.Grid.Y,  Sh.Grid.Z,
                  Sh.Block.X, Sh.Block.Y, Sh.Block.Z};
  S.Launch(D, Dynamic, Args.data());
  return errorCount() == 0 && !Launched.empty();
}

Snapshot Harness::snapshot(char *Base, size_t Low, size_t High) {
  Snapshot S;
  if (Low >= High)
    return S;
  S.Bytes.assign(Base + Low, Base + High);
  S.Shadow.assign(shadowOf(Base) + Low, shadowOf(Base) + High);
  return S;
}

std::string Harness::describe(const Shape &S, unsigned Trial) {
  std::string Out = "grid " + dim(S.Grid) + ", block " + dim(S.Block) +
                    ", dynamic shared memory " + std::to_string(Dynamic);
  for (size_t I = 0; I < Params.size(); ++I) {
    Out += ", ";
    Out += I < K.ParamNames.size() && !K.ParamNames[I].empty()
               ? K.ParamNames[I]
               : "argument " + std::to_string(I);
    int64_t N = 0;
    memcpy(&N, Values[I].data(), 8);
    switch (Params[I].Kind) {
    case Param::Pointer:
      if (auto Alias = inPlace(Trial); Alias && Alias->second == I)
        Out += " the same as argument " + std::to_string(Alias->first);
      else
        Out += " at 256k+" + std::to_string(Buffers[I].Offset % 256);
      break;
    case Param::Float: {
      float F;
      double D;
      memcpy(&F, Values[I].data(), 4);
      memcpy(&D, Values[I].data(), 8);
      Out += " = " + std::to_string(Params[I].Size == 4 ? F : D);
      break;
    }
    case Param::Signed:
    case Param::Unsigned:
    case Param::Boolean:
      Out += " = " + std::to_string(N);
      break;
    default:
      Out += " of " + std::to_string(Params[I].Size) + " bytes";
    }
  }
  return Out + " (trial " + std::to_string(Trial) + ", seed " +
         std::to_string(L.Runtime.Seed) + ")";
}

void Harness::explainDifference(const Shape &S, unsigned Trial, size_t I,
                                const FirstDifference &D, const Snapshot &Want,
                                const Snapshot &Got) {
  size_t R = 0;
  for (size_t J = 0; J < I; ++J)
    R += Params[J].Kind == Param::Pointer;
  size_t E = std::max<uint64_t>(1, Params[I].ElementSize);
  unsigned Width = E == 8 || E == 4 || E == 2 || E == 1 ? E : 4;
  size_t Byte = Found[R].Low + D.Offset;
  int64_t Index = (int64_t(Byte) - int64_t(Buffers[I].Offset)) / int64_t(E);
  int64_t Word = int64_t(Byte) - (int64_t(Byte) - int64_t(Buffers[I].Offset)) % Width;
  size_t At = Word < int64_t(Found[R].Low) ? 0 : Word - Found[R].Low;
  if (At + Width > Want.Bytes.size())
    At = Want.Bytes.size() - Width;
  std::string Name = I < K.ParamNames.size() ? K.ParamNames[I] : "";
  fprintf(stderr,
          "rcache-check: different: %s: %s[%lld]\n  original:  %s\n  "
          "rewritten: %s%s\n  launch: %s\n",
          K.Name.c_str(), Name.c_str(), (long long)Index,
          describeWord(&Want.Bytes[At], Width).c_str(),
          describeWord(&Got.Bytes[At], Width).c_str(),
          D.Kind == Difference::Undefined ? ", and it was never initialised"
                                          : "",
          describe(S, Trial).c_str());
  // Which logical thread writes it in the original?
  WriteWatch W;
  W.Address = Buffers[I].Base + Found[R].Low + At;
  restore();
  std::vector<Discovery> Regions = Found;
  discover(&Regions);
  watchWrites(&W);
  launch(A, S, Order::Forward);
  watchWrites(nullptr);
  discover(nullptr);
  if (W.Written)
    fprintf(stderr, "  the original writes it in block (%s), thread (%s)\n",
            dim(W.Block).c_str(), dim(W.Thread).c_str());
  else
    fprintf(stderr, "  the original does not write it\n");
}

/// An exit code, or -1: go on.
int Harness::trial(const Shape &S, unsigned Number) {
  // Shapes repeat with a period; what else varies must not follow it.
  unsigned Trial = Number + Number / 5 + Number / 7 + Number / 77;
  fillBuffers(S, Trial);
  std::vector<Snapshot> Want;
  std::map<std::string, Snapshot> WantVariables;
  bool Defined = false;
  // The likely meanings come first, even where odd ones have worked: a launch
  // with n = 1 is often defined and says little. What never works for a block
  // size is given up.
  auto &Ways = WayRecord[{S.Block.X, S.Block.Y, S.Block.Z}];
  for (unsigned Way = 0; Way < ScalarWays && !Defined; ++Way) {
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
      Launched.insert(X.Kernel->DisplayName);
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
      bool Ok = launch(A, S, Order::Forward);
      discover(nullptr);
      Found = Probe;
      if (!Ok)
        continue;
      Dynamic = Last && SharedHigh > Last->DynamicOffset
                    ? SharedHigh - Last->DynamicOffset
                    : 0;
      Dynamic = (Dynamic + 3) & ~size_t(3);
    }
    restore();
    discover(&Regions);
    bool Ok = launch(A, S, Order::Forward);
    discover(nullptr);
    Found = Regions;
    if (!Ok) {
      auto F = findings();
      LastUndefined = F.empty() ? "the launch was refused"
                                : F[0].Location + ": " + F[0].Text + " [" +
                                      F[0].Kind + "]";
      continue;
    }
    auto Take = [&](std::vector<Snapshot> &Out) {
      Out.clear();
      size_t R = 0;
      for (size_t I = 0; I < Params.size(); ++I) {
        Out.push_back({});
        if (Params[I].Kind != Param::Pointer)
          continue;
        Out.back() = snapshot(Buffers[I].Base, Found[R].Low, Found[R].High);
        ++R;
      }
    };
    Take(Want);
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
    std::vector<Snapshot> Again;
    Take(Again);
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
    if (!Touches && Trial % 8)
      continue;
    Defined = true;
    ++Ways[Way].Worked;
  }
  if (!Defined) {
    ++Undefined;
    return -1;
  }

  static const Order Orders[] = {Order::Forward, Order::Reverse, Order::Random};
  restore();
  for (size_t I = 0, R = 0; I < Params.size(); ++I)
    if (Params[I].Kind == Param::Pointer) {
      restrictTo(Buffers[I].Base, BufferSize, Found[R].Low, Found[R].High);
      ++R;
    }
  options().Seed = L.Runtime.Seed + Trial;
  bool Ok = launch(B, S, Orders[Trial % 3]);
  if (!Ok) {
    for (const Finding &F : findings())
      printFinding(F);
    fprintf(stderr,
            "rcache-check: undefined behaviour in the rewritten program: %s\n"
            "  launch: %s\n",
            findings().empty() ? "no kernel was launched" : K.Name.c_str(),
            describe(S, Trial).c_str());
    return ExitUndefinedRewritten;
  }
  ++Compared;
  Idle += std::all_of(Found.begin(), Found.end(),
                      [](const Discovery &D) { return D.Low >= D.High; });
  for (const std::string &Name : Launched)
    if (Name != K.Name) {
      ++ByRewritten;
      break;
    }
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
      return ExitDifferent;
    }
  }
  if (int Code = compareVariables(S, Trial, WantVariables); Code >= 0)
    return Code;
  if (L.Prove)
    prove(S, Trial, /*Differs=*/false);
  return -1;
}

int Harness::compareVariables(const Shape &S, unsigned Trial,
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
      fprintf(stderr,
              "rcache-check: different: %s: variable '%s', byte %zu\n  "
              "launch: %s\n",
              K.Name.c_str(), It->second.Name.c_str(), D.Offset,
              describe(S, Trial).c_str());
      return ExitDifferent;
    }
  }
  return -1;
}

/// How the file itself launches the kernel: its main runs in a process of its
/// own and is listened to. Nothing if there is no main, or it fails.
std::vector<Shape> Harness::observe() {
  constexpr size_t MaxScalars = 32;
  struct Wire {
    uint32_t Dims[6];
    uint64_t Scalars[MaxScalars];
  };
  using NoArgs = int (*)();
  using WithArgs = int (*)(int, char **);
  auto Plain = reinterpret_cast<NoArgs>(
      A.Program->lookup("_Z22rcache_check_user_mainv"));
  auto Full = reinterpret_cast<WithArgs>(
      A.Program->lookup("_Z22rcache_check_user_mainiPPc"));
  int Pipe[2];
  std::vector<Shape> Out;
  if ((!Plain && !Full) || Params.size() > MaxScalars || pipe(Pipe))
    return Out;
  fflush(nullptr);
  pid_t Pid = fork();
  if (Pid == 0) {
    close(Pipe[0]);
    int Null = open("/dev/null", O_RDWR);
    for (int Fd : {0, 1, 2})
      dup2(Null, Fd);
    alarm(20);
    unsigned Sent = 0;
    onLaunch([&](const Launch &X) {
      if (X.Kernel->DisplayName != K.Name || ++Sent > 16)
        return;
      Wire W{{X.Grid.X, X.Grid.Y, X.Grid.Z, X.Block.X, X.Block.Y, X.Block.Z},
             {}};
      for (size_t I = 0; I < Params.size(); ++I)
        if (Params[I].Kind == Param::Signed || Params[I].Kind == Param::Unsigned)
          memcpy(&W.Scalars[I], X.Args[I], std::min<size_t>(8, Params[I].Size));
      if (write(Pipe[1], &W, sizeof(W)) != sizeof(W))
        _exit(1);
    });
    char Name[] = "program", *Argv[] = {Name, nullptr};
    _exit(Full ? Full(1, Argv) : Plain());
  }
  close(Pipe[1]);
  Wire W;
  while (Pid > 0 && read(Pipe[0], &W, sizeof(W)) == sizeof(W)) {
    Shape S;
    S.Grid = {W.Dims[0], W.Dims[1], W.Dims[2]};
    S.Block = {W.Dims[3], W.Dims[4], W.Dims[5]};
    S.Scalars.assign(W.Scalars, W.Scalars + Params.size());
    S.W = S.Grid.X * S.Block.X;
    S.H = S.Grid.Y * S.Block.Y;
    S.D = S.Grid.Z * S.Block.Z;
    Out.push_back(S);
  }
  close(Pipe[0]);
  if (Pid > 0)
    waitpid(Pid, nullptr, 0);
  return Out;
}

/// Runs a symbolic version; the expression and the bits of every element of
/// every buffer and variable that the original touches.
std::vector<std::pair<uint32_t, uint64_t>> Harness::express(Version &V,
                                                            const Shape &S,
                                                            Order Threads) {
  struct Piece {
    char *P;
    size_t Size;
    unsigned Unit;
  };
  std::vector<Piece> Pieces;
  restore();
  size_t R = 0;
  for (size_t I = 0; I < Params.size(); ++I) {
    if (Params[I].Kind != Param::Pointer)
      continue;
    const Discovery &D = Found[R++];
    if (D.Low >= D.High)
      continue;
    size_t E = std::max<uint64_t>(1, Params[I].ElementSize);
    unsigned Unit = E == 1 || E == 2 || E == 4 || E == 8 ? E
                    : E % 4 == 0                         ? 4
                                                         : 1;
    // Whole elements, counted from the pointer.
    int64_t First = int64_t(D.Low) - int64_t(Buffers[I].Offset);
    First = First < 0 ? -((-First + Unit - 1) / Unit) : First / Unit;
    char *P = Buffers[I].Base + Buffers[I].Offset + First * int64_t(Unit);
    size_t Size = Buffers[I].Base + D.High - P;
    Size = (Size + Unit - 1) / Unit * Unit;
    exprLeaves(P, Size, Unit, I < K.ParamNames.size() ? K.ParamNames[I] : "",
               First);
    Pieces.push_back({P, Size, Unit});
  }
  for (const VariableInfo &X : Summary.Variables) {
    auto It = V.Program->program().Globals.find(X.Mangled);
    if (It == V.Program->program().Globals.end() ||
        !VariableValues.count(X.Mangled))
      continue;
    unsigned Unit = X.ElementSize;
    if (X.Kind == ElementKind::Float && Unit <= 8)
      exprLeaves(It->second.Base, It->second.Size, Unit, It->second.Name, 0);
    if (!X.Constant && Unit && Unit <= 8)
      Pieces.push_back({It->second.Base, It->second.Size, Unit});
  }
  exprClearProblem();
  Problem = launch(V, S, Threads) ? "" : "the launch does not come to its end";
  if (Problem.empty())
    Problem = exprProblem();
  std::vector<std::pair<uint32_t, uint64_t>> Out;
  for (const Piece &X : Pieces)
    for (size_t At = 0; At + X.Unit <= X.Size; At += X.Unit) {
      uint32_t Id = exprAt(X.P + At, X.Unit);
      uint64_t Bits = 0;
      memcpy(&Bits, X.P + At, X.Unit);
      Out.push_back({Id, Id ? 0 : Bits});
    }
  for (const Piece &X : Pieces)
    exprForget(X.P, X.Size);
  return Out;
}

/// One row of the proof table. Both versions run in two opposite orders of the
/// threads: for all data includes data that would show a race.
void Harness::prove(const Shape &S, unsigned Trial, bool Differs) {
  auto Expressed = [&](Version &V, const char *Which, std::string &Why) {
    auto One = express(V, S, Order::Forward);
    std::string Problem = this->Problem;
    const bool Same =
        !Problem.empty() || express(V, S, Order::Reverse) == One;
    if (Problem.empty() && Same)
      Problem = this->Problem;
    if (Why.empty() && !Problem.empty())
      Why = std::string("in the ") + Which + ", " + Problem;
    return std::make_pair(One, Same);
  };
  std::string Why;
  auto [A, Ordered] = Expressed(SymbolicA, "original", Why);
  if (!Ordered && !Differs) { // says nothing, as if the data had shown it
    ++Undefined;
    return;
  }
  auto [B, SameB] = Expressed(SymbolicB, "rewritten program", Why);
  if (Why.empty() && !SameB)
    Why = "the result of the rewritten program depends on the order of threads "
          "or blocks";
  if (Why.empty() && A.size() != B.size())
    Why = "the programs have different variables";
  for (size_t I = 0; Why.empty() && I < A.size(); ++I)
    if (A[I] != B[I])
      Why = std::string("the expressions differ") +
            (Differs ? "" : " though the values agree") +
            ":\n    original:  " + exprText(A[I].first) +
            "\n    rewritten: " + exprText(B[I].first);
  bool Yes = Why.empty() && !Differs;
  ++(Yes ? Proved : NotProved);
  printf("%s: %s: %s%s%s\n",
         Differs ? "different"
         : Yes   ? "proved"
                 : "not proved",
         K.Name.c_str(),
         describe(S, Trial).c_str(), Yes ? "" : ": ", Why.c_str());
  fflush(stdout);
}

int Harness::run() {
  std::string Error;
  if (!load(A, Original, false, false, Error)) {
    fprintf(stderr, "%s\nrcache-check: the original could not be compiled\n",
            Error.c_str());
    return ExitCouldNotRun;
  }
  std::string First;
  bool Indirect = load(B, Rewritten, true, false, First);
  if (!Indirect && !load(B, Rewritten, false, false, Error)) {
    fprintf(stderr, "%s\nrcache-check: the rewritten file could not be "
                    "compiled\n",
            First.c_str());
    return ExitCouldNotRun;
  }
  if (!Indirect)
    fprintf(stderr,
            "rcache-check: '%s' has no usable %s; its '%s' is launched itself\n",
            Rewritten.c_str(), launchFunction(K.Name).c_str(), K.Name.c_str());
  if (L.Prove &&
      (!load(SymbolicA, Original, false, true, Error) ||
       !load(SymbolicB, Rewritten, Indirect, true, Error))) {
    fprintf(stderr, "%s\nrcache-check: no symbolic version\n", Error.c_str());
    return ExitCouldNotRun;
  }
  Params.resize(A.Params(nullptr));
  A.Params(Params.data());
  Buffers.resize(Params.size());
  for (size_t I = 0; I < Params.size(); ++I)
    if (Params[I].Kind == Param::Pointer)
      Buffers[I].Base = allocate(BufferSize, Allocation::Host);
  fillVariables();

  uint32_t MaxThreads = 1024;
  auto Start = std::chrono::steady_clock::now();
  auto Elapsed = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() -
                                         Start)
        .count();
  };
  unsigned Trial = 0;
  std::map<std::array<uint32_t, 3>, unsigned> BadBlocks;
  std::set<std::array<uint32_t, 3>> RewrittenBlocks;
  // First what the file does itself, where that is small enough.
  std::vector<Shape> All;
  std::vector<Dim3> OwnBlocks;
  for (const Shape &S : observe()) {
    if (L.Block.X || L.Grid.X)
      break;
    if (std::find(OwnBlocks.begin(), OwnBlocks.end(), S.Block) ==
        OwnBlocks.end())
      OwnBlocks.push_back(S.Block);
    if (S.Grid.count() * S.Block.count() <= (1 << 16))
      All.push_back(S);
    // The same arguments with the end of the data nearer.
    Shape Less = S;
    Less.Grid = {std::min(S.Grid.X, 3u), std::min(S.Grid.Y, 2u),
                 std::min(S.Grid.Z, 2u)};
    All.push_back(Less);
  }
  for (const Shape &S :
       shapes(K.Dimensions, MaxThreads, L.Block, L.Grid, OwnBlocks))
    All.push_back(S);
  for (const Shape &S : All) {
    if (Trial >= L.Trials || Elapsed() > L.Seconds)
      break;
    // Kernels written for one block size: do not try the others for ever.
    unsigned &Bad = BadBlocks[{S.Block.X, S.Block.Y, S.Block.Z}];
    if (Bad >= 4 && Compared)
      continue;
    unsigned Before = Undefined, BeforeRewritten = ByRewritten;
    if (int Code = trial(S, Trial++); Code >= 0)
      return Code;
    Bad = Undefined > Before ? Bad + 1 : 0;
    if (ByRewritten > BeforeRewritten)
      RewrittenBlocks.insert({S.Block.X, S.Block.Y, S.Block.Z});
  }
  // More of the block sizes that the rewritten kernel takes: grids and sizes at
  // random, edges most of all.
  std::vector<std::array<uint32_t, 3>> Takes(RewrittenBlocks.begin(),
                                             RewrittenBlocks.end());
  for (unsigned Extra = 0; !Takes.empty() && Extra < L.Trials / 4 &&
                           Elapsed() <= L.Seconds;
       ++Extra) {
    const auto &X = Takes[Extra % Takes.size()];
    Shape S;
    S.Block = {X[0], X[1], X[2]};
    auto Size = [&](unsigned Block, bool On, uint32_t &Grid) -> uint32_t {
      Grid = On ? 1 + Rng() % (K.Dimensions == 1 ? 24 : 5) : 1;
      uint32_t Full = Grid * Block, Back = Rng() % (Block + 2);
      return Rng() % 4 == 0 ? Full : std::max<uint32_t>(1, Full + 1 - Back);
    };
    S.W = Size(X[0], true, S.Grid.X);
    S.H = Size(X[1], K.Dimensions > 1, S.Grid.Y);
    S.D = Size(X[2], K.Dimensions > 2, S.Grid.Z);
    if (L.Grid.X)
      S.Grid = L.Grid;
    if (int Code = trial(S, Trial++); Code >= 0)
      return Code;
  }
  // What does nothing says nothing, if all else is left out.
  if (!Compared || (Compared == Idle && Undefined)) {
    fprintf(stderr,
            "rcache-check: %s: no launch was found for which the original is "
            "defined%s (%u tried; last: %s); say more with --block, --grid, "
            "--smem and --arg=NAME=VALUE\n",
            K.Name.c_str(), Compared ? " and touches memory" : "", Undefined,
            LastUndefined.c_str());
    return ExitCouldNotRun;
  }
  fprintf(stderr,
          "rcache-check: equivalent: %s: %u launches compared bit for bit, %u "
          "of them by a rewritten kernel (%u touch no memory); %u left out "
          "because the original is not defined there\n",
          K.Name.c_str(), Compared, ByRewritten, Idle, Undefined);
  if (Indirect && !ByRewritten)
    fprintf(stderr, "rcache-check: warning: the rewritten kernel never ran: "
                    "its preconditions never held\n");
  if (L.Prove) {
    fprintf(stderr,
            "rcache-check: %s: proved for all data at %u launch shapes, not "
            "proved at %u\n",
            K.Name.c_str(), Proved, NotProved);
    if (NotProved)
      return ExitCouldNotRun;
  }
  return ExitSame;
}

} // namespace

int harnessCommand(const CommandLine &L) {
  std::string Error;
  Options O = L.Runtime;
  O.Jobs = 1; // small launches, and an order that can be repeated
  O.TimeLimit = L.TimeLimit.value_or(5);
  if (!initialise(O, Error)) {
    fprintf(stderr, "rcache-check: %s\n", Error.c_str());
    return ExitCouldNotRun;
  }
  if (L.Prove && !initialiseExpressions()) {
    fprintf(stderr, "rcache-check: cannot reserve address space for "
                    "expressions\n");
    return ExitCouldNotRun;
  }
  std::error_code EC;
  std::string Original = std::filesystem::absolute(L.Inputs[0], EC).string();
  std::string Rewritten =
      std::filesystem::absolute(L.Rewritten.empty() ? L.Inputs[0] : L.Rewritten,
                                EC)
          .string();
  FrontendOptions FE = L.Jit.Frontend;
  SourceSummary Summary;
  if (!CompiledProgram::prepare(FE, Error) ||
      !summarise(Original, FE, Summary, Error)) {
    fprintf(stderr, "%s\nrcache-check: '%s' could not be compiled\n",
            Error.c_str(), L.Inputs[0].c_str());
    return ExitCouldNotRun;
  }
  // A name matches whole, without its namespaces, or without its arguments.
  auto Matches = [&](const std::string &Name) {
    if (L.Kernel.empty())
      return true;
    std::string Base = Name.substr(0, Name.find('<'));
    std::string Last = Base.substr(Base.rfind(':') + 1);
    return L.Kernel == Name || L.Kernel == Base || L.Kernel == Last ||
           L.Kernel == Name.substr(Base.rfind(':') + 1);
  };
  int Worst = -1;
  for (const KernelSignature &K : Summary.Kernels) {
    if (!Matches(K.Name))
      continue;
    int Code = Harness(L, K, Summary, Original, Rewritten).run();
    if (Code != ExitSame && Code != ExitCouldNotRun)
      return Code;
    Worst = std::max(Worst, Code);
  }
  if (Worst < 0) {
    fprintf(stderr, "rcache-check: no kernel '%s' in '%s'%s\n",
            L.Kernel.c_str(), L.Inputs[0].c_str(),
            Summary.Kernels.empty() ? "" : "; there are:");
    for (const KernelSignature &K : Summary.Kernels)
      fprintf(stderr, "  %s\n", K.Name.c_str());
    return ExitUsage;
  }
  return Worst;
}

} // namespace rcache::check
