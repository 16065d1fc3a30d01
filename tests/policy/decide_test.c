// SPDX-License-Identifier: GPL-2.0-only
/*
 * The decision itself: what a walk met, row by row, and the laws that hold for
 * any walk. A trail is written as the roots and names met from the object up.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../../bpf/decide.h"
#include "kselftest_harness.h"

#define R LH_ROOT_READ
#define W LH_ROOT_WRITE
#define X LH_ROOT_EXEC
#define DELETE LH_ROOT_DELETE
#define RDONLY LH_ROOT_RDONLY
#define DENY LH_ROOT_DENY
#define PROTECT LH_ROOT_PROTECT
#define PIN LH_ROOT_PIN
#define SOCKET LH_ROOT_SOCKET
#define CHANGE (LH_WRITE | LH_REMOVE | LH_MOVE | LH_BECOME)

/* One thing met. Level 0 is the object. */
struct met {
	enum { END, ROOT, SELF, NAME, WILD, ASIDE } kind;
	int level;
	uint32_t flags;
	uint16_t rule;
};

struct row {
	const char *what;
	struct met met[5];
	uint32_t access;
	unsigned int why;
	unsigned int rule;
};

static void meet(struct lh_trail *t, const struct met *m)
{
	struct lh_root root = {
		.flags = m->kind == SELF ? m->flags & PIN : m->flags,
		.self = m->kind == SELF ? m->flags & (R | W | X) : 0,
		.rule_read = m->rule, .rule_write = m->rule,
		.rule_deny = m->rule, .rule_self = m->rule,
		.rule_socket = m->rule,
	};
	struct lh_name name = { .flags = m->flags, .rule = m->rule };
	struct lh_wild wild = { .rule = m->rule };

	switch (m->kind) {
	case NAME:
		lh_trail_name(t, name.flags, name.rule, m->level == 0, 0);
		break;
	case WILD:
		lh_trail_wild(t, &wild);
		break;
	default:
		lh_trail_root(t, &root, m->level == 0, m->kind == ASIDE);
	}
}

static struct lh_verdict judge(const struct met *met, size_t count,
			       uint32_t access)
{
	struct lh_trail t = { 0 };
	size_t i;

	for (i = 0; i < count && met[i].kind != END; i++)
		meet(&t, &met[i]);
	return lh_trail_judge(&t, access);
}

