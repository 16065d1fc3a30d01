// SPDX-License-Identifier: GPL-2.0-only
/*
 * Cases in which supervisors were passed or broke honest work, by their id.
 * Those not here carry it where they are tested: grep FS-07 tests/lsm.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "kselftest_harness.h"
#include "session.h"

FIXTURE(cases) {
	struct world *w;
	struct session s, twin;
};

FIXTURE_VARIANT(cases) {
	const char *user;
};

FIXTURE_VARIANT_ADD(cases, user) {
	.user = TEST_USER,
};

FIXTURE_VARIANT_ADD(cases, root) {
	.user = "root",
};

/*
 *   ws/lib/in	denied in a read-only root in the workspace
 *   ws/r	denied, with a directory in it
 *   ws/.env.local	denied, not there
 *   ws/one, ws/two	hold a deny each: ancestors
 */
FIXTURE_SETUP(cases)
{
	struct world *w = world_make(variant->user);
	struct policy p = { 0 };
	char more[1024];

	self->w = w;
	ASSERT_NE(NULL, w);
	snprintf(more, sizeof(more), ",\"%s/ws/lib/in\",\"%s/ws/r\","
		 "\"%s/ws/.env.local\",\"%s/ws/one/deep\",\"%s/ws/two/deep\"",
		 w->dir, w->dir, w->dir, w->dir, w->dir);
	p.deny = more;
	ASSERT_EQ(0, world_file(w, at(w, "ws/lib/in/k"), "TEXT"));
	ASSERT_EQ(0, world_file(w, at(w, "ws/r/w/k"), "TEXT"));
	ASSERT_EQ(0, world_file(w, at(w, "ws/one/deep/k"), "TEXT"));
	ASSERT_EQ(0, world_file(w, at(w, "ws/two/deep/k"), "TEXT"));
	ASSERT_EQ(0, world_file(w, at(w, "ws/secret2/a"), "TEXT"));
	ASSERT_EQ(0, world_file(w, at(w, "ro-evil/b"), "TEXT"));
	ASSERT_EQ(0, policy_write(w, &p));
	ASSERT_EQ(0, session_start(&self->s, w, "s", NULL));
	ASSERT_EQ(0, twin_start(&self->twin, w));
}

FIXTURE_TEARDOWN(cases)
{
	session_end(&self->twin);
	EXPECT_EQ(0, session_end(&self->s));
	world_remove(self->w);
}

/* FS-07, FS-08: ancestors, and ancestors against each other. */
TEST_F(cases, fs_08_no_exchange_carries_a_root_away)
{
	struct session *s = &self->s;

	EXPECT_EQ(0, ask(s, "mkdir", "clean"));
	EXPECT_EQ(EACCES, ask(s, "rename", "one", "clean", "x"));
	EXPECT_TRUE(denied(s, "rename", at(self->w, "ws/one"), NULL));
	EXPECT_EQ(EACCES, ask(s, "rename", "clean", "one", "x"));
	EXPECT_EQ(EACCES, ask(s, "rename", "one", "two", "x"));
	EXPECT_EQ(EACCES, ask(s, "rename", "one/deep", "clean", "x"));
	EXPECT_EQ(EACCES, ask(s, "rename", "clean", "one/deep", "x"));
	EXPECT_EQ(EACCES, ask(s, "rename", "one/deep", "two/deep", "x"));
	EXPECT_EQ(EACCES, ask(s, "rename", "file", "one", "x"));
	EXPECT_EQ(EACCES, ask(s, "open", "one/deep/k", "r"));
	EXPECT_TRUE(exists(at(self->w, "ws/one/deep/k")));
	EXPECT_EQ(0, ask(s, "mkdir", "one/beside"));
	EXPECT_EQ(0, ask(s, "rename", "one/beside", "clean", "x"));
	EXPECT_EQ(0, ask(&self->twin, "rename", "one", "clean", "x"));
}

