#include <cstdio>
// The launch is recorded into a graph, which runs later, twice.
__global__ void k(const float *a, float *out, int *aux, int n) {
  __shared__ float s[66];
  const int t = threadIdx.x, g = blockIdx.x * 64 + t;
  for (int i = t; i < 66; i += 64) { int e = blockIdx.x * 64 + i - 1; s[i] = e >= 0 && e < n ? a[e] : 0; }
  __syncthreads();
  if (g < n) { out[g] = s[t] + s[t + 1] + s[t + 2]; aux[g]++; }
}
int main() {
  const int m = 4096; const int ns[] = {331, 64, 1, 1000};
  float *a, *out; int *aux;
  cudaMallocManaged(&a, m * 4); cudaMallocManaged(&out, m * 4); cudaMallocManaged(&aux, m * 4);
  cudaStream_t st; cudaStreamCreate(&st);
  for (int n : ns) {
    for (int i = 0; i < m; ++i) { a[i] = i * 7 % 61 - 20; out[i] = -1; aux[i] = -1; }
    cudaGraph_t graph; cudaGraphExec_t exec;
    cudaStreamBeginCapture(st, cudaStreamCaptureModeGlobal);
    k<<<(n + 63) / 64, 64, 0, st>>>(a, out, aux, n);
    k<<<(n + 63) / 64, 64, 0, st>>>(out, a, aux, n);
    int c = (int)cudaStreamEndCapture(st, &graph);
    int i = (int)cudaGraphInstantiate(&exec, graph, 0);
    cudaGraphLaunch(exec, st); cudaGraphLaunch(exec, st);
    int e = (int)cudaStreamSynchronize(st);
    unsigned long long h = 0;
    for (int i = 0; i < m; ++i) h = h * 31 + (int)(long long)out[i] * 1000 + aux[i];
    printf("%d %d %d %d %llx\n", n, c, i, e, h);
  }
}
