"""Where a search that waits for labels is kept in its folder."""

STATE_FILE = "search.npz"
