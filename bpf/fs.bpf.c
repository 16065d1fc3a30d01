// SPDX-License-Identifier: GPL-2.0-only
/*
 * Files: content and names.
 *   file_open                          read, write, exec, listing
 *   file_receive                       the same of what another opened
 *   path_{mknod,mkdir,symlink,link}    new names
 *   path_{unlink,rmdir,rename}         names that go
 *   path_{truncate,chmod,chown}        content and mode by path
 *   path_notify                        watches, which list by and by
 *   inode_getattr                      what lies in a denied root is not seen
 *   inode_alloc_security               who made what in shared places, or
 *                                      in none
 * Every hook only says what is wanted of which object; lh_judge() decides.
 */
#include "fs.bpf.h"

#define RENAME_EXCHANGE 0x2
#define RENAME_WHITEOUT 0x4

/*
 * Up to 6.4 overlayfs opens what backs a file under the file's own path. Where
 * that really lies is then known by its inode alone.
 */
static __always_inline __u64 backing_dentry(struct inode *inode)
{
	struct dentry *none = NULL;
	__u64 alias;

	if (!bpf_core_field_exists(none->d_u.d_alias))
		return 0;
	alias = (__u64)BPF_CORE_READ(inode, i_dentry.first);
	return alias ? alias - bpf_core_field_offset(none->d_u.d_alias) : 0;
}

/*
 * What a program returns. Nothing but the look at who asks is in it, the rest
 * lies in a function of its own: a task of the host pays for no more.
 */
#define FS_RESULT(refused) (lh_outside() ? 0 : LH_RESULT(refused, EACCES))

#define USES (LH_READ | LH_EXEC)

_Static_assert(LH_READ == LH_ROOT_READ && LH_EXEC == LH_ROOT_EXEC, "bits");

/* The use of a thing that the rights @gained would give, as LH_*; 0: none. */
static __always_inline __u32 fs_gain(__u32 gained, int listens)
{
	if (listens && (gained & LH_ROOT_SOCKET))
		return LH_CONNECT;
	return gained & USES;
}

#define LISTENS_FROM 0x1
#define LISTENS_TO 0x2

/*
 * @from gets the name @to, and with @exchange the other way too: then it may
 * be used for what its new place grants, so its old one must grant as much.
 * @listens: which of them may hold sockets, and takes them along. Both are
 * writable, or they were refused before.
 */
static __always_inline int fs_refuses_both(struct lh_label *l,
					   struct lh_ask *from,
					   struct lh_ask *to, int exchange,
					   int listens)
{
	__u32 old, new, gain;

	if (fs_refuses(l, from))
		return 1;
	old = lh_rights(l);
	if (fs_refuses(l, to))
		return 1;
	new = lh_rights(l);
	gain = fs_gain(new & ~old, listens & LISTENS_FROM);
	if (gain) {
		from->access = gain;
		return fs_refuses(l, from);
	}
	gain = exchange ? fs_gain(old & ~new, listens & LISTENS_TO) : 0;
	if (gain) {
		to->access = gain;
		return fs_refuses(l, to);
	}
	return 0;
}

/*
 * tmpfile(3): a file in /tmp itself that nobody else finds and that never gets
 * a name, not even a linkat(2). A rule that forbids more than nothing holds.
 */
static __noinline int open_unnamed(struct lh_label *l, struct file *file)
{
	const __u32 both = OPEN_TMPFILE | OPEN_EXCL;
	struct lh_root_key key = {};
	struct lh_root *r;

	if ((file->f_flags & both) != both)
		return 0;
	key.inode = (__u64)file->f_path.dentry->d_parent->d_inode;
	key.serial = l->serial;
	r = bpf_map_lookup_elem(&lh_roots, &key);
	if (!r || !(r->flags & LH_ROOT_UNNAMED))
		return 0;
	/* From now on it is known as this session's. */
	return !!bpf_inode_storage_get(&lh_made, file->f_inode, &key.serial,
				       BPF_LOCAL_STORAGE_GET_F_CREATE);
}

