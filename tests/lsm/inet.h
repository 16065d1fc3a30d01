/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A fixture for loopback: two sessions and the host, each with a probe that
 * keeps sockets in slots. Include after the harness.
 */
#ifndef LH_INET_H
#define LH_INET_H

#include <stdio.h>
#include <stdlib.h>

#include "session.h"

#define LOOP ",\"allow_loopback\":true,\"loopback_ports\":[7001]," \
	"\"publish_ports\":[7002,7003]"

#define INET(name, with)						\
FIXTURE(name) {								\
	struct world *w;						\
	struct session s, other, host;					\
};									\
									\
FIXTURE_SETUP(name)							\
{									\
	struct policy p = { .sandbox = with };				\
									\
	ASSERT_EQ(0, system("ip link set lo up"));			\
	self->w = world_make(TEST_USER);				\
	ASSERT_NE(NULL, self->w);					\
	ASSERT_EQ(0, policy_write(self->w, &p));			\
	ASSERT_EQ(0, session_start(&self->s, self->w, "s", NULL));	\
	ASSERT_EQ(0, session_start(&self->other, self->w, "other", NULL));	\
	ASSERT_EQ(0, twin_start(&self->host, self->w));			\
}									\
									\
FIXTURE_TEARDOWN(name)							\
{									\
	session_end(&self->host);					\
	EXPECT_EQ(0, session_end(&self->s));				\
	EXPECT_EQ(0, session_end(&self->other));			\
	world_remove(self->w);						\
}									\
struct inet_##name

static inline const char *text(int n)
{
	static char buf[8][16];
	static int turn;

	snprintf(buf[++turn % 8], sizeof(buf[0]), "%d", n);
	return buf[turn % 8];
}

/* A socket in slot @n at @addr; its port, or the negative errno. */
static inline int server(struct session *s, const char *n, const char *family,
		  const char *type, const char *addr, const char *port)
{
	int err = ask(s, "isock", n, family, type), got;

	if (!err)
		err = ask(s, "ibind", n, addr, port);
	got = s->reply.value;
	if (!err && *type != 'u')
		err = ask(s, "ilisten", n);
	return err ? -err : got;
}

static inline int dial(struct session *s, const char *family, const char *type,
		const char *addr, int port)
{
	int err = ask(s, "isock", "9", family, type);

	return err ? err : ask(s, "iconnect", "9", addr, text(port));
}

#endif
