// finance and video
#include "shown.h"
#include <cfloat>

typedef unsigned char u8;

static u8 *mk_frame(int w, int h, int shiftx, int shifty)
{
    u8 *f = (u8 *)malloc((size_t)w * h), *d;
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            unsigned a = x + shiftx, b = y + shifty;
            unsigned v = (a / 5) * 2246822519u ^ (b / 3) * 3266489917u;
            v ^= v >> 15;
            f[(size_t)y * w + x] = (u8)((v >> 8) / 3 + ((a * b) & 7));
        }
    cudaMalloc(&d, (size_t)w * h);
    cudaMemcpy(d, f, (size_t)w * h, cudaMemcpyHostToDevice);
    free(f);
    return d;
}

// ===== American put on a binomial tree, an option for each block =====
#define NUM_STEPS 500
#define TREE_THREADS 128
struct OptionData {
    float S, X, vDt, puByDf, pdByDf;
};
__global__ void binomial_american_put(const OptionData *opt, float *value)
{
    __shared__ float put_a[NUM_STEPS + 1];
    __shared__ float put_b[NUM_STEPS + 1];
    const OptionData o = opt[blockIdx.x];
    for (int i = threadIdx.x; i <= NUM_STEPS; i += blockDim.x) {
        float price = o.S * __expf(o.vDt * (2.0f * i - NUM_STEPS));
        put_a[i] = fmaxf(o.X - price, 0.0f);
    }
    __syncthreads();
    float *src = put_a, *dst = put_b;
    for (int step = NUM_STEPS - 1; step >= 0; --step) {
        for (int i = threadIdx.x; i <= step; i += blockDim.x) {
            float hold = o.puByDf * src[i + 1] + o.pdByDf * src[i];
            float exercise = o.X - o.S * __expf(o.vDt * (2.0f * i - step));
            dst[i] = fmaxf(hold, exercise);
        }
        __syncthreads();
        float *t = src; src = dst; dst = t;
    }
    if (threadIdx.x == 0) value[blockIdx.x] = src[0];
}

// ===== European call by Monte Carlo =====
__device__ __forceinline__ float next_uniform(unsigned &s)
{
    s ^= s << 13;
    s ^= s >> 17;
    s ^= s << 5;
    return ((s >> 8) + 0.5f) * (1.0f / 16777216.0f);
}
struct PayoffSum {
    double sum, sum2;
};
__global__ void monte_carlo_european_call(const float *S0, float strike, float drift, float vol, float discount, int pathsPerThread,
                                          float *price, float *halfWidth)
{
    __shared__ PayoffSum red[256];
    unsigned state = (blockIdx.x * 256u + threadIdx.x) * 747796405u + 2891336453u;
    if (state == 0) state = 1;
    float s0 = S0[blockIdx.x] + 60.f;
    PayoffSum acc = {0, 0};
    for (int p = 0; p < pathsPerThread; p++) {
        float u1 = next_uniform(state), u2 = next_uniform(state);
        float g = sqrtf(-2.f * __logf(u1)) * __cosf(6.2831853f * u2);
        float payoff = fmaxf(s0 * __expf(drift + vol * g) - strike, 0.f);
        acc.sum += payoff;
        acc.sum2 += (double)payoff * payoff;
    }
    red[threadIdx.x] = acc;
    __syncthreads();
    for (int stride = 128; stride > 0; stride >>= 1) {
        if (threadIdx.x < stride) {
            red[threadIdx.x].sum += red[threadIdx.x + stride].sum;
            red[threadIdx.x].sum2 += red[threadIdx.x + stride].sum2;
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        double n = 256.0 * pathsPerThread;
        double mean = red[0].sum / n;
        double var = red[0].sum2 / n - mean * mean;
        price[blockIdx.x] = (float)(discount * mean);
        halfWidth[blockIdx.x] = (float)(discount * 1.96 * sqrt(var / n));
    }
}

// ===== Asian option, a Brownian bridge built in a private array =====
#define BRIDGE_STEPS 32
__global__ void asian_brownian_bridge(const float *normals, float *payoff, int paths, float S, float K, float drift, float vol)
{
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= paths) return;
    float w[BRIDGE_STEPS + 1];
    int next = 0;
    w[0] = 0.0f;
    w[BRIDGE_STEPS] = (normals[p] - 6.2f) * 0.25f;
    next = 1;
    for (int h = BRIDGE_STEPS; h > 1; h >>= 1) {
        float sd = 0.5f * sqrtf((float)h / BRIDGE_STEPS);
        for (int l = 0; l < BRIDGE_STEPS; l += h) {
            float z = (normals[(size_t)next * paths + p] - 6.2f) * 0.25f;
            w[l + h / 2] = 0.5f * (w[l] + w[l + h]) + sd * z;
            next++;
        }
    }
    float avg = 0.0f;
    for (int i = 1; i <= BRIDGE_STEPS; i++) avg += S * __expf(drift * i / BRIDGE_STEPS + vol * w[i]);
    avg /= BRIDGE_STEPS;
    payoff[p] = fmaxf(avg - K, 0.0f);
}

