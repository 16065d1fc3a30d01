// SPDX-License-Identifier: GPL-2.0-only
/*
 * A linked worktree: of its repository, which lies outside of all roots, a few
 * names may be written. There only regular files arrive, for the host's git
 * reads them.
 *
 *   DIR/wt		the worktree, a root
 *   DIR/main/.git	its repository
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>

#include "kselftest_harness.h"
#include "session.h"

FIXTURE(worktree) {
	struct world *w;
	struct session s;
};

FIXTURE_SETUP(worktree)
{
	struct world *w = self->w = world_make(TEST_USER);
	char roots[256], text[256];
	struct policy p = { .profile = "worktree", .roots = roots };

	ASSERT_NE(NULL, w);
	snprintf(roots, sizeof(roots), "[\"%s/ws\",\"%s/wt\"]", w->dir,
		 w->dir);
	ASSERT_EQ(0, world_dir(w, at(w, "main/.git/objects")));
	ASSERT_EQ(0, world_dir(w, at(w, "main/.git/refs")));
	ASSERT_EQ(0, world_file(w, at(w, "main/.git/HEAD"),
				"ref: refs/heads/main\n"));
	snprintf(text, sizeof(text), "%s/wt/.git\n", w->dir);
	ASSERT_EQ(0, world_file(w, at(w, "main/.git/worktrees/w/gitdir"),
				text));
	ASSERT_EQ(0, world_file(w, at(w, "main/.git/worktrees/w/commondir"),
				"../..\n"));
	ASSERT_EQ(0, world_file(w, at(w, "main/.git/worktrees/w/HEAD"),
				"ref: refs/heads/w\n"));
	snprintf(text, sizeof(text), "gitdir: %s/main/.git/worktrees/w\n",
		 w->dir);
	ASSERT_EQ(0, world_file(w, at(w, "wt/.git"), text));
	ASSERT_EQ(0, policy_write(w, &p));
	ASSERT_EQ(0, session_start(&self->s, w, "s", NULL));
}

FIXTURE_TEARDOWN(worktree)
{
	EXPECT_EQ(0, session_end(&self->s));
	world_remove(self->w);
}

#define REFUSED(path, ...) do {						\
	EXPECT_EQ(EACCES, ask(&self->s, __VA_ARGS__)) {			\
		TH_LOG("%s", path);					\
	}								\
	EXPECT_FALSE(exists(path));					\
} while (0)

TEST_F(worktree, only_a_regular_file_arrives_as_packed_refs)
{
	static const char *const names[] = {
		"packed-refs", "packed-refs.lock", "packed-refs.new",
	};
	struct session *s = &self->s;
	char path[128];

	/* Of each kind one, to be brought there. */
	ASSERT_EQ(0, ask(s, "mkdir", "d"));
	ASSERT_EQ(0, ask(s, "mknod", "fifo", "f"));
	ASSERT_EQ(0, ask(s, "mknod", "socket", "s"));
	ASSERT_EQ(0, ask(s, "symlink", "file", "l"));
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		snprintf(path, sizeof(path), "%s/main/.git/%s", self->w->dir,
			 names[i]);
		REFUSED(path, "mkdir", path);
		EXPECT_TRUE(denied(s, "mkdir", path, "builtin:worktree"));
		REFUSED(path, "mknod", path, "f");
		EXPECT_TRUE(denied(s, "mknod", path, "builtin:worktree"));
		REFUSED(path, "mknod", path, "s");
		REFUSED(path, "unixfile", path);
		REFUSED(path, "symlink", "x", path);
		REFUSED(path, "rename", "d", path);
		REFUSED(path, "rename", "l", path);
		REFUSED(path, "rename", "fifo", path);
		EXPECT_TRUE(denied(s, "rename", path, "builtin:worktree"));
		REFUSED(path, "rename", "socket", path);
		REFUSED(path, "link", "fifo", path);
		REFUSED(path, "link", "l", path);
		/* as git does, and by mknod */
		EXPECT_EQ(0, ask(s, "open", path, "wcx"));
		EXPECT_EQ(EACCES, ask(s, "rename", path, "fifo", "x"));
		EXPECT_EQ(EACCES, ask(s, "rename", "fifo", path, "x"));
		EXPECT_EQ(EACCES, ask(s, "rename", path, "n", "w"));
		EXPECT_EQ(0, ask(s, "rename", path, "n"));
		EXPECT_EQ(0, ask(s, "rename", "n", path));
		EXPECT_EQ(0, ask(s, "unlink", path));
		EXPECT_EQ(0, ask(s, "mknod", path, "r"));
		EXPECT_EQ(0, ask(s, "unlink", path));
	}
	/* Where all may be written, all of these are. */
	EXPECT_EQ(0, ask(s, "mkdir", "packed-refs"));
	EXPECT_EQ(0, ask(s, "mknod", "packed-refs.lock", "f"));
	EXPECT_EQ(0, ask(s, "rename", "fifo", "packed-refs.new"));
}

TEST_HARNESS_MAIN
