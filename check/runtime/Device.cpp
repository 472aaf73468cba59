// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions that lowered device code calls. Names are what the lowering
// pass emits; operands follow Abi.h.

#include "Exec.h"

#include <cfenv>
#include <chrono>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sched.h>

#pragma STDC FENV_ACCESS ON

namespace rcache::check {

namespace {
WriteWatch *Watch = nullptr;

void noteWatch(uint64_t Addr, uint64_t Size, uint32_t Flags, const Thread &T) {
  if (!Watch || !(Flags & AccessWrite) ||
      uint64_t(Watch->Address) - Addr >= Size)
    return;
  Watch->Written = true;
  Watch->Block = {T.Block->Ctaid[0], T.Block->Ctaid[1], T.Block->Ctaid[2]};
  Watch->Thread = {T.Tid[0], T.Tid[1], T.Tid[2]};
}

Thread &self(ThreadCtx *T) { return *static_cast<Thread *>(T); }

struct Rounding {
  int Saved = fegetround();
  explicit Rounding(uint32_t Mode) {
    static const int Modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD,
                                FE_UPWARD};
    fesetround(Modes[Mode & 3]);
  }
  ~Rounding() { fesetround(Saved); }
};

enum RoundOp { OpAdd, OpMul, OpDiv, OpFma, OpRcp, OpSqrt };
template <class T> T roundOp(uint32_t Op, uint32_t Mode, T A, T B, T C) {
  Rounding R(Mode);
  volatile T X = A, Y = B, Z = C;
  volatile T Out = 0;
  switch (Op) {
  case OpAdd:
    Out = X + Y;
    break;
  case OpMul:
    Out = X * Y;
    break;
  case OpDiv:
    Out = X / Y;
    break;
  case OpFma:
    Out = std::fma(T(X), T(Y), T(Z));
    break;
  case OpRcp:
    Out = T(1) / X;
    break;
  case OpSqrt:
    Out = std::sqrt(T(X));
    break;
  }
  return Out;
}
} // namespace

void watchWrites(WriteWatch *W) { Watch = W; }

