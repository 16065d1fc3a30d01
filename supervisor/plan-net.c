// SPDX-License-Identifier: GPL-2.0-only
/* What of the network a run has: loopback, and what lies beyond it. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>

#include "../policy-compiler/parse.h"
#include "cleanup.h"
#include "plan.h"

#define SHOWN 8		/* of a list; the rest is counted */

static const struct json *member(const struct json *v, const char *key)
{
	const struct json *m;

	for (m = v ? v->first : NULL; m; m = m->next)
		if (m->key && !strcmp(m->key, key))
			return m;
	return NULL;
}

static bool is_true(const struct json *v, const char *key)
{
	const struct json *m = member(v, key);

	return m && m->type == JSON_BOOL && m->truth;
}

static bool says(const struct json *v, const char *key, const char *word)
{
	const struct json *m = member(v, key);

	return m && m->type == JSON_STRING && !strcmp(m->text, word);
}

/* "; WHAT A, B and 3 more", or nothing if the list is empty. */
static void put_list(FILE *out, const char *what, const struct json *list)
{
	const struct json *m;
	size_t n = 0;

	if (!list || !list->count)
		return;
	fputs(what, out);
	for (m = list->first; m && n < SHOWN; m = m->next, n++)
		fprintf(out, "%s%s", n ? ", " : " ", m->text);
	if (list->count > n)
		fprintf(out, " and %zu more", list->count - n);
}

static void put_loopback(FILE *out, const struct json *s)
{
	bool both = is_true(s, "allow_loopback");

	if (!both && !is_true(s, "allow_tcp_loopback"))
		fputs("none of its own", out);
	else
		fprintf(out, "%s, within this session",
			both ? "TCP and UDP" : "TCP");
	put_list(out, "; ports of the host's:", member(s, "loopback_ports"));
	put_list(out, "; open to the host:", member(s, "publish_ports"));
	if (says(s, "bind_any", "loopback"))
		fputs("; a bind to any address is one to loopback", out);
}

static void put_egress(FILE *out, const struct json *egress, bool level)
{
	const struct json *allow = member(egress, "allow");
	bool all = says(egress, "default", "allow");

	if (!level || (!all && (!allow || !allow->count))) {
		fputs("none", out);
		return;
	}
	fputs(all ? "all but reserved addresses" : "refused", out);
	put_list(out, all ? "; also" : " but for", allow);
	put_list(out, "; never", member(egress, "deny"));
}

void plan_network(const struct run *r)
{
	const struct image *im = r->load.im;
	_cleanup_free_ char *loopback = NULL, *egress = NULL;
	struct json_doc doc = {};
	struct diags d = {};
	size_t len;
	FILE *out;

	if (!json_parse((const char *)im + im->policy.offset, im->policy.count,
			"", &doc, &d)) {
		out = open_memstream(&loopback, &len);
		if (out) {
			put_loopback(out, member(doc.root, "process_sandbox"));
			fclose(out);
		}
		out = open_memstream(&egress, &len);
		if (out) {
			put_egress(out, member(doc.root, "egress"),
				   im->level == LEVEL_NETWORK);
			fclose(out);
		}
	}
	json_free(&doc);
	diags_free(&d);
	plan_line("loopback", "%s", loopback ?: "unknown: no memory");
	plan_line("egress", "%s", egress ?: "unknown: no memory");
}
