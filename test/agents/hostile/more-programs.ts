// More programs that want out, by what they abuse: natives that never poll, parsers, meta operations,
// waiting, what runs the program, its files and its calls. `npm run eval -- hostile` runs all of them;
// `npm test` runs a share of `HARNESS`, too.

/** CPU and memory inside natives and parsers. */
const NATIVES: Readonly<Record<string, string>> = {
  'sort with a comparator that grows the array':
    'const a = [3, 2, 1]; a.sort((x, y) => { for (let i = 0; i < 1e4; i++) a.push(i); return y - x }); for (;;) a.sort((x, y) => a.push(1) && y - x)',
  'toSorted over 2^32': 'Array.prototype.toSorted.call({ length: 2 ** 32 - 1 })',
  'toReversed over 2^32': 'Array.prototype.toReversed.call({ length: 2 ** 32 - 1 })',
  'with over 2^32': 'Array.prototype.with.call({ length: 2 ** 32 - 1 }, 0, 1)',
  'unshift over 2^53': 'Array.prototype.unshift.call({ length: 2 ** 53 - 2 }, 1)',
  'shift over 2^53': 'Array.prototype.shift.call({ length: 2 ** 53 - 1 })',
  'slice over 2^53': 'Array.prototype.slice.call({ length: 2 ** 53 - 1 }, 0, 2 ** 32 - 1)',
  'forEach over 2^53': 'Array.prototype.forEach.call({ length: 2 ** 53 - 1 }, () => 0)',
  'reduceRight over 2^53': 'Array.prototype.reduceRight.call({ length: 2 ** 53 - 1 }, () => 0, 0)',
  'findLast over 2^53': 'Array.prototype.findLast.call({ length: 2 ** 53 - 1 }, () => false)',
  'flat to infinity':
    'let a = [1]; for (let i = 0; i < 2e4; i++) a = [a, a]; return a.flat(Infinity).length',
  'flatMap that doubles': 'let a = [1]; for (;;) a = a.flatMap((x) => [x, x])',
  'concat that spreads a lie':
    'return [].concat({ length: 2 ** 53 - 1, [Symbol.isConcatSpreadable]: true }).length',
  'Array.from of a lie': 'return Array.from({ length: 2 ** 32 }).length',
  'Array.fromAsync of a lie': 'return (await Array.fromAsync({ length: 2 ** 53 - 1 })).length',
  'join of itself in a million places':
    'const a = []; for (let i = 0; i < 1e6; i++) a.push(a); return a.join().length + String(a)',
  'join with a long separator': 'return new Array(1e5).join("x".repeat(1e4)).length',
  'padStart to the limit': 'for (;;) "x".padStart(2 ** 24, "\\ud83d\\ude00").padEnd(2 ** 24 + 9)',
  'indexOf that almost matches':
    'const s = "a".repeat(4e6); for (;;) s.indexOf("a".repeat(2e6) + "b")',
  'lastIndexOf that almost matches':
    'const s = "a".repeat(4e6); for (;;) s.lastIndexOf("b" + "a".repeat(2e6))',
  'includes on a rope':
    'let s = ""; for (let i = 0; i < 1e6; i++) s = "a" + s + "b"; for (;;) s.includes("ba" + s)',
  'a rope that leans left': 'let s = "x"; for (let i = 0; i < 4e6; i++) s = s + i; return s.length',
  'a rope that leans right':
    'let s = "x"; for (let i = 0; i < 2e6; i++) s = i + s; return s.length',
  'codePointAt and iteration over long text':
    'const s = "\\ud83d\\ude00".repeat(5e6); for (;;) [...s].length',
  'split by every letter': 'for (;;) "ab".repeat(2e6).split("b").length',
  'replaceAll with a function that grows':
    'let s = "a".repeat(1e5); for (;;) s = s.replaceAll("a", () => "aa")',
  'replace with every pattern': 'return "x".repeat(2e4).replace(/x/g, "$`$\'$&$`$\'").length',
  'toUpperCase that grows': 'let s = "\\u0390".repeat(1e6); for (;;) s = s.toUpperCase() + s',
  'toLowerCase for ever': 'const s = "\\u0130\\u03a3".repeat(3e6); for (;;) s.toLowerCase()',
  'normalize of one long run of marks':
    'return ("a" + "\\u0301\\u0327".repeat(2e6)).normalize("NFD").length',
  'normalize of Hangul':
    'const s = "\\uac01".repeat(2e6); for (;;) s.normalize("NFD").normalize("NFC")',
  'escape and unescape': 'let s = "\\u1234".repeat(1e6); for (;;) s = unescape(escape(s))',
  'encodeURIComponent that triples': 'let s = "%"; for (;;) s = encodeURIComponent(s)',
  'decodeURIComponent of long text':
    'const s = "%F0%9F%98%80".repeat(1e6); for (;;) decodeURIComponent(s)',
  'String.raw of a lie': 'return String.raw({ raw: { length: 2 ** 53 - 1 } }).length',
  'matchAll that never moves':
    'for (const m of "x".repeat(1e6).matchAll(/(?:)/g)) for (const n of "x".repeat(1e6).matchAll(/(?:)/gy));',
  'an expression with many groups':
    'const r = new RegExp("(a?)".repeat(200) + "b"); for (;;) r.exec("a".repeat(1e4))',
  'back references that backtrack': '/^(a*)*\\1\\1\\1b$/.test("a".repeat(5e3))',
  'look ahead in look ahead': '/(?=(?=(?=(a+)+b)+)+)+c/.test("a".repeat(5e4))',
  'case folded sets':
    'new RegExp("[" + "\\\\p{L}".repeat(500) + "]+$", "iu").test("a".repeat(1e6) + "!")',
  'v flag set operations':
    'new RegExp("[" + "\\\\p{L}--[a-z]".repeat(1) + "]", "v").test("x"); for (let i = 0; ; i++) new RegExp("[[\\\\p{L}&&\\\\p{Lu}]--[" + String.fromCharCode(65 + i % 26) + "]]", "v")',
  'an expression of 10 MB': 'new RegExp("a|".repeat(5e6))',
  'an expression that nests': 'new RegExp("(".repeat(5e4) + ")".repeat(5e4))',
  'a quantifier of 2^31': '/(?:a{0,2147483647}){0,2147483647}b/.test("a".repeat(30))',
  'named groups without number':
    'new RegExp(Array.from({ length: 1e5 }, (_, i) => "(?<n" + i + ">a)").join("|")).exec("b")',
  'a lastIndex that lies':
    'const r = /a/y; Object.defineProperty(r, "lastIndex", { get() { for (;;); } }); "a".replace(r, "b")',
  'an exec of its own':
    'const r = /a/g; r.exec = () => ({ index: 0, length: 2 ** 53 - 1, 0: "" }); "a".replace(r, "b")',
  'Symbol.split that lies':
    'const s = { [Symbol.split]() { return this }, get length() { for (;;); } }; "a".split(s).length',
  'BigInt division': 'const a = (1n << 4000000n) + 1n, b = (1n << 2000000n) - 1n; for (;;) a / b',
  'BigInt remainder to a base': 'const a = 7n ** 300000n; for (;;) a.toString(3) + a.toString(36)',
  'BigInt multiplication': 'let a = (1n << 2000000n) - 1n; for (;;) a * a',
  'BigInt negative shift': 'let a = 1n; for (;;) a = (a << 100000n) | 1n',
  'BigInt from a number of zeros': 'BigInt("0x" + "0".repeat(3e7)); BigInt(" ".repeat(3e7))',
  'BigInt64Array that is sorted':
    'const a = new BigInt64Array(4e6); for (let i = 0; i < 4e6; i++) a[i] = BigInt(4e6 - i); for (;;) a.sort().reverse()',
  'Float64Array with a comparator':
    'const a = new Float64Array(3e6).map((_, i) => -i); for (;;) a.sort((x, y) => (a.buffer.byteLength ? x - y : 0))',
  'a buffer transferred while it is sorted':
    'const b = new ArrayBuffer(8e6); const a = new Float64Array(b); a.sort(() => { try { b.transfer(0) } catch {} return 1 }); for (;;) a.length',
  'a buffer resized while it is filled':
    'const b = new ArrayBuffer(1e6, { maxByteLength: 1e7 }); const a = new Uint8Array(b); a.fill({ valueOf() { b.resize(0); return 1 } }); a.set({ length: 1e9, get 0() { b.resize(1e7); return 1 } }); for (;;);',
  'set of a typed array by a lie': 'new Uint8Array(8).set({ length: 2 ** 53 - 1 })',
  'subarray upon subarray':
    'let a = new Uint8Array(1e6); const k = []; for (;;) { a = a.subarray(0); k.push(a) }',
  'DataView over and over':
    'const v = new DataView(new ArrayBuffer(4e7)); for (;;) for (let i = 0; i < 4e7 - 8; i++) v.setFloat64(i, i)',
  'parse of a million keys':
    'const s = "{" + Array.from({ length: 3e5 }, (_, i) => \'"k\' + i + \'":\' + i).join() + "}"; for (;;) JSON.parse(s)',
  'parse of equal keys':
    'const s = "{" + \'"a":1,\'.repeat(1e6) + \'"a":1}\'; for (;;) JSON.parse(s)',
  'parse of escapes': 'const s = \'"\' + "\\\\u0041".repeat(2e6) + \'"\'; for (;;) JSON.parse(s)',
  'parse of a number of a million digits':
    'const s = "1" + "0".repeat(5e6) + "e-5000000"; for (;;) JSON.parse(s)',
  'a reviver that grows what it walks':
    'JSON.parse("[1]", function (k, v) { if (Array.isArray(this)) this.push([1]); for (;;) this.push(1); return v })',
  'a replacer that answers with more': 'JSON.stringify(1, (k, v) => [v, v])',
  'a replacer that is a list of everything':
    'JSON.stringify({}, new Proxy([], { get: (t, k) => (k === "length" ? 2 ** 53 - 1 : "x") }))',
  'an indent at every level':
    'let a = 1; for (let i = 0; i < 4e3; i++) a = [a, a.length]; for (;;) JSON.stringify(a, null, 10)',
  'rawJSON that is long':
    'for (;;) JSON.stringify([JSON.rawJSON?.("1".repeat(1e6)) ?? "1".repeat(1e6)].concat(Array(50).fill("x".repeat(1e6))))',
  'date texts that almost parse':
    'const s = "2026-11-15T10:00:00" + ".0".repeat(1) + "0".repeat(5e6) + "Z"; for (;;) Date.parse(s) || Date.parse("Sun ".repeat(1e6))',
  'Date.UTC out of range':
    'for (let i = 0; ; i++) Date.UTC(2 ** 53, i, 1e308, -1e308) || new Date(NaN).setFullYear(1e9)',
  'numbers with all digits':
    'for (;;) (1.7e308).toFixed(100) + (5e-324).toPrecision(100) + (1 / 3).toExponential(100)',
  'parseFloat of long text': 'const s = "0." + "1".repeat(1e7); for (;;) parseFloat(s)',
  'Math.max of a spread': 'Math.max(...new Array(6e4).fill(0).map(() => new Array(6e4)))',
  'Math.hypot and sumPrecise':
    'const a = new Array(1e5).fill(1e308); for (;;) Math.hypot(...a.slice(0, 3e4))',
}

