// SPDX-License-Identifier: GPL-2.0-only
/*
 * Files: content and names.
 *   file_open                          read, write, exec, listing
 *   path_{mknod,mkdir,symlink,link}    new names
 *   path_{unlink,rmdir,rename}         names that go
 *   path_{truncate,chmod,chown}        content and mode by path
 *   path_notify                        watches, which list by and by
 *   inode_getattr                      what lies in a denied root is not seen
 *   inode_alloc_security               who made what in shared places
 * Every hook only says what is wanted of which object; lh_judge() decides.
 */
#include "walk.bpf.h"

#define PROC_MAGIC 0x9fa0
#define TMPFS_MAGIC 0x01021994
#define DEVPTS_MAGIC 0x1cd1
#define MQUEUE_MAGIC 0x19800202

#define FMODE_READ 0x1
#define FMODE_WRITE 0x2
#define OPEN_FOR_EXEC 0x20	/* __FMODE_EXEC in f_flags */
#define OPEN_TRUNC 01000
#define OPEN_TMPFILE 020000000	/* __O_TMPFILE */
#define RENAME_EXCHANGE 0x2

#define S_IFMT 0170000
#define S_IFDIR 0040000
#define S_IFLNK 0120000
#define S_IFCHR 0020000
#define S_IFBLK 0060000
#define S_SETID 06000

/* Of what lies in places that all share: the serial of who made it. */
struct {
	__uint(type, BPF_MAP_TYPE_INODE_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, __u64);
} lh_made SEC(".maps");

static __always_inline bool made_matters(__u64 magic)
{
	return magic == TMPFS_MAGIC || magic == DEVPTS_MAGIC ||
	       magic == MQUEUE_MAGIC;
}

static __always_inline __u32 is_mine(struct lh_label *l, struct dentry *d)
{
	struct inode *i = d->d_inode;
	__u64 *maker;

	if (!made_matters(d->d_sb->s_magic))
		return 0;
	if (!i)
		return 1;
	maker = bpf_inode_storage_get(&lh_made, i, 0, 0);
	return maker && *maker == l->serial;
}

/* Judge and record; 1: refuse. */
static __noinline int fs_refuses(struct lh_label *l, struct lh_ask *q)
{
	struct lh_report r = {};
	__u32 verdict;

	if (!lh_session_of(l))
		return 1;
	verdict = lh_judge(l, q);
	if ((verdict & 0xffff) == LH_WHY_ALLOW)
		return 0;
	r.slot = l->slot;
	r.op = q->op;
	r.hook = q->hook;
	r.why = verdict;
	r.rule = verdict >> 16;
	r.err = -EACCES;
	r.access = q->access;
	r.flags = q->flags;
	r.path = q->at;
	r.other = q->other;
	lh_record(&r);
	return 1;
}

/* Refuse for what the request is, not for where the object lies. */
static __noinline int fs_refuses_kind(struct lh_label *l, struct lh_ask *q,
				      __u16 why)
{
	struct lh_report r = {
		.slot = l->slot, .op = q->op, .hook = q->hook, .why = why,
		.err = -EACCES, .access = q->access, .path = q->at,
	};

	if (lh_session_of(l))
		lh_record(&r);
	return 1;
}

#define FS_ASK(dentry_, mnt_, op_, hook_, access_)			\
	{								\
		.at = { (__u64)(dentry_), (__u64)(mnt_) },		\
		.magic = (dentry_)->d_sb->s_magic,			\
		.inode = (__u64)(dentry_)->d_inode,			\
		.access = (access_),					\
		.mine = is_mine(l, dentry_),				\
		.op = LH_OP_##op_, .hook = LH_HOOK_##hook_,		\
	}

static __always_inline int is_dir(struct dentry *d)
{
	struct inode *i = d->d_inode;

	return i && (i->i_mode & S_IFMT) == S_IFDIR;
}

/* Does it take one somewhere else: a directory, or a link to one? */
static __always_inline int leads(struct dentry *d)
{
	struct inode *i = d->d_inode;

	return i && ((i->i_mode & S_IFMT) == S_IFDIR ||
		     (i->i_mode & S_IFMT) == S_IFLNK);
}

static __always_inline __u32 open_access(struct file *file)
{
	__u32 access = 0;

	if (file->f_flags & OPEN_FOR_EXEC)
		return LH_EXEC;
	if (file->f_mode & FMODE_READ)
		access |= LH_READ;
	/* O_RDONLY | O_TRUNC empties it, and no path hook sees it from 6.2. */
	if ((file->f_mode & FMODE_WRITE) || (file->f_flags & OPEN_TRUNC))
		access |= LH_WRITE;
	/* Neither (O_ACCMODE 3): for ioctl, which can do both. */
	return access ? access : LH_READ | LH_WRITE;
}

