// The shape of sluice.yaml, with the words that editors show. What is not built yet has no key
// here: a setting that silently did nothing would be worse than none.

import {
  BOOLEAN,
  duration,
  form,
  integer,
  list,
  object,
  record,
  required,
  someOf,
  text,
  word,
} from '@sluice/policy/document/build-shape'
import type { ObjectShape } from '@sluice/policy/document/json-schema'
import type { Shape } from '@sluice/policy/document/shape'
import { DOCUMENT as POLICY } from '@sluice/policy/language/language'
import { HOOK_CLIENTS } from '../hooks/clients/table.ts'
import { CALL_MS_MAX } from '../shared/limits.ts'
import { TOOL_MODES } from '../shared/tool-mode.ts'
import { AGENTS, MODELS } from './agents.ts'
import { ALERTS } from './alerts.ts'
import { AUTH, OAUTH, TLS } from './auth.ts'
import { CHANNELS } from './channels.ts'
import { CLUSTER, STORE } from './cluster.ts'
import { GRANTS, POLICIES } from './grants.ts'
import { LEDGER } from './ledger.ts'
import {
  PROCESS_IDLE_SECONDS_MAX,
  PROCESS_WAIT_SECONDS_MAX,
  PROCESSES_SETTING_MAX,
  STOP_SECONDS_MAX,
} from './limits.ts'
import { LOGIN } from './login.ts'
import { SESSIONS } from './sessions.ts'
import { secretShape, URL_SHAPE } from './values.ts'
import { VIEWS } from './views.ts'

const anyName = form('name', /^[^\s]{1,256}$/, 'a name without spaces')
const ANY: Shape = { kind: 'any' }
const texts: Shape = record(anyName, text(8_192))
const variables: Shape = record(anyName, { kind: 'text', max: 8_192, blank: true })

const SANDBOX: Shape = object('a sandbox', {
  read: {
    shape: list(text(4_096), 256),
    doc: 'files and folders that it may read, from the folder of this file',
    unset: 'none but programs, its runtime and its packages',
    example: ['~/.config/notes'],
  },
  write: {
    shape: list(text(4_096), 256),
    doc: 'files and folders that it may read and write',
    unset: 'none but its own directory in the data directory',
    example: ['./notes'],
  },
  hosts: {
    shape: list(text(260), 256),
    doc: 'names of hosts that it may reach, on 443 and 80 or on the port that is written; `*.example.com`, or `*` for all',
    unset: 'none',
    example: ['api.notes.example', 'db.internal:5432'],
  },
  env: {
    shape: list(text(128), 256),
    doc: 'of a client with hooks: names of its variables that lines in the box may see, besides `PATH`, `HOME`, `USER`, `LANG`, `TERM` and `CI`',
    unset: 'no others',
    example: ['NODE_ENV'],
  },
})

