// REQUIRES: cuda-toolkit
// Values behind a blank, hints, folders, files without kernels.
// RUN: %check %S/../Inputs/stencil.cu --kernel kernel --rewritten %S/../Inputs/stencil_rc.cu --trials 7 --seed 2 2>&1 | FileCheck %s --check-prefix=SAME
// SAME: equivalent: kernel: 7 launches compared
// As many where nothing fixes the shape, and where all is fixed.
// RUN: %check %S/../Inputs/stencil.cu --kernel kernel --trials 3 2>&1 | FileCheck %s --check-prefix=THREE
// RUN: %check %S/../Inputs/stencil.cu --kernel kernel --trials 3 --block=128 2>&1 | FileCheck %s --check-prefix=THREE
// RUN: %check %S/../Inputs/stencil.cu --kernel kernel --trials 3 --block=128 --grid=2 --arg=n=200 2>&1 | FileCheck %s --check-prefix=THREE
// THREE: equivalent: kernel: 3 launches compared
// RUN: %status 2 %check %S/../Inputs/stencil.cu --kernel kernel --arg=zzz=5 2>&1 | FileCheck %s --check-prefix=NAME
// NAME: --arg: no parameter 'zzz'; there are: {{.*}}n
// RUN: %status 2 %check %S/../Inputs/stencil_rc.cu --self --arg=zzz=5 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: %status 2 %check %S/../Inputs/stencil.cu --kernel kernel --arg=n=many 2>&1 | FileCheck %s --check-prefix=VALUE
// VALUE: --arg takes a number for 'n', not 'many'
// RUN: %status 2 %check %s --trails=7 2>&1 | FileCheck %s --check-prefix=SLIP
// SLIP: did you mean '--trials=7'?
// RUN: %status 2 %check %s --trials=-1 2>&1 | FileCheck %s --check-prefix=NUMBER
// NUMBER: --trials takes a whole number from 0 on, not '-1'
// RUN: %status 2 %check compare %s 2>&1 | FileCheck %s --check-prefix=COMMAND
// COMMAND: there is no command 'compare': run, diff, sums, or none before the file of a kernel
// RUN: %status 2 %check %s --block=0,1
// RUN: %status 2 %check %S 2>&1 | FileCheck %s --check-prefix=FOLDER
// FOLDER: is a folder
// RUN: %status 2 %check %s 2>&1 | FileCheck %s --check-prefix=NOTHING
// NOTHING: no kernel in '
int main() {}
