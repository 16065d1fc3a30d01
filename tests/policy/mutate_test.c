// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whatever text comes: an image that passes its check or an error, in bounded
 * time, every place inside of the text, and no program started. The texts are
 * all policies of the tree, good and bad, and what a dice makes of them.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <seccomp.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compile_test.h"

#include "kselftest_harness.h"

#define TEXT_MAX 16384u
#define FILES_MAX 512u
#define EACH 60u		/* mutants of a file */

struct text {
	char *s;
	size_t len;
};

static struct text texts[FILES_MAX];
static size_t text_count;

static void take_file(const char *dir, const char *name)
{
	size_t len = strlen(name);
	char path[4096];
	struct text *t = &texts[text_count];
	ssize_t n;
	int fd;

	if (len < 5 || strcmp(name + len - 5, ".json") ||
	    text_count == FILES_MAX)
		return;
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	t->s = malloc(TEXT_MAX);
	n = fd < 0 || !t->s ? -1 : read(fd, t->s, TEXT_MAX);
	if (fd >= 0)
		close(fd);
	if (n < 0)
		abort();
	t->len = n;
	text_count++;
}

/* In the order of their names, so that a seed means the same everywhere. */
static void take_all(const char *dir)
{
	struct dirent **list;
	int n = scandir(dir, &list, NULL, alphasort), i;

	for (i = 0; i < n; i++) {
		take_file(dir, list[i]->d_name);
		free(list[i]);
	}
	if (n >= 0)
		free(list);
}

/* Where a token may begin. */
static size_t token_near(const char *s, size_t len, uint64_t *seed)
{
	size_t at = dice(seed, len + 1);

	while (at < len && !strchr("{}[],:\"", s[at]))
		at++;
	return at;
}

/* A few bytes at two places change theirs. */
static void swap(char *s, size_t len, uint64_t *seed)
{
	size_t a = token_near(s, len, seed), b = token_near(s, len, seed);
	size_t n = dice(seed, 24) + 1, i;
	char c;

	for (i = 0; i < n && a + i < len && b + i < len; i++) {
		c = s[a + i];
		s[a + i] = s[b + i];
		s[b + i] = c;
	}
}

/* @n bytes of the text once more, elsewhere. */
static size_t repeat(char *s, size_t len, uint64_t *seed)
{
	size_t from = token_near(s, len, seed), to = token_near(s, len, seed);
	size_t n = dice(seed, 64);
	char copy[64];

	if (n > len - from)
		n = len - from;
	if (len + n > TEXT_MAX)
		return len;
	memcpy(copy, s + from, n);
	memmove(s + to + n, s + to, len - to);
	memcpy(s + to, copy, n);
	return len + n;
}

static size_t mutate(char *s, size_t len, uint64_t *seed)
{
	static const char *const odd[] = {
		"\\", "\"", "\\u0000", "\\ud800", "\xff", "\xc3", "\n", "\t",
		"0", "-", "1e999", "null", "true", "[", "]", "{", "}", ",",
		":", "\"\"", "//", "\xef\xbb\xbf", "\xe2\x80\xae", "${", "~",
		"/..", "99999999999999999999",
	};
	const char *bit = odd[dice(seed, ARRAY_SIZE(odd))];
	size_t at = dice(seed, len + 1), n = strlen(bit);

	switch (dice(seed, 6)) {
	case 0:
		if (len)
			s[dice(seed, len)] ^= 1 << dice(seed, 8);
		return len;
	case 1:
		return dice(seed, 4) ? len : at;
	case 2:
		swap(s, len, seed);
		return len;
	case 3:
		return repeat(s, len, seed);
	case 4:
		n = dice(seed, len - at + 1) % 40;
		memmove(s + at, s + at + n, len - at - n);
		return len - n;
	default:
		if (len + n > TEXT_MAX)
			return len;
		memmove(s + at + n, s + at, len - at);
		memcpy(s + at, bit, n);
		return len + n;
	}
}

/* The byte of line @line, character @column, or NULL where there is none. */
static const char *byte_at(const char *s, size_t len, unsigned int line,
			   unsigned int column)
{
	const char *end = s + len;

	for (; line > 1; line--) {
		s = memchr(s, '\n', end - s);
		if (!s)
			return NULL;
		s++;
	}
	for (; column > 1; column--) {
		if (s == end || *s == '\n')
			return NULL;
		for (s++; s < end && (*s & 0xc0) == 0x80; s++)
			;
	}
	return s;
}

static bool begins(const struct json *v, char c)
{
	static const char *const first[] = {
		[JSON_NULL] = "n", [JSON_BOOL] = "tf",
		[JSON_NUMBER] = "-0123456789", [JSON_STRING] = "\"",
		[JSON_LIST] = "[", [JSON_OBJECT] = "{",
	};

	return c && strchr(first[v->type], c);
}

