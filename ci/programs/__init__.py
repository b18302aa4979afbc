"""Third-party appliers, unmodified, under load: ``python -m ci.programs``.

A program copies changes between real servers while clients write and, if asked, while its target
is killed. ``paraply verify`` then judges the logs of both servers. docs/programs.md has the
results.
"""
