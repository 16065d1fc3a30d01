// SPDX-License-Identifier: GPL-2.0-only
/*
 * Every operation against every kind of place: see places.h. FS-26, FS-27,
 * FS-28, FS-29, FS-31, FS-32, FS-40 are rows here; their kin in ways_test.c.
 */
#define _GNU_SOURCE
#include <fcntl.h>

#include "kselftest_harness.h"
#include "places.h"
#include "twins.h"

static const struct act acts[] = {
	{ "open", "P/f", "r", NULL, READ, "open" },
	{ "openat2", "P/f", "r", "0", READ, "open" },
	{ "openat2", "P/f", "r", "8", READ, NULL },	/* BENEATH: EXDEV */
	{ "reopen", "P/f", "r", NULL, READ, "open" },
	{ "openat", "P", "f", "r", READ, "open" },
	{ "fchdir", "P", "f", "r", READ, "open" },
	{ "open", "P", "rd", NULL, READ, "open" },
	{ "list", "P", NULL, NULL, READ, "open" },
	{ "mmap", "P/f", "r", NULL, READ, "open" },
	{ "copy", "P/f", "W/copied", NULL, READ, "open" },
	{ "stat", "P/f", NULL, NULL, LOOK, "stat" },
	{ "lstat", "P/l", NULL, NULL, LOOK, "stat" },
	{ "fstat", "P/f", NULL, NULL, LOOK, "stat" },
	{ "exec", "P/tool", "pid", NULL, RUN, "exec" },
	{ "open", "P/f", "w", NULL, CHANGE, "open" },
	{ "open", "P/f", "+", NULL, CHANGE, "open" },
	{ "open", "P/f", "wa", NULL, CHANGE, "open" },
	{ "open", "P/f", "rt", NULL, CHANGE, "open" },	/* empties it */
	{ "inotify", "P", NULL, NULL, READ, "watch" },
	{ "mmap", "P/f", "w", NULL, CHANGE, "open" },
	{ "ftruncate", "P/f", NULL, NULL, CHANGE, "open" },
	{ "truncate", "P/f", NULL, NULL, CHANGE, "truncate" },
	{ "chmod", "P/f", "600", NULL, CHANGE, "chmod" },
	{ "chmod", "P/d", "700", NULL, CHANGE, "chmod" },
	{ "chown", "P/f", NULL, NULL, CHANGE, "chown" },
	{ "open", "P/n1", "wc", NULL, CHANGE, "create" },
	{ "open", "P/n2", "wcx", NULL, CHANGE, "create" },
	{ "write", "P/n3", "x", NULL, CHANGE, "create" },
	{ "copy", "W/file", "P/n4", NULL, CHANGE, "create" },
	{ "mkdir", "P/n5", NULL, NULL, CHANGE, "mkdir" },
	{ "mknod", "P/n6", "f", NULL, CHANGE, "mknod" },
	{ "mknod", "P/n7", "s", NULL, CHANGE, "bind" },
	{ "mknod", "P/n8", "r", NULL, CHANGE, "create" },
	{ "symlink", "f", "P/n9", NULL, CHANGE, "symlink" },
	{ "tmpfile", "P", NULL, NULL, CHANGE, "open" },
	{ "link", "W/file", "P/n10", NULL, CHANGE, "link" },
	{ "rename", "W/x1", "P/n11", NULL, CHANGE, "rename" },
	{ "rename", "W/x2", "P/f", NULL, CHANGE, "rename" },
	{ "rename", "W/x3", "P/f", "x", CHANGE, "rename" },
	{ "rename", "W/x4d", "P/n12", NULL, CHANGE, "rename" },
	{ "unixfile", "P/n13", NULL, NULL, CHANGE, "bind" },
	{ "link", "P/f", "W/n14", NULL, CHANGE_OUT, "link" },
	{ "linkfd", "P/f", "W/n15", NULL, CHANGE_OUT, "link" },
	{ "rename", "P/f2", "W/n16", NULL, CHANGE_OUT, "rename" },
	{ "rename", "P/d", "W/n17", NULL, CHANGE_OUT, "rename" },
	{ "rename", "P/d2", "W/file", "x", CHANGE_OUT, "rename" },
	{ "unlink", "P/f3", NULL, NULL, CHANGE, "unlink" },
	{ "unlink", "P/l", NULL, NULL, CHANGE, "unlink" },
	{ "rmdir", "P/d3", NULL, NULL, CHANGE, "rmdir" },
};

