// denoising filters
#include "h.h"
#include <cstdint>

const int TW = 16;
const int TH = 16;

#define CLAMP(v, lo, hi) ((v) < (lo) ? (lo) : (v) > (hi) ? (hi) : (v))
#define PIX(img, x, y) (img)[(size_t)(y)*W + (x)]

__global__ void bilateralFilterK(const float *in, float *out, int W, int H, int r, float sigmaS, float sigmaR)
{
	extern __shared__ float patch[];
	int pw = TW + 2 * r;
	int ph = TH + 2 * r;
	int bx = blockIdx.x * TW - r;
	int by = blockIdx.y * TH - r;
	for (int y = threadIdx.y; y < ph; y += TH)
		for (int x = threadIdx.x; x < pw; x += TW)
			patch[y * pw + x] = PIX(in, CLAMP(bx + x, 0, W - 1), CLAMP(by + y, 0, H - 1));
	__syncthreads();
	int gx = blockIdx.x * TW + threadIdx.x;
	int gy = blockIdx.y * TH + threadIdx.y;
	if (gx < W && gy < H) {
		float c = patch[(threadIdx.y + r) * pw + threadIdx.x + r];
		float num = 0.0f, den = 0.0f;
		for (int dy = -r; dy <= r; dy++)
			for (int dx = -r; dx <= r; dx++) {
				float v = patch[(threadIdx.y + r + dy) * pw + threadIdx.x + r + dx];
				float wgt = __expf(-(dx * dx + dy * dy) * sigmaS - (v - c) * (v - c) * sigmaR);
				num += wgt * v;
				den += wgt;
			}
		PIX(out, gx, gy) = num / den;
	}
}

__device__ inline void cswap(unsigned char &a, unsigned char &b)
{
	unsigned char lo = min(a, b), hi = max(a, b);
	a = lo;
	b = hi;
}

__global__ void median3x3K(const unsigned char *in, unsigned char *out, int W, int H)
{
	__shared__ unsigned char t[TH + 2][TW * 2 + 2];
	const int x0 = blockIdx.x * TW * 2, y0 = blockIdx.y * TH;
	for (int i = threadIdx.y; i < TH + 2; i += blockDim.y)
		for (int j = threadIdx.x; j < TW * 2 + 2; j += blockDim.x) {
			int xx = CLAMP(x0 + j - 1, 0, W - 1), yy = CLAMP(y0 + i - 1, 0, H - 1);
			t[i][j] = PIX(in, xx, yy);
		}
	__syncthreads();
	const int x = x0 + threadIdx.x, y = y0 + threadIdx.y;
	if (x >= W || y >= H)
		return;
	unsigned char v[9];
#pragma unroll
	for (int k = 0; k < 9; k++)
		v[k] = t[threadIdx.y + k / 3][threadIdx.x + k % 3];
	cswap(v[1], v[2]); cswap(v[4], v[5]); cswap(v[7], v[8]);
	cswap(v[0], v[1]); cswap(v[3], v[4]); cswap(v[6], v[7]);
	cswap(v[1], v[2]); cswap(v[4], v[5]); cswap(v[7], v[8]);
	cswap(v[0], v[3]); cswap(v[5], v[8]); cswap(v[4], v[7]);
	cswap(v[3], v[6]); cswap(v[1], v[4]); cswap(v[2], v[5]);
	cswap(v[4], v[7]); cswap(v[4], v[2]); cswap(v[6], v[4]);
	cswap(v[4], v[2]);
	PIX(out, x, y) = v[4];
}

// halo threads leave early: block 34x10 loads, 32x8 inner threads compute; zero border
__global__ void box3HaloK(const short2 *flow, short2 *out, int W, int H)
{
	__shared__ short2 s[10][34];
	const int x = blockIdx.x * 32 + (int)threadIdx.x - 1;
	const int y = blockIdx.y * 8 + (int)threadIdx.y - 1;
	short2 z;
	z.x = z.y = 0;
	if (x >= 0 && y >= 0 && x < W && y < H)
		z = PIX(flow, x, y);
	s[threadIdx.y][threadIdx.x] = z;
	__syncthreads();
	if (threadIdx.x == 0 || threadIdx.x == 33 || threadIdx.y == 0 || threadIdx.y == 9)
		return;
	if (x >= W || y >= H)
		return;
	int sx = 0, sy = 0;
	for (int j = -1; j <= 1; j++)
		for (int i = -1; i <= 1; i++) {
			sx += s[threadIdx.y + j][threadIdx.x + i].x;
			sy += s[threadIdx.y + j][threadIdx.x + i].y;
		}
	short2 o;
	o.x = sx / 9;
	o.y = sy / 9;
	PIX(out, x, y) = o;
}

static void sum(const char *n, const void *d, size_t b)
{
	unsigned char *p = (unsigned char *)malloc(b);
	cudaMemcpy(p, d, b, cudaMemcpyDeviceToHost);
	unsigned long long h = 1469598103934665603ull;
	for (size_t i = 0; i < b; i++)
		h = (h ^ p[i]) * 1099511628211ull;
	printf("%s %llx\n", n, h);
	free(p);
}

int main()
{
	int W = 1281, H = 960, r = 4;
	float *a = mk<float>(W * H), *b;
	cudaMalloc(&b, W * H * 4);
	size_t sh = (TW + 2 * r) * (TH + 2 * r) * sizeof(float);
	bilateralFilterK<<<dim3((W + TW - 1) / TW, (H + TH - 1) / TH), dim3(TW, TH), sh>>>(a, b, W, H, r, 0.05f, 0.1f);

	int MW = 3840, MH = 2160;
	unsigned char *u = mk<unsigned char>(MW * MH), *m;
	cudaMalloc(&m, MW * MH);
	median3x3K<<<dim3((MW + 2 * TW - 1) / (2 * TW), (MH + TH - 1) / TH), dim3(TW * 2, TH)>>>(u, m, MW, MH);

	int FW = 2000, FH = 1500;
	short2 *f = (short2 *)mk<short>(FW * FH * 2), *g;
	cudaMalloc(&g, FW * FH * sizeof(short2));
	box3HaloK<<<dim3((FW + 31) / 32, (FH + 7) / 8), dim3(34, 10)>>>(f, g, FW, FH);
	cudaDeviceSynchronize();
	sum("bilateral", b, W * H * 4);
	sum("median", m, MW * MH);
	sum("box", g, FW * FH * sizeof(short2));
	return 0;
}
