// SPDX-License-Identifier: GPL-2.0-only
/*
 * Each layer of the network alone: every way to a destination that egress does
 * not grant is refused by the task's programs, and by those of the socket's
 * cgroup, and no packet leaves; its twin to a granted one works.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>

#include "kselftest_harness.h"
#include "layer.h"

#define FAST "0x20000000"	/* MSG_FASTOPEN */
#define MORE "0x8000"		/* MSG_MORE */

/* Ways to send one packet to port 8000, or try: 0 or an errno. */
static int via(struct session *s, const char *family, const char *type,
	       const char *op, const char *addr, const char *flags)
{
	int err = ask(s, "isock", "9", family, type);

	if (err)
		return err;
	if (!strcmp(op, "connect"))
		return ask(s, "iconnect", "9", addr, "8000");
	return ask(s, "isend", "9", "x", addr, "8000", flags);
}

static int tcp(struct session *s, const struct to *to)
{
	return via(s, "4", "t", "connect", to->four, NULL);
}

static int tcp_mapped(struct session *s, const struct to *to)
{
	return via(s, "6", "t", "connect", to->mapped, NULL);
}

static int tcp_six(struct session *s, const struct to *to)
{
	return via(s, "6", "t", "connect", to->six, NULL);
}

static int fast(struct session *s, const struct to *to)
{
	return via(s, "4", "t", "send", to->four, FAST);
}

static int fast_mapped(struct session *s, const struct to *to)
{
	return via(s, "6", "t", "send", to->mapped, FAST);
}

static int fast_six(struct session *s, const struct to *to)
{
	return via(s, "6", "t", "send", to->six, FAST);
}

/* The SYN leaves with the first data. */
static int fast_connect(struct session *s, const struct to *to)
{
	int err = ask(s, "isock", "9", "4", "t");

	if (!err)
		err = ask(s, "iopt", "9", text(IPPROTO_TCP),
			  text(TCP_FASTOPEN_CONNECT), "1");
	if (!err)
		err = ask(s, "iconnect", "9", to->four, "8000");
	if (!err || err == ETIMEDOUT)
		ask(s, "isend", "9", "x");
	return err;
}

static int multipath(struct session *s, const struct to *to)
{
	int err = ask(s, "isock", "9", "4", "t", "262");

	return err ? err : ask(s, "iconnect", "9", to->four, "8000");
}

static int multipath_fast(struct session *s, const struct to *to)
{
	int err = ask(s, "isock", "9", "4", "t", "262");

	return err ? err : ask(s, "isend", "9", "x", to->four, "8000", FAST);
}

static int udp(struct session *s, const struct to *to)
{
	return via(s, "4", "u", "send", to->four, NULL);
}

static int udp_mapped(struct session *s, const struct to *to)
{
	return via(s, "6", "u", "send", to->mapped, NULL);
}

static int udp_plain_on_six(struct session *s, const struct to *to)
{
	return via(s, "6", "u", "send", to->four, NULL);
}

static int udp_six(struct session *s, const struct to *to)
{
	return via(s, "6", "u", "send", to->six, NULL);
}

static int connected(struct session *s, const char *family, const char *addr)
{
	int err = ask(s, "isock", "9", family, "u");

	if (!err)
		err = ask(s, "iconnect", "9", addr, "8000");
	return err ? err : ask(s, "isend", "9", "x");
}

static int udp_connect(struct session *s, const struct to *to)
{
	return connected(s, "4", to->four);
}

static int udp_connect_mapped(struct session *s, const struct to *to)
{
	return connected(s, "6", to->mapped);
}

static int udp_connect_plain_on_six(struct session *s, const struct to *to)
{
	return connected(s, "6", to->four);
}

static int udp_connect_six(struct session *s, const struct to *to)
{
	return connected(s, "6", to->six);
}

static int udp_second(struct session *s, const struct to *to)
{
	int err = ask(s, "isock", "9", "4", "u");

	if (!err)
		err = ask(s, "iconnect", "9", granted.four, "8001");
	return err ? err : ask(s, "isend", "9", "x", to->four, "8000");
}

