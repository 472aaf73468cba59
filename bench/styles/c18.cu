// odds and ends
#include "shown.h"

// ---- shallow water, Lax-Friedrichs, three fields ------------------------
#define NXB 32
#define NYB 8
struct Cell { float h, hu, hv; };
__device__ inline Cell ldc(const float *h, const float *hu, const float *hv, int k) { Cell c; c.h = h[k] + 2.f; c.hu = hu[k]; c.hv = hv[k]; return c; }
__global__ void swe_lf(const float *h, const float *hu, const float *hv, float *h1, float *hu1, float *hv1, int nx, int ny, float lam)
{
  __shared__ Cell c[NYB + 2][NXB + 2];
  int i = blockIdx.x * NXB + threadIdx.x, j = blockIdx.y * NYB + threadIdx.y;
  int a = threadIdx.x + 1, b = threadIdx.y + 1;
  int ic = i < nx ? i : nx - 1, jc = j < ny ? j : ny - 1;
  c[b][a] = ldc(h, hu, hv, jc * nx + ic);
  if (threadIdx.x == 0) c[b][0] = ldc(h, hu, hv, jc * nx + max(ic - 1, 0));
  if (threadIdx.x == NXB - 1) c[b][NXB + 1] = ldc(h, hu, hv, jc * nx + min(ic + 1, nx - 1));
  if (threadIdx.y == 0) c[0][a] = ldc(h, hu, hv, max(jc - 1, 0) * nx + ic);
  if (threadIdx.y == NYB - 1) c[NYB + 1][a] = ldc(h, hu, hv, min(jc + 1, ny - 1) * nx + ic);
  __syncthreads();
  if (i >= nx || j >= ny) return;
  Cell w = c[b][a - 1], e = c[b][a + 1], s = c[b - 1][a], n = c[b + 1][a];
  float uw = w.hu / w.h, ue = e.hu / e.h, vs = s.hv / s.h, vn = n.hv / n.h;
  int k = j * nx + i;
  h1[k] = 0.25f * (w.h + e.h + s.h + n.h) - lam * (e.hu - w.hu + n.hv - s.hv);
  hu1[k] = 0.25f * (w.hu + e.hu + s.hu + n.hu) - lam * (e.hu * ue + 4.9f * e.h * e.h - w.hu * uw - 4.9f * w.h * w.h + n.hu * vn - s.hu * vs);
  hv1[k] = 0.25f * (w.hv + e.hv + s.hv + n.hv) - lam * (e.hv * ue - w.hv * uw + n.hv * vn + 4.9f * n.h * n.h - s.hv * vs - 4.9f * s.h * s.h);
}

// ---- game of life on a torus, 3 generations per launch ------------------
#define GEN 3
#define LB 32
__global__ void life3(const unsigned char *w0, unsigned char *w1, int N)
{
  __shared__ unsigned char A[LB][LB + 4], B[LB][LB + 4];
  const int core = LB - 2 * GEN;
  int tx = threadIdx.x, ty = threadIdx.y;
  int gx = (int)blockIdx.x * core + tx - GEN, gy = (int)blockIdx.y * core + ty - GEN;
  int wx = (gx + N) % N, wy = (gy + N) % N;
  A[ty][tx] = w0[wy * N + wx] > 7;
  __syncthreads();
  unsigned char (*src)[LB + 4] = A, (*dst)[LB + 4] = B;
  for (int g = 0; g < GEN; g++) {
    unsigned char alive = 0;
    if (tx > 0 && ty > 0 && tx < LB - 1 && ty < LB - 1) {
      int s = src[ty - 1][tx - 1] + src[ty - 1][tx] + src[ty - 1][tx + 1] + src[ty][tx - 1] + src[ty][tx + 1] + src[ty + 1][tx - 1] + src[ty + 1][tx] + src[ty + 1][tx + 1];
      alive = s == 3 || (s == 2 && src[ty][tx]);
    }
    dst[ty][tx] = alive;
    __syncthreads();
    unsigned char (*q)[LB + 4] = src; src = dst; dst = q;
  }
  if (tx >= GEN && tx < LB - GEN && ty >= GEN && ty < LB - GEN && gx < N && gy < N) w1[gy * N + gx] = src[ty][tx];
}

