// SPDX-License-Identifier: GPL-2.0-only
/*
 * The model: its defaults, and what may be added to it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "data.h"
#include "net.h"
#include "suggest.h"

void policy_init(struct policy *p, const char *source)
{
	*p = (struct policy){
		.source = source,
		.name = "",
		.profile = PROFILE_OS_HARDENED,
		.level = LEVEL_PROCESS_EXEC,
		.caps = CAP_ALL,
		.presets = PRESET_ALL,
		.env_mode = ENV_ISOLATED,
		.limits = {
			.wall_time = IMAGE_NO_LIMIT,
			.grace = 5000000000ULL,
			.idle_time = IMAGE_NO_LIMIT,
			.memory = IMAGE_NO_LIMIT,
			.swap = IMAGE_NO_LIMIT,
			.file_size = IMAGE_NO_LIMIT,
			.capture_bytes = IMAGE_NO_LIMIT,
			.io = IMAGE_NO_LIMIT,
			.pids = 4096,
			.open_files = IMAGE_NO_LIMIT,
			.cpu = IMAGE_NO_LIMIT,
		},
	};
}

void policy_free(struct policy *p)
{
	free(p->roots);
	free(p->env);
	free(p->env_files);
	free(p->ports);
	free(p->net);
	free(p->protects);
	arena_free(&p->mem);
	*p = (struct policy){ 0 };
}

static int no_memory(const struct place *at, struct diags *d)
{
	diag_error(d, at, "out of memory");
	return -ENOMEM;
}

/* Said once, not for each that is too many. */
static int crowded(struct policy *p, const struct place *at, const char *what,
		   unsigned int max, struct diags *d)
{
	if (!p->crowded)
		diag_error(d, at, "more than %u %s", max, what);
	p->crowded = true;
	return -E2BIG;
}

/*
 * Room for one more in @array, which doubles; NULL after an error. @max of
 * @what are enough for anybody.
 */
static void *room(struct policy *p, void *array, size_t n, size_t size,
		  unsigned int max, const char *what, const struct place *at,
		  struct diags *d)
{
	if (n >= max) {
		crowded(p, at, what, max, d);
		return NULL;
	}
	if (n & (n - 1))
		return array;
	array = reallocarray(array, n ? 2 * n : 1, size);
	if (!array)
		no_memory(at, d);
	return array;
}

int policy_add_root(struct policy *p, enum policy_list list, bool optional,
		    const char *path, const char *rule,
		    const struct place *at, struct diags *d)
{
	struct policy_root *roots;

	if (!path || !rule)
		return no_memory(at, d);
	roots = room(p, p->roots, p->root_count, sizeof(*roots),
		     POLICY_ROOTS_MAX, "roots", at, d);
	if (!roots)
		return -E2BIG;
	p->roots = roots;
	roots[p->root_count++] = (struct policy_root){ list, optional, path,
						       rule, *at };
	return 0;
}

bool env_name_ok(const char *name)
{
	static const char ok[] = "abcdefghijklmnopqrstuvwxyz"
		"ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
	size_t len = strlen(name);

	return len && len <= LH_NAME_MAX && strspn(name, ok) == len &&
	       !strchr("0123456789", *name);
}

int policy_set_env(struct policy *p, const char *name, const char *value,
		   const struct place *at, struct diags *d)
{
	struct policy_env *env = p->env;
	size_t i;

	if (!env_name_ok(name)) {
		/* NAME=VALUE, perhaps: the value is nobody's to see. */
		diag_error(d, at, "\"%.*s%s\" is no name of a variable: "
			   "letters, digits and \"_\"",
			   (int)strcspn(name, "="), name,
			   strchr(name, '=') ? "=…" : "");
		return -EINVAL;
	}
	for (i = 0; i < p->env_count; i++)
		if (!strcmp(env[i].name, name)) {
			env[i] = (struct policy_env){
				.name = name, .value = value, .at = *at,
			};
			return 0;
		}
	env = room(p, env, p->env_count, sizeof(*env), POLICY_ENV_MAX,
		   "variables", at, d);
	if (!env)
		return -E2BIG;
	p->env = env;
	env[p->env_count++] = (struct policy_env){ .name = name,
						   .value = value, .at = *at };
	return 0;
}

int policy_add_env_file(struct policy *p, const char *path,
			const struct place *at, struct diags *d)
{
	struct policy_env_file *files;

	files = room(p, p->env_files, p->env_file_count, sizeof(*files),
		     POLICY_ENV_FILES_MAX, "files of variables", at, d);
	if (!files)
		return -E2BIG;
	p->env_files = files;
	files[p->env_file_count++] = (struct policy_env_file){ path, *at };
	return 0;
}

