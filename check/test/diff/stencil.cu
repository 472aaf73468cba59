// REQUIRES: cuda-toolkit
// RUN: %check diff %S/../Inputs/stencil.cu %S/../Inputs/stencil_rc.cu 2>&1 | FileCheck %s --check-prefix=SAME
// RUN: %status 1 %check diff %S/../Inputs/stencil.cu %S/../Inputs/stencil_lane.cu 2>&1 | FileCheck %s --check-prefix=LANE
// RUN: %status 1 %check diff %S/../Inputs/stencil_rc.cu %S/../Inputs/stencil_lane.cu
// SAME: equivalent: 3 launches compared
// LANE: different: after launch 0 of 'kernel' ('kernel_rc'), allocation 1 of 4000 bytes, byte {{[0-9]+}} (4-byte element {{[0-9]+}})
// LANE-NEXT: original:
// LANE-NEXT: rewritten:
