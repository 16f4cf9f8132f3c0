// The agents as others use them: the service, its MCP server, and what is handed in: models and the
// gate that leads to tools.

export { AgentError } from './errors.ts'
export type { ModelSettings } from './models/models.ts'
export { createAgentsServer } from './server.ts'
export { Service, type ServiceOptions } from './service.ts'
export type { GateCall, GateOutcome, GateTool, ToolGate } from './tool-gate.ts'
