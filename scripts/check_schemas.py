#!/usr/bin/env python3
"""Checks that the JSON Schemas of results-schema/ say what their examples say of them, and files against them.

    scripts/check_schemas.py                         the examples and the shipped scenarios
    scripts/check_schemas.py --report r.json         also a report (or --scenario, --journal, ...)

An example under valid/ must pass, one under invalid/ must fail; one under semantic/ must pass here and be
refused by the binary, which the unit tests check for everything that it reads. Needs python3-jsonschema 4.10 or
later.
"""

import argparse
import json
import pathlib
import sys
import warnings

warnings.filterwarnings("ignore", category=DeprecationWarning)
import jsonschema  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = ROOT / "results-schema"
KINDS = ("scenario", "report", "journal", "noise_floor", "comparison")
# What the binary writes and never reads has no example that only the binary would refuse.
ONLY_WRITTEN = ("comparison",)


def refuse_constant(name):
    raise ValueError(f"{name} is not JSON")


def parse(text):
    return json.loads(text, parse_constant=refuse_constant)


def load_validators():
    schemas = {kind: parse((FOLDER / f"{kind}.schema.json").read_text()) for kind in KINDS}
    store = {schema["$id"]: schema for schema in schemas.values()}
    validators = {}
    for kind, schema in schemas.items():
        jsonschema.Draft202012Validator.check_schema(schema)
        resolver = jsonschema.RefResolver(schema["$id"], schema, store=store)
        validators[kind] = jsonschema.Draft202012Validator(schema, resolver=resolver)
    return validators


def fault_in(validator, kind, file):
    """The first thing that the schema refuses in the file, or None. A journal is judged line by line."""
    try:
        text = file.read_text(encoding="utf-8")
        # Split at line feeds only: JSON strings may hold other line separators of Unicode. What follows the
        # last one was cut off.
        documents = [parse(line) for line in text.split("\n")[:-1]] if kind == "journal" else [parse(text)]
    except ValueError as error:
        return f"cannot be parsed: {error}"
    for document in documents:
        for error in validator.iter_errors(document):
            return f"at /{'/'.join(map(str, error.absolute_path))}: {error.message[:200]}"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for kind in KINDS:
        flag = f"--{kind.replace('_', '-')}"
        parser.add_argument(flag, action="append", default=[], type=pathlib.Path, metavar="FILE")
    arguments = parser.parse_args()

    validators = load_validators()
    wanted = [("scenario", file, True) for file in sorted((ROOT / "configs").glob("*.json"))]
    for kind in KINDS:
        for verdict in ("valid", "invalid") if kind in ONLY_WRITTEN else ("valid", "invalid", "semantic"):
            examples = sorted((FOLDER / "examples" / kind / verdict).glob("*.json*"))
            if not examples:
                sys.exit(f"results-schema/examples/{kind}/{verdict}: found no example, expected at least one")
            wanted += [(kind, file, verdict != "invalid") for file in examples]
        wanted += [(kind, file, True) for file in getattr(arguments, kind)]

    faults = 0
    for kind, file, passes in wanted:
        fault = fault_in(validators[kind], kind, file)
        if (fault is None) == passes:
            continue
        faults += 1
        print(f"{file}: {fault or 'passes, expected the schema to refuse it'}", file=sys.stderr)
    print(f"{len(wanted)} files checked against the schemas, {faults} faults", file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
