// Less is claimed than the counts say where predictions have been wrong: by rules
// with names. Constants of an architecture without measurements are borrowed.
//
// RUN: %rewrite %S/shared.cu -o %t.cu -q --kernel=rows --explain-choice -- %mock 2>&1 | FileCheck %s
// CHECK: s: shared; barriers in the warp; taps outside [capped: barriers-only]
// CHECK: capped (barriers-only): where nothing but barriers changes, half of the gain is claimed
// CHECK-NOT: borrowed
//
// RUN: %rewrite %S/windows.cu -o %t.cu -q --kernel=taps --explain-choice --arch=sm_80 -- %mock 2>&1 | FileCheck --check-prefix=OTHER %s
// OTHER: constants: borrowed from sm_90, on which they were measured
