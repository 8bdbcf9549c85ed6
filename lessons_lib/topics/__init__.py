"""Topic models: documents as mixtures of topics, topics as distributions over words.

`PLSA` fits the mixture by maximum likelihood, `GibbsLDA` and `OnlineLDA` put Dirichlet priors on
it; all three are a `TopicModel` with ``fit``, ``transform``, held-out ``perplexity``,
``coherence``, ``top_words`` and ``encode``. Modules load on first use. Taught in lesson
``03_topic_models``.
"""

from __future__ import annotations

import importlib

_MODULE_OF = {
    "PLSA": "plsa", "GibbsLDA": "gibbs", "OnlineLDA": "online_lda", "TopicModel": "model",
    "Hellinger": "hellinger", "Counts": "counts_input", "as_counts": "counts_input",
    "coherence_of": "coherence", "MEASURES": "coherence", "TopicMatch": "evaluate",
    "completion_perplexity": "evaluate", "log_likelihood": "evaluate", "match_topics": "evaluate",
    "split_documents": "evaluate"
}

__all__ = ["MEASURES", "PLSA", "Counts", "GibbsLDA", "Hellinger", "OnlineLDA", "TopicMatch",
           "TopicModel", "as_counts", "coherence_of", "completion_perplexity", "log_likelihood",
           "match_topics", "split_documents"]


def __getattr__(name: str):
    """Load a model or a function on first use."""
    if name in _MODULE_OF:
        return getattr(importlib.import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
    raise AttributeError(f"lessons_lib.topics has no {name!r}; it has {', '.join(__all__)}")


def __dir__() -> list[str]:
    return sorted(__all__)
