// The whole way of --tune=device: programs are emitted, built, run and compared,
// and what they say is kept. nvcc and the GPU are the CPU here.
// REQUIRES: rcache-check, cuda-toolkit
// RUN: rm -rf %t && mkdir %t
// RUN: env NVCC=%S/Inputs/pretended/nvcc %python %S/Inputs/with_path.py %S/Inputs/pretended rcache-rewrite %s -o %t/new.cu --tune=device --tune-cache=%t/tune.json --tune-n=3000 --explain-choice 2>&1 | FileCheck %s
// CHECK: ms: measured on rcache-check (CPU), grid 24x1x1, block 128x1x1, shared 0
// CHECK-NEXT: was chosen: the shortest measured time
// RUN: FileCheck %s --check-prefix=FILE --input-file=%t/tune.json
// FILE: "candidate":"{{[^"]*}}s: {{[^"]*}}","device":"rcache-check (CPU)"{{.*}}"kernel":"sum5"{{.*}}"milliseconds":{{.*}}"sameBits":true
//
// What is kept decides the next time, on a machine without a device.
// RUN: %python %S/Inputs/with_path.py %S/Inputs/no-gpu rcache-rewrite %s -o /dev/null --tune=device --tune-cache=%t/tune.json --tune-n=3000 --explain-choice 2>&1 | FileCheck %s
//
// A damaged candidate is found: it leaves out the last block.
// RUN: rcache-rewrite %s -q -o /dev/null --tune-emit=%t/emitted --tune-n=3000
// RUN: %python %S/Inputs/damage.py %t/emitted
// RUN: env NVCC=%S/Inputs/pretended/nvcc %t/emitted/run.sh %t/wrong.json 2>&1 | FileCheck %s --check-prefix=SAID
// SAID: run.sh: sum5-{{.*}}/c{{[0-9]+}}.cu: "{{[0-9]+}} words differ"
// RUN: %python %S/Inputs/with_path.py %S/Inputs/no-gpu rcache-rewrite %s -q -o /dev/null --tune=device --tune-cache=%t/wrong.json --tune-n=3000 2>&1 | FileCheck %s --check-prefix=WRONG
// WRONG: warning: candidate #{{[0-9]+}} {{.*}} gives other results than the original on rcache-check (CPU)

__global__ void sum5(const float *__restrict__ in, float *__restrict__ out, int n) {
  __shared__ float s[132];
  int g = blockIdx.x * 128 + threadIdx.x;
  s[threadIdx.x] = g < n ? in[g] : 0.0f;
  if (threadIdx.x < 4)
    s[threadIdx.x + 128] = g + 128 < n ? in[g + 128] : 0.0f;
  __syncthreads();
  float sum = 0;
  for (int i = 0; i < 5; ++i)
    sum += s[threadIdx.x + i];
  if (g < n)
    out[g] = sum;
}

void run(const float *in, float *out, int n) {
  sum5<<<(n + 127) / 128, 128>>>(in, out, n);
}

int main() { return 3; }
