// In place of Node's `node:util` in the browser: the command's text without colours.

export const styleText = (_style: unknown, text: string): string => text
