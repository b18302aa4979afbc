"""A module whose functions tests change."""

from functools import lru_cache


class Account:
    def __init__(self, balance):
        self.balance = balance

    def may_take(self, amount):
        return amount <= self.balance

    @property
    def is_empty(self):
        return self.balance == 0


class Savings(Account):
    def __init__(self, balance):
        super().__init__(balance)


@lru_cache
def fee(amount):
    return amount + 1


def greater(one, other):
    return one if one > other else other


def untested(amount):
    return amount + 2


def early(amount):
    return amount + 3


TAX = early(1)
