// SPDX-License-Identifier: GPL-2.0-only
/*
 * JSON by yajl. yajl gets valid UTF-8 only, and what it leaves unescaped but a
 * terminal or an editor might obey is escaped behind it, in writer_line().
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yajl/yajl_gen.h>
#include <yajl/yajl_parse.h>

#include "cleanup.h"
#include "escape.h"
#include "writer.h"

struct writer {
	yajl_gen gen;
};

static void *must(void *p)
{
	if (!p)
		abort();
	return p;
}

struct writer *writer_new(void)
{
	struct writer *w = must(malloc(sizeof(*w)));

	w->gen = must(yajl_gen_alloc(NULL));
	return w;
}

void writer_free(struct writer **w)
{
	if (!*w)
		return;
	yajl_gen_free((*w)->gen);
	free(*w);
	*w = NULL;
}

static void key_put(struct writer *w, const char *key)
{
	if (key)
		yajl_gen_string(w->gen, (const unsigned char *)key,
				strlen(key));
}

void writer_open_map(struct writer *w, const char *key)
{
	key_put(w, key);
	yajl_gen_map_open(w->gen);
}

void writer_close_map(struct writer *w)
{
	yajl_gen_map_close(w->gen);
}

void writer_open_array(struct writer *w, const char *key)
{
	key_put(w, key);
	yajl_gen_array_open(w->gen);
}

void writer_close_array(struct writer *w)
{
	yajl_gen_array_close(w->gen);
}

void writer_null(struct writer *w, const char *key)
{
	key_put(w, key);
	yajl_gen_null(w->gen);
}

void writer_bool(struct writer *w, const char *key, bool v)
{
	key_put(w, key);
	yajl_gen_bool(w->gen, v);
}

void writer_int(struct writer *w, const char *key, int64_t v)
{
	key_put(w, key);
	yajl_gen_integer(w->gen, v);
}

void writer_uint(struct writer *w, const char *key, uint64_t v)
{
	char digits[24];
	int n = snprintf(digits, sizeof(digits), "%" PRIu64, v);

	key_put(w, key);
	yajl_gen_number(w->gen, digits, n);
}

void writer_str(struct writer *w, const char *key, const char *s)
{
	if (s)
		writer_bytes(w, key, s, strlen(s));
	else
		writer_null(w, key);
}

void writer_uint_wide(struct writer *w, const char *key, uint64_t v)
{
	char digits[WRITER_WIDE + 1];
	int n = snprintf(digits, sizeof(digits), "%*" PRIu64, WRITER_WIDE, v);

	key_put(w, key);
	yajl_gen_number(w->gen, digits, n);
}

static char *base64(const char *in, size_t len)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				     "abcdefghijklmnopqrstuvwxyz0123456789+/";
	char *out = must(malloc((len + 2) / 3 * 4 + 1)), *o = out;
	size_t i;

	for (i = 0; i < len; i += 3) {
		uint32_t b = (uint32_t)(unsigned char)in[i] << 16;

		if (i + 1 < len)
			b |= (uint32_t)(unsigned char)in[i + 1] << 8;
		if (i + 2 < len)
			b |= (unsigned char)in[i + 2];
		*o++ = digits[b >> 18];
		*o++ = digits[b >> 12 & 63];
		*o++ = i + 1 < len ? digits[b >> 6 & 63] : '=';
		*o++ = i + 2 < len ? digits[b & 63] : '=';
	}
	*o = 0;
	return out;
}

/* Valid UTF-8 from any bytes; false: something was replaced. */
static bool repair(const char *in, size_t len, char *out, size_t *out_len)
{
	bool valid = true;
	size_t i = 0, o = 0;

	while (i < len) {
		uint32_t point;
		size_t n = utf8_decode(in + i, len - i, &point);

		if (n) {
			memcpy(out + o, in + i, n);
			o += n;
			i += n;
		} else {
			memcpy(out + o, "\xef\xbf\xbd", 3);
			o += 3;
			i++;
			valid = false;
		}
	}
	*out_len = o;
	return valid;
}

void writer_bytes(struct writer *w, const char *key, const char *s, size_t len)
{
	_cleanup_free_ char *text = must(malloc(3 * len + 1));
	size_t n;
	bool valid = repair(s, len, text, &n);

	key_put(w, key);
	yajl_gen_string(w->gen, (const unsigned char *)text, n);
	if (!valid && key) {
		_cleanup_free_ char *exact = base64(s, len);
		char name[64];

		snprintf(name, sizeof(name), "%s_b64", key);
		writer_str(w, name, exact);
	}
}

static int json_null(void *w)
{
	writer_null(w, NULL);
	return 1;
}

static int json_bool(void *w, int v)
{
	writer_bool(w, NULL, v);
	return 1;
}

/* As it is written: no number is too large, none changes its look. */
static int json_number(void *arg, const char *s, size_t len)
{
	struct writer *w = arg;

	yajl_gen_number(w->gen, s, len);
	return 1;
}

static int json_string(void *w, const unsigned char *s, size_t len)
{
	writer_bytes(w, NULL, (const char *)s, len);
	return 1;
}

static int json_open_map(void *w)
{
	writer_open_map(w, NULL);
	return 1;
}

static int json_close_map(void *w)
{
	writer_close_map(w);
	return 1;
}

static int json_open_array(void *w)
{
	writer_open_array(w, NULL);
	return 1;
}

static int json_close_array(void *w)
{
	writer_close_array(w);
	return 1;
}

bool writer_json(struct writer *w, const char *key, const char *text,
		 size_t len)
{
	static const yajl_callbacks calls = {
		.yajl_null = json_null, .yajl_boolean = json_bool,
		.yajl_number = json_number, .yajl_string = json_string,
		.yajl_map_key = json_string,
		.yajl_start_map = json_open_map, .yajl_end_map = json_close_map,
		.yajl_start_array = json_open_array,
		.yajl_end_array = json_close_array,
	};
	yajl_handle h = must(yajl_alloc(&calls, NULL, w));
	bool ok;

	/* A path of the command line may hold any bytes: repaired here. */
	yajl_config(h, yajl_dont_validate_strings, 1);
	key_put(w, key);
	ok = yajl_parse(h, (const unsigned char *)text, len) ==
	     yajl_status_ok && yajl_complete_parse(h) == yajl_status_ok;
	yajl_free(h);
	return ok;
}

static size_t put_escaped(char *out, uint32_t p)
{
	if (p < 0x10000)
		return sprintf(out, "\\u%04" PRIx32, p);
	p -= 0x10000;
	return sprintf(out, "\\u%04" PRIx32 "\\u%04" PRIx32,
		       0xd800 + (p >> 10), 0xdc00 + (p & 0x3ff));
}

char *writer_line(struct writer *w, size_t *len)
{
	const unsigned char *buf = NULL;
	size_t n = 0, i = 0, o = 0;
	char *out;

	yajl_gen_get_buf(w->gen, &buf, &n);
	out = must(malloc(6 * n + 2));
	while (i < n) {
		uint32_t point;
		size_t k = utf8_decode((const char *)buf + i, n - i, &point);

		/* Only in strings: yajl itself writes printable ASCII. */
		if (!k || escape_needed(point)) {
			o += put_escaped(out + o, k ? point : 0xfffd);
			i += k ? k : 1;
			continue;
		}
		memcpy(out + o, buf + i, k);
		o += k;
		i += k;
	}
	out[o++] = '\n';
	out[o] = 0;
	if (len)
		*len = o;
	return out;
}
