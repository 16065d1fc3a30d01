// SPDX-License-Identifier: GPL-2.0-only
/*
 * The second layer, for the sockets of the sessions' cgroups, whoever calls:
 * attached where these cgroups lie, so no packet of the host's runs any of it.
 *   cgroup/bind4,6      no port that somebody else answers at; to any: narrowed
 *   cgroup/connect4,6   judged again; on loopback, who listens there
 *   cgroup_skb/egress   each SYN and datagram, with what is on the wire; of
 *                       each packet, whether what is for loopback goes there
 *   cgroup_skb/ingress  who knocks: itself, or at a port that is published; and
 *                       who answers
 * cgroup/sendmsg would see each datagram once more, and makes every UDP socket
 * of the host take its lock for each.
 */
#include "owner.bpf.h"

#define HOST_LOOPBACK 0x7f000001u
#define IPV6_JUMBO 194		/* the one option in such a packet */
#define LOOPED 5		/* PACKET_LOOPBACK: a copy of what has left */
#define RTCF_BROADCAST 0x10000000

static __always_inline void dest_of(struct lh_dest *d,
				    struct bpf_sock_addr *c, bool v6)
{
	__u32 a[4];

	d->family = v6 ? LH_AF_INET6 : LH_AF_INET;
	if (v6) {
		a[0] = c->user_ip6[0];
		a[1] = c->user_ip6[1];
		a[2] = c->user_ip6[2];
		a[3] = c->user_ip6[3];
		__builtin_memcpy(d->addr, a, sizeof(a));
	} else {
		a[0] = c->user_ip4;
		__builtin_memcpy(d->addr, a, sizeof(a[0]));
	}
	d->port = __builtin_bswap16(c->user_port);
	d->protocol = lh_protocol(c->protocol);
	lh_dest_plain(d);
}

static __noinline int addr_reach(struct bpf_sock_addr *c, struct pair *p)
{
	struct lh_dest none = {};
	int who;

	lh_reach(&p->q);
	if (p->q.v.reach == LH_REACH_NONE)
		return addr_refuse(p, p->q.v.why, p->q.v.rule, EACCES);
	if (p->q.v.reach == LH_REACH_ANY && !lh_dest_is_loopback(&p->q.d))
		return 1;
	lh_dest_settle(&p->q.d);
	who = owner_of(c, &none, &p->q.d, p);
	if (owner_is_reached(who, p->q.v.reach) || is_client(p))
		return 1;
	return addr_refuse(p, LH_WHY_PEER, 0, EACCES);
}

static __always_inline int connect_judge(struct bpf_sock_addr *c, bool v6)
{
	struct pair p = {
		.op = LH_OP_CONNECT, .hook = LH_HOOK_cgroup_connect,
	};

	if (!pair_begin(&p, c->sk))
		return 1;
	if (!p.s)
		return 0;
	dest_of(&p.q.d, c, v6);
	if (c->sk)
		p.own.port = c->sk->src_port;
	return addr_reach(c, &p);
}

SEC("cgroup/connect4")
int inet_connect4(struct bpf_sock_addr *c)
{
	return connect_judge(c, false);
}

SEC("cgroup/connect6")
int inet_connect6(struct bpf_sock_addr *c)
{
	return connect_judge(c, true);
}

enum bind { BIND_REFUSE, BIND_AS_IT_IS, BIND_NARROW };

/* BIND_NARROW: once @c names loopback. */
static __noinline int bind_judge(struct bpf_sock_addr *c, struct pair *p)
{
	struct lh_dest none = {};
	bool narrow;

	if (!lh_decide_bind(p->q.flags, &p->q.d, &narrow))
		return addr_refuse(p, LH_WHY_NOT_GRANTED, 0, EACCES);
	lh_dest_settle(&p->q.d);
	/* A group shared with a listener of the host would rob it. */
	if (p->q.d.port && owner_of(c, &none, &p->q.d, p) >= OWNER_HOST)
		return addr_refuse(p, LH_WHY_PEER, 0, EADDRINUSE);
	return narrow ? BIND_NARROW : BIND_AS_IT_IS;
}

