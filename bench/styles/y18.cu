// little renderer: ray casting, escape-time fractals, shading helpers
#include <cstdio>
#include <cstdlib>
#include <cmath>
#include <cfloat>
#include <vector>
#include <algorithm>
#include <cuda_runtime.h>

struct Box { float3 lo, hi; };
struct Sphere { float3 c; float r; };

static void gpu(cudaError_t code, const char *where) {
  if (code != cudaSuccess) { std::fprintf(stderr, "%s failed: %s\n", where, cudaGetErrorString(code)); std::exit(99); }
}

__device__ bool hitBox(const Box &b, float3 o, float3 inv, float tmax) {
  float x0 = (b.lo.x - o.x) * inv.x, x1 = (b.hi.x - o.x) * inv.x;
  float y0 = (b.lo.y - o.y) * inv.y, y1 = (b.hi.y - o.y) * inv.y;
  float z0 = (b.lo.z - o.z) * inv.z, z1 = (b.hi.z - o.z) * inv.z;
  float tn = fmaxf(fmaxf(fminf(x0, x1), fminf(y0, y1)), fminf(z0, z1));
  float tf = fminf(fminf(fmaxf(x0, x1), fmaxf(y0, y1)), fmaxf(z0, z1));
  return tf >= fmaxf(tn, 0.f) && tn < tmax;
}

// complete binary tree in heap order, per-thread traversal stack
#define STACK_SIZE 32
__global__ void bvh_cast_primary(const Box *nodes, const Sphere *leafs, int inner, float *depth, int w, int h) {
  int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
  if (px >= w || py >= h) return;
  float3 o = make_float3(0.5f, 0.5f, -1.5f);
  float dx = (px + 0.5f) / w - 0.5f, dy = (py + 0.5f) / h - 0.5f, dz = 1.f;
  float il = rsqrtf(dx * dx + dy * dy + dz * dz);
  float3 d = make_float3(dx * il, dy * il, dz * il);
  float3 inv = make_float3(1.f / d.x, 1.f / d.y, 1.f / d.z);
  float best = FLT_MAX;
  int stack[STACK_SIZE];
  int sp = 0;
  stack[sp++] = 0;
  while (sp > 0) {
    int node = stack[--sp];
    if (!hitBox(nodes[node], o, inv, best)) continue;
    if (node >= inner) {
      Sphere s = leafs[node - inner];
      float ox = o.x - s.c.x, oy = o.y - s.c.y, oz = o.z - s.c.z;
      float b = ox * d.x + oy * d.y + oz * d.z;
      float c = ox * ox + oy * oy + oz * oz - s.r * s.r;
      float disc = b * b - c;
      if (disc > 0.f) {
        float t = -b - sqrtf(disc);
        if (t > 0.f && t < best) best = t;
      }
    } else {
      stack[sp++] = 2 * node + 2;
      stack[sp++] = 2 * node + 1;
    }
  }
  depth[py * w + px] = best;
}

__global__ void mandel_escape(unsigned char *img, int w, int h, double cx, double cy, double scale, int maxIter) {
  int ix = blockIdx.x * blockDim.x + threadIdx.x;
  int iy = blockIdx.y * blockDim.y + threadIdx.y;
  if (ix < w && iy < h) {
    double x0 = cx + (ix - w / 2) * scale, y0 = cy + (iy - h / 2) * scale, x = 0, y = 0;
    int it = 0;
    while (x * x + y * y < 4.0 && it < maxIter) {
      double t = x * x - y * y + x0;
      y = 2 * x * y + y0;
      x = t;
      it++;
    }
    img[iy * w + ix] = it == maxIter ? 0 : 55 + it % 200;
  }
}

// surface normals of a height field; the block's patch is widened by one sample
#define NBX 32
#define NBY 4
__global__ void height_normals(const float *height, float4 *normal, int w, int h, float zScale) {
  __shared__ float patch[NBY + 2][NBX + 2];
  const int tid = threadIdx.y * NBX + threadIdx.x;
  for (int i = tid; i < (NBX + 2) * (NBY + 2); i += NBX * NBY) {
    const int sy = i / (NBX + 2), sx = i - sy * (NBX + 2);
    const int gx = min(max((int)blockIdx.x * NBX + sx - 1, 0), w - 1);
    const int gy = min(max((int)blockIdx.y * NBY + sy - 1, 0), h - 1);
    patch[sy][sx] = height[gy * w + gx];
  }
  __syncthreads();
  const int x = blockIdx.x * NBX + threadIdx.x, y = blockIdx.y * NBY + threadIdx.y;
  if (x < w && y < h) {
    float nx = (patch[threadIdx.y + 1][threadIdx.x] - patch[threadIdx.y + 1][threadIdx.x + 2]) * zScale;
    float ny = (patch[threadIdx.y][threadIdx.x + 1] - patch[threadIdx.y + 2][threadIdx.x + 1]) * zScale;
    float r = rsqrtf(nx * nx + ny * ny + 1.f);
    normal[y * w + x] = make_float4(nx * r, ny * r, r, 0.f);
  }
}

// size of the connected region of an 8x8 cell mask around its seed, breadth first with a private ring queue
__global__ void region_size_queue(const unsigned long long *mask, const unsigned char *seed, int *size, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned long long open = mask[i];
  unsigned char q[64];
  int head = 0, tail = 0, count = 0;
  int s = seed[i] & 63;
  if (open >> s & 1) {
    q[tail++] = s;
    open &= ~(1ull << s);
  }
  while (head != tail) {
    int c = q[head++ & 63];
    count++;
    int cx = c & 7, cy = c >> 3;
    for (int k = 0; k < 4; k++) {
      int nx = cx + (k == 0) - (k == 1), ny = cy + (k == 2) - (k == 3);
      if (nx < 0 || nx > 7 || ny < 0 || ny > 7) continue;
      int t = ny * 8 + nx;
      if (open >> t & 1) {
        open &= ~(1ull << t);
        q[tail++ & 63] = t;
      }
    }
  }
  size[i] = count;
}

