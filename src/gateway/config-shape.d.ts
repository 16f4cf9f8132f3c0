import type { ObjectShape } from '../document/json-schema.ts'
export declare const CONFIG: ObjectShape
