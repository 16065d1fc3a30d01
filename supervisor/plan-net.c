// SPDX-License-Identifier: GPL-2.0-only
/* What of the network a run has: loopback, and what lies beyond it. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>

#include "../policy-compiler/edit.h"
#include "cleanup.h"
#include "plan.h"

#define SHOWN 8		/* of a list; the rest is counted */

#define SANDBOX "/process_sandbox/"

static bool is_true(struct json_doc *doc, const char *pointer)
{
	const struct json *m = edit_find(doc, pointer);

	return m && m->type == JSON_BOOL && m->truth;
}

static bool says(struct json_doc *doc, const char *pointer, const char *word)
{
	const struct json *m = edit_find(doc, pointer);

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

static void put_loopback(FILE *out, struct json_doc *doc)
{
	bool both = is_true(doc, SANDBOX "allow_loopback");

	if (!both && !is_true(doc, SANDBOX "allow_tcp_loopback"))
		fputs("none of its own", out);
	else
		fprintf(out, "%s, within this session",
			both ? "TCP and UDP" : "TCP");
	put_list(out, "; ports of the host's:",
		 edit_find(doc, SANDBOX "loopback_ports"));
	put_list(out, "; open to the host:",
		 edit_find(doc, SANDBOX "publish_ports"));
	if (says(doc, SANDBOX "bind_any", "loopback"))
		fputs("; a bind to any address is one to loopback", out);
}

static void put_egress(FILE *out, struct json_doc *doc, bool level)
{
	const struct json *allow = edit_find(doc, "/egress/allow");
	bool all = says(doc, "/egress/default", "allow");

	if (!level || (!all && (!allow || !allow->count))) {
		fputs("none", out);
		return;
	}
	fputs(all ? "all but reserved addresses" : "refused", out);
	put_list(out, all ? "; also" : " but for", allow);
	put_list(out, "; never", edit_find(doc, "/egress/deny"));
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
			put_loopback(out, &doc);
			fclose(out);
		}
		out = open_memstream(&egress, &len);
		if (out) {
			put_egress(out, &doc, im->level == LEVEL_NETWORK);
			fclose(out);
		}
	}
	json_free(&doc);
	diags_free(&d);
	plan_line("loopback", "%s", loopback ?: "unknown: no memory");
	plan_line("egress", "%s", egress ?: "unknown: no memory");
}
