/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For fixtures with a session, .s, its twin outside, .twin, and their world,
 * .w. Include after the harness.
 */
#ifndef LH_PAIR_H
#define LH_PAIR_H

#include "session.h"

#define REFUSED(...) do {						\
	EXPECT_EQ(EACCES, ask(&self->s, __VA_ARGS__)) {			\
		TH_LOG("at line %d", __LINE__);				\
	}								\
} while (0)

#define DONE(...) do {							\
	EXPECT_EQ(0, ask(&self->s, __VA_ARGS__)) {			\
		TH_LOG("at line %d", __LINE__);				\
	}								\
} while (0)

#define PAIR_TEARDOWN(name)						\
FIXTURE_TEARDOWN(name)							\
{									\
	session_end(&self->twin);					\
	EXPECT_EQ(0, session_end(&self->s));				\
	world_remove(self->w);						\
}

#endif
