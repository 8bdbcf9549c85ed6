"""The other sides of the races, a file for each program or package; plain torch is in `naive`."""
