// before
__device__ void count(int *bins, int key) { ++bins[key & 31]; }

__global__ void k(const int *__restrict__ data, int *__restrict__ out, int n) {
  int bins[32] = {};
  int t = blockIdx.x * 128 + threadIdx.x;
  for (int i = 0; i < n; ++i)
    count(bins, data[t * n + i]);
  out[t] = bins[t & 31];
}

void run(const int *data, int *out, int n) { k<<<80, 128>>>(data, out, n); }
// after: Each use in the kernel itself is one element.
__global__ void k(const int *__restrict__ data, int *__restrict__ out, int n) {
  int bins[32] = {};
  int t = blockIdx.x * 128 + threadIdx.x;
  for (int i = 0; i < n; ++i)
    ++bins[data[t * n + i] & 31];
  out[t] = bins[t & 31];
}

void run(const int *data, int *out, int n) { k<<<80, 128>>>(data, out, n); }
