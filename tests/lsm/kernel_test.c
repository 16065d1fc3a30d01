// SPDX-License-Identifier: GPL-2.0-only
/*
 * What no policy grants: the engine itself, mounts and namespaces, the kernel's
 * own controls, sockets that reach beyond the session. What programs need of
 * such calls is granted beside them.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/bpf.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "kselftest_harness.h"
#include "twins.h"

TWINS(kernel);

struct family {
	const char *name, *family, *type;
};

/* Not all are in every kernel; a session is refused before that is asked. */
static const struct family families[] = {
	{ "tcp", "2", "1" },		{ "udp", "2", "2" },
	{ "raw", "2", "3" },		{ "tcp6", "10", "1" },
	{ "udp6", "10", "2" },		{ "packet", "17", "3" },
	{ "packet dgram", "17", "2" },	{ "netlink", "16", "3" },
	{ "vsock", "40", "1" },		{ "alg", "38", "5" },
	{ "key", "15", "3" },		{ "rds", "21", "5" },
	{ "tipc", "30", "5" },		{ "bluetooth", "31", "1" },
	{ "can", "29", "3" },		{ "ax25", "3", "2" },
	{ "nonblocking tcp", "2", "0x801" },
	{ "xdp", "44", "3" },		{ "smc", "43", "1" },
	{ "qipcrtr", "42", "2" },	{ "no such family", "45", "1" },
};

TEST_F(kernel, every_family_of_sockets_but_unix_is_refused)
{
	for (size_t i = 0; i < ARRAY_SIZE(families); i++) {
		int err = ask(&self->s, "socket", families[i].family,
			      families[i].type);

		EXPECT_TRUE(err == EPERM || err == EACCES ||
			    err == EAFNOSUPPORT) {
			TH_LOG("%s: %d", families[i].name, err);
		}
	}
	EXPECT_EQ(EPERM, ask(&self->s, "socket", "2", "1"));
	EXPECT_TRUE(denied(&self->s, "socket", NULL, NULL));
	/* multipath TCP, SCTP, UDP-Lite, ping by protocol */
	EXPECT_EQ(EPERM, ask(&self->s, "socket", "2", "1", "262"));
	EXPECT_EQ(EPERM, ask(&self->s, "socket", "2", "1", "132"));
	EXPECT_EQ(EPERM, ask(&self->s, "socket", "2", "2", "136"));
	EXPECT_EQ(EPERM, ask(&self->s, "socket", "2", "2", "1"));
	EXPECT_EQ(0, ask(&self->twin, "socket", "2", "1"));
	EXPECT_EQ(0, ask(&self->twin, "socket", "10", "2"));
	EXPECT_EQ(0, ask(&self->twin, "socket", "16", "3"));
}

TEST_F(kernel, local_sockets_of_its_own_work)
{
	EXPECT_EQ(0, ask(&self->s, "socketpair"));
	EXPECT_STREQ("hi", self->s.reply.text);
	EXPECT_EQ(0, ask(&self->s, "socket", "1", "2"));
	EXPECT_EQ(0, ask(&self->s, "unixfile", "sub/sock"));
	EXPECT_EQ(EACCES, ask(&self->s, "unixfile",
			      at(self->w, "outside/sock")));
	EXPECT_EQ(EACCES, ask(&self->s, "unixfile",
			      at(self->w, "ws/secret/sock")));
	EXPECT_EQ(0, ask(&self->twin, "unixfile", at(self->w, "outside/sock")));
}

