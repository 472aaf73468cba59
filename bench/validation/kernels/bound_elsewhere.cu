// Kernels with shared memory whose time goes elsewhere, or whose positions only
// the data know.
#include "validation.cuh"

// Neighbours are read once; hundreds of operations follow for each element.
__global__ void oscillators(const float *phase, float *out, int n, float couple,
                            int steps) {
  __shared__ float s[256 + 2];
  int t = threadIdx.x, i = blockIdx.x * 256 + t;
  s[t + 1] = phase[min(i, n - 1)];
  if (t == 0)
    s[0] = phase[max(i - 1, 0)];
  if (t == 255)
    s[257] = phase[min(i + 1, n - 1)];
  __syncthreads();
  float p = s[t + 1], drive = sinf(s[t] - p) + sinf(s[t + 2] - p);
  float v = 0.f;
  for (int k = 0; k < steps; ++k) {
    v += 0.01f * (couple * drive - sinf(p) - 0.1f * v + 0.3f * cosf(0.01f * k));
    p += 0.01f * v;
  }
  if (i < n)
    out[i] = p;
}

// How often each pair of levels meets in two pictures (for their mutual
// information).
__global__ void jointHistogram(const unsigned char *a, const unsigned char *b,
                               unsigned *joint, int n) {
  __shared__ unsigned bins[32 * 32];
  for (int k = threadIdx.x; k < 32 * 32; k += blockDim.x)
    bins[k] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
       i += gridDim.x * blockDim.x)
    atomicAdd(&bins[(a[i] >> 3) * 32 + (b[i] >> 3)], 1u);
  __syncthreads();
  for (int k = threadIdx.x; k < 32 * 32; k += blockDim.x)
    if (bins[k])
      atomicAdd(&joint[k], bins[k]);
}

// An interleaver: the table says from where in the block each element comes.
__global__ void interleave(const float *in, const unsigned char *from,
                           float *out) {
  __shared__ float s[256];
  size_t i = (size_t)blockIdx.x * 256 + threadIdx.x;
  s[threadIdx.x] = in[i];
  __syncthreads();
  out[i] = s[from[i]];
}

// One pass of a radix sort within the block: zeros first, then ones.
__global__ void splitByBit(const unsigned *keys, unsigned *out, int bit) {
  __shared__ unsigned ranks[256];
  __shared__ unsigned sorted[256];
  int t = threadIdx.x;
  unsigned key = keys[(size_t)blockIdx.x * 256 + t];
  unsigned one = (key >> bit) & 1u;
  ranks[t] = one;
  __syncthreads();
  for (int d = 1; d < 256; d *= 2) {
    unsigned v = t >= d ? ranks[t - d] : 0u;
    __syncthreads();
    ranks[t] += v;
    __syncthreads();
  }
  unsigned zeros = 256 - ranks[255], before = ranks[t] - one;
  sorted[one ? zeros + before : t - before] = key;
  __syncthreads();
  out[(size_t)blockIdx.x * 256 + t] = sorted[t];
}

void oscillate(const float *p, float *o, int n, int steps) {
  oscillators<<<(n + 255) / 256, 256>>>(p, o, n, 0.5f, steps);
}
void joint(const unsigned char *a, const unsigned char *b, unsigned *j, int n) {
  int blocks = std::min(264, (n + 511) / 512);
  jointHistogram<<<blocks, 512>>>(a, b, j, n);
}
void shuffle(const float *i, const unsigned char *f, float *o, int n) {
  interleave<<<n / 256, 256>>>(i, f, o);
}
void split(const unsigned *k, unsigned *o, int n) {
  splitByBit<<<n / 256, 256>>>(k, o, 3);
}

int main(int argc, char **argv) {
  using namespace validation;
  start(argc, argv);
  for (int n : sizes({1 << 24, 1 << 20}, 1024)) {
    float *f = filled<float>(n, 651, -3, 3), *o = zeros<float>(n);
    unsigned char *a = filled<unsigned char>(n, 652, 0, 256),
                  *b = filled<unsigned char>(n, 653, 0, 256);
    unsigned *bins = zeros<unsigned>(32 * 32),
             *k = filled<unsigned>(n, 654, 0, 65536), *s = zeros<unsigned>(n);
    measure("oscillators", text(n),
            [&] { oscillate(f, o, n, small_only ? 5 : 200); }, {result(o, n)});
    measure("jointHistogram", text(n), [&] { joint(a, b, bins, n); },
            {result(bins, 32 * 32)});
    measure("interleave", text(n), [&] { shuffle(f, a, o, n); }, {result(o, n)});
    measure("splitByBit", text(n), [&] { split(k, s, n); }, {result(s, n)});
    release(f, o, a, b, bins, k, s);
  }
}
