// SPDX-License-Identifier: GPL-2.0-only
/*
 * /proc, /sys and /dev: a session's own processes, the facts that runtimes
 * need, harmless devices and its own terminals; nothing else, also where a wide
 * root or a bind mount would grant the place (PROC-03, PROC-12, PROC-38,
 * FS-14, FS-15, FS-35 to FS-38).
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>

#include "kselftest_harness.h"
#include "twins.h"

TWINS(proc);

static const char *const read_files[] = {
	"stat", "statm", "status", "cmdline", "environ", "maps", "smaps", "mem",
	"io", "comm", "limits", "cgroup", "mounts", "mountinfo", "sched",
	"oom_score", "wchan", "auxv", "fd", "fdinfo", "task", "ns",
};

static const char *const write_files[] = {
	"comm", "oom_score_adj", "coredump_filter", "timerslack_ns",
	"setgroups", "uid_map", "gid_map", "clear_refs", "mem", "loginuid",
	"autogroup", "attr/current",
};

static const char *const links[] = {
	"cwd", "root", "exe", "fd/0", "ns/mnt", "ns/pid",
};

static const char *of(const char *pid, const char *name)
{
	static char path[8][128];
	static unsigned int turn;
	char *p = path[turn++ % 8];

	snprintf(p, sizeof(path[0]), "/proc/%s/%s", pid, name);
	return p;
}

static void closed(struct __test_metadata *_metadata, struct session *s,
		   const char *pid)
{
	char thread[64];

	for (size_t i = 0; i < ARRAY_SIZE(read_files); i++) {
		EXPECT_NE(0, ask(s, "procfile", pid, read_files[i])) {
			TH_LOG("read /proc/%s/%s", pid, read_files[i]);
		}
	}
	for (size_t i = 0; i < ARRAY_SIZE(write_files); i++) {
		EXPECT_NE(0, ask(s, "open", of(pid, write_files[i]), "w")) {
			TH_LOG("write /proc/%s/%s", pid, write_files[i]);
		}
	}
	for (size_t i = 0; i < ARRAY_SIZE(links); i++) {
		EXPECT_NE(0, ask(s, "readlink", of(pid, links[i]))) {
			TH_LOG("readlink /proc/%s/%s", pid, links[i]);
		}
	}
	snprintf(thread, sizeof(thread), "task/%s/stat", pid);
	EXPECT_NE(0, ask(s, "open", of(pid, thread), "r"));
	snprintf(thread, sizeof(thread), "task/%s/environ", pid);
	EXPECT_NE(0, ask(s, "open", of(pid, thread), "r"));
	/* through a directory that is held, and by its descriptors' links */
	EXPECT_NE(0, ask(s, "openat", of(pid, "."), "stat", "r"));
	EXPECT_NE(0, ask(s, "open", of(pid, "root/etc/passwd"), "r"));
	EXPECT_NE(0, ask(s, "open", of(pid, "cwd/file"), "r"));
	EXPECT_NE(0, ask(s, "open", of(pid, "fd/0"), "r"));
	EXPECT_NE(0, ask(s, "list", of(pid, "net")));
	EXPECT_NE(0, ask(s, "open", of(pid, "net/tcp"), "r"));
	EXPECT_NE(0, ask(s, "stat", of(pid, ".")));
}

TEST_F(proc, processes_outside_of_it_are_closed)
{
	char pid[16];

	/* of the same user, so that the kernel alone would let it in */
	sprintf(pid, "%d", self->twin.probe);
	closed(_metadata, &self->s, pid);
	EXPECT_EQ(EACCES, ask(&self->s, "open", of(pid, "cmdline"), "r"));
	EXPECT_TRUE(denied(&self->s, "open", of(pid, "cmdline"), NULL));
	EXPECT_EQ(0, ask(&self->twin, "open", of(pid, "cmdline"), "r"));
	sprintf(pid, "%d", self->s.pid);
	closed(_metadata, &self->s, pid);
	closed(_metadata, &self->s, "1");
	EXPECT_EQ(0, ask(&self->twin, "open", "/proc/1/stat", "r"));
}

