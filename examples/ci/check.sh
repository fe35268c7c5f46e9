#!/bin/sh
# Check a folder of presets and leave the reports beside each other: check.sh [PRESETS] [REPORTS]
# For Jenkins, cron or anything else that runs a shell. The exit code is that of kvcost check.
presets=${1:-presets}
reports=${2:-.}

mkdir -p "$reports" || exit 2
kvcost check "$presets" \
    --report junit="$reports/kvcost.xml" \
    --report sarif="$reports/kvcost.sarif" \
    --report json="$reports/kvcost.json"
code=$?

case $code in
0) echo "every limit holds" ;;
1) echo "a limit is broken: see the change proposed above" ;;
2) echo "a preset cannot be read: see file:line:column above" ;;
3) echo "no preset in $presets" ;;
*) echo "kvcost failed" ;;
esac >&2
exit "$code"
