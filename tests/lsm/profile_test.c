// SPDX-License-Identifier: GPL-2.0-only
/*
 * How much of a policy holds, where the engine does: without a sandbox nothing,
 * with LH_SANDBOX all the same unless the site's ceiling says otherwise, with a
 * lifted credential all but that, and once more from a result.
 *
 *   DIR/ws/file		granted		DIR/ws/secret/key	denied
 *   DIR/outside/file	no root		HOME/.ssh/id_ed25519	credential
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <linux/keyctl.h>

#include "kselftest_harness.h"
#include "session.h"

FIXTURE(profile) {
	struct world *w;
	char policy[128], ws[128], result[128], key[128];
};

FIXTURE_SETUP(profile)
{
	struct policy p = { .profile = "worktree" };

	self->w = world_make(TEST_USER);
	ASSERT_NE(NULL, self->w);
	ASSERT_EQ(0, policy_write(self->w, &p));
	snprintf(self->policy, sizeof(self->policy), "%s/log/policy.json",
		 self->w->dir);
	snprintf(self->ws, sizeof(self->ws), "%s/ws", self->w->dir);
	snprintf(self->result, sizeof(self->result), "%s/log/r.json",
		 self->w->dir);
	snprintf(self->key, sizeof(self->key), "%s/ws/secret/key",
		 self->w->dir);
	unsetenv("LH_SANDBOX");
}

FIXTURE_TEARDOWN(profile)
{
	unsetenv("LH_SANDBOX");
	world_remove(self->w);
}

#define START(out, ...) supervise(self->w, out, sizeof(out),		\
	(const char *const[]){ "-C", self->ws, "--user", TEST_USER,	\
		"--denials", at(self->w, "log/d"), "--result",		\
		self->result, __VA_ARGS__, NULL })
#define RUN(out, ...) START(out, "--policy", self->policy, __VA_ARGS__)

#define IS(member, text) EXPECT_STREQ(text, json_member(self->result, member))

/* A policy is held to: the denied key is refused, the granted file is read. */
#define EXPECT_HELD(...) do {						\
	char out_[8192];						\
									\
	EXPECT_NE(0, RUN(out_, ##__VA_ARGS__, "--", "cat", self->key));	\
	EXPECT_EQ(0, RUN(out_, ##__VA_ARGS__, "--", "cat",		\
			 at(self->w, "ws/file"))) {			\
		TH_LOG("%s", out_);					\
	}								\
	IS("sandbox.confinement", "full");				\
} while (0)

/* Nothing is: the denied key is read, and a file outside is written. */
#define EXPECT_FREE(...) do {						\
	char out_[8192];						\
									\
	EXPECT_EQ(0, RUN(out_, ##__VA_ARGS__, "--", "cat", self->key)) {	\
		TH_LOG("%s", out_);					\
	}								\
	EXPECT_EQ(0, RUN(out_, ##__VA_ARGS__, "--", "touch",		\
			 at(self->w, "outside/new")));			\
	EXPECT_NE(NULL, strstr(out_, "NO SANDBOX"));			\
	EXPECT_TRUE(exists(at(self->w, "outside/new")));		\
	IS("sandbox.confinement", "none");				\
	IS("denials.total", "0");					\
} while (0)

/* A copy of /etc of our own, with this ceiling in it, until the test ends. */
static int ceiling(const char *text)
{
	static bool made;

	if (!made && (unshare(CLONE_NEWNS) ||
		      mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
		      system("mkdir /tmp/etc && mount -t tmpfs none /tmp/etc && "
			     "cp -a /etc/. /tmp/etc/ && mkdir -p /tmp/etc/lh && "
			     "mount --bind /tmp/etc /etc && "
			     "umount -l /tmp/etc && rmdir /tmp/etc")))
		return -1;
	made = true;
	int fd = open("/etc/lh/ceiling.json", O_WRONLY | O_CREAT | O_TRUNC,
		      0644);
	ssize_t n = fd < 0 ? -1 : write(fd, text, strlen(text));

	close(fd);
	return n == (ssize_t)strlen(text) ? 0 : -1;
}

#define CEILING(profile) "{\"version\":1,\"sandbox_profile\":\"" profile "\"," \
	"\"read_only_roots\":[\"/\"],\"workspace_roots\":[\"/tmp\"]}"

TEST_F(profile, without_a_sandbox_nothing_is_held_to)
{
	EXPECT_HELD();
	EXPECT_FREE("--no-sandbox");
	IS("sandbox.decided_by", "--no-sandbox");
	EXPECT_HELD();
}

/* Beside a session that is confined, which does not notice. */
TEST_F(profile, beside_it_a_session_is_still_confined)
{
	struct session s, f;

	ASSERT_EQ(0, session_start(&s, self->w, "held", NULL));
	ASSERT_EQ(0, session_start(&f, self->w, "free",
		(const char *const[]){ "--no-sandbox", NULL }));
	EXPECT_EQ(0, ask(&f, "open", self->key, "r"));
	EXPECT_EQ(EACCES, ask(&s, "open", self->key, "r"));
	EXPECT_TRUE(denied(&s, "open", self->key, NULL));
	EXPECT_EQ(0, session_end(&f));
	EXPECT_EQ(EACCES, ask(&s, "open", self->key, "r"));
	EXPECT_EQ(0, session_end(&s));
}

/* Root's keys are not lent to who runs a command without confinement. */
TEST_F(profile, the_keys_of_the_caller_stay_the_callers)
{
	static const char find[] = "import ctypes, sys; sys.exit(ctypes.CDLL("
		"None).syscall(250, 10, -3, b'user', b'lh', 0) < 0)";
	char out[4096];

	ASSERT_LE(0, syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL));
	ASSERT_LE(0, syscall(SYS_add_key, "user", "lh", "x", 1,
			     KEY_SPEC_SESSION_KEYRING));
	EXPECT_EQ(0, supervise(self->w, out, sizeof(out),
		(const char *const[]){ "-C", self->ws, "--no-sandbox", "--",
			"/usr/bin/python3", "-c", find, NULL })) {
		TH_LOG("%s", out);
	}
	EXPECT_EQ(1, WEXITSTATUS(RUN(out, "--no-sandbox", "--",
				     "/usr/bin/python3", "-c", find)));
}

