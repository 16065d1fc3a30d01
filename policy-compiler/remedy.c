// SPDX-License-Identifier: GPL-2.0-only
/*
 * What each reason asks for, as little as will do: never a home or more, never
 * what the policy's author does not own.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <yajl/yajl_gen.h>

#include "edit.h"
#include "explain-inet.h"
#include "remedy.h"

#define WRITES (LH_WRITE | LH_BECOME)
#define REMOVES (LH_REMOVE | LH_MOVE)
#define READS (LH_READ | LH_EXEC)

static const char *json_quoted(struct arena *mem, const char *s)
{
	yajl_gen g = yajl_gen_alloc(NULL);
	const unsigned char *text;
	char *out = NULL;
	size_t len;

	if (!g)
		return NULL;
	yajl_gen_string(g, (const unsigned char *)s, strlen(s));
	if (yajl_gen_get_buf(g, &text, &len) == yajl_gen_status_ok)
		out = arena_copy(mem, (const char *)text, len);
	yajl_gen_free(g);
	return out;
}

/* As a shell would have it written. */
static const char *shell_word(struct arena *mem, const char *s)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
		"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";
	char *out, *at;

	if (s[strspn(s, plain)] == 0)
		return s;
	out = at = arena_alloc(mem, 4 * strlen(s) + 3);
	if (!out)
		return NULL;
	*at++ = '\'';
	for (; *s; s++)
		if (*s == '\'')
			at = stpcpy(at, "'\\''");
		else
			*at++ = *s;
	*at = '\'';
	return out;
}

/* A path as a policy has it: what would be expanded there is not. */
static const char *policy_path(struct arena *mem, const char *path)
{
	char *out = arena_alloc(mem, 2 * strlen(path) + 1), *at = out;

	for (; out && *path; path++) {
		if (*path == '$')
			*at++ = '$';
		*at++ = *path;
	}
	return out;
}

int remedy_none(struct remedy *f, const char *why)
{
	f->c->why = why;
	return 0;
}

static int no_memory(struct remedy *f)
{
	f->c->why = "out of memory";
	return -ENOMEM;
}

/* --- steps */

/* A step that was made and has not helped is not made again. */
static bool is_made(const struct change *c, const struct change_step *s)
{
	size_t i;

	for (i = 0; i < c->count; i++)
		if (c->step[i].kind == s->kind && s->value &&
		    !strcmp(c->step[i].value, s->value) &&
		    (!s->pointer || !strcmp(c->step[i].pointer, s->pointer)))
			return true;
	return false;
}

static int step(struct remedy *f, const struct change_step *s)
{
	if (!s->text)
		return no_memory(f);
	if (is_made(f->c, s))
		return remedy_none(f, "no field of the policy alone turns it");
	f->c->step[f->c->count] = *s;
	f->c->count++;
	return 1;
}

static int set_level(struct remedy *f, enum image_level level)
{
	struct change_step s = {
		.kind = CHANGE_SET, .pointer = "/side_effect_level",
		.value = level_names[level],
	};

	s.text = arena_print(&f->c->mem, "\"side_effect_level\": \"%s\"",
			     s.value);
	return step(f, &s);
}

/* Until then nothing is refused at all. */
static int set_profile(struct remedy *f)
{
	struct change_step s = {
		.kind = CHANGE_SET, .pointer = "/sandbox_profile",
		.value = profile_names[PROFILE_OS_HARDENED],
	};

	s.text = arena_print(&f->c->mem, "\"sandbox_profile\": \"%s\"",
			     s.value);
	return step(f, &s);
}

static int add_word(struct remedy *f, const char *pointer, const char *word)
{
	struct change_step s = {
		.kind = CHANGE_ADD, .pointer = pointer, .value = word,
	};

	if (edit_has(&f->doc, pointer, word))
		return remedy_none(f, "no single field of the policy opens it");
	s.text = arena_print(&f->c->mem, "add \"%s\" to %s", word, pointer);
	return step(f, &s);
}

