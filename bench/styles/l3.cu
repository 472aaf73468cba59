// l3 -- textbook chapters: scans, convergent reductions, stencils, private queues.
#include "shown.h"
#include <climits>
#include <cfloat>

template <typename T> T* randomDevice(unsigned int n, unsigned int m, unsigned int seed) {
    T* x = (T*) malloc(sizeof(T)*(size_t)n);
    unsigned long long s = 88172645463325252ULL + seed;
    for(unsigned int i = 0; i < n; ++i) {
        s ^= s << 13; s ^= s >> 7; s ^= s << 17;
        x[i] = (T) ((unsigned int)(s >> 20) % m);
    }
    T* x_d;
    cudaMalloc((void**)&x_d, sizeof(T)*(size_t)n);
    cudaMemcpy(x_d, x, sizeof(T)*(size_t)n, cudaMemcpyHostToDevice);
    free(x);
    return x_d;
}

#define SECTION_SIZE 1024

// class 3: Kogge-Stone, in place, two barriers
__global__ void Kogge_Stone_scan_kernel(float *X, float *Y, unsigned int N) {
    __shared__ float XY[SECTION_SIZE];
    unsigned int i = blockIdx.x*blockDim.x + threadIdx.x;
    if(i < N) {
        XY[threadIdx.x] = X[i];
    } else {
        XY[threadIdx.x] = 0.0f;
    }
    for(unsigned int stride = 1; stride < blockDim.x; stride *= 2) {
        __syncthreads();
        float temp;
        if(threadIdx.x >= stride)
            temp = XY[threadIdx.x] + XY[threadIdx.x-stride];
        __syncthreads();
        if(threadIdx.x >= stride)
            XY[threadIdx.x] = temp;
    }
    if(i < N) {
        Y[i] = XY[threadIdx.x];
    }
}

// class 3: Brent-Kung, two elements a thread
#define BK_SECTION 512
__global__ void Brent_Kung_scan_kernel(int *X, int *Y, unsigned int N) {
    __shared__ int XY[BK_SECTION];
    unsigned int i = 2*blockIdx.x*blockDim.x + threadIdx.x;
    XY[threadIdx.x] = (i < N) ? X[i] : 0;
    XY[threadIdx.x + blockDim.x] = (i + blockDim.x < N) ? X[i + blockDim.x] : 0;
    for(unsigned int stride = 1; stride <= blockDim.x; stride *= 2) {
        __syncthreads();
        unsigned int index = (threadIdx.x + 1)*2*stride - 1;
        if(index < BK_SECTION) {
            XY[index] += XY[index - stride];
        }
    }
    for(int stride = BK_SECTION/4; stride > 0; stride /= 2) {
        __syncthreads();
        unsigned int index = (threadIdx.x + 1)*stride*2 - 1;
        if(index + stride < BK_SECTION) {
            XY[index + stride] += XY[index];
        }
    }
    __syncthreads();
    if(i < N) Y[i] = XY[threadIdx.x];
    if(i + blockDim.x < N) Y[i + blockDim.x] = XY[threadIdx.x + blockDim.x];
}

// class 3: three phases, coarsened: serial scans of subsections, Kogge-Stone over their ends
#define TPB3 128
#define COARSE 8
__global__ void coarsened_three_phase_scan(unsigned int *X, unsigned int *Y, unsigned int N) {
    __shared__ unsigned int buffer_s[TPB3*COARSE];
    __shared__ unsigned int ends_s[TPB3];
    unsigned int bSegment = blockIdx.x*TPB3*COARSE;
    for(unsigned int c = 0; c < COARSE; ++c) {
        unsigned int i = bSegment + c*TPB3 + threadIdx.x;
        buffer_s[c*TPB3 + threadIdx.x] = (i < N) ? X[i] : 0;
    }
    __syncthreads();
    unsigned int tSegment = COARSE*threadIdx.x;
    for(unsigned int c = 1; c < COARSE; ++c) {
        buffer_s[tSegment + c] += buffer_s[tSegment + c - 1];
    }
    ends_s[threadIdx.x] = buffer_s[tSegment + COARSE - 1];
    __syncthreads();
    for(unsigned int stride = 1; stride <= TPB3/2; stride *= 2) {
        unsigned int v = 0;
        if(threadIdx.x >= stride) v = ends_s[threadIdx.x - stride];
        __syncthreads();
        ends_s[threadIdx.x] += v;
        __syncthreads();
    }
    if(threadIdx.x > 0) {
        unsigned int prev = ends_s[threadIdx.x - 1];
        for(unsigned int c = 0; c < COARSE; ++c) buffer_s[tSegment + c] += prev;
    }
    __syncthreads();
    for(unsigned int c = 0; c < COARSE; ++c) {
        unsigned int i = bSegment + c*TPB3 + threadIdx.x;
        if(i < N) Y[i] = buffer_s[c*TPB3 + threadIdx.x];
    }
}