static const struct row rows[] = {
	{ "nothing met refuses reading", { { END } }, LH_READ,
	  LH_WHY_NOT_GRANTED, 0 },
	{ "nothing met refuses writing", { { END } }, LH_WRITE,
	  LH_WHY_NOT_GRANTED, 0 },
	{ "nothing met refuses exec", { { END } }, LH_EXEC,
	  LH_WHY_NOT_GRANTED, 0 },
	{ "nothing met hides nothing", { { END } }, LH_STAT,
	  LH_WHY_ALLOW, 0 },
	{ "a read root far above grants reading", { { ROOT, 9, R, 1 } },
	  LH_READ, LH_WHY_ALLOW, 1 },
	{ "… and no exec, which its rule could", { { ROOT, 9, R, 1 } },
	  LH_EXEC, LH_WHY_NOT_GRANTED, 1 },
	{ "… nor writing", { { ROOT, 9, R, 1 } }, LH_WRITE,
	  LH_WHY_NOT_GRANTED, 0 },
	{ "a read and a write root add up",
	  { { ROOT, 1, W, 1 }, { ROOT, 2, R | X, 2 } },
	  LH_READ | LH_WRITE | LH_EXEC, LH_WHY_ALLOW, 1 },

	{ "a deny above refuses reading",
	  { { ROOT, 0, R | W, 1 }, { ROOT, 5, DENY, 2 } }, LH_READ,
	  LH_WHY_DENIED, 2 },
	{ "a deny below its grant refuses too",
	  { { ROOT, 0, DENY, 1 }, { ROOT, 5, R | W | X, 2 } }, LH_WRITE,
	  LH_WHY_DENIED, 1 },
	{ "a deny hides", { { ROOT, 3, DENY, 1 } }, LH_STAT,
	  LH_WHY_DENIED, 1 },
	{ "a deny by name refuses", { { NAME, 2, DENY, 3 }, { ROOT, 3, R, 1 } },
	  LH_READ, LH_WHY_DENIED, 3 },
	{ "a deny beats a protection met first",
	  { { ROOT, 0, PROTECT, 1 }, { ROOT, 1, DENY, 2 } }, LH_WRITE,
	  LH_WHY_DENIED, 2 },
	{ "the first deny is the one named",
	  { { ROOT, 0, DENY, 1 }, { NAME, 1, DENY, 2 } }, LH_READ,
	  LH_WHY_DENIED, 1 },
	{ "a deny beats the rights of the object itself",
	  { { SELF, 0, R | W, 1 }, { ROOT, 1, DENY, 2 } }, LH_READ,
	  LH_WHY_DENIED, 2 },

	{ "the deepest of write and read-only wins: read-only",
	  { { ROOT, 1, RDONLY | R, 1 }, { ROOT, 2, R | W, 2 } }, LH_WRITE,
	  LH_WHY_READ_ONLY, 1 },
	{ "… and is read", { { ROOT, 1, RDONLY | R, 1 },
			     { ROOT, 2, R | W, 2 } }, LH_READ,
	  LH_WHY_ALLOW, 1 },
	{ "the deepest of write and read-only wins: write",
	  { { ROOT, 1, W, 1 }, { ROOT, 2, RDONLY | R, 2 } }, LH_WRITE,
	  LH_WHY_ALLOW, 1 },
	{ "read-only by name, inside a writable root",
	  { { NAME, 1, RDONLY, 1 }, { ROOT, 2, R | W, 2 } }, LH_WRITE,
	  LH_WHY_READ_ONLY, 1 },
	{ "read-only forbids removal",
	  { { ROOT, 1, RDONLY | R, 1 }, { ROOT, 2, R | W, 2 } }, LH_REMOVE,
	  LH_WHY_READ_ONLY, 1 },
	{ "a root that is both is not writable",
	  { { ROOT, 1, RDONLY | W, 1 } }, LH_WRITE, LH_WHY_READ_ONLY, 1 },

	{ "a socket root is connected to", { { ROOT, 3, SOCKET, 1 } },
	  LH_CONNECT, LH_WHY_ALLOW, 1 },
	{ "… and bound in", { { ROOT, 3, SOCKET, 1 } }, LH_BIND,
	  LH_WHY_ALLOW, 1 },
	{ "… and not read", { { ROOT, 3, SOCKET, 1 } }, LH_READ,
	  LH_WHY_NOT_GRANTED, 0 },
	{ "… nor written", { { ROOT, 3, SOCKET, 1 } }, LH_WRITE,
	  LH_WHY_NOT_GRANTED, 0 },
	{ "… nor emptied", { { ROOT, 3, SOCKET, 1 } }, LH_REMOVE,
	  LH_WHY_NOT_GRANTED, 0 },
	{ "nothing met refuses to connect", { { END } }, LH_CONNECT,
	  LH_WHY_NOT_GRANTED, 0 },
	{ "… and to bind", { { END } }, LH_BIND, LH_WHY_NOT_GRANTED, 0 },
	{ "a writable root is bound in", { { ROOT, 1, R | W | X, 1 } },
	  LH_BIND, LH_WHY_ALLOW, 1 },
	{ "… and not connected to", { { ROOT, 1, R | W | X, 1 } },
	  LH_CONNECT, LH_WHY_NOT_GRANTED, 0 },
	{ "a socket file that is a root", { { ROOT, 0, SOCKET, 1 } },
	  LH_CONNECT, LH_WHY_ALLOW, 1 },
	{ "sockets by name", { { NAME, 0, SOCKET, 1 } }, LH_CONNECT,
	  LH_WHY_ALLOW, 1 },
	{ "… and below the name", { { NAME, 2, SOCKET, 1 } }, LH_BIND,
	  LH_WHY_ALLOW, 1 },
	{ "the deepest grant of sockets is named",
	  { { ROOT, 1, SOCKET, 1 }, { ROOT, 2, SOCKET, 2 } }, LH_CONNECT,
	  LH_WHY_ALLOW, 1 },
	{ "a deny beats a socket root below it",
	  { { ROOT, 0, SOCKET, 1 }, { ROOT, 1, DENY, 2 } }, LH_CONNECT,
	  LH_WHY_DENIED, 2 },
	{ "… and one above it",
	  { { ROOT, 1, DENY, 1 }, { ROOT, 2, SOCKET, 2 } }, LH_BIND,
	  LH_WHY_DENIED, 1 },
	{ "a protected name is not bound to",
	  { { ROOT, 0, PROTECT, 1 }, { ROOT, 1, SOCKET, 2 } }, LH_BIND,
	  LH_WHY_PROTECTED, 1 },
	{ "… nor below a pair", { { WILD, 1, 0, 1 }, { ROOT, 3, SOCKET, 2 } },
	  LH_BIND, LH_WHY_PROTECTED, 1 },
	{ "… but connected to",
	  { { ROOT, 0, PROTECT, 1 }, { ROOT, 1, SOCKET, 2 } }, LH_CONNECT,
	  LH_WHY_ALLOW, 2 },
	{ "a read-only root in a socket root is not bound in",
	  { { ROOT, 1, RDONLY | R, 1 }, { ROOT, 2, SOCKET, 2 } }, LH_BIND,
	  LH_WHY_READ_ONLY, 1 },
	{ "… but connected to",
	  { { ROOT, 1, RDONLY | R, 1 }, { ROOT, 2, SOCKET, 2 } }, LH_CONNECT,
	  LH_WHY_ALLOW, 2 },
	{ "a socket root in a read-only root is bound in",
	  { { ROOT, 1, SOCKET, 1 }, { ROOT, 2, RDONLY | R, 2 } }, LH_BIND,
	  LH_WHY_ALLOW, 1 },
	{ "one place that is both is not",
	  { { ROOT, 1, SOCKET | RDONLY | R, 1 } }, LH_BIND,
	  LH_WHY_READ_ONLY, 1 },
	{ "sockets beside a bind mount are not granted",
	  { { ASIDE, 1, SOCKET, 1 } }, LH_CONNECT, LH_WHY_NOT_GRANTED, 0 },

	{ "delete alone lets names go", { { ROOT, 1, R | DELETE, 1 } },
	  LH_REMOVE, LH_WHY_ALLOW, 1 },
	{ "… and content stay, for its rule", { { ROOT, 1, R | DELETE, 1 } },
	  LH_WRITE, LH_WHY_NOT_GRANTED, 1 },
	{ "… and no directory arrive", { { ROOT, 1, R | DELETE, 1 } },
	  LH_BECOME, LH_WHY_NOT_GRANTED, 1 },

	{ "protected: not written", { { ROOT, 0, PROTECT, 1 },
				      { ROOT, 1, R | W, 2 } }, LH_WRITE,
	  LH_WHY_PROTECTED, 1 },
	{ "… not removed", { { ROOT, 0, PROTECT, 1 }, { ROOT, 1, R | W, 2 } },
	  LH_REMOVE, LH_WHY_PROTECTED, 1 },
	{ "… not replaced by a directory",
	  { { NAME, 0, PROTECT, 1 }, { ROOT, 1, R | W, 2 } }, LH_BECOME,
	  LH_WHY_PROTECTED, 1 },
	{ "… but read", { { ROOT, 0, PROTECT, 1 }, { ROOT, 1, R | W, 2 } },
	  LH_READ, LH_WHY_ALLOW, 2 },
	{ "a pair at any depth: not written", { { WILD, 1, 0, 1 },
						{ ROOT, 3, R | W, 2 } },
	  LH_WRITE, LH_WHY_PROTECTED, 1 },
	{ "… no directory becomes it", { { WILD, 0, 0, 1 },
					 { ROOT, 3, R | W, 2 } },
	  LH_BECOME, LH_WHY_PROTECTED, 1 },
	{ "… but may be removed", { { WILD, 1, 0, 1 },
				    { ROOT, 3, R | W, 2 } },
	  LH_REMOVE, LH_WHY_ALLOW, 2 },
	{ "… and moved with what it lies in", { { WILD, 1, 0, 1 },
						{ ROOT, 3, R | W, 2 } },
	  LH_MOVE, LH_WHY_ALLOW, 2 },

	{ "a pinned object is not removed",
	  { { ROOT, 0, PIN | R | W, 1 } }, LH_REMOVE, LH_WHY_PINNED, 1 },
	{ "… nor moved", { { ROOT, 0, PIN | R | W, 1 } }, LH_MOVE,
	  LH_WHY_PINNED, 1 },
	{ "… but written", { { ROOT, 0, PIN | R | W, 1 } }, LH_WRITE,
	  LH_WHY_ALLOW, 1 },
	{ "what lies below a pinned one is free",
	  { { ROOT, 1, PIN | R | W, 1 } }, LH_REMOVE, LH_WHY_ALLOW, 1 },
	{ "a name on the way to a rule is not moved",
	  { { NAME, 0, LH_NAME_PARTIAL, 1 }, { ROOT, 1, R | W, 2 } },
	  LH_MOVE, LH_WHY_PINNED, 1 },
	{ "… nor does a directory become it",
	  { { NAME, 0, LH_NAME_PARTIAL, 1 }, { ROOT, 1, R | W, 2 } },
	  LH_BECOME, LH_WHY_PINNED, 1 },
	{ "… but it is made", { { NAME, 0, LH_NAME_PARTIAL, 1 },
				{ ROOT, 1, R | W, 2 } }, LH_WRITE,
	  LH_WHY_ALLOW, 2 },
	{ "… and removed, being empty of rules",
	  { { NAME, 0, LH_NAME_PARTIAL, 1 }, { ROOT, 1, R | W, 2 } },
	  LH_REMOVE, LH_WHY_ALLOW, 2 },
	{ "below such a name nothing is held",
	  { { NAME, 1, LH_NAME_PARTIAL, 1 }, { ROOT, 2, R | W, 2 } },
	  LH_MOVE, LH_WHY_ALLOW, 2 },

	{ "a name that may be written is",
	  { { NAME, 0, LH_NAME_WRITE, 1 }, { ROOT, 1, R, 2 } },
	  LH_READ | LH_WRITE | LH_REMOVE, LH_WHY_ALLOW, 1 },
	{ "… but nothing below it",
	  { { NAME, 1, LH_NAME_WRITE, 1 }, { ROOT, 2, R, 2 } },
	  LH_WRITE, LH_WHY_NOT_GRANTED, 0 },
	{ "… and no link comes there",
	  { { NAME, 0, LH_NAME_WRITE, 1 }, { ROOT, 1, R, 2 } },
	  LH_WRITE | LH_BECOME, LH_WHY_PINNED, 1 },
	{ "… nor a directory, nor a fifo",
	  { { NAME, 0, LH_NAME_WRITE, 1 }, { ROOT, 1, R, 2 } },
	  LH_WRITE | LH_ODD, LH_WHY_PINNED, 1 },
	{ "… which come where all may be written",
	  { { NAME, 1, LH_NAME_WRITE, 1 }, { ROOT, 1, R | W, 2 } },
	  LH_WRITE | LH_ODD, LH_WHY_ALLOW, 2 },
	{ "… and where only a longer name is one's",
	  { { NAME, 0, LH_NAME_PARTIAL, 1 }, { ROOT, 1, R | W, 2 } },
	  LH_WRITE | LH_ODD, LH_WHY_ALLOW, 2 },
	{ "… and a read-only root there is none the less",
	  { { ROOT, 0, RDONLY | R, 3 }, { NAME, 0, LH_NAME_WRITE, 1 } },
	  LH_WRITE, LH_WHY_READ_ONLY, 3 },

	{ "rights of the object itself", { { SELF, 0, R | X, 1 } },
	  LH_READ | LH_EXEC, LH_WHY_ALLOW, 1 },
	{ "… are none to what lies below it", { { SELF, 1, R | X, 1 } },
	  LH_READ, LH_WHY_NOT_GRANTED, 0 },
	{ "… and writing is not removing, when pinned",
	  { { SELF, 0, R | W | PIN, 1 } }, LH_REMOVE, LH_WHY_PINNED, 1 },

	{ "beyond a bind mount a deny holds",
	  { { ROOT, 0, R | W, 1 }, { ASIDE, 2, DENY, 2 } }, LH_READ,
	  LH_WHY_DENIED, 2 },
	{ "… and a protection", { { ROOT, 0, R | W, 1 },
				  { ASIDE, 2, PROTECT, 2 } }, LH_WRITE,
	  LH_WHY_PROTECTED, 2 },
	{ "… and a grant does not", { { ASIDE, 2, R | W, 1 } }, LH_READ,
	  LH_WHY_NOT_GRANTED, 0 },
};

