// Lines in the box of their session: how they enter, what they leave behind, and how a box ends. Real boxes, as the
// user of the tests and, as root, as an ordinary one.

import { execFileSync, spawn } from 'node:child_process'
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { Box } from '../../packages/gateway/src/isolation/box.ts'
import type { BoxView } from '../../packages/gateway/src/isolation/box-view.ts'
import { openBoxes } from '../../packages/gateway/src/isolation/boxes.ts'
import { BOX_START_MS_MAX } from '../../packages/gateway/src/isolation/limits.ts'
import { showSystem } from '../../packages/gateway/src/isolation/locked-view.ts'
import { showNetworkSettings } from '../../packages/gateway/src/isolation/run-launcher.ts'
import { BoxTrial, ORDINARY_USER } from '../support/boxes.ts'
import { findBubblewrap, nameBubblewrapSuite } from '../support/bubblewrap.ts'
import { ROOT } from '../support/modules.ts'
import { sluice } from '../support/run-sluice.ts'
import { scratchDirectory } from '../support/scratch.ts'

const BWRAP = findBubblewrap()
/** For what the gate notices by itself. */
const WAIT = { timeout: 20_000 }
const COMMIT = 'git -c user.name=a -c user.email=a@b commit -qm first'

describe.runIf(BWRAP !== undefined).each(ORDINARY_USER)(
  nameBubblewrapSuite('lines in a box, as user %s', BWRAP),
  (uid) => {
    let trial: BoxTrial
    /** A project of its own for a test that changes what the others rely on. */
    let own: BoxTrial | undefined
    const server = createServer((_, response) => response.end('from the machine'))
    let port = 0

    function makeProject(): BoxTrial {
      const made = new BoxTrial(uid)
      made.write({
        'home/shop/a.txt': 'first',
        'home/shop/.env': 'only-mine',
        'home/shop/sub/b.txt': 'b',
        'other/x': '',
      })
      made.outside(`git init -q . && git add a.txt && ${COMMIT}`)
      return made
    }

    /** Looking through its folders for secrets takes longer than a box needs to end. */
    function makeSlowProject(): BoxTrial {
      const made = makeProject()
      const folders = Array.from({ length: 2_000 }, (_, at) => [`home/shop/many/${at}/x`, ''])
      made.write(Object.fromEntries(folders))
      return made
    }

    beforeAll(async () => {
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      port = (server.address() as AddressInfo).port
      trial = makeProject()
      await trial.start({ env: ['CHOSEN'], hosts: [`localhost:${port}`] })
    })
    afterEach(async () => {
      await own?.close()
      own = undefined
    })
    afterAll(async () => {
      await trial.close()
      server.close()
    })

    test('the exit code and the directory are those of the line', async () => {
      expect(await trial.run('cd sub; exit 7')).toMatchObject({
        code: 7,
        cwd: join(trial.project, 'sub'),
      })
      expect(await trial.run('false')).toMatchObject({ code: 1, cwd: trial.project })
      expect(await trial.run('pwd', { cwd: join(trial.project, 'sub') })).toMatchObject({
        output: `${join(trial.project, 'sub')}\n`,
      })
      const long = 'x'.repeat(200)
      expect(await trial.run(`mkdir -p ${long}/${long}/${long} && cd ${long}/*/*`)).toMatchObject({
        cwd: join(trial.project, long, long, long),
      })
      // Links are followed in the box, and before it.
      expect(await trial.run('ln -s sub linked; cd linked')).toMatchObject({
        cwd: join(trial.project, 'sub'),
      })
      trial.outside('ln -s shop ../linked')
      expect(await trial.run('pwd', { before: 'cd ../linked' })).toMatchObject({
        output: `${trial.project}\n`,
      })
      // The line that looks has a file of its own.
      expect((await trial.run('ls -d /tmp/.sluice-cwd.* 2> /dev/null')).output).toBe('')
    })

    test('quotes, here-documents, large output and other shells survive', async () => {
      const line = `cat <<'END'\nit's "$HOME" \\ \`x\`\nEND\necho 'a'"'"'b'`
      expect((await trial.run(line)).output).toBe(`it's "$HOME" \\ \`x\`\na'b\n`)
      expect((await trial.run('head -c 1048576 /dev/zero | tr "\\0" x')).output).toHaveLength(
        1_048_576,
      )
    })

    test('of the environment only what is named arrives, and no process of the box can read the rest', async () => {
      const env = { GITHUB_TOKEN: 'only-token', CHOSEN: 'chosen', NODE_OPTIONS: '--only-token' }
      expect((await trial.run('env', { env })).output).toContain('CHOSEN=chosen')
      expect((await trial.run('env', { env })).output).not.toContain('only-token')
      expect((await trial.run('env')).output).not.toMatch(/^(?:CHOSEN|CI)=/m)
      const { output: path } = await trial.run('echo $PATH', { before: 'unset PATH' })
      expect(path).toBe('/usr/sbin:/usr/bin:/sbin:/bin\n')
      const always = { LANG: 'C', TERM: 'dumb', CI: '1' }
      const { output } = await trial.run('exec env', { env: { ...env, ...always } })
      const seen = output.split('\n').map((each) => each.split('=')[0] ?? '')
      const shells = ['', 'OLDPWD', 'PWD', 'SHLVL', '_']
      expect(seen.filter((name) => !shells.includes(name)).sort()).toEqual([
        'CHOSEN',
        'CI',
        'HOME',
        'LANG',
        'PATH',
        'TERM',
        'TMPDIR',
        'USER',
      ])
      await trial.run(
        '(while :; do cat /proc/[0-9]*/environ 2>/dev/null; done | tr "\\0" "\\n" | grep --line-buffered only-token > /tmp/seen) > /dev/null 2>&1 &',
      )
      for (let round = 0; round < 10; round++) await trial.run(':', { env })
      expect((await trial.run('cat /tmp/seen')).output).toBe('')
      await trial.run('pkill -f environ; pkill grep; :')
    })

    test('programs and libraries of the project that the client’s variables name run only in the box', async () => {
      const names = 'nsenter setpriv dd rm env bash cat'.split(' ')
      const program = `#!/bin/bash\necho planted; echo "$0" >> ${trial.project}/ran\n`
      trial.write(Object.fromEntries(names.map((name) => [`home/shop/.venv/bin/${name}`, program])))
      trial.outside('chmod +x .venv/bin/*; rm -f ran')
      const env = { PATH: `${trial.project}/.venv/bin:${process.env.PATH}` }
      // The loader would complain of each.
      trial.write({ 'home/shop/lib/libc.so.6': 'no library' })
      const missing = `${trial.project}/missing.so`
      const before = `export LD_PRELOAD=${missing} LD_AUDIT=${missing} LD_LIBRARY_PATH=${trial.project}/lib`
      const result = await trial.run('cd sub', { env, before })
      expect(result).toMatchObject({ output: '', code: 0, cwd: join(trial.project, 'sub') })
      expect(existsSync(join(trial.project, 'ran'))).toBe(false)
      expect((await trial.run('nsenter', { env })).output).toBe('planted\n')
    })

    test('start files of its home directory do not run before a line', async () => {
      const { command } = await trial.run('echo "echo started" > ~/.bashrc')
      // Bash reads it if its standard input is a socket, as clients in Node give it.
      expect(trial.outside(`${command}; :`)).toBe('')
      expect((await trial.run('cat ~/.bashrc; rm ~/.bashrc')).output).toBe('echo started\n')
    })

    const ownStart = join(userInfo().homedir, '.bashrc')
    // Another user's bubblewrap has a user namespace, from which no box can be entered.
    test.runIf(uid === undefined && process.getuid?.() === 0 && existsSync(ownStart))(
      'the start file of the user does not run either',
      async () => {
        const { command } = await trial.run(':')
        trial.write({ 'other/start': 'echo started', 'other/line': `${command}; echo "code $?"` })
        const [start, line] = ['start', 'line'].map((name) => join(trial.folder, 'other', name))
        const view = `--dev-bind / / --ro-bind ${start} ${ownStart}`
        expect(trial.outside(`${BWRAP} ${view} bash ${line}`)).toBe('code 0\n')
      },
    )

    test('a file that the client has open is closed before the line', async () => {
      const before = 'exec 7< .env; exec 9< .env'
      const { output } = await trial.run('cat <&7; cat <&9; ls /proc/self/fd', { before })
      expect(output).not.toContain('only-mine')
      expect(output).not.toMatch(/^[79]$/m)
    })

    test('a directory of outside is not kept open', async () => {
      expect(
        (await trial.run('cat .env; cat /proc/self/cwd/.env; ls -la /proc/*/cwd/')).output,
      ).not.toContain('only-mine')
    })

    test('a directory that is not in the box ends with 125, also for the first line', async () => {
      const cwd = join(trial.folder, 'other')
      for (const session of ['one', 'elsewhere']) {
        const result = await trial.run('id', { cwd, session })
        expect(result).toMatchObject({
          code: 125,
          output: `sluice: ${cwd} is not in the box\n`,
        })
      }
      await trial.end('elsewhere')
    })

    test('what the line puts in the place of its last directory is not followed', async () => {
      const other = join(trial.folder, 'other')
      trial.write({ 'other/place': other })
      const place = "/tmp/.$(tr '\\0' '\\n' < /proc/$$/cmdline | grep -om1 'sluice-cwd.[0-9]*')"
      for (const deed of ['mkfifo', 'truncate -s 1T', 'ln -s /dev/zero', `ln -s ${other}/place`]) {
        const line = `trap - EXIT; ${deed} ${place}; ls -d ${place} | wc -l; exit 3`
        expect(await trial.run(line)).toMatchObject({
          output: expect.stringMatching(/^1\n/),
          code: 3,
          cwd: trial.project,
        })
      }
    })

    test('a server that one line starts answers the next, and ends with the session', async () => {
      const session = 'server'
      await trial.run('python3 -m http.server 3000 > /dev/null 2>&1 &', { session })
      const asked = await trial.run(
        'for i in $(seq 50); do curl -sf localhost:3000/a.txt && break; sleep 0.1; done',
        { session },
      )
      expect(asked.output).toBe('first')
      expect((await trial.run('curl -s localhost:3000')).code).toBe(7)
      const started = await trial.list()
      expect(started.find(({ processes }) => processes > 0)).toMatchObject({
        client: 'coder',
        project: trial.project,
      })
      const { command } = await trial.run(':', { session })
      await trial.end(session)
      await vi.waitFor(
        () =>
          expect(execFileSync('ps', ['ax'], { encoding: 'utf8' })).not.toContain(
            'http.server 3000',
          ),
        WAIT,
      )
      expect(trial.outside(`exec 2>&1; pid=1; ${command}; echo $?`)).toBe(
        'sluice: the box of this line has ended: make the call again\n125\n',
      )
    })

    test('a box ends when its client is gone', async () => {
      const client = spawn('sleep', ['60'])
      const session = 'left'
      await trial.end(session)
      const { command } = await trial.run(':', { session, clientPid: client.pid ?? 0 })
      const listed = async () => (await trial.list()).filter(({ box }) => command.includes(box))
      expect(await listed()).toHaveLength(1)
      client.kill()
      await vi.waitFor(async () => expect(await listed()).toEqual([]), WAIT)
    })

    test('a second box of a project keeps what the first one made', async () => {
      await trial.run(':', { session: 'first' })
      await trial.run(':', { session: 'second' })
      for (const session of ['one', 'first']) await trial.end(session)
      expect((await trial.run('echo x > .claude/x', { session: 'second' })).output).toContain(
        'Read-only',
      )
      await trial.end('second')
    })

    test('a project with a space in its name is watched as any other', async () => {
      const project = join(trial.home, 'my shop')
      trial.write({ 'home/my shop/.env': 'only-mine' })
      const at = { session: 'space', project, cwd: project }
      for (let round = 0; round < 3; round++) {
        const { output, restarted } = await trial.run('cat .env; sleep 0.2', at)
        expect({ output, restarted }).toEqual({
          output: expect.stringMatching(/denied/),
          restarted: false,
        })
      }
      await trial.end('space')
    })

    test('hosts are reached that are listed, and the others are refused and told', async () => {
      expect((await trial.run(`curl -s localhost:${port}`)).output).toBe('from the machine')
      await trial.run(
        'curl -s https://evil.example; curl -s http://127.0.0.1:1; curl -s http://192.0.2.1 -m 2',
      )
      expect(await trial.refused()).toEqual(['evil.example'])
      expect(await trial.refused()).toEqual([])
    })

    test('a box that a line ends is started again, and that is told', async () => {
      const session = 'ended'
      await trial.end(session)
      expect(await trial.run('kill -9 -1', { session })).toMatchObject({ restarted: false })
      await vi.waitFor(
        async () =>
          expect(await trial.run('echo again', { session })).toMatchObject({
            output: 'again\n',
            restarted: true,
          }),
        WAIT,
      )
      expect(await trial.run('echo same', { session })).toMatchObject({ restarted: false })
    })

    test('the project of a session is that of its first line, whatever a later one says', async () => {
      const session = 'moving'
      const other = join(trial.folder, 'other')
      await trial.run('kill -9 -1', { session })
      await vi.waitFor(async () => {
        const { output } = await trial.run('pwd', { session, project: other })
        expect(output).toBe(`${trial.project}\n`)
      }, WAIT)
      expect((await trial.run('pwd', { session: 'elsewhere', cwd: other })).code).toBe(125)
      await trial.end('elsewhere')
    })

    test('a protected file that is replaced from outside ends the box', async () => {
      own = makeProject()
      await own.start()
      const config = join(own.project, '.git/config')
      await own.run(':')
      const before = readFileSync(config, 'utf8')
      own.outside('git config user.name Ann')
      await vi.waitFor(async () => expect(await own?.replaced()).toContain(config), WAIT)
      const { output, restarted } = await own.run('echo hostile > .git/config')
      expect({ output, restarted }).toMatchObject({
        output: expect.stringContaining('Read-only'),
        restarted: true,
      })
      expect(readFileSync(config, 'utf8')).toBe(`${before}[user]\n\tname = Ann\n`)
      const env = join(own.project, '.env')
      writeFileSync(join(own.project, 'x'), '')
      renameSync(join(own.project, 'x'), env)
      await vi.waitFor(async () => expect(await own?.replaced()).toContain(env), WAIT)
    })

    test('a box starts while another one of its project ends', async () => {
      own = makeSlowProject()
      await own.start()
      for (let round = 0; round < 3; round++) {
        await own.run(':', { session: `${round}` })
        const [line] = await Promise.all([
          own.run('echo x > .github/hooks/x', { session: `${round + 1}` }),
          own.end(`${round}`),
        ])
        expect(line.output).toContain('Read-only')
      }
    })

    test('a line too large for one argument is refused', async () => {
      await expect(trial.run(`: ${'x'.repeat(130_000)}`)).rejects.toMatchObject({
        code: 'BOX_FAILED',
        help: 'write it to a file of the project and run that',
      })
    })

    test('a gate has at most 64 boxes', async () => {
      // None of the boxes is started before the last one is refused, and none afterwards.
      own = makeSlowProject()
      await own.start()
      const begin = (at: number) => own?.run(':', { session: `${at}` })
      const others = Array.from({ length: 64 }, (_, at) => begin(at)?.catch(() => {}))
      await expect(begin(64)).rejects.toMatchObject({
        code: 'BOX_FAILED',
        message: '64 boxes run already',
      })
      await own.kill()
      await Promise.all(others)
    })

    test('a box that cannot be made is refused with the path and what to do', async () => {
      await trial.run(':')
      const caches = join(trial.data, 'box-caches')
      renameSync(caches, `${caches}.away`)
      try {
        writeFileSync(caches, '')
        await expect(trial.run(':', { session: 'unmade' })).rejects.toMatchObject({
          code: 'BOX_FAILED',
          message: expect.stringMatching(/^the box cannot be made: .*box-caches/),
          help: 'run `sluice doctor`',
        })
      } finally {
        rmSync(caches)
        renameSync(`${caches}.away`, caches)
      }
      expect((await trial.run('echo a', { session: 'unmade' })).output).toBe('a\n')
      await trial.end('unmade')
    })

    test('a box whose settings name what is not there is refused with its path', async () => {
      own = makeProject()
      await own.start({ read: [join(own.folder, 'nowhere')] })
      await expect(own.run(':')).rejects.toMatchObject({
        code: 'BOX_FAILED',
        message: `the box did not start: bwrap: Can't find source path ${own.folder}/nowhere: No such file or directory`,
        help: 'run `sluice doctor`',
      })
      expect(readdirSync(join(own.data, 'boxes'))).toEqual([])
    })

    test('`read` and `write` of a folder around them open neither secrets nor files of the gate', async () => {
      for (const how of ['read', 'write'] as const) {
        own = makeProject()
        own.write({ 'home/gate/data/key': 'only-mine', 'home/gate/sluice.yaml': 'servers: {}' })
        const config = join(own.home, 'gate/sluice.yaml')
        const hidden = [join(own.home, 'gate/data')]
        await own.start({ [how]: [own.home] }, { hidden, readOnly: [config] })
        const { output } = await own.run(
          'cat .env ../gate/data/key; ls -A ../.data; mv ../gate ../moved; echo x > ../gate/sluice.yaml; cat ../gate/sluice.yaml; ls -d ../moved',
        )
        expect(output).not.toContain('only-mine')
        expect(output).not.toContain('boxes')
        expect(output).toMatch(/busy|Read-only/)
        expect(readFileSync(config, 'utf8')).toBe('servers: {}')
        await own.close()
      }
    })

    // Root alone may write there.
    test.runIf(process.getuid?.() === 0).each(['/opt', '/usr'])(
      'files of the gate below `%s`, which lines see, are hidden',
      async (folder) => {
        const data = mkdtempSync(join(folder, 'sluice-box-'))
        try {
          writeFileSync(join(data, 'key'), 'only-mine')
          execFileSync('chmod', ['-R', 'a+rX', data])
          own = makeProject()
          await own.start({}, { hidden: [data] })
          expect(await own.run(`ls -A ${data}`)).toMatchObject({ output: '', code: 0 })
        } finally {
          rmSync(data, { recursive: true })
        }
      },
    )

    test('what it made in the project is gone at its end, also after a crash', async () => {
      const crashed = makeProject()
      own = crashed
      await crashed.start()
      const names = ['.git/commondir', '.claude', '.qwen', '.github', '.github/hooks']
      const made = names.map((name) => join(crashed.project, name))
      await crashed.run('mkdir -p ~/ro/sub && touch ~/ro/sub/f && chmod 500 ~/ro/sub')
      expect(made.filter(existsSync)).toEqual(made)
      await crashed.end()
      expect(made.filter(existsSync)).toEqual([])
      expect(readdirSync(join(crashed.data, 'boxes'))).toEqual([])
      const crash = async () => {
        const [box = ''] = readdirSync(join(crashed.data, 'boxes'))
        const pid = readFileSync(join(crashed.data, 'boxes', box, 'pid'), 'utf8').trim()
        await crashed.kill()
        await vi.waitFor(() => expect(existsSync(`/proc/${pid}`)).toBe(false), WAIT)
        expect(made.filter(existsSync)).toEqual(made)
      }
      await crashed.run(':')
      // What somebody has put there since stays.
      crashed.write({ 'home/shop/.codex/config.toml': 'x' })
      await crash()
      const config = join(crashed.folder, 'sluice.yaml')
      writeFileSync(config, `version: 1\ndata: ${crashed.data}\nservers: {}\n`)
      const doctor = await sluice(['doctor', '--config', config])
      expect(doctor.stdout).toContain('removed what 1 box of a gate that was killed had left')
      expect(made.filter(existsSync)).toEqual([])
      await crashed.start()
      await crashed.run(':')
      await crash()
      // The next gate does the same.
      await crashed.start()
      expect(made.filter(existsSync)).toEqual([])
      expect(readFileSync(join(crashed.project, '.codex/config.toml'), 'utf8')).toBe('x')
      expect(readdirSync(join(crashed.data, 'boxes'))).toEqual([])
    })
  },
)

