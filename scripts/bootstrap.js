// Runs before `start` and `test`. Plain JavaScript without dependencies: it has to run on Node 18
// or 20, with nothing installed yet. If node_modules does not match package-lock.json it runs `npm
// ci`, which also installs the Node that everything else runs on. Compares contents, not times: a
// checkout sets times arbitrarily.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, lstatSync, readFileSync } from 'node:fs'
import { basename, delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const NODE_MAJOR_MIN = 24
const PROGRESS_EVERY_MS = 10_000
const root = dirname(dirname(fileURLToPath(import.meta.url)))
const inRoot = (...parts) => join(root, ...parts)
const readJson = (...parts) => JSON.parse(readFileSync(inRoot(...parts), 'utf8'))

const reason = whyInstall()
if (reason !== undefined) {
  // `npm ci` would empty the link's target, which may belong to another project.
  if (isLink()) fail(`${reason}, and node_modules is a link: install where it leads, or remove it`)
  await install(reason)
}

function isLink() {
  return lstatSync(inRoot('node_modules'), { throwIfNoEntry: false })?.isSymbolicLink() ?? false
}

/** Why an install is needed, or undefined if everything is as locked. */
function whyInstall() {
  if (!existsSync(inRoot('node_modules'))) return 'node_modules is missing'
  if (!existsSync(inRoot('node_modules', '.package-lock.json'))) return 'node_modules is unfinished'
  if (majorOnDisk() < NODE_MAJOR_MIN) return `Node ${NODE_MAJOR_MIN} is not in node_modules`
  const locked = readJson('package-lock.json').packages
  const installed = readJson('node_modules', '.package-lock.json').packages
  for (const [path, entry] of Object.entries(locked)) {
    if (path === '') continue
    const found = installed[path]
    // An optional package may be for another platform.
    const isOptional = entry.optional || entry.devOptional
    if (found === undefined && isOptional && !isForThisPlatform(entry)) continue
    if (found === undefined) return `${path} is not installed`
    if (found.version !== entry.version) return `${path} is not version ${entry.version}`
    if (found.integrity !== entry.integrity) return `${path} is not the one in package-lock.json`
  }
  for (const path of Object.keys(installed)) {
    if (locked[path] === undefined) return `${path} is not in package-lock.json`
  }
  return undefined
}

/** Native parts with `engines`: npm leaves those out without a word if it runs on an older Node than they name. */
function isForThisPlatform({ os, cpu, libc, engines }) {
  if (os === undefined || cpu === undefined || engines?.node === undefined) return false
  if (!os.includes(process.platform) || !cpu.includes(process.arch)) return false
  if (libc === undefined) return true
  const { glibcVersionRuntime } = process.report.getReport().header
  return libc.includes(glibcVersionRuntime === undefined ? 'musl' : 'glibc')
}

/** The version of node_modules/.bin/node, without starting it: this check costs milliseconds. */
function majorOnDisk() {
  if (!existsSync(nodeBinary())) return 0
  try {
    return Number.parseInt(readJson('node_modules', 'node', 'package.json').version, 10)
  } catch {
    return 0
  }
}

function nodeBinary() {
  return inRoot('node_modules', '.bin', process.platform === 'win32' ? 'node.cmd' : 'node')
}

async function install(why) {
  const began = Date.now()
  console.error(`bootstrap: ${why}: running npm ci, which takes a minute or so`)
  const options = ['ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error']
  const progress = setInterval(() => {
    console.error(`bootstrap: npm ci is running, ${seconds(began)} s so far`)
  }, PROGRESS_EVERY_MS)
  let result = await runNpm(options)
  // What npm left out because of the Node that it ran on, it installs on the Node that it has just installed.
  if (result.status === 0 && majorOnDisk() >= NODE_MAJOR_MIN && whyInstall() !== undefined)
    result = await runNpmOnOwnNode(['install', '--no-save', ...options.slice(1)])
  clearInterval(progress)
  if (result.error) fail(`could not start npm: ${result.error.message}`)
  if (result.status !== 0) {
    // npm writes some errors to stdout, which is printed only on failure.
    process.stderr.write(result.stdout)
    fail(`\`npm ci\` failed (${result.signal ?? `exit code ${result.status}`}), see above`)
  }
  const version = nodeVersion()
  if (!(Number.parseInt(version, 10) >= NODE_MAJOR_MIN)) {
    fail(
      `node_modules/.bin/node is \`${version || 'missing'}\` after \`npm ci\`, Node >= ${NODE_MAJOR_MIN} is needed; ` +
        'the install step of the package `node` did not run: look for `ignore-scripts` in `npm config list`',
    )
  }
  console.error(
    `bootstrap: npm ci took ${seconds(began)} s; everything runs on its Node ${version}`,
  )
}

function seconds(began) {
  return ((Date.now() - began) / 1000).toFixed(0)
}

function nodeVersion() {
  const windows = process.platform === 'win32'
  const asked = spawnSync(nodeBinary(), ['--version'], { encoding: 'utf8', shell: windows })
  return (asked.stdout ?? '').trim().replace(/^v/, '')
}

/** npm must not run on the Node inside node_modules: `npm ci` deletes that one first. */
function runNpm(args) {
  const bins = join('node_modules', '.bin')
  const path = (process.env.PATH ?? '').split(delimiter).filter((entry) => !entry.endsWith(bins))
  const env = { ...process.env, PATH: path.join(delimiter) }
  const common = { cwd: root, env, stdio: ['ignore', 'pipe', 'inherit'] }
  const { npm_execpath: cli, npm_node_execpath: node } = process.env
  if (cli && node && basename(cli) === 'npm-cli.js' && !node.includes(bins)) {
    return run(node, [cli, ...args], common)
  }
  return run('npm', args, { ...common, shell: process.platform === 'win32' })
}

/** For what deletes nothing. */
function runNpmOnOwnNode(args) {
  const own = inRoot('node_modules', 'node', 'bin')
  const env = { ...process.env, PATH: [own, process.env.PATH ?? ''].join(delimiter) }
  const common = { cwd: root, env, stdio: ['ignore', 'pipe', 'inherit'] }
  const { npm_execpath: cli } = process.env
  if (cli && basename(cli) === 'npm-cli.js') return run(join(own, 'node'), [cli, ...args], common)
  return run('npm', args, { ...common, shell: process.platform === 'win32' })
}

function run(program, args, options) {
  return new Promise((resolve) => {
    let stdout = ''
    const child = spawn(program, args, options)
    child.stdout.on('data', (chunk) => {
      stdout += chunk
    })
    child.on('error', (error) => resolve({ error, stdout }))
    child.on('close', (status, signal) => resolve({ status, signal, stdout }))
  })
}

function fail(text) {
  console.error(`bootstrap: ${text}`)
  process.exit(1)
}