static int add_path(struct remedy *f, enum policy_list list, const char *flag,
		    const char *path)
{
	struct arena *mem = &f->c->mem;
	struct change_step s = {
		.kind = CHANGE_ADD, .pointer = list_pointers[list],
		.flag = flag,
	};
	const char *quoted, *word;

	path = arena_copy(mem, path, strlen(path));
	if (!path)
		return no_memory(f);
	if (root_wrong(path))
		return remedy_none(f, "a policy cannot have this path: rename it, or "
				   "name a directory above it");
	s.value = policy_path(mem, path);
	s.flag_value = path;
	quoted = s.value ? json_quoted(mem, s.value) : NULL;
	word = shell_word(mem, path);
	if (!quoted || !word)
		return no_memory(f);
	s.text = arena_print(mem, "add %s to %s, or %s %s", quoted, s.pointer,
			     flag, word);
	return step(f, &s);
}

static int take_out(struct remedy *f, const char *pointer)
{
	const struct json *v = edit_find(&f->doc, pointer);
	struct change_step s = { .kind = CHANGE_TAKE };
	const char *quoted, *flag = NULL;

	if (v && v->type == JSON_BOOL) {
		s.pointer = arena_print(&f->c->mem, "%s", pointer);
		s.text = arena_print(&f->c->mem, "take %s out of the policy",
				     pointer);
		return s.pointer ? step(f, &s) : no_memory(f);
	}
	if (!v || (v->type != JSON_STRING && v->type != JSON_NUMBER) ||
	    !v->parent || v->parent->type != JSON_LIST)
		return remedy_none(f, "the rule is none of the policy's own");
	/* As the policy stands, without the steps before this one. */
	s.pointer = arena_print(&f->c->mem, "%.*s/%zu",
				(int)(strrchr(pointer, '/') - pointer),
				pointer, v->index);
	quoted = json_quoted(&f->c->mem, v->text);
	if (!s.pointer || !quoted)
		return no_memory(f);
	if (!f->c->count && !strncmp(f->rule, "flag:", 5))
		flag = f->rule + 5;
	s.text = flag ? arena_print(&f->c->mem, "leave out %s", flag) :
		arena_print(&f->c->mem, "take %s out of the policy (%s)",
			    s.pointer, quoted);
	return step(f, &s);
}

static bool leads_to(const char *path, const char *root)
{
	char *real = realpath(path, NULL);
	bool yes = real && !strcmp(real, root);

	free(real);
	return yes;
}

/* The entry of the list, as written, that the rule stands for. */
static const char *credential(const struct remedy *f)
{
	const struct image_root *r = image_roots(f->im);
	const char *path, *first = NULL;
	uint32_t i;

	for (i = 0; i < f->im->roots.count; i++) {
		path = image_string(f->im, r[i].path);
		if (r[i].kind != ROOT_CREDENTIAL ||
		    strcmp(image_rule(f->im, r[i].rule), f->a.rule))
			continue;
		if (!first)
			first = path;
		if (f->a.root && (!strcmp(path, f->a.root) ||
				  leads_to(path, f->a.root)))
			return path;
	}
	return first;
}

static int lift(struct remedy *f)
{
	struct arena *mem = &f->c->mem;
	struct change_step s = {
		.kind = CHANGE_LIFT, .flag = "--allow-credential",
	};
	const char *path = credential(f), *word;

	if (!path)
		return remedy_none(f, "no policy opens a credential");
	s.value = s.flag_value = arena_copy(mem, path, strlen(path));
	word = s.value ? shell_word(mem, s.value) : NULL;
	if (!word)
		return no_memory(f);
	s.text = arena_print(mem, "--allow-credential %s: no policy can, the "
			     "operator of one run may", word);
	return step(f, &s);
}

