/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The model: a policy that was read, with its paths expanded and its defaults
 * filled in. Everything in it lives in its arena. Each function that changes
 * or reads it says in its diagnostics what is wrong with it, at its place.
 */
#ifndef LH_POLICY_H
#define LH_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arena.h"
#include "context.h"
#include "diag.h"
#include "image.h"
#include "parse.h"

enum policy_list {
	LIST_WORKSPACE, LIST_READ_ONLY, LIST_READ, LIST_WRITE, LIST_DENY,
	LIST_COUNT,
};

#define CAP_READ_TEXT 0x01u
#define CAP_LIST 0x02u
#define CAP_EXISTS 0x04u
#define CAP_WRITE_TEXT 0x08u
#define CAP_DELETE 0x10u
#define CAP_EXEC 0x20u
#define CAP_READS (CAP_READ_TEXT | CAP_LIST | CAP_EXISTS)
#define CAP_WRITES (CAP_WRITE_TEXT | CAP_DELETE)
#define CAP_ALL 0x3fu

#define PRESET_SYSTEM_RUNTIME 0x1u
#define PRESET_DEVELOPER_TOOLCHAINS 0x2u
#define PRESET_PACKAGE_MANAGER_CONFIG 0x4u
#define PRESET_USER_TEMP 0x8u
#define PRESET_ALL 0xfu

#define POLICY_ROOTS_MAX 4096u
#define POLICY_ENV_MAX 1024u
#define POLICY_NAME_MAX 64u
#define LIMIT_MEMORY_MIN (1u << 20)
#define LIMIT_PIDS_MAX 4194304u	/* the kernel's own, 64 bit */

/* A bit and its word in the language. */
struct word_bit {
	const char *word;
	uint32_t bit;
};

extern const struct word_bit workspace_caps[], process_caps[], presets[];
extern const char *const profile_names[], *const level_names[],
	*const env_mode_names[], *const list_pointers[LIST_COUNT];

struct policy_root {
	enum policy_list list;
	bool optional;		/* written "?path" */
	const char *path;	/* absolute, lexically normal */
	const char *rule;	/* text of its rule in the image */
	struct place at;
};

struct policy_env {
	const char *name;
	const char *value;	/* NULL: passed from the caller */
	bool withheld;		/* a null of `show`, where a value belongs */
	struct place at;
};

struct policy {
	struct arena mem;
	const char *source;	/* display name of the file, or a flag */
	const char *name;	/* or "" */
	const char *description;	/* or NULL */
	enum image_profile profile;
	enum image_level level;
	uint32_t caps;		/* CAP_*, before the level cuts them */
	uint32_t presets;	/* PRESET_* */
	bool listed[LIST_COUNT];	/* written, so no default holds */
	struct policy_root *roots;
	size_t root_count;
	enum image_env_mode env_mode;
	bool env_given;
	struct policy_env *env;
	size_t env_count;
	bool crowded;		/* too much of something, and it was said */
	struct image_limits limits;
};

/*
 * Every function below returns 0, or negative errno after a diagnostic.
 * @base: directory that relative roots start from.
 */
int policy_read(struct json_doc *doc, const struct context *c,
		const char *base, struct policy *p, struct diags *d);
void policy_init(struct policy *p, const char *source);
void policy_free(struct policy *p);

int policy_add_root(struct policy *p, enum policy_list list, bool optional,
		    const char *path, const char *rule,
		    const struct place *at, struct diags *d);
/* A later entry of the same name replaces the earlier one. NULL: pass. */
int policy_set_env(struct policy *p, const char *name, const char *value,
		   const struct place *at, struct diags *d);

/*
 * Fill in the default workspace, and check what holds between the fields; once
 * all additions are made. A @ceiling only limits, so its roots may be anything.
 */
int policy_check(struct policy *p, const struct context *c, bool ceiling,
		 struct diags *d);

/* Capabilities that the level leaves. */
uint32_t policy_caps(const struct policy *p);

/* Narrow @p to what @outer, a ceiling, grants too. */
int policy_intersect(struct policy *p, const struct policy *outer,
		     const struct context *c, struct diags *d);

/* The policy as JSON that parses again; without environment values. */
int policy_print(const struct policy *p, char **out, size_t *len);

int policy_lower(const struct policy *p, const struct context *c,
		 struct image **out, struct diags *d);

/* --- the small parts (root.c, limit.c) */

/*
 * Expand ~, ${HOME}, ${WORKSPACE}, ${USER} and $$ in @text, put @base before a
 * relative path, and normalise. NULL and *why (static) when that fails.
 */
char *root_expand(struct arena *mem, const struct context *c, const char *base,
		  const char *text, const char **why);
/* In place: an absolute path without ".", "..", doubled or trailing slashes. */
void root_normalise(char *path);
/* @path is @root or below it; both normal. */
bool root_covers(const char *root, const char *path);
/* NULL, or why @path is no absolute, normal path that an image may hold. */
const char *root_wrong(const char *path);

/* "90s", "10m", "500ms", "2h", "1d" to nanoseconds; false if it is none. */
bool limit_time(const char *text, uint64_t *ns);
/* "512M", "2G", "65536" (powers of 1024) to bytes. */
bool limit_size(const char *text, uint64_t *bytes);
bool limit_count(const char *text, uint64_t *n);
/* The shortest text that reads back as the same. */
void limit_time_text(uint64_t ns, char out[32]);
void limit_size_text(uint64_t bytes, char out[32]);

/* Whether @name may stand in an environment. */
bool env_name_ok(const char *name);

#endif