// class 1: coarsened sum, first step before the loop's barrier
#define COARSE_FACTOR 4
#define BLOCK_DIM 512
__global__ void CoarsenedSumReductionKernel(float* input, float* output) {
    __shared__ float input_s[BLOCK_DIM];
    unsigned int segment = COARSE_FACTOR*2*blockDim.x*blockIdx.x;
    unsigned int i = segment + threadIdx.x;
    unsigned int t = threadIdx.x;
    float sum = input[i];
    for(unsigned int tile = 1; tile < COARSE_FACTOR*2; ++tile) {
        sum += input[i + tile*BLOCK_DIM];
    }
    input_s[t] = sum;
    for(unsigned int stride = blockDim.x/2; stride >= 1; stride /= 2) {
        __syncthreads();
        if(t < stride) {
            input_s[t] += input_s[t + stride];
        }
    }
    if(t == 0) {
        output[blockIdx.x] = input_s[0];
    }
}

// class 1: maximum, leftmost threads drop out the other way (upper half holds the result)
__global__ void max_reduction_right(int* in, int* out, unsigned int n) {
    __shared__ int best[64];
    unsigned int i = blockIdx.x*64 + threadIdx.x;
    best[threadIdx.x] = (i < n) ? in[i] : INT_MIN;
    __syncthreads();
    for(unsigned int stride = 32; stride >= 1; stride /= 2) {
        if(threadIdx.x >= 64 - stride) {
            best[threadIdx.x] = max(best[threadIdx.x], best[threadIdx.x - stride]);
        }
        __syncthreads();
    }
    if(threadIdx.x == 63) out[blockIdx.x] = best[63];
}

// class 2: centroid and mass of particles, four arrays of 1024 floats
__global__ void centroid_kernel(const float4* bodies, float4* centres, int n) {
    __shared__ float sx[1024];
    __shared__ float sy[1024];
    __shared__ float sz[1024];
    __shared__ float sm[1024];
    int t = threadIdx.x;
    int i = blockIdx.x*blockDim.x + t;
    float4 b = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    if(i < n) b = bodies[i];
    sx[t] = b.x*b.w;
    sy[t] = b.y*b.w;
    sz[t] = b.z*b.w;
    sm[t] = b.w;
    __syncthreads();
    for(int stride = blockDim.x >> 1; stride > 0; stride >>= 1) {
        if(t < stride) {
            sx[t] += sx[t + stride];
            sy[t] += sy[t + stride];
            sz[t] += sz[t + stride];
            sm[t] += sm[t + stride];
        }
        __syncthreads();
    }
    if(t == 0) {
        float inv = sm[0] > 0.0f ? 1.0f/sm[0] : 0.0f;
        centres[blockIdx.x] = make_float4(sx[0]*inv, sy[0]*inv, sz[0]*inv, sm[0]);
    }
}

// class 5: five-point stencil, 16x16 tiles, two arrays, clamped borders, several sweeps
#define IN_TILE_DIM 16
template <int SWEEPS>
__global__ void jacobi_tile_kernel(const float* in, float* out, int N, float c0, float c1) {
    __shared__ float cur_s[IN_TILE_DIM][IN_TILE_DIM];
    __shared__ float nxt_s[IN_TILE_DIM][IN_TILE_DIM];
    int col = blockIdx.x*IN_TILE_DIM + threadIdx.x;
    int row = blockIdx.y*IN_TILE_DIM + threadIdx.y;
    int tx = threadIdx.x, ty = threadIdx.y;
    cur_s[ty][tx] = in[row*N + col];
    __syncthreads();
    int l = max(tx - 1, 0), r = min(tx + 1, IN_TILE_DIM - 1);
    int u = max(ty - 1, 0), d = min(ty + 1, IN_TILE_DIM - 1);
    for(int s = 0; s < SWEEPS; s += 2) {
        nxt_s[ty][tx] = c0*cur_s[ty][tx] + c1*(cur_s[ty][l] + cur_s[ty][r] + cur_s[u][tx] + cur_s[d][tx]);
        __syncthreads();
        cur_s[ty][tx] = c0*nxt_s[ty][tx] + c1*(nxt_s[ty][l] + nxt_s[ty][r] + nxt_s[u][tx] + nxt_s[d][tx]);
        __syncthreads();
    }
    out[row*N + col] = cur_s[ty][tx];
}

