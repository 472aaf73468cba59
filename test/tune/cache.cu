// Times that are kept decide, without a GPU.
// RUN: rm -rf %t && mkdir %t
// RUN: %rewrite %s -q -o /dev/null --tune-emit=%t/emitted -- %mock
// RUN: sh -c "sed -n '/^#undef main/,$p' %t/emitted/sum5-*/c2.cu" | FileCheck %s --check-prefix=PROGRAM
// PROGRAM: #undef main
// PROGRAM: int main() {
// The parameter gets a size, and what the launch makes of it follows.
// PROGRAM-NEXT: int n = 67108864;
// PROGRAM-NEXT: int blocks = (n + 127) / 128;
// PROGRAM: {true, rcache_tune::Floats, 4, 4, false, 0},
// PROGRAM: {true, rcache_tune::Floats, 4, 4, true, 0},
// PROGRAM: {false, rcache_tune::Integers, 0, 0, false, (long long)(n)},
// PROGRAM: ::sum5<<<g, b, s>>>(a...)
// PROGRAM: ::sum5_rc_{{launch}}(g, b, s, 0, a...)
//
// The candidate with the least time is taken, whatever is predicted.
// RUN: %python %S/Inputs/measured.py %t/emitted %t/a.json sm_90 2.0 c5=0.5 *=1.0
// RUN: %python %S/Inputs/with_path.py %S/Inputs/no-gpu rcache-rewrite %s -o /dev/null --tune=device --tune-cache=%t/a.json --explain-choice --report=%t/report.json -- %mock 2>&1 | FileCheck %s --check-prefix=BEST
// BEST: remark: rewrote 'sum5'
// BEST: note: about {{[0-9]+}} registers a thread, measured speed-up 4x on Test GPU (grid 7x1x1)
// BEST: candidates of 'sum5'
// BEST: rank ms
// BEST: the original
// BEST: 0.5000 s: {{.*}} <- chosen
// BEST: ms: measured on Test GPU, grid 7x1x1
// BEST: #5 was chosen: the shortest measured time, 0.5000 ms (4.00x of the original's 2.0000 ms)
// RUN: FileCheck %s --check-prefix=REPORT --input-file=%t/report.json
// REPORT: "measuredSpeedup": 4
// REPORT: "speedupFrom": "device"
// REPORT: "measuredOn": "Test GPU"
//
// Nothing faster was measured: the kernel stays as it is.
// RUN: %python %S/Inputs/measured.py %t/emitted %t/b.json sm_90 1.0 *=1.25
// RUN: %python %S/Inputs/with_path.py %S/Inputs/no-gpu rcache-rewrite %s -o %t/same.cu --tune=device --tune-cache=%t/b.json -- %mock 2>&1 | FileCheck %s --check-prefix=SLOW
// SLOW: 'sum5' left as it is: {{.*}} was measured at 0.80x) [no-gain]
// RUN: cmp %s %t/same.cu
//
// Other results than the original's: never taken, and told even with -q.
// RUN: %python %S/Inputs/measured.py %t/emitted %t/c.json sm_90 2.0 c2=differs c5=1.0
// RUN: %python %S/Inputs/with_path.py %S/Inputs/no-gpu rcache-rewrite %s -q -o /dev/null --tune=device --tune-cache=%t/c.json --explain-choice -- %mock 2>&1 | FileCheck %s --check-prefix=WRONG
// WRONG: warning: candidate #2 ({{.*}}) gives other results than the original on Test GPU: it is left out; please report it
// WRONG: [on Test GPU its results differ from the original's]
// WRONG: #5 was chosen
//
// None could be timed: the prediction stays.
// RUN: %python %S/Inputs/measured.py %t/emitted %t/d.json sm_90 2.0 *=failed
// RUN: %python %S/Inputs/with_path.py %S/Inputs/no-gpu rcache-rewrite %s -o /dev/null --tune=device --tune-cache=%t/d.json -- %mock 2>&1 | FileCheck %s --check-prefix=FAILED
// FAILED: predicted speed-up
// FAILED: note: not measured: it did not end well
//
// Times of another architecture, or of a kernel that was changed, are none.
// RUN: %python %S/Inputs/measured.py %t/emitted %t/e.json sm_80 2.0 *=1.0
// RUN: %python %S/Inputs/with_path.py %S/Inputs/no-gpu rcache-rewrite %s -o /dev/null --tune=device --tune-cache=%t/e.json -- %mock 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: %python %S/Inputs/with_path.py %S/Inputs/no-gpu rcache-rewrite %s -o /dev/null --tune=device --tune-cache=%t/a.json -- %mock -DTAPS=3 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: predicted speed-up
// NONE: note: not tuned: no GPU here, and '{{.*}}.json' has no times of this kernel
//
// RUN: echo "{}" > %t/f.json
// RUN: rcache-rewrite %s -o /dev/null --tune=device --tune-cache=%t/f.json -- %mock 2>&1 | FileCheck %s --check-prefix=BROKEN
// BROKEN: note: not tuned: '{{.*}}f.json' is no file of measurements: it has no "measurements"
//
// RUN: not rcache-rewrite %s --tune-cache=x -- %mock 2>&1 | FileCheck %s --check-prefix=USAGE
// USAGE: --tune-cache needs --tune=device
// RUN: not rcache-rewrite %s --tune-arg=n -- %mock 2>&1 | FileCheck %s --check-prefix=ARG
// ARG: --tune-arg takes NAME=NUMBER, not 'n'
//
// Sizes can be given.
// RUN: rm -rf %t/given && %rewrite %s -q -o /dev/null --tune-emit=%t/given --tune-arg=n=1000 -- %mock
// RUN: sh -c "sed -n '/^#undef main/,$p' %t/given/sum5-*/c2.cu" | FileCheck %s --check-prefix=GIVEN
// GIVEN: int n = 1000;

#ifndef TAPS
#define TAPS 5
#endif

__global__ void sum5(const float *__restrict__ in, float *__restrict__ out, int n) {
  __shared__ float s[128 + TAPS - 1];
  int g = blockIdx.x * 128 + threadIdx.x;
  s[threadIdx.x] = g < n ? in[g] : 0.0f;
  if (threadIdx.x < TAPS - 1)
    s[threadIdx.x + 128] = g + 128 < n ? in[g + 128] : 0.0f;
  __syncthreads();
  float sum = 0;
  for (int i = 0; i < TAPS; ++i)
    sum += s[threadIdx.x + i];
  if (g < n)
    out[g] = sum;
}

void run(const float *in, float *out, int n) {
  int blocks = (n + 127) / 128;
  sum5<<<blocks, 128>>>(in, out, n);
}
