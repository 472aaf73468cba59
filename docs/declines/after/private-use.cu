// before
__global__ void k(const int *__restrict__ data, int *__restrict__ out, int n) {
  int bins[32] = {};
  int t = blockIdx.x * 128 + threadIdx.x;
  for (int i = 0; i < n; ++i) {
    int *bin = bins + (data[t * n + i] & 31);
    ++*bin;
  }
  out[t] = bins[t & 31];
}

void run(const int *data, int *out, int n) { k<<<80, 128>>>(data, out, n); }
// after: Each use names the array and one element.
__global__ void k(const int *__restrict__ data, int *__restrict__ out, int n) {
  int bins[32] = {};
  int t = blockIdx.x * 128 + threadIdx.x;
  for (int i = 0; i < n; ++i)
    ++bins[data[t * n + i] & 31];
  out[t] = bins[t & 31];
}

void run(const int *data, int *out, int n) { k<<<80, 128>>>(data, out, n); }
