"""The files of riseq's large model, in the folder ``large``; ``riseq.Simplifier.load("large")`` finds them."""
