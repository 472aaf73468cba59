// before
__global__ void k(const float *__restrict__ in, const int *__restrict__ at, float *__restrict__ out, int n) {
  float v[16] = {};
  int t = blockIdx.x * 128 + threadIdx.x;
  for (int i = 0; i < n; ++i)
    v[at[t * n + i] & 15] = in[i] * 1.25f;
  out[t] = v[t & 15] + 1.0f;
}

void run(const float *in, const int *at, float *out, int n) { k<<<80, 128>>>(in, at, out, n); }
// after: Loaded values are stored, and multiplied where they are used. (Or the product says that it is rounded: __fmul_rn(in[i], 1.25f).)
__global__ void k(const float *__restrict__ in, const int *__restrict__ at, float *__restrict__ out, int n) {
  float v[16] = {};
  int t = blockIdx.x * 128 + threadIdx.x;
  for (int i = 0; i < n; ++i)
    v[at[t * n + i] & 15] = in[i];
  out[t] = v[t & 15] * 1.25f + 1.0f;
}

void run(const float *in, const int *at, float *out, int n) { k<<<80, 128>>>(in, at, out, n); }
