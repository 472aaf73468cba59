// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a made-up launch is given: data, variables, arguments.

#include "Trials.h"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <optional>

namespace rcache::check {

/// A number that stands in device code, or its negative, for one element in eight, and for
/// every other first one: what all threads ask for (`if (flags[0] == 7)`).
static std::optional<double> named(const std::vector<double> &Numbers, uint64_t R, bool First) {
  if (Numbers.empty() || (R >> 24) % (First ? 2 : 8))
    return std::nullopt;
  const double V = Numbers[(R >> 28) % Numbers.size()];
  return (R >> 27) & 1 ? -V : V;
}

/// A float like its neighbours: sums of denormal numbers, of zeros and of the largest are
/// of their kind only where nothing else is among them. Nothing: an ordinary stretch.
template <class Bits, unsigned Mantissa>
static std::optional<Bits> ofStretch(size_t Element, uint64_t Salt, uint64_t R) {
  constexpr size_t Length = 96; // elements: wider than most windows
  constexpr unsigned Width = 8 * sizeof(Bits);
  constexpr Bits One = 1, Fraction = (One << Mantissa) - 1;
  constexpr Bits Largest = ((One << (Width - 1 - Mantissa)) - 2) << Mantissa; // exponent
  const Bits Sign = Bits(R >> 63) << (Width - 1), Any = Bits(R * 0xd6e8feb86659fd93ull);
  switch ((Element / Length * 0x9e3779b97f4a7c15ull + Salt) >> 60) {
  case 0:
    return Sign | (Any & Fraction); // denormal
  case 1:
    return Sign;
  case 2:
    return Sign | (Largest - (Bits(R & 3) << Mantissa)) | (Any & Fraction);
  default:
    return std::nullopt;
  }
}

/// Mode 0: small plain numbers; 1: the whole range; 2: with the values that
/// break careless arithmetic, and those that the kernels name; 3: from 0 to below 1,
/// integers to 3, for kernels that make indices of them. \p First: the byte that the pointer
/// leads to.
void Trials::fillData(std::vector<uint8_t> &Out, int Kind, size_t ElementSize,
                      unsigned Mode, size_t First) {
  size_t N = Out.size();
  const std::vector<double> Named =
      Mode == 2 ? std::vector<double>(Summary.Facts.Numbers.begin(),
                                      Summary.Facts.Numbers.end())
                : std::vector<double>();
  bool Floats =
      Kind == Param::Float || (Kind == Param::Other && ElementSize % 4 == 0);
  if (Floats && (Kind == Param::Other || ElementSize == 4)) {
    static const uint32_t Special[] = {
        0x7fffffff, 0x7fc00001, 0xffc12345, 0x7f800000, 0xff800000, 0x80000000,
        0x00000001, 0x807fffff, 0x7f7fffff, 0x00800000, 0x3f800000, 0x00000000};
    const uint64_t Salt = Mode == 2 ? Rng() : 0;
    for (size_t I = 0; I + 4 <= N; I += 4) {
      uint64_t R = Rng();
      uint32_t Bits;
      float F = Mode == 3 ? float(R % 8192) / 8192.0f
                          : float(int(R % 16384) - 8192) / 1024.0f;
      memcpy(&Bits, &F, 4);
      if (const auto V = named(Named, R, I == First)) {
        F = float(*V);
        memcpy(&Bits, &F, 4);
      } else if (const auto Like = Mode == 2 ? ofStretch<uint32_t, 23>(I / 4, Salt, R)
                                        : std::nullopt)
        Bits = *Like;
      else if (Mode == 2 && (R >> 40) % 16 == 0)
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
    const uint64_t Salt = Mode == 2 ? Rng() : 0;
    for (size_t I = 0; I + 8 <= N; I += 8) {
      uint64_t R = Rng();
      double D = Mode == 3 ? double(R % 1000000) / 1e6
                           : double(int64_t(R % 2000001) - 1000000) / 977.0;
      if (const auto V = named(Named, R, I == First))
        D = *V;
      else if (const auto Like = Mode == 2 ? ofStretch<uint64_t, 52>(I / 8, Salt, R)
                                           : std::nullopt)
        memcpy(&D, &*Like, 8);
      else if (Mode == 2 && (R >> 40) % 16 == 0) {
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
      if (Mode == 3)
        H = 0x3000 + R % 0xc00;
      else if (R & 0x100000)
        H |= 0x8000;
      if (Mode == 2 && (R >> 40) % 16 == 0)
        H = R >> 48;
      memcpy(&Out[I], &H, 2);
    }
    return;
  }
  for (size_t I = 0; I < N; I += ElementSize) {
    uint64_t R = Rng();
    uint64_t V = Mode == 1 ? R : R % (Mode == 2 ? 256 : Mode == 3 ? 4 : 16);
    if (const auto Of = named(Named, R, I == First); Of && std::abs(*Of) < 1e15)
      V = uint64_t(int64_t(*Of));
    memcpy(&Out[I], &V, std::min<size_t>({8, ElementSize, N - I}));
  }
}

void Trials::fillVariables() {
  for (const VariableInfo &V : Summary.Variables) {
    if (V.Initialised)
      continue;
    auto It = A.Program->program().Globals.find(V.Mangled);
    if (It == A.Program->program().Globals.end())
      continue;
    std::vector<uint8_t> Data(It->second.Size);
    fillData(Data,
             V.Kind == ElementKind::Float     ? Param::Float
             : V.Kind == ElementKind::Integer ? Param::Signed
                                              : Param::Other,
             V.ElementSize, 0, 0);
    VariableValues[V.Mangled] = std::move(Data);
  }
}

void Trials::fillBuffers(const Shape &S, unsigned Mode) {
  uint64_t Threads = S.Grid.count() * S.Block.count();
  uint64_t Elements =
      std::min<uint64_t>(4 * Threads + 2ull * S.W * S.H * S.D + 4096, 1 << 18);
  // What shows at one element of many must not be made of zeros.
  if (S.Rare)
    Elements = std::max<uint64_t>(Elements, Threads + 4096);
  for (size_t I = 0; I < Params.size(); ++I) {
    if (Params[I].Kind != Param::Pointer)
      continue;
    Buffer &X = Buffers[I];
    size_t E = std::max<uint64_t>(1, Params[I].ElementSize);
    X.Offset = Slack + Place.Offsets[I];
    X.Initial.assign(std::min<size_t>(X.Offset + Elements * E, BufferSize / 2),
                     0);
    fillData(X.Initial, Params[I].ElementKind, E, Mode, X.Offset);
  }
}

/// Is anything \p Now what it was not before the launch?
bool Trials::changesMemory(const std::vector<Snapshot> &Now,
                           const std::map<std::string, Snapshot> &Variables) const {
  for (const auto &[Name, Of] : Variables)
    if (const auto Before = VariableValues.find(Name);
        Before == VariableValues.end() || Before->second != Of.Bytes)
      return true;
  for (size_t I = 0, R = 0; I < Params.size(); ++I) {
    if (Params[I].Kind != Param::Pointer)
      continue;
    const std::vector<uint8_t> &Before = Buffers[I].Initial, &Bytes = Now[I].Bytes;
    const size_t Low = Found[R++].Low;
    for (size_t B = 0; B < Bytes.size(); ++B)
      if (Bytes[B] != (Low + B < Before.size() ? Before[Low + B] : 0))
        return true;
  }
  return false;
}

/// All memory as it was before the launch.
void Trials::restore() {
  for (size_t I = 0, R = 0; I < Params.size(); ++I) {
    if (Params[I].Kind != Param::Pointer)
      continue;
    Buffer &X = Buffers[I];
    memcpy(X.Base, X.Initial.data(), X.Initial.size());
    if (R < Found.size() && Found[R].High > X.Initial.size())
      memset(X.Base + X.Initial.size(), 0, Found[R].High - X.Initial.size());
    markDefined(X.Base,
                std::max(X.Initial.size(),
                         R < Found.size() ? Found[R].High : size_t(0)),
                true);
    ++R;
  }
  for (Version *S :
       {&A, &B, &SymbolicA, &SymbolicB, Overflow ? &*Overflow : &A}) {
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

/// "width" of "a.width".
static std::string lastName(const std::string &Name) {
  const size_t Dot = Name.rfind('.');
  return Dot == std::string::npos ? Name : Name.substr(Dot + 1);
}

void Trials::setArguments(const Shape &S, unsigned Way, unsigned Trial) {
  Values.assign(Params.size(), {});
  Args.clear();
  for (size_t I = 0; I < Params.size(); ++I) {
    const Param &P = Params[I];
    std::string Name = I < K.ParamNames.size() ? K.ParamNames[I] : "";
    std::vector<uint8_t> &V = Values[I];
    V.assign(std::max<size_t>(P.Size, 8), 0);
    auto Given = L.ArgValues.find(Name);
    // What launch functions ask for is given to them, but once in a while.
    const std::vector<int64_t> &Asked = askedOf(Summary.Facts, K.Name, Name);
    switch (P.Kind) {
    case Param::Pointer: {
      const auto &O = Place.Shared;
      const bool Here = O && O->Of == I;
      const Buffer &X = Buffers[Here ? O->In : I];
      char *Ptr = X.Base + X.Offset;
      if (Here)
        Ptr += O->distance(S) * ptrdiff_t(P.ElementSize);
      memcpy(V.data(), &Ptr, sizeof(Ptr));
      break;
    }
    case Param::Float: {
      double D = Given != L.ArgValues.end()
                     ? strtod(Given->second.c_str(), nullptr)
                     : double(int(Trial * 37 % 64) - 32) / 16 + double(I) / 64;
      float F = D;
      if (P.Size == 4)
        memcpy(V.data(), &F, 4);
      else
        memcpy(V.data(), &D, 8);
      break;
    }
    case Param::Boolean:
      V[0] = Given != L.ArgValues.end()
                 ? strtod(Given->second.c_str(), nullptr) != 0
             : !Asked.empty() && Trial % 6 != 5 ? Asked.front() != 0
                                                : Trial & 1;
      break;
    case Param::Signed:
    case Param::Unsigned: {
      const uint64_t ByName = scalarValue(lastName(Name), S, K.Dimensions, Way);
      uint64_t N = Given != L.ArgValues.end()
                       ? strtoull(Given->second.c_str(), nullptr, 0)
                   : I < S.Scalars.size() && Way == 0 ? S.Scalars[I]
                                                      : ByName;
      if (!Asked.empty() && Given == L.ArgValues.end() && N == ByName &&
          Trial % 6 != 5)
        N = uint64_t(Asked[Trial % Asked.size()]);
      // Neither more than they take, nor always the same.
      const auto Most = mostAskedOf(Summary.Facts, K.Name, Name);
      if (Most && Given == L.ArgValues.end() && N == ByName && N > uint64_t(*Most) &&
          Trial % 6 != 5)
        N = uint64_t(*Most) - (Trial % 3 ? Trial * 97 % uint64_t(*Most) : 0);
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
  for (size_t I = 0; I < Params.size(); ++I) {
    auto [Of, At] = Within[I];
    memcpy(&Whole[Of][At], Values[I].data(), Params[I].Size);
  }
  for (auto &V : Whole)
    Args.push_back(V.data());
}

} // namespace rcache::check