TEST_F(proc, its_own_are_open)
{
	char pid[16];

	ASSERT_EQ(0, ask(&self->s, "spawn", "sleep"));
	sprintf(pid, "%d", self->s.reply.value);
	for (size_t i = 0; i < ARRAY_SIZE(read_files); i++) {
		EXPECT_EQ(0, ask(&self->s, "procfile", pid, read_files[i])) {
			TH_LOG("read own %s", read_files[i]);
		}
		EXPECT_EQ(0, ask(&self->s, "thread", "procfile", "thread-self",
				 !strcmp(read_files[i], "task") ? "comm" :
				 read_files[i])) {
			TH_LOG("read thread-self/%s", read_files[i]);
		}
	}
	for (size_t i = 0; i < 4; i++) {
		EXPECT_EQ(0, ask(&self->s, "open", of(pid, write_files[i]),
				 "w")) {
			TH_LOG("write own %s", write_files[i]);
		}
	}
	for (size_t i = 0; i < ARRAY_SIZE(links); i++) {
		if (strcmp(links[i], "fd/0"))
			EXPECT_EQ(0, ask(&self->s, "readlink",
					 of(pid, links[i])));
	}
	/* of another process not even one's own user may */
	EXPECT_EQ(0, ask(&self->s, "write", "/proc/self/comm", "newname"));
	EXPECT_EQ(0, ask(&self->s, "write", of(pid, "oom_score_adj"), "500"));
	EXPECT_EQ(EACCES, ask(&self->s, "write", of(pid, "oom_score_adj"),
			      "-500"));
	EXPECT_EQ(0, ask(&self->s, "open", "/proc/self/comm", "r"));
	EXPECT_STREQ("newname\n", self->s.reply.text);
	EXPECT_EQ(0, ask(&self->s, "open", "/proc/self/root/etc/passwd", "r"));
	EXPECT_EQ(0, ask(&self->s, "open", "/proc/self/cwd/file", "r"));
	EXPECT_TRUE(quiet(&self->s));
	/* what reaches beyond: the audit trail, the terminal's weight */
	EXPECT_NE(0, ask(&self->s, "open", "/proc/self/loginuid", "w"));
	EXPECT_NE(0, ask(&self->s, "open", "/proc/self/autogroup", "w"));
}

TEST_F(proc, the_listing_works_and_so_do_its_readers)
{
	char cmd[2048];

	EXPECT_EQ(0, ask(&self->s, "list", "/proc"));
	/* of all there is, they show what is the session's */
	snprintf(cmd, sizeof(cmd),
		 "%s/lh-supervise --policy %s -C %s --user %s --denials %s "
		 "--result %s -- sh -c 'sleep 100 & ps -e -o comm= && "
		 "pgrep -x sleep && ! pgrep -x lh-supervise && "
		 "HOME=$PWD top -b -n 1 | grep sleep && ipcs && free && uptime && "
		 "pidof sleep' >%s </dev/null", getenv("B") ? getenv("B") :
		 "build", at(self->w, "log/policy.json"), at(self->w, "ws"),
		 self->w->user, at(self->w, "log/ps.d"),
		 at(self->w, "log/ps.r"), at(self->w, "log/ps.out"));
	EXPECT_EQ(0, system(cmd));
	snprintf(cmd, sizeof(cmd), "grep -qx sleep %s && grep -qx sh %s && "
		 "! grep -q lh-keeper %s", at(self->w, "log/ps.out"),
		 at(self->w, "log/ps.out"), at(self->w, "log/ps.out"));
	EXPECT_EQ(0, system(cmd));
	/* each look at a process outside is told, and alarms nobody */
	EXPECT_STREQ("null", json_member(at(self->w, "log/ps.r"),
					  "security_alert")) {
		snprintf(cmd, sizeof(cmd), "grep '\"expected_probe\":false' "
			 "%s | head -3 | sed 's/.*\"access\"/# /'",
			 at(self->w, "log/ps.d"));
		EXPECT_EQ(0, system(cmd));
	}
}

