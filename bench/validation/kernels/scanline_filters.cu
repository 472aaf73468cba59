// One image row per grid.y, blocks along the row: a Gauss of colour pixels with
// repeated borders, a pre-emphasis of stereo samples with mirrored ends, a
// nine-tap resonator of floats that sees zeros outside.
#include "validation.cuh"

#define ROW_THREADS 128
#define GAUSS_R 2

__device__ __forceinline__ int clampi(int v, int lo, int hi) {
  return v < lo ? lo : (v > hi ? hi : v);
}

__global__ void gaussRowRgba(uchar4 *dst, const uchar4 *src, int width) {
  __shared__ uchar4 px[ROW_THREADS + 2 * GAUSS_R];
  const uchar4 *line = src + (size_t)blockIdx.y * width;
  const int x0 = blockIdx.x * ROW_THREADS;
  const int x = x0 + threadIdx.x;
  for (int i = threadIdx.x; i < ROW_THREADS + 2 * GAUSS_R; i += ROW_THREADS)
    px[i] = line[clampi(x0 + i - GAUSS_R, 0, width - 1)];
  __syncthreads();
  if (x >= width)
    return;
  const int k[5] = {1, 4, 6, 4, 1};
  int r = 8, g = 8, b = 8;
#pragma unroll
  for (int j = 0; j < 5; ++j) {
    uchar4 p = px[threadIdx.x + j];
    r += k[j] * p.x;
    g += k[j] * p.y;
    b += k[j] * p.z;
  }
  uchar4 q;
  q.x = r >> 4;
  q.y = g >> 4;
  q.z = b >> 4;
  q.w = px[threadIdx.x + GAUSS_R].w;
  dst[(size_t)blockIdx.y * width + x] = q;
}

// left and right in a short2; channel blocks of `frames` samples, one per y
__global__ void emphasizeStereo(const short2 *__restrict__ pcm,
                                short2 *__restrict__ res, int frames) {
  __shared__ short2 buf[256 + 6];
  const int tid = threadIdx.x;
  const int f = blockIdx.x * 256 + tid;
  const size_t base = (size_t)blockIdx.y * frames;
  if (f < frames)
    buf[tid + 3] = pcm[base + f];
  if (tid < 3) {
    int before = f - 3;
    buf[tid] = pcm[base + (before < 0 ? -before : before)];
    int after = blockIdx.x * 256 + 256 + tid;
    if (after < frames)
      buf[tid + 259] = pcm[base + after];
  }
  // the mirror of the last samples, wherever the row ends in this block
  int room = frames - (int)blockIdx.x * 256;
  if (tid < 3 && room < 259) {
    int at = max(room, 0) + tid;
    if (at + 3 < 262)
      buf[at + 3] = pcm[base + frames - 2 - (at - room)];
  }
  __syncthreads();
  if (f < frames) {
    short2 c = buf[tid + 3];
    int l = 6 * c.x - 2 * (buf[tid + 2].x + buf[tid + 4].x) -
            (buf[tid].x + buf[tid + 6].x);
    int r = 6 * c.y - 2 * (buf[tid + 2].y + buf[tid + 4].y) -
            (buf[tid].y + buf[tid + 6].y);
    res[base + f] = make_short2((short)clampi(l / 4, -32768, 32767),
                                (short)clampi(r / 4, -32768, 32767));
  }
}

template <int BLOCK>
__global__ void resonatorRow(const float *__restrict__ in, float *out, int cols) {
  __shared__ float s[BLOCK + 8];
  const int c = blockIdx.x * BLOCK + threadIdx.x;
  const float *row = &in[(size_t)blockIdx.y * cols];
  s[threadIdx.x + 4] = c < cols ? row[c] : 0.f;
  if (threadIdx.x < 4)
    s[threadIdx.x] = c >= 4 ? row[c - 4] : 0.f;
  else if (threadIdx.x < 8)
    s[BLOCK + threadIdx.x] = c + BLOCK - 4 < cols ? row[c + BLOCK - 4] : 0.f;
  __syncthreads();
  if (c < cols) {
    const float *m = s + threadIdx.x;
    out[(size_t)blockIdx.y * cols + c] =
        0.5f * m[4] + 0.31f * (m[3] + m[5]) - 0.12f * (m[2] + m[6]) +
        0.07f * (m[1] + m[7]) - 0.015f * (m[0] + m[8]);
  }
}

static void gauss(uchar4 *d, const uchar4 *s, int w, int h) {
  dim3 grid((w + ROW_THREADS - 1) / ROW_THREADS, h);
  gaussRowRgba<<<grid, ROW_THREADS>>>(d, s, w);
}
static void emphasize(const short2 *a, short2 *b, int frames, int rows) {
  emphasizeStereo<<<dim3((frames + 255) / 256, rows), 256>>>(a, b, frames);
}
static void resonate(const float *a, float *b, int cols, int rows) {
  resonatorRow<192><<<dim3((cols + 191) / 192, rows), 192>>>(a, b, cols);
}

int main(int argc, char **argv) {
  using namespace validation;
  start(argc, argv);
  for (Extent e : extents({{320, 240, 1}, {1280, 720, 1}, {3840, 2160, 1}},
                          {145, 4, 1})) {
    size_t n = (size_t)e.x * e.y;
    unsigned char *s = filled<unsigned char>(4 * n, 611, 0, 256),
                  *d = zeros<unsigned char>(4 * n);
    measure("gaussRowRgba", text(e),
            [&] { gauss((uchar4 *)d, (const uchar4 *)s, e.x, e.y); },
            {result(d, 4 * n)});
    release(s, d);
  }
  for (Extent e : extents({{4096, 64, 1}, {1152, 1000, 1}, {8192, 2048, 1}},
                          {514, 3, 1})) {
    size_t n = (size_t)e.x * e.y;
    short *s = filled<short>(2 * n, 612, -20000, 20000), *d = zeros<short>(2 * n);
    measure("emphasizeStereo", text(e),
            [&] { emphasize((const short2 *)s, (short2 *)d, e.x, e.y); },
            {result(d, 2 * n)});
    release(s, d);
  }
  for (Extent e : extents({{640, 480, 1}, {1920, 1080, 1}, {8192, 4320, 1}},
                          {200, 3, 1})) {
    size_t n = (size_t)e.x * e.y;
    float *s = filled<float>(n, 613), *d = zeros<float>(n);
    measure("resonatorRow", text(e), [&] { resonate(s, d, e.x, e.y); },
            {result(d, n)});
    release(s, d);
  }
}
