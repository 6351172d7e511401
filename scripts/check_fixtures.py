#!/usr/bin/env python3
"""Compares branchmark with the recorded outputs of checkpoints and adapters, by `branchmark parity`.

    scripts/check_fixtures.py tests/data/qwen3_5-mini       one checkpoint
    scripts/check_fixtures.py FOLDER                        every checkpoint and adapter in a folder

A checkpoint folder holds config.json, model.safetensors, expected.safetensors and expected.json, as
scripts/make_reference.py writes them. Each entry point runs on it with each of its GEMM handles. An adapter folder
holds adapter_config.json, adapter_model.safetensors and expected.safetensors; it is named NAME-lora and stands
beside the checkpoint NAME. It runs unmerged by forward, and merged by each entry point.

Bounds, as relative L2 over all rows after the final norm. A checkpoint: 1e-5 with numerics `reference`; with
`default`, 1.25 times the distance of the recorded bf16 run, and 2 times for cases under 16 tokens, which are
ill-conditioned. An adapter: 1e-5 unmerged with `reference`, 0.035 with `default`.

Exit code 0 where every case of every run held its bound, else 1.
"""

import argparse
import dataclasses
import json
import math
import pathlib
import struct
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
REFERENCE_BOUND = 1e-5
LONG_CASE_TOKENS = 16
LONG_CASE_FACTOR = 1.25
SHORT_CASE_FACTOR = 2.0
ADAPTER_BOUND = 0.035
ADAPTER_SUFFIX = "-lora"

# entry point, GEMM handle (None: the entry has its own)
SHARING = (
    ("forward_fixed", "fixed"),
    ("forward_fixed", "class"),
    ("forward_shared", "fixed"),
    ("forward_shared", "class"),
)


@dataclasses.dataclass(frozen=True)
class Run:
    model: dict  # as in a scenario, without its source
    entry: str
    gemm: str | None = None

    @property
    def numerics(self):
        return self.model["numerics"]

    @property
    def profile(self):
        adapter = {True: ", merged", False: ", unmerged", None: ""}[self.model.get("merge")]
        gdn = ", gdn fp32" if self.model.get("gdn") == "fp32" else ""
        return self.numerics + gdn + adapter


class Checkpoint:
    def __init__(self, folder):
        self.folder = folder

    @staticmethod
    def is_at(folder):
        return (folder / "config.json").is_file() and (folder / "expected.json").is_file()

    def source(self):
        return {"checkpoint": str(self.folder)}

    def runs(self):
        default = {"numerics": "default"}
        return [Run({"numerics": "reference"}, "forward"), Run(default, "forward"),
                *(Run(default, *sharing) for sharing in SHARING)]

    def bounds(self, numerics):
        cases = json.loads((self.folder / "expected.json").read_text())["cases"]
        if numerics == "reference":
            return {name: REFERENCE_BOUND for name in cases}
        return {
            name: case["hf_bf16_vs_fp32_relative_l2"]
            * (LONG_CASE_FACTOR if case["tokens"] >= LONG_CASE_TOKENS else SHORT_CASE_FACTOR)
            for name, case in cases.items()
        }


class Adapter:
    def __init__(self, folder):
        self.folder = folder
        self.checkpoint = folder.with_name(folder.name.removesuffix(ADAPTER_SUFFIX))
        if self.checkpoint == folder or not self.checkpoint.is_dir():
            sys.exit(f"{folder}: found no checkpoint beside this adapter; NAME{ADAPTER_SUFFIX} belongs to NAME")

    @staticmethod
    def is_at(folder):
        return (folder / "adapter_config.json").is_file() and (folder / "expected.safetensors").is_file()

    def source(self):
        return {"checkpoint": str(self.checkpoint), "adapter": str(self.folder)}

    def runs(self):
        merged = {"numerics": "default", "merge": True}
        return [Run({"numerics": "reference", "merge": False}, "forward"),
                Run({"numerics": "default", "merge": False}, "forward"),
                Run({"numerics": "default", "gdn": "fp32", "merge": False}, "forward"),
                Run(merged, "forward"), *(Run(merged, *sharing) for sharing in SHARING)]

    def bounds(self, numerics):
        bound = REFERENCE_BOUND if numerics == "reference" else ADAPTER_BOUND
        with open(self.folder / "expected.safetensors", "rb") as file:
            names = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        ending = ".input_ids"
        return {name.removesuffix(ending): bound for name in names if name.endswith(ending)}


