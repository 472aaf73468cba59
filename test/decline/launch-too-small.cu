// Grids that host code tells: too small for any form that is written, some of several, large
// enough for a form with fewer outputs a thread; what they gain by the time that launches take.
//
// REQUIRES: cuda-toolkit
// RUN: rcache-rewrite %s -o %t.cu --self-check=off --gpu=H200 --report=%t.json --cuda-path=%cuda 2>&1 | FileCheck %s
// RUN: FileCheck %s --check-prefix=TEXT < %t.cu
// RUN: FileCheck %s --check-prefix=JSON < %t.json
// RUN: rcache-rewrite %s -o %t.f.cu -q --list --force --self-check=off --cuda-path=%cuda | FileCheck %s --check-prefix=FORCE
// FORCE: rewritten never
#define KERNEL(NAME)                                                                     \
  __global__ void NAME(const float *a, float *b, int n) {                                \
    __shared__ float s[258];                                                             \
    int g = blockIdx.x * 256 + threadIdx.x;                                              \
    s[threadIdx.x + 1] = g < n ? a[g] : 0.f;                                             \
    if (threadIdx.x == 0)                                                                \
      s[0] = g > 0 ? a[g - 1] : 0.f;                                                     \
    if (threadIdx.x == 255)                                                              \
      s[257] = g + 1 < n ? a[g + 1] : 0.f;                                               \
    __syncthreads();                                                                     \
    if (g < n)                                                                           \
      b[g] = s[threadIdx.x] + s[threadIdx.x + 1] + s[threadIdx.x + 2];                   \
  }
KERNEL(never)
KERNEL(sometimes)
__global__ void fewer(const float *a, float *b, int n) {
  __shared__ float s[256 + 16];
  int g = blockIdx.x * 256 + threadIdx.x;
  s[threadIdx.x + 8] = g < n ? a[g] : 0.f;
  if (threadIdx.x < 8) {
    s[threadIdx.x] = g >= 8 ? a[g - 8] : 0.f;
    s[threadIdx.x + 264] = g + 256 < n ? a[g + 256] : 0.f;
  }
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < 17; ++k)
    sum += s[threadIdx.x + k];
  if (g < n)
    b[g] = sum;
}
KERNEL(large)
KERNEL(unknown)

void small(const float *a, float *b) {
  const int n = 1000;
  never<<<(n + 255) / 256, 256>>>(a, b, n);
  sometimes<<<(n + 255) / 256, 256>>>(a, b, n);
  fewer<<<1300, 256>>>(a, b, 1 << 18);
  large<<<1 << 16, 256>>>(a, b, 1 << 24);
  sometimes<<<1 << 20, 256>>>(a, b, 1 << 28);
}
void given(const float *a, float *b, int n) { unknown<<<(n + 255) / 256, 256>>>(a, b, n); }

// CHECK: [[#@LINE-8]]:3: remark: 'never' left as it is: {{.*}}(its grid has 4 blocks, and the rewritten form is for {{[0-9]+}} and more) [launch-too-small]
// CHECK: rewrote 'sometimes' (1 launch, 1 left as written)
// CHECK: predicted speed-up {{[0-9.]+}}x of 1048576 blocks{{.*}} on sm_90 (H200), from {{[0-9]+}} blocks on
// CHECK: [[#@LINE-10]]:3: note: this launch is left as written: its grid has 4 blocks, and the rewritten form is for 1320 and more
// CHECK: rewrote 'fewer' (1 launch): 2 outputs a thread
// CHECK: predicted speed-up 1.0{{[0-9]}}x of 1300 blocks (1.3{{[0-9]}}x of many)
// CHECK: rewrote 'large' (1 launch): 4 outputs a thread
// CHECK: predicted speed-up 1.{{[0-9]+}}x of 65536 blocks (1.{{[0-9]+}}x of many)
// CHECK: rewrote 'unknown' (1 launch): 4 outputs a thread
// CHECK: predicted speed-up 1.97x on sm_90 (H200), from {{[0-9]+}} blocks on

// TEXT: never<<<(n + 255) / 256, 256>>>(a, b, n);
// TEXT-NEXT: sometimes<<<(n + 255) / 256, 256>>>(a, b, n);
// TEXT-NEXT: fewer_rc_launch
// JSON: "leftLaunches"
// JSON: "why": "its grid has 4 blocks
// JSON: "predictedBlocks": 1048576
