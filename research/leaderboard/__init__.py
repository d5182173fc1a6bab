"""The leaderboard: the regret of every policy in every environment."""
