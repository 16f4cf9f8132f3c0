// The shape of sluice.yaml, with the words that editors show. What is not built yet has no key
// here: a setting that silently did nothing would be worse than none.

import type { ObjectShape } from '@sluice/policy/document/json-schema'
import type { Shape } from '@sluice/policy/document/shape'
import {
  CALL_MS_MAX,
  PROCESS_IDLE_SECONDS_MAX,
  PROCESS_WAIT_SECONDS_MAX,
  PROCESSES_SETTING_MAX,
} from '../shared/limits.ts'
import { AGENTS, MODELS } from './agents.ts'
import { AUTH, TLS } from './auth.ts'
import { CHANNELS } from './channels.ts'
import { GRANTS, POLICIES } from './grants.ts'
import { LEDGER } from './ledger.ts'
import { LOGIN } from './login.ts'

const text = (max: number): Shape => ({ kind: 'text', max })
const anyName = {
  kind: 'form',
  noun: 'name',
  form: /^[^\s]{1,256}$/,
  help: 'a name without spaces',
} as const
const ANY: Shape = { kind: 'any' }
const texts: Shape = { kind: 'record', keys: anyName, of: text(8_192) }

const SERVER: Shape = {
  kind: 'object',
  noun: 'a server',
  elsewhere: {
    args: 'arguments stand behind the program, in one list: `command: [npx, -y, some-server]`',
    type: 'a `command` is started, a `url` is reached over HTTP: nothing else has to be said',
  },
  fields: {
    command: {
      shape: { kind: 'list', of: text(8_192), max: 256, min: 1 },
      doc: 'starts a server that speaks over stdin and stdout: the program and its arguments',
    },
    url: { shape: text(2_048), doc: 'where a server is reached over HTTP' },
    builtin: {
      shape: { kind: 'word', words: ['agents'] },
      doc: 'a server that is part of Sluice: `agents`, the WASM agents',
    },
    env: { shape: texts, doc: 'environment of the command, beside a short allow-list' },
    cwd: { shape: text(4_096), doc: 'working directory of the command' },
    share: {
      shape: { kind: 'word', words: ['principal', 'all'] },
      doc: 'one process for all sessions of a principal, or for all: only for servers that keep nothing',
    },
    idle: {
      shape: { kind: 'duration', maxSeconds: PROCESS_IDLE_SECONDS_MAX },
      doc: 'as `processes: { idle }`, for this server: longer for one that keeps something in memory',
    },
    headers: { shape: texts, doc: 'sent with every request to the url' },
    timeout: {
      shape: { kind: 'duration', maxSeconds: CALL_MS_MAX / 1_000 },
      doc: 'how long a call may take without an answer or progress (5m)',
    },
    auth: { shape: LOGIN, doc: '`login`: the url wants OAuth; `sluice login NAME` gives it' },
  },
}

const PROCESSES: Shape = {
  kind: 'object',
  noun: 'settings of processes',
  fields: {
    max: {
      shape: { kind: 'integer', min: 1, max: PROCESSES_SETTING_MAX },
      doc: 'processes of servers at once, over all sessions (by the memory there is)',
    },
    idle: {
      shape: { kind: 'duration', maxSeconds: PROCESS_IDLE_SECONDS_MAX },
      doc: 'a process ends so long after the last request or stream of its session, and is started again by the next (1m)',
    },
    wait: {
      shape: { kind: 'duration', maxSeconds: PROCESS_WAIT_SECONDS_MAX },
      doc: 'how long a session waits for a process where all are in use (20s)',
    },
  },
}

const PINS: Shape = {
  kind: 'object',
  noun: 'settings of pins',
  fields: {
    first_sight: {
      shape: { kind: 'word', words: ['trust', 'hold'] },
      doc: '`trust`: a tool never seen is accepted after the poison checks (the default on loopback); `hold`: it waits for a person',
    },
    ignore: {
      shape: { kind: 'list', of: text(256), max: 32 },
      doc: 'parts of definitions that follow the machine, as JSON Pointers such as `/description`',
    },
  },
}

export const CONFIG: ObjectShape = {
  kind: 'object',
  noun: 'a configuration',
  fields: {
    version: { shape: { kind: 'constant', value: 1 }, doc: 'of this format', required: true },
    listen: { shape: text(256), doc: '`127.0.0.1:7433`: an address and a port' },
    public_url: { shape: text(2_048), doc: 'where clients reach the gate, behind a proxy' },
    tls: { shape: TLS, doc: 'certificate and key of the gate itself' },
    log: { shape: { kind: 'word', words: ['text', 'json'] }, doc: 'the form of the log' },
    data: { shape: text(4_096), doc: 'where the record is kept (`./.sluice`)' },
    servers: {
      shape: {
        kind: 'record',
        keys: {
          kind: 'form',
          noun: 'name of a server',
          form: /^[a-z0-9-]{1,24}$/,
          help: 'small letters, digits and `-`, at most 24',
        },
        of: SERVER,
      },
      doc: 'the MCP servers behind the gate',
      required: true,
    },
    policy: {
      shape: { kind: 'either', of: [text(4_096), { kind: 'record', keys: anyName, of: ANY }] },
      doc: 'the file of the policy, or the policy itself; without one everything is denied',
    },
    policies: {
      shape: POLICIES,
      doc: 'documents by name, for grants; the guardrails of the one named `house` lie over all',
    },
    pins: { shape: PINS, doc: 'which definitions of tools are accepted' },
    auth: { shape: AUTH, doc: 'authorisation servers whose access tokens are taken' },
    grants: { shape: GRANTS, doc: 'grants that are fixed here; the others are in the store' },
    processes: {
      shape: PROCESSES,
      doc: 'how many processes of servers there may be, and how long each stays without use',
    },
    metrics: {
      shape: {
        kind: 'object',
        noun: 'metrics settings',
        fields: {
          token: {
            shape: text(1_024),
            doc: 'whoever has it may read `/metrics`; give it by a variable',
            required: true,
          },
        },
      },
      doc: 'Prometheus metrics over HTTP; without it only `sluice status --metrics` has them',
    },
    telemetry: {
      shape: {
        kind: 'object',
        noun: 'telemetry settings',
        fields: {
          otlp: {
            shape: text(2_048),
            doc: 'where spans are sent: a collector that takes OTLP over HTTP, such as `http://127.0.0.1:4318`',
            required: true,
          },
        },
      },
      doc: 'OpenTelemetry; without it `OTEL_EXPORTER_OTLP_ENDPOINT` holds, if it is set',
    },
    models: {
      shape: MODELS,
      doc: 'providers of models for the agents, beside anthropic, openai, ollama, vllm and llamacpp',
    },
    agents: { shape: AGENTS, doc: 'the WASM agents' },
    approvals: { shape: CHANNELS, doc: 'how people are told of held calls' },
    ledger: { shape: LEDGER, doc: 'how the record is kept' },
  },
}
