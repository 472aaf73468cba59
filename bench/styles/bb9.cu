// DSP toolbox: transforms, filters, detectors, decoders
#include <cuComplex.h>
#include <cmath>
#include <vector>
#include "shown.h"

//--------------------------------------------------------------------------
// 512-point complex FFT, decimation in time, one transform per block
//--------------------------------------------------------------------------
template <int LOGN>
__global__ void fftBlock(const cuFloatComplex *__restrict__ in, cuFloatComplex *__restrict__ out, float dir) {
  constexpr int N = 1 << LOGN;
  __shared__ cuFloatComplex data[N];
  __shared__ cuFloatComplex tw[N / 2];
  const int t = threadIdx.x;                       // N/2 threads
  const cuFloatComplex *src = in + (size_t)blockIdx.x * N;
  float s, c;
  sincospif(dir * 2.f * t / N, &s, &c);
  tw[t] = make_cuFloatComplex(c, s);
  data[__brev(t) >> (32 - LOGN)] = src[t];
  data[__brev(t + N / 2) >> (32 - LOGN)] = src[t + N / 2];
  __syncthreads();
  for (int st = 0; st < LOGN; ++st) {
    int half = 1 << st;
    int pos = t & (half - 1);
    int i = ((t >> st) << (st + 1)) + pos, j = i + half;
    cuFloatComplex w = tw[pos << (LOGN - 1 - st)];
    cuFloatComplex a = data[i], b = cuCmulf(data[j], w);
    data[i] = cuCaddf(a, b);
    data[j] = cuCsubf(a, b);
    __syncthreads();
  }
  out[(size_t)blockIdx.x * N + t] = data[t];
  out[(size_t)blockIdx.x * N + t + N / 2] = data[t + N / 2];
}

//--------------------------------------------------------------------------
// FIR on 16-bit PCM, Q15 coefficients, decimation by D
//--------------------------------------------------------------------------
#define FIR_TPB 256
__global__ void firDecimateQ15(const short *x, short *y, const short *taps, int ntaps, int D, int nout)
{
    extern __shared__ short sh[];
    short *h = sh;
    short *buf = sh + ntaps;
    const int span = FIR_TPB * D + ntaps - 1;
    const long base = (long)blockIdx.x * FIR_TPB * D - (ntaps - 1);
    for (int i = threadIdx.x; i < ntaps; i += FIR_TPB)
        h[i] = taps[i] * 100 - 600;
    for (int i = threadIdx.x; i < span; i += FIR_TPB) {
        long g = base + i;
        buf[i] = (g >= 0 && g < (long)nout * D) ? x[g] : 0;
    }
    __syncthreads();
    const int o = blockIdx.x * FIR_TPB + threadIdx.x;
    if (o < nout) {
        int acc = 1 << 14;
        const short *p = buf + threadIdx.x * D;
        for (int k = 0; k < ntaps; k++)
            acc += (int)h[ntaps - 1 - k] * p[k];
        acc >>= 15;
        y[o] = acc > 32767 ? 32767 : (acc < -32768 ? -32768 : acc);
    }
}