static int exclude(struct remedy *f, const char *name)
{
	struct change_step s = {
		.kind = CHANGE_ADD, .pointer = "/protect/exclude",
	};
	const char *quoted;

	s.value = arena_copy(&f->c->mem, name, strlen(name));
	quoted = s.value ? json_quoted(&f->c->mem, s.value) : NULL;
	if (!quoted)
		return no_memory(f);
	if (edit_has(&f->doc, s.pointer, s.value))
		return remedy_none(f, "no policy takes this name off the list");
	s.text = arena_print(&f->c->mem, "\"protect\": { \"exclude\": [%s] }",
			     quoted);
	return step(f, &s);
}

/* --- what each reason asks for */

/* Whoever wrote the rule: take that out. */
static int drop_rule(struct remedy *f)
{
	static const char protect[] = "builtin:protect/";
	const char *rule = f->a.rule;

	if (!strncmp(rule, protect, strlen(protect)))
		return exclude(f, rule + strlen(protect));
	if (!strncmp(rule, "builtin:credentials", 19))
		return lift(f);
	if (!strncmp(rule, "ceiling:", 8))
		return remedy_none(f, "the ceiling of this host says so: its owner "
				   "alone can change that");
	if (!strcmp(rule, "builtin:policy"))
		return remedy_none(f, "no session writes its own policy: move the "
				   "file out of the writable roots");
	if (*rule != '/')
		return remedy_none(f, "the rule is none of the policy's own");
	return take_out(f, rule);
}

/* A root that has a right must stay; what takes rights away may go. */
static int drop_pin(struct remedy *f)
{
	const char *rule = f->a.rule;

	if (*rule == '/' &&
	    strncmp(rule, list_pointers[LIST_DENY],
		    strlen(list_pointers[LIST_DENY])) &&
	    strncmp(rule, list_pointers[LIST_READ_ONLY],
		    strlen(list_pointers[LIST_READ_ONLY])))
		return remedy_none(f, "a root of the policy, and what it lies in, "
				   "stays where it is");
	return drop_rule(f);
}

/* Nobody's home, and nothing above one. */
static bool is_wholesale(const struct remedy *f, const char *path)
{
	const struct context *c = f->o->context;
	size_t i;

	for (i = 0; i < c->home_count; i++)
		if (root_covers(path, c->homes[i]))
			return true;
	return !strcmp(path, "/");
}

static const char *decided_object(const struct remedy *f)
{
	return f->a.second ? f->a.other : f->a.object;
}

/* Open as little as will do: the object, or what it has its name in. */
static int open_root(struct remedy *f)
{
	bool write = f->a.access & (WRITES | REMOVES);
	bool name = f->a.absent || (f->a.access & (REMOVES | LH_BECOME)) ||
		    S_ISLNK(f->a.mode);
	const char *path = name ? f->a.place : decided_object(f);

	if (f->a.access & (LH_CONNECT | LH_BIND)) {
		if (f->a.absent)
			path = f->a.place;
		if (is_wholesale(f, path))
			return remedy_none(f, "it would have to open all sockets of a "
					   "home, or more: name the one that is needed");
		return add_path(f, LIST_SOCKET, "--sandbox-unix-socket-root",
				path);
	}
	if (is_wholesale(f, path))
		return remedy_none(f, name ? "it would have to open a home, or more: "
				   "make a directory for it, and add that" :
				   "it would open a home, or more: name what is "
				   "needed in it");
	return write ? add_path(f, LIST_WRITE, "--rw", path) :
		add_path(f, LIST_READ, "--sandbox-read-root", path);
}

