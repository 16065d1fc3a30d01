// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who is at a port already. A look-up finds one of them, and none that has a
 * peer, is bound to a device or does not listen yet; so all that are there are
 * gone through, whether they share it or not: either end can come to share
 * while we look. Those who come later are not known. No lock is held, so each
 * socket is asked for its port after it led on: one that has moved, into a list
 * that it would lead to, says so.
 */
#include "inet.bpf.h"

#define TCP_CLOSE 7		/* bound, and may listen yet */
#define TCP_LISTEN 10
#define SHARE_MAX (1 << 17)	/* sockets gone through: connections too */
#define SHARE_TRIES 8		/* while others come and go */

enum end { WALKING, WALKED, TORN };

/* The search itself is in memory of the label: the stack has no room. */
struct share_walk {
	struct lh_share *q;
};

static __always_inline long share_end(struct lh_share *w, enum end end)
{
	w->end = end;
	return 1;
}

/* Would both get what is sent to one of them? */
static __always_inline bool share_overlaps(const struct lh_dest *a,
					   const struct lh_dest *b)
{
	__u8 differ = 0;
	int i;

	if (lh_dest_is_any(a) || (lh_dest_is_any(b) &&
				  b->family == LH_AF_INET6))
		return true;
	if (a->family != b->family)
		return false;
	if (lh_dest_is_any(b))
		return true;
	for (i = 0; i < 16; i++)
		differ |= a->addr[i] ^ b->addr[i];
	return !differ;
}

static __noinline bool share_meets(struct lh_share *w, __u64 at)
{
	struct sock *sk = (struct sock *)at;
	struct sock_common *c = &sk->__sk_common;
	struct lh_dest d;

	if (at == w->sk ||
	    (__u64)BPF_CORE_READ(sk, sk_cgrp_data.cgroup) == w->cgroup)
		return false;
	lh_dest_own(&d, at);
	if (d.family != w->d.family) {
		/* Which of the two is of IPv6? */
		if (d.family == LH_AF_INET)
			c = (struct sock_common *)w->sk;
		if (BPF_CORE_READ_BITFIELD_PROBED(c, skc_ipv6only))
			return false;
	}
	return share_overlaps(&w->d, &d);
}

static long share_udp(__u32 i, struct share_walk *walk)
{
	struct lh_share *w = walk->q;
	struct sock_common *c;
	__u16 port;
	__u64 at;

	if (!w->node)
		return share_end(w, WALKED);
	at = w->node - bpf_core_field_offset(struct sock_common, skc_node);
	c = (struct sock_common *)at;
	w->node = (__u64)BPF_CORE_READ(c, skc_node.next);
	barrier();
	port = BPF_CORE_READ(c, skc_num);
	if ((port ^ w->d.port) & w->mask)
		return share_end(w, TORN);
	if (port != w->d.port ||
	    (__u64)BPF_CORE_READ(c, skc_net.net) != w->net ||
	    !share_meets(w, at))
		return 0;
	w->found = 1;
	return 1;
}

static long share_tcp(__u32 i, struct share_walk *walk)
{
	struct lh_share *w = walk->q;
	struct inet_bind2_bucket *b = NULL;
	struct sock_common *c;
	__u64 at;
	__u8 state;

	if (!w->node && (!bpf_core_field_exists(b->bhash_node) ||
			 !w->bucket))
		return share_end(w, WALKED);
	if (!w->node) {
		b = (void *)(w->bucket -
			     bpf_core_field_offset(struct inet_bind2_bucket,
						   bhash_node));
		w->node = (__u64)BPF_CORE_READ(b, owners.first);
		w->bucket = (__u64)BPF_CORE_READ(b, bhash_node.next);
		/* It goes with the last one in it. */
		return w->node ? 0 : share_end(w, TORN);
	}
	at = w->node - bpf_core_field_offset(struct sock_common,
					     skc_bind_node);
	c = (struct sock_common *)at;
	w->node = (__u64)BPF_CORE_READ(c, skc_bind_node.next);
	barrier();
	if (BPF_CORE_READ(c, skc_num) != w->d.port)
		return share_end(w, TORN);
	state = BPF_CORE_READ(c, skc_state);
	if ((state != TCP_CLOSE && state != TCP_LISTEN) ||
	    !share_meets(w, at))
		return 0;
	w->found = 1;
	return 1;
}

/*
 * Up to 6.1 there is one table of UDP, since then a namespace may have one, and
 * from 7.1 on it always has.
 */
static __noinline void udp_first(struct lh_share *w)
{
	struct sock *sk = (struct sock *)w->sk;
	struct proto *proto = BPF_CORE_READ(sk, __sk_common.skc_prot);
	struct udp_table *t = NULL;
	struct net *net = (struct net *)w->net;
	struct udp_hslot *slot;
	__u32 at;

	if (bpf_core_field_exists(proto->h.udp_table))
		t = BPF_CORE_READ(proto, h.udp_table);
	if (!t && bpf_core_field_exists(net->ipv4.udp_table))
		t = BPF_CORE_READ(net, ipv4.udp_table);
	if (!t) {
		w->found = 1;	/* nobody can tell */
		return;
	}
	w->mask = BPF_CORE_READ(t, mask);
	at = (w->d.port + BPF_CORE_READ(net, hash_mix)) & w->mask;
	slot = (void *)((__u64)BPF_CORE_READ(t, hash) +
			at * bpf_core_type_size(struct udp_hslot));
	w->node = (__u64)BPF_CORE_READ(slot, head.first);
}

static __noinline void tcp_first(struct lh_share *w)
{
	struct inet_connection_sock *sk = (void *)w->sk;
	struct inet_bind_bucket *b = BPF_CORE_READ(sk, icsk_bind_hash);

	if (!b)
		return;
	if (bpf_core_field_exists(b->bhash2))
		w->bucket = (__u64)BPF_CORE_READ(b, bhash2.first);
	else
		w->node = (__u64)BPF_CORE_READ(b, owners.first);
}

__noinline int lh_shares(struct lh_share *q)
{
	struct share_walk walk = { .q = q };
	struct sock *sk;
	int i;

	if (!q)
		return 1;
	sk = (struct sock *)q->sk;
	q->net = (__u64)BPF_CORE_READ(sk, __sk_common.skc_net.net);
	q->found = 0;
	for (i = 0; i < SHARE_TRIES; i++) {
		q->bucket = q->node = 0;
		q->end = WALKING;
		if (q->d.protocol == LH_UDP) {
			udp_first(q);
			bpf_loop(SHARE_MAX, share_udp, &walk, 0);
		} else {
			tcp_first(q);
			bpf_loop(SHARE_MAX, share_tcp, &walk, 0);
		}
		if (q->found || q->end != TORN)
			break;
	}
	return q->found || q->end != WALKED;
}
