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

struct lh_question {
	__u64 serial;
	__u32 flags;		/* of the session */
	__u32 pad;
	struct lh_dest d;
	struct lh_reached v;	/* the answer */
};

/* Fills in q->v. Always returns 0. */
int lh_reach(struct lh_question *q);

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

static __always_inline __u32 lh_slot_of(__u64 serial)
{
	return (__u32)(serial >> 1) & (LH_SESSIONS_MAX - 1);
}

#endif
