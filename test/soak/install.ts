// `npm run soak -- install [--release DIR]`: a release is installed as a stranger would, in a container with nothing but Node
// (the package, with what npm fetches for it) and in one with nothing at all (the bundle): init, up, doctor, demo, upgrade and
// removal, with the time and size of each. The upgrade is to the same files under the next version.

import { execFileSync } from 'node:child_process'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import type { RunOptions } from '../../scripts/dispatch.ts'
import { makeHostImage } from '../support/host-image.ts'
import { ROOT } from '../support/modules.ts'
import { findPodman, Podman } from '../support/podman.ts'
import { findRelease, type ReleaseFolder } from '../support/release-folder.ts'
import { until } from '../support/start-gate.ts'

const HOME = '/var/lib/stranger'
const DEMO = `${HOME}/demo`
const CLIENT = `${HOME}/.cursor/mcp.json`
const USER = 1000
const IMAGE = 'localhost/stranger:test'
/** For unpacking and looking; the product uses none of them but the shell, and `readlink` if it is called by a link. */
const PROGRAMS = ['cat', 'gzip', 'ln', 'mkdir', 'readlink', 'rm', 'tail', 'tar'].map(
  (name) => `/bin/${name}`,
)

interface Way {
  readonly name: string
  /** What the container has beside the programs. */
  readonly mounts: readonly string[]
  /** The Node that servers of the demo run on. */
  readonly node: string
  /** Commands that install a version, and remove it. */
  readonly install: (version: string) => string
  readonly remove: string
  /** What was installed, for its size. */
  readonly place: string
}

export async function run(options: RunOptions): Promise<number> {
  const file = findPodman()
  if (file === undefined) throw new Error('podman is needed')
  const release = findRelease(options)
  const podman = new Podman(file)
  const folder = mkdtempSync(join(tmpdir(), 'sluice-install-'))
  try {
    const next = makeNext(release, folder)
    cpSync(release.folder, join(folder, 'files'), { recursive: true })
    execFileSync('chmod', ['-R', 'a+rX', folder])
    makeHostImage(podman, {
      tag: IMAGE,
      programs: PROGRAMS,
      libraries: [process.execPath],
      user: USER,
      home: HOME,
      script: 'exec tail -f /dev/null\n',
    })
    for (const way of listWays(release, folder)) await tryWay(podman, way, release.version, next)
    return 0
  } finally {
    podman.end()
    rmSync(folder, { recursive: true, force: true })
  }
}

function listWays({ bundle, version }: ReleaseFolder, folder: string): Way[] {
  const platform = `${process.platform}-${process.arch}`
  const npm = dirname(
    dirname(realpathSync(execFileSync('which', ['npm'], { encoding: 'utf8' }).trim())),
  )
  const certificates = process.env.NODE_EXTRA_CA_CERTS
  const shared = [
    `${join(folder, 'files')}:/release:ro`,
    `${join(ROOT, 'node_modules')}:/servers/node_modules:ro`,
    `${join(ROOT, 'examples/demo')}:/demo:ro`,
    ...(certificates === undefined ? [] : [`${certificates}:${certificates}:ro`]),
  ]
  const lib = `${HOME}/.local/lib`
  return [
    {
      name: 'only Node: the package from npm',
      mounts: [
        ...shared,
        `${process.execPath}:/usr/local/bin/node:ro`,
        `${npm}:/usr/local/lib/npm:ro`,
        '/usr/bin/env:/usr/bin/env:ro',
      ],
      node: '/usr/local/bin/node',
      install: (it) =>
        `node /usr/local/lib/npm/bin/npm-cli.js install --global --no-audit --no-fund --silent /release/sluice-${it}.tgz`,
      remove: 'node /usr/local/lib/npm/bin/npm-cli.js uninstall --global --silent sluice',
      place: `${HOME}/.local/lib/node_modules`,
    },
    {
      name: 'nothing at all: the bundle',
      mounts: shared,
      node: `${lib}/sluice-${version}-${platform}/lib/node`,
      install: (it) =>
        `mkdir -p ${lib} ${HOME}/.local/bin && tar -xzf /release/${basename(bundle).replace(version, it)} -C ${lib} && ln -sf ${lib}/sluice-${it}-${platform}/bin/sluice ${HOME}/.local/bin/sluice`,
      remove: `rm -r ${lib}/sluice-* ${HOME}/.local/bin/sluice`,
      place: lib,
    },
  ]
}

