"""Tests of the words everybody shares."""
