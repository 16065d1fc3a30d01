// SPDX-License-Identifier: GPL-2.0-only
/*
 * From paths to tables, on real trees: grants, denies, links, names that do
 * not exist, and what must stay in place.
 */
#define _GNU_SOURCE
#include "world.h"

FIXTURE(resolve) {
	struct world w;
};

FIXTURE_SETUP(resolve)
{
	ASSERT_EQ(0, world_begin(&self->w));
}

FIXTURE_TEARDOWN(resolve)
{
	EXPECT_EQ(0, world_end(&self->w));
}

TEST_F(resolve, grants_read_and_write_and_nothing_else)
{
	struct world *w = &self->w;

	file(w, "ro/f", "x");
	file(w, "ws/sub/f", "x");
	file(w, "other/f", "x");
	root(w, "ro", R);
	root(w, "ws", RW);
	ASSERT_EQ(0, resolve(w)) TH_LOG("%s", w->e.msg);
	EXPECT_EQ(0, well_formed(w));
	EXPECT_EQ(LH_WHY_ALLOW, why(w, "ro/f", LH_READ | LH_EXEC));
	EXPECT_EQ(LH_WHY_NOT_GRANTED, why(w, "ro/f", LH_WRITE));
	EXPECT_EQ(LH_WHY_ALLOW, why(w, "ws/sub/f", LH_READ | LH_WRITE));
	EXPECT_EQ(LH_WHY_ALLOW, why(w, "ws/sub", LH_REMOVE | LH_MOVE));
	EXPECT_EQ(LH_WHY_ALLOW, why(w, "ws/new/deep/file", LH_WRITE));
	EXPECT_EQ(LH_WHY_NOT_GRANTED, why(w, "other/f", LH_READ));
	EXPECT_EQ(LH_WHY_NOT_GRANTED, why(w, "new", LH_WRITE));
	EXPECT_STREQ("rule:ro", rule_of(w, "ro/f", LH_READ));
	ASSERT_EQ(1, w->t.writable_count);
	EXPECT_STREQ(at(w, "ws"), w->t.writable[0]);
}

TEST_F(resolve, a_missing_grant_is_an_error_that_names_path_and_rule)
{
	struct world *w = &self->w;

	root(w, "ws", RW);
	root(w, "nowhere", R);
	EXPECT_EQ(-ENOENT, resolve(w));
	EXPECT_NE(NULL, strstr(w->e.msg, at(w, "nowhere")));
	EXPECT_NE(NULL, strstr(w->e.msg, "rule:nowhere"));
	EXPECT_NE(NULL, strstr(w->e.msg, "\"?"));
}

TEST_F(resolve, unless_it_is_optional)
{
	struct world *w = &self->w;

	root(w, "ws", RW);
	root(w, "nowhere", R | OPTIONAL);
	sym(w, "gone", "dangling");
	root(w, "dangling", R | OPTIONAL);
	ASSERT_EQ(0, resolve(w)) TH_LOG("%s", w->e.msg);
	EXPECT_EQ(1, w->t.count);
}

TEST_F(resolve, a_missing_deny_holds_by_name)
{
	struct world *w = &self->w;

	root(w, "ws", RW);
	root(w, "ws/a/b/c/secret", DENY);
	ASSERT_EQ(0, resolve(w)) TH_LOG("%s", w->e.msg);
	EXPECT_EQ(0, well_formed(w));
	EXPECT_EQ(4, names(w));
	EXPECT_EQ(LH_WHY_DENIED, why(w, "ws/a/b/c/secret", LH_WRITE));
	EXPECT_EQ(LH_WHY_ALLOW, why(w, "ws/a/b/c", LH_WRITE));
	EXPECT_EQ(LH_WHY_PINNED, why(w, "ws/a/b/c", LH_BECOME));
	EXPECT_EQ(LH_WHY_PINNED, why(w, "ws/a", LH_MOVE));
	EXPECT_EQ(LH_WHY_ALLOW, why(w, "ws/b", LH_BECOME));
	/* Somebody makes it. */
	file(w, "ws/a/b/c/secret/key", "x");
	EXPECT_EQ(LH_WHY_DENIED, why(w, "ws/a/b/c/secret/key", LH_READ));
	EXPECT_EQ(LH_WHY_ALLOW, why(w, "ws/a/b/c/public", LH_WRITE));
	EXPECT_STREQ("rule:ws/a/b/c/secret",
		     rule_of(w, "ws/a/b/c/secret", LH_STAT));
}

