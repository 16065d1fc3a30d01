// SPDX-License-Identifier: GPL-2.0-only
/*
 * The process boundary: what a session does to its own processes works, to any
 * other it is refused, whoever the user is; outside of it all of it works.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#include "kselftest_harness.h"
#include "session.h"

#define SECRET "ENVSECRET"

FIXTURE(process) {
	struct world *w;
	struct session s, twin;
	/* of the same user: outside, in another session, the supervisor, own */
	struct session other;
	char outside[16], foreign[16], supervisor[16], own[16];
};

FIXTURE_VARIANT(process) {
	const char *user;
};

FIXTURE_VARIANT_ADD(process, user) {
	.user = TEST_USER,
};

FIXTURE_VARIANT_ADD(process, root) {
	.user = "root",
};

FIXTURE_SETUP(process)
{
	struct policy p = { 0 };

	self->w = world_make(variant->user);
	ASSERT_NE(NULL, self->w);
	ASSERT_EQ(0, policy_write(self->w, &p));
	ASSERT_EQ(0, session_start(&self->s, self->w, "s", NULL));
	ASSERT_EQ(0, session_start(&self->other, self->w, "other", NULL));
	ASSERT_EQ(0, twin_start(&self->twin, self->w));
	ASSERT_EQ(0, ask(&self->twin, "spawn", "sleep"));
	sprintf(self->outside, "%d", self->twin.reply.value);
	sprintf(self->foreign, "%d", self->other.probe);
	sprintf(self->supervisor, "%d", self->s.pid);
	ASSERT_EQ(0, ask(&self->s, "spawn", "sleep"));
	sprintf(self->own, "%d", self->s.reply.value);
}

FIXTURE_TEARDOWN(process)
{
	kill(atoi(self->outside), SIGKILL);
	session_end(&self->twin);
	EXPECT_EQ(0, session_end(&self->other));
	EXPECT_EQ(0, session_end(&self->s));
	world_remove(self->w);
}

struct reach {
	const char *op, *more;
	const char *record;	/* "syscall": seccomp refuses it */
	bool own;		/* works on a process of the session */
};

static const struct reach reaches[] = {
	{ "kill", "0", "signal", true },
	{ "kill", "10", "signal", false },	/* would end our own sleeper */
	{ "kill", "18", "signal", true },
	{ "tgkill", "18", "signal", true },
	{ "sigqueue", "18", "signal", true },
	{ "pidfd_kill", "18", "signal", true },
	{ "ptrace", "a", "syscall", false },
	{ "ptrace", "s", "syscall", false },
	{ "vmread", "0x400000", "syscall", false },
	{ "vmwrite", "0x400000", "syscall", false },
	{ "getfd", "0", "syscall", false },
	{ "kcmp", NULL, "syscall", false },
	{ "prlimit", NULL, "sched", false },	/* but of one's ancestors */
	{ "sigio", "18", "syscall", false },
	{ "affinity", NULL, NULL, true },
	{ "nice", NULL, NULL, true },
};

static const char *const proc_files[] = {
	"environ", "maps", "mem", "auxv", "fd", "cwd", "root", "exe", "stack",
	"syscall", "io", "map_files", "cmdline", "status", "stat", "task",
};

/* @same: of the same user, so that only a policy refuses and makes a record. */
static void unreachable(struct __test_metadata *_metadata, struct session *s,
			const char *pid, bool same)
{
	for (size_t i = 0; i < ARRAY_SIZE(reaches); i++) {
		const struct reach *r = &reaches[i];
		int err = ask(s, r->op, pid, r->more);

		EXPECT_TRUE(err == EPERM || err == EACCES || err == ESRCH ||
			    err == ENOSYS) {
			TH_LOG("%s %s: %d", r->op, r->more ? r->more : "",
			       err);
		}
		if (r->record && same) {
			EXPECT_EQ(EPERM, err);
			EXPECT_TRUE(denied(s, r->record, NULL, NULL));
		}
	}
	for (size_t i = 0; i < ARRAY_SIZE(proc_files); i++) {
		EXPECT_NE(0, ask(s, "procfile", pid, proc_files[i])) {
			TH_LOG("read /proc/%s/%s", pid, proc_files[i]);
		}
	}
	EXPECT_NE(0, ask(s, "procfile", pid, "oom_score_adj", "w"));
	EXPECT_NE(0, ask(s, "procfile", pid, "coredump_filter", "w"));
	EXPECT_NE(0, ask(s, "procfile", pid, "timerslack_ns", "w"));
}

