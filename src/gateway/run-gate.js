// Starts a gate and stops it: data directory, record, counters, servers' watcher, front. In this
// order, so that nothing is served before it can be recorded; and backwards when it ends, so that
// what is open can finish.
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { Ledger } from '../ledger/ledger.js';
import { openLedgerReadOnly } from '../ledger/read.js';
import { restoreLimits } from '../ledger/restore-limits.js';
import { longestWindowMs } from '../policy/policy.js';
import { MemoryCounters } from '../store/memory/counters.js';
import { DataLock } from './data-lock.js';
import { HttpFront } from './front/http.js';
import { Gate } from './gate.js';
import { DRAIN_MS } from './limits.js';
import { HttpPools } from './upstream/http-pools.js';
import { endLeftovers } from './upstream/leftovers.js';
import { Watcher } from './upstream/watcher.js';
/** The user on this machine: who else could reach a loopback port of theirs? */
const LOCAL_USER = { id: 'local', kind: 'local', groups: [], claims: {} };
export async function runGate(config, policy, policyText, log) {
    const lock = DataLock.take(config.data);
    const ledger = Ledger.open({
        directory: config.data,
        sync: config.sync,
        onState: (state, fault) => log(state === 'writing' ? 'info' : 'error', `the record is ${state}`, { why: fault?.message ?? '' }),
    });
    const leftovers = join(config.data, 'servers.json');
    await endLeftovers(leftovers);
    const watcher = new Watcher({ file: leftovers, log });
    const pools = new HttpPools();
    const counters = restoredCounters(config.data, policy);
    const policyId = `${policy.name} ${createHash('sha256').update(policyText).digest('base64url')}`;
    const ownPaths = [config.file, config.data, ...(config.policy ? [config.policy] : []), ...(config.house ? [config.house] : [])];
    const gate = new Gate({ config, policy, policyId, counters, ledger, watcher, pools, ownPaths, log });
    const front = new HttpFront({
        host: config.host,
        port: config.port,
        hasServer: (name) => gate.hasServer(name),
        open: (name, link) => gate.open(name, link, LOCAL_USER),
        ready: () => ({ ok: ledger.state === 'writing', why: policy.shadow ? 'the policy is in shadow mode, nothing is enforced' : (ledger.fault?.message ?? '') }),
        nowMs: () => performance.now(),
    });
    const event = (name) => void ledger.event({ atMs: Date.now(), name, detail: { policy: policyId } }).catch(() => { });
    const stop = async (why) => {
        await front.close(DRAIN_MS);
        await gate.close(why);
        await pools.close();
        await watcher.close();
        event('stop');
        ledger.close();
        lock.release();
    };
    try {
        const { port } = await front.listen();
        event('start');
        const host = config.host.includes(':') ? `[${config.host}]` : config.host;
        return { url: `http://${host}:${port}`, stop };
    }
    catch (error) {
        await stop('the gate could not start');
        throw error;
    }
}
/** What was taken before the restart stays taken. */
function restoredCounters(directory, policy) {
    const counters = new MemoryCounters();
    const longest = Math.max(longestWindowMs(policy), policy.house ? longestWindowMs(policy.house) : 0);
    const database = openLedgerReadOnly(directory);
    try {
        const now = { wallMs: Date.now(), monotonicMs: performance.now() };
        for (const { takes, ageMs } of restoreLimits(database, now.wallMs, longest))
            counters.restore(takes, ageMs, now);
    }
    finally {
        database.close();
    }
    return counters;
}
