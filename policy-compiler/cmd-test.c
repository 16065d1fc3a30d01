// SPDX-License-Identifier: GPL-2.0-only
/*
 * `lh-policy test FILE TABLE`: whether a policy says what a table expects.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd-answer.h"
#include "rows.h"

static int read_all(int fd, const char *file, char **text, size_t *len,
		    struct err *e)
{
	char *buf = malloc(ROWS_BYTES_MAX + 1);
	size_t at = 0;
	ssize_t n;

	if (!buf)
		return err_sys(e, -ENOMEM, "%s", file);
	while (at <= ROWS_BYTES_MAX) {
		n = read(fd, buf + at, ROWS_BYTES_MAX + 1 - at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		at += n;
	}
	*text = buf;
	*len = at;
	if (n < 0)
		return err_sys(e, -errno, "%s", file);
	return at > ROWS_BYTES_MAX ? err_set(e, -EFBIG, "%s: a table of more "
					     "than %u bytes", file,
					     ROWS_BYTES_MAX) : 0;
}

/* "-" is the standard input. */
static int table_read(const char *file, char **text, size_t *len,
		      struct err *e)
{
	int fd, r;

	if (!strcmp(file, "-"))
		return read_all(0, "standard input", text, len, e);
	fd = open(file, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return err_sys(e, -errno, "%s", file);
	fcntl(fd, F_SETFL, O_RDONLY);
	r = read_all(fd, file, text, len, e);
	close(fd);
	return r;
}

static int rows_load(const struct request *q, const char *file,
		     struct rows *rows)
{
	struct diags d = { 0 };
	struct err e = { 0 };
	char *text = NULL;
	size_t len;
	int r = table_read(file, &text, &len, &e);

	if (!r)
		r = rows_read(text, len, file, &q->context, rows, &d);
	else
		complain(&e);
	if (d.count && q->json)
		report_json(file, &d, NULL, NULL);
	else
		diags_print(&d, stderr, "");
	diags_free(&d);
	free(text);
	return r ? FAILED : DONE;
}

/* A test in work. */
struct test {
	const struct request *q;
	const char *file;
	struct asking k;
	yajl_gen json;		/* or NULL */
	size_t passed, failed;
};

static bool as_expected(const struct row *row, const struct answer *a)
{
	if (a->verdict != (row->allow ? ANSWER_ALLOW : ANSWER_REFUSE))
		return false;
	return !row->rule || !strcmp(row->rule, a->rule);
}

static const char *verdict_word(const struct row *row)
{
	return row->allow ? "allow" : "refuse";
}

static void put_number(yajl_gen g, const char *key, size_t n)
{
	yajl_gen_string(g, (const unsigned char *)key, strlen(key));
	yajl_gen_integer(g, n);
}

static void put_row(yajl_gen g, const struct row *row, const struct answer *a,
		    bool passed)
{
	yajl_gen_map_open(g);
	put_number(g, "line", row->line);
	put_member(g, "expected", verdict_word(row));
	put_member(g, "expected_rule", row->rule);
	yajl_gen_string(g, (const unsigned char *)"passed", 6);
	yajl_gen_bool(g, passed);
	answer_put(g, &row->q, a, NULL);
	yajl_gen_map_close(g);
}

static void print_failure(const struct test *t, const struct row *row,
			  const struct answer *a)
{
	char file[4 * 4096 + 1], rule[4 * 1024 + 1];

	err_escape(file, sizeof(file), t->file, strlen(t->file));
	err_escape(rule, sizeof(rule), row->rule ? row->rule : "",
		   row->rule ? strlen(row->rule) : 0);
	printf("%s:%u: expected %s%s%s, but: ", file, row->line,
	       verdict_word(row), row->rule ? " by " : "", rule);
	answer_print(&row->q, a, NULL);
}

static int test_row(struct test *t, const struct row *row, struct err *e)
{
	struct answer a;
	bool passed;
	int r = explain(t->k.im, &t->k.t, &row->q, &a, e);

	if (r)
		return r;
	passed = as_expected(row, &a);
	if (passed)
		t->passed++;
	else
		t->failed++;
	if (t->json)
		put_row(t->json, row, &a, passed);
	else if (!passed)
		print_failure(t, row, &a);
	answer_free(&a);
	return 0;
}

static int test_rows(struct test *t, const struct rows *rows)
{
	struct err e = { 0 };
	size_t i;
	int r;

	for (i = 0; i < rows->count; i++) {
		r = test_row(t, &rows->row[i], &e);
		if (r) {
			fprintf(stderr, "lh-policy: line %u: %s\n",
				rows->row[i].line, e.msg);
			return FAILED;
		}
	}
	return t->failed ? REFUSED : DONE;
}

static int test_json(struct test *t, const struct rows *rows)
{
	const unsigned char *text;
	size_t len;
	int status;

	t->json = yajl_gen_alloc(NULL);
	if (!t->json)
		return FAILED;
	yajl_gen_map_open(t->json);
	put_member(t->json, "table", t->file);
	yajl_gen_string(t->json, (const unsigned char *)"rows", 4);
	yajl_gen_array_open(t->json);
	status = test_rows(t, rows);
	yajl_gen_array_close(t->json);
	put_number(t->json, "passed", t->passed);
	put_number(t->json, "failed", t->failed);
	yajl_gen_map_close(t->json);
	if (status != FAILED && yajl_gen_get_buf(t->json, &text, &len) ==
	    yajl_gen_status_ok)
		printf("%.*s\n", (int)len, text);
	yajl_gen_free(t->json);
	return status;
}

static int test_text(struct test *t, const struct rows *rows)
{
	int status = test_rows(t, rows);

	if (status != FAILED)
		printf("%zu of %zu rows as expected\n", t->passed,
		       rows->count);
	return status;
}

int cmd_test(const struct request *q, char **args, int n)
{
	struct test t = { .q = q };
	struct rows rows = { 0 };
	int status;

	if (n != 2)
		return usage("test needs a FILE and a TABLE");
	if (!strcmp(args[0], "-") && !strcmp(args[1], "-"))
		return usage("test: FILE and TABLE cannot both be \"-\"");
	t.file = args[1];
	status = rows_load(q, args[1], &rows);
	if (asking_begin(q, args[0], &t.k) != DONE)
		status = FAILED;
	if (status == DONE)
		status = q->json ? test_json(&t, &rows) : test_text(&t, &rows);
	asking_end(&t.k);
	rows_free(&rows);
	return status;
}
