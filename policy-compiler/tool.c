// SPDX-License-Identifier: GPL-2.0-only
/*
 * Files in and out of lh-policy, and the words for a verdict. A name is never
 * looked up in the current directory: a session could have put it there.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <yajl/yajl_gen.h>

#include "data.h"
#include "resolve.h"
#include "tool.h"

static int image_read(int fd, size_t size, const char *file,
		      struct image **im, struct err *e)
{
	struct err why = { 0 };
	char *buf;
	ssize_t n;
	int r;

	if (size > IMAGE_BYTES_MAX)
		return err_set(e, -EFBIG, "%s: an image of more than %u bytes",
			       file, IMAGE_BYTES_MAX);
	buf = malloc(size);
	if (!buf)
		return err_sys(e, -ENOMEM, "%s", file);
	n = pread(fd, buf, size, 0);
	if (n != (ssize_t)size) {
		free(buf);
		return err_sys(e, n < 0 ? -errno : -EIO, "%s", file);
	}
	r = image_check(buf, size, &why);
	if (r) {
		free(buf);
		return err_set(e, r, "%s: %s", file, why.msg);
	}
	*im = (struct image *)buf;
	return 0;
}

/* @base: NULL, or where relative roots start from instead of the file. */
static int file_load(int fd, const char *file, const char *base,
		     const struct compile_options *o, struct image **im,
		     struct diags *d, struct err *e)
{
	uint64_t magic;
	struct stat st;

	if (fstat(fd, &st))
		return err_sys(e, -errno, "%s", file);
	if (S_ISREG(st.st_mode) &&
	    pread(fd, &magic, sizeof(magic), 0) == sizeof(magic) &&
	    magic == IMAGE_MAGIC)
		return image_read(fd, st.st_size, file, im, e);
	return compile_fd(fd, file, base, o, im, d);
}

/* Without a fd yet: where @arg leads. */
static int arg_open(const char *arg, char **file, struct err *e)
{
	int fd;

	if (!policy_is_name(arg)) {
		*file = strdup(arg);
	} else if (asprintf(file, POLICY_DIR "/%s.json", arg) < 0) {
		*file = NULL;
	}
	if (!*file)
		return err_sys(e, -ENOMEM, "%s", arg);
	/* Of a FIFO that nobody writes the open itself would never end. */
	fd = open(*file, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	fcntl(fd, F_SETFL, O_RDONLY);
	return fd;
}

static int nothing_called(const char *arg, struct err *e)
{
	char all[128] = "";
	const char *name;
	size_t i;

	for (i = 0; (name = policy_shipped_name(i)); i++) {
		strncat(all, i ? ", " : "", sizeof(all) - strlen(all) - 1);
		strncat(all, name, sizeof(all) - strlen(all) - 1);
	}
	return err_set(e, -ENOENT, "no policy is called %s: there is none in "
		       POLICY_DIR ", and the shipped ones are %s; for a file "
		       "here write ./%s", arg, all, arg);
}

int tool_load(const char *arg, const struct compile_options *o,
	      struct image **im, struct diags *d, struct err *e)
{
	const char *text;
	char *file = NULL;
	size_t len;
	int fd, r;

	if (!strcmp(arg, "-"))
		return file_load(0, "standard input",
				 o->context->workspace, o, im, d, e);
	fd = arg_open(arg, &file, e);
	if (fd >= 0) {
		r = file_load(fd, file, NULL, o, im, d, e);
		close(fd);
	} else if (fd == -ENOENT && policy_is_name(arg)) {
		text = policy_shipped(arg, &len);
		r = text ? compile_text(text, len, arg, o->context->workspace,
					o, im, d) : nothing_called(arg, e);
	} else {
		r = err_sys(e, fd, "%s", file ? file : arg);
	}
	free(file);
	return r;
}

static int write_all(int fd, const char *data, size_t len)
{
	ssize_t n;

	while (len) {
		n = write(fd, data, len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		data += n;
		len -= n;
	}
	return 0;
}

/* Where the output is no regular file (/dev/stdout, a pipe): straight. */
static int write_straight(const char *path, const void *data, size_t len,
			  struct err *e)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY), r;

	if (fd < 0)
		return err_sys(e, -errno, "%s", path);
	r = write_all(fd, data, len);
	close(fd);
	return r ? err_sys(e, r, "%s", path) : 0;
}

int tool_write(const char *path, const void *data, size_t len, struct err *e)
{
	struct stat st;
	mode_t mask;
	char *part;
	int fd, r;

	if (!stat(path, &st) && !S_ISREG(st.st_mode))
		return write_straight(path, data, len, e);
	if (asprintf(&part, "%s.XXXXXX", path) < 0)
		return err_sys(e, -ENOMEM, "%s", path);
	fd = mkostemp(part, O_CLOEXEC);
	if (fd < 0) {
		r = -errno;
		free(part);
		return err_sys(e, r, "%s", path);
	}
	mask = umask(022);
	umask(mask);
	r = write_all(fd, data, len);
	if (!r && (fchmod(fd, 0666 & ~mask) || close(fd) ||
		   rename(part, path)))
		r = -errno;
	if (r)
		unlink(part);
	free(part);
	return r ? err_sys(e, r, "%s", path) : 0;
}

