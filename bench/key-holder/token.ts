// SPDX-License-Identifier: Apache-2.0
/**
 * `make bench-key-holder ARGS=--pkcs11`: what a signature costs by a key in SoftHSM2, beside the
 * same key in a file. Two holders take turns, so that a busy machine slows both. ARGS besides:
 * `--rounds 5 --signatures 1000 --at-once 24`.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createKeyHolder, type KeyHolder } from '#ca/custody/holder-client.ts';
import { openLocalAuthority } from '#ca/custody/local.ts';
import { encodeLeafTbs } from '#ca/issuance/leaf.ts';
import { selfSignedCa } from '../../test/support/ca/ca-secret.ts';
import { LEAF_LIMITS } from '../../test/support/ca/held.ts';
import { leafInput, random } from '../../test/support/ca/issuing.ts';
import { createSoftToken, softHsm } from '../../test/support/pkcs11/soft-hsm.ts';

const MAIN =
  process.env['COUNTERSIGN_PROGRAM'] ?? join(import.meta.dirname, '../../src/cli/main.ts');

interface Sizes {
  readonly rounds: number;
  readonly signatures: number;
  readonly atOnce: number;
}

interface Measured {
  readonly name: string;
  readonly client: KeyHolder;
  readonly holder: ChildProcess;
  /** Microseconds: the median of each round. */
  readonly medians: number[];
  /** Signatures a second of each round. */
  readonly rates: number[];
}

/** Prints the figures of both. */
export async function benchToken({ rounds, signatures, atOnce }: Sizes): Promise<void> {
  const parts = softHsm();
  if (typeof parts === 'string') throw new Error(parts);
  const folder = mkdtempSync(join(tmpdir(), 'bench-token-'));
  const token = createSoftToken(parts);
  const ca = await selfSignedCa('Bench CA');
  writeFileSync(join(folder, 'ca.crt'), ca.certificate);
  writeFileSync(join(folder, 'ca.key'), ca.key, { mode: 0o600 });
  token.importKey(ca.key, 'ca', '01');
  const authority = openLocalAuthority({ ...ca, anchors: undefined }, Date.now());
  const { module } = parts;
  const pkcs11 = { module, token: token.label, pinFile: token.pinFile, label: 'ca' };
  const start = (name: string, key: object): Measured => {
    const socket = join(folder, name, 's');
    const file = join(folder, `${name}.json`);
    writeFileSync(file, JSON.stringify(configuration(socket, join(folder, 'ca.crt'), key)));
    const args = [MAIN, 'key-holder', file, '--pkcs11-addon', parts.addon, '--log-level', 'warn'];
    const holder = spawn(process.execPath, args, {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: token.env,
    });
    return { name, holder, client: clientOf(socket), medians: [], rates: [] };
  };
  const both = [start('file', { file: join(folder, 'ca.key') }), start('token', { pkcs11 })];
  const document = (): Uint8Array => encodeLeafTbs(leafInput(authority, { random }));
  try {
    for (const { client } of both) await answering(client);
    process.stdout.write(`${cpus().length} cores, load ${loadavg()[0]?.toFixed(2) ?? ''}\n`);
    // Compilers are at work in the first round.
    for (const each of both) await measure(each, { document, signatures, atOnce });
    for (const { medians, rates } of both) medians.length = rates.length = 0;
    for (let round = 0; round < rounds; round += 1) {
      for (const each of both) await measure(each, { document, signatures, atOnce });
    }
    for (const each of both) print(each, atOnce);
  } finally {
    for (const { client, holder } of both) {
      client.stop();
      holder.kill();
      await once(holder, 'exit');
    }
    token.remove();
    rmSync(folder, { recursive: true });
  }
}

function configuration(socket: string, certificate: string, key: object): object {
  return {
    apiVersion: 'key-holder.countersign.dev/v1alpha1',
    kind: 'KeyHolder',
    keys: [{ name: 'workload', certificate, signerNames: ['example.com/workload'], ...key }],
    sockets: [{ path: socket, uses: [{ key: 'workload', leaf: LEAF_LIMITS }] }],
  };
}

function clientOf(socket: string): KeyHolder {
  return createKeyHolder({
    socket,
    monotonic: () => performance.now(),
    delay: async (ms) => {
      await sleep(ms);
    },
  });
}

async function answering(client: KeyHolder): Promise<void> {
  for (let attempt = 0; attempt < 100; attempt += 1) {
    try {
      await client.describe('workload');
      return;
    } catch {
      await sleep(200);
    }
  }
  throw new Error('a holder does not answer');
}

async function measure(
  { client, medians, rates }: Measured,
  given: Omit<Sizes, 'rounds'> & { readonly document: () => Uint8Array },
): Promise<void> {
  const spent: number[] = [];
  for (let index = 0; index < given.signatures; index += 1) {
    const tbs = given.document();
    const began = performance.now();
    await client.sign('workload', 'leaf', tbs);
    spent.push((performance.now() - began) * 1000);
  }
  medians.push(median(spent));
  const waiting = Array.from({ length: given.signatures }, given.document);
  const began = performance.now();
  const worker = async (): Promise<void> => {
    for (let tbs = waiting.pop(); tbs !== undefined; tbs = waiting.pop()) {
      await client.sign('workload', 'leaf', tbs);
    }
  };
  await Promise.all(Array.from({ length: given.atOnce }, worker));
  rates.push(given.signatures / ((performance.now() - began) / 1000));
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

function print({ name, holder, medians, rates }: Measured, atOnce: number): void {
  const pids = [holder.pid ?? 0, ...childrenOf(holder.pid ?? 0)];
  const memory = pids.map(residentMebibytes).join(' + ');
  process.stdout.write(
    `key in a ${name}: one at a time ${median(medians).toFixed(0)} µs, ` +
      `${atOnce} at once ${median(rates).toFixed(0)} a second (medians of rounds ` +
      `${medians.map((each) => each.toFixed(0)).join(', ')} µs), memory ${memory} MiB\n`,
  );
}

function childrenOf(parent: number): readonly number[] {
  const isChild = (pid: string): boolean => {
    try {
      return readFileSync(`/proc/${pid}/status`, 'utf8').includes(`\nPPid:\t${parent}\n`);
    } catch {
      return false;
    }
  };
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && isChild(name))
    .map(Number);
}

/** Returns its resident memory (proc_pid_status(5)). */
function residentMebibytes(pid: number): string {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const [, kibibytes = '0'] = /^VmRSS:\s+(\d+) kB$/m.exec(status) ?? [];
  return (Number(kibibytes) / 1024).toFixed(0);
}