static __noinline int open_refused(struct file *file)
{
	struct lh_label *l = lh_label_current();
	__u32 verdict;

	if (!l)
		return 0;
	struct lh_ask q = FS_ASK_FILE(file, OPEN, file_open);

	q.device = is_device(file->f_inode);
	/* A new one could still be given a name: open_unnamed(). */
	if (q.mine && (file->f_flags & OPEN_TMPFILE))
		q.mine = 1;
	if (q.access == LH_EXEC)
		q.op = LH_OP_EXEC;
	if ((__u64)file->f_inode != q.inode) {
		__u64 behind = backing_dentry(file->f_inode);

		if (behind) {
			q.at.dentry = behind;
			q.at.mnt = 0;
		}
	}
	/* No path_mknod saw the mode of an unnamed file. */
	if ((file->f_flags & OPEN_TMPFILE) &&
	    (file->f_inode->i_mode & S_SETID))
		return fs_refuses_kind(l, &q, LH_WHY_SETID);
	if (!lh_session_of(l))
		return 1;
	verdict = lh_judge(l, &q);
	if ((verdict & 0xffff) == LH_WHY_NOT_GRANTED && open_unnamed(l, file))
		return 0;
	if (verdict & 0xffff)
		return fs_record(l, &q, verdict);
	if ((q.access & LH_WRITE) && keeps_setid(file->f_inode))
		return fs_refuses_kind(l, &q, LH_WHY_SETID);
	return 0;
}

SEC("lsm/file_open")
int BPF_PROG(fs_file_open, struct file *file)
{
	return FS_RESULT(open_refused(file));
}

static __noinline int mknod_refused(const struct path *dir,
				    struct dentry *dentry, umode_t mode)
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
	if (type == S_IFSOCK) {	/* bind(), and whoever would do as it does */
		q.op = LH_OP_BIND;
		q.access = LH_BIND;
	} else if (type && type != S_IFREG) {
		q.op = LH_OP_MKNOD;
		q.access |= LH_ODD;
	}
	if (type == S_IFCHR || type == S_IFBLK)
		refused = fs_refuses_kind(l, &q, LH_WHY_DEVICE);
	else if (mode & S_SETID)
		refused = fs_refuses_kind(l, &q, LH_WHY_SETID);
	else
		refused = fs_refuses(l, &q);
	return refused;
}

SEC("lsm/path_mknod")
int BPF_PROG(fs_path_mknod, const struct path *dir, struct dentry *dentry,
	     umode_t mode, unsigned int dev)
{
	return FS_RESULT(mknod_refused(dir, dentry, mode));
}

static __noinline int mkdir_refused(const struct path *dir,
				    struct dentry *dentry)
{
	struct lh_label *l = lh_label_current();

	if (!l)
		return 0;
	struct lh_ask q = FS_ASK(dentry, dir->mnt, MKDIR, path_mkdir,
				 LH_WRITE | LH_ODD);

	return fs_refuses(l, &q);
}

SEC("lsm/path_mkdir")
int BPF_PROG(fs_path_mkdir, const struct path *dir, struct dentry *dentry,
	     umode_t mode)
{
	return FS_RESULT(mkdir_refused(dir, dentry));
}

static __noinline int symlink_refused(const struct path *dir,
				      struct dentry *dentry)
{
	struct lh_label *l = lh_label_current();

	if (!l)
		return 0;
	/* A link in place of a directory leads as one would: BECOME. */
	struct lh_ask q = FS_ASK(dentry, dir->mnt, SYMLINK, path_symlink,
				 LH_WRITE | LH_BECOME | LH_ODD);

	return fs_refuses(l, &q);
}

SEC("lsm/path_symlink")
int BPF_PROG(fs_path_symlink, const struct path *dir, struct dentry *dentry,
	     const char *old_name)
{
	return FS_RESULT(symlink_refused(dir, dentry));
}

