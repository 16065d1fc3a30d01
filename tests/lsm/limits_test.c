// SPDX-License-Identifier: GPL-2.0-only
/*
 * Limits against what wants more: bombs of processes, threads and memory, files
 * that grow, processors and disks in use. The host stays usable, the result
 * says which limit it was; who stays below notices nothing.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>

#include "kselftest_harness.h"
#include "session.h"

/* One that the kernel keeps for a cgroup, or for each process of a user's. */
#define LIMITS(name)							\
FIXTURE(name) {								\
	struct world *w;						\
	char policy[128], ws[128], result[128];				\
};									\
									\
FIXTURE_VARIANT(name) {							\
	const char *user;						\
};									\
									\
FIXTURE_SETUP(name)							\
{									\
	self->w = world_make(variant->user);				\
	ASSERT_NE(NULL, self->w);					\
	snprintf(self->policy, sizeof(self->policy),			\
		 "%s/log/policy.json", self->w->dir);			\
	snprintf(self->ws, sizeof(self->ws), "%s/ws", self->w->dir);	\
	snprintf(self->result, sizeof(self->result), "%s/log/r.json",	\
		 self->w->dir);						\
}									\
									\
FIXTURE_TEARDOWN(name)							\
{									\
	world_remove(self->w);						\
}									\
FIXTURE_VARIANT_ADD(name, user) { .user = TEST_USER }

LIMITS(limits);
LIMITS(own);

FIXTURE_VARIANT_ADD(own, root) { .user = "root" };

static int limit(const struct world *w, const char *limits)
{
	char more[300];
	struct policy p = { .more = more };

	snprintf(more, sizeof(more), ",\"limits\":{\"grace\":\"200ms\",%s}",
		 limits);
	return policy_write(w, &p);
}

static char out[8192];

#define RUN(...) WEXITSTATUS(supervise(self->w, out, sizeof(out),	\
	(const char *const[]){ "--policy", self->policy, "-C", self->ws, \
		"--user", self->w->user, "--timeout", "90s", "--denials", \
		at(self->w, "log/d.jsonl"), "--result", self->result, "--", \
		__VA_ARGS__, NULL }))
#define PYTHON(...) RUN("python3", "-c", __VA_ARGS__)

#define IS(member, value) do {						\
	EXPECT_STREQ(value, json_member(self->result, member)) {	\
		TH_LOG("%s; %s", member, out);				\
	}								\
} while (0)

/* The schema has it so, and the machine goes on. */
#define FINE() do {							\
	char cmd[400];							\
									\
	snprintf(cmd, sizeof(cmd), "\"$LH_TESTS\"/valid %s && /bin/true", \
		 self->result);						\
	EXPECT_EQ(0, system(cmd));					\
} while (0)

/* The same of the last record; all of them are as the schema has it. */
#define RECORD(member, value) do {					\
	char cmd[400];							\
									\
	snprintf(cmd, sizeof(cmd), "cd %s/log && tail -n 1 d.jsonl >last && " \
		 "\"$LH_TESTS\"/valid d.jsonl", self->w->dir);		\
	EXPECT_EQ(0, system(cmd));					\
	EXPECT_STREQ(value, json_member(at(self->w, "log/last"), member)) { \
		TH_LOG("%s", member);					\
	}								\
} while (0)

static long number(const char *path, const char *member)
{
	const char *text = json_member(path, member);

	return text ? atol(text) : -1;
}

