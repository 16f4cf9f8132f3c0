// The documents in force, as gate.db keeps them: so that a file that was changed while no gate ran is
// compared with what a person last put in force, and not taken for it. Used by policies.ts.

import type { DatabaseSync } from 'node:sqlite'
import { inTransaction } from '@sluice/ledger/store/sqlite/in-transaction'
import { type Documents, makeDocument, type PolicyDocument } from './documents.ts'

export function readStoredDocuments(store: DatabaseSync): PolicyDocument[] {
  return store
    .prepare('SELECT name, file, text FROM documents')
    .all()
    .map(({ name, file, text }) => makeDocument(String(name), String(file), String(text)))
}

export function storeDocuments(store: DatabaseSync, documents: Documents, atMs: number): void {
  inTransaction(store, () => {
    store.exec('DELETE FROM documents')
    const insert = store.prepare('INSERT INTO documents VALUES (?, ?, ?, ?)')
    for (const { name, file, text } of documents.values()) insert.run(name, file, text, atMs)
  })
}

/** The set as it was put in force, whatever the configuration names now: another file under the same
 * name, a new name, a base policy that is gone would else loosen by editing sluice.yaml. The first time
 * there is nothing but what is given. */
export function baseline(stored: readonly PolicyDocument[], documents: Documents): Documents {
  return stored.length === 0
    ? documents
    : new Map(stored.map((document) => [document.name, document]))
}
