// `npm run build`: the packages as they are published, in dist/NAME. Compiles the sources of all packages, bundles the
// command with what it needs of them (dist/sluice), bakes the guests' images, builds the console, writes the JSON
// Schemas and stages the manifests. `dist` is removed first, so that nothing of an older build is published.

import { cpSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { LIBRARIES } from './published.ts'
import { describeStep, ROOT, runStep } from './run-step.ts'

type Manifest = Record<string, unknown>

/** `dist` has what the compiler made of these sources just before, as after `npm run check`. */
const isCompiled = process.argv.includes('--compiled')
if (!isCompiled) rmSync(join(ROOT, 'dist'), { recursive: true, force: true })

// The command references every module, the policy package its entry; tests are compiled by `check`.
const COMPILE = [
  'node_modules/typescript/bin/tsc',
  '-b',
  '--force',
  '--singleThreaded',
  // For a tree whose types were checked just before: half the time of a build.
  ...(process.argv.includes('--no-check') ? ['--noCheck'] : []),
  'packages/cli/src',
  'packages/policy/src',
]

const STEPS: [name: string, command: string[]][] = [
  ...(isCompiled ? [] : [['compile', COMPILE] satisfies [string, string[]]]),
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

for (const name of LIBRARIES) {
  const { exports } = readManifest(`packages/${name}/package.json`)
  const hasSchema = name === 'policy'
  stage(name, {
    from: name,
    folders: hasSchema ? ['packages/policy/schema'] : [],
    published: { exports: Object.fromEntries(Object.entries(exports as object).map(toCompiled)) },
  })
}
stage('sluice', {
  from: 'cli',
  folders: ['packages/cli/bin', 'packages/cli/packs', 'packages/cli/schema', 'docs'],
  published: {
    dependencies: listBundledDependencies(),
    exports: {
      './schema/config.json': './schema/config.json',
      './schema/policy.json': './schema/policy.json',
    },
  },
})
// Both schemas in one place, for the `$schema` line of editors.
cpSync(
  join(ROOT, 'packages/policy/schema/policy.json'),
  join(ROOT, 'dist/sluice/schema/policy.json'),
)
// Agents that are installed without the command have the images too.
cpSync(join(ROOT, 'dist/sluice/dist/guest'), join(ROOT, 'dist/agents/dist/guest'), {
  recursive: true,
})

function readManifest(path: string): Manifest {
  return JSON.parse(readFileSync(join(ROOT, path), 'utf8'))
}

/** What a program imports: the compiled file and its types in place of the source. */
function toCompiled([name, path]: [string, string]): [string, unknown] {
  const file = /^\.\/src\/(.+)\.ts$/.exec(path)?.[1]
  return [
    name,
    file === undefined ? path : { types: `./dist/${file}.d.ts`, default: `./dist/${file}.js` },
  ]
}

/** What the packages that are in the bundle import from others. */
function listBundledDependencies(): Record<string, string> {
  const all = globSync('packages/*/package.json', { cwd: ROOT }).flatMap((path) =>
    Object.entries((readManifest(path).dependencies ?? {}) as Record<string, string>),
  )
  return Object.fromEntries(all.filter(([name]) => !name.startsWith('@sluice/')).sort())
}

interface Staged {
  /** The folder below `packages` with its manifest and README. */
  readonly from: string
  /** Published folders besides `dist`. */
  readonly folders: readonly string[]
  /** Members of the manifest that differ from the one of the sources. */
  readonly published: Manifest
}

/** Copies the manifest and the published folders besides `dist` into the package's folder. */
function stage(name: string, { from, folders, published }: Staged): void {
  const target = join(ROOT, 'dist', name)
  // The address of the repository is in one place.
  const { repository, homepage, bugs } = readManifest('package.json')
  const directory = `packages/${from}`
  const origin = { repository: { ...(repository as Manifest), directory }, homepage, bugs }
  const { scripts: _scripts, ...own } = readManifest(`${directory}/package.json`)
  const manifest = { ...own, ...origin, ...published }
  const files = [...folders.map((folder) => folder.split('/').at(-1)), 'dist']
  const left = ['!docs/images/**', '!dist/**/*.tsbuildinfo', '!dist/.compiled']
  writeFileSync(
    join(target, 'package.json'),
    `${JSON.stringify({ ...manifest, files: [...files, ...left] }, null, 2)}\n`,
  )
  for (const folder of folders)
    cpSync(join(ROOT, folder), join(target, folder.split('/').at(-1) ?? ''), { recursive: true })
  cpSync(join(ROOT, directory, 'README.md'), join(target, 'README.md'))
  cpSync(join(ROOT, 'LICENSE'), join(target, 'LICENSE'))
}
