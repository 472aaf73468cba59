// hashing, ciphers, coding
#include "shown.h"
#include <cstdint>
#include <vector>

#define ROTL(x, n) (((x) << (n)) | ((x) >> (32 - (n))))
#define ROTR(x, n) (((x) >> (n)) | ((x) << (32 - (n))))

// ---- SHA-256 of one 64 byte block per thread, 16 word rolling schedule in a local array
__constant__ uint32_t K256[64];
__global__ void sha256_one(const uint32_t* __restrict__ msg, uint32_t* __restrict__ digest, int n)
{
    const int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= n) return;
    uint32_t w[16];
    for (int i = 0; i < 16; ++i) w[i] = msg[(size_t)i * n + id];
    uint32_t s[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    uint32_t a = s[0], b = s[1], c = s[2], d = s[3], e = s[4], f = s[5], g = s[6], h = s[7];
    for (int r = 0; r < 64; ++r) {
        if (r >= 16) {
            uint32_t x = w[(r + 1) & 15], y = w[(r + 14) & 15];
            w[r & 15] += (ROTR(x, 7) ^ ROTR(x, 18) ^ (x >> 3)) + w[(r + 9) & 15] + (ROTR(y, 17) ^ ROTR(y, 19) ^ (y >> 10));
        }
        uint32_t t1 = h + (ROTR(e, 6) ^ ROTR(e, 11) ^ ROTR(e, 25)) + ((e & f) ^ (~e & g)) + K256[r] + w[r & 15];
        uint32_t t2 = (ROTR(a, 2) ^ ROTR(a, 13) ^ ROTR(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
        h = g; g = f; f = e; e = d + t1; d = c; c = b; b = a; a = t1 + t2;
    }
    uint32_t v[8] = {a, b, c, d, e, f, g, h};
    for (int i = 0; i < 8; ++i) digest[(size_t)i * n + id] = s[i] + v[i];
}

// ---- table cipher: 4 tables of 256 words in shared, AES shaped rounds
struct Tables { uint32_t t[4][256]; };
template <int ROUNDS>
__global__ void ttable_encrypt(const uint4* in, uint4* out, const Tables* tabs, const uint32_t* rk, size_t blocks)
{
    __shared__ Tables T;
    __shared__ uint32_t key[4 * (ROUNDS + 1)];
    const uint32_t* src = &tabs->t[0][0];
    uint32_t* dst = &T.t[0][0];
    for (int i = threadIdx.x; i < 1024; i += blockDim.x) dst[i] = src[i];
    if (threadIdx.x < 4 * (ROUNDS + 1)) key[threadIdx.x] = rk[threadIdx.x];
    __syncthreads();
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < blocks; i += (size_t)gridDim.x * blockDim.x) {
        uint4 q = in[i];
        uint32_t s[4] = {q.x ^ key[0], q.y ^ key[1], q.z ^ key[2], q.w ^ key[3]};
        for (int r = 1; r <= ROUNDS; ++r) {
            uint32_t n[4];
#pragma unroll
            for (int c = 0; c < 4; ++c)
                n[c] = T.t[0][s[c] >> 24] ^ T.t[1][(s[(c + 1) & 3] >> 16) & 255] ^ T.t[2][(s[(c + 2) & 3] >> 8) & 255] ^ T.t[3][s[(c + 3) & 3] & 255] ^ key[4 * r + c];
#pragma unroll
            for (int c = 0; c < 4; ++c) s[c] = n[c];
        }
        out[i] = make_uint4(s[0], s[1], s[2], s[3]);
    }
}

// ---- ChaCha20: state array of 16, output through shared for coalescing
#define QR(a, b, c, d) a += b; d ^= a; d = ROTL(d, 16); c += d; b ^= c; b = ROTL(b, 12); a += b; d ^= a; d = ROTL(d, 8); c += d; b ^= c; b = ROTL(b, 7);
__global__ void chacha20(uint32_t* stream, const uint32_t* key, uint32_t nonce)
{
    __shared__ uint32_t stage[64][17];
    uint32_t in[16] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};
    for (int i = 0; i < 8; ++i) in[4 + i] = key[i];
    in[12] = blockIdx.x * 64 + threadIdx.x; in[13] = 0; in[14] = nonce; in[15] = ~nonce;
    uint32_t x[16];
    for (int i = 0; i < 16; ++i) x[i] = in[i];
#pragma unroll 1
    for (int r = 0; r < 10; ++r) {
        QR(x[0], x[4], x[8], x[12]) QR(x[1], x[5], x[9], x[13]) QR(x[2], x[6], x[10], x[14]) QR(x[3], x[7], x[11], x[15])
        QR(x[0], x[5], x[10], x[15]) QR(x[1], x[6], x[11], x[12]) QR(x[2], x[7], x[8], x[13]) QR(x[3], x[4], x[9], x[14])
    }
    for (int i = 0; i < 16; ++i) stage[threadIdx.x][i] = x[i] + in[i];
    __syncthreads();
    for (int e = threadIdx.x; e < 1024; e += 64) stream[(size_t)blockIdx.x * 1024 + e] = stage[e >> 4][e & 15];
}

