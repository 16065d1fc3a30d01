# SPDX-License-Identifier: GPL-2.0-only
# A virtual environment with pip, a wheel from a file, all compiled, ccache.
# needs: - python3-venv
# needs: ccache ccache
# unstable: *.whl *.pyc *.exe v/bin/pip* *RECORD cc/* ccache/*
# fleeting: ccache/* ccache
# words: unstable
# expected: stat /etc/ssh
# expected: stat /etc/*shadow*
/usr/bin/python3 -m venv v
mkdir w
cat >w/one.py <<'END'
def main():
    print("one")
END
python3 - <<'END'
import zipfile
with zipfile.ZipFile("one-1-py3-none-any.whl", "w") as z:
    z.write("w/one.py", "one.py")
    z.writestr("one-1.dist-info/METADATA",
               "Metadata-Version: 2.1\nName: one\nVersion: 1\n")
    z.writestr("one-1.dist-info/WHEEL",
               "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
    z.writestr("one-1.dist-info/entry_points.txt",
               "[console_scripts]\none = one:main\n")
    z.writestr("one-1.dist-info/RECORD", "")
END
v/bin/pip install -q --no-index --disable-pip-version-check ./*.whl
v/bin/one
v/bin/python -m compileall -q w
v/bin/pip uninstall -q -y one
export CCACHE_DIR=$PWD/ccache
mkdir cc
echo 'int main(void) { return 0; }' >cc/m.c
ccache cc -c cc/m.c -o cc/m.o
ccache cc -c cc/m.c -o cc/n.o
cmp cc/m.o cc/n.o
