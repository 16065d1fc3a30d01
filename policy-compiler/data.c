// SPDX-License-Identifier: GPL-2.0-only
/*
 * The lists and policies, taken in by the assembler as they stand, and the
 * reader of a list's lines. Compiled from the top of the tree.
 */
#include <string.h>

#include "data.h"

#define TAKE_IN(symbol, file) \
	__asm__(".pushsection .rodata\n" \
		"data_" #symbol ":\n" \
		"	.incbin \"policy-compiler/" file "\"\n" \
		"data_" #symbol "_end:\n" \
		"	.byte 0\n" \
		".popsection\n"); \
	extern const char data_##symbol[], data_##symbol##_end[]

TAKE_IN(credentials, "data/credentials");
TAKE_IN(protected, "data/protected");
TAKE_IN(presets, "data/presets");
TAKE_IN(profiles, "data/profiles");
TAKE_IN(host_exec, "data/host-exec");
TAKE_IN(schema, "data/policy.schema.json");

TAKE_IN(agent, "policies/agent.json");
TAKE_IN(build, "policies/build.json");
TAKE_IN(reader, "policies/reader.json");
TAKE_IN(test, "policies/test.json");
TAKE_IN(worktree, "policies/worktree.json");

static const char *const lists[] = {
	[DATA_CREDENTIALS] = data_credentials,
	[DATA_PROTECTED] = data_protected,
	[DATA_PRESETS] = data_presets,
	[DATA_PROFILES] = data_profiles,
	[DATA_HOST_EXEC] = data_host_exec,
};

static const struct {
	const char *name, *text, *end;
} shipped[] = {
	{ "agent", data_agent, data_agent_end },
	{ "build", data_build, data_build_end },
	{ "reader", data_reader, data_reader_end },
	{ "test", data_test, data_test_end },
	{ "worktree", data_worktree, data_worktree_end },
};

static struct data_word word(const char **s)
{
	struct data_word w;

	*s += strspn(*s, " \t");
	w.s = *s;
	w.len = strcspn(*s, " \t\n");
	*s += w.len;
	return w;
}

bool data_next(enum data_list list, const char **cursor, struct data_entry *e)
{
	const char *s = *cursor ? *cursor : lists[list];

	while (*s == '\n' || *s == '#') {
		s += strcspn(s, "\n");
		s += *s == '\n';
	}
	if (!*s)
		return false;
	e->path = word(&s);
	e->attributes = word(&s);
	s += strspn(s, " \t");
	e->reason = (struct data_word){ s, strcspn(s, "\n") };
	s += e->reason.len;
	*cursor = s + (*s == '\n');
	return true;
}

bool data_is(struct data_word w, const char *text)
{
	return strlen(text) == (size_t)w.len && !memcmp(w.s, text, w.len);
}

bool data_has(const struct data_entry *e, const char *text)
{
	const char *s = e->attributes.s, *end = s + e->attributes.len;
	struct data_word w;

	while (s < end) {
		w.s = s;
		while (s < end && *s != ',')
			s++;
		w.len = s - w.s;
		if (data_is(w, text))
			return true;
		s++;
	}
	return false;
}

const char *policy_schema(size_t *len)
{
	*len = data_schema_end - data_schema;
	return data_schema;
}

const char *policy_shipped(const char *name, size_t *len)
{
	size_t i;

	for (i = 0; i < sizeof(shipped) / sizeof(*shipped); i++) {
		if (strcmp(shipped[i].name, name))
			continue;
		*len = shipped[i].end - shipped[i].text;
		return shipped[i].text;
	}
	return NULL;
}

const char *policy_shipped_name(size_t i)
{
	return i < sizeof(shipped) / sizeof(*shipped) ? shipped[i].name : NULL;
}
