# SPDX-License-Identifier: GPL-2.0-only
conform := $(B)/tests/conformance/conform
tests: $(conform)
$(conform): $(conform).o $(lsm_help)
	$(call say,LD,$@)
	$(Q)$(LD_ALL) -Wl,--as-needed -o $@ $^ $(PKG_LIBS)
