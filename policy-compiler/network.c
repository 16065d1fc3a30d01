// SPDX-License-Identifier: GPL-2.0-only
/*
 * The network's part of an image, and the look-up in it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "net.h"
#include "network.h"

#define WORK_MAX 100000000u	/* looks at rules; a second or so */

/* A rule, and its number in the image. */
struct said {
	struct policy_net net;
	uint16_t say, rule;
};

struct flat {
	struct build *b;
	struct said *all;
	size_t count;
	const struct said **cover;	/* those around the block at hand */
	size_t covers;
	unsigned int *edges;
	size_t work;
};

/* Which of two that cover the same port decides. */
static bool beats(const struct said *a, const struct said *b)
{
	if (!b)
		return true;
	if ((a->say == LH_SAY_DENY) != (b->say == LH_SAY_DENY))
		return a->say == LH_SAY_DENY;
	/* A range is opened by a rule for it or for a part of it. */
	if (a->say != b->say && a->net.prefix == b->net.prefix)
		return a->say == LH_SAY_ALLOW;
	return a->net.prefix > b->net.prefix;
}

static const struct said *decides(struct flat *f, unsigned int port,
				  unsigned int protocol)
{
	const struct said *best = NULL;
	size_t i;

	f->work += f->covers;
	for (i = 0; i < f->covers; i++) {
		const struct said *s = f->cover[i];

		if ((s->net.protocols & protocol) && port >= s->net.lo &&
		    port <= s->net.hi && beats(s, best))
			best = s;
	}
	return best;
}

/* @lo to @hi as blocks whose size is a power of two. */
static void emit_range(struct flat *f, uint32_t node, uint16_t protocol,
		       const struct said *s, unsigned int lo, unsigned int hi)
{
	while (lo <= hi) {
		unsigned int bits = 16;

		while (bits && !(lo & (0x10000u >> bits)) &&
		       lo + (0x20000u >> bits) - 1 <= hi)
			bits--;
		build_port(f->b, &(struct image_port){
			.node = node, .protocol = protocol, .bits = 16 + bits,
			.port = lo, .say = s->say, .rule = s->rule });
		lo += 0x10000u >> bits;
	}
}

static int edge_order(const void *x, const void *y)
{
	const unsigned int *a = x, *b = y;

	return (*a > *b) - (*a < *b);
}

static size_t edges_of(struct flat *f)
{
	size_t n = 0, i, kept = 0;

	f->edges[n++] = 0;
	f->edges[n++] = PORTS_COUNT;
	for (i = 0; i < f->covers; i++) {
		f->edges[n++] = f->cover[i]->net.lo;
		f->edges[n++] = f->cover[i]->net.hi + 1u;
	}
	qsort(f->edges, n, sizeof(*f->edges), edge_order);
	for (i = 0; i < n; i++)
		if (!kept || f->edges[kept - 1] != f->edges[i])
			f->edges[kept++] = f->edges[i];
	return kept;
}

static void emit_protocol(struct flat *f, uint32_t node, uint16_t number,
			  unsigned int protocol, size_t edges)
{
	const struct said *was = NULL, *is;
	unsigned int from = 0;
	size_t i;

	for (i = 0; i < edges; i++) {
		if (f->work > WORK_MAX) {
			f->b->error = f->b->error ? f->b->error : -E2BIG;
			return;
		}
		is = f->edges[i] == PORTS_COUNT ? NULL :
			decides(f, f->edges[i], protocol);
		if (is == was)
			continue;
		if (was)
			emit_range(f, node, number, was, from,
				   f->edges[i] - 1);
		was = is;
		from = f->edges[i];
	}
}

/* What the covering rules say, as ports below @node. */
static void emit_node(struct flat *f, uint32_t node)
{
	const struct said *s = decides(f, 0, NET_TCP);
	size_t edges = edges_of(f);

	if (edges == 2 && s == decides(f, 0, NET_UDP)) {
		if (s)
			build_port(f->b, &(struct image_port){
				.node = node, .say = s->say,
				.rule = s->rule });
		return;
	}
	emit_protocol(f, node, IPPROTO_TCP, NET_TCP, edges);
	emit_protocol(f, node, IPPROTO_UDP, NET_UDP, edges);
}

