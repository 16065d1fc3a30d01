// SPDX-License-Identifier: GPL-2.0-only
/*
 * core OBJECT BTF VMLINUX: what the engine wants of a kernel by name, and if
 * the kernel has it: by its BTF, raw or in an image, and by the symbols of an
 * image. For core-check, which knows what may be missing. It prints
 *   relocation SECTION NUMBER FUNCTION	that it is in
 *   program NAME SECTION loaded|left	left out by the loader's own choice
 *   hook SECTION here|missing TYPE,...	with the types of its arguments
 *   kfunc|symbol NAME weak|strong here|missing
 * What becomes of the relocations, bpftool tells.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <elf.h>
#include <fcntl.h>
#include <gelf.h>
#include <unistd.h>

#include "../../supervisor/engine-pins.h"
#include "core.h"

/* What a section is attached to: a type of that kind and name, or nothing. */
static const struct target {
	const char *section, *prefix;
	__u32 kind;
} targets[] = {
	{ "lsm/", "bpf_lsm_", BTF_KIND_FUNC },
	{ "lsm.s/", "bpf_lsm_", BTF_KIND_FUNC },
	{ "lsm_cgroup/", "bpf_lsm_", BTF_KIND_FUNC },
	{ "tp_btf/", "btf_trace_", BTF_KIND_TYPEDEF },
	{ "fentry/", "", BTF_KIND_FUNC },
	{ "fexit/", "", BTF_KIND_FUNC },
	{ "fmod_ret/", "", BTF_KIND_FUNC },
	{ "iter/", "bpf_iter_", BTF_KIND_FUNC },
	{ "cgroup/", NULL, 0 },
	{ "cgroup_skb/", NULL, 0 },
	{ "syscall", NULL, 0 },
};

static void fail(const char *what, const char *why)
{
	fprintf(stderr, "core: %s: %s\n", what, why);
	exit(2);
}

static void type_print(const struct btf *btf, __u32 id)
{
	const struct btf_type *t = btf__type_by_id(btf, id);

	switch (t ? btf_kind(t) : BTF_KIND_UNKN) {
	case BTF_KIND_UNKN:
		printf("void");
		break;
	case BTF_KIND_PTR:
		type_print(btf, t->type);
		putchar('*');
		break;
	case BTF_KIND_CONST:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_TYPE_TAG:
		type_print(btf, t->type);
		break;
	default:
		printf("%s", btf__name_by_offset(btf, t->name_off));
	}
}

/* The arguments of a function, or of what a pointer or a name is for. */
static void args_print(const struct btf *btf, __u32 id)
{
	const struct btf_type *t = btf__type_by_id(btf, id);
	int i;

	while (t && btf_kind(t) != BTF_KIND_FUNC_PROTO)
		t = t->type ? btf__type_by_id(btf, t->type) : NULL;
	for (i = 0; t && i < btf_vlen(t); i++) {
		printf(i ? "," : " ");
		type_print(btf, btf_params(t)[i].type);
	}
}

static void hook_print(const struct btf *btf, const char *section)
{
	const struct target *t = targets;
	char name[160];
	int id;

	while (strncmp(section, t->section, strlen(t->section)))
		if (++t == targets + sizeof(targets) / sizeof(*targets))
			fail(section, "what is it attached to? See core.c");
	if (!t->prefix)
		return;
	snprintf(name, sizeof(name), "%s%s", t->prefix,
		 section + strlen(t->section));
	id = btf__find_by_name_kind(btf, name, t->kind);
	printf("hook %s %s", section, id > 0 ? "here" : "missing");
	if (id > 0)
		args_print(btf, id);
	putchar('\n');
}

/* A kfunc is taken only with the arguments that the object calls it with. */
static bool has_kfunc(const struct btf *btf, const struct btf *own,
		      const struct btf_type *func, const char *name)
{
	int id = btf__find_by_name_kind(btf, name, BTF_KIND_FUNC);
	const struct btf_type *theirs, *ours;

	if (id <= 0)
		return false;
	theirs = btf__type_by_id(btf, btf__type_by_id(btf, id)->type);
	ours = btf__type_by_id(own, func->type);
	return btf_vlen(theirs) == btf_vlen(ours);
}

/* Is the undefined symbol @name of the object weak? */
static bool is_weak(Elf *elf, const char *name)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;
	GElf_Sym sym;
	size_t i;

	while ((scn = elf_nextscn(elf, scn))) {
		Elf_Data *data = elf_getdata(scn, NULL);

		if (!gelf_getshdr(scn, &sh) || sh.sh_type != SHT_SYMTAB)
			continue;
		for (i = 0; gelf_getsym(data, i, &sym); i++)
			if (sym.st_shndx == SHN_UNDEF &&
			    !strcmp(elf_strptr(elf, sh.sh_link, sym.st_name),
				    name))
				return GELF_ST_BIND(sym.st_info) == STB_WEAK;
	}
	return false;
}