// ---- CRC32, slicing by 4; tables built in the block
__global__ void crc32_slices(const uint32_t* data, uint32_t* crc, int words)
{
    __shared__ uint32_t t[4][256];
    for (int i = threadIdx.x; i < 256; i += blockDim.x) {
        uint32_t c = i;
        for (int k = 0; k < 8; ++k) c = (c & 1) ? (c >> 1) ^ 0xEDB88320u : c >> 1;
        t[0][i] = c;
    }
    __syncthreads();
    for (int s = 1; s < 4; ++s) {
        for (int i = threadIdx.x; i < 256; i += blockDim.x) t[s][i] = (t[s - 1][i] >> 8) ^ t[0][t[s - 1][i] & 255];
        __syncthreads();
    }
    const int nthr = gridDim.x * blockDim.x, id = blockIdx.x * blockDim.x + threadIdx.x;
    uint32_t c = ~0u;
    for (int w = 0; w < words; ++w) {
        c ^= data[(size_t)w * nthr + id];
        c = t[3][c & 255] ^ t[2][(c >> 8) & 255] ^ t[1][(c >> 16) & 255] ^ t[0][c >> 24];
    }
    crc[id] = ~c;
}

// ---- run length encode within a tile
template <int N>
__global__ void rle_tile(const unsigned char* in, unsigned char* sym, unsigned short* len, int* runs)
{
    __shared__ unsigned char s[N];
    __shared__ short pos[2][N];
    __shared__ short start[N + 1];
    const int t = threadIdx.x;
    s[t] = in[(size_t)blockIdx.x * N + t];
    __syncthreads();
    const int head = t == 0 || s[t] != s[t - 1];
    pos[0][t] = head;
    __syncthreads();
    int p = 0;
    for (int d = 1; d < N; d += d) {
        pos[p ^ 1][t] = pos[p][t] + (t >= d ? pos[p][t - d] : 0);
        p ^= 1;
        __syncthreads();
    }
    const int n = pos[p][N - 1];
    if (head) start[pos[p][t] - 1] = t;
    if (t == 0) start[n] = N;
    __syncthreads();
    if (t < n) {
        sym[(size_t)blockIdx.x * N + t] = s[start[t]];
        len[(size_t)blockIdx.x * N + t] = start[t + 1] - start[t];
    }
    if (t == 0) runs[blockIdx.x] = n;
}

// ---- prefix code decoding with a 9 bit table, a stream per thread
__global__ void huff_decode(const uint32_t* bits, const unsigned short* lut, unsigned char* out, int streams, int nsym)
{
    __shared__ unsigned short tab[512];
    for (int i = threadIdx.x; i < 512; i += blockDim.x) tab[i] = lut[i];
    __syncthreads();
    const int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= streams) return;
    uint64_t buf = 0;
    int have = 0, word = 0;
    for (int k = 0; k < nsym; ++k) {
        if (have < 32) { buf |= (uint64_t)bits[(size_t)word++ * streams + id] << have; have += 32; }
        const unsigned e = tab[buf & 511];
        const int l = e >> 8;
        out[(size_t)k * streams + id] = (unsigned char)e;
        buf >>= l;
        have -= l;
    }
}