//--------------------------------------------------------------------------
// Viterbi decoder, K = 7 (171,133), 64 threads = 64 states
//--------------------------------------------------------------------------
constexpr int VT_MAX = 512;
__device__ __forceinline__ int parity(unsigned v) { return __popc(v) & 1; }
__global__ void viterbiK7(const signed char *llr, unsigned *bits, int *metricOut, int T) {
  __shared__ int pm[2][64];
  __shared__ unsigned dec[VT_MAX][2];
  __shared__ unsigned packed[VT_MAX / 32];
  const int s = threadIdx.x;
  const signed char *soft = llr + (size_t)blockIdx.x * T * 2;
  const int in = s >> 5, p0 = (s << 1) & 63, p1 = p0 | 1;
  const unsigned r0 = (in << 6) | p0, r1 = (in << 6) | p1;
  const int a0 = 1 - 2 * parity(r0 & 0171), b0 = 1 - 2 * parity(r0 & 0133);
  const int a1 = 1 - 2 * parity(r1 & 0171), b1 = 1 - 2 * parity(r1 & 0133);
  pm[0][s] = s == 0 ? 0 : -100000;
  if (s < VT_MAX / 32) packed[s] = 0;
  __syncthreads();
  for (int t = 0; t < T; t++) {
    int x = soft[2 * t], y = soft[2 * t + 1];
    int m0 = pm[t & 1][p0] + a0 * x + b0 * y;
    int m1 = pm[t & 1][p1] + a1 * x + b1 * y;
    unsigned bal = __ballot_sync(0xffffffffu, m1 > m0);
    if ((s & 31) == 0) dec[t][s >> 5] = bal;
    pm[(t & 1) ^ 1][s] = max(m0, m1);
    __syncthreads();
  }
  if (s == 0) {
    int best = 0;
    for (int k = 1; k < 64; k++)
      if (pm[T & 1][k] > pm[T & 1][best]) best = k;
    metricOut[blockIdx.x] = pm[T & 1][best];
    for (int t = T - 1; t >= 0; t--) {
      if (best >> 5) packed[t >> 5] |= 1u << (t & 31);
      int d = (dec[t][best >> 5] >> (best & 31)) & 1;
      best = ((best << 1) & 63) | d;
    }
  }
  __syncthreads();
  if (s < (T + 31) / 32) bits[blockIdx.x * ((T + 31) / 32) + s] = packed[s];
}

//--------------------------------------------------------------------------
// LDPC check nodes, normalised min-sum, degree differs between checks
//--------------------------------------------------------------------------
#define MAX_DEGREE 24
__global__ void ldpcCheckMinSum(const int *__restrict__ rowStart, const int *__restrict__ col,
                                const float *__restrict__ lv, float *__restrict__ msg, int checks, int nvar)
{
	int frame = blockIdx.y;
	int c = blockIdx.x * blockDim.x + threadIdx.x;
	if (c >= checks) return;
	const int e0 = rowStart[c], deg = rowStart[c+1] - e0;
	float q[MAX_DEGREE];
	float min1 = 1e30f, min2 = 1e30f;
	int at = -1;
	unsigned sgn = 0;
	for (int k = 0; k < deg; k++) {
		q[k] = lv[(size_t)frame*nvar + col[e0+k]] - 6.f - msg[(size_t)frame*rowStart[checks] + e0 + k];
		float a = fabsf(q[k]);
		if (a < min1) { min2 = min1; min1 = a; at = k; }
		else if (a < min2) min2 = a;
		sgn ^= q[k] < 0.f;
	}
	for (int k = 0; k < deg; k++) {
		float m = 0.75f * (k == at ? min2 : min1);
		if (sgn ^ (q[k] < 0.f)) m = -m;
		msg[(size_t)frame*rowStart[checks] + e0 + k] = m;
	}
}

