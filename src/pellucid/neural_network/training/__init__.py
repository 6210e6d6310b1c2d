"""One trainer for networks of torch: what a later room for images needs too."""