/* Every value of the tree stands where it says. */
static bool tree_is_placed(const struct json *v, const char *s, size_t len)
{
	const char *at = byte_at(s, len, v->at.line, v->at.column);
	const char *key = v->key ? byte_at(s, len, v->key_at.line,
					   v->key_at.column) : "\"";
	const struct json *m;

	if (!at || at == s + len || !begins(v, *at) || !key || *key != '"')
		return false;
	for (m = v->first; m; m = m->next)
		if (!tree_is_placed(m, s, len))
			return false;
	return true;
}

static bool diags_are_placed(const struct diags *d, const char *s, size_t len)
{
	const struct diag *g;
	size_t i;

	for (i = 0; i < d->count; i++) {
		g = &d->list[i];
		if (!g->line || strcmp(g->file, "m"))
			continue;
		if (!byte_at(s, len, g->line, g->column) || !g->excerpt.line ||
		    strpbrk(g->excerpt.line, "\n\r\033") ||
		    strpbrk(g->text, "\n\r\033"))
			return false;
	}
	return true;
}

static void try_parse(struct __test_metadata *_metadata, const char *s,
		      size_t len)
{
	struct json_doc doc = { 0 };
	struct diags d = { 0 };
	int r = json_parse(s, len, "m", &doc, &d);

	EXPECT_TRUE(r == 0 || d.errors > 0);
	EXPECT_TRUE(diags_are_placed(&d, s, len));
	if (!r)
		EXPECT_TRUE(tree_is_placed(doc.root, s, len)) {
			TH_LOG("%.*s", (int)len, s);
		}
	json_free(&doc);
	diags_free(&d);
}

static bool try_compile(struct __test_metadata *_metadata, const char *s,
			size_t len)
{
	const struct compile_options o = { .context = &here, .check = true };
	struct image *im = NULL;
	struct diags d = { 0 };
	int r = compile_text(s, len, "m", "/base", &o, &im, &d);

	EXPECT_EQ(r == 0, d.errors == 0);
	EXPECT_TRUE(diags_are_placed(&d, s, len)) {
		TH_LOG("%.*s", (int)len, s);
	}
	if (!r)
		EXPECT_EQ(0, image_check(im, im->size, NULL));
	free(im);
	diags_free(&d);
	return !r;
}

/* From here on a program that is started ends the test. */
static bool start_nothing(void)
{
	scmp_filter_ctx c = seccomp_init(SCMP_ACT_ALLOW);
	bool ok = c &&
		!seccomp_rule_add(c, SCMP_ACT_KILL_PROCESS,
				  SCMP_SYS(execve), 0) &&
		!seccomp_rule_add(c, SCMP_ACT_KILL_PROCESS,
				  SCMP_SYS(execveat), 0) &&
		!seccomp_load(c);

	seccomp_release(c);
	return ok;
}

FIXTURE(mutants) {
	char *s;
};

FIXTURE_SETUP(mutants)
{
	self->s = malloc(TEXT_MAX);
	ASSERT_NE(NULL, self->s);
	take_all("tests/policy/good");
	take_all("tests/policy/bad");
	take_all("policy-compiler/policies");
	take_all("examples");
	ASSERT_GE(text_count, 30) {
		TH_LOG("run it from the top of the tree");
	}
}

FIXTURE_TEARDOWN(mutants)
{
	while (text_count)
		free(texts[--text_count].s);
	free(self->s);
}

TEST_F_TIMEOUT(mutants, of_every_policy_get_an_answer, 300)
{
	const char *many = getenv("LH_FUZZ");
	unsigned int each = many ? strtoul(many, NULL, 10) : EACH, k, n;
	uint64_t seed = 3;
	size_t i, len, good = 0, all = 0;
	char *s = self->s;

	ASSERT_TRUE(start_nothing());
	for (i = 0; i < text_count; i++)
		for (k = 0; k < each; k++) {
			len = texts[i].len;
			memcpy(s, texts[i].s, len);
			/* The first is the file itself. */
			for (n = k ? dice(&seed, 3) + 1 : 0; n--;)
				len = mutate(s, len, &seed);
			try_parse(_metadata, s, len);
			good += try_compile(_metadata, s, len);
			all++;
		}
	TH_LOG("%zu of %zu mutants are policies still", good, all);
	EXPECT_GT(good, text_count);
	EXPECT_LT(good, all);
}

/* Each byte once more than it should be read: ASan sees a step beyond. */
TEST(a_text_may_end_anywhere)
{
	const char *whole = "{\"version\":1,\"name\":\"\\ud83d\\ude00\xe6\xbc"
		"\xa2\",\"environment\":{\"set\":{\"A\":\"b\"}},"
		"\"workspace_roots\":[\"~/x\",\"${HOME}\"],\"limits\":"
		"{\"pids\":-1.5e+3}}";
	size_t len = strlen(whole), i;
	char *s;

	for (i = 0; i <= len; i++) {
		s = malloc(i + 1);
		ASSERT_NE(NULL, s);
		memcpy(s, whole, i);
		s[i] = 'x';
		try_parse(_metadata, s, i);
		try_compile(_metadata, s, i);
		free(s);
	}
}

TEST_HARNESS_MAIN
