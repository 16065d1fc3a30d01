// SPDX-License-Identifier: GPL-2.0-only
/*
 * The language itself: every field that a policy may have, and what each one
 * sets in the model. A field of the language that is not enforced yet stands
 * here too, so that it is refused by its name and never as a misspelling.
 */
#include <errno.h>
#include <string.h>

#include "data.h"
#include "fields.h"

const struct word_bit workspace_caps[] = {
	{ "read_text", CAP_READ_TEXT }, { "list", CAP_LIST },
	{ "exists", CAP_EXISTS }, { "write_text", CAP_WRITE_TEXT },
	{ "delete", CAP_DELETE }, { NULL, 0 },
};

const struct word_bit process_caps[] = { { "exec", CAP_EXEC }, { NULL, 0 } };

const struct word_bit presets[] = {
	{ "system_runtime", PRESET_SYSTEM_RUNTIME },
	{ "developer_toolchains", PRESET_DEVELOPER_TOOLCHAINS },
	{ "package_manager_config", PRESET_PACKAGE_MANAGER_CONFIG },
	{ "user_temp", PRESET_USER_TEMP }, { NULL, 0 },
};

const char *const profile_names[] = {
	"unrestricted", "workspace_paths", "worktree", "wasi", "os_hardened",
	NULL,
};

const char *const level_names[] = {
	"none", "read_only", "workspace_write", "process_exec", "network",
	NULL,
};

const char *const env_mode_names[] = {
	"inherited", "isolated", "granted", NULL,
};

const char *const list_pointers[LIST_COUNT] = {
	[LIST_WORKSPACE] = "/workspace_roots",
	[LIST_READ_ONLY] = "/read_only_roots",
	[LIST_READ] = "/process_sandbox/read_roots",
	[LIST_WRITE] = "/process_sandbox/write_roots",
	[LIST_DENY] = "/process_sandbox/read_deny_roots",
};

static void take_any(struct reader *r, const struct json *v)
{
	(void)r;
	(void)v;
}

static void take_version(struct reader *r, const struct json *v)
{
	if (strcmp(v->text, "1"))
		field_error(r, v, "this build reads version 1, not %.32s",
			    v->text);
}

static void take_name(struct reader *r, const struct json *v)
{
	static const char ok[] = "abcdefghijklmnopqrstuvwxyz"
		"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
	size_t len = strlen(v->text);

	if (!len || len > POLICY_NAME_MAX || strspn(v->text, ok) != len)
		field_error(r, v, "a name is 1 to 64 letters, digits, "
			    "\".\", \"_\" and \"-\"");
	else
		r->p->name = v->text;
}

/* It is printed raw by `show`; below 0x20, JSON has escapes that stay. */
static void take_description(struct reader *r, const struct json *v)
{
	size_t len = strlen(v->text), i, n;
	uint32_t rune;

	for (i = 0; i < len; i += n) {
		n = err_utf8(v->text + i, len - i, &rune);
		if (!n || (rune >= 0x7f && rune < 0xa0)) {
			field_error(r, v, "a control character");
			return;
		}
	}
	r->p->description = v->text;
}

static void take_profile(struct reader *r, const struct json *v)
{
	int i = field_word(r, v, profile_names, sizeof(char *));
	const char *at = NULL;
	struct data_entry e;

	if (i < 0)
		return;
	while (data_next(DATA_PROFILES, &at, &e))
		if (data_is(e.path, v->text) && data_has(&e, "accept")) {
			r->p->profile = i;
			return;
		} else if (data_is(e.path, v->text)) {
			field_error(r, v, "%s %.*s; use os_hardened or "
				    "worktree", v->text, e.reason.len,
				    e.reason.s);
			return;
		}
	field_error(r, v, "this build does not have %s", v->text);
}

static void take_level(struct reader *r, const struct json *v)
{
	int i = field_word(r, v, level_names, sizeof(char *));

	if (i >= 0)
		r->p->level = i;
}

