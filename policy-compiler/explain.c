// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the kernel would say, for people: the objects are looked at as the
 * operation's hooks would, judged over the same table by the same text, and
 * what only a running session has is said in words.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "explain-inet.h"
#include "explain-process.h"
#include "explain.h"
#include "look.h"

static void text_free(char **s)
{
	free(*s);
}

/* @path from the working directory, which is where the asker stands. */
static char *absolute(const char *path)
{
	char *dir, *out = NULL;

	if (*path == '/')
		return strdup(path);
	dir = getcwd(NULL, 0);
	if (dir && asprintf(&out, "%s/%s", dir, path) < 0)
		out = NULL;
	free(dir);
	return out;
}

int table_explain(const struct image *im, const struct table *t,
		  const char *path, uint32_t access, struct explain *x,
		  struct err *e)
{
	/* Such a request is about the name, be it a link's. */
	const uint32_t nofollow = LH_REMOVE | LH_MOVE | LH_BECOME;
	struct entries es __attribute__((cleanup(entries_free))) = { 0 };
	struct arena mem __attribute__((cleanup(arena_free))) = { 0 };
	char *full __attribute__((cleanup(text_free))) = NULL;
	struct look_verdict v;
	const char *object, *root = NULL;
	struct look l;
	int r;

	if (!*path)
		return err_set(e, -ENOENT, "an empty path names nothing");
	full = absolute(path);
	r = entries_init(&es, NULL, NULL);
	if (r || !full)
		return err_sys(e, r ? r : -ENOMEM, "%s", path);
	r = look_at(&es, t, full, access & nofollow ? ROUTE_NOFOLLOW : 0,
		    &mem, &l);
	if (r)
		return err_sys(e, r, "%s", path);
	v = look_judge(im, t, &es, &l, access);
	object = look_path(&l, 0, &mem);
	if (v.met)
		root = look_path(&l, v.step, &mem);
	if (!object || (v.met && !root))
		return err_sys(e, -ENOMEM, "%s", path);
	*x = (struct explain){
		.verdict = { v.verdict.why, v.verdict.rule },
		.object = strdup(object), .root = root ? strdup(root) : NULL,
		.absent = !v.special && l.missing,
	};
	if (x->object && (x->root || !root))
		return 0;
	free(x->object);
	free(x->root);
	return err_sys(e, -ENOMEM, "%s", path);
}

/* A reason as the records call it, and as a person would say it. */
static const struct {
	const char *code, *text;
} reasons[LH_WHY_COUNT] = {
	[LH_WHY_ALLOW] = { "allow", "granted" },
	[LH_WHY_DENIED] = { "denied", "denied, whatever grants it" },
	[LH_WHY_NOT_GRANTED] = { "not_granted", "nothing grants it" },
	[LH_WHY_READ_ONLY] = { "read_only", "the root is read-only" },
	[LH_WHY_PROTECTED] = { "protected",
			       "protected: the host runs what it says" },
	[LH_WHY_PINNED] = { "pinned", "a rule hangs on this name or below" },
	[LH_WHY_OUTSIDE_MOUNT] = { "outside_mount",
				   "on a mount that no root reaches" },
	[LH_WHY_UNFINISHED] = { "unfinished", "too deep to judge" },
	[LH_WHY_NO_EXEC] = { "no_exec",
			     "the policy lets no further program start" },
	[LH_WHY_PROCESS] = { "process", "it is of a process outside" },
	[LH_WHY_GUARD] = { "guard", "it would reach the sandbox itself" },
	[LH_WHY_DEVICE] = { "device", "a device that is not granted" },
	[LH_WHY_FAMILY] = { "family", "no such socket is granted" },
	[LH_WHY_PEER] = { "peer", "the other end is not in the session" },
	[LH_WHY_NEVER] = { "never", "no session may" },
};

static void set_why(struct answer *a, unsigned int why)
{
	a->why = why;
	a->verdict = why == LH_WHY_ALLOW ? ANSWER_ALLOW : ANSWER_REFUSE;
	a->code = a->text = "internal";
	if (why < LH_WHY_COUNT && reasons[why].code) {
		a->code = reasons[why].code;
		a->text = reasons[why].text;
	}
}

