"""What must not be lost while the library gets simpler: names, saved models, scores, closures."""
