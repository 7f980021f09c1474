"""Adapters of the ports. Vendors' SDKs are imported here and nowhere else, and only when they are used."""