static __noinline int link_refused(struct dentry *old, const struct path *dir,
				   struct dentry *dentry)
{
	struct lh_label *l = lh_label_current();

	if (!l)
		return 0;
	/* By the new name it may be written, so by the old one too. */
	struct lh_ask from = FS_ASK(old, dir->mnt, LINK, path_link, LH_WRITE);
	struct lh_ask to = FS_ASK(dentry, dir->mnt, LINK, path_link, LH_WRITE);

	from.other = to.at;
	to.other = from.at;
	to.flags = LH_DENIAL_OTHER;
	to.access |= arrives(old);	/* it may be a symbolic link */
	/* What was made so that it gets no name has none to give. */
	if (from.mine == LH_MINE_UNNAMED)
		from.mine = 1;
	/* A listener is known by the name that it was bound to. */
	return fs_refuses_both(l, &from, &to, 0, 0);
}

SEC("lsm/path_link")
int BPF_PROG(fs_path_link, struct dentry *old, const struct path *dir,
	     struct dentry *dentry)
{
	return FS_RESULT(link_refused(old, dir, dentry));
}

static __noinline int unlink_refused(const struct path *dir,
				     struct dentry *dentry)
{
	struct lh_label *l = lh_label_current();

	if (!l)
		return 0;
	struct lh_ask q = FS_ASK(dentry, dir->mnt, UNLINK, path_unlink,
				 LH_REMOVE);

	return fs_refuses(l, &q);
}

SEC("lsm/path_unlink")
int BPF_PROG(fs_path_unlink, const struct path *dir, struct dentry *dentry)
{
	return FS_RESULT(unlink_refused(dir, dentry));
}

static __noinline int rmdir_refused(const struct path *dir,
				    struct dentry *dentry)
{
	struct lh_label *l = lh_label_current();

	if (!l)
		return 0;
	struct lh_ask q = FS_ASK(dentry, dir->mnt, RMDIR, path_rmdir,
				 LH_REMOVE);

	return fs_refuses(l, &q);
}

SEC("lsm/path_rmdir")
int BPF_PROG(fs_path_rmdir, const struct path *dir, struct dentry *dentry)
{
	return FS_RESULT(rmdir_refused(dir, dentry));
}

/* No function of its own: on 6.1 the stack is full. */
SEC("lsm/path_rename")
int BPF_PROG(fs_path_rename, const struct path *old_dir, struct dentry *old,
	     const struct path *new_dir, struct dentry *new,
	     unsigned int flags)
{
	struct lh_label *l = lh_label_current();
	int exchange = flags & RENAME_EXCHANGE;
	__u32 what;

	if (!l)
		return 0;
	struct lh_ask from = FS_ASK(old, old_dir->mnt, RENAME, path_rename,
				    LH_REMOVE);
	struct lh_ask to = FS_ASK(new, new_dir->mnt, RENAME, path_rename,
				  LH_WRITE);

	from.other = to.at;
	to.other = from.at;
	to.flags = LH_DENIAL_OTHER;
	what = arrives(old);
	if (what & LH_BECOME)
		from.access |= LH_MOVE;
	to.access |= what;
	if (inode_number(l, new))
		to.access |= LH_REMOVE;		/* the victim */
	if (flags & RENAME_WHITEOUT)
		from.access |= LH_WRITE | LH_ODD; /* a node in its place */
	if (exchange) {
		what = arrives(new);
		from.access |= LH_WRITE | what;
		if (what & LH_BECOME)
			to.access |= LH_MOVE;
	}
	return LH_RESULT(fs_refuses_both(l, &from, &to, exchange,
				(may_listen(old) ? LISTENS_FROM : 0) |
				(may_listen(new) ? LISTENS_TO : 0)), EACCES);
}

static __noinline int truncate_refused(const struct path *path)
{
	struct lh_label *l = lh_label_current();

	if (!l)
		return 0;
	struct dentry *d = path->dentry;
	struct lh_ask q = FS_ASK(d, path->mnt, TRUNCATE, path_truncate,
				 LH_WRITE);

	return fs_refuses(l, &q);
}

