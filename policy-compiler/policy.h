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
	LIST_SOCKET,		/* grants sockets below it, no file */
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

/* What a policy grants beyond files, each alone. */
#define GRANT_LOOPBACK_TCP 0x1u
#define GRANT_LOOPBACK_UDP 0x2u
#define GRANT_USER_NAMESPACES 0x4u
#define GRANT_PTRACE 0x8u

#define POLICY_ROOTS_MAX 16384u
#define POLICY_ENV_MAX 1024u
#define POLICY_PORTS_MAX 1024u	/* ranges, both lists together */
#define POLICY_NET_MAX 4096u	/* egress rules, allow and deny together */
#define POLICY_PROTECT_MAX 256u
#define POLICY_ENV_FILES_MAX 64u
#define POLICY_NAME_MAX 64u
#define LIMIT_MEMORY_MIN (1u << 20)
#define LIMIT_PIDS_MAX 4194304u	/* the kernel's own, 64 bit */
#define LIMIT_OPEN_FILES_MAX 1048576u	/* fs.nr_open, unless it was changed */
#define LIMIT_CAPTURE_MAX (64u << 20)	/* of each of two streams, in memory */
#define LIMIT_CPU_MAX 100000u	/* percent: a thousand processors */

/* A bit and its word in the language. */
struct word_bit {
	const char *word;
	uint32_t bit;
};

extern const struct word_bit workspace_caps[], process_caps[], presets[];
extern const char *const profile_names[], *const level_names[],
	*const env_mode_names[], *const mode_names[], *const on_loss_names[],
	*const bind_any_names[], *const egress_default_names[],
	*const list_pointers[LIST_COUNT];

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
	bool from_file;		/* of an env file: `show` names the file */
	struct place at;
};

struct policy_env_file {
	const char *path;	/* absolute, lexically normal */
	struct place at;
};

enum policy_port_list { PORTS_LOOPBACK, PORTS_PUBLISH };

/* Ports @lo to @hi, both from 1 to 65535. */
struct policy_ports {
	enum policy_port_list list;
	uint16_t lo, hi;
	struct place at;
};

#define NET_TCP 0x1u
#define NET_UDP 0x2u

/* One rule of egress: where, at which ports, over which protocols. */
struct policy_net {
	bool deny;
	bool v6;
	uint8_t addr[16];	/* IPv4: the first four; host bits are zero */
	uint8_t prefix;		/* bits: 0 to 32 or 128 */
	uint16_t lo, hi;	/* 0 and 65535: all ports */
	uint8_t protocols;	/* NET_TCP | NET_UDP */
	const char *rule;
	struct place at;
};

/* A name of `protect`: added to the list, or taken off it. */
struct policy_protect {
	bool exclude;
	const char *name;	/* "A/B", or "**" "/A/B" */
	const char *rule;
	struct place at;
};

/* An entry of the credential list that the operator lifts for one run. */
struct policy_lift {
	const char *path;	/* absolute, lexically normal */
	bool hit;		/* there is such an entry */
	const char *inside;	/* the entry that it lies below, or NULL */
	struct place at;
};

enum policy_mode { MODE_ENFORCE, MODE_REPORT };
enum policy_on_loss { LOSS_CONTINUE, LOSS_KILL };
enum policy_bind_any { BIND_ANY_REFUSE, BIND_ANY_LOOPBACK };
enum policy_egress_default { EGRESS_DENY, EGRESS_ALLOW };

/* IMAGE_NO_LIMIT: none. Those that an image has too stand in it likewise. */
struct policy_limits {
	uint64_t wall_time, grace, idle_time;	/* nanoseconds */
	uint64_t memory, swap, file_size, capture_bytes;	/* bytes */
	uint64_t io;		/* bytes a second */
	uint64_t pids, open_files;
	uint64_t cpu;		/* percent of one processor */
};

