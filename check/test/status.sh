#!/bin/sh
# status.sh N command...: succeeds if the command exits with N.
want=$1
shift
"$@"
got=$?
[ "$got" = "$want" ] || {
  echo "exit status $got, expected $want" >&2
  exit 1
}