/* It works outside for root alone, so the twin is asked there. */
TEST_F(kernel, the_engine_and_all_of_bpf_are_out_of_reach)
{
	static const char *const commands[] = { "0", "5", "11", "12", "13",
						"18" };
	char cmd[16];

	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		EXPECT_EQ(EPERM, ask(&self->s, "bpf", commands[i])) {
			TH_LOG("bpf(%s)", commands[i]);
		}
	}
	sprintf(cmd, "%d", BPF_MAP_CREATE);
	if (!self->w->uid) {
		EXPECT_EQ(0, ask(&self->twin, "bpf", cmd));
	}
	/* the file system too, also where modes leave it open */
	ASSERT_EQ(0, chmod("/sys/fs/bpf", 0777));
	EXPECT_NE(0, ask(&self->s, "list", "/sys/fs/bpf"));
	EXPECT_NE(0, ask(&self->s, "mkdir", "/sys/fs/bpf/mine"));
	EXPECT_EQ(0, ask(&self->twin, "list", "/sys/fs/bpf"));
	ASSERT_EQ(0, chmod("/sys/fs/bpf", 0700));
}

TEST_F(kernel, what_paths_mean_does_not_change)
{
	const char *ws = at(self->w, "ws/sub");

	EXPECT_EQ(EPERM, ask(&self->s, "mount", ws));
	EXPECT_EQ(EPERM, ask(&self->s, "bind", at(self->w, "ws/secret"), ws));
	EXPECT_EQ(EPERM, ask(&self->s, "umount", "/proc"));
	EXPECT_EQ(EPERM, ask(&self->s, "chroot", ws));
	EXPECT_EQ(EPERM, ask(&self->s, "pivot", ws));
	EXPECT_EQ(EPERM, ask(&self->s, "open_tree", at(self->w, "ws/secret")));
	EXPECT_EQ(EPERM, ask(&self->s, "fsopen", "tmpfs"));
	if (!self->w->uid) {
		EXPECT_EQ(0, ask(&self->twin, "mount", ws));
		EXPECT_EQ(0, ask(&self->twin, "umount", ws));
	}
}

/* NET-44 */
TEST_F(kernel, new_namespaces_are_refused)
{
	/* user, mount, net, pid, ipc, uts, cgroup, all at once */
	static const char *const flags[] = {
		"0x10000000", "0x20000", "0x40000000", "0x20000000",
		"0x8000000", "0x4000000", "0x2000000", "0x7e020000",
	};

	for (size_t i = 0; i < ARRAY_SIZE(flags); i++) {
		EXPECT_EQ(EPERM, ask(&self->s, "unshare", flags[i])) {
			TH_LOG("unshare(%s)", flags[i]);
		}
	}
	/* what threads of a program share is its own affair: FILES, FS */
	EXPECT_EQ(0, ask(&self->s, "unshare", "0x400"));
	EXPECT_EQ(EPERM, ask(&self->s, "setns", "/proc/self/ns/net"));
	EXPECT_EQ(0, ask(&self->twin, "unshare", "0x10000000"));
	/* A user namespace first, for a network of its own in it */
	EXPECT_EQ(EPERM, ask(&self->s, "unshare", "0x50000000"));
	EXPECT_EQ(0, ask(&self->twin, "unshare", "0x50000000"));
	/* seccomp cannot see the arguments of clone3 */
	EXPECT_EQ(EPERM, ask(&self->s, "clone3", "0x50000000"));
	EXPECT_TRUE(denied(&self->s, "namespace", NULL, NULL));
	EXPECT_EQ(0, ask(&self->s, "clone3", "0"));
	EXPECT_EQ(0, ask(&self->twin, "clone3", "0x50000000"));
}

struct call {
	const char *name;
	long nr;
	int err;
};

