// Servers on the floor: a shell behind the gate tries to read and change the gate's files and to reach other
// processes by every way that is not its argument's text. As the user of the tests and, as root, as another.

import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { ORDINARY_USER, OWN_USER } from '../support/boxes.ts'
import { findBubblewrap, nameBubblewrapSuite } from '../support/bubblewrap.ts'
import { atTerminal } from '../support/person.ts'
import { PlainClient } from '../support/plain-client.ts'
import { sluice } from '../support/run-sluice.ts'
import {
  endGates,
  installed,
  NODE,
  published,
  type RunningGate,
  startGate,
  until,
} from '../support/start-gate.ts'

const BWRAP = findBubblewrap()
const SECRET = 'only-for-the-gate'
const SHELL = installed('mcp-server-commands/build/index.js')
const SAVES_AT_ITS_END =
  'trap "echo saved > saved; exit 0" TERM; echo > started; while :; do sleep 0.05; done'

const made: string[] = []

/** A folder with the gate's files, other files, and links to the gate's. */
function makeFolder(): string {
  const outer = mkdtempSync(join(tmpdir(), 'sluice-floor-'))
  made.push(outer)
  const folder = join(outer, 'project')
  mkdirSync(join(folder, 'sub'), { recursive: true })
  writeFileSync(join(folder, 'hello.txt'), 'read through the gate')
  writeFileSync(join(folder, 'sluice.env'), `KEY=${SECRET}\n`, { mode: 0o600 })
  symlinkSync('sluice.env', join(folder, 'harmless.txt'))
  symlinkSync('.', join(folder, 'link'))
  return folder
}

afterAll(() => {
  for (const folder of made) rmSync(folder, { recursive: true, force: true })
})

/** What a line of shell says, run by a server that knows the gate's folder as `$G`. Encoded, so that only
 * isolation can stop it. */
async function runLine(client: PlainClient, line: string): Promise<string> {
  const encoded = Buffer.from(line).toString('base64')
  const command = `echo ${encoded} | base64 -d | sh; echo ran`
  const { answer } = await client.call('run_command', { command })
  const said = JSON.stringify(answer)
  expect(said).toContain('ran')
  return said
}

