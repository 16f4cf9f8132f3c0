// `npm run soak -- compose [--release DIR]`: the image of a release, in the containers of deploy/compose.yaml, takes the tour
// of examples/cluster.
// Nothing is pulled: PostgreSQL and HAProxy are those of this machine, in images of their own (test/support/host-image.ts),
// and podman has a storage of its own.

import { execFileSync, spawnSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { connect as connectTo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Client } from '@modelcontextprotocol/client'
import { Agent, fetch as fetchBy } from 'undici'
import {
  GRANTS,
  POLICY,
  runTour,
  TOKEN,
  type TourGate,
  TURNS,
} from '../../examples/cluster/tour.ts'
import { connect } from '../../examples/support/gate.ts'
import type { RunOptions } from '../../scripts/dispatch.ts'
import { findHaproxy } from '../support/haproxy.ts'
import { makeHostImage } from '../support/host-image.ts'
import { ROOT } from '../support/modules.ts'
import { PIN, runWordsAtTerminal } from '../support/person.ts'
import { findPodman, Podman } from '../support/podman.ts'
import { findPostgres } from '../support/postgres.ts'
import { findProgram } from '../support/programs.ts'
import { findRelease } from '../support/release-folder.ts'
import { until } from '../support/start-gate.ts'

const COMPOSE = {
  title: 'podman-compose',
  neededBy: 'the test of the compose file needs',
  package: 'podman-compose netavark aardvark-dns iptables',
  variable: 'SLUICE_TEST_PODMAN_COMPOSE',
  names: ['podman-compose'],
}
/** Programs of podman that give a network its names. */
const NAME_SERVICE = ['netavark', 'aardvark-dns']
const PROJECT = 'sluice-soak'
const URL_OF_GATES = 'http://localhost:7433'
const NAMES = ['gate-1', 'gate-2', 'gate-3'] as const
/** Where the shop finds the packages of the product. */
const SHOP = '/opt/sluice/lib/sluice/shop-server.ts'

export async function run(options: RunOptions): Promise<number> {
  const { image } = findRelease(options)
  const programs = [findPodman(), findProgram(COMPOSE), findPostgres(), findHaproxy()]
  const [podmanFile, compose, postgres, haproxy] = programs
  if (!podmanFile || !compose || !postgres || !haproxy)
    throw new Error('podman, podman-compose, PostgreSQL and HAProxy are needed')
  const missing = NAME_SERVICE.filter((name) => !existsSync(join('/usr/lib/podman', name)))
  if (missing.length > 0)
    throw new Error(
      `containers would not find each other by name: install ${missing.join(' and ')}, and remove them afterwards`,
    )
  const podman = new Podman(podmanFile, { hasNames: true })
  const config = mkdtempSync(join(tmpdir(), 'sluice-compose-'))
  const clients: Client[] = []
  const composeDo = (...args: string[]): void => {
    const files = ['-f', join(ROOT, 'deploy/compose.yaml'), '-f', join(config, 'shop.yaml')]
    execFileSync(compose, ['-p', PROJECT, ...files, ...args], {
      env: environmentOf(podman, config),
      stdio: 'pipe',
    })
  }
  try {
    // First: `down` needs it too, and would otherwise fail in the place of what failed before.
    writeConfig(config)
    loadImages(podman, image, postgres, haproxy)
    // The gate is another user than this one.
    chmodSync(config, 0o755)
    composeDo('up', '-d')
    const gates = NAMES.map((name) => openGate(podman, name, clients)) as [
      TourGate,
      TourGate,
      TourGate,
    ]
    await until(
      async () => (await fetchAt(undefined, '/readyz').catch(() => undefined))?.status === 200,
      180_000,
    )
    const approver = await addApprover(podman)
    await acceptTools(podman, gates[0])
    const balance = (server: string) =>
      connect(`${URL_OF_GATES}/mcp/${server}`, clients, { token: TOKEN })
    await runTour({ gates, approver, balance })
    const stats = ['stats', '--no-stream', '--format', '{{.Name}} {{.MemUsage}}']
    console.log(podman.run(...stats))
    return 0
  } catch (error) {
    for (const name of [...NAMES, 'database', 'balancer'])
      console.error(`${name}: ${podman.try('logs', '--tail', '20', `${PROJECT}_${name}_1`).output}`)
    throw error
  } finally {
    for (const client of clients) await client.close().catch(() => {})
    try {
      composeDo('down')
    } finally {
      podman.end()
      rmSync(config, { recursive: true, force: true })
    }
  }
}

function environmentOf(podman: Podman, config: string): NodeJS.ProcessEnv {
  return {
    ...podman.env,
    SLUICE_CONFIG: config,
    SLUICE_CLUSTER_KEY: 'a key of the cluster with 32 characters or more',
    POSTGRES_PASSWORD: 'for-a-test',
    SLUICE_POSTGRES: 'localhost/postgres:test',
    SLUICE_HAPROXY: 'localhost/haproxy:test',
  }
}

function loadImages(podman: Podman, image: string, postgres: string, haproxy: string): void {
  podman.run('load', '--input', image)
  // It may be a link of the PATH; what it reads is beside the program.
  const bin = dirname(realpathSync(postgres))
  const data = '/var/lib/postgresql/data'
  makeHostImage(podman, {
    tag: 'localhost/postgres:test',
    programs: ['postgres', 'initdb'].map((name) => join(bin, name)),
    data: [join(bin, '../lib'), join('/usr/share/postgresql', bin.split('/').at(-2) ?? '')],
    user: 999,
    home: data,
    // What the published image does with its variables.
    script: `set -e
cd ${data}
if [ ! -f PG_VERSION ]; then
  echo "$POSTGRES_PASSWORD" > /tmp/password
  ${bin}/initdb -D ${data} -U "$POSTGRES_USER" --pwfile /tmp/password -A scram-sha-256 -E UTF8 --locale=C
  echo 'host all all all scram-sha-256' >> pg_hba.conf
  echo "CREATE DATABASE $POSTGRES_DB" | ${bin}/postgres --single -D ${data} postgres
fi
exec ${bin}/postgres -D ${data} -c listen_addresses='*' -c unix_socket_directories=/tmp
`,
  })
  makeHostImage(podman, {
    tag: 'localhost/haproxy:test',
    programs: [haproxy],
    user: 99,
    home: '/var/lib/haproxy',
    script: `exec ${haproxy} -db -f /usr/local/etc/haproxy/haproxy.cfg\n`,
  })
}

/** The configuration of the tour, and the shop, which every gate runs beside itself. */
function writeConfig(folder: string): void {
  const servers = { agents: { builtin: 'agents' }, shop: { command: ['node', SHOP] } }
  const shipped = readFileSync(join(ROOT, 'deploy/sluice.yaml'), 'utf8')
  const text = shipped.replace(
    /^servers:\n.*/ms,
    `servers: ${JSON.stringify(servers)}\ngrants: ${JSON.stringify(GRANTS)}\n`,
  )
  writeFileSync(join(folder, 'sluice.yaml'), text)
  writeFileSync(join(folder, 'policy.yaml'), POLICY)
  cpSync(join(ROOT, 'examples/support/shop-server.ts'), join(folder, 'shop-server.ts'))
  const mount = { volumes: [`${join(folder, 'shop-server.ts')}:${SHOP}:ro`] }
  const services = Object.fromEntries(NAMES.map((name) => [name, mount]))
  writeFileSync(join(folder, 'shop.yaml'), JSON.stringify({ services }))
}

/** Sends a request to the gate at an address, or to the balancer, under the name that the gates have. */
function fetchAt(
  address: string | undefined,
  path: string,
  init: RequestInit = {},
): Promise<Response> {
  if (address === undefined) return fetch(`${URL_OF_GATES}${path}`, init)
  return fetchThrough(address)(`${URL_OF_GATES}${path}`, init)
}

function fetchThrough(address: string): typeof fetch {
  const dispatcher = new Agent({
    connect: (_, callback) => {
      const socket = connectTo({ host: address, port: 7433 })
      socket.once('connect', () => callback(null, socket))
      socket.once('error', (error) => callback(error, null))
    },
  })
  return ((url: string, init: object) =>
    fetchBy(url, { ...init, dispatcher })) as unknown as typeof fetch
}

function openGate(podman: Podman, name: string, clients: Client[]): TourGate {
  const container = `${PROJECT}_${name}_1`
  const format = '{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}'
  const address = podman.run('inspect', '--format', format, container)
  for (let tries = 0; ; tries++) {
    const script = `const fs = require('node:fs'); fs.mkdirSync('/var/lib/sluice/data/scripts', { recursive: true, mode: 0o700 }); fs.writeFileSync('/var/lib/sluice/data/scripts/notes.json', ${JSON.stringify(JSON.stringify({ turns: TURNS }))})`
    if (podman.try('exec', container, 'node', '-e', script).status === 0) break
    if (tries > 20) throw new Error(`${name} does not run: ${podman.run('logs', container)}`)
    spawnSync('sleep', ['1'])
  }
  return {
    name,
    connect: (server) =>
      connect(`${URL_OF_GATES}/mcp/${server}`, clients, {
        token: TOKEN,
        fetch: fetchThrough(address),
      }),
    ask: (path, init) => fetchAt(address, path, init),
    run: (...args) => podman.try('exec', container, 'sluice', ...args),
    kill: async () => void podman.run('kill', container),
  }
}

/** As a person would: a PIN, then a system that may approve. Returns its token. */
async function addApprover(podman: Podman): Promise<string> {
  await typeAt(podman, 'approvers', 'pin')
  const text = await typeAt(podman, 'approvers', 'add', 'bot', '--token')
  const [token] = /sluice_sys_[\w-]+/.exec(text) ?? []
  if (token === undefined) throw new Error(`no token in: ${text}`)
  return token
}

/** Beyond loopback, tools that were never seen wait for a person. */
async function acceptTools(podman: Podman, gate: TourGate): Promise<void> {
  for (const server of ['shop', 'agents']) await (await gate.connect(server)).list()
  const held = podman.run('exec', `${PROJECT}_gate-1_1`, 'sluice', 'pin', '--held')
  for (const server of ['shop', 'agents'])
    if (held.includes(`${server}/`)) await typeAt(podman, 'pin', '--accept', server)
}

async function typeAt(podman: Podman, ...args: string[]): Promise<string> {
  const words = [podman.file, 'exec', '-it', `${PROJECT}_gate-1_1`, 'sluice', ...args]
  const { code, text } = await runWordsAtTerminal(words, [PIN, PIN], undefined, podman.env)
  if (code !== 0) throw new Error(text)
  return text
}
