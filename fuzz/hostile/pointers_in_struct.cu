#include <cstdio>

struct P { const float *a[2]; float *out[2]; int n[2]; };
__global__ void k(P p) {
  __shared__ float s[66];
  const int t = threadIdx.x, g = blockIdx.x * 64 + t;

  const int w = blockIdx.y;
  s[t] = g < p.n[w] ? p.a[w][g] : 0; if (t < 2) s[t + 64] = g + 64 < p.n[w] ? p.a[w][g + 64] : 0;
  __syncthreads();
  if (g < p.n[w]) p.out[w][g] = s[t] + s[t + 2];
}
int main() {
  const int m = 4096; const int ns[] = {331, 64, 1, 1000};
  float *a, *out; int *aux;
  cudaMallocManaged(&a, m * 4); cudaMallocManaged(&out, m * 4); cudaMallocManaged(&aux, m * 4);
  for (int n : ns) {
    for (int i = 0; i < m; ++i) { a[i] = i * 7 % 61 - 20; out[i] = -1; aux[i] = -1; }
    P p{{a, a + 5}, {out, out + 2048}, {n, n / 2}}; k<<<dim3((n + 63) / 64, 2), 64>>>(p);
    int e = (int)cudaDeviceSynchronize();
    unsigned long long h = 0;
    for (int i = 0; i < m; ++i) h = h * 31 + (int)out[i] * 1000 + aux[i];
    printf("%d %d %llx\n", n, e, h);
  }
}

