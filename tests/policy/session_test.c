// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a session brings along: its user, its command and descriptors, its
 * temp directory and policy file, and how much a table holds.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <sys/fsuid.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>

#include "world.h"

FIXTURE(session) {
	struct world w;
};

FIXTURE_SETUP(session)
{
	ASSERT_EQ(0, world_begin(&self->w));
}

FIXTURE_TEARDOWN(session)
{
	EXPECT_EQ(0, world_end(&self->w));
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

TEST_F(session, a_thousand_denies_with_few_descriptors)
{
	struct world *w = &self->w;
	struct rlimit old, low;
	double start;
	char path[64];
	int i, r;

	root(w, "ws", RW);
	for (i = 0; i < 1000; i++) {
		snprintf(path, sizeof(path), "ws/d%d/key", i);
		if (i & 1)
			file(w, path, "x");
		root(w, path, DENY);
	}
	ASSERT_EQ(0, getrlimit(RLIMIT_NOFILE, &old));
	low = old;
	low.rlim_cur = 64;
	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &low));
	start = seconds();
	r = resolve(w);
	start = seconds() - start;
	ASSERT_EQ(0, r) TH_LOG("%s", w->e.msg);
	EXPECT_EQ(64, w->t.open_files);
	EXPECT_EQ(0, well_formed(w));
	TH_LOG("%zu items in %.1f ms", w->t.count, start * 1e3);
	EXPECT_GT(1.0, start);
	EXPECT_EQ(LH_WHY_DENIED, why(w, "ws/d998/key", LH_WRITE));
	EXPECT_EQ(LH_WHY_DENIED, why(w, "ws/d999/key", LH_READ));
	EXPECT_EQ(LH_WHY_ALLOW, why(w, "ws/d1000/key", LH_WRITE));
}

TEST_F(session, more_than_the_table_holds_is_an_error)
{
	struct world *w = &self->w;
	char path[64];
	int i;

	root(w, "ws", RW);
	for (i = 0; i < LH_ITEMS_MAX / 5; i++) {
		snprintf(path, sizeof(path), "ws/%d/a/b", i);
		root(w, path, DENY);
	}
	/* Three for the directory that anchors them: they just fit. */
	ASSERT_EQ(0, resolve(w)) TH_LOG("%s", w->e.msg);
	EXPECT_GE(LH_ITEMS_MAX, w->t.count);
	root(w, "ws/x/a/b", DENY);
	EXPECT_EQ(-E2BIG, resolve(w));
	EXPECT_NE(0, w->e.msg[0]);
	EXPECT_EQ(0, w->t.count);
}

TEST_F(session, the_same_tree_gives_the_same_table)
{
	struct world *w = &self->w;
	struct table first;
	size_t i;

	file(w, "ws/.git/HEAD", "ref: refs/heads/main\n");
	dir(w, "ws/.git/modules/a");
	dir(w, "ws/.git/modules/b");
	root(w, "ws", RW);
	root(w, "ws/x/y", DENY);
	root(w, "/etc", R);
	protect_all(w);
	ASSERT_EQ(0, resolve(w)) TH_LOG("%s", w->e.msg);
	first = w->t;
	w->t = (struct table){ 0 };
	EXPECT_EQ(0, resolve(w));
	ASSERT_EQ(first.count, w->t.count);
	for (i = 0; i < first.count; i++) {
		EXPECT_EQ(first.items[i].kind, w->t.items[i].kind);
		EXPECT_EQ(first.items[i].hash, w->t.items[i].hash);
		EXPECT_EQ(first.items[i].parent, w->t.items[i].parent);
		EXPECT_EQ(0, memcmp(&first.items[i].root, &w->t.items[i].root,
				    sizeof(first.items[i].root)));
	}
	ASSERT_EQ(first.object_count, w->t.object_count);
	for (i = 0; i < first.object_count; i++)
		EXPECT_STREQ(first.objects[i].path, w->t.objects[i].path);
	table_free(&first);
}

/* Calls of a switch, and the user it switches to. */
static unsigned int switches;

