// SPDX-License-Identifier: GPL-2.0-only
/*
 * The process boundary.
 *   ptrace_access_check  also what guards most of /proc/<pid>
 *   ptrace_traceme       a parent outside may not become the tracer
 *   task_kill            signals stay in the session
 *   task_set{nice,ioprio,scheduler}  so do the demands on the processor
 *   task_prlimit         limits are one's own, or of who started one
 *   bprm_check_security  no exec after the command, where the policy says so
 *   bprm_committed_creds the command is running now
 */
#include "core.bpf.h"

#define NR_KILL 62
#define NR_PTRACE 101
#define NR_PRLIMIT64 302
#define ANCESTORS_MAX 16
#define PIDTYPE_TGID 1
#define PTRACE_ATTACH 16
#define PTRACE_SEIZE 0x4206
#define TRACERS_MAX 8		/* that trace each other, in a row */
#define CLAIM_MS 1024

/*
 * Who was about to trace a thread, by the id of that: its own id and
 * milliseconds, in halves.
 */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, __u32);
	__type(value, __u64);
} lh_claims SEC(".maps");

/* May the caller act on @t? Only within its own session. */
static __always_inline int process_is_own(struct lh_label *l,
					  struct task_struct *t)
{
	struct lh_label *o;

	if (!t->bpf_storage)
		return 0;
	o = bpf_task_storage_get(&lh_labels, t, 0, 0);
	return o && !(o->flags & LH_LABEL_SUPERVISOR) &&
	       o->serial == l->serial;
}

static __noinline int process_refuse(struct lh_label *l, struct lh_report *r)
{
	if (lh_session_of(l))
		lh_record(r);
	return 1;
}

/* First argument of the system call that the caller is in; -1: not in @nr. */
static __always_inline long argument_of(long nr)
{
	struct task_struct *t = bpf_get_current_task_btf();
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(t);

	if (BPF_CORE_READ(regs, orig_ax) != nr)
		return -1;
	return BPF_CORE_READ(regs, di);
}

/* kill(0, …): the group's members outside are passed over, not attacked. */
static __always_inline int kill_is_for_group(void)
{
	return (int)argument_of(NR_KILL) == 0;
}

static __always_inline __u32 now_ms(void)
{
	return bpf_ktime_get_ns() >> 20;
}

/* Was somebody else than @tracer just about to trace @t? */
static __always_inline int is_claimed(struct task_struct *t,
				      struct task_struct *tracer)
{
	__u32 key = BPF_CORE_READ(t, pid);
	__u64 *claim = bpf_map_lookup_elem(&lh_claims, &key);
	__u32 who = tracer ? BPF_CORE_READ(tracer, pid) : 0;

	return claim && now_ms() - (__u32)*claim < CLAIM_MS &&
	       *claim >> 32 != who;
}

/*
 * Would @tracee then trace its own tracer, through any number of others? A
 * killed one that is stopped at its exit waits for its tracer's word or end: a
 * circle of these no kill ends (to 6.12). The kernel makes the link some time
 * after its hook, so who comes here says first what it is about to do, and
 * then looks at what others are.
 */
static __noinline int closes_circle(struct task_struct *tracer,
				    struct task_struct *tracee)
{
	__u32 key = BPF_CORE_READ(tracee, pid);
	__u64 claim;
	struct task_struct *t = tracer, *up;
	int i;

	claim = (__u64)BPF_CORE_READ(tracer, pid) << 32 | now_ms();
	bpf_map_update_elem(&lh_claims, &key, &claim, BPF_ANY);
	__sync_fetch_and_add(&claim, 0);	/* no read before that */
	for (i = 0; i < TRACERS_MAX; i++) {
		if (t == tracee)
			return 1;
		up = BPF_CORE_READ(t, ptrace) ? BPF_CORE_READ(t, parent) :
						NULL;
		if (is_claimed(t, up))
			return 1;
		if (!up)
			return 0;
		t = up;
	}
	return 1;
}

/* Not merely a look at its memory or its files. */
static __always_inline int is_attach(void)
{
	int request = argument_of(NR_PTRACE);

	return request == PTRACE_ATTACH || request == PTRACE_SEIZE;
}

SEC("lsm/ptrace_access_check")
int BPF_PROG(process_ptrace_access_check, struct task_struct *child,
	     unsigned int mode)
{
	struct task_struct *t = bpf_get_current_task_btf();
	struct lh_label *l = lh_label_current();

	if (!l)
		return 0;
	struct lh_report r = LH_REPORT(l, PTRACE, ptrace_access_check, PROCESS,
				       EPERM);

	r.target = child->tgid;
	r.arg = mode;
	if (process_is_own(l, child)) {
		if (!is_attach() || !closes_circle(t, child))
			return LH_RESULT(!lh_session_of(l), EPERM);
		r.why = LH_WHY_NEVER;
	}
	return LH_RESULT(process_refuse(l, &r), EPERM);
}

