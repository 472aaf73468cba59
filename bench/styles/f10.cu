// three dimensional stencils and PDE steps
#include "shown.h"

// ---- FDTD3d sample: z march, queue of 2*RADIUS+1 values in registers, padded volume ----
#define RADIUS 4
#define k_blockDimX 32
#define k_blockDimMaxY 16
__constant__ float stencil[RADIUS + 1];

__global__ void FiniteDifferencesKernel(float *output, const float *input, const int dimx, const int dimy, const int dimz)
{
    bool validr = true;
    bool validw = true;
    const int gtidx = blockIdx.x * blockDim.x + threadIdx.x;
    const int gtidy = blockIdx.y * blockDim.y + threadIdx.y;
    const int ltidx = threadIdx.x;
    const int ltidy = threadIdx.y;
    const int workx = blockDim.x;
    const int worky = blockDim.y;
    __shared__ float tile[k_blockDimMaxY + 2 * RADIUS][k_blockDimX + 2 * RADIUS];

    const int stride_y = dimx + 2 * RADIUS;
    const int stride_z = stride_y * (dimy + 2 * RADIUS);

    int inputIndex = 0;
    int outputIndex = 0;

    // Advance inputIndex to start of inner volume
    inputIndex += RADIUS * stride_y + RADIUS;
    // Advance inputIndex to target element
    inputIndex += gtidy * stride_y + gtidx;

    float infront[RADIUS];
    float behind[RADIUS];
    float current;

    const int tx = ltidx + RADIUS;
    const int ty = ltidy + RADIUS;

    if ((gtidx >= dimx + RADIUS) || (gtidy >= dimy + RADIUS)) validr = false;
    if ((gtidx >= dimx) || (gtidy >= dimy)) validw = false;

    // Preload the "infront" and "behind" data
    for (int i = RADIUS - 2; i >= 0; i--) {
        behind[i] = 0.f;
        if (validr) behind[i] = input[inputIndex];
        inputIndex += stride_z;
    }
    behind[RADIUS - 1] = 0.f;
    current = 0.f;
    if (validr) current = input[inputIndex];
    outputIndex = inputIndex;
    inputIndex += stride_z;

    for (int i = 0; i < RADIUS; i++) {
        infront[i] = 0.f;
        if (validr) infront[i] = input[inputIndex];
        inputIndex += stride_z;
    }

    // Step through the xy-planes
#pragma unroll 9
    for (int iz = 0; iz < dimz; iz++) {
        // Advance the slice (move the thread-front)
        for (int i = RADIUS - 1; i > 0; i--)
            behind[i] = behind[i - 1];
        behind[0] = current;
        current = infront[0];
#pragma unroll 4
        for (int i = 0; i < RADIUS - 1; i++)
            infront[i] = infront[i + 1];
        if (validr) infront[RADIUS - 1] = input[inputIndex];

        inputIndex += stride_z;
        outputIndex += stride_z;
        __syncthreads();

        // Update the data slice in the local tile: halo above & below, left & right
        if (ltidy < RADIUS) {
            tile[ltidy][tx] = validr ? input[outputIndex - RADIUS * stride_y] : 0.f;
            bool ok = validr && gtidy + worky < dimy + RADIUS;
            tile[ltidy + worky + RADIUS][tx] = ok ? input[outputIndex + worky * stride_y] : 0.f;
        }
        if (ltidx < RADIUS) {
            tile[ty][ltidx] = validr ? input[outputIndex - RADIUS] : 0.f;
            bool ok = validr && gtidx + workx < dimx + RADIUS;
            tile[ty][ltidx + workx + RADIUS] = ok ? input[outputIndex + workx] : 0.f;
        }
        tile[ty][tx] = current;
        __syncthreads();

        // Compute the output value
        float value = stencil[0] * current;
#pragma unroll 4
        for (int i = 1; i <= RADIUS; i++) {
            value += stencil[i] * (infront[i - 1] + behind[i - 1] + tile[ty - i][tx] + tile[ty + i][tx] + tile[ty][tx - i] + tile[ty][tx + i]);
        }
        if (validw) output[outputIndex] = value;
    }
}

