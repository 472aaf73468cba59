// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a kernel's machine code says of itself: a cubin is an ELF file with a section
// of 16-byte instructions for each kernel. An instruction tells, beside what it does,
// how long the next one has to wait and on which of six scoreboards it waits for
// loads and the like (capabilities 7.0 and later). So one warp can be followed
// through the code without a device:
//
//     arithmetic       which operations there are, how often: the same of two codes
//                      of a kernel says that ptxas fused as many products
//     clocks of pipes  what a warp takes of each unit of its scheduler
//     clocks of a warp how long it takes alone; that is what other warps hide
//
// Loops are followed twice and count for as many rounds as RegisterPressure.def says.

#ifndef RCACHE_LIB_PREDICT_MACHINECODE_H
#define RCACHE_LIB_PREDICT_MACHINECODE_H

#include "rcache/Prediction.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <array>
#include <cstdint>
#include <map>
#include <vector>

namespace rcache {

/// One instruction of 128 bits.
struct MachineInstruction {
  unsigned Opcode = 0;     ///< bits 0 to 11; the last 9 name the operation
  bool Predicated = false; ///< runs where a predicate holds
  unsigned Stall = 0;      ///< clocks until the next one may be issued
  unsigned Sets = 7;       ///< scoreboard that its result clears; 7: none
  unsigned SetsRead = 7;   ///< ... when its operands have been read
  unsigned Waits = 0;      ///< mask of scoreboards to wait for
  int64_t Target = -1;     ///< of branches and calls: index in the function
  unsigned Bytes = 4;      ///< of a memory access, a lane
};

/// The units of a scheduler; figures are its clocks for a warp. L2: what all lanes
/// load and store next to each other and nothing of it in L1, the most that
/// coalesced accesses take.
enum class Pipe { Issue, Fp32, Integer, Fp64, Special, Memory, L2 };
constexpr unsigned NumPipes = 7;

struct MachineFigures {
  /// Floating-point operations in the code, by name of the operation.
  std::map<std::string, unsigned> Arithmetic;
  std::array<double, NumPipes> Pipes{}; ///< clocks for a thread's way
  double Wait = 0;                      ///< clocks of a warp alone
  double LocalAccesses = 0;             ///< of local memory, for a thread's way
};

/// The instructions of function \p MangledName. Errors: no such function, no ELF
/// file, an architecture before 7.0.
llvm::Expected<std::vector<MachineInstruction>>
machineCode(llvm::StringRef Cubin, llvm::StringRef MangledName);

/// What a warp does in \p Code on \p A.
MachineFigures figuresOf(const std::vector<MachineInstruction> &Code,
                         const Arch &A);

} // namespace rcache

#endif // RCACHE_LIB_PREDICT_MACHINECODE_H
