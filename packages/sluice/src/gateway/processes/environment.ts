// The environment of a server's process: a short list of names that programs need to run at all, and
// what the configuration names. The gate's own secrets are in neither. Pure.

/** Set for every server, with a value of the gate's own: names whose process it is. */
export const CHILD_VARIABLE = 'SLUICE_CHILD'

const POSIX = ['PATH', 'HOME', 'LANG', 'TMPDIR', 'TERM', 'USER', 'LOGNAME', 'SHELL', 'TZ']
const WINDOWS = [
  ...['PATH', 'PATHEXT', 'SYSTEMROOT', 'SYSTEMDRIVE', 'WINDIR', 'COMSPEC', 'TEMP', 'TMP'],
  ...['USERPROFILE', 'USERNAME', 'HOMEDRIVE', 'HOMEPATH', 'APPDATA', 'LOCALAPPDATA'],
  ...['PROGRAMDATA', 'PROGRAMFILES', 'PROGRAMFILES(X86)', 'PROCESSOR_ARCHITECTURE', 'LANG'],
]

export function environmentFor(
  own: Readonly<Record<string, string | undefined>>,
  named: Readonly<Record<string, string>>,
  platform: string,
): Record<string, string> {
  const windows = platform === 'win32'
  const allowed = new Set(windows ? WINDOWS : POSIX)
  const passes = (name: string): boolean =>
    allowed.has(windows ? name.toUpperCase() : name) || /^LC_[A-Z]+$/.test(name)
  const kept: Record<string, string> = {}
  for (const [name, value] of Object.entries(own)) {
    // An exported shell function is code that a shell in the child would run.
    if (value !== undefined && passes(name) && !value.startsWith('()')) kept[name] = value
  }
  return { ...kept, ...named }
}
