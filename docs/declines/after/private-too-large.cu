// before
__global__ void k(const int *__restrict__ data, int *__restrict__ out, int n) {
  int bins[256] = {};
  int t = blockIdx.x * 256 + threadIdx.x;
  for (int i = 0; i < n; ++i)
    ++bins[data[t * n + i] & 255];
  out[t] = bins[t & 255];
}

void run(const int *data, int *out, int n) { k<<<80, 256>>>(data, out, n); }
// after: 64 words in each of 128 threads, and several blocks can be on an SM.
__global__ void k(const int *__restrict__ data, int *__restrict__ out, int n) {
  int bins[64] = {};
  int t = blockIdx.x * 128 + threadIdx.x;
  for (int i = 0; i < n; ++i)
    ++bins[data[t * n + i] & 63];
  out[t] = bins[t & 63];
}

void run(const int *data, int *out, int n) { k<<<160, 128>>>(data, out, n); }
