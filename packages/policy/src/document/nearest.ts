// The nearest known word to a misspelt one, for "did you mean". Used by everything that reports
// problems to people.

/** The closest of `words` within a third of the word's length, or undefined. */
export function nearest(word: string, words: Iterable<string>): string | undefined {
  const lower = word.toLowerCase().replaceAll('-', '_')
  let best: string | undefined
  let bestDistance = Math.max(1, Math.floor(word.length / 3)) + 1
  for (const candidate of words) {
    if (Math.abs(candidate.length - word.length) >= bestDistance) continue
    const other = candidate.toLowerCase().replaceAll('-', '_')
    const distance = lower === other ? 0 : editDistance(lower, other)
    if (distance < bestDistance) {
      best = candidate
      bestDistance = distance
    }
  }
  return best
}

export function didYouMean(word: string, words: readonly string[], otherwise?: string): string {
  const near = nearest(word, words)
  if (near !== undefined) return `did you mean \`${near}\`?${lookAlike(word)}`
  return otherwise ?? `one of ${words.map((known) => `\`${known}\``).join(', ')}`
}

/** Names a letter that only looks like one of the keyboard's, or is not seen at all. */
function lookAlike(word: string): string {
  const letter = /[^\x20-\x7e]/u.exec(word)?.[0]
  if (letter === undefined) return ''
  const code = (letter.codePointAt(0) as number).toString(16).toUpperCase().padStart(4, '0')
  return ` (it has the letter U+${code} in it)`
}

/** Edits between two words, two swapped letters counting as one. */
function editDistance(a: string, b: string): number {
  let before: number[] = []
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const current = [i]
    for (let j = 1; j <= b.length; j++) {
      const substitution = at(previous, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1)
      let cost = Math.min(at(previous, j) + 1, at(current, j - 1) + 1, substitution)
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        cost = Math.min(cost, at(before, j - 2) + 1)
      current.push(cost)
    }
    before = previous
    previous = current
  }
  return at(previous, b.length)
}

function at(row: readonly number[], index: number): number {
  return row[index] as number
}
