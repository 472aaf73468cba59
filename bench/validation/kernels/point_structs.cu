// Structures of equal floats in shared memory: tangents of a closed curve,
// springs of a chain of masses, a filter of complex samples.
#include "validation.cuh"

struct Vec3 {
  float x, y, z;
};

#define BLOCK 192

__global__ void tangents(const Vec3 *points, Vec3 *dir, int n) {
  __shared__ Vec3 p[BLOCK + 2];
  int t = threadIdx.x, i = blockIdx.x * BLOCK + t;
  if (i < n) {
    p[t + 1] = points[i];
    if (t == 0)
      p[0] = points[(i + n - 1) % n];
    if (t == BLOCK - 1 || i == n - 1)
      p[t + 2] = points[(i + 1) % n];
  }
  __syncthreads();
  if (i < n) {
    Vec3 d;
    d.x = p[t + 2].x - p[t].x;
    d.y = p[t + 2].y - p[t].y;
    d.z = p[t + 2].z - p[t].z;
    float inv = rsqrtf(d.x * d.x + d.y * d.y + d.z * d.z + 1e-20f);
    d.x *= inv;
    d.y *= inv;
    d.z *= inv;
    dir[i] = d;
  }
}

struct Mass {
  float x, y, vx, vy;
};

__device__ void spring(const Mass &a, const Mass &b, float rest, float k,
                       float damp, float &fx, float &fy) {
  float dx = b.x - a.x, dy = b.y - a.y;
  float len = sqrtf(dx * dx + dy * dy) + 1e-6f;
  float s = k * (len - rest) / len;
  fx += s * dx + damp * (b.vx - a.vx);
  fy += s * dy + damp * (b.vy - a.vy);
}

// structural springs to the next masses, bending springs to those after
__global__ void chainStep(const Mass *now, Mass *next, int n, float dt) {
  __shared__ Mass m[256 + 4];
  int i = blockIdx.x * 256 + threadIdx.x;
  for (int k = threadIdx.x; k < 256 + 4; k += 256) {
    int g = (int)blockIdx.x * 256 + k - 2;
    m[k] = now[min(max(g, 0), n - 1)];
  }
  __syncthreads();
  if (i >= n)
    return;
  int c = threadIdx.x + 2;
  float fx = 0.f, fy = -9.81f;
  if (i > 0)
    spring(m[c], m[c - 1], 1.0f, 40.f, 0.3f, fx, fy);
  if (i < n - 1)
    spring(m[c], m[c + 1], 1.0f, 40.f, 0.3f, fx, fy);
  if (i > 1)
    spring(m[c], m[c - 2], 2.0f, 5.f, 0.1f, fx, fy);
  if (i < n - 2)
    spring(m[c], m[c + 2], 2.0f, 5.f, 0.1f, fx, fy);
  Mass r = m[c];
  r.vx += dt * fx;
  r.vy += dt * fy;
  r.x += dt * r.vx;
  r.y += dt * r.vy;
  next[i] = r;
}

struct cfloat {
  float re, im;
};

#define TAPS 9
__constant__ cfloat taps[TAPS];

__global__ void complexFir(const cfloat *in, cfloat *out, int n) {
  __shared__ cfloat s[256 + TAPS - 1];
  int first = blockIdx.x * 256 - (TAPS - 1);
  for (int k = threadIdx.x; k < 256 + TAPS - 1; k += blockDim.x) {
    int g = first + k;
    cfloat v = {0.f, 0.f};
    if (g >= 0 && g < n)
      v = in[g];
    s[k] = v;
  }
  __syncthreads();
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) {
    cfloat acc = {0.f, 0.f};
    for (int k = 0; k < TAPS; ++k) {
      cfloat v = s[threadIdx.x + k], h = taps[k];
      acc.re += v.re * h.re - v.im * h.im;
      acc.im += v.re * h.im + v.im * h.re;
    }
    out[i] = acc;
  }
}

void curve(const Vec3 *p, Vec3 *d, int n) {
  tangents<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(p, d, n);
}
void chain(const Mass *a, Mass *b, int n) {
  chainStep<<<(n + 255) / 256, 256>>>(a, b, n, 1e-3f);
}
void mix_down(const cfloat *in, cfloat *out, int n) {
  complexFir<<<(n + 255) / 256, 256>>>(in, out, n);
}

int main(int argc, char **argv) {
  using namespace validation;
  start(argc, argv);
  cfloat h[TAPS];
  for (int k = 0; k < TAPS; ++k)
    h[k] = {0.25f - 0.03f * k, 0.02f * k - 0.1f};
  check(cudaMemcpyToSymbol(taps, h, sizeof h));
  for (int n : sizes({1 << 24, 1 << 20, 2500000}, 600)) {
    size_t big = n;
    float *p = filled<float>(3 * big, 581), *d = zeros<float>(3 * big);
    measure("tangents", text(n), [&] { curve((const Vec3 *)p, (Vec3 *)d, n); },
            {result(d, 3 * big)});
    float *a = filled<float>(4 * big, 582), *b = zeros<float>(4 * big);
    measure("chainStep", text(n), [&] { chain((const Mass *)a, (Mass *)b, n); },
            {result(b, 4 * big)});
    float *x = filled<float>(2 * big, 583), *y = zeros<float>(2 * big);
    measure("complexFir", text(n),
            [&] { mix_down((const cfloat *)x, (cfloat *)y, n); },
            {result(y, 2 * big)});
    release(p, d, a, b, x, y);
  }
}