/* PROC-28 */
TEST_F(limits, a_fork_bomb_stops_at_pids)
{
	ASSERT_EQ(0, limit(self->w, "\"pids\":64"));
	/* each waits for its children, so the first is there to the end */
	EXPECT_NE(0, RUN("python3", "-c",
		"import os, sys\n"
		"def bomb():\n"
		"    a = os.fork()\n"
		"    if not a:\n"
		"        return bomb()\n"
		"    b = os.fork()\n"
		"    if not b:\n"
		"        return bomb()\n"
		"    sys.exit(os.waitstatus_to_exitcode(os.wait()[1]) or 1)\n"
		"bomb()"));
	IS("status", "pids");
	EXPECT_LT(0, number(self->result, "resources.pids_refused"));
	/* LOG-17 */
	RECORD("operation", "limit");
	RECORD("limit", "pids");
	RECORD("limit_value", "64");
	RECORD("rule", "/limits/pids");
	RECORD("errno", "EAGAIN");
	RECORD("count", json_member(self->result, "resources.pids_refused"));
	FINE();
	EXPECT_EQ(0, RUN("sh", "-c",
			 "for i in $(seq 200); do /bin/true || exit 1; done"));
	IS("status", "ok");
	IS("resources.pids_refused", "0");
}

TEST_F(limits, so_does_the_shells)
{
	ASSERT_EQ(0, limit(self->w, "\"pids\":32"));
	/* bash tries again and again; its children never end */
	EXPECT_EQ(124, RUN("timeout", "3", "bash", "-c",
			   "b() { b | b & wait; }; b"));
	IS("status", "pids");
	EXPECT_LT(0, number(self->result, "resources.pids_refused"));
	FINE();
	EXPECT_EQ(0, RUN("bash", "-c", "a() { true | true & wait; }; a"));
	IS("status", "ok");
}

static const char threads[] =
	"import sys, threading\n"
	"end = threading.Event()\n"
	"def start():\n"
	"    t = threading.Thread(target=end.wait, daemon=True)\n"
	"    t.start()\n"
	"try:\n"
	"    for i in range(int(sys.argv[1])):\n"
	"        start()\n"
	"except RuntimeError:\n"
	"    sys.exit(9)\n";

TEST_F(limits, a_flood_of_threads_stops_at_pids)
{
	ASSERT_EQ(0, limit(self->w, "\"pids\":40"));
	EXPECT_EQ(9, PYTHON(threads, "200"));
	IS("status", "pids");
	FINE();
	EXPECT_EQ(0, PYTHON(threads, "30"));
	IS("status", "ok");
}

static const char zombies[] =
	"import os, sys\n"
	"for i in range(300):\n"
	"    pid = os.fork()\n"
	"    if not pid:\n"
	"        os._exit(0)\n"
	"    if sys.argv[1] == 'wait':\n"
	"        os.waitpid(pid, 0)\n";

TEST_F(limits, a_flood_of_zombies_stops_at_pids)
{
	ASSERT_EQ(0, limit(self->w, "\"pids\":40"));
	EXPECT_EQ(1, PYTHON(zombies, "leave"));
	IS("status", "pids");
	FINE();
	EXPECT_EQ(0, PYTHON(zombies, "wait"));
	IS("status", "ok");
}

/* PROC-29 */
TEST_F(limits, memory_is_the_sessions_not_the_hosts)
{
	ASSERT_EQ(0, limit(self->w, "\"memory\":\"64M\",\"swap\":0"));
	EXPECT_EQ(128 + SIGKILL, PYTHON("b = bytearray(10 ** 9)"));
	IS("status", "oom");
	IS("signal", "SIGKILL");
	IS("resources.oom_kills", "1");
	EXPECT_GE(64 << 20, number(self->result, "resources.memory_peak_bytes"));
	IS("denials.total", "1");
	IS("security_alert", "null");
	RECORD("limit", "memory");
	RECORD("limit_value", "67108864");
	RECORD("comm", "python3");
	RECORD("uid", "4242");
	RECORD("count", "1");
	EXPECT_LT(1, number(at(self->w, "log/last"), "pid"));
	FINE();
	/* of a child, which its parent tells on */
	EXPECT_EQ(137, RUN("sh", "-c",
			   "python3 -c 'b = bytearray(10 ** 9)'; exit $?"));
	IS("status", "oom");
	/* one that copes with it */
	EXPECT_EQ(0, RUN("sh", "-c",
			 "python3 -c 'b = bytearray(10 ** 9)' || true"));
	IS("status", "ok");
	IS("resources.oom_kills", "1");
	EXPECT_EQ(0, PYTHON("b = bytearray(10 ** 7)"));
	IS("status", "ok");
	IS("resources.oom_kills", "0");
	IS("denials.total", "0");
}