// ===== worst losses of every scenario set: a private sorted list =====
#define TOPK 10
__global__ void expected_shortfall_topk(const float *pnl, float *var, float *es, int sets, int scenarios)
{
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= sets) return;
    float worst[TOPK];
    for (int k = 0; k < TOPK; k++) worst[k] = FLT_MAX;
    for (int j = 0; j < scenarios; j++) {
        float v = pnl[(size_t)j * sets + s];
        if (v >= worst[TOPK - 1]) continue;
        int k = TOPK - 1;
        while (k > 0 && worst[k - 1] > v) {
            worst[k] = worst[k - 1];
            k--;
        }
        worst[k] = v;
    }
    float sum = 0.f;
    for (int k = 0; k < TOPK; k++) sum += worst[k];
    var[s] = worst[TOPK - 1];
    es[s] = sum / TOPK;
}

// ===== rolling maximum of prices (van Herk), the block's tile in two passes =====
#define RM_BLOCK 256
#define RM_WIN 32
__global__ void rolling_max_vanherk(const float *price, float *out, int n)
{
    __shared__ float prefix[RM_BLOCK + RM_WIN];
    __shared__ float suffix[RM_BLOCK + RM_WIN];
    const int start = blockIdx.x * RM_BLOCK;
    for (int i = threadIdx.x; i < RM_BLOCK + RM_WIN; i += RM_BLOCK) {
        int g = start + i;
        float v = g < n ? price[g] : -FLT_MAX;
        prefix[i] = v;
        suffix[i] = v;
    }
    __syncthreads();
    if (threadIdx.x < (RM_BLOCK + RM_WIN) / RM_WIN) {
        int b = threadIdx.x * RM_WIN;
        for (int i = 1; i < RM_WIN; i++) prefix[b + i] = fmaxf(prefix[b + i], prefix[b + i - 1]);
        for (int i = RM_WIN - 2; i >= 0; i--) suffix[b + i] = fmaxf(suffix[b + i], suffix[b + i + 1]);
    }
    __syncthreads();
    int g = start + threadIdx.x;
    if (g >= n) return;
    out[g] = fmaxf(suffix[threadIdx.x], prefix[threadIdx.x + RM_WIN - 1]);
}

// ===== full search motion estimation, 16x16 macroblocks =====
#define MB 16
#define SR 8
#define SWIN (MB + 2 * SR)
__global__ void motion_full_search_16x16(const u8 *cur, const u8 *ref, short2 *mv, unsigned *bestSad, int width, int height)
{
    __shared__ u8 cmb[MB][MB];
    __shared__ u8 win[SWIN][SWIN];
    __shared__ unsigned cost[256];
    const int t = threadIdx.x;
    const int mx = blockIdx.x * MB, my = blockIdx.y * MB;
    {
        int x = min(mx + (t & 15), width - 1), y = min(my + (t >> 4), height - 1);
        cmb[t >> 4][t & 15] = cur[y * width + x];
    }
    for (int i = t; i < SWIN * SWIN; i += 256) {
        int x = max(0, min(width - 1, mx - SR + i % SWIN));
        int y = max(0, min(height - 1, my - SR + i / SWIN));
        win[i / SWIN][i % SWIN] = ref[y * width + x];
    }
    __syncthreads();
    unsigned best = 0xffffffffu;
    for (int c = t; c < (2 * SR + 1) * (2 * SR + 1); c += 256) {
        int dx = c % (2 * SR + 1), dy = c / (2 * SR + 1);
        unsigned sad = 0;
        for (int y = 0; y < MB; y++)
            for (int x = 0; x < MB; x++) sad += abs((int)cmb[y][x] - (int)win[y + dy][x + dx]);
        best = min(best, (sad << 12) | (unsigned)c);
    }
    cost[t] = best;
    __syncthreads();
    for (int s = 128; s > 32; s >>= 1) {
        if (t < s) cost[t] = min(cost[t], cost[t + s]);
        __syncthreads();
    }
    if (t < 32) {
        unsigned m = min(cost[t], cost[t + 32]);
        for (int o = 16; o; o >>= 1) m = min(m, __shfl_xor_sync(0xffffffffu, m, o));
        if (t == 0) {
            int c = m & 4095u;
            int b = blockIdx.y * gridDim.x + blockIdx.x;
            mv[b] = make_short2((short)(c % (2 * SR + 1) - SR), (short)(c / (2 * SR + 1) - SR));
            bestSad[b] = m >> 12;
        }
    }
}