TWINS(fs);

#define try_all(metadata, s, twin, place, grants)			\
	try_acts(metadata, s, twin, place, grants, acts, ARRAY_SIZE(acts))

TEST_F(fs, a_workspace_is_read_written_and_run)
{
	try_all(_metadata, &self->s, &self->twin, "ws/sub", ALL);
	EXPECT_TRUE(quiet(&self->s));
}

TEST_F(fs, a_read_only_root_is_read_and_never_written)
{
	try_all(_metadata, &self->s, &self->twin, "ro/sub",
		GRANTS(READ) | GRANTS(LOOK) | GRANTS(RUN));
}

TEST_F(fs, a_read_only_root_inside_a_workspace_is_never_written)
{
	try_all(_metadata, &self->s, &self->twin, "ws/lib/sub",
		GRANTS(READ) | GRANTS(LOOK) | GRANTS(RUN));
}

/* A memory file may be opened again; of others the kernel says what it says. */
TEST_F(fs, what_has_no_place_in_the_tree_is_the_sessions_own)
{
	static const char *const kinds[] = {
		"memfd", "pipe", "tmpfile", "stdio", "huge", "pidfd",
		"eventfd",
	};

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		int err = ask(&self->twin, "again", kinds[i]);

		EXPECT_EQ(err, ask(&self->s, "again", kinds[i])) {
			TH_LOG("%s: %d", kinds[i], self->s.reply.err);
		}
		if (i < 5)	/* a pidfd can be opened since 6.14 */
			EXPECT_EQ(0, err);
	}
	EXPECT_TRUE(quiet(&self->s));
}

TEST_F(fs, what_no_root_names_is_only_looked_at)
{
	try_all(_metadata, &self->s, &self->twin, "outside/sub",
		GRANTS(LOOK));
}

TEST_F(fs, a_denied_directory_inside_a_workspace_shows_nothing)
{
	try_all(_metadata, &self->s, &self->twin, "ws/secret", 0);
}

TEST_F(fs, a_place_below_a_denied_directory_shows_nothing)
{
	try_all(_metadata, &self->s, &self->twin, "ws/secret/deep", 0);
}

/* The deny names it; nothing is there when the session starts. */
TEST_F(fs, a_directory_that_the_host_makes_later_is_denied)
{
	ASSERT_EQ(0, world_dir(self->w, at(self->w, "ws/late/secret/sub")));
	try_all(_metadata, &self->s, &self->twin, "ws/late/secret/sub", 0);
}

TEST_F(fs, a_credential_that_the_host_makes_later_is_denied)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/.aws/credentials",
		 !strcmp(self->w->user, "root") ? getenv("HOME") ? getenv("HOME")
		 : "/root" : "/tmp/home-" TEST_USER);
	if (self->w->uid == 0) {
		/* root's home is read-only here: its list is checked by stat */
		EXPECT_EQ(EACCES, ask(&self->s, "open", "/etc/shadow", "r"));
		EXPECT_TRUE(denied(&self->s, "open", "/etc/shadow",
				   "builtin:credentials"));
		return;
	}
	EXPECT_EQ(ENOENT, ask(&self->s, "open", path, "r"));
	ASSERT_EQ(0, mkdir("/tmp/home-" TEST_USER "/.aws", 0755));
	ASSERT_EQ(0, system("echo KEY >/tmp/home-" TEST_USER
			    "/.aws/credentials"));
	EXPECT_EQ(EACCES, ask(&self->s, "open", path, "r"));
	EXPECT_TRUE(denied(&self->s, "open", path,
			   "builtin:credentials/.aws"));
	EXPECT_EQ(0, ask(&self->twin, "open", path, "r"));
	ASSERT_EQ(0, system("rm -r /tmp/home-" TEST_USER "/.aws"));
}

TEST_HARNESS_MAIN