TEST(every_row_of_the_table)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct lh_verdict v = judge(rows[i].met, 5, rows[i].access);

		EXPECT_EQ(rows[i].why, v.why)
			TH_LOG("%s", rows[i].what);
		EXPECT_EQ(rows[i].rule, v.rule)
			TH_LOG("%s", rows[i].what);
	}
}

/* Random walks: up to six things met, deepest first. */
static uint64_t state = 0x1d872b41;

static uint32_t rnd(uint32_t below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (state >> 11) % below;
}

static struct met random_met(int level)
{
	struct met m = { .kind = ROOT + rnd(5), .level = level,
			 .rule = 1 + rnd(100) };

	switch (m.kind) {
	case NAME:
		m.flags = rnd(0x2000) & LH_NAME_MASK;
		break;
	default:
		/* Sparse, or nearly every walk would be denied. */
		m.flags = rnd(0x100) & rnd(0x100);
		if (rnd(4))
			m.flags &= ~(DENY | PROTECT);
	}
	return m;
}

static size_t random_walk(struct met *met)
{
	size_t count = rnd(6), i;
	int level = 0;

	for (i = 0; i < count; i++) {
		met[i] = random_met(level);
		level += rnd(2);
	}
	return count;
}

static uint32_t random_access(void)
{
	return rnd(2) ? 1u << rnd(7) : 1 + rnd(0x7f);
}

