// SPDX-License-Identifier: GPL-2.0-only
/*
 * The engine: loaded once, by whoever comes first, and never by a start. This
 * program runs first in a guest, where the first of its tests finds none.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "kselftest_harness.h"
#include "session.h"

FIXTURE(engine) {
	struct world *w;
	char policy[128], ws[128], denials[128];
};

FIXTURE_SETUP(engine)
{
	struct policy p = { 0 };

	self->w = world_make(TEST_USER);
	ASSERT_NE(NULL, self->w);
	ASSERT_EQ(0, policy_write(self->w, &p));
	snprintf(self->policy, sizeof(self->policy), "%s/log/policy.json",
		 self->w->dir);
	snprintf(self->ws, sizeof(self->ws), "%s/ws", self->w->dir);
	snprintf(self->denials, sizeof(self->denials), "%s/log/d",
		 self->w->dir);
}

FIXTURE_TEARDOWN(engine)
{
	world_remove(self->w);
}

#define RUN(out, ...) supervise(self->w, out, sizeof(out),		\
	(const char *const[]){ "--policy", self->policy, "-C", self->ws, \
		"--user", self->w->user, "--denials", self->denials,	\
		__VA_ARGS__, NULL })
#define ENGINE(out, verb) supervise(self->w, out, sizeof(out),		\
	(const char *const[]){ "--engine", verb, NULL })

static void ids(char *buf, size_t size)
{
	FILE *f = popen("bpftool prog list | grep -o '^[0-9]*: [a-z_]* *name "
			"[a-z_0-9]*'; bpftool link list | grep '^[0-9]'", "re");
	size_t n = f ? fread(buf, 1, size - 1, f) : 0;

	buf[n] = 0;
	if (f)
		pclose(f);
}

TEST_F(engine, a_first_and_b_second_start_of_a_boot_both_work)
{
	struct session a, b;
	pid_t pid;
	int status;

	/* the very first: nothing is loaded */
	EXPECT_FALSE(exists("/sys/fs/bpf/lh"));
	pid = fork();
	if (!pid) {
		if (session_start(&b, self->w, "b", NULL))
			_exit(1);
		_exit(ask(&b, "open", "secret/key", "r") != EACCES ||
		      ask(&b, "open", "file", "r") || session_end(&b));
	}
	ASSERT_EQ(0, session_start(&a, self->w, "a", NULL));
	EXPECT_EQ(EACCES, ask(&a, "open", "secret/key", "r"));
	EXPECT_EQ(0, ask(&a, "open", "file", "r"));
	EXPECT_EQ(0, session_end(&a));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_TRUE(exists("/sys/fs/bpf/lh"));
	/* one engine, whoever won */
	EXPECT_EQ(0, system("[ $(ls /sys/fs/bpf/lh | wc -l) = 1 ]"));
}

TEST_F(engine, a_start_loads_and_attaches_nothing)
{
	static char before[65536], during[65536], after[65536];
	struct session s;

	ids(before, sizeof(before));
	ASSERT_EQ(0, session_start(&s, self->w, "s", NULL));
	ids(during, sizeof(during));
	ASSERT_EQ(0, session_end(&s));
	ids(after, sizeof(after));
	EXPECT_NE(NULL, strstr(before, "lsm"));
	EXPECT_STREQ(before, during);
	EXPECT_STREQ(before, after);
}

TEST_F(engine, it_is_not_unloaded_under_a_session)
{
	struct session s;
	char out[4096];

	ASSERT_EQ(0, session_start(&s, self->w, "s", NULL));
	EXPECT_NE(0, ENGINE(out, "unload"));
	EXPECT_NE(NULL, strstr(out, "in use"));
	EXPECT_EQ(EACCES, ask(&s, "open", "secret/key", "r"));
	EXPECT_EQ(0, session_end(&s));
}

