"""CIFAR-10 networks held against the votes of people on the same test images (CIFAR-10H)."""
