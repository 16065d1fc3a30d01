# SPDX-License-Identifier: GPL-2.0-only
# Chromium without a window, in the sandbox that it makes of namespaces, another
# root directory and a filter: a page with a script, from a server beside it.
# needs: chromium chromium
# policies: chromium
# unstable: port
# fleeting: config config/* cache cache/* profile profile/*
# It asks names and the time of servers beyond, udev for devices, and whose
# machine this is; and watches the directories above what is not there.
# expected: connect *
# expected: socket *
# expected: watch /
# expected: open /sys/devices/virtual/dmi/id/*
mkdir site
cat >site/index.html <<'END'
<html><body><p>made by <script src="f.js"></script></p></body></html>
END
echo 'document.write("a script");' >site/f.js
cat >serve.py <<'END'
import functools
import http.server
import os

s = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(
    http.server.SimpleHTTPRequestHandler, directory="site"))
with open("new", "w") as f:
    f.write(str(s.server_port))
os.rename("new", "port")
s.serve_forever()
END
#--
export XDG_CONFIG_HOME=$PWD/config XDG_CACHE_HOME=$PWD/cache
python3 serve.py 2>/dev/null &
trap 'kill %1' EXIT
for _ in $(seq 600); do
	[ ! -e port ] || break
	sleep 0.1
done
timeout 900 chromium --headless --disable-gpu --user-data-dir="$PWD/profile" \
	--dump-dom "http://127.0.0.1:$(cat port)/" >dom 2>log ||
	{ status=$?; grep -v dbus log; exit $status; }
cat dom
grep -q 'made by .*</script>a script' dom
rm -f dom log
