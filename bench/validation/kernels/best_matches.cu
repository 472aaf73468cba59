// All against all in tiles of the set, edges guarded: the best cosine for every
// query descriptor, and the fewest differing bits of binary descriptors.
#include "validation.cuh"

#define CHUNK 128

// descriptors of four floats; who is the first with the highest similarity
__global__ void maxSimilarity(const float4 *__restrict__ query, int queries,
                              const float4 *__restrict__ set, int entries,
                              float *score, int *who) {
  __shared__ float4 part[CHUNK];
  const int q = blockIdx.x * CHUNK + threadIdx.x;
  const float4 mine =
      q < queries ? query[q] : make_float4(0.f, 0.f, 0.f, 0.f);
  float best = -1e30f;
  int at = -1;
  for (int base = 0; base < entries; base += CHUNK) {
    if (base + (int)threadIdx.x < entries)
      part[threadIdx.x] = set[base + threadIdx.x];
    __syncthreads();
    const int count = min(CHUNK, entries - base);
    for (int j = 0; j < count; ++j) {
      const float4 o = part[j];
      float s = mine.x * o.x + mine.y * o.y + mine.z * o.z + mine.w * o.w;
      if (s > best) {
        best = s;
        at = base + j;
      }
    }
    __syncthreads();
  }
  if (q < queries) {
    score[q] = best;
    who[q] = at;
  }
}

#define SIDE 16
#define WORDS 16

// 16 x 16 pairs a block; best[i][tile] is the fewest bits that differ between
// descriptor i and the sixteen of that tile
__global__ void hammingTiles(const unsigned *left, int nl, const unsigned *right,
                             int nr, int *best) {
  __shared__ unsigned l[SIDE][WORDS + 1], r[SIDE][WORDS + 1];
  __shared__ int d[SIDE][SIDE];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int i0 = blockIdx.y * SIDE, j0 = blockIdx.x * SIDE;
  l[ty][tx] = i0 + ty < nl ? left[(size_t)(i0 + ty) * WORDS + tx] : 0u;
  r[ty][tx] = j0 + ty < nr ? right[(size_t)(j0 + ty) * WORDS + tx] : 0u;
  __syncthreads();
  int bits = 0;
#pragma unroll
  for (int w = 0; w < WORDS; ++w)
    bits += __popc(l[ty][w] ^ r[tx][w]);
  d[ty][tx] = j0 + tx < nr ? bits : 32 * WORDS + 1;
  __syncthreads();
  for (int s = SIDE / 2; s > 0; s >>= 1) {
    if (tx < s)
      d[ty][tx] = min(d[ty][tx], d[ty][tx + s]);
    __syncthreads();
  }
  if (tx == 0 && i0 + ty < nl)
    best[(size_t)(i0 + ty) * gridDim.x + blockIdx.x] = d[ty][0];
}

void similar(const float4 *q, int nq, const float4 *s, int ns, float *score,
             int *who) {
  maxSimilarity<<<(nq + CHUNK - 1) / CHUNK, CHUNK>>>(q, nq, s, ns, score, who);
}
void hamming(const unsigned *l, int nl, const unsigned *r, int nr, int *best) {
  dim3 grid((nr + SIDE - 1) / SIDE, (nl + SIDE - 1) / SIDE);
  hammingTiles<<<grid, dim3(SIDE, SIDE)>>>(l, nl, r, nr, best);
}

int main(int argc, char **argv) {
  using namespace validation;
  start(argc, argv);
  for (Extent e : extents({{3000, 5000, 1}, {40000, 10000, 1}, {200000, 3333, 1}},
                          {150, 170, 1})) {
    float *q = filled<float>((size_t)4 * e.x, 691),
          *s = filled<float>((size_t)4 * e.y, 692), *score = zeros<float>(e.x);
    int *who = zeros<int>(e.x);
    measure("maxSimilarity", text(e),
            [&] {
              similar((const float4 *)q, e.x, (const float4 *)s, e.y, score, who);
            },
            {result(score, e.x), result(who, e.x)});
    release(q, s, score, who);
  }
  for (Extent e : extents({{1000, 1000, 1}, {5000, 3001, 1}, {16384, 16384, 1}},
                          {20, 37, 1})) {
    size_t n = (size_t)e.x * ((e.y + SIDE - 1) / SIDE);
    unsigned *l = filled<unsigned>((size_t)e.x * WORDS, 693, 0, 4e9),
             *r = filled<unsigned>((size_t)e.y * WORDS, 694, 0, 4e9);
    int *b = zeros<int>(n);
    measure("hammingTiles", text(e), [&] { hamming(l, e.x, r, e.y, b); },
            {result(b, n)});
    release(l, r, b);
  }
}
