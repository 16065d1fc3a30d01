// SPDX-License-Identifier: GPL-2.0-only
/*
 * Addresses, judged by who calls.
 *   socket_bind     its own end on loopback, where the policy has that
 *   socket_connect  whom it may reach; also before any handshake
 *   socket_listen   not on what no bind has judged
 *   socket_sendmsg  a destination that comes with what is sent: Fast Open too;
 *                   the first of those that go to one address
 * Who answers on loopback is for inet-cgroup.bpf.c; a socket that its programs
 * do not see reaches none of that.
 */
#include "inet.bpf.h"

#define CONTROLS_MAX 16		/* in one message; nobody needs as many */
#define IP_RETOPTS 7
#define MSG_BATCH 0x40000	/* of sendmmsg(): one more follows */
#define TCP_LISTEN 10

__noinline int lh_reach(struct lh_question *q)
{
	struct lh_port_rule *egress = NULL, *port = NULL;
	struct lh_net_key k = { .prefixlen = LH_NET_BITS + 128 };
	__u32 *node = NULL;

	if (!q)
		return 0;
	if (q->flags & LH_SESSION_EGRESS) {
		if (q->around)
			k.prefixlen = LH_NET_BITS + 31;
		k.family = q->d.family;
		k.serial = q->serial;
		__builtin_memcpy(k.addr, q->d.addr, sizeof(k.addr));
		node = bpf_map_lookup_elem(&lh_nets, &k);
	}
	if (node)
		egress = lh_port_find(q->serial, *node, q->d.protocol,
				      q->d.port);
	if (q->flags & LH_SESSION_PORTS)
		port = lh_port_find(q->serial, LH_NODE_LOOPBACK,
				    q->d.protocol, q->d.port);
	lh_decide_reach(q->flags, &q->d, egress, port, &q->v);
	return 0;
}

__noinline int lh_is_named(struct lh_question *q)
{
	struct lh_reached v;
	int named;

	if (!q)
		return 0;
	v = q->v;
	q->around = 1;
	lh_reach(q);
	named = q->v.reach != LH_REACH_ANY || q->v.rule != v.rule;
	q->around = 0;
	q->v = v;
	return named;
}

enum { PASS, REFUSE, INVALID, IN_USE };

/* One question of a hook. */
struct inet_ask {
	struct lh_label *l;
	__u64 address;		/* of the sockaddr, in the kernel */
	__u32 len;
	__u16 op, hook;
	__s64 err;		/* 0: -EACCES */
};

/* In the label's scratch: the stack has no room for it. */
struct inet_work {
	struct lh_question q;
	__u8 sa[LH_SOCKADDR_BYTES];
	__u32 pad;
	struct lh_share share;
	struct lh_all all;
	struct lh_report r;
};

_Static_assert(sizeof(struct inet_work) <= LH_SCRATCH_WORDS * 8, "room");

static __noinline int inet_refuse(struct inet_ask *a, __u16 why,
				       __u16 rule, __u32 family,
				       struct lh_dest *d)
{
	struct lh_report *r = &((struct inet_work *)a->l->scratch)->r;

	__builtin_memset(r, 0, sizeof(*r));
	r->slot = a->l->slot;
	r->op = a->op;
	r->hook = a->hook;
	r->why = why;
	r->rule = rule;
	r->err = a->err ? a->err : -EACCES;
	r->family = family;
	if (d) {
		r->family = d->family;
		r->protocol = d->protocol;
		r->port = d->port;
		__builtin_memcpy(r->addr, d->addr, sizeof(r->addr));
	}
	lh_record(r);
	return REFUSE;
}

/* Options may send a packet elsewhere first. Nobody honest has any. */
static __always_inline bool inet_has_options(struct sock *sk)
{
	struct inet_sock *inet = (struct inet_sock *)sk;

	if (BPF_CORE_READ(inet, inet_opt))
		return true;
	return sk->__sk_common.skc_family == LH_AF_INET6 &&
	       BPF_CORE_READ(inet, pinet6, opt);
}