int main(int argc, char **argv) {
  int w = argc > 1 ? std::atoi(argv[1]) : 1920, h = argc > 2 ? std::atoi(argv[2]) : 1080;
  const int levels = 10, leaves = 1 << levels, inner = leaves - 1;
  std::vector<Sphere> sp(leaves);
  for (int i = 0; i < leaves; i++) {
    int mx = 0, my = 0;
    for (int b = 0; b < 5; b++) { mx |= (i >> (2 * b) & 1) << b; my |= (i >> (2 * b + 1) & 1) << b; }
    sp[i].c = make_float3((mx + 0.5f) / 32.f, (my + 0.5f) / 32.f, (float)(i * 37 % 101) / 101.f);
    sp[i].r = 0.012f + 0.0001f * (i % 50);
  }
  std::vector<Box> bx(leaves + inner);
  for (int i = 0; i < leaves; i++) {
    Sphere s = sp[i];
    bx[inner + i].lo = make_float3(s.c.x - s.r, s.c.y - s.r, s.c.z - s.r);
    bx[inner + i].hi = make_float3(s.c.x + s.r, s.c.y + s.r, s.c.z + s.r);
  }
  for (int i = inner - 1; i >= 0; i--) {
    Box a = bx[2 * i + 1], b = bx[2 * i + 2];
    bx[i].lo = make_float3(std::min(a.lo.x, b.lo.x), std::min(a.lo.y, b.lo.y), std::min(a.lo.z, b.lo.z));
    bx[i].hi = make_float3(std::max(a.hi.x, b.hi.x), std::max(a.hi.y, b.hi.y), std::max(a.hi.z, b.hi.z));
  }
  Box *dn;
  Sphere *ds;
  float *depth;
  gpu(cudaMalloc(&dn, bx.size() * sizeof(Box)), "malloc");
  gpu(cudaMalloc(&ds, sp.size() * sizeof(Sphere)), "malloc");
  gpu(cudaMalloc(&depth, (size_t)w * h * sizeof(float)), "malloc");
  gpu(cudaMemcpy(dn, bx.data(), bx.size() * sizeof(Box), cudaMemcpyHostToDevice), "copy");
  gpu(cudaMemcpy(ds, sp.data(), sp.size() * sizeof(Sphere), cudaMemcpyHostToDevice), "copy");
  dim3 b8(8, 8);
  bvh_cast_primary<<<dim3((w + 7) / 8, (h + 7) / 8), b8>>>(dn, ds, inner, depth, w, h);
  gpu(cudaGetLastError(), "bvh");

  unsigned char *img;
  gpu(cudaMalloc(&img, (size_t)w * h), "malloc");
  mandel_escape<<<dim3((w + 31) / 32, (h + 7) / 8), dim3(32, 8)>>>(img, w, h, -0.6, 0.0, 2.4 / h, 200);
  gpu(cudaGetLastError(), "mandel");

  int hw = 4001, hh = 3000;
  std::vector<float> f((size_t)hw * hh);
  for (size_t i = 0; i < f.size(); i++) f[i] = (float)((i * 97 + (i / hw) * 31) % 509) * 0.01f;
  float *dh;
  float4 *nrm;
  gpu(cudaMalloc(&dh, f.size() * sizeof(float)), "malloc");
  gpu(cudaMalloc(&nrm, f.size() * sizeof(float4)), "malloc");
  gpu(cudaMemcpy(dh, f.data(), f.size() * sizeof(float), cudaMemcpyHostToDevice), "copy");
  height_normals<<<dim3((hw + NBX - 1) / NBX, (hh + NBY - 1) / NBY), dim3(NBX, NBY)>>>(dh, nrm, hw, hh, 0.5f);
  gpu(cudaGetLastError(), "normals");

  int n = 500000;
  std::vector<unsigned long long> mk(n);
  std::vector<unsigned char> sd(n);
  for (int i = 0; i < n; i++) {
    unsigned long long z = (i + 1) * 0x9E3779B97F4A7C15ull;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    mk[i] = (z ^ (z >> 27)) | (z * 0x94D049BB133111EBull);
    sd[i] = (unsigned char)(z >> 50);
  }
  unsigned long long *dmk;
  unsigned char *dsd;
  int *dsz;
  gpu(cudaMalloc(&dmk, n * 8), "malloc");
  gpu(cudaMalloc(&dsd, n), "malloc");
  gpu(cudaMalloc(&dsz, n * 4), "malloc");
  gpu(cudaMemcpy(dmk, mk.data(), n * 8, cudaMemcpyHostToDevice), "copy");
  gpu(cudaMemcpy(dsd, sd.data(), n, cudaMemcpyHostToDevice), "copy");
  region_size_queue<<<(n + 127) / 128, 128>>>(dmk, dsd, dsz, n);
  gpu(cudaGetLastError(), "queue");
  gpu(cudaDeviceSynchronize(), "sync");
  cudaFree(dn); cudaFree(ds); cudaFree(depth); cudaFree(img); cudaFree(dh); cudaFree(nrm);
  cudaFree(dmk); cudaFree(dsd); cudaFree(dsz);
  return 0;
}
