# SPDX-License-Identifier: GPL-2.0-only
conform := $(B)/tests/conformance/conform
tests: $(conform)
$(conform): $(call obj,tests/conformance/*.c) $(lsm_help)
	$(call say,LD,$@)
	$(Q)$(LD_ALL) -Wl,--as-needed -o $@ $^ $(PKG_LIBS)
# Of what refuses, the engine alone.
bare := $(B)/tests/bare/lh-supervise
tests: $(bare)
$(bare): LDFLAGS += -Wl,--wrap=identity_become,--wrap=listener_make
$(bare): $(B)/supervisor/main.o $(B)/tests/bare/bare.o $(sup_lib) $(lib)
	$(call say,LD,$@)
	$(Q)$(LD_ALL) -Wl,--as-needed -o $@ $^ $(PKG_LIBS) -lz -lpthread
