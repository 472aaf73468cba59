/* image filters, 8 bit */
#include "shown.h"
typedef unsigned char u8;

#define TX 32
#define TY 8
#define CLAMP(v,lo,hi) ((v)<(lo)?(lo):((v)>(hi)?(hi):(v)))

__global__ void SobelTile(const u8* in, u8* out, int w, int h, int pitch)
{
	__shared__ u8 t[TY+2][TX+2];
	int x0 = blockIdx.x*TX-1, y0 = blockIdx.y*TY-1;
	// linear id walks the (TX+2)x(TY+2) patch
	for (int k = threadIdx.y*TX+threadIdx.x; k < (TX+2)*(TY+2); k += TX*TY) {
		int yy = k/(TX+2), xx = k%(TX+2);
		t[yy][xx] = in[CLAMP(y0+yy,0,h-1)*pitch + CLAMP(x0+xx,0,w-1)];
	}
	__syncthreads();
	int x = blockIdx.x*TX+threadIdx.x, y = blockIdx.y*TY+threadIdx.y;
	if (x >= w || y >= h) return;
	int i = threadIdx.y+1, j = threadIdx.x+1;
	int gx = t[i-1][j+1]+2*t[i][j+1]+t[i+1][j+1] - t[i-1][j-1]-2*t[i][j-1]-t[i+1][j-1];
	int gy = t[i+1][j-1]+2*t[i+1][j]+t[i+1][j+1] - t[i-1][j-1]-2*t[i-1][j]-t[i-1][j+1];
	int m = abs(gx)+abs(gy);
	out[y*pitch+x] = (u8)min(m,255);
}

/* bilateral filter, range weights from a table in shared memory */
template<int R>
__global__ void Bilateral(const u8* in, u8* out, int w, int h, int pitch, const float* rangeLut, float sigmaS)
{
	__shared__ float lut[256];
	__shared__ u8 s[16+2*R][16+2*R+1];
	const int tid = threadIdx.y*16+threadIdx.x;
	lut[tid] = rangeLut[tid];
	for (int yy = threadIdx.y; yy < 16+2*R; yy += 16)
		for (int xx = threadIdx.x; xx < 16+2*R; xx += 16) {
			int gx = CLAMP((int)(blockIdx.x*16)+xx-R, 0, w-1);
			int gy = CLAMP((int)(blockIdx.y*16)+yy-R, 0, h-1);
			s[yy][xx] = in[gy*pitch+gx];
		}
	__syncthreads();
	int x = blockIdx.x*16+threadIdx.x, y = blockIdx.y*16+threadIdx.y;
	if (x < w && y < h) {
		int c = s[threadIdx.y+R][threadIdx.x+R];
		float num = 0, den = 0;
		#pragma unroll
		for (int dy = -R; dy <= R; dy++)
			#pragma unroll
			for (int dx = -R; dx <= R; dx++) {
				int v = s[threadIdx.y+R+dy][threadIdx.x+R+dx];
				float wgt = lut[abs(v-c)] * expf(-(dx*dx+dy*dy)*sigmaS);
				num += wgt*v; den += wgt;
			}
		out[y*pitch+x] = (u8)(num/den+0.5f);
	}
}

/* 5x5 median: 25 values in a private array, partial selection sort */
__global__ void Median5(const u8* in, u8* out, int w, int h, int pitch)
{
	int x = blockIdx.x*blockDim.x+threadIdx.x;
	int y = blockIdx.y*blockDim.y+threadIdx.y;
	if (x >= w || y >= h) return;
	u8 v[25];
	int n = 0;
	for (int dy = -2; dy <= 2; dy++)
		for (int dx = -2; dx <= 2; dx++)
			v[n++] = in[CLAMP(y+dy,0,h-1)*pitch+CLAMP(x+dx,0,w-1)];
	for (int i = 0; i <= 12; i++) {
		int k = i;
		for (int j = i+1; j < 25; j++)
			if (v[j] < v[k]) k = j;
		u8 tmp = v[i]; v[i] = v[k]; v[k] = tmp;
	}
	out[y*pitch+x] = v[12];
}

