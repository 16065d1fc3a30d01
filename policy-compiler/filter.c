// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tables, and two passes. Calls whose arguments matter are checked by a few
 * instructions in front, as libseccomp can only say "equal" in an allow rule; the
 * rest is its tree over the lists. Known and refused: EPERM. Any other number:
 * ENOSYS, so that libraries fall back.
 */
#define _GNU_SOURCE
#include <asm/unistd.h>
#include <errno.h>
#include <linux/audit.h>
#include <seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "filter-code.h"
#include "image.h"
#include "network.h"

#define ROWS(a) (sizeof(a) / sizeof((a)[0]))

/*
 * Everything here is harmless, or judged by an LSM program: files, sockets,
 * signals, scheduling and limits of others, user namespaces through clone3.
 */
static const char *const allowed[] = {
	"read", "write", "open", "close", "stat", "fstat", "lstat", "poll",
	"lseek", "mmap", "mprotect", "munmap", "brk", "rt_sigaction",
	"rt_sigprocmask", "rt_sigreturn", "ioctl", "pread64", "pwrite64",
	"readv", "writev", "access", "pipe", "select", "sched_yield", "mremap",
	"msync", "mincore", "madvise", "dup", "dup2", "pause", "nanosleep",
	"getitimer", "alarm", "setitimer", "getpid", "sendfile", "socket",
	"connect", "accept", "sendto", "recvfrom", "sendmsg", "recvmsg",
	"shutdown", "bind", "listen", "getsockname", "getpeername",
	"socketpair", "setsockopt", "getsockopt", "clone", "fork", "vfork",
	"execve", "exit", "wait4", "kill", "uname", "fcntl", "flock", "fsync",
	"fdatasync", "truncate", "ftruncate", "getdents", "getcwd", "chdir",
	"fchdir", "rename", "mkdir", "rmdir", "creat", "link", "unlink",
	"symlink", "readlink", "chmod", "fchmod", "chown", "fchown", "lchown",
	"umask", "gettimeofday", "getrlimit", "getrusage", "sysinfo", "times",
	"getuid", "getgid", "setuid", "setgid", "geteuid", "getegid",
	"setpgid", "getppid", "getpgrp", "setsid", "setreuid", "setregid",
	"getgroups", "setgroups", "setresuid", "getresuid", "setresgid",
	"getresgid", "getpgid", "setfsuid", "setfsgid", "getsid", "capget",
	"capset", "rt_sigpending", "rt_sigtimedwait", "rt_sigqueueinfo",
	"rt_sigsuspend", "sigaltstack", "utime", "mknod", "personality",
	"statfs", "fstatfs", "getpriority", "setpriority", "sched_setparam",
	"sched_getparam", "sched_setscheduler", "sched_getscheduler",
	"sched_get_priority_max", "sched_get_priority_min",
	"sched_rr_get_interval", "mlock", "munlock", "mlockall", "munlockall",
	"prctl", "arch_prctl", "setrlimit", "sync", "gettid", "readahead",
	"setxattr", "lsetxattr", "fsetxattr", "getxattr", "lgetxattr",
	"fgetxattr", "listxattr", "llistxattr", "flistxattr", "removexattr",
	"lremovexattr", "fremovexattr", "tkill", "time", "futex",
	"sched_setaffinity", "sched_getaffinity", "io_setup", "io_destroy",
	"io_getevents", "io_submit", "io_cancel", "epoll_create",
	"remap_file_pages", "getdents64", "set_tid_address", "restart_syscall",
	"fadvise64", "timer_create", "timer_settime", "timer_gettime",
	"timer_getoverrun", "timer_delete", "clock_gettime", "clock_getres",
	"clock_nanosleep", "exit_group", "epoll_wait", "epoll_ctl", "tgkill",
	"utimes", "mbind", "set_mempolicy", "get_mempolicy", "waitid",
	"ioprio_set", "ioprio_get", "inotify_init", "inotify_add_watch",
	"inotify_rm_watch", "openat", "mkdirat", "mknodat", "fchownat",
	"futimesat", "newfstatat", "unlinkat", "renameat", "linkat",
	"symlinkat", "readlinkat", "fchmodat", "faccessat", "pselect6",
	"ppoll", "unshare", "set_robust_list", "get_robust_list", "splice",
	"tee", "sync_file_range", "vmsplice", "move_pages", "utimensat",
	"epoll_pwait", "signalfd", "timerfd_create", "eventfd", "fallocate",
	"timerfd_settime", "timerfd_gettime", "accept4", "signalfd4",
	"eventfd2", "epoll_create1", "dup3", "pipe2", "inotify_init1",
	"preadv", "pwritev", "rt_tgsigqueueinfo", "recvmmsg", "prlimit64",
	"name_to_handle_at", "syncfs", "sendmmsg", "getcpu", "sched_setattr",
	"sched_getattr", "renameat2", "seccomp", "getrandom", "memfd_create",
	"execveat", "membarrier", "mlock2", "copy_file_range", "preadv2",
	"pwritev2", "pkey_mprotect", "pkey_alloc", "pkey_free", "statx",
	"io_pgetevents", "rseq", "pidfd_send_signal", "pidfd_open", "clone3",
	"close_range", "openat2", "faccessat2", "epoll_pwait2",
	"landlock_create_ruleset", "landlock_add_rule",
	"landlock_restrict_self", "memfd_secret", "futex_waitv",
	"set_mempolicy_home_node", "cachestat", "fchmodat2",
	"map_shadow_stack", "futex_wake", "futex_wait", "futex_requeue",
	"lsm_get_self_attr", "lsm_list_modules", "mseal", "setxattrat",
	"getxattrat", "listxattrat", "removexattrat", "fanotify_init",
	"fanotify_mark", "mq_open", "mq_unlink", "mq_timedsend",
	"mq_timedreceive", "mq_notify", "mq_getsetattr", "shmget", "shmat",
	"shmctl", "shmdt", "semget", "semop", "semtimedop", "semctl", "msgget",
	"msgsnd", "msgrcv", "msgctl", "quotactl", "quotactl_fd",
};

