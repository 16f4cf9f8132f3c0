// A known value in another text: as it is, in base64 (whatever stands before it in the same run), in hex
// and percent-encoded. For values that must not come back, and for planted ones. A value that was turned
// around or encrypted is not found. Pure.
/** Texts that give the value away, the value itself first. */
export function formsOf(value) {
  const bytes = utf8Bytes(value)
  const hex = bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('')
  const percent = bytes.map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')
  const base64 = [0, 1, 2].map((before) => base64Core(bytes, before))
  const urlSafe = base64.map((text) => text.replaceAll('+', '-').replaceAll('/', '_'))
  return [
    ...new Set([
      value,
      encodeURIComponent(toWellFormed(value)),
      ...[hex, hex.toUpperCase(), percent, percent.toUpperCase()],
      ...base64,
      ...urlSafe,
    ]),
  ]
}
/** Where one of the forms stands, in the order of the text and without overlaps. */
export function findForms(text, forms) {
  const found = []
  for (const form of forms)
    for (let at = text.indexOf(form); at >= 0; at = text.indexOf(form, at + form.length))
      found.push({ start: at, end: at + form.length })
  if (found.length < 2) return found
  const kept = []
  for (const each of found.sort((one, other) => one.start - other.start))
    if (each.start >= (kept.at(-1)?.end ?? 0)) kept.push(each)
  return kept
}
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
/** The letters of base64 that depend on the value alone, if so many bytes stand before it. */
function base64Core(bytes, before) {
  const all = [...Array.from({ length: before }, () => 0), ...bytes]
  let text = ''
  const bitAt = (bit) => (all[bit >> 3] >> (7 - (bit & 7))) & 1
  const first = Math.ceil((8 * before) / 6)
  const last = Math.floor((8 * all.length) / 6)
  for (let letter = first; letter < last; letter++) {
    let value = 0
    for (let bit = 0; bit < 6; bit++) value = (value << 1) | bitAt(6 * letter + bit)
    text += ALPHABET[value]
  }
  return text
}
function utf8Bytes(value) {
  return [...encodeURIComponent(toWellFormed(value)).matchAll(/%([0-9A-F]{2})|(.)/g)].map(
    ([, hex, letter]) => (hex === undefined ? letter.charCodeAt(0) : Number.parseInt(hex, 16)),
  )
}
/** Half characters have no bytes. */
function toWellFormed(value) {
  return value.replace(
    /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g,
    '?',
  )
}