// ===== deblocking of vertical edges every 8 pixels; the block is shifted by half a transform block =====
#define DB_W 64
#define DB_H 16
__global__ void deblock_vertical_edges(const u8 *in, u8 *out, int width, int height, int alpha, int beta)
{
    __shared__ u8 px[DB_H][DB_W + 4];
    const int t = threadIdx.x;                              // 128 threads: 8 edges x 16 lines
    const int x0 = (int)blockIdx.x * DB_W - 4, y0 = blockIdx.y * DB_H;
    for (int i = t; i < DB_W * DB_H; i += 128) {
        int x = min(max(x0 + i % DB_W, 0), width - 1), y = min(y0 + i / DB_W, height - 1);
        px[i / DB_W][i % DB_W] = in[y * width + x];
    }
    __syncthreads();
    const int line = t >> 3, edge = (t & 7) * 8 + 4;
    if (x0 + edge > 0) {
        int p[4], q[4];
        for (int k = 0; k < 4; k++) {
            p[k] = px[line][edge - 1 - k];
            q[k] = px[line][edge + k];
        }
        if (abs(p[0] - q[0]) < alpha && abs(p[1] - p[0]) < beta && abs(q[1] - q[0]) < beta) {
            px[line][edge - 1] = (u8)((p[2] + 2 * p[1] + 2 * p[0] + 2 * q[0] + q[1] + 4) >> 3);
            px[line][edge] = (u8)((p[1] + 2 * p[0] + 2 * q[0] + 2 * q[1] + q[2] + 4) >> 3);
            px[line][edge - 2] = (u8)((p[2] + p[1] + p[0] + q[0] + 2) >> 2);
            px[line][edge + 1] = (u8)((q[2] + q[1] + q[0] + p[0] + 2) >> 2);
            px[line][edge - 3] = (u8)((2 * p[3] + 3 * p[2] + p[1] + p[0] + q[0] + 4) >> 3);
            px[line][edge + 2] = (u8)((2 * q[3] + 3 * q[2] + q[1] + q[0] + p[0] + 4) >> 3);
        }
    }
    __syncthreads();
    for (int i = t; i < DB_W * DB_H; i += 128) {
        int x = x0 + i % DB_W, y = y0 + i / DB_W;
        if (x >= 0 && x < width && y < height) out[y * width + x] = px[i / DB_W][i % DB_W];
    }
}

// ===== quantisation and zigzag of 8x8 coefficient blocks =====
__constant__ unsigned char zigzag[64];
__constant__ unsigned short qtable[64];
__global__ void quantize_zigzag_8x8(const short *coef, short *levels, int *lastNonZero, int nblocks)
{
    __shared__ short blk[4][64];
    __shared__ int last[4][64];
    const int z = threadIdx.z, k = threadIdx.y * 8 + threadIdx.x;
    const int b = blockIdx.x * 4 + z;
    short c = b < nblocks ? (short)(coef[(size_t)b * 64 + k] * 40 - 250) : (short)0;
    int q = qtable[k];
    blk[z][k] = (short)(c >= 0 ? (c + q / 2) / q : -((-c + q / 2) / q));
    __syncthreads();
    short lev = blk[z][zigzag[k]];
    last[z][k] = lev ? k : -1;
    __syncthreads();
    for (int s = 32; s > 0; s /= 2) {
        if (k < s) last[z][k] = max(last[z][k], last[z][k + s]);
        __syncthreads();
    }
    if (b < nblocks) {
        levels[(size_t)b * 64 + k] = lev;
        if (k == 0) lastNonZero[b] = last[z][0];
    }
}

