"""Words in their context: a BERT that is trained here, and sentence vectors from it and from others
of its kind.

`LessonBert` is the architecture of BERT in readable PyTorch, name for name that of
``transformers.BertModel``; `pretrain` teaches it to fill in masked words. Modules load on first
use. Taught in lessons ``08_bert_sentence_vectors`` and ``09_anisotropy``.
"""

from __future__ import annotations

import importlib

_MODULE_OF = {
    "BertSize": "lesson_bert", "ContextualEncoder": "encoder", "Film": "film",
    "LessonBert": "lesson_bert", "LessonBertForPretraining": "lesson_bert", "NAMED": "loading",
    "Pooling": "pooling", "Pretrained": "pretraining", "RECIPES": "recipes", "Recipe": "recipes",
    "TokenStates": "encoder", "TokenStream": "packing", "WordGuesser": "guessing",
    "WordPiece": "tokenizer", "character_encoder": "characters", "encode_to": "vectors_file",
    "load_bert": "saved_bert", "load_encoder": "loading", "load_film": "film",
    "load_guesser": "guessing", "named_encoder": "loading", "prepare_tokens": "packing",
    "pretrain": "pretraining", "save_bert": "saved_bert", "table_statistics": "statistics"
}

__all__ = sorted(_MODULE_OF)


def __getattr__(name: str):
    """Load a class or a function on first use."""
    if name in _MODULE_OF:
        return getattr(importlib.import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
    raise AttributeError(f"lessons_lib.contextual has no {name!r}; it has {', '.join(__all__)}")


def __dir__() -> list[str]:
    return __all__
