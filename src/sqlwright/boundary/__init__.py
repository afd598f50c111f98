"""What comes from outside, checked where it enters, and the folder for what is kept."""
