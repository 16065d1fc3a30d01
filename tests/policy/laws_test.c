// SPDX-License-Identifier: GPL-2.0-only
/*
 * The laws of the language on random policies that use all of it: what is
 * printed reads back as the same, and an intersection grants nothing that
 * either side refuses, whatever is asked: files, loopback, ports, sockets,
 * destinations, tracing, variables, protected names.
 */
#define _GNU_SOURCE
#include "random_policy.h"
#include "../../policy-compiler/net.h"
#include "../../policy-compiler/network.h"

#include "kselftest_harness.h"

/* Under the sanitizers, and beside other work, more than the harness grants. */
#ifdef TEST_TIMEOUT_DEFAULT
#undef TEST_TIMEOUT_DEFAULT
#define TEST_TIMEOUT_DEFAULT 300
#endif

#define ROUNDS 300

static struct compiled *model(const char *text)
{
	const struct compile_options o = { .context = &here, .lenient = true };
	struct compiled *k = NULL;
	struct diags d = { 0 };

	if (compile_model_text(text, strlen(text), "t.json", "/", &o, &k,
			       &d)) {
		diags_print(&d, stdout, "# ");
		printf("# %s\n", text);
		abort();
	}
	diags_free(&d);
	return k;
}

static struct image *lowered(struct compiled *k)
{
	const struct compile_options o = { .context = &here };
	struct image *im = NULL;
	struct diags d = { 0 };

	if (compiled_lower(k, &o, &im, &d))
		abort();
	diags_free(&d);
	return im;
}

static char *printed(struct compiled *k)
{
	char *text = NULL;
	size_t len;

	if (policy_print(compiled_policy(k), &text, &len))
		abort();
	return text;
}

/* --- what can be asked, as one bit each; a policy's answers to all of it */

#define REQUESTS 512

struct answers {
	bool yes[REQUESTS];
	size_t n;
	size_t own;		/* from here on: not the inner policy's */
};

static void say(struct answers *a, bool yes)
{
	if (a->n == REQUESTS)
		abort();
	a->yes[a->n++] = yes;
}

static void ask_files(struct answers *a, const struct image *im)
{
	static const uint32_t access[] = {
		LH_READ, LH_WRITE, LH_EXEC, LH_REMOVE,
	};
	unsigned int depth, n, i, k;
	char path[16];

	for (depth = 1; depth <= 3; depth++)
		for (n = 0; n < 1u << depth; n++) {
			for (i = 0; i < depth; i++)
				strcpy(path + 2 * i, n >> i & 1 ? "/a" : "/b");
			for (k = 0; k < 4; k++)
				say(a, allowed(im, path, access[k]) &&
				    (access[k] != LH_EXEC ||
				     !(im->flags & IMAGE_NO_EXEC)));
		}
}

static void ask_nets(struct answers *a, const struct image *im)
{
	static const char *const to[] = {
		"10.9.1.1", "10.9.1.2", "10.9.2.1", "10.1.1.1", "192.0.2.7",
		"192.0.2.8", "2001:db8::1", "2001:db9::1",
	};
	static const int ports[] = { 1, 12, 22 };
	struct policy_net one;
	struct lh_reached v;
	struct lh_dest d;
	unsigned int i, k, u;

	for (i = 0; i < 8; i++)
		for (k = 0; k < 3; k++)
			for (u = 0; u < 2; u++) {
				if (net_parse(to[i], &one))
					abort();
				d.family = one.v6 ? LH_AF_INET6 : LH_AF_INET;
				memcpy(d.addr, one.addr, sizeof(d.addr));
				d.port = ports[k];
				d.protocol = u ? LH_UDP : LH_TCP;
				network_reach(im, &d, &v);
				say(a, v.reach == LH_REACH_ANY);
			}
}

static bool has_port(const struct policy *p, enum policy_port_list list,
		     unsigned int port)
{
	size_t i;

	for (i = 0; i < p->port_count; i++)
		if (p->ports[i].list == list && p->ports[i].lo <= port &&
		    p->ports[i].hi >= port)
			return true;
	return false;
}

