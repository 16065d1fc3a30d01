#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# insns.t: what the verifier walked for each program of the engine, beside
# insns.table. A count may differ by a twentieth (and 16), so that a point
# release of a kernel changes nothing; more is a program that grew unnoticed, or
# a row that says nothing any more.
# insns.t --update [A B]: boot both kernels (6.1 6.12) and write the table anew.
set -u
export LC_ALL=C	# sort and join agree

cd "$(dirname "$0")/../.." || exit 1
B=$(realpath "${B:-build}")
table=tests/lsm/insns.table

# NAME COUNT of each program that this kernel has loaded
count()
{
	"$B/lh-supervise" --engine load >&2 || exit 1
	"$B/tests/lsm/probe" insns /sys/fs/bpf/lh/*/* | grep ' ' | sort
}

if [ "${1-}" = --count ]; then
	count
	exit
elif [ "${1-}" = --update ]; then
	shift
	read -ra series <<<"${*:-6.1 6.12}"
	new=$(mktemp)
	for k in "${series[@]}"; do
		echo "insns.t: booting $k" >&2
		B=$B tools/lh-vm --env B --kernel "$k" -- "$0" --count \
			</dev/null >"$new.$k" && [ -s "$new.$k" ] || exit 1
	done
	{
		echo "# What the verifier walked. Kept by insns.t --update."
		join -a 1 -a 2 -o 0,1.2,2.2 -e - "$new.${series[0]}" \
			"$new.${series[1]:-${series[0]}}" |
			sed "1i program ${series[0]} ${series[1]:-}" |
			column -t
	} >"$new"
	cat "$new" >"$table"
	rm -f "$new" "$new".*
	exit
fi

counts=$(mktemp)
trap 'rm -f "$counts"' EXIT
count >"$counts"
awk -v kernel="$(uname -r | cut -d. -f1,2)" '
function result(good, what)
{
	print (good ? "ok " : "not ok ") ++n " - " what
	bad += !good
}
/^#/ { next }
FILENAME != ARGV[1] {	# what is loaded
	loaded[$1]
	if (!($1 in row))
		result(0, $1 " (" $2 ") has no row")
	else if (!column)
		result($2 > 0, $1 ": " $2 "; no column for " kernel)
	else
		result(row[$1] != "-" && $2 <= row[$1] * 1.05 + 16 &&
		       $2 >= row[$1] * 0.95 - 16,
		       $1 ": " $2 ", " row[$1] " in the table")
	next
}
$1 == "program" {
	for (i = 2; i <= NF; i++)
		if ($i == kernel)
			column = i
	next
}
{ row[$1] = column ? $column : "-" }
END {
	for (p in row)
		if (!(p in loaded))
			result(column && row[p] == "-", p ": not loaded")
	result(length(loaded) > 20, length(loaded) " programs")
	print "1.." n
	if (bad)
		print "# if it is meant so: tests/lsm/insns.t --update"
	exit bad > 0
}' $table "$counts"
