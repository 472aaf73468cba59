// h6 - computer vision / image processing
#include "shown.h"
#include <vector>
#define DIVUP(a,b) (((a)+(b)-1)/(b))

/* bilateral filter, tile + apron in dynamic shared memory, replicate border */
__global__ void bilateralFilter(const float* __restrict__ src, float* __restrict__ dst, int width, int height,
                                size_t srcPitch, size_t dstPitch, int radius, float sigmaS2, float sigmaR2)
{
    extern __shared__ float patch[];
    const int pw = blockDim.x + 2 * radius;
    const int ph = blockDim.y + 2 * radius;
    const int x0 = blockIdx.x * blockDim.x - radius;
    const int y0 = blockIdx.y * blockDim.y - radius;

    for (int v = threadIdx.y; v < ph; v += blockDim.y) {
        int sy = min(max(y0 + v, 0), height - 1);
        const float* row = (const float*)((const char*)src + sy * srcPitch);
        for (int u = threadIdx.x; u < pw; u += blockDim.x) {
            int sx = min(max(x0 + u, 0), width - 1);
            patch[v * pw + u] = row[sx];
        }
    }
    __syncthreads();

    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;

    const float center = patch[(threadIdx.y + radius) * pw + threadIdx.x + radius];
    float num = 0.f, den = 0.f;
    for (int dy = -radius; dy <= radius; ++dy)
        for (int dx = -radius; dx <= radius; ++dx) {
            float p = patch[(threadIdx.y + radius + dy) * pw + threadIdx.x + radius + dx];
            float d = p - center;
            float w = __expf(-(dx * dx + dy * dy) * sigmaS2 - d * d * sigmaR2);
            num += w * p;
            den += w;
        }
    ((float*)((char*)dst + y * dstPitch))[x] = num / den;
}

/* 5x5 median of 8 bit image: window copied in a local array, insertion sort in helper */
__device__ unsigned char medianOf(unsigned char* v, int n)
{
    for (int i = 1; i < n; i++) {
        unsigned char key = v[i];
        int j = i - 1;
        while (j >= 0 && v[j] > key) {
            v[j + 1] = v[j];
            j--;
        }
        v[j + 1] = key;
    }
    return v[n / 2];
}

#define MED_R 2
__global__ void medianFilter5x5(const unsigned char* in, unsigned char* out, unsigned w, unsigned h)
{
    __shared__ unsigned char tile[16 + 2 * MED_R][16 + 2 * MED_R];
    int gx = blockIdx.x * 16, gy = blockIdx.y * 16;
    for (int t = threadIdx.y * 16 + threadIdx.x; t < 20 * 20; t += 256) {
        int lx = t % 20, ly = t / 20;
        int sx = gx + lx - MED_R, sy = gy + ly - MED_R;
        // mirror
        if (sx < 0) sx = -sx - 1;
        if (sy < 0) sy = -sy - 1;
        if (sx >= (int)w) sx = 2 * (int)w - 1 - sx;
        if (sy >= (int)h) sy = 2 * (int)h - 1 - sy;
        sx = max(sx, 0); sy = max(sy, 0);
        tile[ly][lx] = in[sy * w + sx];
    }
    __syncthreads();
    unsigned x = gx + threadIdx.x, y = gy + threadIdx.y;
    if (x < w && y < h) {
        unsigned char win[(2 * MED_R + 1) * (2 * MED_R + 1)];
        int c = 0;
        for (int j = 0; j <= 2 * MED_R; j++)
            for (int i = 0; i <= 2 * MED_R; i++)
                win[c++] = tile[threadIdx.y + j][threadIdx.x + i];
        out[y * w + x] = medianOf(win, c);
    }
}