static __noinline int open_refused(struct file *file)
{
	struct lh_label *l = lh_label_current();

	if (!l)
		return 0;
	struct dentry *d = file->f_path.dentry;
	struct lh_ask q = FS_ASK(d, file->f_path.mnt, OPEN, file_open,
				 open_access(file));

	if (q.access == LH_EXEC)
		q.op = LH_OP_EXEC;
	/* No path_mknod saw the mode of an unnamed file. */
	if ((file->f_flags & OPEN_TMPFILE) &&
	    (file->f_inode->i_mode & S_SETID))
		return fs_refuses_kind(l, &q, LH_WHY_SETID);
	return fs_refuses(l, &q);
}

SEC("lsm/file_open")
int BPF_PROG(fs_file_open, struct file *file)
{
	if (lh_outside())
		return 0;
	return LH_RESULT(open_refused(file), EACCES);
}

SEC("lsm/path_mknod")
int BPF_PROG(fs_path_mknod, const struct path *dir, struct dentry *dentry,
	     umode_t mode, unsigned int dev)
{
	struct lh_label *l = lh_label_current();
	__u32 type = mode & S_IFMT;
	int refused;

	if (!l)
		return 0;
	struct lh_ask q = FS_ASK(dentry, dir->mnt, CREATE, path_mknod,
				 LH_WRITE);

	/*
	 * An open with O_CREAT asks before it has looked whether the name is
	 * there. In /proc nothing is ever made; file_open judges what is.
	 */
	if (q.magic == PROC_MAGIC)
		return 0;
	if (type && type != 0100000)
		q.op = LH_OP_MKNOD;
	if (type == S_IFCHR || type == S_IFBLK)
		refused = fs_refuses_kind(l, &q, LH_WHY_DEVICE);
	else if (mode & S_SETID)
		refused = fs_refuses_kind(l, &q, LH_WHY_SETID);
	else
		refused = fs_refuses(l, &q);
	return LH_RESULT(refused, EACCES);
}

SEC("lsm/path_mkdir")
int BPF_PROG(fs_path_mkdir, const struct path *dir, struct dentry *dentry,
	     umode_t mode)
{
	struct lh_label *l = lh_label_current();

	if (!l)
		return 0;
	struct lh_ask q = FS_ASK(dentry, dir->mnt, MKDIR, path_mkdir, LH_WRITE);

	return LH_RESULT(fs_refuses(l, &q), EACCES);
}

SEC("lsm/path_symlink")
int BPF_PROG(fs_path_symlink, const struct path *dir, struct dentry *dentry,
	     const char *old_name)
{
	struct lh_label *l = lh_label_current();

	if (!l)
		return 0;
	/* A link in place of a directory leads as one would: BECOME. */
	struct lh_ask q = FS_ASK(dentry, dir->mnt, SYMLINK, path_symlink,
				 LH_WRITE | LH_BECOME);

	return LH_RESULT(fs_refuses(l, &q), EACCES);
}

SEC("lsm/path_link")
int BPF_PROG(fs_path_link, struct dentry *old, const struct path *dir,
	     struct dentry *dentry)
{
	struct lh_label *l = lh_label_current();
	int refused;

	if (!l)
		return 0;
	/*
	 * The new name grants what its place grants, so the old one must
	 * grant as much: to read, to write and to run.
	 */
	struct lh_ask from = FS_ASK(old, dir->mnt, LINK, path_link,
				    LH_READ | LH_WRITE | LH_EXEC);
	struct lh_ask to = FS_ASK(dentry, dir->mnt, LINK, path_link, LH_WRITE);

	from.other = to.at;
	to.other = from.at;
	to.flags = LH_DENIAL_OTHER;
	if (leads(old))		/* a second name of a symbolic link */
		to.access |= LH_BECOME;
	refused = fs_refuses(l, &from) || fs_refuses(l, &to);
	return LH_RESULT(refused, EACCES);
}

SEC("lsm/path_unlink")
int BPF_PROG(fs_path_unlink, const struct path *dir, struct dentry *dentry)
{
	struct lh_label *l = lh_label_current();

	if (!l)
		return 0;
	struct lh_ask q = FS_ASK(dentry, dir->mnt, UNLINK, path_unlink,
				 LH_REMOVE);

	return LH_RESULT(fs_refuses(l, &q), EACCES);
}