const char *policy_add_ports(struct policy *p, enum policy_port_list list,
			     const char *text, const struct place *at,
			     struct diags *d)
{
	struct policy_ports new = { .list = list, .at = *at }, *ports;
	const char *why = ports_parse(text, &new.lo, &new.hi);

	if (why)
		return why;
	ports = room(p, p->ports, p->port_count, sizeof(*ports),
		     POLICY_PORTS_MAX, "ports and ranges of them", at, d);
	if (!ports)
		return NULL;
	p->ports = ports;
	ports[p->port_count++] = new;
	return NULL;
}

const char *policy_add_net(struct policy *p, bool deny, const char *text,
			   const char *rule, const struct place *at,
			   struct diags *d)
{
	struct policy_net new = { .deny = deny, .rule = rule, .at = *at };
	const char *why = net_parse(text, &new);

	if (why)
		return why;
	if (net_port_in_doubt(text))
		diag_warn(d, at, "names one address with all its ports; with a "
			  "port an IPv6 address stands in brackets: "
			  "[2001:db8::1]:443");
	policy_add_net_rule(p, &new, d);
	return NULL;
}

int policy_add_net_rule(struct policy *p, const struct policy_net *rule,
			struct diags *d)
{
	struct policy_net *net;

	net = room(p, p->net, p->net_count, sizeof(*net), POLICY_NET_MAX,
		   "rules of egress", &rule->at, d);
	if (!net)
		return -E2BIG;
	p->net = net;
	net[p->net_count++] = *rule;
	return 0;
}

/* A relative name without surprises: "A/B", and "**" in front where @wild. */
static const char *protect_wrong(const char *name)
{
	bool wild = !strncmp(name, "**/", 3);
	const char *why, *slash, *s = name + (wild ? 3 : 0);
	char path[LH_PATH_MAX + 2];

	if (*s == '/')
		return "a name is relative to each writable root";
	if (strlen(s) > LH_PATH_MAX - 1)
		return "a name that is too long";
	path[0] = '/';
	strcpy(path + 1, s);
	why = *s ? root_wrong(path) : "an empty name";
	if (why)
		return why;
	if (strpbrk(s, "*?["))
		return "patterns are not expanded: a name, or \"**/A/B\" for "
		       "two names at any depth";
	slash = strchr(s, '/');
	if (wild && (!slash || strchr(slash + 1, '/')))
		return "\"**/\" takes just two names, as in \"**/A/B\"";
	return NULL;
}

const char *protect_text(struct arena *mem, const struct data_entry *e)
{
	static const char *const prefixes[][2] = {
		{ "repository", ".git/" }, { "gitlink", "" },
		{ "wild", "**/" }, { "home", "~/" }, { "path", "" },
	};
	size_t i;

	for (i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++)
		if (data_has(e, prefixes[i][0]))
			return arena_print(mem, "%s%.*s", prefixes[i][1],
					   e->path.len, e->path.s);
	return NULL;
}

/* An exclusion must hit one of the list, or it hides a misspelling. */
static const char *exclude_wrong(struct policy *p, const char *name)
{
	const char *all[32], *at = NULL, *near;
	struct data_entry e;
	size_t n = 0;

	while (data_next(DATA_PROTECTED, &at, &e) && n < 32) {
		all[n] = protect_text(&p->mem, &e);
		if (!all[n])
			return "out of memory";
		if (!strcmp(all[n++], name))
			return NULL;
	}
	near = suggest(name, all, sizeof(*all), n);
	return arena_print(&p->mem, "no protected name is written so%s%s%s",
			   near ? "; did you mean \"" : "; they stand in "
			   "lh-policy(5)", near ? near : "", near ? "\"?" : "");
}

int policy_add_protect(struct policy *p, bool exclude, const char *name,
		       const char *rule, const struct place *at,
		       struct diags *d)
{
	const char *why = exclude ? exclude_wrong(p, name) :
		protect_wrong(name);
	struct policy_protect *list;

	if (why) {
		diag_error(d, at, "%s", why);
		return -EINVAL;
	}
	list = room(p, p->protects, p->protect_count, sizeof(*list),
		    POLICY_PROTECT_MAX, "protected names", at, d);
	if (!list)
		return -E2BIG;
	p->protects = list;
	list[p->protect_count++] = (struct policy_protect){ exclude, name,
							    rule, *at };
	return 0;
}

bool policy_excludes(const struct policy *p, const char *name)
{
	size_t i;

	for (i = 0; i < p->protect_count; i++)
		if (p->protects[i].exclude &&
		    !strcmp(p->protects[i].name, name))
			return true;
	return false;
}