/* sobel + non-maximum suppression fused, two tiles */
#define TX 32
#define TY 8
__global__ void canny_grad_nms(const unsigned char *img, short *dst, int cols, int rows, int step)
{
    __shared__ int  pix[TY + 4][TX + 4];
    __shared__ int  mag[TY + 2][TX + 2 + 1];
    const int bx = blockIdx.x * TX, by = blockIdx.y * TY;
    const int lin = threadIdx.y * TX + threadIdx.x;

    for (int k = lin; k < (TY + 4) * (TX + 4); k += TX * TY) {
        int r = k / (TX + 4), c = k - r * (TX + 4);
        int yy = by + r - 2, xx = bx + c - 2;
        pix[r][c] = (yy >= 0 && yy < rows && xx >= 0 && xx < cols) ? img[yy * step + xx] : 0;
    }
    __syncthreads();
    for (int k = lin; k < (TY + 2) * (TX + 2); k += TX * TY) {
        int r = k / (TX + 2), c = k % (TX + 2);
        int gx = pix[r][c + 2] + 2 * pix[r + 1][c + 2] + pix[r + 2][c + 2] - pix[r][c] - 2 * pix[r + 1][c] - pix[r + 2][c];
        int gy = pix[r + 2][c] + 2 * pix[r + 2][c + 1] + pix[r + 2][c + 2] - pix[r][c] - 2 * pix[r][c + 1] - pix[r][c + 2];
        mag[r][c] = abs(gx) + abs(gy);
    }
    __syncthreads();

    int x = bx + threadIdx.x, y = by + threadIdx.y;
    if (x >= cols || y >= rows) return;
    int r = threadIdx.y + 1, c = threadIdx.x + 1;
    int gx = pix[r][c + 2] + 2 * pix[r + 1][c + 2] + pix[r + 2][c + 2] - pix[r][c] - 2 * pix[r + 1][c] - pix[r + 2][c];
    int gy = pix[r + 2][c] + 2 * pix[r + 2][c + 1] + pix[r + 2][c + 2] - pix[r][c] - 2 * pix[r][c + 1] - pix[r][c + 2];
    int m = mag[r][c], a, b;
    int ax = abs(gx) << 15, ay = abs(gy), tg = abs(gx) * 13573;
    ay <<= 15;
    if (ay < tg)                 { a = mag[r][c - 1]; b = mag[r][c + 1]; }
    else if (ay > tg + (ax << 1)){ a = mag[r - 1][c]; b = mag[r + 1][c]; }
    else { int s = (gx ^ gy) < 0 ? -1 : 1; a = mag[r - 1][c - s]; b = mag[r + 1][c + s]; }
    dst[y * cols + x] = (m > a && m >= b) ? (short)m : 0;
}

/* separable erosion along x then y of one tile, templated radius */
template <int R, int BX, int BY, typename Pix>
__global__ void erode_rect(const Pix* __restrict__ src, Pix* __restrict__ dst, int w, int h)
{
    __shared__ Pix s[BY + 2 * R][BX + 2 * R];
    __shared__ Pix t[BY + 2 * R][BX];
    const Pix BIG = (Pix)255;
    for (int y = threadIdx.y; y < BY + 2 * R; y += BY) {
        int gy = (int)(blockIdx.y * BY) + y - R;
        for (int x = threadIdx.x; x < BX + 2 * R; x += BX) {
            int gx = (int)(blockIdx.x * BX) + x - R;
            Pix v = BIG;
            if (gx >= 0 && gy >= 0 && gx < w && gy < h) v = src[(size_t)gy * w + gx];
            s[y][x] = v;
        }
    }
    __syncthreads();
    for (int y = threadIdx.y; y < BY + 2 * R; y += BY) {
        Pix m = BIG;
        for (int k = 0; k <= 2 * R; ++k) m = min(m, s[y][threadIdx.x + k]);
        t[y][threadIdx.x] = m;
    }
    __syncthreads();
    int ox = blockIdx.x * BX + threadIdx.x, oy = blockIdx.y * BY + threadIdx.y;
    if (ox < w && oy < h) {
        Pix m = BIG;
        for (int k = 0; k <= 2 * R; ++k) m = min(m, t[threadIdx.y + k][threadIdx.x]);
        dst[(size_t)oy * w + ox] = m;
    }
}

/* integral image, horizontal pass: one row per block, chunks with carry */
__global__ void integralRows(const unsigned char *in, unsigned int *out, int W)
{
    __shared__ unsigned int buf[2][256];
    __shared__ unsigned int carry;
    const unsigned char *r = in + (size_t)blockIdx.x * W;
    unsigned int *o = out + (size_t)blockIdx.x * W;
    if (threadIdx.x == 0) carry = 0;
    for (int base = 0; base < W; base += 256) {
        int x = base + threadIdx.x;
        int cur = 0;
        buf[0][threadIdx.x] = x < W ? r[x] : 0;
        __syncthreads();
        for (int off = 1; off < 256; off <<= 1) {
            unsigned v = buf[cur][threadIdx.x];
            if ((int)threadIdx.x >= off) v += buf[cur][threadIdx.x - off];
            buf[cur ^ 1][threadIdx.x] = v;
            cur ^= 1;
            __syncthreads();
        }
        unsigned c = carry;
        if (x < W) o[x] = buf[cur][threadIdx.x] + c;
        __syncthreads();
        if (threadIdx.x == 255) carry = c + buf[cur][255];
        __syncthreads();
    }
}