static const char *const refused[] = {
	/* Programs and events in the kernel; other processes' memory. */
	"bpf", "perf_event_open", "userfaultfd", "process_madvise",
	"process_mrelease", "migrate_pages",
	/* A root judged by mounts holds only while the mounts stay. */
	"mount", "umount2", "pivot_root", "open_tree", "move_mount",
	"fsopen", "fsconfig", "fsmount", "fspick", "mount_setattr",
	"open_tree_attr", "setns", "open_by_handle_at",
	/* What processes outside share, and no program judges. */
	"add_key", "request_key", "keyctl",
	/* The machine. */
	"kexec_load", "kexec_file_load", "init_module", "finit_module",
	"delete_module", "reboot", "swapon", "swapoff", "acct", "syslog",
	"settimeofday", "clock_settime", "adjtimex", "clock_adjtime", "sethostname", "setdomainname", "vhangup", "iopl",
	"ioperm", "modify_ldt", "lookup_dcookie", "ustat", "lsm_set_self_attr",
};

/* Refused too, but where new user namespaces are granted. */
static const char *const inside[] = { "chroot" };

/* Refused too, but where tracing is granted. */
static const char *const tracing[] = {
	"ptrace", "process_vm_readv", "process_vm_writev", "pidfd_getfd", "kcmp",
};

/*
 * Answered as if this kernel were older, by the default: a program that finds
 * io_uring missing does without, one that finds it forbidden may give up.
 */
static const char *const missing[] = {
	"io_uring_setup", "io_uring_enter", "io_uring_register",
};

/* Numbers of calls that libseccomp 2.5.4 has no name for (to 6.17). */
static const struct {
	const char *name;
	int nr;
} newer[] = {
	{ "cachestat", 451 }, { "fchmodat2", 452 },
	{ "map_shadow_stack", 453 }, { "futex_wake", 454 },
	{ "futex_wait", 455 }, { "futex_requeue", 456 },
	{ "statmount", 457 }, { "listmount", 458 },
	{ "lsm_get_self_attr", 459 }, { "lsm_set_self_attr", 460 },
	{ "lsm_list_modules", 461 }, { "mseal", 462 }, { "setxattrat", 463 },
	{ "getxattrat", 464 }, { "listxattrat", 465 },
	{ "removexattrat", 466 }, { "open_tree_attr", 467 },
	{ "file_getattr", 468 }, { "file_setattr", 469 },
};

uint32_t filter_flags(uint32_t flags, uint32_t net_flags)
{
	uint32_t f = flags & IMAGE_USER_NAMESPACES ? FILTER_NAMESPACES : 0;

	if (flags & IMAGE_PTRACE)
		f |= FILTER_PTRACE;
	if (lh_socket_may(net_flags, LH_AF_INET, SOCK_STREAM, 0))
		f |= FILTER_TCP;
	if (lh_socket_may(net_flags, LH_AF_INET, SOCK_DGRAM, 0))
		f |= FILTER_UDP;
	return f;
}

const char *filter_newer(uint32_t nr)
{
	size_t i;

	for (i = 0; i < ROWS(newer); i++)
		if (newer[i].nr == (int)nr)
			return newer[i].name;
	return NULL;
}

static int number_of(const char *name)
{
	size_t i;

	for (i = 0; i < ROWS(newer); i++)
		if (strcmp(newer[i].name, name) == 0)
			return newer[i].nr;
	return seccomp_syscall_resolve_name_arch(SCMP_ARCH_X86_64, name);
}

static int add_rules(scmp_filter_ctx ctx, uint32_t action,
		     const char *const *names, size_t count, struct err *e)
{
	size_t i;
	int r;

	for (i = 0; i < count; i++) {
		int nr = number_of(names[i]);

		if (nr < 0)
			return err_set(e, -ENOSYS,
				       "libseccomp knows no system call %s",
				       names[i]);
		r = seccomp_rule_add_exact(ctx, action, nr, 0);
		if (r)
			return err_sys(e, r, "seccomp rule for %s", names[i]);
	}
	return 0;
}