SEC("cgroup/bind4")
int inet_bind4(struct bpf_sock_addr *c)
{
	struct pair p = { .op = LH_OP_BIND, .hook = LH_HOOK_cgroup_bind };
	int how;

	if (!pair_begin(&p, c->sk))
		return 1;
	if (!p.s)
		return 0;
	dest_of(&p.q.d, c, false);
	how = bind_judge(c, &p);
	if (how == BIND_NARROW)
		c->user_ip4 = __builtin_bswap32(HOST_LOOPBACK);
	return how != BIND_REFUSE;
}

/* Of both kinds it becomes the one that clients try first: 127.0.0.1. */
SEC("cgroup/bind6")
int inet_bind6(struct bpf_sock_addr *c)
{
	struct pair p = { .op = LH_OP_BIND, .hook = LH_HOOK_cgroup_bind };
	bool v6only = false;
	int how;
	struct tcp6_sock *tcp;
	struct udp6_sock *udp;
	struct sock *sk = NULL;

	if (!pair_begin(&p, c->sk))
		return 1;
	if (!p.s)
		return 0;
	dest_of(&p.q.d, c, true);
	if (lh_dest_is_any(&p.q.d) && c->sk) {
		tcp = bpf_skc_to_tcp6_sock(c->sk);
		udp = tcp ? NULL : bpf_skc_to_udp6_sock(c->sk);
		if (tcp)
			sk = &tcp->tcp.inet_conn.icsk_inet.sk;
		else if (udp)
			sk = &udp->udp.inet.sk;
		if (sk)
			v6only = BPF_CORE_READ_BITFIELD(&sk->__sk_common,
							skc_ipv6only);
	}
	if (lh_dest_is_any(&p.q.d) && !v6only)
		p.q.d.family = LH_AF_INET;
	how = bind_judge(c, &p);
	if (how != BIND_NARROW)
		return how != BIND_REFUSE;
	c->user_ip6[0] = 0;
	c->user_ip6[1] = 0;
	c->user_ip6[2] = v6only ? 0 : __builtin_bswap32(0xffffu);
	c->user_ip6[3] = __builtin_bswap32(v6only ? 1 : HOST_LOOPBACK);
	return 1;
}

/* What a packet is to a connection; each datagram opens one. */
enum step { GOES_ON, OPENS, ANSWERS };

/* What the packet says. False, with no ports: not TCP nor UDP, or options. */
static __always_inline bool skb_read(struct __sk_buff *skb,
				     struct lh_dest *from, struct lh_dest *to,
				     int *step)
{
	__u16 ports[2];
	__u8 head[40], flags;
	__u32 at;

	from->family = skb->protocol == __builtin_bswap16(0x0800) ?
		       LH_AF_INET : LH_AF_INET6;
	if (from->family == LH_AF_INET) {
		if (bpf_skb_load_bytes(skb, 0, head, 20))
			return false;
		__builtin_memcpy(from->addr, head + 12, 4);
		__builtin_memcpy(to->addr, head + 16, 4);
		from->protocol = head[9];
		at = 20;
	} else {
		if (bpf_skb_load_bytes(skb, 0, head, 40))
			return false;
		__builtin_memcpy(from->addr, head + 8, 16);
		__builtin_memcpy(to->addr, head + 24, 16);
		from->protocol = head[6];
		at = 40;
		/* More than 64 kB at once, where the device takes that. */
		if (!from->protocol) {
			if (bpf_skb_load_bytes(skb, at, head, 8) || head[1] ||
			    head[2] != IPV6_JUMBO)
				return false;
			from->protocol = head[0];
			at = 48;
		}
	}
	to->family = from->family;
	to->protocol = from->protocol;
	if (from->protocol != LH_TCP && from->protocol != LH_UDP)
		return false;
	if (from->family == LH_AF_INET && head[0] != 0x45)
		return false;
	if (bpf_skb_load_bytes(skb, at, ports, sizeof(ports)))
		return false;
	from->port = __builtin_bswap16(ports[0]);
	to->port = __builtin_bswap16(ports[1]);
	*step = OPENS;
	if (from->protocol == LH_TCP) {
		if (bpf_skb_load_bytes(skb, at + 13, &flags, 1))
			return false;
		*step = !(flags & 0x02) ? GOES_ON :	/* SYN, ACK */
			flags & 0x10 ? ANSWERS : OPENS;
	}
	return true;
}