// class 7: frontier of a graph search, private queue in shared memory (level values are deterministic)
#define LOCAL_FRONTIER_CAPACITY 1024
__global__ void bfs_level_kernel(const unsigned int* srcPtrs, const unsigned int* dst, unsigned int* level,
                                 const unsigned int* prevFrontier, unsigned int* currFrontier,
                                 unsigned int numPrev, unsigned int* numCurr, unsigned int currLevel) {
    __shared__ unsigned int currFrontier_s[LOCAL_FRONTIER_CAPACITY];
    __shared__ unsigned int numCurr_s;
    __shared__ unsigned int start_s;
    if(threadIdx.x == 0) numCurr_s = 0;
    __syncthreads();
    unsigned int i = blockIdx.x*blockDim.x + threadIdx.x;
    if(i < numPrev) {
        unsigned int vertex = prevFrontier[i];
        for(unsigned int edge = srcPtrs[vertex]; edge < srcPtrs[vertex + 1]; ++edge) {
            unsigned int neighbour = dst[edge];
            if(atomicCAS(&level[neighbour], UINT_MAX, currLevel) == UINT_MAX) {
                unsigned int idx = atomicAdd(&numCurr_s, 1u);
                if(idx < LOCAL_FRONTIER_CAPACITY) {
                    currFrontier_s[idx] = neighbour;
                } else {
                    unsigned int g = atomicAdd(numCurr, 1u);
                    currFrontier[g] = neighbour;
                }
            }
        }
    }
    __syncthreads();
    unsigned int count = min(numCurr_s, (unsigned int)LOCAL_FRONTIER_CAPACITY);
    if(threadIdx.x == 0) start_s = atomicAdd(numCurr, count);
    __syncthreads();
    for(unsigned int j = threadIdx.x; j < count; j += blockDim.x)
        currFrontier[start_s + j] = currFrontier_s[j];
}

// class 6: product of two polynomials modulo a prime, both operands staged, 2*DEG-1 coefficients
#define DEG 64
#define PRIME 998244353u
__global__ void polymul_mod_kernel(const unsigned int* A, const unsigned int* B, unsigned int* C) {
    __shared__ unsigned int A_s[DEG];
    __shared__ unsigned int B_s[DEG];
    __shared__ unsigned int C_s[2*DEG];
    unsigned int t = threadIdx.x;
    if(t < DEG) A_s[t] = A[blockIdx.x*DEG + t];
    else B_s[t - DEG] = B[blockIdx.x*DEG + t - DEG];
    C_s[t] = 0;
    __syncthreads();
    for(unsigned int j = 0; j < DEG; ++j) {
        if(t >= j && t - j < DEG) {
            unsigned long long p = (unsigned long long)A_s[t - j]*B_s[j] + C_s[t];
            C_s[t] = (unsigned int)(p % PRIME);
        }
        __syncthreads();
    }
    C[blockIdx.x*2*DEG + t] = C_s[t];
}

// class 4: blocked transpose of every tile, then of the grid of tiles; tile swapped in place
#define BLOCK_WIDTH 16
__global__ void BlockTranspose(float *A_elements, int A_width, int A_height) {
    __shared__ float blockA[BLOCK_WIDTH][BLOCK_WIDTH];
    int baseIdx = blockIdx.x*BLOCK_WIDTH + threadIdx.x;
    baseIdx += (blockIdx.y*BLOCK_WIDTH + threadIdx.y)*A_width;
    blockA[threadIdx.y][threadIdx.x] = A_elements[baseIdx];
    __syncthreads();
    float v = blockA[threadIdx.x][threadIdx.y];
    __syncthreads();
    blockA[threadIdx.y][threadIdx.x] = v + 1.0f;
    __syncthreads();
    A_elements[baseIdx] = 0.5f*(v + blockA[BLOCK_WIDTH - 1 - threadIdx.y][BLOCK_WIDTH - 1 - threadIdx.x]);
}

