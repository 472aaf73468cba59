// REQUIRES: cuda-toolkit
// nvcc leaves out what the last round of a loop loads for a round that does not follow.
// Another form of the kernel may load it all the same, and nothing beyond it.
// RUN: %status 0 %check %s --self --device-code=nvcc 2>&1 | FileCheck %s
// RUN: %status 4 %check %s --self --device-code=nvcc -- -DBEYOND 2>&1 | FileCheck %s --check-prefix=BEYOND
// CHECK: equivalent: next: {{[1-9][0-9]*}} launches compared, {{[1-9][0-9]*}} of them by the rewritten form
// BEYOND: undefined-rewritten: next
// BEYOND: error: read of 4 bytes
#ifdef BEYOND
constexpr int Beyond = 1;
#else
constexpr int Beyond = 0;
#endif

__global__ void next(const float *__restrict__ in, float *__restrict__ out, int n, int nz) {
  __shared__ float s[128];
  const int x = min(blockIdx.x * blockDim.x + threadIdx.x, n - 1);
  float q[2] = {in[x], in[n + x]};
  for (int k = 0; k < nz - 2; ++k) {
    s[threadIdx.x % 128] = q[0];
    __syncthreads();
    out[k * n + x] = s[threadIdx.x % 128] + q[1];
    __syncthreads();
    q[0] = q[1];
    q[1] = in[(k + 2) * n + x];
  }
}
__global__ void next_rc(const float *__restrict__ in, float *__restrict__ out, int n, int nz) {
  const int x = min(blockIdx.x * blockDim.x + threadIdx.x, n - 1);
  float q[2] = {in[x], in[n + x]};
  for (int k = 0; k < nz - 2; ++k) {
    out[k * n + x] = q[0] + q[1];
    q[0] = q[1];
    q[1] = in[(k + 2 + Beyond) * n + x];
    asm volatile("" : "+f"(q[1]));
  }
}
void next_rc_launch(dim3 grid, dim3 block, size_t shared, cudaStream_t stream, const float *in, float *out, int n, int nz) {
  next_rc<<<grid, block, shared, stream>>>(in, out, n, nz);
}
int main() {}
