#!/usr/bin/env python3
"""Markdown tables of a loopback.jsonl: median microseconds a call, by size. usage: table.py FILE"""
import json
import sys


def size_text(size):
    for unit, shift in (("MiB", 20), ("KiB", 10)):
        if size >= 1 << shift:
            return f"{size >> shift} {unit}"
    return f"{size} B"


def main():
    documents = [json.loads(line) for line in open(sys.argv[1])]
    for ranks in sorted({d["ranks"] for d in documents}):
        chosen = [d for d in documents if d["ranks"] == ranks]
        sizes = sorted({row["size"] for d in chosen for row in d["rows"]})
        print(f"\n{ranks} rank{'s' if ranks > 1 else ''}:\n")
        print("| Atom | collective | timed | " + " | ".join(map(size_text, sizes)) + " |")
        print("|---" * (3 + len(sizes)) + "|")
        for d in chosen:
            times = {row["size"]: row["time_us"]["median"] for row in d["rows"]}
            cells = [f"{times[s]:.1f}" if s in times else "" for s in sizes]
            print(f"| {d['atom']} | {d['collective']} | {d['timed']} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