TEST_F(resolve, up_to_eight_missing_components)
{
	struct world *w = &self->w;

	root(w, "ws", RW);
	root(w, "ws/1/2/3/4/5/6/7/8", DENY);
	ASSERT_EQ(0, resolve(w)) TH_LOG("%s", w->e.msg);
	EXPECT_EQ(LH_WHY_DENIED, why(w, "ws/1/2/3/4/5/6/7/8", LH_WRITE));
	EXPECT_EQ(LH_WHY_ALLOW, why(w, "ws/1/2/3/4/5/6/7", LH_WRITE));
	root(w, "ws/1/2/3/4/5/6/7/8/9", DENY);
	EXPECT_EQ(-ENAMETOOLONG, resolve(w));
	EXPECT_NE(NULL, strstr(w->e.msg, "rule:ws/1"));
}

TEST_F(resolve, a_deny_holds_when_it_is_made_again)
{
	struct world *w = &self->w;

	root(w, "ws", RW);
	root(w, "ws/secret", DENY);
	file(w, "ws/secret", "x");
	ASSERT_EQ(0, resolve(w)) TH_LOG("%s", w->e.msg);
	EXPECT_EQ(LH_WHY_DENIED, why(w, "ws/secret", LH_READ));
	/* The inode is denied wherever it goes … */
	ASSERT_EQ(0, rename(at(w, "ws/secret"), at(w, "ws/moved")));
	EXPECT_EQ(LH_WHY_DENIED, why(w, "ws/moved", LH_READ));
	/* … and the name whatever stands there. */
	file(w, "ws/secret", "y");
	EXPECT_EQ(LH_WHY_DENIED, why(w, "ws/secret", LH_READ));
	EXPECT_EQ(LH_WHY_ALLOW, why(w, "ws/secret2", LH_WRITE));
}

TEST_F(resolve, a_deny_beats_grants_at_any_depth)
{
	struct world *w = &self->w;

	dir(w, "ws/d/inner");
	root(w, "ws", RW);
	root(w, "ws/d", DENY);
	root(w, "ws/d/inner", RW);
	ASSERT_EQ(0, resolve(w)) TH_LOG("%s", w->e.msg);
	EXPECT_EQ(LH_WHY_DENIED, why(w, "ws/d/inner/f", LH_WRITE));
	EXPECT_EQ(LH_WHY_DENIED, why(w, "ws/d/inner", LH_STAT));
	EXPECT_EQ(LH_WHY_ALLOW, why(w, "ws/f", LH_WRITE));
}

TEST_F(resolve, a_deny_holds_for_the_link_and_its_target)
{
	struct world *w = &self->w;

	file(w, "ws/store/key", "x");
	sym(w, "store", "ws/secrets");
	root(w, "ws", RW);
	root(w, "ws/secrets/key", DENY);
	ASSERT_EQ(0, resolve(w)) TH_LOG("%s", w->e.msg);
	EXPECT_EQ(0, well_formed(w));
	EXPECT_EQ(LH_WHY_DENIED, why(w, "ws/secrets/key", LH_READ));
	EXPECT_EQ(LH_WHY_DENIED, why(w, "ws/store/key", LH_READ));
	/* The link stays; and if the host replaces it, the name holds. */
	EXPECT_EQ(LH_WHY_PINNED, why(w, "ws/secrets", LH_REMOVE));
	ASSERT_EQ(0, unlink(at(w, "ws/secrets")));
	file(w, "ws/secrets/key", "y");
	EXPECT_EQ(LH_WHY_DENIED, why(w, "ws/secrets/key", LH_READ));
	EXPECT_EQ(LH_WHY_ALLOW, why(w, "ws/secrets/other", LH_WRITE));
}

