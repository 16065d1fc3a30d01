// SPDX-License-Identifier: GPL-2.0-only
/*
 * JSON by yajl: of the C parsers in Debian 12 it alone tells the position of
 * every value, and crun and libvirt keep it in use; Debian carries the fixes
 * for CVE-2017-16516, CVE-2022-24795 and CVE-2023-33460. It takes overlong
 * UTF-8, lone surrogates and odd blanks, so those are refused here.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <yajl/yajl_parse.h>

#include "err.h"
#include "parse.h"
#include "syntax.h"

struct parser {
	struct json_doc *doc;
	struct diags *diags;
	yajl_handle yajl;
	struct json *in;	/* the open object or list */
	const char *key;	/* met, its value still to come */
	struct json_spot key_at;
	size_t end;		/* where the last token ended */
	size_t seen;		/* up to here .spot has counted */
	struct json_spot spot;
	size_t values;
	unsigned int depth;
	int error;		/* why the parser was told to stop */
};

/*
 * Count on to byte @at. Tokens come in order, so that all of a text is counted
 * once, however many errors it has.
 */
static struct json_spot spot_of(struct parser *p, size_t at)
{
	const char *text = p->doc->text;

	for (; p->seen < at && p->seen < p->doc->size; p->seen++) {
		if (text[p->seen] == '\n') {
			p->spot.line++;
			p->spot.column = 1;
		} else if ((text[p->seen] & 0xc0) != 0x80) {
			p->spot.column++;
		}
	}
	return p->spot;
}

static char *pointer_of(struct arena *a, const struct json *v)
{
	char *up, *p, *out;
	const char *s;

	if (!v->parent)
		return arena_copy(a, "", 0);
	up = pointer_of(a, v->parent);
	if (!up)
		return NULL;
	if (!v->key)
		return arena_print(a, "%s/%zu", up, v->index);
	out = arena_alloc(a, strlen(up) + 2 * strlen(v->key) + 2);
	if (!out)
		return NULL;
	p = stpcpy(out, up);
	*p++ = '/';
	for (s = v->key; *s; s++) {
		if (*s == '~' || *s == '/') {
			*p++ = '~';
			*p++ = *s == '~' ? '0' : '1';
		} else {
			*p++ = *s;
		}
	}
	return out;
}

struct place json_place(struct json_doc *doc, const struct json *v, bool key)
{
	struct json_spot at = key && v->key ? v->key_at : v->at;

	return (struct place){ doc->file, at.line, at.column,
			       pointer_of(&doc->arena, v), doc->text, false };
}

const char *json_type_name(enum json_type t)
{
	static const char *const names[] = {
		"null", "true or false", "a number", "a string", "a list",
		"an object",
	};

	return names[t];
}

/*
 * yajl calls back when a token has been read, with the offset of its end: the
 * token begins after what can only be blanks, a comma or a colon.
 */
static size_t token_start(struct parser *p)
{
	size_t now = yajl_get_bytes_consumed(p->yajl), i = p->end;

	while (i < now && p->doc->text[i] &&
	       strchr(" \t\r\n,:", p->doc->text[i]))
		i++;
	p->end = now;
	return i;
}

__attribute__((format(printf, 3, 4)))
static int stop(struct parser *p, size_t at, const char *fmt, ...)
{
	struct json_spot spot = spot_of(p, at);
	struct place place = { p->doc->file, spot.line, spot.column, NULL,
			       p->doc->text, true };
	char msg[256];
	va_list args;

	va_start(args, fmt);
	vsnprintf(msg, sizeof(msg), fmt, args);
	va_end(args);
	diag_error(p->diags, &place, "%s", msg);
	p->error = -EINVAL;
	return 0;
}

static int short_of_memory(struct parser *p)
{
	p->error = -ENOMEM;
	return 0;
}

/* yajl turns an unpaired surrogate into '?': look at what was written. */
static bool lone_surrogate(const char *s, size_t len)
{
	unsigned int high = 0, u;
	char hex[5] = "";
	size_t i;

	for (i = 0; i < len; i++) {
		if (s[i] != '\\' || i + 5 >= len || s[i + 1] != 'u') {
			if (high)
				return true;
			if (s[i] == '\\')
				i++;
			continue;
		}
		memcpy(hex, s + i + 2, 4);
		u = strtoul(hex, NULL, 16);
		if (high != (u >= 0xdc00 && u <= 0xdfff))
			return true;
		high = u >= 0xd800 && u <= 0xdbff;
		i += 5;
	}
	return high;
}

