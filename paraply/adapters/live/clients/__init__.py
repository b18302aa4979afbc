"""Client transactions on live servers, recorded as Jepsen records them."""