TEST_F(engine, it_is_unloaded_and_loaded_by_name)
{
	char out[4096];

	EXPECT_EQ(0, ENGINE(out, "unload"));
	EXPECT_EQ(0, system("[ -z \"$(ls -A /sys/fs/bpf/lh 2>/dev/null)\" ]"));
	EXPECT_EQ(0, ENGINE(out, "status"));
	EXPECT_NE(NULL, strstr(out, "not loaded"));
	EXPECT_EQ(0, ENGINE(out, "load"));
	EXPECT_EQ(0, ENGINE(out, "status"));
	EXPECT_EQ(NULL, strstr(out, "not loaded"));
	EXPECT_NE(NULL, strstr(out, "loaded"));
	EXPECT_NE(0, ENGINE(out, "explode"));
}

/* One message with its remedy, 125, and nothing started. */
static void refuses(struct __test_metadata *_metadata, int status,
		    const char *out, const char *word, const struct world *w)
{
	EXPECT_EQ(125, WEXITSTATUS(status)) {
		TH_LOG("%s", out);
	}
	EXPECT_NE(NULL, strstr(out, word)) {
		TH_LOG("not a word of %s: %s", word, out);
	}
	EXPECT_EQ(0, strncmp(out, "lh-supervise: ", 14));
	EXPECT_EQ(strchr(out, '\n'), out + strlen(out) - 1);
	EXPECT_FALSE(exists(at(w, "ws/ran")));
}

TEST_F(engine, no_bpf_file_system_is_said_and_nothing_runs)
{
	char out[4096];
	int status;

	ASSERT_EQ(0, unshare(CLONE_NEWNS));
	ASSERT_EQ(0, mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL));
	ASSERT_EQ(0, umount2("/sys/fs/bpf", MNT_DETACH));
	status = RUN(out, "--", "touch", "ran");
	refuses(_metadata, status, out, "bpf", self->w);
}

TEST_F(engine, no_cgroup_file_system_is_said_and_nothing_runs)
{
	char out[4096];
	int status;

	ASSERT_EQ(0, unshare(CLONE_NEWNS));
	ASSERT_EQ(0, mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL));
	ASSERT_EQ(0, umount2("/sys/fs/cgroup", MNT_DETACH));
	status = RUN(out, "--", "touch", "ran");
	refuses(_metadata, status, out, "cgroup", self->w);
}

TEST_F(engine, not_being_root_is_said_and_nothing_runs)
{
	char out[4096];
	int status;

	ASSERT_EQ(0, setgid(self->w->gid));
	ASSERT_EQ(0, setuid(self->w->uid));
	status = RUN(out, "--", "touch", "ran");
	refuses(_metadata, status, out, "root", self->w);
}

TEST_F(engine, a_broken_policy_is_said_and_nothing_runs)
{
	static const char *const texts[] = {
		"", "{", "{\"version\":1,\"workspace_roots\":[\"/tmp\"",
		"[]", "{\"version\":1,\"read_deny_root\":[\"/x\"]}",
		"{\"version\":2}", "{\"version\":1,\"version\":1}", "\0",
		"{\"version\":1}{\"version\":1}", "{'version':1}",
	};
	char out[16384];

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		int status;

		ASSERT_EQ(0, world_file(self->w, self->policy, texts[i]));
		status = RUN(out, "--", "touch", "ran");
		EXPECT_EQ(125, WEXITSTATUS(status)) {
			TH_LOG("%s: %s", texts[i], out);
		}
		EXPECT_NE(NULL, strstr(out, "policy.json")) {
			TH_LOG("%s: %s", texts[i], out);
		}
	}
	ASSERT_EQ(0, unlink(self->policy));
	EXPECT_EQ(125, WEXITSTATUS(RUN(out, "--", "touch", "ran")));
	EXPECT_NE(NULL, strstr(out, "policy.json"));
	EXPECT_FALSE(exists(at(self->w, "ws/ran")));
}

TEST_F(engine, no_command_is_a_usage_error)
{
	char out[16384];

	EXPECT_EQ(125, WEXITSTATUS(RUN(out, "--")));
	EXPECT_NE(NULL, strstr(out, "lh-supervise:"));
	EXPECT_EQ(125, WEXITSTATUS(RUN(out, "--no-such-option", "true")));
}

TEST_HARNESS_MAIN
