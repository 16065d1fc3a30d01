// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a session never does, whatever its policy says: reach the engine, change
 * what paths mean, or make the kernel load code for it. seccomp refuses most of
 * these first; here they hold by the kernel's own objects.
 */
#include "core.bpf.h"

#define GUARD(op, hook)							\
	({								\
		struct lh_label *l_ = lh_label_current();		\
									\
		l_ ? LH_RESULT(lh_refuse_always(l_, LH_OP_##op,		\
						LH_HOOK_##hook,		\
						LH_WHY_NEVER, 0), EPERM) : 0; \
	})

SEC("lsm/bpf")
int BPF_PROG(guard_bpf, int cmd, union bpf_attr *attr, unsigned int size)
{
	return GUARD(BPF, bpf);
}

SEC("lsm/sb_mount")
int BPF_PROG(guard_sb_mount, const char *dev, const struct path *path,
	     const char *type, unsigned long flags, void *data)
{
	return GUARD(MOUNT, sb_mount);
}

SEC("lsm/sb_umount")
int BPF_PROG(guard_sb_umount, struct vfsmount *mnt, int flags)
{
	return GUARD(MOUNT, sb_umount);
}

SEC("lsm/move_mount")
int BPF_PROG(guard_move_mount, const struct path *from, const struct path *to)
{
	return GUARD(MOUNT, move_mount);
}

SEC("lsm/sb_pivotroot")
int BPF_PROG(guard_sb_pivotroot, const struct path *from,
	     const struct path *to)
{
	return GUARD(MOUNT, sb_pivotroot);
}

SEC("lsm/path_chroot")
int BPF_PROG(guard_path_chroot, const struct path *path)
{
	return GUARD(CHROOT, path_chroot);
}

SEC("lsm/userns_create")
int BPF_PROG(guard_userns_create, const struct cred *cred)
{
	return GUARD(NAMESPACE, userns_create);
}

SEC("lsm/kernel_module_request")
int BPF_PROG(guard_kernel_module_request, char *name)
{
	return GUARD(MODULE, kernel_module_request);
}

SEC("lsm/perf_event_open")
int BPF_PROG(guard_perf_event_open, struct perf_event_attr *attr, int type)
{
	return GUARD(PERF, perf_event_open);
}

SEC("lsm/quotactl")
int BPF_PROG(guard_quotactl, int cmds, int type, int id, struct super_block *sb)
{
	return GUARD(QUOTA, quotactl);
}