const SERVER: Shape = {
  kind: 'object',
  noun: 'a server',
  elsewhere: {
    args: 'arguments stand behind the program, in one list: `command: [npx, -y, some-server]`',
    type: 'a `command` is started, a `url` is reached over HTTP: nothing else has to be said',
  },
  fields: {
    command: {
      shape: someOf(text(8_192), 256),
      doc: 'starts a server that speaks over stdin and stdout: the program and its arguments',
      example: ['npx', '-y', '@modelcontextprotocol/server-memory'],
    },
    url: {
      shape: text(2_048),
      doc: 'where a server is reached over HTTP',
      example: 'https://mcp.example.com/mcp',
    },
    builtin: {
      shape: word(['agents', 'code', 'acs', ...HOOK_CLIENTS]),
      doc: "a server that is part of Sluice: `agents`, the WASM agents. Beside a `command` or `url` they take the place of that server's tools with the same names. `code` is `run_code`, which runs a program of a client, see `/mcp?mode=code`. `acs` is an agent that asks by the Agent Control Standard, see `grants.NAME.acs`. Any other word is a client whose hooks ask the gate, see `sluice init --hooks`: its server has the client's own tools (`Bash`, `Read`, …)",
    },
    env: {
      shape: variables,
      doc: 'environment of the command: these values take precedence over those of the client. A name without a value is the variable of the client, or of the gate for a client over HTTP',
      example: { API_KEY: `$\{API_KEY}` },
    },
    cwd: {
      shape: text(4_096),
      doc: 'working directory of the command, from the folder of this file',
      unset: 'a directory of its own in the data directory',
      example: './workspace',
    },
    share: {
      shape: word(['principal', 'all']),
      doc: 'one process for all sessions of a principal, or for all: only for servers without state',
      unset: 'one process for each session',
    },
    idle: {
      shape: duration(PROCESS_IDLE_SECONDS_MAX),
      doc: 'as `processes: { idle }`, for this server: longer for one that keeps something in memory',
      unset: 'as `processes` says',
      example: '30m',
    },
    sandbox: {
      shape: { kind: 'either', of: [word(['off']), SANDBOX] },
      doc: 'what the command may do, `sluice server lock` writes it. `off`: it is not isolated, for programs that need more, such as `podman`. Under a client with hooks: lines of its shell run in a box with their project and these lines; files that usually hold secrets are hidden unless `read` names them',
      example: { read: ['~/.config/notes'], write: ['./notes'], hosts: ['api.notes.example'] },
      unset: 'it does not see other processes and the gate’s own files (Linux with bubblewrap)',
    },
    headers: {
      shape: texts,
      doc: 'sent with every request to the url',
      example: { Authorization: `Bearer $\{TOKEN}` },
    },
    timeout: {
      shape: duration(CALL_MS_MAX / 1_000),
      doc: 'how long a call may take without an answer or progress',
      default: '5m',
    },
    max_message: {
      shape: form('size', /^(?:[1-9]|1[0-6])MiB$/, 'write `1MiB` to `16MiB`'),
      doc: 'the largest message that the gate reads from this server; a call with a larger answer fails. Above `4MiB` one message may keep other calls waiting for more than 50 ms',
      default: '4MiB',
    },
    extensions: {
      shape: list(text(256), 32),
      doc: 'extensions of MCP that the gate does not serve and may declare all the same: only those that need no method of their own',
      unset: 'they are declared to neither side; `sluice doctor` lists them',
      example: ['com.example/audit'],
    },
    auth: {
      shape: LOGIN,
      doc: 'the url wants a token: `login` for one that `sluice login NAME` gets, or how the gate gets it',
      example: 'login',
    },
  },
}

/** Default of `stop_within`: platforms kill 30 seconds after they ask. */
export const STOP_WITHIN = '25s'

export const PROCESSES = object('settings of processes', {
  max: {
    shape: integer(1, PROCESSES_SETTING_MAX),
    doc: 'processes of servers at once, over all sessions',
    unset: 'by the memory of the machine',
    example: 64,
  },
  idle: {
    shape: duration(PROCESS_IDLE_SECONDS_MAX),
    doc: 'a process ends so long after the last request or stream of its session, and is started again by the next',
    default: '1m',
  },
  wait: {
    shape: duration(PROCESS_WAIT_SECONDS_MAX),
    doc: 'how long a session waits for a process if all are in use',
    default: '20s',
  },
})

export const PINS = object('settings of pins', {
  first_sight: {
    shape: word(['trust', 'hold']),
    doc: '`trust`: a tool never seen is accepted after the poison checks; `hold`: it waits for a person',
    unset: '`trust` if the gate listens on loopback, otherwise `hold`',
  },
  ignore: {
    shape: list(text(256), 32),
    doc: 'parts of definitions that differ from machine to machine, as JSON Pointers',
    example: ['/description'],
  },
})