/** Meta operations, iteration, waiting and code made of text. */
const LANGUAGE: Readonly<Record<string, string>> = {
  'a proxy that traps everything':
    'const h = new Proxy({}, { get: (t, k) => () => { for (;;); } }); const p = new Proxy(function () {}, h); [() => p(), () => new p(), () => p in p, () => delete p.x, () => Object.keys(p), () => { with_(p) }].forEach((f) => { try { f() } catch {} })',
  'a proxy of a proxy handler':
    'let h = {}; for (let i = 0; i < 5e4; i++) h = new Proxy({}, h); h.x',
  'a prototype that is a loop':
    'const p = new Proxy({}, { getPrototypeOf: (t) => p }); ({}) instanceof Object(function () {}); p instanceof class {}; for (;;) Object.prototype.isPrototypeOf.call({}, p)',
  'a prototype chain of a million':
    'let o = {}; for (let i = 0; i < 1e6; i++) o = Object.create(o); for (;;) o.missing',
  'getOwnPropertyDescriptors of much':
    'const o = {}; for (let i = 0; i < 3e5; i++) o["k" + i] = i; for (;;) Object.getOwnPropertyDescriptors(o)',
  'Object.assign onto itself with getters':
    'const o = {}; for (let i = 0; i < 1e4; i++) Object.defineProperty(o, "k" + i, { enumerable: true, get() { return Object.assign({}, o) } }); Object.assign({}, o)',
  'groupBy without end':
    'Object.groupBy({ *[Symbol.iterator]() { for (let i = 0; ; i++) yield i } }, (x) => x)',
  'Map.groupBy without end':
    'Map.groupBy({ *[Symbol.iterator]() { for (let i = 0; ; i++) yield {} } }, (x) => x)',
  'fromEntries without end':
    'Object.fromEntries({ *[Symbol.iterator]() { for (let i = 0; ; i++) yield ["k" + i, i] } })',
  'sets that say their size':
    'new Set([1]).union({ size: 2 ** 53 - 1, has: () => true, keys: function* () { for (let i = 0; ; i++) yield i } })',
  'a map that grows as it is walked':
    'const m = new Map([[0, 0]]); m.forEach((v, k) => { m.delete(k); m.set(k + 1, v) })',
  'an iterator that never returns':
    'const [a] = { [Symbol.iterator]: () => ({ next: () => ({ done: false }), return() { for (;;); } }) }; return a',
  'iterator helpers without end':
    'function* g() { for (;;) yield 1 } return g().map((x) => x).filter(() => false).drop(1).toArray?.() ?? [...g()]',
  'an async iterator that never returns':
    'for await (const x of { [Symbol.asyncIterator]: () => ({ next: async () => ({ value: 1 }), return: () => new Promise(() => {}) }) }) break; return 1',
  'thenables in thenables':
    'let t = { then(f) { f(1) } }; for (let i = 0; i < 1e5; i++) { const n = t; t = { then(f) { f(n) } } } await t; for (;;) await t',
  'a thenable as a result': 'return { then(f) { for (;;) f } }',
  'a thenable that answers twice':
    'return { then(f, r) { f({ then: (g) => g(1) }); f(2); r(3); for (;;); } }',
  'allSettled of a million':
    'await Promise.allSettled(Array.from({ length: 1e6 }, () => Promise.reject(new Error("x"))))',
  'rejections that nobody hears':
    'for (let i = 0; ; i++) Promise.reject(new Error("x".repeat(1e3)))',
  'race of nothing, for ever': 'await Promise.race([]); return 1',
  'a promise that resolves to itself':
    'let r; const p = new Promise((f) => { r = f }); r(p); return p',
  'await in finally':
    'for (;;) { try { await Promise.reject(1) } catch { continue } finally { await 0 } }',
  'generators that are never closed':
    'const k = []; function* g() { try { for (;;) yield "x".repeat(100) } finally { for (;;); } } for (;;) { const i = g(); i.next(); k.push(i) }',
  'yield star upon itself':
    'const it = { [Symbol.iterator]() { return it }, next: () => ({ done: false, value: it }) }; function* g() { yield* it } for (const x of g());',
  'labelled continue': 'a: for (;;) { b: for (;;) { c: for (;;) continue a } }',
  'with a proxy':
    'new Function("p", "with (p) { for (;;) x = y }")(new Proxy({}, { has: () => true, get: () => 1, set: () => true }))',
  'switch with costly cases':
    'for (;;) switch (1n << 1000000n) { case (1n << 1000001n): case (1n << 1000002n): default: }',
  'templates of templates':
    'let t = (s) => String.raw({ raw: s }, s); for (;;) t([t([t(["x".repeat(1e6)])])])',
  'eval in eval in eval':
    'let c = "1"; for (let i = 0; i < 12; i++) c = "eval(" + JSON.stringify(c) + ")"; for (;;) (0, eval)(c)',
  'new Function of 10 MB':
    'new Function("a".repeat(1e7)); for (;;) new Function("/*" + "x".repeat(1e6) + "*/")',
  'a parameter list of a million':
    'new Function(...Array.from({ length: 3e5 }, (_, i) => "a" + i), "return 1")()',
  'a million variables':
    '(0, eval)("var " + Array.from({ length: 2e5 }, (_, i) => "v" + i).join())',
  'a million strings in code':
    '(0, eval)("[" + Array.from({ length: 3e5 }, (_, i) => "\'s" + i + "\'").join() + "]")',
  'arrow functions that nest': '(0, eval)("()=>".repeat(2e4) + "1")',
  'conditional chains': '(0, eval)("1?".repeat(2e4) + "1" + ":1".repeat(2e4))',
  'unary chains': '(0, eval)("!".repeat(3e5) + "1"); (0, eval)("typeof ".repeat(3e5) + "1")',
  'optional chains': '(0, eval)("a" + "?.a".repeat(3e5))',
  'objects that nest in code': '(0, eval)("(" + "{a:".repeat(2e4) + "1" + "}".repeat(2e4) + ")")',
  'blocks that nest': '(0, eval)("{".repeat(1e5)); (0, eval)("if(1)".repeat(1e5) + ";")',
  'classes that extend':
    '(0, eval)("class A extends (".repeat(5e3) + "Object" + ") {}".repeat(5e3))',
  'spread in spread': '(0, eval)("[...".repeat(2e4) + "[]" + "]".repeat(2e4))',
  'expressions in code': 'for (let i = 0; ; i++) (0, eval)("/" + "(a|b)".repeat(1000) + i + "/")',
  'comments without end':
    '(0, eval)("/*".repeat(5e6)); (0, eval)("<!--".repeat(5e6)); (0, eval)("//".repeat(5e6))',
  'a shebang and a string that never end':
    '(0, eval)("#!" + "x".repeat(2e7)); (0, eval)("\\"" + "x".repeat(2e7))',
  'numbers in code': '(0, eval)("1".repeat(1e7)); (0, eval)("0x" + "f".repeat(1e7) + "n")',
  'identifiers of escapes':
    '(0, eval)("\\\\u0061".repeat(2e6)); (0, eval)("\\\\u{" + "0".repeat(2e7) + "61}")',
  'private names':
    '(0, eval)("class A {" + Array.from({ length: 1e5 }, (_, i) => "#p" + i).join(";") + "}; new A")',
  'getters of classes that call their class':
    'class A { static get x() { return new A().y } get y() { return A.x } } return A.x',
  'static blocks that loop': 'class A { static { for (;;); } }',
  'super that climbs':
    'class A { m() { return super.m?.() } } let C = A; for (let i = 0; i < 1e5; i++) C = class extends C { m() { return super.m() } }; new C().m()',
  'constructors that construct': 'class A { constructor() { this.a = new A() } } new A()',
  'Reflect.construct of itself':
    'function F() { return Reflect.construct(F, arguments, F) } new F()',
  'apply upon apply':
    'let f = () => 1; for (let i = 0; i < 1e5; i++) { const g = f; f = function () { return g.apply(this, arguments) } } f(...new Array(6e4))',
  'arguments that are kept':
    'const k = []; (function f() { k.push(arguments); return f(...new Array(5e4).fill(1)) })()',
  'Symbol.hasInstance that loops':
    'class A { static [Symbol.hasInstance]() { for (;;); } } return 1 instanceof A',
  'Symbol.toStringTag that loops':
    'return Object.prototype.toString.call({ get [Symbol.toStringTag]() { for (;;); } })',
  'Symbol.unscopables that loops':
    'new Function("o", "with (o) { x }")({ x: 1, get [Symbol.unscopables]() { for (;;); } })',
  'Symbol.match that lies': 'return "a".startsWith({ get [Symbol.match]() { for (;;); } })',
  'Symbol.toPrimitive as a key':
    'const o = {}; for (let i = 0; ; i++) o[{ [Symbol.toPrimitive]: () => "k" + i }] = o',
  'defineProperty with a getter in the descriptor':
    'Object.defineProperty({}, "a", { get get() { for (;;); } })',
  'an array whose length is asked': 'const a = []; a.length = { valueOf() { for (;;); } }',
  'an array that is frozen while it is sorted':
    'const a = new Array(1e6).fill(0).map((_, i) => 1e6 - i); a.sort((x, y) => (Object.freeze(a), x - y)); for (;;);',
  'WeakRef that is asked for ever':
    'const w = new WeakRef({}); const k = []; for (;;) k.push(w.deref(), new WeakRef(k))',
  'stacks that are long':
    'Error.stackTraceLimit = Infinity; const f = (n) => (n ? f(n - 1) : new Error("x".repeat(1e5)).stack); const k = []; for (;;) k.push(f(500))',
  'prepareStackTrace that loops':
    'Error.prepareStackTrace = () => { for (;;); }; return new Error("x").stack',
  'captureStackTrace onto everything':
    'Error.captureStackTrace?.(globalThis); const o = new Proxy({}, { defineProperty() { for (;;); } }); Error.captureStackTrace?.(o); for (;;) new Error().stack',
  'an error whose name loops':
    'const e = new Error("x"); Object.defineProperty(e, "name", { get() { for (;;); } }); throw e',
  'throw in a throw in a throw':
    'const f = () => { try { f() } finally { throw new Error("x") } }; f()',
  'a WebAssembly of its own':
    'const m = new WebAssembly.Module(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0])); for (;;);',
  'timers and workers':
    'const t = [typeof setTimeout, typeof setInterval, typeof Worker, typeof queueMicrotask, typeof fetch].join(); if (t !== "undefined,undefined,undefined,undefined,undefined") throw new Error("there are " + t); for (;;);',
  'queueMicrotask without end': 'const f = () => queueMicrotask(f); f(); for (;;) await 0',
}

