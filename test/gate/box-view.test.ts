// What a line sees and can change in the box of its session. The lines run in real boxes, as the user of the tests and,
// as root, as an ordinary one.

import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import {
  findSecrets,
  readProjectFolder,
  showBox,
} from '../../packages/gateway/src/isolation/box-view.ts'
import {
  BOX_ENTRIES_MAX,
  BOX_LINE_BYTES_MAX,
  BOXES_MAX,
  SNAPSHOT_FILES_MAX,
} from '../../packages/gateway/src/isolation/limits.ts'
import { BoxTrial, OWN_USER } from '../support/boxes.ts'
import { findBubblewrap, nameBubblewrapSuite } from '../support/bubblewrap.ts'
import { SETTINGS_FILES } from '../support/client-settings.ts'
import { ROOT } from '../support/modules.ts'

const BWRAP = findBubblewrap()
const COMMIT = 'git -c user.name=a -c user.email=a@b commit -qm first'
const SECRETS = [
  '.env',
  'config/.env.production',
  'a/b/c/d/e/tls.key',
  'id_rsa',
  '.npmrc',
  'terraform.tfstate',
  '.ssh/known',
  '.netrc',
  'config/credentials.json',
  'secrets.yaml',
  'store.p12',
  'store.pfx',
  'store.jks',
]

/** Of the home directory: what programs need, and nothing that is a key. */
const TOOL_CHAINS = `
  .nvm/x .pyenv/x .rbenv/x .rustup/x .cargo/bin/x .cargo/registry/x .local/bin/x .local/lib/x .local/pipx/x
  .local/share/pnpm/x .local/share/uv/python/x .local/share/uv/tools/x .local/share/mise/x .deno/x .bun/x .sdkman/x
  .goenv/x go/pkg/x go/bin/x .volta/x .asdf/x .gitconfig .config/git/config .config/git/ignore`
  .trim()
  .split(/\s+/)

/** Of the system: settings, devices and what programs ask the kernel. */
const SYSTEM_PLACES = `
  /bin /sbin /lib /lib32 /lib64 /libx32 /usr/share /opt /proc/self /sys/devices/system/cpu /sys/fs/cgroup
  /dev/null /dev/zero /dev/full /dev/random /dev/urandom /dev/fd /dev/shm
  /etc/alternatives /etc/ca-certificates /etc/ca-certificates.conf /etc/crypto-policies /etc/debian_version /etc/fonts
  /etc/gai.conf /etc/gitconfig /etc/group /etc/host.conf /etc/hosts /etc/ld.so.cache /etc/ld.so.conf /etc/ld.so.conf.d
  /etc/locale.alias /etc/localtime /etc/mime.types /etc/nsswitch.conf /etc/os-release /etc/passwd /etc/pki /etc/protocols
  /etc/python3 /etc/resolv.conf /etc/services /etc/ssl/certs /etc/ssl/openssl.cnf /etc/timezone`
  .trim()
  .split(/\s+/)

/** What clients run outside of the box, by its path in a project. */
const CLIENT_FILES = [
  ...new Set(SETTINGS_FILES.map(({ inProject }) => inProject)),
  '.github/hooks/sluice.json',
]

/** What gives power over the user later. */
const KEPT = [
  '.git/config',
  '.git/hooks/post-checkout',
  '.git/commondir',
  '.git/config.worktree',
  '.git/modules/sub/config',
  '.git/worktrees/shop-tree/commondir',
  '.git/worktrees/shop-tree/gitdir',
  '.git/worktrees/shop-tree/config.worktree',
  '.claude/settings.json',
  '.codex/config.toml',
  '.gemini/commands/run.toml',
  '.cursor/rules',
  '.vscode/tasks.json',
  '.husky/pre-commit',
  '.github/hooks/h.json',
  '.mcp.json',
  'opencode.json',
  '.copilot/hooks.json',
  '.devcontainer/devcontainer.json',
  '.idea/workspace.xml',
  '.envrc',
  '.gitmodules',
  'conf/sluice.yaml',
]

