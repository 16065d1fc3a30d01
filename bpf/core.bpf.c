// SPDX-License-Identifier: GPL-2.0-only
/*
 * Maps, labels and records.
 *   task_alloc          children and threads get the label, or fork fails
 *   sched_process_exit  the supervisor's end makes its session dead
 * Nothing here takes a label away.
 */
#include "inet.bpf.h"

char LICENSE[] SEC("license") = "GPL";

const volatile bool lh_have_cast = false;

struct lh_label_map lh_labels SEC(".maps");
struct lh_session_map lh_sessions SEC(".maps");
struct lh_unreadable_map lh_unreadable SEC(".maps");
struct lh_root_map lh_roots SEC(".maps");
struct lh_name_map lh_names SEC(".maps");
struct lh_made_map lh_made SEC(".maps");
struct lh_cgroup_map lh_cgroups SEC(".maps");
struct lh_socket_map lh_sockets SEC(".maps");
struct lh_net_map lh_nets SEC(".maps");
struct lh_port_map lh_ports SEC(".maps");

/* A session's ring is the one of its slot; the engine keeps them. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, LH_SESSIONS_MAX);
	__type(key, __u32);
	__array(values, struct {
		__uint(type, BPF_MAP_TYPE_RINGBUF);
		__uint(max_entries, LH_RING_BYTES);
	});
} lh_rings SEC(".maps");

/* Where a record is put together: only tasks that were refused have one. */
struct lh_draft {
	__u64 dentry;		/* of the task's record before */
	struct lh_denial d;
	char tail[LH_DATA_MAX + 256];
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct lh_draft);
} lh_drafts SEC(".maps");

struct path_writer {
	struct lh_draft *draft;
	__u64 dentry;
	__u64 root;		/* mnt_root of the mount */
	__u64 mount;		/* struct mount */
	__u32 pos;		/* bytes of the tail used */
	__u32 end;
	__u32 cut;
};

static long path_step(__u32 i, struct path_writer *w)
{
	struct dentry *d = (struct dentry *)w->dentry;
	const unsigned char *name;
	__u64 parent;
	__u32 pos;
	long n;

	if (w->dentry == w->root) {
		struct mount *m = (struct mount *)w->mount;
		struct mount *up = BPF_CORE_READ(m, mnt_parent);

		if (up == m)
			return 1;
		w->dentry = (__u64)BPF_CORE_READ(m, mnt_mountpoint);
		w->mount = (__u64)up;
		w->root = (__u64)BPF_CORE_READ(up, mnt.mnt_root);
		return 0;
	}
	parent = (__u64)BPF_CORE_READ(d, d_parent);
	if (parent == w->dentry)
		return 1;
	pos = w->pos;
	barrier_var(pos);	/* the bounds below are of this very value */
	if (pos >= w->end || pos >= LH_DATA_MAX) {
		if (pos < LH_DATA_MAX + 256) {
			w->draft->tail[pos] = 0;	/* no name: cut */
			w->pos = pos + 1;
		}
		w->cut = 1;
		return 1;
	}
	name = BPF_CORE_READ(d, d_name.name);
	n = bpf_probe_read_kernel_str(&w->draft->tail[pos], 256, name);
	if (n <= 0 || n > 256) {
		w->cut = 1;
		return 1;
	}
	w->pos = pos + n;
	w->dentry = parent;
	return 0;
}

/*
 * Write the place's components, not past @limit but for the last of them;
 * returns the bytes written.
 */
static __noinline __u32 path_write(struct path_writer *w, __u64 dentry,
				   __u64 vfsmount, __u32 limit)
{
	struct vfsmount *mnt = (struct vfsmount *)vfsmount;
	__u32 start = w->pos;

	if (!dentry)
		return 0;
	w->dentry = dentry;
	w->root = (__u64)BPF_CORE_READ(mnt, mnt_root);
	w->mount = vfsmount - bpf_core_field_offset(struct mount, mnt);
	w->end = start + LH_PATH_MAX;
	if (w->end > limit)
		w->end = limit;
	bpf_loop(LH_PATH_MAX, path_step, w, 0);
	return w->pos - start;
}

/* An abstract socket's name, which may have any bytes, as they are. */
static __always_inline __u32 name_write(struct path_writer *w, __u64 name,
					__u32 len)
{
	if (len > LH_ABSTRACT_MAX ||
	    bpf_probe_read_kernel(w->draft->tail, len, (void *)name))
		return 0;
	w->pos = len;
	return len;
}

/*
 * The task does again what it did before, and the ring is half full: that is a
 * flood, and must leave room for what is different.
 */
static __always_inline bool draft_floods(void *ring, struct lh_draft *f,
					 struct lh_report *r)
{
	bool again = f->d.seq && f->dentry == (r->path.dentry | r->name) &&
		     f->d.op == r->op && f->d.rule == r->rule &&
		     f->d.target == r->target && f->d.arg == r->arg &&
		     f->d.family == r->family;

	f->dentry = r->path.dentry | r->name;
	return again && bpf_ringbuf_query(ring, BPF_RB_AVAIL_DATA) >
			LH_RING_BYTES / 2;
}

static __always_inline void draft_who(struct lh_denial *d,
				      struct task_struct *t)
{
	__u64 id = bpf_get_current_pid_tgid();

