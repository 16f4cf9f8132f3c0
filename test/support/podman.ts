// Containers of podman, with a storage of their own: nothing of the machine's images is seen or changed.

import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findProgram, nameSuite, type Program } from './programs.ts'

const PODMAN: Program = {
  title: 'podman',
  neededBy: "the image's tests need",
  // The runtime is not among what podman itself asks for.
  package: 'podman runc',
  variable: 'SLUICE_TEST_PODMAN',
  names: ['podman'],
}
const RUNC = ['/usr/sbin/runc', '/usr/bin/runc']

const FILES_MAX = 16_384

/** A machine may forbid to raise limits, as podman does by default. */
const CONTAINERS = `[containers]
default_ulimits = ["nofile=${limitFiles()}:${limitFiles()}", "nproc=4096:4096"]
[engine]
cgroup_manager = "cgroupfs"
events_logger = "file"
`

function limitFiles(): number {
  const hard = Number(execFileSync('sh', ['-c', 'ulimit -Hn'], { encoding: 'utf8' }))
  return Number.isNaN(hard) ? FILES_MAX : Math.min(hard, FILES_MAX)
}

export function findPodman(): string | undefined {
  return findProgram(PODMAN)
}

export function namePodmanSuite(suite: string, file: string | undefined): string {
  return nameSuite(suite, PODMAN, file)
}

export class Podman {
  readonly file: string
  readonly #folder: string
  /** For programs that call podman themselves. */
  readonly env: NodeJS.ProcessEnv

  /** `hasNames`: containers of a network find each other by name. It needs netavark and aardvark-dns. */
  constructor(file: string, { hasNames = false } = {}) {
    this.file = file
    this.#folder = mkdtempSync(join(tmpdir(), 'sluice-podman-'))
    const write = (name: string, text: string): string => {
      writeFileSync(join(this.#folder, name), text)
      return join(this.#folder, name)
    }
    const place = (name: string): string => JSON.stringify(join(this.#folder, name))
    const storage = `[storage]\ndriver = "overlay"\ngraphroot = ${place('graph')}\nrunroot = ${place('run')}\n`
    // The other one, crun, does not work with both versions of cgroups mounted.
    const runtime = RUNC.some((path) => existsSync(path)) ? 'runtime = "runc"\n' : ''
    // Left to itself, podman takes networks without names (CNI) if this machine has one of that kind.
    const networks = `[network]\nnetwork_backend = "netavark"\nnetwork_config_dir = ${place('networks')}\n`
    this.env = {
      ...process.env,
      CONTAINERS_CONF: write(
        'containers.conf',
        `${CONTAINERS}${runtime}${hasNames ? networks : ''}`,
      ),
      CONTAINERS_STORAGE_CONF: write('storage.conf', storage),
    }
  }

  /** Runs a command of podman to its end. */
  try(...args: string[]): { readonly status: number; readonly output: string } {
    const options = { env: this.env, encoding: 'utf8', maxBuffer: 2 ** 26 } as const
    const { status, stdout, stderr, error } = spawnSync(this.file, args, options)
    if (error !== undefined) throw error
    return {
      status: status ?? -1,
      output: `${stdout}${status === 0 && args[0] !== 'logs' ? '' : stderr}`.trim(),
    }
  }

  /** The same, and throws if it fails. */
  run(...args: string[]): string {
    const { status, output } = this.try(...args)
    if (status !== 0) throw new Error(`podman ${args.join(' ')} ended with ${status}: ${output}`)
    return output
  }

  end(): void {
    this.try('rm', '--all', '--force', '--time', '0')
    this.try('volume', 'rm', '--all', '--force')
    // It is left mounted, empty.
    spawnSync('umount', [join(this.#folder, 'graph/overlay')])
    rmSync(this.#folder, { recursive: true, force: true })
  }
}
