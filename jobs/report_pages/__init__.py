"""The parts of jobs/report.py: files (reading), distances and series (the numbers that are drawn), figures, words, page."""
