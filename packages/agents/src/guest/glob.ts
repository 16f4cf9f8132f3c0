// Globs over paths: `*` and `?` within a segment, `**` over segments, `{a,b}` for alternatives.
// Time is bounded by the product of the lengths, whatever the pattern: no backtracking; and over all
// paths that one glob is held against it is counted.

import { GuestError } from './guest-error.ts'
import { WorkBudget } from './work-budget.ts'

const PATTERN_LENGTH_MAX = 512
const ALTERNATIVES_MAX = 64

/** A function that says whether a normalised path matches. */
export function compileGlob(
  pattern: unknown,
  effort = new WorkBudget(),
): (path: string) => boolean {
  if (typeof pattern !== 'string' || pattern === '' || pattern.length > PATTERN_LENGTH_MAX)
    throw new GuestError('AGENT_INPUT', `a glob is a text of 1 to ${PATTERN_LENGTH_MAX} characters`)
  const globs = expand(pattern.replace(/^\.?\/+/, '')).map(partsOf)
  return (path) => {
    const segments = path.split('/')
    return globs.some((glob) => matchSegments(glob, segments, effort))
  }
}

/** A run of stars within a name is one, a run of `**` is one. */
function partsOf(glob: string): string[] {
  const parts = glob.split('/').map((part) => (part === '**' ? part : part.replace(/\*+/g, '*')))
  return parts.filter((part, at) => part !== '**' || parts[at - 1] !== '**')
}

function expand(pattern: string): string[] {
  let done = ['']
  let at = 0
  while (at < pattern.length) {
    const close = pattern[at] === '{' ? pattern.indexOf('}', at) : -1
    const parts = close < 0 ? [pattern[at] ?? ''] : pattern.slice(at + 1, close).split(',')
    done = done.flatMap((start) => parts.map((part) => start + part))
    if (done.length > ALTERNATIVES_MAX)
      throw new GuestError('AGENT_INPUT', `a glob has at most ${ALTERNATIVES_MAX} alternatives`)
    at = close < 0 ? at + 1 : close + 1
  }
  return done
}

function matchSegments(
  glob: readonly string[],
  path: readonly string[],
  effort: WorkBudget,
): boolean {
  effort.spend(glob.length * (path.length + 1))
  // `open[n]`: the glob read so far can end before segment n of the path.
  let open = path.map((_, at) => at === 0)
  open.push(path.length === 0)
  for (const part of glob) {
    const next: boolean[] = new Array(path.length + 1).fill(false)
    for (let at = 0; at <= path.length; at += 1) {
      if (part === '**') next[at] = open[at] === true || (at > 0 && next[at - 1] === true)
      else if (at > 0 && open[at - 1] === true)
        next[at] = matchName(part, path[at - 1] ?? '', effort)
    }
    open = next
  }
  return open[path.length] === true
}

/** One star is tried at a time: the last one takes what is left over. */
function matchName(glob: string, name: string, effort: WorkBudget): boolean {
  let at = 0
  let read = 0
  let star = -1
  let resume = 0
  effort.spend(name.length)
  while (read < name.length) {
    if (at < glob.length && (glob[at] === '?' || (glob[at] === name[read] && glob[at] !== '*'))) {
      at += 1
      read += 1
    } else if (glob[at] === '*') {
      star = at
      resume = read
      at += 1
    } else if (star >= 0) {
      // What was read since the last star is read again.
      effort.spend(read - resume + 1)
      at = star + 1
      resume += 1
      read = resume
    } else return false
  }
  while (glob[at] === '*') at += 1
  return at === glob.length
}
