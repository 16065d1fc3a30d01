// SPDX-License-Identifier: GPL-2.0-only
/*
 * The grant "ptrace": a session traces its own processes, as far as Yama lets
 * it, and nobody else; what it makes a traced one do is judged as before.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <time.h>

#include "kselftest_harness.h"
#include "session.h"

#define GRANTED ",\"ptrace\":true"
#define SYS_GETPID "39"
#define SYS_OPEN "2"
#define SYS_EXECVE "59"
#define SYS_MOUNT "165"
#define SYS_BPF "321"
#define SYS_X32_GETPID "0x40000027"
#define SYS32_GETPID "20"
#define SUSPEND_SECCOMP "0x200000"

static int yama(int scope)
{
	char cmd[64];

	sprintf(cmd, "sysctl -q kernel.yama.ptrace_scope=%d", scope);
	return system(cmd);
}

FIXTURE(trace) {
	struct world *w;
	/* with the grant; another, with it too; a probe outside */
	struct session s, other, twin;
	char own[16], outside[16], foreign[16], supervisor[16], keeper[16];
};

FIXTURE_VARIANT(trace) {
	const char *user;
};

FIXTURE_VARIANT_ADD(trace, user) {
	.user = TEST_USER,
};

FIXTURE_VARIANT_ADD(trace, root) {
	.user = "root",
};

FIXTURE_SETUP(trace)
{
	struct policy p = { .sandbox = GRANTED };

	ASSERT_EQ(0, yama(1));
	self->w = world_make(variant->user);
	ASSERT_NE(NULL, self->w);
	ASSERT_EQ(0, policy_write(self->w, &p));
	ASSERT_EQ(0, session_start(&self->s, self->w, "s", NULL));
	ASSERT_EQ(0, session_start(&self->other, self->w, "other", NULL));
	ASSERT_EQ(0, twin_start(&self->twin, self->w));
	ASSERT_EQ(0, ask(&self->twin, "spawn", "sleep"));
	sprintf(self->outside, "%d", self->twin.reply.value);
	ASSERT_EQ(0, ask(&self->other, "spawn", "sleep"));
	sprintf(self->foreign, "%d", self->other.reply.value);
	sprintf(self->supervisor, "%d", self->s.pid);
	sprintf(self->keeper, "%d", session_keeper(&self->s));
	ASSERT_EQ(0, ask(&self->s, "spawn", "sleep"));
	sprintf(self->own, "%d", self->s.reply.value);
}

FIXTURE_TEARDOWN(trace)
{
	EXPECT_EQ(0, yama(0));
	kill(atoi(self->outside), SIGKILL);
	session_end(&self->twin);
	EXPECT_EQ(0, session_end(&self->other));
	EXPECT_EQ(0, session_end(&self->s));
	world_remove(self->w);
}

/* Ways to another process; "2": of its descriptors it has that one. */
static const char *const ways[][2] = {
	{ "ptrace", "a" }, { "ptrace", "s" }, { "seize", "0x100000" },
	{ "vmread", "0x400000" }, { "getfd", "2" }, { "kcmp" },
	{ "memory" }, { "inject", SYS_GETPID }, { "procfile", "mem" },
	{ "procfile", "auxv" }, { "procfile", "maps" },
};

TEST_F(trace, its_own_are_traced_in_every_way)
{
	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		EXPECT_EQ(0, ask(&self->s, ways[i][0], self->own, ways[i][1])) {
			TH_LOG("%s %s", ways[i][0], ways[i][1]);
		}
		EXPECT_EQ(0, ask(&self->twin, ways[i][0], self->outside,
				 ways[i][1])) {
			TH_LOG("outside: %s %s", ways[i][0], ways[i][1]);
		}
	}
	EXPECT_EQ(0, ask(&self->s, "child", "traceme"));
	EXPECT_EQ(0, ask(&self->twin, "child", "traceme"));
	EXPECT_TRUE(quiet(&self->s));
}

