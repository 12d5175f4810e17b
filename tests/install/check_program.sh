#!/usr/bin/env bash
# What the program asks of a machine: no library beyond libc, libstdc++, libm and libgcc; at most 15 MB when stripped.
set -euo pipefail
program=$1
failed=0

needed=$(readelf --dynamic --wide "$program" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
[[ -n $needed ]] || { echo "no NEEDED line in $program: not a dynamic program?"; exit 1; }
for library in $needed; do
  case $library in
    libc.so.6 | libstdc++.so.6 | libm.so.6 | libgcc_s.so.1) echo "needs $library" ;;
    *) echo "needs $library, which a bare machine may lack"; failed=1 ;;
  esac
done

stripped=$(mktemp)
trap 'rm -f "$stripped"' EXIT
strip -o "$stripped" "$program"
file_bytes=$(stat --format=%s "$stripped")
limit_bytes=15000000
echo "stripped: $file_bytes bytes, at most $limit_bytes"
((file_bytes <= limit_bytes)) || failed=1
exit "$failed"
