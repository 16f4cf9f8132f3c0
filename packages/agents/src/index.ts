// The agents as others use them: the service, its MCP server, and what is handed in: models and the
// gate that leads to tools.

export { createAgentsServer } from './mcp/server.ts'
export type { ModelSettings } from './models/models.ts'
export { Service } from './service/service.ts'
export type { ServiceOptions } from './service/service-types.ts'
export { AgentError } from './shared/errors.ts'
export type { GateCall, GateOutcome, GateTool, ToolGate } from './shared/tool-gate.ts'
