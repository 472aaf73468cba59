// REQUIRES: cuda-toolkit
// RUN: %status 1 %check %s --kernel=shift --trials=60 2>&1 | FileCheck %s
// Without a barrier between its loads and stores a version is wrong as soon as
// the output is the input: the harness tries that where nothing forbids it.
// CHECK: different: shift: {{.*}}
// CHECK: the same as argument 0
__global__ void shift(const float *in, float *out, int n) {
  __shared__ float s[1024];
  int t = threadIdx.x;
  s[t] = t < n ? in[t] : 0;
  __syncthreads();
  if (blockIdx.x == 0 && t < n)
    out[t] = s[(t + 1) % blockDim.x];
}
__global__ void shift_rc(const float *in, float *out, int n) {
  int t = threadIdx.x, u = (t + 1) % blockDim.x;
  if (blockIdx.x == 0 && t < n)
    out[t] = u < n ? in[u] : 0;
}
static void shift_rc_launch(dim3 g, dim3 b, size_t s, cudaStream_t st,
                            const float *in, float *out, int n) {
  shift_rc<<<g, b, s, st>>>(in, out, n);
}