// ---- delta + bit packing of 128 sorted integers by one warp: widths by OR-reduction, words assembled in shared
__global__ void delta_pack(const int* v, uint32_t* packed, unsigned char* width, int groups)
{
    __shared__ uint32_t d[4][128];
    __shared__ uint32_t orr[4][32];
    const int w = threadIdx.y, lane = threadIdx.x, g = blockIdx.x * 4 + w;
    if (g >= groups) return;
    const int* p = v + (size_t)g * 128;
    uint32_t o = 0;
    for (int k = lane; k < 128; k += 32) {
        uint32_t x = k ? (uint32_t)(p[k] - p[k - 1]) : 0u;
        d[w][k] = x;
        o |= x;
    }
    orr[w][lane] = o;
    __syncwarp();
    for (int h = 16; h; h >>= 1) {
        if (lane < h) orr[w][lane] |= orr[w][lane + h];
        __syncwarp();
    }
    const int b = 32 - __clz(orr[w][0]);
    for (int word = lane; word < 4 * b; word += 32) {
        const int bit0 = word * 32;
        uint32_t acc = 0;
        for (int k = bit0 / b; k < 128 && k * b < bit0 + 32; ++k) {
            int sh = k * b - bit0;
            acc |= sh >= 0 ? d[w][k] << sh : d[w][k] >> -sh;
        }
        packed[(size_t)g * 128 + word] = acc;
    }
    if (lane == 0) width[g] = b;
}

int main()
{
    const size_t n = 1 << 23;
    std::vector<uint32_t> h(n);
    uint32_t s = 2463534242u;
    for (auto& x : h) { s ^= s << 13; s ^= s >> 17; s ^= s << 5; x = s; }
    uint32_t *in, *out = mk<uint32_t>(n);
    cudaMalloc(&in, n * 4);
    cudaMemcpy(in, h.data(), n * 4, cudaMemcpyHostToDevice);
    cudaMemcpyToSymbol(K256, h.data() + 100, 256);
    sha256_one<<<(500001 + 127) / 128, 128>>>(in, out, 500001);
    show("sha256_one", out, 32ull * 500001);
    ttable_encrypt<10><<<528, 256>>>((uint4*)in, (uint4*)out, (const Tables*)(in + 4096), in + 77, n / 4);
    show("ttable_encrypt", out, 4 * n);
    chacha20<<<n / 1024, 64>>>(out, in + 9, 0xabcdef);
    show("chacha20", out, 4 * n);
    crc32_slices<<<512, 256>>>(in, out, 60);
    show("crc32_slices", out, 4ull * 512 * 256);
    {
        std::vector<unsigned char> r(n);
        for (size_t i = 0; i < n; ++i) r[i] = i && (h[i] & 7) ? r[i - 1] : (unsigned char)(h[i] >> 24);
        unsigned char *d = mk<unsigned char>(n), *sy = mk<unsigned char>(n);
        unsigned short* l = mk<unsigned short>(n);
        int* c = mk<int>(n / 512);
        cudaMemcpy(d, r.data(), n, cudaMemcpyHostToDevice);
        rle_tile<512><<<n / 512, 512>>>(d, sy, l, c);
        show("rle_sym", sy, n);
        show("rle_len", l, 2 * n);
        show("rle_runs", c, n / 512 * 4);
    }
    {
        std::vector<unsigned short> lut(512);
        for (int i = 0; i < 512; ++i) {
            int l = 1;
            while (l < 9 && (i >> (l - 1) & 1)) ++l;
            lut[i] = (unsigned short)(l << 8 | (l * 20 + (i >> l) % 3));
        }
        unsigned short* dl = mk<unsigned short>(512);
        cudaMemcpy(dl, lut.data(), 1024, cudaMemcpyHostToDevice);
        int st = 60000, ns = 300;
        unsigned char* o = mk<unsigned char>((size_t)st * ns);
        huff_decode<<<(st + 127) / 128, 128>>>(in, dl, o, st, ns);
        show("huff_decode", o, (size_t)st * ns);
    }
    {
        int g = 40001;
        std::vector<int> v((size_t)g * 128);
        for (size_t i = 1; i < v.size(); ++i) v[i] = i % 128 ? v[i - 1] + (h[i] & ((4u << (i / 128 % 9)) - 1)) : (int)(h[i] & 1023);
        int* dv = mk<int>(v.size());
        unsigned char* wd = mk<unsigned char>(g);
        cudaMemcpy(dv, v.data(), v.size() * 4, cudaMemcpyHostToDevice);
        delta_pack<<<(g + 3) / 4, dim3(32, 4)>>>(dv, out, wd, g);
        show("delta_pack", out, 512ull * g);
        show("delta_width", wd, g);
    }
    return 0;
}