/* With arguments that are all 0: what is let through answers otherwise. */
static const struct call calls[] = {
	{ "init_module", SYS_init_module, EPERM },
	{ "finit_module", SYS_finit_module, EPERM },
	{ "delete_module", SYS_delete_module, EPERM },
	{ "kexec_load", SYS_kexec_load, EPERM },
	{ "kexec_file_load", SYS_kexec_file_load, EPERM },
	{ "reboot", SYS_reboot, EPERM },
	{ "swapon", SYS_swapon, EPERM },
	{ "swapoff", SYS_swapoff, EPERM },
	{ "acct", SYS_acct, EPERM },
	{ "iopl", SYS_iopl, EPERM },
	{ "ioperm", SYS_ioperm, EPERM },
	{ "settimeofday", SYS_settimeofday, EPERM },
	{ "clock_settime", SYS_clock_settime, EPERM },
	{ "sethostname", SYS_sethostname, EPERM },
	{ "userfaultfd", SYS_userfaultfd, EPERM },
	{ "perf_event_open", SYS_perf_event_open, EPERM },
	{ "add_key", SYS_add_key, EPERM },
	{ "request_key", SYS_request_key, EPERM },
	{ "keyctl", SYS_keyctl, EPERM },
	{ "bpf", SYS_bpf, EPERM },
	{ "open_by_handle_at", SYS_open_by_handle_at, EPERM },
	{ "move_mount", SYS_move_mount, EPERM },
	{ "mount_setattr", SYS_mount_setattr, EPERM },
	{ "no such call", 1000, ENOSYS },
	{ "beyond any table", 0x3fffffff, ENOSYS },
};

TEST_F(kernel, calls_that_reach_the_kernel_itself_are_refused)
{
	char nr[32];

	for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
		sprintf(nr, "%ld", calls[i].nr);
		EXPECT_EQ(calls[i].err, ask(&self->s, "syscall", nr)) {
			TH_LOG("%s", calls[i].name);
		}
	}
	/* programs try it and fall back only if it is not there */
	sprintf(nr, "%d", SYS_io_uring_setup);
	EXPECT_EQ(ENOSYS, ask(&self->s, "syscall", nr, "1"));
	EXPECT_EQ(0, ask(&self->s, "syscall", "39"));	/* getpid */
	EXPECT_EQ(0, ask(&self->twin, "syscall", "39"));
}

TEST_F(kernel, other_ways_to_make_a_call_are_shut)
{
	/* x32: getpid with the bit of that ABI */
	EXPECT_NE(0, ask(&self->s, "child", "syscall", "0x40000027"));
	/* i386: refused, or the caller killed (EL2HLT) */
	EXPECT_NE(0, ask(&self->s, "int80"));
	EXPECT_EQ(0, ask(&self->s, "open", "file", "r"));
}

TEST_F(kernel, nothing_is_pushed_into_a_terminal)
{
	/* TIOCSTI and TIOCLINUX, also with rubbish above 32 bits */
	EXPECT_EQ(EPERM, ask(&self->s, "ioctl", "/dev/null", "0x5412"));
	EXPECT_EQ(EPERM, ask(&self->s, "ioctl", "/dev/null", "0x541c"));
	EXPECT_EQ(EPERM, ask(&self->s, "ioctl", "/dev/null",
			     "0x100005412"));
	EXPECT_EQ(ENOTTY, ask(&self->s, "ioctl", "/dev/null", "0x5401"));
	EXPECT_EQ(ENOTTY, ask(&self->twin, "ioctl", "/dev/null", "0x5412"));
}

/* Such advice stays with the file, for whoever comes next. */
TEST_F(kernel, no_advice_is_left_on_a_file_that_is_only_read)
{
	static const char *const files[] = { "file", "lib/file", "/bin/sh" };

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		EXPECT_EQ(EPERM, ask(&self->s, "fcntl", files[i], "1036",
				     "2")) {	/* F_SET_RW_HINT */
			TH_LOG("%s", files[i]);
		}
		EXPECT_EQ(EPERM, ask(&self->s, "fcntl", files[i],
				     "0x10000040c", "2"));
		EXPECT_EQ(0, ask(&self->s, "fcntl", files[i], "1035"));
		EXPECT_EQ(0, ask(&self->s, "fcntl", files[i], "3"));
	}
	EXPECT_EQ(0, ask(&self->twin, "fcntl", "file", "1036", "2"));
}

