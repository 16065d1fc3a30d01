// SPDX-License-Identifier: GPL-2.0-only
/*
 * Objects of System V and POSIX message queues: a session finds, uses, controls
 * and sees its own alone.
 *   {shm,sem,msg_queue}_{alloc,free}_security	who made what, while it is there
 *   ipc_permission			get, attach, operate, send, look
 *   shm_shmctl sem_semctl msg_queue_msgctl	remove, set, lock
 *   inode_unlink			mq_unlink(2), which has no path
 */
#include "walk.bpf.h"

#define NR_SHMCTL 31
#define NR_SEMCTL 66
#define NR_MSGCTL 71

/* Its elements are there from the start: a burst must not wait for memory. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, LH_IPC_MAX);
	__type(key, __u64);		/* address of its kern_ipc_perm */
	__type(value, struct lh_ipc);
} lh_ipc SEC(".maps");

static __noinline int ipc_made(struct kern_ipc_perm *p, __u32 kind)
{
	struct lh_label *l = lh_label_current();
	struct lh_ipc made = { .kind = kind, .id = -1 };
	__u64 key = (__u64)p;
	struct lh_session *s;

	if (!l)
		return 0;
	s = lh_session_of(l);
	if (!s)
		return 1;
	made.serial = l->serial;
	made.slot = l->slot;
	s->made = 1;
	/* Else one session could take what there is for all. */
	if ((__s64)__sync_fetch_and_add(&s->ipc, 1) < LH_IPC_OWN &&
	    !bpf_map_update_elem(&lh_ipc, &key, &made, BPF_ANY))
		return 0;
	__sync_fetch_and_add(&s->ipc, -1);
	struct lh_report r = LH_REPORT(l, IPC, none, LIMIT, ENOSPC);

	r.access = LH_WRITE;
	r.target = p->key;
	lh_record(&r);
	return 1;
}

static __noinline int ipc_gone(struct kern_ipc_perm *p)
{
	__u64 key = (__u64)p, serial;
	struct lh_ipc *made = bpf_map_lookup_elem(&lh_ipc, &key);
	struct lh_session *s;
	__u32 slot;

	if (!made)
		return 0;
	slot = made->slot;
	serial = made->serial;
	bpf_map_delete_elem(&lh_ipc, &key);
	s = bpf_map_lookup_elem(&lh_sessions, &slot);
	if (s && s->serial == serial)
		__sync_fetch_and_add(&s->ipc, -1);
	return 0;
}

#define MADE(hook, kind)						\
SEC("lsm/" #hook "_alloc_security")					\
int BPF_PROG(ipc_##hook##_alloc, struct kern_ipc_perm *perm)		\
{									\
	if (lh_outside())						\
		return 0;						\
	return LH_RESULT(ipc_made(perm, kind), ENOSPC);			\
}									\
									\
SEC("lsm/" #hook "_free_security")					\
int BPF_PROG(ipc_##hook##_free, struct kern_ipc_perm *perm)		\
{									\
	return ipc_gone(perm);						\
}

MADE(shm, LH_IPC_SHM)
MADE(sem, LH_IPC_SEM)
MADE(msg_queue, LH_IPC_MSG)

/*
 * *_STAT and *_STAT_ANY go through all that there is, as ipcs(1) does: what is
 * not the session's is passed over, not attacked.
 */
static __always_inline int ipc_is_listing(void)
{
	struct task_struct *t = bpf_get_current_task_btf();
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(t);
	__u32 cmd = (__u32)BPF_CORE_READ(regs, si);

	switch (BPF_CORE_READ(regs, orig_ax)) {
	case NR_SHMCTL:
		return cmd == 13 || cmd == 15;
	case NR_SEMCTL:
		cmd = (__u32)BPF_CORE_READ(regs, dx);
		return cmd == 18 || cmd == 20;
	case NR_MSGCTL:
		return cmd == 11 || cmd == 13;
	}
	return 0;
}

static __noinline int ipc_refused(struct kern_ipc_perm *p, __u32 access,
				  __u16 hook)
{
	struct lh_label *l = lh_label_current();
	struct lh_ipc *made;
	__u64 key = (__u64)p;

	if (!l)
		return 0;
	if (!lh_session_of(l))
		return 1;
	if (!p)		/* the limits of the system: nobody's */
		return 0;
	made = bpf_map_lookup_elem(&lh_ipc, &key);
	if (made && made->serial == l->serial)
		return 0;
	if (ipc_is_listing())
		return 1;
	struct lh_report r = LH_REPORT(l, IPC, none, PEER, EACCES);

	r.hook = hook;
	r.access = access;
	r.target = p->key;
	r.arg = p->id;
	lh_record(&r);
	return 1;
}

SEC("lsm/ipc_permission")
int BPF_PROG(ipc_permission, struct kern_ipc_perm *perm, short flag)
{
	__u32 access = (flag & 0444 ? LH_READ : 0) |
		       (flag & 0222 ? LH_WRITE : 0);

	if (lh_outside())
		return 0;
	return LH_RESULT(ipc_refused(perm, access, LH_HOOK_ipc_permission),
			 EACCES);
}

#define CONTROL(name)							\
SEC("lsm/" #name)							\
int BPF_PROG(ipc_##name, struct kern_ipc_perm *perm, int cmd)		\
{									\
	if (lh_outside())						\
		return 0;						\
	return LH_RESULT(ipc_refused(perm, LH_WRITE, LH_HOOK_##name),	\
			 EACCES);					\
}

CONTROL(shm_shmctl)
CONTROL(sem_semctl)
CONTROL(msg_queue_msgctl)

static __noinline int queue_refused(struct dentry *d)
{
	struct lh_label *l = lh_label_current();
	struct inode *i = d->d_inode;
	__u64 *maker;

	if (!l)
		return 0;
	if (!lh_session_of(l))
		return 1;
	maker = i ? bpf_inode_storage_get(&lh_made, i, 0, 0) : NULL;
	if (maker && *maker == l->serial)
		return 0;
	struct lh_report r = LH_REPORT(l, UNLINK, inode_unlink, PEER, EACCES);

	r.access = LH_REMOVE;
	r.path.dentry = (__u64)d;
	lh_record(&r);
	return 1;
}

SEC("lsm/inode_unlink")
int BPF_PROG(ipc_inode_unlink, struct inode *dir, struct dentry *dentry)
{
	if (lh_outside() || dir->i_sb->s_magic != MQUEUE_MAGIC)
		return 0;
	return LH_RESULT(queue_refused(dentry), EACCES);
}

/*
 * For the sweep: write each object's number, which it got after it was made,
 * beside its maker. Still in the map after the look, it was not yet freed.
 */
static long ipc_number(struct bpf_map *map, __u64 *key, struct lh_ipc *made,
		       __u64 *serial)
{
	struct kern_ipc_perm *p = (struct kern_ipc_perm *)*key;
	__u64 again = *key;
	int id;

	if (made->serial != *serial)
		return 0;
	id = BPF_CORE_READ(p, id);
	made = bpf_map_lookup_elem(&lh_ipc, &again);
	if (made && made->serial == *serial)
		made->id = id;
	return 0;
}

SEC("syscall")
int lh_ipc_find(struct lh_admit *c)
{
	__u64 serial = c->serial;

	bpf_for_each_map_elem(&lh_ipc, ipc_number, &serial, 0);
	c->error = 0;
	return 0;
}
