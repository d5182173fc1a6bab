"""The experiments and claims of Grant and Leslie, reproduced (`slotwise paper`)."""