static bool around(const struct policy_net *a, const struct policy_net *b)
{
	struct policy_net all = *a;

	all.lo = 0;
	all.hi = 65535;
	all.protocols = NET_TCP | NET_UDP;
	return net_covers(&all, b);
}

/* By family, length, address: the same block in a run. */
static int said_order(const void *x, const void *y)
{
	const struct policy_net *a = &((const struct said *)x)->net;
	const struct policy_net *b = &((const struct said *)y)->net;
	int n = memcmp(a->addr, b->addr, sizeof(a->addr));

	if (a->v6 != b->v6)
		return a->v6 ? 1 : -1;
	if (a->prefix != b->prefix)
		return a->prefix < b->prefix ? -1 : 1;
	if (n)
		return n;
	/* A total order, so that qsort's own way does not show. */
	n = ((const struct said *)x)->rule - ((const struct said *)y)->rule;
	return n;
}

static bool same_block(const struct policy_net *a, const struct policy_net *b)
{
	return around(a, b) && around(b, a);
}

static void emit_blocks(struct flat *f)
{
	uint32_t node = LH_NODE_FIRST;
	size_t i, k;

	qsort(f->all, f->count, sizeof(*f->all), said_order);
	for (i = 0; i < f->count && !f->b->error; i++) {
		const struct policy_net *n = &f->all[i].net;
		struct image_net out = {
			.family = n->v6 ? AF_INET6 : AF_INET,
			.prefix = n->prefix, .node = node,
		};

		if (i && same_block(&f->all[i - 1].net, n))
			continue;
		f->covers = 0;
		f->work += f->count;
		for (k = 0; k < f->count; k++)
			if (around(&f->all[k].net, n))
				f->cover[f->covers++] = &f->all[k];
		memcpy(out.addr, n->addr, sizeof(out.addr));
		build_net(f->b, &out);
		emit_node(f, node++);
	}
}

static bool flat_room(struct flat *f, size_t count)
{
	f->all = calloc(count + 1, sizeof(*f->all));
	f->cover = calloc(count + 1, sizeof(*f->cover));
	f->edges = calloc(2 * count + 2, sizeof(*f->edges));
	if (f->all && f->cover && f->edges)
		return true;
	f->b->error = f->b->error ? f->b->error : -ENOMEM;
	return false;
}

static void flat_free(struct flat *f)
{
	free(f->all);
	free(f->cover);
	free(f->edges);
}

static void lower_egress(const struct policy *p, struct build *b)
{
	struct flat f = { .b = b };
	char rule[64];
	size_t i;
	int deny;

	if (!flat_room(&f, p->net_count + NET_SPECIALS)) {
		flat_free(&f);
		return;
	}
	/* Allows first, then denies: as policy_print() writes them. */
	for (deny = 0; deny < 2; deny++)
		for (i = 0; i < p->net_count; i++) {
			if (p->net[i].deny != deny)
				continue;
			f.all[f.count++] = (struct said){
				.net = p->net[i],
				.say = deny ? LH_SAY_DENY : LH_SAY_ALLOW,
				.rule = build_rule(b, p->net[i].rule),
			};
		}
	for (i = 0; i < NET_SPECIALS; i++) {
		struct said *s = &f.all[f.count++];

		net_parse(net_special(i), &s->net);
		snprintf(rule, sizeof(rule), "builtin:egress/%s", net_special(i));
		s->say = LH_SAY_SPECIAL;
		s->rule = build_rule(b, rule);
	}
	emit_blocks(&f);
	flat_free(&f);
}

static bool lower_ports(const struct policy *p, struct build *b,
			enum policy_port_list list, uint32_t node)
{
	struct flat f = { .b = b };
	bool room = flat_room(&f, p->port_count);
	size_t i;

