// The operations of the step thread on what an owner has beside agents: templates, settings, and the labels of
// the whole. Part of Operations.

import type { Journal } from '../journal/journal.ts'
import { AgentError } from '../shared/errors.ts'
import { TEMPLATES_LENGTH_MAX, TEMPLATES_MAX } from '../shared/limits.ts'

const OTHER_TEMPLATES = `SELECT count(*) AS count, COALESCE(sum(length(template)), 0) AS length
  FROM templates WHERE owner = $1 AND id <> $2`

export class OwnerOperations {
  readonly #journal: Journal

  constructor(journal: Journal) {
    this.#journal = journal
  }

  /** The labels of all agents of an owner and of the callers that removed some: a list of agents has them. */
  ownerLabels(owner: string): string[] {
    const sql =
      "SELECT DISTINCT labels FROM families WHERE owner = $1 AND labels <> '[]' AND members > 0"
    const rows = this.#journal.all(sql, owner)
    const seen = rows.flatMap(({ labels }) => JSON.parse(String(labels)) as string[])
    return [...new Set([...seen, ...this.goneLabels(owner)])]
  }

  /** What callers had seen who removed agents of this owner. */
  goneLabels(owner: string): string[] {
    return JSON.parse(this.setting(owner, 'labels of removed agents') ?? '[]') as string[]
  }

  /** Labels are added for good: a row for each agent that is gone would grow without end. */
  addGoneLabels(owner: string, labels: readonly string[]): void {
    this.#journal.transact(() => {
      this.#journal.database.lockSettings()
      const before = this.goneLabels(owner)
      const all = [...new Set([...before, ...labels])]
      if (all.length > before.length)
        this.setSetting(owner, 'labels of removed agents', JSON.stringify(all))
    })
  }

  templates(owner: string): string[] {
    return this.#journal
      .all('SELECT template FROM templates WHERE owner = $1 ORDER BY id', owner)
      .map(({ template }) => String(template))
  }

  /** Counted here: all of an owner's templates are read whenever one of them is used. */
  putTemplate(owner: string, id: string, template: string): void {
    const sql = `INSERT INTO templates (owner, id, template) VALUES ($1, $2, $3)
      ON CONFLICT (owner, id) DO UPDATE SET template = excluded.template`
    this.#journal.transact(() => {
      this.#journal.database.lockSettings()
      const others = this.#journal.get(OTHER_TEMPLATES, owner, id)
      if (Number(others?.count) >= TEMPLATES_MAX)
        throw new AgentError('AGENT_LIMIT', `there are ${TEMPLATES_MAX} templates already`)
      if (Number(others?.length) + template.length > TEMPLATES_LENGTH_MAX)
        throw new AgentError(
          'AGENT_LIMIT',
          `all templates together have at most ${TEMPLATES_LENGTH_MAX} characters`,
        )
      this.#journal.run(sql, owner, id, template)
    })
  }

  removeTemplate(owner: string, id: string): boolean {
    const journal = this.#journal
    const found = journal.get('SELECT 1 FROM templates WHERE owner = $1 AND id = $2', owner, id)
    journal.run('DELETE FROM templates WHERE owner = $1 AND id = $2', owner, id)
    return found !== undefined
  }

  galleryLabels(owner: string): string[] {
    return JSON.parse(this.setting(owner, 'labels') ?? '[]') as string[]
  }

  /** Labels are added for good: an owner's gallery is a few texts, and telling which of them is clean is not worth it. */
  addGalleryLabels(owner: string, labels: readonly string[]): void {
    this.#journal.transact(() => {
      this.#journal.database.lockSettings()
      const all = [...new Set([...this.galleryLabels(owner), ...labels])]
      this.setSetting(owner, 'labels', JSON.stringify(all))
    })
  }

  setting(owner: string, name: string): string | null {
    const sql = 'SELECT value FROM settings WHERE owner = $1 AND name = $2'
    const row = this.#journal.get(sql, owner, name)
    return row === undefined ? null : String(row.value)
  }

  setSetting(owner: string, name: string, value: string): void {
    const sql = `INSERT INTO settings (owner, name, value) VALUES ($1, $2, $3)
      ON CONFLICT (owner, name) DO UPDATE SET value = excluded.value`
    this.#journal.run(sql, owner, name, value)
  }
}