static void unreachable(struct __test_metadata *_metadata, struct session *s,
			const char *pid, bool same)
{
	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		int err = ask(s, ways[i][0], pid, ways[i][1]);

		EXPECT_TRUE(err == EPERM || err == EACCES) {
			TH_LOG("%s %s: %d", ways[i][0], ways[i][1], err);
		}
		/* /proc is refused when it is opened */
		if (same && strcmp(ways[i][0], "procfile")) {
			EXPECT_TRUE(denied(s, "ptrace", NULL, NULL)) {
				TH_LOG("%s %s", ways[i][0], ways[i][1]);
			}
		}
	}
	EXPECT_NE(0, ask(s, "vmwrite", pid, "0x400000"));
	EXPECT_NE(0, ask(s, "procfile", pid, "mem", "w"));
}

TEST_F(trace, one_outside_of_the_same_user_is_not)
{
	struct denial d;

	ASSERT_EQ(0, yama(0));
	unreachable(_metadata, &self->s, self->outside, self->w->uid);
	EXPECT_FALSE(gone(atoi(self->outside), 0));
	if (!self->w->uid)
		return;		/* its capabilities are too many for us */
	/* by any other of its tasks, and by name of a thread */
	EXPECT_EQ(EPERM, ask(&self->s, "child", "ptrace", self->outside, "s"));
	EXPECT_EQ(EPERM, ask(&self->s, "thread", "ptrace", self->outside,
			     "a"));
	EXPECT_EQ(EPERM, ask(&self->s, "daemon", "vmread", self->outside,
			     "0x400000"));
	while (!denial_next(&self->s, &d) && strcmp(d.operation, "ptrace"))
		;
	EXPECT_STREQ("ptrace", d.operation);
	EXPECT_STREQ("process", d.reason);
	EXPECT_STREQ("ptrace_access_check", d.hook);
	EXPECT_STREQ("EPERM", d.errno_name);
}

TEST_F(trace, one_of_another_session_is_not)
{
	ASSERT_EQ(0, yama(0));
	unreachable(_metadata, &self->s, self->foreign, true);
	unreachable(_metadata, &self->other, self->own, true);
	EXPECT_EQ(0, ask(&self->other, "ptrace", self->foreign, "s"));
	EXPECT_EQ(0, ask(&self->s, "ptrace", self->own, "s"));
}

TEST_F(trace, the_supervisor_and_the_keeper_are_not)
{
	ASSERT_EQ(0, yama(0));
	unreachable(_metadata, &self->s, self->supervisor, false);
	unreachable(_metadata, &self->s, self->keeper, false);
	EXPECT_FALSE(gone(atoi(self->supervisor), 0));
	EXPECT_FALSE(gone(atoi(self->keeper), 0));
}

/* Its parent is the supervisor; a child's parent is its own. */
TEST_F(trace, a_parent_outside_does_not_become_its_tracer)
{
	struct denial d;

	EXPECT_EQ(EPERM, ask(&self->s, "traceme"));
	ASSERT_EQ(0, denial_next(&self->s, &d));
	EXPECT_STREQ("ptrace", d.operation);
	EXPECT_STREQ("ptrace_traceme", d.hook);
	/* one whose own has ended, too */
	EXPECT_EQ(EPERM, ask(&self->s, "daemon", "traceme", "o"));
	EXPECT_TRUE(denied(&self->s, "ptrace", NULL, NULL));
	EXPECT_EQ(0, ask(&self->s, "child", "traceme"));
	EXPECT_EQ(0, ask(&self->twin, "daemon", "traceme", "o"));
}

