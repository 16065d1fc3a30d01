// SPDX-License-Identifier: GPL-2.0-only
/*
 * Egress laid flat, against one look at each rule; and what a sockaddr says,
 * row by row. Blocks are drawn from few numbers, so that they often meet.
 */
#define _GNU_SOURCE
#include <string.h>

#include "compile_test.h"
#include "../../policy-compiler/net.h"
#include "../../policy-compiler/network.h"

#include "kselftest_harness.h"

#define RULES 4096

struct drawn {
	struct policy_net net;
	bool deny;
	unsigned int number;	/* in its list */
};

static bool bits_equal(const uint8_t *a, const uint8_t *b, unsigned int bits)
{
	for (unsigned int i = 0; i < bits; i++)
		if ((a[i / 8] ^ b[i / 8]) & 0x80 >> i % 8)
			return false;
	return true;
}

static bool in_block(const struct policy_net *n, const struct lh_dest *d)
{
	return n->v6 == (d->family == LH_AF_INET6) &&
	       bits_equal(n->addr, d->addr, n->prefix);
}

static bool names(const struct policy_net *n, const struct lh_dest *d)
{
	return in_block(n, d) && d->port >= n->lo && d->port <= n->hi &&
	       (n->protocols & (d->protocol == LH_TCP ? NET_TCP : NET_UDP));
}

/* The bits of the narrowest range that @d is in and must be named; -1: none. */
static int special(const struct lh_dest *d)
{
	struct policy_net n;
	int best = -1;

	for (size_t i = 0; i < NET_SPECIALS; i++)
		if (!net_parse(net_special(i), &n) && in_block(&n, d) &&
		    n.prefix > best)
			best = n.prefix;
	return best;
}

static enum lh_reach slow(const struct drawn *r, size_t count,
			  const struct lh_dest *d, bool open, bool loopback)
{
	int need = special(d);
	bool allowed = open && need < 0;

	for (size_t i = 0; i < count; i++) {
		if (!names(&r[i].net, d))
			continue;
		if (r[i].deny)
			return LH_REACH_NONE;
		allowed |= r[i].net.prefix >= need;
	}
	return allowed ? LH_REACH_ANY :
	       loopback && lh_dest_is_loopback(d) ? LH_REACH_OWN :
	       LH_REACH_NONE;
}

static void address(uint64_t *seed, bool v6, uint8_t a[16])
{
	static const uint8_t four[][4] = {
		{ 8, 8, 8, 8 }, { 10, 0, 0, 1 }, { 127, 0, 0, 1 },
		{ 169, 254, 169, 254 }, { 192, 168, 1, 1 }, { 239, 1, 2, 3 },
		{ 9, 255, 255, 255 }, { 11, 0, 0, 0 },
	};
	static const uint8_t six[][4] = {
		{ 0x20, 1, 0xd, 0xb8 }, { 0xfe, 0x80 }, { 0xfd }, { 0xff, 2 },
		{ 0 }, { 0, 0x64, 0xff, 0x9b }, { 0x20, 2 }, { 0x2a },
	};

	memset(a, 0, 16);
	memcpy(a, (v6 ? six : four)[dice(seed, 8)], 4);
	for (int i = v6 ? 4 : 1; i < (v6 ? 16 : 4); i++)
		if (!dice(seed, 3))
			a[i] = dice(seed, 2) ? 128 : dice(seed, 3);
	if (v6 && a[10] == 0xff)
		a[10] = 0;
}

static void draw(uint64_t *seed, struct drawn *r)
{
	struct policy_net *n = &r->net;

	memset(r, 0, sizeof(*r));
	n->v6 = dice(seed, 2);
	address(seed, n->v6, n->addr);
	n->prefix = dice(seed, 4) ? dice(seed, n->v6 ? 129 : 33) :
		    n->v6 ? 128 : 32;
	for (unsigned int i = n->prefix; i < 128; i++)
		n->addr[i / 8] &= ~(0x80 >> i % 8);
	n->lo = dice(seed, 3) ? 1 + dice(seed, 6) * 1000 : 0;
	n->hi = n->lo ? n->lo + dice(seed, 2) * dice(seed, 5000) : 65535;
	n->protocols = dice(seed, 2) ? NET_TCP | NET_UDP : 1 + dice(seed, 2);
	r->deny = !dice(seed, 4);
}