/* A socket that closed may hide behind who listens: ask without it too. */
static __noinline int listener_of(void *c, struct pair *p)
{
	int who = owner_of(c, &p->own, &p->q.d, p);
	struct lh_dest none = {};

	return who != OWNER_NONE ? who : owner_of(c, &none, &p->q.d, p);
}

/* A record for the first packet; TCP tries again, with the same four. */
static __noinline int skb_refuse(struct pair *p, bool task, __u16 why,
				 __u16 rule)
{
	if (p->q.d.protocol != LH_UDP) {
		if (flow_time(p, LH_FLOW_TOLD))
			return 0;
		flow_note(p, LH_FLOW_TOLD, 1);
	}
	return pair_refuse(p, task, why, rule, -EPERM);
}

/* A datagram, and the first SYN, leave while who sends them is in the call. */
static __noinline int egress_refuse(struct pair *p, __u16 why, __u16 rule)
{
	return skb_refuse(p, pair_is_caller(p), why, rule);
}

#define LET_FALL 2		/* as a packet that was lost on its way */

/*
 * Nobody, or one of the session's own, is where none but those may be. Who
 * takes the first packet of a connection is judged when he answers; he shall
 * have none of its data, which TCP sends again.
 */
static __noinline int egress_to_own(struct __sk_buff *skb, struct pair *p,
				    int who)
{
	__u32 at = p->q.d.family == LH_AF_INET ? 20 : 40;
	__u8 words;

	if (p->q.d.protocol == LH_UDP)
		return who != OWNER_NONE || flow_may_try(p) ? 1 : LET_FALL;
	if (bpf_skb_load_bytes(skb, at + 12, &words, 1))
		return LET_FALL;
	return skb->len <= at + (words >> 4) * 4 ? 1 : LET_FALL;
}

/* May its own copy come back, as that of a group does? */
static __always_inline bool skb_returns(const struct lh_dest *d, bool near)
{
	return near || d->addr[0] >= (d->family == LH_AF_INET ? 224 : 255);
}

/* Does it go to all of a network? The kernel has a route that says so. */
static __always_inline bool skb_is_for_all(struct __sk_buff *skb)
{
	struct sk_buff *real = (struct sk_buff *)skb;
	struct rtable *route;

	if (skb->protocol != __builtin_bswap16(0x0800))
		return false;
	/* The lowest bit says who holds it. */
	route = (struct rtable *)(BPF_CORE_READ(real, _skb_refdst) & ~1UL);
	return BPF_CORE_READ(route, rt_flags) & RTCF_BROADCAST;
}

SEC("cgroup_skb/egress")
int inet_egress(struct __sk_buff *skb)
{
	struct pair p = {
		.op = LH_OP_CONNECT, .hook = LH_HOOK_cgroup_skb_egress,
	};
	struct bpf_sock *sk = skb->sk;
	int who = OWNER_HOST, step = OPENS;
	bool near, strays;

	if (sk)
		sk = bpf_sk_fullsock(sk);
	if (!pair_begin(&p, sk))
		return 1;
	if (!skb_read(skb, &p.own, &p.q.d, &step))
		return p.s ? skb_refuse(&p, false, LH_WHY_FAMILY, 0) : 0;
	near = skb->ifindex == LH_LOOPBACK_DEVICE;
	strays = !near && lh_dest_is_loopback(&p.q.d);
	if (!p.s)
		return step != OPENS && !strays && pair_is_left(sk);
	if (p.q.d.protocol == LH_UDP || step != OPENS)
		p.op = LH_OP_SEND;
	if (step != OPENS)
		return strays ? egress_refuse(&p, LH_WHY_NEVER, 0) : 1;
	lh_reach(&p.q);
	if (strays && p.q.v.reach)
		return egress_refuse(&p, LH_WHY_NEVER, 0);
	if (p.q.v.reach == LH_REACH_NONE)
		return egress_refuse(&p, p.q.v.why, p.q.v.rule);
	if (skb_is_for_all(skb) && !lh_is_named(&p.q))
		return egress_refuse(&p, LH_WHY_NOT_GRANTED, 0);
	/* The host's own other addresses are near, too. */
	if (near) {
		who = listener_of(skb, &p);
		if (!owner_is_reached(who, p.q.v.reach) && !is_client(&p))
			return egress_refuse(&p, LH_WHY_PEER, 0);
	}
	if (p.q.d.protocol == LH_UDP && skb_returns(&p.q.d, near))
		skb->priority = (skb->priority & STAMP_LOW) | stamp_of(&p) |
				(who >= OWNER_HOST ||
				 p.q.v.reach == LH_REACH_ANY ? STAMP_FREE : 0);
	return p.q.v.reach == LH_REACH_OWN ? egress_to_own(skb, &p, who) : 1;
}

