// Snapshots of a project before lines of a coding agent, and the way back: real git in a real box, as the user of the
// tests and, as root, as an ordinary one.

import { chmodSync, existsSync, lstatSync, readFileSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { SNAPSHOTS_MAX } from '../../packages/gateway/src/isolation/limits.ts'
import { BoxTrial, ORDINARY_USER } from '../support/boxes.ts'
import { findBubblewrap, nameBubblewrapSuite } from '../support/bubblewrap.ts'

const BWRAP = findBubblewrap()
const COMMIT = 'git -c user.name=a -c user.email=a@b commit -qm first'
/** Line ends and filters that git would change, if it read the project's attributes. */
const ATTRIBUTES = '*.txt text eol=crlf filter=hostile ident\n*.utf working-tree-encoding=UTF-16\n'
const FILES = {
  'home/shop/.gitignore': 'ignored\nforced.log\n',
  'home/shop/a.txt': 'one\ntwo\r\n$Id$\n',
  'home/shop/b.utf': 'plain\n',
  'home/shop/sub/c.bin': '\0\u0001\r\n\r',
  'home/shop/forced.log': 'tracked although ignored\n',
  'home/shop/ignored': 'first\n',
  'home/shop/run.sh': '#!/bin/sh\n',
}

describe.runIf(BWRAP !== undefined).each(ORDINARY_USER)(
  nameBubblewrapSuite('undo, as user %s', BWRAP),
  (uid) => {
    let trial: BoxTrial
    const at = (name: string) => join(trial.project, name)
    const read = (name: string) => readFileSync(at(name), 'utf8')
    const run = (line: string) => trial.run(line, { snapshot: true })

    beforeEach(async () => {
      trial = new BoxTrial(uid)
      trial.write(FILES)
      chmodSync(at('run.sh'), 0o755)
      symlinkSync('a.txt', at('link'))
      trial.give()
      trial.outside(`git init -q . && git add a.txt b.utf && git add -f forced.log && ${COMMIT}`)
      trial.write({ 'home/shop/.gitattributes': ATTRIBUTES })
      trial.outside(
        `git config filter.hostile.clean "touch ${trial.folder}/ran; cat" && git config filter.hostile.smudge "touch ${trial.folder}/ran; cat" && git config core.fsmonitor "touch ${trial.folder}/ran"`,
      )
      await trial.start()
    })
    afterEach(() => trial.close())

    test('files that git tracks or would track come back byte for byte', async () => {
      const result = await run(
        'rm -rf a.txt b.utf sub forced.log run.sh link; mkdir a.txt; echo new > a.txt/x; echo new > n',
      )
      expect(result).toMatchObject({ code: 0, snapshotFailed: false })
      const [last] = await trial.snapshots()
      const changes = await trial.restore(last?.commit ?? '')
      expect(changes).toContainEqual({ path: 'n', change: 'deleted' })
      for (const [name, content] of Object.entries(FILES))
        expect(readFileSync(join(trial.folder, name), 'utf8')).toBe(content)
      expect(existsSync(at('n'))).toBe(false)
      expect(statSync(at('run.sh')).mode & 0o111).toBe(0o111)
      expect(lstatSync(at('link')).isSymbolicLink()).toBe(true)
      expect(existsSync(join(trial.folder, 'ran'))).toBe(false)
    })

    test('finding: files of the gate that lie in the project stay as they are', async () => {
      await trial.close()
      trial = new BoxTrial(uid, 'shop/.sluice')
      trial.write({ 'home/shop/a.txt': 'one\n', 'home/shop/sluice.yaml': 'old\n' })
      trial.outside('git init -q . && git add -f .sluice sluice.yaml')
      await trial.start({}, { readOnly: [at('sluice.yaml')] })
      await run('echo two > a.txt')
      trial.write({ 'home/shop/sluice.yaml': 'new\n', 'home/shop/.sluice/ledger.db': 'records\n' })
      await run('echo three > a.txt')
      const [, first] = await trial.snapshots()
      const changes = await trial.restore(first?.commit ?? '')
      expect(changes).toEqual([{ path: 'a.txt', change: 'changed' }])
      expect([read('a.txt'), read('sluice.yaml')]).toEqual(['one\n', 'new\n'])
      expect(read('.sluice/ledger.db')).toBe('records\n')
      expect(await trial.snapshots()).toHaveLength(3)
    })

    test('ignored files and the repository stay as the line left them', async () => {
      const line =
        'echo second > ignored; echo x > a.txt; git -c user.name=a -c user.email=a@b commit -q --allow-empty -m second 2> /dev/null'
      expect(await run(line)).toMatchObject({ output: '', code: 0 })
      const [last] = await trial.snapshots()
      await trial.restore(last?.commit ?? '')
      expect(read('ignored')).toBe('second\n')
      expect(read('a.txt')).toBe(FILES['home/shop/a.txt'])
      expect(trial.outside('git -c core.fsmonitor= log -1 --format=%s')).toBe('second\n')
    })

    test('lines that changed something are listed, and undoing one can be undone', async () => {
      await run('echo x > a.txt')
      await run('ls')
      await run('echo y > b.utf')
      const lines = await trial.snapshots()
      expect(lines.map(({ line }) => line)).toEqual(['echo y > b.utf', 'echo x > a.txt'])
      await trial.restore(lines[1]?.commit ?? '')
      expect([read('a.txt'), read('b.utf')]).toEqual([FILES['home/shop/a.txt'], 'plain\n'])
      const [undo] = await trial.snapshots()
      expect(undo?.line).toBe('sluice undo')
      await trial.restore(undo?.commit ?? '')
      expect([read('a.txt'), read('b.utf')]).toEqual(['x\n', 'y\n'])
    })

    test('the last lines are kept, as many as the limit says', async () => {
      expect(SNAPSHOTS_MAX).toBe(50)
      await trial.kill()
      await trial.start({}, { bounds: { snapshotsMax: 5 } })
      for (let at = 0; at < 8; at++) await run(`echo ${at} > a.txt`)
      const lines = await trial.snapshots()
      expect([lines.length, lines.at(-1)?.line]).toEqual([5, 'echo 3 > a.txt'])
    })

    test('a link that a line has put in the place of a folder is not followed', async () => {
      trial.write({ 'other/c.bin': 'outside' })
      await run(`rm -rf sub && ln -s ${join(trial.folder, 'other')} sub`)
      const [last] = await trial.snapshots()
      await trial.restore(last?.commit ?? '')
      expect(read('sub/c.bin')).toBe(FILES['home/shop/sub/c.bin'])
      expect(readFileSync(join(trial.folder, 'other/c.bin'), 'utf8')).toBe('outside')
    })

    test('what a line has made unreadable comes back', async () => {
      await run('echo x > b.utf; chmod 000 sub a.txt')
      const [last] = await trial.snapshots()
      await trial.restore(last?.commit ?? '')
      for (const name of ['a.txt', 'b.utf', 'sub/c.bin'] as const)
        expect(read(name)).toBe(FILES[`home/shop/${name}`])
    })

    test('a repository that a line makes in a subfolder does not turn snapshots off', async () => {
      await run('git init -q nested')
      expect(await run('rm a.txt')).toMatchObject({ snapshotFailed: false })
      const [last] = await trial.snapshots()
      await trial.restore(last?.commit ?? '')
      expect(read('a.txt')).toBe(FILES['home/shop/a.txt'])
    })

    test('a snapshot that cannot be made is told', async () => {
      await run(':')
      // git does not read a file again whose time and size are those of its index.
      trial.outside('echo more >> a.txt && chmod 000 a.txt')
      const result = await run(':')
      expect(result.snapshotFailed).toBe(true)
      expect((await trial.list())[0]?.noUndo).toContain('a.txt')
    })

    test('a project with too many files has none, also if they came later', async () => {
      await trial.kill()
      await trial.start({}, { bounds: { filesMax: 20 } })
      await run('touch $(seq 21)')
      expect(await run(':')).toMatchObject({ snapshotFailed: true })
      trial.outside("mkdir many && find . -maxdepth 1 -name '[0-9]*' -exec mv -t many {} +")
      const other = { session: 'other', project: at('many'), cwd: at('many'), snapshot: true }
      expect(await trial.run(':', other)).toMatchObject({ snapshotFailed: true })
      const boxes = await trial.list()
      expect(boxes).toHaveLength(2)
      for (const { noUndo } of boxes) expect(noUndo).toContain('files, more than 20')
    })
  },
)
