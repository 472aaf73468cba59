// transposes, histograms, string search, permutations through tables in shared memory
#include "shown.h"

// ---------- transposes, NVIDIA blog style ----------
const int TILE_DIM = 32;
const int BLOCK_ROWS = 8;

__global__ void transposeCoalesced(float *odata, const float *idata)
{
  __shared__ float tile[TILE_DIM][TILE_DIM];

  int x = blockIdx.x * TILE_DIM + threadIdx.x;
  int y = blockIdx.y * TILE_DIM + threadIdx.y;
  int width = gridDim.x * TILE_DIM;
  int height = gridDim.y * TILE_DIM;

  for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
     tile[threadIdx.y+j][threadIdx.x] = idata[(y+j)*width + x];

  __syncthreads();

  x = blockIdx.y * TILE_DIM + threadIdx.x;  // transpose block offset
  y = blockIdx.x * TILE_DIM + threadIdx.y;

  for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
     odata[(y+j)*height + x] = tile[threadIdx.x][threadIdx.y + j];
}

// guarded, any element type, leading dimensions, batch along z
template <typename T, unsigned TD, unsigned RW>
__global__ void batch_transpose(const T* in, size_t ld_in, T* out, size_t ld_out, unsigned rows, unsigned cols)
{
  __shared__ T sh[TD * (TD + 1)];
  in += blockIdx.z * rows * ld_in;
  out += blockIdx.z * cols * ld_out;
  const unsigned c0 = blockIdx.x * TD, r0 = blockIdx.y * TD;
#pragma unroll
  for (unsigned k = 0; k < TD; k += RW) {
    const unsigned r = r0 + threadIdx.y + k, c = c0 + threadIdx.x;
    if (r < rows && c < cols) sh[(threadIdx.y + k) * (TD + 1) + threadIdx.x] = in[r * ld_in + c];
  }
  __syncthreads();
#pragma unroll
  for (unsigned k = 0; k < TD; k += RW) {
    const unsigned r = r0 + threadIdx.x, c = c0 + threadIdx.y + k;
    if (r < rows && c < cols) out[c * ld_out + r] = sh[threadIdx.x * (TD + 1) + threadIdx.y + k];
  }
}

// in place on a square matrix: a block swaps the tile and its mirror image
__global__ void transpose_inplace(double2 *m, int n)
{
    __shared__ double2 s1[16][17], s2[16][17];
    if (blockIdx.y > blockIdx.x) return;
    int tx = threadIdx.x, ty = threadIdx.y;
    int r1 = blockIdx.y * 16, c1 = blockIdx.x * 16;
    s1[ty][tx] = m[(size_t)(r1 + ty) * n + c1 + tx];
    s2[ty][tx] = m[(size_t)(c1 + ty) * n + r1 + tx];
    __syncthreads();
    m[(size_t)(c1 + ty) * n + r1 + tx] = s1[tx][ty];
    if (r1 != c1) m[(size_t)(r1 + ty) * n + c1 + tx] = s2[tx][ty];
}

// ---------- histogram, one sub-histogram per warp, words of four bytes, then partial results merged ----------
typedef unsigned int uint;
#define HISTOGRAM256_BIN_COUNT 256
#define WARP_COUNT 6
#define UMUL(a, b) ((a) * (b))
inline __device__ void addByte(uint *s_WarpHist, uint data) { atomicAdd(s_WarpHist + data, 1); }
inline __device__ void addWord(uint *s_WarpHist, uint data)
{
    addByte(s_WarpHist, (data >> 0) & 0xFFU);
    addByte(s_WarpHist, (data >> 8) & 0xFFU);
    addByte(s_WarpHist, (data >> 16) & 0xFFU);
    addByte(s_WarpHist, (data >> 24) & 0xFFU);
}

