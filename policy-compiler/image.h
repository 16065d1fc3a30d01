/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The image: what the compiler makes of a policy. One flat block, no pointers,
 * every offset inside it; the same policy in the same context gives the same
 * bytes. The privileged side trusts nothing of it but what image_check() has
 * seen. Paths in it are absolute and lexically normal, symlinks unresolved.
 */
#ifndef LH_IMAGE_H
#define LH_IMAGE_H

#include <stddef.h>
#include <stdint.h>

#include "../bpf/abi.h"
#include "err.h"

#define IMAGE_MAGIC 0x314547414d49484cULL	/* "LHIMAGE1", little endian */
#define IMAGE_BYTES_MAX (8u << 20)
#define IMAGE_RULES_MAX 65535u
#define IMAGE_NO_LIMIT UINT64_MAX

enum image_profile {
	PROFILE_UNRESTRICTED, PROFILE_WORKSPACE_PATHS, PROFILE_WORKTREE,
	PROFILE_WASI, PROFILE_OS_HARDENED,
};

enum image_level {
	LEVEL_NONE, LEVEL_READ_ONLY, LEVEL_WORKSPACE_WRITE,
	LEVEL_PROCESS_EXEC, LEVEL_NETWORK,
};

enum image_env_mode { ENV_INHERITED, ENV_ISOLATED, ENV_GRANTED };

/* image.flags */
#define IMAGE_NO_EXEC 0x1u	/* no exec after the command (level, caps) */
#define IMAGE_USER_TEMP 0x2u	/* make a temp directory; a writable root */
#define IMAGE_USER_NAMESPACES 0x4u	/* new ones may be made */
#define IMAGE_KILL_ON_LOSS 0x8u	/* of a record: the session ends */
#define IMAGE_PTRACE 0x10u	/* its processes may trace each other */

/* image_root.kind: what else the resolver does with the path */
enum image_root_kind {
	ROOT_PLAIN,		/* flags as they stand */
	ROOT_WORKSPACE,		/* also: protected names are sought here */
	ROOT_CREDENTIAL,	/* opened with root's rights, may be absent */
};

/* image_root.flags beyond LH_ROOT_* */
#define IMAGE_ROOT_OPTIONAL 0x10000u	/* absent: no error */
#define IMAGE_ROOT_SELF 0x20000u	/* rights of the object alone */
#define IMAGE_ROOT_EXACT 0x40000u	/* a link on the way: an error */

/* A string: offset of a NUL-terminated string in the image; 0 is "". */
typedef uint32_t image_str;

struct image_root {
	image_str path;		/* absolute */
	uint32_t flags;		/* LH_ROOT_READ|WRITE|EXEC|DELETE|RDONLY|DENY|
				 * PROTECT|OWN|SOCKET, IMAGE_ROOT_* */
	uint16_t kind;
	uint16_t rule;		/* index in rules */
	uint32_t pad;
};

/* A protected name: "hooks" forms are relative to a place, see kind. */
enum image_protect_kind {
	PROTECT_REPOSITORY,	/* below the enclosing repository's git dir */
	PROTECT_GITLINK,	/* the .git file or directory itself */
	PROTECT_WILD,		/* PARENT/NAME at any depth */
	PROTECT_HOME,		/* below a home inside a writable root */
	PROTECT_ROOT,		/* below each writable root ("protect".add) */
};

struct image_protect {
	image_str name;		/* relative path, no leading slash */
	uint16_t kind;
	uint16_t rule;
};

struct image_env {
	image_str name;
	image_str value;	/* for pass: 0 */
	uint32_t set;		/* 1: value given, 0: passed from the caller */
};

/* A block of addresses, and the node that has its ports: struct lh_net_key. */
struct image_net {
	uint8_t addr[16];
	uint32_t family;	/* AF_INET: the first four count */
	uint32_t prefix;	/* bits */
	uint32_t node;		/* LH_NODE_FIRST and up */
	uint32_t pad;
};

/* A block of ports below a node: struct lh_port_key. */
struct image_port {
	uint32_t node;
	uint16_t protocol;	/* IPPROTO_TCP, IPPROTO_UDP; 0: both */
	uint16_t bits;		/* 0: all of both, or 16 and those of .port */
	uint16_t port;		/* the block's first */
	uint16_t say;		/* enum lh_say */
	uint16_t rule;
	uint16_t pad;
};

#define IMAGE_NET_FLAGS (LH_SESSION_INET | LH_SESSION_NARROW | \
			 LH_SESSION_PUBLISH | LH_SESSION_ALLOW)

struct image_limits {
	uint64_t wall_time;	/* nanoseconds */
	uint64_t grace;		/* nanoseconds; default 5 s */
	uint64_t memory;	/* bytes */
	uint64_t pids;		/* tasks; default 4096 */
	uint64_t swap;		/* bytes */
	uint64_t cpu;		/* percent of one processor */
	uint64_t io;		/* bytes a second */
	uint64_t open_files;	/* of a process */
	uint64_t file_size;	/* bytes */
	uint64_t idle_time;	/* nanoseconds */
	uint64_t capture_bytes;	/* of stdout and of stderr */
};				/* IMAGE_NO_LIMIT: none */

struct image_array {
	uint32_t offset;	/* bytes from the image's start, 8-aligned */
	uint32_t count;		/* elements */
};

struct image {
	uint64_t magic;
	uint32_t abi;		/* LH_ABI */
	uint32_t size;		/* bytes, all of it */
	uint8_t hash[32];	/* SHA-256 of the image with this field 0 */
	image_str name;		/* the policy's name, or "" */
	image_str source;	/* the policy file's path as given, or "" */
	image_str workspace;	/* working directory it was compiled for */
	image_str home;
	uint32_t profile;	/* enum image_profile */
	uint32_t level;		/* enum image_level */
	uint32_t flags;		/* IMAGE_* */
	uint32_t env_mode;	/* enum image_env_mode */
	uint32_t net_flags;	/* of IMAGE_NET_FLAGS */
	uint32_t pad;
	struct image_limits limits;
	struct image_array roots;	/* struct image_root */
	struct image_array protects;	/* struct image_protect */
	struct image_array env;		/* struct image_env */
	struct image_array nets;	/* struct image_net */
	struct image_array ports;	/* struct image_port */
	struct image_array rules;	/* image_str: text of each rule; 0 is
					 * "default" */
	struct image_array filter;	/* struct sock_filter: seccomp */
	struct image_array policy;	/* bytes: the canonical policy, JSON */
	struct image_array strings;	/* bytes; first is NUL, last is NUL */
};

/*
 * Total and pure: 0 if every field, offset, string and count of the @size
 * bytes at @image (8-aligned) is within bounds and the hash matches, else
 * -EINVAL (not an image), -EPROTO (another ABI: message names both) or
 * -EBADMSG (damaged).
 */
int image_check(const void *image, size_t size, struct err *e);

/* Accessors; only after image_check(). The image owns what they return. */
const char *image_string(const struct image *im, image_str s);
const char *image_rule(const struct image *im, unsigned int rule);
const struct image_root *image_roots(const struct image *im);
const struct image_protect *image_protects(const struct image *im);
const struct image_env *image_envs(const struct image *im);
const struct image_net *image_nets(const struct image *im);
const struct image_port *image_ports(const struct image *im);
/* Of .flags, what the engine is told: LH_SESSION_*. */
uint32_t image_session_flags(const struct image *im);
/* 64 lower-case hex digits and a NUL. */
void image_hash_hex(const struct image *im, char hex[65]);

#endif
