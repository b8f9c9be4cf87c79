"""The run itself: parts one after the other, kept, resumed, judged."""
