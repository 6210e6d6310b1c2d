"""Networks that detect: backbones, proposals, heads and losses that plug together."""
