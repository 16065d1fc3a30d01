/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the programs of the sessions' cgroups know of a socket: the session that
 * made it, and the two ends. Who calls is not asked.
 */
#ifndef LH_PAIR_BPF_H
#define LH_PAIR_BPF_H

#include "inet.bpf.h"

/* Both ends; .peer is the other one, .own that of the session's socket. */
struct pair {
	struct lh_question q;	/* q.d: the peer */
	struct lh_dest own;
	struct lh_session *s;
	__u64 client;		/* for inet-cgroup.bpf.c */
	__u16 op, hook;
};

/*
 * Multipath TCP makes a socket of the kernel's for each of its paths, which no
 * program sees made: its maker is who made the one that they belong to.
 */
static __always_inline struct lh_socket *pair_path_owner(struct bpf_sock *sk)
{
	struct mptcp_sock *whole;
	struct lh_socket *owner, *path, own = {};

	if (!bpf_core_type_exists(struct mptcp_sock))
		return NULL;
	whole = bpf_skc_to_mptcp_sock(sk);
	owner = whole ? bpf_sk_storage_get(&lh_sockets, whole, 0, 0) : NULL;
	if (!owner)
		return NULL;
	own.serial = owner->serial;
	path = bpf_sk_storage_get(&lh_sockets, sk, &own,
				  BPF_LOCAL_STORAGE_GET_F_CREATE);
	return path ? path : owner;
}

/* False: no session made it. */
static __always_inline bool pair_begin(struct pair *p, struct bpf_sock *sk)
{
	struct lh_socket *owner = NULL;
	__u32 slot;

	if (sk)
		owner = bpf_sk_storage_get(&lh_sockets, sk, 0, 0);
	if (sk && !owner && p->op != LH_OP_JOIN)
		owner = pair_path_owner(sk);
	if (!owner)
		return false;
	p->q.serial = owner->serial;
	slot = lh_slot_of(p->q.serial);
	p->s = bpf_map_lookup_elem(&lh_sessions, &slot);
	if (p->s && p->s->serial == p->q.serial && p->s->state == LH_LIVE)
		p->q.flags = p->s->flags;
	else
		p->s = NULL;		/* over: nothing new passes */
	return true;
}

/*
 * Of a session that is over: is this what a connection has left to say, after
 * its last holder closed it? Nobody can add to it.
 */
static __always_inline bool pair_is_left(struct bpf_sock *sk)
{
	struct tcp_sock *t = sk ? bpf_skc_to_tcp_sock(sk) : NULL;

	return t && !t->inet_conn.icsk_inet.sk.sk_socket;
}

/* Does one of the session's own run, and not the kernel in its time? */
static __always_inline bool pair_is_caller(struct pair *p)
{
	struct task_struct *t = bpf_get_current_task_btf();

	return (__u64)BPF_CORE_READ(t, cgroups, dfl_cgrp) == p->s->cgroup;
}

/* @task: it is the caller that is refused; else nobody knows who runs. */
static __noinline int pair_refuse(struct pair *p, bool task, __u16 why,
				  __u16 rule, __s16 err)
{
	struct lh_denial d = {
		.op = p->op, .hook = p->hook, .why = why, .rule = rule,
		.err = err, .family = p->q.d.family,
		.protocol = p->q.d.protocol, .port = p->q.d.port,
		.local_port = p->op == LH_OP_ACCEPT ? p->own.port : 0,
	};

	__builtin_memcpy(d.addr, p->q.d.addr, sizeof(d.addr));
	if (task) {
		struct task_struct *t = bpf_get_current_task_btf();

		d.pid = t->tgid;
		d.tid = t->pid;
		d.ppid = t->real_parent->tgid;
		d.uid = BPF_CORE_READ(t, cred, uid.val);
		BPF_CORE_READ_STR_INTO(&d.comm, t, comm);
	}
	lh_record_bare(&d, lh_slot_of(p->q.serial));
	return 0;
}

static __noinline int addr_refuse(struct pair *p, __u16 why, __u16 rule,
				  int err)
{
	pair_refuse(p, true, why, rule, -err);
	bpf_set_retval(-err);
	return 0;
}

#endif
