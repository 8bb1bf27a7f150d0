"""Rankfield beside other libraries, one module each. All are optional, and imported when used."""
