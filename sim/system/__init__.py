"""Operating system and installation: folders, locks, atomic writes, and where the program's own files are.

Modules here import nothing else of the program, so every other package may import them.
"""
