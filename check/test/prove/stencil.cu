// REQUIRES: cuda-toolkit
// RUN: %check %S/../Inputs/stencil.cu --rewritten=%S/../Inputs/stencil_rc.cu --prove --block=128 --trials=8 2>&1 | FileCheck %s --check-prefix=PROVED
// RUN: %status 5 %check %S/../Inputs/stencil.cu --rewritten=%S/../Inputs/stencil_arithmetic.cu --prove --block=128 --trials=1 2>&1 | FileCheck %s --check-prefix=NOT
// RUN: %status 1 %check %S/../Inputs/stencil.cu --rewritten=%S/../Inputs/stencil_lane.cu --prove --block=128 --trials=1 2>&1 | FileCheck %s --check-prefix=DIFFERENT
// RUN: %status 5 %check %s --prove --trials=2 --block=64 --grid=1 2>&1 | FileCheck %s --check-prefix=DATA
// PROVED-COUNT-8: proved: kernel: grid {{.*}}n = {{[0-9]+}}
// PROVED: proved for all data at {{[0-9]+}} launch shapes, not proved at 0
// NOT: not proved: kernel: {{.*}}: the expressions differ though the values agree:
// NOT-NEXT: original: fadd(a[4], fadd(a[3], fadd(a[2], fadd(a[1], fadd(a[0], 0x0)))))
// NOT-NEXT: rewritten: {{.*}}fma(a[{{3[2-5]}}], 0x0
// DIFFERENT: different: kernel: {{.*}}: the expressions differ:
// DIFFERENT-NEXT: original: fadd(a[33],
// DIFFERENT-NEXT: rewritten: fadd(a[1],

// Control that depends on data is beyond this mode, and it says so.
__global__ void kernel(const float *a, float *o, int n) {
  int g = blockIdx.x * blockDim.x + threadIdx.x;
  float v = 1;
  if (g < n)
    for (int i = 0; a[g] > v && i < 10; ++i)
      v = v * 1.5f + a[g];
  // DATA: not proved: kernel: {{.*}}in the original, the control flow depends on data at {{.*}}prove/stencil.cu:{{[0-9]+}}
  if (g < n)
    o[g] = v;
}