static int udp_message(struct session *s, const struct to *to)
{
	int err = ask(s, "isock", "9", "4", "u");

	return err ? err : ask(s, "isendmsg", "9", "x", "-", to->four, "8000");
}

/* Of two messages in one call the first goes to the host itself. */
static int udp_messages(struct session *s, const struct to *to)
{
	int err = ask(s, "isock", "9", "4", "u");

	if (!err)
		err = ask(s, "isendmmsg", "9", "x", "192.0.2.1", "8000",
			  to->four, "8000");
	return err ? err : s->reply.value == 2 ? 0 : EACCES;
}

static int udp_corked(struct session *s, const struct to *to)
{
	int err = via(s, "4", "u", "send", to->four, MORE);

	return err ? err : ask(s, "isend", "9", "y", to->four, "8000");
}

/* AF_UNSPEC is AF_INET to who sends. */
static int udp_of_no_family(struct session *s, const struct to *to)
{
	int err = ask(s, "isock", "9", "4", "u");

	return err ? err : ask(s, "irawsend", "9", "x",
			       to == &granted ? "00001f40c000023f" :
			       "00001f40c0000240", "16");
}

static const struct way {
	const char *name;
	int (*go)(struct session *s, const struct to *to);
	bool new;		/* not on each kernel: the host decides */
	bool packet;		/* the second layer sees it on the way out */
} ways[] = {
#define WAY(text, how) { .name = text, .go = how }
#define PACKET(text, how) { .name = text, .go = how, .packet = true }
	WAY("tcp", tcp), WAY("tcp, mapped", tcp_mapped), WAY("tcp6", tcp_six),
	WAY("fast open", fast), WAY("fast open, mapped", fast_mapped),
	WAY("fast open, tcp6", fast_six), WAY("fast connect", fast_connect),
	{ .name = "multipath", .go = multipath, .new = true },
	{ .name = "multipath fast open", .go = multipath_fast, .new = true },
	PACKET("udp", udp), PACKET("udp, mapped", udp_mapped),
	PACKET("udp, plain on six", udp_plain_on_six), PACKET("udp6", udp_six),
	WAY("udp connect", udp_connect),
	WAY("udp connect, mapped", udp_connect_mapped),
	WAY("udp connect, plain on six", udp_connect_plain_on_six),
	WAY("udp6 connect", udp_connect_six),
	PACKET("udp, a second destination", udp_second),
	PACKET("udp sendmsg", udp_message), WAY("udp sendmmsg", udp_messages),
	PACKET("udp, corked", udp_corked),
	PACKET("udp of no family", udp_of_no_family),
};

/* Its socket does not stay: it would try again. */
static int once(const struct way *y, struct session *s, const struct to *to)
{
	int err = y->go(s, to);

	ask(s, "iclose", "9");
	return err;
}

TEST_F(layers, no_way_leads_to_what_is_not_granted)
{
	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		const struct way *y = &ways[i];
		long before = left();
		int err;

		if (y->new) {
			err = once(y, &self->host, &granted);
			if (err && err != EINPROGRESS && err != ETIMEDOUT)
				continue;	/* nor does the host */
			before = left();
		}
		err = once(y, &self->s, &refused);
		if (!variant->on) {
			EXPECT_LT(before, left()) {
				TH_LOG("%s: %d", y->name, err);
			}
			continue;
		}
		EXPECT_EQ(y->packet && variant->on == SOCKET ? EPERM : EACCES,
			  err) {
			TH_LOG("%s", y->name);
		}
		EXPECT_EQ(before, left()) {
			TH_LOG("%s", y->name);
		}
		EXPECT_TRUE(denied(&self->s, NULL, NULL, NULL)) {
			TH_LOG("%s", y->name);
		}
		err = once(y, &self->s, &granted);
		EXPECT_TRUE(!err || err == EINPROGRESS || err == ETIMEDOUT) {
			TH_LOG("%s: %d", y->name, err);
		}
		EXPECT_LT(before, left()) {
			TH_LOG("%s", y->name);
		}
		EXPECT_TRUE(quiet(&self->s)) {
			TH_LOG("%s", y->name);
		}
	}
}

TEST_HARNESS_MAIN