	d->time = bpf_ktime_get_boot_ns();
	d->pid = id >> 32;
	d->tid = (__u32)id;
	d->ppid = t->real_parent->tgid;
	d->uid = (__u32)bpf_get_current_uid_gid();
	bpf_get_current_comm(d->comm, sizeof(d->comm));
}

__noinline int lh_record(struct lh_report *r)
{
	struct task_struct *t = bpf_get_current_task_btf();
	struct path_writer w = {};
	__u64 exe = 0, exe_mnt = 0;
	struct lh_session *s;
	struct lh_draft *f;
	struct lh_denial *d;
	struct mm_struct *mm;
	void *ring;
	__u32 slot, size;

	if (!r)
		return 0;
	slot = r->slot;
	s = bpf_map_lookup_elem(&lh_sessions, &slot);
	if (!s)
		return 0;
	__u64 seq = __sync_fetch_and_add(&s->seq, 1) + 1;

	f = bpf_task_storage_get(&lh_drafts, t, 0,
				 BPF_LOCAL_STORAGE_GET_F_CREATE);
	ring = bpf_map_lookup_elem(&lh_rings, &slot);
	if (!f || !ring) {
		__sync_fetch_and_add(&s->lost, 1);
		return 0;
	}
	if (draft_floods(ring, f, r)) {
		__sync_fetch_and_add(&s->lost, 1);
		return 0;
	}
	d = &f->d;
	draft_who(d, t);
	d->serial = s->serial;
	d->seq = seq;
	d->lost = s->lost;
	d->op = r->op;
	d->why = r->why;
	d->rule = r->rule;
	d->hook = r->hook;
	d->err = r->err;
	d->family = r->family;
	d->protocol = r->protocol;
	d->port = r->port;
	__builtin_memcpy(d->addr, r->addr, sizeof(d->addr));
	d->access = r->access;
	d->target = r->target;
	d->arg = r->arg;

	w.draft = f;
	/* Who it was is told whatever the length of what he named. */
	if (r->name)
		d->path_len = name_write(&w, r->name, r->name_len);
	else
		d->path_len = path_write(&w, r->path.dentry, r->path.mnt,
					 LH_DATA_MAX - LH_EXE_ROOM);
	d->other_len = path_write(&w, r->other.dentry, r->other.mnt,
				  LH_DATA_MAX - LH_EXE_ROOM);
	mm = t->mm;
	if (mm) {
		struct file *file = mm->exe_file;

		if (file) {
			exe = (__u64)BPF_CORE_READ(file, f_path.dentry);
			exe_mnt = (__u64)BPF_CORE_READ(file, f_path.mnt);
		}
	}
	d->exe_len = path_write(&w, exe, exe_mnt, LH_DATA_MAX);
	d->flags = r->flags | (w.cut ? LH_DENIAL_CUT : 0);

	size = w.pos;
	if (size > LH_DATA_MAX + 256)
		size = LH_DATA_MAX + 256;
	if (bpf_ringbuf_output(ring, d, sizeof(*d) + size, 0))
		__sync_fetch_and_add(&s->lost, 1);
	return 0;
}

__noinline int lh_record_bare(struct lh_denial *d, __u32 slot)
{
	struct lh_session *s = bpf_map_lookup_elem(&lh_sessions, &slot);
	void *ring;

	if (!d || !s)
		return 0;
	d->time = bpf_ktime_get_boot_ns();
	d->serial = s->serial;
	d->seq = __sync_fetch_and_add(&s->seq, 1) + 1;
	d->lost = s->lost;
	ring = bpf_map_lookup_elem(&lh_rings, &slot);
	if (!ring || bpf_ringbuf_output(ring, d, sizeof(*d), 0))
		__sync_fetch_and_add(&s->lost, 1);
	return 0;
}

SEC("lsm/task_alloc")
int BPF_PROG(core_task_alloc, struct task_struct *task, unsigned long flags)
{
	struct lh_label *l = lh_label_current(), *child;
	int refused = 0;

	if (!l)
		return 0;
	/* A child must be where the session's limits and its end reach it. */
	if (!lh_session_of(l))
		refused = 1;
	else if (flags & 0x200000000ULL)	/* CLONE_INTO_CGROUP */
		refused = lh_refuse_always(l, LH_OP_FORK, LH_HOOK_task_alloc,
					   LH_WHY_GUARD, 0);
	if (refused)
		return -EPERM;
	child = bpf_task_storage_get(&lh_labels, task, 0,
				     BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!child)
		return -ENOMEM;
	child->serial = l->serial;
	child->slot = l->slot;
	child->flags = 0;
	return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(core_process_exit, struct task_struct *p)
{
	struct lh_session *s;
	struct lh_label *l;

	if (!p->bpf_storage)
		return 0;
	l = bpf_task_storage_get(&lh_labels, p, 0, 0);
	if (!l || !(l->flags & LH_LABEL_SUPERVISOR))
		return 0;
	if (p->signal->live.counter)
		return 0;	/* a thread of it: others go on */
	s = bpf_map_lookup_elem(&lh_sessions, &l->slot);
	if (s && s->serial == l->serial && s->state != LH_FREE)
		s->state = LH_DEAD;
	return 0;
}
