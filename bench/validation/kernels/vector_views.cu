// Shared arrays seen as vectors and as their elements: a line filter filled by
// float4, sharpened bytes filled by uchar4, and elements brought from striped
// to blocked order so that a thread owns four in a row.
#include "validation.cuh"

#define NT 128

__global__ void blurLine4(const float4 *__restrict__ in,
                          float4 *__restrict__ out, int n4) {
  __shared__ __align__(16) float s[4 * NT + 8];
  float4 *s4 = reinterpret_cast<float4 *>(s);
  int t = threadIdx.x, i = blockIdx.x * NT + t;
  float4 zero = make_float4(0.f, 0.f, 0.f, 0.f);
  s4[t + 1] = i < n4 ? in[i] : zero;
  if (t == 0)
    s4[0] = i > 0 ? in[i - 1] : zero;
  if (t == NT - 1)
    s4[NT + 1] = i + 1 < n4 ? in[i + 1] : zero;
  __syncthreads();
  if (i >= n4)
    return;
  const float *c = s + 4 * t + 4;
  float4 r;
  r.x = 0.1f * (c[-2] + c[2]) + 0.2f * (c[-1] + c[1]) + 0.4f * c[0];
  r.y = 0.1f * (c[-1] + c[3]) + 0.2f * (c[0] + c[2]) + 0.4f * c[1];
  r.z = 0.1f * (c[0] + c[4]) + 0.2f * (c[1] + c[3]) + 0.4f * c[2];
  r.w = 0.1f * (c[1] + c[5]) + 0.2f * (c[2] + c[4]) + 0.4f * c[3];
  out[i] = r;
}

__device__ unsigned char saturate(int v) {
  return (unsigned char)(v < 0 ? 0 : v > 255 ? 255 : v);
}

// rows of `words` four-byte words; bytes beyond the ends repeat the last one
__global__ void sharpenBytes(const unsigned char *src, unsigned char *dst,
                             int words) {
  __shared__ uchar4 line[NT + 2];
  const uchar4 *row = (const uchar4 *)src + (size_t)blockIdx.y * words;
  int t = threadIdx.x, w = blockIdx.x * NT + t;
  if (w < words) {
    line[t + 1] = row[w];
    if (t == 0) {
      uchar4 first = row[w > 0 ? w - 1 : 0];
      if (w == 0)
        first.w = first.x;
      line[0] = first;
    }
    if (t == NT - 1 || w == words - 1) {
      uchar4 last = row[w + 1 < words ? w + 1 : w];
      if (w == words - 1)
        last.x = last.w;
      line[t + 2] = last;
    }
  }
  __syncthreads();
  if (w < words) {
    const unsigned char *p = (const unsigned char *)line + 4 * (t + 1);
    uchar4 r;
    r.x = saturate(3 * p[0] - p[-1] - p[1]);
    r.y = saturate(3 * p[1] - p[0] - p[2]);
    r.z = saturate(3 * p[2] - p[1] - p[3]);
    r.w = saturate(3 * p[3] - p[2] - p[4]);
    ((uchar4 *)dst)[(size_t)blockIdx.y * words + w] = r;
  }
}

// running sums of quads: filled one by one, read as int4, put back, stored one
// by one
__global__ void quadPrefix(const int *in, int *out, int n) {
  __shared__ int4 stage[NT];
  int *flat = (int *)stage;
  int base = blockIdx.x * 4 * NT;
#pragma unroll
  for (int k = 0; k < 4; k++) {
    int g = base + k * NT + threadIdx.x;
    flat[k * NT + threadIdx.x] = g < n ? in[g] : 0;
  }
  __syncthreads();
  int4 q = stage[threadIdx.x];
  q.y += q.x;
  q.z += q.y;
  q.w += q.z;
  stage[threadIdx.x] = q;
  __syncthreads();
#pragma unroll
  for (int k = 0; k < 4; k++) {
    int g = base + k * NT + threadIdx.x;
    if (g < n)
      out[g] = flat[k * NT + threadIdx.x];
  }
}

void blur(const float4 *in, float4 *out, int n4) {
  blurLine4<<<(n4 + NT - 1) / NT, NT>>>(in, out, n4);
}
void sharpen(const unsigned char *s, unsigned char *d, int width, int height) {
  int words = width / 4;
  sharpenBytes<<<dim3((words + NT - 1) / NT, height), NT>>>(s, d, words);
}
void quads(const int *in, int *out, int n) {
  quadPrefix<<<(n + 4 * NT - 1) / (4 * NT), NT>>>(in, out, n);
}

int main(int argc, char **argv) {
  using namespace validation;
  start(argc, argv);
  for (int n : sizes({1 << 26, 6000000, 1 << 20}, 1100)) {
    float *x = filled<float>(n, 571), *y = zeros<float>(n);
    measure("blurLine4", text(n),
            [&] { blur((const float4 *)x, (float4 *)y, n / 4); },
            {result(y, n)});
    int *i = filled<int>(n, 572, -9, 9), *o = zeros<int>(n);
    measure("quadPrefix", text(n), [&] { quads(i, o, n); }, {result(o, n)});
    release(x, y, i, o);
  }
  for (Extent e : extents({{8192, 8192, 1}, {1920, 1080, 1}, {640, 480, 64}},
                          {532, 3, 1})) {
    int rows = e.y * e.z;
    size_t n = (size_t)e.x * rows;
    unsigned char *s = filled<unsigned char>(n, 573, 0, 256),
                  *d = zeros<unsigned char>(n);
    measure("sharpenBytes", text(e), [&] { sharpen(s, d, e.x, rows); },
            {result(d, n)});
    release(s, d);
  }
}
