// SPDX-License-Identifier: GPL-2.0-only
/*
 * A game from its seed to its end.
 */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "play.h"

#define TRIES 200	/* policies until one has no error */
#define CHECK 100	/* calls between two looks at the records */

/* splitmix64: any seed is as good as another. */
uint64_t roll(struct game *g, uint64_t n)
{
	uint64_t z = g->dice += 0x9e3779b97f4a7c15ULL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	z ^= z >> 31;
	return z % n;
}

static void show(struct game *g)
{
	char command[512];

	snprintf(command, sizeof(command), "sed 's/^/# /' %s >&2",
		 at(g->w, "log/policy.json"));
	(void)!system(command);
	snprintf(command, sizeof(command), "cd %s && find . -path ./log -prune "
		 "-o -printf '#   %%i %%y %%n %%p -> %%l\\n' >&2", g->w->dir);
	(void)!system(command);
	for (int i = 0; i < MOUNTS; i++)
		if (g->mount[i].used)
			fprintf(stderr, "#   mount %s %s over %lu\n",
				g->mount[i].bind ? "bind" : "tmpfs",
				g->mount[i].at,
				(unsigned long)g->mount[i].covered.ino);
}

void fail(struct game *g, const char *fmt, ...)
{
	va_list ap;

	if (!g->failed) {
		fprintf(stderr, "# FAILED: SEED=%llu OPS=%lu (%s)\n",
			(unsigned long long)g->seed, g->ops + 1, g->w->user);
		show(g);
	}
	g->failed = true;
	fprintf(stderr, "# ");
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fprintf(stderr, "\n");
}

/* Where the session's temporary directory is, by its environment. */
static void find_temp(struct game *g)
{
	char path[64], env[16384], *p;
	FILE *f;
	size_t n;

	g->temp[0] = 0;
	snprintf(path, sizeof(path), "/proc/%d/environ", g->s.probe);
	f = fopen(path, "re");
	n = f ? fread(env, 1, sizeof(env) - 1, f) : 0;
	if (f)
		fclose(f);
	env[n] = 0;
	for (p = env; p < env + n; p += strlen(p) + 1)
		if (!strncmp(p, "TMPDIR=/tmp/lh-", 15))
			snprintf(g->temp, sizeof(g->temp), "%s", p + 7);
}

static int compile(struct game *g)
{
	char file[TEXT], ws[TEXT];

	snprintf(file, sizeof(file), "%s", at(g->w, "log/policy.json"));
	snprintf(ws, sizeof(ws), "%s", at(g->w, "ws"));
	return executor_compile(&g->library, file, ws, g->w->uid, g->temp);
}

static int begin(struct game *g)
{
	int i;

	if (tree_make(g))
		return -1;
	for (i = 0; i < TRIES; i++)
		if (!policy_random(g) && !compile(g))
			break;
	if (i == TRIES || (g->dry ? twin_start(&g->s, g->w) :
			   session_start(&g->s, g->w, "s", NULL)))
		return -1;
	find_temp(g);
	if (*g->temp) {
		struct rule *r = &g->rule[g->rules++];

		r->kind = RULE_TEMP;
		snprintf(r->path, sizeof(r->path), "%s", g->temp);
	}
	return compile(g) || reference_start(g) ? -1 : 0;
}

static void end(struct game *g)
{
	if (g->s.pid && session_end(&g->s) && !g->failed)
		fail(g, "the session did not end well");
	executor_free(&g->library);
	if (!g->w)
		return;
	tree_unmount(g);
	world_remove(g->w);
}

bool game_play(uint64_t seed, unsigned long ops, struct score *score)
{
	struct game *g = calloc(1, sizeof(*g));
	bool well;

	g->seed = g->dice = seed;
	g->dry = getenv("DRY");
	memset(g->slot, -1, sizeof(g->slot));
	if (begin(g)) {
		fprintf(stderr, "# FAILED: SEED=%llu: no beginning\n",
			(unsigned long long)seed);
		g->failed = true;
	}
	while (!g->failed && g->ops + g->skipped < ops) {
		if (!roll(g, 12))
			tree_act(g);
		call_random(g);
		if (g->expected_count >= CHECK && !g->failed)
			told_check(g);
	}
	if (!g->failed && !g->dry)
		told_check(g);
	end(g);
	score->ops += g->ops;
	score->refused += g->refused;
	score->allowed += g->allowed;
	score->ordinary += g->ordinary;
	score->skipped += g->skipped;
	score->games++;
	well = !g->failed;
	score->failed += !well;
	free(g);
	return well;
}