static bool has_socket(const struct policy *p, const char *path)
{
	size_t i;

	for (i = 0; i < p->root_count; i++)
		if (p->roots[i].list == LIST_SOCKET &&
		    root_covers(p->roots[i].path, path))
			return true;
	return false;
}

/* Loopback, ports, sockets, tracing: in a session these are the outer one's. */
static void ask_grants(struct answers *a, const struct policy *p)
{
	static const char *const sockets[] = {
		"/a/s", "/b/s", "/a/b/s", "/b/a/a/s",
	};
	unsigned int i;

	a->own = a->n;
	for (i = 0; i < 4; i++)
		say(a, p->grants & 1u << i);
	say(a, p->bind_any == BIND_ANY_LOOPBACK);
	for (i = 1; i <= 32; i++) {
		say(a, has_port(p, PORTS_LOOPBACK, i));
		say(a, has_port(p, PORTS_PUBLISH, i));
	}
	for (i = 0; i < 4; i++)
		say(a, has_socket(p, sockets[i]));
}

/* May the name be written, as far as protection goes? */
static bool spares(const struct policy *p, const char *name, bool listed)
{
	bool spared = !listed || policy_excludes(p, name);
	size_t i;

	for (i = 0; i < p->protect_count; i++)
		if (!p->protects[i].exclude &&
		    !strcmp(p->protects[i].name, name))
			spared = false;
	return spared;
}

static void ask_rest(struct answers *a, const struct policy *p)
{
	static const char *const listed[] = {
		".git/hooks", ".git/config", "**/.git/hooks", "~/.bashrc",
	};
	static const char *const added[] = { "k", "a/k", "**/a/k", "b" };
	bool passes = p->env_mode == ENV_INHERITED;
	unsigned int i;

	for (i = 0; i < 4; i++) {
		say(a, spares(p, listed[i], true));
		say(a, spares(p, added[i], false));
	}
	for (i = 0; i < p->env_count; i++)
		passes |= !strcmp(p->env[i].name, "A");
	say(a, passes);
	for (i = 0; i < 100; i += 9)
		say(a, p->limits.pids >= i);
	for (i = 0; i < 400; i += 40)
		say(a, p->limits.cpu >= i);
	say(a, p->mode == MODE_REPORT);
	say(a, p->on_loss == LOSS_CONTINUE);
	say(a, p->profile == PROFILE_WORKTREE);
}

static struct answers ask(struct compiled *k)
{
	struct answers a = { .n = 0 };
	struct image *im = lowered(k);

	ask_files(&a, im);
	ask_nets(&a, im);
	ask_rest(&a, compiled_policy(k));
	ask_grants(&a, compiled_policy(k));
	free(im);
	return a;
}

/* inner ∩ outer, as new text: nothing is shared with the two. */
static struct compiled *meet(struct compiled *inner, struct compiled *outer,
			     enum policy_outer kind)
{
	char *text = printed(inner);
	struct compiled *k = model(text), *out;
	struct diags d = { 0 };

	if (policy_intersect(compiled_policy(k), compiled_policy(outer), kind,
			     &here, &d))
		abort();
	diags_free(&d);
	free(text);
	text = printed(k);
	out = model(text);
	free(text);
	compiled_free(k);
	return out;
}

static struct compiled *random_model(uint64_t *seed)
{
	static struct text t;

	a_policy(&t, seed);
	return model(t.s);
}

TEST(what_is_printed_is_the_same_policy)
{
	uint64_t seed = 11;
	int i;

	for (i = 0; i < ROUNDS; i++) {
		struct compiled *k = random_model(&seed), *again;
		struct image *im = lowered(k), *im2;
		char *one = printed(k), *two;

		again = model(one);
		im2 = lowered(again);
		two = printed(again);
		ASSERT_STREQ(one, two);
		ASSERT_EQ(im->size, im2->size);
		ASSERT_EQ(0, memcmp(im, im2, im->size));
		free(im);
		free(im2);
		free(one);
		free(two);
		compiled_free(k);
		compiled_free(again);
	}
}

