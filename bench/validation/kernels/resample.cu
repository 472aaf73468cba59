// Down and up by a factor of two with short filters.
#include "validation.cuh"

#define THR 256

__global__ void halve(const float *in, float *out, int nout) {
  __shared__ float s[2 * THR + 2];
  int t = threadIdx.x, o = blockIdx.x * THR + t;
  long first = 2L * blockIdx.x * THR;
  for (int i = t; i < 2 * THR + 2; i += THR)
    s[i] = first + i < 2L * nout + 2 ? in[first + i] : 0.f;
  __syncthreads();
  if (o < nout)
    out[o] = 0.125f * (s[2 * t] + s[2 * t + 3]) +
             0.375f * (s[2 * t + 1] + s[2 * t + 2]);
}

__global__ void double_rate(const float *in, float2 *out, int nin) {
  __shared__ float s[THR + 2];
  int t = threadIdx.x, i = blockIdx.x * THR + t;
  if (i < nin) {
    s[t + 1] = in[i];
    if (t == 0)
      s[0] = in[i > 0 ? i - 1 : 0];
    if (t == THR - 1 || i == nin - 1)
      s[t + 2] = in[i + 1 < nin ? i + 1 : nin - 1];
  }
  __syncthreads();
  if (i < nin)
    out[i] = make_float2(0.25f * s[t] + 0.75f * s[t + 1],
                         0.75f * s[t + 1] + 0.25f * s[t + 2]);
}

void down(const float *in, float *out, int nout) {
  halve<<<(nout + THR - 1) / THR, THR>>>(in, out, nout);
}
void up(const float *in, float2 *out, int nin) {
  double_rate<<<(nin + THR - 1) / THR, THR>>>(in, out, nin);
}

int main(int argc, char **argv) {
  using namespace validation;
  start(argc, argv);
  for (int n : sizes({1 << 25, 1 << 20}, 700)) {
    float *in = filled<float>(2 * (size_t)n + 2, 29), *out = zeros<float>(n);
    float2 *wide = zeros<float2>(n);
    measure("halve", text(n), [&] { down(in, out, n); }, {result(out, n)});
    measure("double_rate", text(n), [&] { up(in, wide, n); },
            {result(wide, n)});
    release(in, out, wide);
  }
}
