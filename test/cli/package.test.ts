// What is published: the packages as `npm pack` makes them, built in a copy so that no other test reads
// a `dist` under construction. They hold what runs and what is read, the command runs from its package,
// and the examples of the libraries run with their package alone. The image runs as a container.

import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { get } from 'node:http'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { listServerTools } from '../../packages/cli/src/servers/list-server-tools.ts'
import { Isolation } from '../../packages/gateway/src/isolation/isolation.ts'
import { Ledger } from '../../packages/ledger/src/ledger.ts'
import { ensureConsole } from '../../scripts/build-console.ts'
import { buildImage, nameImage } from '../../scripts/image.ts'
import { PLATFORMS } from '../../scripts/node-binary.ts'
import { assembleStandalone } from '../../scripts/standalone.ts'
import { findBubblewrap } from '../support/bubblewrap.ts'
import { ROOT } from '../support/modules.ts'
import { findPodman, namePodmanSuite, Podman } from '../support/podman.ts'
import { IS_FULL } from '../support/runs.ts'
import { until } from '../support/start-gate.ts'

const PARTS = ['deploy', 'docs', 'packages', 'scripts', 'site', 'LICENSE', 'package.json']
const CONFIGS = ['', '.base', '.node', '.pure', '.test'].map((kind) => `tsconfig${kind}.json`)

let place = ''
let sluice: string[] = []
let policy: string[] = []

beforeAll(async () => {
  place = mkdtempSync(join(tmpdir(), 'sluice-package-'))
  for (const part of [...PARTS, ...CONFIGS, 'package-lock.json'])
    cpSync(join(ROOT, part), join(place, part), { recursive: true })
  symlinkSync(join(ROOT, 'node_modules'), join(place, 'node_modules'))
  // `npm test` has compiled the same sources for its checks (scripts/test.ts).
  const isCompiled = process.env.SLUICE_TEST_COMPILED !== undefined
  if (isCompiled) {
    // The tests of the console have its page built too, and build it once.
    expect(await ensureConsole()).toBe(true)
    for (const name of [...readdirSync(join(ROOT, 'packages')), 'sluice/dist/console'])
      cpSync(join(ROOT, 'dist', name), join(place, 'dist', name), { recursive: true })
  }
  const how = isCompiled ? '--compiled' : '--no-check'
  execFileSync(process.execPath, ['scripts/build.ts', how], { cwd: place, stdio: 'pipe' })
  ;[sluice, policy] = listPacked(['sluice', 'policy'])
}, 300_000)
afterAll(() => rmSync(place, { recursive: true, force: true }))

test('they hold what runs and what is read, and no sources and tests', () => {
  const published = (name: string): string[] => {
    const { exports } = JSON.parse(readFileSync(join(place, 'dist', name, 'package.json'), 'utf8'))
    return JSON.stringify(exports).match(/(?<=\.\/)(dist|schema)\/[^"*]+(?=")/g) ?? []
  }
  const command = [
    'bin/sluice.js',
    'dist/bundle/main.js',
    'dist/console/index.html',
    'packs/github/policy.yaml',
  ]
  const needed = [
    ...command,
    'docs/reference/errors.md',
    'README.md',
    'LICENSE',
    ...published('sluice'),
  ]
  expect(needed.filter((path) => !sluice.includes(path))).toEqual([])
  expect(published('policy').filter((path) => !policy.includes(path))).toEqual([])
  const foreign =
    /^(src|page|test|scripts|bench|examples)\/|\.test\.|test-support|tsbuildinfo|(?<!\.d)\.ts$/
  expect([...sluice, ...policy].filter((path) => foreign.test(path))).toEqual([])
})

