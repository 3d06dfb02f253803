// SPDX-License-Identifier: Apache-2.0
import type { KeyObject } from 'node:crypto';
import { once } from 'node:events';
import { duplexPair } from 'node:stream';
import { connect, createServer } from 'node:tls';
import { issuedLeafOf, isAssertionResult } from '#conformance/issued-leaf.ts';
import type { ScenarioResult, SkippedScenario } from '#conformance/observed-request.ts';
import type { Anchors, Operation } from '#conformance/snapshot.ts';
import { messageOf } from '#base/errors.ts';
import { OID_CLIENT_AUTH, OID_SERVER_AUTH } from '#pki/der/oids.ts';
import { encodePem } from '#pki/der/pem.ts';
import type { Certificate } from '#pki/x509/certificate.ts';
import type { Run } from '../run.ts';

export interface Peer {
  readonly scenario: ScenarioResult;
  readonly key: KeyObject | undefined;
}

/** Opens a TLS connection between two leaves in this process, which verify each other. */
export async function mutualTls(
  run: Run,
  anchors: Anchors | SkippedScenario,
  peers: readonly [server: Peer, client: Peer],
): Promise<Operation> {
  if ('skipped' in anchors) return { skipped: anchors.skipped };
  const ca = anchors.certificates.map(({ raw }) => encodePem('CERTIFICATE', raw));
  const [server, client] = peers.map((peer) => credentialsOf(peer, ca));
  if (server === undefined || client === undefined) {
    return { skipped: 'there are no two leaves whose keys the runner has' };
  }
  const skipped = unfitText(server, OID_SERVER_AUTH) ?? unfitText(client, OID_CLIENT_AUTH);
  if (skipped !== undefined) return { skipped };
  try {
    const protocol = await shakeHands(run, server, client);
    return { seen: `${protocol}, both verified with ${anchors.from}` };
  } catch (error) {
    return { fault: `the handshake failed: ${messageOf(error)}` };
  }
}

interface Credentials {
  readonly cert: string;
  readonly key: string;
  readonly ca: string[];
  readonly leaf: Certificate;
}

/**
 * Returns why a leaf cannot be used for its side of the connection. The API prescribes no purpose,
 * so a signer may issue leaves for servers only.
 */
function unfitText({ leaf }: Credentials, oid: string): string | undefined {
  const purposes = leaf.extKeyUsage ?? [oid];
  return purposes.includes(oid)
    ? undefined
    : `the leaf is not for ${oid === OID_SERVER_AUTH ? 'servers' : 'clients'}: ${purposes.join(', ')}`;
}

function tlsOptions({ cert, key, ca }: Credentials): Omit<Credentials, 'leaf'> {
  return { cert, key, ca };
}

function credentialsOf({ scenario, key }: Peer, ca: readonly string[]): Credentials | undefined {
  const issued = issuedLeafOf(scenario);
  if (isAssertionResult(issued) || key === undefined) return undefined;
  const pem = key.export({ type: 'pkcs8', format: 'pem' }).toString();
  return { cert: issued.version.pem, key: pem, ca: [...ca], leaf: issued.leaf };
}

/**
 * Connects through memory, without a port. @returns the protocol. Rejects when one peer rejects the
 * other.
 */
async function shakeHands(run: Run, own: Credentials, other: Credentials): Promise<string> {
  const [near, far] = duplexPair();
  const server = createServer({ ...tlsOptions(own), requestCert: true, rejectUnauthorized: true });
  const connecting = connect({
    ...tlsOptions(other),
    socket: near,
    // Leaves of pods name a SPIFFE ID instead of a host.
    checkServerIdentity: () => undefined,
  });
  const ended = new AbortController();
  const signal = AbortSignal.any([run.signal, ended.signal]);
  try {
    const met = Promise.all([once(server, 'secureConnection'), once(connecting, 'secureConnect')]);
    const refused = once(server, 'tlsClientError').then(([error]: readonly Error[]) =>
      Promise.reject(error ?? new Error('the server refused the client')),
    );
    const late = run.delay(run.timeoutMs, signal).then(() => Promise.reject(new Error('no end')));
    for (const each of [met, refused, late]) each.catch(() => undefined);
    server.emit('connection', far);
    await Promise.race([met, refused, late]);
    return connecting.getProtocol() ?? 'TLS';
  } finally {
    ended.abort(new Error('the handshake is over'));
    connecting.destroy();
    far.destroy();
  }
}
