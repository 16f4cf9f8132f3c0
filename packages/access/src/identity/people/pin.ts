// The PIN of a person: what is valid, and how it is stored: scrypt with a salt and its cost, so
// that the cost can grow. An attacker with the data directory can guess offline: the cost is per
// guess. Pure except for randomness; used by people.ts.

import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto'
import { OperationError } from '@sluice/policy/structures/operation-error'
import { PIN_LENGTH_MAX, PIN_LENGTH_MIN, PIN_SCRYPT_COST } from '../limits.ts'

const BLOCK = 8
const BYTES = 32
/** scrypt takes 128 bytes times cost times block. */
const MEMORY_MAX = 256 * 1_024 * 1_024
const COST_MAX = 2 ** 17

/** Throws OperationError if it is not a PIN, or one that is guessed first. */
export function checkNewPin(pin: unknown): string {
  const help = `${PIN_LENGTH_MIN} to ${PIN_LENGTH_MAX} characters; digits will do, words are better`
  if (typeof pin !== 'string' || /[\p{C}\p{Zl}\p{Zp}]/u.test(pin))
    throw new OperationError('this is not a valid PIN', help)
  if (pin.length < PIN_LENGTH_MIN || pin.length > PIN_LENGTH_MAX)
    throw new OperationError(`a PIN of ${pin.length} characters`, help)
  if (isGuessable(pin)) throw new OperationError('this PIN is too common', help)
  return pin
}

export async function hashPin(pin: string, cost: number = PIN_SCRYPT_COST): Promise<string> {
  const salt = randomBytes(16)
  const key = await derive(pin, salt, cost)
  return ['scrypt', cost, salt.toString('base64url'), key.toString('base64url')].join('$')
}

/** False also for a row that was not written here. */
export async function verifyPin(pin: string, hash: string): Promise<boolean> {
  const [kind, cost, salt = '', key = ''] = hash.split('$')
  const rounds = Number(cost)
  const expected = Buffer.from(key, 'base64url')
  if (kind !== 'scrypt' || expected.length !== BYTES || pin.length > PIN_LENGTH_MAX) return false
  if (!Number.isInteger(rounds) || rounds < 2 || rounds > COST_MAX) return false
  return timingSafeEqual(await derive(pin, Buffer.from(salt, 'base64url'), rounds), expected)
}

function derive(pin: string, salt: Buffer, cost: number): Promise<Buffer> {
  const options = { N: cost, r: BLOCK, p: 1, maxmem: MEMORY_MAX }
  return new Promise((resolve, reject) => {
    scrypt(pin.normalize('NFC'), salt, BYTES, options, (error, key) =>
      error === null ? resolve(key) : reject(error),
    )
  })
}

/** One character repeated, a sequence up or down, or two that alternate. */
function isGuessable(pin: string): boolean {
  const codes = [...pin].map((character) => character.codePointAt(0) as number)
  const steps = codes.slice(1).map((code, at) => code - (codes[at] as number))
  const isRow = steps.every((step) => step === steps[0] && Math.abs(step) <= 1)
  const takesTurns = codes.every((code, at) => code === codes[at % 2])
  const isHalved =
    pin.length % 2 === 0 && pin.slice(0, pin.length / 2) === pin.slice(pin.length / 2)
  return isRow || takesTurns || isHalved
}