describe.runIf(BWRAP !== undefined).each(OWN_USER)(
  nameBubblewrapSuite('in the box, as user %s', BWRAP),
  (uid) => {
    let trial: BoxTrial
    const read = (name: string) => readFileSync(join(trial.project, name), 'utf8')
    const readKept = (name: string) => trial.outside(`cat ${name} || echo missing`)
    /** Each of `KEPT` at the beginning: a line may not take away what a later test looks at. */
    let kept: ReadonlyMap<string, string>

    beforeAll(async () => {
      trial = new BoxTrial(uid)
      const secrets = SECRETS.map((name) => [`home/shop/${name}`, 'only-mine'])
      trial.write({
        ...Object.fromEntries(TOOL_CHAINS.map((name) => [`home/${name}`, '#'])),
        ...Object.fromEntries(secrets),
        'home/shop/.env.example': 'NAME=',
        'home/shop/a.txt': 'first',
        'home/shop/.gitignore': '.env\n',
        'home/shop/.claude/settings.json': '{}',
        'home/shop/.cursor/rules': 'x',
        'home/shop/.vscode/tasks.json': '{}',
        'home/shop/.husky/pre-commit': 'x',
        'home/shop/.github/hooks/h.json': '{}',
        'home/shop/.mcp.json': '{}',
        'home/shop/opencode.json': '{}',
        'home/shop/opencode.jsonc': '{}',
        'home/shop/packages/web/opencode.jsonc': '{}',
        'home/shop/packages/web/.mcp.json': '{}',
        'home/shop/.copilot/hooks.json': '{}',
        'home/shop/.devcontainer/devcontainer.json': '{}',
        'home/shop/.idea/workspace.xml': '<x/>',
        'home/shop/.envrc': 'x',
        'home/shop/.gitmodules': '',
        'home/shop/conf/sluice.yaml': 'servers: {}',
        'home/shop/opened/.env': 'TEST=open',
        'home/shop/opened/.env.local': 'TEST=open',
        'home/shop/node_modules/tiny/.env': 'TEST=theirs',
        'home/shop/a/b/c/d/e/f/tls.key': 'too deep',
        'home/shop/a/b/c/d/e/f/.envrc': 'x',
        'home/shop/gate/data/a.txt': 'only-mine',
        'home/shop/settings.txt': 'only-mine',
        'home/.ssh/id_ed25519': 'only-mine',
        'home/.config/gh/hosts.yml': 'only-mine',
        'home/.gitconfig': '[user]\n\tname = Ann\n\temail = ann@shop.example\n',
        'home/notes/n.txt': 'shown',
        'home/.local/share/uv/credentials/credentials.toml': 'only-mine',
        'home/out/o.txt': 'before',
        'home/notes/drafts/d.txt': 'before',
        'other/outside.txt': 'only-mine',
      })
      trial.outside(`git init -q . && git add a.txt && ${COMMIT} && git branch id_rsa`)
      trial.write({
        'home/shop/.git/modules/sub/config': '',
        'home/shop/.git/config.worktree': '',
      })
      trial.outside('git worktree add -q ../shop-tree && git worktree add -q ../tree')
      trial.write({ 'home/shop/.git/worktrees/shop-tree/config.worktree': '' })
      symlinkSync('settings.txt', join(trial.project, '.env.production'))
      // Hiding where this leads would hide the project.
      symlinkSync('.', join(trial.project, '.env.staged'))
      symlinkSync('../../other/outside.txt', join(trial.project, '.env.staging'))
      symlinkSync('../../other/outside.txt', join(trial.project, 'link.txt'))
      await trial.start(
        {
          read: [join(trial.home, 'notes'), join(trial.project, 'opened/.env')],
          write: [
            join(trial.home, 'out'),
            join(trial.home, 'notes/drafts'),
            join(trial.project, 'opened/.env.local'),
            join(trial.project, 'opencode.jsonc'),
          ],
          env: ['CHOSEN'],
        },
        {
          // Of the others one is missing, and one is outside of what lines see.
          readOnly: [
            'home/shop/conf/sluice.yaml',
            'home/shop/sluice.lock',
            'other/outside.txt',
          ].map((name) => join(trial.folder, name)),
          hidden: [join(trial.project, 'gate/data')],
        },
      )
      // The box makes some of them when it starts.
      await trial.run('true')
      kept = new Map(KEPT.map((name) => [name, readKept(name)]))
    })
    afterAll(() => trial.close())

    test.each(SECRETS)('`%s` cannot be read', async (name) => {
      const { output } = await trial.run(
        `cat ${name}; cp ${name} copy; cat copy; grep -r only-mine .; rm -rf ${name}`,
      )
      expect(output).not.toContain('only-mine')
      expect(read(name)).toBe('only-mine')
    })

    test.each([
      '.env.example',
      'opened/.env',
      'opened/.env.local',
      'node_modules/tiny/.env',
      'a/b/c/d/e/f/tls.key',
      'a.txt',
    ])('`%s` can', async (name) => {
      expect((await trial.run(`cat ${name}`)).code).toBe(0)
    })

    test('a file of the gate and one that a secret’s name leads to cannot be read either', async () => {
      const { output } = await trial.run(
        'cat gate/data/a.txt settings.txt .env.production .env.staging',
      )
      expect(output).not.toContain('only-mine')
      expect((await trial.run('echo x > .ssh/new')).output).toContain('Read-only')
      // The next box would not find it in another folder.
      expect((await trial.run('mv gate moved')).output).toContain('busy')
    })

    test('`read` opens a file for reading alone, `write` also one that is protected', async () => {
      expect((await trial.run('echo x > opened/.env')).output).toContain('Read-only')
      expect((await trial.run('echo x > opencode.jsonc')).code).toBe(0)
    })

    test.each(KEPT)('`%s` cannot be written, replaced or moved away', async (name) => {
      const before = kept.get(name)
      const top = name.split('/')[0]
      expect(readKept(name)).toBe(before)
      const lines = [
        `mkdir -p $(dirname ${name}); echo hostile > ${name}`,
        `rm -rf ${name}`,
        `echo hostile > new; mv new ${name}`,
        `ln -sf /tmp/x ${name}`,
        `mv ${top} moved && mkdir -p $(dirname ${name}) && echo hostile > ${name}`,
        `mv $(dirname ${name}) moved2 && mkdir -p $(dirname ${name}) && echo hostile > ${name}`,
      ]
      for (const line of lines.filter((each) => !each.startsWith('mv $') || name.includes('/')))
        await trial.run(line)
      expect(readKept(name)).toBe(before)
    })

    test.each(CLIENT_FILES)(
      '`%s` cannot be made from the client’s directory up to the top',
      async (name) => {
        const at = { session: 'web', cwd: join(trial.project, 'packages/web') }
        for (const folder of ['', 'packages/', 'packages/web/']) {
          const path = join(trial.project, folder, name)
          const lines = [
            `mkdir -p ${dirname(path)}; echo hostile > ${path}`,
            `rm -rf ${dirname(path)}; mkdir -p ${dirname(path)}; echo hostile > ${path}`,
            `cd ${trial.project}; mv packages/web w || mv packages p; mkdir -p ${dirname(path)}; echo hostile > ${path}`,
          ]
          for (const line of lines) await trial.run(line, at)
          expect(trial.outside(`cat ${path} || :`)).not.toContain('hostile')
        }
      },
    )

    test('files that are settings are protected there as well', async () => {
      const at = { session: 'web', cwd: join(trial.project, 'packages/web') }
      for (const name of ['opencode.jsonc', '.mcp.json']) {
        await trial.run(`echo hostile > ${name}; rm ${name}; echo hostile > ${name}`, at)
        expect(read(`packages/web/${name}`)).toBe('{}')
      }
      expect((await trial.run('echo new > a.ts && cat a.ts', at)).output).toBe('new\n')
      // Deeper than secrets are looked for: else it would be hidden as one.
      const deep = 'a/b/c/d/e/f'
      const inDeep = { session: 'deep', cwd: join(trial.project, deep) }
      expect((await trial.run('echo hostile > .envrc', inDeep)).output).toContain('Read-only')
      expect(read(`${deep}/.envrc`)).toBe('x')
    })

    test('the project can be written, and git commits in it with the user’s name', async () => {
      const line =
        'mkdir -p src && echo new > src/b.txt && git add src && git commit -qm second --allow-empty && git log -1 --format=%an'
      expect(await trial.run(line)).toMatchObject({ output: 'Ann\n', code: 0 })
      expect(read('src/b.txt')).toBe('new\n')
      expect(trial.outside('git log -1 --format=%s')).toBe('second\n')
      // The repository is not looked through for names of secrets.
      expect((await trial.run('git log -1 --format=%s id_rsa --')).output).toBe('first\n')
    })

    test('a linked worktree has its repository, with the same protection', async () => {
      const tree = join(trial.home, 'tree')
      const at = { session: 'tree', project: tree, cwd: tree }
      const commit = await trial.run(
        'echo c > c.txt && git add c.txt && git commit -qm third --allow-empty',
        at,
      )
      expect(commit).toMatchObject({ code: 0 })
      const common = join(trial.project, '.git')
      for (const path of ['config', 'hooks/x', 'commondir', 'worktrees/tree/commondir'])
        expect((await trial.run(`echo hostile > ${join(common, path)}`, at)).output).toContain(
          'Read-only',
        )
      expect((await trial.run('echo "gitdir: /x" > .git', at)).output).toContain('Read-only')
      expect((await trial.run(`cat ${join(trial.project, 'a.txt')}`, at)).code).toBe(1)
    })

    test.each([
      '~/.ssh/id_ed25519',
      '~/.config/gh/hosts.yml',
      '~/.local/share/uv/credentials/credentials.toml',
      'link.txt',
      '../../other/outside.txt',
      '$PWD/../.data/*',
    ])('outside of the project `%s` does not exist', async (path) => {
      const { code, output } = await trial.run(`cat ${path}`)
      expect(output).toContain('No such file')
      expect(code).toBe(1)
    })

    test('tool chains of the home directory and the lines of `read` can be read, not written', async () => {
      for (const path of [...TOOL_CHAINS, 'notes/n.txt']) {
        const { output } = await trial.run(`cd && cat ${path} > /dev/null && echo x >> ${path}`)
        expect(output).toMatch(/^[^\n]*Read-only file system\n$/)
      }
    })

    test.each(['out/o.txt', 'notes/drafts/d.txt'])(
      '`%s` of a line of `write` can be written, also below one of `read`',
      async (name) => {
        await trial.run(`echo after > ~/${name}`)
        expect(readFileSync(join(trial.home, name), 'utf8')).toBe('after\n')
      },
    )

    test('the home directory and /tmp are its own, and are there for the next line', async () => {
      await trial.run('echo mine > ~/.bashrc; echo mine > /tmp/script.sh')
      expect((await trial.run('cat ~/.bashrc /tmp/script.sh')).output).toBe('mine\nmine\n')
      expect(existsSync(join(trial.home, '.bashrc'))).toBe(false)
      expect((await trial.run('ls ~/.bashrc', { session: 'two' })).code).toBe(2)
    })

    test('caches stay for the next box of the project', async () => {
      await trial.run('echo warm > ~/.cache/c; echo warm > ~/.npm/n')
      const next = await trial.run('cat ~/.cache/c ~/.npm/n', { session: 'three' })
      expect(next.output).toBe('warm\nwarm\n')
      expect(existsSync(join(trial.home, '.cache'))).toBe(false)
    })

    test('there is no terminal, no process of the machine, no port of it and no capability', async () => {
      expect((await trial.run('test -c /dev/tty')).code).toBe(1)
      expect((await trial.run('ls -d /proc/[0-9]* | wc -l')).output.trim()).toMatch(/^\d$/)
      const { output } = await trial.run("grep -E '^(Cap|NoNewPrivs)' /proc/self/status")
      const isRoot = uid === undefined && process.getuid?.() === 0
      for (const name of ['Inh', 'Prm', 'Eff', 'Amb', ...(isRoot ? ['Bnd'] : [])])
        expect(output).toContain(`Cap${name}:\t0000000000000000\n`)
      expect(output).toContain('NoNewPrivs:\t1')
      // What holds the box open may bind port 53, which the launcher needed.
      const others = await trial.run('cat /proc/[12]/status | grep CapEff')
      expect(others.output).toMatch(/^(?:CapEff:\t0{13}[04]00\n){2}$/)
      expect((await trial.run('cat /proc/net/dev | grep -c :')).output.trim()).toBe('1')
    })

    test.each(['ipc', 'mnt', 'net', 'pid', 'user', 'uts'])(
      'the namespace `%s` is its own',
      async (name) => {
        const { output } = await trial.run(`readlink /proc/self/ns/${name}`)
        expect(output.trim()).toMatch(new RegExp(`^${name}:`))
        expect(output.trim()).not.toBe(readlinkSync(`/proc/self/ns/${name}`))
      },
    )

    test('what programs need of the system is there', async () => {
      const line = `for path in ${SYSTEM_PLACES.filter(existsSync).join(' ')}; do [ -r $path ] || echo $path; done`
      expect((await trial.run(line)).output).toBe('')
    })

    test('devices are those that they say, and shared memory is its own', async () => {
      const line =
        'test -c /dev/null || echo none; head -c 2 /dev/zero | wc -c; head -c 2 /dev/urandom | wc -c; head -c 2 /dev/random | wc -c; echo x > /dev/null; echo x > /dev/full; echo mine > /dev/shm/box; cat /dev/fd/0 < /dev/shm/box'
      expect((await trial.run(line)).output).toMatch(/^2\n2\n2\n.*No space left on device\nmine\n$/)
      expect(existsSync('/dev/shm/box')).toBe(false)
    })

    test('nothing can be added beside the project', async () => {
      for (const folder of ['', '/dev', '/usr', '/opt', '/etc', '/etc/ssl/certs'])
        expect((await trial.run(`mkdir ${folder}/new`)).output).toContain('Read-only file system')
      const shown = ['/opt', '/etc/gitconfig', '/etc/os-release'].filter(existsSync)
      expect((await trial.run(`ls -d ${shown.join(' ')}`)).code).toBe(0)
      expect((await trial.run('cat /etc/resolv.conf')).output).toBe('nameserver 127.0.0.1\n')
      expect((await trial.run('cat /etc/hosts')).output).toBe(`127.0.0.1 localhost ${hostname()}\n`)
      expect((await trial.run('cat /proc/*/environ')).output).not.toContain('only-mine')
      const env = { TMPDIR: '/var/elsewhere' }
      expect((await trial.run('echo "$TMPDIR"', { env })).output).toBe('/tmp\n')
    })

    test.each([
      'umount .env; cat .env',
      'unshare -Urm sh -c "umount .env; umount -l .env; cat .env"',
      'mount -o remount,rw .claude; echo hostile > .claude/settings.json',
      'unshare -Urm sh -c "mount -o remount,bind,rw .claude; echo hostile > .claude/settings.json"',
      'cat /proc/1/root$PWD/.env /proc/1/cwd/.env /proc/self/root$PWD/.env',
      'ln .claude/settings.json hard; echo hostile > hard',
      'mknod dev b 8 0; cat dev',
    ])('`%s` does not open the box', async (line) => {
      expect((await trial.run(line)).output).not.toContain('only-mine')
      expect(read('.claude/settings.json')).toBe('{}')
    })

    describe('gets no box', () => {
      const begin = (project: string) =>
        trial.run('id', { session: project, project, cwd: project })
      const refuse = (why: string) => ({
        code: 'BOX_FAILED',
        message: expect.stringContaining(why),
      })

      test('a folder of the system, a home directory, one with a secret’s name', async () => {
        const folders = '/ /root /tmp /usr /etc /var /dev /proc /sys /run /opt'
          .split(' ')
          .filter(existsSync)
        for (const project of [...folders, trial.home, join(trial.home, '.ssh')])
          await expect(begin(project)).rejects.toMatchObject(refuse(`\`${project}\` is no project`))
        // Not because the home directory of the trial, or that for temporary files, is in one of them.
        vi.stubEnv('TMPDIR', '/nowhere')
        for (const project of folders)
          expect(() => readProjectFolder(project)).toThrow('is no project')
        vi.stubEnv('TMPDIR', trial.project)
        expect(() => readProjectFolder(trial.project)).toThrow('is no project')
        vi.unstubAllEnvs()
      })

      test('the home directory of somebody else', async () => {
        const made = process.getuid?.() === 0 ? [mkdtempSync(join('/home', 'sluice-box-'))] : []
        try {
          for (const name of readdirSync('/home'))
            await expect(begin(join('/home', name))).rejects.toMatchObject(refuse('is no project'))
        } finally {
          for (const folder of made) rmSync(folder, { recursive: true })
        }
      })

      test('a folder with too many files to look through', async () => {
        await expect(findSecrets(trial.project, 20)).rejects.toMatchObject(
          refuse(`\`${trial.project}\` has more than 20 files to look through for secrets`),
        )
        expect(await findSecrets(trial.project)).toContain(join(trial.project, '.env'))
        // What links lead to is not looked through.
        trial.write({ 'work/loop/x': '' })
        symlinkSync('.', join(trial.folder, 'work/loop/again'))
        expect(await findSecrets(join(trial.folder, 'work/loop'), 2)).toEqual([])
      })

      test('what is no folder', async () => {
        for (const name of ['a.txt', 'nowhere'])
          await expect(begin(join(trial.project, name))).rejects.toMatchObject({
            ...refuse(`\`${join(trial.project, name)}\` is no folder`),
            help: 'start the client in the folder of a project',
          })
      })

      test('a project in which a protected folder cannot be made', async () => {
        trial.write({ 'work/file/.github': 'a file' })
        const project = join(trial.folder, 'work/file')
        await expect(begin(project)).rejects.toMatchObject({
          ...refuse(
            `\`${join(project, '.github/hooks')}\` cannot be made, so it cannot be protected`,
          ),
          help: 'make the project writable for the user of the gate',
        })
        // What was made before that one is taken back.
        expect(readdirSync(project)).toEqual(['.github'])
      })

      test('a link among protected places, and one instead of the repository', async () => {
        trial.write({ 'work/linked/x': '', 'work/other/x': '' })
        const work = join(trial.folder, 'work')
        trial.outside('ln -sfn ~/.ssh linked/.claude && ln -sfn ~/shop/.git other/.git', work)
        for (const name of ['linked', 'other'])
          await expect(begin(join(work, name))).rejects.toMatchObject(refuse('is a link'))
      })

      test.each(['.env', '.env.local'])(
        'a link on the way to what `read` and `write` open: `%s`',
        async (name) => {
          const link = `ln -s ../../other/outside.txt opened/${name}`
          trial.outside(
            `mv opened away && mkdir opened && touch opened/.env{,.local} && rm opened/${name} && ${link}`,
          )
          try {
            await expect(trial.run('id', { session: 'link' })).rejects.toMatchObject(
              refuse(`\`${join(trial.project, 'opened', name)}\` is a link`),
            )
          } finally {
            trial.outside('rm -r opened && mv away opened')
          }
        },
      )

      test('a `.git` that leads to a repository of somebody else, or to files of the line', async () => {
        const git = join(trial.project, '.git')
        const head = 'ref: refs/heads/main\n'
        trial.write({
          'work/forged/.git': `gitdir: ${git}\n`,
          'work/forged2/.git': `gitdir: ${git}/worktrees/tree\n`,
          // The project is its own worktree folder, of the folder two above.
          'work/own/.git': 'gitdir: .\n',
          'work/own/HEAD': head,
          'work/own/gitdir': '.git\n',
          'work/own/commondir': '../..\n',
          // The same, with the folder of another project.
          'work/worktrees/other/HEAD': head,
          'work/worktrees/other/gitdir': `${join(trial.folder, 'work/beside/.git')}\n`,
          'work/worktrees/other/commondir': '../..\n',
          'work/beside/.git': 'gitdir: ../worktrees/other\n',
          'work/sub/.git': 'gitdir: ../empty\n',
          'work/empty/config': `[core]\n\tworktree = ${join(trial.folder, 'work/sub')}\n`,
        })
        // Of a repository one part is missing.
        for (const part of ['HEAD', 'objects', 'refs']) {
          const project = join(trial.folder, 'work/without', part)
          const git = `${project}.git`
          trial.outside(
            `git init -q --separate-git-dir ${git} ${project} && git -C ${project} config core.worktree ${project} && rm -r ${git}/${part}`,
          )
        }
        // The same below a repository, and in a folder of it that is not for worktrees.
        trial.outside(`git init -q --bare ${join(trial.folder, 'work/bare')}`)
        trial.write({
          'work/bare/worktrees/own/.git': 'gitdir: .\n',
          'work/bare/worktrees/own/HEAD': head,
          'work/bare/worktrees/own/gitdir': '.git\n',
          'work/bare/worktrees/own/commondir': '../..\n',
          'work/bare/objects/x/HEAD': head,
          'work/bare/objects/x/gitdir': `${join(trial.folder, 'work/objects/.git')}\n`,
          'work/bare/objects/x/commondir': '../..\n',
          'work/objects/.git': 'gitdir: ../bare/objects/x\n',
        })
        const all =
          'forged forged2 own beside sub bare/worktrees/own objects without/HEAD without/objects without/refs'
        for (const name of all.split(' '))
          await expect(begin(join(trial.folder, 'work', name))).rejects.toMatchObject(
            refuse('does not lead back to it'),
          )
      })
    })

    test('a secret that is gone by the time the box starts does not keep it from starting', () => {
      const { project } = trial
      const places = { project, cwd: project, home: '/h', tmp: '/t', caches: '/c' }
      const settings = { read: [], write: [], hosts: [], env: [] }
      const others = { scratch: undefined, hidden: [], readOnly: [], settings }
      const secrets = ['gone.key', '.env'].map((name) => join(project, name))
      const { guarded } = showBox({ ...places, ...others, secrets })
      expect(guarded).toContain(secrets[1])
      expect(guarded).not.toContain(secrets[0])
    })

    test('a submodule has its repository, and config of a worktree cannot be made', async () => {
      const sub = join(trial.home, 'sub')
      const git = join(trial.home, 'sub.git')
      trial.outside(
        `git init -q --separate-git-dir ${git} ${sub} && cd ${sub} && git config core.worktree ${sub} && git config extensions.worktreeConfig true`,
      )
      const at = { session: 'sub', project: sub, cwd: sub }
      await trial.end('sub')
      expect(await trial.run(`touch a && git add a && ${COMMIT} --allow-empty`, at)).toMatchObject({
        code: 0,
      })
      for (const path of ['config', 'config.worktree'])
        expect((await trial.run(`echo x > ${git}/${path}`, at)).output).toContain('Read-only')
      // Made so that it could be protected.
      await trial.end('sub')
      expect(existsSync(join(git, 'config.worktree'))).toBe(false)
    })

    test('the client’s folder for temporary files is shown if it is its own and no link', async () => {
      const owner = uid ?? process.getuid?.() ?? 0
      const top = mkdtempSync(`/tmp/claude-${owner}-`)
      const base = join('/tmp', `claude-${owner}`, top.slice(5))
      const folder = (name: string) => join(base, name, 'scratchpad')
      try {
        mkdirSync(base, { recursive: true })
        for (const name of ['own', 'foreign']) {
          mkdirSync(folder(name), { recursive: true })
          writeFileSync(join(folder(name), 'x'), name)
        }
        execFileSync('chown', ['-R', `${owner}`, base])
        symlinkSync(join(base, 'own'), join(base, 'linked'))
        const show = async (name: string) => {
          const at = { session: name, scratch: folder(name) }
          return (await trial.run(`cat ${folder(name)}/x && echo y >> ${folder(name)}/x`, at)).code
        }
        expect(await show('own')).toBe(0)
        const missing = { session: 'missing', scratch: folder('missing') }
        expect((await trial.run(`echo y > ${folder('missing')}/y`, missing)).code).toBe(0)
        expect(await show('linked')).toBe(1)
        const other = join(trial.folder, 'other')
        const at = { session: 'elsewhere', scratch: other }
        expect((await trial.run(`cat ${other}/outside.txt`, at)).code).toBe(1)
        if (process.getuid?.() !== 0) return
        execFileSync('chown', ['-R', owner === 0 ? '65534' : '0', folder('foreign')])
        execFileSync('chmod', ['-R', 'a+rwX', base])
        expect(await show('foreign')).toBe(1)
      } finally {
        for (const name of ['own', 'missing', 'linked', 'foreign', 'elsewhere'])
          await trial.end(name)
        for (const path of [base, top]) rmSync(path, { recursive: true })
      }
    })
  },
)

test('the page of boxes has their limits', () => {
  const page = readFileSync(join(ROOT, 'docs/how-to/isolate-servers.md'), 'utf8')
  for (const text of [
    `or more than ${BOX_ENTRIES_MAX.toLocaleString('en-US')} files, gets no box`,
    `a project with more than ${SNAPSHOT_FILES_MAX.toLocaleString('en-US')} files has none`,
    `a line of more than ${BOX_LINE_BYTES_MAX / 1_024} KiB`,
    `at most ${BOXES_MAX} boxes`,
  ])
    expect(page).toContain(text)
})
