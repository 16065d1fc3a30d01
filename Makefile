# SPDX-License-Identifier: GPL-2.0-only
# One Makefile for everything; all that is built goes to $(O). See `make help`.

O ?= build
PREFIX ?= /usr/local
KERNELS ?= 6.1 6.12

B := $(O)$(if $(filter 1,$(SAN)),/san)
D = $(DESTDIR)$(PREFIX)
Q := $(if $(filter 1,$(V)),,@)
# Each rule begins with this: its directory, and a line of what it does.
say = @mkdir -p $(@D)$(if $(filter 1,$(V)),,; printf '  %-8s %s\n' $(1) $(2))
export PATH := $(PATH):/usr/sbin:/sbin
CLANG ?= clang
BPFTOOL ?= bpftool
CFLAGS ?= -O2 -g
WARN := -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes
SANFLAGS := $(if $(filter 1,$(SAN)),-fsanitize=address -fsanitize=undefined \
	-fno-sanitize-recover=undefined -fno-omit-frame-pointer)
# Recursively expanded: pkg-config may not be there before `make deps` ran.
PKGS := libbpf libseccomp yajl libmd libcgroup libcap libelf
PKG_CFLAGS = $(shell pkg-config --cflags $(PKGS))
PKG_LIBS = $(shell pkg-config --libs $(PKGS))
CPPFLAGS += -I$(B) -I$(O)/gen
CC_ALL = $(CC) -std=gnu11 $(CFLAGS) $(WARN) $(SANFLAGS) $(CPPFLAGS) \
	$(PKG_CFLAGS) -MMD -MP
LD_ALL = $(CC) $(CFLAGS) $(SANFLAGS) $(LDFLAGS)

# Names of Debian 12. From qemu on: for the guests and what runs in them.
DEPS := gcc libc6-dev clang pkg-config bpftool libbpf-dev libseccomp-dev libyajl-dev \
	libmd-dev libcgroup-dev libcap-dev libelf-dev zlib1g-dev git python3 python3-jsonschema \
	perl procps qemu-system-x86 qemu-system-common busybox-static cpio kmod xz-utils zstd \
	lz4 e2fsprogs xfsprogs btrfs-progs dosfstools bindfs openssh-client rsync vim-tiny ripgrep less patch curl wget iproute2 \
	$(if $(filter workloads,$(MAKECMDGOALS)),$(shell tests/workloads/workloads.t --packages)) \
	$(if $(filter lint,$(MAKECMDGOALS)),clang-format shellcheck mandoc)