test('they say where they come from', () => {
  for (const name of ['policy', 'guard', 'catalogue', 'agents', 'sluice']) {
    const manifest = JSON.parse(readFileSync(join(place, 'dist', name, 'package.json'), 'utf8'))
    const { version } = JSON.parse(readFileSync(join(ROOT, 'packages/cli/package.json'), 'utf8'))
    expect(manifest).toMatchObject({
      version,
      license: 'Apache-2.0',
      repository: { type: 'git', directory: `packages/${name === 'sluice' ? 'cli' : name}` },
      homepage: expect.stringMatching(/^https:/),
      bugs: expect.stringMatching(/^https:/),
    })
  }
})

test('the command runs from it, and finds the processes that it starts', () => {
  const run = (...args: string[]) =>
    spawnSync(process.execPath, [join(place, 'dist/sluice/bin/sluice.js'), ...args], {
      cwd: place,
      encoding: 'utf8',
    })
  writeFileSync(join(place, 'policy.yaml'), 'version: 1\ndefault: deny\n')
  const explained = run('policy', 'explain', 'a/b', '--policy', 'policy.yaml')
  expect([explained.status, explained.stdout]).toEqual([1, expect.stringContaining('deny DENIED')])
  Ledger.open({ directory: join(place, 'data') }).close()
  const asked = run('ledger', 'query', '--data', 'data', '--sql', 'SELECT 41 + 1 AS answer')
  expect([asked.status, asked.stdout], asked.stderr).toEqual([0, expect.stringContaining('42')])
})

test('with Node inside it runs where there is no Node, by a link and with an empty PATH', () => {
  const target = join(place, 'standalone')
  assembleStandalone({ root: place, target, node: process.execPath })
  symlinkSync(join(target, 'bin/sluice'), join(place, 'linked'))
  const run = (command: string, ...args: string[]) =>
    spawnSync(command, args, { cwd: place, encoding: 'utf8', env: { PATH: '' } })
  const command = join(target, 'bin/sluice')
  const explained = run(command, 'policy', 'explain', 'a/b', '--policy', 'policy.yaml')
  expect([explained.status, explained.stdout], explained.stderr).toEqual([
    1,
    expect.stringContaining('deny DENIED'),
  ])
  expect(run(join(place, 'linked'), 'policy', 'add').stdout).toContain('github')
})

/** What a program has that installs the package: copies, because a link would let it find what is installed here. */
function installAlone(name: string, modules: string, seen = new Set<string>()): void {
  if (seen.has(name)) return
  seen.add(name)
  const own = /^@sluice\/(.+)$/.exec(name)?.[1]
  const from = own === undefined ? join(ROOT, 'node_modules', name) : join(place, 'dist', own)
  if (!existsSync(from)) return
  cpSync(from, join(modules, name), { recursive: true })
  const { dependencies = {} } = JSON.parse(readFileSync(join(from, 'package.json'), 'utf8')) as {
    dependencies?: Record<string, string>
  }
  for (const other of Object.keys(dependencies)) installAlone(other, modules, seen)
}

test.each([
  ['policy', 'allow\nrequire_approval\ndeny\n'],
  ['guard', 'injection\ntrue\n'],
  ['catalogue', 'Destructive, high risk\n'],
  ['agents', 'hello\n'],
])('the example of the README of %s runs with that package alone', (name, printed) => {
  const readme = readFileSync(join(ROOT, 'packages', name, 'README.md'), 'utf8')
  const text = /^```ts library\.mts\n(.*?)^```$/ms.exec(readme)?.[1] ?? ''
  const folder = join(place, `library-${name}`)
  mkdirSync(folder)
  installAlone(`@sluice/${name}`, join(folder, 'node_modules'))
  // As `npm init -y` writes it.
  writeFileSync(join(folder, 'package.json'), '{ "type": "commonjs" }')
  writeFileSync(join(folder, 'library.mts'), text)
  const stdout = execFileSync(process.execPath, ['library.mts'], { cwd: folder, encoding: 'utf8' })
  expect(stdout).toBe(printed)
})

