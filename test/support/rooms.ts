// The rooms of src/ and what each may import: the one table the fences are made from.
// A room enters src/ only through this table (test/tidy.test.ts compares it with the tsconfigs,
// test/fences.test.ts proves that what it forbids does not compile).
// Rooms that are to come stand here already; only those with a folder in src/ are enforced.

import { existsSync } from 'node:fs'
import { join } from 'node:path'

export type Room = {
  /** `pure`: no Node, no DOM, no clock, no randomness. `node`: may do I/O. */
  kind: 'pure' | 'node'
  /** The rooms it may import. */
  imports: readonly string[]
}

export const ROOT = join(import.meta.dirname, '..')

const HOUSE: Readonly<Record<string, Room>> = {
  core: { kind: 'pure', imports: [] },
  guard: { kind: 'pure', imports: ['core'] },
  document: { kind: 'pure', imports: ['core'] },
  policy: { kind: 'pure', imports: ['core', 'document'] },
  catalogue: { kind: 'pure', imports: ['core', 'guard'] },
  wire: { kind: 'pure', imports: ['core'] },
  guest: { kind: 'pure', imports: [] },
  store: { kind: 'node', imports: ['core'] },
  sandbox: { kind: 'node', imports: ['core'] },
  identity: { kind: 'node', imports: ['core', 'store'] },
  ledger: { kind: 'node', imports: ['core', 'store'] },
  approvals: { kind: 'node', imports: ['core', 'store', 'ledger', 'identity'] },
  gateway: {
    kind: 'node',
    imports: allBut('gateway', 'agents', 'clients', 'admin', 'cli', 'sandbox', 'guest'),
  },
  agents: { kind: 'node', imports: ['core', 'guard', 'store', 'sandbox', 'guest'] },
  clients: { kind: 'node', imports: ['core', 'store'] },
  // A reference to agents brings what agents refer to.
  admin: { kind: 'node', imports: allBut('admin', 'cli', 'clients') },
  cli: { kind: 'node', imports: allBut('cli') },
}

/** The rooms in src/ today, each with those of its imports that are there too. */
export function roomsThatExist(): Map<string, Room> {
  const isThere = (room: string): boolean => existsSync(join(ROOT, 'src', room))
  const there = Object.entries(HOUSE).filter(([name]) => isThere(name))
  return new Map(
    there.map(([name, room]) => [name, { ...room, imports: room.imports.filter(isThere) }]),
  )
}

/** Rooms that are published and therefore have an `index.ts`. */
export const PUBLISHED: readonly string[] = ['policy', 'catalogue', 'agents']

/** Files where every branch must be covered; vitest.config.ts enforces it. */
export const FULLY_COVERED: readonly string[] = [
  'src/core/decimal.ts',
  'src/policy/decide/decide.ts',
  'src/policy/expression/evaluate.ts',
  'src/policy/decide/lay.ts',
  'src/policy/own-files.ts',
  'src/policy/policy.ts',
  'src/policy/decide/resolve.ts',
  'src/policy/decide/settle.ts',
  'src/policy/decide/takes.ts',
  'src/policy/expression/walk.ts',
  'src/store/memory/**',
]

/** The tests that must cover them, at home: measuring makes a test half as slow again. */
export const COVERING: readonly string[] = [
  'src/core/decimal.test.ts',
  'src/policy/{glob,own-files,path-readings,policy}.test.ts',
  'src/policy/{decide,expression,cases}/*.test.ts',
  'src/store/memory/*.test.ts',
  'test/policy-cases.test.ts',
]

function allBut(...left: string[]): string[] {
  const names = [
    ...[
      'core',
      'document',
      'guard',
      'policy',
      'catalogue',
      'wire',
      'guest',
      'store',
      'sandbox',
      'identity',
    ],
    ...['ledger', 'approvals', 'gateway', 'agents', 'clients', 'admin', 'cli'],
  ]
  return names.filter((name) => !left.includes(name))
}