TEST_F(trace, yama_says_who_of_its_own)
{
	char probe[16];

	sprintf(probe, "%d", self->s.probe);
	/* 1: those below */
	EXPECT_EQ(0, ask(&self->s, "ptrace", self->own, "s"));
	EXPECT_EQ(EPERM, ask(&self->s, "child", "ptrace", self->own, "s"));
	EXPECT_EQ(EPERM, ask(&self->s, "thread", "child", "seize", probe,
			     "0"));
	EXPECT_EQ(0, ask(&self->s, "ptracer", "any"));
	EXPECT_EQ(0, ask(&self->s, "thread", "child", "seize", probe, "0"));
	ASSERT_EQ(0, yama(0));
	EXPECT_EQ(0, ask(&self->s, "child", "ptrace", self->own, "s"));
	/* what was not lets nobody, and no policy helps */
	ASSERT_EQ(0, yama(2));
	EXPECT_EQ(EPERM, ask(&self->s, "ptrace", self->own, "s"));
	EXPECT_EQ(EPERM, ask(&self->s, "child", "traceme"));
	EXPECT_TRUE(quiet(&self->s));
}

/* What is written into another process runs under the same policy. */
TEST_F(trace, injected_calls_are_judged_as_its_own)
{
	const char *own = self->own, *key = at(self->w, "ws/secret/key");
	const char *file = at(self->w, "ws/file");

	EXPECT_EQ(0, ask(&self->s, "inject", own, SYS_GETPID));
	EXPECT_EQ(atoi(own), self->s.reply.value);
	EXPECT_EQ(0, ask(&self->s, "inject", own, SYS_OPEN, file));
	EXPECT_EQ(EACCES, ask(&self->s, "inject", own, SYS_OPEN, key));
	EXPECT_TRUE(denied(&self->s, "open", key, NULL));
	EXPECT_EQ(EPERM, ask(&self->s, "inject", own, SYS_MOUNT));
	EXPECT_TRUE(denied(&self->s, "syscall", NULL, NULL));
	EXPECT_EQ(0, ask(&self->twin, "inject", self->outside, SYS_OPEN, key));
}

TEST_F(trace, other_tables_stay_refused)
{
	static const char *const how[] = { "i", "c" };

	for (int i = 0; i < 2; i++) {
		EXPECT_EQ(EPERM, ask(&self->s, "inject", self->own,
				     SYS32_GETPID, "", how[i])) {
			TH_LOG("%s: %d", how[i], self->s.reply.value);
		}
		EXPECT_TRUE(denied(&self->s, "syscall", NULL, NULL));
		EXPECT_EQ(0, ask(&self->twin, "inject", self->outside,
				 SYS32_GETPID, "", how[i]));
		EXPECT_EQ(atoi(self->outside), self->twin.reply.value);
	}
	EXPECT_EQ(EPERM, ask(&self->s, "inject", self->own, SYS_X32_GETPID));
	EXPECT_TRUE(denied(&self->s, "syscall", NULL, NULL));
}

/* Since 4.8 the filter looks after the tracer. */
TEST_F(trace, changed_calls_are_judged_as_they_are_made)
{
	static const char *const stops[] = { "s", "f" };
	static const char *const refused[] = {
		SYS_MOUNT, SYS_BPF, SYS_X32_GETPID,
	};

	for (int i = 0; i < 2; i++) {
		EXPECT_EQ(0, ask(&self->s, "change", stops[i], SYS_GETPID));
		EXPECT_LT(0, self->s.reply.value);
		for (size_t k = 0; k < ARRAY_SIZE(refused); k++) {
			EXPECT_EQ(EPERM, ask(&self->s, "change", stops[i],
					     refused[k])) {
				TH_LOG("%s %s", stops[i], refused[k]);
			}
			EXPECT_TRUE(denied(&self->s, "syscall", NULL, NULL));
		}
		/* left out, it returns what the tracer says: no record */
		EXPECT_EQ(0, ask(&self->s, "change", stops[i], "-1", "77"));
		EXPECT_EQ(77, self->s.reply.value);
		EXPECT_EQ(0, ask(&self->twin, "change", stops[i], "-1", "77"));
		EXPECT_EQ(77, self->twin.reply.value);
	}
	EXPECT_TRUE(quiet(&self->s));
}