struct bits {
	const struct word_bit *words;
	uint32_t *out;
};

static void take_bit(struct reader *r, const struct json *s, void *arg)
{
	struct bits *b = arg;
	int i = field_word(r, s, &b->words->word, sizeof(*b->words));

	if (i >= 0)
		*b->out |= b->words[i].bit;
}

static void take_workspace_caps(struct reader *r, const struct json *v)
{
	struct bits b = { workspace_caps, &r->p->caps };

	field_strings(r, v, take_bit, &b);
}

static void take_process_caps(struct reader *r, const struct json *v)
{
	struct bits b = { process_caps, &r->p->caps };

	field_strings(r, v, take_bit, &b);
}

static void take_presets(struct reader *r, const struct json *v)
{
	struct bits b = { presets, &r->p->presets };

	if (v->type == JSON_NULL)
		return;
	r->p->presets = 0;
	field_strings(r, v, take_bit, &b);
}

static void take_root(struct reader *r, const struct json *s, void *arg)
{
	enum policy_list list = *(enum policy_list *)arg;
	struct place at = json_place(r->doc, s, false);
	bool optional = *s->text == '?';
	const char *why, *path;

	path = root_expand(&r->p->mem, r->c, r->base, s->text + optional,
			   &why);
	if (path)
		policy_add_root(r->p, list, optional, path, at.pointer, &at,
				r->d);
	else
		field_error(r, s, "%s", why);
}

static void take_roots(struct reader *r, const struct json *v,
		       enum policy_list list)
{
	r->p->listed[list] = true;
	field_strings(r, v, take_root, &list);
}

static void take_workspace_roots(struct reader *r, const struct json *v)
{
	take_roots(r, v, LIST_WORKSPACE);
}

static void take_read_only_roots(struct reader *r, const struct json *v)
{
	take_roots(r, v, LIST_READ_ONLY);
}

static void take_read_roots(struct reader *r, const struct json *v)
{
	take_roots(r, v, LIST_READ);
}

static void take_write_roots(struct reader *r, const struct json *v)
{
	take_roots(r, v, LIST_WRITE);
}

static void take_deny_roots(struct reader *r, const struct json *v)
{
	take_roots(r, v, LIST_DENY);
}

static void take_mode(struct reader *r, const struct json *v)
{
	int i = field_word(r, v, env_mode_names, sizeof(char *));

	if (i >= 0)
		r->p->env_mode = i;
}

static void take_variable(struct reader *r, const struct json *v,
			  const char *name, const char *value)
{
	struct place at = json_place(r->doc, v, value != NULL);
	size_t i;

	for (i = 0; i < r->p->env_count; i++)
		if (!strcmp(r->p->env[i].name, name)) {
			field_error(r, v, "%s is named twice", name);
			return;
		}
	policy_set_env(r->p, name, value, &at, r->d);
}

static void take_pass(struct reader *r, const struct json *s, void *arg)
{
	(void)arg;
	take_variable(r, s, s->text, NULL);
}

static void take_passes(struct reader *r, const struct json *v)
{
	field_strings(r, v, take_pass, NULL);
}

/* What `show` prints; policy_check() refuses it unless a flag gave a value. */
static void take_withheld(struct reader *r, const struct json *v)
{
	size_t n = r->p->env_count;

	take_variable(r, v, v->key, "");
	if (r->p->env_count > n)
		r->p->env[n].withheld = true;
}

static void take_set(struct reader *r, const struct json *v)
{
	const struct json *m;

	for (m = v->first; m; m = m->next) {
		if (m->type == JSON_STRING)
			take_variable(r, m, m->key, m->text);
		else if (m->type == JSON_NULL)
			take_withheld(r, m);
		else
			field_error(r, m, "must be a string, not %s",
				    json_type_name(m->type));
	}
}

