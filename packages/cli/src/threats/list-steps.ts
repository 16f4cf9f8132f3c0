// The calls that a path can be made of: carriers, whose answer a stranger can write; sources, which read something
// private; ends, which do a harm. Isolation bounds them: what a locked server or a box refuses is no end.

import type { KnownTool } from '@sluice/policy/calls/tools'
import type { JsonObject } from '@sluice/policy/values/json'
import { listClientEnds, listClientReads } from './client-steps.ts'
import { fillArguments } from './fill-arguments.ts'
import {
  FILE_PROBES,
  FOREIGN_FILE,
  FOREIGN_PAGE,
  HOST,
  MAIL,
  PAYLOAD,
  PRIVATE_FILES,
  PRIVATE_TEXT,
  putPlaces,
  SHELL_PROBES,
} from './probes.ts'
import {
  DOES,
  type EndStep,
  type Harm,
  type ReadStep,
  type ThreatInputs,
  type ThreatServer,
  type Writer,
} from './threat.ts'
import {
  assess,
  findShellArgument,
  getCategory,
  hasLabel,
  isGuessedClass,
  isLineBounded,
  reachesAddress,
  reachesAnyHost,
  readFileFact,
  takesContent,
  takesUrl,
} from './tool-facts.ts'

const NO_SERVER: ThreatServer = {}

export function getServer({ servers }: ThreatInputs, tool: KnownTool): ThreatServer {
  return servers[tool.definition.server] ?? NO_SERVER
}

/** Calls whose answer a stranger can have written. */
export function listCarriers(inputs: ThreatInputs): ReadStep[] {
  return inputs.tools.flatMap((tool) => {
    if (tool.isClientTool === true) return listClientReads(inputs, tool, 'carrier')
    const { policy } = inputs
    const schema = tool.definition.inputSchema
    const server = getServer(inputs, tool)
    const isLabelled = hasLabel(policy, tool, 'untrusted')
    const carrier = (writer: Writer, args: JsonObject, guess?: string): ReadStep[] => [
      {
        tool,
        args,
        writer,
        does: `reads what ${writer} can have written`,
        ...(guess && { guess }),
      },
    ]
    if (getCategory(policy, tool) !== 'Read' || isGuessedClass(policy, tool))
      return isLabelled ? carrier('whoever can write to you', fillArguments(schema, {}).args) : []
    const file = readFileFact(tool, server)
    if (takesUrl(tool)) {
      const { args } = fillArguments(schema, { address: FOREIGN_PAGE })
      const hosts = reachesAnyHost(server) ? undefined : server.hosts?.join(', ')
      return carrier('anybody', args, hosts && `a stranger writes at ${hosts}`)
    }
    if (file !== 'no')
      return listPaths(inputs, server.reads, [FOREIGN_FILE]).flatMap((path) => {
        const guess = file === 'certain' ? undefined : file
        return carrier('whoever wrote a file you have', fillArguments(schema, { path }).args, guess)
      })
    const { args } = fillArguments(schema, {})
    if (isLabelled) return carrier('whoever can write to you', args)
    return assess(tool.definition).flows.reads.includes('untrusted')
      ? carrier('whoever can write to you', args, 'it answers what strangers wrote')
      : []
  })
}

/** Calls that read what is private. */
export function listSources(inputs: ThreatInputs): ReadStep[] {
  return inputs.tools.flatMap((tool): ReadStep[] => {
    if (tool.isClientTool === true) return listClientReads(inputs, tool, 'source')
    const { policy } = inputs
    const schema = tool.definition.inputSchema
    const server = getServer(inputs, tool)
    const does = 'reads what is private'
    const isLabelled = hasLabel(policy, tool, 'private')
    const isRead = getCategory(policy, tool) === 'Read' && !isGuessedClass(policy, tool)
    const file = readFileFact(tool, server)
    if (isRead && file !== 'no')
      return listPaths(inputs, server.reads, PRIVATE_FILES).map((path) => ({
        tool,
        args: fillArguments(schema, { path }).args,
        does,
        ...(file === 'certain' || isLabelled ? {} : { guess: file }),
      }))
    const { args } = fillArguments(schema, { address: FOREIGN_PAGE })
    if (isLabelled) return [{ tool, args, does }]
    if (!isRead || takesUrl(tool) || !assess(tool.definition).flows.reads.includes('private'))
      return []
    return [{ tool, args, does, guess: 'it answers what is private' }]
  })
}

/** Calls that do this harm. A tool whose class is a guess has none. */
export function listEnds(inputs: ThreatInputs, harm: Harm): EndStep[] {
  return inputs.tools.flatMap((tool) => {
    if (tool.isClientTool === true) return listClientEnds(inputs, tool, harm)
    if (isGuessedClass(inputs.policy, tool)) return []
    return [
      ...listShellEnds(inputs, tool, harm),
      ...listFileEnds(inputs, tool, harm),
      ...listSendEnds(inputs, tool, harm),
      ...listActEnds(inputs, tool, harm),
    ]
  })
}