TEST_F(process, one_outside_of_the_same_user_is_out_of_reach)
{
	unreachable(_metadata, &self->s, self->outside, true);
	EXPECT_FALSE(gone(atoi(self->outside), 0));
}

TEST_F(process, one_of_another_session_is_out_of_reach)
{
	unreachable(_metadata, &self->s, self->foreign, true);
	EXPECT_EQ(0, ask(&self->other, "pid"));
}

TEST_F(process, the_supervisor_is_out_of_reach)
{
	unreachable(_metadata, &self->s, self->supervisor, !self->w->uid);
	EXPECT_NE(0, ask(&self->s, "kill", self->supervisor, "19"));
	EXPECT_FALSE(gone(self->s.pid, 0));
}

/* As "prlimit --pid $$" in a shell, and prlimit(getpid()) of a thread. */
TEST_F(process, limits_are_ones_own_and_of_whom_one_descends_from)
{
	EXPECT_EQ(0, ask(&self->s, "prlimit_line"));
	EXPECT_EQ(0, ask(&self->s, "prlimit", "0"));
	EXPECT_EQ(EPERM, ask(&self->s, "prlimit", self->outside));
	EXPECT_TRUE(denied(&self->s, "sched", NULL, NULL));
}

/* It succeeds, for nginx starts no worker else, and SIGIO would end it. */
TEST_F(process, the_owner_of_a_descriptor_is_not_set)
{
	EXPECT_EQ(0, ask(&self->s, "owner", self->outside));
	EXPECT_EQ(0, self->s.reply.value);
	EXPECT_FALSE(gone(atoi(self->outside), 0));
	EXPECT_EQ(EPERM, ask(&self->s, "sigio", self->outside, "18"));
	EXPECT_TRUE(denied(&self->s, "syscall", NULL, NULL));
}

TEST_F(process, init_is_out_of_reach)
{
	EXPECT_EQ(EPERM, ask(&self->s, "kill", "1", "0"));
	if (!self->w->uid) {
		EXPECT_TRUE(denied(&self->s, "signal", NULL, NULL));
	}
	EXPECT_NE(0, ask(&self->s, "procfile", "1", "environ"));
	EXPECT_NE(0, ask(&self->s, "procfile", "1", "maps"));
}

TEST_F(process, its_own_are_within_reach)
{
	for (size_t i = 0; i < ARRAY_SIZE(reaches); i++) {
		if (!reaches[i].own)
			continue;
		EXPECT_EQ(0, ask(&self->s, reaches[i].op, self->own,
				 reaches[i].more)) {
			TH_LOG("%s", reaches[i].op);
		}
	}
	EXPECT_EQ(0, ask(&self->s, "procfile", self->own, "maps"));
	EXPECT_EQ(0, ask(&self->s, "procfile", self->own, "fd"));
	EXPECT_EQ(0, ask(&self->s, "procfile", self->own, "cmdline"));
	EXPECT_EQ(0, ask(&self->s, "procfile", self->own, "status"));
	EXPECT_EQ(0, ask(&self->s, "procfile", "self", "environ"));
	EXPECT_EQ(0, ask(&self->s, "procfile", "self", "maps"));
	EXPECT_EQ(0, ask(&self->s, "procfile", "self", "oom_score_adj", "w"));
	EXPECT_TRUE(quiet(&self->s));
	EXPECT_EQ(0, ask(&self->s, "kill", self->own, "9"));
	EXPECT_TRUE(gone(atoi(self->own), 5000));
}

