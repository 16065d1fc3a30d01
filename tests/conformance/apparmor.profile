# SPDX-License-Identifier: GPL-2.0-only
# Enforced beside a session: its probe is confined by AppArmor too, which allows
# all that a session does and refuses something that no row asks for.
profile lh-conform /**/tests/lsm/probe flags=(attach_disconnected) {
	capability,
	network,
	mount,
	umount,
	remount,
	pivot_root,
	signal,
	ptrace,
	unix,
	/** rwlkmix,
	deny /tmp/lh-conform-apparmor rw,
}