int main()
{
    int no = 3000;
    OptionData *ho = (OptionData *)malloc(no * sizeof(OptionData)), *od;
    for (int i = 0; i < no; i++) {
        ho[i].S = 20.f + i % 37;
        ho[i].X = 25.f + i % 29;
        ho[i].vDt = 0.005f + 0.0001f * (i % 50);
        ho[i].puByDf = 0.503f;
        ho[i].pdByDf = 0.4969f;
    }
    cudaMalloc(&od, no * sizeof(OptionData));
    cudaMemcpy(od, ho, no * sizeof(OptionData), cudaMemcpyHostToDevice);
    free(ho);
    float *val = mk<float>(no);
    binomial_american_put<<<no, TREE_THREADS>>>(od, val);
    show("binomial_american_put", val, no * 4);

    size_t n = 40000000;
    float *a = mk<float>(n), *o = mk<float>(n);
    int mo = 4000;
    float *price = mk<float>(mo), *hw = mk<float>(mo);
    monte_carlo_european_call<<<mo, 256>>>(a, 62.f, 0.01f, 0.2f, 0.97f, 40, price, hw);
    show("monte_carlo_european_call price", price, mo * 4);
    show("monte_carlo_european_call halfWidth", hw, mo * 4);

    int paths = 1000003;
    asian_brownian_bridge<<<(paths + 127) / 128, 128>>>(a, o, paths, 100.f, 99.f, 0.02f, 0.3f);
    show("asian_brownian_bridge", o, (size_t)paths * 4);

    int sets = 150001, scen = 250;
    float *var = mk<float>(sets), *es = mk<float>(sets);
    expected_shortfall_topk<<<(sets + 63) / 64, 64>>>(a, var, es, sets, scen);
    show("expected_shortfall_topk var", var, sets * 4);
    show("expected_shortfall_topk es", es, sets * 4);

    int rn = 18000007;
    rolling_max_vanherk<<<(rn + RM_BLOCK - 1) / RM_BLOCK, RM_BLOCK>>>(a, o, rn);
    show("rolling_max_vanherk", o, (size_t)rn * 4);

    int W = 1920, H = 1080;
    u8 *cur = mk_frame(W, H, 3, 2), *ref = mk_frame(W, H, 0, 0);
    dim3 mg((W + MB - 1) / MB, (H + MB - 1) / MB);
    short2 *mv;
    cudaMalloc(&mv, mg.x * mg.y * sizeof(short2));
    unsigned *sad = mk<unsigned>(mg.x * mg.y);
    motion_full_search_16x16<<<mg, 256>>>(cur, ref, mv, sad, W, H);
    show("motion_full_search_16x16 mv", mv, mg.x * mg.y * sizeof(short2));
    show("motion_full_search_16x16 sad", sad, mg.x * mg.y * 4);

    int w8 = 7680, h8 = 4320;
    u8 *big = mk_frame(w8, h8, 0, 0), *dbo = mk<u8>((size_t)w8 * h8);
    deblock_vertical_edges<<<dim3((w8 + 4 + DB_W - 1) / DB_W, (h8 + DB_H - 1) / DB_H), 128>>>(big, dbo, w8, h8, 40, 20);
    show("deblock_vertical_edges", dbo, (size_t)w8 * h8);

    unsigned char zz[64];
    unsigned short qt[64];
    int idx = 0;
    for (int s = 0; s < 15; s++)
        for (int i = 0; i <= s; i++) {
            int r = (s & 1) ? i : s - i, c = s - r;
            if (r < 8 && c < 8) zz[idx++] = (unsigned char)(r * 8 + c);
        }
    for (int i = 0; i < 64; i++) qt[i] = (unsigned short)(16 + 3 * (i / 8 + i % 8) * (1 + i / 16));
    cudaMemcpyToSymbol(zigzag, zz, sizeof(zz));
    cudaMemcpyToSymbol(qtable, qt, sizeof(qt));
    int nb = 500003;
    short *coef = mk<short>((size_t)nb * 64), *lev = mk<short>((size_t)nb * 64);
    int *lnz = mk<int>(nb);
    quantize_zigzag_8x8<<<(nb + 3) / 4, dim3(8, 8, 4)>>>(coef, lev, lnz, nb);
    show("quantize_zigzag_8x8 levels", lev, (size_t)nb * 64 * 2);
    show("quantize_zigzag_8x8 last", lnz, nb * 4);
    return 0;
}
