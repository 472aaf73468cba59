// Assorted data-processing kernels: database operators, graphs, geometry, crypto, compression
#include <algorithm>
#include <cstdint>
#include <vector>
#include "shown.h"

// ---------------------------------------------------------------- [DB] partitioned hash join
#define JOIN_SLOTS 1024
#define EMPTY_KEY 0xffffffffu
struct Row { uint32_t key, payload; };
__device__ __forceinline__ uint32_t murmurFinal(uint32_t h) {
  h ^= h >> 16; h *= 0x85ebca6b; h ^= h >> 13; h *= 0xc2b2ae35; h ^= h >> 16;
  return h;
}
__global__ void hashJoinPartition(const Row *__restrict__ build, const Row *__restrict__ probe, uint32_t *__restrict__ matches,
                                  uint64_t *__restrict__ sums, int nBuild, int nProbe) {
  __shared__ uint32_t keys[JOIN_SLOTS];
  __shared__ uint32_t vals[JOIN_SLOTS];
  for (int i = threadIdx.x; i < JOIN_SLOTS; i += blockDim.x) keys[i] = EMPTY_KEY;
  __syncthreads();
  const Row *b = build + (size_t)blockIdx.x * nBuild;
  for (int i = threadIdx.x; i < nBuild; i += blockDim.x) {
    Row r = b[i];
    uint32_t slot = murmurFinal(r.key) & (JOIN_SLOTS - 1);
    while (atomicCAS(&keys[slot], EMPTY_KEY, r.key) != EMPTY_KEY) slot = (slot + 1) & (JOIN_SLOTS - 1);
    vals[slot] = r.payload;
  }
  __syncthreads();
  const Row *p = probe + (size_t)blockIdx.x * nProbe;
  for (int i = threadIdx.x; i < nProbe; i += blockDim.x) {
    Row r = p[i];
    uint32_t slot = murmurFinal(r.key) & (JOIN_SLOTS - 1), m = 0;
    uint64_t s = 0;
    while (keys[slot] != EMPTY_KEY) {
      if (keys[slot] == r.key) { m++; s += (uint64_t)vals[slot] * r.payload; }
      slot = (slot + 1) & (JOIN_SLOTS - 1);
    }
    matches[(size_t)blockIdx.x * nProbe + i] = m;
    sums[(size_t)blockIdx.x * nProbe + i] = s;
  }
}

// ---------------------------------------------------------------- [DB] GROUP BY, few groups
struct Agg { unsigned long long sum; unsigned int cnt; int mn, mx; int pad; };
__global__ void groupByFewGroups(const unsigned char *group, const int *value, Agg *result, int n, int ngroups)
{
    extern __shared__ unsigned long long sSum[];
    unsigned int *sCnt = (unsigned int *)(sSum + ngroups);
    int *sMin = (int *)(sCnt + ngroups);
    int *sMax = sMin + ngroups;
    for (int g = threadIdx.x; g < ngroups; g += blockDim.x) {
        sSum[g] = 0; sCnt[g] = 0; sMin[g] = 0x7fffffff; sMax[g] = -0x7fffffff - 1;
    }
    __syncthreads();
    const int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        int g = group[i] % ngroups, v = value[i];
        atomicAdd(&sSum[g], (unsigned long long)(long long)v);
        atomicAdd(&sCnt[g], 1u);
        atomicMin(&sMin[g], v);
        atomicMax(&sMax[g], v);
    }
    __syncthreads();
    for (int g = threadIdx.x; g < ngroups; g += blockDim.x)
        if (sCnt[g]) {
            atomicAdd(&result[g].sum, sSum[g]);
            atomicAdd(&result[g].cnt, sCnt[g]);
            atomicMin(&result[g].mn, sMin[g]);
            atomicMax(&result[g].mx, sMax[g]);
        }
}