SEC("lsm/path_truncate")
int BPF_PROG(fs_path_truncate, const struct path *path)
{
	return FS_RESULT(truncate_refused(path));
}

static __noinline int chmod_refused(const struct path *path, umode_t mode)
{
	struct lh_label *l = lh_label_current();
	int refused;

	if (!l)
		return 0;
	struct dentry *d = path->dentry;
	struct lh_ask q = FS_ASK(d, path->mnt, CHMOD, path_chmod, LH_WRITE);

	if ((mode & S_SETID) && !is_dir(d))
		refused = fs_refuses_kind(l, &q, LH_WHY_SETID);
	else if (is_shared_node(d, q.mine))
		refused = fs_refuses_kind(l, &q, LH_WHY_DEVICE);
	else
		refused = fs_refuses(l, &q);
	return refused;
}

SEC("lsm/path_chmod")
int BPF_PROG(fs_path_chmod, const struct path *path, umode_t mode)
{
	return FS_RESULT(chmod_refused(path, mode));
}

static __noinline int chown_refused(const struct path *path)
{
	struct lh_label *l = lh_label_current();

	if (!l)
		return 0;
	struct dentry *d = path->dentry;
	struct lh_ask q = FS_ASK(d, path->mnt, CHOWN, path_chown, LH_WRITE);

	return is_shared_node(d, q.mine) ?
	       fs_refuses_kind(l, &q, LH_WHY_DEVICE) : fs_refuses(l, &q);
}

SEC("lsm/path_chown")
int BPF_PROG(fs_path_chown, const struct path *path, __u64 uid, __u64 gid)
{
	return FS_RESULT(chown_refused(path));
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
	return FS_RESULT(stat_refused(path));
}

static __noinline int notify_refused(const struct path *path)
{
	struct lh_label *l = lh_label_current();

	if (!l)
		return 0;
	/* A watch tells names, and when each is used: a listing in pieces. */
	struct dentry *d = path->dentry;
	struct lh_ask q = FS_ASK(d, path->mnt, WATCH, path_notify, LH_READ);

	return fs_refuses(l, &q);
}

SEC("lsm/path_notify")
int BPF_PROG(fs_path_notify, const struct path *path, __u64 mask,
	     unsigned int type)
{
	return FS_RESULT(notify_refused(path));
}

static __noinline int receive_refused(struct file *file)
{
	struct lh_label *l = lh_label_current();

	if (!l)
		return 0;
	struct lh_ask q = FS_ASK_FILE(file, RECEIVE, file_receive);

	q.device = is_device(file->f_inode);
	if (fs_refuses(l, &q))
		return 1;
	if ((q.access & LH_WRITE) && keeps_setid(file->f_inode))
		return fs_refuses_kind(l, &q, LH_WHY_SETID);
	return 0;
}

SEC("lsm/file_receive")
int BPF_PROG(fs_file_receive, struct file *file)
{
	/* Of what only stands for a place nothing can be read. */
	if (lh_outside() || (file->f_mode & FMODE_PATH))
		return 0;
	return LH_RESULT(receive_refused(file), EACCES);
}

static __noinline int made_failed(struct inode *inode)
{
	struct lh_label *l = lh_label_current();
	struct lh_session *s;
	__u64 magic, serial;

	if (!l)
		return 0;
	magic = inode->i_sb->s_magic;
	if (!made_matters(magic) && magic != SOCKFS_MAGIC)
		return 0;
	serial = l->serial;
	s = magic == MQUEUE_MAGIC ? lh_session_of(l) : NULL;
	if (s)
		s->made = 1;
	return !bpf_inode_storage_get(&lh_made, inode, &serial,
				      BPF_LOCAL_STORAGE_GET_F_CREATE);
}

SEC("lsm/inode_alloc_security")
int BPF_PROG(fs_inode_alloc_security, struct inode *inode)
{
	return lh_outside() ? 0 : LH_RESULT(made_failed(inode), ENOMEM);
}
