"""Thresholds that the back-ends for one GPU and for several must have in common."""

#: Largest degree of a rare column, and at most a quarter of the mean; entries.
RARE = 6

#: Mean length of lists from which they are long, and mean square of the lengths, in squares of the
#: mean, above which they are uneven: started by least degree then; entries. A power law on both
#: sides, 1e9, 1.3e8 and 3.2e7 entries: 112, 12 and 5.0 ms; by `cheap` 190, 24 and 6.6. Over GPUs it
#: leaves a twentieth of the free rows that `cheap` leaves.
LONG, UNEVEN = 8, 1.5
