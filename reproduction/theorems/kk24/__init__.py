"""Claims of Komisarenko & Kull (2024), one module a proposition or section."""