TEST_F(profile, it_dies_with_its_supervisor_all_the_same)
{
	struct session s;
	pid_t probe;

	ASSERT_EQ(0, session_start(&s, self->w, "free",
		(const char *const[]){ "--no-sandbox", NULL }));
	probe = s.probe;
	EXPECT_EQ(0, kill(s.pid, SIGKILL));
	EXPECT_TRUE(gone(probe, 5000));
	session_end(&s);
}

TEST_F(profile, its_wall_time_is_kept)
{
	char out[4096];

	EXPECT_EQ(124, WEXITSTATUS(RUN(out, "--no-sandbox", "--timeout",
				       "300ms", "--", "sleep", "100")));
	IS("timed_out", "true");
}

TEST_F(profile, a_profile_by_name)
{
	struct policy p = { .profile = "unrestricted" };

	ASSERT_EQ(0, policy_write(self->w, &p));
	EXPECT_FREE();
	IS("sandbox.decided_by", "sandbox_profile");
	p.profile = "workspace_paths";
	ASSERT_EQ(0, policy_write(self->w, &p));
	EXPECT_FREE();
	/* and not where a ceiling is stricter */
	ASSERT_EQ(0, ceiling(CEILING("worktree")));
	EXPECT_HELD();
	ASSERT_EQ(0, ceiling(CEILING("workspace_paths")));
	EXPECT_FREE();
}

/* Where the engine loads, nothing is lacking that could be done without. */
TEST_F(profile, the_selector_takes_nothing_away_by_itself)
{
	setenv("LH_SANDBOX", "warn", 1);
	EXPECT_HELD();
	IS("sandbox.selector", "warn");
	setenv("LH_SANDBOX", "enforce", 1);
	EXPECT_HELD();
	setenv("LH_SANDBOX", "off", 1);
	EXPECT_HELD();
	IS("sandbox.selector_honored", "false");
}

TEST_F(profile, off_counts_where_the_ceiling_permits_it)
{
	struct policy p = { .profile = "os_hardened" };
	char out[4096];

	setenv("LH_SANDBOX", "off", 1);
	ASSERT_EQ(0, ceiling(CEILING("unrestricted")));
	EXPECT_FREE();
	IS("sandbox.decided_by", "LH_SANDBOX");
	IS("sandbox.selector_honored", "true");
	ASSERT_EQ(0, ceiling(CEILING("worktree")));
	EXPECT_HELD();
	unsetenv("LH_SANDBOX");
	EXPECT_EQ(125, WEXITSTATUS(RUN(out, "--no-sandbox", "--",
				       "/bin/true")));
	EXPECT_NE(NULL, strstr(out, "does not permit it"));
	/* never for os_hardened */
	setenv("LH_SANDBOX", "off", 1);
	ASSERT_EQ(0, policy_write(self->w, &p));
	ASSERT_EQ(0, ceiling(CEILING("unrestricted")));
	EXPECT_HELD();
	IS("sandbox.selector_honored", "false");
}

TEST_F(profile, what_a_run_widened_is_said)
{
	char out[8192], line[256];

	EXPECT_EQ(0, RUN(out, "--rw", at(self->w, "outside"), "--", "true"));
	snprintf(line, sizeof(line), "lh-supervise: sandbox active; extra "
		 "write root: %s/outside\n", self->w->dir);
	EXPECT_STREQ(line, out);
	EXPECT_EQ(0, RUN(out, "--deny", at(self->w, "outside"), "--", "true"));
	EXPECT_STREQ("", out);
}

