"""What can be reproduced: a file for each command, and one for tables 1 and 2."""