TEST_F(resolve, a_link_as_the_last_component)
{
	struct world *w = &self->w;

	file(w, "far/key", "x");
	sym(w, "../far/key", "ws/key");
	sym(w, "../far/gone", "ws/gone");
	root(w, "ws", RW);
	root(w, "far", R);
	root(w, "ws/key", DENY);
	root(w, "ws/gone", DENY);
	ASSERT_EQ(0, resolve(w)) TH_LOG("%s", w->e.msg);
	EXPECT_EQ(LH_WHY_DENIED, why(w, "far/key", LH_READ));
	EXPECT_EQ(LH_WHY_DENIED, why(w, "far/gone", LH_READ));
	/* The links themselves, by their names. */
	EXPECT_EQ(LH_WHY_DENIED, why(w, "ws/key", LH_REMOVE));
	EXPECT_EQ(LH_WHY_DENIED, why(w, "ws/gone", LH_REMOVE));
}

TEST_F(resolve, links_that_lead_upwards_or_round)
{
	struct world *w = &self->w;

	file(w, "ws/a/b/key", "x");
	sym(w, "b/../b", "ws/a/l");
	sym(w, "loop2", "ws/loop1");
	sym(w, "loop1", "ws/loop2");
	sym(w, "round/x/../../..", "ws/round");
	file(w, "ws/c/f", "x");
	sym(w, "none/../..", "ws/c/d/up");
	file(w, "ws/plain", "x");
	root(w, "ws", RW);
	root(w, "ws/a/l/key", DENY);
	root(w, "ws/loop1/x", DENY);
	root(w, "ws/round", DENY);
	root(w, "ws/c/d/up", DENY);
	root(w, "ws/plain/under", DENY);
	ASSERT_EQ(0, resolve(w)) TH_LOG("%s", w->e.msg);
	EXPECT_EQ(0, well_formed(w));
	EXPECT_EQ(LH_WHY_DENIED, why(w, "ws/a/b/key", LH_READ));
	EXPECT_EQ(LH_WHY_DENIED, why(w, "ws/round", LH_STAT));
	EXPECT_EQ(LH_WHY_DENIED, why(w, "ws/c/f", LH_READ));
	EXPECT_EQ(LH_WHY_ALLOW, why(w, "ws", LH_WRITE));
	ASSERT_EQ(0, unlink(at(w, "ws/loop1")));
	EXPECT_EQ(LH_WHY_DENIED, why(w, "ws/loop1/x", LH_WRITE));
	/* A file now, a directory later. */
	EXPECT_EQ(LH_WHY_ALLOW, why(w, "ws/plain", LH_WRITE));
	ASSERT_EQ(0, unlink(at(w, "ws/plain")));
	EXPECT_EQ(LH_WHY_DENIED, why(w, "ws/plain/under", LH_WRITE));
}

TEST_F(resolve, a_linked_grant_grants_its_target)
{
	struct world *w = &self->w;

	file(w, "real/f", "x");
	sym(w, "real", "link");
	root(w, "link", RW);
	ASSERT_EQ(0, resolve(w)) TH_LOG("%s", w->e.msg);
	EXPECT_EQ(LH_WHY_ALLOW, why(w, "real/f", LH_WRITE));
	EXPECT_EQ(LH_WHY_ALLOW, why(w, "link/f", LH_WRITE));
	EXPECT_STREQ(at(w, "real"), w->t.writable[0]);
}

TEST_F(resolve, a_grant_that_goes_round_is_an_error)
{
	struct world *w = &self->w;

	sym(w, "loop", "loop");
	root(w, "loop", R);
	EXPECT_EQ(-ELOOP, resolve(w));
	EXPECT_NE(NULL, strstr(w->e.msg, "rule:loop"));
}

