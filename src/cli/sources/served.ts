// SPDX-License-Identifier: Apache-2.0
import { connect, type DetailedPeerCertificate, type TLSSocket } from 'node:tls';
import { SignerError, messageOf } from '#base/errors.ts';
import type { Material } from '#diagnose/inspect/read-material.ts';
import { encodePem } from '#pki/der/pem.ts';

/** Address of a TLS server. */
export interface TlsAddress {
  readonly host: string;
  readonly port: number;
  /** Requested server name (SNI). If undefined, none is sent, as for an IP address. */
  readonly serverName?: string | undefined;
}

const HANDSHAKE_MS = 10_000;

/**
 * Returns the chain that a TLS server presents, leaf first, without verification. It sends nothing
 * to this server and trusts none of its certificates.
 *
 * @throws SignerError USAGE (`wait`) without a TLS server
 */
export async function servedChain(address: TlsAddress, source: string): Promise<Material> {
  const socket = connect({
    host: address.host,
    port: address.port,
    rejectUnauthorized: false,
    ...(address.serverName === undefined ? {} : { servername: address.serverName }),
  });
  try {
    await handshake(socket);
    const chain = chainOf(socket.getPeerCertificate(true));
    if (chain.length === 0) throw new Error('it presents no certificate');
    const pem = chain.map((der) => encodePem('CERTIFICATE', der)).join('');
    return { source, bytes: Buffer.from(pem) };
  } catch (error) {
    throw new SignerError({
      code: 'USAGE',
      disposition: 'wait',
      message: `${source}: ${address.host}:${address.port} has no TLS server that answers: ${messageOf(error)}`,
      cause: error,
    });
  } finally {
    socket.destroy();
  }
}

async function handshake(socket: TLSSocket): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    socket.setTimeout(HANDSHAKE_MS, () => {
      reject(new Error(`no answer within ${HANDSHAKE_MS / 1000} s`));
    });
    socket.once('secureConnect', resolve);
    socket.once('error', reject);
    // Servers that demand a certificate close the connection after they have sent their own.
    socket.once('close', () => {
      reject(new Error('it closed the connection'));
    });
  });
}

/**
 * Returns the chain. Node links each certificate to its issuer, and a self-signed one to itself.
 */
function chainOf(leaf: DetailedPeerCertificate): readonly Uint8Array[] {
  const chain: Uint8Array[] = [];
  const seen = new Set<string>();
  // The declared type is too strict: a server without a certificate gives an empty object, and a
  // chain may end.
  let each: Partial<DetailedPeerCertificate> | undefined = leaf;
  while (each?.raw !== undefined && !seen.has(each.fingerprint256 ?? '')) {
    seen.add(each.fingerprint256 ?? '');
    chain.push(each.raw);
    each = each.issuerCertificate;
  }
  return chain;
}