/* histogram: one sub-histogram per warp, merged, then one atomic per bin */
__global__ void HistWarp(const uchar4* in, size_t n4, unsigned* hist)
{
	__shared__ unsigned sub[8][256];
	unsigned* flat = &sub[0][0];
	for (int i = threadIdx.x; i < 8*256; i += blockDim.x) flat[i] = 0;
	__syncthreads();
	unsigned* my = sub[threadIdx.x/32];
	for (size_t i = blockIdx.x*(size_t)blockDim.x+threadIdx.x; i < n4; i += (size_t)gridDim.x*blockDim.x) {
		uchar4 p = in[i];
		atomicAdd(my+p.x,1u); atomicAdd(my+p.y,1u); atomicAdd(my+p.z,1u); atomicAdd(my+p.w,1u);
	}
	__syncthreads();
	for (int b = threadIdx.x; b < 256; b += blockDim.x) {
		unsigned s = 0;
		for (int k = 0; k < 8; k++) s += sub[k][b];
		if (s) atomicAdd(&hist[b], s);
	}
}

/* local equalisation: each 64x64 cell builds its own cdf and maps its own pixels */
__global__ void ClaheCell(const u8* in, u8* out, int w, int h, int pitch, int clip)
{
	__shared__ int hist[256];
	__shared__ int cdf[2][256];
	int t = threadIdx.x;
	hist[t] = 0;
	__syncthreads();
	int bx = blockIdx.x*64, by = blockIdx.y*64;
	int ex = min(bx+64,w), ey = min(by+64,h);
	int x = bx+(t&63);
	if (x < ex)
		for (int y = by+(t>>6); y < ey; y += 4) atomicAdd(&hist[in[y*pitch+x]],1);
	__syncthreads();
	cdf[0][t] = min(hist[t],clip);
	__syncthreads();
	int src = 0;
	for (int d = 1; d < 256; d <<= 1) {
		int v = cdf[src][t];
		if (t >= d) v += cdf[src][t-d];
		cdf[src^1][t] = v;
		src ^= 1;
		__syncthreads();
	}
	int tot = cdf[src][255];
	if (x < ex)
		for (int y = by+(t>>6); y < ey; y += 4)
			out[y*pitch+x] = (u8)(cdf[src][in[y*pitch+x]]*255/tot);
}

/* horizontal dilation by van Herk: prefix and suffix maxima of windows of length K */
template<int K>
__global__ void DilateRowVHGW(const u8* in, u8* out, int w, int pitch)
{
	extern __shared__ u8 sm[];
	u8* line = sm;               // padded line
	int padded = ((w+2*(K/2)+K-1)/K)*K;
	u8* pre = line+padded;
	u8* suf = pre+padded;
	const u8* row = in+blockIdx.x*(size_t)pitch;
	for (int i = threadIdx.x; i < padded; i += blockDim.x) {
		int g = i-K/2;
		line[i] = (g >= 0 && g < w) ? row[g] : 0;
	}
	__syncthreads();
	for (int b = threadIdx.x; b < padded/K; b += blockDim.x) {
		int o = b*K;
		u8 m = 0;
		for (int j = 0; j < K; j++) { m = max(m,line[o+j]); pre[o+j] = m; }
		m = 0;
		for (int j = K-1; j >= 0; j--) { m = max(m,line[o+j]); suf[o+j] = m; }
	}
	__syncthreads();
	for (int x = threadIdx.x; x < w; x += blockDim.x)
		out[blockIdx.x*(size_t)pitch+x] = max(suf[x],pre[x+K-1]);
}

/* integral image: a block scans one row, carrying over chunks */
__global__ void IntegralRows(const u8* in, int* out, int w, int pitch)
{
	__shared__ int warpSum[8];
	__shared__ int carry;
	int t = threadIdx.x, lane = t&31, wid = t>>5;
	if (t == 0) carry = 0;
	__syncthreads();
	for (int base = 0; base < w; base += 256) {
		int x = base+t;
		int v = x < w ? in[blockIdx.x*pitch+x] : 0;
		for (int d = 1; d < 32; d <<= 1) {
			int u = __shfl_up_sync(~0u,v,d);
			if (lane >= d) v += u;
		}
		if (lane == 31) warpSum[wid] = v;
		__syncthreads();
		int add = carry;
		for (int k = 0; k < wid; k++) add += warpSum[k];
		if (x < w) out[blockIdx.x*w+x] = v+add;
		__syncthreads();
		if (t == 255) carry = v+add;
		__syncthreads();
	}
}