// ---------------------------------------------------------------- [CRYPTO] AES-128 in counter mode
typedef uint8_t u8;
#define XTIME(x) ((u8)(((x) << 1) ^ ((((x) >> 7) & 1) * 0x1b)))
__global__ void aes128Ctr(const u8 *sboxG, const u8 *roundKeys, const uint4 *in, uint4 *out, uint32_t nonce, int nblocks) {
	__shared__ u8 sbox[256];
	__shared__ u8 rk[176];
	for (int i = threadIdx.x; i < 256; i += blockDim.x) sbox[i] = sboxG[i];
	for (int i = threadIdx.x; i < 176; i += blockDim.x) rk[i] = roundKeys[i];
	__syncthreads();
	int id = blockIdx.x * blockDim.x + threadIdx.x;
	if (id >= nblocks) return;
	u8 s[16], t[16];
	for (int i = 0; i < 16; i++) {
		u8 c = i < 4 ? (u8)(nonce >> (8*i)) : (i >= 12 ? (u8)(id >> (8*(15-i))) : 0);
		s[i] = c ^ rk[i];
	}
	for (int r = 1; r <= 10; r++) {
		for (int i = 0; i < 16; i++) t[i] = sbox[s[(i + 4*(i & 3)) & 15]];   /* sub + shift rows */
		if (r < 10)
			for (int c = 0; c < 16; c += 4) {
				u8 a = t[c] ^ t[c+1] ^ t[c+2] ^ t[c+3], t0 = t[c];
				for (int k = 0; k < 4; k++) {
					u8 nx = k == 3 ? t0 : t[c+k+1];
					u8 d = t[c+k] ^ nx;
					s[c+k] = t[c+k] ^ a ^ XTIME(d);
				}
			}
		else
			for (int i = 0; i < 16; i++) s[i] = t[i];
		for (int i = 0; i < 16; i++) s[i] ^= rk[16*r + i];
	}
	uint4 d = in[id];
	d.x ^= s[0] | s[1] << 8 | s[2] << 16 | (uint32_t)s[3] << 24;
	d.y ^= s[4] | s[5] << 8 | s[6] << 16 | (uint32_t)s[7] << 24;
	d.z ^= s[8] | s[9] << 8 | s[10] << 16 | (uint32_t)s[11] << 24;
	d.w ^= s[12] | s[13] << 8 | s[14] << 16 | (uint32_t)s[15] << 24;
	out[id] = d;
}

