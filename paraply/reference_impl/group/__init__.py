"""A group of members that receive one total order of messages, each at its own pace."""
