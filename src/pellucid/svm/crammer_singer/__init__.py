"""One machine for all classes (Crammer and Singer)."""
