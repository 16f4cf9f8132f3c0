// `sluice store move`: the data directory of one gate into a PostgreSQL that gates share. Everything is copied in
// one transaction, verified there and committed; the directory is the gate's copy afterwards. A command that was
// interrupted is given again.

import { existsSync } from 'node:fs'
import { hostname } from 'node:os'
import { join, resolve } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { whatIsWrong } from '@sluice/gateway/config/cluster'
import { deriveKey, describeMark, writeMark } from '@sluice/gateway/data/cluster-keys'
import { DataInUseError, DataLock } from '@sluice/gateway/data/data-lock'
import { isSharedCopy } from '@sluice/gateway/data/shared-tables'
import { openLedgerReadOnly, readHead } from '@sluice/ledger/chain/read'
import { toHex } from '@sluice/ledger/store/chain-hash'
import { MOVE_DEADLINE_MS } from '@sluice/ledger/store/limits'
import type { PostgresAddress } from '@sluice/ledger/store/postgres/address'
import type { Command } from 'commander'
import { defineCommand, type OptionsOf } from '../terminal/define-command.ts'
import { ArgumentError, CliError } from '../terminal/errors.ts'
import type { SetExitCode } from '../terminal/exit-code.ts'
import { plural } from '../terminal/output.ts'

const EXAMPLES = `
Examples:
  export SLUICE_CLUSTER_KEY=$(openssl rand -hex 32)        # the same at every gate
  sluice stop
  sluice store move --from ./.sluice --to postgres://sluice@db.internal/sluice --name gate-1
  sluice up --store postgres://sluice@db.internal/sluice

Stop the gate first, and name an empty database. The ledger goes on as the chain of the gate --name, which has to be
the name of the gate that uses this data directory from now on (\`cluster: { name }\`, or the host's). Nothing is
removed from the data directory.`

/** Nobody else waits, and a database that writes a checkpoint of a large table may take long. */
const MOVE = { deadlineMs: MOVE_DEADLINE_MS, isTransaction: true }

const OPTIONS = {
  '--from <dir>': { doc: 'the data directory of a gate that is stopped', required: true },
  '--to <address>': { doc: 'an empty database, postgres://…', required: true },
  '--name <name>': 'name of this gate in the cluster (default: the host name)',
} as const

type Options = OptionsOf<typeof OPTIONS>

export function add(parent: Command, answer: SetExitCode): void {
  addMove(parent.command('store'), answer)
}

const addMove = defineCommand({
  name: 'move',
  description: 'copy the data directory of a stopped gate into an empty database',
  options: OPTIONS,
  examples: EXAMPLES,
  run: async (options, output) => {
    const moved = await withErrors(() => move(options))
    output.value({ ...moved })
    if (moved.wasMoved) output.line('it was moved before: only the mark was missing')
    else {
      const { records, rows, charges, agents } = moved
      output.line(
        `${output.paint('green', 'moved')}: ${plural(records, 'record')} of the ledger, ` +
          `${plural(rows, 'shared row')}, ${plural(charges, 'charge')}, ${plural(agents, 'agent')}`,
      )
    }
    output.dim(`head ${moved.head.seq}:${moved.head.hash}`)
    output.line(`start the gate \`${moved.gate}\` with \`sluice up --store …\``)
  },
})

async function move({ from, to, name: gate = hostname() }: Options) {
  const data = resolve(from)
  const key = process.env.SLUICE_CLUSTER_KEY
  const wrong = whatIsWrong(to, key)
  if (wrong !== undefined) throw new ArgumentError(wrong.what, wrong.help)
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/.test(gate))
    throw new ArgumentError(`\`${gate}\` cannot be the name of a gate`, 'give --name')
  if (!existsSync(join(data, 'ledger.db')))
    throw new CliError('CLI_FILE', `\`${from}\` is not a data directory`, 'name that of the gate')
  if (isSharedCopy(data))
    throw new CliError(
      'CLI_FILE',
      `\`${from}\` belongs to a shared store already`,
      'start its gate',
    )
  const { parsePostgresUrl } = await import('@sluice/ledger/store/postgres/address')
  using _lock = DataLock.take(data)
  using ledger = openLedgerReadOnly(data)
  return await moveLocked(parsePostgresUrl(to), { data, gate, key: key as string, ledger })
}

interface Source {
  readonly data: string
  readonly gate: string
  readonly key: string
  readonly ledger: DatabaseSync
}

async function moveLocked(address: PostgresAddress, { data, gate, key, ledger }: Source) {
  const { PostgresConnections } = await import('@sluice/ledger/store/postgres/connections')
  const { migrate } = await import('@sluice/ledger/store/postgres/migrate')
  const { checkMovable, moveToStore } = await import('@sluice/gateway/data/move-to-store')
  const { copyAgents } = await import('@sluice/agents/journal/copy-tables')
  checkMovable(ledger)
  const connections = new PostgresConnections(address)
  await migrate(connections).finally(() => connections.close())
  const target = new PostgresConnections(address, MOVE)
  try {
    await target.query('BEGIN')
    // A gate that starts meanwhile waits, and finds what was moved.
    await target.query('SELECT pg_advisory_xact_lock(1936487785, 1)')
    const [control] = await target.query('SELECT id, version FROM sluice.control')
    const mark = describeMark(String(control?.id), gate)
    const { seq, hash } = readHead(ledger)
    const head = { seq, hash: toHex(hash) }
    const none = { records: 0, rows: 0, charges: 0, principals: 0, agents: 0 }
    const gates = await target.query(
      "SELECT gate, seq, encode(head, 'hex') AS hash FROM sluice.gates",
    )
    const own = `${gate} ${seq} ${head.hash}`
    if (gates.map((row) => `${row.gate} ${row.seq} ${row.hash}`).join() === own) {
      writeMark(data, mark)
      return { gate, head, wasMoved: true, ...none }
    }
    const used = await target.query(
      'SELECT 1 FROM sluice_agents.families UNION ALL SELECT 1 FROM sluice.ledger LIMIT 1',
    )
    if (gates.length > 0 || used.length > 0 || Number(control?.version) > 0)
      throw new ArgumentError(
        'the database is not empty: gates use it, or something was moved there',
        'name an empty one',
      )
    const keys = { rowKey: deriveKey(key, 'rows'), sealingKey: deriveKey(key, 'sealing') }
    const counts = await moveToStore({ data, gate, ledger, target, ...keys })
    const agents = await copyAgents(data, target)
    await target.query('COMMIT')
    writeMark(data, mark)
    return { gate, head, wasMoved: false, ...counts, agents }
  } finally {
    await target.close()
  }
}

async function withErrors<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof CliError) throw error
    const { message, help } = error as Error & { help?: string }
    if (error instanceof DataInUseError) throw new CliError('CLI_FILE', message, '`sluice stop`')
    throw new CliError('CLI_FILE', message, help ?? 'nothing was changed; repeat the command')
  }
}