/* The same of what goes along with one message. */
static __noinline int inet_carries_options(struct msghdr *msg)
{
	__u64 at = (__u64)msg->msg_control, left = msg->msg_controllen, step;
	struct {
		__u64 len;
		__s32 level, type;
	} c;
	int i;

	for (i = 0; i < CONTROLS_MAX; i++) {
		if (left < sizeof(c))
			return 0;
		if (bpf_probe_read_kernel(&c, sizeof(c), (void *)at) ||
		    lh_option_routes(c.level, c.type) ||
		    (!c.level && c.type == IP_RETOPTS))
			return 1;
		step = (c.len + 7) & ~7ULL;
		/* The last one, or none that the kernel takes */
		if (c.len < sizeof(c) || step < c.len || step >= left)
			return 0;
		at += step;
		left -= step;
	}
	return 1;
}

/* Another device than its own: an answer from there would be no loopback's. */
static __always_inline bool inet_leaves(struct sock *sk, struct lh_dest *d)
{
	return sk->__sk_common.skc_bound_dev_if > LH_LOOPBACK_DEVICE &&
	       lh_dest_is_loopback(d);
}

/*
 * Sharing, and at no port of its choice: the kernel would give it one at which
 * somebody else may be. Of TCP it gives none that is shared. From now on it is
 * too late to want that, see option_is_late().
 */
static __noinline bool inet_may_squat(struct sock *sk)
{
	struct sock_common *c = &sk->__sk_common;
	struct lh_socket *own;

	if (sk->sk_protocol != LH_UDP || c->skc_num)
		return false;
	own = bpf_sk_storage_get(&lh_sockets, sk, 0, 0);
	if (own && (__sync_fetch_and_or(&own->share, LH_SHARE_LATE) &
		    LH_SHARE_WANTED))
		return true;
	return BPF_CORE_READ_BITFIELD_PROBED(c, skc_reuse) ||
	       BPF_CORE_READ_BITFIELD_PROBED(c, skc_reuseport);
}

/* The address of nobody is its own where it has one: is that loopback? */
static __always_inline bool inet_stands_elsewhere(struct sock *sk)
{
	struct lh_dest own;

	lh_dest_own(&own, (__u64)sk);
	return !lh_dest_is_loopback(&own);
}

/* All of a network, which a rule for that network does not mean? */
static __always_inline bool inet_is_too_many(struct inet_work *w,
					     struct sock *sk)
{
	struct lh_dest *d = &w->q.d;

	if (d->protocol != LH_UDP || d->family != LH_AF_INET ||
	    w->q.v.reach != LH_REACH_ANY || lh_dest_is_loopback(d))
		return false;
	/* The least bits of such an address are ones; old ones have zeros. */
	if ((d->addr[3] & 3) != 3 && (d->addr[3] & 3))
		return false;
	w->all.sk = (__u64)sk;
	__builtin_memcpy(&w->all.addr, d->addr, sizeof(w->all.addr));
	return lh_is_all(&w->all) && !lh_is_named(&w->q);
}

/* Netlink: nobody but the kernel. Other families nobody here has made. */
static __always_inline int inet_other(struct inet_ask *a, __u32 family)
{
	__u32 nl[2] = {};

	if (family == LH_AF_UNIX)
		return PASS;
	if (family == LH_AF_NETLINK) {
		if (a->op == LH_OP_BIND)
			return PASS;
		if (a->len >= sizeof(nl) &&
		    !bpf_probe_read_kernel(nl, sizeof(nl),
					   (void *)a->address) && !nl[1])
			return PASS;
	}
	return inet_refuse(a, LH_WHY_FAMILY, 0, family, NULL);
}

