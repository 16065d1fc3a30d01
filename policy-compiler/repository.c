// SPDX-License-Identifier: GPL-2.0-only
/*
 * The git repositories that a session could turn against the host: those
 * around its writable roots, with their modules and worktrees. A session may
 * have left any file here; what one says only ever protects more, but for the
 * linked worktree, whose common directory must name it.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "table.h"

#define MODULE_DEPTH 8		/* components of a submodule's name */
#define REPOSITORIES_MAX 1024	/* modules and worktrees together */
#define LOOKED_MAX 4096		/* directories looked at below theirs */

/* A git directory, and how it was found. */
struct repository {
	uint32_t top;		/* directory that has .git; ENTRY_NONE: bare */
	uint32_t link;		/* .git itself: directory, file or link */
	uint32_t git;		/* git directory */
};

static const struct entry *at(const struct builder *b, uint32_t entry)
{
	return &b->es.entry[entry];
}

static bool is_dir(const struct builder *b, uint32_t entry)
{
	return S_ISDIR(at(b, entry)->mode);
}

/*
 * Whether @path below @base exists; links followed as git would. Looked up as
 * root: a session may have closed a directory to hide it from us.
 */
static bool find(struct builder *b, uint32_t base, const char *path,
		 unsigned int flags, uint32_t *out)
{
	struct route way;
	int r;

	r = entries_route(&b->es, base, path, flags | ROUTE_SELF, &way);
	if (r == -EMFILE || r == -ENFILE || r == -ENOMEM)
		b->broken = r;
	if (r || way.error)
		return false;
	*out = way.entry;
	return true;
}

static bool has(struct builder *b, uint32_t base, const char *path,
		mode_t type)
{
	uint32_t e;

	return find(b, base, path, 0, &e) && (at(b, e)->mode & S_IFMT) == type;
}

/*
 * The path that a small file of git's names, after @prefix: one line, read as
 * the user. Never blocks: what is no regular file is not opened.
 */
static bool read_path(struct builder *b, uint32_t entry, const char *prefix,
		      char out[PATH_MAX])
{
	char link[32], text[PATH_MAX + 16];
	size_t skip = strlen(prefix), len;
	ssize_t n;
	int fd;

	if (!S_ISREG(at(b, entry)->mode) ||
	    entries_as(&b->es, RESOLVE_AS_USER))
		return false;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", at(b, entry)->fd);
	fd = open(link, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0)
		return false;
	text[n] = 0;
	len = strlen(text);
	while (len && (text[len - 1] == '\n' || text[len - 1] == '\r'))
		text[--len] = 0;
	if (len <= skip || strncmp(text, prefix, skip) ||
	    len - skip >= PATH_MAX)
		return false;
	strcpy(out, text + skip);
	return true;
}

/* The git directory that @dir/.git is or names. */
static bool repository_at(struct builder *b, uint32_t dir,
			  struct repository *r)
{
	char path[PATH_MAX];
	uint32_t target;

	if (!find(b, dir, ".git", ROUTE_NOFOLLOW, &r->link))
		return false;
	r->top = dir;
	r->git = ENTRY_NONE;
	if (!find(b, dir, ".git", 0, &target))
		return true;
	if (is_dir(b, target))
		r->git = target;
	else if (read_path(b, target, "gitdir: ", path) &&
		 find(b, dir, path, 0, &target) && is_dir(b, target))
		r->git = target;
	return true;
}

/* config is protected, so no session makes a bare repository look like none. */
static bool is_bare(struct builder *b, uint32_t dir)
{
	return has(b, dir, "config", S_IFREG) &&
	       has(b, dir, "objects", S_IFDIR) && has(b, dir, "refs", S_IFDIR);
}

typedef int visit_fn(struct builder *b, const struct repository *r,
		     const struct writable *from);

/*
 * Go up from @w as git does. An empty .git does not stop git, nor us: a
 * session may have emptied it to hide the one above.
 */
static int visit_enclosing(struct builder *b, const struct writable *w,
			   visit_fn *visit)
{
	uint32_t dir = is_dir(b, w->entry) ? w->entry :
		at(b, w->entry)->parent;
	int err;

	for (;; dir = at(b, dir)->parent) {
		struct repository r = { .top = ENTRY_NONE,
					.link = ENTRY_NONE, .git = dir };

		if (repository_at(b, dir, &r) || is_bare(b, dir)) {
			err = visit(b, &r, w);
			if (err)
				return err;
			if (r.git != ENTRY_NONE &&
			    has(b, r.git, "HEAD", S_IFREG))
				return 0;
		}
		if (dir == ENTRY_TOP)
			return 0;
	}
}

static int each_enclosing(struct builder *b, visit_fn *visit)
{
	uint32_t i;
	int err = 0;

	for (i = 0; i < b->writable_count && !err; i++)
		err = visit_enclosing(b, &b->writables[i], visit);
	return err;
}

/*
 * The common directory of a linked worktree, if that vouches for @r: the back
 * link must name this very .git file. Structure, not the file "commondir",
 * says where it is: what a session wrote must not point elsewhere.
 */