static const char *string_take(struct parser *p, size_t at,
			       const unsigned char *s, size_t len)
{
	const char *c = (const char *)s;
	size_t i, n;
	uint32_t rune;
	char *copy;

	if (len > JSON_STRING_MAX) {
		stop(p, at, "a string of more than %u bytes", JSON_STRING_MAX);
		return NULL;
	}
	if (memchr(s, 0, len)) {
		stop(p, at, "a NUL character (\\u0000) in a string");
		return NULL;
	}
	for (i = 0; i < len; i += n) {
		n = err_utf8(c + i, len - i, &rune);
		if (!n) {
			stop(p, at, "a string that is not valid UTF-8");
			return NULL;
		}
	}
	if (lone_surrogate(p->doc->text + at, p->end - at)) {
		stop(p, at, "half a surrogate pair (\\ud800 to \\udfff)");
		return NULL;
	}
	copy = arena_copy(&p->doc->arena, c, len);
	if (!copy)
		short_of_memory(p);
	return copy;
}

/* *start: the token's first byte. */
static struct json *value_add(struct parser *p, enum json_type type,
			      size_t *start)
{
	size_t at = *start = token_start(p);
	struct json *v;

	if (++p->values > JSON_VALUES_MAX) {
		stop(p, at, "more than %u values", JSON_VALUES_MAX);
		return NULL;
	}
	v = arena_alloc(&p->doc->arena, sizeof(*v));
	if (!v) {
		short_of_memory(p);
		return NULL;
	}
	*v = (struct json){ .type = type, .key = p->key, .key_at = p->key_at,
			    .at = spot_of(p, at), .parent = p->in };
	p->key = NULL;
	if (!p->in) {
		p->doc->root = v;
		return v;
	}
	v->index = p->in->count++;
	if (p->in->last)
		p->in->last->next = v;
	else
		p->in->first = v;
	p->in->last = v;
	return v;
}

static int on_null(void *ctx)
{
	size_t at;

	return !!value_add(ctx, JSON_NULL, &at);
}

static int on_bool(void *ctx, int truth)
{
	size_t at;
	struct json *v = value_add(ctx, JSON_BOOL, &at);

	if (!v)
		return 0;
	v->truth = truth;
	return 1;
}

static int on_number(void *ctx, const char *s, size_t len)
{
	struct parser *p = ctx;
	size_t at;
	struct json *v = value_add(p, JSON_NUMBER, &at);

	if (!v)
		return 0;
	v->text = arena_copy(&p->doc->arena, s, len);
	return v->text ? 1 : short_of_memory(p);
}

static int on_string(void *ctx, const unsigned char *s, size_t len)
{
	size_t at;
	struct json *v = value_add(ctx, JSON_STRING, &at);

	if (!v)
		return 0;
	v->text = string_take(ctx, at, s, len);
	return !!v->text;
}

/* A duplicate is an error, but the rest of the file is still worth reading. */
static void duplicate(struct parser *p, const struct json *v)
{
	struct place at = { p->doc->file, p->key_at.line, p->key_at.column,
			    pointer_of(&p->doc->arena, v), p->doc->text, true };

	diag_error(p->diags, &at, "given twice; it stands on line %u already",
		   v->key_at.line);
}

static int on_key(void *ctx, const unsigned char *s, size_t len)
{
	struct parser *p = ctx;
	size_t at = token_start(p);
	struct json *v;

	if (p->in->count >= JSON_KEYS_MAX)
		return stop(p, at, "more than %u names in one object",
			    JSON_KEYS_MAX);
	p->key_at = spot_of(p, at);
	p->key = string_take(p, at, s, len);
	if (!p->key)
		return 0;
	for (v = p->in->first; v; v = v->next)
		if (!strcmp(v->key, p->key))
			break;
	if (v)
		duplicate(p, v);
	return 1;
}

static int open_with(struct parser *p, enum json_type type)
{
	size_t at;
	struct json *v = value_add(p, type, &at);

	if (!v)
		return 0;
	if (++p->depth > JSON_DEPTH_MAX)
		return stop(p, at, "nested more than %u deep",
			    JSON_DEPTH_MAX);
	p->in = v;
	return 1;
}

static int on_close(void *ctx)
{
	struct parser *p = ctx;

	token_start(p);
	p->depth--;
	p->in = p->in->parent;
	return 1;
}

static int on_object(void *ctx)
{
	return open_with(ctx, JSON_OBJECT);
}

static int on_list(void *ctx)
{
	return open_with(ctx, JSON_LIST);
}

static const yajl_callbacks callbacks = {
	.yajl_null = on_null,
	.yajl_boolean = on_bool,
	.yajl_number = on_number,
	.yajl_string = on_string,
	.yajl_start_map = on_object,
	.yajl_map_key = on_key,
	.yajl_end_map = on_close,
	.yajl_start_array = on_list,
	.yajl_end_array = on_close,
};

/* yajl may point before the blanks that precede what it does not like. */
static size_t fault(const struct json_doc *doc, size_t at)
{
	while (at < doc->size && doc->text[at] &&
	       strchr(" \t\r\n", doc->text[at]))
		at++;
	return at;
}

