"""Answers to scores, and scores to a leaderboard."""
