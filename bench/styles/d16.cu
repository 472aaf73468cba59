// Image filters in shared tiles: Gaussian 5x5, bilateral, 3x3 median, erosion, transpose, integral rows
#include "shown.h"

// ---- Gaussian blur on RGBA pixels
#define BLUR_R 2
#define BLUR_T 16
struct Pixel { unsigned char r, g, b, a; };

__constant__ float gauss5[25] = {
    1 / 273.f, 4 / 273.f,  7 / 273.f,  4 / 273.f,  1 / 273.f,
    4 / 273.f, 16 / 273.f, 26 / 273.f, 16 / 273.f, 4 / 273.f,
    7 / 273.f, 26 / 273.f, 41 / 273.f, 26 / 273.f, 7 / 273.f,
    4 / 273.f, 16 / 273.f, 26 / 273.f, 16 / 273.f, 4 / 273.f,
    1 / 273.f, 4 / 273.f,  7 / 273.f,  4 / 273.f,  1 / 273.f};

__global__ void gaussianBlurRGBA(const Pixel *src, Pixel *dst, int width, int height)
{
    // block is (T + 2R)^2, only the inner T x T threads write
    __shared__ Pixel tile[BLUR_T + 2 * BLUR_R][BLUR_T + 2 * BLUR_R];
    int ox = blockIdx.x * BLUR_T + threadIdx.x - BLUR_R;
    int oy = blockIdx.y * BLUR_T + threadIdx.y - BLUR_R;
    int cx = min(max(ox, 0), width - 1);
    int cy = min(max(oy, 0), height - 1);
    tile[threadIdx.y][threadIdx.x] = src[cy * width + cx];
    __syncthreads();

    bool inner = threadIdx.x >= BLUR_R && threadIdx.x < BLUR_T + BLUR_R &&
                 threadIdx.y >= BLUR_R && threadIdx.y < BLUR_T + BLUR_R;
    if (!inner || ox >= width || oy >= height) return;
    float r = 0, g = 0, b = 0;
    for (int j = -BLUR_R; j <= BLUR_R; j++)
        for (int i = -BLUR_R; i <= BLUR_R; i++) {
            Pixel p = tile[(int)threadIdx.y + j][(int)threadIdx.x + i];
            float k = gauss5[(j + BLUR_R) * 5 + i + BLUR_R];
            r += k * p.r;
            g += k * p.g;
            b += k * p.b;
        }
    Pixel o;
    o.r = (unsigned char)(r * 10.f);
    o.g = (unsigned char)(g * 10.f);
    o.b = (unsigned char)(b * 10.f);
    o.a = 255;
    dst[oy * width + ox] = o;
}

// ---- bilateral filter, grey float image
template <int R, int TX, int TY>
__global__ void bilateralTile(const float *__restrict__ in, float *__restrict__ out, int w, int h, float is2, float ir2)
{
    __shared__ float s[TY + 2 * R][TX + 2 * R];
    __shared__ float spatial[2 * R + 1][2 * R + 1];
    const int tid = threadIdx.y * TX + threadIdx.x;
    if (tid < (2 * R + 1) * (2 * R + 1)) {
        int dx = tid % (2 * R + 1) - R, dy = tid / (2 * R + 1) - R;
        spatial[dy + R][dx + R] = __expf(-(dx * dx + dy * dy) * is2);
    }
    for (int y = threadIdx.y; y < TY + 2 * R; y += TY)
        for (int x = threadIdx.x; x < TX + 2 * R; x += TX) {
            int gx = (int)blockIdx.x * TX + x - R, gy = (int)blockIdx.y * TY + y - R;
            gx = gx < 0 ? -gx : (gx >= w ? 2 * w - 2 - gx : gx); // mirror
            gy = gy < 0 ? -gy : (gy >= h ? 2 * h - 2 - gy : gy);
            s[y][x] = in[gy * w + gx];
        }
    __syncthreads();
    float c = s[threadIdx.y + R][threadIdx.x + R];
    float sum = 0.f, norm = 0.f;
#pragma unroll
    for (int dy = 0; dy <= 2 * R; dy++)
#pragma unroll
        for (int dx = 0; dx <= 2 * R; dx++) {
            float v = s[threadIdx.y + dy][threadIdx.x + dx];
            float k = spatial[dy][dx] * __expf(-(v - c) * (v - c) * ir2);
            sum += k * v;
            norm += k;
        }
    out[(blockIdx.y * TY + threadIdx.y) * w + blockIdx.x * TX + threadIdx.x] = sum / norm;
}