// ---- stack machine: evaluates a small RPN program per sample ------------
enum Op { PUSHX, PUSHC, ADD, SUB, MUL, DUP, SWAP, ABSV, OVER };
__constant__ int prog[32];
__constant__ float cst[32];
__global__ void rpn(const float *x, float *y, int n, int plen)
{
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
    float st[16];
    int sp = 0;
    float v = x[i];
    for (int pc = 0; pc < plen; pc++) {
      switch (prog[pc]) {
        case PUSHX: st[sp++] = v; break;
        case PUSHC: st[sp++] = cst[pc]; break;
        case ADD: sp--; st[sp - 1] += st[sp]; break;
        case SUB: sp--; st[sp - 1] -= st[sp]; break;
        case MUL: sp--; st[sp - 1] *= st[sp]; break;
        case DUP: st[sp] = st[sp - 1]; sp++; break;
        case SWAP: { float t = st[sp - 1]; st[sp - 1] = st[sp - 2]; st[sp - 2] = t; } break;
        case ABSV: st[sp - 1] = fabsf(st[sp - 1]); break;
        case OVER: st[sp] = st[sp - 2]; sp++; break;
      }
    }
    y[i] = st[sp - 1];
  }
}

// ---- RC4 keystream per thread, S-box private ----------------------------
__global__ void rc4_stream(const unsigned int *keys, unsigned int *out, int n)
{
  int id = threadIdx.x + blockIdx.x * blockDim.x;
  if (id >= n) return;
  unsigned char S[128];
  unsigned int key = keys[id] * 2654435761u + id;
  for (int i = 0; i < 128; ++i) S[i] = i;
  int j = 0;
  for (int i = 0; i < 128; ++i) {
    j = (j + S[i] + (key >> (8 * (i & 3)))) & 127;
    unsigned char t = S[i]; S[i] = S[j]; S[j] = t;
  }
  int a = 0, b = 0;
  unsigned int word = 0;
  for (int k = 0; k < 32; ++k) {
    a = (a + 1) & 127;
    b = (b + S[a]) & 127;
    unsigned char t = S[a]; S[a] = S[b]; S[b] = t;
    word = word * 31u + S[(S[a] + S[b]) & 127];
  }
  out[id] = word;
}

// ---- rigid body step: quaternion + inertia, lots of scalars --------------
__global__ void rigidStep(const float *__restrict__ st, float *__restrict__ o, int n, float dt, int sub)
{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float px = st[i], py = st[n + i], pz = st[2 * n + i];
  float vx = st[3 * n + i], vy = st[4 * n + i], vz = st[5 * n + i];
  float qw = 1.f + st[6 * n + i], qx = st[7 * n + i], qy = st[8 * n + i], qz = st[9 * n + i];
  float wx = st[10 * n + i], wy = st[11 * n + i], wz = st[12 * n + i];
  const float Ix = 1.f, Iy = 1.5f, Iz = 2.2f;
  for (int s = 0; s < sub; ++s) {
    float inv = rsqrtf(qw * qw + qx * qx + qy * qy + qz * qz);
    qw *= inv; qx *= inv; qy *= inv; qz *= inv;
    // body z axis in the world frame as thrust direction
    float tx = 2 * (qx * qz + qw * qy), ty = 2 * (qy * qz - qw * qx), tz = 1 - 2 * (qx * qx + qy * qy);
    vx += dt * (0.5f * tx - 0.01f * vx);
    vy += dt * (0.5f * ty - 0.01f * vy);
    vz += dt * (0.5f * tz - 0.01f * vz - 0.3f);
    px += dt * vx; py += dt * vy; pz += dt * vz;
    float ax = (Iy - Iz) / Ix * wy * wz, ay = (Iz - Ix) / Iy * wz * wx, az = (Ix - Iy) / Iz * wx * wy;
    wx += dt * ax; wy += dt * ay; wz += dt * az;
    float dw = -0.5f * (qx * wx + qy * wy + qz * wz);
    float dx = 0.5f * (qw * wx + qy * wz - qz * wy);
    float dy = 0.5f * (qw * wy - qx * wz + qz * wx);
    float dz = 0.5f * (qw * wz + qx * wy - qy * wx);
    qw += dt * dw; qx += dt * dx; qy += dt * dy; qz += dt * dz;
  }
  o[i] = px; o[n + i] = py; o[2 * n + i] = pz;
  o[3 * n + i] = vx; o[4 * n + i] = vy; o[5 * n + i] = vz;
  o[6 * n + i] = qw; o[7 * n + i] = qx; o[8 * n + i] = qy; o[9 * n + i] = qz;
  o[10 * n + i] = wx; o[11 * n + i] = wy; o[12 * n + i] = wz;
}

