"""Small torch networks that several questions need. Importing one imports torch."""