static void externs_print(const struct btf *btf, const struct btf *own,
			  const struct symbols *symbols, Elf *elf)
{
	int id = btf__find_by_name_kind(own, ".ksyms", BTF_KIND_DATASEC);
	const struct btf_type *sec = id > 0 ? btf__type_by_id(own, id) : NULL;
	int i;

	for (i = 0; sec && i < btf_vlen(sec); i++) {
		const struct btf_type *t =
			btf__type_by_id(own, btf_var_secinfos(sec)[i].type);
		const char *name = btf__name_by_offset(own, t->name_off);
		bool func = btf_is_func(t);

		printf("%s %s %s %s\n", func ? "kfunc" : "symbol", name,
		       is_weak(elf, name) ? "weak" : "strong",
		       (func ? has_kfunc(btf, own, t, name) :
			       symbols_have(symbols, name)) ?
		       "here" : "missing");
	}
}

/* The function of section @sec that the byte @off of it is in. */
static const char *function_at(Elf *elf, const char *sec, __u32 off)
{
	Elf_Scn *scn = NULL;
	size_t names, i;
	GElf_Shdr sh;
	GElf_Sym sym;

	elf_getshdrstrndx(elf, &names);
	while ((scn = elf_nextscn(elf, scn))) {
		if (!gelf_getshdr(scn, &sh) || sh.sh_type != SHT_SYMTAB)
			continue;
		for (i = 0; gelf_getsym(elf_getdata(scn, NULL), i, &sym); i++) {
			GElf_Shdr in;

			if (GELF_ST_TYPE(sym.st_info) == STT_FUNC &&
			    off >= sym.st_value &&
			    off < sym.st_value + sym.st_size &&
			    gelf_getshdr(elf_getscn(elf, sym.st_shndx), &in) &&
			    !strcmp(elf_strptr(elf, names, in.sh_name), sec))
				return elf_strptr(elf, sh.sh_link, sym.st_name);
		}
	}
	return "-";
}

/* .BTF.ext has them by section, and in each in an order. */
static void relocations_print(const struct btf *own, const struct btf_ext *ext,
			      Elf *elf)
{
	const struct {
		__u16 magic;
		__u8 version, flags;
		__u32 hdr_len, func_off, func_len, line_off, line_len;
		__u32 core_off, core_len;
	} *head;
	const __u32 *p, *end;
	__u32 size, words, i;

	head = btf_ext__get_raw_data(ext, &size);
	p = (const void *)((const char *)head + head->hdr_len + head->core_off);
	end = (const void *)((const char *)p + head->core_len);
	for (words = *p++ / sizeof(*p); p < end; ) {
		const char *sec = btf__name_by_offset(own, *p++);
		__u32 count = *p++;

		for (i = 0; i < count; i++, p += words)
			printf("relocation %s %u %s\n", sec, i,
			       function_at(elf, sec, *p));
	}
}

int main(int argc, char **argv)
{
	struct symbols *symbols;
	struct bpf_program *p;
	struct btf_ext *ext;
	struct btf *btf, *own;
	struct bpf_object *obj;
	struct err e = {};
	Elf *elf;
	int fd;

	if (argc != 4)
		fail("usage", "core OBJECT BTF VMLINUX");
	obj = bpf_object__open_file(argv[1], NULL);
	if (!obj)
		fail(argv[1], strerror(errno));
	/* As it is in the file: what is open, libbpf has altered. */
	own = btf__parse(argv[1], &ext);
	if (!own || !ext)
		fail(argv[1], strerror(errno));
	btf = btf__parse(argv[2], NULL);
	if (!btf)
		fail(argv[2], strerror(errno));
	symbols = symbols_open(argv[3]);
	if (!symbols)
		fail(argv[3], errno == ENOENT ? "no table of symbols" :
		     strerror(errno));
	fd = open(argv[1], O_RDONLY | O_CLOEXEC);
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!elf)
		fail(argv[1], elf_errmsg(-1));
	relocations_print(own, ext, elf);
	/* Where it fails, a hook is missing, as the lines say. */
	engine_hooks_select(obj, btf, &e);
	bpf_object__for_each_program(p, obj) {
		printf("program %s %s %s\n", bpf_program__name(p),
		       bpf_program__section_name(p),
		       bpf_program__autoload(p) ? "loaded" : "left");
		hook_print(btf, bpf_program__section_name(p));
	}
	externs_print(btf, own, symbols, elf);
	elf_end(elf);
	close(fd);
	symbols_close(symbols);
	btf_ext__free(ext);
	btf__free(own);
	btf__free(btf);
	bpf_object__close(obj);
	return 0;
}