def fixture_at(folder):
    return next((kind(folder.resolve()) for kind in (Checkpoint, Adapter) if kind.is_at(folder)), None)


def find_fixtures(folders):
    found = []
    for folder in folders:
        if not folder.is_dir():
            sys.exit(f"{folder}: no such folder")
        one = fixture_at(folder)
        inside = [one] if one else list(filter(None, map(fixture_at, sorted(folder.iterdir()))))
        if not inside:
            sys.exit(f"{folder}: found no recorded checkpoint or adapter, here or one folder down")
        found += inside
    return found


def scenario_of(fixture, name, run):
    return {
        "schema_version": "1.0",
        "name": name,
        "model": {**fixture.source(), **run.model},
        "reference": {
            "file": str(fixture.folder / "expected.safetensors"),
            "max_relative_l2": fixture.bounds(run.numerics),
        },
        "parity": {"left": {"entry": run.entry, **({"gemm": run.gemm} if run.gemm else {})}},
    }


def run_parity(arguments, fixture, run, out):
    """One run: its exit code, its report's cases and the lines that it said."""
    words = run.profile.replace(",", "").split()
    name = "-".join(filter(None, ("parity", fixture.folder.name, *words, run.entry, run.gemm)))
    scenario = out / f"{name}.scenario.json"
    scenario.write_text(json.dumps(scenario_of(fixture, name, run), indent=2))
    report = out / f"{name}.json"
    command = [arguments.branchmark, "parity", scenario, "--device", arguments.device, "--report", report]
    done = subprocess.run([*map(str, command), "--force", "--quiet"], stderr=subprocess.PIPE, text=True)
    try:
        cases = json.loads(report.read_text())["cases"]
    except (OSError, ValueError, KeyError):
        cases = []
    return done.returncode, cases, done.stderr.splitlines()


def judge(fixture, numerics, code, cases):
    """The case nearest to its bound, as (case, distance, bound), and the faults."""
    faults = [] if code == 0 else [f"branchmark ended with exit code {code}"]
    expected = set(fixture.bounds(numerics))
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

    runs = failed = 0
    fixtures = find_fixtures(arguments.folders)
    print(f"{'fixture':<20} {'profile':<27} {'entry':<15} {'gemm':<6} {'cases':>5}  "
          f"{'nearest to its bound':<20} {'distance':>10} {'bound':>10}  result")
    with tempfile.TemporaryDirectory() as scratch:
        out = arguments.out or pathlib.Path(scratch)
        out.mkdir(parents=True, exist_ok=True)
        for fixture in fixtures:
            for run in fixture.runs():
                code, cases, said = run_parity(arguments, fixture, run, out)
                nearest, faults = judge(fixture, run.numerics, code, cases)
                name, distance, bound = nearest or ("-", math.nan, math.nan)
                print(f"{fixture.folder.name:<20} {run.profile:<27} {run.entry:<15} {run.gemm or '-':<6} "
                      f"{len(cases):>5}  {name:<20} {distance:>10.3e} {bound:>10.3e}  "
                      f"{'FAILED' if faults else 'held'}", flush=True)
                runs += 1
                if faults:
                    failed += 1
                    print(*(f"  {fault}" for fault in faults), *(f"  | {line}" for line in said), sep="\n")
    print(f"{runs} parity runs over {len(fixtures)} fixtures, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
