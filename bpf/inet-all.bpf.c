// SPDX-License-Identifier: GPL-2.0-only
/*
 * Is an address that of all of a network? What is sent there comes back to any
 * socket of this host at the port, before a program sees it leave. No program
 * may ask for a route here, so the addresses of the devices are gone through,
 * as the kernel makes its routes of them.
 */
#include "inet.bpf.h"

#define ALL_MAX (1 << 16)	/* devices and addresses gone through */

struct all_walk {
	struct lh_all *q;
};

static __always_inline bool all_is(struct in_ifaddr *a, __u32 addr)
{
	__u32 others = ~BPF_CORE_READ(a, ifa_mask);

	if (BPF_CORE_READ(a, ifa_broadcast) == addr)
		return true;
	/* Two, or one alone, are no network. */
	return __builtin_bswap32(others) > 1 &&
	       (BPF_CORE_READ(a, ifa_address) | others) == addr;
}

static long all_step(__u32 i, struct all_walk *walk)
{
	struct lh_all *w = walk->q;
	struct in_ifaddr *a;
	struct in_device *in;
	struct net_device *d;

	if (w->ifa) {
		a = (struct in_ifaddr *)w->ifa;
		w->ifa = (__u64)BPF_CORE_READ(a, ifa_next);
		w->found = all_is(a, w->addr);
		return w->found;
	}
	if (w->node == w->head) {
		w->done = 1;
		return 1;
	}
	d = (void *)(w->node - bpf_core_field_offset(struct net_device,
						     dev_list));
	w->node = (__u64)BPF_CORE_READ(d, dev_list.next);
	in = BPF_CORE_READ(d, ip_ptr);
	if (in)
		w->ifa = (__u64)BPF_CORE_READ(in, ifa_list);
	return 0;
}

__noinline int lh_is_all(struct lh_all *q)
{
	struct all_walk walk = { .q = q };
	struct sock *sk;
	struct net *net;

	if (!q)
		return 1;
	if (q->addr == ~0U)
		return 1;
	sk = (struct sock *)q->sk;
	net = BPF_CORE_READ(sk, __sk_common.skc_net.net);
	q->head = (__u64)net + bpf_core_field_offset(struct net,
						     dev_base_head);
	q->node = (__u64)BPF_CORE_READ(net, dev_base_head.next);
	q->ifa = 0;
	q->found = q->done = 0;
	bpf_loop(ALL_MAX, all_step, &walk, 0);
	return q->found || !q->done;
}