TEST_F(resolve, deepest_of_write_and_read_only_wins)
{
	struct world *w = &self->w;

	dir(w, "ws/vendor/gen");
	root(w, "ws", RW);
	root(w, "ws/vendor", RDONLY);
	root(w, "ws/vendor/gen", RW);
	root(w, "ws/later", RDONLY);
	ASSERT_EQ(0, resolve(w)) TH_LOG("%s", w->e.msg);
	EXPECT_EQ(LH_WHY_READ_ONLY, why(w, "ws/vendor/f", LH_WRITE));
	EXPECT_EQ(LH_WHY_ALLOW, why(w, "ws/vendor/f", LH_READ));
	EXPECT_EQ(LH_WHY_ALLOW, why(w, "ws/vendor/gen/f", LH_WRITE));
	EXPECT_EQ(LH_WHY_READ_ONLY, why(w, "ws/later", LH_WRITE));
	EXPECT_EQ(LH_WHY_READ_ONLY, why(w, "ws/later/f", LH_WRITE));
	/* Neither way round it: nothing on the way moves. */
	EXPECT_EQ(LH_WHY_PINNED, why(w, "ws/vendor", LH_MOVE));
	EXPECT_EQ(LH_WHY_PINNED, why(w, "ws/vendor/gen", LH_MOVE));
	/* Replaced by the host, the name still holds. */
	ASSERT_EQ(0, rename(at(w, "ws/vendor"), at(w, "old")));
	dir(w, "ws/vendor");
	EXPECT_EQ(LH_WHY_READ_ONLY, why(w, "ws/vendor/f", LH_WRITE));
}

TEST_F(resolve, a_read_only_root_is_missing_only_where_it_could_be_made)
{
	struct world *w = &self->w;

	dir(w, "ws");
	root(w, "ws", RW);
	root(w, "ws/later", RDONLY);
	root(w, "beside/maybe", RDONLY | OPTIONAL);
	EXPECT_EQ(0, resolve(w)) TH_LOG("%s", w->e.msg);
	table_free(&w->t);
	root(w, "beside/never", RDONLY);
	EXPECT_EQ(-ENOENT, resolve(w));
	EXPECT_NE(NULL, strstr(w->e.msg, "beside/never: no such file"));
}

/* A grant through a link in a writable place; and the same from beside it. */
static int through(struct world *w, const char *link, const char *target,
		   uint32_t flags)
{
	dir(w, "ws/sub");
	dir(w, "notes");
	sym(w, target, link);
	root(w, "ws", RW);
	root(w, link, flags);
	return resolve(w);
}

TEST_F(resolve, a_link_of_a_session_reads_nothing_more)
{
	EXPECT_EQ(-ELOOP, through(&self->w, "ws/data", "../notes", R));
	EXPECT_NE(NULL, strstr(self->w.e.msg, "a session may have made"));
}

TEST_F(resolve, a_link_of_a_session_is_not_made_readable_by_read_only)
{
	EXPECT_EQ(-ELOOP, through(&self->w, "ws/vendor", "..", RDONLY));
}

TEST_F(resolve, a_link_of_a_session_writes_nothing_more)
{
	EXPECT_EQ(-ELOOP, through(&self->w, "ws/out", "../notes",
				  RW | OPTIONAL));
}

TEST_F(resolve, a_link_of_a_session_leads_to_what_it_has)
{
	struct world *w = &self->w;

	ASSERT_EQ(0, through(w, "ws/out", "sub", RW)) TH_LOG("%s", w->e.msg);
	EXPECT_EQ(LH_WHY_ALLOW, why(w, "ws/sub/f", LH_WRITE));
}

TEST_F(resolve, a_link_out_of_reach_of_sessions_is_followed)
{
	struct world *w = &self->w;

	ASSERT_EQ(0, through(w, "beside/data", "../notes", R)) {
		TH_LOG("%s", w->e.msg);
	}
	EXPECT_EQ(LH_WHY_ALLOW, why(w, "notes/f", LH_READ));
}

