// Parallel cyclic reduction: a block solves a system of 128 equations.
#include "validation.cuh"

#define SYS 128

__global__ void pcr(const float *a, const float *b, const float *c,
                    const float *d, float *x) {
  __shared__ float sa[SYS], sb[SYS], sc[SYS], sd[SYS];
  int t = threadIdx.x, g = blockIdx.x * SYS + t;
  sa[t] = a[g];
  sb[t] = b[g];
  sc[t] = c[g];
  sd[t] = d[g];
  __syncthreads();
  int delta = 1;
  for (int step = 0; step < 7; step++) {
    int l = t - delta < 0 ? 0 : t - delta;
    int r = t + delta >= SYS ? SYS - 1 : t + delta;
    float k1 = sa[t] / sb[l], k2 = sc[t] / sb[r];
    float nb = sb[t] - sc[l] * k1 - sa[r] * k2;
    float nd = sd[t] - sd[l] * k1 - sd[r] * k2;
    float na = -sa[l] * k1, nc = -sc[r] * k2;
    __syncthreads();
    sa[t] = na;
    sb[t] = nb;
    sc[t] = nc;
    sd[t] = nd;
    delta *= 2;
    __syncthreads();
  }
  x[g] = sd[t] / sb[t];
}

void solve(float *const s[4], float *x, int systems) {
  pcr<<<systems, SYS>>>(s[0], s[1], s[2], s[3], x);
}

__global__ void cut_ends(float *a, float *c, int systems) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < systems) {
    a[i * SYS] = 0;
    c[i * SYS + SYS - 1] = 0;
  }
}

int main(int argc, char **argv) {
  using namespace validation;
  start(argc, argv);
  for (int systems : sizes({1000, 65536}, 4)) {
    size_t n = (size_t)systems * SYS;
    float *s[4] = {filled<float>(n, 106), filled<float>(n, 107, 3, 4),
                   filled<float>(n, 108), filled<float>(n, 109)};
    float *x = zeros<float>(n);
    cut_ends<<<ceil_div(systems, 128), 128>>>(s[0], s[2], systems);
    measure("pcr", text(systems), [&] { solve(s, x, systems); },
            {result(x, n)});
    release(s[0], s[1], s[2], s[3], x);
  }
}