TEST_F(profile, one_credential_is_lifted_and_no_other)
{
	const char *home = "/tmp/home-" TEST_USER;
	char key[64], other[64], out[8192];

	snprintf(key, sizeof(key), "%s/.ssh/id_ed25519", home);
	snprintf(other, sizeof(other), "%s/.netrc", home);
	ASSERT_EQ(0, world_file(self->w, other, "TEXT"));
	EXPECT_NE(0, RUN(out, "--ro", home, "--", "cat", key));
	EXPECT_EQ(0, RUN(out, "--ro", home, "--allow-credential",
			 "/tmp/home-" TEST_USER "/.ssh", "--", "cat", key)) {
		TH_LOG("%s", out);
	}
	EXPECT_NE(NULL, strstr(out, "credential: /tmp/home-" TEST_USER
			       "/.ssh"));
	EXPECT_NE(0, RUN(out, "--ro", home, "--allow-credential",
			 "/tmp/home-" TEST_USER "/.ssh", "--", "cat", other));
	/* it opens what a policy grants, and grants nothing */
	EXPECT_NE(0, RUN(out, "--allow-credential",
			 "/tmp/home-" TEST_USER "/.ssh", "--", "cat", key));
	unlink(other);
}

TEST_F(profile, a_recorded_policy_holds_again)
{
	char out[8192], from[128];

	snprintf(from, sizeof(from), "%s/log/first.json", self->w->dir);
	EXPECT_EQ(0, RUN(out, "--ro", at(self->w, "outside"), "--", "true"));
	ASSERT_EQ(0, rename(self->result, from));
	EXPECT_EQ(0, START(out, "--policy-from", from, "--", "cat",
			   at(self->w, "outside/file"))) {
		TH_LOG("%s", out);
	}
	IS("sandbox.confinement", "full");
	EXPECT_NE(0, START(out, "--policy-from", from, "--", "cat",
			   self->key));
	EXPECT_NE(0, START(out, "--policy-from", from, "--", "touch",
			   at(self->w, "outside/new")));
	EXPECT_NE(0, START(out, "--policy-from", from, "--", "cat",
			   "/tmp/home-" TEST_USER "/.ssh/id_ed25519"));
	/* under what the site says today */
	ASSERT_EQ(0, ceiling("{\"version\":1,\"sandbox_profile\":\"worktree\","
			     "\"workspace_roots\":[\"/tmp\"],"
			     "\"side_effect_level\":\"read_only\"}"));
	EXPECT_NE(0, START(out, "--policy-from", from, "--", "touch",
			   at(self->w, "ws/new")));
}

/* What a session links to is no root for the next one. */
TEST_F(profile, a_planted_link_opens_nothing_to_the_next_session)
{
	char out[8192], file[128], link[128];

	snprintf(file, sizeof(file), "%s/outside/file", self->w->dir);
	snprintf(link, sizeof(link), "%s/ws/link", self->w->dir);
	EXPECT_EQ(0, RUN(out, "--", "ln", "-s", "../outside",
			 link)) {
		TH_LOG("%s", out);
	}
	EXPECT_NE(0, RUN(out, "--sandbox-read-root", link,
			 "--", "cat", file));
	EXPECT_NE(NULL, strstr(out, "a session may have made"));
	EXPECT_NE(0, RUN(out, "--rw", link, "--", "touch",
			 at(self->w, "outside/new")));
	EXPECT_NE(0, RUN(out, "--ro", link, "--", "cat",
			 file));
	/* Named itself, it is granted; and so is what a session has anyway. */
	EXPECT_EQ(0, RUN(out, "--ro", at(self->w, "outside"), "--", "cat",
			 file)) {
		TH_LOG("%s", out);
	}
	EXPECT_EQ(0, RUN(out, "--", "ln", "-sfn", ".",
			 link));
	EXPECT_EQ(0, RUN(out, "--rw", link, "--", "cat",
			 at(self->w, "ws/file"))) {
		TH_LOG("%s", out);
	}
}

/* A link inside of what a ceiling grants leads nowhere else under it. */
TEST_F(profile, a_link_is_no_way_past_a_ceiling)
{
	char text[512], out[8192];

	ASSERT_EQ(0, symlink("outside", at(self->w, "beside")));
	snprintf(text, sizeof(text), "{\"version\":1,\"sandbox_profile\":"
		 "\"worktree\",\"workspace_roots\":[\"%s/ws\",\"%s/beside\"],"
		 "\"process_sandbox\":{\"read_roots\":[\"/usr\",\"%s/log\"]}}",
		 self->w->dir, self->w->dir, self->w->dir);
	ASSERT_EQ(0, ceiling(text));
	/* The site's own link is what it leads to. */
	EXPECT_EQ(0, RUN(out, "--rw", at(self->w, "beside"), "--", "touch",
			 at(self->w, "outside/new"))) {
		TH_LOG("%s", out);
	}
	ASSERT_EQ(0, symlink("../outside2", at(self->w, "ws/away")));
	ASSERT_EQ(0, mkdir(at(self->w, "outside2"), 0777));
	ASSERT_EQ(0, chmod(at(self->w, "outside2"), 0777));
	RUN(out, "--rw", at(self->w, "ws/away"), "--", "touch",
	    at(self->w, "outside2/new"));
	EXPECT_NE(0, access(at(self->w, "outside2/new"), F_OK));
	EXPECT_NE(0, RUN(out, "--allow-credential",
			 "/tmp/home-" TEST_USER "/.ssh", "--", "true"));
	EXPECT_NE(NULL, strstr(out, "holds the credential list"));
}

TEST_HARNESS_MAIN