/*
 * Who took the first packet, whoever was there when it left: a connection to
 * who came in between never comes to be. Nor does one of which nothing is kept
 * there (a SYN cookie): who comes next at that port could end its handshake.
 */
static __noinline int answer_judge(struct __sk_buff *skb, struct pair *p)
{
	int who;

	p->op = LH_OP_CONNECT;
	lh_reach(&p->q);
	if (p->q.v.reach == LH_REACH_ANY &&
	    skb->ifindex != LH_LOOPBACK_DEVICE)
		return 1;
	who = owner_of(skb, &p->own, &p->q.d, p);
	/* The host may send it elsewhere, where no look-up finds it. */
	if (!owner_is_reached(who, p->q.v.reach) ||
	    (who == OWNER_NONE && p->q.v.reach != LH_REACH_ANY))
		return skb_refuse(p, false, LH_WHY_PEER, 0);
	return p->q.v.reach == LH_REACH_ANY ||
	       is_begun(skb, &p->own, &p->q.d);
}

/*
 * Of what goes to all of a network, or to a group, a copy comes in before it is
 * seen to leave, while who sends it is in the call.
 */
static __noinline int is_ours(void *c, struct pair *p)
{
	return pair_is_caller(p) &&
	       owner_of(c, &p->own, &p->q.d, p) == OWNER_SELF;
}

SEC("cgroup_skb/ingress")
int inet_ingress(struct __sk_buff *skb)
{
	struct pair p = {
		.op = LH_OP_ACCEPT, .hook = LH_HOOK_cgroup_skb_ingress,
	};
	struct bpf_sock *sk = skb->sk;
	int step = OPENS, who = OWNER_NONE;
	bool udp, beyond, ends = false;

	if (sk)
		sk = bpf_sk_fullsock(sk);
	if (!pair_begin(&p, sk))
		return 1;
	if (!skb_read(skb, &p.q.d, &p.own, &step))
		return 0;
	udp = p.q.d.protocol == LH_UDP;
	beyond = !udp && !lh_dest_is_loopback(&p.own);
	/*
	 * The end of a handshake: beyond loopback it had no beginning, here
	 * that may have been with another listener, so it is judged as one.
	 */
	if (sk && sk->state == TCP_LISTEN && step != OPENS) {
		if (beyond)
			return 0;
		ends = step == GOES_ON;
	}
	if (p.s && step == ANSWERS)
		return answer_judge(skb, &p);
	if (ends)
		step = OPENS;
	if (!p.s || step != OPENS)
		return step != OPENS && (p.s || pair_is_left(sk));
	/* What listens there does so for loopback. */
	if (beyond)
		return skb_refuse(&p, false, LH_WHY_NOT_GRANTED, 0);
	if (udp) {
		/* Its own: who is at the sender's port may be another now. */
		if (stamp_is_own(&p, skb->priority))
			return 1;
		/* So may who is at this one. */
		if (stamp_is_closed(skb->priority))
			return skb_refuse(&p, false, LH_WHY_PEER, 0);
		/* An answer from whom it may send to */
		lh_reach(&p.q);
		if (skb->pkt_type == LOOPED ? is_ours(skb, &p) :
		    p.q.v.reach == LH_REACH_ANY)
			return 1;
	} else {
		who = owner_of(skb, &p.own, &p.q.d, &p);
		if (who == OWNER_SELF)
			return 1;
	}
	if ((p.q.flags & LH_SESSION_PUBLISH) &&
	    lh_port_find(p.q.serial, LH_NODE_PUBLISH, p.own.protocol,
			 p.own.port)) {
		if (udp)
			client_note(skb, &p);
		return 1;
	}
	/* One of its own that is gone already */
	if (ends && who == OWNER_NONE)
		return 0;
	return skb_refuse(&p, false, LH_WHY_PEER, 0);
}
