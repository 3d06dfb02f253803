// SPDX-License-Identifier: Apache-2.0
import type { KeyObject } from 'node:crypto';
import { once } from 'node:events';
import { duplexPair } from 'node:stream';
import { connect, createServer } from 'node:tls';
import { issuedLeafOf, isAssertionResult } from '#conformance/issued-leaf.ts';
import type { ScenarioResult, SkippedScenario } from '#conformance/observed-request.ts';
import type { Anchors, Operation } from '#conformance/snapshot.ts';
import { messageOf } from '#base/errors.ts';
import { encodePem } from '#pki/der/pem.ts';
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
}

function credentialsOf({ scenario, key }: Peer, ca: readonly string[]): Credentials | undefined {
  const issued = issuedLeafOf(scenario);
  if (isAssertionResult(issued) || key === undefined) return undefined;
  const pem = key.export({ type: 'pkcs8', format: 'pem' }).toString();
  return { cert: issued.version.pem, key: pem, ca: [...ca] };
}

/**
 * Connects through memory, without a port. @returns the protocol. Rejects when one peer rejects the
 * other.
 */
async function shakeHands(run: Run, own: Credentials, other: Credentials): Promise<string> {
  const [near, far] = duplexPair();
  const server = createServer({ ...own, requestCert: true, rejectUnauthorized: true });
  const connecting = connect({
    ...other,
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
