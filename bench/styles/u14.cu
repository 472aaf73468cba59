#include "h.h"
#include <cstring>
#include <cstdint>
static void show(const char *name, const void *dev, size_t bytes) {
  cudaError_t e = cudaDeviceSynchronize();
  unsigned char *h = (unsigned char *)malloc(bytes);
  cudaMemcpy(h, dev, bytes, cudaMemcpyDeviceToHost);
  unsigned long long f = 1469598103934665603ull;
  size_t i = 0;
  for (; i + 8 <= bytes; i += 8) {
    unsigned long long w;
    memcpy(&w, h + i, 8);
    f = (f ^ w) * 1099511628211ull;
  }
  for (; i < bytes; ++i) f = (f ^ h[i]) * 1099511628211ull;
  printf("%s %016llx%s%s\n", name, f, e ? " " : "", e ? cudaGetErrorString(e) : "");
  free(h);
}
// Game of life, STEPS generations a launch, trapezoid tile, torus
#define TB 32
template <int STEPS>
__global__ void life_multi(const uint8_t *world, uint8_t *next, int n) {
  __shared__ uint8_t g[2][TB][TB + 4];
  int tx = threadIdx.x, ty = threadIdx.y;
  int inner = TB - 2 * STEPS;
  int x = (int)blockIdx.x * inner + tx - STEPS, y = (int)blockIdx.y * inner + ty - STEPS;
  int wx = (x % n + n) % n, wy = (y % n + n) % n;
  g[0][ty][tx] = world[wy * n + wx] & 1;
  g[1][ty][tx] = 0;
  __syncthreads();
  int cur = 0;
  for (int s = 1; s <= STEPS; ++s) {
    if (tx >= s && tx < TB - s && ty >= s && ty < TB - s) {
      int c = 0;
      for (int dy = -1; dy <= 1; ++dy)
        for (int dx = -1; dx <= 1; ++dx)
          if (dx | dy) c += g[cur][ty + dy][tx + dx];
      g[cur ^ 1][ty][tx] = (c == 3) || (c == 2 && g[cur][ty][tx]);
    }
    cur ^= 1;
    __syncthreads();
  }
  if (tx >= STEPS && tx < TB - STEPS && ty >= STEPS && ty < TB - STEPS && x < n && y < n) next[y * n + x] = g[cur][ty][tx];
}

// elementary rule, 32 cells a word, T generations
__global__ void rule_words(const uint32_t *in, uint32_t *out, int words, int steps, uint32_t rule) {
  __shared__ uint32_t a[256 + 2], b[256 + 2];
  int t = threadIdx.x + 1;
  int g = blockIdx.x * 254 + threadIdx.x - 1;   // one word of overlap each side
  a[t] = (g >= 0 && g < words) ? in[g] : 0u;
  if (threadIdx.x == 0) { a[0] = 0; b[0] = 0; a[257] = 0; b[257] = 0; }
  __syncthreads();
  uint32_t *p = a, *q = b;
  for (int s = 0; s < steps; ++s) {
    uint32_t c = p[t];
    uint32_t l = (c >> 1) | (p[t - 1] << 31);
    uint32_t r = (c << 1) | (p[t + 1] >> 31);
    uint32_t o = 0;
#pragma unroll
    for (int k = 0; k < 8; ++k)
      if ((rule >> k) & 1) o |= ((k & 4) ? l : ~l) & ((k & 2) ? c : ~c) & ((k & 1) ? r : ~r);
    q[t] = o;
    __syncthreads();
    uint32_t *z = p; p = q; q = z;
  }
  if (threadIdx.x >= 1 && threadIdx.x <= 254 && g >= 0 && g < words) out[g] = p[t];
}

