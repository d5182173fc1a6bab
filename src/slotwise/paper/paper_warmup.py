"""`python -m slotwise.paper.paper_warmup`: compile the policies of the paper into the cache."""

from slotwise.paper.reproduction import POLICIES
from slotwise.simulation.compile_policies import warm_up

if __name__ == "__main__":
    warm_up(*POLICIES)
