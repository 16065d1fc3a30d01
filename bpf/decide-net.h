/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The decision on addresses, once: what a socket may be, what a sockaddr says,
 * and whether a session may reach it. Pure inline C over abi.h; the kernel's
 * programs, `lh-policy explain` and the tests run this text. The fall-through
 * is a refusal.
 */
#ifndef LH_DECIDE_NET_H
#define LH_DECIDE_NET_H

#include "abi.h"

#ifndef __always_inline
#define __always_inline inline __attribute__((__always_inline__))
#endif

/* The kernel's numbers; its headers and the C library's do not mix. */
#define LH_AF_UNSPEC 0
#define LH_AF_UNIX 1
#define LH_AF_INET 2
#define LH_AF_INET6 10
#define LH_AF_NETLINK 16
#define LH_TCP 6
#define LH_UDP 17
#define LH_MPTCP 262

#define LH_SOCKADDR_BYTES 28	/* of an IPv6 address, the longest of these */

/* The other end, in one form whatever clothes it came in. */
struct lh_dest {
	__u32 family;		/* LH_AF_INET: the first four of addr */
	__u16 port;		/* host order */
	__u16 protocol;		/* LH_TCP or LH_UDP */
	__u8 addr[16];
};

/* Whom of those that listen there a session reaches. */
enum lh_reach { LH_REACH_NONE, LH_REACH_OWN, LH_REACH_ANY };

struct lh_reached {
	__u32 reach;		/* enum lh_reach */
	__u16 why;		/* enum lh_why */
	__u16 rule;
};

static __always_inline _Bool lh_socket_may(__u32 flags, int family, int type,
					   int protocol)
{
	type &= 0xf;
	if (family == LH_AF_UNIX)
		return 1;
	if (!(flags & LH_SESSION_INET))
		return 0;
	/* Interfaces, addresses, routes; to change them takes a capability. */
	if (family == LH_AF_NETLINK)
		return protocol == 0 && (type == 2 || type == 3);
	if (family != LH_AF_INET && family != LH_AF_INET6)
		return 0;
	if (type == 1)
		return (flags & (LH_SESSION_INET & ~LH_SESSION_LOOP_UDP)) &&
		       (!protocol || protocol == LH_TCP ||
			protocol == LH_MPTCP);
	return type == 2 && (!protocol || protocol == LH_UDP) &&
	       (flags & (LH_SESSION_INET & ~LH_SESSION_LOOP_TCP));
}

/* LH_TCP, LH_UDP, or 0 for what no session has use for. */
static __always_inline __u16 lh_protocol(__u32 protocol)
{
	return protocol == LH_TCP || protocol == LH_MPTCP ? LH_TCP :
	       protocol == LH_UDP ? LH_UDP : 0;
}

static __always_inline _Bool lh_is_mapped(const __u8 a[16])
{
	return !(a[0] | a[1] | a[2] | a[3] | a[4] | a[5] | a[6] | a[7] |
		 a[8] | a[9]) && a[10] == 0xff && a[11] == 0xff;
}

/* IPv4 in IPv6 clothes is IPv4. */
static __always_inline void lh_dest_plain(struct lh_dest *d)
{
	if (d->family != LH_AF_INET6 || !lh_is_mapped(d->addr))
		return;
	d->family = LH_AF_INET;
	d->addr[0] = d->addr[12];
	d->addr[1] = d->addr[13];
	d->addr[2] = d->addr[14];
	d->addr[3] = d->addr[15];
	d->addr[4] = d->addr[5] = d->addr[6] = d->addr[7] = 0;
	d->addr[8] = d->addr[9] = d->addr[10] = d->addr[11] = 0;
	d->addr[12] = d->addr[13] = d->addr[14] = d->addr[15] = 0;
}

/*
 * Of the sockaddr @a, LH_SOCKADDR_BYTES readable, @len of them given. The
 * socket's family counts for nothing: an IPv6 one takes both. False: no inet
 * address, or too short for the kernel to take it.
 */
static __always_inline _Bool lh_dest_read(struct lh_dest *d, const __u8 *a,
					  __u32 len)
{
	__u32 family = a[0] | a[1] << 8;
	int i;

	d->family = family == LH_AF_UNSPEC ? LH_AF_INET : family;
	d->port = a[2] << 8 | a[3];
	for (i = 0; i < 16; i++)
		d->addr[i] = 0;
	if (d->family == LH_AF_INET) {
		for (i = 0; i < 4; i++)
			d->addr[i] = a[4 + i];
		return len >= 16;
	}
	if (d->family != LH_AF_INET6)
		return 0;
	for (i = 0; i < 16; i++)
		d->addr[i] = a[8 + i];
	lh_dest_plain(d);
	return len >= 24;
}

