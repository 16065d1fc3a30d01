// SPDX-License-Identifier: GPL-2.0-only
/*
 * What seccomp refuses is on record as all else is, in one sequence with it;
 * and it is refused, and nobody waits for ever, whoever of supervisor and
 * keeper is stopped or gone. As root, whom nothing refuses outside.
 */
#define _GNU_SOURCE
#include <linux/seccomp.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "kselftest_harness.h"
#include "session.h"

FIXTURE(seccomp) {
	struct world *w;
	struct session s;
	pid_t keeper;
};

FIXTURE_SETUP(seccomp)
{
	struct policy p = { 0 };

	self->w = world_make("root");
	ASSERT_NE(NULL, self->w);
	ASSERT_EQ(0, policy_write(self->w, &p));
	ASSERT_EQ(0, session_start(&self->s, self->w, "s", NULL));
	self->keeper = session_keeper(&self->s);
	ASSERT_LT(1, self->keeper);
}

FIXTURE_TEARDOWN(seccomp)
{
	if (self->s.pid)
		session_end(&self->s);
	world_remove(self->w);
}

#define PTRACE "101", "99"

static const char *member(const FIXTURE_DATA(seccomp) *self, const char *name)
{
	return json_member(at(self->w, "log/s.result"), name);
}

static void end_session(FIXTURE_DATA(seccomp) *self, int status)
{
	if (session_end(&self->s) != status)
		fprintf(stderr, "# the session's status is another\n");
	self->s.pid = 0;
}

struct row {
	const char *arg[7];		/* the number, and arguments */
	const char *name, *args;	/* as the record has them */
	int err;
	bool outside;			/* the twin is asked too */
};

/* Each class of refusal: by name, by an argument, as missing, as unknown. */
static const struct row rows[] = {
	{ { "165", "1", "2", "0", "5" }, "mount", "1 2 0 5 0", EPERM, true },
	{ { "101", "99", "-1" }, "ptrace", "99 18446744073709551615 0 0",
	  EPERM, true },
	{ { "310", "999999", "0", "0", "0", "0", "0" }, "process_vm_readv",
	  "999999 0 0 0 0 0", EPERM, true },
	{ { "321", "77", "0", "0" }, "bpf", "77 0 0", EPERM, true },
	{ { "250", "999", "0" }, "keyctl", "999 0 0 0 0", EPERM, true },
	{ { "175", "0", "7" }, "init_module", "0 7 0", EPERM, true },
	{ { "169", "1" }, "reboot", "1 0 0 0", EPERM, true },
	{ { "428", "-1", "0", "77" }, "open_tree", "18446744073709551615 0 77",
	  EPERM, true },
	{ { "16", "0", "0x100005412" }, "ioctl", "0 4294988818 0", EPERM,
	  false },
	{ { "72", "99", "10", "18" }, "fcntl", "99 10 18", EPERM, true },
	{ { "135", "0x400000" }, "personality", "4194304", EPERM, true },
	{ { "272", "0x20000" }, "unshare", "131072", EPERM, false },
	{ { "425", "0", "0" }, "io_uring_setup", "0 0", ENOSYS, true },
	{ { "1000", "5" }, "", "", ENOSYS, false },
};

