// The command lines of a standing approval, for the console: what is suggested for a request, and what the lines of
// its session would do. A line is read by the function that decides on calls, in the gate and not in the page.

import type {
  ApprovalRequest,
  ApprovalService,
  ArgumentBound,
} from '@sluice/access/approvals/approval'
import { isCovered } from '@sluice/access/approvals/argument-bounds'
import type { CommandView } from '@sluice/access/approvals/command-line'
import { formatFamily } from '@sluice/access/approvals/describe-bound'
import { enterStep } from '@sluice/gateway/shared/current-step'
import { Slices } from '@sluice/gateway/shared/slices'
import { textOrEmpty, word } from '@sluice/policy/document/build-shape'
import { type LineFamily, listPrograms, readFamilies } from '@sluice/policy/readers/shell-family'
import { NotFoundError, OperationError } from '@sluice/policy/structures/operation-error'
import { type Endpoint, endpoint } from '../http/endpoint.ts'
import { FAMILY_LINE_LENGTH_MAX, SESSION_LINES_READ } from '../queries/limits.ts'

/** `GET /api/approvals/:id/lines`. Lines have their secrets masked, as in the requests. */
export interface LinesView {
  /** The line with the programs of the request's command alone; null if only the command itself can be approved. */
  readonly suggested: string | null
  /** The families of the line that was sent; empty if none was sent, or it has a fault. */
  readonly families: readonly LineFamily[]
  /** Why the line that was sent has no families; null if it has some, or none was sent. */
  readonly fault: string | null
  /** Lines that the session has asked about and that would pass with these families, the newest first. */
  readonly passes: readonly string[]
  /** Those that would ask. */
  readonly asks: readonly string[]
}

const DIRECTORIES = ['exact', 'below', 'any'] as const
type DirectoryBound = (typeof DIRECTORIES)[number]

export function linesEndpoint(approvals: ApprovalService): Endpoint {
  return endpoint('GET /api/approvals/:id/lines', {
    role: 'viewer',
    summary: 'what a standing approval of command lines would let pass (LinesView)',
    input: {
      line: {
        shape: textOrEmpty(FAMILY_LINE_LENGTH_MAX),
        doc: 'a line that has the families, such as `npm test *`; without it none is read',
      },
      directory: {
        shape: word(DIRECTORIES),
        doc: 'where lines may run: only where this one does (`exact`), also below that, or anywhere',
      },
    },
    handle: async ({ input: { id, line, directory = 'exact' } }): Promise<LinesView> => {
      const request = approvals.find(id)
      if (request === undefined)
        throw new NotFoundError(`there is no request \`${id.slice(0, 40)}\``, 'see /api/approvals')
      const { command } = request
      if (command === undefined)
        throw new OperationError(
          `\`${request.server}/${request.name}\` is called with no command line, or it is deleted`,
          'give a bound for each argument',
        )
      const view = { suggested: suggestLine(command), families: [], passes: [], asks: [] }
      if (line === undefined) return { ...view, fault: null }
      const families = readFamilies(line)
      if (typeof families === 'string') return { ...view, fault: families }
      const bounds = toBounds(families, command, directory)
      return { ...view, families, fault: null, ...(await compareLines(approvals, request, bounds)) }
    },
  })
}

function suggestLine({ line, directory }: CommandView): string | null {
  const programs = listPrograms(line, directory)
  if (typeof programs === 'string') return null
  const families = programs.map((words) => formatFamily(words.map(({ text }) => text)))
  const suggested = [...new Set(families)].join(' && ')
  return suggested.length > FAMILY_LINE_LENGTH_MAX ? null : suggested
}

function toBounds(
  lines: readonly LineFamily[],
  { directory: root }: CommandView,
  directory: DirectoryBound,
): Readonly<Record<string, ArgumentBound>> {
  if (directory === 'any') return { command: { lines }, cwd: { any: true } }
  return {
    command: { lines },
    cwd: directory === 'below' ? { below: root } : { oneOf: [JSON.stringify(root)] },
  }
}

/** A line that was asked about in two directories can be in both lists. */
async function compareLines(
  approvals: ApprovalService,
  { session, server, name, principal }: ApprovalRequest,
  bounds: Readonly<Record<string, ArgumentBound>>,
): Promise<Pick<LinesView, 'passes' | 'asks'>> {
  const requests = await approvals.list({
    server,
    principal: principal.id,
    limit: SESSION_LINES_READ,
  })
  const [passes, asks] = [new Set<string>(), new Set<string>()]
  const slices = new Slices()
  for (const { command, ...other } of requests) {
    if (command === undefined || other.session !== session || other.name !== name) continue
    if (slices.isOver) await slices.next()
    enterStep('command')
    const { line, directory } = command
    const members = new Map([
      ['command', JSON.stringify(line)],
      ['cwd', JSON.stringify(directory)],
    ])
    if (isCovered(members, { exact: {}, bounds })) passes.add(line)
    else asks.add(line)
  }
  return { passes: [...passes], asks: [...asks] }
}