int main() {
    {
        unsigned int N = (1u << 24) - 11;
        float *X = mk<float>(N), *Y = mk<float>(N);
        Kogge_Stone_scan_kernel<<<(N + SECTION_SIZE - 1)/SECTION_SIZE, SECTION_SIZE>>>(X, Y, N);
        show("Kogge_Stone_scan", Y, N*sizeof(float));
        int *P = randomDevice<int>(N, 1000, 1), *Q = mk<int>(N);
        Brent_Kung_scan_kernel<<<(N + BK_SECTION - 1)/BK_SECTION, BK_SECTION/2>>>(P, Q, N);
        show("Brent_Kung_scan", Q, N*sizeof(int));
        coarsened_three_phase_scan<<<(N + TPB3*COARSE - 1)/(TPB3*COARSE), TPB3>>>((unsigned int*)P, (unsigned int*)Q, N);
        show("three_phase_scan", Q, N*sizeof(int));
        int nb = (N + 63)/64;
        max_reduction_right<<<nb, 64>>>(P, Q, N);
        show("max_reduction_right", Q, nb*sizeof(int));
    }
    {
        unsigned int blocks = 4096, N = blocks*BLOCK_DIM*2*COARSE_FACTOR;
        float *in = mk<float>(N), *out = mk<float>(blocks);
        CoarsenedSumReductionKernel<<<blocks, BLOCK_DIM>>>(in, out);
        show("CoarsenedSumReduction", out, blocks*sizeof(float));
        int n = N/4 - 333;
        float* cen = mk<float>(4*(n/1024 + 1));
        centroid_kernel<<<(n + 1023)/1024, 1024>>>((float4*)in, (float4*)cen, n);
        show("centroid_kernel", cen, (size_t)((n + 1023)/1024)*16);
    }
    {
        int N = 4096;
        float *a = mk<float>(N*N), *b = mk<float>(N*N);
        jacobi_tile_kernel<6><<<dim3(N/16, N/16), dim3(16, 16)>>>(a, b, N, 0.5f, 0.125f);
        show("jacobi_tile_6", b, (size_t)N*N*4);
        BlockTranspose<<<dim3(N/16, N/16), dim3(16, 16)>>>(a, N, N);
        show("BlockTranspose", a, (size_t)N*N*4);
    }
    {
        unsigned int nv = 1u << 21, deg = 8;
        unsigned int* ptr = (unsigned int*)malloc((nv + 1)*4);
        for(unsigned int i = 0; i <= nv; ++i) ptr[i] = i*deg;
        unsigned int* ptr_d;
        cudaMalloc(&ptr_d, (nv + 1)*4);
        cudaMemcpy(ptr_d, ptr, (nv + 1)*4, cudaMemcpyHostToDevice);
        unsigned int* dst = randomDevice<unsigned int>(nv*deg, nv, 99);
        unsigned int *level, *fa, *fb, *cnt;
        cudaMalloc(&level, nv*4);
        cudaMalloc(&fa, nv*4);
        cudaMalloc(&fb, nv*4);
        cudaMalloc(&cnt, 4);
        cudaMemset(level, 0xff, nv*4);
        cudaMemset(level, 0, 4);
        cudaMemset(fa, 0, 4);
        unsigned int num = 1;
        for(unsigned int lev = 1; num > 0 && lev < 40; ++lev) {
            cudaMemset(cnt, 0, 4);
            bfs_level_kernel<<<(num + 255)/256, 256>>>(ptr_d, dst, level, fa, fb, num, cnt, lev);
            num = 0;
            cudaMemcpy(&num, cnt, 4, cudaMemcpyDeviceToHost);
            unsigned int* t = fa; fa = fb; fb = t;
        }
        show("bfs_level", level, nv*4);
        free(ptr);
    }
    {
        unsigned int pairs = 1u << 16;
        unsigned int *A = randomDevice<unsigned int>(pairs*DEG, PRIME, 5), *B = randomDevice<unsigned int>(pairs*DEG, PRIME, 6);
        unsigned int* C = mk<unsigned int>(pairs*2*DEG);
        polymul_mod_kernel<<<pairs, 2*DEG>>>(A, B, C);
        show("polymul_mod", C, (size_t)pairs*2*DEG*4);
    }
    return 0;
}
