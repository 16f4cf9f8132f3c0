// The modules (first-level folders of packages/*/src) and what each may import: the one table that
// the boundaries are derived from. test/layout/tidy.test.ts compares it with the tsconfigs and with the
// imports, test/layout/boundaries.test.ts proves that what it forbids does not compile.

import { join } from 'node:path'

export type Module = {
  /** `pure`: no Node, no DOM, no clock, no randomness. `node`: may do I/O. */
  kind: 'pure' | 'node'
  /** The modules it imports directly. */
  imports: readonly string[]
}

export const ROOT = join(import.meta.dirname, '../..')

const POLICY = {
  'policy/core': [],
  'policy/document': ['policy/core'],
  'policy/counters': ['policy/core'],
  'policy/provenance': ['policy/core'],
  'policy/language': ['policy/core', 'policy/document'],
  'policy/expression': ['policy/core', 'policy/document', 'policy/language', 'policy/provenance'],
  'policy/model': ['policy/core', 'policy/language', 'policy/expression'],
  'policy/decide': [
    'policy/core',
    'policy/language',
    'policy/expression',
    'policy/model',
    'policy/provenance',
  ],
  'policy/compile': [
    'policy/core',
    'policy/document',
    'policy/language',
    'policy/expression',
    'policy/model',
    'policy/decide',
    'policy/provenance',
  ],
  'policy/cases': [
    'policy/core',
    'policy/provenance',
    'policy/document',
    'policy/language',
    'policy/expression',
    'policy/model',
    'policy/decide',
  ],
  'policy/change': [
    'policy/core',
    'policy/document',
    'policy/language',
    'policy/expression',
    'policy/model',
    'policy/compile',
  ],
  'policy/evaluate': [
    'policy/core',
    'policy/document',
    'policy/language',
    'policy/counters',
    'policy/model',
    'policy/decide',
    'policy/compile',
    'policy/cases',
  ],
}

/** Modules of the policy package that most of the product uses. */
const DECIDING = ['policy/core', 'policy/document', 'policy/language', 'policy/model']

const MODULES: Readonly<Record<string, Module>> = {
  ...Object.fromEntries(
    Object.entries(POLICY).map(([name, imports]) => [name, { kind: 'pure' as const, imports }]),
  ),
  core: { kind: 'pure', imports: ['policy/core', 'policy/document'] },
  guard: { kind: 'pure', imports: ['policy/core', 'core'] },
  protocol: { kind: 'pure', imports: ['policy/core'] },
  catalogue: { kind: 'pure', imports: ['policy/core', 'core', 'guard'] },
  guest: { kind: 'pure', imports: [] },
  hooks: { kind: 'pure', imports: ['policy/core'] },
  store: { kind: 'node', imports: ['policy/core'] },
  sandbox: { kind: 'node', imports: [] },
  identity: { kind: 'node', imports: ['policy/core', 'policy/provenance', 'core', 'store'] },
  ledger: { kind: 'node', imports: ['policy/core', 'core', 'store'] },
  approvals: { kind: 'node', imports: ['policy/core', 'core', 'guard', 'ledger', 'store'] },
  gateway: {
    kind: 'node',
    imports: [
      ...DECIDING,
      'policy/cases',
      'policy/change',
      'policy/compile',
      'policy/counters',
      'policy/decide',
      'policy/expression',
      'policy/provenance',
      'approvals',
      'catalogue',
      'core',
      'guard',
      'hooks',
      'identity',
      'ledger',
      'protocol',
      'store',
    ],
  },
  agents: {
    kind: 'node',
    imports: ['policy/core', 'core', 'guard', 'guest', 'sandbox', 'store'],
  },
  operations: {
    kind: 'node',
    imports: [
      'policy/cases',
      'policy/compile',
      'policy/core',
      'policy/counters',
      'policy/decide',
      'policy/document',
      'policy/language',
      'policy/model',
      'policy/provenance',
      'catalogue',
      'core',
      'gateway',
      'identity',
      'ledger',
      'store',
    ],
  },
  admin: {
    kind: 'node',
    imports: [
      ...DECIDING,
      'policy/cases',
      'policy/change',
      'policy/counters',
      'policy/decide',
      'agents',
      'catalogue',
      'core',
      'gateway',
      'identity',
      'ledger',
      'operations',
      'protocol',
      'store',
    ],
  },
  terminal: {
    kind: 'node',
    imports: [
      'policy/cases',
      'policy/compile',
      'policy/core',
      'policy/decide',
      'policy/document',
      'policy/language',
      'policy/model',
      'catalogue',
      'core',
      'gateway',
      'hooks',
      'identity',
      'protocol',
      'store',
    ],
  },
  init: {
    kind: 'node',
    imports: [
      'policy/core',
      'policy/compile',
      'catalogue',
      'gateway',
      'guard',
      'hooks',
      'identity',
      'store',
      'terminal',
    ],
  },
  'import-policylayer': {
    kind: 'node',
    imports: ['policy/document', 'policy/expression', 'policy/language', 'terminal'],
  },
  cli: {
    kind: 'node',
    imports: [
      ...DECIDING,
      'policy/cases',
      'policy/change',
      'policy/compile',
      'policy/counters',
      'policy/decide',
      'admin',
      'agents',
      'approvals',
      'catalogue',
      'core',
      'gateway',
      'guard',
      'hooks',
      'identity',
      'import-policylayer',
      'init',
      'ledger',
      'operations',
      'protocol',
      'store',
      'terminal',
    ],
  },
}

