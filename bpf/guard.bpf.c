// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a session never does, whatever its policy says: reach the engine, change
 * what paths mean, or make the kernel load code for it; and what it does only
 * where the policy says so, new namespaces. seccomp refuses most of these
 * first; here they hold by the kernel's own objects.
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

/*
 * A sandbox of a program's own: a user namespace, and in it another root, for
 * which the kernel asks a capability that a session has nowhere else. Files are
 * judged by what they are, so both change nothing of what is reached.
 */
static __noinline int sandbox_refused(__u16 op, __u16 hook)
{
	struct lh_label *l = lh_label_current();
	struct lh_session *s;

	if (!l)
		return 0;
	s = lh_session_of(l);
	if (s && (s->flags & LH_SESSION_USERNS))
		return 0;
	return lh_refuse_always(l, op, hook, LH_WHY_NEVER, 0);
}

SEC("lsm/path_chroot")
int BPF_PROG(guard_path_chroot, const struct path *path)
{
	return LH_RESULT(sandbox_refused(LH_OP_CHROOT, LH_HOOK_path_chroot),
			 EPERM);
}

SEC("lsm/userns_create")
int BPF_PROG(guard_userns_create, const struct cred *cred)
{
	return LH_RESULT(sandbox_refused(LH_OP_NAMESPACE,
					 LH_HOOK_userns_create), EPERM);
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
