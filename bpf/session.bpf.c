// SPDX-License-Identifier: GPL-2.0-only
/*
 * Programs that the supervisor runs (BPF_PROG_RUN): a session's tables go in
 * and out in one call each. Objects are named by the supervisor's descriptors
 * and known by their inode's address, which these keep in place.
 */
#include "core.bpf.h"

struct admit_state {
	struct lh_session *s;
	__u64 items;
	__u64 serial;
	__u32 failed;
	__s32 error;
	bool forget;
};

static __always_inline struct file *file_of(int fd)
{
	struct task_struct *t = bpf_get_current_task_btf();
	struct files_struct *files = t->files;
	struct fdtable *fdt = BPF_CORE_READ(files, fdt);
	struct file **slots = BPF_CORE_READ(fdt, fd);
	struct file *file = NULL;

	if (fd < 0 || (__u32)fd >= BPF_CORE_READ(fdt, max_fds))
		return NULL;
	bpf_probe_read_kernel(&file, sizeof(file), slots + fd);
	return file;
}

static __always_inline __u64 inode_of(int fd)
{
	struct file *file = file_of(fd);

	return file ? (__u64)BPF_CORE_READ(file, f_inode) : 0;
}

static __noinline int admit_root(struct admit_state *a, struct lh_item *item)
{
	struct lh_root_key key = { .serial = a->serial };
	__u32 bit;

	key.inode = inode_of(item->fd);
	if (!key.inode)
		return -EBADF;
	if (a->forget)
		return bpf_map_delete_elem(&lh_roots, &key);
	if (!a->s)
		return -EINVAL;
	bit = lh_bloom_bit((__u32)key.inode);
	a->s->bloom[(bit >> 6) & (LH_BLOOM_WORDS - 1)] |= 1ULL << (bit & 63);
	return bpf_map_update_elem(&lh_roots, &key, &item->root, BPF_ANY);
}

static __noinline int admit_name(struct admit_state *a, struct lh_item *item)
{
	struct lh_name_key key = {
		.parent = item->parent, .serial = a->serial,
		.hash = item->hash,
	};

	if (item->fd >= 0)
		key.parent = inode_of(item->fd);
	if (!key.parent)
		return -EBADF;
	if (a->forget)
		return bpf_map_delete_elem(&lh_names, &key);
	return bpf_map_update_elem(&lh_names, &key, &item->name, BPF_ANY);
}

static long admit_item(__u32 i, struct admit_state *a)
{
	struct lh_item item;
	int err;

	err = bpf_copy_from_user(&item, sizeof(item),
				 (void *)(a->items + i * sizeof(item)));
	if (!err)
		err = item.kind == LH_ITEM_ROOT ? admit_root(a, &item) :
		      item.kind == LH_ITEM_NAME ? admit_name(a, &item) :
		      -EINVAL;
	if (err && !a->forget) {
		a->error = err;
		a->failed = i;
		return 1;
	}
	return 0;
}

/* The mount at which a chain from the caller's root ends. */
static __always_inline __u64 top_mount(void)
{
	struct task_struct *t = bpf_get_current_task_btf();
	struct fs_struct *fs = t->fs;
	struct vfsmount *mnt = BPF_CORE_READ(fs, root.mnt);
	struct mount *m = (void *)((__u64)mnt -
				   bpf_core_field_offset(struct mount, mnt));
	int i;

	for (i = 0; i < 64; i++) {
		struct mount *up = BPF_CORE_READ(m, mnt_parent);

		if (up == m)
			return (__u64)m;
		m = up;
	}
	return 0;
}

static __always_inline __u64 cgroup_of(int fd)
{
	struct file *file = file_of(fd);
	struct kernfs_node *kn;

	if (!file)
		return 0;
	kn = (struct kernfs_node *)BPF_CORE_READ(file, f_inode, i_private);
	return (__u64)BPF_CORE_READ(kn, priv);
}

/* Where all sessions' cgroups lie; the proof's own lies in no other. */
static __always_inline void parent_note(__u64 cgroup)
{
	struct lh_session *none;
	__u32 zero = 0;

	none = bpf_map_lookup_elem(&lh_sessions, &zero);
	if (none)
		none->cgroup = (__u64)BPF_CORE_READ((struct cgroup *)cgroup,
						    self.parent);
}

SEC("syscall")
int lh_session_admit(struct lh_admit *c)
{
	struct admit_state a = { .items = c->items, .serial = c->serial };
	__u32 slot = c->slot;
	__u64 cgroup;

	a.s = bpf_map_lookup_elem(&lh_sessions, &slot);
	if (!a.s || a.s->serial != c->serial ||
	    a.s->state != LH_PREPARED) {
		c->error = -EINVAL;
		return 0;
	}
	a.s->top = top_mount();
	a.s->cgroup = cgroup_of(c->cgroup_fd);
	if (!a.s->top || !a.s->cgroup) {
		c->error = -EBADF;
		return 0;
	}
	parent_note(a.s->cgroup);
	cgroup = a.s->cgroup;
	a.error = bpf_map_update_elem(&lh_cgroups, &cgroup, &a.serial,
				      BPF_ANY);
	if (!a.error)
		bpf_loop(c->count, admit_item, &a, 0);
	c->error = a.error;
	c->failed = a.failed;
	return 0;
}

static long sweep_cgroup(struct bpf_map *map, __u64 *key, __u64 *value,
			 __u64 *serial)
{
	if (*value == *serial)
		bpf_map_delete_elem(&lh_cgroups, key);
	return 0;
}

SEC("syscall")
int lh_session_forget(struct lh_admit *c)
{
	struct admit_state a = {
		.items = c->items, .serial = c->serial, .forget = true,
	};
	__u64 serial = c->serial;

	bpf_for_each_map_elem(&lh_cgroups, sweep_cgroup, &serial, 0);
	bpf_loop(c->count, admit_item, &a, 0);
	c->error = 0;
	return 0;
}

static long sweep_root(struct bpf_map *map, struct lh_root_key *key,
		       struct lh_root *r, __u64 *serial)
{
	if (key->serial == *serial)
		bpf_map_delete_elem(&lh_roots, key);
	return 0;
}

static long sweep_name(struct bpf_map *map, struct lh_name_key *key,
		       struct lh_name *n, __u64 *serial)
{
	if (key->serial == *serial)
		bpf_map_delete_elem(&lh_names, key);
	return 0;
}

/* For a session whose supervisor died: its descriptors are gone. */
SEC("syscall")
int lh_session_sweep(struct lh_admit *c)
{
	__u64 serial = c->serial;

	bpf_for_each_map_elem(&lh_cgroups, sweep_cgroup, &serial, 0);
	bpf_for_each_map_elem(&lh_roots, sweep_root, &serial, 0);
	bpf_for_each_map_elem(&lh_names, sweep_name, &serial, 0);
	c->error = 0;
	return 0;
}
