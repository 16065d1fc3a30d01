/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Random policies over a small land of files, as lists that a test can change
 * by itself. Include after the harness.
 */
#ifndef LH_TEST_DRAFT_H
#define LH_TEST_DRAFT_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compile_test.h"

#define ROOM 12
#define LISTS 9

/* A policy that can be changed: its lists, by pointer, and its level. */
struct draft {
	struct list {
		const char *pointer;
		const char *word[ROOM];	/* NULL: taken out */
		size_t count;
	} list[LISTS];
	const char *level;
};

enum {
	D_WS, D_RO, D_READ, D_WRITE, D_DENY, D_CAPS, D_PROCESS, D_PRESETS,
	D_EXCLUDE,
};

/* Where the files are, and whose. */
struct land {
	char dir[64];
	struct arena mem;
	struct context c;
	uint64_t seed;
};

static const char *at(struct land *s, const char *path)
{
	return *path == '/' ? path :
		arena_print(&s->mem, "%s/%s", s->dir, path);
}

static int land_make(struct land *s)
{
	static const char make[] =
		"cd %s && mkdir -p ws/a/b ws/.git/hooks ws/ro/d out/d home/.ssh "
		"home/go && touch ws/a/f ws/a/b/f ws/f ws/ro/f ws/ro/d/f "
		"out/f out/d/f home/.ssh/id home/x home/go/f ws/.git/config "
		"'out/a b' && ln -s ../out/f ws/l && ln -s a ws/la && "
		"ln -s l ws/ll && chmod +x out/f ws/f";
	char command[1024];

	memset(s, 0, sizeof(*s));
	strcpy(s->dir, "/tmp/lh-change.XXXXXX");
	if (!mkdtemp(s->dir))
		return -1;
	snprintf(command, sizeof(command), make, s->dir);
	s->c = (struct context){
		.workspace = at(s, "ws"), .user = "u",
		.home = at(s, "home"), .homes = { at(s, "home") },
		.home_count = 1,
	};
	return system(command);
}

static int land_remove(struct land *s)
{
	char command[128];

	arena_free(&s->mem);
	snprintf(command, sizeof(command), "rm -rf %s", s->dir);
	return system(command);
}

static void push(struct list *l, const char *word)
{
	if (l->count < ROOM)
		l->word[l->count++] = word;
}

static void print_list(FILE *f, const struct list *l)
{
	size_t i, n = 0;

	fprintf(f, "\"%s\": [", strrchr(l->pointer, '/') + 1);
	for (i = 0; i < l->count; i++)
		if (l->word[i])
			fprintf(f, "%s\"%s\"", n++ ? ", " : "", l->word[i]);
	fprintf(f, "]");
}

static const char *draft_text(struct land *s, const struct draft *d)
{
	char *text = NULL, *kept;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	fprintf(f, "{ \"version\": 1, \"side_effect_level\": \"%s\",\n",
		d->level);
	print_list(f, &d->list[D_WS]);
	fprintf(f, ",\n");
	print_list(f, &d->list[D_RO]);
	fprintf(f, ",\n\"capabilities\": { ");
	print_list(f, &d->list[D_CAPS]);
	fprintf(f, ", ");
	print_list(f, &d->list[D_PROCESS]);
	fprintf(f, " },\n\"process_sandbox\": { ");
	print_list(f, &d->list[D_PRESETS]);
	fprintf(f, ",\n");
	print_list(f, &d->list[D_READ]);
	fprintf(f, ",\n");
	print_list(f, &d->list[D_WRITE]);
	fprintf(f, ",\n");
	print_list(f, &d->list[D_DENY]);
	fprintf(f, " }");
	if (d->list[D_EXCLUDE].count) {
		fprintf(f, ",\n\"protect\": { ");
		print_list(f, &d->list[D_EXCLUDE]);
		fprintf(f, " }");
	}
	fprintf(f, " }\n");
	fclose(f);
	kept = arena_copy(&s->mem, text, len);
	free(text);
	return kept;
}

static struct draft draft_new(void)
{
	static const char *const pointers[LISTS] = {
		"/workspace_roots", "/read_only_roots",
		"/process_sandbox/read_roots", "/process_sandbox/write_roots",
		"/process_sandbox/read_deny_roots", "/capabilities/workspace",
		"/capabilities/process", "/process_sandbox/presets",
		"/protect/exclude",
	};
	struct draft d = { .level = "process_exec" };
	size_t i;

	for (i = 0; i < LISTS; i++)
		d.list[i].pointer = pointers[i];
	return d;
}

/* One word of @words, which end with NULL. */
static const char *any(uint64_t *seed, const char *const *words)
{
	size_t n = 0;

	while (words[n])
		n++;
	return words[dice(seed, n)];
}

static void any_of(struct land *s, struct list *l,
		   const char *const *words, uint32_t of)
{
	for (; *words; words++)
		if (!dice(&s->seed, of))
			push(l, strchr(l->pointer + 1, 'r') &&
			     strstr(l->pointer, "roots") ? at(s, *words) :
			     *words);
}

static const char *const dirs[] = {
	"ws/a", "ws/a/b", "ws/ro", "ws/ro/d", "out", "out/d", "home/go",
	"ws/a/f", "out/f", "ws/ro/d/f", NULL,
};
static const char *const denies[] = {
	"ws/a", "ws/a/f", "ws/later", "ws/no/such", "out/d", "ws/la", "ws/l",
	"home/go", NULL,
};
static const char *const levels[] = {
	"none", "read_only", "workspace_write", "process_exec", "process_exec",
	"process_exec", NULL,
};
static const char *const caps[] = {
	"read_text", "list", "exists", "write_text", "delete", NULL,
};
static const char *const presets_all[] = {
	"system_runtime", "developer_toolchains", "package_manager_config",
	"user_temp", NULL,
};
static const char *const exec_all[] = { "exec", NULL };

static struct draft draft_random(struct land *s)
{
	struct draft d = draft_new();
	struct list *l = d.list;

	d.level = any(&s->seed, levels);
	push(&l[D_WS], at(s, "ws"));
	any_of(s, &l[D_RO], dirs, 6);
	any_of(s, &l[D_READ], dirs, 8);
	any_of(s, &l[D_WRITE], dirs, 8);
	any_of(s, &l[D_DENY], denies, 6);
	if (dice(&s->seed, 3)) {
		any_of(s, &l[D_CAPS], caps, 1);
		push(&l[D_PROCESS], "exec");
	} else {
		any_of(s, &l[D_CAPS], caps, 2);
		any_of(s, &l[D_PROCESS], exec_all, 2);
	}
	any_of(s, &l[D_PRESETS], presets_all, 2);
	return d;
}

#endif
