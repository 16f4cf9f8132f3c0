// Bundles the command into few files: dist/sluice/dist/bundle, from the compiler's output next to it.
// Otherwise a start would open about 170 files. Most packages stay where they are installed, and so
// does what is started by its file name (threads, processes), which gets its original path. Part of
// the build; the tests bundle the sources (test/support/bundle-command.ts).

import { readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { type BuildOptions, build, type Plugin } from 'esbuild'
import { ROOT } from './run-step.ts'

const DIST = join(ROOT, 'dist/sluice/dist')
const POLICY = '@sluice/policy/'

/** The original path of a module, as code. */
export interface Place {
  readonly dirname: string
  readonly filename: string
  readonly url: string
}

/** `import.meta` is that of the bundle; every module needs its original path. */
function inPlace(placeOf: (path: string) => Place): Plugin {
  return {
    name: 'in place',
    setup({ onLoad }) {
      onLoad({ filter: /\.[jt]s$/ }, ({ path }) => {
        const place = placeOf(path)
        const contents = readFileSync(path, 'utf8').replace(
          /import\.meta\.(dirname|filename|url)\b/g,
          (_, word: keyof Place) => place[word],
        )
        return { contents, loader: path.endsWith('.ts') ? 'ts' : 'js' }
      })
    },
  }
}

/** Packages of many small files that nearly every command loads: opening them took most of its time. */
const BUNDLED = /^(?:commander|yaml|re2js|@marcbachmann\/cel-js)$/

/** The policy package and a few others are part of the bundle; the rest stays where it is installed. */
function resolvePackages(folder: string, extension: string): Plugin {
  return {
    name: 'packages',
    setup({ onResolve }) {
      onResolve({ filter: /^[^./]/ }, ({ path, kind }) => {
        if (kind === 'entry-point' || BUNDLED.test(path)) return undefined
        if (path.startsWith(POLICY))
          return { path: join(folder, `${path.slice(POLICY.length)}${extension}`) }
        return { path, external: true }
      })
    },
  }
}

interface BundleSources {
  readonly placeOf: (path: string) => Place
  /** Where the modules of the policy package are, and what their names end in. */
  readonly policy: readonly [folder: string, extension: string]
}

export function bundleOptions({ placeOf, policy }: BundleSources) {
  return {
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    // CommonJS packages in the bundle require modules of Node.
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
    },
    plugins: [resolvePackages(...policy), inPlace(placeOf)],
    logLevel: 'warning',
  } satisfies BuildOptions
}

if (import.meta.main)
  await build({
    ...bundleOptions({
      placeOf: (path) => {
        const file = relative(DIST, path)
        return {
          dirname: `(import.meta.dirname + ${JSON.stringify(`/../${dirname(file)}`)})`,
          filename: `(import.meta.dirname + ${JSON.stringify(`/../${file}`)})`,
          url: `new URL(${JSON.stringify(`../${file}`)}, import.meta.url).href`,
        }
      },
      policy: [join(ROOT, 'dist/policy/dist'), '.js'],
    }),
    entryPoints: [join(DIST, 'cli', 'main.js')],
    outdir: join(DIST, 'bundle'),
  })