static const char *const knobs[] = {
	"/proc/sysrq-trigger", "/proc/sys/kernel/core_pattern",
	"/proc/sys/vm/drop_caches", "/proc/sys/kernel/modprobe",
	"/sys/kernel/uevent_helper", "/proc/sys/kernel/hostname",
	"/sys/power/state", "/proc/sys/fs/binfmt_misc/register",
};

static const char *const secrets[] = {
	"/proc/kcore", "/proc/kallsyms", "/proc/keys", "/proc/key-users",
	"/proc/kmsg", "/proc/sysvipc/shm", "/proc/net/tcp", "/proc/net/unix",
	"/proc/self/net/tcp", "/proc/modules", "/proc/iomem", "/proc/timer_list",
	"/proc/self/net/if_inet6",	/* no sockets, no interfaces */
	"/proc/sys/kernel/core_pattern", "/sys/kernel/debug/sched/debug",
	"/sys/kernel/security/lsm", "/sys/kernel/tracing/trace",
	"/sys/kernel/notes", "/proc/cmdline",
};

static const char *const facts[] = {
	"/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/uptime",
	"/proc/loadavg", "/proc/version", "/proc/sys/kernel/osrelease",
	"/sys/devices/system/cpu/online", "/proc/sys/kernel/pid_max",
	"/sys/fs/cgroup/cgroup.controllers",
};

TEST_F(proc, facts_are_read_and_knobs_are_not_turned)
{
	for (size_t i = 0; i < ARRAY_SIZE(facts); i++) {
		EXPECT_EQ(0, ask(&self->s, "open", facts[i], "r")) {
			TH_LOG("%s", facts[i]);
		}
	}
	EXPECT_TRUE(quiet(&self->s));
	for (size_t i = 0; i < ARRAY_SIZE(secrets); i++) {
		EXPECT_NE(0, ask(&self->s, "open", secrets[i], "r")) {
			TH_LOG("%s", secrets[i]);
		}
	}
	for (size_t i = 0; i < ARRAY_SIZE(knobs); i++) {
		if (!exists(knobs[i]))
			continue;
		EXPECT_EQ(EACCES, ask(&self->s, "open", knobs[i], "w")) {
			TH_LOG("%s", knobs[i]);
		}
		EXPECT_NE(0, ask(&self->s, "chmod", knobs[i], "666"));
		if (self->w->uid)	/* modes refuse them to a user */
			continue;
		EXPECT_TRUE(denied(&self->s, "open", knobs[i], NULL));
		EXPECT_EQ(0, ask(&self->twin, "open", knobs[i], "w"));
	}
}

static const struct shown {
	const char *from, *file;
	int read, write;	/* errno under a root that grants both */
} shown[] = {
	{ "/proc", "sys/kernel/core_pattern", 0, EACCES },
	{ "/proc", "sysrq-trigger", -1, EACCES },
	{ "/proc", "1/stat", EACCES, EACCES },
	{ "/proc", "1/net/tcp", EACCES, -1 },	/* it may have another one */
	{ "/proc", "1/net/stat/arp_cache", EACCES, -1 },
	{ "/proc", "self/net/tcp", 0, -1 },
	{ "/proc", "self/net/stat/arp_cache", 0, -1 },
	/* it names sockets wherever they lie */
	{ "/proc", "net/unix", EACCES, -1 },
	{ "/proc", "self/net/unix", EACCES, -1 },
	{ "/proc", "thread-self/net/unix", EACCES, -1 },
	{ "/proc", "self/net/netlink", 0, -1 },
	{ "/sys", "kernel/uevent_helper", -1, EACCES },
	{ "/sys/fs/cgroup", "lh-test/cgroup.procs", EACCES, EACCES },
	{ "/sys/fs/cgroup", "lh-test/memory.max", EACCES, EACCES },
	{ "/sys/kernel/debug", "sleep_time", EACCES, EACCES },
	{ "/sys/kernel/tracing", "trace", EACCES, EACCES },
	{ "/sys/kernel/security", "lsm", EACCES, EACCES },
	{ "/dev", "kmsg", EACCES, EACCES },
	{ "/dev", "mem", EACCES, EACCES },
	{ "/dev", "vport0p1", EACCES, EACCES },
	{ "/dev", "null", 0, 0 },
	{ "/dev", "urandom", 0, -1 },
};

