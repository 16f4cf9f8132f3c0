// How a command answers beside what it prints: with its exit code. 0 is yes, 1 is no (denied,
// invalid, not found); a command that could not run throws instead.

export type SetExitCode = (code: 0 | 1) => void
