"""A group whose members receive one total order at their own pace."""