TEST_F(process, outside_of_a_session_all_of_it_works)
{
	for (size_t i = 0; i < ARRAY_SIZE(reaches); i++) {
		if (!strcmp(reaches[i].op, "kill") &&
		    !strcmp(reaches[i].more, "10"))
			continue;
		/* what is at 0x400000 need not be mapped or writable */
		EXPECT_NE(EPERM, ask(&self->twin, reaches[i].op, self->outside,
				     reaches[i].more)) {
			TH_LOG("%s %s", reaches[i].op, reaches[i].more);
		}
	}
	for (size_t i = 0; i < ARRAY_SIZE(proc_files); i++) {
		/* stack is for root alone */
		if (!strcmp(proc_files[i], "stack"))
			continue;
		EXPECT_EQ(0, ask(&self->twin, "procfile", self->outside,
				 proc_files[i])) {
			TH_LOG("%s", proc_files[i]);
		}
	}
	EXPECT_EQ(0, ask(&self->twin, "kill", self->outside, "9"));
	EXPECT_TRUE(gone(atoi(self->outside), 5000));
}

TEST_F(process, the_host_reaches_into_a_session)
{
	char pid[16];

	sprintf(pid, "%d", self->s.probe);
	EXPECT_EQ(0, ask(&self->twin, "kill", pid, "0"));
	EXPECT_EQ(0, ask(&self->twin, "kill", self->own, "9"));
	EXPECT_TRUE(gone(atoi(self->own), 5000));
}

TEST_F(process, a_broadcast_signal_stays_in_the_session)
{
	/* in a child, which is among those that it ends */
	ask(&self->s, "child", "kill", "-1", "18");
	EXPECT_FALSE(gone(atoi(self->outside), 0));
	EXPECT_FALSE(gone(self->other.probe, 0));
	ask(&self->s, "child", "kill", "-1", "9");
	EXPECT_FALSE(gone(atoi(self->outside), 100));
	EXPECT_FALSE(gone(self->other.probe, 0));
	EXPECT_TRUE(gone(atoi(self->own), 5000));
	/* the command itself was among them */
	EXPECT_TRUE(gone(self->s.probe, 5000));
	EXPECT_EQ(128 + SIGKILL, WEXITSTATUS(session_end(&self->s)));
	ASSERT_EQ(0, session_start(&self->s, self->w, "again", NULL));
}

/* Whatever task asks, it is in the session. */
TEST_F(process, children_threads_and_daemons_inherit_the_label)
{
	const char *key = at(self->w, "ws/secret/key");

	EXPECT_EQ(EACCES, ask(&self->s, "child", "open", key, "r"));
	EXPECT_EQ(EACCES, ask(&self->s, "thread", "open", key, "r"));
	EXPECT_EQ(EACCES, ask(&self->s, "daemon", "open", key, "r"));
	EXPECT_EQ(EACCES, ask(&self->s, "child", "child", "thread", "open",
			      key, "r"));
	EXPECT_EQ(EPERM, ask(&self->s, "thread", "kill", self->outside, "9"));
	EXPECT_EQ(0, ask(&self->s, "thread", "open", "file", "r"));
	EXPECT_EQ(0, ask(&self->s, "daemon", "open", "file", "r"));
	EXPECT_EQ(0, ask(&self->twin, "thread", "open", key, "r"));
}

static void cgroup_of(pid_t pid, char *path, size_t size)
{
	char name[64], line[512];
	FILE *f;

	snprintf(name, sizeof(name), "/proc/%d/cgroup", pid);
	f = fopen(name, "re");
	*path = 0;
	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, "0::", 3)) {
			line[strcspn(line, "\n")] = 0;
			snprintf(path, size, "/sys/fs/cgroup%s", line + 3);
		}
	if (f)
		fclose(f);
}

