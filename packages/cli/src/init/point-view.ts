// `sluice init --view NAME`: one entry for a view of the gate, in a project's files or in those of one client. The
// entry has the name of the view, by which hooks recognise its tools. `sluice init --undo` takes it away.

import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { readConfig } from '@sluice/gateway/config/config'
import { addressOfView, explainMissingView } from '@sluice/gateway/shared/view'
import type { OperationError } from '@sluice/policy/structures/operation-error'
import { pickDefined } from '@sluice/policy/structures/pick-defined'
import { cloneJson, type JsonObject } from '@sluice/policy/values/json'
import { confirm } from '../terminal/ask.ts'
import { ArgumentError, CliError } from '../terminal/errors.ts'
import { type Output, plural } from '../terminal/output.ts'
import { readText } from '../terminal/read-input.ts'
import { environmentWith, gateAddress } from './config.ts'
import { readClientFile } from './files/change-file.ts'
import type { ClientFile } from './files/client.ts'
import { clientFiles, projectFiles } from './files/client-files.ts'
import { documentValue, entryAt } from './files/entries.ts'
import { addEntry, parseJson } from './files/json-entries.ts'
import { readEntries, rootOf } from './files/read-entries.ts'
import { ClientTokens } from './move/client-tokens.ts'
import { gateEntry } from './move/gate-entry.ts'
import { type MovedEntry, readMoved, sameEntry, writeRecord } from './move/move-log.ts'
import { PACKAGE, thisMachine } from './place.ts'
import { type Change, showChanges } from './show.ts'
import { writeChange } from './write-change.ts'

export interface ViewOptions {
  readonly config: string
  readonly view: string
  /** The client whose own file gets the entry; undefined for the files of projects. */
  readonly client?: string
  readonly project: readonly string[]
  readonly via?: string
  readonly yes?: true | readonly string[]
  readonly dryRun?: boolean
}

interface PlannedEntry {
  readonly change: Change
  readonly moved: MovedEntry
  /** Names of other entries for this gate. */
  readonly others: readonly string[]
}

export async function pointToView(options: ViewOptions, output: Output): Promise<0 | 1> {
  const { config, view } = options
  const text = readText(config)
  const { config: read } = readConfig({ file: config, text }, environmentWith(config, []))
  if (read === undefined)
    throw new CliError('CLI_FILE', `\`${config}\` has errors`, '`sluice doctor` shows them')
  if (read.views[view] === undefined) {
    const { message, help } = explainMissingView(
      addressOfView(view),
      Object.keys(read.views),
    ) as OperationError
    throw new ArgumentError(message, help)
  }
  const plans = chooseFiles(options).map((from) => planEntry(from, options, text))
  const planned = (await Promise.all(plans)).flat()
  const changes = planned.map(({ change }) => change)
  output.value({ view, files: changes.map(({ file }) => file) })
  if (changes.length === 0) output.line(`the entry \`${view}\` is there already`)
  showChanges(changes, [], output)
  if (changes.length === 0 || options.dryRun === true) return 0
  const question = `write this entry into ${plural(changes.length, 'file')}?`
  if (options.yes === undefined && !(await confirm(question, output))) {
    output.line('nothing was written: see --yes')
    return 1
  }
  const record = join(dirname(config), 'sluice.moved.json')
  for (const { change, moved, others } of planned) {
    // First, so that a crash leaves nothing that cannot be undone.
    writeRecord(record, [...readMoved(record).filter((one) => !sameEntry(one, moved)), moved])
    await writeChange(change)
    output.line(`wrote ${change.file}`)
    if (others.length > 0)
      output.remark(
        `${others.map((name) => `\`${name}\``).join(', ')} there lead to this gate, too: take them away if the client is to have the view alone`,
      )
  }
  return 0
}

/** The files of a client, or of projects: those that are there, and else the one that most clients read. */
function chooseFiles({ client, project }: ViewOptions): readonly ClientFile[] {
  const machine = thisMachine(project)
  if (client === undefined)
    return project.flatMap((folder) => {
      const all = projectFiles(folder, thisMachine([folder]))
      // A file of another format would keep the entry out of the others.
      const files = all.filter(({ format }) => format === 'json')
      const there = files.filter(({ file }) => existsSync(file))
      return there.length > 0 ? there : files.slice(0, 1)
    })
  const own = clientFiles(machine).filter((one) => one.client === client && one.scope === 'user')
  const there = own.filter(({ file }) => existsSync(file))
  return there.length > 0 ? there : own.slice(0, 1)
}

/** Nothing if the entry is there already. */
async function planEntry(
  from: ClientFile,
  options: ViewOptions,
  config: string,
): Promise<PlannedEntry[]> {
  const { view } = options
  const { client, file, format } = from
  const now = entryFor(from, options, config)
  const path = [rootOf(client), view] as const
  if (format === 'toml')
    throw new CliError(
      'CLI_FILE',
      `entries are not added to \`${file}\``,
      `put this there:\n\n[${path.join('.')}]\n${toTomlLines(now)}`,
    )
  const before = await readClientFile(file, (contents) => void documentValue(contents, from))
  const known = before === undefined ? undefined : entryAt(before, from, path)?.value
  if (known !== undefined && isDeepStrictEqual(cloneJson(known), cloneJson(now))) return []
  if (known !== undefined)
    throw new CliError(
      'CLI_FILE',
      `\`${file}\` has another entry \`${view}\``,
      'take it away, or give the view another name',
    )
  const others = before === undefined ? [] : listOthers(before, from, options)
  const { text: after, added } = addEntry(parseJson(before ?? '{}\n', file), path, now)
  const moved = { client, file, format, path, server: addressOfView(view), before: '' }
  return [
    {
      change: { file, ...pickDefined({ before }), after },
      moved: { ...moved, after: added, was: {}, now },
      others,
    },
  ]
}

function listOthers(text: string, from: ClientFile, { config, view }: ViewOptions): string[] {
  return readEntries(text, from).flatMap(({ name, value: { args } }) => {
    const isOurs = Array.isArray(args) && args.includes('stdio') && args.includes(config)
    return isOurs && name !== view ? name : []
  })
}

function entryFor(from: ClientFile, { config, view, via, dryRun }: ViewOptions, text: string) {
  const stateHome = process.env.XDG_STATE_HOME
  const base = { sluice: [process.execPath, join(PACKAGE, 'bin/sluice.js')], config, stateHome }
  const { url, data } = gateAddress(config, text, [])
  const sessionToken = via === 'url' ? new ClientTokens(data, dryRun === true).tokenFor(from) : ''
  const gate = via === 'url' ? { ...base, url, sessionToken } : base
  // Copilot lists no tools of an entry that names none.
  const own: JsonObject = from.client === 'copilot' ? { tools: ['*'] } : {}
  return { ...gateEntry(from.client, addressOfView(view), gate, own), ...own }
}

/** The lines of a table of TOML: JSON is TOML for texts and lists of texts. */
function toTomlLines(entry: JsonObject): string {
  return Object.entries(entry)
    .map(([key, value]) =>
      key === 'env'
        ? `env = { ${Object.entries(value as JsonObject)
            .map(([name, text]) => `${name} = ${JSON.stringify(text)}`)
            .join(', ')} }`
        : `${key} = ${JSON.stringify(value)}`,
    )
    .join('\n')
}
