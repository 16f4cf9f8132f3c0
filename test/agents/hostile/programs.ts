// Programs that want out, or want to take the machine along: CPU, memory, natives that never poll,
// recursion, parsers, prototypes, output. Each is run as an agent's own code; what must hold for all
// of them is in hostile.test.ts.

export const HOSTILE: Readonly<Record<string, string>> = {
  'loop for ever': 'for (;;);',
  'loop in a promise': 'await new Promise(() => { for (;;); })',
  'microtasks without end': 'const f = () => Promise.resolve().then(f); await f()',
  'await without end': 'for (;;) await 0',
  'async generators without end':
    'async function* g() { for (;;) yield 1 } for await (const x of g());',
  'catch the interrupt': 'for (;;) { try { for (;;); } catch {} finally { continue } }',
  'loop in a getter': 'JSON.stringify({ get a() { for (;;); } })',
  'loop in toString': 'String({ toString() { for (;;); } })',
  'loop in a proxy': 'new Proxy({}, { get() { for (;;); } }).a',
  'loop in a comparator': '[3, 2, 1].sort(() => { for (;;); })',
  'endless iterator': '[...{ *[Symbol.iterator]() { for (;;) yield 1 } }]',
  'copyWithin over 2^53': 'Array.prototype.copyWithin.call({ length: 2 ** 53 - 1 }, 0, 1)',
  'fill over 2^53': 'Array.prototype.fill.call({ length: 2 ** 53 - 1 }, 0)',
  'indexOf over 2^53': 'Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1)',
  'reverse over 2^53': 'Array.prototype.reverse.call({ length: 2 ** 53 - 1 })',
  'join over 2^32': 'new Array(2 ** 32 - 1).join()',
  'BigInt power': '(3n ** (2n ** 24n)).toString().length',
  'BigInt to text': '((1n << 8000000n) - 1n).toString().length',
  'BigInt shift': '1n << (2n ** 40n)',
  'catastrophic expression': '/(a+)+$/.test("a".repeat(40) + "b")',
  'nested quantifiers': '/^(([a-z])+.)+[A-Z]([a-z])+$/.test("a".repeat(60))',
  'deep recursion': 'const f = () => f() + 1; f()',
  'recursion over JSON': 'const o = { toJSON() { return JSON.stringify(o) } }; JSON.stringify(o)',
  'recursion over proxies': 'let p = {}; for (let i = 0; i < 1e5; i++) p = new Proxy(p, {}); p.a',
  'recursion over getters': 'const o = { get a() { return this.a } }; o.a',
  'deep arrays as text': 'let a = []; for (let i = 0; i < 1e5; i++) a = [a]; String(a)',
  'deep JSON': 'JSON.parse("[".repeat(1e6))',
  'deep brackets in eval': '(0, eval)("(".repeat(1e5))',
  'nested functions in eval': '(0, eval)("function a(){".repeat(1e4))',
  'nested templates in eval': '(0, eval)("`\\u0024{".repeat(1e4))',
  'long expression in eval': '(0, eval)("1" + "+1".repeat(1e6))',
  'text that doubles': 'let s = "x"; for (;;) s += s',
  'text that repeats': '"x".repeat(2 ** 29)',
  'replace that grows': '"x".repeat(1e5).replaceAll("x", "y".repeat(1e5)).length',
  'array that grows': 'const a = []; for (;;) a.push(new Array(1000).fill(0))',
  'typed array of 512 MB': 'new Uint8Array(2 ** 29).fill(1)',
  'buffers that are kept': 'const k = []; for (;;) k.push(new ArrayBuffer(1e6))',
  'objects that are kept': 'const k = {}; for (let i = 0; ; i++) k["k" + i] = { i }',
  'closures that are kept': 'let f = () => 0; for (;;) { const g = f; f = () => g }',
  'map that grows': 'const m = new Map(); for (let i = 0; ; i++) m.set(i, i)',
  'symbols that are kept': 'const k = []; for (let i = 0; ; i++) k.push(Symbol.for("s" + i))',
  'promises that are kept': 'const k = []; for (;;) k.push(new Promise(() => {}))',
  'output without end': 'for (;;) console.log("x".repeat(1000))',
  'a result of 100 MB': 'return "x".repeat(4e7)',
  'files without end': 'for (let i = 0; ; i++) files.write("f" + i, "x".repeat(1e5))',
  'a file over the limit': 'files.write("big", "x".repeat(3e6)); return 1',
  'leave the root': 'files.write("../../etc/passwd", "x")',
  'read the host': 'return files.read("/etc/passwd")',
  'break JSON': 'JSON.stringify = JSON.parse = null; Array.prototype.map = null; return 1',
  'break promises': 'Promise.prototype.then = () => { for (;;); }; return 1',
  'poison Object.prototype':
    'Object.defineProperty(Object.prototype, "ended", { get() { return "x" } }); return 1',
  'poison toJSON': 'Object.prototype.toJSON = () => "pwned"; return { a: 1 }',
  'lie about the end': 'globalThis.__guest = () => "{}"; delete globalThis.__guest; return 1',
  'wait for nothing': 'await new Promise(() => {})',
  'import a module': 'return await import("qjs:os")',
  'a tool it was not given': 'return await tools.bank.transfer({ amount: 1 })',
  'constructor of constructor': 'return files.read.constructor("return process")()',
  'weak references':
    'const w = []; for (;;) w.push(new WeakRef({}), new FinalizationRegistry(() => {}))',
  dates: 'return new Date(8.64e15).toLocaleString().repeat(1e9)',
  'sort that lies':
    'const a = Array.from({ length: 2e6 }, (_, i) => i); a.sort(() => Math.random() - 0.5); a.sort(() => 1); for (;;) a.sort(() => -1)',
  'sleep on shared memory':
    'const a = new Int32Array(new SharedArrayBuffer(8)); Atomics.wait(a, 0, 0, 1e9); return "slept"',
  'shared memory that is kept':
    'const k = []; for (;;) k.push(new Int32Array(new SharedArrayBuffer(1e6)).fill(1))',
  'a buffer that grows':
    'const b = new ArrayBuffer(1, { maxByteLength: 2 ** 32 - 1 }); b.resize(2 ** 31)',
  'a result that is a proxy':
    'return new Proxy({}, { ownKeys() { for (;;); }, get() { for (;;); } })',
  'a result whose keys never end':
    'return new Proxy({}, { ownKeys: () => Array.from({ length: 1e7 }, (_, i) => "k" + i) })',
  'a result with a thousand levels': 'let a = 1; for (let i = 0; i < 2e5; i++) a = { a }; return a',
  'a result that is itself': 'const a = {}; a.a = a; return a',
  'toJSON that makes more of itself': 'const f = () => ({ toJSON: () => [f(), f()] }); return f()',
  'toJSON that loops': 'return { toJSON() { for (;;); } }',
  'a result that doubles as it is read': 'let s = "x"; return { toJSON() { for (;;) s += s; } }',
  'a thousand getters as a result':
    'return Object.defineProperty({}, "a", { enumerable: true, get() { return "x".repeat(2 ** 24) + this.a } })',
  'sparse arrays': 'const a = []; a[2 ** 32 - 2] = 1; return JSON.stringify(a)',
  'sparse arrays as a result': 'const a = []; a.length = 2 ** 32 - 1; return a',
  'sparse arrays that are sorted':
    'const a = []; a[2 ** 32 - 2] = 1; a.sort(); a.flat(); return a.concat(a)',
  'splice over 2^53': 'Array.prototype.splice.call({ length: 2 ** 53 - 1 }, 0, 1)',
  'lastIndexOf over 2^53': 'Array.prototype.lastIndexOf.call({ length: 2 ** 53 - 1 }, 1)',
  'includes over 2^53': 'Array.prototype.includes.call({ length: 2 ** 53 - 1 }, 1)',
  'toSpliced and with': 'Array.prototype.toSpliced.call({ length: 2 ** 32 - 2 }, 0, 0, 1)',
  'a match of everything by every letter':
    '"a".repeat(3e4).match(/(?:a?){30000}a{30000}/); "x".repeat(1e6).split(/(?:)/u).join("y")',
  'a look behind that backtracks': '/(?<=(a+)+b)c/.test("a".repeat(5e4))',
  'a replace with itself': 'let s = "a"; for (;;) s = s.replace(/a/g, "$&$&$&$&$&$&$&$&")',
  'a primitive that is asked for ever':
    'const o = { [Symbol.toPrimitive]() { return +o } }; return o * 2',
  'a species that returns itself':
    'class A extends Array { static get [Symbol.species]() { for (;;); } } return A.from([1, 2, 3]).map((x) => x)',
  'an error that is shown':
    'throw { toString() { for (;;); }, get message() { for (;;); }, get stack() { for (;;); } }',
  'an error whose cause never ends':
    'const e = new Error("x"); Object.defineProperty(e, "message", { get() { return "m".repeat(2 ** 28) } }); throw e',
  'an error of errors':
    'let e = new Error("x"); for (let i = 0; i < 1e6; i++) e = new AggregateError([e], "x", { cause: e }); throw e',
  'promises that flood': 'for (;;) Promise.resolve(new Promise(() => {})).then(() => {})',
  'promises that wait on themselves':
    'let r; const p = new Promise((x) => { r = x }); r({ then(f) { f({ then: this.then }) } }); await p',
  'all of a list without end':
    'await Promise.all({ *[Symbol.iterator]() { for (;;) yield Promise.resolve(1) } })',
  'generators in generators':
    'function* g(n) { if (n > 0) { yield* g(n - 1); yield* g(n - 1) } else yield 1 } for (const x of g(60));',
  'spread of a generator': 'function* g() { for (let i = 0; ; i++) yield i } Math.max(...g())',
  'apply with a million values': 'String.fromCharCode.apply(null, { length: 2 ** 31 })',
  'bind upon bind':
    'let f = () => 1; for (let i = 0; i < 1e6; i++) f = f.bind(null, i); return f()',
  'BigInt factorial': 'let n = 1n; for (let i = 1n; ; i++) n *= i',
  'BigInt asUintN': 'return BigInt.asUintN(2 ** 31, -1n).toString(2).length',
  'BigInt from text': 'return BigInt("9".repeat(4e6)) % 7n',
  'numbers as text': 'for (;;) (1e21 + 1 / 3).toString(36).padStart(2 ** 28)',
  'dates without end':
    'for (let t = -8.64e15; ; t += 1) new Date(t).toISOString() + new Date(t).toLocaleString("zz-ZZ")',
  'finalizers that make more':
    'const r = new FinalizationRegistry(() => make()); const make = () => { for (let i = 0; i < 1e4; i++) r.register({}, i) }; for (;;) make()',
  'weak maps by chains':
    'let k = {}; const w = new WeakMap(); for (;;) { const n = {}; w.set(k, n); k = n }',
  'code made of code': 'let c = "1"; for (;;) c = "eval(" + JSON.stringify(c) + ")"',
  'functions made without end':
    'for (let i = 0; ; i++) new Function("return " + "[".repeat(500) + i)',
  'labels and switches in eval':
    '(0, eval)("a:".repeat(5e4) + ";"); (0, eval)("switch(1){" + "case 1:".repeat(2e5) + "}")',
  'a class of a million fields': '(0, eval)("class A {" + "a;".repeat(1e6) + "}; new A")',
  'destructuring that nests':
    '(0, eval)("var " + "[".repeat(2e4) + "a" + "]".repeat(2e4) + " = []")',
  'text normalised':
    'return "\\u1e9b\\u0323".repeat(2e6).normalize("NFKD").normalize("NFKC").length',
  'locale compare of long text':
    'const s = "\\u00e9".repeat(5e6); for (;;) s.localeCompare(s + "x")',
  'well formed for ever': 'const s = "\\ud800".repeat(2e7); for (;;) s.toWellFormed()',
  'map and set that feed themselves': 'const s = new Set([0]); for (const x of s) s.add(x + 1)',
  'array that feeds itself': 'const a = [1]; for (const x of a) a.push(x, x)',
  'structured clone of itself':
    'const o = { get a() { return structuredClone(this) } }; return structuredClone(o)',
  'poison what ends a program':
    'Object.prototype.then = function (f) { f({ ended: { result: "1" } }) }; Array.prototype.push = () => { throw 1 }; return {}',
  'poison iteration':
    'Array.prototype[Symbol.iterator] = function* () { for (;;) yield this }; String.prototype.slice = () => { for (;;); }; return [1, 2]',
  'poison text':
    'String.prototype.toString = String.prototype.slice = () => ({}); Error.prototype.toString = () => { throw Error("x") }; throw new Error("y")',
  'files with a name that is not text': 'files.write({ toString() { for (;;); } }, "x")',
  'files whose content lies':
    'files.write("a", { length: 2 ** 40, toString: () => "x".repeat(2 ** 29) })',
  'a file that is an array of views':
    'const b = new ArrayBuffer(8, { maxByteLength: 16 }); const v = new Uint8Array(b); files.write("v", v); b.resize(0); return 1',
  'log what loops':
    'console.log({ toJSON() { for (;;); } }, new Proxy([], { get() { for (;;); } }))',
  'a call whose input loops':
    'await tools.count?.write(new Proxy({}, { ownKeys() { for (;;); } })); for (;;);',
}