// ---- 3x3 median with a shared tile and a private bubble sort
#define MED_BLOCK 16
__global__ void medianFilterShared(unsigned char *in, unsigned char *out, int width, int height)
{
    __shared__ unsigned char shmem[MED_BLOCK + 2][MED_BLOCK + 2];
    int tx = threadIdx.x, ty = threadIdx.y;
    int x = blockIdx.x * MED_BLOCK + tx, y = blockIdx.y * MED_BLOCK + ty;
    bool is_x_left = (tx == 0), is_x_right = (tx == MED_BLOCK - 1);
    bool is_y_top = (ty == 0), is_y_bottom = (ty == MED_BLOCK - 1);

    // clear the border first
    if (is_x_left) shmem[ty + 1][0] = 0;
    if (is_x_right) shmem[ty + 1][MED_BLOCK + 1] = 0;
    if (is_y_top) {
        shmem[0][tx + 1] = 0;
        if (is_x_left) shmem[0][0] = 0;
        if (is_x_right) shmem[0][MED_BLOCK + 1] = 0;
    }
    if (is_y_bottom) {
        shmem[MED_BLOCK + 1][tx + 1] = 0;
        if (is_x_left) shmem[MED_BLOCK + 1][0] = 0;
        if (is_x_right) shmem[MED_BLOCK + 1][MED_BLOCK + 1] = 0;
    }
    shmem[ty + 1][tx + 1] = in[y * width + x];
    if (is_x_left && x > 0) shmem[ty + 1][0] = in[y * width + x - 1];
    if (is_x_right && x < width - 1) shmem[ty + 1][MED_BLOCK + 1] = in[y * width + x + 1];
    if (is_y_top && y > 0) {
        shmem[0][tx + 1] = in[(y - 1) * width + x];
        if (is_x_left && x > 0) shmem[0][0] = in[(y - 1) * width + x - 1];
        if (is_x_right && x < width - 1) shmem[0][MED_BLOCK + 1] = in[(y - 1) * width + x + 1];
    }
    if (is_y_bottom && y < height - 1) {
        shmem[MED_BLOCK + 1][tx + 1] = in[(y + 1) * width + x];
        if (is_x_left && x > 0) shmem[MED_BLOCK + 1][0] = in[(y + 1) * width + x - 1];
        if (is_x_right && x < width - 1) shmem[MED_BLOCK + 1][MED_BLOCK + 1] = in[(y + 1) * width + x + 1];
    }
    __syncthreads();

    unsigned char v[9] = {shmem[ty][tx], shmem[ty][tx + 1], shmem[ty][tx + 2],
                          shmem[ty + 1][tx], shmem[ty + 1][tx + 1], shmem[ty + 1][tx + 2],
                          shmem[ty + 2][tx], shmem[ty + 2][tx + 1], shmem[ty + 2][tx + 2]};
    for (int i = 0; i < 5; i++)
        for (int j = i + 1; j < 9; j++)
            if (v[i] > v[j]) {
                unsigned char t = v[i];
                v[i] = v[j];
                v[j] = t;
            }
    out[y * width + x] = v[4];
}

// ---- erosion by a horizontal line, van Herk / Gil-Werman inside a block
__global__ void erodeLineVHGW(const unsigned char *in, unsigned char *out, int width, int rad)
{
    extern __shared__ unsigned char lineBuf[];
    const int win = 2 * rad + 1;
    const int n = blockDim.x + 2 * rad;   // loaded pixels
    unsigned char *px = lineBuf;
    unsigned char *res = lineBuf + n;
    const int x0 = blockIdx.x * blockDim.x - rad;
    const unsigned char *row = in + (size_t)blockIdx.y * width;
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        int x = x0 + i;
        px[i] = (x >= 0 && x < width) ? row[x] : 255;
    }
    __syncthreads();
    unsigned char m = 255;
    for (int k = 0; k < win; k++) {
        unsigned char p = px[threadIdx.x + k];
        m = p < m ? p : m;
    }
    res[threadIdx.x] = m;
    __syncthreads();
    // gradient with the left neighbour of the eroded line
    unsigned char l = threadIdx.x > 0 ? res[threadIdx.x - 1] : m;
    int x = x0 + rad + threadIdx.x;
    if (x < width) out[(size_t)blockIdx.y * width + x] = m + (unsigned char)(l != m ? 100 : 0);
}

