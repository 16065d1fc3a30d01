# SPDX-License-Identifier: GPL-2.0-only
conform := $(B)/tests/conformance/conform
core := $(B)/tests/conformance/core
tests: $(conform)
$(conform): $(filter-out $(core)%,$(call obj,tests/conformance/*.c)) $(lsm_help)
	$(call say,LD,$@)
	$(Q)$(LD_ALL) -Wl,--as-needed -o $@ $^ $(PKG_LIBS)
# Of what refuses, the engine alone.
bare := $(B)/tests/bare/lh-supervise
tests: $(bare)
$(bare): LDFLAGS += -Wl,--wrap=identity_become,--wrap=listener_make
$(bare): $(B)/supervisor/main.o $(B)/tests/bare/bare.o $(sup_lib) $(lib)
	$(call say,LD,$@)
	$(Q)$(LD_ALL) -Wl,--as-needed -o $@ $^ $(PKG_LIBS) -lz -lpthread

tests: $(core)
$(core): $(core).o $(core)-symbols.o $(sup_lib) $(lib)
	$(call say,LD,$@)
	$(Q)$(LD_ALL) -Wl,--as-needed -o $@ $^ $(PKG_LIBS) -lz -lpthread

#: make core-check what the engine names, is it in the kernels that are fetched?
.PHONY: core-check
core-check: $(core) $(O)/bpf/lh.bpf.o
	$(Q)B=$(B) LH_BPF_OBJECT=$(O)/bpf/lh.bpf.o BPFTOOL=$(BPFTOOL) \
		tests/conformance/core-check

#: make conformance every promise on every kernel and variant; saves RESULTS.md
.PHONY: conformance mutation
conformance: all tests $(NEED)
	$(Q)B=$(B) tools/lh-conform --all --save tests/conformance/RESULTS.md
#: make mutation   is each of the engine's programs missed, and found too strict?
mutation: all tests $(NEED)
	$(Q)B=$(B) tests/conformance/mutate-guests $(KERNELS)

# lh-conform finds its rows, and below build/ what plays them, where it lies.
.PHONY: install-conform
install: install-conform
install-conform: all $(conform) $(probe) $(bare)
	install -D -t $(D)/libexec/lh tools/lh-conform
	install -D -m 644 -t $(D)/libexec/lh/conformance \
		tests/conformance/*.rows tests/conformance/apparmor.profile
	for f in conformance/conform lsm/probe bare/lh-supervise; do \
		install -D $(B)/tests/$$f $(D)/libexec/lh/build/tests/$$f || \
			exit 1; done
	ln -sf ../../../bin/lh-supervise $(D)/libexec/lh/build/lh-supervise
	install -d $(D)/bin && ln -sf ../libexec/lh/lh-conform $(D)/bin/lh-conform
