"""What trees have learned, in words and in shares."""
