"""What can be reproduced: one file for each command."""
