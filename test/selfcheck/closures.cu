// A kernel whose argument is a closure cannot be called from outside, and is not executed;
// the others of the file are.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --force --self-check=quick -o %t.cu --cuda-path=%cuda -- --extended-lambda 2>&1 | FileCheck %s
// CHECK: rewrote 'applied<
// CHECK: not executed: {{.*}}has no name outside of a function
// CHECK: rewrote 'plain'
// CHECK: executed before it was written
template <class F> __global__ void applied(const int *a, int *b, int n, F f) {
  __shared__ int s[258];
  const int l = threadIdx.x, g = blockIdx.x * 256 + l;
  s[l] = a[g];
  if (l < 2)
    s[l + 256] = a[g + 256];
  __syncthreads();
  if (g < n)
    b[g] = f(s[l], s[l + 1], s[l + 2]);
}

__global__ void plain(const int *a, int *b, int n) {
  __shared__ int s[258];
  const int l = threadIdx.x, g = blockIdx.x * 256 + l;
  s[l] = a[g];
  if (l < 2)
    s[l + 256] = a[g + 256];
  __syncthreads();
  if (g < n)
    b[g] = s[l] - s[l + 1] * 3 + s[l + 2];
}

int main() {
  int *a, *b, m = 4;
  cudaMalloc(&a, 4096);
  cudaMalloc(&b, 4096);
  applied<<<3, 256>>>(a, b, 700, [=] __device__(int x, int y, int z) { return x * m - y + z; });
  plain<<<3, 256>>>(a, b, 700);
}
