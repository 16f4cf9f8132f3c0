// Cuts a text at a bound in bytes and estimated tokens, never within a character or a replaced part, and
// says where in the original the rest begins. Used by rewrite-answer.ts.

export interface Replacement {
  readonly start: number
  readonly end: number
  readonly placeholder: string
}

export interface TextRoom {
  readonly bytes: number
  readonly tokens: number
}

/** Tokens of common models: four ASCII characters, or one other, are about one. */
export function estimateTokens(text: string): number {
  let quarters = 0
  for (let at = 0; at < text.length; at++) quarters += text.charCodeAt(at) < 0x80 ? 1 : 4
  return Math.ceil(quarters / 4)
}

export interface CutText {
  readonly shown: string
  /** Where in the original text the rest begins; undefined if nothing was cut. */
  readonly restFrom: number | undefined
}

export function cutText(
  text: string,
  replacements: readonly Replacement[],
  room: TextRoom,
): CutText {
  const measure = new LengthBudget(room)
  let shown = ''
  let next = 0
  for (const { start, end, placeholder } of replacements) {
    const fits = measure.take(text, next, start)
    shown += text.slice(next, fits)
    if (fits < start) return { shown, restFrom: fits }
    if (measure.take(placeholder, 0, placeholder.length) < placeholder.length)
      return { shown, restFrom: start }
    shown += placeholder
    next = end
  }
  const fits = measure.take(text, next, text.length)
  shown += text.slice(next, fits)
  return { shown, restFrom: fits < text.length ? fits : undefined }
}

class LengthBudget {
  #bytes: number
  #quarters: number

  constructor({ bytes, tokens }: TextRoom) {
    this.#bytes = bytes
    this.#quarters = 4 * tokens
  }

  /** Returns the position up to which the text between `from` and `end` fits. */
  take(text: string, from: number, end: number): number {
    for (let at = from; at < end; ) {
      const point = text.codePointAt(at) as number
      const units = point > 0xffff ? 2 : 1
      this.#bytes -= point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x1_0000 ? 3 : 4
      this.#quarters -= point < 0x80 ? 1 : 4 * units
      if (this.#bytes < 0 || this.#quarters < 0) return at
      at += units
    }
    return end
  }
}
