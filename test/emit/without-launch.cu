// Kernels that nothing in the file launches, on request: the launch function is for
// callers elsewhere, and does what a launch would for every shape.
// RUN: rm -rf %t && split-file %s %t
// RUN: not grep rc_launch %t/kernels.cu
// RUN: rcache-rewrite %t/kernels.cu --list -- %mock | FileCheck %s --check-prefix=LEFT
// LEFT: declined smooth{{.*}}; no-launch
// RUN: rcache-rewrite %t/kernels.cu -o %t/kernels_rc.cu --without-launch --report=%t/report.json -q -- %mock
// RUN: FileCheck %s --input-file=%t/kernels_rc.cu
// CHECK: __global__ void smooth_rc(
// CHECK: {{^}}void smooth_rc_launch(dim3 rc_grid, dim3 rc_block, size_t rc_shared,
// CHECK: {{^}}void scaled_rc_launch(
// CHECK: template void scaled_rc_launch<
// RUN: FileCheck %s --check-prefix=REPORT --input-file=%t/report.json
// REPORT: "contract"
// REPORT: "kernel": "smooth_rc"
// REPORT: "function": "void smooth_rc_launch(dim3 rc_grid
// REPORT: "launch": "{{.*}}smooth_rc<<<
// REPORT: "function": "template <typename T> void scaled_rc_launch(dim3 rc_grid
// REPORT: "kernel": "img::sharp_rc"
// REPORT: "function": "void img::sharp_rc_launch(dim3 rc_grid
// A block that the user names is one that the new kernel can be launched with.
// RUN: rcache-rewrite %t/kernels.cu --kernel=smooth --without-launch --block=128 -q --explain-choice -o %t/out.cu -- %mock 2>&1 | FileCheck %s --check-prefix=BLOCK
// BLOCK-NOT: chunks of 8{{.*}}<- chosen
// BLOCK: chunks of 8{{.*}}[not for blocks of 128 threads]
// RUN: rcache-rewrite %t/kernels.cu --list --without-launch -- %mock | FileCheck %s --check-prefix=NAMELESS
// NAMELESS: declined {{.*}}hidden; no-launch (it is in a namespace without a name
// RUN: %python %S/../output/Inputs/validate.py %src/docs/report.schema.json %t/report.json

//--- kernels.cu
__global__ void smooth(const float *__restrict__ in, float *__restrict__ out, int n) {
  __shared__ float s[256 + 4];
  int g = blockIdx.x * blockDim.x + threadIdx.x;
  if (g < n + 4)
    s[threadIdx.x] = in[g];
  if (threadIdx.x < 4 && g + blockDim.x < n + 4)
    s[threadIdx.x + blockDim.x] = in[g + blockDim.x];
  __syncthreads();
  if (g >= n)
    return;
  float sum = 0;
  for (int i = 0; i <= 4; ++i)
    sum += s[threadIdx.x + i];
  out[g] = sum;
}
template <typename T>
__global__ void scaled(const T *__restrict__ in, T *__restrict__ out, int n) {
  __shared__ T s[256 + 4];
  int g = blockIdx.x * 256 + threadIdx.x;
  s[threadIdx.x] = in[g];
  if (threadIdx.x < 4)
    s[threadIdx.x + 256] = in[g + 256];
  __syncthreads();
  T sum = 0;
  for (int i = 0; i <= 4; ++i)
    sum += s[threadIdx.x + i];
  out[g] = sum;
}
template __global__ void scaled<float>(const float *, float *, int);
namespace img {
namespace {
__global__ void hidden(const float *in, float *out) {
  __shared__ float s[256 + 4];
  int g = blockIdx.x * 256 + threadIdx.x;
  s[threadIdx.x] = in[g];
  if (threadIdx.x < 4)
    s[threadIdx.x + 256] = in[g + 256];
  __syncthreads();
  out[g] = s[threadIdx.x] - s[threadIdx.x + 4];
}
}
__global__ void sharp(const float *__restrict__ in, float *__restrict__ out) {
  __shared__ float s[256 + 4];
  int g = blockIdx.x * 256 + threadIdx.x;
  s[threadIdx.x] = in[g];
  if (threadIdx.x < 4)
    s[threadIdx.x + 256] = in[g + 256];
  __syncthreads();
  out[g] = s[threadIdx.x] - s[threadIdx.x + 4];
}
}
