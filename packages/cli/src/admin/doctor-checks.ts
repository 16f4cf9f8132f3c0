// The checks of `sluice doctor`, one function for each subject. A check never throws: what cannot be looked
// at is a finding too.

import { accessSync, constants, existsSync, realpathSync, statfsSync, statSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { boxSettingsOf } from '@sluice/gateway/config/builtin-tools'
import { type GateConfig, readConfig, type ServerConfig } from '@sluice/gateway/config/config'
import { findLeftovers, removeBox } from '@sluice/gateway/isolation/box-leftovers'
import { findBoxAvailability } from '@sluice/gateway/isolation/boxes'
import { Isolation } from '@sluice/gateway/isolation/isolation'
import { type GateStatus, SHOW_STATUS } from '@sluice/gateway/operations/status'
import { findProgram } from '@sluice/gateway/processes/find-program'
import { readPackageVersion } from '@sluice/gateway/shared/package-version'
import { compileDocuments, readDocuments } from '@sluice/gateway/state/documents'
import { checkDataFolder } from '@sluice/ledger/store/files/private-folder'
import { attempt } from '@sluice/policy/structures/attempt'
import { pickDefined } from '@sluice/policy/structures/pick-defined'
import { askIfRunning } from '../connect/ask-operation.ts'
import { loadEnvironment } from '../connect/load-environment.ts'
import { probePort } from '../connect/probe-port.ts'
import { inspectHooks } from '../init/hooks.ts'
import { inspectClients } from '../init/inspect-clients.ts'
import { explainNotInForce } from '../policy/policy-in-force.ts'
import { listServerTools } from '../servers/list-server-tools.ts'
import { DOCTOR_FREE_BYTES_MIN, GATE_STATUS_MS_MAX } from '../terminal/limits.ts'
import { plural } from '../terminal/output.ts'
import { readText } from '../terminal/read-input.ts'
import { checkHooks } from './check-hooks.ts'
import { peopleIn } from './offline-status.ts'
import { listShadowServers } from './shadow.ts'

export interface DoctorFinding {
  /** What was looked at, such as `config` or `server`. */
  readonly check: string
  readonly status: 'ok' | 'warn' | 'fail'
  readonly message: string
  /** What to do. */
  readonly help?: string
}

export interface DoctorOptions {
  readonly config: string
  readonly data?: string
  readonly start?: boolean
  readonly shadow?: boolean
}

const NODE_MAJOR_MIN = 24

export async function runChecks(options: DoctorOptions): Promise<DoctorFinding[]> {
  const findings: DoctorFinding[] = []
  const addTo = (check: string): AddFinding => adderFor(check, findings)
  checkNode(addTo('node'))
  const config = checkConfig(options, addTo('config'))
  const data = resolve(options.data ?? config?.data ?? join(options.config, '..', '.sluice'))
  const status = await checkGate(data, addTo('gate'))
  if (config !== undefined) await checkPolicy(config, addTo('policy'))
  if (config !== undefined || existsSync(data)) {
    checkData(data, addTo('data'))
    checkApprover(data, status, addTo('approver'))
  }
  if (config !== undefined) {
    await checkPort(config, status, addTo('port'))
    findings.push(...(await checkServers(config, status, options.start === true)))
    await checkIsolation(config, addTo('sandbox'))
    await checkBoxes(config, status, addTo('box'))
  }
  await checkClients(options.config, config, status, addTo('client'))
  const { servers = {} } = config ?? {}
  const urls = [
    ...(config === undefined ? [] : [urlOf(config)]),
    ...(status === undefined ? [] : [status.url]),
  ]
  if (urls.length > 0) checkHooks({ data, servers, urls }, addTo('client'))
  if (options.shadow === true) checkShadow(addTo('shadow'))
  return findings
}

export type AddFinding = (status: DoctorFinding['status'], message: string, help?: string) => void

function adderFor(check: string, findings: DoctorFinding[]): AddFinding {
  return (status, message, help) =>
    findings.push({ check, status, message, ...pickDefined({ help }) })
}

function checkNode(add: AddFinding): void {
  const message = `Node ${process.versions.node} at ${process.execPath}, sluice ${readPackageVersion()}`
  if (Number.parseInt(process.versions.node, 10) >= NODE_MAJOR_MIN) return add('ok', message)
  add('fail', message, `install Node ${NODE_MAJOR_MIN} or newer from https://nodejs.org`)
}

/** What cannot be looked at, with what the error says to do. */
function addFailure(add: AddFinding, error: unknown, help?: string): undefined {
  const known = error as Error & { readonly help?: string }
  add('fail', known.message, known.help ?? help)
}

function checkConfig({ config: file }: DoctorOptions, add: AddFinding): GateConfig | undefined {
  if (!existsSync(file)) {
    const help = 'run `sluice init`, or name another configuration with --config'
    add('fail', `nothing is set up: there is no ${resolve(file)}`, help)
    return undefined
  }
  try {
    const { config, problems } = readConfig(
      { file, text: readText(file) },
      loadEnvironment(file, undefined),
    )
    for (const { severity, message, line, help } of problems)
      add(severity === 'error' ? 'fail' : 'warn', `${file}:${line}: ${message}`, help)
    if (config !== undefined)
      add('ok', `${config.file}, ${plural(Object.keys(config.servers).length, 'server')}`)
    return config
  } catch (error) {
    return addFailure(add, error)
  }
}

async function checkPolicy(config: GateConfig, add: AddFinding): Promise<void> {
  if (config.policy === undefined)
    return void add('warn', 'there is none: everything is denied', 'add `policy:` to sluice.yaml')
  try {
    const { compiled, problems } = compileDocuments(
      readDocuments(config),
      Object.keys(config.servers),
    )
    for (const { problem } of problems)
      add(
        problem.severity === 'error' ? 'fail' : 'warn',
        `${problem.file}:${problem.line}: ${problem.message}`,
        problem.help,
      )
    const shadow = [...(compiled?.policies ?? [])].filter(([, policy]) => policy.shadow)
    const ofMode =
      config.toolMode === 'all' ? '' : ', and with `mcp.mode` clients ask once for all tools'
    for (const [name] of shadow)
      add(
        'warn',
        `\`${name}\` only observes: nothing of it is enforced${ofMode}`,
        '`sluice enforce` turns it on, and lists first what will change',
      )
    if (compiled === undefined) return
    // Loaded only here: it needs the whole decision.
    const { tryLastWeek } = await import('../policy/last-week.ts')
    for (const [name, policy] of compiled.policies) {
      const text = compiled.documents.get(name)?.text ?? ''
      const week = tryLastWeek({ data: config.data, name, text, policy })
      if (week !== undefined) add('ok', week.says, week.help)
    }
    const why = await explainNotInForce(config)
    if (why !== undefined)
      add(
        'warn',
        `what is saved is not in force: ${why}`,
        '`sluice policy apply --dry-run` shows it',
      )
    else if (shadow.length === 0) add('ok', config.policy)
  } catch (error) {
    add('fail', (error as Error).message, 'name another file under `policy:`')
  }
}

async function checkGate(data: string, add: AddFinding): Promise<GateStatus | undefined> {
  try {
    const status = await askIfRunning(data, SHOW_STATUS, { waitMs: GATE_STATUS_MS_MAX })
    if (status === undefined) {
      add('ok', 'none runs here: a client starts one when needed, `sluice up` starts one for URLs')
      return undefined
    }
    const how = status.isPiped === true ? 'started by clients' : `at ${status.url}`
    const why = status.why === '' ? '' : `: ${status.why}`
    if (status.ready === true) add('ok', `process ${status.pid} is ready, ${how}${why}`)
    else add('fail', `process ${status.pid} is not ready${why}`, '`sluice logs` shows its log')
    if (status.version !== readPackageVersion())
      add(
        'warn',
        `the gate has version ${status.version ?? 'unknown'}, this command ${readPackageVersion()}`,
        'run `sluice stop`, then start it again',
      )
    if (status.held > 0)
      add(
        'warn',
        `${plural(status.held, 'definition')} of tools waiting for a person`,
        '`sluice pin --held` shows them',
      )
    return status
  } catch (error) {
    return addFailure(add, error)
  }
}

function checkData(data: string, add: AddFinding): void {
  if (!existsSync(data)) return void add('ok', `${data} is made by the first start`)
  try {
    checkDataFolder(data)
    accessSync(data, constants.R_OK | constants.W_OK)
    const { bavail, bsize } = statfsSync(data)
    const free = bavail * bsize
    const text = `${data}, ${Math.round(free / 1_048_576)} MB free`
    if (free >= DOCTOR_FREE_BYTES_MIN) add('ok', text)
    else add('fail', text, 'free some space: a call that cannot be recorded is refused')
  } catch (error) {
    addFailure(add, error, 'give it to the user who runs the gate, with mode 700')
  }
}

function checkApprover(data: string, status: GateStatus | undefined, add: AddFinding): void {
  const anybody = status?.anybody ?? hasApprover(data)
  // The check of the data reports what is wrong with the directory.
  if (anybody === undefined) return
  if (anybody === true) return add('ok', 'somebody can approve')
  const help = 'set your PIN before you run agents: `sluice approvers pin`'
  add('warn', 'nobody can approve held calls yet', help)
}

/** Undefined if the data directory cannot be read. */
function hasApprover(data: string): boolean | undefined {
  return attempt(() => existsSync(data) && peopleIn(data).anybody === true)
}

/** A gate that clients have started serves HTTP if it has hooks to answer. */
function servesHttp(status: GateStatus | undefined): boolean {
  return status !== undefined && /^https?:/.test(status.url)
}

/** Where a gate of this configuration listens. */
function urlOf({ host, port, tls }: Pick<GateConfig, 'host' | 'port' | 'tls'>): string {
  return `${tls === undefined ? 'http' : 'https'}://${host}:${port}`
}

async function checkPort(
  { host, port, tls }: GateConfig,
  status: GateStatus | undefined,
  add: AddFinding,
): Promise<void> {
  if (servesHttp(status)) return
  const why = await probePort(host, port, tls !== undefined)
  const message = `${host}:${port} is ${why === undefined ? 'free' : `not free (${why})`} for \`sluice up\``
  if (why === undefined) add('ok', message)
  else add('warn', message, 'set `listen:`, or pass --port')
}

async function checkServers(
  config: GateConfig,
  status: GateStatus | undefined,
  starts: boolean,
): Promise<DoctorFinding[]> {
  const known = status?.servers ?? []
  const checked = Object.entries(config.servers).map(async ([name, server]) => {
    const own: DoctorFinding[] = []
    const seen = known.find((each) => each.name === name)
    const { fails: failing, credential = '', unserved = [] } = seen ?? {}
    const add = adderFor('server', own)
    await checkServer({ name, server, failing, starts, credential }, add)
    if (unserved.length > 0)
      add(
        'warn',
        `${name}: extensions that the gate does not serve, so that clients do not see them: ${unserved.join(', ')}`,
        'one that needs no method of its own passes if it is named under `extensions` of the server',
      )
    return own
  })
  return (await Promise.all(checked)).flat()
}

interface CheckedServer {
  readonly name: string
  readonly server: ServerConfig
  /** What the running gate says of it. */
  readonly failing: string | undefined
  readonly credential: string
  readonly starts: boolean
}

async function checkServer(
  { name, server, failing, starts, credential }: CheckedServer,
  add: AddFinding,
): Promise<void> {
  const token = credential === '' ? '' : `, ${credential}`
  const about = `${name}: ${describeServer(server)}${token}`
  if (failing !== undefined) {
    const help = `\`sluice server restart ${name}\` after the cause is gone`
    return add('fail', `${about}: ${failing}`, help)
  }
  const missing = missingProgram(server)
  if (missing !== undefined) {
    const help = 'install it, or write its whole path under `command:`'
    return add('fail', `${about}: no program \`${missing}\``, help)
  }
  if (!starts || server.kind === 'builtin') return add('ok', about)
  try {
    add('ok', `${about}, ${plural((await listServerTools(name, server)).length, 'tool')}`)
  } catch (error) {
    addFailure(add, error)
  }
}

function describeServer(server: ServerConfig): string {
  if (server.kind === 'stdio') return server.command.slice(0, 3).join(' ')
  return server.kind === 'http' ? new URL(server.url).origin : `builtin ${server.builtin}`
}

/** The program of a command, if neither its path nor `PATH` has it. */
function missingProgram(server: ServerConfig): string | undefined {
  if (server.kind !== 'stdio' || process.platform === 'win32') return undefined
  const [program = ''] = server.command
  const { PATH: own } = server.env
  const path = (typeof own === 'string' ? own : undefined) ?? process.env.PATH
  return findProgram(program, { cwd: server.cwd, path }) === undefined ? program : undefined
}

async function checkIsolation(config: GateConfig, add: AddFinding): Promise<void> {
  const isolation = await Isolation.open({ config, own: [], keys: '' })
  const servers = Object.entries(config.servers).filter(([, { kind }]) => kind === 'stdio')
  if (servers.length === 0) return
  if (isolation.why !== undefined)
    return add(config.isolation === 'required' ? 'fail' : 'warn', isolation.why)
  for (const [name, server] of servers) {
    const line = `${name}: ${isolation.describe(server)}`
    const why = findIncompatibility(server)
    if (why === undefined) add('ok', line)
    else add('warn', `${line}, but ${why}`, `write \`sandbox: off\` under \`${name}\``)
  }
}

/** Lines of clients, and what boxes of a gate that crashed have left in projects. */
async function checkBoxes(
  config: GateConfig,
  status: GateStatus | undefined,
  add: AddFinding,
): Promise<void> {
  const left = status === undefined ? findLeftovers(config.data) : []
  for (const folder of left) removeBox(folder)
  if (left.length > 0)
    add(
      'ok',
      `removed what ${plural(left.length, 'box', 'boxes')} of a gate that was killed had left`,
    )
  const clients = Object.entries(config.servers).filter(
    ([, server]) => boxSettingsOf(server) !== undefined,
  )
  if (clients.length === 0) return
  const available = await findBoxAvailability()
  for (const [name] of clients)
    if (available.ok) add('ok', `${name}: its lines run in a box`)
    else add('warn', `lines of ${name} are not confined: ${available.reason}`, available.help)
}

/** Programs that make namespaces of their own, or gain rights, do not work on the floor. */
function findIncompatibility(server: ServerConfig): string | undefined {
  if (server.kind !== 'stdio' || server.sandbox === 'off') return undefined
  const program = basename(server.command[0] ?? '')
  return NEEDS_RIGHTS.has(program) || isPodman(program)
    ? `\`${program}\` needs rights that no isolated process has`
    : undefined
}

/** Programs are larger. */
const SCRIPT_BYTES_MAX = 4_096
const NEEDS_RIGHTS: ReadonlySet<string> = new Set(['podman', 'sudo', 'doas', 'su', 'bwrap'])

/** `docker` may be podman under another name: then there is no daemon that has the rights. */
function isPodman(program: string): boolean {
  const found = findProgram(program, { cwd: '/', path: process.env.PATH })
  if (program !== 'docker' || found === undefined) return false
  const file = realpathSync(found)
  const isScript = statSync(file).size < SCRIPT_BYTES_MAX
  return basename(file) === 'podman' || (isScript && readText(file).includes('podman'))
}

async function checkClients(
  file: string,
  config: GateConfig | undefined,
  status: GateStatus | undefined,
  add: AddFinding,
): Promise<void> {
  const url = config?.publicUrl ?? urlOf(config ?? { host: '127.0.0.1', port: 7433 })
  const { entries, broken } = await inspectClients(file, url)
  for (const each of entries) {
    const { client, name, serverName, project, through, missing, isUrl, off, stays } = each
    const entry = `${client}: ${name}${project === undefined ? '' : ` (${project})`}`
    if (off !== undefined) continue
    if (missing !== undefined)
      add(
        'fail',
        `${entry} cannot start: ${missing} is gone`,
        'run `sluice init --undo`, then `sluice init --move` with the sluice that is to stay',
      )
    else if (through === 'gate' && isUrl === true && !servesHttp(status))
      add('fail', `${entry} needs the gate at ${url}`, 'start it: `sluice up`')
    else if (through === 'gate') add('ok', `${entry} goes through this gate`)
    else if (through === 'other') add('ok', `${entry} goes through another gate`)
    else
      add(
        'warn',
        `${entry} does not go through a gate`,
        stays !== undefined
          ? `it stays outside: ${stays}`
          : each.isProject
            ? `\`sluice init --yes ${serverName ?? name} --move\``
            : '`sluice init --move`',
      )
  }
  for (const each of broken) add('warn', each.message, `the client may not read it: ${each.file}`)
  if (entries.length === 0) add('ok', 'no MCP client of this user has a server')
}

function checkShadow(add: AddFinding): void {
  const found = listShadowServers()
  for (const { pid, command } of found)
    add(
      'warn',
      `process ${pid} looks like an MCP server beside any gate: ${command}`,
      'move its entry behind the gate (`sluice init --move`), or end it',
    )
  for (const { client, asks } of inspectHooks())
    if (asks === undefined)
      add(
        'warn',
        `${client} does not ask a gate about its shell and files`,
        'run `sluice init --hooks`',
      )
  if (found.length === 0) add('ok', 'no MCP server was found that runs beside a gate')
}