TEST_F(trace, no_tracer_takes_the_filter_away_or_reads_it)
{
	EXPECT_EQ(EPERM, ask(&self->s, "seize", self->own, SUSPEND_SECCOMP));
	EXPECT_EQ(EACCES, ask(&self->s, "getfilter", self->own));
	EXPECT_EQ(0, ask(&self->s, "seize", self->own, "0x1000ff"));
}

/* Each waits at its end for the one before it: no kill would end a circle. */
TEST_F(trace, none_traces_who_traces_it)
{
	static const char *const size[] = { "2", "3", "5" };

	for (int i = 0; i < 3; i++) {
		EXPECT_EQ(0, ask(&self->s, "circle", size[i], "o"));
		EXPECT_EQ(atoi(size[i]) - 1, self->s.reply.value);
		EXPECT_EQ(EPERM, ask(&self->s, "circle", size[i]));
		EXPECT_EQ(atoi(size[i]) - 1, self->s.reply.value);
		EXPECT_TRUE(denied(&self->s, "ptrace", NULL, NULL));
	}
	for (int i = 0; i < 30; i++) {
		EXPECT_EQ(EPERM, ask(&self->s, "circle", "2", "r"));
		EXPECT_GT(2, self->s.reply.value);
	}
}

FIXTURE(traced) {
	struct world *w;
	struct session s;
	struct timespec from;
};

FIXTURE_SETUP(traced)
{
	ASSERT_EQ(0, yama(1));
	self->w = world_make(TEST_USER);
	ASSERT_NE(NULL, self->w);
	clock_gettime(CLOCK_MONOTONIC, &self->from);
}

FIXTURE_TEARDOWN(traced)
{
	EXPECT_EQ(0, yama(0));
	world_remove(self->w);
}

static int start(FIXTURE_DATA(traced) *self, const char *profile,
		 const char *more)
{
	struct policy p = { .sandbox = GRANTED, .more = more,
			    .profile = profile };
	int err = policy_write(self->w, &p);

	return err ? err : session_start(&self->s, self->w, "s", NULL);
}

static int seconds(FIXTURE_DATA(traced) *self)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec - self->from.tv_sec;
}

/* Whatever holds it: a stop, a tracer that ends with the rest, an exit. */
TEST_F(traced, what_is_held_ends_with_the_session)
{
	static const char *const how[] = { "s", "l", "e" };
	pid_t held[3];

	ASSERT_EQ(0, start(self, NULL, NULL));
	for (int i = 0; i < 3; i++) {
		ASSERT_EQ(0, ask(&self->s, "hold", how[i]));
		held[i] = self->s.reply.value;
	}
	EXPECT_EQ(0, session_end(&self->s));
	for (int i = 0; i < 3; i++)
		EXPECT_TRUE(gone(held[i], 0));
}

TEST_F(traced, what_is_held_ends_when_the_supervisor_is_killed)
{
	static const char *const how[] = { "s", "l", "e" };
	pid_t held[3];

	ASSERT_EQ(0, start(self, NULL, NULL));
	for (int i = 0; i < 3; i++) {
		ASSERT_EQ(0, ask(&self->s, "hold", how[i]));
		held[i] = self->s.reply.value;
	}
	kill(self->s.pid, SIGKILL);
	for (int i = 0; i < 3; i++)
		EXPECT_TRUE(gone(held[i], 10000));
	EXPECT_TRUE(gone(self->s.probe, 10000));
	session_end(&self->s);
}

TEST_F(traced, what_is_held_does_not_outlive_the_wall_time)
{
	pid_t held;

	ASSERT_EQ(0, start(self, NULL, ",\"limits\":{\"wall_time\":\"3s\","
			   "\"grace\":\"200ms\"}"));
	ASSERT_EQ(0, ask(&self->s, "hold", "l"));
	held = self->s.reply.value;
	/* the command itself too, in a stop that its tracer never ends */
	ASSERT_EQ(0, ask(&self->s, "held"));
	kill(self->s.probe, SIGSTOP);
	EXPECT_TRUE(gone(self->s.probe, 30000));
	EXPECT_TRUE(gone(held, 10000));
	EXPECT_EQ(124, WEXITSTATUS(session_end(&self->s)));
}

