# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034
# TAP for the tests that run inside a guest. Sourced; the top is then the
# working directory and B the build's.

B=$(realpath "${B:-build}")
cd "$(dirname "$0")/../.." || exit 1
n=0

# $1: did it go well; $2: what; the rest: files that say why not
result()
{
	n=$((n + 1))
	if [ "$1" = 0 ]; then
		echo "ok $n - $2"
	else
		echo "not ok $n - $2"
		head -qn 60 "${@:3}" | sed 's/^/# /'
	fi
}
