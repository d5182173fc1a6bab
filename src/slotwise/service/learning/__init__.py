"""From stored counts to a learner: decay, click values and counts by period."""
