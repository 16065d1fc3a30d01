/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For tests of the compiler: a context that no machine has, a policy compiled
 * in it, and a judge of images: decide.h over the image's roots as text.
 */
#ifndef COMPILE_TEST_H
#define COMPILE_TEST_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../bpf/decide.h"
#include "../../policy-compiler/compile.h"

static const struct context here = {
	.workspace = "/w", .user = "u", .home = "/home/u",
	.homes = { "/home/u", "/root", "/home/asker" }, .home_count = 3,
};

/* Compile @text; *said: what the diagnostics print. Both to be freed. */
static inline struct image *compile_here(const char *text,
					 const struct compile_options *o,
					 char **said)
{
	const struct compile_options plain = { .context = &here };
	struct image *im = NULL;
	struct diags d = { 0 };
	size_t len;
	FILE *f = open_memstream(said, &len);
	int r = compile_text(text, strlen(text), "t.json", "/base",
			     o ? o : &plain, &im, &d);

	diags_print(&d, f, "");
	fclose(f);
	if ((r == 0) != (d.errors == 0))
		abort();
	diags_free(&d);
	return r ? NULL : im;
}

/*
 * One table entry of all the roots at @path, as the resolver merges them. They
 * are
 * sorted by path.
 */
static inline struct lh_root merge_at(const struct image *im, const char *path)
{
	const struct image_root *r = image_roots(im);
	size_t i = 0, end = im->roots.count, mid;
	struct lh_root out = { 0 };

	while (i < end) {
		mid = (i + end) / 2;
		if (strcmp(image_string(im, r[mid].path), path) < 0)
			i = mid + 1;
		else
			end = mid;
	}
	for (; i < im->roots.count; i++) {
		if (strcmp(image_string(im, r[i].path), path))
			break;
		if (r[i].flags & IMAGE_ROOT_SELF)
			out.self |= r[i].flags & LH_ROOT_MASK;
		else
			out.flags |= r[i].flags & LH_ROOT_MASK;
	}
	if (out.flags & LH_ROOT_RDONLY)
		out.flags &= ~(LH_ROOT_WRITE | LH_ROOT_DELETE);
	return out;
}

static inline bool allowed(const struct image *im, const char *path,
			   uint32_t access)
{
	char at[LH_PATH_MAX];
	struct lh_trail t = { 0 };
	struct lh_root r;
	char *slash;
	bool self = true;

	strcpy(at, path);
	for (;;) {
		r = merge_at(im, at);
		lh_trail_root(&t, &r, self, false);
		self = false;
		if (!strcmp(at, "/"))
			break;
		slash = strrchr(at, '/');
		slash[slash == at] = 0;
	}
	return lh_trail_judge(&t, access).why == LH_WHY_ALLOW;
}

/* A small, fast generator: the same numbers on every machine. */
static inline uint32_t dice(uint64_t *seed, uint32_t sides)
{
	*seed = *seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)(*seed >> 33) % sides;
}

#endif
