"""How a test of a reader ends, if not well."""


class Red(Exception):
    """The reader does not hold what was kept."""


class Compacted(Red):
    """An agent that resumes a session compacts it before it answers, or asks its model more than once."""


class TooSmall(Exception):
    """The program refuses a cut that cannot be made: what is always kept exceeds the budget, nothing would be left, or what it
    would divide stays whole (a row with answers to train on, a transcript under a name)."""


def only(requests):
    """The one request with which an agent answers a prompt."""
    if len(requests) != 1:
        raise Compacted(f"{len(requests)} requests to answer one prompt")
    return requests[0]


def one_line(error, length):
    """The message of an error on one line, shortened."""
    return " ".join(str(error).split())[:length]
