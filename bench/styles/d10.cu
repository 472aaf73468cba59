// LU panels (Rodinia lud), tiled attention, triangular solve, Coulombic potential
#include "shown.h"
#include <vector>

#define BLOCK_SIZE 16

__global__ void lud_diagonal(float *m, int matrix_dim, int offset)
{
  int i,j;
  __shared__ float shadow[BLOCK_SIZE][BLOCK_SIZE];

  int array_offset = offset*matrix_dim+offset;
  for(i=0; i < BLOCK_SIZE; i++){
    shadow[i][threadIdx.x]=m[array_offset+threadIdx.x];
    array_offset += matrix_dim;
  }
  __syncthreads();
  for(i=0; i < BLOCK_SIZE-1; i++) {

    if (threadIdx.x>i){
      for(j=0; j < i; j++)
        shadow[threadIdx.x][i] -= shadow[threadIdx.x][j]*shadow[j][i];
      shadow[threadIdx.x][i] /= shadow[i][i];
    }

    __syncthreads();
    if (threadIdx.x>i){

      for(j=0; j < i+1; j++)
        shadow[i+1][threadIdx.x] -= shadow[i+1][j]*shadow[j][threadIdx.x];
    }
    __syncthreads();
  }

  /*
     The first row is not modified, it
     is no need to write it back to the
     global memory
   */
  array_offset = (offset+1)*matrix_dim+offset;
  for(i=1; i < BLOCK_SIZE; i++){
    m[array_offset+threadIdx.x]=shadow[i][threadIdx.x];
    array_offset += matrix_dim;
  }
}

__global__ void lud_perimeter(float *m, int matrix_dim, int offset)
{
  __shared__ float dia[BLOCK_SIZE][BLOCK_SIZE];
  __shared__ float peri_row[BLOCK_SIZE][BLOCK_SIZE];
  __shared__ float peri_col[BLOCK_SIZE][BLOCK_SIZE];

  int i,j, array_offset;
  int idx;

  if (threadIdx.x < BLOCK_SIZE) {
    idx = threadIdx.x;

    array_offset = offset*matrix_dim+offset;
    for (i=0; i < BLOCK_SIZE/2; i++){
      dia[i][idx]=m[array_offset+idx];
      array_offset += matrix_dim;
    }

    array_offset = offset*matrix_dim+offset;
    for (i=0; i < BLOCK_SIZE; i++) {
      peri_row[i][idx]=m[array_offset+(blockIdx.x+1)*BLOCK_SIZE+idx];
      array_offset += matrix_dim;
    }

  } else {
    idx = threadIdx.x-BLOCK_SIZE;

    array_offset = (offset+BLOCK_SIZE/2)*matrix_dim+offset;
    for (i=BLOCK_SIZE/2; i < BLOCK_SIZE; i++){
      dia[i][idx]=m[array_offset+idx];
      array_offset += matrix_dim;
    }

    array_offset = (offset+(blockIdx.x+1)*BLOCK_SIZE)*matrix_dim+offset;
    for (i=0; i < BLOCK_SIZE; i++) {
      peri_col[i][idx] = m[array_offset+idx];
      array_offset += matrix_dim;
    }

  }
  __syncthreads();

  if (threadIdx.x < BLOCK_SIZE) { //peri-row
    idx=threadIdx.x;
    for(i=1; i < BLOCK_SIZE; i++){
      for (j=0; j < i; j++)
        peri_row[i][idx]-=dia[i][j]*peri_row[j][idx];
    }
  } else { //peri-col
    idx=threadIdx.x - BLOCK_SIZE;
    for(i=0; i < BLOCK_SIZE; i++){
      for(j=0; j < i; j++)
        peri_col[idx][i]-=peri_col[idx][j]*dia[j][i];
      peri_col[idx][i] /= dia[i][i];
    }
  }

  __syncthreads();

  if (threadIdx.x < BLOCK_SIZE) { //peri-row
    idx=threadIdx.x;
    array_offset = (offset+1)*matrix_dim+offset;
    for(i=1; i < BLOCK_SIZE; i++){
      m[array_offset+(blockIdx.x+1)*BLOCK_SIZE+idx] = peri_row[i][idx];
      array_offset += matrix_dim;
    }
  } else { //peri-col
    idx=threadIdx.x - BLOCK_SIZE;
    array_offset = (offset+(blockIdx.x+1)*BLOCK_SIZE)*matrix_dim+offset;
    for(i=0; i < BLOCK_SIZE; i++){
      m[array_offset+idx] =  peri_col[i][idx];
      array_offset += matrix_dim;
    }
  }
}