/* @extra at @at, at the level of its neighbour. */
static void with(const struct met *met, size_t count, size_t at,
		 struct met extra, struct met *out)
{
	memcpy(out, met, at * sizeof(*met));
	extra.level = at < count ? met[at].level : count ?
		met[count - 1].level : 0;
	out[at] = extra;
	memcpy(out + at + 1, met + at, (count - at) * sizeof(*met));
}

TEST(adding_what_forbids_never_opens)
{
	static const struct met forbids[] = {
		{ ROOT, 0, DENY, 7 }, { ROOT, 0, PROTECT, 7 },
		{ NAME, 0, DENY, 7 }, { NAME, 0, PROTECT, 7 },
		{ NAME, 0, LH_NAME_PARTIAL, 7 }, { WILD, 0, 0, 7 },
		{ ROOT, 0, PIN, 7 }, { ASIDE, 0, DENY, 7 },
	};
	struct met met[8], more[9];
	int i, refused = 0;

	for (i = 0; i < 200000; i++) {
		size_t count = random_walk(met);
		uint32_t access = random_access();

		if (judge(met, count, access).why == LH_WHY_ALLOW)
			continue;
		refused++;
		with(met, count, rnd(count + 1),
		     forbids[rnd(ARRAY_SIZE(forbids))], more);
		ASSERT_NE(LH_WHY_ALLOW, judge(more, count + 1, access).why);
	}
	EXPECT_LT(50000, refused);
}

