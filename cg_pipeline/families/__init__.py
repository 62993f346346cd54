"""What several benchmarks of one source share; a benchmark's own file never leans on another's."""