# Goals that must work on a bare machine install what they need first.
BARE := run check check-host check-guest workloads bench lint conformance mutation
NEED := $(if $(filter $(BARE),$(MAKECMDGOALS)),deps)
bpf_obj := $(patsubst %.bpf.c,$(O)/%.bpf.o,$(wildcard bpf/*.bpf.c))
skel := $(O)/gen/lh.skel.h
obj = $(patsubst %.c,$(B)/%.o,$(wildcard $(1)))
cmd_obj := $(call obj,policy-compiler/main.c policy-compiler/cmd*.c)
lib_obj := $(filter-out $(cmd_obj) %/make-filter.o,$(call obj,policy-compiler/*.c))
sup_obj := $(call obj,supervisor/*.c)
programs := $(addprefix $(B)/,lh-policy lh-supervise lh-ps lh-doctor)
lib := $(B)/liblhpolicy.a
sup_lib := $(B)/liblhsupervise.a
# A test program is a *_test.c; every other file beside it is linked into each.
unit := $(basename $(call obj,$(addprefix tests/,policy/*_test.c bpf/*_test.c \
	supervisor/*_test.c fuzz/*_fuzz.c)))
lsm := $(basename $(call obj,tests/lsm/*_test.c))
probe_src := $(wildcard tests/lsm/probe*.c)
lsm_help := $(filter-out %_test.o $(probe_src:%.c=$(B)/%.o),$(call obj,tests/lsm/*.c))
lsm_random := $(call obj,tests/lsm/random/*.c)
probe := $(B)/tests/lsm/probe
cost := $(B)/tests/bench/cost
fault := $(B)/tests/fault/lh-supervise
man := $(wildcard policy-compiler/*.[1-8] supervisor/*.[1-8] tools/*.[1-8])
harness := $(O)/kselftest/kselftest_harness.h

.DELETE_ON_ERROR .SUFFIXES .SECONDARY:
.PHONY: all deps run check check-host check-guest check-unit check-cli workloads bench lint fuzz soak install clean help tests

#: make            build the programs into build/
all: $(programs)

help:
	@sed -n 's/^#: //p' $(filter %Makefile %.mk,$(MAKEFILE_LIST))
	@echo 'Variables: O=build V=1 SAN=1 (ASan, UBSan) KERNELS="6.1 6.12" PREFIX'

#: make deps       install the Debian packages that all this needs
deps:
	@for p in $(DEPS); do \
		dpkg-query -W -f '$${db:Status-Status}\n' $$p 2>/dev/null | \
			grep -qx installed || missing="$$missing $$p"; \
	done; [ -n "$$missing" ] || exit 0; \
	echo "deps: installing$$missing"; [ $$(id -u) = 0 ] || sudo=sudo; \
	get="$$sudo env DEBIAN_FRONTEND=noninteractive apt-get -q -y \
		--no-install-recommends"; \
	$$get install $$missing || { $$get update && $$get install $$missing; }

# --- the engine: objects, one linked object, one skeleton, the build's id
$(O)/bpf/%.bpf.o: bpf/%.bpf.c | $(NEED)
	$(call say,BPF,$<)
	$(Q)$(CLANG) -O2 -g -Wall -Werror -target bpf -mcpu=v3 \
		-D__TARGET_ARCH_x86 -Ivmlinux -Ibpf -MMD -MP -c $< -o $@

$(O)/bpf/lh.bpf.o: $(bpf_obj)
	$(call say,LINK,$@)
	$(Q)$(BPFTOOL) gen object $@.part $^ && mv $@.part $@

$(O)/gen/lh.skel.h: $(O)/bpf/lh.bpf.o
	$(call say,SKEL,$@)
	$(Q)$(BPFTOOL) gen skeleton $< name lh >$@.part && mv $@.part $@

$(O)/gen/build_id.h: $(O)/bpf/lh.bpf.o bpf/abi.h
	$(call say,ID,$@)
	$(Q)id=$$(cat $^ | sha256sum | cut -c1-12) && \
		echo "#define LH_BUILD_ID \"$$id\"" >$@

# --- user space
$(sup_obj): $(skel) $(O)/gen/build_id.h
$(lib_obj): $(wildcard policy-compiler/data/* policy-compiler/policies/*)
$(B)/%.o: %.c | $(NEED)
	$(call say,CC,$<)
	$(Q)$(CC_ALL) -c $< -o $@
# libseccomp is slow: what it makes is made here, and is part of the library.
$(B)/gen/filter.inc: $(patsubst %,$(B)/policy-compiler/%.o,make-filter filter filter-check filter-socket err)
	$(call say,GEN,$@)
	$(Q)$(LD_ALL) -o $@.make $^ -lseccomp && $@.make >$@
$(B)/policy-compiler/filter-ready.o: $(B)/gen/filter.inc

$(lib): $(lib_obj)
$(sup_lib): $(filter-out %/main.o,$(sup_obj))
$(lib) $(sup_lib):
	$(call say,AR,$@)
	$(Q)$(AR) rcs $@ $^

# --as-needed: nothing is loaded at each start that is not called.
$(B)/lh-policy: $(cmd_obj)
$(B)/lh-supervise: $(B)/supervisor/main.o
$(B)/lh-ps: $(call obj,tools/plain.c tools/ps/*.c)
$(B)/lh-doctor: $(call obj,tools/plain.c tools/doctor/*.c)
$(fault): $(B)/supervisor/main.o $(B)/tests/fault/step.o
$(filter-out %-policy,$(programs)) $(fault): $(sup_lib)
$(programs) $(fault): $(lib)
	$(call say,LD,$@)
	$(Q)$(LD_ALL) -Wl,--as-needed -o $@ $^ $(lib) $(PKG_LIBS) -lz -lpthread

# --- tests
# The harness lives in the kernel's source package only. It is unpacked here.
$(harness): tools/vm/fetch-kselftest | $(NEED)
	$(call say,FETCH,$@)
	$(Q)tools/vm/fetch-kselftest $(@D)

# Its fixtures are global functions that nothing declares.
$(addsuffix .o,$(unit) $(lsm)): | $(harness)
$(addsuffix .o,$(unit) $(lsm)): CPPFLAGS += -isystem $(O)/kselftest -Wno-missing-prototypes

$(filter $(B)/tests/supervisor/%,$(unit)): $(sup_lib)
$(filter %_fuzz,$(unit)): $(B)/tests/fuzz/replay.o
$(unit): %: %.o $(lib)
	$(call say,LD,$@)
	$(Q)$(LD_ALL) -o $@ $(filter %.o %.a,$^) $(lib) $(PKG_LIBS) -lz -lpthread

$(B)/tests/lsm/random_test: $(lsm_random) $(lib)
$(lsm): %: %.o $(lsm_help)
	$(call say,LD,$@)
	$(Q)$(LD_ALL) -Wl,--as-needed -o $@ $^ $(PKG_LIBS)

# Static: they start in a tenth of the time, and open nothing by themselves.
$(probe) $(cost): LDFLAGS += $(if $(filter 1,$(SAN)),,-static)
$(probe): $(probe_src:%.c=$(B)/%.o)
$(cost): $(cost).o
$(probe) $(cost):
	$(call say,LD,$@)
	$(Q)$(LD_ALL) -o $@ $^ -lpthread
tests: $(unit) $(lsm) $(probe) $(fault)
include tests/conformance/rules.mk

#: make check      all tests: check-host, then check-guest (one boot a kernel)
check: check-host check-guest
check-host: check-unit check-cli

# Unit tests run twice: as they ship, and under the sanitizers.
check-unit: $(unit) $(O)/bpf/lh.bpf.o
	$(Q)LH_BPF_OBJECT=$(O)/bpf/lh.bpf.o prove --exec '' $(unit)
	$(if $(filter 1,$(SAN)),,$(Q)$(MAKE) --no-print-directory SAN=1 $@)

check-cli: all $(fault) $(conform) $(probe) ; $(Q)B=$(B) prove -f -o $(wildcard tests/policy/*.t tests/cli/*.t)
check-guest: all tests
	$(Q)B=$(B) prove $(wildcard tests/vm/*.t)
	$(Q)B=$(B) tests/lsm/guests $(KERNELS)
#: make workloads  more programs in sessions, in guests; large packages
workloads: all tests ; $(Q)B=$(B) tests/lsm/guests --workloads $(KERNELS)

#: make run        the main job: a script under a policy, end to end
run: all $(NEED) ; $(Q)B=$(B) tests/demo/run
#: make bench      what calls cost, in instructions (SAVE=1 keeps the table)
bench: all $(cost) $(NEED) ; $(Q)B=$(B) tests/bench/run $(if $(SAVE),--save)
#: make lint       line lengths, licence lines, shellcheck, mandoc
lint: $(NEED) ; $(Q)tests/lint
#: make fuzz       each fuzzer for SECONDS=60
fuzz: all ; $(Q)O=$(O) tests/fuzz/run $(or $(SECONDS),60)
#: make soak       random trees and policies in guests, for SECONDS=600
soak: all tests ; $(Q)B=$(B) tests/lsm/soak $(or $(SECONDS),600) $(KERNELS)

#: make install    into DESTDIR/PREFIX
install: all
	install -D -t $(D)/bin $(programs)
	install -D -m 644 -t $(D)/share/lh/policies policy-compiler/policies/*.json
	install -D -m 644 -t $(D)/share/lh/schema tools/schema/*.json
	install -d $(D)/libexec/lh && cp -R tools/lh-vm tools/vm $(D)/libexec/lh
	ln -sf ../libexec/lh/lh-vm $(D)/bin/lh-vm
	for m in $(notdir $(man)); do install -D -m 644 */$$m \
		-t $(D)/share/man/man$${m##*.} || exit 1; done
#: make clean      remove build/
clean: ; rm -rf $(O)
-include $(shell find $(O) -name '*.d' 2>/dev/null)