TEST(adding_a_grant_never_opens_what_is_denied)
{
	struct met met[8], more[9];
	int i, denied = 0;

	for (i = 0; i < 200000; i++) {
		size_t count = random_walk(met);
		uint32_t access = random_access();
		struct met grant = { rnd(2) ? ROOT : SELF, 0, R | W | X, 7 };
		struct lh_verdict v = judge(met, count, access), now;

		with(met, count, rnd(count + 1), grant, more);
		now = judge(more, count + 1, access);
		if (v.why == LH_WHY_DENIED || v.why == LH_WHY_PROTECTED ||
		    v.why == LH_WHY_PINNED) {
			denied++;
			ASSERT_EQ(v.why, now.why);
			ASSERT_EQ(v.rule, now.rule);
		}
		/* And a grant never closes anything. */
		if (v.why == LH_WHY_ALLOW)
			ASSERT_EQ(LH_WHY_ALLOW, now.why);
	}
	EXPECT_LT(20000, denied);
}

TEST(read_only_takes_and_never_gives_change)
{
	struct met met[8], more[9];
	int i;

	for (i = 0; i < 200000; i++) {
		size_t count = random_walk(met);
		uint32_t access = random_access() & CHANGE;
		struct met rdonly = { rnd(2) ? ROOT : NAME, 0, RDONLY, 7 };

		if (!access || judge(met, count, access).why == LH_WHY_ALLOW)
			continue;
		with(met, count, rnd(count + 1), rdonly, more);
		ASSERT_NE(LH_WHY_ALLOW, judge(more, count + 1, access).why);
	}
}