/* The level and the capabilities first: without them no root has the right. */
static int grant(struct remedy *f)
{
	static const char caps[] = "/capabilities/workspace";
	uint32_t want = f->a.access;

	if ((want & (WRITES | REMOVES)) && f->im->level < LEVEL_WORKSPACE_WRITE)
		return set_level(f, LEVEL_WORKSPACE_WRITE);
	if ((want & READS) && f->im->level < LEVEL_READ_ONLY)
		return set_level(f, LEVEL_READ_ONLY);
	if ((want & WRITES) && !edit_has(&f->doc, caps, "write_text"))
		return add_word(f, caps, "write_text");
	if ((want & REMOVES) && !edit_has(&f->doc, caps, "write_text") &&
	    !edit_has(&f->doc, caps, "delete"))
		return add_word(f, caps, "delete");
	if ((want & READS) && !edit_has(&f->doc, caps, "read_text") &&
	    !edit_has(&f->doc, caps, "list") &&
	    !edit_has(&f->doc, caps, "exists"))
		return add_word(f, caps, "read_text");
	return open_root(f);
}

static int refuse(struct remedy *f)
{
	if (!strcmp(f->a.rule, "/sandbox_profile"))
		return set_profile(f);
	if (!f->a.root)
		return remedy_none(f, "what the session itself has made is its own "
				   "under every policy");
	if (!strcmp(f->a.object, "/"))
		return remedy_none(f, "/ cannot be denied: take out what grants it");
	return add_path(f, LIST_DENY, "--deny", f->a.object);
}

/* An address beyond loopback is a rule's matter, and the level's. */
static int open_address(struct remedy *f)
{
	struct change_step s = {
		.kind = CHANGE_ADD, .pointer = "/egress/allow",
		.flag = "--egress-allow", .flag_value = f->q->object,
	};
	bool binds = f->q->op->kind == OPERATION_BIND;

	if (explain_is_loopback(f->q->object, binds))
		return remedy_none(f, "allow_loopback, loopback_ports or "
				   "bind_any of process_sandbox opens "
				   "loopback");
	if (binds)
		return remedy_none(f, "no policy grants a bind beyond "
				   "loopback");
	if (f->im->level < LEVEL_NETWORK)
		return set_level(f, LEVEL_NETWORK);
	s.value = f->q->object;
	s.text = arena_print(&f->c->mem, "add \"%s\" to %s, or %s %s", s.value,
			     s.pointer, s.flag, s.value);
	return step(f, &s);
}

/* What a rule of the policy decides is that rule's. */
static int turn_address(struct remedy *f)
{
	if (*f->a.rule == '/')
		return take_out(f, f->a.rule);
	return f->a.why == LH_WHY_ALLOW ? refuse(f) : open_address(f);
}

static int turn_tracing(struct remedy *f)
{
	if (f->a.why == LH_WHY_NOT_GRANTED)
		return remedy_none(f, "\"ptrace\": true in process_sandbox "
				   "opens it");
	if (f->a.why == LH_WHY_ALLOW && *f->a.rule == '/')
		return take_out(f, f->a.rule);
	return remedy_none(f, "no session traces what is outside of it");
}

int remedy_propose(struct remedy *f)
{
	if (f->q->op->kind == OPERATION_PTRACE)
		return turn_tracing(f);
	if ((f->q->op->kind == OPERATION_CONNECT ||
	     f->q->op->kind == OPERATION_BIND) &&
	    strncmp(f->q->object, "unix:", 5))
		return turn_address(f);
	switch (f->a.why) {
	case LH_WHY_ALLOW:
		return refuse(f);
	case LH_WHY_DENIED:
	case LH_WHY_PROTECTED:
		return drop_rule(f);
	case LH_WHY_PINNED:
		return drop_pin(f);
	case LH_WHY_READ_ONLY:
		return f->deeper ? open_root(f) : drop_rule(f);
	case LH_WHY_NOT_GRANTED:
		return grant(f);
	case LH_WHY_NO_EXEC:
		return f->im->level < LEVEL_PROCESS_EXEC ?
			set_level(f, LEVEL_PROCESS_EXEC) :
			add_word(f, "/capabilities/process", "exec");
	default:
		return remedy_none(f, "no policy opens it: it holds for every "
				   "session");
	}
}

