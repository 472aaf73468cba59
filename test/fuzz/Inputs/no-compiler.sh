#!/bin/sh
# A checker that can compile nothing.
echo "x.cu:1:1: error: no" >&2
echo "rcache-check: 'x.cu' could not be compiled" >&2
exit 5
