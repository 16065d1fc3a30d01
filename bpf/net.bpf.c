// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sockets.
 *   socket_create        family, type and protocol that the policy has use for
 *   socket_post_create   a socket carries the label of who made it
 *   unix_stream_connect  to sockets that this session made, and to files of
 *                        the host's that a root grants
 *   unix_may_send        the same for datagrams
 * What the command was given (an unlabelled socket) may be used as it is.
 */
#include "mounts.bpf.h"
#include "decide-net.h"

static __noinline int net_refuse(struct lh_label *l, struct lh_report *r)
{
	if (lh_session_of(l))
		lh_record(r);
	return 1;
}

static __noinline int net_create_refused(int family, int type, int protocol)
{
	struct lh_label *l = lh_label_current();
	struct lh_session *s;

	if (!l)
		return 0;
	s = lh_session_of(l);
	if (!s || lh_socket_may(s->flags, family, type, protocol))
		return !s;
	struct lh_report r = LH_REPORT(l, SOCKET, socket_create, FAMILY,
				       EPERM);

	r.family = family;
	r.protocol = protocol;
	r.arg = type;
	return net_refuse(l, &r);
}

SEC("lsm/socket_create")
int BPF_PROG(net_socket_create, int family, int type, int protocol, int kern)
{
	if (lh_outside() || kern)
		return 0;
	return LH_RESULT(net_create_refused(family, type, protocol), EPERM);
}

static __noinline int net_label_failed(struct sock *sk)
{
	struct lh_label *l = lh_label_current();
	__u64 serial;

	if (!l)
		return 0;
	serial = l->serial;
	return !sk || !bpf_sk_storage_get(&lh_sockets, sk, &serial,
					  BPF_LOCAL_STORAGE_GET_F_CREATE);
}

SEC("lsm/socket_post_create")
int BPF_PROG(net_socket_post_create, struct socket *sock, int family, int type,
	     int protocol, int kern)
{
	/* Multipath TCP opens a TCP socket of the kernel's for each path. */
	if (lh_outside() || (kern && protocol != LH_TCP))
		return 0;
	return LH_RESULT(net_label_failed(sock->sk), ENOMEM);
}

#define NR_CONNECT 42

/* A datagram socket is judged alike when it connects and when it sends. */
static __always_inline int is_connecting(void)
{
	struct task_struct *t = bpf_get_current_task_btf();
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(t);

	return BPF_CORE_READ(regs, orig_ax) == NR_CONNECT;
}

/* What no grant reaches: no file, or another session's. */
static __noinline int unix_refuse_peer(struct lh_label *l, struct lh_ask *q,
				       __u64 peer)
{
	struct unix_sock *u = (struct unix_sock *)peer;
	struct lh_report r = {
		.slot = l->slot, .op = q->op, .hook = q->hook,
		.why = LH_WHY_PEER, .err = -EACCES, .family = AF_UNIX,
		.access = LH_CONNECT, .path = q->at,
	};
	struct unix_address *a = BPF_CORE_READ(u, addr);
	int len = a ? BPF_CORE_READ(a, len) : 0;

	r.path.mnt = (__u64)BPF_CORE_READ(u, path.mnt);
	/* A family, a NUL, the name. */
	len -= (int)sizeof(((struct sockaddr_un *)0)->sun_family) + 1;
	if (!r.path.dentry && len > 0 && len <= LH_ABSTRACT_MAX) {
		r.name = (__u64)a + bpf_core_field_offset(a->name) +
			 bpf_core_field_offset(struct sockaddr_un, sun_path) +
			 1;
		r.name_len = len;
		r.flags = LH_DENIAL_ABSTRACT;
	}
	lh_record(&r);
	return 1;
}

/*
 * May the caller talk to @peer, which its own session has not made? Where the
 * file of it is, as it was bound, decides; it may be a mount of the daemon's
 * own that it was bound by, so all of them are asked.
 */
static __always_inline int unix_refuses(struct lh_label *l, struct lh_ask *q,
					struct sock *peer, int labelled)
{
	struct unix_sock *u = (struct unix_sock *)peer;
	struct dentry *d = BPF_CORE_READ(u, path.dentry);
	__u64 sb;
	__u32 verdict;

	if (!lh_session_of(l))
		return 1;
	q->at.dentry = (__u64)d;
	if (!d || labelled)
		return unix_refuse_peer(l, q, (__u64)peer);
	sb = (__u64)BPF_CORE_READ(d, d_sb);
	q->magic = BPF_CORE_READ(d, d_sb, s_magic);
	q->inode = (__u64)BPF_CORE_READ(d, d_inode);
	verdict = lh_judge(l, q);
	return fs_record(l, q, mounts_judge(l, q, sb, verdict));
}

static __noinline int unix_connect_refused(struct sock *other,
					   struct sock *newsk)
{
	struct lh_ask q = { .access = LH_CONNECT, .op = LH_OP_CONNECT,
			    .hook = LH_HOOK_unix_stream_connect };
	struct lh_label *l = lh_label_current();
	__u64 *owner, serial;

	if (!l)
		return 0;
	serial = l->serial;
	owner = bpf_sk_storage_get(&lh_sockets, other, 0, 0);
	/* What accept() returns is the session's too. */
	if (owner && *owner == serial && lh_session_of(l))
		return !bpf_sk_storage_get(&lh_sockets, newsk, &serial,
					   BPF_LOCAL_STORAGE_GET_F_CREATE);
	return unix_refuses(l, &q, other, owner != NULL);
}

SEC("lsm/unix_stream_connect")
int BPF_PROG(net_unix_stream_connect, struct sock *sock, struct sock *other,
	     struct sock *newsk)
{
	if (lh_outside())
		return 0;
	return LH_RESULT(unix_connect_refused(other, newsk), EACCES);
}

static __noinline int unix_send_refused(struct sock *from, struct sock *to)
{
	struct lh_ask q = { .access = LH_CONNECT, .op = LH_OP_SEND,
			    .hook = LH_HOOK_unix_may_send };
	struct lh_label *l = lh_label_current();
	__u64 *owner;

	if (!l)
		return 0;
	if (!to || !from)
		return 1;
	owner = bpf_sk_storage_get(&lh_sockets, to, 0, 0);
	if (owner && *owner == l->serial)
		return !lh_session_of(l);
	/* A connected socket that the session was given goes on working. */
	if (!bpf_sk_storage_get(&lh_sockets, from, 0, 0)) {
		struct unix_sock *u = (struct unix_sock *)from;

		if (BPF_CORE_READ(u, peer) == to)
			return !lh_session_of(l);
	}
	if (is_connecting())
		q.op = LH_OP_CONNECT;
	return unix_refuses(l, &q, to, owner != NULL);
}

SEC("lsm/unix_may_send")
int BPF_PROG(net_unix_may_send, struct socket *sock, struct socket *other)
{
	if (lh_outside())
		return 0;
	return LH_RESULT(unix_send_refused(sock->sk, other->sk), EACCES);
}