export const CONFIG: ObjectShape = object('a configuration', {
  version: required({ kind: 'constant', value: 1 }, 'of this format'),
  listen: {
    shape: text(256),
    doc: 'address and port; beyond loopback only with `tls` or `public_url`',
    default: '127.0.0.1:7433',
  },
  public_url: {
    shape: text(2_048),
    doc: 'where clients reach the gate, behind a proxy',
    example: 'https://gate.example.com',
  },
  tls: { shape: TLS, doc: 'certificate and key of the gate itself' },
  stop_within: {
    shape: duration(STOP_SECONDS_MAX),
    doc: 'how long the end of the gate may take: open calls have it, but for 3 seconds that are kept for the ledger. Let the platform wait a few seconds longer before it kills',
    default: STOP_WITHIN,
  },
  log: { shape: word(['text', 'json']), doc: 'the form of the log', default: 'text' },
  data: {
    shape: text(4_096),
    doc: 'data directory: ledger, approvals, agents, keys',
    default: './.sluice',
  },
  store: {
    shape: STORE,
    doc: 'a PostgreSQL database that several gates share',
    unset: 'everything is in the data directory',
    example: 'postgres://sluice@db.internal/sluice',
  },
  cluster: { shape: CLUSTER, doc: 'this gate among those that share a `store`' },
  servers: required(
    record(
      form('name of a server', /^[a-z0-9-]{1,24}$/, 'small letters, digits and `-`, at most 24'),
      SERVER,
    ),
    'the MCP servers behind the gate',
    { memory: { command: ['npx', '-y', '@modelcontextprotocol/server-memory'] } },
  ),
  policy: {
    // What stands here is compiled like the text of a file, which reports its mistakes.
    shape: {
      kind: 'either',
      of: [text(4_096), { kind: 'record', keys: anyName, of: ANY, schema: POLICY }],
    },
    doc: "the local user's policy: its file, or the document itself",
    unset: 'everything is denied',
    example: './policy.yaml',
  },
  policies: {
    shape: POLICIES,
    doc: 'policy files by name, for grants; the one named `house` is the base policy: its guardrails apply to every call',
    example: { house: './base.yaml', readonly: './readonly.yaml' },
  },
  pins: { shape: PINS, doc: 'which definitions of tools are accepted' },
  oauth: { shape: OAUTH, doc: 'the gate as a client of authorisation servers' },
  auth: { shape: AUTH, doc: 'authorisation servers whose access tokens are accepted' },
  grants: { shape: GRANTS, doc: 'grants that are fixed here; the others are in the store' },
  sessions: {
    shape: SESSIONS,
    doc: 'how many sessions a principal may have, and when a session ends',
  },
  processes: {
    shape: PROCESSES,
    doc: 'how many processes of servers there may be, and how long each stays without use',
  },
  isolation: {
    shape: word(['required']),
    doc: '`required`: a server whose command cannot be isolated is not started',
    unset: 'it is started as it is, and `sluice status` says so',
  },
  mcp: {
    shape: object('settings of `/mcp`', {
      mode: {
        shape: word(TOOL_MODES),
        doc: 'how clients that name no mode see the tools of all servers: `search` lists three tools that find and call the others, `code` has programs call them (it needs a server with `builtin: code`)',
        default: 'all',
      },
    }),
    doc: 'all servers at one address',
  },
  views: {
    shape: VIEWS,
    doc: 'tools of some servers at an address of their own, `/mcp/@NAME`. A view says what is listed and how it is named, and permits nothing',
  },
  api: {
    shape: object('settings of the API', {
      change_servers: {
        shape: BOOLEAN,
        doc: 'servers may be added, changed, restarted and removed over `/api`, each time with a passkey of an admin',
        default: false,
      },
    }),
    doc: 'what the API and the console may change',
  },
  registry: {
    shape: object('registry settings', {
      namespace: {
        shape: form(
          'namespace',
          /^[A-Za-z0-9][A-Za-z0-9.-]{0,190}$/,
          'letters, digits, dots and hyphens: a domain in reverse, such as `com.example`',
        ),
        doc: 'what the names of the servers begin with, as a domain in reverse',
        required: true,
        example: 'com.example',
      },
    }),
    doc: 'the servers of this gate as an MCP registry: `GET /v0.1/servers`, without a token',
  },
  metrics: {
    shape: object('metrics settings', {
      token: {
        // It goes into a header.
        shape: secretShape('CONFIG_METRICS', /^\S{16,1024}$/),
        doc: 'bearer token that may read `/metrics`, at least 16 characters; give it by a variable',
        required: true,
        example: `$\{METRICS_TOKEN}`,
      },
    }),
    doc: 'Prometheus metrics over HTTP; without it only `sluice status --metrics` has them',
  },
  telemetry: {
    shape: object('telemetry settings', {
      otlp: required(
        URL_SHAPE,
        'where spans are sent: a collector that accepts OTLP over HTTP',
        'http://127.0.0.1:4318',
      ),
    }),
    doc: 'OpenTelemetry; without it `OTEL_EXPORTER_OTLP_ENDPOINT` applies, if it is set',
  },
  models: {
    shape: MODELS,
    doc: 'providers of models for the agents, beside anthropic, openai, ollama, vllm and llamacpp',
  },
  agents: { shape: AGENTS, doc: 'the WASM agents' },
  approvals: { shape: CHANNELS, doc: 'how approvers are notified of pending approvals' },
  alerts: { shape: ALERTS, doc: 'what a person on duty is told, over the channels of `approvals`' },
  ledger: { shape: LEDGER, doc: 'how the audit log is kept' },
})
