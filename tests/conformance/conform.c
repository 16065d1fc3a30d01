// SPDX-License-Identifier: GPL-2.0-only
/*
 * conform [--row GROUP/ROW]... [--off PROGRAM]... [--strict PROGRAM]... FILE...
 * plays rows of what the policy language promises, on the kernel that runs, and
 * prints a line of JSON for each: its verdict, and the step that decided it.
 * The format of FILE: lh-conform(1). For a mutation run, those rows alone,
 * without that program of the engine, or with one more at its hook which
 * refuses sessions all.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <yajl/yajl_gen.h>

#include "mutate.h"
#include "play.h"

/* All of it happens in a directory of its own. */
extern const bool world_is_apart;
const bool world_is_apart = true;

static const char *const verdicts[] = {
	"escaped", "overrefused", "contradiction", "not_measured",
	"not_applicable", "conforms",
};

static void put(yajl_gen g, const char *key, const char *value)
{
	yajl_gen_string(g, (const unsigned char *)key, strlen(key));
	yajl_gen_string(g, (const unsigned char *)value, strlen(value));
}

static void row_end(struct play *p)
{
	yajl_gen g = yajl_gen_alloc(NULL);
	const unsigned char *text;
	size_t len;

	if (!*p->row || !g)
		return;
	if (p->on && p->quiet && p->kind != ALONE && p->verdict == CONFORMS &&
	    !(quiet(&p->in) && quiet(&p->other)))
		say(p, CONTRADICTION, "the record",
		    "a refusal is recorded, and nothing was refused");
	yajl_gen_map_open(g);
	put(g, "group", p->group);
	put(g, "row", p->row);
	put(g, "promise", p->promise);
	put(g, "verdict", verdicts[p->verdict]);
	if (p->verdict != CONFORMS) {
		put(g, "decided_by", p->decided);
		put(g, "why", p->why);
	}
	yajl_gen_map_close(g);
	yajl_gen_get_buf(g, &text, &len);
	printf("%.*s\n", (int)len, text);
	fflush(stdout);
	yajl_gen_free(g);
	if (p->verdict < NOT_APPLICABLE)
		p->failed = 1;
	*p->row = 0;
}

static void sessions_end(struct play *p)
{
	const char *what;

	row_end(p);
	if (p->on && mutate_end(&what))
		stop(p, "%s cannot be put right", what);
	if (p->on && p->kind != ALONE) {
		session_end(&p->host);
		session_end(&p->in);
		session_end(&p->other);
	}
	p->on = false;
	world_remove(p->w);
	p->w = NULL;
}

/* The last line that lh-supervise wrote, or why there is none. */
static void why_not(struct play *p, const char *name)
{
	FILE *f = fopen(at(p->w, "log/%s.stderr", name), "re");
	char line[512];

	snprintf(p->cannot, sizeof(p->cannot), "no session starts");
	while (f && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = 0;
		snprintf(p->cannot, sizeof(p->cannot), "%s", line);
	}
	if (f)
		fclose(f);
}

/* @W@ in a policy's text is the world's directory. */
static int policy_of(struct play *p)
{
	char *text = strdup(""), *at_, *from = p->policy, *more;
	int ret;

	while (text && (at_ = strstr(from, "@W@"))) {
		if (asprintf(&more, "%s%.*s%s", text, (int)(at_ - from), from,
			     p->w->dir) < 0)
			return -1;
		free(text);
		text = more;
		from = at_ + 3;
	}
	if (!text || asprintf(&more, "%s%s", text, from) < 0)
		return -1;
	ret = world_file(p->w, at(p->w, "log/policy.json"), more);
	free(text);
	free(more);
	return ret;
}

