// prefix sums and stream compaction
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
using uint = unsigned int;
typedef unsigned char u8;

#define SAFE_CALL(x) { cudaError_t r = x; if (r != cudaSuccess) { printf("%s failed: %s\n", #x, cudaGetErrorString(r)); return 1; } }

const int kScanBlock = 512;

// Hillis and Steele with two buffers
__global__ void hs_scan_inclusive(const int *in, int *out, int *blockSums, int n) {
    __shared__ int buf[2][kScanBlock];
    int pout = 0, pin = 1;
    int gid = blockIdx.x * kScanBlock + threadIdx.x;
    buf[pout][threadIdx.x] = gid < n ? in[gid] : 0;
    __syncthreads();
    for (int offset = 1; offset < kScanBlock; offset <<= 1) {
        pout = 1 - pout;
        pin = 1 - pout;
        if (threadIdx.x >= offset)
            buf[pout][threadIdx.x] = buf[pin][threadIdx.x] + buf[pin][threadIdx.x - offset];
        else
            buf[pout][threadIdx.x] = buf[pin][threadIdx.x];
        __syncthreads();
    }
    if (gid < n) out[gid] = buf[pout][threadIdx.x];
    if (threadIdx.x == kScanBlock - 1) blockSums[blockIdx.x] = buf[pout][threadIdx.x];
}

// Blelloch, two elements a thread, conflict padding
#define LOG_BANKS 5
#define PAD(i) ((i) + ((i) >> LOG_BANKS))
__global__ void blelloch_exclusive(const float *g_idata, float *g_odata, int total) {
    extern __shared__ float temp[];
    int thid = threadIdx.x;
    int n = 2 * blockDim.x;
    int base = blockIdx.x * n;
    int offset = 1;
    int ai = thid, bi = thid + n / 2;
    temp[PAD(ai)] = base + ai < total ? g_idata[base + ai] : 0.0f;
    temp[PAD(bi)] = base + bi < total ? g_idata[base + bi] : 0.0f;
    for (int d = n >> 1; d > 0; d >>= 1) {
        __syncthreads();
        if (thid < d) {
            int a = PAD(offset * (2 * thid + 1) - 1);
            int b = PAD(offset * (2 * thid + 2) - 1);
            temp[b] += temp[a];
        }
        offset *= 2;
    }
    if (thid == 0) temp[PAD(n - 1)] = 0;
    for (int d = 1; d < n; d *= 2) {
        offset >>= 1;
        __syncthreads();
        if (thid < d) {
            int a = PAD(offset * (2 * thid + 1) - 1);
            int b = PAD(offset * (2 * thid + 2) - 1);
            float t = temp[a];
            temp[a] = temp[b];
            temp[b] += t;
        }
    }
    __syncthreads();
    if (base + ai < total) g_odata[base + ai] = temp[PAD(ai)];
    if (base + bi < total) g_odata[base + bi] = temp[PAD(bi)];
}

__global__ void scan_add_offsets(int *data, const int *sums, int n) {
    __shared__ int add;
    if (threadIdx.x == 0) add = blockIdx.x > 0 ? sums[blockIdx.x - 1] : 0;
    __syncthreads();
    int gid = blockIdx.x * kScanBlock + threadIdx.x;
    if (gid < n) data[gid] += add;
}

// segmented inclusive scan by head flags
__global__ void segscan_block(const float *v, const u8 *head, float *out, int n) {
    __shared__ float val[256];
    __shared__ int flg[256];
    const int t = threadIdx.x, i = blockIdx.x * 256 + t;
    val[t] = i < n ? v[i] : 0.f;
    flg[t] = i < n ? head[i] : 1;
    __syncthreads();
    for (int d = 1; d < 256; d *= 2) {
        float x = val[t];
        int f = flg[t];
        if (t >= d) {
            if (!f) x += val[t - d];
            f |= flg[t - d];
        }
        __syncthreads();
        val[t] = x;
        flg[t] = f;
        __syncthreads();
    }
    if (i < n) out[i] = val[t];
}

// keeps positive entries; order inside a block is preserved
__global__ void compact_positive(const float *in, float *out, int *counter, int n) {
    __shared__ int pos[256];
    __shared__ int base;
    int t = threadIdx.x;
    int i = blockIdx.x * blockDim.x + t;
    float x = i < n ? in[i] : -1.f;
    int keep = x > 0.f;
    pos[t] = keep;
    __syncthreads();
    for (int s = 1; s < 256; s <<= 1) {
        int add = t >= s ? pos[t - s] : 0;
        __syncthreads();
        pos[t] += add;
        __syncthreads();
    }
    if (t == 255) base = atomicAdd(counter, pos[255]);
    __syncthreads();
    if (keep) out[base + pos[t] - 1] = x;
}

