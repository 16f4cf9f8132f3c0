// Paths inside an agent: one spelling for each file, and none outside of its root. Names that merely
// look dangerous (`v1..v2.txt`, `/src/fetch.ts`) are fine; only segments mean something.

import { GuestError } from './guest-error.ts'
import { wellFormed } from './text.ts'

const PATH_LENGTH_MAX = 1_024
const SEGMENTS_MAX = 100

/** `./a//b/../c.txt` is `a/c.txt`; a path that leaves the root is refused. */
export function normalisePath(path: unknown): string {
  if (typeof path !== 'string' || path === '')
    throw new GuestError('AGENT_PATH', `a path is a text, not ${JSON.stringify(path) ?? 'nothing'}`)
  if (path.length > PATH_LENGTH_MAX)
    throw new GuestError('AGENT_PATH', `a path has at most ${PATH_LENGTH_MAX} characters`)
  if (path.includes('\0') || wellFormed(path) !== path)
    throw new GuestError('AGENT_PATH', 'a path has no NUL and no half characters')
  const kept: string[] = []
  const segments = path.split('/')
  if (segments.length > SEGMENTS_MAX)
    throw new GuestError('AGENT_PATH', `a path has at most ${SEGMENTS_MAX} parts`)
  for (const segment of segments) {
    if (segment === '' || segment === '.') continue
    if (segment !== '..') kept.push(segment)
    else if (kept.pop() === undefined)
      throw new GuestError('AGENT_PATH', `\`${path}\` leaves the agent's files`)
  }
  if (kept.length === 0 || path.endsWith('/'))
    throw new GuestError('AGENT_PATH', `\`${path}\` names a folder, not a file`)
  return kept.join('/')
}
