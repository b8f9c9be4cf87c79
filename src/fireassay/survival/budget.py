"""What an attack may spend on a sample, and what its gradients count."""

BUDGET = 300  # forward-equivalent queries per sample and attack
GRADIENT_COST = 2.0  # a backward pass does about twice the work of a forward one
