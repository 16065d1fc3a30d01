// SPDX-License-Identifier: GPL-2.0-only
/*
 * Roots by path.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../bpf/decide.h"
#include "index.h"

static uint64_t hash(const char *s, size_t len)
{
	uint64_t h = LH_HASH_SEED;

	while (len--)
		h = (h ^ (unsigned char)*s++) * 0x100000001b3ULL;
	return lh_hash_word(h, 0);
}

/* The slot's root of just this path, or SLOTS_NONE. */
static uint32_t find(const struct root_index *x, uint64_t h, const char *path,
		     size_t len)
{
	const char *other;
	size_t at = 0;
	uint32_t i;

	while ((i = slots_next(&x->slots, h, &at)) != SLOTS_NONE) {
		other = x->p->roots[i].path;
		if (!strncmp(other, path, len) && !other[len])
			return i;
	}
	return SLOTS_NONE;
}

/* A slot has the first root of a path, on a ring of all that have it. */
int index_begin(struct root_index *x, const struct policy *p)
{
	uint32_t *count = calloc(p->root_count + 1, sizeof(*count));
	uint32_t i, first;
	const char *path;
	uint64_t h;

	*x = (struct root_index){ .p = p };
	x->next = calloc(p->root_count + 1, sizeof(*x->next));
	for (i = 0; x->next && count && i < p->root_count; i++) {
		path = p->roots[i].path;
		h = hash(path, strlen(path));
		first = find(x, h, path, strlen(path));
		if (first == SLOTS_NONE && slots_add(&x->slots, h, i))
			break;
		if (first == SLOTS_NONE)
			first = x->next[i] = i;
		x->next[i] = x->next[first];
		x->next[first] = i;
		if (++count[first] > INDEX_SAME_MAX && !x->crowd)
			x->crowd = &p->roots[i];
	}
	free(count);
	if (x->next && count && i == p->root_count)
		return 0;
	index_end(x);
	return -ENOMEM;
}

void index_end(struct root_index *x)
{
	slots_free(&x->slots);
	free(x->next);
	x->next = NULL;
}

/* *at: one more than the number of the root that came last. */
const struct policy_root *index_next(const struct root_index *x,
				     const char *path, size_t len, size_t *at)
{
	uint32_t first = find(x, hash(path, len), path, len);
	uint32_t i = *at && first != SLOTS_NONE ? x->next[*at - 1] : first;

	if (i == SLOTS_NONE || (*at && i == first))
		return NULL;
	*at = i + 1;
	return &x->p->roots[i];
}

size_t index_parent(const char *path, size_t len)
{
	if (len == 1)
		return 0;
	while (path[len - 1] != '/')
		len--;
	return len > 1 ? len - 1 : 1;
}
