#!/usr/bin/env node
// The `sluice` command. Plain JavaScript that also parses on old Nodes, so that it can say which
// Node is needed. In a clone it runs src/main.ts (Node strips the types), in the published
// package dist/bundle/main.js. Where this Node is too old and the clone has its own, it hands over.
const { existsSync, mkdirSync, readFileSync, statSync } = await load('node:fs')
const { dirname, join } = await load('node:path')
const { fileURLToPath, pathToFileURL } = await load('node:url')

const NODE_MAJOR_MIN = 24
const home = dirname(dirname(fileURLToPath(import.meta.url)))
const source = join(home, 'src', 'main.ts')
const isClone = existsSync(source)
// In a clone everything is installed at the root of the repository.
const root = isClone ? dirname(dirname(home)) : home
const isNewEnough = Number.parseInt(process.versions.node, 10) >= NODE_MAJOR_MIN

if (isClone && !existsSync(join(root, 'node_modules'))) {
  refuse(`nothing is installed in ${root}: run \`npm ci\` first`)
} else if (process.argv[2] === '--version') {
  // Without loading the command: scripts ask for it often.
  process.stdout.write(`${JSON.parse(readFileSync(join(home, 'package.json'), 'utf8')).version}\n`)
} else if (isNewEnough) {
  await run()
} else if (ownNodeMajor() >= NODE_MAJOR_MIN) {
  await handOver(join(root, 'node_modules', 'node', 'bin', 'node'))
} else {
  const advice = isClone
    ? 'run `npm ci` first, it brings one along'
    : `install Node ${NODE_MAJOR_MIN} from https://nodejs.org, or use the bundle of sluice with Node inside`
  refuse(`sluice needs Node >= ${NODE_MAJOR_MIN}, this is ${process.version}: ${advice}`)
}

/** Not by `import`, which reads each export of a module, and some of those load much more. */
function load(name) {
  return process.getBuiltinModule?.(name) ?? import(name)
}

/** Compiled code is kept beside the sources that it was compiled from: whoever can write there can write those too. In
 * a folder of the user it would be a way into the gate for an agent with a file tool. */
async function keepCompiledCode(folder) {
  const user = process.getuid?.()
  try {
    // Files of root in a user's package, or the reverse, could not be removed with it.
    if (user === undefined || statSync(dirname(folder)).uid !== user) return
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const { mode, uid } = statSync(folder)
    if (uid !== user || (mode & 0o022) !== 0) return
    const { enableCompileCache } = await load('node:module')
    enableCompileCache(folder)
  } catch {
    // A package that cannot be written to, as on a read-only disk: every start compiles.
  }
}

async function run() {
  await keepCompiledCode(
    join(isClone ? join(root, 'node_modules') : join(home, 'dist'), '.compiled'),
  )
  const entry = isClone ? source : join(home, 'dist', 'bundle', 'main.js')
  let cli
  try {
    cli = await import(pathToFileURL(entry).href)
  } catch (error) {
    // A package that the lock file names and node_modules lacks; anything else is a fault of ours.
    if (!isClone || error?.code !== 'ERR_MODULE_NOT_FOUND' || !/package '/.test(error.message)) {
      process.stderr.write(`${error?.stack ?? error}\n`)
      refuse('sluice could not be loaded: this is a fault of ours')
      return
    }
    refuse(`${error.message}: run \`npm ci\` first`)
    return
  }
  process.exitCode = await cli.main(process.argv.slice(2))
}

function ownNodeMajor() {
  try {
    if (!existsSync(join(root, 'node_modules', 'node', 'bin', 'node'))) return 0
    const own = readFileSync(join(root, 'node_modules', 'node', 'package.json'), 'utf8')
    return Number.parseInt(JSON.parse(own).version, 10)
  } catch {
    return 0
  }
}

/** Runs the same command on `node` and ends as it ended, exit code or signal. */
async function handOver(node) {
  // Loaded only here: a short command is mostly loading.
  const { spawn } = await import('node:child_process')
  const child = spawn(node, process.argv.slice(1), { stdio: 'inherit' })
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP']
  for (const signal of signals) {
    process.on(signal, () => {
      // A terminal sends Ctrl-C to both of us; the child must not see it twice.
      if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal)
    })
  }
  child.on('error', (error) => refuse(`could not start ${node}: ${error.message}`))
  child.on('exit', (code, signal) => {
    for (const each of signals) process.removeAllListeners(each)
    if (signal) process.kill(process.pid, signal)
    else process.exitCode = code ?? 1
  })
}

function refuse(text) {
  process.stderr.write(`${text}\n`)
  process.exitCode = 2
}
