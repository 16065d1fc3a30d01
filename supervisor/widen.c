// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the command line granted beyond the policy, as it came out: expanded,
 * and without what a ceiling took away again. A long list goes on in another
 * line; nothing stays unsaid.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "../policy-compiler/edit.h"
#include "../policy-compiler/policy.h"
#include "confine.h"
#include "say.h"

struct list {
	const struct run *r;
	char text[7000];
	size_t used;
	bool begun;
	void (*each)(const char *item, void *arg);	/* NULL: said */
	void *arg;
};

static void list_end(struct list *l)
{
	const char *state = l->r->result.confinement == CONFINE_FULL ?
			    "active" : "partly active";

	if (!l->used)
		return;
	say("sandbox %s%s; %s", state, l->begun ? ", and further" : "",
	    l->text);
	l->used = 0;
	l->begun = true;
}

__attribute__((format(printf, 2, 3)))
static void list_add(struct list *l, const char *fmt, ...)
{
	char item[4400];	/* a path and some words */
	va_list args;
	size_t len;

	va_start(args, fmt);
	vsnprintf(item, sizeof(item), fmt, args);
	va_end(args);
	if (l->each) {
		l->each(item, l->arg);
		return;
	}
	len = strlen(item);
	if (l->used + len + 3 > sizeof(l->text))
		list_end(l);
	l->used += snprintf(l->text + l->used, sizeof(l->text) - l->used,
			    "%s%s", l->used ? "; " : "", item);
}

static void add_roots(struct list *l)
{
	const struct image *im = l->r->load.im;
	const struct image_root *root = image_roots(im);
	size_t i;

	for (i = 0; i < im->roots.count; i++, root++) {
		const char *kind = root->flags & LH_ROOT_WRITE ? "write" :
				   root->flags & LH_ROOT_DELETE ? "delete" :
				   root->flags & LH_ROOT_RDONLY ? "read-only" :
				   root->flags & LH_ROOT_SOCKET ? "socket" :
				   "read";

		if (!(root->flags & LH_ROOT_DENY) &&
		    !strncmp(image_rule(im, root->rule), "flag:", 5))
			list_add(l, "extra %s root: %s", kind,
				 image_string(im, root->path));
	}
}

static void add_words(struct list *l, const char *what,
		      const struct option_words *w)
{
	unsigned int i;

	for (i = 0; i < w->count; i++)
		list_add(l, "%s: %s", what, w->word[i]);
}

/* Does any rule of the policy, as it came out, let something out? */
static bool lets_out(const struct image *im)
{
	struct json_doc doc = {};
	struct diags d = {};
	const struct json *allow, *otherwise;
	bool yes = false;

	if (!json_parse((const char *)im + im->policy.offset, im->policy.count,
			"", &doc, &d)) {
		allow = edit_find(&doc, "/egress/allow");
		otherwise = edit_find(&doc, "/egress/default");
		yes = (allow && allow->count) ||
		      (otherwise && otherwise->type == JSON_STRING &&
		       !strcmp(otherwise->text, "allow"));
	}
	json_free(&doc);
	diags_free(&d);
	return yes && im->level == LEVEL_NETWORK;
}

static void add_network(struct list *l)
{
	const struct options *o = &l->r->o;

	if (o->loopback)
		list_add(l, "loopback inside the session");
	add_words(l, "host's loopback port", &o->loopback_ports);
	add_words(l, "published port", &o->publish_ports);
	if (o->network && !lets_out(l->r->load.im))
		list_add(l, "network, but no rule allows any destination: "
			 "everything is still refused");
	else if (o->network)
		list_add(l, "network, as far as egress rules allow");
	add_words(l, "egress allowed", &o->egress);
}

static void add_all(struct list *l)
{
	const struct run *r = l->r;
	unsigned int i;

	/* Where nothing is confined, that was said, and it is more. */
	if (r->result.confinement == CONFINE_NONE)
		return;
	add_roots(l);
	for (i = 0; i < r->load.lifted_count; i++)
		list_add(l, "credential: %s", r->load.lifted[i]);
	add_network(l);
}

void widen_say(const struct run *r)
{
	struct list l = { .r = r };

	add_all(&l);
	list_end(&l);
}

void widen_each(const struct run *r,
		void (*each)(const char *item, void *arg), void *arg)
{
	struct list l = { .r = r, .each = each, .arg = arg };

	add_all(&l);
}
