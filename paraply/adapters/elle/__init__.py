"""Histories as Jepsen and Elle record them, in EDN or JSON, as client histories of ours."""