extern "C" {

ThreadCtx *rcc_ctx() { return currentWorker()->Current; }

void rcc_barrier(ThreadCtx *T, uint32_t Site, uint32_t Id, uint32_t Count) {
  currentWorker()->barrier(self(T), Site, Id, Count, BarRed::None, 0);
}
uint32_t rcc_barrier_red(ThreadCtx *T, uint32_t Site, uint32_t Id,
                         uint32_t Count, uint32_t Red, uint32_t Pred) {
  currentWorker()->barrier(self(T), Site, Id, Count, BarRed(Red), Pred);
  return self(T).Result;
}
void rcc_syncwarp(ThreadCtx *T, uint32_t Site, uint32_t Mask) {
  currentWorker()->warpOp(self(T), Site, WarpOp::Sync, 0, Mask, 0, 0, 0);
}
uint32_t rcc_shfl(ThreadCtx *T, uint32_t Site, uint32_t Kind, uint32_t Mask,
                  uint32_t Value, uint32_t B, uint32_t C) {
  return currentWorker()->warpOp(self(T), Site, WarpOp::Shfl, Kind, Mask, Value,
                                 B, C);
}
uint32_t rcc_vote(ThreadCtx *T, uint32_t Site, uint32_t Kind, uint32_t Mask,
                  uint32_t Pred) {
  return currentWorker()->warpOp(self(T), Site, WarpOp::Vote, Kind, Mask, Pred,
                                 0, 0);
}
uint32_t rcc_match(ThreadCtx *T, uint32_t Site, uint32_t All, uint32_t Mask,
                   uint64_t Value) {
  return currentWorker()->warpOp(self(T), Site, WarpOp::Match, All, Mask, Value,
                                 0, 0);
}
uint32_t rcc_redux(ThreadCtx *T, uint32_t Site, uint32_t Kind, uint32_t Mask,
                   uint32_t Value) {
  return currentWorker()->warpOp(self(T), Site, WarpOp::Redux, Kind, Mask,
                                 Value, 0, 0);
}
uint32_t rcc_activemask(ThreadCtx *T, uint32_t Site) {
  return currentWorker()->activeMask(self(T), Site);
}

/// After an access that other threads may be waiting for, or that code without
/// __syncwarp relies on to run in lock step.
void rcc_yield(ThreadCtx *T) { currentWorker()->yield(self(T)); }
void rcc_spin(ThreadCtx *T) {
  if ((++self(T).Spins & 15) != 0)
    return;
  if (currentWorker()->G->Workspace) // it may wait for another block
    sched_yield();
  currentWorker()->yield(self(T));
}

//===--- Checks -----------------------------------------------------------===//

void rcc_check(ThreadCtx *Ctx, uint64_t Addr, uint64_t Size, uint32_t Align,
               uint32_t Flags, uint32_t Site) {
  Thread &T = self(Ctx);
  Worker &W = *currentWorker();
  noteWatch(Addr, Size, Flags, T);
  const bool Variable = noteGlobal(Addr, Size, Flags, T);
  if (!Size || ((!Align || !(Addr & (Align - 1))) &&
                (Variable || accessibleBytes(Addr, Size) == Size || noteAccess(Addr, Size))))
    return;
  // nvcc reads 16 bytes where the source reads 12 of them and their address is a
  // multiple of 16: no allocation ends in between.
  if (options().WholeVectors && !(Flags & AccessWrite) && Size <= 16 &&
      !(Addr & (Size - 1)) && accessibleBytes(Addr, Size))
    return;
  std::string What = std::string(Flags & AccessWrite ? "write" : "read") +
                     " of " + std::to_string(Size) + " bytes at address ";
  char Hex[32];
  snprintf(Hex, sizeof(Hex), "0x%llx", static_cast<unsigned long long>(Addr));
  What += Hex;
  size_t Ok = accessibleBytes(Addr, Size);
  if (Ok < Size && !noteAccess(Addr, Size)) {
    Allocation A;
    uint64_t Shared = Addr - uint64_t(T.Shared) + (1u << 16);
    if (Shared < T.Block->TotalShared + (2u << 16)) {
      long long Off = (long long)(Addr - uint64_t(T.Shared));
      What += ": outside the block's shared arrays (offset " +
              std::to_string(Off) + " of " +
              std::to_string(T.Block->TotalShared) + " bytes)";
      for (const SharedRange &R : *W.G->L->Ranges)
        if (Off >= R.Offset && Off < R.Offset + R.Size + 4096)
          What += ", after '" + R.Name + "' of " + std::to_string(R.Size) +
                  " bytes";
    } else if (nearestAllocation(reinterpret_cast<void *>(Addr), A)) {
      uint64_t B = uint64_t(A.Base);
      What += Addr < B ? ": " + std::to_string(B - Addr) + " bytes before"
                       : ": " + std::to_string(Addr - B - A.Size) +
                             " bytes after the end of";
      What += A.Name.empty() ? " an allocation" : " '" + A.Name + "'";
      What += " of " + std::to_string(A.Size) + " bytes";
    } else {
      What += Addr < 4096 ? ": null pointer"
                          : ": no device memory there (host memory, or freed)";
    }
    report(Severity::Error, "out-of-bounds", W.G->L, &T, Site, What);
    W.abortLaunch(T);
  }
  if (Align && (Addr & (Align - 1))) {
    report(Severity::Error, "misaligned", W.G->L, &T, Site,
           What + ": not a multiple of " + std::to_string(Align));
    W.abortLaunch(T);
  }
}

void rcc_shared(ThreadCtx *T, uint64_t Addr, uint32_t Size, uint32_t Flags,
                uint32_t Site) {
  if (options().Races)
    currentWorker()->sharedAccess(self(T), Addr, Size, Flags, Site);
}

void rcc_uninit(ThreadCtx *T, uint32_t Use, uint32_t Site) {
  static const char *Text[] = {
      "a value that was never initialised is stored to global memory",
      "an address depends on a value that was never initialised",
      "a branch depends on a value that was never initialised",
      "a shuffle's mask or lane depends on a value that was never initialised"};
  report(Severity::Error, "uninitialised", currentWorker()->G->L, &self(T),
         Site, Text[Use & 3]);
}

/// A store of an undefined value; only one to global memory counts.
void rcc_uninit_store(ThreadCtx *T, const void *P, uint32_t Site) {
  Allocation A;
  if (findAllocation(P, A))
    rcc_uninit(T, uint32_t(UninitUse::Store), Site);
}

void rcc_local(ThreadCtx *Ctx, int64_t Offset, uint64_t Size, uint64_t Whole,
               uint32_t Site) {
  Thread &T = self(Ctx);
  report(Severity::Error, "out-of-bounds", currentWorker()->G->L, &T, Site,
         "access of " + std::to_string(Size) + " bytes at offset " +
             std::to_string(Offset) + " of a private array of " +
             std::to_string(Whole) + " bytes");
  currentWorker()->abortLaunch(T);
}

/// The host calls its own memory functions; device copies come here.
void rcc_memcpy_shadow(void *Dst, const void *Src, uint64_t N) {
  copyShadow(Dst, Src, N);
}
void rcc_memset_shadow(void *Dst, uint32_t Shadow, uint64_t N) {
  if (inArena(Dst))
    memset(shadowOf(Dst), Shadow, N);
}

void rcc_unsupported(ThreadCtx *Ctx, const char *Name, uint32_t Site) {
  Thread &T = self(Ctx);
  report(Severity::Error, "unsupported", currentWorker()->G->L, &T, Site,
         std::string("this checker cannot execute '") + Name + "'");
  currentWorker()->abortLaunch(T);
}

void rcc_overflow(ThreadCtx *Ctx, uint32_t Site, uint32_t Overflows) {
  if (!Overflows)
    return;
  Thread &T = self(Ctx);
  report(Severity::Error, "signed-overflow", currentWorker()->G->L, &T, Site,
         "a signed integer leaves its type");
  currentWorker()->abortLaunch(T);
}

uint8_t rcc_stop = 0;
void rcc_stopped(ThreadCtx *Ctx, uint32_t Site) {
  Thread &T = self(Ctx);
  if (!currentWorker()->G->Abort)
    report(Severity::Error, "timeout", currentWorker()->G->L, &T, Site,
           "the launch takes longer than the time limit");
  currentWorker()->abortLaunch(T);
}

void rcc_trap(ThreadCtx *Ctx, uint32_t Site) {
  Thread &T = self(Ctx);
  report(Severity::Error, "trap", currentWorker()->G->L, &T, Site,
         "the kernel trapped");
  currentWorker()->abortLaunch(T);
}

void rcc_assertfail(ThreadCtx *Ctx, const char *Message, const char *File,
                    uint32_t Line, const char *Function, uint32_t Site) {
  Thread &T = self(Ctx);
  report(Severity::Error, "assertion", currentWorker()->G->L, &T, Site,
         std::string(File) + ":" + std::to_string(Line) + ": " + Function +
             ": assertion '" + Message + "' failed");
  currentWorker()->abortLaunch(T);
}

/// printf of the device: arguments lie one after the other, each aligned to its
/// size; floats were promoted.
int rcc_vprintf(const char *Format, const char *Args) {
  std::string Out;
  size_t At = 0;
  int Count = 0; // of arguments: what the device's printf returns
  for (const char *P = Format; *P; ++P) {
    if (*P != '%') {
      Out += *P;
      continue;
    }
    if (P[1] == '%') {
      Out += '%';
      ++P;
      continue;
    }
    std::string Spec = "%";
    bool Long = false;
    int Halves = 0; // h, hh
    ++P;
    auto Take = [&](size_t Size) {
      At = (At + Size - 1) & ~(Size - 1);
      const char *R = Args + At;
      At += Size;
      return R;
    };
    for (; *P && !strchr("diouxXeEfFgGaAcsp", *P); ++P) {
      if (*P == '*') {
        int V;
        memcpy(&V, Take(4), 4);
        ++Count;
        Spec += std::to_string(V);
        continue;
      }
      if (*P == 'l' || *P == 'z' || *P == 'j' || *P == 't')
        Long = true;
      Halves += *P == 'h';
      if (*P != 'l' && *P != 'h' && *P != 'z' && *P != 'j' && *P != 't')
        Spec += *P;
    }
    if (!*P)
      break;
    char Buf[512];
    ++Count;
    if (strchr("eEfFgGaA", *P)) {
      double V;
      memcpy(&V, Take(8), 8);
      snprintf(Buf, sizeof(Buf), (Spec + *P).c_str(), V);
    } else if (*P == 's') {
      const char *V;
      memcpy(&V, Take(8), 8);
      snprintf(Buf, sizeof(Buf), (Spec + 's').c_str(), V);
    } else if (*P == 'p' || Long) {
      long long V;
      memcpy(&V, Take(8), 8);
      snprintf(Buf, sizeof(Buf), (Spec + (*P == 'p' ? "" : "ll") + *P).c_str(),
               V);
    } else {
      int V;
      memcpy(&V, Take(4), 4);
      bool Signed = *P == 'd' || *P == 'i';
      if (Halves == 1)
        V = Signed ? int(short(V)) : int(static_cast<unsigned short>(V));
      else if (Halves)
        V = Signed ? int(static_cast<signed char>(V)) : int(static_cast<unsigned char>(V));
      snprintf(Buf, sizeof(Buf), (Spec + *P).c_str(), V);
    }
    Out += Buf;
  }
  fwrite(Out.data(), 1, Out.size(), stdout);
  return Count;
}

void *rcc_malloc(uint64_t Size) { return allocate(Size, Allocation::Device); }
void rcc_free(void *P) {
  if (P)
    release(P);
}

//===--- Arithmetic that the host's instructions do not have --------------===//

float rcc_round_f32(uint32_t Op, uint32_t Mode, float A, float B, float C) {
  return roundOp<float>(Op, Mode, A, B, C);
}
double rcc_round_f64(uint32_t Op, uint32_t Mode, double A, double B, double C) {
  return roundOp<double>(Op, Mode, A, B, C);
}
float rcc_d2f(uint32_t Mode, double A) {
  Rounding R(Mode);
  volatile double X = A;
  volatile float F = static_cast<float>(X);
  return F;
}
float rcc_i2f(uint32_t Mode, uint32_t Signed, uint64_t A) {
  Rounding R(Mode);
  volatile uint64_t X = A;
  volatile float F = Signed ? static_cast<float>(static_cast<int64_t>(X))
                            : static_cast<float>(X);
  return F;
}
double rcc_i2d(uint32_t Mode, uint32_t Signed, uint64_t A) {
  Rounding R(Mode);
  volatile uint64_t X = A;
  volatile double F = Signed ? static_cast<double>(static_cast<int64_t>(X))
                             : static_cast<double>(X);
  return F;
}
/// What the code generator calls to round to bfloat16. The result lies in the low
/// half of the register that a float is returned in.
float rcc_truncsfbf2(float X) {
  uint32_t Bits;
  memcpy(&Bits, &X, 4);
  if ((Bits & 0x7fffffff) > 0x7f800000)
    Bits |= 0x400000; // quiet
  else
    Bits += 0x7fff + (Bits >> 16 & 1);
  Bits >>= 16;
  memcpy(&X, &Bits, 4);
  return X;
}
float rcc_truncdfbf2(double X) {
  // To odd first: a second rounding then is as good as one.
  volatile double In = X;
  volatile float Near = static_cast<float>(In);
  float F = Near;
  uint32_t Bits;
  memcpy(&Bits, &F, 4);
  if (F == F && static_cast<double>(F) != X && (Bits & 0x7fffffff) < 0x7f800000 &&
      !(Bits & 1))
    Bits += std::fabs(static_cast<double>(F)) < std::fabs(X) ? 1 : -1;
  memcpy(&F, &Bits, 4);
  return rcc_truncsfbf2(F);
}
float rcc_ex2f(float X) { return exp2f(X); }
float rcc_lg2f(float X) { return log2f(X); }
float rcc_sinf(float X) { return sinf(X); }
float rcc_cosf(float X) { return cosf(X); }
float rcc_tanhf(float X) { return tanhf(X); }
float rcc_rsqrtf(float X) { return 1.0f / sqrtf(X); }
double rcc_rsqrt(double X) { return 1.0 / sqrt(X); }
uint64_t rcc_clock() {
  return std::chrono::steady_clock::now().time_since_epoch().count();
}
uint32_t rcc_prmt(uint32_t A, uint32_t B, uint32_t Sel) {
  uint64_t V = uint64_t(B) << 32 | A;
  uint32_t R = 0;
  for (int I = 0; I < 4; ++I) {
    uint32_t S = Sel >> (4 * I) & 15;
    uint32_t Byte = V >> (8 * (S & 7)) & 0xff;
    if (S & 8)
      Byte = Byte & 0x80 ? 0xff : 0;
    R |= Byte << (8 * I);
  }
  return R;
}
uint32_t rcc_fns(uint32_t Mask, uint32_t Base, int32_t Offset) {
  int32_t Count = 0;
  if (Offset == 0)
    return Mask >> (Base & 31) & 1 ? Base : ~0u;
  int32_t Step = Offset > 0 ? 1 : -1;
  for (int32_t I = Base; I >= 0 && I < 32; I += Step)
    if ((Mask >> I & 1) && ++Count == Offset * Step)
      return I;
  return ~0u;
}

} // extern "C"