__global__ void lud_internal(float *m, int matrix_dim, int offset)
{
  __shared__ float peri_row[BLOCK_SIZE][BLOCK_SIZE];
  __shared__ float peri_col[BLOCK_SIZE][BLOCK_SIZE];

  int i;
  float sum;

  int global_row_id = offset + (blockIdx.y+1)*BLOCK_SIZE;
  int global_col_id = offset + (blockIdx.x+1)*BLOCK_SIZE;

  peri_row[threadIdx.y][threadIdx.x] = m[(offset+threadIdx.y)*matrix_dim+global_col_id+threadIdx.x];
  peri_col[threadIdx.y][threadIdx.x] = m[(global_row_id+threadIdx.y)*matrix_dim+offset+threadIdx.x];

  __syncthreads();

  sum = 0;
  for (i=0; i < BLOCK_SIZE; i++)
    sum += peri_col[threadIdx.y][i] * peri_row[i][threadIdx.x];
  m[(global_row_id+threadIdx.y)*matrix_dim+global_col_id+threadIdx.x] -= sum;
}

// flash-attention-minimal
__global__ void flash_forward_kernel(const float *Q, const float *K, const float *V, const int N, const int d,
                                     const int Tc, const int Tr, const int Bc, const int Br, const float softmax_scale,
                                     float *l, float *m, float *O)
{
    int tx = threadIdx.x;
    int bx = blockIdx.x; int by = blockIdx.y;  // batch and head index

    // Offset into Q,K,V,O,l,m - different for each batch and head
    int qkv_offset = (bx * gridDim.y * N * d) + (by * N * d);
    int lm_offset = (bx * gridDim.y * N) + (by * N);

    // Define SRAM for Q,K,V,S
    extern __shared__ float sram[];
    int tile_size = Bc * d;  // size of Qi, Kj, Vj
    float *Qi = sram;
    float *Kj = &sram[tile_size];
    float *Vj = &sram[tile_size * 2];
    float *S = &sram[tile_size * 3];

    for (int j = 0; j < Tc; j++) {
        // Load Kj, Vj to SRAM
        for (int x = 0; x < d; x++) {
            Kj[(tx * d) + x] = K[qkv_offset + (tile_size * j) + (tx * d) + x];
            Vj[(tx * d) + x] = V[qkv_offset + (tile_size * j) + (tx * d) + x];
        }
        __syncthreads();

        for (int i = 0; i < Tr; i++) {
            // Load Qi to SRAM, l and m to registers
            for (int x = 0; x < d; x++) {
                Qi[(tx * d) + x] = Q[qkv_offset + (tile_size * i) + (tx * d) + x];
            }
            float row_m_prev = m[lm_offset + (Br * i) + tx];
            float row_l_prev = l[lm_offset + (Br * i) + tx];

            // S = QK^T, row_m = rowmax(S)
            float row_m = -INFINITY;
            for (int y = 0; y < Bc; y++) {
                float sum = 0;
                for (int x = 0; x < d; x++) {
                    sum += Qi[(tx * d) + x] * Kj[(y * d) + x];
                }
                sum *= softmax_scale;
                S[(Bc * tx) + y] = sum;
                if (sum > row_m)
                    row_m = sum;
            }

            // P = exp(S - row_m), row_l = rowsum(P)
            float row_l = 0;
            for (int y = 0; y < Bc; y++) {
                S[(Bc * tx) + y] = __expf(S[(Bc * tx) + y] - row_m);
                row_l += S[(Bc * tx) + y];
            }

            // Compute new m and l
            float row_m_new = max(row_m_prev, row_m);
            float row_l_new = (__expf(row_m_prev - row_m_new) * row_l_prev) + (__expf(row_m - row_m_new) * row_l);

            // Write O, l, m to HBM
            for (int x = 0; x < d; x++) {
                float pv = 0;  // Pij * Vj
                for (int y = 0; y < Bc; y++) {
                    pv += S[(Bc * tx) + y] * Vj[(y * d) + x];
                }
                O[qkv_offset + (tile_size * i) + (tx * d) + x] = (1 / row_l_new)
                    * ((row_l_prev * __expf(row_m_prev - row_m_new) * O[qkv_offset + (tile_size * i) + (tx * d) + x])
                    + (__expf(row_m - row_m_new) * pv));
            }
            m[lm_offset + (Br * i) + tx] = row_m_new;
            l[lm_offset + (Br * i) + tx] = row_l_new;
        }
        __syncthreads();  // otherwise, thread can use the wrong Kj, Vj in inner loop
    }
}

