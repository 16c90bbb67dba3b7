"""Networks whose heat maps are held against boxes: what is trained, on what, and Grad-CAM of it."""
