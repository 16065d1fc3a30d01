// SPDX-License-Identifier: GPL-2.0-only
/*
 * The resolver over a small tree of directories, links and repositories that
 * the input adds to: it ends, leaves no descriptor open, makes a table that
 * the kernel can rely on, and no rule that forbids is lost on the way.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../policy/form.h"
#include "../../policy-compiler/build.h"

#include "fuzz.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))
#define ADDED_MAX 64
#define ROOTS_MAX 64

static char top[64];		/* the tree */
static int top_fd = -1;

/* Names that paths are made of: of the tree, of git, and none. */
static const char *const words[] = {
	"ws", "a", "b", "file", "link", "up", "out", "loop", "dangling", "abs",
	".git", "hooks", "config", "HEAD", "worktrees", "w1", "modules", "m",
	"gitdir", "commondir", "objects", "refs", "info", "attributes",
	"config.worktree", "home", ".bashrc", ".config", "fish", ".ssh", "id",
	"wt", "bare", "sub", "x", "y", "z", "\xc3\xa4",
	"nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"
	"nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"
	"nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"
	"nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn",
};

/* The tree; NULL: a directory; ">": a link; "%": the tree's own path. */
static const struct {
	const char *path, *text;
} tree[] = {
	{ "ws", NULL }, { "ws/a", NULL }, { "ws/a/b", NULL },
	{ "ws/file", "x" }, { "ws/link", ">a" }, { "ws/up", ">.." },
	{ "ws/out", ">../home" }, { "ws/loop", ">loop" },
	{ "ws/dangling", ">x/y" }, { "ws/abs", ">%/home" },
	{ "ws/.git", NULL }, { "ws/.git/HEAD", "ref: refs/heads/x\n" },
	{ "ws/.git/config", "[core]\n" }, { "ws/.git/objects", NULL },
	{ "ws/.git/refs", NULL }, { "ws/.git/hooks", NULL },
	{ "ws/.git/worktrees", NULL }, { "ws/.git/worktrees/w1", NULL },
	{ "ws/.git/worktrees/w1/HEAD", "ref: refs/heads/y\n" },
	{ "ws/.git/worktrees/w1/commondir", "../..\n" },
	{ "ws/.git/worktrees/w1/gitdir", "%/wt/.git\n" },
	{ "ws/.git/modules", NULL }, { "ws/.git/modules/m", NULL },
	{ "ws/.git/modules/m/HEAD", "ref: refs/heads/x\n" },
	{ "ws/.git/modules/m/objects", NULL },
	{ "ws/.git/modules/m/refs", NULL },
	{ "wt", NULL }, { "wt/.git", "gitdir: %/ws/.git/worktrees/w1\n" },
	{ "home", NULL }, { "home/.ssh", NULL }, { "home/.ssh/id", "k" },
	{ "home/.bashrc", "x" }, { "home/.config", NULL },
	{ "bare", NULL }, { "bare/HEAD", "ref: refs/heads/x\n" },
	{ "bare/objects", NULL }, { "bare/refs", NULL },
	{ "sub", NULL }, { "sub/.git", ">../ws/.git" },
};

static struct {
	int dir;
	char name[NAME_MAX + 1];
} added[ADDED_MAX];
static size_t added_count;

static struct {
	char path[PATH_MAX];
	uint32_t flags;
} roots[ROOTS_MAX];
static size_t root_count;

