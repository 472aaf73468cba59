// REQUIRES: cuda-toolkit
// RUN: %check %S/../Inputs/stencil.cu --kernel=kernel --rewritten=%S/../Inputs/stencil_rc.cu --trials=120 2>&1 | FileCheck %s --check-prefix=SAME
// RUN: %status 1 %check %S/../Inputs/stencil.cu --kernel=kernel --rewritten=%S/../Inputs/stencil_arithmetic.cu 2>&1 | FileCheck %s --check-prefix=ARITHMETIC
// RUN: %status 1 %check %S/../Inputs/stencil.cu --kernel=kernel --rewritten=%S/../Inputs/stencil_lane.cu 2>&1 | FileCheck %s --check-prefix=LANE
// RUN: %status 2 %check %S/../Inputs/stencil.cu --kernel=nothing 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: %status 2 %check 2>&1 | FileCheck %s --check-prefix=USAGE
// RUN: %status 5 %check run %s 2>&1 | FileCheck %s --check-prefix=BROKEN
// SAME: equivalent: kernel: {{[0-9]+}} launches compared bit for bit, {{[1-9][0-9]*}} of them by a rewritten kernel
// ARITHMETIC: different: kernel: o[{{[0-9]+}}]
// LANE: different: kernel: o[{{[0-9]+}}]
// LANE: the original writes it in block ({{.*}}), thread ({{.*}})
// NONE: no kernel 'nothing'
// USAGE: usage:
// BROKEN: could not be compiled
this does not compile;
