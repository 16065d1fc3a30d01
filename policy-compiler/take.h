/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who takes which field: one function a field, called by the tables of
 * language.c with a value of a type that the field may have.
 */
#ifndef LH_TAKE_H
#define LH_TAKE_H

#include "fields.h"

#define TAKES(name) void take_##name(struct reader *r, const struct json *v)

/* read.c */
TAKES(any);
TAKES(version);
TAKES(name);
TAKES(description);
TAKES(profile);
TAKES(level);
TAKES(workspace_caps);
TAKES(process_caps);
TAKES(presets);
TAKES(mode);
TAKES(on_loss);
TAKES(user_namespaces);
TAKES(ptrace);

/* read-root.c */
TAKES(workspace_roots);
TAKES(read_only_roots);
TAKES(read_roots);
TAKES(write_roots);
TAKES(deny_roots);
TAKES(socket_roots);
TAKES(mounts);
TAKES(tracked);
TAKES(protect_add);
TAKES(protect_exclude);

/* read-env.c */
TAKES(env_mode);
TAKES(passes);
TAKES(set);
TAKES(env_files);

/* read-limit.c */
TAKES(wall_time);
TAKES(grace);
TAKES(idle_time);
TAKES(memory);
TAKES(swap);
TAKES(pids);
TAKES(cpu);
TAKES(io);
TAKES(open_files);
TAKES(file_size);
TAKES(capture_bytes);

/* read-net.c */
TAKES(loopback);
TAKES(tcp_loopback);
TAKES(loopback_ports);
TAKES(publish_ports);
TAKES(bind_any);
TAKES(egress_default);
TAKES(egress_allow);
TAKES(egress_deny);

/* permission.c: the short form */
TAKES(permissions);
TAKES(permit_read);
TAKES(permit_write);
TAKES(permit_exec);
TAKES(permit_net);
/* Before the fields of @root, which has the form @v, are taken; and after. */
void permissions_begin(struct reader *r, const struct json *root,
		       const struct json *v);
void permissions_end(struct reader *r);

#undef TAKES

#endif