#define RCC(NAME)                                                              \
  { #NAME, reinterpret_cast<void *>(&NAME) }
std::vector<std::pair<std::string, void *>> deviceSymbols() {
  return {RCC(rcc_ctx),          RCC(rcc_barrier),  RCC(rcc_barrier_red),
          RCC(rcc_syncwarp),     RCC(rcc_shfl),     RCC(rcc_vote),
          RCC(rcc_match),        RCC(rcc_redux),    RCC(rcc_activemask),
          RCC(rcc_yield),        RCC(rcc_spin),     RCC(rcc_check),
          RCC(rcc_shared),       RCC(rcc_uninit),       RCC(rcc_stop),    RCC(rcc_stopped),
          RCC(rcc_uninit_store), RCC(rcc_local),   RCC(rcc_memcpy_shadow),
          RCC(rcc_memset_shadow), RCC(rcc_unsupported), RCC(rcc_trap), RCC(rcc_overflow),
          RCC(rcc_assertfail),   RCC(rcc_vprintf),  RCC(rcc_malloc),
          RCC(rcc_free),         RCC(rcc_round_f32), RCC(rcc_round_f64),
          RCC(rcc_d2f),          RCC(rcc_i2f),      RCC(rcc_i2d),
          RCC(rcc_ex2f),         RCC(rcc_lg2f),     RCC(rcc_sinf),
          RCC(rcc_cosf),         RCC(rcc_tanhf),    RCC(rcc_rsqrtf),
          RCC(rcc_rsqrt),        RCC(rcc_clock),    RCC(rcc_prmt),
          RCC(rcc_fns),
          {"__truncsfbf2", reinterpret_cast<void *>(&rcc_truncsfbf2)},
          {"__truncdfbf2", reinterpret_cast<void *>(&rcc_truncdfbf2)}};
}
#undef RCC

} // namespace rcache::check
