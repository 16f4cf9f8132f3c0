// A data directory that another user could replace is refused. Only root can create another user's
// files; otherwise those cases are reported as skipped.

import {
  chmodSync,
  chownSync,
  lchownSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { makePrivateFolder } from './private-folder.ts'

const NOBODY = 65_534
const isRoot = process.getuid?.() === 0

let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-private-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

describe.skipIf(process.platform === 'win32')('M11: the data directory', () => {
  test('M11: is created for its owner only, also several folders deep, in a folder with the sticky bit', () => {
    makePrivateFolder(join(folder, 'a', 'data'))
    for (const path of ['a', 'a/data'])
      expect(statSync(join(folder, path)).mode & 0o777).toBe(0o700)
  })

  test('one that cannot be made is refused at once', () => {
    writeFileSync(join(folder, 'file'), '')
    expect(() => makePrivateFolder(join(folder, 'file'))).toThrow('is a file')
    expect(() => makePrivateFolder(join(folder, 'file', 'data'))).toThrow('cannot be made')
    if (process.platform === 'linux')
      expect(() => makePrivateFolder('/proc/none/data')).toThrow('cannot be made')
  })

  test('M11: is refused if others may write to it, or rename it', () => {
    const data = join(folder, 'data')
    mkdirSync(data)
    chmodSync(data, 0o777)
    expect(() => makePrivateFolder(data)).toThrow(
      `others may write to the data directory \`${data}\``,
    )
    chmodSync(data, 0o755)
    makePrivateFolder(data)
    chmodSync(folder, 0o757)
    expect(() => makePrivateFolder(data)).toThrow(`others may rename what is in \`${folder}\``)
    expect(() => makePrivateFolder(join(folder, 'new'))).toThrow('others may rename')
    chmodSync(folder, 0o1777)
    makePrivateFolder(data)
  })

  test('M11: may be a link of one’s own, but not to a folder that others may write', () => {
    const [data, link] = [join(folder, 'data'), join(folder, 'link')]
    mkdirSync(data)
    symlinkSync('data', link)
    makePrivateFolder(link)
    chmodSync(data, 0o770)
    if (isRoot) chownSync(data, 0, NOBODY)
    expect(() => makePrivateFolder(link)).toThrow('others may write')
    symlinkSync('round', join(folder, 'round'))
    expect(() => makePrivateFolder(join(folder, 'round'))).toThrow('is behind more than 40 links')
  })

  test.skipIf(!isRoot)(
    'M11 (as root): of another user, below one, or behind their link is refused',
    () => {
      const data = join(folder, 'data')
      mkdirSync(data, { mode: 0o700 })
      chownSync(data, NOBODY, NOBODY)
      expect(() => makePrivateFolder(data)).toThrow(
        `belongs to user ${NOBODY}, not to you (user 0)`,
      )
      expect(() => makePrivateFolder(join(data, 'below'))).toThrow(
        'above the data directory, belongs',
      )
      const [own, link] = [join(folder, 'own'), join(folder, 'link')]
      mkdirSync(own)
      symlinkSync(own, link)
      lchownSync(link, NOBODY, NOBODY)
      expect(() => makePrivateFolder(link)).toThrow(`is a link that user ${NOBODY} made`)
      expect(() => makePrivateFolder(join(link, 'data'))).toThrow(
        `is a link that user ${NOBODY} made`,
      )
    },
  )
})