/* The policy of these rules; each is given its number. To be freed. */
static char *written(struct drawn *r, size_t count, bool open, bool loopback)
{
	unsigned int number[2] = { 0 };
	char *text, word[NET_TEXT_MAX];
	size_t len;
	FILE *f = open_memstream(&text, &len);

	fprintf(f, "{\"version\":1,\"side_effect_level\":\"network\","
		"\"process_sandbox\":{\"allow_loopback\":%s},"
		"\"egress\":{\"default\":\"%s\"", loopback ? "true" : "false",
		open ? "allow" : "deny");
	for (int deny = 0; deny < 2; deny++) {
		fprintf(f, ",\"%s\":[", deny ? "deny" : "allow");
		for (size_t i = 0; i < count; i++) {
			if (r[i].deny != deny)
				continue;
			net_text(&r[i].net, word);
			r[i].number = number[deny]++;
			fprintf(f, "%s\"%s\"", r[i].number ? "," : "", word);
		}
		fprintf(f, "]");
	}
	fprintf(f, "}}");
	fclose(f);
	return text;
}

/* An address at an edge of some rule, or just beyond, and a port likewise. */
static void probe(uint64_t *seed, const struct drawn *r, size_t count,
		  struct lh_dest *d)
{
	const struct policy_net *n = &r[dice(seed, count)].net;
	unsigned int bit;

	memset(d, 0, sizeof(*d));
	d->family = n->v6 ? LH_AF_INET6 : LH_AF_INET;
	memcpy(d->addr, n->addr, n->v6 ? 16 : 4);
	if (dice(seed, 3)) {
		bit = dice(seed, n->v6 ? 128 : 32);
		d->addr[bit / 8] ^= 0x80 >> bit % 8;
	}
	if (!dice(seed, 4))
		address(seed, n->v6, d->addr);
	d->protocol = dice(seed, 2) ? LH_TCP : LH_UDP;
	d->port = (dice(seed, 2) ? n->lo : n->hi) + dice(seed, 3) - 1;
	if (!dice(seed, 4))
		d->port = r[dice(seed, count)].net.lo;
}

/* Of what is allowed or denied: does that rule of the policy name it? */
static bool told(const struct drawn *r, size_t count, const char *rule,
		 const struct lh_dest *d)
{
	unsigned int number;
	char list[8], rest;

	if (sscanf(rule, "/egress/%5[a-z]/%u%c", list, &number, &rest) != 2)
		return false;
	for (size_t i = 0; i < count; i++)
		if (r[i].deny == !strcmp(list, "deny") &&
		    r[i].number == number)
			return names(&r[i].net, d);
	return false;
}

static void agree(struct __test_metadata *_metadata, uint64_t *seed,
		  struct drawn *r, size_t count, unsigned int probes,
		  unsigned int got[3])
{
	bool open = dice(seed, 2), loopback = dice(seed, 2);
	char *said, *text;
	struct image *im;

	for (size_t i = 0; i < count; i++)
		draw(seed, &r[i]);
	text = written(r, count, open, loopback);
	im = compile_here(text, NULL, &said);
	ASSERT_NE(NULL, im) {
		TH_LOG("%.2000s\n%.2000s", text, said);
	}
	while (probes--) {
		struct lh_reached v;
		struct lh_dest d;

		probe(seed, r, count, &d);
		network_reach(im, &d, &v);
		ASSERT_EQ(slow(r, count, &d, open, loopback), v.reach) {
			TH_LOG("%d.%d.%d.%d:%d of %.2000s", d.addr[0],
			       d.addr[1], d.addr[2], d.addr[3], d.port, text);
		}
		if (v.rule && strncmp(image_rule(im, v.rule), "builtin:", 8)) {
			ASSERT_TRUE(told(r, count, image_rule(im, v.rule),
					 &d));
		}
		got[v.reach]++;
	}
	free(text);
	free(said);
	free(im);
}

TEST(a_few_rules_lie_flat)
{
	unsigned int got[3] = { 0 };
	struct drawn r[12];
	uint64_t seed = 11;

	for (int round = 0; round < 400; round++)
		agree(_metadata, &seed, r, 1 + dice(&seed, ARRAY_SIZE(r)), 100,
		      got);
	EXPECT_LT(1000, got[LH_REACH_NONE]);
	EXPECT_LT(500, got[LH_REACH_OWN]);
	EXPECT_LT(1000, got[LH_REACH_ANY]);
}

