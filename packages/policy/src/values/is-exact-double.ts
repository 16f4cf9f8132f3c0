// Whether a double represents a JSON number's text exactly: the shortest decimal that JavaScript
// prints for it must be numerically equal to the text. Pure; called for numbers that are not
// obviously short.

export function saysExactly(value: number, text: string): boolean {
  const written = toDecimal(text)
  const exact = toDecimal(String(value))
  return written.digits === exact.digits && (exact.digits === '' || written.power === exact.power)
}

/** `digits` times ten to the `power`, with no zero at either end of the digits; zero has none. The
 * sign is left out, as a double never changes it. */
function toDecimal(text: string): { digits: string; power: number } {
  const mark = text.search(/e/i)
  const mantissa = mark < 0 ? text : text.slice(0, mark)
  const exponent = mark < 0 ? 0 : Number(text.slice(mark + 1))
  const point = mantissa.indexOf('.')
  const fraction = point < 0 ? 0 : mantissa.length - point - 1
  const digits = mantissa.replace('-', '').replace('.', '')
  // Loops, because `/0+$/` is quadratic on zeros that something follows.
  let from = 0
  while (digits[from] === '0') from++
  let to = digits.length
  while (to > from && digits[to - 1] === '0') to--
  return { digits: digits.slice(from, to), power: exponent - fraction + digits.length - to }
}
