"""Tests of judges and of segmentations: raw files with right answers, and scores against these."""
