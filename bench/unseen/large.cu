// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each kernel at a size far beyond the caches.

#include "kernels.cuh"

int main() {
  std::vector<float> tp(64);
  for (int i = 0; i < 64; ++i)
    tp[i] = 0.01f * (i + 1);
  cudaMemcpyToSymbol(taps, tp.data(), 256);
  {
    const int big = 1;
    int n = big ? (1 << 26) + 77 : (1 << 21) + 5;
    const char *tag = big ? "" : ".s";
    char nm[64];
    auto name = [&](const char *s) {
      snprintf(nm, 64, "%s%s", s, tag);
      return nm;
    };
    auto grid = [&](int b) { return (n + b - 1) / b; };
    {
      Buf<float> a(rnds<float>(n)), o(n), b(rnds<float>(n)), c(rnds<float>(n));
      run(name("movavg_f3"),
          [&] { movavg<float, 3><<<grid(THREADS), THREADS>>>(a.p, o.p, n); });
      SZ(nm, o);
      run(name("movavg_f12"),
          [&] { movavg<float, 12><<<grid(THREADS), THREADS>>>(a.p, o.p, n); });
      SZ(nm, o);
      run(name("fir_causal"), [&] {
        fir_causal<<<grid(192), 192, (192 + 31) * 4>>>(a.p, o.p, n, 0);
      });
      SZ(nm, o);
      run(name("down2"), [&] { down2<<<grid(256), 128>>>(a.p, o.p, n); });
      SZ(nm, o);
      run(name("poly3"),
          [&] { poly3<<<grid(256), 256>>>(a.p, b.p, c.p, o.p, n); });
      SZ(nm, o);
      run(name("bilateral1d"),
          [&] { bilateral1d<<<grid(256), 256>>>(a.p, o.p, n, 0.01f); });
      SZ(nm, o);
      run(name("ma1024"), [&] { ma1024<<<grid(1024), 1024>>>(a.p, o.p, n); });
      SZ(nm, o);
      run(name("gs_tiles"), [&] { gs_tiles<<<132 * 8, 256>>>(a.p, o.p, n); });
      SZ(nm, o);
      run(name("comb"), [&] { comb<<<grid(256), 256>>>(a.p, o.p, n, 0.7f); });
      SZ(nm, o);
    }
    {
      Buf<double> a(rnds<double>(n)), o(n);
      run(name("movavg_d4"),
          [&] { movavg<double, 4><<<grid(THREADS), THREADS>>>(a.p, o.p, n); });
      SZ(nm, o);
      run(name("second_diff"),
          [&] { second_diff<<<grid(128), 128>>>(a.p, o.p, n, 4.0); });
      SZ(nm, o);
    }
    {
      Buf<int> a(rnds<int>(n)), o(n);
      run(name("movavg_i8"),
          [&] { movavg<int, 8><<<grid(THREADS), THREADS>>>(a.p, o.p, n); });
      SZ(nm, o);
    }
    {
      Buf<unsigned char> a(bytes(n)), o(n);
      run(name("edges"), [&] { edges<<<grid(256), 256>>>(a.p, o.p, n); });
      SZ(nm, o);
    }
    {
      std::vector<__half> h(n);
      for (auto &x : h)
        x = __float2half((rnd() % 512) / 8.f);
      Buf<__half> a(h), o(n);
      run(name("smooth_half"),
          [&] { smooth_half<<<grid(256), 256>>>(a.p, o.p, n); });
      SZ(nm, o);
    }
    {
      Buf<long long> a(rnds<long long>(n)), o(n);
      run(name("sum64"), [&] { sum64<<<grid(64), 64>>>(a.p, o.p, n); });
      SZ(nm, o);
    }
    {
      std::vector<float2> h(n);
      for (auto &x : h)
        x = make_float2(rnd() % 64, rnd() % 64);
      Buf<float2> a(h), o(n);
      std::vector<float2> hc(h.begin(), h.begin() + 64);
      Buf<float2> c(hc);
      Buf<int> l(n);
      run(name("cfir"), [&] { cfir<<<grid(128), 128>>>(a.p, o.p, n); });
      SZ(nm, o);
      run(name("nearest"),
          [&] { nearest<<<grid(256), 256>>>(a.p, c.p, l.p, n); });
      SZ(nm, l);
    }
    int w = big ? 8192 : 1000, h = big ? 8192 : 700;
    size_t wh = (size_t)w * h;
    {
      Buf<double> a(rnds<double>(wh)), o(wh);
      run(name("lap2d"), [&] {
        lap2d<<<dim3(cdiv(w, 16), cdiv(h, 16)), dim3(16, 16)>>>(a.p, o.p, w, h);
      });
      SZ(nm, o);
    }
    {
      Buf<unsigned char> a(bytes(wh)), o(wh);
      run(name("gauss5"), [&] {
        gauss5<<<dim3(cdiv(w, 32), cdiv(h, 8)), dim3(32, 8)>>>(a.p, w, o.p, w,
                                                               w, h);
      });
      SZ(nm, o);
      run(name("erode"), [&] {
        erode<<<dim3(cdiv(w, 16), cdiv(h, 16)), dim3(16, 16)>>>(a.p, o.p, w, h);
      });
      SZ(nm, o);
    }
    {
      Buf<float> a(rnds<float>(wh)), o(wh);
      run(name("colpass"), [&] {
        colpass<<<dim3(cdiv(w, 32), cdiv(h, 16)), dim3(32, 16)>>>(a.p, o.p, w,
                                                                  h);
      });
      SZ(nm, o);
      run(name("pm"), [&] {
        pm<<<dim3(cdiv(w, 32), cdiv(h, 8)), dim3(32, 8)>>>(a.p, o.p, w, h,
                                                           0.01f, 0.2f);
      });
      SZ(nm, o);
    }
    {
      int M = big ? 2000 : 200, N = big ? 3000 : 300, K = big ? 1500 : 150;
      Buf<float> A(rnds<float>(M * K)), B(rnds<float>(K * N)), C(M * N);
      run(name("gemm"), [&] {
        gemm<<<dim3(cdiv(N, 16), cdiv(M, 16)), dim3(16, 16)>>>(M, N, K, A.p,
                                                               B.p, C.p);
      });
      SZ(nm, C);
      int q = big ? 4096 : 256;
      Buf<float> X(rnds<float>(q * 128)), Y(rnds<float>(q * 128)),
          D((size_t)q * q);
      run(name("l1dist"), [&] {
        l1dist<<<dim3(q / 16, q / 16), dim3(16, 16)>>>(X.p, Y.p, D.p, q, q,
                                                       128);
      });
      SZ(nm, D);
    }
    {
      int q = big ? 65536 : 2048;
      std::vector<float4> h(q);
      for (auto &x : h)
        x = make_float4(rnd() % 64, rnd() % 64, rnd() % 64, 1);
      Buf<float4> P(h);
      Buf<float3> A(q);
      run(name("gravity"), [&] { gravity<<<q / 128, 128>>>(P.p, A.p, q); });
      SZ(nm, A);
    }
    {
      int q = big ? 512 : 96;
      size_t q3 = (size_t)q * q * q;
      Buf<float> a(rnds<float>(q3)), o(q3);
      run(name("seven"), [&] {
        seven<<<dim3(cdiv(q, 16), cdiv(q, 16)), dim3(16, 16)>>>(a.p, o.p, q, q,
                                                                q);
      });
      SZ(nm, o);
      run(name("box27"), [&] {
        box27<<<dim3(cdiv(q, 8), cdiv(q, 8), cdiv(q, 8)), dim3(8, 8, 8)>>>(
            a.p, o.p, q, q, q);
      });
      SZ(nm, o);
    }
  }
}
