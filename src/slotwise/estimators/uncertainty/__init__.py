"""Standard errors, intervals and sensitivities of estimates."""