//--------------------------------------------------------------------------
// 2-D cell averaging CFAR on a range-Doppler map
//--------------------------------------------------------------------------
#define GUARD 2
#define TRAIN 4
#define HALO (GUARD + TRAIN)
template <int BX, int BY>
__global__ void cfar2d(const float2 *rd, unsigned char *det, float *noise, int nr, int nd, float alpha) {
  __shared__ float pw[BY + 2 * HALO][BX + 2 * HALO];
  __shared__ float colsum[BY][BX + 2 * HALO];
  int r0 = blockIdx.x * BX - HALO, d0 = blockIdx.y * BY - HALO;
  for (int y = threadIdx.y; y < BY + 2 * HALO; y += BY)
    for (int x = threadIdx.x; x < BX + 2 * HALO; x += BX) {
      int r = min(max(r0 + x, 0), nr - 1);
      int d = (d0 + y + nd) % nd;          // doppler wraps
      float2 v = rd[(size_t)d * nr + r];
      pw[y][x] = v.x * v.x + v.y * v.y;
    }
  __syncthreads();
  for (int x = threadIdx.x; x < BX + 2 * HALO; x += BX) {
    float s = 0.f;
    for (int k = 0; k <= 2 * HALO; k++) s += pw[threadIdx.y + k][x];
    colsum[threadIdx.y][x] = s;
  }
  __syncthreads();
  float all = 0.f, inner = 0.f;
  for (int k = 0; k <= 2 * HALO; k++) all += colsum[threadIdx.y][threadIdx.x + k];
  for (int i = -GUARD; i <= GUARD; i++)
    for (int j = -GUARD; j <= GUARD; j++) inner += pw[threadIdx.y + HALO + i][threadIdx.x + HALO + j];
  const int cells = (2 * HALO + 1) * (2 * HALO + 1) - (2 * GUARD + 1) * (2 * GUARD + 1);
  float nz = (all - inner) / cells;
  int r = blockIdx.x * BX + threadIdx.x, d = blockIdx.y * BY + threadIdx.y;
  if (r < nr && d < nd) {
    det[(size_t)d * nr + r] = pw[threadIdx.y + HALO][threadIdx.x + HALO] > alpha * nz;
    noise[(size_t)d * nr + r] = nz;
  }
}

//--------------------------------------------------------------------------
// polyphase channeliser: 32 channels, 8 taps per branch, DFT in shared memory
//--------------------------------------------------------------------------
const int CH = 32, PT = 8, ROWS = 8;
__global__ void polyphase32(const float2 *iq, const float *proto, float2 *chan, int frames) {
  __shared__ float2 x[(ROWS + PT - 1) * CH];
  __shared__ float h[PT * CH];
  __shared__ float2 v[ROWS][CH + 1];
  __shared__ float2 w[CH];
  const int c = threadIdx.x, f = threadIdx.y, lid = f * CH + c;
  const int f0 = blockIdx.x * ROWS;
  for (int i = lid; i < (ROWS + PT - 1) * CH; i += CH * ROWS) {
    int g = f0 * CH + i;
    x[i] = g < (frames + PT - 1) * CH ? iq[g] : make_float2(0.f, 0.f);
  }
  h[lid] = proto[lid] * 0.08f - 0.5f;
  if (f == 0) { float s, co; sincospif(-2.f * c / CH, &s, &co); w[c] = make_float2(co, s); }
  __syncthreads();
  float2 a = {0.f, 0.f};
#pragma unroll
  for (int k = 0; k < PT; k++) {
    float2 z = x[(f + k) * CH + c];
    a.x += z.x * h[k * CH + c];
    a.y += z.y * h[k * CH + c];
  }
  v[f][c] = a;
  __syncthreads();
  float2 o = {0.f, 0.f};
  for (int n = 0; n < CH; n++) {
    float2 z = v[f][n], t = w[(n * c) & (CH - 1)];
    o.x += z.x * t.x - z.y * t.y;
    o.y += z.x * t.y + z.y * t.x;
  }
  if (f0 + f < frames) chan[(size_t)c * frames + f0 + f] = o;
}