SEC("lsm/path_rmdir")
int BPF_PROG(fs_path_rmdir, const struct path *dir, struct dentry *dentry)
{
	struct lh_label *l = lh_label_current();

	if (!l)
		return 0;
	struct lh_ask q = FS_ASK(dentry, dir->mnt, RMDIR, path_rmdir,
				 LH_REMOVE);

	return LH_RESULT(fs_refuses(l, &q), EACCES);
}

SEC("lsm/path_rename")
int BPF_PROG(fs_path_rename, const struct path *old_dir, struct dentry *old,
	     const struct path *new_dir, struct dentry *new,
	     unsigned int flags)
{
	struct lh_label *l = lh_label_current();
	int refused;

	if (!l)
		return 0;
	struct lh_ask from = FS_ASK(old, old_dir->mnt, RENAME, path_rename,
				    LH_REMOVE);
	struct lh_ask to = FS_ASK(new, new_dir->mnt, RENAME, path_rename,
				  LH_WRITE);

	from.other = to.at;
	to.other = from.at;
	to.flags = LH_DENIAL_OTHER;
	if (leads(old)) {
		from.access |= LH_MOVE;
		to.access |= LH_BECOME;
	}
	if (new->d_inode)
		to.access |= LH_REMOVE;		/* the victim */
	if (flags & RENAME_EXCHANGE) {
		from.access |= LH_WRITE;
		if (leads(new)) {
			from.access |= LH_BECOME;
			to.access |= LH_MOVE;
		}
	}
	refused = fs_refuses(l, &from) || fs_refuses(l, &to);
	return LH_RESULT(refused, EACCES);
}

SEC("lsm/path_truncate")
int BPF_PROG(fs_path_truncate, const struct path *path)
{
	struct lh_label *l = lh_label_current();

	if (!l)
		return 0;
	struct dentry *d = path->dentry;
	struct lh_ask q = FS_ASK(d, path->mnt, TRUNCATE, path_truncate,
				 LH_WRITE);

	return LH_RESULT(fs_refuses(l, &q), EACCES);
}

SEC("lsm/path_chmod")
int BPF_PROG(fs_path_chmod, const struct path *path, umode_t mode)
{
	struct lh_label *l = lh_label_current();
	int refused;

	if (!l)
		return 0;
	struct dentry *d = path->dentry;
	struct lh_ask q = FS_ASK(d, path->mnt, CHMOD, path_chmod, LH_WRITE);

	if ((mode & S_SETID) && !is_dir(d))
		refused = fs_refuses_kind(l, &q, LH_WHY_SETID);
	else
		refused = fs_refuses(l, &q);
	return LH_RESULT(refused, EACCES);
}

SEC("lsm/path_chown")
int BPF_PROG(fs_path_chown, const struct path *path, __u64 uid, __u64 gid)
{
	struct lh_label *l = lh_label_current();

	if (!l)
		return 0;
	struct dentry *d = path->dentry;
	struct lh_ask q = FS_ASK(d, path->mnt, CHOWN, path_chown, LH_WRITE);

	return LH_RESULT(fs_refuses(l, &q), EACCES);
}

static __noinline int stat_refused(const struct path *path)
{
	struct lh_label *l = lh_label_current();

	if (!l)
		return 0;
	struct dentry *d = path->dentry;
	struct lh_ask q = FS_ASK(d, path->mnt, STAT, inode_getattr, LH_STAT);

	return fs_refuses(l, &q);
}

SEC("lsm/inode_getattr")
int BPF_PROG(fs_inode_getattr, const struct path *path)
{
	if (lh_outside())
		return 0;
	return LH_RESULT(stat_refused(path), EACCES);
}

SEC("lsm/path_notify")
int BPF_PROG(fs_path_notify, const struct path *path, __u64 mask,
	     unsigned int type)
{
	struct lh_label *l = lh_label_current();

	if (!l)
		return 0;
	/* A watch tells names, and when each is used: a listing in pieces. */
	struct dentry *d = path->dentry;
	struct lh_ask q = FS_ASK(d, path->mnt, WATCH, path_notify, LH_READ);

	return LH_RESULT(fs_refuses(l, &q), EACCES);
}

SEC("lsm/inode_alloc_security")
int BPF_PROG(fs_inode_alloc_security, struct inode *inode)
{
	struct lh_label *l = lh_label_current();
	__u64 serial;
	int failed = 0;

	if (!l || !made_matters(inode->i_sb->s_magic))
		return 0;
	serial = l->serial;
	if (!bpf_inode_storage_get(&lh_made, inode, &serial,
				   BPF_LOCAL_STORAGE_GET_F_CREATE))
		failed = 1;
	return LH_RESULT(failed, ENOMEM);
}
