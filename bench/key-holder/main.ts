// SPDX-License-Identifier: Apache-2.0
/**
 * `make bench-key-holder`: what a signature costs by a key holder, beside node:crypto with the same
 * P-256 key in memory, and the memory of the holder, by which its sidecar has its limit. The holder
 * is a process of its own. ARGS: `--signatures 5000 --at-once 24`. With `--pkcs11` it measures a
 * key in SoftHSM2 beside one in a file, in turns (`token.ts`).
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { createKeyHolder, type KeyHolder } from '#ca/custody/holder-client.ts';
import { openLocalAuthority } from '#ca/custody/local.ts';
import { encodeLeafTbs } from '#ca/issuance/leaf.ts';
import { readHolderConfiguration } from '#ca/key-holder/configuration.ts';
import { judgeLeaf } from '#ca/key-holder/judge.ts';
import { readPrivateKey } from '#pki/keys/private-key.ts';
import { signatureAlgorithm } from '#pki/keys/signature-algorithm.ts';
import { selfSignedCa } from '../../test/support/ca/ca-secret.ts';
import { holderFile } from '../../test/support/ca/held.ts';
import { leafInput } from '../../test/support/ca/issuing.ts';
import { count } from '../measure/count.ts';
import { benchToken } from './token.ts';

/** The bundle takes less memory than the sources. */
const MAIN =
  process.env['COUNTERSIGN_PROGRAM'] ?? join(import.meta.dirname, '../../src/cli/main.ts');
/** Compilers are at work in the first ones. */
const WARM_UP = 500;

const { values } = parseArgs({
  options: {
    signatures: { type: 'string', default: '5000' },
    'at-once': { type: 'string', default: '24' },
    pkcs11: { type: 'boolean', default: false },
    rounds: { type: 'string', default: '5' },
  },
});
const signatures = count('signatures', values.signatures, 1);
const atOnce = count('at-once', values['at-once'], 1);
if (values.pkcs11) {
  await benchToken({ signatures, atOnce, rounds: count('rounds', values.rounds, 1) });
  process.exit(0);
}

const folder = mkdtempSync(join(tmpdir(), 'bench-key-holder-'));
const ca = await selfSignedCa('Bench CA');
writeFileSync(join(folder, 'ca.crt'), ca.certificate);
writeFileSync(join(folder, 'ca.key'), ca.key, { mode: 0o600 });
const configuration = holderFile(folder);
writeFileSync(join(folder, 'holder.json'), JSON.stringify(configuration));
const limits = readHolderConfiguration(configuration, 'bench').sockets[0]?.uses[0]?.leaf;
if (limits === undefined) throw new Error('the configuration has no limits of leaves');
const within = limits;

const now = Date.now();
const authority = openLocalAuthority({ ...ca, anchors: undefined }, now);
const algorithm = signatureAlgorithm(readPrivateKey(ca.key));
const documents = Array.from({ length: WARM_UP + signatures }, () =>
  encodeLeafTbs(leafInput(authority)),
);

/** Microseconds of each call, after the warm-up. */
async function timed(work: (tbs: Uint8Array) => unknown): Promise<readonly number[]> {
  const spent: number[] = [];
  for (const tbs of documents) {
    const began = performance.now();
    await work(tbs);
    spent.push((performance.now() - began) * 1000);
  }
  return spent.slice(WARM_UP).sort((a, b) => a - b);
}

function print(what: string, sorted: readonly number[]): void {
  const at = (share: number): string => (sorted[Math.floor(sorted.length * share)] ?? 0).toFixed(0);
  process.stdout.write(`${what}: p50 ${at(0.5)} µs, p99 ${at(0.99)} µs\n`);
}

/** Signatures a second with so many requests in flight. */
async function throughput(client: KeyHolder): Promise<number> {
  const waiting = documents.map((_, index) =>
    encodeLeafTbs(leafInput(authority, { random: serial(index) })),
  );
  const began = performance.now();
  const worker = async (): Promise<void> => {
    for (let tbs = waiting.pop(); tbs !== undefined; tbs = waiting.pop()) {
      await client.sign('workload', 'leaf', tbs);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return documents.length / ((performance.now() - began) / 1000);
}

/** Serial numbers that the holder has not seen. */
function serial(index: number): (size: number) => Uint8Array {
  return (size) => {
    const bytes = Buffer.alloc(size, 0x55);
    bytes.writeUInt32BE(index, 4);
    return bytes;
  };
}

/** Resolves when the holder answers. A probe waits for three seconds itself. */
async function started(): Promise<void> {
  let fault: string | undefined = 'it was not probed';
  for (let attempt = 0; attempt < 60 && fault !== undefined; attempt += 1) {
    fault = await client.probe();
    if (fault !== undefined) await sleep(500);
  }
  if (fault !== undefined) throw new Error(fault);
}

/** Prints the memory of the holder, and the most that it had (proc_pid_status(5)). */
function printMemory(when: string, pid: number): void {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const mebibytes = (field: string): string => {
    const [, kibibytes = '0'] = new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status) ?? [];
    return (Number(kibibytes) / 1024).toFixed(0);
  };
  process.stdout.write(
    `memory of the holder ${when}: ${mebibytes('VmRSS')} MiB, at most ${mebibytes('VmHWM')} MiB\n`,
  );
}

const args = [MAIN, 'key-holder', join(folder, 'holder.json'), '--log-level', 'warn'];
const holder = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] });
const client = createKeyHolder({
  socket: join(folder, 'sockets/issuer.sock'),
  monotonic: () => performance.now(),
  delay: async (ms) => {
    await sleep(ms);
  },
});
try {
  const pid = holder.pid ?? 0;
  await started();
  printMemory('at its start', pid);
  process.stdout.write(`${cpus().length} cores, load ${loadavg()[0]?.toFixed(2) ?? ''}\n`);
  print('node:crypto in the process', await timed((tbs) => algorithm.sign(tbs)));
  print(
    'the holder’s judgement alone',
    await timed((tbs) => judgeLeaf({ tbs, ca: authority.facts, limits: within, now })),
  );
  print('by the holder, one at a time', await timed((tbs) => client.sign('workload', 'leaf', tbs)));
  const rate = await throughput(client);
  process.stdout.write(`by the holder, ${atOnce} at once: ${rate.toFixed(0)} a second\n`);
  printMemory('at its end', pid);
} finally {
  client.stop();
  holder.kill();
  await once(holder, 'exit');
  rmSync(folder, { recursive: true });
}
