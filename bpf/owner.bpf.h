/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who is at the other end, for the programs of the sessions' cgroups: whose
 * socket would take a packet, and what is remembered of those before.
 */
#ifndef LH_OWNER_BPF_H
#define LH_OWNER_BPF_H

#include "pair.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, LH_FLOWS_MAX);
	__type(key, struct lh_flow);
	__type(value, __u64);
} lh_flows SEC(".maps");

#define TCP_SYN_SENT 2
#define TCP_LISTEN 10
#define NOBODY_EVERY 100000000ULL	/* ns */

/* Of a socket of the host's that asked at a published port: since when. */
struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, __u64);
} lh_clients SEC(".maps");

static __always_inline void flow_key(struct lh_flow *f, const struct pair *p,
				     __u16 kind)
{
	f->serial = p->q.serial;
	__builtin_memcpy(f->peer, p->q.d.addr, sizeof(f->peer));
	f->peer_port = p->q.d.port;
	f->own_port = p->own.port;
	f->protocol = p->q.d.protocol;
	f->kind = kind;
}

static __noinline void flow_note(struct pair *p, __u16 kind, __u64 time)
{
	struct lh_flow f;

	flow_key(&f, p, kind);
	bpf_map_update_elem(&lh_flows, &f, &time, BPF_ANY);
}

static __noinline __u64 flow_time(struct pair *p, __u16 kind)
{
	struct lh_flow f;
	__u64 *t;

	flow_key(&f, p, kind);
	t = bpf_map_lookup_elem(&lh_flows, &f);
	return t ? *t : 0;
}

/*
 * A datagram to a port that nobody holds; its receiver may come while it is
 * under way. Now and then one goes, for its sender to hear that nobody took it.
 */
static __noinline bool flow_may_try(struct pair *p)
{
	struct lh_flow f = {
		.serial = p->q.serial, .peer_port = p->q.d.port,
		.protocol = p->q.d.protocol, .kind = LH_FLOW_NOBODY,
	};
	__u64 now = bpf_ktime_get_ns();
	__u64 *t = bpf_map_lookup_elem(&lh_flows, &f);

	if (t && now - *t < NOBODY_EVERY)
		return false;
	bpf_map_update_elem(&lh_flows, &f, &now, BPF_ANY);
	return true;
}

/*
 * The session's datagrams say whose they are, in a priority above those that
 * can be asked for without a capability, and whether somebody else may have
 * them; the low bits are left as they were.
 */
#define STAMP 0x40000000u
#define STAMP_FREE 0x80000000u
#define STAMP_LOW 0xfu

static __always_inline __u32 stamp_of(struct pair *p)
{
	return STAMP | (__u32)(p->q.serial & 0x7fffffe) << 3;
}

static __always_inline bool stamp_is_own(struct pair *p, __u32 priority)
{
	return (priority & ~(STAMP_FREE | STAMP_LOW)) == stamp_of(p);
}

/* For nobody but who sent it */
static __always_inline bool stamp_is_closed(__u32 priority)
{
	return (priority & (STAMP | STAMP_FREE)) == STAMP;
}

/* OWNER_SESSION: another one, which does not publish that port. */
enum owner { OWNER_NONE, OWNER_SELF, OWNER_HOST, OWNER_SESSION };

static __always_inline void tuple4(struct bpf_sock_tuple *t,
				   const struct lh_dest *from,
				   const struct lh_dest *to)
{
	__builtin_memcpy(&t->ipv4.saddr, from->addr, 4);
	__builtin_memcpy(&t->ipv4.daddr, to->addr, 4);
	t->ipv4.sport = __builtin_bswap16(from->port);
	t->ipv4.dport = __builtin_bswap16(to->port);
}

static __always_inline void tuple6(struct bpf_sock_tuple *t,
				   const struct lh_dest *from,
				   const struct lh_dest *to)
{
	__builtin_memcpy(&t->ipv6.saddr, from->addr, 16);
	__builtin_memcpy(&t->ipv6.daddr, to->addr, 16);
	t->ipv6.sport = __builtin_bswap16(from->port);
	t->ipv6.dport = __builtin_bswap16(to->port);
}

/* What takes what comes from @from to @to. To be released. */
static __always_inline struct bpf_sock *sock_at(void *c, struct lh_dest *from,
						struct lh_dest *to)
{
	struct bpf_sock_tuple t = {};

