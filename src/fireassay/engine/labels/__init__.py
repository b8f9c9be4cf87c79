"""Labels given by people: the book, its tables, its records."""