static int open_fds(void)
{
	DIR *d = opendir("/proc/self/fd");
	int n = 0;

	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

/* "%" is the tree's own path. */
static void expand(char out[PATH_MAX], const char *text)
{
	const char *s = strchr(text, '%');

	if (s)
		snprintf(out, PATH_MAX, "%.*s%s%s", (int)(s - text), text, top,
			 s + 1);
	else
		snprintf(out, PATH_MAX, "%s", text);
}

static int make_at(int dir, const char *name, const char *text)
{
	char full[PATH_MAX];
	int fd, n;

	if (!text)
		return mkdirat(dir, name, 0755);
	expand(full, text);
	if (*full == '>')
		return symlinkat(full + 1, dir, name);
	if (*full == '|')
		return mkfifoat(dir, name, 0600);
	fd = openat(dir, name, O_CREAT | O_EXCL | O_WRONLY, 0644);
	if (fd < 0)
		return -1;
	n = write(fd, full, strlen(full));
	close(fd);
	return n < 0 ? -1 : 0;
}

static void at_end(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", top);
	if (system(command))
		perror(top);
}

static void plant(void)
{
	size_t i;

	snprintf(top, sizeof(top), "%s/lh-fuzz.XXXXXX",
		 access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
	MUST(mkdtemp(top), "%s: %s", top, strerror(errno));
	atexit(at_end);
	top_fd = open(top, O_PATH | O_DIRECTORY);
	for (i = 0; i < COUNT(tree); i++)
		MUST(!make_at(top_fd, tree[i].path, tree[i].text), "%s: %s",
		     tree[i].path, strerror(errno));
}

/* Up to seven words; *path begins with the tree or is relative. */
static void take_path(struct supply *s, bool absolute, char path[PATH_MAX])
{
	uint8_t n = supply_byte(s) & 7, i;

	*path = 0;
	if (absolute)
		strcpy(path, top);
	for (i = 0; i < n; i++) {
		if (i || absolute)
			strcat(path, "/");
		strcat(path, words[supply_byte(s) % COUNT(words)]);
	}
}

/* What a link leads to: words, and what only a link may have. */
static void take_target(struct supply *s, char text[PATH_MAX])
{
	uint8_t n = supply_byte(s), i;

	strcpy(text, n & 0x80 ? ">%" : n & 0x40 ? ">/" : ">");
	for (i = 0; i < (n & 7); i++) {
		uint8_t w = supply_byte(s);

		strcat(text, text[1] ? "/" : "");
		strcat(text, w == 255 ? ".." : w == 254 ? "." : w == 253 ? "" :
		       w == 252 ? "\xff\xfe" : words[w % COUNT(words)]);
	}
	if (!text[1])
		strcat(text, ".");
}

/* What a file of git's says: true, half true, or any bytes. */
static void take_text(struct supply *s, char text[PATH_MAX])
{
	static const char *const forms[] = {
		"gitdir: %s\n", "gitdir: %s", "gitdir:%s\n", "%s\n", "%s",
		"ref: %s\n", "[core]\n\tworktree = %s\n", "../..\n", "",
		"gitdir: ../%s\n", "#!%s -x\n", "#! %s", "|",
	};
	uint8_t form = supply_byte(s), i;
	char path[PATH_MAX];

	if (form >= 0xf0) {
		for (i = 0; i < 40; i++)
			text[i] = supply_byte(s);
		text[i] = 0;
		if (*text == '>' || strchr(text, '%'))
			*text = 0;
		return;
	}
	take_path(s, form & 0x80, path);
	snprintf(text, PATH_MAX, forms[form % 0x40 % COUNT(forms)], path);
}

/* Never outside of the tree, whatever links were added to it. */
static void add(struct supply *s, bool link)
{
	struct open_how how = {
		.flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS,
	};
	char path[PATH_MAX], text[PATH_MAX], *name;
	int dir;

	take_path(s, false, path);
	if (link)
		take_target(s, text);
	else
		take_text(s, text);
	name = strrchr(path, '/');
	if (!*path || added_count == ADDED_MAX)
		return;
	if (name)
		*name++ = 0;
	dir = syscall(SYS_openat2, top_fd, name ? path : ".", &how,
		      sizeof(how));
	name = name ? name : path;
	if (dir < 0)
		return;
	if (make_at(dir, name, !link && !*text ? NULL : text)) {
		close(dir);
		return;
	}
	added[added_count].dir = dir;
	strcpy(added[added_count++].name, name);
}

static void take_away(void)
{
	while (added_count) {
		added_count--;
		if (unlinkat(added[added_count].dir, added[added_count].name,
			     0))
			MUST(!unlinkat(added[added_count].dir,
				       added[added_count].name, AT_REMOVEDIR),
			     "%s: %s", added[added_count].name,
			     strerror(errno));
		close(added[added_count].dir);
	}
}

static void take_root(struct supply *s, struct build *b)
{
	static const uint32_t kinds[] = {
		LH_ROOT_READ, LH_ROOT_READ | LH_ROOT_EXEC,
		LH_ROOT_READ | LH_ROOT_WRITE | LH_ROOT_EXEC | LH_ROOT_DELETE,
		LH_ROOT_DELETE, LH_ROOT_READ | LH_ROOT_RDONLY, LH_ROOT_DENY,
		LH_ROOT_PROTECT, LH_ROOT_READ | IMAGE_ROOT_SELF,
		LH_ROOT_OWN | LH_ROOT_WRITE | LH_ROOT_READ,
		LH_ROOT_RDONLY, LH_ROOT_DENY,
	};
	uint8_t kind = supply_byte(s);
	uint32_t flags = kinds[(kind & 15) % COUNT(kinds)];
	char path[PATH_MAX], rule[32];

	take_path(s, true, path);
	if (root_count == ROOTS_MAX)
		return;
	if (kind & 0x80)
		flags |= IMAGE_ROOT_OPTIONAL;
	snprintf(rule, sizeof(rule), "rule:%zu", root_count);
	build_root(b, path, flags, flags == LH_ROOT_DENY && (kind & 0x40) ?
		   ROOT_CREDENTIAL : flags & LH_ROOT_WRITE ?
		   ROOT_WORKSPACE : ROOT_PLAIN, rule);
	strcpy(roots[root_count].path, path);
	roots[root_count++].flags = flags;
}

static void take_protect(struct supply *s, struct build *b)
{
	uint8_t kind = supply_byte(s);
	char name[PATH_MAX];

	take_path(s, false, name);
	build_protect(b, name, kind % (PROTECT_ROOT + 1), "protect");
}

static void ask(const struct image *im, const struct table *t,
		const char *path, uint32_t access, uint32_t forbids)
{
	struct explain x;
	struct err e = { 0 };

	if (table_explain(im, t, path, access, &x, &e)) {
		MUST(*e.msg, "%s", path);
		return;
	}
	MUST(x.verdict.why < LH_WHY_COUNT, "%s: %u", path, x.verdict.why);
	MUST(*table_rule(im, t, x.verdict.rule), "%s", path);
	MUST(!forbids || x.verdict.why != LH_WHY_ALLOW, "%s, %x: %s by %s",
	     path, access, x.object, table_rule(im, t, x.verdict.rule));
	free(x.object);
	free(x.root);
}

/* Nothing that is denied, protected or read-only may have been lost. */
static void ask_all(const struct image *im, const struct table *t,
		    struct supply *s)
{
	static const uint32_t all[] = {
		LH_READ, LH_STAT, LH_WRITE, LH_REMOVE, LH_EXEC,
	};
	char path[PATH_MAX];
	size_t i, k;

	for (i = 0; i < root_count; i++)
		for (k = 0; k < COUNT(all); k++)
			ask(im, t, roots[i].path, all[k],
			    roots[i].flags & LH_ROOT_DENY ? 1 :
			    all[k] == LH_WRITE && (roots[i].flags &
			    (LH_ROOT_PROTECT | LH_ROOT_RDONLY)));
	for (i = 0; i < 4 && s->at < s->end; i++) {
		take_path(s, true, path);
		ask(im, t, path, 1u << (supply_byte(s) & 7), 0);
	}
}

static void resolve(struct build *b, struct supply *s)
{
	char home[PATH_MAX], temp[PATH_MAX], command[PATH_MAX], file[PATH_MAX];
	uint8_t which = supply_byte(s);
	struct resolve_options o = { 0 };
	static const uint64_t no_filter;
	struct image head = {
		.profile = PROFILE_OS_HARDENED,
		.limits = { .wall_time = 1, .memory = 1 << 30, .pids = 1 },
	};
	struct image *im;
	struct err e = { 0 };
	struct table t = { 0 };
	int r;

	take_path(s, true, home);
	take_path(s, true, temp);
	take_path(s, true, command);
	take_path(s, true, file);
	o.temp_dir = which & 1 ? temp : NULL;
	o.command = which & 2 ? command : NULL;
	o.policy_file = which & 4 ? file : NULL;
	head.home = build_string(b, home);
	head.workspace = build_string(b, top);
	r = build_finish(b, &head, &no_filter, 1, "{}", 2, &im);
	if (r)
		return;
	/* What no image may say, the resolver need not stand. */
	if (!image_check(im, im->size, &e)) {
		r = table_resolve(im, &o, &t, &e);
		MUST(!r == !*e.msg, "%d: %s", r, e.msg);
		if (!r) {
			r = table_form(&t);
			MUST(!r, "form.h:%d", r);
			ask_all(im, &t, s);
		}
		table_free(&t);
	}
	free(im);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct supply s = { data, data + size };
	struct build b = { 0 };
	int fds, i;

	if (top_fd < 0)
		plant();
	fds = open_fds();
	root_count = 0;
	build_begin(&b);
	for (i = supply_byte(&s) & 31; i > 0; i--) {
		switch (supply_byte(&s) & 7) {
		case 0: case 1: take_root(&s, &b); break;
		case 2: case 3: take_root(&s, &b); break;
		case 4: take_protect(&s, &b); break;
		case 5: add(&s, true); break;
		default: add(&s, false);
		}
	}
	resolve(&b, &s);
	build_free(&b);
	take_away();
	MUST(open_fds() == fds, "%d descriptors, %d before", open_fds(), fds);
	return 0;
}