const podman = findPodman()
const platform = PLATFORMS.find((each) => each === `${process.platform}-${process.arch}`)
const canRunImage = podman !== undefined && platform !== undefined
describe.skipIf(!canRunImage)(namePodmanSuite('the image', podman), () => {
  let containers: Podman

  beforeAll(() => {
    containers = new Podman(podman ?? '')
    const file = join(place, 'image.tar')
    buildImage({ root: place, node: process.execPath, platform: platform ?? 'linux-x64', file })
    containers.run('load', '--input', file)
  })
  afterAll(() => containers?.end())

  test('serves with a read-only root, no capabilities and no root, isolates, and ends with 0', async () => {
    // JSON is YAML.
    const config = {
      version: 1,
      data: '/var/lib/sluice/data',
      policy: './policy.yaml',
      servers: { agents: { builtin: 'agents' }, looks: { command: ['node', '-e', LOOK] } },
    }
    writeFileSync(join(place, 'alone.yaml'), JSON.stringify(config))
    const mount = ['--volume', `${join(place, 'alone.yaml')}:/etc/sluice/sluice.yaml:ro`]
    const options = ['no-new-privileges', 'unmask=ALL'].flatMap((each) => ['--security-opt', each])
    const hardened = ['--read-only', '--cap-drop', 'all', ...options]
    const how = [
      '--detach',
      '--replace',
      '--name',
      'gate',
      '--network',
      'none',
      ...hardened,
      ...mount,
    ]
    containers.run('run', ...how, nameImage(place))
    const ask =
      "fetch('http://127.0.0.1:7433/healthz').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"
    await until(() => containers.try('exec', 'gate', 'node', '-e', ask).status === 0)
    const status = containers.run('exec', 'gate', 'sluice', 'status')
    expect(status).toMatch(/^ready\n/)
    expect(status).toMatch(/server looks \(stdio\).*sandbox: floor/)
    const seen = containers.run('exec', 'gate', 'node', '-e', `(${initialize})('looks')`)
    expect(seen).toContain('"name":"sees no key and none but itself"')
    const look = `const fs = require('node:fs')
      const code = (path) => { try { fs.writeFileSync(path, ''); return 'written' } catch ({ code }) { return code } }
      console.log(process.getuid(), code('/etc/sluice/policy.yaml'), code('/var/lib/sluice/x'), fs.existsSync('/bin/sh'))`
    expect(containers.run('exec', 'gate', 'node', '-e', look)).toBe('1000 EROFS written false')
    containers.run('stop', '--time', '20', 'gate')
    expect(containers.run('inspect', '--format', '{{.State.ExitCode}}', 'gate')).toBe('0')
  })

  test.runIf(IS_FULL)(
    'the command of the page works as printed, with the sluice.yaml of the page',
    async () => {
      const page = readFileSync(join(ROOT, 'docs/how-to/install.md'), 'utf8')
      const [, config = ''] = /```yaml\n(# gate\/sluice\.yaml\n.*?)```/s.exec(page) ?? []
      const [, words = ''] = /^podman (run .*?)\npodman exec/ms.exec(page) ?? []
      const folder = join(place, 'gate')
      mkdirSync(folder)
      writeFileSync(join(folder, 'sluice.yaml'), config)
      writeFileSync(join(folder, 'policy.yaml'), 'version: 1\ndefault: deny\n')
      const printed = words.replaceAll("'", '').split(/[\s\\]+/)
      // Only where the folder is and which port of the machine is free differ.
      const [run = '', ...rest] = printed.map((word) =>
        word.replace('./gate', folder).replace('127.0.0.1:7433', '127.0.0.1:'),
      )
      containers.run(run, '--detach', '--name', 'page', ...rest)
      const [, port] = /:(\d+)$/.exec(containers.run('port', 'page', '7433')) ?? []
      const isHealthy = () => containers.try('healthcheck', 'run', 'page').status === 0
      await until(isHealthy)
      const answer = new Promise((resolve) => {
        const options = { port, path: '/healthz', headers: { host: 'localhost:7433' } }
        get(options, ({ statusCode }) => resolve(statusCode))
      })
      expect(await answer).toBe(200)
      expect(containers.run('exec', 'page', 'sluice', 'status')).toContain('server notes (http)')
      containers.run('rm', '--force', '--time', '5', 'page')
    },
  )

  const canIsolate = findBubblewrap() !== undefined
  test.runIf(canIsolate)('a container of a daemon is a server on the floor', async () => {
    const socket = `unix://${join(place, 'daemon.sock')}`
    const env = containers.env as Record<string, string>
    const daemon = spawn(containers.file, ['system', 'service', '--time', '0', socket], { env })
    try {
      await until(() => existsSync(join(place, 'daemon.sock')))
      const server = ['--entrypoint', 'node', nameImage(place), '-e', LOOK]
      // As `docker run`: the command line talks to a daemon that has the rights.
      const run = ['--remote', '--url', socket, 'run', '--interactive', '--rm', ...server]
      const command = [containers.file, ...run]
      const data = join(place, 'data')
      const isolation = await Isolation.open({ config: { data }, own: [data], keys: '' })
      const started = { name: 'box', command, cwd: place, env, sandbox: undefined }
      const words = isolation.wrap(started)?.words ?? []
      const tools = await listServerTools('box', { command: words, cwd: place, env })
      expect(tools).toMatchObject([{ name: 'look' }])
    } finally {
      daemon.kill()
      await once(daemon, 'exit')
    }
  })
})

