"""The corruptions one by one, a module a kind of Hendrycks & Dietterich (2019): images float (n, H, W, C) in [0, 1] in
and out, the out not yet clipped; a setting; a generator of random numbers, which many do not need.
"""
