"""Where the metric, the dataset, the paper and the source are."""

HUB = "https://huggingface.co"
NAMESPACE = "<namespace>"  # publishing writes the real one here
PAPER = "https://arxiv.org/abs/2605.20490"


def links(namespace: str = NAMESPACE) -> str:
    """Return a line of Markdown; in a clone, which has no namespace, folders instead of links to the Hub.

    >>> links("somebody").split(" · ")[1]
    '[Metric](https://huggingface.co/spaces/somebody/ecuas)'
    """
    paper = f"[Paper (arXiv 2605.20490)]({PAPER})"
    if namespace.startswith("<"):
        return f"{paper} · Metric: `ecuas_metric` · Dataset: `triviaqa_subset` · Source: `space`, all in this clone"
    pages = {
        "Metric": f"spaces/{namespace}/ecuas",
        "Dataset": f"datasets/{namespace}/triviaqa-curated",
        "Source": f"spaces/{namespace}/ecuas-demo/tree/main",
    }
    return " · ".join([paper, *(f"[{name}]({HUB}/{place})" for name, place in pages.items())])
