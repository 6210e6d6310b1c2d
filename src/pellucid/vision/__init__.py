"""Images: networks by their published configuration, augmentation that keeps the label, transfer."""
