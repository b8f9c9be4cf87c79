"""Every table, figure and claim of the five papers beside what came out here: docs/papers.md.

python studies/papers.py
"""

from pathlib import Path

from fireassay.papers.sections.page import write_page

if __name__ == "__main__":
    print(f"wrote {write_page(Path(__file__).resolve().parents[1])}")
