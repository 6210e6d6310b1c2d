"""Average precision: how well objects were found, by the rules of COCO and of VOC."""