describe.runIf(BWRAP !== undefined).each(OWN_USER)(
  nameBubblewrapSuite('on the floor, as user %s', BWRAP),
  (uid) => {
    let gate: RunningGate
    let shell: PlainClient
    let files: PlainClient

    beforeAll(async () => {
      const folder = makeFolder()
      if (uid !== undefined) execFileSync('chown', ['-R', `${uid}:${uid}`, join(folder, '..')])
      const servers = {
        shell: { ...SHELL, env: { G: folder } },
        files: published('filesystem', folder),
        open: { ...SHELL, env: { G: folder }, sandbox: 'off' },
        slow: { command: ['sh', '-c', SAVES_AT_ITS_END] },
        boxes: { command: ['docker', 'run', '--interactive', 'an-image'] },
      }
      gate = await startGate({ folder, servers, ...(uid === undefined ? {} : { uid }) })
      shell = await PlainClient.open(gate, 'shell')
      files = await PlainClient.open(gate, 'files')
    })
    afterAll(endGates)

    test.each([
      'cat $G/sluice.env',
      'cd $G && cat sluice.env',
      'cat $G/s*.env $G/*.yaml',
      'cat $G/harmless.txt $G/link/link/sluice.env',
      'grep -r only-for $G; grep -ra "" $G/data; find $G/data -type f | xargs cat',
      'cat /proc/1/root$G/sluice.env; cat /proc/self/root$G/sluice.env',
      'ls -l /proc/self/fd; for p in /proc/[0-9]*; do cat $p/environ $p/root$G/sluice.env; done',
      'umount $G/sluice.env; cat $G/sluice.env',
      'unshare -rm sh -c "umount $G/sluice.env; cat $G/sluice.env"',
      'ln $G/sluice.env $G/other; cat $G/other; cp $G/sluice.env $G/copy; cat $G/copy',
      'mv $G/sluice.env $G/moved; mv $G/data $G/gone; cat $G/moved',
      'mv $G $G-away && mkdir $G && echo x > $G/sluice.yaml; cat $G-away/sluice.env',
    ])('F4: the gate’s files are not there for `%s`', async (line) => {
      const before = readFileSync(join(gate.folder, 'sluice.env'), 'utf8')
      expect(await runLine(shell, line)).not.toContain(SECRET)
      expect(readFileSync(join(gate.folder, 'sluice.env'), 'utf8')).toBe(before)
      expect(existsSync(join(gate.data, 'identity.key'))).toBe(true)
    })

    test('without isolation they are', async () => {
      const open = await PlainClient.open(gate, 'open')
      expect(await runLine(open, 'cat $G/harmless.txt')).toContain(SECRET)
    })

    test('a file server that is rooted at them does not read, write or list what they hold', async () => {
      for (const path of ['sluice.env', 'harmless.txt', 'link/sluice.env', 'data/identity.key']) {
        const { answer } = await files.call('read_text_file', { path: join('sub/..', path) })
        expect(answer.result.isError).toBe(true)
      }
      const tree = await files.call('directory_tree', { path: '.' })
      expect(JSON.stringify(tree.answer)).not.toMatch(/identity|gate\.db/)
      const { text } = await files.call('read_text_file', { path: join(gate.folder, 'hello.txt') })
      expect(text).toContain('read through the gate')
    })

    test('everything else is as it was: other files, temporary files, devices, the network', async () => {
      const line = [
        'cat $G/hello.txt; echo written > $G/new.txt; mv $G/new.txt $G/sub/new.txt; cat $G/sub/new.txt',
        'echo 6 > notes.txt; cat notes.txt; head -c 3 /dev/zero | wc -c; mktemp',
        'wc -l < /proc/net/tcp; id -u',
      ].join('; ')
      const said = await runLine(shell, line)
      for (const part of ['read through the gate', 'written', '6', '3', '/tmp/'])
        expect(said).toContain(part)
      expect(existsSync(join(gate.folder, 'sub', 'new.txt'))).toBe(true)
    })

    test('it sees no process but its own', async () => {
      const said = await runLine(shell, `ls -d /proc/[0-9]* | wc -l; kill ${gate.process.pid}`)
      expect(said).toMatch(/"text":"\d\\n/)
      expect(gate.process.exitCode).toBe(null)
    })

    test('a file of the gate that is replaced is hidden again', async () => {
      const fresh = join(gate.folder, 'fresh')
      writeFileSync(fresh, `KEY=${SECRET}-2\n`, { mode: 0o600 })
      renameSync(fresh, join(gate.folder, 'sluice.env'))
      await until(async () => !(await runLine(shell, 'cat $G/sluice.env')).includes(SECRET))
    })

    // The commands of these tests run as root.
    const asRoot = uid === undefined ? test : () => {}
    asRoot('`sluice status` and `doctor` say so', async () => {
      const at = ['--config', join(gate.folder, 'sluice.yaml')]
      const { stdout } = await sluice(['status', ...at])
      expect(stdout).toMatch(/server shell \(stdio\).*sandbox: floor/)
      expect(stdout).not.toContain('unconfined')
      expect(stdout).toMatch(/server open \(stdio\).*sandbox: off/)
      // The name of `docker` for a podman, which has no daemon with rights.
      const bin = join(gate.folder, 'bin')
      mkdirSync(bin)
      writeFileSync(join(bin, 'docker'), '#!/bin/sh\nexec podman "$@"\n', { mode: 0o755 })
      vi.stubEnv('PATH', `${bin}:${process.env.PATH}`)
      const doctor = (await sluice(['doctor', ...at])).stdout
      vi.unstubAllEnvs()
      expect(doctor).toMatch(/ok +sandbox +shell: floor/)
      expect(doctor).toMatch(/warn +sandbox +boxes: floor, but `docker` needs rights/)
      expect(doctor).toContain('write `sandbox: off` under `boxes`')
    })

    test('a server that ends at SIGTERM has the time to save', async () => {
      void PlainClient.open(gate, 'slow').catch(() => {})
      const folder = join(gate.data, 'servers', 'slow')
      await until(() => existsSync(join(folder, 'started')))
      await gate.stop()
      expect(readFileSync(join(folder, 'saved'), 'utf8')).toBe('saved\n')
    })
  },
)

describe.runIf(BWRAP !== undefined)(nameBubblewrapSuite('processes on the floor', BWRAP), () => {
  afterEach(endGates)

  const countProcesses = (word: string): number =>
    execFileSync('ps', ['ax', '-o', 'args'], { encoding: 'utf8' })
      .split('\n')
      .filter((line) => line.startsWith(`sleep ${word}`)).length

  test('of 20 servers that fork twice none is left when the gate is killed', async () => {
    const seconds = String(100_000 + process.pid)
    const command = [
      'sh',
      '-c',
      `(setsid sh -c 'sleep ${seconds} & sleep ${seconds}' &); sleep ${seconds}`,
    ]
    const names = Array.from({ length: 20 }, (_, at) => `s${at}`)
    const servers = Object.fromEntries(names.map((name) => [name, { command }]))
    const gate = await startGate({ servers, config: { processes: { max: 30 } } })
    for (const name of names) void PlainClient.open(gate, name).catch(() => {})
    await until(() => countProcesses(seconds) === 60)
    await gate.kill()
    await until(() => countProcesses(seconds) === 0)
  })
})

describe('without bubblewrap', () => {
  afterEach(async () => {
    vi.unstubAllEnvs()
    await endGates()
  })

  test('servers start unconfined, and the start, `status` and `doctor` name the package', async () => {
    vi.stubEnv('PATH', '/nowhere')
    const gate = await startGate({ servers: { memory: published('memory') } })
    const client = await PlainClient.open(gate, 'memory')
    expect((await client.call('read_graph', {})).answer.result.isError).toBeUndefined()
    const line = /servers run unconfined: (install the package `bubblewrap`|isolation needs Linux)/
    expect(gate.log).toMatch(line)
    const at = ['--config', join(gate.folder, 'sluice.yaml')]
    expect((await sluice(['status', ...at])).stdout).toMatch(line)
    expect((await sluice(['doctor', ...at])).stdout).toMatch(line)
  })

  test('`isolation: required` refuses', async () => {
    vi.stubEnv('PATH', '/nowhere')
    const servers = { memory: published('memory') }
    const gate = await startGate({ servers, config: { isolation: 'required' } })
    await expect(PlainClient.open(gate, 'memory')).rejects.toThrow(/isolation: required/)
    expect(gate.log).toMatch(/servers do not start: /)
    const { stdout } = await sluice(['status', '--config', join(gate.folder, 'sluice.yaml')])
    expect(stdout).toMatch(
      /servers do not start: .*\n(?:.*\n)*server memory .*sandbox: not started/,
    )
    expect(stdout + gate.log).not.toContain('unconfined')
  })
})

/** A program that reaches a host as servers do, without any proxy setting, and prints what came back. */
const REACH = `
const [, , url] = process.argv
fetch(url).then(async (r) => console.log('got', await r.text()), (e) => console.log('failed', e.cause?.code ?? e.message))
`

describe.runIf(BWRAP !== undefined).each(ORDINARY_USER)(
  nameBubblewrapSuite('a locked server, as user %s', BWRAP),
  (uid) => {
    let gate: RunningGate
    let shell: PlainClient
    let web: Server
    let port: number
    let alerts = ''

    beforeAll(async () => {
      web = createServer((request, response) => {
        request.on('data', (chunk: Buffer) => {
          alerts += chunk
        })
        response.end('the page')
      })
      await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve))
      port = (web.address() as AddressInfo).port
      const folder = makeFolder()
      for (const name of ['own', 'notes']) mkdirSync(join(folder, name))
      writeFileSync(join(folder, 'own', '.bashrc'), SECRET)
      symlinkSync(join(folder, 'own'), join(folder, 'notes', 'out'))
      writeFileSync(join(folder, 'reach.js'), REACH)
      if (uid !== undefined) execFileSync('chown', ['-R', `${uid}:${uid}`, join(folder, '..')])
      const env = { G: folder, R: join(folder, 'reach.js'), N: NODE }
      const read = [join(folder, 'reach.js'), join(folder, 'hello.txt')]
      const sandbox = { read, write: ['./notes'], hosts: [`localhost:${port}`, '*.allowed.test'] }
      const servers = {
        shell: { ...SHELL, env, sandbox },
        whole: { ...SHELL, env, sandbox: { write: ['.'] } },
      }
      const webhook = { url: `http://127.0.0.1:${port}/`, secret: 'a secret of sixteen characters' }
      const config = { approvals: { webhook }, alerts: { every: '1s', on: ['sandbox'] } }
      gate = await startGate({ folder, servers, config, ...(uid === undefined ? {} : { uid }) })
      shell = await PlainClient.open(gate, 'shell')
    })
    afterAll(async () => {
      web.close()
      await endGates()
    })

    test('reads and writes what its profile names', async () => {
      const line =
        'cat $G/hello.txt; echo kept > $G/notes/n; cat $G/notes/n; echo brief > /tmp/t; cat /tmp/t; pwd'
      const said = await runLine(shell, line)
      for (const part of ['read through the gate', 'kept', 'brief', 'servers/shell'])
        expect(said).toContain(part)
      expect(readFileSync(join(gate.folder, 'notes', 'n'), 'utf8')).toBe('kept\n')
    })

    test.each([
      'cat $G/own/.bashrc; cat $G/notes/out/.bashrc; ls -R $G',
      'echo x >> $G/own/.bashrc; echo x > $G/hello.txt; touch /etc/x && echo wrote',
      'cat $G/sluice.env; cat $G/data/identity.key; ls $G/data; ls $G/data/gate.sock && echo wrote',
      'cat /proc/1/root$G/sluice.env; ls -l /proc/self/fd; ls /var /srv && echo wrote',
    ])('does not see the rest: `%s`', async (line) => {
      const said = await runLine(shell, line)
      expect(said).not.toContain(SECRET)
      expect(said).not.toContain('wrote')
      expect(readFileSync(join(gate.folder, 'own', '.bashrc'), 'utf8')).toBe(SECRET)
      expect(readFileSync(join(gate.folder, 'hello.txt'), 'utf8')).toBe('read through the gate')
    })

    test('a profile around the gate’s files does not show or move them', async () => {
      const whole = await PlainClient.open(gate, 'whole')
      const said = await runLine(
        whole,
        'cat $G/sluice.env $G/harmless.txt; cat $G/hello.txt; mv $G/data $G/d; ls $G/data',
      )
      expect(said).toContain('read through the gate')
      expect(said).not.toContain(SECRET)
      expect(said).not.toContain('identity')
    })

    test('reaches the hosts that its profile names, and no others', async () => {
      const reach = (url: string) => runLine(shell, `$N $R ${url}`)
      expect(await reach(`http://localhost:${port}/`)).toContain('got the page')
      for (const url of [
        'http://evil.test/',
        'http://1.1.1.1/',
        'http://[2606:4700::1]/',
        gate.url,
      ])
        expect(await reach(url)).toContain('failed')
      // The name is allowed, and leads nowhere.
      expect(await reach('http://api.allowed.test/')).toContain('failed')
      await runLine(shell, 'for i in 1 2 3; do getent hosts evil.test; done')
    })

    test('a refused host is one event and one alert, and `status` names it', async () => {
      const at = ['--data', gate.data]
      const events = async () => {
        const { stdout } = await sluice(['ledger', 'export', ...at])
        return stdout
          .split('\n')
          .filter((line) => line.includes('"name":"sandbox"') && line.includes('evil.test'))
      }
      await until(() => alerts.includes('evil.test'))
      if (uid === undefined) {
        await until(async () => (await events()).length > 0)
        expect(await events()).toHaveLength(1)
        const { stdout } = await sluice(['status', '--config', join(gate.folder, 'sluice.yaml')])
        expect(stdout).toMatch(/server shell .*sandbox: locked: .*refused: evil\.test/)
        expect(stdout).not.toContain('api.allowed')
      }
      expect(alerts.split('A locked server tried another host')).toHaveLength(2)
      expect(gate.log).not.toMatch(/"?host"?[=:] ?"?api\.allowed/)
    })

    const asRoot = uid === undefined ? test : () => {}
    asRoot('is opened by a person, line by line, and not towards the gate', async () => {
      const { port: own } = new URL(gate.url)
      const config = ['--config', join(gate.folder, 'sluice.yaml')]
      await atTerminal(gate.data)
      const locked = await sluice([
        'server',
        'lock',
        'shell',
        '--add',
        '--host',
        `localhost:${own}`,
        ...config,
      ])
      expect(locked.stdout).toContain('locked: shell')
      const written = readFileSync(join(gate.folder, 'sluice.yaml'), 'utf8')
      for (const line of ['evil.test', `localhost:${own}`, `localhost:${port}`])
        expect(written).toContain(line)
      const again = await PlainClient.open(gate, 'shell')
      expect(await runLine(again, `$N $R http://localhost:${port}/`)).toContain('got the page')
      expect(await runLine(again, `$N $R http://localhost:${own}/`)).toContain('failed')
    })
  },
)

