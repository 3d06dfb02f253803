// SPDX-License-Identifier: Apache-2.0
/** Real handshakes: a server with a leaf, and clients that trust what a target held. */
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { messageOf } from '#base/errors.ts';
import { AskedServer, HOST } from './asked.ts';
import type { FreshLeaf } from './leaves.ts';
import type { Readers } from './readers.ts';

/** What was judged, and what is wrong with it. */
export interface Verdict {
  readonly faults: readonly string[];
  readonly handshakes: number;
}

/**
 * Each leaf, with each target as it was when the leaf was delivered and with each content that it
 * had later: the trust in the CA must be there before its first leaf, and stay. Equal contents are
 * asked once a leaf.
 */
export async function judge(leaves: readonly FreshLeaf[], readers: Readers): Promise<Verdict> {
  const server = new AskedServer();
  await server.start();
  try {
    const refusals = await Array.fromAsync(leaves, (leaf) => refusalsOf(server, leaf, readers));
    const all = refusals.flat();
    return { faults: all.filter((each) => each !== undefined), handshakes: all.length };
  } finally {
    await server.stop();
  }
}

/** One for each handshake: why it was refused, by whom. */
function refusalsOf(
  server: AskedServer,
  leaf: FreshLeaf,
  readers: Readers,
): Promise<readonly (string | undefined)[]> {
  server.present(leaf);
  return Array.fromAsync(contentsFor(leaf, readers), async ([trust, targets]) => {
    const refusal = await handshake(server.port, anchorsIn(trust));
    if (refusal === undefined) return undefined;
    return `${leaf.name}: refused by who reads ${[...targets].join(', ')}: ${refusal}`;
  });
}

/** The contents that readers may have had, each with the targets that had it. */
function contentsFor(leaf: FreshLeaf, readers: Readers): ReadonlyMap<string, Set<string>> {
  const contents = new Map<string, Set<string>>();
  for (const target of readers.versions.keys())
    for (const { trust } of readers.since(target, leaf.revision))
      contents.set(trust, (contents.get(trust) ?? new Set()).add(target));
  return contents;
}

/** @returns why the client refuses the server's certificate; undefined where it does not */
async function handshake(port: number, ca: string): Promise<string | undefined> {
  // Without any, Node would ask the roots that it brings.
  if (ca === '') return 'it has no anchors';
  const socket = connect({ port, host: '127.0.0.1', servername: HOST, ca });
  try {
    await once(socket, 'secureConnect');
    return undefined;
  } catch (error) {
    return messageOf(error);
  } finally {
    socket.destroy();
  }
}

const opened = new Map<string, string>();

/** PEM of PEM, or of a PKCS#12 file as OpenSSL opens it. */
function anchorsIn(trust: string): string {
  if (trust === '' || trust.startsWith('-----BEGIN ')) return trust;
  const known = opened.get(trust) ?? openStore(Buffer.from(trust, 'base64'));
  opened.set(trust, known);
  return known;
}

function openStore(file: Buffer): string {
  const directory = mkdtempSync(join(tmpdir(), 'truststore-'));
  try {
    const path = join(directory, 'truststore.p12');
    writeFileSync(path, file);
    const args = ['pkcs12', '-in', path, '-nokeys', '-passin', 'pass:changeit'];
    const { stdout, stderr, status } = spawnSync('openssl', args, { encoding: 'utf8' });
    if (status !== 0) throw new Error(`OpenSSL does not open the truststore: ${stderr}`);
    return stdout;
  } finally {
    rmSync(directory, { recursive: true });
  }
}