// ---- bicubic upsampling x2, 4x4 neighbourhood in registers ---------------
__device__ float cub(float a, float b, float c, float d, float t)
{
  return b + 0.5f * t * (c - a + t * (2.f * a - 5.f * b + 4.f * c - d + t * (3.f * (b - c) + d - a)));
}
__global__ void bicubic2x(const float *src, float *dst, int w, int h)
{
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= 2 * w || y >= 2 * h) return;
  float fx = (x + 0.5f) * 0.5f - 0.5f, fy = (y + 0.5f) * 0.5f - 0.5f;
  int ix = (int)floorf(fx), iy = (int)floorf(fy);
  float tx = fx - ix, ty = fy - iy, r[4];
  int x0 = max(ix - 1, 0), x1 = max(ix, 0), x2 = min(ix + 1, w - 1), x3 = min(ix + 2, w - 1);
#pragma unroll
  for (int k = 0; k < 4; k++) {
    const float *p = src + (size_t)min(max(iy - 1 + k, 0), h - 1) * w;
    r[k] = cub(p[x0], p[x1], p[x2], p[x3], tx);
  }
  dst[(size_t)y * 2 * w + x] = cub(r[0], r[1], r[2], r[3], ty);
}

int main()
{
  const int nx = 4000, ny = 1500;
  float *a = mk<float>(1 << 24), *b;
  cudaMalloc(&b, sizeof(float) * 3 * nx * ny);
  swe_lf<<<dim3((nx + NXB - 1) / NXB, (ny + NYB - 1) / NYB), dim3(NXB, NYB)>>>(a, a + 5000000, a + 10000001, b, b + nx * ny, b + 2 * nx * ny, nx, ny, 0.01f);
  show("swe_lf", b, sizeof(float) * 3 * nx * ny);
  unsigned char *u = mk<unsigned char>(4000 * 4000);
  life3<<<dim3((4000 + 25) / 26, (4000 + 25) / 26), dim3(LB, LB)>>>(u, (unsigned char *)b, 4000);
  show("life3", b, 4000 * 4000);
  int hp[] = {PUSHX, DUP, MUL, PUSHC, SUB, PUSHX, OVER, MUL, ABSV, SWAP, PUSHC, MUL, ADD, PUSHX, ADD, DUP, MUL};
  float hc[32];
  for (int i = 0; i < 32; i++) hc[i] = 0.3f * i - 2.f;
  cudaMemcpyToSymbol(prog, hp, sizeof(hp));
  cudaMemcpyToSymbol(cst, hc, sizeof(hc));
  rpn<<<2048, 256>>>(a, b, 1 << 23, (int)(sizeof(hp) / sizeof(int)));
  show("rpn", b, sizeof(float) << 23);
  rc4_stream<<<(200000 + 63) / 64, 64>>>((unsigned int *)u, (unsigned int *)b, 200000);
  show("rc4_stream", b, sizeof(int) * 200000);
  rigidStep<<<(1000000 + 255) / 256, 256>>>(a, b, 1000000, 0.01f, 20);
  show("rigidStep", b, sizeof(float) * 13 * 1000000);
  bicubic2x<<<dim3((2 * 2000 + 31) / 32, (2 * 1100 + 7) / 8), dim3(32, 8)>>>(a, b, 2000, 1100);
  show("bicubic2x", b, sizeof(float) * 4000 * 2200);
  return 0;
}
