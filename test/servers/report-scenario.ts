// `node test/servers/report-scenario.ts PORT URL`: the client that the suite starts for a scenario. It
// hands the scenario to the test, which has the gate, and ends when the test has gone through it.

import { request } from 'node:http'

const [, , port, url] = process.argv
const scenario = {
  url,
  name: process.env.MCP_CONFORMANCE_SCENARIO,
  context: JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? '{}'),
}
request({ port, method: 'POST' }, (response) => {
  response.pipe(process.stderr)
  process.exitCode = response.statusCode === 200 ? 0 : 1
}).end(JSON.stringify(scenario))
