// SPDX-License-Identifier: GPL-2.0-only
/*
 * Two policies, verdict by verdict. Between two roots nothing changes, so it
 * is enough to ask at every root of either policy, and just below it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../bpf/decide.h"
#include "diff.h"
#include "diff-fields.h"

/* In the order in which they are told. */
static const struct {
	const char *word;
	uint32_t access;
} asks[] = {
	{ "read", LH_READ }, { "write", LH_WRITE }, { "remove", LH_REMOVE },
	{ "exec", LH_EXEC }, { "stat", LH_STAT },
};

#define ASKS (sizeof(asks) / sizeof(*asks))

/* What a policy answers at a path: a bit an ask, and the rule behind it. */
struct answers {
	uint32_t allows;
	uint16_t rule[ASKS];
};

/* A path at which either policy has a root. */
struct point {
	const char *path;
	size_t len;
	struct lh_root root[2];
	struct answers below[2];
};

/* All that the image says of one path, as the resolver merges it. */
static void merge(struct lh_root *out, const struct image_root *r)
{
	const uint32_t reads = LH_ROOT_READ | LH_ROOT_EXEC;
	const uint32_t writes = LH_ROOT_WRITE | LH_ROOT_DELETE;
	uint32_t flags = r->flags & LH_ROOT_MASK;

	if (r->flags & IMAGE_ROOT_SELF) {
		if (!out->self)
			out->rule_self = r->rule;
		out->self |= flags;
		return;
	}
	if ((flags & reads) && !(out->flags & reads))
		out->rule_read = r->rule;
	if ((flags & LH_ROOT_RDONLY) && !(out->flags & LH_ROOT_RDONLY))
		out->rule_write = r->rule;
	else if ((flags & writes) && !(out->flags & LH_TRAIL_WRITES))
		out->rule_write = r->rule;
	if ((flags & LH_ROOT_DENY) && !(out->flags & LH_ROOT_DENY))
		out->rule_deny = r->rule;
	else if ((flags & LH_ROOT_PROTECT) && !out->rule_deny)
		out->rule_deny = r->rule;
	if ((flags & LH_ROOT_SOCKET) && !(out->flags & LH_ROOT_SOCKET))
		out->rule_socket = r->rule;
	out->flags |= flags;
}

/* As the resolver leaves it: what is read-only is not writable there. */
static struct lh_root settled(struct lh_root r)
{
	if (r.flags & LH_ROOT_RDONLY)
		r.flags &= ~(LH_ROOT_WRITE | LH_ROOT_DELETE);
	return r;
}

static const char *root_path(const struct image *im, uint32_t i)
{
	return i < im->roots.count ?
		image_string(im, image_roots(im)[i].path) : NULL;
}

/* Both images have their roots by path: one pass over the two. */
static size_t make_points(const struct diff_side *s[2], struct point *points)
{
	const char *path, *other;
	uint32_t i[2] = { 0, 0 };
	struct point *pt;
	size_t n = 0;
	int k;

	while ((path = root_path(s[0]->im, i[0])),
	       (other = root_path(s[1]->im, i[1])), path || other) {
		if (!path || (other && strcmp(other, path) < 0))
			path = other;
		pt = &points[n++];
		*pt = (struct point){ .path = path, .len = strlen(path) };
		for (k = 0; k < 2; k++) {
			while ((other = root_path(s[k]->im, i[k])) &&
			       !strcmp(other, path))
				merge(&pt->root[k],
				      &image_roots(s[k]->im)[i[k]++]);
			pt->root[k] = settled(pt->root[k]);
		}
	}
	return n;
}

/* Some name directly above @pt, nearest first, or NULL. Points are sorted. */
static const struct point *above(const struct point *points, size_t n,
				 const char *path, size_t *len)
{
	size_t lo = 0, hi = n, mid;
	int c;

	while (*len > 1) {
		while (path[*len - 1] != '/')
			--*len;
		*len = *len > 1 ? *len - 1 : 1;
		for (lo = 0, hi = n; lo < hi;) {
			mid = (lo + hi) / 2;
			c = strncmp(points[mid].path, path, *len);
			if (!c && points[mid].len == *len)
				return &points[mid];
			if (c < 0 || (!c && points[mid].len < *len))
				lo = mid + 1;
			else
				hi = mid;
		}
	}
	return NULL;
}