static int as_nobody(enum resolve_as who, void *arg)
{
	uid_t uid = who == RESOLVE_AS_USER ? 65534 : 0;

	(void)arg;
	switches++;
	setfsuid(uid);
	return (uid_t)setfsuid(-1) == uid ? 0 : -EPERM;
}

TEST_F(session, grants_are_reached_as_the_user_and_denies_as_root)
{
	struct world *w = &self->w;

	if (geteuid())
		SKIP(return, "only root can be two users");
	file(w, "private/sub/f", "x");
	ASSERT_EQ(0, chmod(at(w, "private"), 0700));
	root(w, "ws", RW);
	root(w, "private/sub/f", DENY);
	w->o.as = as_nobody;
	switches = 0;
	ASSERT_EQ(0, resolve(w)) TH_LOG("%s", w->e.msg);
	EXPECT_EQ(0, setfsuid(-1));
	EXPECT_EQ(DENY | LH_ROOT_PIN,
		  item(w, "private/sub/f")->flags | LH_ROOT_PIN);
	/* Not once for each component. */
	EXPECT_GT(8, switches);
	/* What the deny opened is no way in for a grant. */
	root(w, "private/sub", R);
	EXPECT_EQ(-EACCES, resolve(w));
	EXPECT_NE(NULL, strstr(w->e.msg, "rule:private/sub"));
	EXPECT_EQ(0, setfsuid(-1));
}

static int as_fails(enum resolve_as who, void *arg)
{
	(void)arg;
	return who == RESOLVE_AS_USER && ++switches > 1 ? -EAGAIN : 0;
}

TEST_F(session, credentials_that_cannot_be_switched_end_it)
{
	struct world *w = &self->w;

	/* Nothing may pass for missing because we could not look. */
	root(w, "ws", RW | OPTIONAL);
	w->o.as = as_fails;
	switches = 1;
	EXPECT_EQ(-EAGAIN, resolve(w));
	EXPECT_NE(0, w->e.msg[0]);
	EXPECT_EQ(0, w->t.count);
}

TEST_F(session, an_optional_grant_out_of_reach_is_none)
{
	struct world *w = &self->w;

	if (geteuid())
		SKIP(return, "only root can be two users");
	dir(w, "private/sub");
	ASSERT_EQ(0, chmod(at(w, "private"), 0700));
	root(w, "private/sub", R | OPTIONAL);
	w->o.as = as_nobody;
	ASSERT_EQ(0, resolve(w)) TH_LOG("%s", w->e.msg);
	EXPECT_EQ(0, w->t.count);
}

TEST_F(session, the_command_and_its_interpreter)
{
	struct world *w = &self->w;

	file(w, "bin/interp", "x");
	file(w, "bin/script", "#! %s/bin/interp -x\necho\n", w->dir);
	root(w, "ws", RW);
	w->o.command = at(w, "bin/script");
	ASSERT_EQ(0, resolve(w)) TH_LOG("%s", w->e.msg);
	EXPECT_EQ(LH_WHY_ALLOW, why(w, "bin/script", LH_READ | LH_EXEC));
	EXPECT_EQ(LH_WHY_ALLOW, why(w, "bin/interp", LH_READ | LH_EXEC));
	EXPECT_EQ(LH_WHY_NOT_GRANTED, why(w, "bin", LH_READ));
	EXPECT_EQ(LH_WHY_NOT_GRANTED, why(w, "bin/script", LH_WRITE));
	EXPECT_STREQ("builtin:command", rule_of(w, "bin/script", LH_EXEC));
}

TEST_F(session, a_command_in_the_workspace_may_be_built_again)
{
	struct world *w = &self->w;

	file(w, "ws/a.out", "\177ELF");
	root(w, "ws", RW);
	w->o.command = at(w, "ws/a.out");
	ASSERT_EQ(0, resolve(w)) TH_LOG("%s", w->e.msg);
	EXPECT_EQ(LH_WHY_ALLOW, why(w, "ws/a.out", LH_REMOVE | LH_WRITE));
}