static void note(struct answer *a, const char *text)
{
	size_t i = 0;

	while (a->notes[i])
		i++;
	if (i < ANSWER_NOTES_MAX)
		a->notes[i] = text;
}

static void depends(struct answer *a, const char *text)
{
	a->verdict = ANSWER_DEPENDS;
	a->code = "depends";
	a->text = "only the running session can tell";
	a->rule = "default";
	a->root = NULL;
	note(a, text);
}

/* exec is a switch of the whole session, which no item of the table is. */
static const char *no_exec_rule(const struct image *im)
{
	return im->level < LEVEL_PROCESS_EXEC ? "/side_effect_level" :
		"/capabilities/process";
}

/* A question in work. */
struct asked {
	const struct image *im;
	const struct table *t;
	const struct question *q;
	struct entries es;
	struct look look[2];
	uint32_t use;		/* that the first object would gain */
	struct answer *a;
};

static bool leads(const struct look *l)
{
	return S_ISDIR(l->mode) || S_ISLNK(l->mode);
}

/* What the hooks ask of object number @i. */
static uint32_t access_of(const struct asked *k, int i)
{
	const struct look *old = &k->look[0], *new = &k->look[1];
	uint32_t access = i ? LH_WRITE : k->q->op->access;

	if (k->q->op->kind == OPERATION_RENAME) {
		/* What is not there might be a directory. */
		if (old->missing || leads(old))
			access |= i ? LH_BECOME : LH_MOVE;
		if (i && !new->missing)
			access |= LH_REMOVE;
	}
	if (k->q->op->kind == OPERATION_LINK && i && leads(old))
		access |= LH_BECOME;
	if (i && !old->missing && !S_ISREG(old->mode))
		access |= LH_ODD;
	return access;
}

static int add_links(struct asked *k, int i)
{
	const struct look *l = &k->look[i];
	struct answer *a = k->a;
	struct answer_link *all;
	char target[PATH_MAX];
	size_t n;

	all = arena_alloc(&a->mem, (a->link_count + l->way.links) *
			  sizeof(*all));
	if (!all)
		return -ENOMEM;
	if (a->link_count)
		memcpy(all, a->links, a->link_count * sizeof(*all));
	for (n = 0; n < l->way.links; n++) {
		uint32_t entry = l->way.link[n].entry;
		char *path = entries_path(&k->es, entry);
		ssize_t len = readlinkat(k->es.entry[entry].fd, "", target,
					 sizeof(target));
		struct answer_link *to = &all[a->link_count++];

		if (path)
			to->path = arena_copy(&a->mem, path, strlen(path));
		to->target = arena_copy(&a->mem, target, len > 0 ? len : 0);
		free(path);
		if (!to->path || !to->target)
			return -ENOMEM;
	}
	a->links = all;
	return 0;
}

/* Below /tmp/lh-UID: where sessions have their temporary directories. */
static bool is_temp(const char *object)
{
	static const char base[] = "/tmp/lh-";
	size_t n = strlen(base);

	if (strncmp(object, base, n))
		return false;
	object += n;
	n = strspn(object, "0123456789");
	return n && object[n] == '/' && object[n + 1];
}

/* What the table says nothing of, since no session is there. */
static void add_notes(struct asked *k, const struct look *l,
		      const struct look_verdict *v)
{
	const struct operation *op = k->q->op;
	struct answer *a = k->a;

	if (l->foreign) {
		depends(a, "a link of /proc leads to what whoever follows it "
			"has there");
		return;
	}
	if (a->absent && !op->makes && !a->second)
		note(a, "nothing is there now");
	if (a->why == LH_WHY_PROCESS)
		note(a, "the session's own processes are open to it");
	if (v->special)
		return;
	if (is_temp(a->object) && a->why == LH_WHY_NOT_GRANTED &&
	    (k->im->flags & IMAGE_USER_TEMP)) {
		if (a->absent)
			depends(a, "a session's own temporary directory lies "
				"here: it may do all there");
		else
			note(a, "of another session: its own temporary "
			     "directory is made when it starts");
	} else if (look_is_shared(k->t, l)) {
		note(a, "what the session makes here is its own, what others "
		     "made stays shut");
	}
	if (a->access == LH_EXEC && a->verdict == ANSWER_REFUSE &&
	    a->why != LH_WHY_DENIED)
		note(a, "the command of the session itself is run all the "
		     "same");
}