static void take_time(struct reader *r, const struct json *v, bool zero,
		      uint64_t *out)
{
	const uint64_t most = 3650 * 86400ULL * 1000000000ULL;
	uint64_t ns;

	if (v->type == JSON_NUMBER)
		field_error(r, v, "a time has a unit: \"%.32ss\", \"10m\", "
			    "\"2h\"", v->text);
	else if (!limit_time(v->text, &ns))
		field_error(r, v, "no time: write a whole number and one of "
			    "ms, s, m, h, d, as in \"90s\"");
	else if (ns > most)
		field_error(r, v, "longer than ten years");
	else if (!ns && !zero)
		field_error(r, v, "must be longer than zero");
	else
		*out = ns;
}

static void take_wall_time(struct reader *r, const struct json *v)
{
	take_time(r, v, false, &r->p->limits.wall_time);
}

static void take_grace(struct reader *r, const struct json *v)
{
	take_time(r, v, true, &r->p->limits.grace);
}

static void take_memory(struct reader *r, const struct json *v)
{
	uint64_t bytes;

	if (!limit_size(v->text, &bytes))
		field_error(r, v, "no size: write bytes, or a whole number "
			    "and one of K, M, G, T, as in \"2G\"");
	else if (bytes < LIMIT_MEMORY_MIN)
		field_error(r, v, "less than 1M, in which no program starts");
	else
		r->p->limits.memory = bytes;
}

static void take_pids(struct reader *r, const struct json *v)
{
	uint64_t n;

	if (!limit_count(v->text, &n) || !n || n > LIMIT_PIDS_MAX)
		field_error(r, v, "must be a whole number from 1 to %u",
			    LIMIT_PIDS_MAX);
	else
		r->p->limits.pids = n;
}

#define STRING IS(JSON_STRING)
#define NUMBER IS(JSON_NUMBER)
#define LIST IS(JSON_LIST)
#define OBJECT IS(JSON_OBJECT)
#define BOOL IS(JSON_BOOL)

static void take_capabilities(struct reader *r, const struct json *v);
static void take_sandbox(struct reader *r, const struct json *v);
static void take_environment(struct reader *r, const struct json *v);
static void take_limits(struct reader *r, const struct json *v);
static void take_protect(struct reader *r, const struct json *v);
static void take_egress(struct reader *r, const struct json *v);

static const struct field top[] = {
	{ "version", NUMBER, take_version, NULL },
	{ "$schema", STRING, take_any, NULL },
	{ "name", STRING, take_name, NULL },
	{ "description", STRING, take_description, NULL },
	{ "sandbox_profile", STRING, take_profile, NULL },
	{ "side_effect_level", STRING, take_level, NULL },
	{ "capabilities", OBJECT, take_capabilities, NULL },
	{ "workspace_roots", LIST, take_workspace_roots, NULL },
	{ "read_only_roots", LIST, take_read_only_roots, NULL },
	{ "process_sandbox", OBJECT, take_sandbox, NULL },
	{ "protect", OBJECT, take_protect, NULL },
	{ "egress", OBJECT, take_egress, NULL },
	{ "environment", OBJECT, take_environment, NULL },
	{ "limits", OBJECT, take_limits, NULL },
	{ "mounts", LIST, NULL, "[]" },
	{ "mode", STRING, NULL, "\"enforce\"" },
	{ "on_loss", STRING, NULL, "\"continue\"" },
	{ "env_files", LIST, NULL, "[]" },
};

static const struct field capabilities[] = {
	{ "workspace", LIST, take_workspace_caps, NULL },
	{ "process", LIST, take_process_caps, NULL },
};

static const struct field sandbox[] = {
	{ "presets", LIST | IS(JSON_NULL), take_presets, NULL },
	{ "read_roots", LIST, take_read_roots, NULL },
	{ "write_roots", LIST, take_write_roots, NULL },
	{ "read_deny_roots", LIST, take_deny_roots, NULL },
	{ "allow_loopback", BOOL, NULL, "false" },
	{ "allow_tcp_loopback", BOOL, NULL, "false" },
	{ "loopback_ports", LIST, NULL, "[]" },
	{ "publish_ports", LIST, NULL, "[]" },
	{ "bind_any", STRING, NULL, "\"refuse\"" },
	{ "unix_socket_roots", LIST, NULL, "[]" },
	{ "user_namespaces", BOOL, NULL, "false" },
	{ "ptrace", BOOL, NULL, "false" },
};

