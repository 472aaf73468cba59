// REQUIRES: cuda-toolkit
// Data takes on the numbers that a kernel compares it with.
// RUN: %status 1 %check %s --self --device-code=clang 2>&1 | FileCheck %s
// CHECK-DAG: different: missing
// CHECK-DAG: different: marked
// CHECK-DAG: different: code

__global__ void missing(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = in[i] == -9999.f ? 1 : 0;
}
__global__ void missing_rc(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = 0;
}
void missing_rc_launch(dim3 grid, dim3 block, size_t shared, cudaStream_t stream, const float *in, float *out, int n) {
  missing_rc<<<grid, block, shared, stream>>>(in, out, n);
}

__global__ void marked(const double *in, double *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = in[i] == 1.25e9 ? 1 : 0;
}
__global__ void marked_rc(const double *in, double *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = 0;
}
void marked_rc_launch(dim3 grid, dim3 block, size_t shared, cudaStream_t stream, const double *in, double *out, int n) {
  marked_rc<<<grid, block, shared, stream>>>(in, out, n);
}

__global__ void code(const int *in, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = in[i] == 90210 ? 1 : 0;
}
__global__ void code_rc(const int *in, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = 0;
}
void code_rc_launch(dim3 grid, dim3 block, size_t shared, cudaStream_t stream, const int *in, int *out, int n) {
  code_rc<<<grid, block, shared, stream>>>(in, out, n);
}

int main() {
  missing_rc_launch(1, 1, 0, 0, nullptr, nullptr, 0);
  marked_rc_launch(1, 1, 0, 0, nullptr, nullptr, 0);
  code_rc_launch(1, 1, 0, 0, nullptr, nullptr, 0);
}
