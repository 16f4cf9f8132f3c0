// `node scripts/check-history.ts postgres://… ARRIVALS`: checks the history of a cluster after the fact, see
// test/cluster/history.ts. ARRIVALS is a file with what servers saw arrive, a JSON object a line with
// `name`, `arguments`, another for each call, and `atMs`. Exit code 1 if something is wrong.

import { readFileSync } from 'node:fs'
import { parsePostgresUrl } from '../packages/ledger/src/store/postgres/address.ts'
import { PostgresConnections } from '../packages/ledger/src/store/postgres/connections.ts'
import { checkHistory, readHistory } from '../test/cluster/history.ts'

const [store, file] = process.argv.slice(2)
if (store === undefined || file === undefined) {
  console.error('usage: node scripts/check-history.ts postgres://… ARRIVALS')
  process.exit(2)
}
const connections = new PostgresConnections(parsePostgresUrl(store))
const history = await readHistory(connections, readFileSync(file, 'utf8'))
await connections.close()
const wrong = checkHistory(history)
for (const each of wrong) console.log(each)
console.log(
  `${history.rows.length} records, ${history.arrivals.length} arrivals, ${wrong.length} things wrong`,
)
process.exitCode = wrong.length === 0 ? 0 : 1