//--------------------------------------------------------------------------
// MFCC front end of a speech recogniser: window, power, mel bank, log, DCT
//--------------------------------------------------------------------------
#define WLEN 200
#define NBIN (WLEN / 2 + 1)
#define NMEL 24
#define NCEP 13
__global__ void mfccFrames(const short *audio, float *cep, int hop, int nframes) {
  __shared__ float win[WLEN], cs[WLEN], power[NBIN + 3];
  __shared__ float mel[NMEL];
  __shared__ int edge[NMEL + 2];
  const int t = threadIdx.x;
  for (int frame = blockIdx.x; frame < nframes; frame += gridDim.x) {
    for (int i = t; i < WLEN; i += blockDim.x) {
      float c = cospif(2.f * i / WLEN);
      cs[i] = c;
      win[i] = audio[(size_t)frame * hop + i] * (0.54f - 0.46f * c);
    }
    if (t < NMEL + 2) edge[t] = (int)(NBIN * (powf(10.f, t / (float)(NMEL + 1)) - 1.f) / 9.1f);
    __syncthreads();
    if (t < NBIN) {
      float re = 0.f, im = 0.f;
      int ph = 0, qh = 3 * WLEN / 4;              // sin = cos shifted
      for (int n = 0; n < WLEN; n++) {
        re += win[n] * cs[ph];
        im += win[n] * cs[qh];
        ph += t; if (ph >= WLEN) ph -= WLEN;
        qh += t; if (qh >= WLEN) qh -= WLEN;
      }
      power[t] = re * re + im * im;
    }
    __syncthreads();
    if (t < NMEL) {
      float e = 1e-3f;
      int l = edge[t], m = edge[t + 1], r = edge[t + 2];
      for (int k = l; k < m; k++) e += power[k] * (k - l) / (float)(m - l);
      for (int k = m; k < r; k++) e += power[k] * (r - k) / (float)(r - m);
      mel[t] = logf(e);
    }
    __syncthreads();
    if (t < NCEP) {
      float s = 0.f;
      for (int m = 0; m < NMEL; m++) s += mel[m] * cospif(t * (m + 0.5f) / NMEL);
      cep[(size_t)frame * NCEP + t] = s;
    }
    __syncthreads();
  }
}

//--------------------------------------------------------------------------
// Reed-Solomon (255,223) systematic encoder, GF(256) logs in shared memory
//--------------------------------------------------------------------------
#define NROOTS 32
typedef unsigned char gf;
__global__ void rsEncode255(const gf *msg, gf *par, const gf *expTab, const gf *logTab, const gf *gen, int ncw, int k)
{
    __shared__ gf ex[512], lg[256], g[NROOTS];
    for (int i = threadIdx.x; i < 512; i += blockDim.x) ex[i] = expTab[i % 255];
    for (int i = threadIdx.x; i < 256; i += blockDim.x) lg[i] = logTab[i];
    if (threadIdx.x < NROOTS) g[threadIdx.x] = gen[threadIdx.x];
    __syncthreads();
    int cw = blockIdx.x * blockDim.x + threadIdx.x;
    if (cw >= ncw) return;
    gf reg[NROOTS];
    for (int i = 0; i < NROOTS; i++) reg[i] = 0;
    int head = 0;                                   // circular shift register
    for (int n = 0; n < k; n++) {
        gf fb = msg[(size_t)n * ncw + cw] ^ reg[head];
        reg[head] = 0;
        head = (head + 1) & (NROOTS - 1);
        if (fb)
            for (int i = 0; i < NROOTS; i++) reg[(head + i) & (NROOTS - 1)] ^= ex[lg[fb] + g[i]];
    }
    for (int i = 0; i < NROOTS; i++) par[(size_t)i * ncw + cw] = reg[(head + i) & (NROOTS - 1)];
}

template <class T> static T *put(const std::vector<T> &v) {
  T *d;
  cudaMalloc(&d, v.size() * sizeof(T));
  cudaMemcpy(d, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice);
  return d;
}

