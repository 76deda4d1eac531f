"""What everything stands on: errors, arrays and where they live, checks of index arrays."""