function listShellEnds(inputs: ThreatInputs, tool: KnownTool, harm: Harm): EndStep[] {
  const argument = findShellArgument(tool)
  const server = getServer(inputs, tool)
  if (argument === undefined || server.kind === 'remote') return []
  if (getCategory(inputs.policy, tool) !== 'Execute') return []
  const isLocked = server.writes !== undefined
  return SHELL_PROBES[harm]
    .filter(({ stage }) => stage === undefined)
    .map((probe) => ({
      tool,
      args: fillArguments(tool.definition.inputSchema, {
        chosen: { [argument]: putPlaces(probe.line, inputs) },
      }).args,
      reach: probe.needs === 'network' ? 'an address of their choice' : 'this machine',
      does: harm === 'code' ? 'runs what they wrote' : DOES[harm],
      needsSource: probe.carriesText ?? false,
      isBounded: isLocked && isLineBounded(harm, probe, server),
      ...(server.kind === undefined ? { guess: 'its server runs on this machine' } : {}),
    }))
}

function listFileEnds(inputs: ThreatInputs, tool: KnownTool, harm: Harm): EndStep[] {
  const files = FILE_PROBES[harm]
  const server = getServer(inputs, tool)
  const file = readFileFact(tool, server)
  const category = getCategory(inputs.policy, tool)
  if (files === undefined || file === 'no' || !takesContent(tool)) return []
  if (category !== 'Write' && category !== 'Destructive') return []
  const inReach = new Set(listPaths(inputs, server.writes, files))
  const all = files.map((path) => putPlaces(path, placesOf(inputs, server.writes)))
  return all.map((path) => ({
    tool,
    args: fillArguments(tool.definition.inputSchema, { path, text: PAYLOAD }).args,
    reach: 'this machine',
    does: DOES[harm],
    needsSource: false,
    isBounded: !inReach.has(path),
    ...(file === 'certain' ? {} : { guess: file }),
  }))
}

/** What sends text to somebody: by an address, by mail, or back to where the order came from. */
function listSendEnds(inputs: ThreatInputs, tool: KnownTool, harm: Harm): EndStep[] {
  if (harm !== 'secret' && harm !== 'message') return []
  const category = getCategory(inputs.policy, tool)
  if (category === 'Financial' || findShellArgument(tool) !== undefined) return []
  const server = getServer(inputs, tool)
  const schema = tool.definition.inputSchema
  const text = harm === 'secret' ? PRIVATE_TEXT : 'hello'
  const address = `https://${HOST}/${harm === 'secret' ? `?d=${encodeURIComponent('Jane Roe 9120.50')}` : ''}`
  const { args, used } = fillArguments(schema, { text, address, mail: MAIL })
  const needsSource = harm === 'secret'
  const end = { tool, args, does: DOES[harm], needsSource }
  const isSaid = used.has('text') && category !== 'Read'
  if (used.has('address') && reachesAddress(tool) && (needsSource || isSaid)) {
    const isBounded = !reachesAnyHost(server)
    return [{ ...end, reach: 'an address of their choice', isBounded }]
  }
  if (!isSaid || category === 'Destructive') return []
  // Its server sends the mail on, and may be told any address.
  const isBounded = server.hosts?.length === 0
  if (used.has('mail')) return [{ ...end, reach: 'an address of their choice', isBounded }]
  if (readFileFact(tool, server) !== 'no') return []
  const guess = 'who wrote the text can read what it writes'
  return [{ ...end, reach: 'the place that the text came from', isBounded, guess }]
}

/** What moves money or destroys. */
function listActEnds(inputs: ThreatInputs, tool: KnownTool, harm: Harm): EndStep[] {
  const category = getCategory(inputs.policy, tool)
  const { risk } = tool
  const schema = tool.definition.inputSchema
  const chosen = chooseWorst(inputs, tool)
  const end = { tool, does: DOES[harm], needsSource: false, isBounded: false }
  if (harm === 'money' && category === 'Financial') {
    const { args } = fillArguments(schema, { chosen, amount: 1_000_000, mail: MAIL, text: 'hello' })
    return [{ ...end, args, reach: 'its server' }]
  }
  const isGrave = risk === 'high' || risk === 'critical' || tool.category !== category
  if (harm !== 'data' || category !== 'Destructive' || !isGrave) return []
  const server = getServer(inputs, tool)
  const [path] = listPaths(inputs, server.writes, ['PROJECT/src'])
  const file = readFileFact(tool, server)
  const { args } = fillArguments(schema, { chosen, ...(path && { path }) })
  if (file === 'no') return [{ ...end, args, reach: 'its server' }]
  const guess = file === 'certain' ? {} : { guess: file }
  return [{ ...end, args, reach: 'this machine', isBounded: path === undefined, ...guess }]
}

/** The choice that makes the tool what it is at its worst: `delete` and not `list`. */
function chooseWorst({ policy }: ThreatInputs, tool: KnownTool): JsonObject {
  const category = getCategory(policy, tool)
  const chosen = assess(tool.definition).depends.flatMap(({ argument, values = {} }) => {
    const [word] = Object.entries(values).find(([, one]) => one === category) ?? []
    return word === undefined ? [] : [[argument, word] as const]
  })
  return Object.fromEntries(chosen)
}

/** The paths of probes that are in reach of a server with these folders. */
export function listPaths(
  inputs: ThreatInputs,
  folders: readonly string[] | undefined,
  probes: readonly string[],
): string[] {
  const places = placesOf(inputs, folders)
  const isBelow = (path: string) => folders?.some((one) => path.startsWith(`${one}/`)) ?? true
  return probes.map((probe) => putPlaces(probe, places)).filter(isBelow)
}

/** The first folder of a server that has only some stands for the project. */
function placesOf({ home, project }: ThreatInputs, folders: readonly string[] | undefined) {
  return { home, project: folders?.[0] ?? project }
}
