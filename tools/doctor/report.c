// SPDX-License-Identifier: GPL-2.0-only
/*
 * The findings in words: a line each with its remedy below it, and at the end
 * which profiles run.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "../../supervisor/cleanup.h"
#include "../../supervisor/engine.h"
#include "../../supervisor/escape.h"
#include "../../supervisor/version.h"
#include "../../supervisor/writer.h"
#include "doctor.h"

#define WIDTH 80

static const char *const verdicts[] = {
	[V_OK] = "ok", [V_LIMITED] = "limited", [V_MISSING] = "missing",
	[V_UNTRIED] = "untried",
};

static const char *const needs[] = {
	[NEED_ALL] = "all", [NEED_CONFINED] = "confined",
	[NEED_ENGINE] = "engine", [NEED_LIMIT] = "limit",
	[NEED_NOTHING] = "nothing",
};

struct finding *find(struct doctor *d, const char *id, enum need need,
		     enum verdict v, const char *fmt, ...)
{
	struct finding *f = &d->list[d->count];
	va_list ap;

	if (d->count == FINDINGS_MAX)
		abort();
	d->count++;
	*f = (struct finding){ .id = id, .need = need, .verdict = v };
	va_start(ap, fmt);
	vsnprintf(f->detail, sizeof(f->detail), fmt, ap);
	va_end(ap);
	return f;
}

void effect(struct finding *f, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(f->effect, sizeof(f->effect), fmt, ap);
	va_end(ap);
}

void remedy(struct finding *f, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(f->remedy, sizeof(f->remedy), fmt, ap);
	va_end(ap);
}

void boot_with(struct finding *f, const char *arg)
{
	if (!access("/usr/sbin/grubby", X_OK))
		remedy(f, "grubby --update-kernel=ALL --args=\"%s\", and boot "
		       "again", arg);
	else if (!access("/etc/default/grub", F_OK))
		remedy(f, "add %s to GRUB_CMDLINE_LINUX in /etc/default/grub, "
		       "run %s, and boot again", arg,
		       !access("/usr/sbin/update-grub", X_OK) ?
		       "update-grub" : "grub-mkconfig -o /boot/grub/grub.cfg");
	else if (!access("/etc/kernel/cmdline", F_OK))
		remedy(f, "add %s to the line in /etc/kernel/cmdline, run "
		       "kernel-install add-all, and boot again", arg);
	else if (!access("/boot/loader/entries", F_OK))
		remedy(f, "add %s to the options line of the entry in "
		       "/boot/loader/entries, and boot again", arg);
	else
		remedy(f, "boot with %s on the kernel's command line", arg);
}

/* The worst verdict of what @need is needed for; *id: whose it is. */
static enum verdict worst(const struct doctor *d, enum need need,
			  const char **id)
{
	static const int badness[] = {
		[V_OK] = 0, [V_LIMITED] = 1, [V_UNTRIED] = 2, [V_MISSING] = 3,
	};
	enum verdict v = V_OK;
	unsigned int i;

	for (i = 0; i < d->count; i++)
		if (d->list[i].need == need &&
		    badness[d->list[i].verdict] > badness[v]) {
			v = d->list[i].verdict;
			*id = d->list[i].id;
		}
	return v;
}

int report_status(const struct doctor *d)
{
	unsigned int i;

	for (i = 0; i < d->count; i++)
		if (d->list[i].need != NEED_NOTHING &&
		    d->list[i].verdict != V_OK)
			return 1;
	return 0;
}

enum runs { RUNS, RUNS_PARTLY, RUNS_NOT, RUNS_UNKNOWN };

static const char *const runs_words[] = {
	[RUNS] = "yes", [RUNS_PARTLY] = "partly", [RUNS_NOT] = "no",
	[RUNS_UNKNOWN] = "unknown",
};

struct answer {
	enum runs runs;
	char why[160];
};

static bool stops(const struct doctor *d, enum need need, struct answer *a)
{
	const char *id = "";
	enum verdict v = worst(d, need, &id);

	/* A limited engine or filter still is one. */
	if (v == V_OK || v == V_LIMITED)
		return false;
	a->runs = v == V_MISSING ? RUNS_NOT : RUNS_UNKNOWN;
	snprintf(a->why, sizeof(a->why), v == V_MISSING ? "%s is missing" :
		 "%s: only root can try it", id);
	return true;
}

static struct answer confined(const struct doctor *d, bool hardened)
{
	struct answer a = { RUNS, "" };
	const char *id = "";

