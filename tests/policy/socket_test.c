// SPDX-License-Identifier: GPL-2.0-only
/*
 * Roots that grant sockets, in tables: what is there, what is made anew, what
 * is not there yet; and what they do not grant.
 */
#define _GNU_SOURCE
#include "world.h"

FIXTURE(socket) {
	struct world w;
};

FIXTURE_SETUP(socket)
{
	ASSERT_EQ(0, world_begin(&self->w));
}

FIXTURE_TEARDOWN(socket)
{
	EXPECT_EQ(0, world_end(&self->w));
}

TEST_F(socket, sockets_are_granted_by_inode_and_by_name)
{
	struct world *w = &self->w;

	file(w, "run/one", "x");
	file(w, "run/d/s", "x");
	file(w, "ws/f", "x");
	root(w, "ws", RW);
	root(w, "run/one", LH_ROOT_SOCKET);
	root(w, "run/d", LH_ROOT_SOCKET);
	root(w, "run/later/deep", LH_ROOT_SOCKET | IMAGE_ROOT_OPTIONAL);
	root(w, "run/d/deny", DENY);
	ASSERT_EQ(0, resolve(w)) TH_LOG("%s", w->e.msg);
	EXPECT_EQ(0, well_formed(w));
	EXPECT_EQ(LH_WHY_ALLOW, why(w, "run/one", LH_CONNECT));
	EXPECT_STREQ("rule:run/one", rule_of(w, "run/one", LH_CONNECT));
	EXPECT_EQ(LH_WHY_ALLOW, why(w, "run/d/s", LH_CONNECT));
	EXPECT_EQ(LH_WHY_ALLOW, why(w, "run/d/new", LH_BIND));
	EXPECT_EQ(LH_WHY_ALLOW, why(w, "run/later/deep", LH_CONNECT));
	EXPECT_EQ(LH_WHY_ALLOW, why(w, "run/later/deep/s", LH_BIND));
	EXPECT_EQ(LH_WHY_NOT_GRANTED, why(w, "run/later", LH_CONNECT));
	EXPECT_EQ(LH_WHY_NOT_GRANTED, why(w, "run/two", LH_CONNECT));
	EXPECT_EQ(LH_WHY_DENIED, why(w, "run/d/deny", LH_CONNECT));
	EXPECT_EQ(LH_WHY_DENIED, why(w, "run/d/deny/s", LH_BIND));
	EXPECT_EQ(LH_WHY_NOT_GRANTED, why(w, "ws/f", LH_CONNECT));
	EXPECT_EQ(LH_WHY_ALLOW, why(w, "ws/s", LH_BIND));
	EXPECT_EQ(LH_WHY_NOT_GRANTED, why(w, "run/d/s", LH_READ));
	EXPECT_EQ(LH_WHY_NOT_GRANTED, why(w, "run/d/s", LH_WRITE));
	EXPECT_EQ(LH_WHY_NOT_GRANTED, why(w, "run/d/s", LH_REMOVE));
	/* what is there now is replaced when its daemon starts again */
	ASSERT_EQ(0, unlink(at(w, "run/one")));
	file(w, "run/one", "y");
	EXPECT_EQ(LH_WHY_ALLOW, why(w, "run/one", LH_CONNECT));
}

TEST_F(socket, a_missing_socket_root_is_an_error_unless_it_is_optional)
{
	struct world *w = &self->w;

	root(w, "nowhere", LH_ROOT_SOCKET);
	EXPECT_EQ(-ENOENT, resolve(w));
	EXPECT_NE(NULL, strstr(w->e.msg, "\"?"));
}

TEST_HARNESS_MAIN
