// The modules and what each may import: the one table that the boundaries are derived from. A module is the `src` of a
// package or a folder right below it, and a TypeScript project. test/layout/tidy.test.ts compares the table with the
// tsconfigs and with the imports, test/layout/boundaries.test.ts proves that what it forbids does not compile.

import { join } from 'node:path'

export interface Module {
  /** `pure`: no Node, no DOM, no clock, no randomness. `node`: may do I/O. */
  readonly kind: 'pure' | 'node'
  /** The modules that it imports directly. */
  readonly imports: readonly string[]
}

export const ROOT = join(import.meta.dirname, '../..')

const POLICY = {
  'policy/values': [],
  'policy/calls': ['policy/values'],
  'policy/readers': ['policy/structures'],
  'policy/structures': [],
  'policy/document': ['policy/values'],
  'policy/counters': ['policy/values', 'policy/calls'],
  'policy/provenance': ['policy/values', 'policy/calls', 'policy/readers', 'policy/structures'],
  'policy/language': ['policy/calls', 'policy/structures', 'policy/document'],
  'policy/expression': [
    'policy/values',
    'policy/calls',
    'policy/readers',
    'policy/structures',
    'policy/document',
    'policy/language',
    'policy/provenance',
  ],
  'policy/model': [
    'policy/values',
    'policy/calls',
    'policy/structures',
    'policy/language',
    'policy/expression',
  ],
  'policy/decide': [
    'policy/values',
    'policy/calls',
    'policy/readers',
    'policy/structures',
    'policy/language',
    'policy/expression',
    'policy/model',
    'policy/provenance',
  ],
  'policy/compile': [
    'policy/values',
    'policy/calls',
    'policy/structures',
    'policy/document',
    'policy/language',
    'policy/expression',
    'policy/model',
    'policy/decide',
    'policy/provenance',
  ],
  'policy/cases': [
    'policy/values',
    'policy/calls',
    'policy/structures',
    'policy/provenance',
    'policy/document',
    'policy/language',
    'policy/expression',
    'policy/model',
    'policy/decide',
  ],
  'policy/change': [
    'policy/values',
    'policy/calls',
    'policy/structures',
    'policy/document',
    'policy/language',
    'policy/expression',
    'policy/model',
    'policy/compile',
  ],
  'policy/evaluate': [
    'policy/values',
    'policy/calls',
    'policy/structures',
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
const DECIDING = [
  'policy/values',
  'policy/calls',
  'policy/readers',
  'policy/structures',
  'policy/document',
  'policy/language',
  'policy/model',
]

const MODULES: Readonly<Record<string, Module>> = {
  ...Object.fromEntries(
    Object.entries(POLICY).map(([name, imports]) => [name, { kind: 'pure' as const, imports }]),
  ),
  protocol: { kind: 'pure', imports: ['policy/values', 'policy/calls', 'policy/structures'] },
  guard: {
    kind: 'pure',
    imports: ['policy/values', 'policy/calls', 'policy/readers', 'policy/structures'],
  },
  catalogue: {
    kind: 'pure',
    imports: ['policy/values', 'policy/calls', 'policy/readers', 'policy/structures', 'guard'],
  },
  'ledger/store': { kind: 'node', imports: ['policy/values', 'policy/calls', 'policy/structures'] },
  ledger: {
    kind: 'node',
    imports: ['policy/values', 'policy/calls', 'policy/structures', 'guard', 'ledger/store'],
  },
  'access/identity': {
    kind: 'node',
    imports: [
      'policy/values',
      'policy/calls',
      'policy/readers',
      'policy/structures',
      'policy/document',
      'policy/provenance',
      'guard',
      'ledger',
      'ledger/store',
    ],
  },
  'access/approvals': {
    kind: 'node',
    imports: [
      'policy/values',
      'policy/calls',
      'policy/readers',
      'policy/structures',
      'access/identity',
      'guard',
      'ledger',
      'ledger/store',
    ],
  },
  'gateway/hooks': {
    kind: 'pure',
    imports: ['policy/values', 'policy/readers', 'policy/expression'],
  },
  'gateway/acs': { kind: 'pure', imports: ['policy/values', 'gateway/hooks'] },
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
      'access/approvals',
      'access/identity',
      'catalogue',
      'gateway/acs',
      'gateway/hooks',
      'guard',
      'ledger',
      'ledger/store',
      'protocol',
    ],
  },
  'gateway/operations': {
    kind: 'node',
    imports: [
      'policy/cases',
      'policy/change',
      'policy/compile',
      'policy/values',
      'policy/calls',
      'policy/structures',
      'policy/counters',
      'policy/decide',
      'policy/document',
      'policy/language',
      'policy/model',
      'policy/provenance',
      'access/approvals',
      'access/identity',
      'catalogue',
      'gateway',
      'guard',
      'ledger',
      'ledger/store',
      'protocol',
    ],
  },
  'agents/guest': { kind: 'pure', imports: [] },
  'agents/sandbox': { kind: 'node', imports: [] },
  agents: {
    kind: 'node',
    imports: [
      'policy/values',
      'policy/structures',
      'agents/guest',
      'agents/sandbox',
      'guard',
      'ledger/store',
      'protocol',
    ],
  },
  console: {
    kind: 'node',
    imports: [
      ...DECIDING,
      'policy/cases',
      'policy/change',
      'policy/counters',
      'policy/decide',
      'access/approvals',
      'access/identity',
      'agents',
      'catalogue',
      'gateway',
      'gateway/operations',
      'guard',
      'ledger',
      'ledger/store',
      'protocol',
    ],
  },
  'import-policylayer': {
    kind: 'node',
    imports: ['policy/document', 'policy/expression', 'policy/language'],
  },
  'cli/terminal': {
    kind: 'node',
    imports: [
      'policy/cases',
      'policy/compile',
      'policy/values',
      'policy/calls',
      'policy/structures',
      'policy/decide',
      'policy/document',
      'policy/language',
      'policy/model',
      'access/approvals',
      'access/identity',
      'catalogue',
      'gateway',
      'gateway/hooks',
      'guard',
      'ledger',
      'ledger/store',
      'protocol',
    ],
  },
  'cli/servers': {
    kind: 'node',
    imports: [
      'access/identity',
      'cli/terminal',
      'gateway',
      'policy/calls',
      'policy/structures',
      'policy/values',
      'protocol',
    ],
  },
  'cli/packs': {
    kind: 'node',
    imports: [
      'catalogue',
      'cli/terminal',
      'gateway',
      'policy/calls',
      'policy/document',
      'policy/language',
    ],
  },
  'cli/init': {
    kind: 'node',
    imports: [
      'policy/compile',
      'policy/values',
      'policy/calls',
      'policy/structures',
      'access/identity',
      'catalogue',
      'cli/packs',
      'cli/servers',
      'cli/terminal',
      'gateway',
      'gateway/hooks',
      'guard',
      'ledger/store',
    ],
  },
  'cli/threats': {
    kind: 'pure',
    imports: [
      'policy/values',
      'policy/calls',
      'policy/structures',
      'policy/language',
      'policy/model',
      'policy/provenance',
      'policy/decide',
      'policy/counters',
      'policy/cases',
      'policy/change',
      'policy/compile',
      'catalogue',
      'guard',
    ],
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
      'policy/expression',
      'access/approvals',
      'access/identity',
      'agents',
      'catalogue',
      'cli/init',
      'cli/packs',
      'cli/servers',
      'cli/terminal',
      'cli/threats',
      'console',
      'gateway',
      'gateway/hooks',
      'gateway/operations',
      'guard',
      'import-policylayer',
      'ledger',
      'ledger/store',
      'protocol',
    ],
  },
}

export function listModules(): Map<string, Module> {
  return new Map(Object.entries(MODULES))
}

/** The folder of a module, from the root of the repository. */
export function getModuleFolder(name: string): string {
  return name.replace(/^[^/]+/, 'packages/$&/src')
}

/** The module of a source file, or undefined if it belongs to no module. */
export function findModule(path: string): string | undefined {
  const [, pack = '', folder] = /^packages\/([^/]+)\/src\/(?:([^/]+)\/)?/.exec(path) ?? []
  return [`${pack}/${folder}`, pack].find((name) => name in MODULES)
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
  'packages/guard/src/index.ts',
  'packages/catalogue/src/index.ts',
  'packages/agents/src/index.ts',
]

/** Files where every branch must be covered; vitest.config.ts enforces it. */
export const FULLY_COVERED: readonly string[] = [
  'packages/policy/src/values/decimal.ts',
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
  'packages/policy/src/values/decimal.test.ts',
  'packages/policy/src/{model,decide,counters}/*.test.ts',
  'packages/policy/src/expression/{,evaluate/}*.test.ts',
  'test/policy/policy-cases.test.ts',
]
