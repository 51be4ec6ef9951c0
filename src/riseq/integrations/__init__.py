"""riseq in the tools that people already have, one thin module each; every module needs its own extra."""