__global__ void histogram256Kernel(uint *d_PartialHistograms, uint *d_Data, uint dataCount)
{
    __shared__ uint s_Hist[WARP_COUNT * HISTOGRAM256_BIN_COUNT];
    uint *s_WarpHist = s_Hist + (threadIdx.x >> 5) * HISTOGRAM256_BIN_COUNT;

#pragma unroll
    for (uint i = 0; i < HISTOGRAM256_BIN_COUNT / 32; i++)
        s_Hist[threadIdx.x + i * WARP_COUNT * 32] = 0;

    __syncthreads();
    for (uint pos = UMUL(blockIdx.x, blockDim.x) + threadIdx.x; pos < dataCount; pos += UMUL(blockDim.x, gridDim.x)) {
        uint data = d_Data[pos];
        addWord(s_WarpHist, data);
    }

    __syncthreads();
    for (uint bin = threadIdx.x; bin < HISTOGRAM256_BIN_COUNT; bin += WARP_COUNT * 32) {
        uint sum = 0;
        for (uint i = 0; i < WARP_COUNT; i++)
            sum += s_Hist[bin + i * HISTOGRAM256_BIN_COUNT];
        d_PartialHistograms[blockIdx.x * HISTOGRAM256_BIN_COUNT + bin] = sum;
    }
}

// ---------- naive multi-pattern search: text tile with overlap, patterns staged ----------
__global__ void find_patterns(const char *text, int len, const char *pats, int npat, int plen, unsigned *hits, int *first)
{
	extern __shared__ char sm[];
	char *pat = sm;
	char *txt = sm + npat * plen;
	int base = blockIdx.x * blockDim.x;

	for (int i = threadIdx.x; i < npat * plen; i += blockDim.x)
		pat[i] = pats[i];
	for (int i = threadIdx.x; i < blockDim.x + plen - 1; i += blockDim.x)
		txt[i] = (base + i < len) ? text[base + i] : '\0';
	__syncthreads();

	int pos = base + threadIdx.x;
	unsigned mask = 0;
	int longest = 0;
	for (int p = 0; p < npat; p++) {
		int k = 0;
		while (k < plen && txt[threadIdx.x + k] == pat[p * plen + k])
			k++;
		if (k == plen)
			mask |= 1u << p;
		longest = max(longest, k);
	}
	if (pos < len) {
		hits[pos] = mask;
		first[pos] = longest;
	}
}

// ---------- DFA (Aho-Corasick / KMP automaton) whose transition table sits in shared memory ----------
template <int STATES, int SYMBOLS>
__global__ void runAutomaton(const unsigned char *__restrict__ data, const unsigned char *__restrict__ delta, int *__restrict__ accepts, int chunks, int chunkLen)
{
    __shared__ unsigned char T[STATES][SYMBOLS];
    for (int q = threadIdx.x; q < STATES * SYMBOLS; q += blockDim.x)
        T[q / SYMBOLS][q % SYMBOLS] = delta[q];
    __syncthreads();
    for (int c = blockIdx.x * blockDim.x + threadIdx.x; c < chunks; c += gridDim.x * blockDim.x) {
        int state = 0, acc = 0;
        for (int k = 0; k < chunkLen; ++k) {
            state = T[state][data[(size_t)k * chunks + c] % SYMBOLS];
            acc += state == STATES - 1;
        }
        accepts[c] = acc * 256 + state;
    }
}

// ---------- gather and scatter inside a tile by an index table; AoS to SoA ----------
namespace shuffle_ns
{
    struct Rec { float a; int b; short c; short d; };

    __global__ void permute_records(const Rec *in, const short *perm, float *oa, int *ob, short *oc, int n)
    {
        __shared__ Rec recs[256];
        __shared__ short inverse[256];
        const int i = blockIdx.x * 256 + threadIdx.x;
        const int valid = min(256, n - (int)blockIdx.x * 256);
        inverse[perm[threadIdx.x]] = (short)threadIdx.x;     // scatter, perm is a permutation of 0..255
        if (i < n) recs[threadIdx.x] = in[i];
        __syncthreads();
        int from = inverse[threadIdx.x];
        for (int hop = 0; hop < 3 && from >= valid; ++hop) from = inverse[from];
        if (from >= valid) from = 0;
        if (i < n) {
            oa[i] = recs[from].a + recs[threadIdx.x].d;
            ob[i] = recs[from].b;
            oc[i] = recs[perm[threadIdx.x] % valid].c;
        }
    }
}

