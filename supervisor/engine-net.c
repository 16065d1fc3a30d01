// SPDX-License-Identifier: GPL-2.0-only
/*
 * The network in the engine: the programs at the sessions' cgroups, and a
 * session's destinations. The tables are tries, which no program that may sleep
 * can change, so they are filled from here.
 */
#include <errno.h>
#include <fcntl.h>
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "cgroup.h"
#include "engine-pins.h"

int engine_net_attach(const char *cgroup_root, struct bpf_program *p,
		      struct bpf_link **link)
{
	char dir[512];
	int fd, err = 0;

	if (strncmp(bpf_program__section_name(p), "cgroup", 6)) {
		*link = bpf_program__attach(p);
		return *link ? 0 : -errno;
	}
	snprintf(dir, sizeof(dir), "%s/" CGROUP_PARENT, cgroup_root);
	mkdir(dir, 0755);
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	*link = bpf_program__attach_cgroup(p, fd);
	if (!*link)
		err = -errno;
	close(fd);
	return err;
}

static struct lh_net_key net_key(__u64 serial, const struct image_net *n)
{
	struct lh_net_key k = {
		.prefixlen = LH_NET_BITS + n->prefix, .family = n->family,
		.serial = serial,
	};

	memcpy(k.addr, n->addr, sizeof(k.addr));
	return k;
}

static struct lh_port_key port_key(__u64 serial, const struct image_port *p)
{
	return (struct lh_port_key){
		.prefixlen = LH_PORT_BITS + p->bits, .node = p->node,
		.serial = { (__u32)serial, serial >> 32 },
		.protocol = htons(p->protocol), .port = htons(p->port),
	};
}

/* Are our programs where @cgroup is? Its parent may have been made anew. */
static int check_attached(int cgroup, struct err *e)
{
	__u32 ids[64], count = 64, i, len;

	if (bpf_prog_query(cgroup, BPF_CGROUP_INET_EGRESS,
			   BPF_F_QUERY_EFFECTIVE, NULL, ids, &count))
		return err_sys(e, -errno, "engine: programs of the session's "
			       "cgroup");
	for (i = 0; i < count; i++) {
		struct bpf_prog_info info = {};
		int fd = bpf_prog_get_fd_by_id(ids[i]);

		len = sizeof(info);
		if (fd >= 0 && bpf_obj_get_info_by_fd(fd, &info, &len))
			info.name[0] = 0;
		if (fd >= 0)
			close(fd);
		if (!strcmp(info.name, "inet_egress"))
			return 0;
	}
	return err_set(e, -ESTALE, "the cgroup " CGROUP_PARENT " was taken "
		       "away and made anew, so sockets cannot be judged "
		       "there; `lh-supervise --engine unload` helps");
}

int engine_net_fill(struct engine *en, __u64 serial, const struct image *im,
		    int cgroup, struct err *e)
{
	const struct image_net *n = image_nets(im);
	const struct image_port *p = image_ports(im);
	int err = im->net_flags & LH_SESSION_INET ? check_attached(cgroup, e) :
		  0;
	size_t i;

	if (err)
		return err;
	for (i = 0; !err && i < im->ports.count; i++) {
		struct lh_port_key k = port_key(serial, &p[i]);
		struct lh_port_rule v = { p[i].say, p[i].rule };

		if (bpf_map_update_elem(en->ports, &k, &v, BPF_ANY))
			err = -errno;
	}
	for (i = 0; !err && i < im->nets.count; i++) {
		struct lh_net_key k = net_key(serial, &n[i]);

		if (bpf_map_update_elem(en->nets, &k, &n[i].node, BPF_ANY))
			err = -errno;
	}
	if (err == -ENOSPC)
		return err_set(e, err, "engine: the tables of destinations are "
			       "full (%d of all sessions together)",
			       LH_NET_TABLE_MAX);
	return err ? err_sys(e, err, "engine: destinations") : 0;
}

void engine_net_clear(struct engine *en, __u64 serial, const struct image *im)
{
	const struct image_net *n = image_nets(im);
	const struct image_port *p = image_ports(im);
	size_t i;

	for (i = 0; i < im->nets.count; i++) {
		struct lh_net_key k = net_key(serial, &n[i]);

		bpf_map_delete_elem(en->nets, &k);
	}
	for (i = 0; i < im->ports.count; i++) {
		struct lh_port_key k = port_key(serial, &p[i]);

		bpf_map_delete_elem(en->ports, &k);
	}
}

void engine_net_sweep(struct engine *en, __u64 serial)
{
	struct lh_net_key n, next_n;
	struct lh_port_key p, next_p;
	bool more;

	more = !bpf_map_get_next_key(en->nets, NULL, &n);
	for (; more; n = next_n) {
		more = !bpf_map_get_next_key(en->nets, &n, &next_n);
		if (n.serial == serial)
			bpf_map_delete_elem(en->nets, &n);
	}
	more = !bpf_map_get_next_key(en->ports, NULL, &p);
	for (; more; p = next_p) {
		more = !bpf_map_get_next_key(en->ports, &p, &next_p);
		if (p.serial[0] == (__u32)serial &&
		    p.serial[1] == (__u32)(serial >> 32))
			bpf_map_delete_elem(en->ports, &p);
	}
}
