// Exit codes of commands. 0 is yes, 1 is no (denied, invalid, not found); a command that could not
// run throws instead.

export type SetExitCode = (code: 0 | 1) => void