static void sessions_start(struct play *p)
{
	const char *user = getenv("CONFORM_USER"), *what;
	char out[512];
	int ret;

	if (!user || p->kind == BARE)
		user = p->kind == BARE ? "root" : "nobody";

	session_supervisor = p->kind == BARE ? "tests/bare/lh-supervise" :
					       "lh-supervise";
	p->w = world_make(user);
	/* The first of a boot may take longer than a session has to answer. */
	if (p->w && !p->loaded++)
		supervise(p->w, out, sizeof(out), (const char *const[]){
			  "--engine", "load", NULL });
	if (!p->w || policy_of(p))
		stop(p, "cannot make a workspace in /tmp for %s", user);
	if (p->kind == ALONE) {
		p->on = true;
		return;
	}
	if (session_start(&p->in, p->w, "in", NULL)) {
		why_not(p, "in");
		session_end(&p->in);
		return;
	}
	if (session_start(&p->other, p->w, "other", NULL) ||
	    twin_start(&p->host, p->w))
		stop(p, "one session starts, another does not");
	ret = mutate_begin(&what);
	if (ret)
		stop(p, "%s: %s", what, strerror(-ret));
	p->on = true;
}

static void row_begin(struct play *p, char *line)
{
	char *text = strchr(line, ':');

	row_end(p);
	line += 4;
	if (!text || text - line >= (long)sizeof(p->row))
		stop(p, "a row is NAME: PROMISE");
	snprintf(p->row, sizeof(p->row), "%.*s", (int)(text - line), line);
	snprintf(p->promise, sizeof(p->promise), "%s",
		 text + 1 + strspn(text + 1, " "));
	p->verdict = CONFORMS;
	p->quiet = true;
	if (!mutate_plays(p->group, p->row)) {
		*p->row = 0;
		p->skip = true;
		return;
	}
	p->skip = false;
	if (!p->w && p->policy)
		sessions_start(p);
	if (p->on || !*p->cannot)
		return;
	say(p, NOT_MEASURED, "the start of a session", "%s", p->cannot);
}

/* "policy", then its text, up to a line that says "end". */
static void take_policy(struct play *p, FILE *f, enum kind kind)
{
	char *line = NULL, *more;
	size_t size = 0;

	sessions_end(p);
	free(p->policy);
	p->policy = strdup("");
	p->kind = kind;
	while (getline(&line, &size, f) > 0 && strcmp(line, "end\n")) {
		p->line++;
		if (asprintf(&more, "%s%s", p->policy, line) < 0)
			stop(p, "%s", strerror(errno));
		free(p->policy);
		p->policy = more;
	}
	p->line++;
	free(line);
	*p->cannot = 0;
	p->silent = NULL;
	p->kept = false;
	p->names = 0;
	p->skip = false;
}

static void play(struct play *p, const char *file)
{
	FILE *f = fopen(file, "re");
	char *line = NULL;
	size_t size = 0;

	p->file = file;
	p->line = 0;
	if (!f)
		stop(p, "%s", strerror(errno));
	while (getline(&line, &size, f) > 0) {
		char *s = line + strspn(line, " \t");

		p->line++;
		s[strcspn(s, "\n")] = 0;
		if (!*s || *s == '#')
			continue;
		if (!strncmp(s, "group ", 6)) {
			row_end(p);
			snprintf(p->group, sizeof(p->group), "%s", s + 6);
		} else if (!strcmp(s, "policy")) {
			take_policy(p, f, BOTH);
		} else if (!strcmp(s, "policy bare")) {
			take_policy(p, f, BARE);
		} else if (!strcmp(s, "policy alone")) {
			take_policy(p, f, ALONE);
		} else if (!strncmp(s, "row ", 4)) {
			row_begin(p, s);
		} else {
			step(p, s);
		}
	}
	free(line);
	fclose(f);
	sessions_end(p);
	free(p->policy);
	p->policy = NULL;
}

int main(int argc, char **argv)
{
	static const struct option options[] = { MUTATE_OPTIONS, { 0 } };
	static struct play p;
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1)
		if (c == 'w')
			session_answer_ms = atoi(optarg) * 1000;
		else if (c == '?' || !mutate_option(c, optarg))
			return 2;
	if (optind == argc) {
		fprintf(stderr, "usage: conform [--wait SECONDS] "
			"[--row GROUP/ROW]... [--off PROGRAM]... "
			"[--strict PROGRAM]... FILE...\n");
		return 2;
	}
	for (; optind < argc; optind++)
		play(&p, argv[optind]);
	return p.failed;
}
