// `npm run build`: the two packages as they are published, in dist/policy and dist/sluice. Compiles the
// sources, bundles the command, bakes the guests' images, builds the console, writes the JSON Schemas
// and stages the manifests. `dist` is removed first, so that nothing of an older build is published.

import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describeStep, ROOT, runStep } from './run-step.ts'

type Manifest = Record<string, unknown>

rmSync(join(ROOT, 'dist'), { recursive: true, force: true })

const STEPS: [name: string, command: string[]][] = [
  // The command references every module, the policy package its own; tests are compiled by `check`.
  [
    'compile',
    [
      'node_modules/typescript/bin/tsc',
      '-b',
      '--force',
      '--singleThreaded',
      // For a tree whose types were checked just before: half the time of a build.
      ...(process.argv.includes('--no-check') ? ['--noCheck'] : []),
      'packages/sluice/src/cli',
      'packages/policy/src',
    ],
  ],
  ['bundle', ['scripts/bundle.ts']],
  ['images', ['scripts/bake.ts']],
  ['console', ['scripts/build-console.ts']],
  ['schema', ['scripts/schema.ts']],
]

for (const [name, command] of STEPS) {
  const result = await runStep(name, command)
  console.error(`build: ${describeStep(result)}`)
  if (!result.passed) process.exit(1)
}

stage('policy', ['packages/policy/schema'], {
  exports: {
    '.': { types: './dist/index.d.ts', default: './dist/index.js' },
    './schema/policy.json': './schema/policy.json',
    './*': { types: './dist/*.d.ts', default: './dist/*.js' },
  },
})
stage(
  'sluice',
  ['packages/sluice/bin', 'packages/sluice/packs', 'packages/sluice/schema', 'docs'],
  {
    exports: {
      './schema/config.json': './schema/config.json',
      './schema/policy.json': './schema/policy.json',
      './agents': { types: './dist/agents/index.d.ts', default: './dist/agents/index.js' },
      './catalogue': { types: './dist/catalogue/index.d.ts', default: './dist/catalogue/index.js' },
    },
  },
)
// Both schemas in one place, for the `$schema` line of editors.
cpSync(
  join(ROOT, 'packages/policy/schema/policy.json'),
  join(ROOT, 'dist/sluice/schema/policy.json'),
)

/** Copies the manifest and the published folders besides `dist` into the package's folder. */
function stage(name: string, folders: readonly string[], published: Manifest): void {
  const target = join(ROOT, 'dist', name)
  const source = join(ROOT, 'packages', name, 'package.json')
  const read = (file: string): Manifest => JSON.parse(readFileSync(file, 'utf8'))
  // The address of the repository is in one place.
  const { repository, homepage, bugs } = read(join(ROOT, 'package.json'))
  const directory = `packages/${name}`
  const origin = { repository: { ...(repository as Manifest), directory }, homepage, bugs }
  const manifest = { ...read(source), ...origin, ...published }
  const files = [...folders.map((folder) => folder.split('/').at(-1)), 'dist']
  const left = ['!docs/images/**', '!dist/**/*.tsbuildinfo', '!dist/.compiled']
  writeFileSync(
    join(target, 'package.json'),
    `${JSON.stringify({ ...manifest, files: [...files, ...left] }, null, 2)}\n`,
  )
  for (const folder of folders)
    cpSync(join(ROOT, folder), join(target, folder.split('/').at(-1) ?? ''), { recursive: true })
  cpSync(join(ROOT, 'packages', name, 'README.md'), join(target, 'README.md'))
  cpSync(join(ROOT, 'LICENSE'), join(target, 'LICENSE'))
}