TEST_F(session, descriptors_in_their_own_mode)
{
	struct world *w = &self->w;
	int fds[3], pipes[2], pair[2];

	file(w, "in", "x");
	file(w, "out", "x");
	file(w, "ws/log", "x");
	root(w, "ws", RW);
	fds[0] = open(at(w, "in"), O_RDONLY | O_CLOEXEC);
	fds[1] = open(at(w, "out"), O_WRONLY | O_CLOEXEC);
	fds[2] = open(at(w, "ws/log"), O_WRONLY | O_CLOEXEC);
	w->o.stdio = fds;
	ASSERT_EQ(0, resolve(w)) TH_LOG("%s", w->e.msg);
	EXPECT_EQ(0, well_formed(w));
	EXPECT_EQ(LH_WHY_ALLOW, why(w, "in", LH_READ));
	EXPECT_EQ(LH_WHY_NOT_GRANTED, why(w, "in", LH_WRITE));
	EXPECT_EQ(LH_WHY_ALLOW, why(w, "out", LH_WRITE));
	EXPECT_EQ(LH_WHY_NOT_GRANTED, why(w, "out", LH_READ));
	EXPECT_EQ(LH_WHY_PINNED, why(w, "out", LH_REMOVE));
	/* Covered by its root, so not even an item. */
	EXPECT_EQ(NULL, item(w, "ws/log"));
	EXPECT_EQ(LH_WHY_ALLOW, why(w, "ws/log", LH_REMOVE));
	close(fds[0]);
	close(fds[1]);
	close(fds[2]);
	/* What has no path; one that only names; none at all. */
	ASSERT_EQ(0, pipe2(pipes, O_CLOEXEC));
	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair));
	fds[0] = pipes[0];
	fds[1] = pair[0];
	fds[2] = open(at(w, "in"), O_PATH | O_CLOEXEC);
	ASSERT_EQ(0, resolve(w)) TH_LOG("%s", w->e.msg);
	EXPECT_EQ(0, well_formed(w));
	EXPECT_EQ(3, w->t.object_count);
	EXPECT_EQ(LH_WHY_NOT_GRANTED, why(w, "in", LH_READ));
	/* An O_PATH descriptor keeps no pipe open. */
	close(pipes[0]);
	signal(SIGPIPE, SIG_IGN);
	EXPECT_EQ(-1, write(pipes[1], "x", 1));
	close(pipes[1]);
	close(pair[0]);
	close(pair[1]);
	close(fds[2]);
	fds[0] = fds[1] = fds[2] = -1;
	EXPECT_EQ(0, resolve(w));
}

TEST_F(session, a_deleted_file_as_a_descriptor)
{
	struct world *w = &self->w;
	int fds[3] = { -1, -1, -1 };

	file(w, "gone", "x");
	file(w, "gone (deleted)", "x");
	fds[0] = open(at(w, "gone"), O_RDWR | O_CLOEXEC);
	unlink(at(w, "gone"));
	root(w, "ws", RW);
	w->o.stdio = fds;
	ASSERT_EQ(0, resolve(w)) TH_LOG("%s", w->e.msg);
	EXPECT_EQ(2, w->t.object_count);
	EXPECT_EQ(LH_WHY_NOT_GRANTED, why(w, "gone (deleted)", LH_READ));
	close(fds[0]);
}