TEST_F(seccomp, each_class_is_a_record_with_name_and_arguments)
{
	struct session twin;
	struct denial d;

	ASSERT_EQ(0, twin_start(&twin, self->w));
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct row *r = &rows[i];

		EXPECT_EQ(r->err, ask(&self->s, "syscall", r->arg[0], r->arg[1],
				      r->arg[2], r->arg[3], r->arg[4],
				      r->arg[5], r->arg[6]));
		ASSERT_EQ(0, denial_next(&self->s, &d)) {
			TH_LOG("%s", r->name);
		}
		EXPECT_STREQ("syscall", d.operation);
		EXPECT_STREQ(r->name, d.syscall);
		EXPECT_STREQ(r->args, d.args) TH_LOG("%s", r->name);
		EXPECT_STREQ("unknown", d.mechanism);
		EXPECT_STREQ("seccomp", d.hook);
		EXPECT_STREQ("builtin:seccomp", d.rule);
		EXPECT_STREQ(r->err == EPERM ? "never" : "missing", d.reason);
		EXPECT_STREQ(r->err == EPERM ? "EPERM" : "ENOSYS",
			     d.errno_name);
		EXPECT_STREQ("probe", d.comm);
		EXPECT_NE(NULL, strstr(d.exe, "/tests/lsm/probe"));
		EXPECT_EQ(self->s.probe, d.pid);
		EXPECT_EQ(1, d.count);
		if (r->outside) {
			EXPECT_NE(r->err, ask(&twin, "syscall", r->arg[0],
					      r->arg[1], r->arg[2], r->arg[3],
					      r->arg[4], r->arg[5],
					      r->arg[6])) {
				TH_LOG("%s outside", r->name);
			}
		}
	}
	/* what is allowed is none */
	EXPECT_EQ(0, ask(&self->s, "syscall", "39"));
	EXPECT_EQ(0, ask(&self->s, "syscall", "302", "0", "7"));
	EXPECT_EQ(EACCES, ask(&self->s, "open", "secret/key", "r"));
	ASSERT_EQ(0, denial_next(&self->s, &d));
	EXPECT_STREQ("open", d.operation);
	session_end(&twin);
}

TEST_F(seccomp, other_tables_of_calls_are_told_from_each_other)
{
	struct denial d;

	EXPECT_EQ(EPERM, ask(&self->s, "syscall", "0x40000065", "99"));
	ASSERT_EQ(0, denial_next(&self->s, &d));
	EXPECT_STREQ("x32", d.arch);
	EXPECT_NE(0, ask(&self->s, "int80"));
	if (!denial_now(&self->s, &d)) {	/* where the kernel has them */
		EXPECT_STREQ("i386", d.arch);
		EXPECT_STREQ("getpid", d.syscall);
	}
}

TEST_F(seccomp, their_numbers_are_of_one_sequence_with_the_rest)
{
	long long seq = 0, told = 0;
	struct denial d;

	for (int i = 0; i < 3; i++) {
		EXPECT_EQ(EACCES, ask(&self->s, "open", "secret/key", "r"));
		EXPECT_EQ(EPERM, ask(&self->s, "syscall", PTRACE));
		EXPECT_EQ(EPERM, ask(&self->s, "syscall", "165"));
	}
	end_session(self, 0);
	/* equal ones may be one line, which has the number of the last */
	while (!denial_now(&self->s, &d)) {
		EXPECT_LT(seq, d.seq);
		seq = d.seq;
		told += d.count;
	}
	EXPECT_EQ(9, seq);
	EXPECT_EQ(9, told);
	EXPECT_STREQ("9", member(self, "denials.total"));
	EXPECT_STREQ("0", member(self, "denials.lost"));
}

TEST_F(seccomp, with_either_stopped_it_is_refused_and_told)
{
	struct denial d;

	ASSERT_EQ(0, kill(self->s.pid, SIGSTOP));
	for (int i = 0; i < 20; i++)
		EXPECT_EQ(EPERM, ask(&self->s, "syscall", PTRACE));
	ASSERT_EQ(0, kill(self->s.pid, SIGCONT));
	ASSERT_EQ(0, denial_next(&self->s, &d));
	EXPECT_EQ(20, d.count);
	for (int i = 0; i < 5; i++) {
		ASSERT_EQ(0, kill(self->keeper, SIGSTOP));
		EXPECT_EQ(EPERM, ask(&self->s, "syscall", "165"));
	}
	ASSERT_EQ(0, denial_next(&self->s, &d));
	EXPECT_STREQ("mount", d.syscall);
	/* both: whoever goes on first */
	ASSERT_EQ(0, kill(self->s.pid, SIGSTOP));
	ASSERT_EQ(0, kill(self->keeper, SIGSTOP));
	ASSERT_EQ(0, kill(self->s.pid, SIGCONT));
	EXPECT_EQ(EPERM, ask(&self->s, "syscall", "169"));
	end_session(self, 0);
	EXPECT_STREQ("26", member(self, "denials.total"));
	EXPECT_STREQ("0", member(self, "denials.lost"));
}

