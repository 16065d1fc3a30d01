// SPDX-License-Identifier: GPL-2.0-only
/*
 * Roots by path.
 */
#include <errno.h>
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

int index_begin(struct root_index *x, const struct policy *p)
{
	const char *path;
	size_t i;

	*x = (struct root_index){ .p = p };
	for (i = 0; i < p->root_count; i++) {
		path = p->roots[i].path;
		if (slots_add(&x->slots, hash(path, strlen(path)), i)) {
			index_end(x);
			return -ENOMEM;
		}
	}
	return 0;
}

void index_end(struct root_index *x)
{
	slots_free(&x->slots);
}

const struct policy_root *index_next(const struct root_index *x,
				     const char *path, size_t len, size_t *at)
{
	uint64_t h = hash(path, len);
	const struct policy_root *r;
	uint32_t i;

	while ((i = slots_next(&x->slots, h, at)) != SLOTS_NONE) {
		r = &x->p->roots[i];
		if (!strncmp(r->path, path, len) && !r->path[len])
			return r;
	}
	return NULL;
}

size_t index_parent(const char *path, size_t len)
{
	if (len == 1)
		return 0;
	while (path[len - 1] != '/')
		len--;
	return len > 1 ? len - 1 : 1;
}
