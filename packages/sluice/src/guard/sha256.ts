// SHA-256 of a short message: this room is pure, without the library of Node. Used for the checksum of seed
// phrases only, never for anything that must be kept secret.

const BLOCK_BYTES = 64
const LENGTH_BYTES = 8

/** Of at most 55 bytes, which are one block. */
export function sha256OfBlock(message: Uint8Array): Uint8Array {
  if (message.length > BLOCK_BYTES - LENGTH_BYTES - 1) throw new RangeError('longer than a block')
  const block = new Uint8Array(BLOCK_BYTES)
  block.set(message)
  block[message.length] = 0x80
  const view = new DataView(block.buffer)
  view.setUint32(BLOCK_BYTES - 4, message.length * 8)
  const schedule = new Uint32Array(64)
  for (let at = 0; at < 16; at++) schedule[at] = view.getUint32(4 * at)
  for (let at = 16; at < 64; at++) {
    const [a, b] = [schedule[at - 15] as number, schedule[at - 2] as number]
    const small = rotate(a, 7) ^ rotate(a, 18) ^ (a >>> 3)
    const large = rotate(b, 17) ^ rotate(b, 19) ^ (b >>> 10)
    schedule[at] = (schedule[at - 16] as number) + small + (schedule[at - 7] as number) + large
  }
  return writeState(compress(schedule))
}

function compress(schedule: Uint32Array): Uint32Array {
  const state = Uint32Array.from(ROOTS.squares)
  let [a, b, c, d, e, f, g, h] = state as unknown as [
    ...[number, number, number, number],
    ...[number, number, number, number],
  ]
  for (let at = 0; at < 64; at++) {
    const choice = (e & f) ^ (~e & g)
    const first =
      h +
      (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) +
      choice +
      (ROOTS.cubes[at] as number) +
      (schedule[at] as number)
    const majority = (a & b) ^ (a & c) ^ (b & c)
    const second = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + majority
    ;[h, g, f, e, d, c, b] = [g, f, e, (d + first) >>> 0, c, b, a]
    a = (first + second) >>> 0
  }
  for (const [at, value] of [a, b, c, d, e, f, g, h].entries())
    state[at] = (state[at] as number) + value
  return state
}

function rotate(value: number, by: number): number {
  return (value >>> by) | (value << (32 - by))
}

function writeState(state: Uint32Array): Uint8Array {
  const digest = new Uint8Array(32)
  const view = new DataView(digest.buffer)
  for (const [at, value] of state.entries()) view.setUint32(4 * at, value)
  return digest
}

/** The constants of the standard: 32 bits behind the point of roots of the first primes. */
const ROOTS = findRoots()

function findRoots(): { readonly squares: readonly number[]; readonly cubes: readonly number[] } {
  const primes: number[] = []
  for (let candidate = 2; primes.length < 64; candidate++)
    if (primes.every((prime) => candidate % prime !== 0)) primes.push(candidate)
  const fraction = (root: number) => Math.floor((root - Math.floor(root)) * 2 ** 32)
  return {
    squares: primes.slice(0, 8).map((prime) => fraction(Math.sqrt(prime))),
    cubes: primes.map((prime) => fraction(Math.cbrt(prime))),
  }
}
