/** `+ 123 456789`: watch the group of 123, which started then. `- 123`: it is gone. */
export type Order = `+ ${number} ${string}\n` | `- ${number}\n`
