"""How many requests that can't be answered are refused, and how many that can.

    python benchmarks/refusal.py

Unanswerable: `benchmarks/unanswerable.toml`, about the demo business. Answerable: the demo's thirty
questions. Prints both counts with intervals, and every request that went the wrong way.
"""

import tempfile
import tomllib
from collections import Counter
from pathlib import Path

import sqlwright
from sqlwright.demo.business import write_business
from sqlwright.demo.questions import demo_questions
from sqlwright.evaluation.intervals import Share


def main() -> None:
    requests = tomllib.loads((Path(__file__).parent / "unanswerable.toml").read_text("utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "business.sqlite"
        write_business(path)
        with sqlwright.open(path, home=folder, record=False) as business:
            wrong, by_kind, refused = [], Counter(), 0
            for request in requests["request"]:
                answer = business.ask(request["text"])
                if answer.status == "refused":
                    refused += 1
                    by_kind[request["kind"]] += 1
                else:
                    wrong.append(f"answered ({answer.confidence:.0%}): {request['text']}")
            print("unanswerable refused:", Share(refused, len(requests["request"])))
            print(
                "  by kind:",
                dict(by_kind),
                "of",
                dict(Counter(r["kind"] for r in requests["request"])),
            )
            needlessly = [q for q in demo_questions() if business.ask(q.text).status == "refused"]
            print("answerable refused:  ", Share(len(needlessly), len(demo_questions())))
            wrong += [f"refused: {question.text}" for question in needlessly]
    print("\n".join(wrong))


if __name__ == "__main__":
    main()
