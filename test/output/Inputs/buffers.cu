// A scan between two buffers.
__global__ void prefixSums(const int *in, int *out, int n) {
  __shared__ int s[2][256];
  const int t = threadIdx.x;
  const int g = blockIdx.x * 256 + t;
  int from = 0;
  s[0][t] = g < n ? in[g] : 0;
  __syncthreads();
  for (int step = 1; step < 256; step *= 2) {
    if (t >= step)
      s[1 - from][t] = s[from][t] + s[from][t - step];
    else
      s[1 - from][t] = s[from][t];
    from = 1 - from;
    __syncthreads();
  }
  if (g < n)
    out[g] = s[from][t];
}

void run(const int *in, int *out, int n) { prefixSums<<<(n + 255) / 256, 256>>>(in, out, n); }