/** A server whose name is what it sees. */
const LOOK = `
const fs = require('node:fs')
const key = fs.existsSync('/var/lib/sluice/data/identity.key') ? 'a key' : 'no key'
const others = fs.readdirSync('/proc').some((each) => /^\\d+$/.test(each) && !['1', '2', String(process.pid)].includes(each))
require('node:readline').createInterface(process.stdin).on('line', (line) => {
  const { id } = JSON.parse(line)
  const serverInfo = { name: 'sees ' + key + ' and ' + (others ? 'others' : 'none but itself'), version: '1' }
  const tools = [{ name: 'look', inputSchema: { type: 'object' } }]
  const result = { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo, tools }
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, result }))
})`

/** Runs in the container. */
async function initialize(server: string): Promise<void> {
  const params = {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'x', version: '1' },
  }
  const answer = await fetch(`http://127.0.0.1:7433/mcp/${server}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params }),
  })
  console.log(await answer.text())
}

/** Of empty copies of the files: npm chooses by name, and to compress the real ones takes most of its time. */
function listPacked(names: [string, string]): [string[], string[]] {
  const folders = names.map((name) => {
    const [from, to] = [join(place, 'dist', name), join(place, 'listed', name)]
    for (const entry of readdirSync(from, { recursive: true, withFileTypes: true })) {
      // Declarations are chosen as the module beside them, and every file takes npm a millisecond.
      if (/(?<!index)\.d\.ts$/.test(entry.name)) continue
      const file = join(entry.parentPath, entry.name)
      const copy = join(to, relative(from, file))
      if (entry.isDirectory()) mkdirSync(copy, { recursive: true })
      else {
        mkdirSync(dirname(copy), { recursive: true })
        // The files that npm reads.
        const isRead = /^(?:package\.json|\..+)$/.test(entry.name)
        writeFileSync(copy, isRead ? readFileSync(file) : '')
      }
    }
    return `./listed/${name}`
  })
  const answer = execFileSync('npm', ['pack', '--dry-run', '--json', ...folders], {
    cwd: place,
    encoding: 'utf8',
    stdio: 'pipe',
  })
  const packed = JSON.parse(answer) as { files: { path: string }[] }[]
  const [first = [], second = []] = packed.map(({ files }) => files.map(({ path }) => path))
  return [first, second]
}