/* Fields whose place is remembered for what is said of them later. */
enum policy_said {
	SAID_PROFILE, SAID_LEVEL, SAID_CAPS, SAID_PRESETS, SAID_LOOPBACK,
	SAID_TCP_LOOPBACK, SAID_BIND_ANY, SAID_USER_NAMESPACES, SAID_PTRACE,
	SAID_EGRESS, SAID_EGRESS_DEFAULT, SAID_MODE,
	SAID_WALL_TIME, SAID_GRACE, SAID_IDLE_TIME, SAID_MEMORY, SAID_SWAP,
	SAID_CPU, SAID_IO, SAID_PIDS, SAID_OPEN_FILES, SAID_FILE_SIZE,
	SAID_CAPTURE_BYTES, SAID_COUNT,
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
	uint32_t grants;	/* GRANT_* */
	enum policy_mode mode;
	enum policy_on_loss on_loss;
	enum policy_bind_any bind_any;
	bool listed[LIST_COUNT];	/* written, so no default holds */
	struct policy_root *roots;
	size_t root_count;
	enum image_env_mode env_mode;
	bool env_given;
	struct policy_env *env;
	size_t env_count;
	struct policy_env_file *env_files;
	size_t env_file_count;
	struct policy_ports *ports;
	size_t port_count;
	bool egress_given;
	enum policy_egress_default egress_default;
	struct policy_net *net;
	size_t net_count;
	struct policy_protect *protects;
	size_t protect_count;
	struct policy_lift *lifts;	/* in the arena */
	size_t lift_count;
	bool followed;		/* no root has a link on its way: follow.h */
	bool crowded;		/* too much of something, and it was said */
	struct policy_limits limits;
	struct place said[SAID_COUNT];	/* where each was written; .file NULL:
					 * nowhere */
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
int policy_add_env_file(struct policy *p, const char *path,
			const struct place *at, struct diags *d);
/* These two return NULL, or why @text is none (static); what else is in @d. */
const char *policy_add_ports(struct policy *p, enum policy_port_list list,
			     const char *text, const struct place *at,
			     struct diags *d);
const char *policy_add_net(struct policy *p, bool deny, const char *text,
			   const char *rule, const struct place *at,
			   struct diags *d);
int policy_add_net_rule(struct policy *p, const struct policy_net *rule,
			struct diags *d);
int policy_add_protect(struct policy *p, bool exclude, const char *name,
		       const char *rule, const struct place *at,
		       struct diags *d);
/* Whether `protect.exclude` has @name, as the list writes it: ".git/config". */
bool policy_excludes(const struct policy *p, const char *name);

/*
 * Fill in the default workspace, and check what holds between the fields; once
 * all additions are made. A @ceiling only limits, so its roots may be anything.
 */
int policy_check(struct policy *p, const struct context *c, bool ceiling,
		 struct diags *d);

/* Capabilities that the level leaves. */
uint32_t policy_caps(const struct policy *p);

/*
 * An error for each thing that @p asks for and this build does not enforce, at
 * its place; a warning where @warn. Until they land: enforce.c.
 */
void policy_enforceable(const struct policy *p, bool warn, struct diags *d);

enum policy_outer {
	OUTER_CEILING,	/* a limit: grants nothing by itself */
	OUTER_SESSION,	/* what it grants beyond files, the inner one has */
};

/*
 * Narrow @p to what @outer grants too. Loopback, ports, socket roots, tracing
 * and user namespaces: under a ceiling what both grant; inside a session the
 * outer's, which an inner policy neither brings in nor erases.
 */
int policy_intersect(struct policy *p, const struct policy *outer,
		     enum policy_outer kind, const struct context *c,
		     struct diags *d);

/* The policy as JSON that parses again; without environment values. */
int policy_print(const struct policy *p, char **out, size_t *len);
/* Its last touch on what yajl wrote; @out is as large. The length. */
size_t policy_tidy(const char *in, size_t len, char *out);

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
/* "150%" to 150, from 1 to LIMIT_CPU_MAX. */
bool limit_percent(const char *text, uint64_t *n);
/* The shortest text that reads back as the same. */
void limit_time_text(uint64_t ns, char out[32]);
void limit_size_text(uint64_t bytes, char out[32]);
void limit_percent_text(uint64_t percent, char out[32]);

/* Whether @name may stand in an environment. */
bool env_name_ok(const char *name);

#endif
