// Mutations of an input: bytes, tokens of the target's dictionary, and pieces of other inputs. Seeded, so
// that a run can be repeated.

export class Random {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0 || 1
  }

  /** An integer from 0 to `below - 1`. */
  next(below: number): number {
    this.#state ^= this.#state << 13
    this.#state ^= this.#state >>> 17
    this.#state ^= this.#state << 5
    this.#state >>>= 0
    return this.#state % below
  }

  pick<Item>(items: readonly Item[]): Item {
    return items[this.next(items.length)] as Item
  }
}

export interface MutationOptions {
  readonly random: Random
  readonly dictionary: readonly Buffer[]
  /** Inputs to take pieces from. */
  readonly corpus: readonly Buffer[]
  readonly lengthMax: number
}

const STEPS_MAX = 6
const INTERESTING = Buffer.from(
  '\0\x01\x7f\x80\xff \n\r"\'\\/%.:,;-+*#@!&|=<>()[]{}0129aAzZ',
  'latin1',
)

export function mutate(input: Buffer, options: MutationOptions): Buffer {
  const { random, lengthMax } = options
  let bytes = input
  for (let step = 1 + random.next(STEPS_MAX); step > 0; step -= 1) bytes = change(bytes, options)
  return bytes.subarray(0, lengthMax)
}

function change(bytes: Buffer, { random, dictionary, corpus }: MutationOptions): Buffer {
  const at = random.next(bytes.length + 1)
  const span = Math.min(bytes.length - at, 1 + random.next(random.next(4) === 0 ? 64 : 6))
  switch (random.next(9)) {
    case 0:
      return replace(bytes, at, 1, Buffer.of(random.next(256)))
    case 1:
      return replace(
        bytes,
        at,
        random.next(2),
        Buffer.of(INTERESTING[random.next(INTERESTING.length)] ?? 0),
      )
    case 2:
      return replace(bytes, at, span, Buffer.alloc(0))
    case 3:
      // A piece again: what repeats is where loops and limits are.
      return replace(bytes, at, 0, repeat(bytes.subarray(at, at + span), 1 + random.next(4)))
    case 4:
      return replace(bytes, at, span, pickToken(random, dictionary))
    case 5:
      return replace(bytes, at, 0, pickToken(random, dictionary))
    case 6: {
      const other = random.pick(corpus)
      const from = random.next(other.length + 1)
      return replace(bytes, at, span, other.subarray(from, from + 1 + random.next(32)))
    }
    case 7: {
      const byte = bytes[at] ?? 0
      return replace(bytes, at, 1, Buffer.of((byte + 1 + random.next(8)) & 0xff))
    }
    default: {
      const byte = bytes[at] ?? 0
      return replace(bytes, at, 1, Buffer.of(byte ^ (1 << random.next(8))))
    }
  }
}

function pickToken(random: Random, dictionary: readonly Buffer[]): Buffer {
  return dictionary.length === 0 ? Buffer.of(random.next(256)) : random.pick(dictionary)
}

function repeat(piece: Buffer, times: number): Buffer {
  return Buffer.concat(Array.from({ length: times }, () => piece))
}

function replace(bytes: Buffer, at: number, count: number, put: Buffer): Buffer {
  return Buffer.concat([bytes.subarray(0, at), put, bytes.subarray(at + count)])
}
