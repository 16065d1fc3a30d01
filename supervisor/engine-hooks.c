// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which programs of the engine a kernel has the hooks for, by its BTF alone: it
 * may be that of a kernel which does not run (tests/conformance/core.c).
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "engine-pins.h"

/* Programs that a kernel may lack a hook for; every other one is required. */
static const char *const optional[] = {
	"guard_userns_create",
	/* Before 6.2 an access list is an attribute like others. */
	"meta_get_acl", "meta_set_acl", "meta_remove_acl",
	NULL,
};

/* Of programs for one hook, the one that takes as many arguments as it has. */
static const struct {
	const char *program;
	int arguments;
} variants[] = {
	{ "meta_setattr_2", 2 },
	{ "meta_setattr_3", 3 },
};

static bool is_optional(const char *name)
{
	int i;

	for (i = 0; optional[i]; i++)
		if (!strcmp(optional[i], name))
			return true;
	return false;
}

/* Is the program for a hook of another shape than this kernel's, @func? */
static bool is_other_variant(const char *name, const struct btf *btf, int func)
{
	const struct btf_type *t;
	size_t i;

	for (i = 0; i < sizeof(variants) / sizeof(*variants); i++) {
		if (strcmp(variants[i].program, name))
			continue;
		t = btf__type_by_id(btf, func);
		t = t ? btf__type_by_id(btf, t->type) : NULL;
		return !t || btf_vlen(t) != variants[i].arguments;
	}
	return false;
}

int engine_hooks_select(struct bpf_object *obj, const struct btf *btf,
			struct err *e)
{
	struct bpf_program *p;
	char func[128];

	bpf_object__for_each_program(p, obj) {
		const char *sec = bpf_program__section_name(p);
		const char *name = bpf_program__name(p);
		int id;

		if (strncmp(sec, "lsm/", 4))
			continue;
		snprintf(func, sizeof(func), "bpf_lsm_%s", sec + 4);
		id = btf__find_by_name_kind(btf, func, BTF_KIND_FUNC);
		if (id > 0 && !is_other_variant(name, btf, id))
			continue;
		if (id <= 0 && !is_optional(name))
			return err_set(e, -ENOTSUP, "this kernel has no LSM "
				       "hook %s; 6.1 or later with "
				       "CONFIG_BPF_LSM and "
				       "CONFIG_SECURITY_PATH is needed",
				       sec + 4);
		bpf_program__set_autoload(p, false);
	}
	return 0;
}
