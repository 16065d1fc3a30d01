// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where the host moves what a session holds, and what a rule named, as the
 * manual says it: lh-policy(5), CAVEATS.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include "kselftest_harness.h"
#include "pair.h"

/* Deny of a directory that is ten names below the workspace. */
#define DEEP "ws/a1/a2/a3/a4/a5/a6/a7/a8/a9/deep"

FIXTURE(kept) {
	struct world *w;
	struct session s, twin;
};

FIXTURE_SETUP(kept)
{
	struct policy p = { 0 };
	struct world *w = self->w = world_make(TEST_USER);
	char more[512];

	ASSERT_NE(NULL, w);
	ASSERT_EQ(0, world_file(w, at(w, DEEP "/key"), "TEXT"));
	ASSERT_EQ(0, world_file(w, at(w, "ws/sub/held/file"), "TEXT"));
	snprintf(more, sizeof(more), ",\"%s/" DEEP "\"", w->dir);
	p.deny = more;
	ASSERT_EQ(0, policy_write(w, &p));
	ASSERT_EQ(0, session_start(&self->s, w, "s", NULL));
	ASSERT_EQ(0, twin_start(&self->twin, w));
}

PAIR_TEARDOWN(kept)

/* From 6.2 no hook sees the path of what is truncated by descriptor. */
static bool sees_ftruncate(void)
{
	struct utsname u;
	int major = 0, minor = 0;

	uname(&u);
	sscanf(u.release, "%d.%d", &major, &minor);
	return major == 6 && minor < 2;
}

TEST_F(kept, a_descriptor_stays_what_it_was_and_opens_nothing)
{
	struct session *both[] = { &self->s, &self->twin };

	for (int i = 0; i < 2; i++) {
		EXPECT_EQ(0, ask(both[i], "keep", "sub/held",
				 "sub/held/file"));
		EXPECT_EQ(EAGAIN, ask(both[i], "kept", "told"));
	}
	ASSERT_EQ(0, rename(at(self->w, "ws/sub/held"),
			    at(self->w, "ws/secret/held")));
	ASSERT_EQ(0, world_file(self->w, at(self->w, "ws/secret/held/new"),
				"TEXT"));
	for (int i = 0; i < 2; i++) {
		EXPECT_EQ(0, ask(both[i], "kept", "read"));
		EXPECT_EQ(0, ask(both[i], "kept", "write"));
		EXPECT_EQ(0, ask(both[i], "kept", "list"));
		EXPECT_EQ(0, ask(both[i], "kept", "told"));
	}
	EXPECT_EQ(sees_ftruncate() ? EACCES : 0,
		  ask(&self->s, "kept", "truncate"));
	REFUSED("kept", "at", "new");
	REFUSED("kept", "at", "file");
	REFUSED("kept", "reopen");
	REFUSED("inotify", "secret/held");
	EXPECT_EQ(0, ask(&self->twin, "kept", "truncate"));
	EXPECT_EQ(0, ask(&self->twin, "kept", "at", "new"));
	EXPECT_EQ(0, ask(&self->twin, "kept", "reopen"));
}

/* Up to eight names below a directory that stays where it is. */
TEST_F(kept, a_name_far_below_what_the_host_replaced_is_not_held)
{
	const struct world *w = self->w;

	REFUSED("open", at(w, DEEP "/key"), "r");
	ASSERT_EQ(0, rename(at(w, "ws/a1/a2/a3"), at(w, "ws/a1/a2/old")));
	ASSERT_EQ(0, world_file(w, at(w, DEEP "/key"), "AGAIN"));
	REFUSED("open", at(w, DEEP "/key"), "r");
	EXPECT_EQ(0, ask(&self->twin, "open", at(w, DEEP "/key"), "r"));
	ASSERT_EQ(0, rename(at(w, "ws/a1"), at(w, "ws/old")));
	ASSERT_EQ(0, world_file(w, at(w, DEEP "/key"), "AGAIN"));
	DONE("open", at(w, DEEP "/key"), "r");
	/* what was there is known by what it is, wherever */
	REFUSED("open", at(w, "ws/old/a2/old/a4/a5/a6/a7/a8/a9/deep/key"),
		"r");
}

TEST_HARNESS_MAIN
