// Bundles the command into few files: dist/sluice/dist/bundle, from the compiler's output next to it.
// Otherwise a start would open about 170 files. Most packages stay where they are installed, and so
// does what is started by its file name (threads, processes), which gets its original path. Part of
// the build; the tests bundle the sources, and what is started too (test/support/bundle-command.ts).

import { readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { type OutputOptions, type Plugin, type RolldownOptions, rolldown } from 'rolldown'
import { ROOT } from './run-step.ts'

const DIST = join(ROOT, 'dist/sluice/dist')
const POLICY = '@sluice/policy/'

/** The original path of a module, as code. */
interface BundlePlace {
  readonly dirname: string
  readonly filename: string
  readonly url: string
  /** The path of a file that it starts as a thread or process. */
  readonly started: (name: string) => string
}

/** How a module names the file that starts a thread or process: beside it, source or compiled. */
export const STARTS =
  /join\(import\.meta\.dirname, `([\w-]+)\$\{extname\(import\.meta\.filename\)\}`\)/g
const OWN_PLACE = new RegExp(`${STARTS.source}|import\\.meta\\.(dirname|filename|url)\\b`, 'g')

/** `import.meta` is that of the bundle; every module needs its original path. */
function inPlace(placeOf: (path: string) => BundlePlace): Plugin {
  return {
    name: 'in place',
    transform: {
      filter: { id: /\.[jt]s$/, code: /import\.meta\./ },
      handler(code, path) {
        const place = placeOf(path)
        return code.replace(
          OWN_PLACE,
          (_, name: string | undefined, word: 'dirname' | 'filename' | 'url') =>
            name === undefined ? place[word] : place.started(name),
        )
      },
    },
  }
}

/** Packages of many small files that nearly every command loads, or a gate with agents in each of its threads: opening
 * them took most of the time of a start. */
const BUNDLED =
  /^(?:commander|yaml|re2js|unbash|@marcbachmann\/cel-js|(?:zod|@modelcontextprotocol\/(?:server|core))(?:\/.+)?)$/

/** The policy package and a few others are part of the bundle; the rest stays where it is installed. */
function resolvePackages(folder: string, extension: string): Plugin {
  return {
    name: 'packages',
    resolveId: {
      filter: { id: /^[^./\0]/ },
      handler(path, _importer, { isEntry }) {
        if (isEntry || BUNDLED.test(path)) return undefined
        if (path.startsWith(POLICY)) return join(folder, `${path.slice(POLICY.length)}${extension}`)
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
  /\/cli\/main\.[jt]s$/,
  /\/cli\/admin\/status\.[jt]s$/,
  /\/(?:cli\/policy\/(?:commands|check)|gateway\/config\/config)\.[jt]s$/,
  /\/cli\/policy\/explain\.[jt]s$/,
]

interface BundleSources {
  /** The entries, by the name of their file without `.js`. */
  readonly input: Readonly<Record<string, string>>
  readonly placeOf: (path: string) => BundlePlace
  /** Where the modules of the policy package are, and what their names end in. */
  readonly policy: readonly [folder: string, extension: string]
}

export async function bundle(
  { input, placeOf, policy }: BundleSources,
  output: Pick<OutputOptions, 'dir'>,
) {
  const options: RolldownOptions = {
    input,
    platform: 'node',
    transform: { target: 'node24' },
    checks: { ineffectiveDynamicImport: false },
    plugins: [builtins, parsedJson, resolvePackages(...policy), inPlace(placeOf)],
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

if (import.meta.main)
  await bundle(
    {
      input: { main: join(DIST, 'cli', 'main.js') },
      placeOf: (path) => {
        const file = relative(DIST, path)
        const folder = dirname(file)
        return {
          dirname: `(import.meta.dirname + ${JSON.stringify(`/../${folder}`)})`,
          started: (name) =>
            `(import.meta.dirname + ${JSON.stringify(`/../${folder}/${name}.js`)})`,
          filename: `(import.meta.dirname + ${JSON.stringify(`/../${file}`)})`,
          url: `new URL(${JSON.stringify(`../${file}`)}, import.meta.url).href`,
        }
      },
      policy: [join(ROOT, 'dist/policy/dist'), '.js'],
    },
    { dir: join(DIST, 'bundle') },
  )