	if (stops(d, NEED_ALL, &a) || stops(d, NEED_CONFINED, &a))
		return a;
	if (stops(d, NEED_ENGINE, &a)) {
		if (hardened || a.runs == RUNS_UNKNOWN)
			return a;
		a.runs = RUNS_PARTLY;
		snprintf(a.why, sizeof(a.why), "with LH_SANDBOX=warn, without "
			 "file, network and process rules");
	} else if (worst(d, NEED_LIMIT, &id) != V_OK) {
		a.runs = RUNS_PARTLY;
		snprintf(a.why, sizeof(a.why), hardened ?
			 "policies without limits.%s" : "without limits.%s",
			 id);
	}
	return a;
}

static struct answer answer(const struct doctor *d, int profile)
{
	struct answer a = { RUNS, "" };

	if (profile < 2)
		return confined(d, !profile);
	stops(d, NEED_ALL, &a);
	return a;
}

static const char *const profiles[] = {
	"os_hardened", "worktree", "workspace_paths", "unrestricted",
};

#define PROFILES 4

/* Words of @text behind @lead; what does not fit goes on @indent cells in. */
static void wrap(const char *lead, const char *text, int indent)
{
	int column = printf("%s", lead);
	bool first = true;
	char line[4096];
	char *p, *word;

	escape_text(line, sizeof(line), text, strlen(text));
	for (p = line; (word = strsep(&p, " "));) {
		int len = strlen(word);

		if (!first && column + 1 + len > WIDTH)
			column = printf("\n%*s", indent, "") - 1;
		else if (!first)
			column += printf(" ");
		column += printf("%s", word);
		first = false;
	}
	putchar('\n');
}

void report_text(const struct doctor *d)
{
	unsigned int i;

	for (i = 0; i < d->count; i++) {
		const struct finding *f = &d->list[i];
		char lead[64];

		snprintf(lead, sizeof(lead), "%-8s %-15s ",
			 verdicts[f->verdict], f->id);
		wrap(lead, f->detail, 25);
		snprintf(lead, sizeof(lead), "%25s", "");
		if (f->effect[0])
			wrap(lead, f->effect, 25);
		snprintf(lead, sizeof(lead), "%25s", "-> ");
		if (f->remedy[0])
			wrap(lead, f->remedy, 25);
	}
	putchar('\n');
	for (i = 0; i < PROFILES; i++) {
		struct answer a = answer(d, i);
		char lead[64], text[256];

		snprintf(lead, sizeof(lead), "%-16s runs here: ", profiles[i]);
		snprintf(text, sizeof(text), "%s%s%s", runs_words[a.runs],
			 a.why[0] ? ", " : "", a.why);
		wrap(lead, text, 28);
	}
}

static void put_text(struct writer *w, const char *key, const char *text)
{
	writer_str(w, key, text[0] ? text : NULL);
}

void report_json(const struct doctor *d)
{
	_cleanup_writer_ struct writer *w = writer_new();
	_cleanup_free_ char *line = NULL;
	struct utsname u = {};
	unsigned int i;

	uname(&u);
	writer_open_map(w, NULL);
	writer_str(w, "schema", "lh.doctor.v1");
	writer_str(w, "version", LH_VERSION);
	writer_uint(w, "abi", LH_ABI);
	writer_str(w, "engine", engine_build());
	writer_str(w, "kernel", u.release);
	writer_str(w, "machine", u.machine);
	writer_bool(w, "root", d->root);
	writer_open_array(w, "checks");
	for (i = 0; i < d->count; i++) {
		const struct finding *f = &d->list[i];

		writer_open_map(w, NULL);
		writer_str(w, "check", f->id);
		writer_str(w, "verdict", verdicts[f->verdict]);
		writer_str(w, "needed_for", needs[f->need]);
		writer_str(w, "detail", f->detail);
		put_text(w, "effect", f->effect);
		put_text(w, "remedy", f->remedy);
		writer_close_map(w);
	}
	writer_close_array(w);
	writer_open_map(w, "profiles");
	for (i = 0; i < PROFILES; i++) {
		struct answer a = answer(d, i);

		writer_open_map(w, profiles[i]);
		writer_str(w, "runs", runs_words[a.runs]);
		put_text(w, "why", a.why);
		writer_close_map(w);
	}
	writer_close_map(w);
	writer_uint(w, "exit_status", report_status(d));
	writer_close_map(w);
	line = writer_line(w, NULL);
	fputs(line, stdout);
}