static void openings(struct __test_metadata *_metadata, struct session *s,
		     const char *below, const char *from, bool writes)
{
	for (size_t i = 0; i < ARRAY_SIZE(shown); i++) {
		const struct shown *f = &shown[i];
		char path[256], host[256];

		snprintf(host, sizeof(host), "%s/%s", f->from, f->file);
		if (strcmp(f->from, from) || !exists(host))
			continue;
		snprintf(path, sizeof(path), "%s/%s", below, f->file);
		if (f->read >= 0) {
			EXPECT_EQ(f->read, ask(s, "open", path, "r")) {
				TH_LOG("read %s", path);
			}
			EXPECT_EQ(f->read, ask(s, "openat", below, f->file,
					       "r"));
		}
		if (f->write >= 0 && writes)
			EXPECT_EQ(f->write, ask(s, "open", path, "w")) {
				TH_LOG("write %s", path);
			}
	}
}

/*
 * A root of / is legal, and the host may show any file system in a workspace:
 * neither opens what is no file of anybody's.
 */
TEST_F(proc, wide_roots_and_bind_mounts_open_nothing_more)
{
	static const char *const from[] = {
		"/proc", "/sys", "/sys/fs/cgroup", "/sys/kernel/debug",
		"/sys/kernel/tracing", "/sys/kernel/security", "/dev",
	};
	struct policy p = { .deny = "],\"read_roots\":[\"/\",\"/proc\","
				    "\"/dev\",\"/sys/fs/cgroup\"" };
	struct session wide;
	char own[128];

	mkdir("/sys/fs/cgroup/lh-test", 0755);
	ASSERT_EQ(0, policy_write(self->w, &p));
	ASSERT_EQ(0, session_start(&wide, self->w, "wide", NULL));
	for (size_t i = 0; i < ARRAY_SIZE(from); i++) {
		const char *to = at(self->w, "ws/sub");

		openings(_metadata, &wide, from[i], from[i], true);
		ASSERT_EQ(0, mount(from[i], to, NULL, MS_BIND, NULL));
		openings(_metadata, &self->s, to, from[i], true);
		ASSERT_EQ(0, umount2(to, MNT_DETACH));
	}
	/* its own limits are read all the same, and files of the host too */
	EXPECT_EQ(0, ask(&wide, "open", "/proc/self/cgroup", "r"));
	EXPECT_EQ(0, !strchr(wide.reply.text, '/'));
	snprintf(own, sizeof(own), "/sys/fs/cgroup%.60s/memory.max",
		 strchr(wide.reply.text, '/'));
	memmove(strchr(own, '\n'), "/memory.max", 12);
	EXPECT_EQ(0, ask(&wide, "open", own, "r")) {
		TH_LOG("%s", own);
	}
	EXPECT_EQ(EACCES, ask(&wide, "open", own, "w"));
	EXPECT_EQ(0, ask(&wide, "open", at(self->w, "outside/file"), "r"));
	EXPECT_EQ(0, ask(&wide, "list", "/dev"));
	EXPECT_EQ(0, session_end(&wide));
	rmdir("/sys/fs/cgroup/lh-test");
}

