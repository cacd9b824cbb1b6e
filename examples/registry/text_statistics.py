import re
from collections import Counter

WORDS_PER_MINUTE = 230


def main(given: dict) -> dict:
    text, top = given["text"], given.get("top", 5)
    words = re.findall(r"[^\W\d_]+(?:['’-][^\W\d_]+)*", text)
    sentences = [part for part in re.split(r"[.!?]+(?:\s|$)", text) if part.strip()]
    counted = Counter(word.lower() for word in words if len(word) > 3)
    return {
        "characters": len(text),
        "words": len(words),
        "sentences": len(sentences),
        "minutes": round(len(words) / WORDS_PER_MINUTE, 1),
        "frequent": [word for word, _ in counted.most_common(top)],
    }