// ---- heat, 7 points, three registers and one plane in shared memory, Dirichlet rim copied ----
template <typename T, int TX, int TY>
__global__ void heat7(const T* __restrict__ u, T* __restrict__ v, int nx, int ny, int nz, T c)
{
  __shared__ T plane[TY][TX];
  const int i = blockIdx.x * (TX - 2) + threadIdx.x;
  const int j = blockIdx.y * (TY - 2) + threadIdx.y;
  const bool in = i < nx && j < ny;
  const size_t slab = (size_t)nx * ny;
  const size_t at = (size_t)j * nx + i;
  const bool owner = in && (threadIdx.x > 0 || i == 0) && (threadIdx.y > 0 || j == 0)
                  && (threadIdx.x < TX - 1 || i == nx - 1) && (threadIdx.y < TY - 1 || j == ny - 1);
  const bool rim = i == 0 || j == 0 || i == nx - 1 || j == ny - 1;
  T bottom = T(0), center = in ? u[at] : T(0), top = in ? u[at + slab] : T(0);
  if (owner) v[at] = center;
  for (int k = 1; k < nz - 1; ++k) {
    bottom = center;
    center = top;
    top = in ? u[at + (k + 1) * slab] : T(0);
    plane[threadIdx.y][threadIdx.x] = center;
    __syncthreads();
    if (owner) {
      T r = center;
      if (!rim)
        r += c * (plane[threadIdx.y][threadIdx.x - 1] + plane[threadIdx.y][threadIdx.x + 1]
                + plane[threadIdx.y - 1][threadIdx.x] + plane[threadIdx.y + 1][threadIdx.x] + top + bottom - T(6) * center);
      v[at + k * slab] = r;
    }
    __syncthreads();
  }
  if (owner) v[at + (nz - 1) * slab] = top;
}

// ---- 27 points, cube of 8^3 with a halo, linear loader ----
#define IDX(x,y,z) (((z) * NY + (y)) * NX + (x))
__global__ void stencil27(const float *A, float *B, int NX, int NY, int NZ, float w0, float w1, float w2, float w3)
{
    __shared__ float c[10][10][10];
    int tid = threadIdx.x + 8 * (threadIdx.y + 8 * threadIdx.z);
    int ox = blockIdx.x * 8 - 1, oy = blockIdx.y * 8 - 1, oz = blockIdx.z * 8 - 1;
    for (int q = tid; q < 1000; q += 512) {
        int lx = q % 10, ly = (q / 10) % 10, lz = q / 100;
        int x = min(max(ox + lx, 0), NX - 1);
        int y = min(max(oy + ly, 0), NY - 1);
        int z = min(max(oz + lz, 0), NZ - 1);
        c[lz][ly][lx] = A[IDX(x, y, z)];
    }
    __syncthreads();
    float s[4] = {0, 0, 0, 0};
    for (int dz = -1; dz <= 1; dz++)
        for (int dy = -1; dy <= 1; dy++)
            for (int dx = -1; dx <= 1; dx++)
                s[abs(dx) + abs(dy) + abs(dz)] += c[threadIdx.z + 1 + dz][threadIdx.y + 1 + dy][threadIdx.x + 1 + dx];
    int x = ox + 1 + threadIdx.x, y = oy + 1 + threadIdx.y, z = oz + 1 + threadIdx.z;
    if (x < NX && y < NY && z < NZ)
        B[IDX(x, y, z)] = w0 * s[0] + w1 * s[1] + w2 * s[2] + w3 * s[3];
}

// ---- acoustic wave, fourth order, dynamic tile, velocity model, z handled from global memory ----
struct Grid { int nx, ny, nz; float dt2; };
__global__ void acoustic(const float *__restrict p_prev, const float *__restrict p, float *__restrict p_next, const float *__restrict vel, const Grid g)
{
	extern __shared__ float t_[];
	const int  ld = blockDim.x + 4;
	const int  x  = blockIdx.x * blockDim.x + threadIdx.x;
	const int  y  = blockIdx.y * blockDim.y + threadIdx.y;
	const long zs = (long)g.nx * g.ny;
	float     *me = t_ + (threadIdx.y + 2) * ld + threadIdx.x + 2;
	const float a0 = -2.5f, a1 = 4.f / 3.f, a2 = -1.f / 12.f;

	for (int z = blockIdx.z; z < g.nz; z += gridDim.z) {
		const long o = z * zs + (long)y * g.nx + x;
		__syncthreads();
		me[0] = p[o];
		if (threadIdx.x < 2) {
			me[-2]         = x >= 2 ? p[o - 2] : 0.f;
			me[blockDim.x] = x + (int)blockDim.x < g.nx ? p[o + blockDim.x] : 0.f;
		}
		if (threadIdx.y < 2) {
			me[-2 * ld]              = y >= 2 ? p[o - 2 * g.nx] : 0.f;
			me[(int)blockDim.y * ld] = y + (int)blockDim.y < g.ny ? p[o + (long)blockDim.y * g.nx] : 0.f;
		}
		__syncthreads();
		float lap = 3.f * a0 * me[0] + a1 * (me[-1] + me[1] + me[-ld] + me[ld]) + a2 * (me[-2] + me[2] + me[-2 * ld] + me[2 * ld]);
		if (z >= 1)        lap += a1 * p[o - zs];
		if (z + 1 < g.nz)  lap += a1 * p[o + zs];
		if (z >= 2)        lap += a2 * p[o - 2 * zs];
		if (z + 2 < g.nz)  lap += a2 * p[o + 2 * zs];
		p_next[o] = 2.f * me[0] - p_prev[o] + vel[o] * g.dt2 * lap;
	}
}