TEST_F(process, leaving_the_cgroup_is_refused)
{
	char own[600], file[700];

	cgroup_of(self->s.probe, own, sizeof(own));
	ASSERT_NE(0, own[0]);
	ASSERT_NE(0, strcmp(own, "/sys/fs/cgroup/"));
	/* doors that file modes leave open */
	ASSERT_EQ(0, mkdir("/sys/fs/cgroup/door", 0777));
	ASSERT_EQ(0, chmod("/sys/fs/cgroup/door/cgroup.procs", 0666));
	EXPECT_EQ(EACCES, ask(&self->s, "write",
			      "/sys/fs/cgroup/door/cgroup.procs", "0"));
	EXPECT_TRUE(denied(&self->s, "open", "/sys/fs/cgroup/door/cgroup.procs",
			   NULL));
	EXPECT_NE(0, ask(&self->s, "mkdir", "/sys/fs/cgroup/door/in"));
	EXPECT_NE(0, ask(&self->s, "into", "/sys/fs/cgroup/door", "open",
			 "secret/key", "r"));
	snprintf(file, sizeof(file), "%s/in", own);
	EXPECT_NE(0, ask(&self->s, "mkdir", file));
	snprintf(file, sizeof(file), "%s/memory.max", own);
	ASSERT_EQ(0, chmod(file, 0666));
	EXPECT_NE(0, ask(&self->s, "write", file, "max"));
	snprintf(file, sizeof(file), "%s/cgroup.kill", own);
	EXPECT_NE(0, ask(&self->s, "open", file, "w"));
	EXPECT_NE(0, ask(&self->s, "write", "/sys/fs/cgroup/cgroup.procs",
			 "0"));
	EXPECT_EQ(0, rmdir("/sys/fs/cgroup/door"));
}

/* The host may move it; the policy goes with it. */
TEST_F(process, moving_it_to_another_cgroup_lifts_nothing)
{
	FILE *f = fopen("/sys/fs/cgroup/cgroup.procs", "we");

	ASSERT_NE(NULL, f);
	fprintf(f, "%d", self->s.probe);
	ASSERT_EQ(0, fclose(f));
	EXPECT_EQ(EACCES, ask(&self->s, "open", "secret/key", "r"));
	EXPECT_TRUE(denied(&self->s, "open", NULL, NULL));
	EXPECT_EQ(EPERM, ask(&self->s, "kill", self->outside, "9"));
	EXPECT_EQ(EACCES, ask(&self->s, "child", "open", "secret/key", "r"));
	EXPECT_EQ(0, ask(&self->s, "open", "file", "r"));
}

TEST_F(process, it_has_no_privilege_to_lose)
{
	static const char *const caps[] = { "CapInh", "CapPrm", "CapEff",
					    "CapAmb", "CapBnd" };

	for (size_t i = 0; i < ARRAY_SIZE(caps); i++) {
		ASSERT_EQ(0, ask(&self->s, "status", caps[i]));
		EXPECT_STREQ("0000000000000000", self->s.reply.text);
	}
	ASSERT_EQ(0, ask(&self->s, "status", "NoNewPrivs"));
	EXPECT_STREQ("1", self->s.reply.text);
	ASSERT_EQ(0, ask(&self->s, "status", "Seccomp"));
	EXPECT_STREQ("2", self->s.reply.text);
	EXPECT_EQ(0, ask(&self->s, "fds"));
	EXPECT_EQ(0, self->s.reply.value);
}

TEST_F(process, what_outlives_the_command_is_ended)
{
	pid_t left;

	ASSERT_EQ(0, ask(&self->s, "spawn", "ignore"));
	left = self->s.reply.value;
	EXPECT_EQ(0, session_end(&self->s));
	EXPECT_TRUE(gone(left, 0));
	EXPECT_TRUE(gone(atoi(self->own), 0));
	ASSERT_EQ(0, session_start(&self->s, self->w, "again", NULL));
}

TEST_HARNESS_MAIN
