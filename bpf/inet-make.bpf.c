// SPDX-License-Identifier: GPL-2.0-only
/*
 * A socket of IPv4 or IPv6 carries the label of who makes it.
 *   cgroup/sock_create   in the sessions' cgroups alone; not for the kernel's
 *                        own sockets, of which pair.bpf.h says more
 */
#include "core.bpf.h"

SEC("cgroup/sock_create")
int inet_sock_create(struct bpf_sock *sk)
{
	struct task_struct *t = bpf_get_current_task_btf();
	__u64 cgroup = (__u64)BPF_CORE_READ(t, cgroups, dfl_cgrp);
	__u64 *serial = bpf_map_lookup_elem(&lh_cgroups, &cgroup);
	struct lh_socket maker = {};

	if (!serial)
		return 1;	/* a run without a sandbox is in one too */
	maker.serial = *serial;
	return bpf_sk_storage_get(&lh_sockets, sk, &maker,
				  BPF_LOCAL_STORAGE_GET_F_CREATE) != NULL;
}
