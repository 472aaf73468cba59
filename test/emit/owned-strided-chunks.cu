// The programs of owned-strided.cu and owned-strided-hostile.cu where each lane has
// neighbours, of each part of an array as many as it has threads: what is a few elements
// apart is in the same lane, so that a scan of 512 asks for 0.6 shuffles an output
// instead of 9.
//
// RUN: rcache-rewrite %S/owned-strided.cu --force --exchange=owned --distribution=chunked -o %t.cu -- -I%S/Inputs 2>&1 | FileCheck %s
// RUN: FileCheck --check-prefix=TEXT %s < %t.cu
// RUN: rcache-check diff %S/owned-strided.cu %t.cu -- -I%S/Inputs
// RUN: rcache-rewrite %S/owned-strided.cu --force --exchange=owned --distribution=chunked -o %t.v.cu -q --print-after=verify -- -I%S/Inputs | FileCheck %s --check-prefix=VERIFY --implicit-check-not=WRONG
// RUN: %if slow %{ rcache-rewrite %S/owned-strided-hostile.cu --force --exchange=owned --distribution=chunked -o %t.h.cu -- -I%S/Inputs 2>&1 | FileCheck %s --check-prefix=HOSTILE %}
// RUN: %if slow %{ rcache-check diff %S/owned-strided-hostile.cu %t.h.cu -- -I%S/Inputs %}
//
// What is damaged is found by the plan's verifier.
// RUN: rcache-rewrite %S/owned-strided.cu --force --exchange=owned --distribution=chunked --kernel=blelloch --mutate=lane-off-by-one -o %t.bad.cu -- -I%S/Inputs 2>&1 | FileCheck --check-prefix=FIRST %s
// FIRST: the plan verifier found: {{.*}} at line {{[0-9]+}}, thread {{[0-9]+}}: {{gets element|runs 0 times}}
// RUN: rcache-rewrite %S/owned-strided.cu --force --exchange=owned --distribution=chunked --kernel=sortPairs --mutate=wrong-register -o %t.bad.cu -- -I%S/Inputs 2>&1 | FileCheck --check-prefix=SIDE %s
// SIDE: the plan verifier found: {{.*}}: what it writes does not reach the owner
//
// REQUIRES: cuda-toolkit, rcache-check
// CHECK-DAG: rewrote 'blelloch' {{.*}}; 'temp' owned by a warp; per output 2.50 shuffles
// CHECK-DAG: rewrote 'brentKung' {{.*}}; 'XY' owned by a warp; per output 5.75 shuffles
// CHECK-DAG: rewrote 'neighbours' {{.*}}; 'sdata' owned by a warp; per output 0.62 shuffles
// CHECK-DAG: rewrote 'sortPairs' {{.*}}; 's_key' owned by a warp; 's_val' owned by a warp
// CHECK-DAG: rewrote 'walsh' {{.*}}; 's' owned by a warp
// VERIFY-COUNT-6: owned by a warp; per output {{.*}}: verified,
// TEXT: ::rcache::device::strided_in_chunks<8>(rc_e, 2 * (offset)
//
// A product that ends with a vector's element is rounded as a whole.
// HOSTILE-DAG: rewrote 'dataDep' {{.*}}; 's' owned by a warp
// HOSTILE-DAG: rewrote 'twoTrees' {{.*}}; 's' owned by a warp; 'q' owned by a warp