// ---- upwind advection, three velocity components, three planes in a ring of shared buffers, periodic in x and y ----
namespace advect {
constexpr int BX = 32, BY = 8;

__device__ void loadPlane(float (&s)[BY + 2][BX + 2], const float *q, int nx, int ny)
{
    const int t = threadIdx.y * BX + threadIdx.x;
    for (int k = t; k < (BX + 2) * (BY + 2); k += BX * BY) {
        const int r = k / (BX + 2), c = k % (BX + 2);
        const int x = (int(blockIdx.x) * BX + c - 1 + nx) % nx;
        const int y = (int(blockIdx.y) * BY + r - 1 + ny) % ny;
        s[r][c] = q[y * nx + x];
    }
}

__global__ void upwind(const float *q, const float *u, const float *v, const float *w, float *qn, int nx, int ny, int nz, float h)
{
    __shared__ float ring[3][BY + 2][BX + 2];
    const int plane = nx * ny;
    const int me = (blockIdx.y * BY + threadIdx.y) * nx + blockIdx.x * BX + threadIdx.x;
    const int r = threadIdx.y + 1, c = threadIdx.x + 1;
    loadPlane(ring[0], q, nx, ny);
    loadPlane(ring[1], q, nx, ny);
    for (int z = 0; z < nz; ++z) {
        const int above = z + 1 < nz ? z + 1 : z;
        loadPlane(ring[(z + 2) % 3], q + (size_t)above * plane, nx, ny);
        __syncthreads();
        float (*lo)[BX + 2] = ring[z % 3], (*mid)[BX + 2] = ring[(z + 1) % 3], (*hi)[BX + 2] = ring[(z + 2) % 3];
        const size_t o = (size_t)z * plane + me;
        const float uc = u[o], vc = v[o], wc = w[o], qc = mid[r][c];
        float d = 0.f;
        d += uc > 0.f ? uc * (qc - mid[r][c - 1]) : uc * (mid[r][c + 1] - qc);
        d += vc > 0.f ? vc * (qc - mid[r - 1][c]) : vc * (mid[r + 1][c] - qc);
        d += wc > 0.f ? wc * (qc - lo[r][c]) : wc * (hi[r][c] - qc);
        qn[o] = qc - h * d;
        __syncthreads();
    }
}
}

// ---- Perona-Malik diffusion of a volume, 2-D slices of 3-D blocks, conductance function as a device helper ----
__device__ float g_cond(float d, float k) { float r = d / k; return 1.0f / (1.0f + r * r); }

__global__ void peronaMalik3D( const float* in, float* out, dim3 dim, float kappa, float lambda )
{
  __shared__ float sub[ 6 ][ 6 ][ 34 ];
  unsigned int ix = blockIdx.x * 32 + threadIdx.x;
  unsigned int iy = blockIdx.y * 4 + threadIdx.y;
  unsigned int iz = blockIdx.z * 4 + threadIdx.z;
  unsigned int lx = threadIdx.x + 1, ly = threadIdx.y + 1, lz = threadIdx.z + 1;
  unsigned int sy = dim.x, sz = dim.x * dim.y;
  unsigned int id = iz * sz + iy * sy + ix;

  sub[ lz ][ ly ][ lx ] = in[ id ];
  if( threadIdx.x == 0 )  sub[ lz ][ ly ][ 0 ]  = ix > 0 ? in[ id - 1 ] : in[ id ];
  if( threadIdx.x == 31 ) sub[ lz ][ ly ][ 33 ] = ix < dim.x - 1 ? in[ id + 1 ] : in[ id ];
  if( threadIdx.y == 0 )  sub[ lz ][ 0 ][ lx ]  = iy > 0 ? in[ id - sy ] : in[ id ];
  if( threadIdx.y == 3 )  sub[ lz ][ 5 ][ lx ]  = iy < dim.y - 1 ? in[ id + sy ] : in[ id ];
  if( threadIdx.z == 0 )  sub[ 0 ][ ly ][ lx ]  = iz > 0 ? in[ id - sz ] : in[ id ];
  if( threadIdx.z == 3 )  sub[ 5 ][ ly ][ lx ]  = iz < dim.z - 1 ? in[ id + sz ] : in[ id ];
  __syncthreads();

  float c = sub[ lz ][ ly ][ lx ];
  float n[ 6 ] = { sub[ lz ][ ly ][ lx - 1 ] - c, sub[ lz ][ ly ][ lx + 1 ] - c, sub[ lz ][ ly - 1 ][ lx ] - c,
                   sub[ lz ][ ly + 1 ][ lx ] - c, sub[ lz - 1 ][ ly ][ lx ] - c, sub[ lz + 1 ][ ly ][ lx ] - c };
  float sum = 0.0f;
  for( int k = 0; k < 6; ++k )
    sum += g_cond( n[ k ], kappa ) * n[ k ];
  out[ id ] = c + lambda * sum;
}

