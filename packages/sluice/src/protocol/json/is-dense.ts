// Whether a JSON text has many values for its length: a picture in base64 has megabytes and hardly any,
// and is cheap to parse; a list of ten thousand numbers is not. Pure; asked before a long result of a
// server is parsed, which passes as text otherwise.

/** More commas and colons than `marksMax`, wherever they stand: those in strings count too. */
export function isDense(text: string, marksMax: number): boolean {
  let marks = 0
  for (const mark of [',', ':'])
    for (let at = text.indexOf(mark); at >= 0; at = text.indexOf(mark, at + 1))
      if (++marks > marksMax) return true
  return false
}