// forest fire with a counter-based generator: 0 empty 1 tree 2 burning
__device__ __host__ inline uint32_t mix(uint32_t h) { h ^= h >> 16; h *= 0x7feb352du; h ^= h >> 15; h *= 0x846ca68bu; h ^= h >> 16; return h; }
__global__ void forest_fire(const int *cells, int *res, int W, int H, uint32_t seed) {
  __shared__ int s[18][18];
  const int gx = blockIdx.x * 16 + threadIdx.x - 1;
  const int gy = blockIdx.y * 16 + threadIdx.y - 1;
  s[threadIdx.y][threadIdx.x] = (gx < 0 || gy < 0 || gx >= W || gy >= H) ? 0 : cells[gy * W + gx] % 3;
  __syncthreads();
  if (threadIdx.x < 1 || threadIdx.x > 16 || threadIdx.y < 1 || threadIdx.y > 16 || gx >= W || gy >= H) return;
  int me = s[threadIdx.y][threadIdx.x], r;
  uint32_t rnd = mix(seed ^ (gy * W + gx));
  if (me == 2) r = 0;
  else if (me == 1) {
    bool fire = s[threadIdx.y - 1][threadIdx.x] == 2 || s[threadIdx.y + 1][threadIdx.x] == 2 || s[threadIdx.y][threadIdx.x - 1] == 2 || s[threadIdx.y][threadIdx.x + 1] == 2;
    r = (fire || (rnd & 0xffff) < 40) ? 2 : 1;
  } else r = (rnd >> 16) < 3000 ? 1 : 0;
  res[gy * W + gx] = r;
}

// Ising checkerboard: black sweep then white sweep on a tile whose border is frozen
__global__ void ising_tile(signed char *spin, int L, float beta, uint32_t seed) {
  __shared__ signed char t[34][34];
  __shared__ float acc[5];
  int tid = threadIdx.x;
  int bx = blockIdx.x * 32, by = blockIdx.y * 32;
  if (tid < 5) acc[tid] = expf(-2.f * beta * (2 * tid - 4));
  for (int i = tid; i < 34 * 34; i += blockDim.x) {
    int r = i / 34 - 1, c = i % 34 - 1;
    // ring outside the tile is taken as +1
    t[i / 34][i % 34] = (r < 0 || c < 0 || r > 31 || c > 31) ? 1 : ((spin[(by + r) * L + bx + c] & 1) ? 1 : -1);
  }
  __syncthreads();
  for (int sweep = 0; sweep < 6; ++sweep) {
    for (int color = 0; color < 2; ++color) {
      for (int i = tid; i < 512; i += blockDim.x) {
        int r = i / 16, c = 2 * (i % 16) + ((r + color) & 1);
        int nb = t[r][c + 1] + t[r + 2][c + 1] + t[r + 1][c] + t[r + 1][c + 2];
        int de = nb * t[r + 1][c + 1];
        float u = (mix(seed + 131u * sweep + 7919u * color + ((by + r) * L + bx + c) * 2654435761u) >> 8) * (1.0f / 16777216.0f);
        if (u < acc[(de + 4) / 2]) t[r + 1][c + 1] = -t[r + 1][c + 1];
      }
      __syncthreads();
    }
  }
  for (int i = tid; i < 1024; i += blockDim.x) spin[(by + i / 32) * L + bx + i % 32] = t[i / 32 + 1][i % 32 + 1];
}

int main() {
  int n = 5000;
  uint8_t *w = mk<uint8_t>((size_t)n * n), *v = mk<uint8_t>((size_t)n * n);
  { const int in4 = TB - 8; dim3 g((n + in4 - 1) / in4, (n + in4 - 1) / in4);
    life_multi<4><<<g, dim3(TB, TB)>>>(w, v, n);
    life_multi<4><<<g, dim3(TB, TB)>>>(v, w, n);
    show("life_multi", w, (size_t)n * n); }
  { int words = 8000000; uint32_t *a = mk<uint32_t>(words), *b = mk<uint32_t>(words);
    rule_words<<<(words + 253) / 254, 256>>>(a, b, words, 31, 110);
    show("rule_words", b, (size_t)words * 4); }
  { int W = 4099, H = 3001; int *c = mk<int>((size_t)W * H), *r = mk<int>((size_t)W * H);
    dim3 t(18, 18), g((W + 15) / 16, (H + 15) / 16);
    for (int i = 0; i < 3; ++i) { forest_fire<<<g, t>>>(c, r, W, H, 17u + i); int *z = c; c = r; r = z; }
    show("forest_fire", c, (size_t)W * H * 4); }
  { int L = 4096; signed char *s = mk<signed char>((size_t)L * L);
    ising_tile<<<dim3(L / 32, L / 32), 256>>>(s, L, 0.44f, 99u);
    show("ising_tile", s, (size_t)L * L); }
}
