"""The console: runs, findings, reviews and profiles as pages, over the files that commands read and write."""
