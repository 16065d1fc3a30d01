// SPDX-License-Identifier: GPL-2.0-only
/*
 * Options that lead elsewhere.
 *   socket_setsockopt   no route of its own for a packet, no choice of its own
 *                       among those who share a port; on a socket that was
 *                       given, nothing that the one below has to see
 *   cgroup/setsockopt   a multicast group only where datagrams may go to it, or
 *                       on the loopback device: joining sends a report; to
 *                       share a port only before the kernel has chosen one;
 *                       no listener takes data before a handshake
 */
#include "pair.bpf.h"

#define SOL_SOCKET 1
#define SO_REUSEADDR 2
#define SO_REUSEPORT 15
#define SO_BINDTODEVICE 25
#define SO_ATTACH_REUSEPORT_CBPF 51
#define SO_ATTACH_REUSEPORT_EBPF 52
#define SO_BINDTOIFINDEX 62
#define IP_OPTIONS 4
#define IP_ADD_MEMBERSHIP 35
#define IP_ADD_SOURCE_MEMBERSHIP 39
#define MCAST_JOIN_GROUP 42		/* of both levels */
#define MCAST_JOIN_SOURCE_GROUP 46
#define IP_UNICAST_IF 50
#define TCP_FASTOPEN 23
#define IPV6_ADD_MEMBERSHIP 20
#define IPV6_JOIN_ANYCAST 27
#define IPV6_PKTINFO 50
#define IPV6_UNICAST_IF 76

static __always_inline bool option_joins(int level, int name)
{
	if (name == MCAST_JOIN_GROUP || name == MCAST_JOIN_SOURCE_GROUP)
		return level == LH_SOL_IP || level == LH_SOL_IPV6;
	if (level == LH_SOL_IP)
		return name == IP_ADD_MEMBERSHIP ||
		       name == IP_ADD_SOURCE_MEMBERSHIP;
	return level == LH_SOL_IPV6 && (name == IPV6_ADD_MEMBERSHIP ||
					name == IPV6_JOIN_ANYCAST);
}

/*
 * A program that chooses among those who share a port: it may choose another
 * for the packet than it did when we looked who takes it.
 */
static __always_inline bool option_chooses(int level, int name)
{
	return level == SOL_SOCKET && (name == SO_ATTACH_REUSEPORT_CBPF ||
				       name == SO_ATTACH_REUSEPORT_EBPF);
}

static __always_inline bool option_shares(int level, int name)
{
	return level == SOL_SOCKET && (name == SO_REUSEADDR ||
				       name == SO_REUSEPORT);
}

/* Which device a packet to loopback goes to, too. */
static __always_inline bool option_steers(int level, int name)
{
	return level == LH_SOL_IP ? name == IP_UNICAST_IF :
	       level == LH_SOL_IPV6 && (name == IPV6_UNICAST_IF ||
					name == IPV6_PKTINFO);
}

/* The same of any socket */
static __always_inline bool option_leads(int level, int name)
{
	return level == SOL_SOCKET &&
	       (name == SO_BINDTODEVICE || name == SO_BINDTOIFINDEX);
}

static __always_inline bool option_is_inet(struct sock *sk)
{
	__u16 family = sk->__sk_common.skc_family;

	return family == LH_AF_INET || family == LH_AF_INET6;
}

static __noinline int option_refused(struct socket *sock, int level, int name)
{
	struct lh_label *l = lh_label_current();
	__u16 why = LH_WHY_ALLOW;
	struct lh_session *s;
	struct sock *sk;

	if (!l)
		return 0;
	s = lh_session_of(l);
	sk = sock->sk;
	if (!s || !sk)
		return 1;
	if (lh_option_routes(level, name) || option_chooses(level, name) ||
	    (level == LH_SOL_IP && name == IP_OPTIONS))
		why = LH_WHY_NEVER;
	else if ((option_joins(level, name) || option_steers(level, name) ||
		  (option_shares(level, name) && sk->sk_protocol == LH_UDP) ||
		  (option_leads(level, name) && option_is_inet(sk))) &&
		 !inet_is_own(s, sk))
		why = LH_WHY_PEER;
	if (!why)
		return 0;
	struct lh_report r = LH_REPORT(l, OPTION, socket_setsockopt, NEVER,
				       EACCES);

	r.why = why;
	r.family = sk->__sk_common.skc_family;
	r.protocol = sk->sk_protocol;
	lh_record(&r);
	return 1;
}

