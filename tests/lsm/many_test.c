// SPDX-License-Identifier: GPL-2.0-only
/*
 * Many sessions: at once, that do not see each other, and one after another, of
 * which nothing is left. AT_ONCE and IN_A_ROW say how many: soak has more.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/stat.h>

#include "kselftest_harness.h"
#include "session.h"

#define AT_ONCE_MAX 500

static int number(const char *name, int otherwise)
{
	const char *n = getenv(name);

	return n && *n ? atoi(n) : otherwise;
}

static long command(const char *cmd)
{
	FILE *f = popen(cmd, "re");
	long n = -1;

	if (!f || fscanf(f, "%ld", &n) != 1)
		n = -1;
	if (f)
		pclose(f);
	return n;
}

/* Everything that a session makes somewhere, counted. */
struct census {
	long cgroups, links, programs, maps, entries, temps, processes, files;
};

static struct census census(void)
{
	return (struct census){
		.cgroups = command("find /sys/fs/cgroup -type d | wc -l"),
		.links = command("bpftool link list | grep -c '^[0-9]'"),
		.programs = command("bpftool prog list | grep -c '^[0-9]'"),
		.maps = command("bpftool map list | grep -c '^[0-9]'"),
		.entries = command("n=0; for m in roots names; do "
				   "bpftool map dump pinned /sys/fs/bpf/lh/*/$m"
				   " | grep -c '\"\\?key'; done | "
				   "awk '{ s += $1 } END { print s }'"),
		.temps = command("find /tmp -maxdepth 2 -path '/tmp/lh-*' "
				 "-mindepth 2 | wc -l"),
		.processes = command("pgrep -c '^(lh-supervise|lh-keeper|probe)'"),
		.files = command("ls -R /run/lh 2>/dev/null | wc -l"),
	};
}

/* What @pid has for itself alone: kB, or -1. */
static long private_memory(pid_t pid)
{
	char cmd[128];

	snprintf(cmd, sizeof(cmd), "awk '/^Private/ { n += $2 } END { print n }'"
		 " /proc/%d/smaps_rollup", pid);
	return command(cmd);
}

FIXTURE(many) {
	struct world *w;
};

FIXTURE_SETUP(many)
{
	self->w = world_make(TEST_USER);
	ASSERT_NE(NULL, self->w);
}

FIXTURE_TEARDOWN(many)
{
	world_remove(self->w);
}

TEST_F_TIMEOUT(many, in_a_row_they_leave_nothing, 3600)
{
	struct world *w = self->w;
	struct policy p = { 0 };
	struct census before, after;
	int count = number("IN_A_ROW", 100);
	char out[1024], probe[PATH_MAX], name[512];

	snprintf(name, sizeof(name), "%s/tests/lsm/probe",
		 getenv("B") ? getenv("B") : "build");
	ASSERT_NE(NULL, realpath(name, probe));

	ASSERT_EQ(0, policy_write(w, &p));
	for (int i = 0; i <= count; i++) {
		int status = supervise(w, out, sizeof(out),
			(const char *const[]){ "--policy",
				at(w, "log/policy.json"), "-C", at(w, "ws"),
				"--user", w->user, "--denials",
				at(w, "log/d"), "--", probe, "pid", NULL });

		ASSERT_EQ(0, status) {
			TH_LOG("start %d: %s", i, out);
		}
		/* the first makes what stays: the engine, the parent cgroup */
		if (!i)
			before = census();
	}
	after = census();
	EXPECT_LT(0, before.links);
	EXPECT_LT(0, before.programs);
	EXPECT_EQ(before.cgroups, after.cgroups);
	EXPECT_EQ(before.links, after.links);
	EXPECT_EQ(before.programs, after.programs);
	EXPECT_EQ(before.maps, after.maps);
	EXPECT_EQ(0, after.entries);
	EXPECT_EQ(before.temps, after.temps);
	EXPECT_EQ(before.processes, after.processes);
	EXPECT_EQ(before.files, after.files);
}

TEST_F_TIMEOUT(many, at_once_each_has_its_own, 3600)
{
	static struct session s[AT_ONCE_MAX];
	int count = number("AT_ONCE", 40);
	struct world *w = self->w;
	struct census before, after;
	struct policy p = { 0 };
	char name[16], pid[16];

	ASSERT_GE(AT_ONCE_MAX, count);
	ASSERT_EQ(0, policy_write(w, &p));
	ASSERT_EQ(0, session_start(&s[0], w, "first", NULL));
	ASSERT_EQ(0, session_end(&s[0]));
	before = census();
	for (int i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "n%d", i);
		ASSERT_EQ(0, session_start(&s[i], w, name, NULL)) {
			TH_LOG("session %d", i);
		}
	}
	for (int i = 0; i < count; i++) {
		sprintf(pid, "%d", s[(i + 1) % count].probe);
		EXPECT_EQ(0, ask(&s[i], "open", "file", "r"));
		EXPECT_EQ(EACCES, ask(&s[i], "open", "secret/key", "r"));
		EXPECT_TRUE(denied(&s[i], "open", NULL, NULL));
		EXPECT_EQ(EPERM, ask(&s[i], "kill", pid, "9"));
		EXPECT_TRUE(denied(&s[i], "signal", NULL, NULL));
	}
	for (int i = 0; i < count; i++) {
		EXPECT_TRUE(quiet(&s[i]));
		EXPECT_EQ(0, session_end(&s[i]));
	}
	after = census();
	EXPECT_EQ(before.cgroups, after.cgroups);
	EXPECT_EQ(before.processes, after.processes);
	EXPECT_EQ(before.temps, after.temps);
	EXPECT_EQ(0, after.entries);
}

TEST_F(many, two_processes_of_ours_are_small)
{
	struct policy p = { 0 };
	struct session s;
	long supervisor, keeper;

	ASSERT_EQ(0, policy_write(self->w, &p));
	ASSERT_EQ(0, session_start(&s, self->w, "small", NULL));
	supervisor = private_memory(s.pid);
	keeper = private_memory(session_keeper(&s));
	EXPECT_LT(0, supervisor);
	EXPECT_LT(0, keeper);
	EXPECT_GT(4096, supervisor + keeper);
	EXPECT_EQ(0, session_end(&s));
}

TEST_HARNESS_MAIN
