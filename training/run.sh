#!/usr/bin/env bash
# Trains every fold, the held-out model and the one that ships, side by side. Usage: run.sh DATA OUT [key=value...]
set -u
data=$1 out=$2; shift 2
here=$(dirname "$0")
for mode in fold:metatool-single,metatool-multi fold:bfcl fold:livemcpbench fold:restbench fold:sealtools fold:toolret-apibank fold:toolret-apigen fold:toolbench held full; do
  python3 "$here/train.py" "$data" "$out" "$mode" "$@" > "/tmp/$(echo "$mode" | tr ':,' '__').log" 2>&1 &
done
wait
cat /tmp/fold_*.log /tmp/held.log /tmp/full.log | grep RESULT
