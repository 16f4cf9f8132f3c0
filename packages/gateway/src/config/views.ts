// `views` of sluice.yaml: which tools are listed at `/mcp/@NAME`, and how they are named. Called by config.ts.

import { form, object, record, someOf } from '@sluice/policy/document/build-shape'
import { asMap } from '@sluice/policy/document/check-shape'
import { items, strings } from '@sluice/policy/document/fields'
import { didYouMean, nearest } from '@sluice/policy/document/nearest'
import {
  findEntry,
  type LocatedMap,
  type LocatedScalar,
} from '@sluice/policy/document/read-document'
import {
  type Glob,
  globMatches,
  isGlob,
  parseGlob,
  wildcardMatches,
} from '@sluice/policy/language/glob'
import { CALL_TOOL, RUN_CODE } from '../shared/tool-mode.ts'
import { type ViewConfig, viewToolLengthMax } from '../shared/view.ts'
import { VIEW_TOOLS_MAX } from './limits.ts'
import type { ConfigValues } from './values.ts'

const TOOL_HELP = 'write `server/tool`, or `server/*` for all tools of a server'
const TOOL = form('tool', /^[a-z0-9*?-]{1,64}\/[^\s/].{0,255}$/, TOOL_HELP, { code: 'CONFIG_VIEW' })

export const VIEWS = record(
  // Shorter than the name of a server: a tool is shown as `mcp__VIEW__SERVER__TOOL`.
  form('name of a view', /^[a-z0-9-]{1,16}$/, 'small letters, digits and `-`, at most 16', {
    code: 'CONFIG_VIEW',
  }),
  object('a view', {
    tools: {
      shape: someOf(TOOL, VIEW_TOOLS_MAX),
      doc: 'the tools that are listed, by `server/tool`; `*` and `?` stand for any characters',
      required: true,
      example: ['crm/*', 'mail/send'],
    },
    as: {
      shape: record(
        form('tool', /^[a-z0-9-]{1,24}\/[^\s*?][^*?]{0,255}$/, 'write `server/tool`', {
          code: 'CONFIG_VIEW',
        }),
        form(
          'name of a tool',
          /^(?!.*__)[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/,
          'letters, digits, `-` and `_`, without `__`, which stands between server and tool',
          { code: 'CONFIG_VIEW' },
        ),
      ),
      doc: 'how tools are called in the view',
      unset: '`server__tool`',
      example: { 'mail/send': 'send_mail' },
    },
  }),
)

/** Names that a tool mode gives to its own tools. */
const MODE_TOOLS: ReadonlySet<string> = new Set([
  'search_tools',
  'describe_tools',
  CALL_TOOL,
  RUN_CODE,
])

export function readViews(
  map: LocatedMap,
  servers: readonly string[],
  { problems }: ConfigValues,
): Record<string, ViewConfig> {
  const warn = ({ at }: LocatedScalar, message: string, help: string) =>
    problems.warn('CONFIG_VIEW', at, message, help)
  const { entries } = asMap(findEntry(map, 'views'))
  return Object.fromEntries(
    entries.map(({ key, value }) => {
      const view = String(key.value)
      const tools = findEntry(asMap(value), 'tools')
      const names = asMap(findEntry(asMap(value), 'as')).entries
      const patterns = strings(tools).map(parseGlob)
      for (const item of items(tools)) {
        const near = findMissing(parseGlob(String(item.value)), servers)
        if (near !== undefined)
          warn(item, `the view \`${view}\` names \`${item.value}\`: there is no such server`, near)
      }
      for (const { key: tool } of names) {
        const { server, name } = parseGlob(String(tool.value))
        if (patterns.some((pattern) => globMatches(pattern, server, name))) continue
        const help = didYouMean(String(tool.value), exactOf(patterns), 'add it to `tools`')
        warn(tool, `the view \`${view}\` renames \`${tool.value}\`, which it does not list`, help)
      }
      checkNames(view, names, problems)
      const as = names.map((entry) => [String(entry.key.value), String(scalarOf(entry))])
      return [view, { tools: strings(tools), as: Object.fromEntries(as) }]
    }),
  )
}

type Names = ReturnType<typeof asMap>['entries']

function scalarOf({ value }: Names[number]): LocatedScalar['value'] {
  return (value as LocatedScalar).value
}

/** Each name is short enough, and is given to one tool. */
function checkNames(view: string, names: Names, problems: ConfigValues['problems']): void {
  const taken = new Map<string, string>()
  const lengthMax = viewToolLengthMax(view)
  for (const entry of names) {
    const [tool, name, { at }] = [String(entry.key.value), String(scalarOf(entry)), entry.value]
    const refuse = (message: string, help: string) =>
      problems.error('CONFIG_VIEW', at, message, help)
    const other = taken.get(name)
    taken.set(name, tool)
    if (other !== undefined)
      refuse(
        `the view \`${view}\` calls two tools \`${name}\`: \`${other}\` and \`${tool}\``,
        'give each a name of its own',
      )
    if (MODE_TOOLS.has(name)) refuse(`\`${name}\` is a tool of a tool mode`, 'choose another name')
    if (name.length > lengthMax)
      refuse(
        `\`${name}\` has ${name.length} characters`,
        `at most ${lengthMax}: clients show it as \`mcp__${view}__${name}\`, and models take less than 64`,
      )
  }
}

/** What may be meant if no server fits. */
function findMissing({ server, name }: Glob, servers: readonly string[]): string | undefined {
  if (servers.some((each) => wildcardMatches(server, each))) return undefined
  const near = nearest(server, servers)
  if (near !== undefined) return `did you mean \`${near}/${name}\`?`
  return `servers are ${servers.map((each) => `\`${each}\``).join(', ') || 'none'}`
}

function exactOf(patterns: readonly Glob[]): readonly string[] {
  return patterns.map(({ key }) => key).filter((key) => !isGlob(key))
}