/* yajl's own words, without its prefix and its newline. */
static void syntax_error(struct parser *p)
{
	size_t at = yajl_get_bytes_consumed(p->yajl);
	unsigned char *said = yajl_get_error(p->yajl, 0, NULL, 0);
	const char *s = said ? (const char *)said : "", *colon, *words;

	colon = strstr(s, "error: ");
	if (colon)
		s = colon + strlen("error: ");
	at = fault(p->doc, at ? at - 1 : 0);
	words = syntax_words(p->doc->text, p->doc->size, at, s);
	if (!strncmp(s, "premature EOF", 13))
		stop(p, p->doc->size, "the text ends too early; "
		     "a bracket or a quote is not closed");
	else
		stop(p, at, "not JSON: %.*s", (int)strcspn(words, words == s ?
							   ".\n" : "\n"),
		     words);
	if (said)
		yajl_free_error(p->yajl, said);
}

static int run(struct parser *p)
{
	const unsigned char *text = (const unsigned char *)p->doc->text;
	yajl_status status = yajl_parse(p->yajl, text, p->doc->size);
	const struct json *root;
	struct place at;

	if (status == yajl_status_ok)
		status = yajl_complete_parse(p->yajl);
	if (status == yajl_status_error)
		syntax_error(p);
	else if (status == yajl_status_client_canceled && !p->error)
		p->error = -EINVAL;
	root = p->doc->root;
	if (!p->error && root->type != JSON_OBJECT) {
		at = json_place(p->doc, root, false);
		diag_error(p->diags, &at, "a policy is one object, { ... }, "
			   "not %s", json_type_name(root->type));
		p->error = -EINVAL;
	}
	return p->error;
}

/* What editors and tools leave at the start of a file. */
static const char *bad_start(const char *s, size_t size)
{
	size_t i;

	if (size >= 3 && !memcmp(s, "\xef\xbb\xbf", 3))
		return "begins with a byte order mark; save it as UTF-8 "
		       "without one";
	if (size >= 2 && (!memcmp(s, "\xff\xfe", 2) ||
			  !memcmp(s, "\xfe\xff", 2)))
		return "is UTF-16; save it as UTF-8";
	for (i = 0; i < size; i++)
		if (!strchr(" \t\r\n", s[i]) || !s[i])
			return NULL;
	return "is empty; the least policy is { \"version\": 1 }";
}

static int parse(struct json_doc *doc, struct diags *d)
{
	struct parser p = { .doc = doc, .diags = d, .spot = { 1, 1 } };
	struct place whole = { .file = doc->file };
	const char *bad = bad_start(doc->text, doc->size);
	size_t at;

	if (bad) {
		diag_error(d, &whole, "%s", bad);
		return -EINVAL;
	}
	at = strcspn(doc->text, "\v\f");
	if (at < doc->size && doc->text[at]) {
		stop(&p, at, "not JSON: a %s", doc->text[at] == '\v' ?
		     "vertical tab" : "form feed");
		return p.error;
	}
	p.yajl = yajl_alloc(&callbacks, NULL, &p);
	if (p.yajl) {
		run(&p);
		yajl_free(p.yajl);
	} else {
		p.error = -ENOMEM;
	}
	if (p.error == -ENOMEM)
		diag_error(d, &whole, "out of memory");
	return p.error;
}

int json_parse(const char *text, size_t size, const char *file,
	       struct json_doc *doc, struct diags *d)
{
	struct place whole = { .file = file };

	doc->file = file;
	if (size > JSON_BYTES_MAX) {
		diag_error(d, &whole, "larger than %u bytes", JSON_BYTES_MAX);
		return -EFBIG;
	}
	doc->text = arena_copy(&doc->arena, text, size);
	doc->size = size;
	if (!doc->text) {
		diag_error(d, &whole, "out of memory");
		return -ENOMEM;
	}
	return parse(doc, d);
}

int json_read(int fd, const char *file, struct json_doc *doc, struct diags *d)
{
	struct place whole = { .file = file };
	char *buf = malloc(JSON_BYTES_MAX + 1);
	size_t size = 0;
	ssize_t n = -1;
	int r;

	errno = ENOMEM;
	while (buf && size <= JSON_BYTES_MAX) {
		n = read(fd, buf + size, JSON_BYTES_MAX + 1 - size);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		size += n;
	}
	if (n < 0) {
		r = -errno;
		diag_error(d, &whole, "cannot be read: %s", strerror(-r));
	} else {
		r = json_parse(buf, size, file, doc, d);
	}
	free(buf);
	return r;
}

void json_free(struct json_doc *doc)
{
	arena_free(&doc->arena);
	*doc = (struct json_doc){ 0 };
}