/* FS-10: armed from the start, however it is made, and read at once. */
TEST_F(cases, fs_10_what_is_not_there_is_not_made_and_read_back)
{
	static const char name[] = ".env.local";
	struct session *s = &self->s;

	EXPECT_EQ(ENOENT, ask(s, "open", name, "r"));
	EXPECT_EQ(EACCES, ask(s, "write", name, "x"));
	EXPECT_EQ(EACCES, ask(s, "creat", name));
	EXPECT_EQ(EACCES, ask(s, "mknod", name, "f"));
	EXPECT_EQ(EACCES, ask(s, "mknod", name, "s"));
	EXPECT_EQ(EACCES, ask(s, "unixfile", name));
	EXPECT_EQ(EACCES, ask(s, "tmpfile", ".", name));
	EXPECT_EQ(EACCES, ask(s, "linkfd", "file", name));
	EXPECT_EQ(EACCES, ask(s, "rename", "file", name, "n"));
	EXPECT_EQ(EACCES, ask(s, "rename", "file", name, "w"));
	EXPECT_FALSE(exists(at(self->w, "ws/.env.local")));
	EXPECT_EQ(0, ask(s, "write", ".env.locals", "x"));
	EXPECT_EQ(0, ask(s, "write", "sub/.env.local", "x"));
	/* by the host: then it is there, and denied */
	ASSERT_EQ(0, ask(&self->twin, "write", name, "TEXT"));
	EXPECT_EQ(EACCES, ask(s, "open", name, "r"));
	EXPECT_EQ(EACCES, ask(s, "stat", name));
	EXPECT_EQ(EACCES, ask(s, "unlink", name));
	EXPECT_EQ(EACCES, ask(s, "link", name, "n"));
	/* and again under another inode, by a name that goes over it */
	ASSERT_EQ(0, ask(&self->twin, "write", "sub/t", "NEWER"));
	ASSERT_EQ(0, ask(&self->twin, "rename", "sub/t", name));
	EXPECT_EQ(EACCES, ask(s, "open", name, "r"));
	ASSERT_EQ(0, ask(&self->twin, "unlink", name));
	ASSERT_EQ(0, ask(&self->twin, "link", "file", name));
	EXPECT_EQ(EACCES, ask(s, "open", name, "r"));
}

/* FS-12: replaced by each call that can. */
TEST_F(cases, fs_12_a_denied_file_may_be_replaced_and_stays_denied)
{
	ASSERT_EQ(0, ask(&self->twin, "write", "x", "NEW"));
	ASSERT_EQ(0, ask(&self->twin, "rename", "x", "secret/key", "x"));
	EXPECT_EQ(EACCES, ask(&self->s, "open", "secret/key", "r"));
	ASSERT_EQ(0, ask(&self->twin, "unlink", "secret/key"));
	ASSERT_EQ(0, ask(&self->twin, "symlink", "../x", "secret/key"));
	EXPECT_EQ(EACCES, ask(&self->s, "lstat", "secret/key"));
	ASSERT_EQ(0, ask(&self->twin, "unlink", "secret/key"));
	ASSERT_EQ(0, ask(&self->twin, "mkdir", "secret/key"));
	EXPECT_EQ(EACCES, ask(&self->s, "list", "secret/key"));
	/* what came out by the host's hand is as any other file there */
	EXPECT_EQ(0, ask(&self->s, "open", "x", "r"));
}

/* FS-13: on a file system that gives a freed number to the next file. */
TEST_F(cases, fs_13_a_freed_inode_number_denies_nobody)
{
	struct world *w = self->w;
	struct policy p = { 0 };
	char cmd[512], deny[128], name[64];
	struct session s;
	struct stat st;
	int reused = 0;
	ino_t was;

	snprintf(cmd, sizeof(cmd), "cd %s && truncate -s 16M img && "
		 "mkfs.ext4 -q img && "
		 "mount -o loop img ws/sub && chown %u:%u ws/sub", w->dir,
		 w->uid, w->gid);
	ASSERT_EQ(0, system(cmd));
	ASSERT_EQ(0, world_file(w, at(w, "ws/sub/sec/key"), "TEXT"));
	ASSERT_EQ(0, stat(at(w, "ws/sub/sec/key"), &st));
	was = st.st_ino;
	snprintf(deny, sizeof(deny), ",\"%s/ws/sub/sec\"", w->dir);
	p.deny = deny;
	ASSERT_EQ(0, policy_write(w, &p));
	ASSERT_EQ(0, session_start(&s, w, "ext4", NULL));
	EXPECT_EQ(EACCES, ask(&s, "open", "sub/sec/key", "r"));
	ASSERT_EQ(0, unlink(at(w, "ws/sub/sec/key")));
	for (int i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "sub/n%d", i);
		EXPECT_EQ(0, ask(&s, "write", name, "ok"));
		EXPECT_EQ(0, ask(&s, "open", name, "r"));
		ASSERT_EQ(0, stat(at(w, "ws/%s", name), &st));
		reused += st.st_ino == was;
	}
	EXPECT_LT(0, reused);
	EXPECT_EQ(0, session_end(&s));
	EXPECT_EQ(0, umount2(at(w, "ws/sub"), MNT_DETACH));
}