/* A device file is what it is wherever it lies; the host may have made it. */
TEST_F(proc, a_device_file_in_a_workspace_is_not_opened)
{
	const char *blk = at(self->w, "ws/sub/blk");
	const char *mem = at(self->w, "ws/sub/mem");
	const char *null = at(self->w, "ws/sub/null");
	mode_t old = umask(0);

	/* where devices may lie */
	ASSERT_EQ(0, mount("tmpfs", at(self->w, "ws/sub"), "tmpfs", 0,
			   "mode=777"));
	ASSERT_EQ(0, mknod(blk, S_IFBLK | 0666, makedev(7, 0)));
	ASSERT_EQ(0, mknod(mem, S_IFCHR | 0666, makedev(1, 11)));
	ASSERT_EQ(0, mknod(null, S_IFCHR | 0666, makedev(1, 3)));
	umask(old);
	ASSERT_EQ(0, chown(blk, self->w->uid, self->w->gid));
	EXPECT_EQ(EACCES, ask(&self->s, "open", "sub/blk", "r"));
	EXPECT_TRUE(denied(&self->s, "open", blk, NULL));
	EXPECT_EQ(EACCES, ask(&self->s, "open", "sub/mem", "r"));
	EXPECT_EQ(EACCES, ask(&self->s, "open", "sub/mem", "w"));
	EXPECT_EQ(0, ask(&self->s, "open", "sub/null", "+"));
	EXPECT_NE(EACCES, ask(&self->twin, "open", "sub/blk", "r"));
	/* it may be looked at and removed, as rm -rf does */
	EXPECT_EQ(0, ask(&self->s, "stat", "sub/blk"));
	EXPECT_EQ(0, ask(&self->s, "unlink", "sub/blk"));
	EXPECT_NE(0, ask(&self->s, "mknod", "sub/made", "b"));
	EXPECT_NE(0, ask(&self->s, "mknod", "sub/made", "c"));
	EXPECT_EQ(0, umount2(at(self->w, "ws/sub"), MNT_DETACH));
}

TEST_F(proc, terminals_of_others_are_closed)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	char name[64];

	ASSERT_LE(0, master);
	ASSERT_EQ(0, grantpt(master) || unlockpt(master));
	ASSERT_EQ(0, ptsname_r(master, name, sizeof(name)));
	ASSERT_EQ(0, chown(name, self->w->uid, self->w->gid));
	for (const char *const *how = (const char *const[]){ "r", "w", "+",
							     NULL };
	     *how; how++) {
		EXPECT_EQ(EACCES, ask(&self->s, "open", name, *how));
		EXPECT_TRUE(denied(&self->s, "open", name, NULL));
	}
	/* the same by another mount of the terminals */
	ASSERT_EQ(0, mount("/dev/pts", at(self->w, "ws/sub"), NULL, MS_BIND,
			   NULL));
	EXPECT_EQ(EACCES, ask(&self->s, "open",
			      at(self->w, "ws/sub/%s", name + 9), "w"));
	ASSERT_EQ(0, umount2(at(self->w, "ws/sub"), MNT_DETACH));
	EXPECT_EQ(0, ask(&self->twin, "open", name, "w"));
	close(master);
	/* a terminal of its own, with the kernel's two bad ideas on it */
	EXPECT_EQ(EPERM, ask(&self->s, "ioctl", "/dev/ptmx", "0x5412"));
	EXPECT_EQ(EPERM, ask(&self->s, "ioctl", "/dev/ptmx",
			     "0x12300005412"));
	EXPECT_EQ(EPERM, ask(&self->s, "ioctl", "/dev/ptmx", "0x541c"));
	EXPECT_EQ(EPERM, ask(&self->s, "ioctl", "/dev/ptmx",
			     "0x10000541c"));
	EXPECT_EQ(0, ask(&self->s, "ioctl", "/dev/ptmx", "0x80045430"));
}

TEST_F(proc, the_machines_accounts_are_closed)
{
	char nr[16];

	/* Q_SYNC of all there is: harmless, so that only we refuse it */
	sprintf(nr, "%d", SYS_quotactl);
	EXPECT_EQ(EPERM, ask(&self->s, "syscall", nr, "0x80000100", "0", "0",
			     "0"));
	EXPECT_TRUE(denied(&self->s, "quota", NULL, NULL));
	EXPECT_NE(EPERM, ask(&self->twin, "syscall", nr, "0x80000100", "0",
			     "0", "0"));
	/* these no hook sees: the filter, without a record */
	sprintf(nr, "%d", SYS_swapon);
	EXPECT_EQ(EPERM, ask(&self->s, "syscall", nr, "0", "0"));
	sprintf(nr, "%d", SYS_acct);
	EXPECT_EQ(EPERM, ask(&self->s, "syscall", nr, "0"));
}

TEST_HARNESS_MAIN
