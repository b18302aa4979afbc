"""Appliers as scheduling rules: a class that says where a transaction goes, run in a child process.

``applier`` is the event-driven applier that runs a rule, ``rule`` what a rule is, ``correct`` and
``faulty`` the ones that the suite tests itself with, ``restated`` rules of third-party appliers in
our own words.
"""