/** Prints every file of the home directory that it can read, and that it ran. */
const LOOK = `#!/bin/sh
{ grep -rs "" "$HOME_OF_TEST"; echo ran; } > "$OUT/result" 2>&1
`
/** The same as a package of two files. */
const LOOK_AS_PACKAGE = 'import { look } from "../lib/look.mjs"\nlook()\n'
const LOOK_LIBRARY = `
import { execFileSync } from 'node:child_process'
export const look = () => execFileSync('sh', ['-c', 'grep -rs "" "$HOME_OF_TEST" > "$OUT/result"; echo ran >> "$OUT/result"'])
`

describe.runIf(BWRAP !== undefined).each(ORDINARY_USER)(
  nameBubblewrapSuite('H7: a locked server in the home directory, as user %s', BWRAP),
  (uid) => {
    const home = mkdtempSync(join(tmpdir(), 'sluice-home-'))
    const elsewhere = mkdtempSync(join(tmpdir(), 'sluice-elsewhere-'))
    made.push(home, elsewhere)
    const at = (...path: string[]) => join(home, ...path)
    let gate: RunningGate

    const put = (file: string, text: string) => {
      mkdirSync(join(file, '..'), { recursive: true })
      writeFileSync(file, text, { mode: 0o755 })
    }
    const commands: Record<string, string[]> = {
      script: ['sh', at('server.sh')],
      folder: ['sh', at('srv', 'server.sh')],
      module: [NODE, at('srv', 'build', 'alone.mjs')],
      argument: ['sh', join(elsewhere, 'server.sh'), at('notes', 'db.txt')],
      bin: [at('bin', 'mcp')],
      local: [at('.local', 'bin', 'x')],
      cargo: [at('.cargo', 'bin', 'x')],
      linked: [at('linked', 'x')],
      project: [NODE, at('project', 'build', 'server.mjs')],
    }

    beforeAll(async () => {
      for (const file of ['.ssh/id_rsa', '.local/share/keyrings/login', '.cargo/credentials.toml'])
        put(at(file), SECRET)
      for (const file of ['notes/other.txt', 'srv/other.txt', 'lib/other.txt', 'project/../other'])
        put(at(file), SECRET)
      put(at('package.json'), '{}')
      put(at('notes', 'db.txt'), 'named by its command')
      for (const file of ['server.sh', 'srv/server.sh', 'bin/mcp', '.local/bin/x', '.cargo/bin/x'])
        put(at(file), LOOK)
      put(join(elsewhere, 'server.sh'), LOOK)
      mkdirSync(at('linked'))
      symlinkSync(at('bin', 'mcp'), at('linked', 'x'))
      put(at('srv', 'lib', 'look.mjs'), LOOK_LIBRARY)
      put(at('srv', 'build', 'alone.mjs'), `${LOOK_LIBRARY.replace('export', '')}look()\n`)
      put(at('project', 'package.json'), '{}')
      put(at('project', 'lib', 'look.mjs'), LOOK_LIBRARY)
      put(at('project', 'build', 'server.mjs'), LOOK_AS_PACKAGE)
      const servers = Object.entries(commands).map(([name, command]) => {
        const out = join(elsewhere, name)
        mkdirSync(out)
        const env = { HOME_OF_TEST: home, OUT: out }
        return [name, { command, env, sandbox: { write: [out] } }]
      })
      if (uid !== undefined) execFileSync('chown', ['-R', `${uid}:${uid}`, home, elsewhere])
      gate = await startGate({
        folder: home,
        servers: Object.fromEntries(servers),
        env: { HOME: home },
        ...(uid === undefined ? {} : { uid }),
      })
    })
    afterAll(endGates)

    const seenBy = async (name: string) => {
      const result = join(elsewhere, name, 'result')
      void PlainClient.open(gate, name).catch(() => {})
      await until(() => existsSync(result) && readFileSync(result, 'utf8').includes('ran\n'))
      return readFileSync(result, 'utf8')
    }

    test.each(Object.keys(commands))('sees its program and nothing beside it: %s', async (name) => {
      expect(await seenBy(name)).not.toContain(SECRET)
    })

    test('sees a file that its command names, and the package of its module', async () => {
      expect(await seenBy('argument')).toContain('named by its command')
      expect(await seenBy('project')).toContain(at('project', 'package.json'))
    })

    // The commands of these tests run as root.
    const asRoot = uid === undefined ? test : () => {}
    asRoot('`sluice status` names what it sees beside its lines', async () => {
      const { stdout } = await sluice(['status', '--config', at('sluice.yaml')])
      expect(stdout).toMatch(/server script .*; also sees [^;\n]*\/server\.sh/)
      expect(stdout).toMatch(/server project .*; also sees [^;\n]*\/project(,|;)/)
      expect(stdout).toMatch(/server argument .*; also sees [^;\n]*\/notes\/db\.txt/)
      expect(stdout).toMatch(
        /server argument .*; other files below \/tmp are lost with its process/,
      )
    })
  },
)