static __always_inline _Bool lh_dest_is_any(const struct lh_dest *d)
{
	__u8 all = 0;
	int i;

	for (i = 0; i < 16; i++)
		all |= d->addr[i];
	return !all;
}

/* One datagram to it comes to every socket that shares the port. */
static __always_inline _Bool lh_dest_is_all(const struct lh_dest *d)
{
	return d->family == LH_AF_INET && d->addr[0] == 127 &&
	       (d->addr[1] & d->addr[2] & d->addr[3]) == 255;
}

/* As a destination the address of nobody is loopback too. */
static __always_inline _Bool lh_dest_is_loopback(const struct lh_dest *d)
{
	__u8 head = 0;
	int i;

	if (d->family == LH_AF_INET)
		return d->addr[0] == 127 || lh_dest_is_any(d);
	if (d->family != LH_AF_INET6)
		return 0;
	for (i = 0; i < 15; i++)
		head |= d->addr[i];
	return !head && d->addr[15] <= 1;
}

/* The address of nobody is where the kernel will go: to 127.0.0.1 or ::1. */
static __always_inline void lh_dest_settle(struct lh_dest *d)
{
	if (!lh_dest_is_any(d))
		return;
	if (d->family == LH_AF_INET)
		d->addr[0] = 127;
	d->addr[d->family == LH_AF_INET ? 3 : 15] = 1;
}

static __always_inline __u32 lh_loop_flag(__u16 protocol)
{
	return protocol == LH_TCP ? LH_SESSION_LOOP_TCP :
	       protocol == LH_UDP ? LH_SESSION_LOOP_UDP : 0;
}

/*
 * May a session with these flags reach @d? @egress is what the policy says of
 * the address, @port whether it opens that port of the host's loopback; either
 * may be NULL. A deny stands before all else.
 */
static __always_inline void
lh_decide_reach(__u32 flags, const struct lh_dest *d,
		const struct lh_port_rule *egress,
		const struct lh_port_rule *port, struct lh_reached *v)
{
	_Bool loopback = lh_dest_is_loopback(d);

	if (lh_dest_is_all(d)) {
		v->reach = LH_REACH_NONE;
		v->why = LH_WHY_NEVER;
		v->rule = LH_RULE_NONE;
		return;
	}
	v->reach = LH_REACH_NONE;
	v->why = LH_WHY_NOT_GRANTED;
	v->rule = LH_RULE_NONE;
	if (egress && egress->say == LH_SAY_DENY) {
		v->why = LH_WHY_DENIED;
		v->rule = egress->rule;
	} else if (egress && egress->say == LH_SAY_ALLOW) {
		v->reach = LH_REACH_ANY;
		v->rule = egress->rule;
	} else if (loopback && port) {
		v->reach = LH_REACH_ANY;
		v->rule = port->rule;
	} else if (loopback) {
		if (flags & lh_loop_flag(d->protocol))
			v->reach = LH_REACH_OWN;
	} else if (egress) {
		v->why = LH_WHY_DENIED;
		v->rule = egress->rule;
	} else if (flags & LH_SESSION_ALLOW) {
		v->reach = LH_REACH_ANY;
	}
	if (v->reach != LH_REACH_NONE)
		v->why = LH_WHY_ALLOW;
}

/*
 * With destinations beyond loopback, who is bound to any address may be a
 * client: it stays there, and who knocks at it elsewhere is refused.
 */
static __always_inline _Bool lh_leaves_any(__u32 flags)
{
	return (flags & LH_SESSION_NARROW) && (flags & LH_SESSION_EGRESS);
}

/*
 * May it have its own end at @d? *narrow: only if that becomes loopback. A
 * socket at no port of its own choice has what the kernel gives to one that
 * sends first: whom that talks to is judged by destination.
 */
static __always_inline _Bool lh_decide_bind(__u32 flags,
					    const struct lh_dest *d,
					    _Bool *narrow)
{
	_Bool may = (flags & lh_loop_flag(d->protocol)) &&
		    lh_dest_is_loopback(d) && !lh_dest_is_all(d);

	*narrow = lh_dest_is_any(d);
	if (!*narrow || d->port)
		return may && (!*narrow || (flags & LH_SESSION_NARROW));
	if (d->protocol == LH_UDP) {
		*narrow = 0;
		return 1;
	}
	*narrow = !lh_leaves_any(flags);
	return may && (flags & LH_SESSION_NARROW);
}

/* May it listen there? Nobody but TCP does. */
static __always_inline _Bool lh_decide_listen(__u32 flags,
					      const struct lh_dest *d)
{
	_Bool any;

	return d->port && lh_decide_bind(flags, d, &any) &&
	       (!any || lh_leaves_any(flags));
}

#endif
