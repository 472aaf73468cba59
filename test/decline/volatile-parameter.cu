// A tail in a function whose parameter alone says `volatile`, and has the array's
// name: it is as if it stood in the kernel, and no option drops the word.
// RUN: %rewrite %s -q --force --list -- %mock 2>&1 | FileCheck %s
// CHECK: declined sums<128>; volatile-tail ({{.*}} is what another lane has made of it
// CHECK: declined other<128>; volatile-tail ({{.*}} is what another lane has made of it

template <int N> __device__ void last(volatile int *s, int t) {
  if (N >= 64)
    s[t] += s[t + 32];
  s[t] += s[t + 16];
  s[t] += s[t + 8];
  s[t] += s[t + 4];
  s[t] += s[t + 2];
  s[t] += s[t + 1];
}
template <int N> __global__ void sums(const int *in, int *out) {
  __shared__ int s[N];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * N + t];
  __syncthreads();
  if (t < 64)
    s[t] += s[t + 64];
  __syncthreads();
  if (t < 32)
    last<N>(s, t);
  if (t == 0)
    out[blockIdx.x] = s[0];
}
template <int N> __global__ void other(const int *in, int *out) {
  __shared__ int cells[N];
  int t = threadIdx.x;
  cells[t] = in[blockIdx.x * N + t];
  __syncthreads();
  if (t < 64)
    cells[t] += cells[t + 64];
  __syncthreads();
  if (t < 32)
    last<N>(cells, t);
  if (t == 0)
    out[blockIdx.x] = cells[0];
}

void run(const int *in, int *out, int n) {
  sums<128><<<n / 128, 128>>>(in, out);
  other<128><<<n / 128, 128>>>(in, out);
}