TEST(asking_for_more_is_never_granted_where_less_is_refused)
{
	struct met met[8];
	int i;

	for (i = 0; i < 200000; i++) {
		size_t count = random_walk(met);
		uint32_t access = random_access(), less = access & rnd(0x80);

		if (less && judge(met, count, less).why != LH_WHY_ALLOW)
			ASSERT_NE(LH_WHY_ALLOW,
				  judge(met, count, access).why);
	}
}

TEST(a_name_is_hashed_by_its_bytes_alone)
{
	union {
		__u64 words[32];
		char bytes[256];
	} a, b;
	__u64 seen[256];
	int i, k;

	memset(&a, 0, sizeof(a));
	memset(&b, 0xff, sizeof(b));
	for (i = 0; i <= LH_NAME_MAX; i++) {
		memset(b.bytes, 'x', i);
		memset(a.bytes, 'x', i);
		/* What follows the name in memory does not matter … */
		ASSERT_EQ(lh_name_hash(a.words, i), lh_name_hash(b.words, i));
		seen[i] = lh_name_hash(a.words, i);
		/* … its length does, */
		for (k = 0; k < i; k++)
			ASSERT_NE(seen[k], seen[i]);
		/* … and so does every byte of it. */
		for (k = 0; k < i; k++) {
			a.bytes[k] = 'y';
			ASSERT_NE(seen[i], lh_name_hash(a.words, i));
			a.bytes[k] = 'x';
		}
	}
	EXPECT_EQ(lh_len_bit(63), lh_len_bit(255));
	EXPECT_NE(lh_len_bit(62), lh_len_bit(63));
}

TEST_HARNESS_MAIN