TEST_F(limits, files_in_memory_are_memory)
{
	ASSERT_EQ(0, limit(self->w, "\"memory\":\"64M\",\"swap\":0"));
	EXPECT_NE(0, RUN("sh", "-c",
			 "head -c 300M /dev/zero >/dev/shm/lh-$$ || exit 1"));
	IS("status", "oom");
	EXPECT_NE(0, RUN("sh", "-c", "head -c 300M /dev/zero >\"$TMPDIR/x\""));
	IS("status", "oom");
	EXPECT_EQ(0, RUN("sh", "-c", "head -c 20M /dev/zero >\"$TMPDIR/x\""));
	IS("status", "ok");
}

TEST_F(limits, swap_is_had_as_far_as_it_is_granted)
{
	static const char *const use = "b = bytearray(100 << 20)\nprint(len(b))";

	ASSERT_EQ(0, system("head -c 256M /dev/zero >/tmp/swap && "
			    "chmod 600 /tmp/swap && "
			    "losetup -f --show /tmp/swap >/tmp/swap.dev && "
			    "mkswap -q $(cat /tmp/swap.dev) && "
			    "swapon $(cat /tmp/swap.dev)"));
	EXPECT_EQ(0, limit(self->w, "\"memory\":\"64M\",\"swap\":\"128M\""));
	EXPECT_EQ(0, PYTHON(use));
	IS("status", "ok");
	/* none, and none too where only memory is said */
	EXPECT_EQ(0, limit(self->w, "\"memory\":\"64M\",\"swap\":0"));
	EXPECT_EQ(128 + SIGKILL, PYTHON(use));
	IS("status", "oom");
	EXPECT_EQ(0, limit(self->w, "\"memory\":\"64M\""));
	EXPECT_EQ(128 + SIGKILL, PYTHON(use));
	IS("status", "oom");
	EXPECT_EQ(0, system("swapoff $(cat /tmp/swap.dev) && "
			    "losetup -d $(cat /tmp/swap.dev) && "
			    "rm /tmp/swap /tmp/swap.dev"));
}

TEST_F(limits, processors_are_shared_as_granted)
{
	static const char *const spin = "import time\n"
		"while time.process_time() < 0.5:\n    pass";

	ASSERT_EQ(0, limit(self->w, "\"cpu\":\"20%\""));
	EXPECT_EQ(0, PYTHON(spin));
	IS("status", "ok");
	EXPECT_LT(0, number(self->result, "resources.throttled_us"));
	FINE();
	ASSERT_EQ(0, limit(self->w, "\"cpu\":\"100000%\""));
	EXPECT_EQ(0, PYTHON(spin));
	IS("resources.throttled_us", "0");
}

TEST_F(own, a_file_grows_to_file_size)
{
	ASSERT_EQ(0, limit(self->w, "\"file_size\":\"1M\""));
	EXPECT_EQ(128 + SIGXFSZ, RUN("sh", "-c", "exec cat /dev/zero >big"));
	IS("status", "killed");
	IS("signal", "SIGXFSZ");
	FINE();
	/* again and again: no file is larger */
	EXPECT_EQ(0, RUN("sh", "-c",
		"trap '' XFSZ; for i in 1 2 3; do cat /dev/zero >>big "
		"2>/dev/null; done; test $(stat -c %s big) = 1048576"));
	EXPECT_EQ(0, RUN("sh", "-c", "head -c 1M /dev/zero >big"));
	IS("status", "ok");
	EXPECT_EQ(0, PYTHON(
		"import resource\n"
		"soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)\n"
		"assert soft == hard == 1 << 20\n"
		"try:\n"
		"    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, -1))\n"
		"    raise SystemExit('raised')\n"
		"except (ValueError, PermissionError):\n"
		"    pass"));
	EXPECT_STREQ("", out);
}