static void context_release(scmp_filter_ctx *ctx)
{
	if (*ctx)
		seccomp_release(*ctx);
}

static void fd_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

/* Append libseccomp's program for @ctx. */
static int emit_tree(struct code *c, scmp_filter_ctx ctx, struct err *e)
{
	int fd __attribute__((cleanup(fd_close))) =
		memfd_create("filter", MFD_CLOEXEC);
	size_t room = (FILTER_INSNS_MAX - c->count) * sizeof(c->insn[0]);
	ssize_t n;
	int r;

	if (fd < 0)
		return err_sys(e, -errno, "memory file for the filter");
	r = seccomp_export_bpf(ctx, fd);
	if (r)
		return err_sys(e, r, "exporting the seccomp filter");
	n = pread(fd, &c->insn[c->count], room, 0);
	if (n < 0)
		return err_sys(e, -errno, "reading the seccomp filter");
	if ((size_t)n == room || n % sizeof(c->insn[0]))
		return err_set(e, -E2BIG, "the seccomp filter is too long");
	c->count += n / sizeof(c->insn[0]);
	return 0;
}

static int build_tree(struct code *c, uint32_t flags, struct err *e)
{
	scmp_filter_ctx ctx __attribute__((cleanup(context_release))) =
		seccomp_init(SCMP_ACT_ERRNO(ENOSYS));
	int r;

	if (!ctx)
		return err_set(e, -ENOMEM, "no memory for the seccomp filter");
	/* One table, whatever machine compiles: same input, same bytes. */
	if (seccomp_arch_native() != SCMP_ARCH_X86_64) {
		r = seccomp_arch_add(ctx, SCMP_ARCH_X86_64);
		if (!r)
			r = seccomp_arch_remove(ctx, SCMP_ARCH_NATIVE);
		if (r)
			return err_sys(e, r, "seccomp architecture");
	}
	/* int 0x80 and x32 have other numbers for the same calls. */
	r = seccomp_attr_set(ctx, SCMP_FLTATR_ACT_BADARCH,
			     SCMP_ACT_ERRNO(EPERM));
	/* A binary tree: about nine compares a call instead of hundreds. */
	if (!r)
		r = seccomp_attr_set(ctx, SCMP_FLTATR_CTL_OPTIMIZE, 2);
	if (r)
		return err_sys(e, r, "seccomp filter attributes");
	r = add_rules(ctx, SCMP_ACT_ALLOW, allowed, ROWS(allowed), e);
	if (!r)
		r = add_rules(ctx, SCMP_ACT_ERRNO(EPERM), refused,
			      ROWS(refused), e);
	if (!r)
		r = add_rules(ctx, flags & FILTER_NAMESPACES ?
			      SCMP_ACT_ALLOW : SCMP_ACT_ERRNO(EPERM), inside,
			      ROWS(inside), e);
	if (!r)
		r = add_rules(ctx, flags & FILTER_PTRACE ?
			      SCMP_ACT_ALLOW : SCMP_ACT_ERRNO(EPERM), tracing,
			      ROWS(tracing), e);
	return r ? r : emit_tree(c, ctx, e);
}

static void code_free(struct code **c)
{
	free(*c);
}

int filter_build(uint32_t flags, struct sock_filter **out, size_t *count,
		 struct err *e)
{
	struct code *c __attribute__((cleanup(code_free))) =
		calloc(1, sizeof(*c));
	struct sock_filter *copy;
	int r;

	/*
	 * Exec after the command itself is refused by a program, for a filter
	 * cannot tell the first from later.
	 */
	if (!c)
		return err_set(e, -ENOMEM, "no memory for the seccomp filter");
	emit_checks(c, flags);
	r = build_tree(c, flags, e);
	if (r)
		return r;
	copy = malloc(c->count * sizeof(*copy));
	if (!copy)
		return err_set(e, -ENOMEM, "no memory for the seccomp filter");
	memcpy(copy, c->insn, c->count * sizeof(*copy));
	*out = copy;
	*count = c->count;
	return 0;
}

void filter_dump(FILE *f)
{
	size_t i;

	for (i = 0; i < ROWS(allowed); i++)
		fprintf(f, "allow %s\n", allowed[i]);
	for (i = 0; i < ROWS(refused); i++)
		fprintf(f, "refuse %s\n", refused[i]);
	for (i = 0; i < ROWS(inside); i++)
		fprintf(f, "refuse %s\n", inside[i]);
	for (i = 0; i < ROWS(tracing); i++)
		fprintf(f, "refuse %s\n", tracing[i]);
	for (i = 0; i < ROWS(missing); i++)
		fprintf(f, "missing %s\n", missing[i]);
	dump_checks(f);
	fprintf(f, "refuse %u %u by family, type and protocol\n", __NR_socket,
		__NR_socketpair);
}
