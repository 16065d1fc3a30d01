// SPDX-License-Identifier: GPL-2.0-only
/*
 * The language itself, as tables: every field that a policy may have, its type,
 * and who takes it. What each one does stands in the read-*.c files.
 */
#include "take.h"

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

const char *const mode_names[] = { "enforce", "report", NULL };
const char *const on_loss_names[] = { "continue", "kill", NULL };
const char *const bind_any_names[] = { "refuse", "loopback", NULL };
const char *const egress_default_names[] = { "deny", "allow", NULL };

const char *const list_pointers[LIST_COUNT] = {
	[LIST_WORKSPACE] = "/workspace_roots",
	[LIST_READ_ONLY] = "/read_only_roots",
	[LIST_READ] = "/process_sandbox/read_roots",
	[LIST_WRITE] = "/process_sandbox/write_roots",
	[LIST_DENY] = "/process_sandbox/read_deny_roots",
	[LIST_SOCKET] = "/process_sandbox/unix_socket_roots",
};

#define STRING IS(JSON_STRING)
#define NUMBER IS(JSON_NUMBER)
#define LIST IS(JSON_LIST)
#define OBJECT IS(JSON_OBJECT)
#define BOOL IS(JSON_BOOL)
#define NULL_TOO IS(JSON_NULL)

static void take_capabilities(struct reader *r, const struct json *v);
static void take_sandbox(struct reader *r, const struct json *v);
static void take_protect(struct reader *r, const struct json *v);
static void take_egress(struct reader *r, const struct json *v);
static void take_environment(struct reader *r, const struct json *v);
static void take_limits(struct reader *r, const struct json *v);

static const struct field top[] = {
	{ "version", NUMBER, take_version },
	{ "$schema", STRING, take_any },
	{ "name", STRING, take_name },
	{ "description", STRING, take_description },
	{ "policy", OBJECT, take_permissions },
	{ "sandbox_profile", STRING, take_profile },
	{ "side_effect_level", STRING, take_level },
	{ "capabilities", OBJECT, take_capabilities },
	{ "workspace_roots", LIST, take_workspace_roots },
	{ "read_only_roots", LIST, take_read_only_roots },
	{ "process_sandbox", OBJECT, take_sandbox },
	{ "protect", OBJECT, take_protect },
	{ "egress", OBJECT, take_egress },
	{ "environment", OBJECT, take_environment },
	{ "env_files", LIST, take_env_files },
	{ "limits", OBJECT, take_limits },
	{ "mounts", LIST, take_mounts },
	{ "mode", STRING, take_mode },
	{ "on_loss", STRING, take_on_loss },
};

static const struct field capabilities[] = {
	{ "workspace", LIST, take_workspace_caps },
	{ "process", LIST, take_process_caps },
};

static const struct field sandbox[] = {
	{ "presets", LIST | NULL_TOO, take_presets },
	{ "read_roots", LIST, take_read_roots },
	{ "write_roots", LIST, take_write_roots },
	{ "read_deny_roots", LIST, take_deny_roots },
	{ "allow_loopback", BOOL, take_loopback },
	{ "allow_tcp_loopback", BOOL, take_tcp_loopback },
	{ "loopback_ports", LIST, take_loopback_ports },
	{ "publish_ports", LIST, take_publish_ports },
	{ "bind_any", STRING, take_bind_any },
	{ "unix_socket_roots", LIST, take_socket_roots },
	{ "user_namespaces", BOOL, take_user_namespaces },
	{ "ptrace", BOOL, take_ptrace },
};

static const struct field protect[] = {
	{ "add", LIST, take_protect_add },
	{ "exclude", LIST, take_protect_exclude },
};

static const struct field egress[] = {
	{ "default", STRING, take_egress_default },
	{ "allow", LIST, take_egress_allow },
	{ "deny", LIST, take_egress_deny },
};

static const struct field environment[] = {
	{ "mode", STRING, take_env_mode },
	{ "pass", LIST, take_passes },
	{ "set", OBJECT, take_set },
};

static const struct field limits[] = {
	{ "wall_time", STRING | NUMBER, take_wall_time },
	{ "grace", STRING | NUMBER, take_grace },
	{ "idle_time", STRING | NUMBER, take_idle_time },
	{ "memory", STRING | NUMBER, take_memory },
	{ "swap", STRING | NUMBER, take_swap },
	{ "pids", NUMBER, take_pids },
	{ "cpu", STRING | NUMBER, take_cpu },
	{ "io", STRING | NUMBER, take_io },
	{ "open_files", NUMBER, take_open_files },
	{ "file_size", STRING | NUMBER, take_file_size },
	{ "capture_bytes", STRING | NUMBER, take_capture_bytes },
};

static const struct field permissions[] = {
	{ "read", LIST, take_permit_read },
	{ "write", LIST, take_permit_write },
	{ "exec", LIST, take_permit_exec },
	{ "net", LIST, take_permit_net },
};

static const struct field mount[] = {
	{ "path", STRING, take_any },
	{ "backing", STRING, take_any },
	{ "access", STRING, take_any },
	{ "tracked", IS(JSON_BOOL), take_tracked },
};

#define TABLE(pointer, fields) \
	{ pointer, fields, sizeof(fields) / sizeof(*(fields)) }

const struct field_table field_tables[] = {
	[FIELDS_TOP] = TABLE("", top),
	[FIELDS_CAPABILITIES] = TABLE("/capabilities", capabilities),
	[FIELDS_SANDBOX] = TABLE("/process_sandbox", sandbox),
	[FIELDS_PROTECT] = TABLE("/protect", protect),
	[FIELDS_EGRESS] = TABLE("/egress", egress),
	[FIELDS_ENVIRONMENT] = TABLE("/environment", environment),
	[FIELDS_LIMITS] = TABLE("/limits", limits),
	[FIELDS_PERMISSIONS] = TABLE("/policy", permissions),
	[FIELDS_MOUNT] = TABLE("/mounts/*", mount),
};

const size_t field_table_count = sizeof(field_tables) / sizeof(*field_tables);

/* Written, they say all there is; so an empty object would mean nothing. */
static void take_capabilities(struct reader *r, const struct json *v)
{
	field_said(r, SAID_CAPS, v);
	if (!v->count) {
		field_error(r, v, "empty: leave it out to have all that the "
			    "level allows, or name them, as in "
			    "\"process\": [\"exec\"]");
		return;
	}
	r->p->caps = 0;
	fields_take(r, v, FIELDS_CAPABILITIES);
}

static void take_sandbox(struct reader *r, const struct json *v)
{
	fields_take(r, v, FIELDS_SANDBOX);
}

static void take_protect(struct reader *r, const struct json *v)
{
	fields_take(r, v, FIELDS_PROTECT);
}

static void take_egress(struct reader *r, const struct json *v)
{
	field_said(r, SAID_EGRESS, v);
	r->p->egress_given = true;
	fields_take(r, v, FIELDS_EGRESS);
}

static void take_environment(struct reader *r, const struct json *v)
{
	r->p->env_given = true;
	fields_take(r, v, FIELDS_ENVIRONMENT);
}

static void take_limits(struct reader *r, const struct json *v)
{
	fields_take(r, v, FIELDS_LIMITS);
}
