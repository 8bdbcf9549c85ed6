"""Folders by the conventions of the Hugging Face hub, out of the house and into it.

Out: a folder that ``SentenceTransformer(folder)`` loads, with a model card that holds the scores.
In: what sentence-transformers can read and we cannot (other modules, poolings, prompts) is read by
that package, and measured like every encoder. No code that comes with a model is run, and no
pickle is read. Used by ``lessons export`` and ``lessons evaluate``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from .. import __version__
from ..core import DamagedFile, check_int, existing_path, read_json, write_json, write_text
from .encoder import ContextualEncoder
from .folders import save_encoder
from .interop import check_counterpart, folder_settings, is_there, sentence_transformers
from .pooling import Pooling

__all__ = ["PackageEncoder", "load_sentence_transformer", "model_card", "needs_package",
           "write_sentence_transformer"]

USE = '''```python
from sentence_transformers import SentenceTransformer

vectors = SentenceTransformer("FOLDER").encode(["A text.", "Another text."])
```'''
RUNS_CODE = ("bin", "pt", "pth", "ckpt", "h5", "msgpack", "pkl", "pickle", "joblib")


def model_card(encoder: ContextualEncoder, scores: Mapping[str, Any], *, library: str,
               use: str) -> str:
    """The text of a model card: metadata that the hub reads, scores, how to load the model.

    Parameters
    ----------
    encoder : ContextualEncoder
    scores : mapping of str to evaluation.STSResult
        By data set.
    library, use : str
        The program that reads the model, and how.

    Returns
    -------
    str
    """
    from huggingface_hub import EvalResult, ModelCardData

    results = [EvalResult(task_type="semantic-similarity", dataset_type=name, dataset_name=name,
                          metric_type="spearman_cosine", metric_name="Spearman cosine",
                          metric_value=round(result.spearman, 4))
               for name, result in scores.items()]
    data = ModelCardData(library_name=library, pipeline_tag="sentence-similarity",
                         tags=["sentence-transformers", "sentence-similarity"],
                         model_name=encoder.name, eval_results=results or None)
    rows = [f"| {name} | {result.n_pairs:,} | {100 * result.spearman:.2f} | "
            f"{100 * result.interval[0]:.1f} to {100 * result.interval[1]:.1f} |"
            for name, result in scores.items()]
    table = "\n".join(["| pairs of sentences | pairs | Spearman x 100 | 95 % interval |",
                       "|---|---|---|---|", *rows])
    known = encoder.card or {}
    said = "".join(f"- {what}: {known[key]}\n" for what, key in
                   (("Method", "method"), ("Limits", "limits"), ("Licence", "licence"))
                   if isinstance(known.get(key), str))
    return (f"---\n{data.to_yaml()}\n---\n\n# {encoder.name}\n\nTexts to vectors of {encoder.dim} "
            f"numbers, of up to {encoder.longest} tokens. Exported by lessons_lib {__version__}."
            f"\n\n{said}\n## Scores\n\nMeasured by `lessons evaluate` before the export.\n\n{table}"
            f"\n\n## Use\n\n{use}\n")


def write_sentence_transformer(encoder: ContextualEncoder, folder: Path,
                               scores: Mapping[str, Any]) -> None:
    """Write an encoder as a folder of sentence-transformers, with a model card.

    Parameters
    ----------
    encoder : ContextualEncoder
    folder : path
        Empty.
    scores : mapping of str to evaluation.STSResult
        For the card.

    Raises
    ------
    ValueError
        A bag, a pooling or a layer that has no counterpart there.
    """
    check_counterpart(encoder.reader, Pooling(encoder.pooling, encoder.layer,
                                              encoder.special_tokens))
    if encoder.layer is not None:
        raise ValueError(f"layer={encoder.layer} is not written into a folder; use "
                         "encoder.to_sentence_transformers().save(folder)")
    save_encoder(folder, encoder, card=encoder.card or {"name": encoder.name})
    write_json(folder / "config_sentence_transformers.json",
               {"model_type": "SentenceTransformer", "prompts": {}, "default_prompt_name": None,
                "similarity_fn_name": "cosine"})
    write_text(folder / "README.md", model_card(encoder, scores, library="sentence-transformers",
                                                use=USE))


# ------------------------------------------------------------------------------ into the house


def needs_package(folder: Path) -> bool:
    """Whether a folder holds modules, a pooling or a prompt that only sentence-transformers knows.

    Raises DamagedFile.
    """
    try:
        folder_settings(folder)
    except DamagedFile:
        raise
    except ValueError:
        return True
    config = folder / "config_sentence_transformers.json"
    said = read_json(config, max_bytes=1_000_000) if is_there(config) else {}
    return isinstance(said, dict) and said.get("default_prompt_name") is not None


class PackageEncoder:
    """A ``SentenceTransformer`` with the `Encoder` contract.

    Parameters
    ----------
    model : sentence_transformers.SentenceTransformer
    name : str
    """

    def __init__(self, model: Any, name: str) -> None:
        self.model, self.name = model, name
        self.dim = len(model.encode(["a"], show_progress_bar=False)[0])

    def encode(self, texts: Iterable[str], *, batch_size: int = 256,
               progress: bool = False) -> np.ndarray:
        """Vectors of texts, as the package gives them.

        Parameters
        ----------
        texts : iterable of str
        batch_size : int >= 1, default 256
        progress : bool, default False

        Returns
        -------
        (n, dim) float32
        """
        vectors = self.model.encode(list(texts), batch_size=check_int("batch_size", batch_size),
                                    show_progress_bar=progress, convert_to_numpy=True)
        return np.asarray(vectors, dtype=np.float32).reshape(-1, self.dim)


def load_sentence_transformer(folder: Path) -> PackageEncoder:
    """An encoder out of a folder, by the package sentence-transformers.

    Parameters
    ----------
    folder : path

    Returns
    -------
    PackageEncoder

    Raises
    ------
    BackendUnavailable
        The package is not installed.
    FileNotFoundError
    ValueError
        Weights or modules that can run code.
    DamagedFile
        What the package cannot read.
    """
    folder = existing_path(folder)
    for module in _modules(folder / "modules.json"):
        if not module.startswith("sentence_transformers."):
            raise ValueError(f"{folder / 'modules.json'} names {module[:80]!r}, which is code of "
                             "its own and is not run; expected modules of sentence_transformers")
    for path in sorted(folder.rglob("*")):
        if path.suffix[1:] in RUNS_CODE and not any(path.parent.glob("*.safetensors")):
            raise ValueError(f"{path} can run code and is not read; expected safetensors. Convert "
                             "it where you trust it: SentenceTransformer(folder).save(folder)")
    package = sentence_transformers()
    try:
        model = package.SentenceTransformer(str(folder), device="cpu", local_files_only=True,
                                            trust_remote_code=False,
                                            model_kwargs={"use_safetensors": True})
        return PackageEncoder(model, folder.name)
    except Exception as error:                    # it reads files from anywhere
        first = " ".join(str(error).split())[:300]
        raise DamagedFile(f"{folder}: sentence-transformers cannot read it "
                          f"({type(error).__name__}: {first}). Get it again") from error


def _modules(path: Path) -> list[str]:
    """The types of the modules that a folder lists. Raises DamagedFile."""
    listed = read_json(path, max_bytes=1_000_000)
    try:
        return [str(module["type"]) for module in listed]
    except (TypeError, KeyError) as error:
        raise DamagedFile(f"{path} is no list of modules with a type: {error!r}") from error
