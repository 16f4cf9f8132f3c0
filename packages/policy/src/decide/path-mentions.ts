// Whether a text names an absolute path once its `.`, `..` and empty segments are removed. Reads
// backwards from each occurrence of the path's last segment: a text without it costs one search,
// while splitting it took 140 ns a character. Pure; used by relative-paths.ts.

/** Characters that may still be read backwards for one call. */
export interface StepBudget {
  stepsLeft: number
}

const SLASH = 0x2f
const BACKSLASH = 0x5c
const DOT = 0x2e

/**
 * Whether `path` is named by its last segment at `at`, with backslashes as separators and, if the
 * text has any, as letters. An exhausted budget counts as naming it.
 */
export function namesPathAt(
  { text, hasBackslash }: SearchedText,
  at: number,
  path: string,
  budget: StepBudget,
): boolean {
  const parents = path.split('/')
  const last = parents.pop() as string
  if (!isEitherSlash(text, at - 1) || !text.startsWith(last, at)) return false
  if (isBelow({ text, isSeparator: isEitherSlash }, at - 1, parents, budget)) return true
  if (!hasBackslash || !isSlash(text, at - 1)) return false
  return isBelow({ text, isSeparator: isSlash }, at - 1, parents, budget)
}

export interface SearchedText {
  readonly text: string
  readonly hasBackslash: boolean
}

interface Reading {
  readonly text: string
  readonly isSeparator: (text: string, at: number) => boolean
}

/**
 * Whether the segments that end at the separator `end` lead through `parents`, of which the first
 * is empty. The start of the text is its root, which no climb leaves.
 */
function isBelow(
  reading: Reading,
  end: number,
  parents: readonly string[],
  budget: StepBudget,
): boolean {
  const { text, isSeparator } = reading
  let climbs = 0
  let at = end
  for (let left = parents.length - 1; left > 0; ) {
    const dots = dotsBefore(reading, at)
    if (dots !== undefined) {
      if (dots === 2) climbs++
      at -= dots + 1
      budget.stepsLeft--
    } else if (climbs > 0) {
      climbs--
      const before = at
      do at--
      while (at >= 0 && !isSeparator(text, at))
      budget.stepsLeft -= before - at
    } else {
      const parent = parents[left--] as string
      at -= parent.length + 1
      if (!isSeparator(text, at) || !text.startsWith(parent, at + 1)) return false
    }
    // The root is reached, or too much was read.
    if (at < 0 || budget.stepsLeft < 0) return at >= 0
  }
  return true
}

/** How many dots the segment has that ends at `end`, if it is empty, `.` or `..`. */
function dotsBefore({ text, isSeparator }: Reading, end: number): 0 | 1 | 2 | undefined {
  const isEdge = (at: number) => at < 0 || isSeparator(text, at)
  if (isEdge(end - 1)) return 0
  if (text.charCodeAt(end - 1) !== DOT) return undefined
  if (isEdge(end - 2)) return 1
  return text.charCodeAt(end - 2) === DOT && isEdge(end - 3) ? 2 : undefined
}

function isSlash(text: string, at: number): boolean {
  return text.charCodeAt(at) === SLASH
}

function isEitherSlash(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  return code === SLASH || code === BACKSLASH
}