int main() {
  unsigned seed = 7;
  auto rnd = [&]() { seed = seed * 1664525u + 1013904223u; return seed >> 16; };

  int nfft = 16384;
  size_t nc = (size_t)nfft * 512;
  cuFloatComplex *z = (cuFloatComplex *)mk<float>(2 * nc), *Z = (cuFloatComplex *)mk<float>(2 * nc);
  fftBlock<9><<<nfft, 256>>>(z, Z, -1.f);
  show("fftBlock", Z, nc * sizeof(cuFloatComplex));

  int D = 4, nt = 63, nout = 4000001;
  std::vector<short> pcm((size_t)nout * D);
  for (auto &v : pcm) v = (short)rnd();
  short *x = put(pcm), *y = mk<short>(nout), *taps = mk<short>(nt);
  firDecimateQ15<<<(nout + FIR_TPB - 1) / FIR_TPB, FIR_TPB, (nt + FIR_TPB * D + nt) * sizeof(short)>>>(x, y, taps, nt, D, nout);
  show("firDecimateQ15", y, nout * sizeof(short));

  int frames = 4000, T = 506, words = (T + 31) / 32;
  std::vector<signed char> llr((size_t)frames * T * 2);
  for (auto &v : llr) v = (signed char)(rnd() & 255);
  signed char *dl = put(llr);
  unsigned *bits = mk<unsigned>(frames * words);
  int *met = mk<int>(frames);
  viterbiK7<<<frames, 64>>>(dl, bits, met, T);
  show("viterbiK7", bits, frames * words * sizeof(unsigned));
  show("viterbiK7", met, frames * sizeof(int));

  int checks = 5000, nvar = 12000, lframes = 60;
  std::vector<int> rs(1, 0), col;
  for (int c = 0; c < checks; c++) {
    int deg = 4 + rnd() % 17;
    for (int k = 0; k < deg; k++) col.push_back((int)(((rnd() << 15) ^ rnd()) % nvar));
    rs.push_back((int)col.size());
  }
  int *drs = put(rs), *dcol = put(col);
  float *lv = mk<float>((size_t)lframes * nvar), *msg = mk<float>((size_t)lframes * col.size());
  ldpcCheckMinSum<<<dim3((checks + 127) / 128, lframes), 128>>>(drs, dcol, lv, msg, checks, nvar);
  show("ldpcCheckMinSum", msg, (size_t)lframes * col.size() * sizeof(float));

  int nr = 3000, nd = 1025;
  unsigned char *det = mk<unsigned char>((size_t)nr * nd);
  float *nz = mk<float>((size_t)nr * nd);
  cfar2d<32, 16><<<dim3((nr + 31) / 32, (nd + 15) / 16), dim3(32, 16)>>>((float2 *)z, det, nz, nr, nd, 2.1f);
  show("cfar2d", det, (size_t)nr * nd);
  show("cfar2d", nz, (size_t)nr * nd * sizeof(float));

  int pf = 200003;
  float *proto = mk<float>(CH * PT);
  float2 *ch = (float2 *)mk<float>((size_t)2 * CH * pf);
  polyphase32<<<(pf + ROWS - 1) / ROWS, dim3(CH, ROWS)>>>((float2 *)z, proto, ch, pf);
  show("polyphase32", ch, (size_t)CH * pf * sizeof(float2));

  int nfr = 60000, hop = 80;
  float *cep = mk<float>((size_t)nfr * NCEP);
  mfccFrames<<<2112, 128>>>(x, cep, hop, nfr);
  show("mfccFrames", cep, (size_t)nfr * NCEP * sizeof(float));

  std::vector<gf> et(256), lt(256), ge(NROOTS);
  int a = 1;
  for (int i = 0; i < 255; i++) { et[i] = (gf)a; lt[a] = (gf)i; a <<= 1; if (a & 256) a ^= 0x11d; }
  for (int i = 0; i < NROOTS; i++) ge[i] = (gf)(rnd() % 255);
  int ncw = 50000, k = 223;
  std::vector<gf> m((size_t)ncw * k);
  for (auto &v : m) v = (gf)rnd();
  gf *dm = put(m), *de = put(et), *dg = put(lt), *dge = put(ge), *par = mk<gf>((size_t)ncw * NROOTS);
  rsEncode255<<<(ncw + 127) / 128, 128>>>(dm, par, de, dg, dge, ncw, k);
  show("rsEncode255", par, (size_t)ncw * NROOTS);
  return 0;
}
