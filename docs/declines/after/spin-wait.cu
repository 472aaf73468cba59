// before
__global__ void k(const int *in, int *out, volatile int *done, int n) {
  __shared__ int s[128 + 1];
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
  s[t] = g < n ? in[g] : 0;
  if (t == 0)
    s[128] = g + 128 < n ? in[g + 128] : 0;
  __syncthreads();
  if (t == 0 && blockIdx.x > 0)
    while (done[blockIdx.x - 1] == 0) {
    }
  __syncthreads();
  if (g < n)
    out[g] = s[t] + s[t + 1];
  __syncthreads();
  if (t == 0)
    done[blockIdx.x] = 1;
}

void run(const int *in, int *out, int *done, int n) {
  k<<<(n + 127) / 128, 128>>>(in, out, done, n);
}
// after: a launch begins when the one before it has ended
__global__ void k(const int *__restrict__ in, int *__restrict__ out, int n) {
  __shared__ int s[128 + 1];
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
  s[t] = g < n ? in[g] : 0;
  if (t == 0)
    s[128] = g + 128 < n ? in[g + 128] : 0;
  __syncthreads();
  if (g < n)
    out[g] = s[t] + s[t + 1];
}

void run(const int *in, int *out, int n) { k<<<(n + 127) / 128, 128>>>(in, out, n); }