export function listModules(): Map<string, Module> {
  return new Map(Object.entries(MODULES))
}

/** The folder of a module, from the root of the repository. */
export function getModuleFolder(name: string): string {
  const [first, ...rest] = name.split('/')
  return first === 'policy'
    ? `packages/policy/src/${rest.join('/')}`
    : `packages/sluice/src/${name}`
}

/** The module of a source file, or undefined if it belongs to no module. */
export function findModule(path: string): string | undefined {
  const [, pack, module] = /^packages\/(policy|sluice)\/src\/([^/]+)\//.exec(path) ?? []
  if (module === undefined) return undefined
  return pack === 'policy' ? `policy/${module}` : module
}

/**
 * What a module can import as far as the compiler knows: a reference includes those of the other
 * module.
 */
export function listReachable(name: string, seen = new Set<string>()): Set<string> {
  for (const other of MODULES[name]?.imports ?? [])
    if (!seen.has(other)) listReachable(other, seen.add(other))
  return seen
}

/** Published entry points. */
export const PUBLISHED: readonly string[] = [
  'packages/policy/src/index.ts',
  'packages/sluice/src/catalogue/index.ts',
  'packages/sluice/src/agents/index.ts',
]

/** Files where every branch must be covered; vitest.config.ts enforces it. */
export const FULLY_COVERED: readonly string[] = [
  'packages/policy/src/core/decimal.ts',
  'packages/policy/src/decide/decide.ts',
  'packages/policy/src/expression/evaluate/evaluate.ts',
  'packages/policy/src/decide/combine-rules.ts',
  'packages/policy/src/decide/protected-files.ts',
  'packages/policy/src/model/policy.ts',
  'packages/policy/src/decide/resolve.ts',
  'packages/policy/src/decide/apply-limits.ts',
  'packages/policy/src/decide/limit-charge.ts',
  'packages/policy/src/expression/evaluate/walk-arguments.ts',
  'packages/policy/src/counters/*.ts',
]

/** The tests that must cover them: measuring coverage makes a test half as slow again. */
export const COVERING: readonly string[] = [
  'packages/policy/src/core/decimal.test.ts',
  'packages/policy/src/{model,decide,counters}/*.test.ts',
  'packages/policy/src/expression/{,evaluate/}*.test.ts',
  'test/policy/policy-cases.test.ts',
]