/* Where there are no attributes the file system says so, if it is asked. */
static int no_attributes(int err)
{
	return err == EOPNOTSUPP || err == ENODATA ? 0 : err;
}

/* FS-28: times and attributes are written nowhere that content is not. */
TEST_F(cases, fs_28_metadata_is_written_in_the_workspace_alone)
{
	static const char *const how[] = { "futimens", "now", "fsetxattr",
					   "fremovexattr" };
	struct session *s = &self->s;
	char out[128], ro[128];
	struct stat st;

	snprintf(out, sizeof(out), "%s", at(self->w, "outside/file"));
	snprintf(ro, sizeof(ro), "%s", at(self->w, "ro/file"));
	EXPECT_EQ(EACCES, ask(s, "utimes", out));
	EXPECT_TRUE(denied(s, "setattr", out, "default"));
	EXPECT_EQ(EACCES, ask(s, "utimes", ro));
	EXPECT_TRUE(denied(s, "setattr", ro, "read_only_roots/0"));
	EXPECT_EQ(EACCES, ask(s, "utimes", "secret/key"));
	EXPECT_EQ(EACCES, ask(s, "by", "proctimes", out, "p"));
	EXPECT_EQ(EACCES, ask(s, "setxattr", out, "user.x"));
	EXPECT_TRUE(denied(s, "xattr", out, "default"));
	EXPECT_EQ(EACCES, ask(s, "setxattr", ro, "user.x"));
	EXPECT_EQ(EACCES, ask(s, "removexattr", ro, "user.x"));
	for (size_t i = 0; i < ARRAY_SIZE(how); i++) {
		EXPECT_EQ(EACCES, ask(s, "by", how[i], ro)) {
			TH_LOG("%s", how[i]);
		}
		EXPECT_EQ(EACCES, ask(s, "by", how[i], "lib/file"));
		EXPECT_EQ(0, no_attributes(ask(s, "by", how[i], "file")));
	}
	EXPECT_NE(0, ask(s, "by", "setflags", ro));
	EXPECT_NE(0, ask(s, "setxattr", "file", "security.x"));
	ASSERT_EQ(0, stat(out, &st));
	EXPECT_LT(1, st.st_mtim.tv_sec);
	ASSERT_EQ(0, stat(ro, &st));
	EXPECT_LT(1, st.st_mtim.tv_sec);
	EXPECT_EQ(0, ask(s, "utimes", "file"));
	EXPECT_EQ(0, ask(s, "utimes", "sub"));
	EXPECT_EQ(0, no_attributes(ask(s, "setxattr", "file", "user.x")));
	EXPECT_EQ(0, ask(&self->twin, "utimes", out));
}

/* FS-29: nor is it read of what is denied. */
TEST_F(cases, fs_29_metadata_of_what_is_denied_is_not_read)
{
	struct session *s = &self->s;
	const char *out = at(self->w, "outside/l");

	ASSERT_EQ(0, ask(&self->twin, "symlink", "key", "secret/l"));
	ASSERT_EQ(0, symlink("file", out));
	EXPECT_EQ(EACCES, ask(s, "readlink", "secret/l"));
	EXPECT_TRUE(denied(s, "readlink", at(self->w, "ws/secret/l"),
			   "read_deny_roots/0"));
	EXPECT_EQ(EACCES, ask(s, "readlinkat", "secret/l"));
	EXPECT_EQ(EACCES, ask(s, "getxattr", "secret/key", "user.x"));
	EXPECT_TRUE(denied(s, "xattr", at(self->w, "ws/secret/key"),
			   "read_deny_roots/0"));
	EXPECT_EQ(EACCES, ask(s, "listxattr", "secret/key"));
	EXPECT_EQ(EACCES, ask(s, "listxattr", "secret"));
	EXPECT_EQ(EACCES, ask(s, "stat", "secret"));
	EXPECT_EQ(EACCES, ask(s, "lstat", "secret/l"));
	EXPECT_EQ(EACCES, ask(s, "list", "secret"));
	EXPECT_EQ(0, ask(s, "readlink", at(self->w, "outside/l")));
	EXPECT_STREQ("file", s->reply.text);
	EXPECT_EQ(0, no_attributes(ask(s, "getxattr", "file", "user.x")));
	EXPECT_EQ(0, no_attributes(ask(s, "listxattr",
				       at(self->w, "outside/file"))));
	EXPECT_EQ(0, ask(&self->twin, "readlink", "secret/l"));
}

