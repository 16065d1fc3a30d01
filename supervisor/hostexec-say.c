// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the host may run later, as the result and the line for people have it.
 */
#include <stdio.h>
#include <string.h>

#include "hostexec-inner.h"

#define SUMMARY_MAX 8		/* changes in the line for people */

static const char *const change_words[] = { "created", "modified", "removed" };

void hostexec_write(const struct hostexec *h, struct writer *w)
{
	unsigned int i;

	if (!h || !h->ended || h->error) {
		writer_null(w, "host_exec_changes");
		writer_null(w, "host_exec_more");
		writer_null(w, "host_exec_not_compared");
		return;
	}
	writer_open_array(w, "host_exec_changes");
	for (i = 0; i < h->change_count; i++) {
		const struct change *c = &h->change[i];

		writer_open_map(w, NULL);
		writer_bytes(w, "path", c->path, strlen(c->path));
		writer_str(w, "change", change_words[c->change]);
		writer_str(w, "kind", c->kind);
		writer_str(w, "compared", c->by_time ? "times" : "content");
		writer_uint(w, "count", c->count);
		writer_close_map(w);
	}
	writer_close_array(w);
	writer_uint(w, "host_exec_more", h->more);
	writer_open_array(w, "host_exec_not_compared");
	for (i = 0; i < h->unseen_count; i++) {
		writer_open_map(w, NULL);
		writer_bytes(w, "path", h->unseen[i], strlen(h->unseen[i]));
		writer_close_map(w);
	}
	writer_close_array(w);
}

static const char *shortened(const char *path, const char *cwd)
{
	size_t n = cwd ? strlen(cwd) : 0;

	return n && !strncmp(path, cwd, n) && path[n] == '/' ? path + n + 1 :
		path;
}

bool hostexec_summary(const struct hostexec *h, const char *cwd,
		      char *text, size_t size)
{
	unsigned int i, more;
	size_t used;

	if (h && h->error) {
		snprintf(text, size, "what the host may run later was not compared: %s",
			 strerror(-h->error));
		return true;
	}
	if (!h || !h->ended || !(h->change_count + h->unseen_count))
		return false;
	if (!h->change_count) {
		snprintf(text, size, "of what the host may run later, %u place(s) could not be compared whole: %s%s",
			 h->unseen_count, shortened(h->unseen[0], cwd),
			 h->unseen_count > 1 ? " and others" : "");
		return true;
	}
	used = snprintf(text, size, "the host may run later: ");
	for (i = 0; i < h->change_count && i < SUMMARY_MAX; i++) {
		const struct change *c = &h->change[i];
		const char *path = shortened(c->path, cwd);
		int n = c->count > 1 ?
			snprintf(text + used, size - used, "%s%s (%u changes)",
				 i ? ", " : "", path, c->count) :
			snprintf(text + used, size - used, "%s%s (%s)",
				 i ? ", " : "", path, change_words[c->change]);

		if (n < 0 || used + n + 64 >= size)
			break;
		used += n;
	}
	more = h->change_count - i + h->more + h->unseen_count;
	if (more)
		snprintf(text + used, size - used, "%s%u more, changed or not compared whole, see the result",
			 i ? " and " : "", more);
	else
		text[used] = 0;
	return true;
}
