// Chains of two gates in a store that an attacker can write, compared with heads that were signed.

import { expect, test } from 'vitest'
import { chainHash, FIRST_HASH, toHex } from '../chain-hash.ts'
import type { PostgresConnections } from './connections.ts'
import { CHAIN_HEADS, CHAIN_PAGE } from './statements.ts'
import { type NotedHead, verifyChains } from './verify-chains.ts'

interface StoredChain {
  gate: string
  key: string
  readonly texts: string[]
}

function chainOf(gate: string, records = 5): StoredChain {
  const texts = Array.from({ length: records }, (_, n) => `[1,${n + 1},"${gate}"]`)
  return { gate, key: `key of ${gate}`, texts }
}

function hashesOf({ texts }: StoredChain): string[] {
  let last = FIRST_HASH
  return texts.map((text) => {
    last = chainHash(last, text)
    return toHex(last)
  })
}

function headOf(chain: StoredChain, seq: number): NotedHead {
  return { key: chain.key, seq, hash: hashesOf(chain)[seq - 1] as string }
}

/** What the store says of these chains. */
function storeOf(...chains: readonly StoredChain[]): Pick<PostgresConnections, 'query'> {
  return {
    query: async (sql: string, values: readonly unknown[] = []) => {
      if (sql === CHAIN_HEADS)
        return chains.map((chain) => {
          const head = Buffer.from(hashesOf(chain).at(-1) as string, 'hex')
          return { gate: chain.gate, key: chain.key, seq: chain.texts.length, head }
        })
      const chain = sql === CHAIN_PAGE && chains.find(({ gate }) => gate === values[0])
      if (!chain) return []
      const rows = hashesOf(chain).map((hash, at) => {
        const body = Buffer.from(chain.texts[at] as string)
        return { seq: at + 1, kind: 'e', body, hash: Buffer.from(hash, 'hex') }
      })
      return rows.slice(Number(values[1]) - 1)
    },
  }
}

async function problemsOf(store: Pick<PostgresConnections, 'query'>, ...noted: NotedHead[]) {
  const none = () => ({ add() {}, problems: () => [] })
  const chains = await verifyChains(store, { noted, restores: [], checkBase: none })
  return chains.flatMap(({ gate, problems }) => problems.map((one) => `${gate}: ${one}`))
}

const [a, b] = [chainOf('a'), chainOf('b')]
const signed = [headOf(a, 2), headOf(a, 5), headOf(b, 4)]

test('as they were written they verify', async () => {
  expect(await problemsOf(storeOf(a, b), ...signed)).toEqual([])
})

test('a chain that was removed with its gate is missing', async () => {
  expect(await problemsOf(storeOf(b), ...signed)).toEqual([
    ': no chain has record 5, which was signed with the key key of a',
  ])
  expect(await problemsOf(storeOf(), ...signed)).toHaveLength(2)
})

test('a chain that was replaced, under another key, is missing', async () => {
  const forged = { ...chainOf('a'), texts: ['[1,1,"x"]', '[1,2,"x"]'], key: 'a key of theirs' }
  expect(await problemsOf(storeOf(forged, b), ...signed)).toEqual([
    ': no chain has record 5, which was signed with the key key of a',
  ])
})

test('chains of two gates that change places are not those that were signed', async () => {
  const swapped = [
    { ...a, texts: b.texts },
    { ...b, texts: a.texts },
  ]
  expect(await problemsOf(storeOf(...swapped), ...signed)).toEqual([
    'a: record 2 is not the one that was signed',
    'a: record 5 is not the one that was signed',
    'b: record 4 is not the one that was signed',
  ])
})

test('a gate whose key was replaced still has what the old one signed', async () => {
  expect(await problemsOf(storeOf({ ...a, key: 'its new key' }, b), ...signed)).toEqual([])
})

/** The chain after a restore to its first three records: it goes on with another key. */
function restoredChain(key: string, records = 4): StoredChain {
  const texts = Array.from({ length: records }, (_, n) => `[1,${n + 5},4,0,"other",{}]`)
  const start = `[1,4,4,0,"start",{"signedBy":"${key}"}]`
  return { gate: 'a', key, texts: [...a.texts.slice(0, 3), start, ...texts] }
}

test('P8: a restore is explained by somebody who knows of it, and only that restore', async () => {
  const checkBase = () => ({ add() {}, problems: () => [] })
  const noted = [headOf(a, 2), headOf(a, 5)]
  const verify = async (chain: StoredChain, ...restores: { gate: string; seq: number }[]) =>
    (await verifyChains(storeOf(chain), { noted, restores, checkBase }))[0]
  const restored = restoredChain('key after it')
  const unknown =
    'signed up to record 2 with the key key of a; record 5, which it has signed too, is not in this chain, which goes on with another key from record 4'
  expect(await verify(restored)).toMatchObject({ problems: [unknown], signed: 2 })
  expect(await verify(restored, { gate: 'a', seq: 3 })).toMatchObject({
    problems: [],
    restored: { after: 3, through: 5 },
    signedBy: [{ key: 'key of a', seq: 2 }],
    signers: [{ key: 'key after it', seq: 4 }],
  })
  for (const seq of [1, 5, 7])
    expect(await verify(restored, { gate: 'a', seq })).toMatchObject({ problems: [unknown] })
  expect(await verify(restored, { gate: 'b', seq: 3 })).toMatchObject({ problems: [unknown] })
  // Without a start under another key the end was cut off.
  const cut = { ...a, texts: a.texts.slice(0, 3), key: 'another key' }
  const problems = [unknown.replace(/, which goes on .*/, '')]
  expect(await verify(cut, { gate: 'a', seq: 3 })).toMatchObject({ problems })
})