	for (i = 0; room && i < p->port_count; i++) {
		const struct policy_ports *r = &p->ports[i];
		struct said *s = &f.all[f.count];
		const char *rule = r->at.pointer;

		if (r->list != list)
			continue;
		s->net = (struct policy_net){ .lo = r->lo, .hi = r->hi,
			.protocols = NET_TCP | NET_UDP };
		s->say = LH_SAY_ALLOW;
		s->rule = build_rule(b, rule && *rule ? rule : r->at.file);
		f.cover[f.covers++] = s;
		f.count++;
	}
	if (f.covers && !b->error)
		emit_node(&f, node);
	flat_free(&f);
	return f.covers;
}

uint32_t network_lower(const struct policy *p, struct build *b)
{
	uint32_t flags = 0;

	if (p->grants & GRANT_LOOPBACK_TCP)
		flags |= LH_SESSION_LOOP_TCP;
	if (p->grants & GRANT_LOOPBACK_UDP)
		flags |= LH_SESSION_LOOP_UDP;
	if (p->bind_any == BIND_ANY_LOOPBACK)
		flags |= LH_SESSION_NARROW;
	if (lower_ports(p, b, PORTS_LOOPBACK, LH_NODE_LOOPBACK))
		flags |= LH_SESSION_PORTS;
	if (lower_ports(p, b, PORTS_PUBLISH, LH_NODE_PUBLISH))
		flags |= LH_SESSION_PUBLISH;
	if (p->level < LEVEL_NETWORK)
		return flags;
	if (p->egress_default == EGRESS_ALLOW)
		flags |= LH_SESSION_ALLOW;
	lower_egress(p, b);
	return flags | LH_SESSION_EGRESS;
}

/* --- the look-up */

static bool port_in(const struct image_port *p, const struct lh_dest *d)
{
	unsigned int shift;

	if (!p->bits)
		return true;
	shift = 32 - p->bits;
	return p->protocol == d->protocol &&
	       d->port >> shift == p->port >> shift;
}

static const struct image_port *port_find(const struct image *im,
					  uint32_t node,
					  const struct lh_dest *d)
{
	const struct image_port *p = image_ports(im);
	size_t i;

	for (i = 0; i < im->ports.count; i++)
		if (p[i].node == node && port_in(&p[i], d))
			return &p[i];
	return NULL;
}

static const struct image_net *net_find(const struct image *im,
					const struct lh_dest *d)
{
	const struct image_net *n = image_nets(im), *best = NULL;
	struct policy_net to = { .v6 = d->family == AF_INET6 }, block;
	size_t i;

	memcpy(to.addr, d->addr, sizeof(to.addr));
	to.prefix = to.v6 ? 128 : 32;
	for (i = 0; i < im->nets.count; i++) {
		block = (struct policy_net){ .v6 = n[i].family == AF_INET6,
			.prefix = n[i].prefix };
		memcpy(block.addr, n[i].addr, sizeof(block.addr));
		if (around(&block, &to) &&
		    (!best || n[i].prefix > best->prefix))
			best = &n[i];
	}
	return best;
}

void network_reach(const struct image *im, const struct lh_dest *d,
		   struct lh_reached *v)
{
	const struct image_port *e = NULL, *p = NULL;
	const struct image_net *n = net_find(im, d);
	struct lh_port_rule egress, port;

	if (n)
		e = port_find(im, n->node, d);
	if (im->net_flags & LH_SESSION_PORTS)
		p = port_find(im, LH_NODE_LOOPBACK, d);
	if (e)
		egress = (struct lh_port_rule){ e->say, e->rule };
	if (p)
		port = (struct lh_port_rule){ p->say, p->rule };
	lh_decide_reach(im->net_flags, d, e ? &egress : NULL,
			p ? &port : NULL, v);
}

const struct image_port *network_published(const struct image *im,
					   const struct lh_dest *d)
{
	return port_find(im, LH_NODE_PUBLISH, d);
}
