// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See MachineCode.h. What bits of an instruction mean was found by compiling; the
// places are the same from capability 7.0 to 12.0:
//
//     0-11 operation and form   12-15 predicate, 7: none   16-23, 34-81 target / 4
//     73-75 bytes of an access  105-108 stall              110-112, 113-115 sets
//     116-121 mask of waits

#include "MachineCode.h"
#include "Constants.h"
#include "RegisterPressure.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/Endian.h"
#include <algorithm>

using namespace rcache;

namespace {

constexpr unsigned InstructionBytes = 16;
/// Bits of an opcode that name the operation; the others its operands' form.
constexpr unsigned Operation = 0x1ff;

enum : unsigned {
  Bra = 0x947,
  Call = 0x944,
  Exit = 0x94d,
  Nop = 0x918,
  Bssy = 0x945,
  Bsync = 0x941
};

struct Kind {
  unsigned Operation;
  Pipe Of;
  const char *Arithmetic; ///< its name, if it computes with rounding
};
constexpr Kind Kinds[] = {
    {0x020, Pipe::Fp32, "FMUL"},   {0x021, Pipe::Fp32, "FADD"},
    {0x023, Pipe::Fp32, "FFMA"},   {0x028, Pipe::Fp64, "DMUL"},
    {0x029, Pipe::Fp64, "DADD"},   {0x02b, Pipe::Fp64, "DFMA"},
    {0x02a, Pipe::Fp64, nullptr},  {0x030, Pipe::Fp32, "HADD2"},
    {0x031, Pipe::Fp32, "HFMA2"},  {0x032, Pipe::Fp32, "HMUL2"},
    {0x108, Pipe::Special, nullptr},
    {0x181, Pipe::Memory, nullptr}, {0x183, Pipe::Memory, nullptr},
    {0x184, Pipe::Memory, nullptr}, {0x186, Pipe::Memory, nullptr},
    {0x187, Pipe::Memory, nullptr}, {0x188, Pipe::Memory, nullptr},
    {0x18d, Pipe::Memory, nullptr}, {0x18e, Pipe::Memory, nullptr},
};
constexpr unsigned LoadGlobal = 0x181, StoreGlobal = 0x186, LoadLocal = 0x183,
                   StoreLocal = 0x187;

const Kind *kindOf(unsigned Opcode) {
  const auto *It = llvm::find_if(
      Kinds, [&](const Kind &K) { return K.Operation == (Opcode & Operation); });
  return It == std::end(Kinds) ? nullptr : It;
}

bool isControl(unsigned Opcode) {
  return Opcode == Bra || Opcode == Call || Opcode == Exit || Opcode == Nop ||
         Opcode == Bssy || Opcode == Bsync;
}

MachineInstruction decode(llvm::StringRef Bytes, size_t At) {
  const uint64_t Low = llvm::support::endian::read64le(Bytes.data() + At),
                 High = llvm::support::endian::read64le(Bytes.data() + At + 8);
  MachineInstruction I;
  I.Opcode = Low & 0xfff;
  I.Predicated = ((Low >> 12) & 15) != 7;
  I.Stall = (High >> 41) & 15;
  I.Sets = (High >> 46) & 7;
  I.SetsRead = (High >> 49) & 7;
  I.Waits = (High >> 52) & 63;
  const unsigned Size = (High >> 9) & 7;
  I.Bytes = Size == 5 ? 8 : Size == 6 ? 16 : 4;
  if (I.Opcode == Bra || I.Opcode == Call) {
    // 56 bits, in units of four bytes, from the next instruction on.
    const uint64_t Upper = (Low >> 34) | ((High & 0x3ffff) << 30);
    const auto Distance =
        static_cast<int64_t>((Upper << 8 | ((Low >> 16) & 0xff)) << 8) / 256;
    I.Target = (static_cast<int64_t>(At + InstructionBytes) + Distance * 4) /
               InstructionBytes;
  }
  return I;
}

/// One warp on its way through a function.
class Walk {
public:
  Walk(const std::vector<MachineInstruction> &Code, const Arch &A)
      : Code(Code), A(A) {
    // What stands behind the last exit is called where arithmetic needs more
    // steps than usual.
    for (size_t I = 0; I < Code.size(); ++I)
      if (Code[I].Opcode == Exit && !Code[I].Predicated)
        End = I + 1;
    for (size_t I = 0; I < End; ++I)
      if (Code[I].Opcode == Bra && Code[I].Target >= 0 &&
          Code[I].Target <= static_cast<int64_t>(I))
        Loops.push_back({static_cast<size_t>(Code[I].Target), I, false});
    findSlowPaths();
  }

  MachineFigures run() {
    for (const MachineInstruction &I : Code)
      if (const Kind *K = kindOf(I.Opcode); K && K->Arithmetic)
        ++F.Arithmetic[K->Arithmetic];
    constexpr size_t MostSteps = 1 << 20;
    size_t Steps = 0;
    for (size_t At = 0; At < End && Steps < MostSteps; ++Steps)
      At = Rare[At] ? At + 1 : step(At);
    return F;
  }

private:
  struct Loop {
    size_t First, Last;
    bool Again; ///< in the round that counts for all others
  };
  const std::vector<MachineInstruction> &Code;
  const Arch &A;
  const PressureConstants Fit;
  size_t End = 0;
  std::vector<Loop> Loops;
  std::vector<bool> Rare;
  std::array<double, 8> Ready{}; ///< clock at which a scoreboard is clear
  double Clock = 0;
  MachineFigures F;

