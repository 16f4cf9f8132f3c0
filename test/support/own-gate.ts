// A real gate in the process of the test: with its HTTP front, its store and its servers, and
// direct access to its approvals, so that a test can act as the approver.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { People } from '../../packages/access/src/identity/people/people.ts'
import type { Person } from '../../packages/access/src/identity/person.ts'
import type { Service } from '../../packages/agents/src/service/service.ts'
import {
  loadConfig,
  loadDocuments,
  parseConfigFor,
} from '../../packages/cli/src/connect/load-config.ts'
import { agentsFor } from '../../packages/cli/src/run/builtin-agents.ts'
import { makeLog } from '../../packages/cli/src/terminal/log-lines.ts'
import { Output } from '../../packages/cli/src/terminal/output.ts'
import { startAdmin } from '../../packages/console/src/start-admin.ts'
import { readConfig } from '../../packages/gateway/src/config/config.ts'
import { createCommands } from '../../packages/gateway/src/operations/commands.ts'
import type { Log } from '../../packages/gateway/src/shared/log.ts'
import { runGate } from '../../packages/gateway/src/start/run-gate.ts'
import type { RunningGate as Running } from '../../packages/gateway/src/start/running-gate.ts'
import { compileDocuments, readDocuments } from '../../packages/gateway/src/state/documents.ts'
import { endLater, type GateSpec, type ServingGate, writeGate } from './start-gate.ts'

export interface OwnGate extends Pick<ServingGate, 'folder' | 'url' | 'data'> {
  readonly approvals: Running['approvals']
  /** Writes the policy file, as an editor would. */
  write(policy: string): void
  readonly log: string[]
  stop(): Promise<void>
}

const gates: OwnGate[] = []

export async function ownGate(
  spec: GateSpec,
  { agents }: { readonly agents?: typeof agentsFor } = {},
): Promise<OwnGate> {
  const folder = spec.folder ?? mkdtempSync(join(tmpdir(), 'sluice-gate-'))
  const write = (policy: string): void => writeFileSync(join(folder, 'policy.yaml'), policy)
  write(spec.policy ?? 'version: 1\ndefault: allow\n')
  const own = { version: 1, servers: spec.servers, policy: './policy.yaml', data: './data' }
  const text = JSON.stringify({ listen: '127.0.0.1:0', ...own, ...spec.config })
  const { config, problems } = readConfig({ file: join(folder, 'sluice.yaml'), text }, {})
  if (config === undefined) throw new Error(JSON.stringify(problems))
  const { compiled } = compileDocuments(readDocuments(config))
  if (compiled === undefined) throw new Error('the policy does not compile')
  await addAda(join(folder, 'data'))
  const log: string[] = []
  const say: Log = (_level, message, fields) =>
    void log.push(`${message} ${JSON.stringify(fields ?? {})}`)
  const gate = await runGate(config, compiled, {
    piped: false,
    log: say,
    control: createCommands,
    ...(agents === undefined ? {} : { startAgents: agents(config, say) }),
  })
  const parts = { folder, url: gate.url, data: join(folder, 'data'), approvals: gate.approvals }
  const made = { ...parts, write, log, stop: () => gate.stop() }
  gates.push(made)
  return made
}

/** As `sluice up` runs it, for what needs no process of its own: a start takes a fifth of that of `startGate`, which ends it too (`endGates`). */
export async function serveGate(
  spec: Pick<GateSpec, 'servers' | 'policy' | 'config' | 'files' | 'folder'>,
): Promise<ServingGate> {
  const folder = writeGate(spec)
  const options = { config: join(folder, 'sluice.yaml'), port: '0' }
  const config = loadConfig(options, new Output({}))
  const made = { folder, data: config.data, url: '', log: '', stop: async () => {} }
  const log = makeLog(config.log, (line) => {
    made.log += line
  })
  let agents: Service | undefined
  const gate = await runGate(config, loadDocuments(config, new Output({}), log), {
    piped: false,
    log,
    control: createCommands,
    startAgents: agentsFor(config, log, (service) => {
      agents = service
    }),
    startAdmin: (parts) => startAdmin(parts, () => agents),
    parseConfig: parseConfigFor(options),
  })
  endLater(Object.assign(made, { url: gate.url, stop: () => gate.stop() }))
  return made
}

/** Their folders are kept for another call if `removes` is false. */
export async function endOwnGates(removes = true): Promise<void> {
  await Promise.all(gates.map((gate) => gate.stop()))
  if (!removes) return
  for (const gate of gates.splice(0)) rmSync(gate.folder, { recursive: true, force: true })
}

/** Adds Ada to the approvers: a vote of anyone else does not count. */
async function addAda(data: string): Promise<void> {
  const people = People.open(data)
  try {
    const { proof: _, ...ada } = ADA
    if (people.find(ada.name) === undefined) await people.add(ada, {}, Date.now())
  } finally {
    people.close()
  }
}

export const ADA: Person = {
  name: 'ada',
  kind: 'person',
  roles: ['approver'],
  groups: ['finance'],
  owns: ['local'],
  proof: 'pin',
}