SEC("lsm/ptrace_traceme")
int BPF_PROG(process_ptrace_traceme, struct task_struct *parent)
{
	struct task_struct *t = bpf_get_current_task_btf();
	struct lh_label *l = lh_label_current();

	if (!l)
		return 0;
	struct lh_report r = LH_REPORT(l, PTRACE, ptrace_traceme, PROCESS,
				       EPERM);

	r.target = parent->tgid;
	if (process_is_own(l, parent)) {
		if (!is_claimed(t, parent) && !closes_circle(parent, t))
			return LH_RESULT(!lh_session_of(l), EPERM);
		r.why = LH_WHY_NEVER;
	}
	return LH_RESULT(process_refuse(l, &r), EPERM);
}

SEC("lsm/task_kill")
int BPF_PROG(process_task_kill, struct task_struct *p,
	     struct kernel_siginfo *info, int sig, const struct cred *cred)
{
	struct lh_label *l = lh_label_current();

	if (!l)
		return 0;
	if (process_is_own(l, p))
		return LH_RESULT(!lh_session_of(l), EPERM);
	if (kill_is_for_group())
		return LH_RESULT(1, EPERM);
	struct lh_report r = LH_REPORT(l, SIGNAL, task_kill, PROCESS, EPERM);

	r.target = p->tgid;
	r.arg = sig;
	return LH_RESULT(process_refuse(l, &r), EPERM);
}

static __noinline int sched_refused(struct task_struct *p, __u16 hook)
{
	struct lh_label *l = lh_label_current();

	if (!l)
		return 0;
	if (process_is_own(l, p))
		return !lh_session_of(l);
	struct lh_report r = LH_REPORT(l, SCHED, none, PROCESS, EPERM);

	r.hook = hook;
	r.target = p->tgid;
	return process_refuse(l, &r);
}

#define SCHED(name, params...)						\
SEC("lsm/" #name)							\
int BPF_PROG(process_##name, struct task_struct *p, ##params)		\
{									\
	return LH_RESULT(sched_refused(p, LH_HOOK_##name), EPERM);	\
}

SCHED(task_setnice, int nice)
SCHED(task_setioprio, int ioprio)
SCHED(task_setscheduler)

/* Number of its process where @level is the caller's; 0: it has none there. */
static __always_inline int number_of(struct task_struct *t, unsigned int level)
{
	struct pid *pid = BPF_CORE_READ(t, signal, pids[PIDTYPE_TGID]);
	int nr = 0;

	if (BPF_CORE_READ(pid, level) < level)
		return 0;
	bpf_probe_read_kernel(&nr, sizeof(nr), (void *)((__u64)pid +
			      bpf_core_field_offset(struct pid, numbers) +
			      level * bpf_core_type_size(struct upid)));
	return nr;
}

/*
 * Is @nr the caller's own process, or one of the session that it descends from?
 * These are there for as long as the caller is, so the number is no other's.
 */
static __noinline int is_own_line(struct lh_label *l, int nr)
{
	struct task_struct *t = bpf_get_current_task_btf();
	unsigned int level = BPF_CORE_READ(t, signal, pids[PIDTYPE_TGID],
					   level);
	int i;

	if (!l || nr <= 0)
		return 0;
	for (i = 0; i < ANCESTORS_MAX; i++) {
		if (!process_is_own(l, t))
			return 0;
		if (number_of(t, level) == nr)
			return 1;
		t = t->real_parent;
	}
	return 0;
}

/* The hook is not told whose limits; nor is it asked of a thread's own. */
SEC("lsm/task_prlimit")
int BPF_PROG(process_task_prlimit, const struct cred *cred,
	     const struct cred *tcred, unsigned int flags)
{
	struct lh_label *l = lh_label_current();
	int nr;

	if (!l)
		return 0;
	nr = argument_of(NR_PRLIMIT64);
	if (is_own_line(l, nr))
		return LH_RESULT(!lh_session_of(l), EPERM);
	struct lh_report r = LH_REPORT(l, SCHED, task_prlimit, PROCESS, EPERM);

	r.target = nr;
	return LH_RESULT(process_refuse(l, &r), EPERM);
}

SEC("lsm/bprm_check_security")
int BPF_PROG(process_bprm_check_security, struct linux_binprm *bprm)
{
	struct lh_label *l = lh_label_current();
	struct lh_session *s;

	if (!l)
		return 0;
	s = lh_session_of(l);
	if (!s)
		return LH_RESULT(1, EACCES);
	if (!(s->flags & LH_SESSION_NO_EXEC) ||
	    (l->flags & LH_LABEL_FIRST_EXEC))
		return 0;
	struct lh_report r = LH_REPORT(l, EXEC, bprm_check_security, NO_EXEC,
				       EACCES);
	struct file *file = bprm->file;

	r.access = LH_EXEC;
	r.path.dentry = (__u64)file->f_path.dentry;
	r.path.mnt = (__u64)file->f_path.mnt;
	return LH_RESULT(process_refuse(l, &r), EACCES);
}

SEC("lsm/bprm_committed_creds")
int BPF_PROG(process_bprm_committed_creds, struct linux_binprm *bprm)
{
	struct lh_label *l = lh_label_current();

	if (l)
		l->flags &= ~LH_LABEL_FIRST_EXEC;
	return 0;
}
