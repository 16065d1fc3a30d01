// SPDX-License-Identifier: GPL-2.0-only
/*
 * lh-ps: which sessions there are. A table of 80 columns, in which long words
 * are cut, or one JSON object, in which none is.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../../supervisor/cleanup.h"
#include "../../supervisor/writer.h"
#include "../plain.h"
#include "sessions.h"

static const char *const states[] = {
	[SESSION_LIVE] = "live", [SESSION_DEAD] = "dead",
	[SESSION_UNKNOWN] = "unknown",
};

/* Cells of each column; negative: numbers, to the right. With blanks: 80. */
static const struct column {
	const char *head;
	int width;
} columns[] = {
	{ "SESSION", 12 }, { "STATE", 5 }, { "USER", 8 }, { "POLICY", 12 },
	{ "AGE", -5 }, { "PROCS", -5 }, { "MEMORY", -6 }, { "DENIALS", -7 },
	{ "NAME", 12 },
};

#define COLUMNS (sizeof(columns) / sizeof(*columns))

static void print_row(const char *const cell[COLUMNS])
{
	char *line = NULL;
	size_t i, len = 0;
	FILE *f = open_memstream(&line, &len);

	if (!f)
		abort();
	for (i = 0; i < COLUMNS; i++) {
		if (i)
			putc(' ', f);
		plain_cell(f, cell[i], columns[i].width);
	}
	if (fclose(f))
		abort();
	while (len && line[len - 1] == ' ')
		line[--len] = 0;
	puts(line);
	free(line);
}

static const char *number(uint64_t n,
			  void (*print)(uint64_t, char [PLAIN_SHORT]),
			  char out[PLAIN_SHORT])
{
	if (n == UNKNOWN)
		return NULL;
	print(n, out);
	return out;
}

/* How much of it holds, before its name. */
static const char *policy_of(const struct session *s, char *out, size_t size)
{
	if (!s->told)
		return NULL;
	if (!strcmp(s->f.confinement, "none"))
		return "(no sandbox)";
	snprintf(out, size, "%s%s", strcmp(s->f.confinement, "full") ? "*" : "",
		 *s->f.policy ? s->f.policy : "-");
	return out;
}

/* The name that it was given, else its command's. */
static const char *name_of(const struct session *s)
{
	const char *slash;

	if (s->f.name || !s->f.command)
		return s->f.name;
	slash = strrchr(s->f.command, '/');
	return slash ? slash + 1 : s->f.command;
}

static void print_table(const struct sessions *s)
{
	const char *head[COLUMNS];
	size_t i;

	for (i = 0; i < COLUMNS; i++)
		head[i] = columns[i].head;
	print_row(head);
	for (i = 0; i < s->count; i++) {
		const struct session *x = &s->list[i];
		char age[PLAIN_SHORT], procs[PLAIN_SHORT], memory[PLAIN_SHORT];
		char denials[PLAIN_SHORT], policy[256];
		const char *cell[COLUMNS] = {
			x->id, x->state == SESSION_UNKNOWN ? "-" :
			       states[x->state],
			x->f.user, policy_of(x, policy, sizeof(policy)),
			number(x->age, plain_age, age),
			number(x->processes, plain_count, procs),
			number(x->memory, plain_size, memory),
			number(x->told ? x->f.denials : UNKNOWN, plain_count,
			       denials),
			name_of(x),
		};

		print_row(cell);
	}
}

static void put_number(struct writer *w, const char *key, uint64_t n)
{
	if (n == UNKNOWN)
		writer_null(w, key);
	else
		writer_uint(w, key, n);
}

static void put_policy(struct writer *w, const struct session *s)
{
	if (!s->told) {
		writer_null(w, "policy");
		return;
	}
	writer_open_map(w, "policy");
	writer_str(w, "name", s->f.policy);
	writer_str(w, "source", s->f.source);
	writer_str(w, "hash", s->f.hash);
	writer_str(w, "profile", s->f.profile);
	writer_close_map(w);
}

static void put_user(struct writer *w, const struct session *s)
{
	if (!s->f.user) {
		writer_null(w, "user");
		return;
	}
	writer_open_map(w, "user");
	writer_str(w, "name", s->f.user);
	writer_uint(w, "uid", s->f.uid);
	writer_uint(w, "gid", s->f.gid);
	writer_close_map(w);
}

static void put_session(struct writer *w, const struct session *s)
{
	time_t when = s->f.started;
	char text[48];
	struct tm tm;

	writer_open_map(w, NULL);
	writer_str(w, "session", s->id);
	writer_str(w, "name", s->f.name);
	writer_str(w, "state", states[s->state]);
	put_user(w, s);
	put_policy(w, s);
	writer_str(w, "confinement", s->told ? s->f.confinement : NULL);
	writer_str(w, "command", s->f.command);
	put_number(w, "supervisor_pid",
		   s->f.supervisor > 0 ? (uint64_t)s->f.supervisor : UNKNOWN);
	if (s->told && gmtime_r(&when, &tm) &&
	    strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm))
		writer_str(w, "started", text);
	else
		writer_null(w, "started");
	put_number(w, "age_seconds", s->age);
	put_number(w, "processes", s->processes);
	put_number(w, "tasks", s->tasks);
	put_number(w, "memory_bytes", s->memory);
	put_number(w, "denials", s->told ? s->f.denials : UNKNOWN);
	writer_close_map(w);
}

static void print_json(const struct sessions *s)
{
	_cleanup_writer_ struct writer *w = writer_new();
	_cleanup_free_ char *line = NULL;
	size_t i;

	writer_open_map(w, NULL);
	writer_str(w, "schema", "lh.ps.v1");
	writer_bool(w, "all_users", !geteuid());
	writer_open_array(w, "sessions");
	for (i = 0; i < s->count; i++)
		put_session(w, &s->list[i]);
	writer_close_array(w);
	writer_close_map(w);
	line = writer_line(w, NULL);
	fputs(line, stdout);
}

int main(int argc, char **argv)
{
	struct plain p = {
		.name = "lh-ps",
		.does = "List the sessions of lh-supervise: root's view is of "
			"all, a user's of the user's own.",
		.json = "one JSON object instead of a table",
		.status = "Exit status: 0, also where there is no session; "
			  "125 on an error.\n",
	};
	int status = plain_parse(&p, argc, argv);
	struct sessions s = {};
	struct err e = {};

	if (status != PLAIN_GO)
		return status;
	if (sessions_find(&s, &e))
		status = plain_fail(&p, "%s", e.msg);
	else if (p.wants_json)
		print_json(&s);
	else
		print_table(&s);
	sessions_free(&s);
	return plain_finish(&p, status == PLAIN_GO ? 0 : status);
}
