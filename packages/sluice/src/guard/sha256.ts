// SHA-256 of a short message: this module is pure, without the library of Node. Used for the checksum of seed
// phrases only, never for anything that must be kept secret. Without allocations: a text may need 4,000.

const BLOCK_BYTES = 64
const LENGTH_BYTES = 8
const ROUNDS = 64

const schedule = new Int32Array(ROUNDS)

/** The first byte of the digest of the first `length` bytes, at most 55, which are one block. */
export function firstSha256Byte(message: Uint8Array, length: number): number {
  if (length > BLOCK_BYTES - LENGTH_BYTES - 1) throw new RangeError('longer than a block')
  fillSchedule(message, length)
  let [a, b, c, d] = [
    ROOTS[0] as number,
    ROOTS[1] as number,
    ROOTS[2] as number,
    ROOTS[3] as number,
  ]
  let [e, f, g, h] = [
    ROOTS[4] as number,
    ROOTS[5] as number,
    ROOTS[6] as number,
    ROOTS[7] as number,
  ]
  for (let at = 0; at < ROUNDS; at++) {
    const first =
      (h +
        (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) +
        ((e & f) ^ (~e & g)) +
        (ROUND_CONSTANTS[at] as number) +
        (schedule[at] as number)) |
      0
    const second = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))
    h = g
    g = f
    f = e
    e = (d + first) | 0
    d = c
    c = b
    b = a
    a = (first + second) | 0
  }
  return ((ROOTS[0] as number) + a) >>> 24
}

function fillSchedule(message: Uint8Array, length: number): void {
  schedule.fill(0, 0, 16)
  for (let at = 0; at < length; at++)
    schedule[at >> 2] =
      (schedule[at >> 2] as number) | ((message[at] as number) << (24 - 8 * (at & 3)))
  schedule[length >> 2] = (schedule[length >> 2] as number) | (0x80 << (24 - 8 * (length & 3)))
  schedule[15] = length * 8
  for (let at = 16; at < ROUNDS; at++) {
    const a = schedule[at - 15] as number
    const b = schedule[at - 2] as number
    const small = rotate(a, 7) ^ rotate(a, 18) ^ (a >>> 3)
    const large = rotate(b, 17) ^ rotate(b, 19) ^ (b >>> 10)
    schedule[at] = (schedule[at - 16] as number) + small + (schedule[at - 7] as number) + large
  }
}

function rotate(value: number, by: number): number {
  return (value >>> by) | (value << (32 - by))
}

/** The constants of the standard: 32 bits behind the point of roots of the first primes. */
const PRIMES = findPrimes(ROUNDS)
const ROOTS = Int32Array.from(PRIMES.slice(0, 8), (prime) => toFraction(Math.sqrt(prime)))
const ROUND_CONSTANTS = Int32Array.from(PRIMES, (prime) => toFraction(Math.cbrt(prime)))

function findPrimes(count: number): number[] {
  const primes: number[] = []
  for (let candidate = 2; primes.length < count; candidate++)
    if (primes.every((prime) => candidate % prime !== 0)) primes.push(candidate)
  return primes
}

function toFraction(root: number): number {
  return Math.floor((root - Math.floor(root)) * 2 ** 32) | 0
}
