"""The audit of a log whose files arrive one after the other."""
