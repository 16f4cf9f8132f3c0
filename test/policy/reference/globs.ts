// Keys and globs of the reference: matching by translation to a regular expression, "wider" by
// walking both globs as automata over the letters they contain and one that neither contains.
// Deliberately another way than a two-pointer matcher. Pure; called by evaluate.ts and generate.ts.

export function isGlob(key: string): boolean {
  return key.includes('*') || key.includes('?')
}

export function matchesKey(key: string, server: string, name: string): boolean {
  const [serverPart, namePart] = splitKey(key)
  return matchesPart(serverPart, server) && matchesPart(namePart, name)
}

export function matchesPart(part: string, text: string): boolean {
  if (!isGlob(part)) return part === text
  return new RegExp(`^${part.replace(/[^\w]/gu, letterPattern)}$`, 'su').test(text)
}

/** `a` matches everything that `b` matches, and more. */
export function isWider(a: string, b: string): boolean {
  return includesKey(a, b) && !includesKey(b, a)
}

function includesKey(a: string, b: string): boolean {
  const [serverA, nameA] = splitKey(a)
  const [serverB, nameB] = splitKey(b)
  return includesPart(serverA, serverB) && includesPart(nameA, nameB)
}

function splitKey(key: string): [string, string] {
  const slash = key.indexOf('/')
  return [key.slice(0, slash), key.slice(slash + 1)]
}

function letterPattern(letter: string): string {
  if (letter === '*') return '.*'
  if (letter === '?') return '.'
  return `\\u{${letter.codePointAt(0)?.toString(16)}}`
}

/** No word over the letters that count is matched by `narrow` and not by `wide`. */
function includesPart(wide: string, narrow: string): boolean {
  if (wide === narrow) return true
  const wideGlob = [...wide]
  const narrowGlob = [...narrow]
  if (wideGlob.length > 29 || narrowGlob.length > 29) throw new Error('glob too long for the walk')
  const letters = new Set([...wideGlob, ...narrowGlob, '\u{10ffff}'])
  letters.delete('*')
  letters.delete('?')
  const todo: [number, number][] = [[skipStars(wideGlob, 1), skipStars(narrowGlob, 1)]]
  const seen = new Set<number>()
  for (let pair = todo.pop(); pair; pair = todo.pop()) {
    const [inWide, inNarrow] = pair
    const both = inWide * 2 ** 31 + inNarrow
    if (inNarrow === 0 || seen.has(both)) continue
    seen.add(both)
    if (isAtEnd(narrowGlob, inNarrow) && !isAtEnd(wideGlob, inWide)) return false
    for (const letter of letters) {
      todo.push([step(wideGlob, inWide, letter), step(narrowGlob, inNarrow, letter)])
    }
  }
  return true
}

// A set of positions in a glob is a number: bit i says that position i is reached.

function step(glob: string[], positions: number, letter: string): number {
  let next = 0
  for (let i = 0; i < glob.length; i += 1) {
    if ((positions & (1 << i)) === 0) continue
    if (glob[i] === '*') next |= 1 << i
    else if (glob[i] === '?' || glob[i] === letter) next |= 1 << (i + 1)
  }
  return skipStars(glob, next)
}

function skipStars(glob: string[], positions: number): number {
  let all = positions
  for (let i = 0; i < glob.length; i += 1) {
    if (glob[i] === '*' && (all & (1 << i)) !== 0) all |= 1 << (i + 1)
  }
  return all
}

function isAtEnd(glob: string[], positions: number): boolean {
  return (positions & (1 << glob.length)) !== 0
}
