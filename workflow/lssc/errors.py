"""Errors whose message alone tells a user what to do."""


class InputError(Exception):
    """Something that was given, a file or a size, cannot be used; the message says what would be right."""