/* local binary patterns with uniform-code lookup */
__global__ void LbpCodes(const u8* in, u8* out, int w, int h, int pitch)
{
	__shared__ u8 map[256];
	__shared__ u8 t[10][34];
	int tid = threadIdx.x+32*threadIdx.y;
	int trans = __popc((tid^((tid<<1)|(tid>>7)))&255);
	map[tid] = trans <= 2 ? __popc(tid) : 9;
	int gx = blockIdx.x*32+threadIdx.x, gy = blockIdx.y*8+threadIdx.y;
	int cx = min(gx,w-1), cy = min(gy,h-1);
	t[threadIdx.y+1][threadIdx.x+1] = in[cy*pitch+cx];
	if (threadIdx.x == 0)  t[threadIdx.y+1][0]  = in[cy*pitch+max(cx-1,0)];
	if (threadIdx.x == 31) t[threadIdx.y+1][33] = in[cy*pitch+min(cx+1,w-1)];
	if (threadIdx.y == 0)  t[0][threadIdx.x+1]  = in[max(cy-1,0)*pitch+cx];
	if (threadIdx.y == 7)  t[9][threadIdx.x+1]  = in[min(cy+1,h-1)*pitch+cx];
	if (tid < 4) {
		int sx = tid&1, sy = tid>>1;
		int px = CLAMP((int)(blockIdx.x*32)+(sx ? 32 : -1),0,w-1);
		int py = CLAMP((int)(blockIdx.y*8)+(sy ? 8 : -1),0,h-1);
		t[sy*9][sx*33] = in[py*pitch+px];
	}
	__syncthreads();
	if (gx < w && gy < h) {
		const int dx[8] = {-1,0,1,1,1,0,-1,-1}, dy[8] = {-1,-1,-1,0,1,1,1,0};
		u8 c = t[threadIdx.y+1][threadIdx.x+1];
		int code = 0;
		for (int k = 0; k < 8; k++)
			code |= (t[threadIdx.y+1+dy[k]][threadIdx.x+1+dx[k]] >= c) << k;
		out[gy*pitch+gx] = map[code];
	}
}

int main()
{
	const int W = 3837, H = 2161, P = 3840;
	size_t n = (size_t)P*H;
	u8* hst = (u8*)malloc(n);
	unsigned s = 7;
	for (size_t i = 0; i < n; i++) { s = s*1103515245u+12345u; hst[i] = (u8)(((i%P)/16+(i/P)/9)/2+((s>>20)&63)); }
	u8 *in, *out;
	cudaMalloc(&in,n); cudaMemcpy(in,hst,n,cudaMemcpyHostToDevice); free(hst);
	out = mk<u8>(n);
	SobelTile<<<dim3((W+TX-1)/TX,(H+TY-1)/TY),dim3(TX,TY)>>>(in,out,W,H,P); show("SobelTile",out,n);
	float* lut = mk<float>(256);
	Bilateral<3><<<dim3((W+15)/16,(H+15)/16),dim3(16,16)>>>(in,out,W,H,P,lut,0.05f); show("Bilateral",out,n);
	Median5<<<dim3((W+31)/32,(H+3)/4),dim3(32,4)>>>(in,out,W,H,P); show("Median5",out,n);
	unsigned* hist = mk<unsigned>(256);
	HistWarp<<<264,256>>>((const uchar4*)in,n/4,hist); show("HistWarp",hist,1024);
	ClaheCell<<<dim3((W+63)/64,(H+63)/64),256>>>(in,out,W,H,P,60); show("ClaheCell",out,n);
	const int K = 15, padded = ((W+2*(K/2)+K-1)/K)*K;
	DilateRowVHGW<K><<<H,128,3*padded>>>(in,out,W,P); show("DilateRowVHGW",out,n);
	int* ii = mk<int>((size_t)W*H);
	IntegralRows<<<H,256>>>(in,ii,W,P); show("IntegralRows",ii,4ull*W*H);
	LbpCodes<<<dim3((W+31)/32,(H+7)/8),dim3(32,8)>>>(in,out,W,H,P); show("LbpCodes",out,n);
	return 0;
}