TEST_F(resolve, no_link_makes_all_writable_or_denied)
{
	struct world *w = &self->w;

	sym(w, "/", "top");
	root(w, "top", DENY);
	EXPECT_EQ(-EINVAL, resolve(w));
	EXPECT_NE(NULL, strstr(w->e.msg, "leads to /"));
}

TEST_F(resolve, roots_that_meet_on_one_inode_are_one_item)
{
	struct world *w = &self->w;

	sym(w, "ws", "alias");
	root(w, "ws", RW);
	root(w, "alias", RDONLY);
	ASSERT_EQ(0, resolve(w)) TH_LOG("%s", w->e.msg);
	EXPECT_EQ(0, well_formed(w));
	/* Both: read only, and not a writable root. */
	EXPECT_EQ(LH_WHY_READ_ONLY, why(w, "ws/f", LH_WRITE));
	EXPECT_EQ(0, w->t.writable_count);
	EXPECT_STREQ("rule:alias", rule_of(w, "ws/f", LH_WRITE));
}

TEST_F(resolve, a_hard_link_is_the_same_inode)
{
	struct world *w = &self->w;

	file(w, "ws/a", "x");
	ASSERT_EQ(0, link(at(w, "ws/a"), at(w, "ws/b")));
	root(w, "ws", RW);
	root(w, "ws/a", DENY);
	root(w, "ws/b", R);
	ASSERT_EQ(0, resolve(w)) TH_LOG("%s", w->e.msg);
	EXPECT_EQ(0, well_formed(w));
	EXPECT_EQ(LH_WHY_DENIED, why(w, "ws/b", LH_READ));
}

TEST_F(resolve, what_lies_above_a_root_stays_in_place)
{
	struct world *w = &self->w;

	dir(w, "ws/a/b/c");
	dir(w, "ws/free");
	root(w, "ws", RW);
	root(w, "ws/a/b/c", R);
	root(w, "ws/x/y", DENY);
	ASSERT_EQ(0, resolve(w)) TH_LOG("%s", w->e.msg);
	EXPECT_TRUE(pinned(w, "ws"));
	EXPECT_TRUE(pinned(w, "ws/a"));
	EXPECT_TRUE(pinned(w, "ws/a/b"));
	EXPECT_TRUE(pinned(w, "ws/a/b/c"));
	EXPECT_FALSE(pinned(w, "ws/free"));
	EXPECT_FALSE(pinned(w, ""));
	EXPECT_EQ(LH_WHY_PINNED, why(w, "ws", LH_REMOVE));
	EXPECT_EQ(LH_WHY_PINNED, why(w, "ws/a/b", LH_MOVE));
	EXPECT_STREQ("rule:ws/a/b/c", rule_of(w, "ws/a/b", LH_MOVE));
	EXPECT_EQ(LH_WHY_ALLOW, why(w, "ws/free", LH_MOVE));
}

TEST_F(resolve, outside_a_writable_area_nothing_is_pinned)
{
	struct world *w = &self->w;

	dir(w, "a/b");
	root(w, "a/b", R);
	root(w, "a/secret", DENY);
	ASSERT_EQ(0, resolve(w)) TH_LOG("%s", w->e.msg);
	EXPECT_FALSE(pinned(w, "a/b"));
	EXPECT_FALSE(pinned(w, "a"));
}

TEST_F(resolve, nested_writable_roots_pin_to_the_top_one)
{
	struct world *w = &self->w;

	dir(w, "ws/p/inner/q/r");
	root(w, "ws", RW);
	root(w, "ws/p/inner", RW);
	root(w, "ws/p/inner/q/r", RDONLY);
	ASSERT_EQ(0, resolve(w)) TH_LOG("%s", w->e.msg);
	EXPECT_TRUE(pinned(w, "ws/p/inner/q"));
	EXPECT_TRUE(pinned(w, "ws/p/inner"));
	EXPECT_TRUE(pinned(w, "ws/p"));
	EXPECT_TRUE(pinned(w, "ws"));
}

