"""What `calibrate` found, as tables, pictures, a page, JSON and a model card."""
