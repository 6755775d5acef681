#!/usr/bin/env python3
"""Checks that pages which are capabilities themselves say what they are there to say.

docs/reference/coverage.md counts the stated limits and the guidance as shown because of these words.
"""

from common import Report, arguments, main, read

# Of each page, what has to stand in it; white space is of no matter. A heading begins with #.
PROMISED = {
    "docs/concepts/stated-limits.md": [
        "## One writer", "SQLite lets one transaction write at a time",
        "## Latency", "the sweep finds it within a second",
        "## A local disk that keeps its word", "**persistent, local** disk",
        "## Retention: the inbox forgets", "at least 48 hours",
        "## Keep cached responses small", "Answer with an id or a flag",
        "## No order, unless it is asked for",
        "| polling latency within a service | the hot path | built |",
        "| no order | [order keys](order.md) | built |",
    ],
    "docs/operating/guidance.md": [
        "**`outbox.poll_interval`: 5 to 30 s is enough**",
        "**`outbox.batch_size`: 100 to 500 for many small messages**",
        "**Watch the queues**",
        "**Leave dead letters on**",
        "Four of these are what Posthorn does unless it is told otherwise",
        "**Send in the transaction of the change.**",
        "**Limit the retries.**",
        "**Use exponential pauses with jitter**",
        "**Leave `store.cleanup` on.**",
    ],
}


def squeezed(text):
    return " ".join(text.split())


def check():
    root = arguments(__doc__.splitlines()[0]).parse_args().root
    report = Report()
    for page, promised in PROMISED.items():
        file = root / page
        text = squeezed(read(file)) if file.is_file() else ""
        lines = {squeezed(line) for line in read(file).splitlines()} if file.is_file() else set()
        for words in promised:
            if not (words in lines if words.startswith("#") else squeezed(words) in text):
                report.add(page, 1, f"it no longer says: {words}",
                           "say it again, or take it out of the coverage and of this check")
    return report.finish(f"{len(PROMISED)} pages say what they are there to say")


if __name__ == "__main__":
    main(check)
