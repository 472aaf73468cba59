// A parameter that a function of its class copies: another function would copy it
// once more.
// RUN: %rewrite %s -q --list -- %mock 2>&1 | FileCheck %s
// CHECK: declined k{{.*}}; parameter-form

struct Counted {
  int n;
  Counted(int n) : n(n) {}
  Counted(const Counted &o) : n(o.n) {}
};

__global__ void k(const float *in, float *out, Counted c) {
  __shared__ float s[257];
  const int g = blockIdx.x * 256 + threadIdx.x;
  s[threadIdx.x + 1] = g < c.n ? in[g] : 0.0f;
  if (threadIdx.x == 0)
    s[0] = g > 0 && g <= c.n ? in[g - 1] : 0.0f;
  __syncthreads();
  if (g < c.n)
    out[g] = s[threadIdx.x] + s[threadIdx.x + 1];
}

void run(const float *in, float *out, int n) {
  k<<<(n + 255) / 256, 256>>>(in, out, n);
}
