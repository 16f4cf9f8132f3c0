// `npm start` as a newcomer has it: the demonstration serves, a real client uses it, short commands load
// little, and Ctrl-C leaves nothing behind.

import { execFile, spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { ROOT } from '../support/modules.ts'
import { serveGate } from '../support/own-gate.ts'
import { throughGate } from '../support/real-client.ts'
import { sluice } from '../support/run-sluice.ts'
import { endGates, fixture, NODE, published, RunningGate, SLUICE } from '../support/start-gate.ts'

/** Rejects if the exit code is not 0. */
const execute = promisify(execFile)

test('npm start', async () => {
  const child = spawn(NODE, [join(ROOT, 'scripts', 'start.ts'), '--port', '0'])
  const gate = new RunningGate('', child)
  let output = ''
  try {
    await new Promise<void>((resolve) => {
      child.stdout.on('data', (chunk: Buffer) => {
        output += chunk.toString()
        gate.url = /^sluice ready (\S+)$/m.exec(output)?.[1] ?? ''
        if (gate.url !== '') resolve()
      })
    })
    const [path = ''] = /\/\S+hello\.txt/.exec(output) ?? []
    const { client, close } = await throughGate(gate, 'filesystem')
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).not.toContain('directory_tree')
    const read = await client.callTool({ name: 'read_text_file', arguments: { path } })
    expect(JSON.stringify(read.content)).toContain('read through the gate')
    const args = { source: path, destination: `${path}.2` }
    const moved = await client.callTool({ name: 'move_file', arguments: args })
    expect(JSON.stringify(moved.content)).toContain('files stay where they are')
    const results: unknown[] = []
    for (let time = 0; time < 4; time++)
      results.push(
        (await client.callTool({ name: 'write_file', arguments: { path, content: 'x' } })).isError,
      )
    expect(results).toEqual([undefined, undefined, undefined, true])
    await close()
    // What it says to paste.
    expect(output).toMatch(/"url": "http:\/\/127\.0\.0\.1:\d+\/mcp" /)
    const all = await throughGate(gate, '')
    const { tools: both } = await all.client.listTools()
    expect(both.map(({ name }) => name)).toContain('memory__read_graph')
    expect(both.map(({ name }) => name)).toContain('filesystem__read_text_file')
    expect(both.map(({ name }) => name)).not.toContain('filesystem__directory_tree')
    await all.close()
    expectDemo(await execute(NODE, [SLUICE, 'demo', '--url', gate.url]))
    for (const [line, files] of SHORT_COMMANDS) {
      const demo = dirname(dirname(path))
      const loaded = listLoaded(line.replace('DATA', join(demo, 'data')).split(' '))
      expect(loaded, line).toEqual({ files, slow: [], wide: [] })
    }
    child.kill('SIGINT')
    expect(await gate.exited).toBe(0)
    expect(existsSync(path)).toBe(false)
  } finally {
    child.kill('SIGKILL')
  }
  // The demonstration waits for approvals that nobody gives.
}, 300_000)

test('the demonstration leaves another gate alone, and says what is there', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-other-'))
  const other = createServer((_request, response) => response.writeHead(200).end('<html>'))
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
  const { port } = other.address() as { port: number }
  const demo = (url: string) => sluice(['demo', '--url', url])
  try {
    const gate = await serveGate({ servers: { filesystem: published('filesystem', folder) } })
    const elsewhere = await serveGate({ servers: { echo: fixture('echo') } })
    for (const { url } of [gate, elsewhere]) {
      const said = `another gate answers at ${url}, not that of \`npm start\``
      expect(await demo(url)).toMatchObject({ code: 2, stderr: expect.stringContaining(said) })
    }
    expect(readdirSync(folder)).toEqual([])
    const url = `http://127.0.0.1:${port}`
    expect((await demo(url)).stderr).toContain(`another program answers at ${url}`)
    await new Promise((resolve) => other.close(resolve))
    expect((await demo(url)).stderr).toContain(`no gate answers at ${url}`)
  } finally {
    other.close()
    await endGates()
    rmSync(folder, { recursive: true })
  }
})

/** Ten scenes, each as meant, by a rule that stands in the policy. */
function expectDemo({ stdout }: { readonly stdout: string }): void {
  const policy = readFileSync(join(ROOT, 'examples', 'demo', 'policy.yaml'), 'utf8')
  const rules = [...stdout.matchAll(/^ {2}by (.*)$/gm)].map(([, rule]) => rule)
  expect(rules).toHaveLength(10)
  for (const rule of rules) expect(policy).toContain(`${rule}\n`)
  // The call of the agent was denied as a client's is, and it goes on.
  expect(stdout).toContain('cancelled   move it to an archive')
  expect(stdout).toContain('"isStopped":false')
  expect(stdout).toContain('stands in the text of an answer of `filesystem/read_text_file`')
}

/** The files of the bundle that a short command loads: scripts/bundle.ts makes one for each of them. Another one
 * means that it imports more than it needs, or that something has to be imported when it is used. */
const SHORT_COMMANDS: [line: string, files: string[]][] = [
  ['--help', ['main', 'short-0']],
  ['status --data DATA', ['main', 'short-0', 'short-1']],
  ['policy check examples/demo/policy.yaml', ['main', 'short-0', 'short-1', 'short-2']],
  [
    'policy explain memory/read_graph --policy examples/demo/policy.yaml',
    ['main', 'short-0', 'short-1', 'short-2', 'short-3'],
  ],
]
/** Modules of Node that take a tenth of a short command or more. */
const SLOW =
  /^(?:child_process|http|https|http2|tls|sqlite|worker_threads|fs\/promises|inspector|readline|internal\/deps\/undici\/undici)$/
const LISTER = `data:text/javascript,${encodeURIComponent(`
const files = []
process.getBuiltinModule('node:module').registerHooks({
  load(url, context, next) {
    files.push(url)
    return next(url, context)
  },
})
process.on('exit', () => process.stderr.write('\\n' + JSON.stringify([files, process.moduleLoadList])))`)}`

/** What a command has loaded when it ends. `wide`: files that V8 holds in two bytes a character, as it does for one
 * character that is not ASCII. */
function listLoaded(words: readonly string[]): Record<'files' | 'slow' | 'wide', string[]> {
  const { stderr } = spawnSync(NODE, ['--import', LISTER, SLUICE, ...words], {
    cwd: ROOT,
    encoding: 'utf8',
    // A client with hooks there is looked at, which takes more.
    env: { ...process.env, HOME: tmpdir() },
  })
  const [urls, modules] = JSON.parse(stderr.slice(stderr.lastIndexOf('\n'))) as string[][]
  const files = (urls ?? []).map((url) => url.slice(url.lastIndexOf('/') + 1))
  return {
    files: files
      .filter((name) => !/^(?:sluice|rolldown-runtime)/.test(name))
      .map((name) => name.replace(/(-\d+)?(?:-[0-9a-f]{8})?\.js$/, '$1'))
      .sort(),
    wide: (urls ?? []).filter((url) => /[^\0-\x7f]/.test(readFileSync(fileURLToPath(url), 'utf8'))),
    slow: (modules ?? [])
      .map((each) => each.replace(/^NativeModule /, ''))
      .filter((each) => SLOW.test(each)),
  }
}