test.runIf(BWRAP !== undefined && process.getuid?.() === 0).each([
  ['nsenter', '/dev/null', '`nsenter` is not installed', 'install the package `util-linux`'],
  ['setpriv', '/dev/null', '`setpriv` is not installed', 'install the package `util-linux`'],
  ['bwrap', '/bin/false', 'bubblewrap cannot make namespaces here', 'write `sandbox: off`'],
])('without a working `%s` there is no box, and that is told', (program, instead, why, help) => {
  const ask = `import { findBoxAvailability } from '@sluice/gateway/isolation/boxes'
    console.log(JSON.stringify(await findBoxAvailability()))`
  const path = realpathSync(`/usr/bin/${program}`)
  const view = ['--dev-bind', '/', '/', '--ro-bind', instead, path]
  const node = [process.execPath, '--no-warnings', '--input-type=module', '-e', ask]
  const env = { PATH: '/usr/bin:/bin' }
  const printed = execFileSync(String(BWRAP), [...view, '--', ...node], { cwd: ROOT, env })
  expect(JSON.parse(printed.toString())).toMatchObject({
    ok: false,
    reason: expect.stringContaining(why),
    help: expect.stringContaining(help),
  })
})

describe.runIf(BWRAP !== undefined)(nameBubblewrapSuite('a box that does not start', BWRAP), () => {
  const replaced: string[] = []
  const start = (bwrap: string, folder: string, view: Partial<BoxView>) =>
    Box.start({
      bwrap,
      sleep: '/bin/sleep',
      folder,
      project: '/',
      view: { words: showSystem(), readOnly: [], guarded: [], needed: [], ...view },
      networkSettings: showNetworkSettings(folder),
      env: [],
      hosts: [],
      isOwnPort: () => false,
      onRefused: () => {},
      onReplaced: (path) => void replaced.push(path),
    })

  afterEach(() => vi.useRealTimers())

  test('in time is refused with the time that it had', async () => {
    const folder = scratchDirectory()
    const bwrap = join(folder, 'bwrap')
    writeFileSync(bwrap, '#!/bin/sh\nexec sleep 600\n', { mode: 0o755 })
    vi.useFakeTimers({ toFake: ['setTimeout'] })
    const refused = expect(start(bwrap, folder, {})).rejects.toMatchObject({
      code: 'BOX_FAILED',
      message: `the box did not start: not ready after ${BOX_START_MS_MAX} ms`,
      help: 'run `sluice doctor`',
    })
    vi.advanceTimersByTime(BOX_START_MS_MAX)
    await refused
  })

  test('because a protected file cannot be watched is refused with its folder, and nothing of it runs on', async () => {
    const folder = scratchDirectory()
    await expect(
      start(String(BWRAP), folder, { guarded: [join(folder, 'nowhere/x')] }),
    ).rejects.toMatchObject({
      code: 'BOX_FAILED',
      message: expect.stringMatching(
        /^the box did not start: its protected files cannot be watched: ENOENT.*nowhere'$/,
      ),
      help: 'run `sluice doctor`',
    })
    const pid = readFileSync(join(folder, 'pid'), 'utf8').trim()
    await vi.waitFor(() => expect(existsSync(`/proc/${pid}`)).toBe(false), WAIT)
  })

  test('for long, because a file was replaced before it was watched, tells which', async () => {
    const folder = scratchDirectory()
    const box = await start(String(BWRAP), folder, { guarded: [join(folder, 'x')] })
    await box.ended
    await vi.waitFor(() => expect(replaced).toEqual([join(folder, 'x')]), WAIT)
  })

  test('because its client has no `sandbox` any more is refused, and the next line as well', async () => {
    const boxes = await openBoxes({
      data: scratchDirectory(),
      script: 'unused',
      hidden: [],
      readOnly: [],
      settingsOf: () => undefined,
      isOwnPort: () => false,
      onRefused: () => {},
      onReplaced: () => {},
    })
    const project = mkdtempSync('/var/tmp/sluice-box-')
    const request = { session: 'one', client: 'coder', project, cwd: project, snapshot: false }
    try {
      for (const line of ['first', 'second'])
        await expect(boxes.prepareLine({ ...request, line })).rejects.toMatchObject({
          code: 'BOX_FAILED',
          message: '`coder` has no `sandbox`',
          help: 'run `sluice server lock`',
        })
      expect(boxes.list()).toEqual([])
    } finally {
      await boxes.close()
      rmSync(project, { recursive: true })
    }
  })
})
