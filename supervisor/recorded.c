// SPDX-License-Identifier: GPL-2.0-only
/*
 * A result read back. The policy in it is written out anew as the compiler
 * writes it, so that its hash can be compared: a result on one line and a
 * policy on many are the same text.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sha2.h>
#include <yajl/yajl_gen.h>

#include "../policy-compiler/edit.h"
#include "../policy-compiler/policy.h"
#include "cleanup.h"
#include "named.h"
#include "recorded.h"
#include "result.h"

void policy_hash(const char *text, size_t len, char hex[65])
{
	unsigned char sum[SHA256_DIGEST_LENGTH];
	SHA2_CTX c;
	size_t i;

	SHA256Init(&c);
	SHA256Update(&c, (const uint8_t *)text, len);
	SHA256Final(sum, &c);
	for (i = 0; i < sizeof(sum); i++)
		snprintf(hex + 2 * i, 3, "%02x", sum[i]);
}

static const struct json *member(const struct json *v, const char *key,
				 enum json_type type)
{
	const struct json *m;

	for (m = v ? v->first : NULL; m; m = m->next)
		if (m->key && !strcmp(m->key, key))
			return m->type == type ? m : NULL;
	return NULL;
}

/* As policy_print() writes it. */
static int write_out(const struct json *policy, struct recorded *rec)
{
	yajl_gen g = yajl_gen_alloc(NULL);
	const unsigned char *text;
	size_t len;
	int ret = -EINVAL;

	if (!g)
		return -ENOMEM;
	yajl_gen_config(g, yajl_gen_beautify, 1);
	yajl_gen_config(g, yajl_gen_indent_string, "  ");
	edit_put(g, policy);
	if (yajl_gen_get_buf(g, &text, &len) == yajl_gen_status_ok) {
		rec->text = malloc(len + 1);
		ret = rec->text ? 0 : -ENOMEM;
	}
	if (!ret) {
		rec->len = policy_tidy((const char *)text, len, rec->text);
		rec->text[rec->len] = 0;
	}
	yajl_gen_free(g);
	return ret;
}

static int take_lacks(const struct json *list, struct recorded *rec)
{
	const struct json *m;

	rec->lacks = calloc(list->count + 1, sizeof(*rec->lacks));
	for (m = list->first; rec->lacks && m; m = m->next) {
		if (m->type != JSON_STRING)
			continue;
		rec->lacks[rec->lack_count] = strdup(m->text);
		if (!rec->lacks[rec->lack_count])
			return -ENOMEM;
		rec->lack_count++;
	}
	return rec->lacks ? 0 : -ENOMEM;
}

static int take(const struct json *root, const char *path,
		struct recorded *rec, struct err *e)
{
	const struct json *schema = member(root, "schema", JSON_STRING);
	const struct json *policy = member(root, "policy", JSON_OBJECT);
	const struct json *text = member(policy, "resolved", JSON_OBJECT);
	const struct json *hash = member(policy, "hash", JSON_STRING);
	const struct json *lacks = member(root, "not_enforced", JSON_LIST);
	char hex[65];
	int ret;

	/* What is taken of it is the same in the first version. */
	if (!schema || !lacks || (strcmp(schema->text, RESULT_SCHEMA) &&
				  strcmp(schema->text, "lh.result.v1")))
		return err_set(e, -EINVAL, "--policy-from %s: not a result of "
			       "lh-supervise (schema " RESULT_SCHEMA ")", path);
	if (!text || !hash)
		return err_set(e, -EINVAL, "--policy-from %s: has no recorded "
			       "policy (policy.resolved, policy.hash)", path);
	ret = write_out(text, rec);
	if (!ret)
		ret = take_lacks(lacks, rec);
	if (ret)
		return err_sys(e, ret, "--policy-from %s", path);
	policy_hash(rec->text, rec->len, hex);
	if (strcmp(hex, hash->text))
		return err_set(e, -EBADMSG, "--policy-from %s: the policy in "
			       "it is not the one that its hash was made of: "
			       "it was changed", path);
	return 0;
}

int recorded_read(const struct identity *id, const char *path,
		  struct recorded *rec, struct diags *d, struct err *e)
{
	_cleanup_free_ char *text = NULL;
	struct json_doc doc = {};
	unsigned int errors = d->errors;
	size_t len;
	int ret;

	ret = named_read(id, "--policy-from", path, JSON_BYTES_MAX, &text,
			 &len, e);
	if (ret)
		return ret;
	ret = json_parse(text, len, path, &doc, d);
	if (!ret && d->errors > errors)
		ret = -EINVAL;
	if (!ret)
		ret = take(doc.root, path, rec, e);
	json_free(&doc);
	return ret;
}

bool recorded_lacks(const struct recorded *rec, const char *what)
{
	size_t i;

	for (i = 0; i < rec->lack_count; i++)
		if (!strcmp(rec->lacks[i], what))
			return true;
	return false;
}

void recorded_free(struct recorded *rec)
{
	size_t i;

	for (i = 0; i < rec->lack_count; i++)
		free(rec->lacks[i]);
	free(rec->lacks);
	free(rec->text);
	*rec = (struct recorded){};
}