uint32_t tool_operation(const char *op)
{
	static const struct {
		const char *name;
		uint32_t access;
	} ops[] = {
		{ "read", LH_READ }, { "list", LH_READ },
		{ "stat", LH_STAT }, { "write", LH_WRITE },
		{ "create", LH_WRITE }, { "remove", LH_REMOVE },
		{ "rename", LH_REMOVE | LH_MOVE }, { "exec", LH_EXEC },
	};
	size_t i;

	for (i = 0; i < sizeof(ops) / sizeof(*ops); i++)
		if (!strcmp(ops[i].name, op))
			return ops[i].access;
	return 0;
}

/* What the table cannot say: exec is a switch of the whole session too. */
static const char *no_exec_rule(const struct image *im)
{
	return im->level < LEVEL_PROCESS_EXEC ? "/side_effect_level" :
		"/capabilities/process";
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
};

struct answer {
	const char *verdict, *op, *path, *object, *rule, *root, *code, *text;
	bool absent;
};

static void print_line(const char *label, const char *value)
{
	size_t len = strlen(value), size = 4 * len + 1;
	char *text = malloc(size);

	if (!text)
		return;
	err_escape(text, size, value, len);
	printf("  %-7s %s\n", label, text);
	free(text);
}

static void print_answer(const struct answer *a)
{
	printf("%s %s\n", a->verdict, a->op);
	print_line("path", a->path);
	if (a->object && strcmp(a->object, a->path))
		print_line("object", a->object);
	if (a->absent)
		print_line("note", "nothing is there now");
	print_line("rule", a->rule);
	if (a->root)
		print_line("root", a->root);
	print_line("reason", a->text);
}

/* A path may hold any bytes, JSON may not: what is no UTF-8 is \xHH here. */
static void put(yajl_gen g, const char *key, const char *value)
{
	size_t len = value ? strlen(value) : 0, size = 4 * len + 1;
	char *text = value ? malloc(size) : NULL;

	yajl_gen_string(g, (const unsigned char *)key, strlen(key));
	if (text) {
		len = err_escape(text, size, value, len);
		yajl_gen_string(g, (unsigned char *)text, len);
	} else {
		yajl_gen_null(g);
	}
	free(text);
}

static int print_json(const struct answer *a)
{
	yajl_gen g = yajl_gen_alloc(NULL);
	const unsigned char *text;
	size_t len;

	if (!g)
		return -ENOMEM;
	yajl_gen_map_open(g);
	put(g, "verdict", a->verdict);
	put(g, "operation", a->op);
	put(g, "path", a->path);
	put(g, "object", a->object);
	put(g, "rule", a->rule);
	put(g, "root", a->root);
	put(g, "reason", a->code);
	yajl_gen_string(g, (const unsigned char *)"absent", 6);
	yajl_gen_bool(g, a->absent);
	yajl_gen_map_close(g);
	if (yajl_gen_get_buf(g, &text, &len) == yajl_gen_status_ok)
		printf("%.*s\n", (int)len, text);
	yajl_gen_free(g);
	return 0;
}

int tool_explain(const struct image *im, const char *op, uint32_t access,
		 const char *path, bool json, struct err *e)
{
	struct resolve_options o = { 0 };
	struct table t = { 0 };
	struct explain x = { 0 };
	struct answer a;
	int r;

	r = table_resolve(im, &o, &t, e);
	if (r)
		return r;
	r = table_explain(im, &t, path, access, &x, e);
	if (!r) {
		r = x.verdict.why != LH_WHY_ALLOW;
		a = (struct answer){
			.verdict = r ? "refuse" : "allow",
			.op = op, .path = path, .object = x.object,
			.rule = table_rule(im, &t, x.verdict.rule),
			.root = x.root, .absent = x.absent,
			.code = x.verdict.why < LH_WHY_COUNT &&
				reasons[x.verdict.why].code ?
				reasons[x.verdict.why].code : "internal",
		};
		if (access == LH_EXEC && (im->flags & IMAGE_NO_EXEC) &&
		    (!r || x.verdict.why == LH_WHY_NO_EXEC)) {
			r = 1;
			x.verdict.why = LH_WHY_NO_EXEC;
			a.verdict = "refuse";
			a.rule = no_exec_rule(im);
			a.root = NULL;
			a.code = reasons[LH_WHY_NO_EXEC].code;
		}
		a.text = x.verdict.why < LH_WHY_COUNT &&
			reasons[x.verdict.why].text ?
			reasons[x.verdict.why].text : a.code;
		if (json)
			r = print_json(&a) ? -ENOMEM : r;
		else
			print_answer(&a);
	}
	free(x.object);
	free(x.root);
	table_free(&t);
	return r;
}
