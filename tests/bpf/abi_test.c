// SPDX-License-Identifier: GPL-2.0-only
/*
 * The contract of abi.h, as the kernel side was compiled and as user space was:
 * every struct has one size, and every member one offset.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/btf.h>

#include "kselftest_harness.h"

#include "../../bpf/abi.h"

#define M(s, m) { #m, offsetof(struct s, m) }

struct member {
	const char *name;
	size_t offset;
};

static const struct layout {
	const char *name;
	size_t size;
	struct member members[32];
} layouts[] = {
	{ "lh_root_key", sizeof(struct lh_root_key),
	  { M(lh_root_key, inode), M(lh_root_key, serial) } },
	{ "lh_root", sizeof(struct lh_root),
	  { M(lh_root, flags), M(lh_root, self), M(lh_root, name_lens),
	    M(lh_root, rule_read), M(lh_root, rule_write),
	    M(lh_root, rule_deny), M(lh_root, rule_self),
	    M(lh_root, rule_socket), M(lh_root, pad) } },
	{ "lh_name_key", sizeof(struct lh_name_key),
	  { M(lh_name_key, parent), M(lh_name_key, serial),
	    M(lh_name_key, hash) } },
	{ "lh_name", sizeof(struct lh_name),
	  { M(lh_name, flags), M(lh_name, rule), M(lh_name, folded),
	    M(lh_name, node), M(lh_name, name_lens) } },
	{ "lh_wild", sizeof(struct lh_wild),
	  { M(lh_wild, parent_hash), M(lh_wild, name_hash),
	    M(lh_wild, parent_fold),
	    M(lh_wild, name_fold), M(lh_wild, rule),
	    M(lh_wild, pad) } },
	{ "lh_session", sizeof(struct lh_session),
	  { M(lh_session, serial), M(lh_session, state), M(lh_session, flags),
	    M(lh_session, cgroup), M(lh_session, top), M(lh_session, seq),
	    M(lh_session, lost), M(lh_session, wild_lens),
	    M(lh_session, wild_count), M(lh_session, supervisor),
	    M(lh_session, pidns), M(lh_session, made), M(lh_session, ipc),
	    M(lh_session, touched), M(lh_session, wild),
	    M(lh_session, bloom) } },
	{ "lh_net_key", sizeof(struct lh_net_key),
	  { M(lh_net_key, prefixlen), M(lh_net_key, family),
	    M(lh_net_key, serial), M(lh_net_key, addr) } },
	{ "lh_port_key", sizeof(struct lh_port_key),
	  { M(lh_port_key, prefixlen), M(lh_port_key, node),
	    M(lh_port_key, serial), M(lh_port_key, protocol),
	    M(lh_port_key, port) } },
	{ "lh_port_rule", sizeof(struct lh_port_rule),
	  { M(lh_port_rule, say), M(lh_port_rule, rule) } },
	{ "lh_flow", sizeof(struct lh_flow),
	  { M(lh_flow, serial), M(lh_flow, peer), M(lh_flow, peer_port),
	    M(lh_flow, own_port), M(lh_flow, protocol), M(lh_flow, kind) } },
	{ "lh_ipc", sizeof(struct lh_ipc),
	  { M(lh_ipc, serial), M(lh_ipc, kind), M(lh_ipc, id),
	    M(lh_ipc, slot), M(lh_ipc, pad) } },
	{ "lh_label", sizeof(struct lh_label),
	  { M(lh_label, serial), M(lh_label, slot), M(lh_label, flags),
	    M(lh_label, scratch) } },
	{ "lh_item", sizeof(struct lh_item),
	  { M(lh_item, kind), M(lh_item, fd), M(lh_item, parent),
	    M(lh_item, hash) } },
	{ "lh_admit", sizeof(struct lh_admit),
	  { M(lh_admit, items), M(lh_admit, serial), M(lh_admit, count),
	    M(lh_admit, slot), M(lh_admit, cgroup_fd), M(lh_admit, error),
	    M(lh_admit, failed), M(lh_admit, pad) } },
	{ "lh_denial", sizeof(struct lh_denial),
	  { M(lh_denial, serial), M(lh_denial, seq), M(lh_denial, lost),
	    M(lh_denial, time), M(lh_denial, pid), M(lh_denial, tid),
	    M(lh_denial, ppid), M(lh_denial, uid), M(lh_denial, op),
	    M(lh_denial, why), M(lh_denial, rule), M(lh_denial, err),
	    M(lh_denial, access), M(lh_denial, flags), M(lh_denial, target),
	    M(lh_denial, arg), M(lh_denial, family), M(lh_denial, protocol),
	    M(lh_denial, port), M(lh_denial, hook), M(lh_denial, addr),
	    M(lh_denial, comm), M(lh_denial, path_len),
	    M(lh_denial, other_len), M(lh_denial, exe_len),
	    M(lh_denial, local_port) } },
};

FIXTURE(object)
{
	struct btf *btf;
};

FIXTURE_SETUP(object)
{
	const char *path = getenv("LH_BPF_OBJECT");

	self->btf = btf__parse(path ? path : "build/bpf/lh.bpf.o", NULL);
	ASSERT_NE(NULL, self->btf);
}

FIXTURE_TEARDOWN(object)
{
	btf__free(self->btf);
}

static const struct btf_member *find(const struct btf *btf,
				     const struct btf_type *t, const char *name)
{
	const struct btf_member *m = btf_members(t);
	int i;

	for (i = 0; i < btf_vlen(t); i++)
		if (!strcmp(btf__name_by_offset(btf, m[i].name_off), name))
			return &m[i];
	return NULL;
}

TEST_F(object, has_the_layout_that_user_space_has)
{
	size_t i, k;

	for (i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
		const struct layout *l = &layouts[i];
		int id = btf__find_by_name_kind(self->btf, l->name,
						BTF_KIND_STRUCT);
		const struct btf_type *t;

		ASSERT_LT(0, id) TH_LOG("no struct %s", l->name);
		t = btf__type_by_id(self->btf, id);
		EXPECT_EQ(l->size, t->size) TH_LOG("struct %s", l->name);
		for (k = 0; l->members[k].name; k++) {
			const struct btf_member *m =
				find(self->btf, t, l->members[k].name);

			ASSERT_NE(NULL, m)
				TH_LOG("%s has no %s", l->name,
				       l->members[k].name);
			EXPECT_EQ(l->members[k].offset * 8, m->offset)
				TH_LOG("%s.%s", l->name, l->members[k].name);
		}
	}
}

/* A member that is new in abi.h must be added above too. */
TEST_F(object, has_no_member_that_is_not_compared)
{
	size_t i, k;

	for (i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
		const struct layout *l = &layouts[i];
		int id = btf__find_by_name_kind(self->btf, l->name,
						BTF_KIND_STRUCT);
		const struct btf_type *t;
		int named = 0, m;

		ASSERT_LT(0, id);
		t = btf__type_by_id(self->btf, id);
		for (m = 0; m < btf_vlen(t); m++)
			named += btf_members(t)[m].name_off != 0;
		for (k = 0; l->members[k].name; k++)
			;
		EXPECT_EQ((int)k, named)
			TH_LOG("struct %s", l->name);
	}
}

TEST_HARNESS_MAIN