  /// `@P bra over; ...; call slow; over:`: usually jumped over.
  void findSlowPaths() {
    constexpr int64_t Longest = 14;
    Rare.assign(Code.size(), false);
    for (size_t I = 0; I < End; ++I) {
      const MachineInstruction &B = Code[I];
      const int64_t Over = B.Target - static_cast<int64_t>(I);
      if (B.Opcode != Bra || !B.Predicated || Over < 2 || Over > Longest ||
          I + Over > Code.size())
        continue;
      const auto Inside = llvm::ArrayRef(Code).slice(I + 1, Over - 1);
      if (llvm::any_of(Inside, [](const auto &X) { return X.Opcode == Call; }))
        std::fill_n(Rare.begin() + I + 1, Over - 1, true);
    }
  }

  double rounds(size_t At) const {
    double Times = 1;
    for (const Loop &L : Loops)
      if (L.First <= At && At <= L.Last && L.Again)
        Times *= Fit.LoopRounds - 1;
    return Times;
  }

  double latency(unsigned Operation) const {
    const Kind *K = kindOf(Operation);
    if (!K || K->Of != Pipe::Memory)
      return Fit.OtherLatency;
    Operation &= ::Operation;
    return Operation == LoadGlobal  ? Fit.GlobalLatency
           : Operation == LoadLocal ? Fit.LocalLatency
                                    : Fit.SharedLatency;
  }

  /// Clocks of a unit that serves \p Lanes lanes of an SM a clock.
  static double perWarp(unsigned Lanes) { return 32.0 * 4 / Lanes; }

  void count(const MachineInstruction &I, double Times) {
    auto Add = [&](Pipe P, double Clocks) {
      F.Pipes[static_cast<size_t>(P)] += Times * Clocks;
    };
    Add(Pipe::Issue, 1);
    const Kind *K = kindOf(I.Opcode);
    if (!K) {
      if (!isControl(I.Opcode))
        Add(Pipe::Integer, perWarp(A.IntLanes));
      return;
    }
    switch (K->Of) {
    case Pipe::Fp32:
      return Add(Pipe::Fp32, perWarp(A.Fp32Lanes));
    case Pipe::Fp64:
      return Add(Pipe::Fp64, perWarp(A.Fp64Lanes));
    case Pipe::Special:
      return Add(Pipe::Special, perWarp(A.SpecialLanes));
    default:
      Add(Pipe::Memory, perWarp(32) * I.Bytes / 4);
    }
    const unsigned O = I.Opcode & Operation;
    if (O == LoadLocal || O == StoreLocal)
      F.LocalAccesses += Times;
    // To and from L2, four schedulers share the way.
    const Constants &Rates = constantsOf(A);
    if (O == LoadGlobal)
      Add(Pipe::L2, 32.0 * I.Bytes / Rates.L2ReadBytesPerClock * 4);
    if (O == StoreGlobal)
      Add(Pipe::L2, 32.0 * I.Bytes / Rates.L2WriteBytesPerClock * 4);
  }

  /// Issues the instruction at \p At; where the next one is.
  size_t step(size_t At) {
    const MachineInstruction &I = Code[At];
    const double Times = rounds(At), Before = Clock;
    for (unsigned S = 0; S < 6; ++S)
      if (I.Waits >> S & 1)
        Clock = std::max(Clock, Ready[S]);
    if (I.Sets < 6)
      Ready[I.Sets] = std::max(Ready[I.Sets], Clock + latency(I.Opcode));
    if (I.SetsRead < 6)
      Ready[I.SetsRead] = std::max(Ready[I.SetsRead], Clock + Fit.ReadLatency);
    Clock += std::max(1u, I.Stall);
    F.Wait += Times * (Clock - Before);
    count(I, Times);
    for (Loop &L : Loops)
      if (L.Last == At) {
        L.Again = !L.Again;
        if (!L.Again)
          return At + 1;
        for (Loop &Inner : Loops)
          if (&Inner != &L && Inner.First >= L.First && Inner.Last < L.Last)
            Inner.Again = false;
        return L.First;
      }
    // The other arm; but a jump over a loop is taken where there is nothing to do.
    const auto Over = static_cast<size_t>(std::max<int64_t>(I.Target, 0));
    const bool Skips = llvm::any_of(Loops, [&](const Loop &L) {
      return At < L.First && L.Last < Over;
    });
    if (I.Opcode == Bra && !I.Predicated && Over > At && !Skips)
      return Over;
    return At + 1;
  }
};

} // namespace

llvm::Expected<std::vector<MachineInstruction>>
rcache::machineCode(llvm::StringRef Cubin, llvm::StringRef MangledName) {
  auto File = llvm::object::ELFFile<llvm::object::ELF64LE>::create(Cubin);
  if (!File)
    return File.takeError();
  auto Sections = File->sections();
  if (!Sections)
    return Sections.takeError();
  for (const auto &S : *Sections) {
    auto Name = File->getSectionName(S);
    if (!Name)
      return Name.takeError();
    if (*Name != (".text." + MangledName).str())
      continue;
    auto Bytes = File->getSectionContents(S);
    if (!Bytes)
      return Bytes.takeError();
    const llvm::StringRef Text(reinterpret_cast<const char *>(Bytes->data()),
                               Bytes->size());
    std::vector<MachineInstruction> Code;
    for (size_t At = 0; At + InstructionBytes <= Text.size();
         At += InstructionBytes)
      Code.push_back(decode(Text, At));
    return Code;
  }
  return llvm::createStringError("there is no code of '" + MangledName + "'");
}

MachineFigures rcache::figuresOf(const std::vector<MachineInstruction> &Code,
                                 const Arch &A) {
  return Walk(Code, A).run();
}