/* The deepest directory above the object that exists. */
static const char *place_of(const struct asked *k, const struct look *l)
{
	size_t from = l->missing ? l->missing : 1;

	if (from >= l->count)
		from = l->count - 1;
	return look_path(l, from, &k->a->mem);
}

/* Object number @i decides: make the answer of it. */
static int settle(struct asked *k, int i, const struct look_verdict *v)
{
	const struct look *l = &k->look[i];
	struct answer *a = k->a;
	const char *rule = table_rule(k->im, k->t, v->verdict.rule);

	set_why(a, v->verdict.why);
	a->second = i;
	a->access = k->use ? k->use : access_of(k, i);
	a->mode = l->mode;
	a->absent = !v->special && l->missing;
	a->place = place_of(k, l);
	if (a->why == LH_WHY_NO_EXEC)
		rule = no_exec_rule(k->im);
	a->rule = arena_copy(&a->mem, rule, strlen(rule));
	if (v->met)
		a->root = look_path(l, v->step, &a->mem);
	if (!a->rule || !a->place || (v->met && !a->root))
		return -ENOMEM;
	add_notes(k, l, v);
	return 0;
}

/*
 * Its new place may grant a use of the thing that its old one does not: false,
 * or it is that use of it that is refused.
 */
static bool gains(struct asked *k, struct look_verdict *v)
{
	static const uint32_t uses[] = { LH_READ, LH_EXEC, LH_CONNECT };
	const struct look *old = &k->look[0];
	size_t i, count = sizeof(uses) / sizeof(uses[0]);

	/* A listener is known by the name that it was bound to. */
	if (k->q->op->kind != OPERATION_RENAME ||
	    !(old->missing || S_ISDIR(old->mode) || S_ISSOCK(old->mode)))
		count--;
	for (i = 0; i < count; i++) {
		*v = look_judge(k->im, k->t, &k->es, &k->look[1], uses[i]);
		if (v->verdict.why != LH_WHY_ALLOW)
			continue;
		*v = look_judge(k->im, k->t, &k->es, &k->look[0], uses[i]);
		if (v->verdict.why != LH_WHY_ALLOW) {
			k->use = uses[i];
			return true;
		}
	}
	return false;
}

/* As the hooks: the first object that is refused decides. */
static int judge_objects(struct asked *k, int count)
{
	struct look_verdict v[2], use;
	int i;

	for (i = 0; i < count; i++) {
		v[i] = look_judge(k->im, k->t, &k->es, &k->look[i],
				  access_of(k, i));
		if (v[i].verdict.why != LH_WHY_ALLOW)
			return settle(k, i, &v[i]);
	}
	if (count == 2 && gains(k, &use))
		return settle(k, 0, &use);
	return settle(k, 0, &v[0]);
}

static int ask_files(struct asked *k, struct err *e)
{
	const char *path[2] = { k->q->object, k->q->other };
	int count = path[1] ? 2 : 1, i, r = 0;

	for (i = 0; i < count && !r; i++) {
		if (*path[i] != '/')
			return err_set(e, -EINVAL, "%s: not absolute",
				       path[i]);
		r = look_at(&k->es, k->t, path[i], k->q->op->name_itself ?
			    ROUTE_NOFOLLOW : 0, &k->a->mem, &k->look[i]);
		if (!r)
			r = add_links(k, i);
		if (r)
			return err_sys(e, r, "%s", path[i]);
	}
	k->a->object = look_path(&k->look[0], 0, &k->a->mem);
	if (path[1])
		k->a->other = look_path(&k->look[1], 0, &k->a->mem);
	if (!k->a->object || (path[1] && !k->a->other))
		r = -ENOMEM;
	if (!r)
		r = judge_objects(k, count);
	return r ? err_sys(e, r, "%s", k->q->object) : 0;
}