/* Harris corner response on a 3x3 window of structure tensors */
struct Tensor { float xx, yy, xy; };
__global__ void harrisResponse(float *resp, const float *I, const int W, const int H, const float k)
{
    __shared__ Tensor T[18][18];
    for (int ly = threadIdx.y; ly < 18; ly += blockDim.y)
        for (int lx = threadIdx.x; lx < 18; lx += blockDim.x) {
            int x = blockIdx.x * 16 + lx - 1, y = blockIdx.y * 16 + ly - 1;
            Tensor t = {0.f, 0.f, 0.f};
            if (x > 0 && y > 0 && x < W - 1 && y < H - 1) {
                float dx = 0.5f * (I[y * W + x + 1] - I[y * W + x - 1]);
                float dy = 0.5f * (I[(y + 1) * W + x] - I[(y - 1) * W + x]);
                t.xx = dx * dx; t.yy = dy * dy; t.xy = dx * dy;
            }
            T[ly][lx] = t;
        }
    __syncthreads();
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    if (x >= W || y >= H) return;
    float a = 0, b = 0, c = 0;
    for (int j = 0; j < 3; j++)
        for (int i = 0; i < 3; i++) {
            const Tensor &t = T[threadIdx.y + j][threadIdx.x + i];
            a += t.xx; b += t.yy; c += t.xy;
        }
    resp[y * W + x] = a * b - c * c - k * (a + b) * (a + b);
}

/* CLAHE-ish: 256 bin histogram of a tile, clipped, then CDF to lut */
__global__ void claheLut(const unsigned char *src, unsigned char *lut, int W, int H, int tileW, int tileH, int clip)
{
    __shared__ int hist[256];
    int tid = threadIdx.x;
    hist[tid] = 0;
    __syncthreads();
    int x0 = blockIdx.x * tileW, y0 = blockIdx.y * tileH;
    int x1 = min(x0 + tileW, W), y1 = min(y0 + tileH, H);
    int tw = x1 - x0, area = tw * (y1 - y0);
    for (int i = tid; i < area; i += blockDim.x)
        atomicAdd(hist + src[(y0 + i / tw) * W + x0 + i % tw], 1);
    __syncthreads();
    __shared__ int excess;
    if (tid == 0) excess = 0;
    __syncthreads();
    int v = hist[tid];
    if (v > clip) { atomicAdd(&excess, v - clip); v = clip; }
    __syncthreads();
    v += excess / 256 + (tid < excess % 256 ? 1 : 0);
    hist[tid] = v;
    __syncthreads();
    for (int d = 1; d < 256; d *= 2) {
        int add = tid >= d ? hist[tid - d] : 0;
        __syncthreads();
        hist[tid] += add;
        __syncthreads();
    }
    lut[(blockIdx.y * gridDim.x + blockIdx.x) * 256 + tid] = (unsigned char)min(255, hist[tid] * 255 / area);
}

int main()
{
    const int W = 2990, H = 2111;
    std::vector<unsigned char> h(W * H);
    unsigned s = 7;
    for (int i = 0; i < W * H; i++) { s = s * 1103515245u + 12345u; h[i] = (unsigned char)(((i % W) / 13 * 7 + (i / W) / 9 * 5 + ((s >> 16) & 31)) & 255); }
    unsigned char *img = mk<unsigned char>(W * H), *u8 = mk<unsigned char>(W * H);
    cudaMemcpy(img, h.data(), W * H, cudaMemcpyHostToDevice);
    float *f0 = mk<float>(3008 * H), *f1 = mk<float>(3008 * H);

    dim3 b16(16, 16), g16(DIVUP(W, 16), DIVUP(H, 16));
    bilateralFilter<<<g16, b16, (16 + 8) * (16 + 8) * sizeof(float)>>>(f0, f1, W, H, 3008 * 4, 3008 * 4, 4, 0.02f, 0.1f);
    show("bilateralFilter", f1, sizeof(float) * 3008 * H);

    medianFilter5x5<<<g16, b16>>>(img, u8, W, H);
    show("medianFilter5x5", u8, W * H);

    short *sh = mk<short>(W * H);
    canny_grad_nms<<<dim3(DIVUP(W, TX), DIVUP(H, TY)), dim3(TX, TY)>>>(img, sh, W, H, W);
    show("canny_grad_nms", sh, W * H * 2);

    erode_rect<5, 32, 16, unsigned char><<<dim3(DIVUP(W, 32), DIVUP(H, 16)), dim3(32, 16)>>>(img, u8, W, H);
    show("erode_rect", u8, W * H);

    unsigned *ii = mk<unsigned>(W * H);
    integralRows<<<H, 256>>>(img, ii, W);
    show("integralRows", ii, W * H * 4);

    harrisResponse<<<g16, b16>>>(f1, f0, W, H, 0.04f);
    show("harrisResponse", f1, sizeof(float) * W * H);

    int tw = 64, th = 48, gx = DIVUP(W, tw), gy = DIVUP(H, th);
    unsigned char *lut = mk<unsigned char>(gx * gy * 256);
    claheLut<<<dim3(gx, gy), 256>>>(img, lut, W, H, tw, th, 40);
    show("claheLut", lut, gx * gy * 256);
    return 0;
}
