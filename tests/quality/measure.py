#!/usr/bin/env python3
"""Compares the built-in summarizer with sumy's by ROUGE; see README.md beside this file."""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

from numpy.linalg import LinAlgError
from rouge_score import rouge_scorer
from sumy.models.dom import ObjectDocumentModel, Paragraph, Sentence
from sumy.nlp.stemmers import Stemmer
from sumy.summarizers.kl import KLSummarizer
from sumy.summarizers.lex_rank import LexRankSummarizer
from sumy.summarizers.lsa import LsaSummarizer
from sumy.summarizers.luhn import LuhnSummarizer
from sumy.summarizers.sum_basic import SumBasicSummarizer
from sumy.summarizers.text_rank import TextRankSummarizer

SUMY = {
    "sumy LexRank": LexRankSummarizer,
    "sumy Luhn": LuhnSummarizer,
    "sumy TextRank": TextRankSummarizer,
    "sumy LSA": LsaSummarizer,
    "sumy SumBasic": SumBasicSummarizer,
    "sumy KL": KLSummarizer,
}

# sumy's own lists come with NLTK's data, which pip does not install.
STOP_WORDS = frozenset(
    "a about all also am an and any are as at be because been but by can could did do does for from get go had has "
    "have he her here him his how i if in into is it its just like me more my no not now of on one or our out she so "
    "some than that the their them then there these they this those to up us was we were what when where which who "
    "will with would yeah you your".split()
)


class Words:
    """A tokenizer for sumy that needs no NLTK data."""

    language = "english"

    @staticmethod
    def to_sentences(text):
        return [part for part in re.split(r"(?<=[.!?])\s+|\n+", text) if re.search(r"\w", part)]

    @staticmethod
    def to_words(text):
        return re.findall(r"[^\W_]+(?:'[a-z]+)?", text)


def records(paths):
    for path in paths:
        with open(path, encoding="utf-8") as lines:
            for line in filter(str.strip, lines):
                record = json.loads(line)
                if "meeting_transcripts" in record:
                    turns = [(turn["speaker"], turn["content"]) for turn in record["meeting_transcripts"]]
                    yield turns, record["general_query_list"][0]["answer"]
                else:
                    yield [(turn["speaker"], turn["text"]) for turn in record["turns"]], record["summary"]


def length(text):
    return len(text.split())


def curtail(binary, turns, words):
    """The longest summary of at most `words` words: budgets are tokens, so a few are tried."""
    first = turns[0][0]
    messages = [{"role": "user" if who == first else "assistant", "content": said} for who, said in turns]
    # An empty message in front: a summary is made when one more has come than the window holds, without the first.
    lines = [json.dumps({"role": "user", "content": "."})] + [json.dumps(message) for message in messages]
    spoken = sum(1 for message in messages if message["content"].strip())
    best, low, high = "", words // 2, words * 4
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl", delete=False, encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    try:
        while low <= high:
            tokens = (low + high) // 2
            text = plain(summary(binary, file.name, spoken, tokens))
            if length(text) <= words:
                best, low = text if length(text) >= length(best) else best, tokens + max(1, tokens // 50)
            else:
                high = tokens - max(1, tokens // 50)
    finally:
        os.unlink(file.name)
    return best


def summary(binary, path, window, tokens):
    command = [binary, "summarize", "--emit", "state", "--window", str(window), "--summary-tokens", str(tokens), path]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr)
    summaries = json.loads(done.stdout)["summaries"]
    return summaries[-1]["text"] if summaries else ""


def plain(text):
    return re.sub(r"(?m)^(user|assistant): ", "", text).replace("…", " ")


def sumy(make, turns, words):
    """The best sentences by sumy's own ranking, as many as fit, in their order."""
    tokenizer = Words()
    paragraphs = [Paragraph([Sentence(part, tokenizer) for part in Words.to_sentences(said)]) for _, said in turns]
    document = ObjectDocumentModel([paragraph for paragraph in paragraphs if paragraph.sentences])
    summarizer = make(Stemmer("english"))
    if hasattr(summarizer, "stop_words"):
        summarizer.stop_words = STOP_WORDS

    def ranked(sentences, _count, rating, *args, **kwargs):
        rate = (lambda sentence: rating[sentence]) if isinstance(rating, dict) else rating
        return sorted(enumerate(sentences), key=lambda pair: -rate(pair[1], *args, **kwargs))

    summarizer._get_best_sentences = ranked
    chosen, spent = [], 0
    try:
        best = summarizer(document, len(document.sentences))
    except LinAlgError as error:
        # LSA finds no decomposition of some long dialogues.
        print(f"{make.__name__}: {error}", file=sys.stderr)
        return ""
    for place, sentence in best:
        if spent + length(str(sentence)) <= words:
            chosen.append((place, str(sentence)))
            spent += length(str(sentence))
    return " ".join(text for _, text in sorted(chosen))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("paths", nargs="+", help="dialogues with summaries, a JSON object a line")
    parser.add_argument("--curtail", default="curtail", help="the binary")
    parser.add_argument("--words", type=int, help="words of every summary")
    parser.add_argument("--share", type=float, default=0.25, help="or this share of the dialogue's words")
    parser.add_argument("--limit", type=int, help="only so many dialogues")
    options = parser.parse_args()

    scorer = rouge_scorer.RougeScorer(["rouge1", "rouge2"], use_stemmer=True)
    scores, lengths = {}, {}
    for number, (turns, reference) in enumerate(records(options.paths)):
        if options.limit is not None and number >= options.limit:
            break
        whole = " ".join(said for _, said in turns)
        words = options.words or max(10, round(length(whole) * options.share))
        made = {"curtail": curtail(options.curtail, turns, words), "beginning": " ".join(whole.split()[:words])}
        made.update((name, sumy(make, turns, words)) for name, make in SUMY.items())
        for name, text in made.items():
            score = scorer.score(reference, text)
            scores.setdefault(name, []).append((score["rouge1"].fmeasure, score["rouge2"].fmeasure))
            lengths.setdefault(name, []).append(length(text))
    print(f"{'':16}{'R1':>7}{'R2':>7}{'words':>8}")
    for name, pairs in sorted(scores.items(), key=lambda item: -statistics.mean(pair[0] for pair in item[1])):
        one, two = (100 * statistics.mean(pair[k] for pair in pairs) for k in (0, 1))
        print(f"{name:16}{one:7.2f}{two:7.2f}{statistics.mean(lengths[name]):8.1f}")


if __name__ == "__main__":
    main()
