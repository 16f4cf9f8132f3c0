// How an export names itself. Apart from the shape, which other forms are turned into.

export const FORMAT = 'sluice-agent'
export const VERSION = 1
