// Whether a JSON text has many values for its length: an image in base64 has megabytes and few
// values, and is cheap to parse; a list of ten thousand numbers is not. Pure; checked before a long
// result of a server is parsed, which otherwise passes as text.

/** More commas and colons than `marksMax`, including those in strings. */
export function isDense(text: string, marksMax: number): boolean {
  if (text.length <= marksMax) return false
  let marks = 0
  for (const mark of [',', ':'])
    for (let at = text.indexOf(mark); at >= 0; at = text.indexOf(mark, at + 1))
      if (++marks > marksMax) return true
  return false
}
