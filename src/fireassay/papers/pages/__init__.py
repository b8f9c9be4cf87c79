"""The page of the five papers, one file per paper: rows, claims and what to believe now."""