TEST_F(own, descriptors_are_had_up_to_open_files)
{
	static const char *const use =
		"import os, resource, sys\n"
		"soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)\n"
		"assert soft == hard == 32\n"
		"try:\n"
		"    resource.setrlimit(resource.RLIMIT_NOFILE, (33, 33))\n"
		"    raise SystemExit('raised')\n"
		"except (ValueError, PermissionError):\n"
		"    pass\n"
		"for i in range(int(sys.argv[1])):\n"
		"    os.open('file', os.O_RDONLY)\n";

	ASSERT_EQ(0, limit(self->w, "\"open_files\":32"));
	EXPECT_EQ(1, PYTHON(use, "40"));
	EXPECT_NE(NULL, strstr(out, "Too many open files"));
	IS("status", "error");
	IS("limits.open_files", "32");
	EXPECT_EQ(0, PYTHON(use, "20"));
	EXPECT_STREQ("", out);
	IS("status", "ok");
	FINE();
}

/* PROC-12: the session's own limits are no business of the session's. */
TEST_F(own, nobody_inside_moves_them)
{
	ASSERT_EQ(0, limit(self->w, "\"pids\":64,\"memory\":\"256M\","
			   "\"cpu\":\"50%\""));
	EXPECT_EQ(0, RUN("sh", "-c",
		"c=/sys/fs/cgroup$(sed -n s/^0:://p /proc/self/cgroup); "
		"for f in pids.max memory.max cpu.max; do "
		"if echo max >$c/$f; then exit 1; fi; done 2>/dev/null; "
		"if mkdir $c/x; then exit 2; fi 2>/dev/null; "
		"if echo $$ >/sys/fs/cgroup/cgroup.procs; then exit 3; fi "
		"2>/dev/null; exit 0"));
	EXPECT_STREQ("", out);
}

FIXTURE(disk) {
	struct world *w;
	char policy[128], ws[128], result[128];
};

FIXTURE_SETUP(disk)
{
	self->w = world_make_on(TEST_USER,
		"head -c 64M /dev/zero >/tmp/disk.img && "
		"mkfs.ext4 -q /tmp/disk.img && mkdir -p $DIR/ws && "
		"mount -o loop /tmp/disk.img $DIR/ws && chown $OWNER $DIR/ws",
		NULL);
	ASSERT_NE(NULL, self->w);
	snprintf(self->policy, sizeof(self->policy), "%s/log/policy.json",
		 self->w->dir);
	snprintf(self->ws, sizeof(self->ws), "%s/ws", self->w->dir);
	snprintf(self->result, sizeof(self->result), "%s/log/r.json",
		 self->w->dir);
}

FIXTURE_TEARDOWN(disk)
{
	world_remove(self->w);
	unlink("/tmp/disk.img");
}

/* 4 MB at 1 MB a second take some seconds; the disk itself takes none. */
TEST_F(disk, io_is_held_back)
{
	static const char *const fills = "dd if=/dev/zero of=big bs=1M "
		"count=4 oflag=direct 2>/dev/null";

	ASSERT_EQ(0, limit(self->w, "\"io\":\"1M\""));
	EXPECT_EQ(0, RUN("sh", "-c", fills));
	IS("status", "ok");
	EXPECT_LT(2500000000L, number(self->result, "resources.wall_ns"));
	EXPECT_EQ(0, RUN("dd", "if=big", "of=/dev/null", "bs=1M",
			 "iflag=direct", "status=none"));
	EXPECT_LT(2500000000L, number(self->result, "resources.wall_ns"));
	/* what is written later too */
	EXPECT_EQ(0, RUN("sh", "-c", "head -c 4M /dev/zero >big && sync big"));
	EXPECT_LT(2500000000L, number(self->result, "resources.wall_ns"));
	ASSERT_EQ(0, limit(self->w, "\"io\":\"1000M\""));
	EXPECT_EQ(0, RUN("sh", "-c", fills));
	EXPECT_GT(2500000000L, number(self->result, "resources.wall_ns"));
}

TEST_HARNESS_MAIN