// causal attention scores, 32 queries x 32 keys a block
__global__ void attnScoresCausal(const float *q, const float *k, float *s, int T, int HS, float scale)
{
    __shared__ float qs[32][33];
    __shared__ float ks[32][33];
    const int head = blockIdx.z;
    const int q0 = blockIdx.y * 32, k0 = blockIdx.x * 32;
    const float *qh = q + (size_t)head * T * HS;
    const float *kh = k + (size_t)head * T * HS;
    float *sh = s + (size_t)head * T * T;
    const int tx = threadIdx.x, ty = threadIdx.y;
    if (k0 > q0 + 31) { // fully masked tile
        sh[(size_t)(q0 + ty) * T + k0 + tx] = -1e30f;
        return;
    }
    float dot = 0.f;
    for (int h = 0; h < HS; h += 32) {
        qs[ty][tx] = qh[(q0 + ty) * HS + h + tx];
        ks[ty][tx] = kh[(k0 + ty) * HS + h + tx];
        __syncthreads();
        for (int i = 0; i < 32; i++)
            dot += qs[ty][i] * ks[tx][i];
        __syncthreads();
    }
    sh[(size_t)(q0 + ty) * T + k0 + tx] = (k0 + tx <= q0 + ty) ? dot * scale : -1e30f;
}

// X = L^-1 B, 32x32 unit-free lower triangle, one column of B a thread
template <class T, int NB>
__global__ void trsmLowerLeft(const T *L, T *B, int ldb)
{
    __shared__ T sL[NB][NB + 1];
    __shared__ T sB[NB][64];
    const int t = threadIdx.x; // 64
    const T *Lb = L + (size_t)blockIdx.y * NB * NB;
    T *Bb = B + (size_t)blockIdx.y * NB * ldb + blockIdx.x * 64;
    for (int e = t; e < NB * NB; e += 64)
        sL[e / NB][e % NB] = Lb[e];
    for (int r = 0; r < NB; r++)
        sB[r][t] = Bb[r * ldb + t];
    __syncthreads();
    for (int k = 0; k < NB; k++) {
        T x = sB[k][t] / sL[k][k];
        sB[k][t] = x;
        for (int r = k + 1; r < NB; r++)
            sB[r][t] -= sL[r][k] * x;
    }
    for (int r = 0; r < NB; r++)
        Bb[r * ldb + t] = sB[r][t];
}

// Coulomb potential on a plane of the lattice (Parboil cp), atoms in shared tiles
#define CP_ATOMS 256
__global__ void coulombPlane(const float4 *atominfo, int natoms, float gridspacing, float z, float *energygrid, int pitch)
{
    __shared__ float4 tile[CP_ATOMS];
    int xi = blockIdx.x * blockDim.x + threadIdx.x;
    int yi = blockIdx.y * blockDim.y + threadIdx.y;
    int lin = threadIdx.y * blockDim.x + threadIdx.x;
    float cx = gridspacing * xi, cy = gridspacing * yi;
    float energy = 0.f;
    for (int base = 0; base < natoms; base += CP_ATOMS) {
        if (base + lin < natoms) {
            float4 a = atominfo[base + lin];
            float dz = a.z * 0.5f - z;
            a.z = dz * dz + 0.01f;
            tile[lin] = a;
        } else {
            tile[lin] = make_float4(0.f, 0.f, 1.f, 0.f);
        }
        __syncthreads();
        for (int n = 0; n < CP_ATOMS; n++) {
            float dx = cx - tile[n].x, dy = cy - tile[n].y;
            energy += tile[n].w * rsqrtf(dx * dx + dy * dy + tile[n].z);
        }
        __syncthreads();
    }
    energygrid[yi * pitch + xi] += energy;
}