static __noinline int inet_judge(struct inet_ask *a, struct sock *sk)
{
	struct lh_session *s = lh_session_of(a->l);
	struct inet_work *w = (struct inet_work *)a->l->scratch;
	struct lh_question *q = &w->q;
	__u32 family;
	bool own, narrow;

	if (!s || !sk)
		return REFUSE;
	family = sk->__sk_common.skc_family;
	if (family != LH_AF_INET && family != LH_AF_INET6)
		return inet_other(a, family);
	if (bpf_probe_read_kernel(w->sa, sizeof(w->sa), (void *)a->address))
		return REFUSE;
	if (a->op == LH_OP_CONNECT && !w->sa[0] && !w->sa[1])
		return PASS;		/* AF_UNSPEC: no more connected */
	if (!lh_dest_read(&q->d, w->sa, a->len))
		return INVALID;
	q->d.protocol = lh_protocol(sk->sk_protocol);
	q->serial = s->serial;
	q->flags = s->flags;
	q->around = 0;
	own = inet_is_own(s, sk);
	if ((a->op != LH_OP_BIND || !q->d.port) && inet_may_squat(sk))
		return inet_refuse(a, LH_WHY_PEER, 0, 0, &q->d);
	if (a->op == LH_OP_BIND) {
		if (!lh_decide_bind(q->flags, &q->d, &narrow))
			return inet_refuse(a, LH_WHY_NOT_GRANTED, 0, 0, &q->d);
		if (!own)
			return inet_refuse(a, LH_WHY_PEER, 0, 0, &q->d);
		return PASS;
	}
	if (!q->d.protocol || inet_has_options(sk))
		return inet_refuse(a, LH_WHY_FAMILY, 0, 0, &q->d);
	lh_reach(q);
	if (q->v.reach && (inet_leaves(sk, &q->d) ||
			   (lh_dest_is_any(&q->d) &&
			    inet_stands_elsewhere(sk))))
		return inet_refuse(a, LH_WHY_NEVER, 0, 0, &q->d);
	if (inet_is_too_many(w, sk))
		return inet_refuse(a, LH_WHY_NOT_GRANTED, 0, 0, &q->d);
	if (q->v.reach == LH_REACH_ANY || (q->v.reach == LH_REACH_OWN && own))
		return PASS;
	return inet_refuse(a, q->v.reach ? LH_WHY_PEER : q->v.why, q->v.rule, 0,
			   &q->d);
}

/* Do others hold the port that it would be at? */
static __noinline int inet_shares(struct lh_label *l, struct sock *sk,
				  struct lh_dest *d)
{
	struct lh_share *q = &((struct inet_work *)l->scratch)->share;
	struct sock_common *c = &sk->__sk_common;
	struct lh_session *s = lh_session_of(l);

	if (!s || !d)
		return 1;
	q->sk = (__u64)sk;
	q->cgroup = s->cgroup;
	q->d = *d;
	/* It is narrowed, or was refused; but who listens at any is there. */
	if (q->d.protocol == LH_UDP && lh_dest_is_any(&q->d)) {
		if (!BPF_CORE_READ_BITFIELD_PROBED(c, skc_ipv6only))
			q->d.family = LH_AF_INET;
		lh_dest_settle(&q->d);
	}
	return lh_shares(q);
}

/* As the kernel says it of a port that is taken. */
static __always_inline int inet_in_use(struct inet_ask *a, struct lh_dest *d)
{
	a->err = -EADDRINUSE;
	inet_refuse(a, LH_WHY_PEER, 0, 0, d);
	return IN_USE;
}

static __always_inline int inet_result(int verdict)
{
	if (verdict == INVALID)
		return LH_RESULT(1, EINVAL);
	if (verdict == IN_USE)
		return LH_RESULT(1, EADDRINUSE);
	return LH_RESULT(verdict, EACCES);
}

static __noinline int inet_bind(struct inet_ask *a, struct sock *sk)
{
	struct lh_dest *d;
	int verdict;

	a->l = lh_label_current();
	if (!a->l)
		return PASS;
	verdict = inet_judge(a, sk);
	d = &((struct inet_work *)a->l->scratch)->q.d;
	/* Those who listen on TCP are asked when one more would. */
	if (verdict != PASS || !sk || sk->sk_protocol != LH_UDP || !d->port ||
	    !inet_shares(a->l, sk, d))
		return verdict;
	return inet_in_use(a, d);
}

SEC("lsm/socket_bind")
int BPF_PROG(inet_socket_bind, struct socket *sock, struct sockaddr *address,
	     int addrlen)
{
	struct inet_ask a = {
		.address = (__u64)address, .len = addrlen, .op = LH_OP_BIND,
		.hook = LH_HOOK_socket_bind,
	};

	return lh_outside() ? 0 : inet_result(inet_bind(&a, sock->sk));
}

static __noinline int inet_connect(struct socket *sock, __u64 address,
				   __u32 len)
{
	struct inet_ask a = {
		.address = address, .len = len, .op = LH_OP_CONNECT,
		.hook = LH_HOOK_socket_connect,
	};

	a.l = lh_label_current();
	return a.l ? inet_judge(&a, sock->sk) : PASS;
}

SEC("lsm/socket_connect")
int BPF_PROG(inet_socket_connect, struct socket *sock,
	     struct sockaddr *address, int addrlen)
{
	if (lh_outside())
		return 0;
	return inet_result(inet_connect(sock, (__u64)address, addrlen));
}