TEST(thousands_of_rules_lie_flat)
{
	static struct drawn r[RULES];
	unsigned int got[3] = { 0 };
	uint64_t seed = 12;

	agree(_metadata, &seed, r, 1500, 500, got);
	agree(_metadata, &seed, r, 1500, 500, got);
	EXPECT_LT(20, got[LH_REACH_NONE]);
	EXPECT_LT(20, got[LH_REACH_ANY]);
}

/*
 * More than the tables hold; or, where a denial of all leaves one entry a
 * block, more looks than a start could wait for. An error, in words.
 */
static void too_much(struct __test_metadata *_metadata, bool denied)
{
	static struct drawn r[RULES];
	char *said, *text;
	struct image *im;

	memset(r, 0, sizeof(r));
	for (unsigned int i = 0; i < RULES; i++) {
		struct policy_net *n = &r[i].net;

		n->protocols = NET_TCP | NET_UDP;
		n->lo = n->hi = 2 * i + 1;
		if (i % 2)
			continue;	/* a port of 0.0.0.0/0 */
		n->prefix = 32;
		memcpy(n->addr, (uint8_t[]){ 8, 1, i >> 8, i }, 4);
	}
	if (denied) {
		r[1].net.lo = 0;
		r[1].net.hi = 65535;
		r[1].deny = true;
	}
	text = written(r, RULES, false, false);
	im = compile_here(text, NULL, &said);
	EXPECT_EQ(NULL, im);
	EXPECT_NE(NULL, strstr(said, "too large")) {
		TH_LOG("%.400s", said);
	}
	free(im);
	free(said);
	free(text);
}

TEST(what_is_too_large_is_an_error)
{
	too_much(_metadata, false);
}

TEST(what_is_too_much_work_is_an_error)
{
	too_much(_metadata, true);
}

static const struct sockaddr_row {
	uint8_t sa[LH_SOCKADDR_BYTES];
	uint32_t len;
	bool ok;
	uint32_t family;
	uint8_t addr[16];
	bool loopback;
} sockaddrs[] = {
#define FOUR 2, 0, 0x1f, 0x40
#define SIX 10, 0, 0x1f, 0x40, 0, 0, 0, 0
	{ { FOUR, 127, 0, 0, 1 }, 16, true, 2, { 127, 0, 0, 1 }, true },
	{ { FOUR, 127, 9, 9, 9 }, 128, true, 2, { 127, 9, 9, 9 }, true },
	{ { FOUR, 0, 0, 0, 0 }, 16, true, 2, { 0 }, true },
	{ { FOUR, 128, 0, 0, 1 }, 16, true, 2, { 128, 0, 0, 1 }, false },
	{ { FOUR, 127, 0, 0, 1 }, 15, false, 2, { 127, 0, 0, 1 }, true },
	{ { 0, 0, 0x1f, 0x40, 8, 8, 8, 8 }, 16, true, 2, { 8, 8, 8, 8 },
	  false },
	{ { SIX, [23] = 1 }, 28, true, 10, { [15] = 1 }, true },
	{ { SIX, [23] = 1 }, 24, true, 10, { [15] = 1 }, true },
	{ { SIX, [23] = 1 }, 23, false, 10, { [15] = 1 }, true },
	{ { SIX, [23] = 2 }, 28, true, 10, { [15] = 2 }, false },
	{ { SIX, 0 }, 28, true, 10, { 0 }, true },
	{ { SIX, [18] = 255, 255, 127, 0, 0, 1 }, 28, true, 2,
	  { 127, 0, 0, 1 }, true },
	{ { SIX, [18] = 255, 255, 8, 8, 8, 8 }, 28, true, 2, { 8, 8, 8, 8 },
	  false },
	/* Compatible, not mapped */
	{ { SIX, [20] = 127, 0, 0, 1 }, 28, true, 10,
	  { [12] = 127, 0, 0, 1 }, false },
	{ { SIX, [17] = 1, 255, 255, 127, 0, 0, 1 }, 28, true, 10,
	  { [9] = 1, 255, 255, 127, 0, 0, 1 }, false },
	{ { 1, 0, 'x' }, 28, false, 1, { 0 }, false },
	{ { 2, 1 }, 28, false, 258, { 0 }, false },
};

