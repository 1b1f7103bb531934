"""Commands of `sbench` that have a file each. They import what they need when they run."""