/*
 * May a datagram to the same address follow, with anything along? The kernel
 * does not ask again. What a session's own socket sends is seen as it leaves.
 */
static __always_inline bool inet_repeats(struct sock *sk, struct msghdr *msg)
{
	return msg->msg_name && (msg->msg_flags & MSG_BATCH) &&
	       sk->sk_protocol == LH_UDP;
}

static __noinline int inet_sendmsg(struct socket *sock, struct msghdr *msg)
{
	struct inet_ask a = {
		.op = LH_OP_SEND, .hook = LH_HOOK_socket_sendmsg,
	};
	struct lh_session *s;
	struct sock *sk;
	__u32 family;

	a.l = lh_label_current();
	if (!a.l)
		return PASS;
	s = lh_session_of(a.l);
	sk = sock->sk;
	if (!s || !sk)
		return REFUSE;
	family = sk->__sk_common.skc_family;
	if ((msg->msg_controllen || inet_repeats(sk, msg)) &&
	    (family == LH_AF_INET || family == LH_AF_INET6)) {
		if (!inet_is_own(s, sk))
			return inet_refuse(&a, LH_WHY_PEER, 0, family, NULL);
		if (msg->msg_controllen && inet_carries_options(msg))
			return inet_refuse(&a, LH_WHY_NEVER, 0, family, NULL);
	}
	a.address = (__u64)msg->msg_name;
	a.len = msg->msg_namelen;
	if (a.address)
		return inet_judge(&a, sk);
	/* It would be given a port before anybody sees that it has no peer. */
	if ((family == LH_AF_INET || family == LH_AF_INET6) &&
	    inet_may_squat(sk))
		return inet_refuse(&a, LH_WHY_PEER, 0, family, NULL);
	return PASS;
}

SEC("lsm/socket_sendmsg")
int BPF_PROG(inet_socket_sendmsg, struct socket *sock, struct msghdr *msg,
	     int size)
{
	return lh_outside() ? 0 : inet_result(inet_sendmsg(sock, msg));
}

/* Nobody asks who knocks at a socket that was given: all of the host may. */
static __always_inline bool inet_publishes(struct lh_session *s, __u16 port)
{
	return (s->flags & LH_SESSION_PUBLISH) &&
	       lh_port_find(s->serial, LH_NODE_PUBLISH, LH_TCP, port);
}

/*
 * Whose end it is that will listen: of multipath TCP that of its first path.
 * The whole keeps the end that it had when it was connected.
 */
static __always_inline struct sock *inet_first(struct sock *sk)
{
	struct mptcp_sock *whole = (struct mptcp_sock *)sk;

	if (sk->sk_protocol != LH_MPTCP ||
	    !bpf_core_type_exists(struct mptcp_sock))
		return sk;
	return BPF_CORE_READ(whole, first);
}

SEC("lsm/socket_listen")
int BPF_PROG(inet_socket_listen, struct socket *sock, int backlog)
{
	struct inet_ask a = {
		.op = LH_OP_LISTEN, .hook = LH_HOOK_socket_listen,
	};
	struct lh_dest d = { .protocol = LH_TCP };
	__u16 why = LH_WHY_ALLOW;
	struct sock *sk, *end;
	struct lh_session *s;

	a.l = lh_label_current();
	if (!a.l)
		return 0;
	s = lh_session_of(a.l);
	sk = sock->sk;
	if (!s || !sk)
		return LH_RESULT(1, EACCES);
	d.family = sk->__sk_common.skc_family;
	if (d.family != LH_AF_INET && d.family != LH_AF_INET6)
		return 0;
	/* It listens already: that is how it was given, or judged before. */
	if (sk->__sk_common.skc_state == TCP_LISTEN)
		return 0;
	end = inet_first(sk);
	lh_dest_own(&d, (__u64)end);
	/* A port that nobody chose is refused: it would be at any address. */
	if (!lh_decide_listen(s->flags, &d))
		why = LH_WHY_NOT_GRANTED;
	else if (!inet_is_own(s, sk) &&
		 (lh_dest_is_any(&d) || !inet_publishes(s, d.port)))
		why = LH_WHY_PEER;
	if (why)
		return inet_result(inet_refuse(&a, why, 0, 0, &d));
	if (inet_shares(a.l, end, &d))
		return inet_result(inet_in_use(&a, &d));
	return 0;
}
