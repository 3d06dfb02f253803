// SPDX-License-Identifier: Apache-2.0
/** The verdicts of four verifiers on a chain. */
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, createServer } from 'node:tls';
import { encodePem } from '#pki/der/pem.ts';
import { NOW } from '../../support/ca/issuing.ts';
import { unpackDebian } from '../../dns/debian.ts';
import { ACCEPTED, chainOf, type Oracle } from '../oracle.ts';
import { LEAF_KEY, type VerifierCase } from './cases.ts';

export type Verifier = (chain: VerifierCase) => Promise<boolean>;

const pem = (...ders: readonly Uint8Array[]): string =>
  ders.map((der) => encodePem('CERTIFICATE', der)).join('');

/** Go's crypto/x509, by the oracle. */
export function goVerifier(oracle: Oracle): Verifier {
  return async ({ leaf, intermediates, anchor }) => {
    const chain = chainOf({ leaf, intermediates, roots: [anchor], now: NOW });
    return (await oracle.ask('v', chain)).level === ACCEPTED;
  };
}

/** Runs a program on the files of a chain. */
export function onFiles(
  { leaf, intermediates, anchor }: VerifierCase,
  run: (paths: {
    leaf: string;
    chain: string;
    sent: string;
    anchor: string;
    /** Writes one more file and returns its path. */
    write: (name: string, text: string) => string;
  }) => boolean,
): boolean {
  const folder = mkdtempSync(join(tmpdir(), 'verifiers-'));
  try {
    const write = (name: string, text: string): string => {
      writeFileSync(join(folder, name), text);
      return join(folder, name);
    };
    return run({
      leaf: write('leaf', pem(leaf)),
      chain: write('chain', pem(...intermediates)),
      sent: write('sent', pem(leaf, ...intermediates)),
      anchor: write('anchor', pem(anchor)),
      write,
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** `openssl verify -x509_strict`, or with these flags instead. */
export function opensslVerifier(flags: readonly string[] = ['-x509_strict']): Verifier {
  return (chain) =>
    Promise.resolve(
      onFiles(chain, ({ leaf, chain: untrusted, anchor }) => {
        const more = chain.intermediates.length === 0 ? [] : ['-untrusted', untrusted];
        const args = ['verify', ...flags, '-no-CApath', '-no-CAstore'];
        return spawnSync('openssl', [...args, '-CAfile', anchor, ...more, leaf]).status === 0;
      }),
    );
}

/** A TLS handshake of Node with a server that has the leaf. */
export function nodeVerifier(
  options: { readonly allowPartialTrustChain?: boolean } = {},
): Verifier {
  return async ({ leaf, intermediates, anchor }) => {
    const key = LEAF_KEY.export({ type: 'pkcs8', format: 'pem' });
    const server = createServer({ key, cert: pem(leaf, ...intermediates) });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const socket = connect({
      port,
      host: '127.0.0.1',
      ca: pem(anchor),
      rejectUnauthorized: false,
      ...options,
    });
    try {
      await once(socket, 'secureConnect');
      // The name of the server is no question here, only its chain.
      const error: unknown = socket.authorizationError;
      return socket.authorized || String(error).includes('ERR_TLS_CERT_ALTNAME_INVALID');
    } finally {
      socket.destroy();
      server.close();
    }
  };
}

/** GnuTLS's certtool, of the machine or unpacked from Debian. Undefined if there is none. */
export function gnutlsVerifier(): Verifier | undefined {
  const found = certtool();
  if (found === undefined) return undefined;
  return (chain) =>
    Promise.resolve(
      onFiles(chain, ({ sent, anchor }) => {
        const args = ['--verify', '--load-ca-certificate', anchor, '--infile', sent];
        return spawnSync(found.command, args, { env: found.env }).status === 0;
      }),
    );
}

function certtool(): { readonly command: string; readonly env: NodeJS.ProcessEnv } | undefined {
  if (spawnSync('certtool', ['--version']).status === 0)
    return { command: 'certtool', env: process.env };
  try {
    const { root, env } = unpackDebian(['gnutls-bin']);
    return { command: join(root, 'usr/bin/certtool'), env };
  } catch {
    return undefined;
  }
}
