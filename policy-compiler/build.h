/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An image under construction: its arrays, its strings (each kept once) and
 * its rules (likewise). The first failure stands until the end.
 */
#ifndef LH_BUILD_H
#define LH_BUILD_H

#include "image.h"

struct build_array {
	char *data;
	size_t used, room;	/* bytes */
};

struct build {
	struct build_array roots, protects, env, nets, ports, rules, strings;
	uint32_t *index;	/* hash table of string offsets */
	size_t index_size, index_used;
	int error;
};

/* Zero, then begin: rule 0 is "default". */
void build_begin(struct build *b);
void build_free(struct build *b);
image_str build_string(struct build *b, const char *s);
uint16_t build_rule(struct build *b, const char *text);
void build_root(struct build *b, const char *path, uint32_t flags,
		enum image_root_kind kind, const char *rule);
void build_protect(struct build *b, const char *name,
		   enum image_protect_kind kind, const char *rule);
void build_env(struct build *b, const char *name, const char *value);
void build_net(struct build *b, const struct image_net *n);
void build_port(struct build *b, const struct image_port *p);
/*
 * Lay everything out behind a copy of @head, with @filter and @policy, sort
 * the roots, and hash. *out is malloc'd. 0 or negative errno.
 */
int build_finish(struct build *b, const struct image *head,
		 const void *filter, size_t insns,
		 const char *policy, size_t policy_len, struct image **out);

#endif
