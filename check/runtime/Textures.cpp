// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Texture fetches as the programming guide defines them ("Texture fetching"):
// which texels a coordinate selects, how they are blended and converted. Every
// texel that is read is checked like a load of the kernel's.

#include "Textures.h"

#include "Api.h"
#include "Exec.h"

#include <atomic>
#include <cmath>
#include <cstring>

namespace rcache::check {

extern "C" void rcc_check(ThreadCtx *T, uint64_t Addr, uint64_t Size,
                          uint32_t Align, uint32_t Flags, uint32_t Site);

bool ChannelFormat::valid() const {
  unsigned N = channels();
  if (N == 0 || N == 3 || Kind < 0 || Kind > 2)
    return false;
  for (unsigned I = 0; I < 4; ++I)
    if (Bits[I] != (I < N ? Bits[0] : 0))
      return false;
  return Bits[0] == 32 || Bits[0] == 16 || (Bits[0] == 8 && Kind != 2);
}

namespace {

enum class Address { Wrap, Clamp, Mirror, Border };

struct Texture {
  ChannelFormat Format;
  size_t Size[3]; ///< elements of each dimension; 1 where there is none
  size_t Pitch, PlanePitch;
  char *Data;
  bool Linear; ///< plain memory: integer coordinates, 0 outside
  bool Blend, NormalizedFloat, NormalizedCoords;
  Address Mode[3];
  uint32_t Border[4]; ///< bits
};

/// By number: fetches look here without a lock.
constexpr size_t MaxTextures = 1 << 16;
std::atomic<Texture *> Textures[MaxTextures];

struct Texel {
  char *At = nullptr; ///< null: outside
  double Weight = 1;
};
struct Selection {
  Texel Texels[8];
  unsigned Count = 1;
};

double clampTo(double X, double Low, double High) {
  return X > Low ? (X < High ? X : High) : Low; // what is no number: Low
}

/// The element that index \p I of a dimension stands for; -1: the border.
int64_t wrapped(double I, size_t Size, Address Mode) {
  auto N = static_cast<double>(Size);
  switch (Mode) {
  case Address::Clamp:
    break;
  case Address::Border:
    if (!(I >= 0 && I < N))
      return -1;
    break;
  case Address::Wrap:
    I -= N * std::floor(I / N);
    break;
  case Address::Mirror:
    I -= 2 * N * std::floor(I / (2 * N));
    I = I < N ? I : 2 * N - 1 - I;
    break;
  }
  return static_cast<int64_t>(clampTo(I, 0, N - 1));
}

/// Texels of a fetch at \p Coords, in \p Dims dimensions.
Selection select(const Texture &T, unsigned Dims, const double *Coords) {
  Selection S;
  int64_t Index[3][2] = {};
  double Fraction[3] = {};
  for (unsigned D = 0; D < Dims; ++D) {
    double X = T.NormalizedCoords ? Coords[D] * double(T.Size[D]) : Coords[D];
    if (!T.Blend) {
      Index[D][0] = wrapped(std::floor(X), T.Size[D], T.Mode[D]);
      continue;
    }
    // The fraction has 8 bits.
    X = std::floor((X - 0.5) * 256 + 0.5) / 256;
    Fraction[D] = X - std::floor(X);
    if (!(Fraction[D] >= 0 && Fraction[D] < 1))
      Fraction[D] = 0;
    for (unsigned N = 0; N < 2; ++N)
      Index[D][N] = wrapped(std::floor(X) + N, T.Size[D], T.Mode[D]);
  }
  S.Count = T.Blend ? 1u << Dims : 1;
  for (unsigned N = 0; N < S.Count; ++N) {
    char *At = T.Data;
    const size_t Step[3] = {T.Format.bytes(), T.Pitch, T.PlanePitch};
    for (unsigned D = 0; D < Dims; ++D) {
      unsigned Upper = N >> D & 1;
      if (T.Blend)
        S.Texels[N].Weight *= Upper ? Fraction[D] : 1 - Fraction[D];
      int64_t I = Index[D][Upper];
      At = At && I >= 0 ? At + size_t(I) * Step[D] : nullptr;
    }
    S.Texels[N].At = At;
  }
  return S;
}

float halfToFloat(uint16_t H) {
  int Exponent = H >> 10 & 31;
  double Mantissa = H & 1023;
  double V = Exponent == 31 ? (Mantissa ? NAN : INFINITY)
             : Exponent     ? std::ldexp(1024 + Mantissa, Exponent - 25)
                            : std::ldexp(Mantissa, -24);
  return static_cast<float>(H & 0x8000 ? -V : V);
}

template <class To, class From> To bitsOf(From V) {
  To R;
  memcpy(&R, &V, sizeof(R));
  return R;
}

/// A channel as 32 bits, and which of them are not initialised.
uint32_t channel(const Texture &T, const char *Texel, unsigned N,
                 uint32_t &Shadow) {
  const unsigned Width = unsigned(T.Format.Bits[0]);
  const char *At = Texel + N * Width / 8;
  uint32_t V = 0, Unknown = 0;
  memcpy(&V, At, Width / 8);
  memcpy(&Unknown, shadowOf(At), Width / 8);
  Shadow = Unknown && Width < 32 ? ~0u : Unknown;
  if (Width == 32)
    return V;
  if (T.Format.Kind == 2)
    return bitsOf<uint32_t>(halfToFloat(static_cast<uint16_t>(V)));
  const bool Signed = T.Format.Kind == 0;
  int32_t Value = !Signed       ? int32_t(V)
                  : Width == 16 ? int32_t(int16_t(V))
                                : int32_t(int8_t(V));
  if (!T.NormalizedFloat)
    return static_cast<uint32_t>(Value);
  auto Most = static_cast<float>((1u << (Signed ? Width - 1 : Width)) - 1);
  float F = static_cast<float>(Value) / Most;
  return bitsOf<uint32_t>(F < -1 ? -1.0f : F);
}

const Texture *textureOf(uint64_t Object) {
  return Object && Object <= MaxTextures ? Textures[Object - 1].load()
                                         : nullptr;
}

/// \p Coords are integers in plain memory, else floats.
Selection select(const Texture &T, uint32_t Dims, bool Integers,
                 const uint32_t (&Coords)[3]) {
  double At[3] = {};
  for (unsigned D = 0; D < Dims; ++D)
    At[D] = Integers ? double(int32_t(Coords[D]))
                     : double(bitsOf<float>(Coords[D]));
  return select(T, Dims, At);
}

} // namespace

extern "C" {

/// tex.<dims>d: four channels of 32 bits go to \p Out.
void rcc_texture(ThreadCtx *Ctx, uint32_t Site, uint64_t Object, uint32_t Dims,
                 uint32_t Integers, uint32_t X, uint32_t Y, uint32_t Z,
                 uint32_t *Out) {
  const Texture *T = textureOf(Object);
  if (!T) {
    auto &Me = *static_cast<Thread *>(Ctx);
    report(Severity::Error, "invalid-texture", currentWorker()->G->L, &Me, Site,
           "fetch from something that is no texture object, or was destroyed");
    currentWorker()->abortLaunch(Me);
  }
  const Selection S = select(*T, Dims, Integers, {X, Y, Z});
  uint32_t *Unknown = reinterpret_cast<uint32_t *>(shadowOf(Out));
  for (unsigned I = 0; I < S.Count; ++I)
    if (S.Texels[I].At)
      rcc_check(Ctx, uint64_t(S.Texels[I].At), T->Format.bytes(), 0, 0, Site);
  for (unsigned C = 0; C < 4; ++C) {
    Out[C] = Unknown[C] = 0;
    if (C >= T->Format.channels())
      continue;
    double Sum = 0;
    for (unsigned I = 0; I < S.Count; ++I) {
      const Texel &One = S.Texels[I];
      uint32_t Shadow = 0;
      uint32_t V = One.At      ? channel(*T, One.At, C, Shadow)
                   : T->Linear ? 0
                               : T->Border[C];
      Unknown[C] |= Shadow;
      if (!T->Blend)
        Out[C] = V;
      else if (One.Weight != 0)
        Sum += One.Weight * double(bitsOf<float>(V));
    }
    if (T->Blend) {
      Out[C] = bitsOf<uint32_t>(static_cast<float>(Sum));
      Unknown[C] = Unknown[C] ? ~0u : 0;
    }
  }
}

} // extern "C"

//===--- The API ----------------------------------------------------------===//

namespace {
struct ResourceDesc {
  int Type; ///< 0: array, 1: mipmapped array, 2: linear, 3: pitched
  union {
    CudaArray *Array;
    struct {
      void *Ptr;
      ChannelFormat Format;
      size_t Size;
    } Linear;
    struct {
      void *Ptr;
      ChannelFormat Format;
      size_t Width, Height, Pitch;
    } Pitched;
    int Reserved[32];
  };
  unsigned Flags;
};

struct TextureDesc {
  int AddressMode[3], FilterMode, ReadMode, SRGB;
  float BorderColor[4];
  int NormalizedCoords; // more follows that plays no part without mipmaps
};
} // namespace

extern "C" {
int cudaCreateTextureObject(uint64_t *Out, const ResourceDesc *R,
                            const TextureDesc *D, const void *View) {
  if (!Out || !R || !D)
    return fail(InvalidValue);
  if (View)
    return unsupported("resource views");
  if (R->Type == 1)
    return unsupported("mipmapped arrays");
  if (D->SRGB)
    return unsupported("sRGB conversion");
  Texture T = {};
  size_t Depth = 1, Height = 1, Width = 0;
  switch (R->Type) {
  case 0:
    if (!R->Array)
      return fail(InvalidValue);
    T.Format = R->Array->Format;
    Width = R->Array->Width;
    Height = R->Array->rows();
    Depth = R->Array->planes();
    T.Pitch = R->Array->pitch();
    T.Data = R->Array->Data;
    break;
  case 2:
    T.Format = R->Linear.Format;
    T.Data = static_cast<char *>(R->Linear.Ptr);
    if (T.Format.valid())
      Width = R->Linear.Size / T.Format.bytes();
    T.Linear = true;
    break;
  case 3:
    T.Format = R->Pitched.Format;
    T.Data = static_cast<char *>(R->Pitched.Ptr);
    Width = R->Pitched.Width;
    Height = R->Pitched.Height;
    T.Pitch = R->Pitched.Pitch;
    if (T.Pitch % 32 || !Height ||
        (T.Format.valid() && Width * T.Format.bytes() > T.Pitch))
      return fail(InvalidValue);
    break;
  default:
    return fail(InvalidValue);
  }
  if (!T.Format.valid())
    return fail(InvalidChannelDescriptor);
  if (!Width || !T.Data)
    return fail(InvalidValue);
  const bool Float = T.Format.Kind == 2;
  T.NormalizedFloat = D->ReadMode == 1 && !Float;
  if (T.NormalizedFloat && T.Format.Bits[0] == 32)
    return fail(InvalidNormSetting);
  T.Blend = D->FilterMode == 1 && !T.Linear;
  if (T.Blend && !Float && !T.NormalizedFloat)
    return fail(InvalidFilterSetting);
  T.NormalizedCoords = D->NormalizedCoords && !T.Linear;
  const size_t Size[3] = {Width, Height, Depth};
  for (unsigned N = 0; N < 3; ++N) {
    T.Size[N] = Size[N];
    if (D->AddressMode[N] < 0 || D->AddressMode[N] > 3)
      return fail(InvalidValue);
    T.Mode[N] = T.Linear ? Address::Border : Address(D->AddressMode[N]);
    // These two have no meaning without normalised coordinates.
    if (!T.NormalizedCoords &&
        (T.Mode[N] == Address::Wrap || T.Mode[N] == Address::Mirror))
      T.Mode[N] = Address::Clamp;
  }
  T.PlanePitch = T.Pitch * Height;
  memcpy(T.Border, D->BorderColor, sizeof(T.Border));
  auto *New = new Texture(T);
  for (size_t N = 0; N < MaxTextures; ++N) {
    Texture *None = nullptr;
    if (Textures[N].compare_exchange_strong(None, New)) {
      *Out = N + 1;
      return Success;
    }
  }
  delete New;
  return fail(OutOfMemory);
}
int cudaDestroyTextureObject(uint64_t Object) {
  if (!Object)
    return Success;
  if (Object > MaxTextures)
    return fail(InvalidValue);
  Texture *Old = Textures[Object - 1].exchange(nullptr);
  delete Old;
  return Old ? Success : fail(InvalidValue);
}
} // extern "C"

#define API(NAME) {#NAME, reinterpret_cast<void *>(&NAME)}
std::vector<std::pair<std::string, void *>> textureSymbols() {
  return {API(rcc_texture), API(cudaCreateTextureObject),
          API(cudaDestroyTextureObject)};
}
#undef API

} // namespace rcache::check