	if (to->family == LH_AF_INET) {
		tuple4(&t, from, to);
		if (to->protocol == LH_TCP)
			return bpf_sk_lookup_tcp(c, &t, sizeof(t.ipv4),
						 BPF_F_CURRENT_NETNS, 0);
		return bpf_sk_lookup_udp(c, &t, sizeof(t.ipv4),
					 BPF_F_CURRENT_NETNS, 0);
	}
	tuple6(&t, from, to);
	if (to->protocol == LH_TCP)
		return bpf_sk_lookup_tcp(c, &t, sizeof(t.ipv6),
					 BPF_F_CURRENT_NETNS, 0);
	return bpf_sk_lookup_udp(c, &t, sizeof(t.ipv6), BPF_F_CURRENT_NETNS,
				 0);
}

/*
 * Is anything kept at @to of a connection that begins at @from? Who listens
 * there is not that, nor one who would connect the other way round.
 */
static __noinline bool is_begun(void *c, struct lh_dest *from,
				struct lh_dest *to)
{
	struct bpf_sock_tuple t = {};
	struct bpf_sock *sk;
	bool begun;

	if (to->family == LH_AF_INET) {
		tuple4(&t, from, to);
		sk = bpf_skc_lookup_tcp(c, &t, sizeof(t.ipv4),
					BPF_F_CURRENT_NETNS, 0);
	} else {
		tuple6(&t, from, to);
		sk = bpf_skc_lookup_tcp(c, &t, sizeof(t.ipv6),
					BPF_F_CURRENT_NETNS, 0);
	}
	if (!sk)
		return false;
	begun = sk->state != TCP_LISTEN && sk->state != TCP_SYN_SENT;
	bpf_sk_release(sk);
	return begun;
}

/* A port that another session publishes is as one of the host's. */
static __noinline int owner_publishes(__u64 serial, struct lh_dest *d)
{
	__u32 slot = lh_slot_of(serial);
	struct lh_session *s = bpf_map_lookup_elem(&lh_sessions, &slot);

	return s && s->serial == serial && (s->flags & LH_SESSION_PUBLISH) &&
	       lh_port_find(serial, LH_NODE_PUBLISH, d->protocol, d->port);
}

/* Whose is it? p->client: what client_note() wrote there. */
static __noinline int owner_of(void *c, struct lh_dest *from,
			       struct lh_dest *to, struct pair *p)
{
	struct bpf_sock *sk = sock_at(c, from, to);
	struct lh_socket *owner;
	__u64 *client, other = 0;
	int who = OWNER_HOST;

	p->client = 0;
	if (!sk)
		return OWNER_NONE;
	owner = bpf_sk_storage_get(&lh_sockets, sk, 0, 0);
	if (owner && owner->serial == p->q.serial) {
		who = OWNER_SELF;
	} else {
		other = owner ? owner->serial : 0;
		client = bpf_sk_storage_get(&lh_clients, sk, 0, 0);
		p->client = client ? *client : 0;
	}
	bpf_sk_release(sk);
	if (other && !owner_publishes(other, to))
		who = OWNER_SESSION;
	return who;
}

/*
 * A datagram has come to a published port: that very socket may be answered.
 * Who is at its port when it is gone has not asked.
 */
static __noinline void client_note(void *c, struct pair *p)
{
	struct bpf_sock *sk = sock_at(c, &p->own, &p->q.d);
	__u64 now = bpf_ktime_get_ns(), *since;

	if (!sk)
		return;
	since = bpf_sk_storage_get(&lh_clients, sk, &now,
				   BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (since)
		now = *since;
	bpf_sk_release(sk);
	flow_note(p, LH_FLOW_CLIENT, now);
}

/* Is whom owner_of() found one that has asked? */
static __always_inline bool is_client(struct pair *p)
{
	return p->q.d.protocol == LH_UDP && p->client &&
	       p->client == flow_time(p, LH_FLOW_CLIENT);
}

/* Another session is reached by no rule, the host's by one for its address. */
static __always_inline bool owner_is_reached(int who, __u32 reach)
{
	return who < OWNER_HOST || (who == OWNER_HOST &&
				    reach == LH_REACH_ANY);
}

#endif
