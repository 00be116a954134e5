"""Dialogs of the window, one module each. Their base class and the interface of their host are in dialog_base.py."""