static struct answers judge(const struct diff_side *s, int k,
			    const struct point *points, size_t n,
			    const struct point *pt, bool itself)
{
	struct answers out = { 0 };
	struct lh_trail t = { 0 };
	const struct point *at = pt;
	struct lh_verdict v;
	size_t len = pt->len, i;

	for (; at; at = above(points, n, pt->path, &len))
		lh_trail_root(&t, &at->root[k], itself && at == pt, false);
	for (i = 0; i < ASKS; i++) {
		v = lh_trail_judge(&t, asks[i].access);
		if (asks[i].access == LH_EXEC && v.why == LH_WHY_ALLOW &&
		    (s->im->flags & IMAGE_NO_EXEC))
			v.why = LH_WHY_NO_EXEC;
		if (v.why == LH_WHY_ALLOW)
			out.allows |= 1u << i;
		out.rule[i] = v.rule;
	}
	return out;
}

struct telling {
	const struct diff_side *s[2];
	diff_take *take;
	void *arg;
};

static enum diff_change change_of(const struct answers a[2], size_t i)
{
	uint32_t was = a[0].allows & (1u << i), is = a[1].allows & (1u << i);

	return was == is ? DIFF_KEEPS : is ? DIFF_OPENS : DIFF_CLOSES;
}

/* Tell what is not so at @pt as around it. */
static int tell_point(const struct telling *t, const struct point *pt,
		      const struct answers here[2],
		      const struct answers around[2], bool itself)
{
	enum diff_change change;
	struct diff_item item;
	char words[64];
	size_t i;
	int r = 0;

	for (change = DIFF_OPENS; !r && change <= DIFF_KEEPS; change++) {
		words[0] = 0;
		for (i = 0; i < ASKS; i++) {
			if (change_of(here, i) != change ||
			    change_of(around, i) == change)
				continue;
			/* The newer one's word: what it grants or refuses. */
			if (!*words)
				item.rule = image_rule(t->s[1]->im,
						       here[1].rule[i]);
			else
				strcat(words, ",");
			strcat(words, asks[i].word);
		}
		if (!*words)
			continue;
		item.change = change;
		item.what = words;
		item.object = pt->path;
		item.itself = itself;
		r = t->take(t->arg, &item);
	}
	return r;
}

static int tell_points(const struct telling *t, struct point *points,
		       size_t n)
{
	static const struct answers nothing[2];
	const struct answers *around;
	const struct point *up;
	struct answers self[2];
	size_t i, len;
	int r = 0, k;

	for (i = 0; i < n; i++)
		for (k = 0; k < 2; k++)
			points[i].below[k] = judge(t->s[k], k, points, n,
						   &points[i], false);
	for (i = 0; !r && i < n; i++) {
		len = points[i].len;
		up = above(points, n, points[i].path, &len);
		around = up ? up->below : nothing;
		r = tell_point(t, &points[i], points[i].below, around, false);
		if (r || !(points[i].root[0].self | points[i].root[1].self))
			continue;
		for (k = 0; k < 2; k++)
			self[k] = judge(t->s[k], k, points, n, &points[i],
					true);
		r = tell_point(t, &points[i], self, points[i].below, true);
	}
	return r;
}

int policy_diff(const struct diff_side *a, const struct diff_side *b,
		diff_take *take, void *arg)
{
	struct telling t = { .s = { a, b }, .take = take, .arg = arg };
	struct point *points;
	int r;

	points = calloc(a->im->roots.count + b->im->roots.count + 1,
			sizeof(*points));
	if (!points)
		return -ENOMEM;
	r = tell_points(&t, points, make_points(t.s, points));
	free(points);
	return r ? r : policy_diff_fields(a->p, b->p, take, arg);
}
