/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What every domain shares: who calls, what session it is in, and how a
 * refusal is recorded. A task outside any session leaves a hook after one
 * test; inside one, a look-up that fails refuses.
 */
#ifndef LH_CORE_BPF_H
#define LH_CORE_BPF_H

#include "compat.bpf.h"
#include "abi.h"
#include "decide.h"

extern struct lh_label_map {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct lh_label);
} lh_labels SEC(".maps");

extern struct lh_session_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, LH_SESSIONS_MAX);
	__type(key, __u32);
	__type(value, struct lh_session);
} lh_sessions SEC(".maps");

/* A label for tasks whose own cannot be read: it leads to no session. */
extern struct lh_unreadable_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct lh_label);
} lh_unreadable SEC(".maps");

extern struct lh_root_map {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, LH_TABLE_MAX);
	__type(key, struct lh_root_key);
	__type(value, struct lh_root);
} lh_roots SEC(".maps");

extern struct lh_name_map {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, LH_TABLE_MAX);
	__type(key, struct lh_name_key);
	__type(value, struct lh_name);
} lh_names SEC(".maps");

/* Of what lies in places that all share: the serial of who made it. */
extern struct lh_made_map {
	__uint(type, BPF_MAP_TYPE_INODE_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, __u64);
} lh_made SEC(".maps");

/* Sessions' serials by their cgroups, as struct lh_session has these. */
extern struct lh_cgroup_map {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, LH_SESSIONS_MAX);
	__type(key, __u64);
	__type(value, __u64);
} lh_cgroups SEC(".maps");

/*
 * Of a socket of IPv4 or IPv6: the session that made it. What accept() returns
 * is a copy of the listener, made when nobody of the session runs: it has it
 * too.
 */
struct lh_socket {
	__u64 serial;
	__u64 share;		/* LH_SHARE_*, of UDP */
};

#define LH_SHARE_WANTED 1	/* it was told to share its port */
#define LH_SHARE_LATE 2		/* the kernel may have chosen one: too late */

extern struct lh_socket_map {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC | BPF_F_CLONE);
	__type(key, int);
	__type(value, struct lh_socket);
} lh_sockets SEC(".maps");

/* A path to report: kernel addresses, read by probing. 0: none. */
struct lh_place {
	__u64 dentry;
	__u64 mnt;		/* struct vfsmount */
};

/* A refusal to be recorded. */
struct lh_report {
	__u32 slot;
	__u16 op, why, rule, hook;
	__s16 err;
	__u16 family, protocol, port;
	__u32 access, flags, target, arg;
	struct lh_place path, other;
	__u64 name;		/* of an abstract socket instead of .path */
	__u32 name_len;		/* bytes of it, up to LH_ABSTRACT_MAX */
	__u32 pad;
	__u8 addr[16];
};

/*
 * Count the refusal in the caller's session and put it into its ring. Never
 * waits; what does not fit is counted as lost. Always returns 0.
 */
int lh_record(struct lh_report *r);
/*
 * The same where there is no task to ask: @d has all but the session's own, and
 * no paths.
 */
int lh_record_bare(struct lh_denial *d, __u32 slot);

/* Does the cgroup of @t lie directly in the sessions' parent? */
static __always_inline bool lh_in_some_session(struct task_struct *t)
{
	struct lh_session *none;
	struct cgroup *cg;
	__u32 zero = 0;

	none = bpf_map_lookup_elem(&lh_sessions, &zero);
	if (!none)
		return true;
	cg = BPF_CORE_READ(t, cgroups, dfl_cgrp);
	return none->cgroup &&
	       (__u64)BPF_CORE_READ(cg, self.parent) == none->cgroup;
}

/*
 * The test that every task of the host makes in every hook: no storage, no
 * session. What comes after it in a hot hook is a function of its own, so that
 * the way out saves no register and sets up no stack.
 */
static __always_inline bool lh_outside(void)
{
	return !bpf_get_current_task_btf()->bpf_storage;
}

/*
 * Label of the calling task, or NULL: it is in no session. Before 6.2 the
 * look-up of a task's storage may fail when it interrupted another; who is in
 * a session's cgroup is refused then, not let through.
 */
static __always_inline struct lh_label *lh_label_current(void)
{
	struct task_struct *t = bpf_get_current_task_btf();
	struct lh_label *l;
	__u32 zero = 0;

	if (!t->bpf_storage)
		return NULL;
	l = bpf_task_storage_get(&lh_labels, t, 0, 0);
	if (!l) {
		if (!lh_in_some_session(t))
			return NULL;
		return bpf_map_lookup_elem(&lh_unreadable, &zero);
	}
	return l->flags & LH_LABEL_SUPERVISOR ? NULL : l;
}

/*
 * The live session of a label. NULL: refuse. Its supervisor is gone, and the
 * caller is being killed; or the label could not be read.
 */
static __always_inline struct lh_session *lh_session_of(struct lh_label *l)
{
	struct lh_session *s = bpf_map_lookup_elem(&lh_sessions, &l->slot);

	if (!l->serial)
		return NULL;
	if (!s || s->serial != l->serial || s->state != LH_LIVE) {
		bpf_send_signal(9);
		return NULL;
	}
	return s;
}

#define LH_REPORT(l, op_, hook_, why_, err_)			\
	{							\
		.slot = (l)->slot, .op = LH_OP_##op_,		\
		.hook = LH_HOOK_##hook_, .why = LH_WHY_##why_,	\
		.err = -(err_),					\
	}

/* Refuse OP at HOOK whatever the policy says; 1 for LH_RESULT(). */
static __always_inline int lh_refuse_always(struct lh_label *l, __u16 op,
					    __u16 hook, __u16 why, __u32 arg)
{
	struct lh_report r = {
		.slot = l->slot, .op = op, .hook = hook, .why = why,
		.err = -EPERM, .arg = arg,
	};

	if (lh_session_of(l))
		lh_record(&r);
	return 1;
}

#endif