/* Its tracer would have to look first, and is one that the session leaves. */
TEST_F(traced, a_command_that_ends_under_a_tracer_ends_the_session)
{
	pid_t tracer;

	ASSERT_EQ(0, start(self, NULL, ",\"limits\":{\"wall_time\":\"99s\"}"));
	ASSERT_EQ(0, ask(&self->s, "held"));
	tracer = self->s.reply.value;
	EXPECT_EQ(0, session_end(&self->s));
	EXPECT_TRUE(gone(tracer, 0));
	EXPECT_GT(60, seconds(self));
	EXPECT_STREQ("ok", json_member(at(self->w, "log/s.result"), "status"));
}

TEST_F(traced, where_no_exec_is_granted_none_is_gained)
{
	char own[16];

	ASSERT_EQ(0, start(self, NULL,
			   ",\"capabilities\":{\"workspace\":[\"read_text\"],"
			   "\"process\":[]}"));
	ASSERT_EQ(0, ask(&self->s, "spawn", "sleep"));
	sprintf(own, "%d", self->s.reply.value);
	EXPECT_EQ(0, ask(&self->s, "memory", own));
	EXPECT_EQ(EACCES, ask(&self->s, "inject", own, SYS_EXECVE,
			      "/bin/true"));
	EXPECT_TRUE(denied(&self->s, "exec", NULL, NULL));
	EXPECT_EQ(0, session_end(&self->s));
}

/* A grant that the host has not: an error, or less than the policy gives. */
TEST_F(traced, what_yama_withholds_is_named)
{
	const char *result = at(self->w, "log/s.result");
	char err[4096], policy[128], cmd[256], own[16];
	struct policy p = { .sandbox = GRANTED };

	snprintf(policy, sizeof(policy), "%s/log/policy.json", self->w->dir);
	ASSERT_EQ(0, yama(2));
	ASSERT_EQ(0, policy_write(self->w, &p));
	EXPECT_EQ(125, WEXITSTATUS(supervise(self->w, err, sizeof(err),
		(const char *const[]){ "--policy", policy, "-C",
			at(self->w, "ws"), "--user", self->w->user,
			"--result", result, "--", "/bin/true", NULL })));
	EXPECT_NE(NULL, strstr(err, "sysctl kernel.yama.ptrace_scope=1")) {
		TH_LOG("%s", err);
	}
	EXPECT_STREQ("linux_ptrace", json_member(result, "refusal.mechanism"));
	snprintf(cmd, sizeof(cmd), "\"$LH_TESTS\"/valid %s", result);
	EXPECT_EQ(0, system(cmd));

	ASSERT_EQ(0, start(self, "worktree", NULL));
	ASSERT_EQ(0, ask(&self->s, "spawn", "sleep"));
	sprintf(own, "%d", self->s.reply.value);
	EXPECT_EQ(EPERM, ask(&self->s, "ptrace", own, "s"));
	EXPECT_EQ(0, session_end(&self->s));
	snprintf(cmd, sizeof(cmd), "grep -q '\"not_granted\":"
		 "\\[\"process_sandbox.ptrace\"\\]' %s", result);
	EXPECT_EQ(0, system(cmd));
	snprintf(cmd, sizeof(cmd), "grep -q 'not granted: .*ptrace_scope is 2'"
		 " %s", at(self->w, "log/s.stderr"));
	EXPECT_EQ(0, system(cmd));
	/* who does not ask for it does not notice */
	ASSERT_EQ(0, policy_write(self->w, &(struct policy){ 0 }));
	ASSERT_EQ(0, session_start(&self->s, self->w, "s", NULL));
	EXPECT_EQ(0, session_end(&self->s));
}

TEST_HARNESS_MAIN
