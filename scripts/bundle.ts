// Bundles the command into few files, dist/sluice/dist/bundle, from what the compiler made of all packages of the
// repository. Otherwise a start would open about 170 files. What the command starts by its file name (threads and
// processes) is one file each beside it; most packages of others stay where they are installed. Part of the build; the
// tests bundle the sources (test/support/bundle-command.ts).

import { globSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { type OutputOptions, type Plugin, type RolldownOptions, rolldown } from 'rolldown'
import { ROOT } from './run-step.ts'

/** A package of the repository, and a file of it. */
const OWN = /^@sluice\/([^/]+)\/(.+)$/

/** Where a module takes its own place to be, as code. */
interface BundlePlace {
  readonly dirname: string
  readonly filename: string
  readonly url: string
}

/** How a module names the file that starts a thread or process: beside it, source or compiled. */
export const STARTS =
  /join\(import\.meta\.dirname, `([\w-]+)\$\{extname\(import\.meta\.filename\)\}`\)/g
const OWN_PLACE = new RegExp(`${STARTS.source}|import\\.meta\\.(dirname|filename|url)\\b`, 'g')

/** The files that are started as a thread or process, by their names, which are those of their bundles too. */
export function findStarted(sources: readonly string[]): [name: string, file: string][] {
  return sources
    .filter((path) => /(?<!\.test|\.test-support)\.ts$/.test(path))
    .flatMap((path) =>
      [...readFileSync(path, 'utf8').matchAll(STARTS)].map(([, name = '']): [string, string] => [
        name,
        join(dirname(path), `${name}.ts`),
      ]),
    )
}

/** `import.meta` is that of the bundle; every module needs its original place. What it starts is beside the bundle. */
function inPlace(placeOf: (path: string) => BundlePlace): Plugin {
  return {
    name: 'in place',
    transform: {
      filter: { id: /\.[jt]s$/, code: /import\.meta\./ },
      handler(code, path) {
        const place = placeOf(path)
        return code.replace(OWN_PLACE, (_, name: string | undefined, word: keyof BundlePlace) =>
          name === undefined
            ? place[word]
            : `(import.meta.dirname + ${JSON.stringify(`/${name}.js`)})`,
        )
      },
    },
  }
}

/** Packages of many small files that nearly every command loads, or a gate with agents in each of its threads: opening
 * them took most of the time of a start. */
const BUNDLED =
  /^(?:commander|yaml|re2js|unbash|@marcbachmann\/cel-js|(?:zod|@modelcontextprotocol\/(?:server|core))(?:\/.+)?)$/

/** The packages of the repository and a few others are part of the bundle; the rest stays where it is installed. */
function resolvePackages(findOwn: BundleSources['findOwn']): Plugin {
  return {
    name: 'packages',
    resolveId: {
      filter: { id: /^[^./\0]/ },
      handler(path, _importer, { isEntry }) {
        if (isEntry || BUNDLED.test(path)) return undefined
        const [, name, file] = OWN.exec(path) ?? []
        if (name !== undefined && file !== undefined) return findOwn(name, file)
        return { id: path, external: true }
      },
    },
  }
}

const BUILTIN = '\0builtin:'
const UNUSED = '\0unused'
const BUILTIN_REQUIRED = '\0required builtin:'

/** Modules of Node, without `import`: an imported one reads each of its exports, and some of those load much
 * more (`node:fs` its promises, `node:util` a parser, `node:http` the whole of `fetch`). */
const builtins: Plugin = {
  name: 'builtins',
  resolveId: {
    order: 'pre',
    filter: { id: /^[^./\0]/ },
    handler(path, importer, { kind }) {
      // It would start subcommands that are programs of their own; Sluice has none.
      if (path === 'node:child_process' && importer?.includes('/commander/')) return UNUSED
      const name = path.replace(/^node:/, '')
      // Packages have names of modules too, as `process`: those are Node's.
      if (process.getBuiltinModule(`node:${name}`) === undefined) return
      const id = `${kind === 'require-call' ? BUILTIN_REQUIRED : BUILTIN}${name}`
      return { id, moduleSideEffects: false }
    },
  },
  load: {
    filter: { id: /^\0(?:unused$|(?:required )?builtin:)/ },
    handler(id) {
      if (id === UNUSED) return 'export default {}'
      const [, mark, name] = /^(\0(?:required )?builtin:)(.+)$/.exec(id) ?? []
      const module = `process.getBuiltinModule('node:${name}')`
      if (mark === BUILTIN_REQUIRED) return `module.exports = ${module}`
      if (mark !== BUILTIN) return
      const exports = Object.keys(process.getBuiltinModule(`node:${name}`) ?? {})
        .filter((each) => /^[a-z_$][\w$]*$/i.test(each) && each !== 'default')
        // Marked as pure: what nobody imports is left out, and not read.
        .map(
          (each) => `const its_${each} = /* @__PURE__ */ (() => it.${each})()
export { its_${each} as ${each} }`,
        )
      return [`const it = ${module}`, 'export default it', ...exports].join('\n')
    },
  },
}

/** JSON as a text that is parsed: of an object that is written as code V8 keeps a copy to clone it from. */
const parsedJson: Plugin = {
  name: 'parsed JSON',
  load: {
    filter: { id: /\.json$/ },
    handler(path) {
      const text = JSON.stringify(JSON.stringify(JSON.parse(readFileSync(path, 'utf8'))))
      return { code: `export default JSON.parse(${text})`, moduleType: 'js' }
    },
  },
}

/** Files for the commands that people and scripts run again and again, each with everything that it imports and that none
 * of those above has: opening fifty files took a quarter of their time. */
const SHORT_COMMANDS = [
  /\/cli\/(?:src|dist)\/main\.[jt]s$/,
  /\/cli\/(?:src|dist)\/admin\/status\.[jt]s$/,
  /\/(?:cli\/(?:src|dist)\/policy\/(?:commands|check)|gateway\/(?:src|dist)\/config\/config)\.[jt]s$/,
  /\/cli\/(?:src|dist)\/policy\/explain\.[jt]s$/,
]

interface BundleSources {
  /** The entries, by the name of their file without `.js`. */
  readonly input: Readonly<Record<string, string>>
  readonly placeOf: (path: string) => BundlePlace
  /** The path of a file of a package of the repository, which is named without its extension. */
  readonly findOwn: (name: string, file: string) => string
}

export async function bundle(
  { input, placeOf, findOwn }: BundleSources,
  output: Pick<OutputOptions, 'dir'>,
) {
  const options: RolldownOptions = {
    input,
    platform: 'node',
    transform: { target: 'node24' },
    checks: { ineffectiveDynamicImport: false },
    plugins: [builtins, parsedJson, resolvePackages(findOwn), inPlace(placeOf)],
  }
  const groups = SHORT_COMMANDS.map((test, at) => ({
    name: `short-${at}`,
    test,
    priority: SHORT_COMMANDS.length - at,
  }))
  const built = await rolldown(options)
  return built[output.dir === undefined ? 'generate' : 'write']({
    ...output,
    // One character that is not Latin, and V8 holds the whole file in two bytes a character.
    charset: 'ascii',
    comments: { legal: true, annotation: false, jsdoc: false },
    entryFileNames: '[name].js',
    hashCharacters: 'hex',
    codeSplitting: { groups },
  })
}

/** What the compiler made of a package. */
const COMPILED = /^dist\/([^/]+)\/dist\/(.+)$/

/** A module finds what the package brings along by its place in the sources: `cli/src/x` is `dist/x` of the package. */
function placeInPackage(path: string): BundlePlace {
  const [, , file = ''] = COMPILED.exec(relative(ROOT, path)) ?? []
  const quoted = (text: string): string => JSON.stringify(`/../${text}`)
  return {
    dirname: `(import.meta.dirname + ${quoted(dirname(file))})`,
    filename: `(import.meta.dirname + ${quoted(file)})`,
    url: `new URL(${JSON.stringify(`../${file}`)}, import.meta.url).href`,
  }
}

if (import.meta.main) {
  const sources = globSync('packages/*/src/**/*.ts', { cwd: ROOT })
  const started = findStarted(sources).map(([name, file]): [string, string] => [
    name,
    join(ROOT, file.replace(/^packages\/([^/]+)\/src\/(.+)\.ts$/, 'dist/$1/dist/$2.js')),
  ])
  // Each by itself, so that the command is not split because of them.
  for (const [name, file] of [['main', join(ROOT, 'dist/cli/dist/main.js')] as const, ...started])
    await bundle(
      {
        input: { [name]: file },
        placeOf: placeInPackage,
        findOwn: (own, path) => join(ROOT, 'dist', own, 'dist', `${path}.js`),
      },
      { dir: join(ROOT, 'dist/sluice/dist/bundle') },
    )
}
