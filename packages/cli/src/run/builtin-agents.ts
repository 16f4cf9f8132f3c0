// The agents as a server of the gate (`builtin: agents`): the one place where the two modules meet. The
// gate gives agents the way to its servers; agents give the gate an MCP server for each connection.

import { resolve } from 'node:path'
import type { JSONRPCMessage, McpServer, Transport } from '@modelcontextprotocol/server'
import type { Service } from '@sluice/agents/service/service'
import { PROGRAM_SWEEP_MS } from '@sluice/agents/shared/limits'
import type { GateConfig } from '@sluice/gateway/config/config'
import type { Log } from '@sluice/gateway/shared/log'
import { readPackageVersion } from '@sluice/gateway/shared/package-version'
import type { StartAgents } from '@sluice/gateway/start/run-agents'
import type { InProcessCaller, StartInProcess } from '@sluice/gateway/upstream/in-process'

/** Loads the module of the agents only if a gate has them. */
export function agentsFor(
  config: GateConfig,
  log: Log,
  /** For the console, which shows the agents. */
  onStarted: (service: Service) => void = () => {},
): StartAgents {
  return async (gate, shared) => {
    const { Service } = await import('@sluice/agents/service/service')
    const { createAgentsServer } = await import('@sluice/agents/mcp/server')
    const { createCodeServer, removeIdlePrograms } = await import('@sluice/agents/mcp/code-server')
    const { models, prices, resume, history } = config
    const keys = Object.entries(models).flatMap(([name, { key }]) =>
      key === undefined ? [] : [[keyName(name), key] as const],
    )
    const providers = Object.entries(models).map(([name, { key, ...provider }]) => [
      name,
      key === undefined ? provider : { ...provider, keyFrom: keyName(name) },
    ])
    const service = await Service.start({
      directory: config.data,
      gate,
      server: Object.entries(config.servers).find(([, { builtin }]) => builtin === 'agents')?.[0],
      publicUrl: config.publicUrl?.replace(/\/$/, ''),
      resume,
      history,
      models: {
        environment: { ...process.env, ...Object.fromEntries(keys) },
        providers: Object.fromEntries(providers),
        scripts: resolve(config.data, 'scripts'),
        prices: toPrices(prices),
      },
      warn: (message) => log('warn', message),
      shared,
    })
    onStarted(service)
    const sweep = () => removeIdlePrograms(service, config.sessions.idleMs)
    const sweeper = setInterval(() => void sweep().catch(() => undefined), PROGRAM_SWEEP_MS).unref()
    return {
      connect: connectBy((caller) => createAgentsServer(service, caller, readPackageVersion())),
      connectCode: connectBy((caller) => createCodeServer(service, caller, readPackageVersion())),
      triggers: {
        webhookSecret: (agent, name) => service.webhookSecret({ agent, name }),
        deliver: ({ agent, ...delivery }) => service.deliver(null, agent, delivery),
      },
      handOver: (ms) => service.handOver(ms),
      close: () => {
        clearInterval(sweeper)
        return service.close()
      },
    }
  }
}

function connectBy(create: (caller: InProcessCaller) => McpServer): StartInProcess {
  return (caller, say) => {
    const server = create(caller)
    const transport = new InMemoryTransport(say)
    const connected = server.connect(transport)
    return {
      receive: (message) =>
        void connected.then(() => transport.onmessage?.(message as JSONRPCMessage)),
      close: () => server.close(),
    }
  }
}

/** A million tokens for so much is one token for as many millionths. */
function toPrices(prices: GateConfig['prices']) {
  const entries = Object.entries(prices).map(
    ([model, { input, output }]) => [model, { inputMicros: input, outputMicros: output }] as const,
  )
  return Object.fromEntries(entries)
}

const keyName = (provider: string): string => `SLUICE_MODEL_${provider.toUpperCase()}_KEY`

/** Messages as objects, from one side of this process to the other. */
class InMemoryTransport implements Transport {
  onmessage?: Transport['onmessage']
  onclose?: Transport['onclose']
  readonly #say: (message: object) => void

  constructor(say: (message: object) => void) {
    this.#say = say
  }

  async start(): Promise<void> {}

  async send(message: object): Promise<void> {
    this.#say(message)
  }

  async close(): Promise<void> {
    this.onclose?.()
  }
}