int main()
{
    {
        int n = 4096;
        std::vector<float> h((size_t)n * n);
        for (size_t i = 0; i < h.size(); i++)
            h[i] = (float)((i * 7919u) % 101) / 64.f + (i / n == i % n ? 300.f : 0.f);
        float *m;
        cudaMalloc(&m, h.size() * 4);
        cudaMemcpy(m, h.data(), h.size() * 4, cudaMemcpyHostToDevice);
        lud_diagonal<<<1, BLOCK_SIZE>>>(m, n, 0);
        show("lud_diagonal", m, (size_t)16 * n * 4);
        int nb = n / BLOCK_SIZE - 1;
        lud_perimeter<<<nb, BLOCK_SIZE * 2>>>(m, n, 0);
        show("lud_perimeter", m, h.size() * 4);
        dim3 dimBlock(BLOCK_SIZE, BLOCK_SIZE), dimGrid(nb, nb);
        lud_internal<<<dimGrid, dimBlock>>>(m, n, 0);
        show("lud_internal", m, h.size() * 4);
    }
    {
        const int batch = 16, heads = 12, N = 256, d = 64, Bc = 32, Br = 32;
        size_t sz = (size_t)batch * heads * N * d;
        float *Q = mk<float>(sz), *K = mk<float>(sz), *V = mk<float>(sz), *O = mk<float>(sz);
        float *l = mk<float>((size_t)batch * heads * N), *m;
        cudaMemset(O, 0, sz * 4);
        cudaMemset(l, 0, (size_t)batch * heads * N * 4);
        std::vector<float> hm((size_t)batch * heads * N, -INFINITY);
        cudaMalloc(&m, hm.size() * 4);
        cudaMemcpy(m, hm.data(), hm.size() * 4, cudaMemcpyHostToDevice);
        int sram_size = (3 * Bc * d * sizeof(float)) + (Bc * Br * sizeof(float));
        flash_forward_kernel<<<dim3(batch, heads), Bc, sram_size>>>(Q, K, V, N, d, N / Bc, N / Br, Bc, Br, 0.01f, l, m, O);
        show("flash_forward_kernel", O, sz * 4);
        int T = 1024, H = 12;
        float *S = mk<float>((size_t)H * T * T);
        attnScoresCausal<<<dim3(T / 32, T / 32, H), dim3(32, 32)>>>(Q, K, S, T, d, 0.125f);
        show("attnScoresCausal", S, (size_t)H * T * T * 4);
    }
    {
        int batch = 1024, cols = 256;
        std::vector<float> hl((size_t)batch * 1024);
        for (size_t i = 0; i < hl.size(); i++)
            hl[i] = ((i % 1024) / 32 == i % 32) ? 20.f + (float)(i % 7) : (float)((i * 31) % 17) / 17.f;
        float *L, *B = mk<float>((size_t)batch * 32 * cols);
        cudaMalloc(&L, hl.size() * 4);
        cudaMemcpy(L, hl.data(), hl.size() * 4, cudaMemcpyHostToDevice);
        trsmLowerLeft<float, 32><<<dim3(cols / 64, batch), 64>>>(L, B, cols);
        show("trsmLowerLeft", B, (size_t)batch * 32 * cols * 4);
    }
    {
        int natoms = 4000, g = 1024;
        float4 *at = (float4 *)mk<float>(4 * natoms);
        float *e = mk<float>(g * g);
        coulombPlane<<<dim3(g / 16, g / 16), dim3(16, 16)>>>(at, natoms, 0.0125f, 1.0f, e, g);
        show("coulombPlane", e, g * g * 4);
    }
    return 0;
}
