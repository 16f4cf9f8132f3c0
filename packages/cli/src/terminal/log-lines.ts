// The log of a gate on stderr: one line per event, as text or, for log collectors, as JSON. Text
// from a server or client is shown with its control characters made visible; arguments and
// responses of calls are never in it.

import type { Log } from '@sluice/gateway/shared/log'
import { printable } from './output.ts'

export const LOG_FORMATS = ['text', 'json'] as const
export type LogFormat = (typeof LOG_FORMATS)[number]

/** `hasTime`: lines of text begin with the time, for a file; a terminal and a service need none. */
export function makeLog(
  format: LogFormat,
  write: (line: string) => void,
  { hasTime = false } = {},
): Log {
  return format === 'json' ? jsonLog(write) : textLog(write, hasTime)
}

/** Time if wanted, level, text, then what belongs to it. */
function textLog(write: (line: string) => void, hasTime: boolean): Log {
  return (level, message, fields = {}) => {
    const parts = Object.entries(fields).flatMap(([name, value]) =>
      value === '' ? [] : [`${name}=${printable(String(value))}`],
    )
    const time = hasTime ? [new Date().toISOString()] : []
    write(`${[...time, level.padEnd(5), printable(message), ...parts].join(' ')}\n`)
  }
}

/** `time`, `level` and `msg` first; a field of the same name is left out. */
function jsonLog(write: (line: string) => void): Log {
  return (level, message, fields = {}) => {
    const own = { time: new Date().toISOString(), level, msg: printable(message) }
    const others = Object.entries(fields).filter(([name]) => !Object.hasOwn(own, name))
    write(`${JSON.stringify({ ...own, ...Object.fromEntries(others) })}\n`)
  }
}
