"""The sample collection: documents, topics, judgments, and the rankers that produce its runs."""

from pathlib import Path

FOLDER = Path(__file__).parent