template <class T> T *rnd(size_t n, unsigned mod, unsigned s = 17)
{
    T *h = (T *)malloc(n * sizeof(T)), *d;
    for (size_t i = 0; i < n; i++) { s = s * 1664525u + 1013904223u; h[i] = (T)((s >> 7) % mod); }
    cudaMalloc(&d, n * sizeof(T));
    cudaMemcpy(d, h, n * sizeof(T), cudaMemcpyHostToDevice);
    free(h);
    return d;
}

int main()
{
    {
        int nx = 4096, ny = 4096;
        float *a = rnd<float>((size_t)nx * ny, 100000), *b = mk<float>((size_t)nx * ny);
        dim3 dimGrid(nx / TILE_DIM, ny / TILE_DIM, 1), dimBlock(TILE_DIM, BLOCK_ROWS, 1);
        transposeCoalesced<<<dimGrid, dimBlock>>>(b, a);
        show("transposeCoalesced", b, (size_t)nx * ny * 4);
        unsigned r = 1000, c = 1201, z = 12;
        batch_transpose<float, 32, 8><<<dim3((c + 31) / 32, (r + 31) / 32, z), dim3(32, 8)>>>(a, 1250, b, 1000, r, c);
        show("batch_transpose<float,32,8>", b, (size_t)z * c * r * 4);
        short *sa = rnd<short>((size_t)nx * ny, 30000), *sb = mk<short>((size_t)nx * ny);
        batch_transpose<short, 64, 16><<<dim3((4001 + 63) / 64, 4096 / 64, 1), dim3(64, 16)>>>(sa, 4001, sb, 4096, 4095, 4001);
        show("batch_transpose<short,64,16>", sb, (size_t)4001 * 4096 * 2);
    }
    {
        int n = 2048;
        double2 *m = (double2 *)rnd<double>(2 * (size_t)n * n, 1000000);
        transpose_inplace<<<dim3(n / 16, n / 16), dim3(16, 16)>>>(m, n);
        show("transpose_inplace", m, (size_t)n * n * 16);
    }
    {
        uint words = (1 << 24) + 5, blocks = 1200;
        uint *d = (uint *)rnd<unsigned char>(4 * (size_t)words, 251), *h = mk<uint>(blocks * 256);
        histogram256Kernel<<<blocks, WARP_COUNT * 32>>>(h, d, words);
        show("histogram256Kernel", h, blocks * 256 * 4);
    }
    {
        int len = 10000019, np = 16, pl = 7;
        char *t = rnd<char>(len, 3), *p = rnd<char>(np * pl, 3, 99);
        unsigned *hits = mk<unsigned>(len);
        int *lg = mk<int>(len);
        find_patterns<<<(len + 255) / 256, 256, np * pl + 256 + pl>>>(t, len, p, np, pl, hits, lg);
        show("find_patterns.hits", hits, (size_t)len * 4);
        show("find_patterns.longest", lg, (size_t)len * 4);
    }
    {
        int chunks = 200000, cl = 128;
        unsigned char *t = rnd<unsigned char>((size_t)chunks * cl, 200), *dl = rnd<unsigned char>(24 * 32, 24, 3);
        int *acc = mk<int>(chunks);
        runAutomaton<24, 32><<<(chunks + 127) / 128, 128>>>(t, dl, acc, chunks, cl);
        show("runAutomaton<24,32>", acc, chunks * 4);
    }
    {
        int n = (1 << 23) - 100;
        shuffle_ns::Rec *in = (shuffle_ns::Rec *)rnd<int>(3 * (size_t)n, 1000000);
        short hp[256], *perm;
        for (int i = 0; i < 256; i++) hp[i] = (short)((i * 77 + 13) % 256);
        cudaMalloc(&perm, sizeof(hp));
        cudaMemcpy(perm, hp, sizeof(hp), cudaMemcpyHostToDevice);
        float *oa = mk<float>(n);
        int *ob = mk<int>(n);
        short *oc = mk<short>(n);
        shuffle_ns::permute_records<<<(n + 255) / 256, 256>>>(in, perm, oa, ob, oc, n);
        show("permute_records.a", oa, (size_t)n * 4);
        show("permute_records.b", ob, (size_t)n * 4);
        show("permute_records.c", oc, (size_t)n * 2);
    }
    return 0;
}
