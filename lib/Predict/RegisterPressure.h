// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which hint about registers is worth giving. Each candidate has been compiled, and
// its machine code says how long a warp takes alone and what it takes of the units
// of its scheduler (MachineCode.h). W warps of a scheduler are done after
//
//     W * norm(busiest unit, wait of a warp / W)
//
// so more warps help as long as waiting counts, and what they cost (spilled
// registers, loads that no longer run ahead) is in both figures. The time is per
// warp: a launch with few blocks counts those that an SM really has.

#ifndef RCACHE_LIB_PREDICT_REGISTERPRESSURE_H
#define RCACHE_LIB_PREDICT_REGISTERPRESSURE_H

#include "MachineCode.h"
#include "rcache/Choice.h"
#include "rcache/Compiled.h"
#include <optional>
#include <vector>

namespace rcache {

/// The constants, as data: RegisterPressure.def.
struct PressureConstants {
#define RCACHE_PRESSURE(NAME, VALUE, UNIT, ORIGIN, FILE) double NAME = VALUE;
#include "RegisterPressure.def"
};

/// What is asked of the compiler for blocks of \p Threads threads: bounds alone, and
/// bounds on the blocks of an SM, one for each number of registers that they leave.
std::vector<RegisterHints> boundsToTry(unsigned Threads, const Arch &A);

/// Do registers limit how many warps an SM holds, or are some of them spilled?
bool limitedByRegisters(const KernelResources &R);

/// The figures of a kernel that was compiled to \p Of with code \p Code; \p Threads a
/// block, \p GridBlocks of a launch where host code tells.
PressureFigures pressureOf(const FunctionReport &Of, const MachineFigures &Code,
                           unsigned Threads,
                           std::optional<int64_t> GridBlocks, const Arch &A);

} // namespace rcache

#endif // RCACHE_LIB_PREDICT_REGISTERPRESSURE_H
