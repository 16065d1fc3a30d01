// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sockets of the Unix family.
 *   unix_stream_connect  to sockets that this session made, and to files of
 *                        the host's that a root grants
 *   unix_may_send        the same for datagrams
 * Who made a socket is noted at its inode, as for pipes. What the command was
 * given (it has no maker) may be used as it is. Families, types and protocols
 * are for seccomp, policy-compiler/filter-socket.c.
 */
#include "mounts.bpf.h"

/* The serial of the session that made it, or 0: it was given. */
static __always_inline __u64 unix_maker(struct socket *sock)
{
	struct file *file = sock ? sock->file : NULL;
	__u64 *maker = file ? bpf_inode_storage_get(&lh_made, file->f_inode,
						    0, 0) : NULL;

	return maker ? *maker : 0;
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

static __noinline int unix_connect_refused(struct sock *other)
{
	struct lh_ask q = { .access = LH_CONNECT, .op = LH_OP_CONNECT,
			    .hook = LH_HOOK_unix_stream_connect };
	struct lh_label *l = lh_label_current();
	__u64 maker;

	if (!l)
		return 0;
	maker = unix_maker(other->sk_socket);
	if (maker && maker == l->serial)
		return !lh_session_of(l);
	return unix_refuses(l, &q, other, maker != 0);
}

SEC("lsm/unix_stream_connect")
int BPF_PROG(net_unix_stream_connect, struct sock *sock, struct sock *other,
	     struct sock *newsk)
{
	if (lh_outside())
		return 0;
	return LH_RESULT(unix_connect_refused(other), EACCES);
}

static __noinline int unix_send_refused(struct socket *from, struct socket *to)
{
	struct lh_ask q = { .access = LH_CONNECT, .op = LH_OP_SEND,
			    .hook = LH_HOOK_unix_may_send };
	struct lh_label *l = lh_label_current();
	struct sock *sk, *peer;
	__u64 maker;

	if (!l)
		return 0;
	sk = from->sk;
	peer = to->sk;
	if (!sk || !peer)
		return 1;
	maker = unix_maker(to);
	if (maker && maker == l->serial)
		return !lh_session_of(l);
	/* A connected socket that the session was given goes on working. */
	if (!unix_maker(from)) {
		struct unix_sock *u = (struct unix_sock *)sk;

		if (BPF_CORE_READ(u, peer) == peer)
			return !lh_session_of(l);
	}
	if (is_connecting())
		q.op = LH_OP_CONNECT;
	return unix_refuses(l, &q, peer, maker != 0);
}

SEC("lsm/unix_may_send")
int BPF_PROG(net_unix_may_send, struct socket *sock, struct socket *other)
{
	if (lh_outside())
		return 0;
	return LH_RESULT(unix_send_refused(sock, other), EACCES);
}
