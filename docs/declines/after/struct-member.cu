// before
struct Stat { float sum; struct { int n; } count; };

__global__ void k(const float *__restrict__ in, float *__restrict__ sums, int n) {
  __shared__ Stat s[128];
  int t = threadIdx.x;
  s[t].sum = in[blockIdx.x * 128 + t];
  s[t].count.n = 1;
  __syncthreads();
  for (int d = 64; d > 0; d /= 2) {
    if (t < d) {
      s[t].sum += s[t + d].sum;
      s[t].count.n += s[t + d].count.n;
    }
    __syncthreads();
  }
  if (t == 0)
    sums[blockIdx.x] = s[0].sum / s[0].count.n;
}

void run(const float *in, float *sums, int n) { k<<<n / 128, 128>>>(in, sums, n); }
// after: Structs of plain numbers are divided where they are used by member; this one has a struct inside.
struct Stat { float sum; int n; };

__global__ void k(const float *__restrict__ in, float *__restrict__ sums, int n) {
  __shared__ Stat s[128];
  int t = threadIdx.x;
  s[t].sum = in[blockIdx.x * 128 + t];
  s[t].n = 1;
  __syncthreads();
  for (int d = 64; d > 0; d /= 2) {
    if (t < d) {
      s[t].sum += s[t + d].sum;
      s[t].n += s[t + d].n;
    }
    __syncthreads();
  }
  if (t == 0)
    sums[blockIdx.x] = s[0].sum / s[0].n;
}

void run(const float *in, float *sums, int n) { k<<<n / 128, 128>>>(in, sums, n); }