SEC("lsm/socket_setsockopt")
int BPF_PROG(inet_socket_setsockopt, struct socket *sock, int level,
	     int optname)
{
	if (lh_outside() || (level != LH_SOL_IP && level != LH_SOL_IPV6 &&
			     !option_chooses(level, optname) &&
			     !option_shares(level, optname) &&
			     !option_leads(level, optname)))
		return 0;
	return LH_RESULT(option_refused(sock, level, optname), EACCES);
}

/* The group that is asked for, and whether on loopback. False: too short. */
static __always_inline bool join_read(struct bpf_sockopt *c,
				      struct lh_dest *d, bool *near)
{
	__u8 *v = c->optval, *end = c->optval_end;
	__u32 *index = c->optval;

	if (c->optname == MCAST_JOIN_GROUP ||
	    c->optname == MCAST_JOIN_SOURCE_GROUP) {
		/* An index, and at 8 a sockaddr */
		if (v + 8 + LH_SOCKADDR_BYTES > end)
			return false;
		*near = *index == LH_LOOPBACK_DEVICE;
		return lh_dest_read(d, v + 8, LH_SOCKADDR_BYTES);
	}
	if (c->level == LH_SOL_IPV6) {
		if (v + 20 > end)
			return false;
		d->family = LH_AF_INET6;
		__builtin_memcpy(d->addr, v, 16);
		*near = index[4] == LH_LOOPBACK_DEVICE;
		return true;
	}
	/* A group, an address of the device, or an index behind that */
	if (v + 8 > end)
		return false;
	d->family = LH_AF_INET;
	__builtin_memcpy(d->addr, v, 4);
	*near = v[4] == 127;
	if (c->optname == IP_ADD_MEMBERSHIP && v + 12 <= end && index[2])
		*near = index[2] == LH_LOOPBACK_DEVICE;
	return true;
}

/*
 * As a datagram to the group, at the port that this socket would have it at.
 * What was read here is what the kernel reads: unless .optlen is set to 0 it
 * takes this copy.
 */
static __noinline int join_judge(struct bpf_sockopt *c)
{
	struct pair p = {
		.op = LH_OP_JOIN, .hook = LH_HOOK_cgroup_setsockopt,
	};
	bool near = false;

	if (!pair_begin(&p, c->sk))
		return 1;
	if (!p.s)
		return 0;
	if (!join_read(c, &p.q.d, &near))
		return 1;	/* nor does the kernel take it */
	p.q.d.protocol = LH_UDP;
	if (c->sk)
		p.q.d.port = c->sk->src_port;
	if (near && (p.q.flags & LH_SESSION_LOOP_UDP))
		return 1;
	lh_reach(&p.q);
	if (p.q.v.reach == LH_REACH_ANY)
		return 1;
	return addr_refuse(&p, p.q.v.why, p.q.v.rule, EACCES);
}

/*
 * One thread may ask for a port while another asks to share it: who comes
 * second sees the first. It has no use then, so no more than success is told;
 * else the kernel takes the value that was read here.
 */
static __always_inline bool option_is_late(struct bpf_sockopt *c)
{
	__u32 *v = c->optval;
	struct lh_socket *own;

	if (c->optlen > (int)sizeof(*v))
		c->optlen = sizeof(*v);
	if (!c->sk || c->sk->protocol != LH_UDP ||
	    (void *)(v + 1) > c->optval_end || !*v)
		return false;
	own = bpf_sk_storage_get(&lh_sockets, c->sk, 0, 0);
	return own && (__sync_fetch_and_or(&own->share, LH_SHARE_WANTED) &
		       LH_SHARE_LATE);
}

SEC("cgroup/setsockopt")
int inet_setsockopt(struct bpf_sockopt *c)
{
	if (option_joins(c->level, c->optname))
		return join_judge(c);
	if (option_shares(c->level, c->optname)) {
		if (option_is_late(c))
			c->optlen = -1;		/* and the kernel nothing */
		return 1;
	}
	/* Its clients would send data that egress_to_own() lets fall. */
	if (c->level == LH_TCP && c->optname == TCP_FASTOPEN) {
		c->optlen = -1;
		return 1;
	}
	c->optlen = 0;		/* the kernel takes what the caller has */
	return 1;
}