// ---- transpose without bank conflicts
const int TILE_DIM = 32;
const int BLOCK_ROWS = 8;
__global__ void transposeNoBankConflicts(float *odata, const float *idata)
{
    __shared__ float tile[TILE_DIM][TILE_DIM + 1];

    int x = blockIdx.x * TILE_DIM + threadIdx.x;
    int y = blockIdx.y * TILE_DIM + threadIdx.y;
    int width = gridDim.x * TILE_DIM;
    int height = gridDim.y * TILE_DIM;

    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        tile[threadIdx.y + j][threadIdx.x] = idata[(y + j) * width + x];

    __syncthreads();

    x = blockIdx.y * TILE_DIM + threadIdx.x; // transpose block offset
    y = blockIdx.x * TILE_DIM + threadIdx.y;

    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        odata[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}

// ---- 8x8 DCT (JPEG) on shared blocks, four image blocks a thread block
__global__ void dct8x8(const float *src, float *dst, int stride)
{
    __shared__ float blk[4][8][9];
    __shared__ float tmp[4][8][9];
    __shared__ float basis[8][8];
    int u = threadIdx.x, v = threadIdx.y, b = threadIdx.z;
    if (b == 0)
        basis[v][u] = (v == 0 ? 0.35355339f : 0.5f) * cosf((2 * u + 1) * v * 3.14159265f / 16.0f);
    int x = (blockIdx.x * 4 + b) * 8 + u;
    int y = blockIdx.y * 8 + v;
    blk[b][v][u] = src[y * stride + x] - 6.0f;
    __syncthreads();
    float s = 0;
    for (int k = 0; k < 8; k++) s += blk[b][v][k] * basis[u][k];
    tmp[b][v][u] = s;
    __syncthreads();
    s = 0;
    for (int k = 0; k < 8; k++) s += basis[v][k] * tmp[b][k][u];
    dst[y * stride + x] = s;
}

int main()
{
    {
        int w = 3840, h = 2160;
        Pixel *a = (Pixel *)mk<unsigned char>((size_t)w * h * 4), *b = (Pixel *)mk<unsigned char>((size_t)w * h * 4);
        dim3 block(BLUR_T + 2 * BLUR_R, BLUR_T + 2 * BLUR_R);
        dim3 grid((w + BLUR_T - 1) / BLUR_T, (h + BLUR_T - 1) / BLUR_T);
        gaussianBlurRGBA<<<grid, block>>>(a, b, w, h);
        show("gaussianBlurRGBA", b, (size_t)w * h * 4);
    }
    {
        int w = 3840, h = 2160;
        float *a = mk<float>((size_t)w * h), *b = mk<float>((size_t)w * h);
        bilateralTile<4, 32, 8><<<dim3(w / 32, h / 8), dim3(32, 8)>>>(a, b, w, h, 0.08f, 0.05f);
        show("bilateralTile", b, (size_t)w * h * 4);
        dct8x8<<<dim3(w / 32, h / 8), dim3(8, 8, 4)>>>(a, b, w);
        show("dct8x8", b, (size_t)w * h * 4);
    }
    {
        int w = 8192, h = 4096;
        unsigned char *a = mk<unsigned char>((size_t)w * h), *b = mk<unsigned char>((size_t)w * h);
        medianFilterShared<<<dim3(w / MED_BLOCK, h / MED_BLOCK), dim3(MED_BLOCK, MED_BLOCK)>>>(a, b, w, h);
        show("medianFilterShared", b, (size_t)w * h);
        int rad = 7, bs = 256;
        erodeLineVHGW<<<dim3((w - 100 + bs - 1) / bs, h), bs, bs * 2 + 2 * rad>>>(a, b, w - 100, rad);
        show("erodeLineVHGW", b, (size_t)w * h);
    }
    {
        int w = 8192, h = 4096;
        float *a = mk<float>((size_t)w * h), *b = mk<float>((size_t)w * h);
        transposeNoBankConflicts<<<dim3(w / TILE_DIM, h / TILE_DIM), dim3(TILE_DIM, BLOCK_ROWS)>>>(b, a);
        show("transposeNoBankConflicts", b, (size_t)w * h * 4);
    }
    return 0;
}
