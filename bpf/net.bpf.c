// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sockets.
 *   socket_create        every addressable family but unix is refused
 *   socket_post_create   a socket carries the label of who made it
 *   unix_stream_connect  only to sockets that this session made
 *   unix_may_send        the same for datagrams
 * What the command was given (an unlabelled socket) may be used as it is.
 */
#include "core.bpf.h"

#define AF_UNIX 1

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, __u64);	/* serial of the session that made it */
} lh_sockets SEC(".maps");

static __noinline int net_refuse(struct lh_label *l, struct lh_report *r)
{
	if (lh_session_of(l))
		lh_record(r);
	return 1;
}

SEC("lsm/socket_create")
int BPF_PROG(net_socket_create, int family, int type, int protocol, int kern)
{
	struct lh_label *l = lh_label_current();

	if (!l || kern)
		return 0;
	if (family == AF_UNIX)
		return LH_RESULT(!lh_session_of(l), EPERM);
	struct lh_report r = LH_REPORT(l, SOCKET, socket_create, FAMILY,
				       EPERM);

	r.family = family;
	r.protocol = protocol;
	r.arg = type;
	return LH_RESULT(net_refuse(l, &r), EPERM);
}

SEC("lsm/socket_post_create")
int BPF_PROG(net_socket_post_create, struct socket *sock, int family, int type,
	     int protocol, int kern)
{
	struct lh_label *l = lh_label_current();
	struct sock *sk;
	__u64 serial;
	int refused = 0;

	if (!l || kern)
		return 0;
	sk = sock->sk;
	serial = l->serial;
	if (!sk || !bpf_sk_storage_get(&lh_sockets, sk, &serial,
				       BPF_LOCAL_STORAGE_GET_F_CREATE))
		refused = 1;
	return LH_RESULT(refused, ENOMEM);
}

/* The socket file of @sk, for the record. */
static __always_inline void net_place(struct lh_place *p, struct sock *sk)
{
	struct unix_sock *u = (struct unix_sock *)sk;

	p->dentry = (__u64)BPF_CORE_READ(u, path.dentry);
	p->mnt = (__u64)BPF_CORE_READ(u, path.mnt);
}

SEC("lsm/unix_stream_connect")
int BPF_PROG(net_unix_stream_connect, struct sock *sock, struct sock *other,
	     struct sock *newsk)
{
	struct lh_label *l = lh_label_current();
	__u64 *owner, serial;
	int refused = 0;

	if (!l)
		return 0;
	serial = l->serial;
	owner = bpf_sk_storage_get(&lh_sockets, other, 0, 0);
	if (owner && *owner == serial && lh_session_of(l)) {
		/* What accept() returns is the session's too. */
		if (!bpf_sk_storage_get(&lh_sockets, newsk, &serial,
					BPF_LOCAL_STORAGE_GET_F_CREATE))
			refused = 1;
		return LH_RESULT(refused, ENOMEM);
	}
	struct lh_report r = LH_REPORT(l, CONNECT, unix_stream_connect, PEER,
				       EACCES);

	r.family = AF_UNIX;
	net_place(&r.path, other);
	return LH_RESULT(net_refuse(l, &r), EACCES);
}

SEC("lsm/unix_may_send")
int BPF_PROG(net_unix_may_send, struct socket *sock, struct socket *other)
{
	struct lh_label *l = lh_label_current();
	struct sock *to, *from;
	__u64 *owner;

	if (!l)
		return 0;
	to = other->sk;
	from = sock->sk;
	if (!to || !from)
		return LH_RESULT(1, EACCES);
	owner = bpf_sk_storage_get(&lh_sockets, to, 0, 0);
	if (owner && *owner == l->serial)
		return LH_RESULT(!lh_session_of(l), EACCES);
	/* A connected socket that the session was given goes on working. */
	owner = bpf_sk_storage_get(&lh_sockets, from, 0, 0);
	if (!owner) {
		struct unix_sock *u = (struct unix_sock *)from;

		if (BPF_CORE_READ(u, peer) == to)
			return LH_RESULT(!lh_session_of(l), EACCES);
	}
	struct lh_report r = LH_REPORT(l, SEND, unix_may_send, PEER, EACCES);

	r.family = AF_UNIX;
	net_place(&r.path, to);
	return LH_RESULT(net_refuse(l, &r), EACCES);
}
