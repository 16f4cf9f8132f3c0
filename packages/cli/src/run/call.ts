// `sluice call SERVER/TOOL '{…}'`: one call of a tool through the gate that runs, for scripts and for trying a rule. The
// policy decides it as it decides the calls of any client of this user.

import { attempt } from '@sluice/policy/structures/attempt'
import { isObject, type JsonObject, type JsonValue } from '@sluice/policy/values/json'
import { DATA, findData } from '../connect/find-data.ts'
import { GateSession } from '../connect/gate-session.ts'
import { defineCommand } from '../terminal/define-command.ts'
import { ArgumentError, CliError } from '../terminal/errors.ts'
import { printable } from '../terminal/output.ts'

const EXAMPLES = `
Examples:
  sluice call notes/read_graph
  sluice call shop/refund '{"order": 7, "amount": 40}'
  sluice call agents/wasm_agent_schedules

Prints the texts of the answer, with --json all of it. A call that waits for an approver waits here as long as its
rule says. SLUICE_TOKEN calls as its grant. Exit code 0 if the tool answered, 1 if the call was denied or the tool
failed.`

export const add = defineCommand({
  name: 'call',
  args: { '<server/tool>': '', '[arguments]': 'a JSON object' },
  options: DATA,
  examples: EXAMPLES,
  run: async (options, output) => {
    const [, server = '', tool = ''] = /^([^/]+)\/(.+)$/.exec(options['server/tool']) ?? []
    if (tool === '')
      throw new ArgumentError(
        `\`${options['server/tool']}\` is no tool`,
        'write a server and its tool, such as `notes/read_graph`; `sluice scan` lists them',
      )
    const args = readArguments(options.arguments)
    const { data } = findData(options)
    const session = await GateSession.open(data, server, '`sluice status` shows the servers')
    if (session === undefined)
      throw new CliError('CLI_GATE', `no gate runs on \`${data}\``, 'start it with `sluice up`')
    try {
      const typed = process.argv.slice(2).join(' ')
      const result = await session.callTool(tool, args, { typed })
      output.value(result)
      for (const text of listTexts(result.content))
        output.line(text.split('\n').map(printable).join('\n'))
      return result.isError === true ? 1 : 0
    } finally {
      session.close()
    }
  },
})

function readArguments(text = '{}'): JsonObject {
  const value: unknown = attempt(() => JSON.parse(text))
  if (isObject(value)) return value
  throw new ArgumentError(
    `the arguments are \`${text.slice(0, 100)}\`, and no JSON object`,
    'quote them for the shell: \'{"order": 7}\'',
  )
}

/** Of what is no text, such as an image, only the type is printed. */
function listTexts(content: JsonValue | undefined): string[] {
  const blocks = Array.isArray(content) ? content.filter(isObject) : []
  return blocks.map(({ type, text }) => (typeof text === 'string' ? text : `[${String(type)}]`))
}