static int ask_inet(struct asked *k, struct err *e)
{
	struct inet_answer i;
	int r = explain_inet(k->im, k->q->op->kind == OPERATION_BIND,
			     k->q->object, &i, e);

	if (r)
		return r;
	set_why(k->a, i.why);
	if (i.text)
		k->a->text = i.text;
	k->a->rule = arena_copy(&k->a->mem, i.rule, strlen(i.rule));
	if (!k->a->rule)
		return err_sys(e, -ENOMEM, "%s", k->q->object);
	if (i.depends)
		depends(k->a, i.depends);
	if (i.note)
		note(k->a, i.note);
	return 0;
}

/* ADDRESS:PORT, unix:/PATH, unix:@NAME. */
static int ask_socket(struct asked *k, struct err *e)
{
	static const struct operation on_file[] = {
		{ "connect", OPERATION_FILE, LH_CONNECT, false, false },
		{ "bind", OPERATION_FILE, LH_BIND, true, true },
	};
	static const char local[] = "unix:";
	const char *path = k->q->object + strlen(local);
	bool binds = k->q->op->kind == OPERATION_BIND;
	const struct question file = { .op = &on_file[binds], .object = path };
	const struct question *asked = k->q;
	int r;

	if (strncmp(k->q->object, local, strlen(local)))
		return ask_inet(k, e);
	if (*path != '/' && *path != '@')
		return err_set(e, -EINVAL, "%s: after unix: comes an absolute "
			       "path, or @ and a name", k->q->object);
	if (*path == '/') {
		k->q = &file;
		r = ask_files(k, e);
		k->q = asked;
		if (r || binds || !k->a->absent ||
		    k->a->why != LH_WHY_NOT_GRANTED)
			return r;
	} else {
		set_why(k->a, binds ? LH_WHY_ALLOW : LH_WHY_PEER);
		if (binds)
			return 0;
	}
	depends(k->a, "it is let through if the session itself made that "
		"socket");
	return 0;
}

static int ask_process(struct asked *k, struct err *e)
{
	struct process_answer p;
	int r = explain_process(k->im, k->q->op->kind == OPERATION_PTRACE,
				k->q->object, &p, e);

	if (r)
		return r;
	set_why(k->a, p.why);
	k->a->rule = p.rule;
	if (p.note)
		note(k->a, p.note);
	return 0;
}

static int ask(struct asked *k, struct err *e)
{
	k->a->rule = "default";
	k->a->object = arena_copy(&k->a->mem, k->q->object,
				  strlen(k->q->object));
	if (!k->a->object)
		return err_sys(e, -ENOMEM, "%s", k->q->object);
	if (!*k->q->object || (k->q->other && !*k->q->other))
		return err_set(e, -ENOENT, "an empty path names nothing");
	switch (k->q->op->kind) {
	case OPERATION_CONNECT:
	case OPERATION_BIND:
		return ask_socket(k, e);
	case OPERATION_PTRACE:
	case OPERATION_SIGNAL:
		return ask_process(k, e);
	default:
		return ask_files(k, e);
	}
}

/* Such a profile is no sandbox. */
static void unconfined(struct answer *a)
{
	set_why(a, LH_WHY_ALLOW);
	a->text = "the profile confines nothing";
	a->rule = "/sandbox_profile";
	a->root = NULL;
	a->notes[0] = NULL;
}

int explain(const struct image *im, const struct table *t,
	    const struct question *q, struct answer *a, struct err *e)
{
	struct asked k = { .im = im, .t = t, .q = q };
	struct answer made = { 0 };
	int r;

	k.a = &made;
	r = entries_init(&k.es, NULL, NULL);
	if (r)
		return err_sys(e, r, "opening /");
	r = ask(&k, e);
	entries_free(&k.es);
	if (!r && im->profile < PROFILE_WORKTREE)
		unconfined(&made);
	if (r)
		answer_free(&made);
	else
		*a = made;
	return r;
}

void answer_free(struct answer *a)
{
	arena_free(&a->mem);
	*a = (struct answer){ 0 };
}
