// SPDX-License-Identifier: GPL-2.0-only
/*
 * What may be done with a thing depends on where it is: no session carries it,
 * or names it again, where more may be done. And what may not be more than it
 * was, may be moved as it likes.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "kselftest_harness.h"
#include "session.h"

FIXTURE(carry) {
	struct world *w;
	struct session s;
	char temp[256], temp_dir[512];
};

FIXTURE_VARIANT(carry) {
	const char *user;
};

FIXTURE_VARIANT_ADD(carry, user) {
	.user = TEST_USER,
};

FIXTURE_VARIANT_ADD(carry, root) {
	.user = "root",
};

FIXTURE_SETUP(carry)
{
	self->w = world_make(variant->user);
	ASSERT_NE(NULL, self->w);
}

FIXTURE_TEARDOWN(carry)
{
	EXPECT_EQ(0, session_end(&self->s));
	umount2(at(self->w, "ws/new/.git"), MNT_DETACH);
	world_remove(self->w);
}

/* A session whose only capabilities in the workspace are these. */
static int start(FIXTURE_DATA(carry) *self, const char *capabilities)
{
	struct policy p = { 0 };
	char more[128];

	snprintf(more, sizeof(more), ",\"capabilities\":{\"workspace\":[%s],"
		 "\"process\":[\"exec\"]}", capabilities);
	p.more = more;
	if (policy_write(self->w, &p) ||
	    session_start(&self->s, self->w, "s", NULL) ||
	    ask(&self->s, "getenv", "TMPDIR"))
		return -1;
	snprintf(self->temp, sizeof(self->temp), "%s", self->s.reply.text);
	return 0;
}

static const char *temp(FIXTURE_DATA(carry) *self, const char *name)
{
	snprintf(self->temp_dir, sizeof(self->temp_dir), "%s/%s", self->temp,
		 name);
	return self->temp_dir;
}

#define REFUSED(op_, path_, why_, ...) do {				\
	struct denial d;						\
									\
	EXPECT_EQ(EACCES, ask(&self->s, __VA_ARGS__));			\
	ASSERT_EQ(0, denial_next(&self->s, &d));			\
	EXPECT_STREQ(op_, d.operation);					\
	EXPECT_STREQ(path_, d.path);					\
	EXPECT_STREQ(why_, d.reason);					\
} while (0)

/* What is only written may have a second name, where it is only written. */
TEST_F(carry, without_reading_links_are_made_and_nothing_is_read)
{
	ASSERT_EQ(0, start(self, "\"write_text\",\"delete\""));
	REFUSED("open", at(self->w, "ws/file"), "not_granted", "open", "file",
		"r");
	EXPECT_EQ(0, ask(&self->s, "link", "file", "again"));
	EXPECT_EQ(0, ask(&self->s, "rename", "again", "sub/again"));
	REFUSED("open", at(self->w, "ws/sub/again"), "not_granted", "open",
		"sub/again", "r");
	/* The session reads its own directory: so there it does not go. */
	REFUSED("link", at(self->w, "ws/file"), "not_granted", "link", "file",
		temp(self, "mine"));
	REFUSED("rename", at(self->w, "ws/file"), "not_granted", "rename",
		"file", temp(self, "mine"));
	REFUSED("rename", at(self->w, "ws/sub"), "not_granted", "rename", "sub",
		temp(self, "mine"));
	EXPECT_TRUE(holds(at(self->w, "ws/file"), "TEXT"));
	/* An exchange goes both ways. */
	EXPECT_EQ(0, ask(&self->s, "write", temp(self, "own"), "x"));
	REFUSED("rename", at(self->w, "ws/file"), "not_granted", "rename",
		"file", temp(self, "own"), "x");
	REFUSED("rename", at(self->w, "ws/file"), "not_granted", "rename",
		temp(self, "own"), "file", "x");
	/* What is its own goes out, as it would by writing. */
	EXPECT_EQ(0, ask(&self->s, "rename", temp(self, "own"), "sub/own"));
	EXPECT_TRUE(quiet(&self->s));
}

TEST_F(carry, with_reading_all_that_may_be_written_may_be_carried)
{
	ASSERT_EQ(0, start(self, "\"read_text\",\"write_text\",\"delete\""));
	EXPECT_EQ(0, ask(&self->s, "link", "file", temp(self, "mine")));
	EXPECT_EQ(0, ask(&self->s, "rename", "file", temp(self, "there")));
	EXPECT_EQ(0, ask(&self->s, "rename", temp(self, "there"), "file"));
	EXPECT_EQ(0, ask(&self->s, "rename", temp(self, "mine"), "sub/mine"));
	EXPECT_TRUE(quiet(&self->s));
}

/* A read-only root holds by its name, which is no grant of its own. */
TEST_F(carry, a_read_only_name_is_not_read_where_nothing_is)
{
	struct policy p = {
		.more = ",\"capabilities\":{\"workspace\":[\"write_text\"],"
			"\"process\":[]}",
	};

	ASSERT_EQ(0, rename(at(self->w, "ws/lib"), at(self->w, "ws/away")));
	ASSERT_EQ(0, policy_write(self->w, &p));
	ASSERT_EQ(0, session_start(&self->s, self->w, "s", NULL));
	ASSERT_EQ(0, rename(at(self->w, "ws/away"), at(self->w, "ws/lib")));
	REFUSED("open", at(self->w, "ws/lib/file"), "not_granted", "open",
		"lib/file", "r");
	REFUSED("open", at(self->w, "ws/lib/file"), "read_only", "open",
		"lib/file", "w");
}

/* What is mounted over .git is .git all the same. */
TEST_F(carry, a_mount_is_named_by_what_it_covers)
{
	ASSERT_EQ(0, start(self, "\"read_text\",\"write_text\",\"delete\""));
	ASSERT_EQ(0, world_dir(self->w, at(self->w, "ws/new/.git")));
	ASSERT_EQ(0, mount("none", at(self->w, "ws/new/.git"), "tmpfs", 0,
			   NULL));
	ASSERT_EQ(0, chown(at(self->w, "ws/new/.git"), self->w->uid,
			   self->w->gid));
	REFUSED("mkdir", at(self->w, "ws/new/.git/hooks"), "protected",
		"mkdir", "new/.git/hooks");
	EXPECT_EQ(0, ask(&self->s, "mkdir", "new/.git/hook"));
	REFUSED("rename", at(self->w, "ws/new/.git/hooks"), "protected",
		"rename", "new/.git/hook", "new/.git/hooks");
	EXPECT_EQ(0, ask(&self->s, "mkdir", "new/.git/hook/hooks"));
	EXPECT_TRUE(quiet(&self->s));
}

TEST_HARNESS_MAIN