static float *field(size_t n, float lo, float hi, unsigned s)
{
    float *h = (float *)malloc(n * 4), *d;
    for (size_t i = 0; i < n; i++) { s = s * 1664525u + 1013904223u; h[i] = lo + (hi - lo) * (float)(s >> 8) / 16777216.f; }
    cudaMalloc(&d, n * 4);
    cudaMemcpy(d, h, n * 4, cudaMemcpyHostToDevice);
    free(h);
    return d;
}

int main()
{
    {
        float c[RADIUS + 1] = {0.4f, 0.05f, -0.02f, 0.01f, 0.005f};
        cudaMemcpyToSymbol(stencil, c, sizeof(c));
        int dx = 256, dy = 250, dz = 200;
        size_t vol = (size_t)(dx + 2 * RADIUS) * (dy + 2 * RADIUS) * (dz + 2 * RADIUS + 1);
        float *a = field(vol, 0.f, 1.f, 1), *b = field(vol, 0.f, 1.f, 1);
        dim3 dimBlock(k_blockDimX, k_blockDimMaxY), dimGrid((dx + 31) / 32, (dy + 15) / 16);
        FiniteDifferencesKernel<<<dimGrid, dimBlock>>>(b, a, dx, dy, dz);
        show("FiniteDifferencesKernel", b, vol * 4);
    }
    size_t n = (size_t)256 * 256 * 256;
    float *a = field(n, -1.f, 1.f, 3), *b = mk<float>(n), *c = field(n, 0.f, 1.f, 4), *d = field(n, -1.f, 1.f, 5), *e = field(n, -1.f, 1.f, 6);
    {
        int nx = 250, ny = 241, nz = 256;
        heat7<float, 32, 16><<<dim3((nx + 29) / 30, (ny + 13) / 14), dim3(32, 16)>>>(a, b, nx, ny, nz, 0.1f);
        show("heat7<float,32,16>", b, (size_t)nx * ny * nz * 4);
        int m = 192;
        double *da = mk<double>((size_t)m * m * m), *db = mk<double>((size_t)m * m * m);
        heat7<double, 32, 8><<<dim3((m + 29) / 30, (m + 5) / 6), dim3(32, 8)>>>(da, db, m, m, m, 0.12);
        show("heat7<double,32,8>", db, (size_t)m * m * m * 8);
    }
    {
        int nx = 255, ny = 250, nz = 201;
        stencil27<<<dim3((nx + 7) / 8, (ny + 7) / 8, (nz + 7) / 8), dim3(8, 8, 8)>>>(a, b, nx, ny, nz, 0.5f, 0.1f, 0.03f, 0.01f);
        show("stencil27", b, (size_t)nx * ny * nz * 4);
    }
    {
        Grid g = {256, 256, 256, 0.04f};
        acoustic<<<dim3(8, 16, 32), dim3(32, 16), (32 + 4) * (16 + 4) * sizeof(float)>>>(d, a, b, c, g);
        show("acoustic", b, n * 4);
    }
    {
        advect::upwind<<<dim3(8, 32), dim3(32, 8)>>>(c, a, d, e, b, 256, 256, 256, 0.2f);
        show("advect::upwind", b, n * 4);
    }
    {
        dim3 dim(256, 256, 256);
        peronaMalik3D<<<dim3(8, 64, 64), dim3(32, 4, 4)>>>(a, b, dim, 0.3f, 0.14f);
        show("peronaMalik3D", b, n * 4);
    }
    return 0;
}