TEST_F(kernel, controls_in_proc_and_sys_are_not_written)
{
	static const char *const files[] = {
		"/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger",
		"/proc/sys/vm/drop_caches", "/proc/sys/kernel/hostname",
		"/proc/self/uid_map", "/proc/sys/kernel/modprobe",
		"/sys/kernel/mm/transparent_hugepage/enabled",
		"/sys/power/state",
	};

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		if (!strcmp(files[i], "/proc/self/uid_map"))
			continue;
		EXPECT_NE(0, ask(&self->s, "open", files[i], "w")) {
			TH_LOG("%s", files[i]);
		}
	}
	EXPECT_NE(0, ask(&self->s, "open", "/proc/kcore", "r"));
	EXPECT_NE(0, ask(&self->s, "open", "/proc/kallsyms", "r"));
	EXPECT_NE(0, ask(&self->s, "list", "/sys/kernel/debug"));
}

TEST_F(kernel, facts_that_programs_need_are_read)
{
	static const char *const files[] = {
		"/proc/cpuinfo", "/proc/meminfo", "/proc/self/maps",
		"/proc/self/status", "/proc/self/cgroup", "/proc/self/stat",
		"/proc/self/exe", "/proc/self/limits", "/etc/passwd",
		"/proc/stat", "/proc/loadavg", "/proc/uptime",
		"/proc/filesystems", "/proc/self/mountinfo",
		"/proc/sys/kernel/osrelease", "/proc/version",
		"/sys/devices/system/cpu/online",
		"/proc/sys/fs/inotify/max_user_watches",
		"/proc/sys/kernel/yama/ptrace_scope",
	};

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		EXPECT_EQ(0, ask(&self->s, "open", files[i], "r")) {
			TH_LOG("%s", files[i]);
		}
	}
	EXPECT_EQ(0, ask(&self->s, "list", "/proc/self/fd"));
	/* as a shell opens it, with O_CREAT, and none has looked there yet */
	EXPECT_EQ(0, ask(&self->s, "child", "write", "/proc/self/comm", "x"));
	EXPECT_EQ(ENOENT, ask(&self->s, "write", "/proc/self/nothing", "x"));
	EXPECT_TRUE(quiet(&self->s));
}

FIXTURE(userns) {
	struct world *w;
	struct session s, twin;
	char outside[16];
};

FIXTURE_SETUP(userns)
{
	self->w = world_make(TEST_USER);
	ASSERT_NE(NULL, self->w);
	ASSERT_EQ(0, policy_write(self->w, &(struct policy){
		.sandbox = ",\"user_namespaces\":true" }));
	ASSERT_EQ(0, session_start(&self->s, self->w, "s", NULL));
	ASSERT_EQ(0, twin_start(&self->twin, self->w));
	snprintf(self->outside, sizeof(self->outside), "%d",
		 self->twin.probe);
}

FIXTURE_TEARDOWN(userns)
{
	session_end(&self->twin);
	EXPECT_EQ(0, session_end(&self->s));
	world_remove(self->w);
}

#define USER "0x10000000"
#define USER_PID_NET "0x70000000"
#define USER_MOUNT "0x10020000"
#define USER_NET "0x50000000"

/* A sandbox of a program's own is made of these. */
TEST_F(userns, where_they_are_granted_they_can_be_made)
{
	static const char *const flags[] = { USER, USER_PID_NET };
	const char *file = at(self->w, "ws/file");
	const char *sub = at(self->w, "ws/sub");

	for (int i = 0; i < 2; i++) {
		EXPECT_EQ(0, ask(&self->s, "unshare", flags[i]));
		EXPECT_EQ(0, ask(&self->s, "clone3", flags[i]));
		EXPECT_EQ(0, ask(&self->s, "clone3", flags[i], "open", file,
				 "r"));
		/* processes, the network, IPC, host names: those in it */
		EXPECT_EQ(0, ask(&self->s, "clone3", flags[i], "unshare",
				 "0x6c000000"));
		EXPECT_EQ(0, ask(&self->s, "clone3", flags[i], "chroot",
				 sub));
		EXPECT_EQ(0, ask(&self->s, "clone3", flags[i], "socketpair"));
	}
	EXPECT_TRUE(quiet(&self->s));
}