static const struct field protect[] = {
	{ "add", LIST, NULL, "[]" },
	{ "exclude", LIST, NULL, "[]" },
};

static const struct field egress[] = {
	{ "default", STRING, NULL, "\"deny\"" },
	{ "allow", LIST, NULL, "[]" },
	{ "deny", LIST, NULL, "[]" },
};

static const struct field environment[] = {
	{ "mode", STRING, take_mode, NULL },
	{ "pass", LIST, take_passes, NULL },
	{ "set", OBJECT, take_set, NULL },
};

static const struct field limits[] = {
	{ "wall_time", STRING | NUMBER, take_wall_time, NULL },
	{ "grace", STRING | NUMBER, take_grace, NULL },
	{ "memory", STRING | NUMBER, take_memory, NULL },
	{ "pids", NUMBER, take_pids, NULL },
	{ "idle_time", 0, NULL, NULL },
	{ "swap", 0, NULL, NULL },
	{ "cpu", 0, NULL, NULL },
	{ "io", 0, NULL, NULL },
	{ "open_files", 0, NULL, NULL },
	{ "file_size", 0, NULL, NULL },
	{ "capture_bytes", 0, NULL, NULL },
};

#define TABLE(pointer, fields) \
	{ pointer, fields, sizeof(fields) / sizeof(*(fields)) }

enum { TOP, CAPABILITIES, SANDBOX, PROTECT, EGRESS, ENVIRONMENT, LIMITS };

const struct field_table field_tables[] = {
	[TOP] = TABLE("", top),
	[CAPABILITIES] = TABLE("/capabilities", capabilities),
	[SANDBOX] = TABLE("/process_sandbox", sandbox),
	[PROTECT] = TABLE("/protect", protect),
	[EGRESS] = TABLE("/egress", egress),
	[ENVIRONMENT] = TABLE("/environment", environment),
	[LIMITS] = TABLE("/limits", limits),
};

const size_t field_table_count = sizeof(field_tables) / sizeof(*field_tables);

/* Written, they say all there is; so an empty object would mean nothing. */
static void take_capabilities(struct reader *r, const struct json *v)
{
	if (!v->count) {
		field_error(r, v, "empty: leave it out to have all that the "
			    "level allows, or name them, as in "
			    "\"process\": [\"exec\"]");
		return;
	}
	r->p->caps = 0;
	fields_take(r, v, &field_tables[CAPABILITIES]);
}

static void take_sandbox(struct reader *r, const struct json *v)
{
	fields_take(r, v, &field_tables[SANDBOX]);
}

static void take_protect(struct reader *r, const struct json *v)
{
	fields_take(r, v, &field_tables[PROTECT]);
}

static void take_egress(struct reader *r, const struct json *v)
{
	fields_take(r, v, &field_tables[EGRESS]);
}

static void take_environment(struct reader *r, const struct json *v)
{
	r->p->env_given = true;
	fields_take(r, v, &field_tables[ENVIRONMENT]);
}

static void take_limits(struct reader *r, const struct json *v)
{
	fields_take(r, v, &field_tables[LIMITS]);
}

int policy_read(struct json_doc *doc, const struct context *c,
		const char *base, struct policy *p, struct diags *d)
{
	struct reader r = { doc, p, c, base, d };
	const struct json *m;
	struct place at;

	for (m = doc->root->first; m; m = m->next)
		if (!strcmp(m->key, "version"))
			break;
	if (!m) {
		at = json_place(doc, doc->root, false);
		diag_error(d, &at, "no version; write \"version\": 1");
	}
	fields_take(&r, doc->root, &field_tables[TOP]);
	return d->errors ? -EINVAL : 0;
}
