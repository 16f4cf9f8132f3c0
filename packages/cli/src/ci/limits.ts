// Limits of the reports of `sluice ci`, by name and unit.

/**
 * Rows of one table or list in the Markdown summary. GitHub refuses a summary of more than 1 MiB.
 */
export const MARKDOWN_ROWS_MAX = 200