// ---------------------------------------------------------------- [CRYPTO] SHA-256 of short records
#define ROTR(x, n) (((x) >> (n)) | ((x) << (32 - (n))))
__global__ void sha256Records(const uint32_t *kTab, const uint32_t *words, uint32_t *digest, int nrec, int wordsPerRec) {
  __shared__ uint32_t K[64];
  if (threadIdx.x < 64) K[threadIdx.x] = kTab[threadIdx.x];
  __syncthreads();
  int id = blockIdx.x * blockDim.x + threadIdx.x;
  if (id >= nrec) return;
  uint32_t w[64];
  for (int i = 0; i < 16; i++) w[i] = 0;
  for (int i = 0; i < wordsPerRec; i++) w[i] = words[(size_t)i * nrec + id];
  w[wordsPerRec] = 0x80000000u;
  w[15] = 32 * wordsPerRec;
#pragma unroll 1
  for (int i = 16; i < 64; i++) {
    uint32_t a = w[i - 15], b = w[i - 2];
    w[i] = w[i - 16] + (ROTR(a, 7) ^ ROTR(a, 18) ^ (a >> 3)) + w[i - 7] + (ROTR(b, 17) ^ ROTR(b, 19) ^ (b >> 10));
  }
  const uint32_t iv[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  uint32_t a = iv[0], b = iv[1], c = iv[2], d = iv[3], e = iv[4], f = iv[5], g = iv[6], h = iv[7];
#pragma unroll 4
  for (int i = 0; i < 64; i++) {
    uint32_t t1 = h + (ROTR(e, 6) ^ ROTR(e, 11) ^ ROTR(e, 25)) + ((e & f) ^ (~e & g)) + K[i] + w[i];
    uint32_t t2 = (ROTR(a, 2) ^ ROTR(a, 13) ^ ROTR(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    h = g; g = f; f = e; e = d + t1; d = c; c = b; b = a; a = t1 + t2;
  }
  uint32_t r[8] = {a, b, c, d, e, f, g, h};
  for (int i = 0; i < 8; i++) digest[(size_t)i * nrec + id] = r[i] + iv[i];
}

// ---------------------------------------------------------------- [GRAPH] triangles per vertex
constexpr int TRI_THREADS = 64;
constexpr int MAX_ADJ = 256;
__global__ void trianglesPerVertex(const int *rowptr, const int *adj, unsigned *tri, int nv) {
  __shared__ int mine[MAX_ADJ];
  __shared__ unsigned total;
  for (int u = blockIdx.x; u < nv; u += gridDim.x) {
    const int s = rowptr[u], deg = rowptr[u + 1] - s;
    if (threadIdx.x == 0) total = 0;
    for (int i = threadIdx.x; i < deg; i += TRI_THREADS) mine[i] = adj[s + i];
    __syncthreads();
    unsigned found = 0;
    for (int k = 0; k < deg; ++k) {
      const int v = mine[k], vs = rowptr[v], ve = rowptr[v + 1];
      for (int j = vs + threadIdx.x; j < ve; j += TRI_THREADS) {
        const int w = adj[j];
        int lo = 0, hi = deg - 1;
        while (lo <= hi) {
          int mid = (lo + hi) / 2;
          if (mine[mid] == w) { ++found; break; }
          if (mine[mid] < w) lo = mid + 1; else hi = mid - 1;
        }
      }
    }
    if (found) atomicAdd(&total, found);
    __syncthreads();
    if (threadIdx.x == 0) tri[u] = total;
    __syncthreads();
  }
}

// ---------------------------------------------------------------- [GRAPH] frontier expansion, queue in shared memory
__global__ void frontierExpand(const int *__restrict__ rowptr, const int *__restrict__ col, const unsigned *__restrict__ frontier,
                               const unsigned *__restrict__ visited, unsigned *next, unsigned long long *found, int nv)
{
  __shared__ int queue[256];
  __shared__ int qn;
  __shared__ unsigned newCount;
  if (threadIdx.x == 0) { qn = 0; newCount = 0; }
  __syncthreads();
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v < nv && ((frontier[v >> 5] >> (v & 31)) & 1)) queue[atomicAdd(&qn, 1)] = v;
  __syncthreads();
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32, nwarps = blockDim.x / 32;
  for (int q = warp; q < qn; q += nwarps) {
    int u = queue[q];
    for (int e = rowptr[u] + lane; e < rowptr[u + 1]; e += 32) {
      int w = col[e];
      unsigned bit = 1u << (w & 31);
      if (visited[w >> 5] & bit) continue;
      if (!(atomicOr(&next[w >> 5], bit) & bit)) atomicAdd(&newCount, 1u);
    }
  }
  __syncthreads();
  if (threadIdx.x == 0 && newCount) atomicAdd(found, (unsigned long long)newCount);
}

// ---------------------------------------------------------------- [GEOMETRY] points in polygon
template <typename Real2, int CHUNK>
__global__ void pointsInPolygon(const Real2 *pts, const Real2 *poly, unsigned char *inside, int np, int nverts) {
  __shared__ Real2 vtx[CHUNK + 1];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  Real2 p = pts[i < np ? i : np - 1];
  bool c = false;
  for (int base = 0; base < nverts; base += CHUNK) {
    int m = min(CHUNK, nverts - base);
    __syncthreads();
    for (int k = threadIdx.x; k <= m; k += blockDim.x) vtx[k] = poly[(base + k) % nverts];
    __syncthreads();
    for (int k = 0; k < m; k++) {
      Real2 a = vtx[k], b = vtx[k + 1];
      if ((a.y > p.y) != (b.y > p.y) && p.x < (b.x - a.x) * (p.y - a.y) / (b.y - a.y) + a.x) c = !c;
    }
  }
  if (i < np) inside[i] = c;
}

// ---------------------------------------------------------------- [COMPRESSION] Huffman bit packing
#define HB 256
#define SYM_PER_THREAD 4
#define OUT_WORDS (HB * SYM_PER_THREAD * 12 / 32 + 1)
__global__ void huffmanPack(const uint32_t *symbols, const uint2 *codebook, uint32_t *packed, int *bitLen) {
  __shared__ uint2 code[256];
  __shared__ int pos[HB];
  __shared__ uint32_t bits[OUT_WORDS];
  const int t = threadIdx.x;
  code[t] = codebook[t];
  for (int i = t; i < OUT_WORDS; i += HB) bits[i] = 0;
  __syncthreads();
  uint32_t four = symbols[blockIdx.x * HB + t];
  int len = 0;
  for (int k = 0; k < SYM_PER_THREAD; k++) len += code[(four >> (8 * k)) & 255].y;
  pos[t] = len;
  __syncthreads();
  for (int d = 1; d < HB; d *= 2) {
    int v = pos[t] + (t >= d ? pos[t - d] : 0);
    __syncthreads();
    pos[t] = v;
    __syncthreads();
  }
  int at = pos[t] - len;
  for (int k = 0; k < SYM_PER_THREAD; k++) {
    uint2 c = code[(four >> (8 * k)) & 255];
    int word = at >> 5, off = at & 31;
    atomicOr(&bits[word], c.x << off);
    if (off + c.y > 32) atomicOr(&bits[word + 1], c.x >> (32 - off));
    at += c.y;
  }
  __syncthreads();
  for (int i = t; i < OUT_WORDS; i += HB) packed[(size_t)blockIdx.x * OUT_WORDS + i] = bits[i];
  if (t == HB - 1) bitLen[blockIdx.x] = pos[t];
}

static uint32_t rstate = 88172645u;
static uint32_t rnd32() { rstate ^= rstate << 13; rstate ^= rstate >> 17; rstate ^= rstate << 5; return rstate; }
template <class T> T *dev(const std::vector<T> &v) {
  T *d;
  cudaMalloc(&d, v.size() * sizeof(T));
  cudaMemcpy(d, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice);
  return d;
}

int main() {
  const int parts = 2048, nb = 600, np = 3000;
  std::vector<Row> B((size_t)parts * nb), P((size_t)parts * np);
  for (auto &r : B) r = {rnd32() % 1500, rnd32() & 0xffff};
  for (auto &r : P) r = {rnd32() % 1500, rnd32() & 0xffff};
  Row *dB = dev(B), *dP = dev(P);
  uint32_t *jm = mk<uint32_t>((size_t)parts * np);
  uint64_t *js = mk<uint64_t>((size_t)parts * np);
  hashJoinPartition<<<parts, 256>>>(dB, dP, jm, js, nb, np);
  show("hashJoinPartition", jm, (size_t)parts * np * 4);
  show("hashJoinPartition", js, (size_t)parts * np * 8);

  int n = 20000003, ng = 150;
  std::vector<unsigned char> gr(n);
  std::vector<int> va(n);
  for (int i = 0; i < n; i++) { gr[i] = rnd32() >> 24; va[i] = (int)rnd32() >> 8; }
  unsigned char *dgr = dev(gr);
  int *dva = dev(va);
  Agg *agg = dev(std::vector<Agg>(ng, Agg{0, 0, 0x7fffffff, -0x7fffffff - 1, 0}));
  groupByFewGroups<<<792, 256, ng * 20>>>(dgr, dva, agg, n, ng);
  show("groupByFewGroups", agg, ng * sizeof(Agg));

  std::vector<u8> sbox(256), rk(176);
  for (int i = 0; i < 256; i++) sbox[i] = (u8)i;
  for (int i = 255; i > 0; i--) std::swap(sbox[i], sbox[rnd32() % (i + 1)]);   // any permutation will do here
  for (auto &k : rk) k = (u8)rnd32();
  int nblk = 1500001;
  uint4 *ain = (uint4 *)mk<uint32_t>((size_t)nblk * 4), *aout = (uint4 *)mk<uint32_t>((size_t)nblk * 4);
  aes128Ctr<<<(nblk + 255) / 256, 256>>>(dev(sbox), dev(rk), ain, aout, 0xdeadbeefu, nblk);
  show("aes128Ctr", aout, (size_t)nblk * 16);

  int nrec = 1000000, wpr = 11;
  std::vector<uint32_t> kt(64);
  for (auto &k : kt) k = rnd32();
  uint32_t *rec = mk<uint32_t>((size_t)nrec * wpr), *dig = mk<uint32_t>((size_t)nrec * 8);
  sha256Records<<<(nrec + 127) / 128, 128>>>(dev(kt), rec, dig, nrec, wpr);
  show("sha256Records", dig, (size_t)nrec * 32);

  int nv = 150000;
  std::vector<std::vector<int>> g(nv);
  for (int u = 0; u < nv; u++)
    for (int k = 0; k < 12; k++) {
      int v = (u + 1 + rnd32() % 60) % nv;
      g[u].push_back(v);
      g[v].push_back(u);
    }
  std::vector<int> rp(1, 0), ad;
  for (auto &l : g) {
    std::sort(l.begin(), l.end());
    l.erase(std::unique(l.begin(), l.end()), l.end());
    ad.insert(ad.end(), l.begin(), l.end());
    rp.push_back((int)ad.size());
  }
  int *drp = dev(rp), *dad = dev(ad);
  unsigned *tri = mk<unsigned>(nv);
  trianglesPerVertex<<<20000, TRI_THREADS>>>(drp, dad, tri, nv);
  show("trianglesPerVertex", tri, nv * sizeof(unsigned));

  int words = (nv + 31) / 32;
  std::vector<unsigned> fr(words), vi(words);
  for (int i = 0; i < words; i++) { fr[i] = rnd32() & rnd32(); vi[i] = fr[i] | (rnd32() & rnd32()); }
  unsigned *nx = mk<unsigned>(words);
  unsigned long long *fnd = mk<unsigned long long>(1);
  cudaMemset(nx, 0, words * 4);
  cudaMemset(fnd, 0, 8);
  frontierExpand<<<(nv + 255) / 256, 256>>>(drp, dad, dev(fr), dev(vi), nx, fnd, nv);
  show("frontierExpand", nx, words * 4);
  show("frontierExpand", fnd, 8);

  int pts = 1500000, nverts = 333;
  float2 *pp = (float2 *)mk<float>((size_t)pts * 2), *poly = (float2 *)mk<float>(nverts * 2);
  unsigned char *ins = mk<unsigned char>(pts);
  pointsInPolygon<float2, 128><<<(pts + 191) / 192, 192>>>(pp, poly, ins, pts, nverts);
  show("pointsInPolygon", ins, pts);

  int hblocks = 12000;
  std::vector<uint2> cb(256);
  for (int i = 0; i < 256; i++) { cb[i].y = 4 + i % 9; cb[i].x = rnd32() & ((1u << cb[i].y) - 1); }
  std::vector<uint32_t> sy((size_t)hblocks * HB);
  for (auto &s : sy) s = rnd32();
  uint32_t *pk = mk<uint32_t>((size_t)hblocks * OUT_WORDS);
  int *bl = mk<int>(hblocks);
  huffmanPack<<<hblocks, HB>>>(dev(sy), dev(cb), pk, bl);
  show("huffmanPack", pk, (size_t)hblocks * OUT_WORDS * 4);
  show("huffmanPack", bl, hblocks * sizeof(int));
  return 0;
}
