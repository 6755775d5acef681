#!/usr/bin/env python3
"""Writes the files of a folder into a C++ source, plain and compressed: the function NAME of HEADER gives them.

    embed.py FOLDER HEADER NAME OUT.cpp
"""

import gzip
import sys
from pathlib import Path

LINE = 4000  # Bytes; compilers read a few long lines faster than many short ones.


def literal(data):
    """Octal escapes of three digits: what follows one cannot be taken for a part of it."""
    lines = [data[i:i + LINE] for i in range(0, len(data), LINE)] or [b""]
    return "\n".join('        "' + "".join(f"\\{byte:03o}" for byte in line) + '"' for line in lines)


def main():
    folder, header, name, out = Path(sys.argv[1]), sys.argv[2], sys.argv[3], Path(sys.argv[4])
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    parts = []
    for path in files:
        plain = path.read_bytes()
        packed = gzip.compress(plain, 9, mtime=0)
        parts.append(f'    served_file{{"{path.relative_to(folder).as_posix()}",\n'
                     f"        {{\n{literal(plain)}, {len(plain)}}},\n"
                     f"        {{\n{literal(packed)}, {len(packed)}}}}},\n")
    out.write_text(f'#include "{header}"\n\n#include <array>\n\nnamespace posthorn {{\nnamespace {{\n\n'
                   "constexpr std::array files{\n" + "".join(parts) + "};\n\n}  // namespace\n\n"
                   f"std::span<const served_file> {name}() noexcept {{ return files; }}\n\n"
                   "}  // namespace posthorn\n")


main()
