#!/usr/bin/env python3
"""Compares branchmark with the recorded outputs of checkpoints, by `branchmark parity`.

    scripts/check_fixtures.py tests/data/qwen3_5-mini       one checkpoint
    scripts/check_fixtures.py FOLDER                        every checkpoint in a folder

A checkpoint folder holds config.json, model.safetensors, expected.safetensors and expected.json, as
scripts/make_reference.py writes them. Each entry point runs on it with each of its GEMM handles. Bounds, as
relative L2 over all rows after the final norm: 1e-5 with numerics `reference`; with `default`, 1.25 times the
distance of the recorded bf16 run, and 2 times for cases under 16 tokens, which are ill-conditioned.

Exit code 0 where every case of every run held its bound, else 1.
"""

import argparse
import json
import math
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
REFERENCE_BOUND = 1e-5
LONG_CASE_TOKENS = 16
LONG_CASE_FACTOR = 1.25
SHORT_CASE_FACTOR = 2.0

# numerics, entry point, GEMM handle (None: the entry has its own)
RUNS = (
    ("reference", "forward", None),
    ("default", "forward", None),
    ("default", "forward_fixed", "fixed"),
    ("default", "forward_fixed", "class"),
    ("default", "forward_shared", "fixed"),
    ("default", "forward_shared", "class"),
)


def is_checkpoint(folder):
    return (folder / "config.json").is_file() and (folder / "expected.json").is_file()


def find_checkpoints(folders):
    found = []
    for folder in folders:
        if not folder.is_dir():
            sys.exit(f"{folder}: no such folder")
        inside = [folder] if is_checkpoint(folder) else sorted(filter(is_checkpoint, folder.iterdir()))
        if not inside:
            sys.exit(f"{folder}: found no checkpoint with an expected.json, here or one folder down")
        found += [each.resolve() for each in inside]
    return found


def bounds_of(checkpoint, numerics):
    cases = json.loads((checkpoint / "expected.json").read_text())["cases"]
    if numerics == "reference":
        return {name: REFERENCE_BOUND for name in cases}
    return {
        name: case["hf_bf16_vs_fp32_relative_l2"]
        * (LONG_CASE_FACTOR if case["tokens"] >= LONG_CASE_TOKENS else SHORT_CASE_FACTOR)
        for name, case in cases.items()
    }


def scenario_of(checkpoint, name, numerics, entry, gemm):
    return {
        "schema_version": "1.0",
        "name": name,
        "model": {"checkpoint": str(checkpoint), "numerics": numerics},
        "reference": {
            "file": str(checkpoint / "expected.safetensors"),
            "max_relative_l2": bounds_of(checkpoint, numerics),
        },
        "parity": {"left": {"entry": entry, **({"gemm": gemm} if gemm else {})}},
    }


def run_parity(arguments, checkpoint, run, out):
    """One run: its exit code, its report's cases and the lines that it said."""
    numerics, entry, gemm = run
    name = "-".join(filter(None, ("parity", checkpoint.name, numerics, entry, gemm)))
    scenario = out / f"{name}.scenario.json"
    scenario.write_text(json.dumps(scenario_of(checkpoint, name, numerics, entry, gemm), indent=2))
    report = out / f"{name}.json"
    command = [arguments.branchmark, "parity", scenario, "--device", arguments.device, "--report", report]
    done = subprocess.run([*map(str, command), "--force", "--quiet"], stderr=subprocess.PIPE, text=True)
    try:
        cases = json.loads(report.read_text())["cases"]
    except (OSError, ValueError, KeyError):
        cases = []
    return done.returncode, cases, done.stderr.splitlines()


def judge(checkpoint, numerics, code, cases):
    """The case nearest to its bound, as (case, distance, bound), and the faults."""
    faults = [] if code == 0 else [f"branchmark ended with exit code {code}"]
    expected = set(bounds_of(checkpoint, numerics))
    found = {case["params"]["case"] for case in cases}
    if found != expected:
        faults.append(f"cases that ran: {sorted(found)}, expected {sorted(expected)}")
    nearest = None
    for case in cases:
        distance, bound = (case["metrics"].get(name, {}).get("median") for name in ("relative_l2", "bound"))
        if distance is None or bound is None:
            faults.append(f"{case['key']}: {case['outcome']}, without a distance")
            continue
        if not distance <= bound:
            faults.append(f"{case['key']}: {distance:.3e}, the bound is {bound:.3e}")
        if nearest is None or distance / bound > nearest[1] / nearest[2]:
            nearest = (case["params"]["case"], distance, bound)
    return nearest, faults


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=pathlib.Path, metavar="FOLDER")
    parser.add_argument("--branchmark", type=pathlib.Path, default=ROOT / "build" / "bin" / "branchmark",
                        metavar="FILE", help="the binary [build/bin/branchmark]")
    parser.add_argument("--device", default="auto", help="as for `branchmark parity` [auto]")
    parser.add_argument("--out", type=pathlib.Path, metavar="DIR", help="keep scenarios and reports here")
    arguments = parser.parse_args()
    if not arguments.branchmark.is_file():
        sys.exit(f"{arguments.branchmark}: no such file; build first, or name the binary with --branchmark")

    failed = 0
    checkpoints = find_checkpoints(arguments.folders)
    print(f"{'checkpoint':<20} {'numerics':<10} {'entry':<15} {'gemm':<6} {'cases':>5}  "
          f"{'nearest to its bound':<20} {'distance':>10} {'bound':>10}  result")
    with tempfile.TemporaryDirectory() as scratch:
        out = arguments.out or pathlib.Path(scratch)
        out.mkdir(parents=True, exist_ok=True)
        for checkpoint in checkpoints:
            for run in RUNS:
                numerics, entry, gemm = run
                code, cases, said = run_parity(arguments, checkpoint, run, out)
                nearest, faults = judge(checkpoint, numerics, code, cases)
                name, distance, bound = nearest or ("-", math.nan, math.nan)
                print(f"{checkpoint.name:<20} {numerics:<10} {entry:<15} {gemm or '-':<6} {len(cases):>5}  "
                      f"{name:<20} {distance:>10.3e} {bound:>10.3e}  {'FAILED' if faults else 'held'}", flush=True)
                if faults:
                    failed += 1
                    print(*(f"  {fault}" for fault in faults), *(f"  | {line}" for line in said), sep="\n")
    print(f"{len(checkpoints) * len(RUNS)} parity runs over {len(checkpoints)} checkpoints, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
