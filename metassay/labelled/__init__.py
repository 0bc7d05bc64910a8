"""Tests of judges and of segmentations: items whose right answers are known."""
