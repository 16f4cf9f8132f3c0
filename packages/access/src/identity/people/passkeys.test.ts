// Passkeys under attack: assertions of another origin, party, challenge, person or moment, and
// claims of a browser or an authenticator that must not be trusted.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { fileScratchDirectory } from '../../../../../test/support/scratch.ts'
import { Passkeys } from './passkeys.ts'
import { People } from './people.ts'
import { SoftwareKey } from './software-key.test-support.ts'

const ORIGIN = 'https://gate.example.com'
const RP = { id: 'gate.example.com', origin: ORIGIN }
const CHALLENGE = Buffer.from('a challenge of 32 bytes, or more').toString('base64url')
const folder = fileScratchDirectory()
let people: People
let passkeys: Passkeys
let ann: SoftwareKey

beforeAll(async () => {
  people = People.open(folder, { pinCost: 2 ** 4 })
  passkeys = new Passkeys(people)
  for (const name of ['ann', 'bob'])
    await people.add({ name, kind: 'person', roles: ['admin'], groups: [], owns: [] }, {}, 1)
})
afterAll(() => {
  people.close()
})

beforeEach(async () => {
  ann = await add('ann')
})

async function add(person: string, key = new SoftwareKey(ORIGIN)): Promise<SoftwareKey> {
  const options = await passkeys.registrationOptions(person, RP)
  const { challenge } = options
  await passkeys.register(
    person,
    RP,
    { attestation: key.attest(options), challenge, label: 'x' },
    1,
  )
  for (const old of passkeys.list(person))
    if (old.id !== key.id.toString('base64url')) passkeys.remove(person, old.id)
  return key
}

const asked = { challenge: CHALLENGE, rpId: RP.id }
const verify = (assertion: unknown, rp = RP) => passkeys.verify(rp, assertion, CHALLENGE, 2)

describe('an assertion', () => {
  test('that is valid identifies its owner, once for each count', async () => {
    const assertion = ann.assert(asked)
    expect(await verify(assertion)).toBe('ann')
    await expect(verify(assertion)).rejects.toThrow('counter')
    expect(await verify(ann.assert(asked))).toBe('ann')
  })

  test.each<[string, (key: SoftwareKey) => object]>([
    ['of another origin', (key) => key.assert(asked, 'https://evil.example')],
    ['of another port of the host', (key) => key.assert(asked, `${ORIGIN}:8443`)],
    ['for another party', (key) => key.assert({ ...asked, rpId: 'example.com' })],
    ['of another challenge', (key) => key.assert({ ...asked, challenge: 'b3RoZXI' })],
    ['without a person', (key) => Object.assign(key, { isVerified: false }).assert(asked)],
    ['of a clone that counts behind', (key) => Object.assign(key, { counter: -1 }).assert(asked)],
    [
      'from a frame in another page',
      (key) => Object.assign(key, { says: { crossOrigin: true } }).assert(asked),
    ],
    [
      'from a frame that names the page',
      (key) =>
        Object.assign(key, {
          says: { crossOrigin: true, topOrigin: 'https://evil.example' },
        }).assert(asked),
    ],
    ['that is a registration', (key) => key.attest({ challenge: CHALLENGE, rp: RP })],
    ['with no signature', (key) => ({ ...key.assert(asked), response: {} })],
    ['of a key nobody registered', () => new SoftwareKey(ORIGIN).assert(asked)],
  ])('%s is refused', async (_, make) => {
    await verify(ann.assert(asked))
    await expect(verify(make(ann))).rejects.toThrow()
  })

  test('of another address of the gate is not known there', async () => {
    const other = { id: 'localhost', origin: 'http://localhost:7433' }
    const given = ann.assert({ challenge: CHALLENGE, rpId: 'localhost' }, other.origin)
    await expect(verify(given, other)).rejects.toThrow('not known')
  })

  test("by one's own key under another's id is refused", async () => {
    const bob = await add('bob')
    const stolen = { ...(bob.assert(asked) as object), id: ann.id.toString('base64url') }
    await expect(verify(stolen)).rejects.toThrow()
    await expect(verify({ ...stolen, rawId: ann.id.toString('base64url') })).rejects.toThrow()
  })
})

describe('a registration', () => {
  test.each<[string, (key: SoftwareKey, options: object) => object]>([
    ['of another challenge', (key) => key.attest({ challenge: CHALLENGE, rp: RP })],
    [
      'from a frame',
      (key, options) => Object.assign(key, { says: { crossOrigin: true } }).attest(options),
    ],
    [
      'without a person',
      (key, options) => Object.assign(key, { isVerified: false }).attest(options),
    ],
    ['that is an assertion', (key) => key.assert(asked)],
  ])('%s is refused', async (_, make) => {
    const options = await passkeys.registrationOptions('bob', RP)
    const { challenge } = options
    const attestation = make(new SoftwareKey(ORIGIN), options)
    await expect(
      passkeys.register('bob', RP, { attestation, challenge, label: 'x' }, 1),
    ).rejects.toThrow()
  })

  test("of another person's key is refused", async () => {
    await expect(add('bob', ann)).rejects.toThrow('registered already')
  })

  test('of two long names with a common prefix are two users', async () => {
    const long = `corp:${'x'.repeat(80)}`
    const [one, other] = await Promise.all(
      ['a', 'b'].map((end) => passkeys.registrationOptions(long + end, RP)),
    )
    expect(one?.user.id).not.toBe(other?.user.id)
  })
})
