#!/usr/bin/env python3
"""Makes a checkpoint with random weights and records what Hugging Face transformers computes with it.

The folder holds config.json, model.safetensors, expected.safetensors (per case C: C.input_ids, C.position_ids where
positions are not 0..T-1, C.stream_i, C.last_hidden, C.last_hidden_bf16) and expected.json (lengths, and the distance
of a bf16 run to the float32 one). `scripts/check_fixtures.py FOLDER` compares branchmark with it.

Needs torch and transformers with the qwen3_5 model. Example:
  scripts/make_reference.py --preset qwen3.5-4b --layers 4 --vocabulary 4096 --out reference-4b
"""

import argparse
import json
import math
import pathlib

import torch
from safetensors.torch import save_file
from transformers.models.qwen3_5.configuration_qwen3_5 import Qwen3_5TextConfig
from transformers.models.qwen3_5.modeling_qwen3_5 import Qwen3_5TextModel

PRESETS = pathlib.Path(__file__).resolve().parent.parent / "configs" / "presets"
PREFIX = "model.language_model."
LENGTHS = [1, 2, 63, 64, 65, 200, 300]
IMAGE = (20, 5, 7)  # an image of 5 x 7 positions from row 20 on


def text_config(args):
    sizes = json.loads((PRESETS / f"{args.preset}.json").read_text())
    sizes.update(num_hidden_layers=args.layers, vocab_size=args.vocabulary, tie_word_embeddings=False)
    for change in args.set:
        key, value = change.split("=", 1)
        target = sizes["rope_parameters"] if key == "rope_theta" else sizes
        target[key] = json.loads(value)
    interval = sizes.pop("full_attention_interval")
    sizes["layer_types"] = ["full_attention" if (i + 1) % interval == 0 else "linear_attention"
                            for i in range(args.layers)]
    for key in ("name", "model_type", "attn_output_gate"):
        sizes.pop(key, None)
    return Qwen3_5TextConfig(**sizes)


@torch.no_grad()
def randomize(model, generator):
    """Weights of a scale that keeps activations of order one; all but A_log are bf16 values."""
    for name, parameter in model.named_parameters():
        normal = torch.randn(parameter.shape, generator=generator)
        uniform = torch.rand(parameter.shape, generator=generator)
        if name.endswith("A_log"):
            parameter.copy_(torch.log(0.05 + 8 * uniform))
            continue
        if name.endswith("dt_bias"):
            value = -5 + 5 * uniform
        elif name.endswith("linear_attn.norm.weight"):
            value = 1 + 0.1 * normal
        elif parameter.dim() == 1:
            value = 0.1 * normal
        elif name.startswith("embed_tokens"):
            value = normal
        elif "conv1d" in name:
            value = 0.5 * normal
        else:
            value = normal / math.sqrt(parameter.shape[1])
        parameter.copy_(value.to(torch.bfloat16))


def image_positions(tokens):
    first, height, width = IMAGE
    rows = [list(range(first)) for _ in range(3)]
    for y in range(height):
        for x in range(width):
            for row, value in zip(rows, (first, first + y, first + x)):
                row.append(value)
    after = first + max(height, width)
    for row in rows:
        row.extend(range(after, after + tokens - len(row)))
    return torch.tensor(rows)


@torch.no_grad()
def run(model, ids, positions):
    streams = []
    hooks = [layer.register_forward_pre_hook(lambda _, inputs, kwargs: streams.append(
        (inputs[0] if inputs else kwargs["hidden_states"])[0].float().cpu().clone()), with_kwargs=True)
        for layer in model.layers]
    arguments = {"input_ids": ids[None].to(model.device), "use_cache": False}
    if positions is not None:
        arguments["position_ids"] = positions[:, None].to(model.device)
    last = model(**arguments).last_hidden_state[0].float().cpu()
    for hook in hooks:
        hook.remove()
    return streams, last


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--preset", default="qwen3.5-smoke", help="whose sizes to begin with")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE",
                        help="changes one key of the configuration, VALUE as JSON")
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--vocabulary", type=int, default=4096)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--lengths", type=int, nargs="+", default=LENGTHS)
    parser.add_argument("--out", required=True, type=pathlib.Path)
    args = parser.parse_args()

    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    config = text_config(args)
    generator = torch.Generator().manual_seed(args.seed)
    model = Qwen3_5TextModel(config).float().eval()
    randomize(model, generator)
    args.out.mkdir(parents=True, exist_ok=True)
    config_json = {"model_type": "qwen3_5", "text_config": config.to_dict()}
    (args.out / "config.json").write_text(json.dumps(config_json, indent=1))
    a_logs = {name: p.detach().clone() for name, p in model.named_parameters() if name.endswith("A_log")}
    save_file({PREFIX + name: (p if name in a_logs else p.to(torch.bfloat16)).detach().contiguous()
               for name, p in model.named_parameters()}, args.out / "model.safetensors", metadata={"format": "pt"})

    cases = {f"full_{tokens}": (tokens, None) for tokens in args.lengths}
    cases["mrope_96"] = (96, image_positions(96))
    ids = {case: torch.randint(args.vocabulary, (tokens,), generator=generator) for case, (tokens, _) in cases.items()}
    model.to("cuda" if torch.cuda.is_available() else "cpu")
    tensors, reference = {}, {}
    for case, (_, positions) in cases.items():
        streams, last = reference[case] = run(model, ids[case], positions)
        tensors[f"{case}.input_ids"] = ids[case]
        if positions is not None:
            tensors[f"{case}.position_ids"] = positions
        for layer, stream in enumerate(streams):
            tensors[f"{case}.stream_{layer}"] = stream
        tensors[f"{case}.last_hidden"] = last

    model.to(torch.bfloat16)
    for name, parameter in model.named_parameters():
        if name in a_logs:
            parameter.data = a_logs[name].to(parameter.device)
    expected = {}
    for case, (tokens, positions) in cases.items():
        _, last = run(model, ids[case], positions)
        exact = reference[case][1]
        tensors[f"{case}.last_hidden_bf16"] = last
        distance = ((last - exact).double().norm() / exact.double().norm()).item()
        expected[case] = {"tokens": tokens, "hf_bf16_vs_fp32_relative_l2": distance}
        print(f"{case:12} {tokens:5} tokens, bf16 {distance:.4e} from float32")
    save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, args.out / "expected.safetensors")
    (args.out / "expected.json").write_text(json.dumps({"cases": expected}, indent=1))


if __name__ == "__main__":
    main()
