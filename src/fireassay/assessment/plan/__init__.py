"""What a run will cost: queries, labels, seconds, memory, disk; and the power of its rows."""
