// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shared arrays of structs that are used by member, as one array a member:
//
//     __shared__ Stat st[128];            __shared__ float st_s[128];
//                                         __shared__ int st_n[128];
//     st[t].s += st[t + d].s;             st_s[t] += st_s[t + d];
//     st[t] = st[t + d];                  { st_s[t] = st_s[t + d];
//                                           st_n[t] = st_n[t + d]; }
//     out[b] = st[0];                     out[b] = Stat{st_s[0], st_n[0]};

#ifndef RCACHE_SPLITMEMBERS_H
#define RCACHE_SPLITMEMBERS_H

#include "rcache/SpreadOutputs.h"

namespace rcache {

/// The body of \p M with such arrays in the second form; nullopt: it has none
/// of which a member is changed, or uses one otherwise.
std::optional<OtherBody> splitMembers(const KernelModel &M);

} // namespace rcache

#endif // RCACHE_SPLITMEMBERS_H
