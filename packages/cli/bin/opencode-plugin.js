// The plugin of Sluice for opencode: asks the gate before and after each tool. `sluice init --hooks opencode` writes
// this file into the plugins of opencode, with the command lines of HOOKS in their place.

import { spawn } from 'node:child_process'

/** By event, in the form of hooks in settings. */
const HOOKS = {}

export const Sluice = async ({ client, directory }) => {
  const sessions = new Set()

  /** What the gate answers; throws if the call may not go on. */
  const ask = (event, payload = {}) =>
    new Promise((resolve, reject) => {
      const command = HOOKS[event]?.[0]?.command
      if (command === undefined) return resolve({})
      const child = spawn('sh', ['-c', command], { stdio: ['pipe', 'pipe', 'pipe'] })
      let [said, why] = ['', '']
      child.stdout.on('data', (chunk) => {
        said += chunk
      })
      child.stderr.on('data', (chunk) => {
        why += chunk
      })
      child.once('error', reject)
      child.once('close', (code, signal) => {
        // The hook itself ends with 0 if the call may go on.
        if (code !== 0)
          return reject(new Error(why.trim() || `sluice: the hook ended with ${signal ?? code}`))
        try {
          resolve(said === '' ? {} : JSON.parse(said))
        } catch (error) {
          reject(error)
        }
      })
      child.stdin.on('error', () => {})
      child.stdin.end(JSON.stringify({ hook_event_name: event, cwd: directory, ...payload }))
    })

  /** opencode calls a tool of an MCP server `server_tool`; undefined if that may be another one. */
  const findServer = async (tool) => {
    const { data = {} } = (tool.includes('_') && (await client.mcp.status().catch(() => {}))) || {}
    const toPrefix = (name) => `${name.replace(/[^a-zA-Z0-9_-]/g, '_')}_`
    const servers = Object.keys(data).filter((name) => tool.startsWith(toPrefix(name)))
    const [name] = servers
    if (servers.length !== 1) return undefined
    return { name, tool: tool.slice(toPrefix(name).length) }
  }

  const toPayload = async ({ tool, sessionID, callID }, args) => {
    const server = await findServer(tool)
    return {
      session_id: sessionID,
      tool_name: server === undefined ? tool : `mcp__${server.name}__${server.tool}`,
      tool_input: args,
      tool_use_id: callID,
      ...(server === undefined ? {} : { mcp_server: { name: server.name } }),
    }
  }

  await ask('start').catch(() => {})
  return {
    'chat.message': async ({ sessionID }, { parts }) => {
      sessions.add(sessionID)
      const prompt = parts.map(({ text = '' }) => text).join('\n')
      const { decision, reason } = await ask('chat.message', { session_id: sessionID, prompt })
      if (decision === 'block') throw new Error(reason)
    },
    'tool.execute.before': async (call, output) => {
      const answer = await ask('tool.execute.before', await toPayload(call, output.args))
      const { permissionDecision, permissionDecisionReason, updatedInput } =
        answer.hookSpecificOutput ?? {}
      if (permissionDecision === 'deny') throw new Error(permissionDecisionReason)
      Object.assign(output.args, updatedInput)
    },
    'tool.execute.after': async (call, output) => {
      const isText = typeof output.output === 'string'
      const tool_response = isText ? output.output : (output.content ?? null)
      const payload = { ...(await toPayload(call, call.args)), tool_response }
      const { reason, hookSpecificOutput: said = {} } = await ask('tool.execute.after', payload)
      const { updatedToolOutput, additionalContext } = said
      const replaced = reason ?? updatedToolOutput
      const shown = [replaced ?? (isText ? output.output : undefined), additionalContext]
        .filter((part) => part !== undefined)
        .map((part) => (typeof part === 'string' ? part : JSON.stringify(part)))
      if (replaced === undefined && additionalContext === undefined) return
      if (isText) output.output = shown.join('\n')
      else {
        const before = replaced === undefined ? (output.content ?? []) : []
        output.content = [...before, { type: 'text', text: shown.join('\n') }]
      }
    },
    dispose: async () => {
      for (const session_id of sessions) await ask('dispose', { session_id }).catch(() => {})
    },
  }
}
