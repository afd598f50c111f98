"""Commands about the folders of runs, one file each."""
