// REQUIRES: cuda-toolkit
// Values behind a blank, hints, folders, files without kernels.
// RUN: %check %S/../Inputs/stencil.cu --kernel kernel --rewritten %S/../Inputs/stencil_rc.cu --trials 7 --seed 2 2>&1 | FileCheck %s --check-prefix=SAME
// At least 40 launches, whatever is asked for.
// SAME: equivalent: kernel: {{[4-9][0-9]}} launches
// RUN: %status 2 %check %s --trails=7 2>&1 | FileCheck %s --check-prefix=SLIP
// SLIP: Did you mean '--trials=7'?
// RUN: %status 2 %check %s --trials=-1 2>&1 | FileCheck %s --check-prefix=NUMBER
// NUMBER: invalid
// RUN: %status 2 %check %s --block=0,1
// RUN: %status 2 %check %S 2>&1 | FileCheck %s --check-prefix=FOLDER
// FOLDER: is a folder
// RUN: %status 2 %check %s 2>&1 | FileCheck %s --check-prefix=NOTHING
// NOTHING: no kernel in '
int main() {}
