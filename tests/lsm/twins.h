/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A fixture for tests that ask one thing of a process in a session and of its
 * twin outside, as an ordinary user and as root without any capability. Include
 * after the harness.
 */
#ifndef LH_TWINS_H
#define LH_TWINS_H

#include "session.h"

#define TWINS(name)							\
FIXTURE(name) {								\
	struct world *w;						\
	struct session s, twin;						\
};									\
									\
FIXTURE_VARIANT(name) {							\
	const char *user;						\
};									\
									\
FIXTURE_VARIANT_ADD(name, user) {					\
	.user = TEST_USER,						\
};									\
									\
FIXTURE_VARIANT_ADD(name, root) {					\
	.user = "root",							\
};									\
									\
FIXTURE_SETUP(name)							\
{									\
	struct policy p = { 0 };					\
									\
	self->w = world_make(variant->user);				\
	ASSERT_NE(NULL, self->w);					\
	ASSERT_EQ(0, policy_write(self->w, &p));			\
	ASSERT_EQ(0, session_start(&self->s, self->w, "s", NULL));	\
	ASSERT_EQ(0, twin_start(&self->twin, self->w));			\
}									\
									\
FIXTURE_TEARDOWN(name)							\
{									\
	session_end(&self->twin);					\
	EXPECT_EQ(0, session_end(&self->s));				\
	world_remove(self->w);						\
}									\
struct twins_##name

#endif
