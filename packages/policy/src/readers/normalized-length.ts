// How long a text may be once it is normalised by NFKC: one character may become eighteen. Counted before a text
// is normalised, so that a budget decides and not the time. Pure.

/** In UTF-16 code units, at least a third of what it may be: characters that become two or three are few. */
export function normalizedLengthMax(text: string): number {
  let length = text.length
  if (length > COUNTED_CHARS_MAX) return length
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    if (unit < 0x3200) continue
    if (unit === PRAYER) length += 17
    // Squared words, letters in brackets; ligatures.
    else if (unit <= 0x33ff) length += 5
    else if (unit >= 0xfdf0 && unit <= 0xfdff) length += 7
  }
  return length
}

/** A longer text fits into no budget. */
const COUNTED_CHARS_MAX = 1_048_576
/** Sallallahou alayhe wasallam, the only character that becomes more than eight. */
const PRAYER = 0xfdfa
