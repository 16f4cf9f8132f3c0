// Long regular expressions, written as what they are made of: one phrase a line. The caller gives the joined source
// to `new RegExp`, with the flags. Each part is a valid expression by itself; its own flags are not looked at.

/**
 * A part of an expression: an expression, or the source of one. A part that takes linear time only behind the others
 * is written as a source, because every expression is analysed by itself (test/layout/regexes.test.ts).
 */
export type PatternPart = RegExp | string

/** `a|b|c`: whichever of the parts is there. The first that matches counts. */
export function alternatives(parts: readonly PatternPart[]): string {
  return parts.map(sourceOf).join('|')
}

/** `(?:a|b|c)`: whichever of the parts is there, as a part of a larger expression. */
export function group(parts: readonly PatternPart[]): string {
  return `(?:${alternatives(parts)})`
}

/** `abc`: the parts, one directly behind the other. A part with alternatives of its own stands in a `group`. */
export function sequence(...parts: readonly PatternPart[]): string {
  return parts.map(sourceOf).join('')
}

function sourceOf(part: PatternPart): string {
  return typeof part === 'string' ? part : part.source
}