TEST_F(seccomp, without_a_keeper_it_is_refused_until_the_end)
{
	int err;

	/* A supervisor that cannot end the session yet. */
	EXPECT_EQ(EPERM, ask(&self->s, "syscall", PTRACE));
	ASSERT_EQ(0, kill(self->s.pid, SIGSTOP));
	ASSERT_EQ(0, kill(self->keeper, SIGKILL));
	err = ask(&self->s, "syscall", PTRACE);
	EXPECT_TRUE(err == EPERM || err == ENOSYS) TH_LOG("%d", err);
	EXPECT_EQ(ENOSYS, ask(&self->s, "syscall", PTRACE));
	EXPECT_EQ(0, ask(&self->s, "syscall", "39"));
	ASSERT_EQ(0, kill(self->s.pid, SIGCONT));
	EXPECT_TRUE(gone(self->s.probe, 10000));
	end_session(self, 125 << 8);
	EXPECT_STREQ("supervisor_error", member(self, "status"));
	/* what the keeper had noted is not lost with it */
	EXPECT_STREQ("1", member(self, "denials.total"));
	EXPECT_STREQ("0", member(self, "denials.lost"));
}

TEST_F(seccomp, a_flood_ends_with_the_supervisor)
{
	int storm = fork();

	if (!storm) {
		ask(&self->s, "storm", "8", "100000000");
		_exit(0);
	}
	/* It blows: one of the calls is on record. */
	EXPECT_TRUE(denied(&self->s, "syscall", NULL, NULL));
	ASSERT_EQ(0, kill(self->s.pid, SIGKILL));
	EXPECT_TRUE(gone(self->s.probe, 10000));
	EXPECT_TRUE(gone(self->keeper, 10000));
	waitpid(storm, NULL, 0);
}

TEST_F(seccomp, a_flood_is_folded_and_every_call_counted)
{
	long long told = 0, lost, total, lines = 0, last = 0;
	struct denial d;

	EXPECT_EQ(0, ask(&self->s, "storm", "8", "250"));
	EXPECT_EQ(2000, self->s.reply.value);
	EXPECT_EQ(0, ask(&self->s, "storm", "2", "500", "v"));
	EXPECT_EQ(1000, self->s.reply.value);
	end_session(self, 0);
	while (!denial_now(&self->s, &d)) {
		EXPECT_STREQ("ptrace", d.syscall);
		EXPECT_LT(last, d.seq);
		last = d.seq;
		told += d.count;
		lines++;
	}
	total = atoll(member(self, "denials.total"));
	lost = atoll(member(self, "denials.lost"));
	EXPECT_EQ(3000, total);
	EXPECT_EQ(3000, told + lost);
	EXPECT_EQ(0, lost);
	EXPECT_GT(1500, lines) TH_LOG("%lld lines", lines);
}

TEST_F(seccomp, filters_of_its_own_open_nothing)
{
	char action[16], flags[16];
	static const struct {
		unsigned int action;
		int err;
	} all[] = {
		{ SECCOMP_RET_ALLOW, EPERM }, { SECCOMP_RET_LOG, EPERM },
		{ SECCOMP_RET_TRACE, EPERM },
		{ SECCOMP_RET_ERRNO | ENOTTY, ENOTTY },
		/* nobody listens to this one, and it is the later */
		{ SECCOMP_RET_USER_NOTIF, ENOSYS },
	};

	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		sprintf(action, "%#x", all[i].action);
		EXPECT_EQ(all[i].err, ask(&self->s, "filter", action, "0")) {
			TH_LOG("%s", action);
		}
		EXPECT_EQ(1, self->s.reply.value);
	}
	/* the kernel has room for one listener, and that is the keeper's */
	sprintf(action, "%#x", SECCOMP_RET_ALLOW);
	sprintf(flags, "%#lx", SECCOMP_FILTER_FLAG_NEW_LISTENER);
	EXPECT_EQ(EBUSY, ask(&self->s, "filter", action, flags));
	EXPECT_EQ(0, self->s.reply.value);
	/* descriptors: none of it was left to the command */
	EXPECT_EQ(0, ask(&self->s, "fds"));
	EXPECT_EQ(0, self->s.reply.value);
}

TEST_HARNESS_MAIN