TEST_F(session, temp_directory_cgroup_and_policy_file)
{
	struct world *w = &self->w;

	dir(w, "tmp");
	file(w, "all/memory.max", "max");
	file(w, "all/cgroup.procs", "1");
	file(w, "all/cg/memory.max", "max");
	file(w, "ws/policy.json", "{}");
	file(w, "etc/policy.json", "{}");
	root(w, "ws", RW);
	root(w, "etc", R);
	w->o.temp_dir = at(w, "tmp");
	w->o.cgroup_dir = at(w, "all/cg");
	w->o.policy_file = at(w, "ws/policy.json");
	ASSERT_EQ(0, resolve(w)) TH_LOG("%s", w->e.msg);
	EXPECT_EQ(LH_WHY_ALLOW, why(w, "tmp/x", LH_WRITE));
	EXPECT_EQ(LH_WHY_PINNED, why(w, "tmp", LH_REMOVE));
	EXPECT_STREQ("preset:user_temp", rule_of(w, "tmp/x", LH_WRITE));
	EXPECT_EQ(LH_WHY_ALLOW, why(w, "all/cg/memory.max", LH_READ));
	EXPECT_EQ(LH_WHY_NOT_GRANTED, why(w, "all/cg/memory.max", LH_WRITE));
	/* Of the cgroup above: the limits, and not who is in it. */
	EXPECT_EQ(LH_WHY_ALLOW, why(w, "all/memory.max", LH_READ));
	EXPECT_EQ(LH_WHY_NOT_GRANTED, why(w, "all/memory.max", LH_WRITE));
	EXPECT_EQ(LH_WHY_NOT_GRANTED, why(w, "all/cgroup.procs", LH_READ));
	EXPECT_EQ(LH_WHY_NOT_GRANTED, why(w, "all", LH_READ));
	EXPECT_EQ(LH_WHY_PROTECTED, why(w, "ws/policy.json", LH_WRITE));
	EXPECT_EQ(LH_WHY_PROTECTED, why(w, "ws/policy.json", LH_REMOVE));
	EXPECT_EQ(LH_WHY_ALLOW, why(w, "ws/policy.json", LH_READ));
	EXPECT_EQ(2, w->t.writable_count);
	/* Through a link in the workspace: the link is what could change. */
	sym(w, "../etc/policy.json", "ws/link.json");
	w->o.policy_file = at(w, "ws/link.json");
	ASSERT_EQ(0, resolve(w)) TH_LOG("%s", w->e.msg);
	EXPECT_EQ(LH_WHY_PROTECTED, why(w, "ws/link.json", LH_REMOVE));
	/* Elsewhere there is nothing to hold. */
	w->o.policy_file = at(w, "etc/policy.json");
	ASSERT_EQ(0, resolve(w)) TH_LOG("%s", w->e.msg);
	EXPECT_EQ(0, names(w));
}

TEST_F(session, homes_and_roots_have_names_of_their_own)
{
	struct world *w = &self->w;

	root(w, "ws", RW);
	protect_all(w);
	ASSERT_EQ(0, resolve(w)) TH_LOG("%s", w->e.msg);
	EXPECT_EQ(LH_WHY_PROTECTED, why(w, "ws/deploy/keys/k", LH_WRITE));
	EXPECT_EQ(LH_WHY_ALLOW, why(w, "ws/deploy/other", LH_WRITE));
	EXPECT_EQ(LH_WHY_ALLOW, why(w, "ws/.bashrc", LH_WRITE));
	EXPECT_EQ(LH_WHY_PROTECTED, why(w, "ws/x/.git/hooks/h", LH_WRITE));
	EXPECT_EQ(LH_WHY_PROTECTED, why(w, "ws/x/.git/hooks", LH_BECOME));
	EXPECT_EQ(LH_WHY_PINNED, why(w, "ws/x/.git", LH_BECOME));
	EXPECT_EQ(LH_WHY_ALLOW, why(w, "ws/x/.git/hooks", LH_REMOVE));
	EXPECT_EQ(LH_WHY_ALLOW, why(w, "ws/x/.git/config", LH_WRITE));
	EXPECT_EQ(LH_WHY_ALLOW, why(w, "ws/x/hooks", LH_WRITE));
	root(w, "", RW);
	ASSERT_EQ(0, resolve(w)) TH_LOG("%s", w->e.msg);
	EXPECT_EQ(LH_WHY_PROTECTED, why(w, "home/.bashrc", LH_WRITE));
	EXPECT_EQ(LH_WHY_PROTECTED, why(w, "home/.config/fish/f", LH_WRITE));
	EXPECT_EQ(LH_WHY_ALLOW, why(w, "home/.config/other", LH_WRITE));
}

TEST_HARNESS_MAIN
