// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random policies on real trees against a model that knows only strings: no
 * inode, no link, no anchor. What the table says must be what the words of the
 * policy language say.
 */
#define _GNU_SOURCE
#include "../../bpf/decide.h"
#include "world.h"

#define CHANGE LH_CHANGES

FIXTURE(model) {
	struct world w;
};

FIXTURE_SETUP(model)
{
	ASSERT_EQ(0, world_begin(&self->w));
}

FIXTURE_TEARDOWN(model)
{
	EXPECT_EQ(0, world_end(&self->w));
}

static uint64_t state = 0x2545f491;

static uint32_t rnd(uint32_t below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (state >> 11) % below;
}

#define DEPTH 5

struct model_root {
	char path[64];
	uint32_t flags;
};

/* "a/b/c" of up to DEPTH components, each a letter of three. */
static void random_path(char *out)
{
	int depth = 1 + rnd(DEPTH), i;

	for (i = 0; i < depth; i++) {
		*out++ = 'a' + rnd(3);
		*out++ = '/';
	}
	out[-1] = 0;
}

static bool covers(const char *root, const char *path)
{
	size_t n = strlen(root);

	return strncmp(root, path, n) == 0 && (!path[n] || path[n] == '/');
}

/* What the policy language says, over strings; pins apart. */
static int model(const struct model_root *roots, int count, const char *path,
		 uint32_t access)
{
	uint32_t rights = 0, decides = 0;
	size_t deepest = 0, sockets = 0;
	bool denied = false;
	int i;

	for (i = 0; i < count; i++) {
		const struct model_root *r = &roots[i];
		size_t n = strlen(r->path);

		if (!covers(r->path, path))
			continue;
		denied |= !!(r->flags & DENY);
		rights |= r->flags & LH_ROOT_READ;
		if ((r->flags & LH_ROOT_SOCKET) && n > sockets)
			sockets = n;
		if (!(r->flags & (LH_ROOT_WRITE | LH_ROOT_RDONLY)) ||
		    n < deepest)
			continue;
		if (n > deepest)
			decides = 0;
		deepest = n;
		decides |= r->flags & (LH_ROOT_WRITE | LH_ROOT_RDONLY);
	}
	if (denied)
		return LH_WHY_DENIED;
	if (access == LH_CONNECT)
		return sockets ? LH_WHY_ALLOW : LH_WHY_NOT_GRANTED;
	if (access == LH_BIND && sockets &&
	    (!(decides & LH_ROOT_RDONLY) || sockets > deepest))
		return LH_WHY_ALLOW;
	if ((access & CHANGE) && (decides & LH_ROOT_RDONLY))
		return LH_WHY_READ_ONLY;
	if ((access & CHANGE) && !(decides & LH_ROOT_WRITE))
		return LH_WHY_NOT_GRANTED;
	if ((access & LH_READ) && !(rights & LH_ROOT_READ))
		return LH_WHY_NOT_GRANTED;
	return LH_WHY_ALLOW;
}

/* Whether @path leads to a root: @strictly, to one below it. */
static bool leads(const struct model_root *roots, int count, const char *path,
		  bool strictly)
{
	int i;

	for (i = 0; i < count; i++)
		if (covers(path, roots[i].path) &&
		    !(strictly && !strcmp(path, roots[i].path)))
			return true;
	return false;
}

/*
 * What leads to a root does not move; to the one that is there, neither does
 * it go. Where the model refuses anyway the reason may be either.
 */
static bool agree(const struct model_root *roots, int count, const char *path,
		  uint32_t access, int said)
{
	int m = model(roots, count, path, access);

	if (said == LH_WHY_PINNED)
		return (access & (LH_MOVE | LH_REMOVE)) &&
		       m != LH_WHY_DENIED && leads(roots, count, path, false);
	if (m == LH_WHY_ALLOW && (access & LH_MOVE) &&
	    leads(roots, count, path, true))
		return false;
	return said == m;
}

static void random_tree(struct world *w)
{
	char path[64];
	int i;

	for (i = 0; i < 12; i++) {
		char *p;

		random_path(path);
		for (p = path; (p = strchr(p, '/')); p++) {
			*p = 0;
			mkdir(at(w, path), 0755);
			*p = '/';
		}
		mkdir(at(w, path), 0755);
	}
}

/* Grants must exist; what forbids need not. */
static int random_roots(struct world *w, struct model_root *roots)
{
	static const uint32_t kinds[] = {
		R, RW, DENY, RDONLY, LH_ROOT_SOCKET,
	};
	int count = 1 + rnd(6), made = 0, i;

	for (i = 0; i < count; i++) {
		struct model_root *r = &roots[made];

		random_path(r->path);
		r->flags = kinds[rnd(5)];
		if (!(r->flags & (DENY | LH_ROOT_RDONLY | LH_ROOT_SOCKET)) &&
		    access(at(w, r->path), F_OK))
			continue;
		build_root(&w->b, at(w, r->path), r->flags | OPTIONAL,
			   r->flags & LH_ROOT_WRITE ? ROOT_WORKSPACE :
			   ROOT_PLAIN, "/r");
		/* What is not there is never written, and grants nothing. */
		if (access(at(w, r->path), F_OK))
			r->flags &= ~(R);
		made++;
	}
	return made;
}

TEST_F(model, random_policies_agree_with_the_words)
{
	static const uint32_t wants[] = {
		LH_READ, LH_WRITE, LH_REMOVE, LH_MOVE, LH_READ | LH_WRITE,
		LH_CONNECT, LH_BIND,
	};
	struct world *w = &self->w;
	struct model_root roots[8];
	unsigned int seen[LH_WHY_COUNT] = { 0 };
	char path[64];
	int round, i;

	for (round = 0; round < 400; round++) {
		char command[96];
		int count;

		build_free(&w->b);
		memset(&w->b, 0, sizeof(w->b));
		build_begin(&w->b);
		if (round % 40 == 0) {
			snprintf(command, sizeof(command), "rm -rf %s/*",
				 w->dir);
			ASSERT_EQ(0, system(command));
			random_tree(w);
		}
		count = random_roots(w, roots);
		ASSERT_EQ(0, resolve(w)) TH_LOG("%s", w->e.msg);
		for (i = 0; i < 60; i++) {
			uint32_t want = wants[rnd(7)];
			int k, n;

			random_path(path);
			k = why(w, path, want);
			ASSERT_TRUE(agree(roots, count, path, want, k)) {
				TH_LOG("round %d path %s want %#x: %d", round,
				       path, want, k);
				for (n = 0; n < count; n++)
					TH_LOG("%s %#x", roots[n].path,
					       roots[n].flags);
			}
			seen[k]++;
		}
	}
	EXPECT_LT(500, seen[LH_WHY_ALLOW]);
	EXPECT_LT(500, seen[LH_WHY_DENIED]);
	EXPECT_LT(500, seen[LH_WHY_NOT_GRANTED]);
	EXPECT_LT(100, seen[LH_WHY_READ_ONLY]);
	EXPECT_LT(100, seen[LH_WHY_PINNED]);
}

TEST_HARNESS_MAIN
