# SPDX-License-Identifier: GPL-2.0-only
# A terminal of its own, and job control in it.
script -qec 'tty' /dev/null </dev/null | grep -q /dev/pts/
script -qec "bash -ic 'sleep 5 & kill %1; wait; stty size; echo WORKS'" \
	/dev/null </dev/null 2>&1 | tr -d '\r' | grep -q WORKS