TEST(an_intersection_grants_nothing_that_either_refuses)
{
	uint64_t seed = 12;
	unsigned int granted = 0, kind;
	size_t k;
	int i;

	for (i = 0; i < ROUNDS; i++) {
		struct compiled *a = random_model(&seed);
		struct compiled *b = random_model(&seed);
		struct answers aa = ask(a), bb = ask(b), ab;

		for (kind = OUTER_CEILING; kind <= OUTER_SESSION; kind++) {
			struct compiled *m = meet(a, b, kind);

			ab = ask(m);
			for (k = 0; k < ab.n; k++) {
				bool may = aa.yes[k] && bb.yes[k];

				/* Neither brought in nor erased. */
				if (kind == OUTER_SESSION && k >= ab.own)
					may = ab.yes[k] == bb.yes[k];
				else
					may |= !ab.yes[k];
				ASSERT_TRUE(may) {
					TH_LOG("round %d, request %zu", i, k);
				}
				granted += ab.yes[k];
			}
			compiled_free(m);
		}
		compiled_free(a);
		compiled_free(b);
	}
	EXPECT_LT(10000, granted);
}

TEST(it_grants_what_both_grant)
{
	uint64_t seed = 13;
	size_t k;
	int i;

	for (i = 0; i < ROUNDS; i++) {
		struct compiled *a = random_model(&seed);
		struct compiled *b = random_model(&seed);
		struct compiled *m = meet(a, b, OUTER_CEILING);
		struct answers aa = ask(a), bb = ask(b), ab = ask(m);

		for (k = 0; k < ab.n; k++) {
			ASSERT_TRUE(ab.yes[k] || !(aa.yes[k] && bb.yes[k])) {
				TH_LOG("round %d, request %zu", i, k);
				TH_LOG("%s\n%s\n%s", printed(a), printed(b), printed(m));
			}
		}
		compiled_free(a);
		compiled_free(b);
		compiled_free(m);
	}
}

TEST(a_policy_inside_itself_is_itself)
{
	uint64_t seed = 14;
	unsigned int kind;
	int i;

	for (i = 0; i < ROUNDS; i++) {
		struct compiled *a = random_model(&seed);
		char *one = printed(a), *two;

		for (kind = OUTER_CEILING; kind <= OUTER_SESSION; kind++) {
			struct compiled *m = meet(a, a, kind);

			two = printed(m);
			ASSERT_STREQ(one, two);
			free(two);
			compiled_free(m);
		}
		free(one);
		compiled_free(a);
	}
}

/* Three policies, innermost first, in one order and one grouping. */
static struct answers of_three(struct compiled *p[3], const int *order,
			       bool right, enum policy_outer kind)
{
	struct compiled *two, *all;
	struct answers a;

	two = right ? meet(p[order[1]], p[order[2]], kind) :
		meet(p[order[0]], p[order[1]], kind);
	all = right ? meet(p[order[0]], two, kind) :
		meet(two, p[order[2]], kind);
	a = ask(all);
	compiled_free(two);
	compiled_free(all);
	return a;
}

TEST(the_order_of_three_does_not_matter)
{
	static const int orders[6][3] = {
		{ 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 }, { 1, 2, 0 },
		{ 2, 0, 1 }, { 2, 1, 0 },
	};
	struct answers first, other;
	struct compiled *p[3];
	uint64_t seed = 15;
	int i, k;

	for (i = 0; i < ROUNDS / 6; i++) {
		for (k = 0; k < 3; k++)
			p[k] = random_model(&seed);
		first = of_three(p, orders[0], false, OUTER_CEILING);
		for (k = 0; k < 12; k++) {
			other = of_three(p, orders[k / 2], k & 1,
					 OUTER_CEILING);
			ASSERT_EQ(0, memcmp(first.yes, other.yes, first.n)) {
				TH_LOG("round %d, order %d", i, k);
			}
		}
		/* In sessions who is outside matters, but not the grouping. */
		first = of_three(p, orders[0], false, OUTER_SESSION);
		other = of_three(p, orders[0], true, OUTER_SESSION);
		ASSERT_EQ(0, memcmp(first.yes, other.yes, first.n));
		for (k = 0; k < 3; k++)
			compiled_free(p[k]);
	}
}

TEST_HARNESS_MAIN
