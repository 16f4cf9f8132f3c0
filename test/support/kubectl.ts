// kubectl of Debian 13, by the digest of deploy/image/debian.json: that of Debian 12 is from 2021 and does not know what the
// files of deploy/kubernetes use. It is unpacked, not installed. `SLUICE_TEST_KUBECTL` names another one.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { readDebianLock, unpackDebian } from '../../scripts/debian.ts'
import { PLATFORMS } from '../../scripts/node-binary.ts'
import { ROOT } from './modules.ts'

/** Undefined if it cannot be had here. Throws if CI needs it. */
export function findKubectl(): string | undefined {
  const { SLUICE_TEST_KUBECTL: named, SLUICE_TEST_INSTALL: install, CI } = process.env
  if (named !== undefined) return named
  try {
    if (install !== '0') return unpack()
  } catch (error) {
    process.stderr.write(`kubectl was not fetched: ${(error as Error).message}\n`)
  }
  if (CI) throw new Error('the tests of deploy/kubernetes need kubectl: set SLUICE_TEST_KUBECTL')
  return undefined
}

function unpack(): string | undefined {
  const platform = PLATFORMS.find((each) => each === `${process.platform}-${process.arch}`)
  if (platform === undefined) return undefined
  const { tools } = readDebianLock(platform)
  const [kubectl] = tools
  if (kubectl === undefined) return undefined
  const folder = join(ROOT, 'node_modules/.cache/sluice-kubectl', kubectl.sha256.slice(0, 16))
  const file = join(folder, 'usr/bin/kubectl')
  if (existsSync(file)) return file
  unpackDebian([kubectl], folder)
  return file
}