/* With all capabilities there, and none that counts. */
TEST_F(userns, everything_else_stays_refused_in_one)
{
	char key[128], sub[128], out[128];
	const char *const rows[][4] = {
		{ "open", key, "r" }, { "open", out, "r" },
		{ "list", "/sys/fs/bpf" }, { "list", "/sys/fs/cgroup" },
		{ "mount", sub }, { "bind", key, sub }, { "umount", "/proc" },
		{ "pivot", sub }, { "open_tree", sub }, { "fsopen", "tmpfs" },
		{ "setns", "/proc/1/ns/net" }, { "setns", "/proc/self/ns/net" },
		{ "kill", self->outside, "0" }, { "bpf", "0" }, { "perf" },
		{ "procfile", self->outside, "environ" },
		{ "socket", "2", "1" }, { "socket", "2", "3" },
		{ "socket", "17", "3" }, { "socket", "16", "3" },
		{ "open", "/proc/sys/kernel/hostname", "w" },
		{ "unshare", "0x20000" }, { "unshare", "0x2000000" },
	};
	static const char *const flags[] = { USER, USER_PID_NET };

	snprintf(key, sizeof(key), "%s", at(self->w, "ws/secret/key"));
	snprintf(sub, sizeof(sub), "%s", at(self->w, "ws/sub"));
	snprintf(out, sizeof(out), "%s", at(self->w, "outside/file"));
	for (size_t i = 0; i < ARRAY_SIZE(rows) * 2; i++) {
		const char *const *r = rows[i / 2];
		int err = ask(&self->s, "clone3", flags[i & 1], r[0], r[1],
			      r[1] ? r[2] : NULL);

		EXPECT_TRUE(err == EPERM || err == EACCES || err == ESRCH) {
			TH_LOG("%s %s %s: %d", flags[i & 1], r[0], r[1], err);
		}
	}
	/* No root directory makes another file of one. */
	EXPECT_EQ(EPERM, ask(&self->s, "chroot", sub));
	/* A place among other mounts grants nothing. */
	EXPECT_EQ(EPERM, ask(&self->s, "unshare", USER_MOUNT));
	EXPECT_EQ(EACCES, ask(&self->s, "clone3", USER_MOUNT, "open",
			      at(self->w, "ws/file"), "r"));
	EXPECT_EQ(0, ask(&self->s, "open", at(self->w, "ws/file"), "r"));
	/* The twin has what it may: its mounts, and sockets of any kind. */
	EXPECT_EQ(0, ask(&self->twin, "clone3", USER_MOUNT, "mount", sub));
	EXPECT_EQ(0, ask(&self->twin, "clone3", USER_PID_NET, "socket", "17",
			 "3"));
	EXPECT_EQ(0, ask(&self->twin, "clone3", USER, "open", key, "r"));
}

/*
 * Of a pair of devices a kernel may make the other one wherever it is told to,
 * without asking who owns that place.
 */
TEST_F(userns, no_device_is_made_outside_of_one)
{
	const char *const outside[] = { "1", self->outside };
	struct session s;

	ASSERT_EQ(0, policy_write(self->w, &(struct policy){
		.sandbox = ",\"user_namespaces\":true,"
			   "\"allow_loopback\":true" }));
	ASSERT_EQ(0, session_start(&s, self->w, "net", NULL));
	ASSERT_EQ(0, system("ip link add lh0 type veth peer name lh1 &&"
			    " ip link del lh0"));
	for (int i = 0; i < 2; i++) {
		EXPECT_EQ(EPERM, ask(&s, "clone3", USER_NET, "ipair",
				     outside[i]));
		EXPECT_TRUE(denied(&s, "namespace", NULL, NULL));
	}
	EXPECT_EQ(0, ask(&s, "clone3", USER_NET, "ipair", "0"));
	EXPECT_EQ(0, ask(&self->twin, "clone3", USER_NET, "ipair", "0"));
	EXPECT_TRUE(quiet(&s));
	EXPECT_EQ(0, session_end(&s));
}

TEST_HARNESS_MAIN
