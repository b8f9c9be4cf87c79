"""What each part needs and costs, and its settings: known before the part is loaded."""