async function tryWay(podman: Podman, way: Way, version: string, next: string): Promise<void> {
  console.log(`\n${way.name}`)
  const variables = {
    HOME,
    PATH: `${HOME}/.local/bin:/usr/local/bin:/usr/bin:/bin`,
    NPM_CONFIG_PREFIX: `${HOME}/.local`,
    SLUICE_DEMO: DEMO,
    SLUICE_DEMO_NODE: way.node,
    SLUICE_DEMO_MODULES: '/servers/node_modules/@modelcontextprotocol',
    ...(process.env.NODE_EXTRA_CA_CERTS === undefined
      ? {}
      : { NODE_EXTRA_CA_CERTS: process.env.NODE_EXTRA_CA_CERTS }),
  }
  const given = Object.entries(variables).flatMap(([name, value]) => ['--env', `${name}=${value}`])
  const mounts = way.mounts.flatMap((mount) => ['--volume', mount])
  // The network of the machine: npm fetches what the packages depend on.
  podman.run(
    'run',
    '--detach',
    '--replace',
    '--init=false',
    '--name',
    'stranger',
    '--network',
    'host',
    '--workdir',
    HOME,
    ...given,
    ...mounts,
    IMAGE,
  )
  const sh = (command: string): string => podman.run('exec', 'stranger', '/bin/sh', '-c', command)
  const step = (name: string, command: string, expected: RegExp): string => {
    const began = performance.now()
    const output = sh(command)
    if (!expected.test(output)) throw new Error(`${name}: \`${command}\` printed: ${output}`)
    console.log(
      `  ${name.padEnd(10)} ${((performance.now() - began) / 1000).toFixed(1).padStart(6)} s`,
    )
    return output
  }
  const serve = async (): Promise<void> => {
    podman.run(
      'exec',
      '--detach',
      'stranger',
      '/bin/sh',
      '-c',
      `sluice up --no-pin --config /demo/sluice.yaml >${HOME}/log 2>&1`,
    )
    await until(
      () =>
        podman.try('exec', 'stranger', '/bin/sh', '-c', `sluice status --data ${DEMO}/data`)
          .status === 0,
    )
  }
  try {
    const entry = {
      mcpServers: {
        memory: {
          command: way.node,
          args: ['/servers/node_modules/@modelcontextprotocol/server-memory/dist/index.js'],
        },
      },
    }
    const client = `${JSON.stringify(entry, null, 2)}\n`
    sh(
      `mkdir -p ${DEMO}/workspace ${HOME}/.cursor && echo hello >${DEMO}/workspace/hello.txt && cat >${CLIENT} <<'END'\n${client}END`,
    )
    step('install', way.install(version), /^/)
    const size = `const fs = require('node:fs'); console.log(fs.readdirSync('${way.place}', { recursive: true }).reduce((sum, path) => sum + fs.lstatSync('${way.place}/' + path).size, 0))`
    console.log(
      `  size       ${(Number(sh(`${way.node} -e "${size}"`)) / 1e6).toFixed(0).padStart(6)} MB`,
    )
    step('version', 'sluice --version', new RegExp(`^${version.replaceAll('.', '\\.')}$`))
    step('init', 'sluice init --yes --move', /memory/)
    step('doctor', 'sluice doctor', /0 failures/)
    const began = performance.now()
    await serve()
    console.log(`  up         ${((performance.now() - began) / 1000).toFixed(1).padStart(6)} s`)
    step('demo', 'sluice demo', /APPROVAL_PENDING/)
    const records = Number(
      /(\d+) records/.exec(sh(`sluice ledger verify --data ${DEMO}/data`))?.[1],
    )
    sh(`sluice stop --data ${DEMO}/data`)
    step('upgrade', way.install(next), /^/)
    step('version', 'sluice --version', new RegExp(`^${next.replaceAll('.', '\\.')}$`))
    await serve()
    const after = Number(/(\d+) records/.exec(sh(`sluice ledger verify --data ${DEMO}/data`))?.[1])
    if (!(records > 0 && after >= records))
      throw new Error(`the ledger had ${records} records, and has ${after}`)
    sh(`sluice stop --data ${DEMO}/data`)
    step('undo', 'sluice init --undo', /^/)
    if (`${sh(`cat ${CLIENT}`)}\n` !== client)
      throw new Error('the file of the client is another one')
    step('remove', way.remove, /^/)
    if (podman.try('exec', 'stranger', '/bin/sh', '-c', 'sluice --version').status !== 127)
      throw new Error('the command is still there')
  } catch (error) {
    console.error(podman.try('exec', 'stranger', '/bin/sh', '-c', `cat ${HOME}/log`).output)
    throw error
  }
}

/** The same files as those of the release, under the next version. */
function makeNext({ bundle, packages, version }: ReleaseFolder, folder: string): string {
  const next = version.replace(/\d+$/, (patch) => String(Number(patch) + 1))
  mkdirSync(join(folder, 'files'))
  for (const archive of [bundle, ...packages]) {
    const place = mkdtempSync(join(folder, 'next-'))
    execFileSync('tar', ['-xzf', archive, '-C', place])
    const [top = ''] = execFileSync('ls', [place], { encoding: 'utf8' }).split('\n')
    const renamed = top.replace(version, next)
    if (renamed !== top) execFileSync('mv', [join(place, top), join(place, renamed)])
    for (const manifest of [
      'package.json',
      'lib/sluice/package.json',
      'lib/sluice/node_modules/@sluice/policy/package.json',
    ]) {
      const path = join(place, renamed, manifest)
      try {
        writeFileSync(path, readFileSync(path, 'utf8').replaceAll(`"${version}"`, `"${next}"`))
      } catch {
        // Only the bundle has the others.
      }
    }
    execFileSync('tar', [
      '-I',
      'gzip -1',
      '-cf',
      join(folder, 'files', basename(archive).replace(version, next)),
      '-C',
      place,
      renamed,
    ])
    rmSync(place, { recursive: true })
  }
  return next
}