TEST(a_sockaddr_says_one_thing_in_all_its_clothes)
{
	for (size_t i = 0; i < ARRAY_SIZE(sockaddrs); i++) {
		struct lh_dest d;
		bool ok = lh_dest_read(&d, sockaddrs[i].sa, sockaddrs[i].len);

		EXPECT_EQ(sockaddrs[i].ok, ok) {
			TH_LOG("row %zu", i);
		}
		EXPECT_EQ(sockaddrs[i].family, d.family);
		EXPECT_EQ(0, memcmp(sockaddrs[i].addr, d.addr, 16)) {
			TH_LOG("row %zu", i);
		}
		EXPECT_EQ(sockaddrs[i].loopback, lh_dest_is_loopback(&d)) {
			TH_LOG("row %zu", i);
		}
		if (ok) {
			EXPECT_EQ(8000, d.port);
		}
	}
}

/*
 * One datagram to 127.255.255.255 comes to every socket that shares the port,
 * whoever made it: no rule opens it, and nobody has his own end there.
 */
TEST(all_of_loopback_is_neither_reached_nor_an_end)
{
	static const struct lh_port_rule open = {
		.say = LH_SAY_ALLOW, .rule = 7,
	};
	static const struct {
		uint8_t addr[16];
		uint32_t family;
		bool all;
	} rows[] = {
		{ { 127, 255, 255, 255 }, LH_AF_INET, true },
		{ { [10] = 255, 255, 127, 255, 255, 255 }, LH_AF_INET6, true },
		{ { 127, 255, 255, 254 }, LH_AF_INET, false },
		{ { 127, 0, 255, 255 }, LH_AF_INET, false },
	};

	for (unsigned int x = 0; x < ARRAY_SIZE(rows) * 8; x++) {
		struct lh_dest d = {
			.family = rows[x / 8].family, .port = 7001,
			.protocol = x & 1 ? LH_TCP : LH_UDP,
		};
		uint32_t flags = LH_SESSION_LOOP_TCP | LH_SESSION_LOOP_UDP |
				 LH_SESSION_EGRESS | LH_SESSION_PORTS |
				 LH_SESSION_NARROW | LH_SESSION_ALLOW;
		bool all = rows[x / 8].all, narrow;
		struct lh_reached v;

		memcpy(d.addr, rows[x / 8].addr, sizeof(d.addr));
		lh_dest_plain(&d);
		lh_decide_reach(flags, &d, x & 2 ? &open : NULL,
				x & 4 ? &open : NULL, &v);
		EXPECT_EQ(all ? LH_REACH_NONE : x & 6 ? LH_REACH_ANY :
			  LH_REACH_OWN, v.reach) {
			TH_LOG("%x", x);
		}
		EXPECT_EQ(all ? LH_WHY_NEVER : LH_WHY_ALLOW, v.why);
		EXPECT_EQ(!all, lh_decide_bind(flags, &d, &narrow)) {
			TH_LOG("%x", x);
		}
	}
}

/*
 * Its own end: on loopback with the protocol's flag, at any where narrowed. A
 * client with egress is left at any, and so is who listens there.
 */
TEST(a_bind_is_to_loopback)
{
	for (unsigned int x = 0; x < ARRAY_SIZE(sockaddrs) * 8 * 8; x++) {
		const struct sockaddr_row *row = &sockaddrs[x / 64];
		uint32_t flags = (x & 1 ? LH_SESSION_LOOP_TCP : 0) |
				 (x & 2 ? LH_SESSION_LOOP_UDP : 0) |
				 (x & 4 ? LH_SESSION_NARROW : 0) |
				 (x & 32 ? LH_SESSION_EGRESS : 0) |
				 LH_SESSION_ALLOW;
		struct lh_dest d;
		bool any, narrow, free, may, left;

		if (!lh_dest_read(&d, row->sa, row->len))
			continue;
		if (x & 16)
			d.port = 0;
		d.protocol = x & 8 ? LH_TCP : LH_UDP;
		any = !memcmp(d.addr, (uint8_t[16]){ 0 }, 16);
		/* What the kernel gives to who sends without a bind */
		free = any && d.protocol == LH_UDP && !d.port;
		left = any && (x & 4) && (x & 32);
		may = (x & (d.protocol == LH_TCP ? 1 : 2)) && row->loopback &&
		      (!any || (x & 4));
		EXPECT_EQ(free || may, lh_decide_bind(flags, &d, &narrow)) {
			TH_LOG("%x", x);
		}
		EXPECT_EQ(any && !free && !(left && !d.port), narrow) {
			TH_LOG("%x", x);
		}
		if (d.protocol != LH_TCP)
			continue;
		EXPECT_EQ(d.port && may && (!any || left),
			  lh_decide_listen(flags, &d)) {
			TH_LOG("%x", x);
		}
	}
}

TEST_HARNESS_MAIN
