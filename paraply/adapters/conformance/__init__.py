"""Third-party appliers under test: the harness plays the source and the database.

``protocol`` is what is said, ``child`` the process that says it, ``database`` the tables it works
on, ``source`` the log it is given, ``session`` one run on one schedule, ``cases`` the suite.
"""
