// Images of programs that are installed on this machine, from Debian's packages, for tests that need a container of
// PostgreSQL or HAProxy and may pull nothing: the programs, the libraries they load, and a shell.

import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Podman } from './podman.ts'

export interface HostImage {
  readonly tag: string
  readonly programs: readonly string[]
  /** Programs whose libraries are needed, and which are brought in another way. */
  readonly libraries?: readonly string[]
  /** Folders and files that the programs read. */
  readonly data?: readonly string[]
  readonly user: number
  /** A folder that belongs to the user. */
  readonly home: string
  /** What the container runs, as a script for `sh`. */
  readonly script: string
}

export function makeHostImage(podman: Podman, image: HostImage): void {
  const root = mkdtempSync(join(tmpdir(), 'sluice-host-image-'))
  try {
    const programs = ['/bin/sh', ...image.programs]
    const libraries = [...programs, ...(image.libraries ?? [])].flatMap(listLibraries)
    for (const path of [...programs, ...libraries]) copy(path, root)
    for (const path of image.data ?? []) {
      copy(path, root)
      if (!path.endsWith('/lib')) continue
      // Libraries that are loaded while it runs.
      const found = execFileSync('find', [path, '-name', '*.so'], { encoding: 'utf8' })
      for (const library of found.split('\n').filter(Boolean).flatMap(listLibraries))
        copy(library, root)
    }
    for (const folder of ['etc', 'tmp', 'run', image.home])
      mkdirSync(join(root, folder), { recursive: true })
    chmodSync(join(root, 'tmp'), 0o1777)
    chownSync(join(root, image.home), image.user, image.user)
    writeFileSync(
      join(root, 'etc/passwd'),
      `user:x:${image.user}:${image.user}::${image.home}:/bin/sh\n`,
    )
    writeFileSync(join(root, 'etc/group'), `user:x:${image.user}:\n`)
    writeFileSync(join(root, 'run.sh'), image.script)
    const archive = `${root}.tar`
    execFileSync('tar', ['-cf', archive, '-C', root, '.'])
    const change = ['ENTRYPOINT ["/bin/sh", "/run.sh"]', `USER ${image.user}`].flatMap((line) => [
      '--change',
      line,
    ])
    podman.run('import', ...change, archive, image.tag)
    rmSync(archive)
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}

function copy(path: string, root: string): void {
  const to = join(root, path)
  if (existsSync(to)) return
  mkdirSync(dirname(to), { recursive: true })
  cpSync(path, to, { recursive: true, dereference: true })
}

function listLibraries(program: string): string[] {
  const text = execFileSync('ldd', [program], { encoding: 'utf8' })
  return [...text.matchAll(/(?:=> |^\s+)(\/\S+)/gm)].map(([, path]) => path ?? '')
}
