/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the two layers of the network share: the tables of destinations, and
 * the look-up in them.
 */
#ifndef LH_INET_BPF_H
#define LH_INET_BPF_H

#include "core.bpf.h"
#include "decide-net.h"

extern struct lh_net_map {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, LH_NET_TABLE_MAX);
	__type(key, struct lh_net_key);
	__type(value, __u32);		/* node */
} lh_nets SEC(".maps");

extern struct lh_port_map {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, LH_NET_TABLE_MAX);
	__type(key, struct lh_port_key);
	__type(value, struct lh_port_rule);
} lh_ports SEC(".maps");

#define LH_LOOPBACK_DEVICE 1	/* its index, in each network namespace */

/* Levels of options, and of what goes along with a message */
#define LH_SOL_IP 0
#define LH_SOL_IPV6 41

/* May this option of IPv6 send a packet elsewhere first? */
static __always_inline bool lh_option_routes(int level, int name)
{
	return level == LH_SOL_IPV6 &&
	       (name == 3 ||		/* IPV6_2292HOPOPTS */
		name == 4 ||		/* IPV6_2292DSTOPTS */
		name == 5 ||		/* IPV6_2292RTHDR */
		name == 6 ||		/* IPV6_2292PKTOPTIONS */
		name == 32 ||		/* IPV6_FLOWLABEL_MGR: it keeps some */
		name == 54 ||		/* IPV6_HOPOPTS */
		name == 55 ||		/* IPV6_RTHDRDSTOPTS */
		name == 57 ||		/* IPV6_RTHDR */
		name == 59);		/* IPV6_DSTOPTS */
}

struct lh_question {
	__u64 serial;
	__u32 flags;		/* of the session */
	__u32 around;		/* without rules for one address of IPv4 */
	struct lh_dest d;
	struct lh_reached v;	/* the answer */
};

/* Fills in q->v. Always returns 0. */
int lh_reach(struct lh_question *q);

/* After lh_reach(): by a rule for this address, not for those around it? */
int lh_is_named(struct lh_question *q);

/* The search for an address among those of all of a network. */
struct lh_all {
	__u64 sk;		/* whose network namespace it is */
	__u64 head, node, ifa;	/* how far it has come */
	__u32 addr;
	__u32 found, done, pad;
};

/* Is it one? */
int lh_is_all(struct lh_all *q);

/* Who else is where one of a session's sockets would be. */
struct lh_share {
	__u64 sk;		/* its own */
	__u64 cgroup;		/* the session's: others' are elsewhere */
	struct lh_dest d;	/* where */
	__u64 net, bucket, node;	/* how far the search has come */
	__u32 found, end;
	__u32 mask, pad;	/* of the table of UDP */
};

/* Is somebody? Looking for an owner may not show who. */
int lh_shares(struct lh_share *q);

/* Where @sk stands itself; .protocol is left. */
static __always_inline void lh_dest_own(struct lh_dest *d, __u64 at)
{
	struct sock *sk = (struct sock *)at;

	__builtin_memset(d->addr, 0, sizeof(d->addr));
	d->family = BPF_CORE_READ(sk, __sk_common.skc_family);
	d->port = BPF_CORE_READ(sk, __sk_common.skc_num);
	if (d->family == LH_AF_INET) {
		__u32 addr = BPF_CORE_READ(sk, __sk_common.skc_rcv_saddr);

		__builtin_memcpy(d->addr, &addr, sizeof(addr));
		return;
	}
	bpf_core_read(d->addr, sizeof(d->addr),
		      &sk->__sk_common.skc_v6_rcv_saddr);
	lh_dest_plain(d);
}

/* Is @port of @protocol in the session's list @node? */
static __always_inline struct lh_port_rule *
lh_port_find(__u64 serial, __u32 node, __u16 protocol, __u16 port)
{
	struct lh_port_key k = {
		.prefixlen = LH_PORT_BITS + 32, .node = node,
		.serial = { (__u32)serial, (__u32)(serial >> 32) },
		.protocol = __builtin_bswap16(protocol),
		.port = __builtin_bswap16(port),
	};

	return bpf_map_lookup_elem(&lh_ports, &k);
}

/* Made by this session, and where the programs of its cgroup see it? */
static __always_inline bool inet_is_own(struct lh_session *s, struct sock *sk)
{
	struct lh_socket *owner = bpf_sk_storage_get(&lh_sockets, sk, 0, 0);

	return owner && owner->serial == s->serial &&
	       (__u64)sk->sk_cgrp_data.cgroup == s->cgroup;
}

static __always_inline __u32 lh_slot_of(__u64 serial)
{
	return (__u32)(serial >> 1) & (LH_SESSIONS_MAX - 1);
}

#endif