TEST_F(resolve, any_kind_of_file_may_be_a_root_and_none_blocks)
{
	struct world *w = &self->w;

	ASSERT_EQ(0, mkfifo(at(w, "fifo"), 0600));
	file(w, "plain", "x");
	root(w, "fifo", RW);
	root(w, "plain", R | IMAGE_ROOT_SELF);
	root(w, "/dev/null", LH_ROOT_READ | LH_ROOT_WRITE | IMAGE_ROOT_SELF);
	w->o.command = at(w, "fifo");
	alarm(5);
	ASSERT_EQ(0, resolve(w)) TH_LOG("%s", w->e.msg);
	alarm(0);
	EXPECT_EQ(LH_WHY_ALLOW, why(w, "fifo", LH_READ | LH_WRITE));
	EXPECT_EQ(LH_WHY_ALLOW, why(w, "plain", LH_READ));
	EXPECT_EQ(LH_WHY_NOT_GRANTED, why(w, "plain", LH_WRITE));
	EXPECT_EQ(LH_WHY_ALLOW, why(w, "/dev/null", LH_WRITE));
	/* Content, not the name. */
	EXPECT_EQ(LH_WHY_PINNED, why(w, "/dev/null", LH_REMOVE));
	EXPECT_EQ(LH_WHY_NOT_GRANTED, why(w, "/dev/zero", LH_READ));
}

TEST_F(resolve, self_is_the_object_alone)
{
	struct world *w = &self->w;

	file(w, "d/f", "x");
	root(w, "d", LH_ROOT_READ | IMAGE_ROOT_SELF);
	ASSERT_EQ(0, resolve(w)) TH_LOG("%s", w->e.msg);
	EXPECT_EQ(LH_WHY_ALLOW, why(w, "d", LH_READ));
	EXPECT_EQ(LH_WHY_NOT_GRANTED, why(w, "d/f", LH_READ));
}

TEST_F(resolve, a_component_that_no_file_can_have)
{
	struct world *w = &self->w;
	char path[400];

	memset(path, 'n', 300);
	path[300] = 0;
	root(w, path, DENY);
	EXPECT_EQ(-ENAMETOOLONG, resolve(w));
	EXPECT_NE(0, w->e.msg[0]);
}

TEST_F(resolve, the_longest_component_that_one_can)
{
	struct world *w = &self->w;
	char path[300] = "ws/";

	memset(path + 3, 'n', 255);
	root(w, "ws", RW);
	root(w, path, DENY);
	ASSERT_EQ(0, resolve(w)) TH_LOG("%s", w->e.msg);
	EXPECT_EQ(LH_WHY_DENIED, why(w, path, LH_WRITE));
	path[257] = 0;
	EXPECT_EQ(LH_WHY_ALLOW, why(w, path, LH_WRITE));
}

TEST_F(resolve, links_of_proc_are_not_followed)
{
	struct world *w = &self->w;

	root(w, "ws", RW);
	root(w, "/proc/self/environ", R | OPTIONAL);
	ASSERT_EQ(0, resolve(w)) TH_LOG("%s", w->e.msg);
	EXPECT_EQ(1, w->t.object_count);
	root(w, "/proc/self/maps", R);
	EXPECT_EQ(-EXDEV, resolve(w));
}

TEST_F(resolve, a_deny_through_proc_is_an_error_unless_a_credential)
{
	struct world *w = &self->w;

	build_root(&w->b, "/proc/self/fd/63", DENY, ROOT_CREDENTIAL, "cred");
	ASSERT_EQ(0, resolve(w)) TH_LOG("%s", w->e.msg);
	root(w, "/proc/self/fd/63", DENY);
	EXPECT_EQ(-EXDEV, resolve(w));
}

TEST_HARNESS_MAIN
