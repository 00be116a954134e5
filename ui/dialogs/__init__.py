"""The dialogs of the window, one file each; base.py says what they have in common and what they need."""