static bool vouched_common(struct builder *b, const struct repository *r,
			   uint32_t *common)
{
	char path[PATH_MAX];
	uint32_t up, back, file;
	struct route way;

	if (r->top == ENTRY_NONE || r->git == ENTRY_NONE ||
	    !S_ISREG(at(b, r->link)->mode))
		return false;
	up = at(b, r->git)->parent;
	if (strcmp(at(b, up)->name, "worktrees") ||
	    !find(b, r->git, "gitdir", ROUTE_NOFOLLOW, &file) ||
	    !read_path(b, file, "", path) ||
	    entries_route(&b->es, r->git, path, 0, &way) || way.error)
		return false;
	back = way.entry;
	if (back != r->link)
		return false;
	*common = at(b, up)->parent;
	return has(b, *common, "HEAD", S_IFREG);
}

/*
 * The file of all refs is written anew under other names, then renamed: so it
 * is opened by name.
 */
static int grant_packed_refs(struct builder *b, uint32_t common,
			     uint16_t rule)
{
	static const char *const names[] = {
		"packed-refs", "packed-refs.lock", "packed-refs.new",
	};
	uint32_t e;
	size_t i;
	int err = 0;

	for (i = 0; i < sizeof(names) / sizeof(names[0]) && !err; i++)
		if (!find(b, common, names[i], ROUTE_NOFOLLOW, &e) ||
		    S_ISREG(at(b, e)->mode))
			err = names_add(b, common, names[i], LH_NAME_WRITE,
					rule);
	return err;
}

/* Open what a linked worktree outside the writable roots needs, as the user. */
static int grant_linked(struct builder *b, const struct repository *r,
			const struct writable *from)
{
	static const char *const names[] = {
		"objects", "refs", "logs",
	};
	struct wish w = { 0 };
	uint32_t common, e;
	size_t i;
	int err;

	if (!(from->flags & LH_ROOT_WRITE) || r->git == ENTRY_NONE ||
	    table_is_writable(b, r->git) || !vouched_common(b, r, &common))
		return 0;
	err = table_new_rule(b, "builtin:worktree", &w.rule);
	w.base = common;
	w.path = ".";
	w.flags = LH_ROOT_READ | LH_ROOT_EXEC | IMAGE_ROOT_OPTIONAL;
	if (!err)
		err = table_add(b, &w);
	w.flags |= LH_ROOT_WRITE;
	for (i = 0; i < sizeof(names) / sizeof(names[0]) && !err; i++) {
		/* A link here would open what it leads to. */
		if (find(b, common, names[i], ROUTE_NOFOLLOW, &e) &&
		    S_ISLNK(at(b, e)->mode))
			continue;
		w.path = names[i];
		err = table_add(b, &w);
	}
	if (!err)
		err = grant_packed_refs(b, common, w.rule);
	w.base = r->git;
	w.path = ".";
	return err ? err : table_add(b, &w);
}

int repository_grants(struct builder *b)
{
	return each_enclosing(b, grant_linked);
}

/* The rule of a protected .git; false: the policy excludes it. */
static bool gitlink_rule(const struct builder *b, uint16_t *rule)
{
	const struct image_protect *p = image_protects(b->im);
	uint32_t i;

	for (i = 0; i < b->im->protects.count; i++)
		if (p[i].kind == PROTECT_GITLINK) {
			*rule = p[i].rule;
			return true;
		}
	return false;
}

static int protect_names(struct builder *b, uint32_t git)
{
	const struct image_protect *p = image_protects(b->im);
	struct wish w = { .base = git, .flags = LH_ROOT_PROTECT,
			  .self = true };
	uint32_t i;
	int err = 0;

	for (i = 0; i < b->im->protects.count && !err; i++) {
		if (p[i].kind != PROTECT_REPOSITORY)
			continue;
		w.path = image_string(b->im, p[i].name);
		w.rule = p[i].rule;
		err = table_add(b, &w);
	}
	/* Made by hand it moves config and hooks, as a .git file does. */
	w.path = "commondir";
	return !err && gitlink_rule(b, &w.rule) ? table_add(b, &w) : err;
}

static int by_name(const struct dirent **x, const struct dirent **y)
{
	return strcmp((*x)->d_name, (*y)->d_name);
}

struct listing {
	struct dirent **entry;
	int count;
};

static void listing_free(struct listing *l)
{
	while (l->count > 0)
		free(l->entry[--l->count]);
	free(l->entry);
}