/* FS-29: what no hook sees, and design and manual therefore say. */
TEST_F(cases, fs_29_that_it_is_there_can_be_learnt)
{
	struct session *s = &self->s;

	EXPECT_EQ(0, ask(s, "open", "secret/key", "p"));
	EXPECT_EQ(0, ask(s, "access", "secret/key"));
	EXPECT_EQ(0, ask(s, "statfs", "secret/key"));
	EXPECT_EQ(EEXIST, ask(s, "mkdir", "secret/key"));
	EXPECT_EQ(ENOENT, ask(s, "open", "secret/nothing", "r"));
	EXPECT_TRUE(quiet(s));
	EXPECT_EQ(EACCES, ask(s, "reopen", "secret/key", "r"));
	EXPECT_EQ(EACCES, ask(s, "fstat", "secret/key"));
}

/* FS-44: components, not the beginning of a string. */
TEST_F(cases, fs_44_a_sibling_with_a_longer_name_gains_and_loses_nothing)
{
	struct session *s = &self->s;

	EXPECT_EQ(0, ask(s, "open", "secret2/a", "+"));
	EXPECT_EQ(0, ask(s, "mkdir", "secre"));
	EXPECT_EQ(0, ask(s, "mkdir", "lib2"));
	EXPECT_EQ(0, ask(s, "write", "lib2/n", "x"));
	EXPECT_EQ(EACCES, ask(s, "open", at(self->w, "ro-evil/b"), "r"));
	EXPECT_TRUE(denied(s, "open", NULL, "default"));
	EXPECT_EQ(0, ask(s, "open", at(self->w, "ro/file"), "r"));
	EXPECT_EQ(EACCES, ask(s, "write", at(self->w, "ws2"), "x"));
}

/* FS-45: a deny wins in each nesting. */
TEST_F(cases, fs_45_a_deny_beats_what_lies_around_it_and_in_it)
{
	struct session *s = &self->s;

	EXPECT_EQ(EACCES, ask(s, "open", "lib/in/k", "r"));
	EXPECT_TRUE(denied(s, "open", at(self->w, "ws/lib/in/k"),
			   "read_deny_roots/2"));
	EXPECT_EQ(EACCES, ask(s, "open", "lib/in/k", "w"));
	EXPECT_EQ(0, ask(s, "open", "lib/file", "r"));
	EXPECT_EQ(EACCES, ask(s, "open", "lib/file", "w"));
	EXPECT_TRUE(denied(s, "open", at(self->w, "ws/lib/file"),
			   "read_only_roots/1"));
	EXPECT_EQ(EACCES, ask(s, "open", "r/w/k", "r"));
	EXPECT_EQ(EACCES, ask(s, "write", "r/w/n", "x"));
	EXPECT_EQ(0, ask(&self->twin, "open", "lib/in/k", "r"));
}

/* FS-46: loudly, and nothing vanishes into a layer of the supervisor's. */
TEST_F(cases, fs_46_a_write_into_a_denied_root_fails_and_leaves_nothing)
{
	struct session *s = &self->s;

	EXPECT_EQ(EACCES, ask(s, "write", "secret/new", "x"));
	EXPECT_TRUE(denied(s, "create", at(self->w, "ws/secret/new"),
			   "read_deny_roots/0"));
	EXPECT_EQ(EACCES, ask(s, "write", "secret/key", "x"));
	EXPECT_EQ(EACCES, ask(s, "mkdir", "secret/new"));
	EXPECT_FALSE(exists(at(self->w, "ws/secret/new")));
	EXPECT_TRUE(holds(at(self->w, "ws/secret/key"), "TEXT"));
	EXPECT_EQ(0, ask(s, "write", "sub/new", "x"));
	EXPECT_TRUE(holds(at(self->w, "ws/sub/new"), "x"));
}

/* FS-47, from inside: both names are flipped by the session itself. */
TEST_F(cases, fs_47_a_flip_by_the_session_leaks_nothing)
{
	struct session *s = &self->s;
	int leaks = 0;

	ASSERT_EQ(0, ask(&self->twin, "write", "secret/key", "SECRET"));
	EXPECT_EQ(0, ask(s, "symlink", "file", "flip"));
	EXPECT_EQ(0, ask(s, "flips", "secret/key", "file", "flip"));
	for (int i = 0; i < 500; i++)
		if (!ask(s, "open", "flip", "r"))
			leaks += !strcmp(s->reply.text, "SECRET");
	EXPECT_EQ(0, leaks);
	EXPECT_EQ(0, ask(s, "open", "file", "r"));
}

TEST_HARNESS_MAIN
