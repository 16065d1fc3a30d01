#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# insns.t: what the verifier walked for each program of the engine, beside
# insns.table. On 6.1 and 6.12 a count may differ by a twentieth (and 16), so
# that a point release changes nothing, on other kernels by a fifth; more is a
# program that grew unnoticed, or a row that says nothing any more.
# "-": not loaded there; "?": loaded, and not counted yet.
# insns.t --update [KERNEL...]: boot these, or all of the table that are fetched,
# and write their columns anew; other columns stay.
set -u
export LC_ALL=C

cd "$(dirname "$0")/../.." || exit 1
B=$(realpath "${B:-build}")
table=tests/lsm/insns.table
cache=${LH_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/lh-vm}

# NAME COUNT of each program that this kernel has loaded
count()
{
	"$B/lh-supervise" --engine load >&2 || exit 1
	"$B/tests/lsm/probe" insns /sys/fs/bpf/lh/*/* | grep ' '
}

# known: PROGRAM KERNEL COUNT of all that the table has
known()
{
	awk '/^#/ { next }
	$1 == "program" { split($0, kernel); next }
	{ for (i = 2; i <= NF; i++) print $1, kernel[i], $i }' "$table"
}

# as_table FRESH: what known() prints as the table; FRESH kernels lack nothing
as_table()
{
	local all

	all=$(sort)
	awk -v fresh=" $1 " -v kernels="$(cut -d' ' -f2 <<<"$all" |
		sort -uV | xargs)" '
	BEGIN {
		n = split(kernels, kernel)
		print "program", kernels
	}
	{ count[$1, $2] = $3 }
	$3 > 0 && !seen[$1]++ { program[++m] = $1 }
	END {
		for (p = 1; p <= m; p++) {
			line = program[p]
			for (i = 1; i <= n; i++) {
				at = program[p] SUBSEP kernel[i]
				if (!(at in count))
					count[at] = index(fresh,
						" " kernel[i] " ") ? "-" : "?"
				line = line " " count[at]
			}
			print line
		}
	}' <<<"$all" | column -t
}

if [ "${1-}" = --count ]; then
	count
	exit
elif [ "${1-}" = --update ]; then
	shift
	series=("$@")
	[ $# -gt 0 ] || for k in $(sed -n 's/^program //p' $table); do
		if [ -e "$cache/series/$k" ] || [[ $k =~ ^6\.12?$ ]]; then
			series+=("$k")
		else
			echo "insns.t: $k is not fetched; its column stays" >&2
		fi
	done
	new=$(mktemp)
	known >"$new"
	for k in "${series[@]}"; do
		echo "insns.t: booting $k" >&2
		B=$B tools/lh-vm --env B --kernel "$k" -- "$0" --count \
			</dev/null >"$new.$k" && [ -s "$new.$k" ] || exit 1
		awk -v k="$k" '$2 != k' "$new" >"$new.kept"
		sed "s/ / $k /" "$new.$k" | cat "$new.kept" - >"$new"
	done
	as_table "${series[*]}" <"$new" >"$new.table"
	sed '1i # What the verifier walked. Kept by insns.t --update.' \
		"$new.table" >"$table"
	rm -f "$new" "$new".*
	exit
elif [ "${1-}" != '' ] && [ "$1" != --kernel ]; then
	echo "usage: insns.t [--update [KERNEL...]]" >&2
	exit 2
fi

# --kernel SERIES COUNTS: as if that kernel had loaded these, for tests.
if [ $# -eq 3 ]; then
	kernel=$2
	counts=$3
else
	kernel=$(uname -r | cut -d. -f1,2)
	counts=$(mktemp)
	trap 'rm -f "$counts"' EXIT
	count >"$counts"
fi
awk -v kernel="$kernel" '
function result(good, what)
{
	print (good ? "ok " : "not ok ") ++n " - " what
	bad += !good
}

# Of programs for one hook, NAME_2 and NAME_3, is another one loaded?
function has_other(p,	other)
{
	if (!sub(/_[0-9]+$/, "_", p))
		return 0
	for (other in loaded)
		if (index(other, p) == 1 &&
		    substr(other, length(p) + 1) ~ /^[0-9]+$/)
			return 1
	return 0
}
BEGIN { within = kernel ~ /^6\.12?$/ ? .05 : .2 }
/^#/ { next }
FILENAME != ARGV[1] {	# what is loaded
	loaded[$1]
	if (!($1 in row))
		result(0, $1 " (" $2 ") has no row")
	else if (!column || row[$1] == "?")
		result($2 > 0, $1 ": " $2 "; no count for " kernel)
	else
		result(row[$1] != "-" && $2 <= row[$1] * (1 + within) + 16 &&
		       $2 >= row[$1] * (1 - within) - 16,
		       $1 ": " $2 ", " row[$1] " in the table")
	next
}
$1 == "program" {
	for (i = 2; i <= NF; i++)
		if ($i == kernel)
			column = i
	next
}
{ row[$1] = column ? $column : "?" }
END {
	for (p in row)
		if (!(p in loaded))
			result(row[p] == "-" ||
			       (row[p] == "?" && has_other(p)),
			       p ": not loaded")
	result(length(loaded) > 20, length(loaded) " programs")
	print "1.." n
	if (bad)
		print "# if it is meant so: tests/lsm/insns.t --update"
	exit bad > 0
}' "$table" "$counts"