/* What lies in a git directory and holds no other. */
static bool is_gits_own(const char *name)
{
	static const char *const own[] = {
		".", "..", "objects", "refs", "logs", "hooks", "info",
		"branches", "lfs", "rr-cache", "worktrees", "modules",
	};
	size_t i;

	for (i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		if (strcmp(name, own[i]) == 0)
			return true;
	return false;
}

static int list(struct builder *b, uint32_t dir, struct listing *l)
{
	int fd = at(b, dir)->fd, err = entries_as(&b->es, RESOLVE_AS_USER);

	if (err)
		return err_sys(b->e, err, "credentials");
	l->count = scandirat(fd, ".", &l->entry, NULL, by_name);
	if (l->count >= 0 || errno != EACCES)
		return 0;
	err = entries_as(&b->es, RESOLVE_AS_SELF);
	if (!err)
		l->count = scandirat(fd, ".", &l->entry, NULL, by_name);
	return err;
}

static int too_many(struct builder *b, uint32_t dir)
{
	char *path = entries_path(&b->es, dir);
	int err = err_set(b->e, -E2BIG,
			  "%s: more than %d git directories, or %d others, to look through: is something wrong there?",
			  path ? path : ".git/modules", REPOSITORIES_MAX,
			  LOOKED_MAX);

	free(path);
	return err;
}

/* Note @git for protecting, unless it is there or no session writes it. */
static int note_git(struct builder *b, uint32_t git)
{
	uint32_t i, *p;

	if (!table_is_writable(b, git) && !at(b, git)->leads)
		return 0;
	for (i = 0; i < b->repository_count; i++)
		if (b->repositories[i] == git)
			return 0;
	if (b->repository_count == REPOSITORIES_MAX)
		return too_many(b, at(b, git)->parent);
	p = table_room(b->repositories, b->repository_count,
		       &b->repository_room, sizeof(*p));
	if (!p)
		return err_set(b->e, -ENOMEM, "no memory for repositories");
	b->repositories = p;
	p[b->repository_count++] = git;
	return 0;
}

/*
 * Every git directory below @dir: worktrees/ID (@depth 0), or modules/NAME,
 * where a name may have slashes. Links are protected but not gone into.
 */
static int note_below(struct builder *b, uint32_t dir, unsigned int depth)
{
	struct listing l __attribute__((cleanup(listing_free))) = { 0 };
	int i, err = list(b, dir, &l);

	for (i = 0; i < l.count && !err; i++) {
		const struct dirent *d = l.entry[i];
		uint32_t e, target;

		if (d->d_type != DT_DIR && d->d_type != DT_LNK &&
		    d->d_type != DT_UNKNOWN)
			continue;
		if (++b->looked > LOOKED_MAX)
			return too_many(b, dir);
		if (is_gits_own(d->d_name) ||
		    !find(b, dir, d->d_name, ROUTE_NOFOLLOW, &e) ||
		    !find(b, dir, d->d_name, 0, &target) || !is_dir(b, target))
			continue;
		if (depth < 2 || has(b, target, "HEAD", S_IFREG) ||
		    has(b, target, "config", S_IFREG))
			err = note_git(b, target);
		if (!err && depth && depth < MODULE_DEPTH && e == target)
			err = note_below(b, e, depth + 1);
	}
	return err;
}

/* The names in @git; then its modules, its worktrees and what is common. */
static int protect_git(struct builder *b, uint32_t git)
{
	char path[PATH_MAX];
	int err = protect_names(b, git);
	uint32_t e;

	if (!err && find(b, git, "commondir", 0, &e) &&
	    read_path(b, e, "", path) && find(b, git, path, 0, &e) &&
	    is_dir(b, e))
		err = note_git(b, e);
	if (!err && find(b, git, "worktrees", 0, &e) && is_dir(b, e))
		err = note_below(b, e, 0);
	if (!err && find(b, git, "modules", 0, &e) && is_dir(b, e))
		err = note_below(b, e, 1);
	return err;
}

/* .git itself: a file or link is not written, a directory stays in place. */
static int protect_link(struct builder *b, const struct repository *r)
{
	uint16_t rule;
	int err;

	if (!gitlink_rule(b, &rule) || !table_is_writable(b, r->link))
		return 0;
	err = table_hold(b, r->link, rule);
	if (err || is_dir(b, r->link))
		return err;
	err = table_root(b, r->link, LH_ROOT_PROTECT, rule);
	return err ? err :
		names_hold(b, r->top, ".git", LH_NAME_PROTECT, rule);
}

/* A bare one is known by these; they must not be moved aside for a while. */
static int hold_bare(struct builder *b, uint32_t git)
{
	uint32_t e;
	uint16_t rule;
	int err = 0;

	if (!gitlink_rule(b, &rule))
		return 0;
	if (find(b, git, "objects", 0, &e))
		err = table_hold(b, e, rule);
	if (!err && find(b, git, "refs", 0, &e))
		err = table_hold(b, e, rule);
	return err;
}

static int protect(struct builder *b, const struct repository *r,
		   const struct writable *from)
{
	int err;

	(void)from;
	err = r->top == ENTRY_NONE ? hold_bare(b, r->git) : protect_link(b, r);
	if (!err && r->git != ENTRY_NONE)
		err = note_git(b, r->git);
	return err;
}

int repository_protects(struct builder *b)
{
	int err = each_enclosing(b, protect);
	uint32_t i;

	/* The list grows while it is gone through. */
	for (i = 0; i < b->repository_count && !err; i++)
		err = protect_git(b, b->repositories[i]);
	/* Something was taken for missing because we could not look. */
	if (!err && b->broken)
		err = err_sys(b->e, b->broken, "looking for git directories");
	return err;
}
