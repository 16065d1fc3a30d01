// SPDX-License-Identifier: GPL-2.0-only
/*
 * The laws of intersection, on random policies over a small tree and judged by
 * decide.h over the images: it grants what both grant and nothing else, a
 * policy under itself is itself, and the order of three does not matter.
 */
#include "compile_test.h"

#include "kselftest_harness.h"

#define PATHS_DEPTH 3

/* /a, /b, /a/a … /b/b/b, by number. */
static void path_of(unsigned int n, unsigned int depth, char *out)
{
	for (; depth--; n >>= 1) {
		*out++ = '/';
		*out++ = n & 1 ? 'b' : 'a';
	}
	*out = 0;
}

static void random_policy(struct policy *p, uint64_t *seed)
{
	static const char rule[] = "/x";
	struct place at = { .file = "t", .pointer = rule };
	struct diags d = { 0 };
	unsigned int n = dice(seed, 8) + 1, depth, i;
	enum policy_list list;
	char path[16];
	bool clash;

	policy_init(p, "t");
	p->presets = 0;
	p->listed[LIST_WORKSPACE] = true;
	while (n--) {
		/* Few denies: what is denied shows nothing else. */
		list = dice(seed, 12) ? dice(seed, LIST_DENY) : LIST_DENY;
		depth = dice(seed, PATHS_DEPTH) + 1;
		path_of(dice(seed, 8), depth, path);
		/* Both writable and read-only is an error of the language. */
		clash = false;
		for (i = 0; i < p->root_count; i++)
			clash |= !strcmp(p->roots[i].path, path) &&
				 (list == LIST_READ_ONLY) !=
				 (p->roots[i].list == LIST_READ_ONLY);
		if (!clash)
			policy_add_root(p, list, false,
					arena_copy(&p->mem, path,
						   strlen(path)), rule, &at,
					&d);
	}
	diags_free(&d);
}

static void random_switches(struct policy *p, uint64_t *seed)
{
	p->caps = dice(seed, CAP_ALL + 1);
	p->level = dice(seed, LEVEL_NETWORK + 1);
	p->limits.pids = dice(seed, 9) + 1;
}

static void copy_policy(struct policy *to, const struct policy *from)
{
	struct diags d = { 0 };
	size_t i;

	policy_init(to, from->source);
	to->presets = from->presets;
	to->caps = from->caps;
	to->level = from->level;
	to->limits = from->limits;
	to->listed[LIST_WORKSPACE] = true;
	for (i = 0; i < from->root_count; i++)
		policy_add_root(to, from->roots[i].list,
				from->roots[i].optional,
				arena_copy(&to->mem, from->roots[i].path,
					   strlen(from->roots[i].path)),
				from->roots[i].rule, &from->roots[i].at, &d);
	diags_free(&d);
}

/* inner ∩ outer; both stay as they are. */
static void meet(struct policy *out, const struct policy *inner,
		 const struct policy *outer)
{
	struct diags d = { 0 };

	copy_policy(out, inner);
	if (policy_intersect(out, outer, OUTER_CEILING, &here, &d))
		abort();
	diags_free(&d);
}

static struct image *lowered(const struct policy *p)
{
	struct image *im = NULL;
	struct diags d = { 0 };

	if (policy_lower(p, &here, &im, &d))
		abort();
	diags_free(&d);
	return im;
}

static const uint32_t wants[] = {
	LH_READ, LH_WRITE, LH_EXEC, LH_REMOVE, LH_STAT,
};

/* Each path of the tree and one below each, by each access. */
#define FOR_EACH_REQUEST(path, access) \
	for (unsigned int depth_ = 1; depth_ <= PATHS_DEPTH + 1; depth_++) \
	for (unsigned int n_ = 0; n_ < 1u << depth_; n_++) \
	for (unsigned int w_ = 0; path_of(n_, depth_, path), \
	     w_ < ARRAY_SIZE(wants) && (access = wants[w_], true); w_++)

TEST(it_grants_what_both_grant_and_nothing_else)
{
	struct policy a, b, ab;
	struct image *ia, *ib, *iab;
	uint64_t seed = 1;
	uint32_t access;
	char path[16];
	int i, all;

	for (i = 0; i < 150; i++) {
		random_policy(&a, &seed);
		random_policy(&b, &seed);
		all = i % 3;
		if (!all) {
			random_switches(&a, &seed);
			random_switches(&b, &seed);
		}
		meet(&ab, &a, &b);
		ia = lowered(&a);
		ib = lowered(&b);
		iab = lowered(&ab);
		FOR_EACH_REQUEST(path, access) {
			bool both = allowed(ia, path, access) &&
				    allowed(ib, path, access);
			bool got = allowed(iab, path, access);

			/* Of capabilities, delete and write do not meet. */
			EXPECT_TRUE(got == both || (!all && !got)) {
				TH_LOG("round %d: %s %x", i, path, access);
			}
		}
		EXPECT_LE(iab->limits.pids, ia->limits.pids);
		EXPECT_LE(iab->limits.pids, ib->limits.pids);
		free(ia);
		free(ib);
		free(iab);
		policy_free(&a);
		policy_free(&b);
		policy_free(&ab);
	}
}

TEST(a_policy_under_itself_is_itself)
{
	struct image *ia, *iaa;
	struct policy a, aa;
	uint64_t seed = 2;
	int i;

	for (i = 0; i < 25; i++) {
		random_policy(&a, &seed);
		random_switches(&a, &seed);
		meet(&aa, &a, &a);
		ia = lowered(&a);
		iaa = lowered(&aa);
		ASSERT_EQ(ia->size, iaa->size);
		EXPECT_EQ(0, memcmp(ia, iaa, ia->size));
		free(ia);
		free(iaa);
		policy_free(&a);
		policy_free(&aa);
	}
}

TEST(the_order_does_not_matter)
{
	struct policy p[3], ab, ab_c, bc, a_bc, c_ba, ba;
	struct image *im[3];
	uint64_t seed = 3;
	uint32_t access;
	char path[16];
	int i, k;

	for (i = 0; i < 25; i++) {
		for (k = 0; k < 3; k++) {
			random_policy(&p[k], &seed);
			random_switches(&p[k], &seed);
		}
		meet(&ab, &p[0], &p[1]);
		meet(&ab_c, &ab, &p[2]);
		meet(&bc, &p[1], &p[2]);
		meet(&a_bc, &p[0], &bc);
		meet(&ba, &p[1], &p[0]);
		meet(&c_ba, &p[2], &ba);
		im[0] = lowered(&ab_c);
		im[1] = lowered(&a_bc);
		im[2] = lowered(&c_ba);
		FOR_EACH_REQUEST(path, access) {
			bool want = allowed(im[0], path, access);

			EXPECT_EQ(want, allowed(im[1], path, access));
			EXPECT_EQ(want, allowed(im[2], path, access));
		}
		for (k = 0; k < 3; k++) {
			free(im[k]);
			policy_free(&p[k]);
		}
		policy_free(&ab);
		policy_free(&ab_c);
		policy_free(&bc);
		policy_free(&a_bc);
		policy_free(&ba);
		policy_free(&c_ba);
	}
}

TEST_HARNESS_MAIN
