#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# What tests/lsm/insns.t makes of counts, which it is given here.
set -u

# shellcheck source=tests/cli/tap.sh
. "$(dirname "$0")/tap.sh"

# counted KERNEL [SED]: as if it had loaded what the table has, but for that.
counted() {
	awk -v kernel="$1" '/^#/ { next }
	$1 == "program" { while ($++c != kernel) ; next }
	$c > 0 { print $1, $c }' "$top/tests/lsm/insns.table" |
		sed "${2-}" >"$tmp/counts"
	B=$bin run "$top/tests/lsm/insns.t" --kernel "${3-$1}" "$tmp/counts"
}

finds() {
	[ "$status" = 1 ] && [ "$(grep -c '^not ok' "$tmp/printed")" = 1 ] &&
		grep -q "^not ok .*$1" "$tmp/printed"
	ok $? "$2"
}

for k in 6.1 7.3; do
	counted "$k"
	[ "$status" = 0 ]
	ok $? "the counts of the table are those, $k"
done
counted 6.1 's/^admit .*/admit 1500/'
finds 'admit: 1500, 1339' 'what grew by a tenth grew, on a kernel of all runs'
counted 7.3 's/^admit .*/admit 1500/'
[ "$status" = 0 ]
ok $? '... and not on another'
counted 7.3 's/^admit .*/admit 1700/'
finds 'admit: 1700' 'there it did by a fourth'
counted 7.3 's/^admit .*/admit 1000/'
finds 'admit: 1000' '... or shrank by one'
counted 7.3 /^meta_setattr_3/d
finds 'meta_setattr_3: not loaded' 'what is not loaded is missing'
counted 7.3 's/^meta_setattr_3/meta_setattr_2/'
[ "$(grep -c '^not ok .*meta_setattr_[23]' "$tmp/printed")" = 2 ]
ok $? '... even if another one for its hook is'
counted 7.3 's/^admit/other/'
[ "$status" = 1 ] && grep -q '^not ok .*other .*has no row' "$tmp/printed"
ok $? 'what is loaded has a row'
counted 7.3 '' 99.0
[ "$status" = 0 ] && grep -q '^ok .*meta_setattr_2: not loaded' "$tmp/printed"
ok $? 'a kernel without a column has one of the programs for a hook'
counted 7.3 /^meta_setattr/d 99.0
[ "$status" = 1 ] && grep -q '^not ok .*meta_setattr_2' "$tmp/printed"
ok $? '... and not none'
counted 7.3 /^guard_bpf/d 99.0
finds 'guard_bpf: not loaded' '... and all others'
done_testing
