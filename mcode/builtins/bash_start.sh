# bash reads this before the text of a Bash call (as BASH_ENV), so that the text itself stays as it was approved.
# It reports the directory in which the shell ends, or an empty line where that is gone; nothing of it is left in
# the environment of the command.
trap -- "{ builtin pwd -P || builtin echo; } 2>/dev/null >&$MCODE_DIRECTORY_REPORT || :" EXIT
unset BASH_ENV MCODE_BASH_START MCODE_DIRECTORY_REPORT