/** What runs the program: its framing, its files, its console, its calls. */
export const HARNESS: Readonly<Record<string, string>> = {
  'an answer of its own through toJSON':
    'Object.prototype.toJSON = function () { return "calls" in this ? { calls: [], ended: { result: "\\"" + "x".repeat(3e7) + "\\"" }, logs: "" } : this }; return 1',
  'calls that were never made':
    'Object.prototype.toJSON = function () { return "calls" in this ? { calls: Array.from({ length: 1000 }, (_, id) => ({ id, server: "count", tool: "write", input: {} })), ended: null, logs: "" } : this }; return 1',
  'the same call a thousand times':
    'Object.prototype.toJSON = function () { return "calls" in this ? { calls: Array(1000).fill({ id: 1, server: "count", tool: "write", input: {} }), ended: null, logs: "" } : this }; return 1',
  'calls with ids that are no ids':
    'Object.prototype.toJSON = function () { return "calls" in this ? { calls: [{ id: -1, server: "__proto__", tool: "constructor", input: null }, { id: 2 ** 40, server: "count", tool: "toString", input: [] }], ended: null, logs: "" } : this }; return 1',
  'an answer of a million calls':
    'Object.prototype.toJSON = function () { return "calls" in this ? { calls: Array(4e5).fill({ id: 1 }), ended: null, logs: "" } : this }; return 1',
  'an answer that is deep':
    'let d = []; for (let i = 0; i < 1e3; i++) d = [d]; Object.prototype.toJSON = function () { return "calls" in this ? { calls: [{ id: 1, server: "count", tool: "write", input: d }], ended: null, logs: "" } : this }; return 1',
  'an end that is both':
    'Object.prototype.toJSON = function () { return "calls" in this ? { calls: [], ended: { result: "1", error: "2" }, logs: "x".repeat(69000), more: "x".repeat(1e6) } : this }; return 1',
  'an end within a text': 'console.log(\'"ended":null\'); return \'"ended":null\'',
  'an end that is said too early':
    'Object.prototype.toJSON = function () { return "calls" in this ? { calls: [{ id: 1, server: "count", tool: "write", input: {} }], ended: { result: "1" }, logs: "" } : this }; await new Promise(() => {})',
  'an error of 30 MB in place of an answer':
    'tools.count.write({ toJSON() { throw "x".repeat(3e7) } }); await new Promise(() => {})',
  'an error that is a loop in place of an answer':
    'tools.count.write({ toJSON() { throw { toString() { for (;;); } } } }); await new Promise(() => {})',
  'a call of 30 MB': 'await tools.count.write({ a: "x".repeat(2.5e7) }); return 1',
  'calls of 30 MB in small pieces':
    'for (let i = 0; i < 1000; i++) tools.count.write({ a: new Array(5e3).fill(0) }); await new Promise(() => {})',
  'a call with two million keys':
    'const a = {}; for (let i = 0; i < 2e5; i++) a[i] = {}; await tools.count.write(a); return 1',
  'a call with a thousand levels':
    'let a = {}; for (let i = 0; i < 2e3; i++) a = { a }; await tools.count.write(a); return 1',
  'a call with itself': 'const a = {}; a.a = a; await tools.count.write(a); return 1',
  'a call with a BigInt': 'await tools.count.write({ a: 1n }); return 1',
  'a call with half characters':
    'await tools.count.write({ "\\ud800": "\\udc00", "\\0": "\\0", __proto__: null, ["__proto__"]: 1, constructor: { prototype: 1 } }); return 1',
  'a call with no input':
    'await tools.count.write(); await tools.count.write(null); await tools.count.write(() => 1); await tools.count.write(Symbol("x")); return 1',
  'a thousand calls at once':
    'await Promise.all(Array.from({ length: 1000 }, () => tools.count.write({}))); return 1',
  'calls until it is refused': 'for (let i = 0; ; i++) await tools.count.write({ i })',
  'calls while 40 MB are held':
    'const k = []; for (let i = 0; i < 1e6; i++) k.push(i * 1.5); for (;;) await tools.count.write({ n: k.length })',
  'a call that nobody waits for': 'tools.count.write({}); return 1',
  'calls that nobody waits for, then more':
    'tools.count.write({}); tools.count.write({}); await tools.count.write({}); tools.count.write({}); throw new Error("x")',
  'a call after the end':
    'Promise.resolve().then(() => Promise.resolve()).then(() => tools.count.write({})); return 1',
  'tools by names of prototypes':
    'const f = [tools.constructor, tools.__proto__, tools.count.constructor, tools.count.__proto__, tools.toString, tools.hasOwnProperty]; if (f.some((x) => x !== undefined)) throw new Error("found"); tools.count.write = 1; tools.more = 1; return f.length',
  'a tool made out of another':
    'await tools.count.write.call({}, {}); await new tools.count.write({}); return 1',
  'a promise that replaces the constructor':
    'globalThis.Promise = class { constructor(f) { for (;;) f(() => {}, () => {}) } }; await tools.count.write({}); return 1',
  'a promise whose then is replaced':
    'Promise.prototype.then = function (f) { f("lied"); return this }; await tools.count.write({}); return 1',
  'push that changes what is sent':
    'Array.prototype.push = function (call) { call.server = "bank"; call.tool = "transfer"; this[this.length] = call; return 1 }; await tools.count.write({}); return 1',
  'setters on Array.prototype':
    'for (let i = 0; i < 9; i++) Object.defineProperty(Array.prototype, i, { set() { for (;;); }, get() { for (;;); }, configurable: true }); await tools.count.write({}); return 1',
  'setters on Object.prototype':
    'for (const n of ["id", "server", "tool", "input", "result", "error", "resolve", "reject", "write", "remove", "path", "text", "bytes"]) Object.defineProperty(Object.prototype, n, { set() { for (;;); }, get() { return "x" }, configurable: true }); files.write("a", "b"); await tools.count.write({}); return 1',
  'a Map that lies about files':
    'Map.prototype[Symbol.iterator] = function* () { yield ["../../etc/passwd", "x"]; yield ["a\\0b", "x"]; yield ["\\ud800", "x"]; yield ["a".repeat(1e6), "x"] }; files.write("a", "b"); return 1',
  'a Map that has files without end':
    'Map.prototype[Symbol.iterator] = function* () { for (let i = 0; i < 3e5; i++) yield ["f" + i, ""] }; files.write("a", "b"); return 1',
  'bytes that are beside the buffer':
    'Map.prototype[Symbol.iterator] = function* () { yield ["a", Object.create(Uint8Array.prototype)]; yield ["b", { length: 2 ** 40 }] }; files.write("a", new Uint8Array(8)); return 1',
  'offsets that lie':
    'Object.prototype.toJSON = function () { return "write" in this && "remove" in this ? { write: [{ path: "a", bytes: [2 ** 31, 2 ** 31] }, { path: "b", bytes: [-1, 4] }, { path: "c" }], remove: ["../x", "\\0"] } : this }; files.write("a", new Uint8Array(8)); return 1',
  'removals without end':
    'Object.prototype.toJSON = function () { return "write" in this && "remove" in this ? { write: [], remove: Array(1e6).fill("a.txt") } : this }; return 1',
  'an overlay of 30 MB':
    'for (let i = 0; i < 30; i++) files.write("f" + i, "x".repeat(1e6)); return 1',
  'an overlay of 30 MB of bytes':
    'for (let i = 0; i < 15; i++) files.write("f" + i, new Uint8Array(1e6)); return 1',
  'an overlay of half characters': 'files.write("h", "\\ud800".repeat(1e6)); return 1',
  'files with names of prototypes':
    'for (const n of ["__proto__", "constructor", "toString", "__defineGetter__", "hasOwnProperty", "then", "toJSON"]) files.write(n, "x"); return files.list()',
  'files with hostile names':
    'const bad = ["..", ".", "/", "a/..", "a/../..", "\\0", "\\ud800", "a".repeat(1e6), "", "a/", "C:\\\\x", "con", "a\\nb", "\\u202etxt.exe", "//server/share", "%2e%2e/x", "\\u2024\\u2024/x"]; const r = []; for (const n of bad) { try { files.write(n, "x"); r.push(n) } catch {} } return r.length',
  'ten thousand files': 'for (let i = 0; i < 1e4; i++) files.write("f" + i, "x"); return 1',
  'files written and removed without end':
    'for (let i = 0; ; i++) { files.write("f", "x".repeat(1e6)); files.delete("f"); files.list() }',
  'readBytes of long text':
    'files.write("t", "\\u00e9".repeat(5e5)); for (;;) files.readBytes("t")',
  'a view that shrinks as it is written':
    'const b = new ArrayBuffer(1e6, { maxByteLength: 2e6 }); const v = new Uint8Array(b); Uint8Array.prototype.slice = function () { b.resize(0); return v }; files.write("v", v); return 1',
  'console with everything':
    'console.log(undefined, null, Symbol.iterator, 1n, () => 1, new Map([[1, 2]]), new Error("x"), [, 1], -0, NaN, new Date(NaN), new Proxy({}, {}), globalThis)',
  'console with ten thousand values':
    'for (;;) console.log(...new Array(1e4).fill("x".repeat(1e4)))',
  'console with deep values':
    'let a = []; for (let i = 0; i < 1e5; i++) a = [a]; for (;;) console.error(a)',
  'console with half characters':
    'console.log("\\ud800".repeat(7e4), "\\0".repeat(7e4)); return "\\udfff".repeat(2e5)',
  'console with a slice that lies':
    'String.prototype.slice = function () { return "x".repeat(2e7) }; console.log("a"); console.log("b"); return 1',
  'a log that says it ended':
    'String.prototype.slice = () => ({ toJSON: () => "x".repeat(3e7) }); console.log("a"); return 1',
  'results of escapes': 'return "\\0".repeat(5e6)',
  'a result of many keys':
    'return Object.fromEntries(Array.from({ length: 2e5 }, (_, i) => ["k" + i, i]))',
  'a result with hostile keys':
    'return { ["__proto__"]: { admin: true }, constructor: { prototype: {} }, "\\ud800": 1, "\\0": 2, "": 3 }',
  'a result that is no JSON': 'return 10n',
  'a result that is a function': 'return Object.assign(() => 1, { toJSON: () => undefined })',
  'out of memory as it ends':
    'const k = []; try { for (;;) k.push(new Uint8Array(1e5)) } catch {} try { for (;;) k.push({}) } catch {} files.write("a", "x"); return k.length',
  'out of memory in the middle of taking':
    'const s = "\\u00e9".repeat(1e6); for (let i = 0; i < 20; i++) files.write("f" + i, s + i); const k = []; try { for (;;) k.push(new Uint8Array(2e4)) } catch {} return 1',
  'out of stack as it ends':
    'const f = () => { try { f() } catch { files.write("a", "x") } }; f(); return new Proxy({}, { ownKeys: () => f() ?? [] })',
  'a use strict that is closed': '} finally { for (;;); } async function x() {',
  'a comment that is closed': '*/ /* //\u2028 for (;;);',
  'code of 200,000 letters': `${'('.repeat(199_000)}`,
  'code with half characters': 'const \ud800 = 1',
  'code with a NUL': 'for (;;) "\0"',
  'arguments of what runs it':
    'return [typeof arguments, arguments.length, typeof arguments.callee]',
  'this and new.target': 'return [typeof this, String(this), typeof new.target]',
  'the async function behind it':
    'const A = (async () => {}).constructor; for (;;) await new A("files", "return files")(files)',
  'globals that are replaced':
    'for (const n of Object.getOwnPropertyNames(globalThis)) { try { globalThis[n] = () => { for (;;); } } catch {} } return 1',
  'globals that are removed':
    'for (const n of Object.getOwnPropertyNames(globalThis)) { try { delete globalThis[n] } catch {} } for (const p of [Object.prototype]) for (const n of Object.getOwnPropertyNames(p)) { try { delete p[n] } catch {} } return 1',
  'the guest asked from within':
    'const g = globalThis.__guest; g("start", JSON.stringify({ code: "for(;;);", files: [], tools: [{ server: "bank", tool: "transfer" }], seed: "" })); return 1',
  'the guest polled from within':
    'for (let i = 0; i < 1e5; i++) globalThis.__guest("poll", ""); await tools.count.write({}); globalThis.__guest("poll", ""); return await new Promise(() => {})',
  'the guest settled from within':
    'const p = tools.count.write({}); globalThis.__guest("settle", \'{"id":1,"value":"forged"}\'); return await p',
  'the guest taken from within': 'files.write("a", "x"); return globalThis.__guest("take", "")',
  'a frozen world':
    'for (const o of [Object.prototype, Array.prototype, Promise.prototype, JSON, globalThis, Map.prototype]) Object.freeze(o); await tools.count.write({}); return 1',
  'random numbers for ever': 'for (;;) Math.random() + performance?.now?.() + Date.now()',
}

export const MORE_HOSTILE: Readonly<Record<string, string>> = {
  ...NATIVES,
  ...LANGUAGE,
  ...HARNESS,
}