// first pass of a summed area table: one block walks along a row
__global__ void sat_rows(const u8 *img, uint *sat, int w) {
    __shared__ uint row[256];
    uint carry = 0;
    const u8 *src = img + (size_t)blockIdx.x * w;
    uint *dst = sat + (size_t)blockIdx.x * w;
    for (int x0 = 0; x0 < w; x0 += 256) {
        int x = x0 + threadIdx.x;
        row[threadIdx.x] = x < w ? src[x] : 0;
        __syncthreads();
        for (int o = 1; o < 256; o += o) {
            uint left = 0;
            if (threadIdx.x >= o) left = row[threadIdx.x - o];
            __syncthreads();
            row[threadIdx.x] += left;
            __syncthreads();
        }
        if (x < w) dst[x] = carry + row[threadIdx.x];
        carry += row[255];
        __syncthreads();
    }
}

int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 8 * 1024 * 1024 + 333;
    int *hi = new int[n];
    float *hf = new float[n];
    u8 *hb = new u8[n];
    for (int i = 0; i < n; i++) {
        hi[i] = (i * 17 + 3) % 10;
        hf[i] = ((i * 29) % 101) * 0.02f - 1.0f;
        hb[i] = (i % 37) == 0;
    }
    int blocks = (n + kScanBlock - 1) / kScanBlock;
    int *di, *dout, *dsum, *dsum2, *dtot, *dcnt;
    float *df, *dfo;
    u8 *db;
    SAFE_CALL(cudaMalloc((void **)&di, n * sizeof(int)));
    SAFE_CALL(cudaMalloc((void **)&dout, n * sizeof(int)));
    SAFE_CALL(cudaMalloc((void **)&dsum, blocks * sizeof(int)));
    SAFE_CALL(cudaMalloc((void **)&dsum2, blocks * sizeof(int)));
    SAFE_CALL(cudaMalloc((void **)&dtot, blocks * sizeof(int)));
    SAFE_CALL(cudaMalloc((void **)&dcnt, sizeof(int)));
    SAFE_CALL(cudaMalloc((void **)&df, n * sizeof(float)));
    SAFE_CALL(cudaMalloc((void **)&dfo, n * sizeof(float)));
    SAFE_CALL(cudaMalloc((void **)&db, n));
    SAFE_CALL(cudaMemcpy(di, hi, n * sizeof(int), cudaMemcpyHostToDevice));
    SAFE_CALL(cudaMemcpy(df, hf, n * sizeof(float), cudaMemcpyHostToDevice));
    SAFE_CALL(cudaMemcpy(db, hb, n, cudaMemcpyHostToDevice));
    SAFE_CALL(cudaMemset(dcnt, 0, sizeof(int)));
    SAFE_CALL(cudaMemset(dsum2, 0, blocks * sizeof(int)));

    hs_scan_inclusive<<<blocks, kScanBlock>>>(di, dout, dsum, n);
    int b2 = (blocks + kScanBlock - 1) / kScanBlock;
    hs_scan_inclusive<<<b2, kScanBlock>>>(dsum, dsum2, dtot, blocks);
    scan_add_offsets<<<blocks, kScanBlock>>>(dout, dsum2, n);
    SAFE_CALL(cudaGetLastError());
    int bt = 256;
    blelloch_exclusive<<<(n + 2 * bt - 1) / (2 * bt), bt, (2 * bt + 2 * bt / 32) * sizeof(float)>>>(df, dfo, n);
    SAFE_CALL(cudaGetLastError());
    segscan_block<<<(n + 255) / 256, 256>>>(df, db, dfo, n);
    compact_positive<<<(n + 255) / 256, 256>>>(df, dfo, dcnt, n);
    SAFE_CALL(cudaGetLastError());
    int w = 1919, hgt = 4000;
    sat_rows<<<hgt, 256>>>(db, (uint *)dout, w);
    SAFE_CALL(cudaGetLastError());
    SAFE_CALL(cudaDeviceSynchronize());
    cudaFree(di); cudaFree(dout); cudaFree(dsum); cudaFree(dsum2); cudaFree(dtot); cudaFree(dcnt);
    cudaFree(df); cudaFree(dfo); cudaFree(db);
    delete[] hi; delete[] hf; delete[] hb;
    return 0;
}
