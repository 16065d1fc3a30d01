/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The network in an image: flags, and the rules of egress laid flat. Each block
 * of addresses says what all blocks around it say too, so the longest that an
 * address lies in decides alone.
 */
#ifndef LH_NETWORK_H
#define LH_NETWORK_H

#include "../bpf/decide-net.h"
#include "build.h"
#include "policy.h"

/* Adds to @b what @p says; the image's net_flags. */
uint32_t network_lower(const struct policy *p, struct build *b);

/* As the kernel looks: what @im says of reaching @d. */
void network_reach(const struct image *im, const struct lh_dest *d,
		   struct lh_reached *v);
/* Whether a port of the session's is open to the host; its rule, or NULL. */
const struct image_port *network_published(const struct image *im,
					   const struct lh_dest *d);

#endif
